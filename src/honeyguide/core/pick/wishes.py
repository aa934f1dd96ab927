"""What a user wants from every site, or never: `--want`, `--never`, and `[want]`, `[never]` of a profile, as rules.

Must not know: where the wishes come from. Start reading at `with_wishes`; `missing_wishes` says which of them a site does not fulfil.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from honeyguide.core.rules.compile import RuleList
from honeyguide.core.rules.language import AnyOf, Is, Rule, Text
from honeyguide.core.text.fold import fold_case

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from honeyguide.core.pick.select import Selection
    from honeyguide.core.rules.language import Condition
    from honeyguide.core.rules.profile import Profile

NEVER = "never"  # the rule that rejects
_TEXTS = ("anchor", "slug", "title", "menu", "heading", "head_title")


def wanted_rules(names: Iterable[str], buckets: Collection[str]) -> RuleList:
    """Make a rule for each wish, whose id is the wish: a page of that bucket, else one that has the word."""
    return RuleList(Rule(name, f"wanted: {name}", when=_condition(name, buckets)) for name in names)


def never_rules(names: Iterable[str], buckets: Collection[str]) -> RuleList:
    """Make the rules that reject pages of a bucket, or with a word."""
    return RuleList(Rule(NEVER, f"never wanted: {name}", when=_condition(name, buckets)) for name in names)


def _condition(name: str, buckets: Collection[str]) -> Condition:
    if name in buckets:
        return Is("bucket", (name,))
    word = fold_case(name)
    words = tuple(dict.fromkeys((word, word.replace("-", " "))))  # slugs are read with spaces
    return AnyOf(tuple(Text(field, "word", words) for field in _TEXTS))


def with_wishes(profile: Profile, strategy_name: str, want: Iterable[str], never: Iterable[str]) -> Profile:
    """Return the profile with wishes for a strategy, in addition to its own."""
    strategy = profile.strategies[strategy_name]
    buckets = profile.kinds_of(strategy).buckets
    wants = RuleList((*strategy.wants.rules, *wanted_rules(want, buckets).rules))
    nevers = RuleList((*strategy.nevers.rules, *never_rules(never, buckets).rules))
    strategies = {**profile.strategies, strategy_name: replace(strategy, wants=wants, nevers=nevers)}
    return replace(profile, strategies=strategies)


def missing_wishes(selection: Selection, profile: Profile) -> Iterator[str]:
    """Name the wishes without a page: the site has none, a rule rejects it, or other wanted pages fill the cap."""
    selected = {candidate.wish for candidate in selection.selected}
    good = {candidate.wish for candidate in selection.candidates if candidate.is_good}
    missing = [one for one in profile.strategies[selection.strategy].wants.rules if one.id not in selected]
    absent = [one for one in missing if one.id not in good]
    rejected = {one.id: rule for one in absent if (rule := _rejected_by(one, selection))}
    for name, rule in rejected.items():
        yield f"what is wanted as {name} is rejected by the rule {rule}"
    if unknown := [one.id for one in absent if one.id not in rejected]:
        yield f"nothing was found that is wanted as {', '.join(unknown)}"
    if surplus := [one.id for one in missing if one.id in good]:
        yield f"no place was left for {', '.join(surplus)}: a larger cap has one"


def _rejected_by(wish: Rule, selection: Selection) -> str | None:
    """Return the rule that rejects the first link that is wished for; links that were scored have no facts any more."""
    wanted = RuleList((wish,))
    for one in selection.candidates:
        why, facts = one.rejected, one.facts
        if why is not None and why.rule != "duplicate" and facts is not None and wanted.first(facts):
            return why.rule
    return None
