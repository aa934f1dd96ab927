"""`honeyguide links` and `score`: the links of a page, and scores against a topic.

Owns: the commands and their tables. Must not know: how pages are read and scored (`app.tools.pages`, `app.tools.scores`).
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from honeyguide.app.arguments import profile_on
from honeyguide.app.files import name_of
from honeyguide.app.runs import ACTION_WORDS
from honeyguide.app.tools import scores
from honeyguide.app.tools.pages import NOWHERE, link_records, load_page
from honeyguide.cli.command import COUNT, Command, CommandGroup, Number, option, takes
from honeyguide.cli.options import (
    INSIDE_WORDS,
    address,
    check_kinds,
    column_option,
    input_format_option,
    on_error_option,
    reading_rows,
    refusal,
    require_any,
)
from honeyguide.cli.output import (
    Column,
    chosen_format,
    emit,
    note,
    number,
    output_options,
    point_lines,
    points,
    print_table,
    say,
    short_url,
    verbose_option,
)
from honeyguide.core.records import is_relevant
from honeyguide.core.records.command_records import (
    LinkScoreRecord,
    ListedLinkRecord,
    PageScoreRecord,
)
from honeyguide.core.records.fields import columns
from honeyguide.core.url.url import Url, display
from honeyguide.errors import InputError, UrlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.app.tools.pages import LoadedPage, Page
    from honeyguide.core.records import Record


_base_option = partial(
    option, "--base URL", "The page's address.  [default: its canonical link]", callback=address
)
_related_option = partial(option, "--related TERM", "A term near to the topic; may be repeated.")


@dataclass(frozen=True, slots=True)
class _LinksOptions:
    base: str | None = _base_option()
    input_format: str | None = option(
        "--input-format", "What PAGE is.  [default: by its name]", type=click.Choice(["html", "markdown"])
    )


@click.command(
    cls=Command,
    examples=(
        "honeyguide links home.html --base https://acme.example/",
        "honeyguide links notes.md --base https://acme.example/ --format csv",
        "honeyguide links - --base https://acme.example/ --format jsonl < home.html",
    ),
)
@click.argument("file", metavar="PAGE")
@takes(options=_LinksOptions)
@output_options
def links(file: str, options: _LinksOptions) -> None:
    """List the links of a page, with the verdict on each.

    PAGE is an HTML or Markdown file, or `-` for standard input. Each URL is listed once, in the order of the page; links
    that lead to no page come last.
    """
    page = loaded_page(file, options.base, options.input_format)
    emit(link_records(page), columns(ListedLinkRecord), partial(_show, page=page.url.text))


def loaded_page(file: str, base: str | None, input_format: str | None = None) -> Page:
    """Read a page, and note where it is if --base does not say so."""
    loaded = load_page(file, base, input_format)
    note_address(loaded)
    page = loaded.page
    if loaded.is_nowhere and any(link.url.site == page.url.site for link in page.links):
        note(f"no --base is given; relative links are shown under {NOWHERE}")
    return page


def note_address(loaded: LoadedPage) -> None:
    """Note that a page was given no address and has one itself."""
    if loaded.is_canonical:
        note(f"no --base is given; the page says it is {loaded.page.url}")


def _show(records: Iterable[Record], page: str) -> None:
    rows = [_row(record, page) for record in records]
    columns = (Column.whole("Position"), Column.number("Times"), Column.whole("Verdict"))
    print_table((*columns, Column("Link and text")), rows)
    say()
    say(f"{len(rows):,} links on {page}")


def _row(record: Record, page: str) -> list[str]:
    verdict = record["verdict"] if record["verdict"] == "inside" else f"{record['verdict']}: {record['rule']}"
    times = "-" if record["occurrences"] is None else str(record["occurrences"])
    text = f'\n  "{record["anchor_text"]}"' if record["anchor_text"] else ""
    under = [*record["menus"], *record["headings"]]
    text += f"\n  under {', '.join(dict.fromkeys(under))}" if under else ""
    shown = record["url"] if record["occurrences"] is None else short_url(record["url"], page)
    return [record["position"] or "-", times, verdict, shown + text]


@click.group(
    cls=CommandGroup,
    examples=("honeyguide score link https://acme.example/docs/api --topic API --anchor 'API reference'",),
)
def score() -> None:
    """Score a link or a page against a topic, 0 to 10, with the points that make it."""


@dataclass(frozen=True, slots=True)
class _TopicOptions:
    topic: str = option(
        "--topic PATTERN", f"A regular expression, such as 'fire|alarm'{INSIDE_WORDS}.", required=True
    )
    profile: str = option("--profile NAME", "Name or path of the profile.", default="docs")


@dataclass(frozen=True, slots=True)
class _LinkOptions(_TopicOptions):
    anchor: str = option("--anchor TEXT", "The link's text.", default="", show_default=False)
    context: str = option("--context TEXT", "The text around the link.", default="", show_default=False)
    position: str | None = option(
        "--position", "Where on its page the link is.", type=click.Choice(["navigation", "main", "footer"])
    )
    related: tuple[str, ...] = _related_option()


@score.command(
    "link",
    examples=(
        "honeyguide score link https://acme.example/docs/api --topic API --anchor 'API reference' --position navigation",
        "honeyguide score link https://acme.example/docs --topic 'API|接口' --anchor Endpoints --related endpoint --format jsonl",
    ),
)
@click.argument("url", metavar="URL")
@takes(options=_LinkOptions)
@output_options
def link_(url: str, options: _LinkOptions) -> None:
    """Score one link by its URL, its text, the text around it and its position."""
    try:
        parsed = Url.parse(url)
    except UrlError as error:
        raise InputError(refusal(error)) from None
    row = scores.link_row(parsed, options.anchor, options.context, options.position)
    loaded = profile_on(options.profile, options.topic, options.related)
    emit(
        [scores.scored_link(row, loaded).record],
        columns(LinkScoreRecord),
        partial(_show_score, name=display(parsed)),
    )


@dataclass(frozen=True, slots=True)
class _LinkFileOptions(_TopicOptions):
    related: tuple[str, ...] = _related_option()
    input_format: str | None = input_format_option()
    columns: Mapping[str, str] = column_option(*scores.LINK_FIELDS)
    on_error: str = on_error_option()
    top: int | None = option("--top N", "Print only the best N, best first.", type=COUNT)
    min_score: float | None = option("--min-score N", "Print only scores of N and more.", type=Number(0, 10))


@score.command(
    "links",
    examples=(
        "honeyguide score links known.csv --topic 'world|live' --top 10",
        "honeyguide score links visits.csv --column address --topic world",
        "honeyguide score links - --input-format csv --topic world --min-score 1 --format csv < known.csv",
    ),
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@takes(options=_LinkFileOptions)
@verbose_option
@output_options
def links_(files: tuple[str, ...], options: _LinkFileOptions) -> None:
    """Score the links of files: one row each, with url, and anchor, context and position if they are known.

    FILE is CSV, JSON lines or Parquet, also as .gz or .zst; several files, folders and patterns are read as one, `-` is
    standard input.
    """
    check_kinds(files, options.input_format)
    # In a terminal, lines that are no table appear while rows are read, so that no progress is needed.
    quiet = sys.stdout.isatty() and chosen_format() != "table"
    with reading_rows(options.on_error, quiet=quiet) as (rejected, progress):
        wanted = {name: value for name, value in asdict(options).items() if name != "on_error"}
        found = scores.score_links(files, **wanted, reject=rejected, on_rows=progress.read)
        if options.min_score is None:  # else there may be links, and none good enough
            found = require_any(found, map(name_of, files), rejected)
        records = (link.record for link in progress.until_read(found))
        emit(records, columns(LinkScoreRecord), _show_links)


def _show_links(records: Iterable[Record]) -> None:
    columns = (Column.number("Score"), Column.whole("Level"), Column("URL and why"))
    texts = ((r, "\n  ".join([display(r["url"]), *point_lines(r)])) for r in records)
    rows = ([number(r["relevance_score"]), r["relevance_level"] or "-", text] for r, text in texts)
    print_table(columns, rows)


@dataclass(frozen=True, slots=True)
class _PageScoreOptions(_TopicOptions):
    base: str | None = _base_option()


@score.command(
    "page",
    examples=(
        "honeyguide score page home.html --topic 'fire|alarm'",
        "honeyguide score page - --topic sprinkler --base https://acme.example/ --format jsonl < home.html",
    ),
)
@click.argument("file", metavar="PAGE")
@takes(options=_PageScoreOptions)
@output_options
def page_(file: str, options: _PageScoreOptions) -> None:
    """Score a page, an HTML file or `-`, by its title, headings and text."""
    page = loaded_page(file, options.base)
    record = scores.page_score_record(page, profile_on(options.profile, options.topic))
    emit([record], columns(PageScoreRecord), partial(_show_score, name=page.title or file))


def _show_score(records: Iterable[Record], name: str) -> None:
    for record in records:
        say(f"{number(record['relevance_score'])} of 10  {name}")
        if record["relevance_level"] is not None:
            action = record["action"]
            follows = ACTION_WORDS.get(action) or scores.LANE_WORDS.get(action, action)
            say(f"{record['relevance_level']}: {follows}")
        _show_points(record["points"])
        if record.get("topic_relevance") is not None:
            word = "about the topic" if is_relevant(record) else "not about the topic"
            say()
            say(f"{number(record['topic_relevance'])} of 1  {word}")
            _show_points(record["topic_points"])


def _show_points(paid: Sequence[Record]) -> None:
    say()
    if not paid:
        say("No rule paid anything.")
        return
    columns = (Column.number("Points"), Column("Why"), Column.whole("Rule"))
    print_table(columns, ([points(point["points"]), point["reason"], point["rule"]] for point in paid))
