"""`honeyguide select`: the pages worth a visit among the links of a page, or of each page of a file of links.

Owns: the command, and the tables of selections and picks. Must not know: filters, scores, records (`app.pick.select`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from honeyguide.app.arguments import strategy_profile
from honeyguide.app.files import kind_of, name_of
from honeyguide.app.pick import select as selecting
from honeyguide.app.tools.pages import demo_page, load_page
from honeyguide.cli.command import Command
from honeyguide.cli.commands.tools.links import note_address
from honeyguide.cli.files import on_error_option, rejecting
from honeyguide.cli.options import address, all_options, require_any
from honeyguide.cli.output import Column, emit, note, output_options, point_lines, print_table, say, short_url
from honeyguide.core.text.printable import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from honeyguide.app.arguments import Profile
    from honeyguide.app.tools.pages import Page
    from honeyguide.core.records import Record

CHOSEN = (
    Column("#", right=True, keep=True),
    Column("Score", right=True, keep=True),
    Column("Bucket", keep=True),
    Column("Page and why"),
)
_ROW_FORMATS = ("csv", "jsonl", "parquet")


def selection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what is selected and how: --strategy, --profile, --query, --cap, --include, --exclude."""
    options = (
        click.option("--strategy", default="portfolio", show_default=True, metavar="NAME", help="How to choose: portfolio, rules, blend, or one of the profile's own."),
        click.option("--profile", metavar="NAME", help="Name or path of the profile.  [default: the strategy's own]"),
        click.option("--query", metavar="WORDS", help="What blend looks for, instead of the profile's words."),
        click.option("--cap", type=click.IntRange(1, 1000), metavar="N", help="Choose at most N pages of a site.  [default: the profile's, 4]"),
        click.option("--include", multiple=True, metavar="PATTERN", help="Consider only URLs that match; may be repeated, then one match is enough."),
        click.option("--exclude", multiple=True, metavar="PATTERN", help="Reject URLs that match; may be repeated."),
    )  # fmt: skip
    return all_options(options, command)


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
@click.option("--demo", is_flag=True, help="Use the homepage of a made-up company that comes with Honeyguide.")  # fmt: skip
@click.option("--base", metavar="URL", callback=address, help="The page's address; for FILE, the page of rows that name none.  [default: its canonical link]")  # fmt: skip
@selection_options
@click.option("--heads", metavar="FILE", help="JSON lines with url, title, description of linked pages, for blend.")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="List every link of the page with its verdict.")
@click.option("--input-format", type=click.Choice(["html", "markdown", *_ROW_FORMATS]), help="What PAGE or FILE is.  [default: by its name]")  # fmt: skip
@on_error_option
@output_options
def select(  # noqa: PLR0913 - click passes each option by its name
    file: str | None,
    demo: bool,
    base: str | None,
    heads: str | None,
    everything: bool,
    input_format: str | None,
    on_error: str,
    output: str,
    **selection: Any,
) -> None:
    """Choose the pages worth a visit among the links of a page, and say why.

    PAGE is an HTML or Markdown file, or `-` for standard input. As JSON lines or CSV every link of the page is one
    record, chosen or not.

    FILE is CSV, JSON lines or Parquet with a link in each row: page and url, and anchor, title, rel, context and
    position where they are known. Each page is treated as if it were alone. The rows of one page must be adjacent.
    """
    del output  # emit reads it
    profile = load_strategy(selection["strategy"], selection["profile"], selection["query"])
    selection["profile"] = profile
    if file is None or (kind_of(file) if input_format is None else input_format) not in _ROW_FORMATS:
        page = _page(file, base, input_format, demo=demo)
        known = None if heads is None else selecting.read_heads(heads, page.url)
        found = selecting.PageSelection(
            page, selecting.select_links(page, page.url, heads=known, **selection)
        )
        emit(found.records(), selecting.COLUMNS, lambda _: _show(found, profile, everything=everything))
        return
    if demo:
        raise click.UsageError("--demo brings its own page; leave out FILE.")
    if heads is not None:
        raise click.UsageError(
            "--heads is for a PAGE; a FILE of links has them in columns head_title and head_description."
        )
    with rejecting(on_error) as rejected:
        selections = require_any(
            selecting.select_files(file, base=base, input_format=input_format, reject=rejected, **selection),
            [name_of(file)],
            rejected,
        )
        records = (
            {"schema": None, "page": found.page.url.text, **record}  # the page stands behind the schema
            for found in selections
            for record in found.records()
        )
        columns = ("schema", "page", *selecting.COLUMNS[1:])
        emit(records, columns, lambda _: _show_pages(selections, profile, everything=everything))


def load_strategy(strategy: str, profile: str | None, query: str | None) -> Profile:
    """Load the profile of a strategy, and note a --query that it does not use."""
    loaded = strategy_profile(strategy, profile)
    able = selecting.query_strategies(loaded)
    if query is not None and strategy not in able:
        advice = f"; --strategy {' or '.join(able)} does" if able else ""
        note(f"strategy {strategy} does not use --query{advice}")
    return loaded


def _page(file: str | None, base: str | None, input_format: str | None, *, demo: bool) -> Page:
    """Read the page; its address must be known, because it decides what is inside the site."""
    if demo:
        if file is not None or base is not None:
            raise click.UsageError("--demo brings its own page; leave out PAGE and --base.")
        return demo_page()
    if file is None:
        raise click.UsageError("Give a PAGE, or --demo.")
    loaded = load_page(file, base, input_format)
    note_address(loaded)
    if loaded.is_nowhere:
        raise click.UsageError(
            f"{name_of(file)}: give its address with --base, such as --base https://acme.example/."
        )
    return loaded.page


def _show_pages(selections: Iterable[selecting.PageSelection], profile: Profile, *, everything: bool) -> None:
    pages = links = chosen = 0
    for found in selections:
        if pages:
            say()
        _show(found, profile, everything=everything)
        pages += 1
        links += found.total
        chosen += len(found.selection.selected)
    if pages != 1:
        say()
        say(f"{chosen:,} of {links:,} links on {pages:,} pages were chosen")


def _show(found: selecting.PageSelection, profile: Profile, *, everything: bool) -> None:
    page, selection = found.page, found.selection
    count = len(selection.selected)
    say(page.title or page.url.text)
    were = "was" if count == 1 else "were"
    say(
        f"{count} of {found.total} links {were} chosen (strategy {selection.strategy}, profile {profile.name})"
    )
    say()
    records = sorted(found.records(selected_only=not everything), key=_order)
    print_table(CHOSEN, [_row(record, page.url.text) for record in records])
    say()
    funnel = [[f"-{count}", rule, why] for rule, why, count in found.funnel(profile)]
    rows = [[str(found.total), "links", ""], *funnel, [str(count), "selected", ""]]
    print_table((Column("", right=True, keep=True), Column("", keep=True), Column("")), rows)
    if unknown := found.unknown(profile):
        say()
        say(
            f"Not known of every link: {', '.join(unknown)}. --heads FILE brings titles and descriptions of linked pages."
        )


def _order(record: Record) -> tuple[bool, int, bool, float]:
    """Put the selected first, then scored links, best first, then the rest in document order."""
    score = record["score"]
    return (record["rank"] is None, record["rank"] or 0, score is None, -(score or 0))


def _row(record: Record, page: str | None) -> list[str]:
    """Write a link; below its address are its text, its points and its rejection, each on a line of its own."""
    anchor, rejected = record.get("anchor_text"), record.get("rejected")
    lines = [f'"{anchor}"'] if anchor else []
    lines += point_lines(record)
    lines += [f"rejected: {rejected['rule']}, {rejected['reason']}"] if rejected else []
    rank = "-" if record["rank"] is None else str(record["rank"])
    bucket = " ".join(dict.fromkeys(filter(None, (record["category"], record["bucket"])))) or "-"
    return [rank, number(record["score"]), bucket, "\n  ".join([short_url(record["url"], page), *lines])]


def show_record(record: Record) -> None:
    """Print the record of a pick: the site, its status, and the chosen pages with their points."""
    say(f"{record['site']}  {record['status']}" + (f"  {record['homepage']}" if record["homepage"] else ""))
    if record["title"]:
        say(f"  {record['title']}")
    if record["reason"]:
        say(f"  {record['reason']}")
    if record["selected"]:
        say()
        pages = [
            {**page, "category": None if page["bucket"] else page["category"]} for page in record["selected"]
        ]
        print_table(CHOSEN, [_row(page, record["homepage"]) for page in pages])
    for page in record["replaced"]:
        say(f"  replaced {page['url']}: {page['reason']}")
    say()
