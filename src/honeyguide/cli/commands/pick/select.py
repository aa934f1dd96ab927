"""`honeyguide select`: the pages worth a visit among the links of a page, or of each page of a file of links.

Owns: the command and its records (PICK-20). Must not know: filters, scores, order.
Start reading at `select`; what a person sees is in `funnel.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from honeyguide import app
from honeyguide.adapters.files.read import kind_of, name_of, read_lines
from honeyguide.adapters.files.rows import parse_object
from honeyguide.app.arguments import check_strategy
from honeyguide.cli.command import Command
from honeyguide.cli.commands.tools.links import demo_page, placed_page
from honeyguide.cli.files import input_format_option, on_error_option, rejecting
from honeyguide.cli.options import address, require_any
from honeyguide.cli.output import (
    Column,
    note,
    number,
    output_options,
    points,
    print_table,
    reason_lines,
    say,
    short_url,
    write_records,
)
from honeyguide.config import load_profile
from honeyguide.core.page.page import Head
from honeyguide.core.pick.select import uses_query
from honeyguide.core.records import SCHEMA, candidate_record
from honeyguide.core.records.fields import CandidateRecord, columns, fields
from honeyguide.core.url.scope import RULE_WORDS
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, UrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from honeyguide.app.pick.select import PageSelection
    from honeyguide.cli.output import Format
    from honeyguide.core.page.page import Page
    from honeyguide.core.pick.select import Candidate, Selection
    from honeyguide.core.records import Record
    from honeyguide.core.rules.profile import Profile

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

NAMES = ("schema", *fields(CandidateRecord))
COLUMNS = ("schema", *columns(CandidateRecord))
MAX_HEADS = 20_000  # as many as a page may have links


@click.command(
    cls=Command,
    examples=(
        "honeyguide select --demo",
        "honeyguide select --demo --strategy blend --all",
        "honeyguide select home.html --base https://acme.example/ --cap 6 --exclude 'career|jobs'",
        "honeyguide select home.html --base https://acme.example/ --strategy blend --heads heads.jsonl --format jsonl",
        "honeyguide select - --base https://acme.example/ --profile company --format csv < home.html",
        "honeyguide select links.csv --strategy rules --cap 2",
    ),
)
@click.argument("file", metavar="[PAGE|FILE]", required=False)
@click.option(
    "--demo", is_flag=True, help="Use the homepage of a made-up company that comes with Honeyguide."
)
@click.option(
    "--base",
    metavar="URL",
    callback=address,
    help="The page's address; its canonical link if not given. Of FILE: the page of rows that name none.",
)
@click.option("--markdown", is_flag=True, help="Read PAGE as Markdown, whatever its name.")
@click.option(
    "--strategy",
    default="portfolio",
    show_default=True,
    metavar="NAME",
    help="How to choose: portfolio, rules, blend, or one of the profile's own.",
)
@click.option(
    "--profile", metavar="NAME", help="Name or path of the profile; the strategy's own if not given."
)
@click.option("--query", metavar="WORDS", help="What blend looks for, instead of the profile's words.")
@click.option(
    "--cap", type=click.IntRange(1, 1000), metavar="N", help="Choose at most N pages; the profile says 4."
)
@click.option("--include", metavar="PATTERN", help="Consider only URLs that match.")
@click.option("--exclude", metavar="PATTERN", help="Leave out URLs that match.")
@click.option(
    "--heads", metavar="FILE", help="JSON lines with url, title, description of linked pages, for blend."
)
@click.option("--all", "everything", is_flag=True, help="List every link of the page with its verdict.")
@input_format_option
@on_error_option
@output_options
def select(file: str | None, output: Format, **asked: Any) -> None:
    """Choose the pages worth a visit among the links of a page, and say why.

    PAGE is an HTML or Markdown file, or `-` for standard input. As JSON lines or CSV every link of the page is one
    record, chosen or not.

    FILE is CSV, JSON lines or Parquet with a link in each row: page and url, and anchor, title, rel, context and
    position where they are known. Of each page is chosen what would be chosen of it alone. Rows of one page stand
    together.
    """
    profile = strategy_profile(asked)
    given = {name: asked[name] for name in ("strategy", "query", "cap", "include", "exclude")}
    given["profile"] = profile
    if file is not None and (asked["kind"] is not None or kind_of(file) is not None):
        _check_rows(asked)
        with rejecting(asked["on_error"]) as rejected:
            found = app.select_files(file, base=asked["base"], kind=asked["kind"], reject=rejected, **given)
            found = require_any(found, [name_of(file)], rejected)
            _write_pages(found, profile, output, everything=asked["everything"])
        return
    page = _page(file, asked)
    heads = None if asked["heads"] is None else read_heads(asked["heads"], page.url)
    selection = app.select_links(page, page.url, heads=heads, **given)
    if output == "table":
        show_selection(selection, page, profile, everything=asked["everything"])
    else:
        write_records(output, _records(selection, page), COLUMNS)


def _check_rows(asked: dict[str, Any]) -> None:
    """Refuse what is meant for one page."""
    if asked["demo"]:
        raise click.UsageError("--demo brings its own page; leave out FILE.")
    if asked["markdown"]:
        raise click.UsageError("--markdown is for a PAGE; a FILE of links has rows.")
    if asked["heads"] is not None:
        raise click.UsageError(
            "--heads is for a PAGE; a FILE of links has them in columns head_title and head_description."
        )


def _write_pages(
    found: Iterable[PageSelection], profile: Profile, output: Format, *, everything: bool
) -> None:
    """Write page after page, as each is ready."""
    if output != "table":
        records = (
            {"schema": SCHEMA, "page": page.url.text, **record}
            for page, selection in found
            for record in _records(selection, page)
        )
        write_records(output, records, ("schema", "page", *COLUMNS[1:]))
        return
    pages = links = chosen = 0
    for page, selection in found:
        if pages:
            say()
        show_selection(selection, page, profile, everything=everything)
        pages += 1
        links += len(selection.candidates) + len(page.skipped)
        chosen += len(selection.selected)
    if pages != 1:
        say()
        say(f"{chosen:,} of {links:,} links on {pages:,} pages were chosen")


def _page(file: str | None, asked: dict[str, Any]) -> Page:
    if asked["demo"]:
        if file is not None or asked["base"] is not None:
            raise click.UsageError("--demo brings its own page; leave out PAGE and --base.")
        return demo_page()
    if file is None:
        raise click.UsageError("Give a PAGE, or --demo.")
    return placed_page(file, asked["base"], markdown=asked["markdown"])


def read_heads(file: str, page: Url) -> dict[str, Head]:
    """Read titles and descriptions of linked pages, by URL (PICK-11)."""
    heads: dict[str, Head] = {}
    for line, text in read_lines(file):
        if not text.strip():
            continue
        if len(heads) == MAX_HEADS:
            raise InputError(f"has more than {MAX_HEADS:,} heads; give those of one page", file=name_of(file))
        url, head = _head(parse_object(text, file, line), page, f"{name_of(file)} line {line}")
        heads[url.text] = head
    return heads


def _head(row: dict[str, Any], page: Url, where: str) -> tuple[Url, Head]:
    text = _text(row, "url", where)
    if not text:
        raise InputError("is missing", file=where, field="url")
    try:
        url = Url.parse(text, page)
    except UrlError as error:
        raise InputError(f"is not an http(s) URL: {error.why}", file=where, field="url") from None
    return url, Head(_text(row, "title", where), _text(row, "description", where))


def _text(row: dict[str, Any], name: str, where: str) -> str | None:
    value = row.get(name)
    if value is None or isinstance(value, str):
        return value
    raise InputError("should be text", file=where, field=name)


def _records(selection: Selection, page: Page) -> Iterator[Record]:
    """Write every link of a page down, chosen or not, then what is no link to a page."""
    for candidate in selection.candidates:
        yield {"schema": SCHEMA, **candidate_record(candidate)}
    for href, rule in page.skipped:
        yield _skipped(href, rule)


def _skipped(href: str, rule: str) -> Record:
    """Give an href that is no URL the same names, in the same order (URL-9)."""
    rejected = {"rule": rule, "reason": f"URL-9: {rule.replace('-', ' ')}"}
    known = {
        "schema": SCHEMA,
        "url": href,
        "matched": [],
        "reasons": [],
        "points": [],
        "parts": {},
        "rejected": rejected,
        "unknown": [],
        "positions": [],
    }
    return {**dict.fromkeys(NAMES), **known}


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
    out = [] if candidate.rejected is None else [_out(*candidate.rejected)]
    rank = "-" if candidate.rank is None else str(candidate.rank)
    value = number(candidate.score.value if candidate.score else None)
    return [
        rank,
        value,
        kind,
        "\n".join([short_url(candidate.url.text, page.url.text), *anchor, *reasons, *out]),
    ]


def _out(rule: str, why: str) -> str:
    return f"  out: {rule}, {why}"


def _funnel(selection: Selection, page: Page, profile: Profile) -> list[list[str]]:
    """Count what went out by which rule, in the order in which the rules were asked."""
    counts: dict[str, int] = {}
    words = dict(RULE_WORDS)
    for rule in [rule for _, rule in page.skipped]:
        counts[rule] = counts.get(rule, 0) + 1
    for why in [candidate.rejected for candidate in selection.candidates if candidate.rejected is not None]:
        counts[why.rule] = counts.get(why.rule, 0) + 1
        words.setdefault(why.rule, why.text)
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


CHOSEN = (
    Column("#", right=True, keep=True),
    Column("Score", right=True, keep=True),
    Column("Bucket", keep=True),
    Column("Page and why"),
)


def show_record(record: Record) -> None:
    """Print the site, its status, and the chosen pages with their reasons."""
    say(f"{record['site']}  {record['status']}" + (f"  {record['homepage']}" if record["homepage"] else ""))
    if record["title"]:
        say(f"  {record['title']}")
    if record["reason"]:
        say(f"  {record['reason']}")
    if record["selected"]:
        say()
        print_table(CHOSEN, [_picked_row(page, record["homepage"]) for page in record["selected"]])
    for gone in record["replaced"]:
        say(f"  passed over {gone['url']}: {gone['reason']}")
    say()


def _picked_row(page: Record, homepage: str | None) -> list[str]:
    kind = page["bucket"] or page["category"] or "-"
    lines = [short_url(page["url"], homepage), *(f"  {line}" for line in _reasons(page["points"]))]
    return [str(page["rank"]), number(page["score"]), kind, "\n".join(lines)]


def _reasons(reasons: list[dict[str, Any]]) -> list[str]:
    """Write what each rule paid; those that paid nothing only if none did."""
    paid = [reason for reason in reasons if reason["points"]] or reasons
    return [f"{points(reason['points'])} {reason['reason']}" for reason in paid]


def strategy_profile(asked: dict[str, Any]) -> Profile:
    """Load the profile that chooses: the one that is named, or the strategy's own; it must have the strategy."""
    strategy = asked["strategy"]
    profile = load_profile(asked["profile"] or app.default_profile(strategy))
    check_strategy(profile, strategy)
    if asked["query"] is not None and not uses_query(profile, strategy):
        others = " or ".join(name for name in profile.strategies if uses_query(profile, name))
        advice = f"; --strategy {others} does" if others else ""
        note(f"strategy {strategy} does not choose by --query{advice}")
    return profile
