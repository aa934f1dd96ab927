"""`honeyguide select`: the pages worth a visit among the links of a page or file.

Owns: the command, and the tables of selections and picks. Must not know: filters, scores, records (`app.pick`).
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honeyguide.app import pick as selecting
from honeyguide.app.arguments import strategy_profile, wishes_of
from honeyguide.app.files import kind_of, name_of
from honeyguide.app.tools.pages import demo_page, load_page
from honeyguide.app.tools.picked import explain_selection
from honeyguide.cli.command import Command, option, takes
from honeyguide.cli.commands.runs import show_explained
from honeyguide.cli.commands.tools.links import note_address
from honeyguide.cli.options import (
    address,
    column_option,
    on_error_option,
    reading_rows,
    rejected_options,
    require_any,
    scope_option,
)
from honeyguide.cli.output import (
    Column,
    emit,
    note,
    output_options,
    point_lines,
    print_table,
    say,
    short_url,
    verbose_option,
)
from honeyguide.core.text.printable import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from honeyguide.app.arguments import Profile
    from honeyguide.app.tools.pages import Page
    from honeyguide.core.records import Record

CHOSEN = (Column.number("#"), Column.number("Score"), Column.whole("Bucket"), Column("Page and why"))
_ROW_FORMATS = ("csv", "jsonl", "parquet")


@dataclass(frozen=True, slots=True)
class ChoiceOptions:
    """What is selected, and how."""

    strategy: str = option(
        "--strategy NAME",
        "How to choose: portfolio for company sites of any trade; rules or blend for companies of fire protection; or a "
        "strategy of the profile.",
        default="portfolio",
    )
    profile: str | None = option(
        "--profile NAME", "Name or path of the profile.  [default: the strategy's own]"
    )
    query: str | None = option("--query WORDS", "What blend looks for, instead of the profile's words.")
    cap: int | None = option(
        "--cap N",
        "Choose at most N pages of a site.  [default: the profile's, 4]",
        type=click.IntRange(1, 1000),
    )
    include: tuple[str, ...] = option(
        "--include PATTERN", "Only URLs that match one of these patterns; may be repeated."
    )
    exclude: tuple[str, ...] = option("--exclude PATTERN", "Reject URLs that match; may be repeated.")
    scope: str | None = scope_option("  [default: www for portfolio, host for rules and blend]")
    want: tuple[str, ...] = option(
        "--want WORDS",
        "Keep a place for the best page of each kind: a bucket, or a word in its link; such as money,projects.",
    )
    never: tuple[str, ...] = option(
        "--never WORDS", "Reject pages of these kinds: buckets, or words; such as careers,blog."
    )

    def load(self) -> Profile:
        """Load the profile of the strategy, and note a --query that it does not use."""
        loaded = strategy_profile(self.strategy, self.profile)
        able = selecting.query_strategies(loaded)
        if self.query is not None and self.strategy not in able:
            advice = f"; --strategy {' or '.join(able)} does" if able else ""
            note(f"strategy {self.strategy} does not use --query{advice}")
        return loaded

    def settings(self, profile: Profile) -> dict[str, Any]:
        """Give the settings of a selection with its loaded profile; a wish is split, because one text may name several."""
        with rejected_options():
            wishes = wishes_of(self.want, self.never)
        for word, kind in selecting.meant_kinds(profile, self.strategy, [*wishes.want, *wishes.never]):
            note(f"{word} is searched as a word; did you mean the kind {kind}?")
        return {**asdict(self), **wishes._asdict(), "profile": profile}


@dataclass(frozen=True, slots=True)
class _SourceOptions:
    demo: bool = option("--demo", "Use the homepage of a made-up company.")
    base: str | None = option(
        "--base URL",
        "The page's address, also for rows without one.  [default: its canonical link]",
        callback=address,
    )


@dataclass(frozen=True, slots=True)
class _SelectOptions:
    heads: str | None = option(
        "--heads FILE",
        "Heads of linked pages, for blend: JSON lines with url, title, description.",
    )
    everything: bool = option("--all", "List every link of the page with its verdict.")
    explain: str | None = option("--explain URL", "Explain the decision about this URL or path of a PAGE.")
    input_format: str | None = option(
        "--input-format",
        "What PAGE or FILE is.  [default: by its name]",
        type=click.Choice(["html", "markdown", *_ROW_FORMATS]),
    )
    columns: Mapping[str, str] = column_option(*selecting.FILE_FIELDS)
    on_error: str = on_error_option()


@click.command(
    cls=Command,
    examples=(
        "honeyguide select --demo",
        "honeyguide select --demo --strategy blend --all",
        "honeyguide select --demo --explain /careers",
        "honeyguide select home.html --base https://acme.example/ --cap 6 --exclude 'career|jobs'",
        "honeyguide select home.html --base https://acme.example/ --strategy blend --heads heads.jsonl --format jsonl",
        "honeyguide select - --base https://acme.example/ --profile company --format csv < home.html",
        "honeyguide select links.csv --strategy rules --cap 2",
    ),
)
@click.argument("file", metavar="[PAGE|FILE]", required=False)
@takes(source=_SourceOptions, choice=ChoiceOptions, options=_SelectOptions)
@verbose_option
@output_options
def select(file: str | None, source: _SourceOptions, choice: ChoiceOptions, options: _SelectOptions) -> None:
    """Choose the pages worth a visit among the links of a page, and say why.

    PAGE is an HTML or Markdown file, or `-` for standard input. JSON lines and CSV have every link, chosen or not.

    FILE has a link in each row: CSV, JSON lines or Parquet, also as .gz or .zst, with page and url, and anchor, title,
    rel, context and position if they are known. The rows of one page must be adjacent.
    """
    profile, everything = choice.load(), options.everything
    kind = options.input_format or (None if file is None else kind_of(file))
    if file is None or not (kind in _ROW_FORMATS or Path(file).is_dir()):
        if options.columns:
            raise click.UsageError("--column is about a FILE of links; a PAGE has no columns.")
        page = _page(file, source, options.input_format)
        heads = None if options.heads is None else selecting.read_heads(options.heads, page.url)
        selection = selecting.select_links(page, page.url, heads=heads, **choice.settings(profile))
        found = selecting.PageSelection(page, selection)
        if options.explain is not None:
            show_explained(explain_selection(found, options.explain, profile.name))
            return
        emit(
            found.records(), selecting.SELECT_COLUMNS, lambda _: _show(found, profile, everything=everything)
        )
        return
    if source.demo:
        raise click.UsageError("--demo brings its own page; leave out FILE.")
    if options.explain is not None:
        raise click.UsageError("--explain is for a PAGE; leave it out, or give one page.")
    if options.heads is not None:
        raise click.UsageError(
            "--heads is for a PAGE; a FILE of links has them in columns head_title and head_description."
        )
    # In a terminal, what is chosen appears page by page.
    with reading_rows(options.on_error, quiet=sys.stdout.isatty()) as (rejected, progress):
        pages = selecting.select_files(
            file,
            base=source.base,
            input_format=options.input_format,
            columns=options.columns,
            reject=rejected,
            on_rows=progress.read,
            **choice.settings(profile),
        )
        selections = require_any(pages, [name_of(file)], rejected)
        records = (
            {"schema": None, "page": found.page.url.text, **record}  # the page stands behind the schema
            for found in selections
            for record in found.records()
        )
        columns = ("schema", "page", *selecting.SELECT_COLUMNS[1:])
        emit(records, columns, lambda _: _show_pages(selections, profile, everything=everything))


def _page(file: str | None, source: _SourceOptions, input_format: str | None) -> Page:
    """Read the page; its address must be known, because it decides what is inside the site."""
    if source.demo:
        if file is not None or source.base is not None:
            raise click.UsageError("--demo brings its own page; leave out PAGE and --base.")
        return demo_page()
    if file is None:
        raise click.UsageError("Give a PAGE, or --demo.")
    loaded = load_page(file, source.base, input_format)
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
    print_table((Column.number(""), Column.whole(""), Column("")), rows)
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
        print_table(CHOSEN, [_row(page, record["homepage"]) for page in record["selected"]])
    for page in record["replaced"]:
        say(f"  replaced {page['url']}: {page['reason']}")
    say()
