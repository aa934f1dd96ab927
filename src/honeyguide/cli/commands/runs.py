"""`honeyguide runs`, `export`, `rescore` and `explain`: the crawls of a store, what each found, and why; `app` makes the records."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honeyguide.app.files import check_table, column_names, store_name, write_table
from honeyguide.app.runs import compact_store, delete_run, export_run, list_runs
from honeyguide.app.tools.kept_pages import (
    CHUNK_CHARS,
    ContentWish,
    PageChoice,
    PageExport,
    check_rule,
    choose,
    stored_pages,
    topic_of_run,
)
from honeyguide.cli.command import COUNT, Command, CommandGroup, Number, option, takes
from honeyguide.cli.options import (
    ALL_FORMATS,
    INSIDE_WORDS,
    check_distinct,
    content_option,
    destination,
    quiet_option,
    rejected_options,
    store_option,
    tell_written,
)
from honeyguide.cli.output import (
    Column,
    emit,
    no_color_option,
    note,
    output_options,
    print_table,
    say,
    write_records,
)
from honeyguide.cli.progress import count_of
from honeyguide.core.records.command_records import (
    ExplainRecord,
    PickExplainRecord,
)
from honeyguide.core.records.fields import (
    ChunkRecord,
    ExternalRecord,
    PageRecord,
    QueueRecord,
    RejectedRecord,
    RunRecord,
    columns,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from honeyguide.app.crawl import Profile
    from honeyguide.core.records import Record

_TABLE = (
    Column.number("Run"),
    Column.whole("Started"),
    Column.number("Pages"),
    Column.whole("Stopped"),
    Column.whole("Profile"),
    Column("Command"),
)
_UNKNOWN = "killed"
RECORDS: dict[str, Any] = {
    "pages": PageRecord,
    "links": QueueRecord,
    "external": ExternalRecord,
    "out": RejectedRecord,
}
_NOUNS = {"pages": "page", "links": "link", "external": "link", "out": "URL"}


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Which store a command is about."""

    store: str = store_option()


@dataclass(frozen=True, slots=True)
class _RunOptions(StoreOptions):
    run: int | None = option(
        "--run N", "Which crawl, by the number that runs shows.  [default: the one started last]", type=COUNT
    )


@dataclass(frozen=True, slots=True)
class _ExplainOptions(_RunOptions):
    picks: str | None = option(
        "--picks FILE", "Read a file of pick, JSON lines or Parquet, instead of a store."
    )


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    examples=(
        "honeyguide runs",
        "honeyguide runs --store honeyguide.db --format csv",
        "honeyguide runs delete 1",
    ),
)
@takes(options=StoreOptions)
@output_options
def runs(options: StoreOptions) -> None:
    """List the crawls of a store: topic, start, number of pages, why each stopped.

    A running crawl also has its number of processes, their rate and last heartbeat. Times are UTC.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    emit(
        list_runs(options.store), columns(RunRecord), lambda records: print_table(_TABLE, map(_row, records))
    )


@runs.command(examples=("honeyguide runs delete 1",))
@click.argument("number", metavar="N", type=COUNT)
@takes(options=StoreOptions)
def delete(number: int, options: StoreOptions) -> None:
    """Delete a crawl from a store: its pages, its links, its visits.

    N is the number that runs shows. What is known of a URL goes with the last crawl that met it; what was learned of whole sites
    stays. The file keeps its size until honeyguide runs compact.
    """
    with rejected_options({"run": "N"}):
        counts = delete_run(chosen_store(options), number)
    urls = count_of(sum(counts.states.values()), "URL")
    note(f"run {number} is deleted: {count_of(counts.fetched, 'page')}, {urls}")


@runs.command(examples=("honeyguide runs compact",))
@takes(options=StoreOptions)
def compact(options: StoreOptions) -> None:
    """Return unused space of a store to the disk; needs as much space again while it works."""
    before, after = compact_store(chosen_store(options))
    note(f"{store_name(chosen_store(options))} has {after / 1e6:,.1f} MB, and had {before / 1e6:,.1f} MB")


def chosen_store(options: StoreOptions) -> str:
    """Give the store: --store of the command itself, or that of runs before it."""
    ctx = click.get_current_context()
    is_own = ctx.get_parameter_source("store") is not click.core.ParameterSource.DEFAULT
    return options.store if is_own or ctx.parent is None else str(ctx.parent.params["store"])


def _row(record: Record) -> list[str]:
    started = record["started_at"][:16].replace("T", " ")  # the minute tells runs apart
    stopped = record["stopped"] or _UNKNOWN
    if record["workers"]:
        working = f"{count_of(record['workers'], 'worker')}, {record['pages_per_s']:g} pages/s"
        stopped = f"{working}, seen at {record['seen_at'][11:19]}"
    fetched = f"{record['fetched']:,}"
    return [str(record["run"]), started, fetched, stopped, record["profile"], record["command"]]


@dataclass(frozen=True, slots=True)
class _PageOptions(_RunOptions):
    min_score: float | None = option(
        "--min-score N", "Only pages with a relevance_score of at least N.", type=Number(0, 10)
    )
    min_relevance: float | None = option(
        "--min-relevance N", "Only pages with a topic_relevance of at least N.", type=Number(0, 1)
    )
    rule: str | None = option(
        "--rule ID", "Only pages with points of this rule; with export out, URLs that it rejected."
    )
    path: str | None = option("--path PATTERN", "Only pages whose path matches.")
    lang: str | None = option("--lang CODE", "Only pages that declare this language, such as en.")
    changed: bool = option("--changed", "Only visits to new or changed pages.")
    top: int | None = option(
        "--top N", "Only the N best pages, without lists of pages and copies.", type=COUNT
    )
    lists: bool = option("--lists", "With --top: lists of pages, too.")
    content: str | None = content_option()
    markdown: str | None = option("--markdown DIR", "Write each page as a Markdown file with front matter.")
    chunks: int | None = option(
        "--chunks N",
        "Write pieces of at most N characters, by headings, as JSON lines or Parquet.",
        type=click.IntRange(*CHUNK_CHARS),
    )
    file: str | None = option("-o --output FILE", "Write to a file.")
    output: str | None = option(
        "--format",
        "How to write.  [default: by the name of -o, else JSON lines]",
        type=click.Choice(["jsonl", "csv", "parquet", "xlsx"]),
    )
    quiet: bool = quiet_option()

    @property
    def choice(self) -> PageChoice:
        """Which pages are wanted."""
        least = self.min_score, self.min_relevance
        return PageChoice(*least, self.rule, self.path, self.lang, self.changed, self.top, self.lists)


# Options that only pages have.
_OF_PAGES = (
    "min_score", "min_relevance", "path", "lang", "changed", "top", "lists", "content", "markdown", "chunks",
)  # fmt: skip


@click.command(
    cls=Command,
    examples=(
        "honeyguide export pages",
        "honeyguide export pages --top 30 --markdown notes",
        "honeyguide export pages --min-relevance 0.5 --chunks 2000 -o chunks.jsonl",
        "honeyguide export external --format csv",
        "honeyguide export out --rule other-site",
        "honeyguide export links --run 1 -o links.jsonl",
    ),
)
@click.argument("what", metavar="pages|links|external|out", type=click.Choice(list(_NOUNS)))
@takes(options=_PageOptions)
@no_color_option
def export(what: str, options: _PageOptions) -> None:
    """Write what a crawl found: pages, links, external links, or rejected URLs.

    pages are the records that crawl writes. links are all URLs that the crawl met, in the order of discovery. external
    are the URLs of other sites, with the number of pages that link each. out are the rejected URLs, with their rules.
    """
    if what == "pages":
        _write_pages(options)
        return
    for name in _OF_PAGES:
        if getattr(options, name):
            raise click.UsageError(f"--{name.replace('_', '-')} selects pages: export pages.")
    if options.rule is not None and what != "out":
        raise click.UsageError("--rule selects pages or rejected URLs: export pages, export out.")
    place = destination(options.file, options.output, ALL_FORMATS)
    with rejected_options(), export_run(options.store, what, options.run, rule=options.rule) as records:
        _write(records, options, place, RECORDS[what], _NOUNS[what])


@dataclass(frozen=True, slots=True)
class _RescoreOptions(_PageOptions):
    topic: str | None = option(
        "--topic PATTERN", f"A regular expression, such as 'fire|alarm'{INSIDE_WORDS}.", required=True
    )
    related: tuple[str, ...] = option("--related TERM", "A term near to the topic; may be repeated.")
    profile: str = option("--profile NAME", "Name or path of the profile.", default="docs")


@click.command(
    cls=Command,
    examples=(
        "honeyguide rescore --topic 'socket|selector' --min-score 5",
        "honeyguide rescore --topic 'socket|selector' --top 30 --markdown sockets",
    ),
)
@takes(options=_RescoreOptions)
@no_color_option
def rescore(options: _RescoreOptions) -> None:
    """Score the pages of a crawl by another topic or profile, without fetching anything.

    The pages are those that the store keeps; the store stays as it is.
    """
    from honeyguide.app.crawl import load_profile  # not for those who list runs

    profile = load_profile(options.profile, topic=options.topic, related=options.related or None)
    _write_pages(options, profile, options.topic)


def _write_pages(options: _PageOptions, profile: Profile | None = None, topic: str | None = None) -> None:
    """Write the pages that are wanted; with a profile, with the scores that it gives them."""
    if options.chunks and options.content:
        raise click.UsageError("--chunks gives the content in pieces; leave out --content.")
    if options.lists and not options.top:
        raise click.UsageError("--lists goes with --top; without it, lists are among the pages.")
    place = destination(options.file, options.output, ALL_FORMATS)
    if (options.chunks or options.content) and place[1] not in ("jsonl", "parquet"):
        named = "--chunks" if options.chunks else "--content"
        raise click.UsageError(f"{named} needs JSON lines or Parquet: -o FILE.jsonl, -o FILE.parquet.")
    with rejected_options():
        topic = topic or topic_of_run(options.store, options.run)
        wish = ContentWish(options.content, options.markdown, topic=topic)
        if options.rule is not None:
            with stored_pages(options.store, options.run, profile) as pages:
                check_rule(options.rule, pages)
        with stored_pages(options.store, options.run, profile) as pages:
            exporting = PageExport(wish, options.chunks)
            records = exporting.records(choose(pages, options.choice))
            kind, noun = (ChunkRecord, "chunk") if options.chunks else (PageRecord, "page")
            if options.markdown and options.file is None and options.output is None and not options.chunks:
                count = sum(1 for _ in records)
                if not options.quiet:
                    tell_written((options.markdown,), count - exporting.lacking, "page")
            else:
                _write(records, options, place, kind, noun)
    if exporting.lacking:
        note(f"{count_of(exporting.lacking, 'page')} not kept by the store: their content is missing")


def _write(
    records: Iterable[Record], options: _PageOptions, place: tuple[str | None, str], kind: Any, noun: str
) -> None:
    """Write records to the file of -o, or print them."""
    file, chosen = place
    check_distinct((options.store,), (file,))
    if file is None:
        write_records(chosen, records, column_names(kind))
        sys.stdout.flush()
        return
    check_table(Path(file), chosen, kind)
    count = write_table(Path(file), chosen, records, kind)
    if not options.quiet:
        tell_written((file,), count, noun)


@click.command(
    cls=Command,
    examples=(
        "honeyguide explain https://docs.example.org/library/asyncio.html",
        "honeyguide explain https://docs.example.org/about --run 1 --format jsonl",
        "honeyguide explain https://acme.example/careers --picks picks.jsonl",
    ),
)
@click.argument("text", metavar="URL")
@takes(options=_ExplainOptions)
@output_options
def explain(text: str, options: _ExplainOptions) -> None:
    """Explain why a URL was fetched, picked or rejected: its normal form, links to it, scores, rules.

    URL may be a path alone, as crawl prints it. The answer comes from the crawl of --run, else the newest that has met the
    URL, else the newest of its site. For a homepage in a file, use honeyguide select PAGE --explain URL.
    """
    with rejected_options():
        if options.picks is not None:
            from honeyguide.app.views.words import explain_by_picks

            if options.run is not None:
                raise click.UsageError("--run is about a store; leave it out, or leave out --picks.")
            show_explained(explain_by_picks(options.picks, text, note))
            return
        from honeyguide.app.explain import explain_url

        record = explain_url(options.store, text, options.run, note)
    emit([record], columns(ExplainRecord, "steps", "visits", "sentences"), _show_sentences)


def show_explained(record: Record) -> None:
    """Print what a pick decided about a URL."""
    emit([record], columns(PickExplainRecord, "sentences"), _show_sentences)


def _show_sentences(records: Iterable[Record]) -> None:
    for record in records:
        for line in record["sentences"]:
            say(line)
