"""A selection as a person reads it: what was chosen and why, then what put the others out.

Owns: the two tables of `honeyguide select`. Must not know: how anything was decided.
Start reading at `show_selection`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.cli.output import Column, number, print_table, reason_lines, say, short_url
from honeyguide.cli.picked import CHOSEN
from honeyguide.core.scope import RULE_WORDS

if TYPE_CHECKING:
    from honeyguide.core.page import Page
    from honeyguide.core.profile import Profile
    from honeyguide.core.select import Candidate, Selection


def show_selection(selection: Selection, page: Page, profile: Profile, *, everything: bool) -> None:
    """Print the selected, or every candidate, and the funnel."""
    total, chosen = len(selection.candidates) + len(page.skipped), len(selection.selected)
    say(page.title or page.url.text)
    chose = "was" if chosen == 1 else "were"
    say(f"{chosen} of {total} links {chose} chosen (strategy {selection.strategy}, profile {profile.name})")
    say()
    rows = [
        _row(candidate, page) for candidate in (_ordered(selection) if everything else selection.selected)
    ]
    if everything:
        rows += [
            ["-", "-", "-", f"{href}\n{_out(rule, RULE_WORDS.get(rule, rule))}"]
            for href, rule in page.skipped
        ]
    print_table(CHOSEN, rows)
    say()
    funnel = [[str(total), "links", ""], *_funnel(selection, page, profile), [str(chosen), "selected", ""]]
    print_table((Column("", right=True, keep=True), Column("", keep=True), Column("")), funnel)
    _say_unknown(selection, profile)


def _ordered(selection: Selection) -> list[Candidate]:
    """Put the selected first, then what was scored, best first, then the rest in document order."""
    return sorted(
        selection.candidates,
        key=lambda c: (c.rank is None, c.rank or 0, c.score is None, -c.score.value if c.score else 0),
    )


def _row(candidate: Candidate, page: Page) -> list[str]:
    """Write a candidate; below its address stand its text and the reasons, each on a line of its own."""
    kind = " ".join(dict.fromkeys(filter(None, (candidate.category, candidate.bucket)))) or "-"
    anchor = [f'  "{candidate.link.anchor}"'] if candidate.link.anchor else []
    reasons = [f"  {line}" for line in reason_lines(candidate.score)]
    out = [] if candidate.out is None else [_out(candidate.out.rule, candidate.out.why)]
    rank = "-" if candidate.rank is None else str(candidate.rank)
    value = number(candidate.score.value if candidate.score else None)
    return [rank, value, kind, "\n".join([short_url(candidate.url, page.url), *anchor, *reasons, *out])]


def _out(rule: str, why: str) -> str:
    return f"  out: {rule}, {why}"


def _funnel(selection: Selection, page: Page, profile: Profile) -> list[list[str]]:
    """Count what went out by which rule, in the order in which the rules were asked."""
    counts: dict[str, int] = {}
    words = dict(RULE_WORDS)
    for rule in [rule for _, rule in page.skipped]:
        counts[rule] = counts.get(rule, 0) + 1
    for out in [candidate.out for candidate in selection.candidates if candidate.out is not None]:
        counts[out.rule] = counts.get(out.rule, 0) + 1
        words.setdefault(out.rule, out.why)
    order = _rule_order(profile, selection.strategy)
    ranked = sorted(counts, key=lambda rule: _place(rule, order))
    return [[f"-{counts[rule]}", rule, words.get(rule, rule)] for rule in ranked]


def _rule_order(profile: Profile, strategy: str) -> list[str]:
    plan = profile.strategies[strategy]
    filters = [rule.id for rules in (profile.filters, plan.filters) for rule in rules.rules]
    return [*RULE_WORDS, *filters, "include", "exclude", *(rule.id for rule in plan.drops.rules)]


def _place(rule: str, order: list[str]) -> tuple[int, bool]:
    """Scope, filters, drops as listed; then quotas; the cap comes last."""
    return (order.index(rule) if rule in order else len(order), rule == "cap")


def _say_unknown(selection: Selection, profile: Profile) -> None:
    """Say which facts were missing, where the strategy would have used them (PICK-14)."""
    parts = [part for candidate in selection.candidates for part in (candidate.parts or {}).values()]
    unknown = sorted({name for part in parts for name in part.unknown})
    if unknown and profile.strategies[selection.strategy].reads_heads:
        say()
        say(
            f"Not known of every link: {', '.join(unknown)}. --heads FILE brings titles and descriptions of linked pages."
        )
