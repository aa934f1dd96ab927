"""`honeyguide select`: the pages worth a visit among the links of a page, or of each page of a file of links.

Owns: the command, and the tables of selections and picks. Must not know: filters, scores, records (`app.pick.select`).
Start reading at `select`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from honeyguide.app.arguments import strategy_profile
from honeyguide.app.files import kind_of, name_of
from honeyguide.app.pick.select import (
    COLUMNS,
    PageSelection,
    query_strategies,
    read_heads,
    select_files,
    select_links,
)
from honeyguide.app.tools.pages import demo_page, load_page
from honeyguide.cli.command import Command
from honeyguide.cli.commands.tools.links import note_address
from honeyguide.cli.files import on_error_option, rejecting
from honeyguide.cli.options import address, all_options, require_any
from honeyguide.cli.output import (
    Column,
    View,
    emit,
    note,
    number,
    output_options,
    point_lines,
    print_table,
    say,
    short_url,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from honeyguide.app.arguments import Profile
    from honeyguide.app.tools.pages import Page
    from honeyguide.core.records import Record

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


@dataclass(frozen=True, slots=True)
class _Options:
    demo: bool
    base: str | None
    input_format: str | None
    heads: str | None
    everything: bool
    on_error: str


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
    strategy: str,
    profile: str | None,
    query: str | None,
    cap: int | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    output: str,
    **values: Any,
) -> None:
    """Choose the pages worth a visit among the links of a page, and say why.

    PAGE is an HTML or Markdown file, or `-` for standard input. As JSON lines or CSV every link of the page is one
    record, chosen or not.

    FILE is CSV, JSON lines or Parquet with a link in each row: page and url, and anchor, title, rel, context and
    position where they are known. Each page is treated as if it were alone. The rows of one page must be adjacent.
    """
    del output  # emit reads it
    options = _Options(**values)
    loaded = load_strategy(strategy, profile, query)
    chosen: dict[str, Any] = {
        "strategy": strategy, "profile": loaded, "query": query, "cap": cap, "include": include, "exclude": exclude,
    }  # fmt: skip
    if file is None or not _has_rows(file, options):
        page = _page(file, options)
        heads = None if options.heads is None else read_heads(options.heads, page.url)
        found = PageSelection(page, select_links(page, page.url, heads=heads, **chosen))
        show = partial(_show, found=found, profile=loaded, everything=options.everything)
        emit(View(COLUMNS, lambda _: show()), found.records())
        return
    _check_rows(options)
    with rejecting(options.on_error) as rejected:
        selections = select_files(
            file, base=options.base, input_format=options.input_format, reject=rejected, **chosen
        )
        selections = require_any(selections, [name_of(file)], rejected)
        view = View(
            ("schema", "page", *COLUMNS[1:]),
            lambda _: _show_pages(selections, loaded, everything=options.everything),
        )
        emit(view, _page_records(selections))


def load_strategy(strategy: str, profile: str | None, query: str | None) -> Profile:
    """Load the profile of a strategy, and note a --query that it does not use."""
    loaded = strategy_profile(strategy, profile)
    able = query_strategies(loaded)
    if query is not None and strategy not in able:
        advice = f"; --strategy {' or '.join(able)} does" if able else ""
        note(f"strategy {strategy} does not use --query{advice}")
    return loaded


def _has_rows(file: str, options: _Options) -> bool:
    if options.input_format is None:
        return kind_of(file) is not None
    return options.input_format in _ROW_FORMATS


def _check_rows(options: _Options) -> None:
    if options.demo:
        raise click.UsageError("--demo brings its own page; leave out FILE.")
    if options.heads is not None:
        raise click.UsageError(
            "--heads is for a PAGE; a FILE of links has them in columns head_title and head_description."
        )


def _page(file: str | None, options: _Options) -> Page:
    """Read the page; its address must be known, because it decides what is inside the site."""
    if options.demo:
        if file is not None or options.base is not None:
            raise click.UsageError("--demo brings its own page; leave out PAGE and --base.")
        return demo_page()
    if file is None:
        raise click.UsageError("Give a PAGE, or --demo.")
    loaded = load_page(file, options.base, options.input_format)
    note_address(loaded)
    if loaded.is_nowhere:
        raise click.UsageError(
            f"{name_of(file)}: give its address with --base, such as --base https://acme.example/."
        )
    return loaded.page


def _page_records(selections: Iterable[PageSelection]) -> Iterator[Record]:
    for found in selections:
        page = {"schema": None, "page": found.page.url.text}  # stands behind the schema
        yield from ({**page, **record} for record in found.records())


# --- tables -----------------------------------------------------------------------------------------------------


def _show_pages(selections: Iterable[PageSelection], profile: Profile, *, everything: bool) -> None:
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


def _show(found: PageSelection, profile: Profile, *, everything: bool) -> None:
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
    funnel = [[f"-{step.rejected}", step.rule, step.text] for step in found.funnel(profile)]
    rows = [[str(found.total), "links", ""], *funnel, [str(count), "selected", ""]]
    print_table((Column("", right=True, keep=True), Column("", keep=True), Column("")), rows)
    if unknown := found.unknown(profile):
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


def _order(record: Record) -> tuple[bool, int, bool, float]:
    """Put the selected first, then scored links, best first, then the rest in document order."""
    score = record["score"]
    return (record["rank"] is None, record["rank"] or 0, score is None, -(score or 0))


def _row(record: Record, page: str | None) -> list[str]:
    bucket = " ".join(dict.fromkeys(filter(None, (record["category"], record["bucket"])))) or "-"
    anchor = [f'  "{record["anchor_text"]}"'] if record["anchor_text"] else []
    rejected = record["rejected"]
    why = [f"  rejected: {rejected['rule']}, {rejected['reason']}"] if rejected else []
    lines = [short_url(record["url"], page), *anchor, *(f"  {line}" for line in point_lines(record)), *why]
    rank = "-" if record["rank"] is None else str(record["rank"])
    return [rank, number(record["score"]), bucket, "\n".join(lines)]


def show_record(record: Record) -> None:
    """Print the record of a pick: the site, its status, and the chosen pages with their points."""
    say(f"{record['site']}  {record['status']}" + (f"  {record['homepage']}" if record["homepage"] else ""))
    if record["title"]:
        say(f"  {record['title']}")
    if record["reason"]:
        say(f"  {record['reason']}")
    if record["selected"]:
        say()
        print_table(CHOSEN, [_picked_row(page, record["homepage"]) for page in record["selected"]])
    for page in record["replaced"]:
        say(f"  replaced {page['url']}: {page['reason']}")
    say()


def _picked_row(page: Record, homepage: str | None) -> list[str]:
    lines = [short_url(page["url"], homepage), *(f"  {line}" for line in point_lines(page))]
    return [
        str(page["rank"]), number(page["score"]), page["bucket"] or page["category"] or "-", "\n".join(lines),
    ]  # fmt: skip
