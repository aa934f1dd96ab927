"""`honeyguide runs`, `export` and `explain`: the crawls of a store, what each found, and why; `app` makes the records."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honeyguide.app.files import check_table, column_names, write_table
from honeyguide.app.runs import compact_store, delete_run, export_run, list_runs
from honeyguide.cli.command import COUNT, Command, CommandGroup, option, takes
from honeyguide.cli.options import (
    ALL_FORMATS,
    check_distinct,
    check_printable,
    format_of,
    quiet_option,
    rejected_options,
    standard_output,
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
from honeyguide.core.records.answers import ExplainRecord
from honeyguide.core.records.fields import (
    ExternalRecord,
    PageRecord,
    QueueRecord,
    RejectedRecord,
    RunRecord,
    columns,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from honeyguide.core.records import Record

_TABLE = (
    Column.number("Run"),
    Column.whole("Started"),
    Column.number("Pages"),
    Column.whole("Stopped"),
    Column.whole("Profile"),
    Column("Command"),
)
_UNKNOWN = "working, or killed"
RECORDS: dict[str, Any] = {
    "pages": PageRecord,
    "links": QueueRecord,
    "external": ExternalRecord,
    "out": RejectedRecord,
}
_NOUNS = {"pages": "page", "links": "link", "external": "link", "out": "URL"}


@dataclass(frozen=True, slots=True)
class _StoreOptions:
    store: str = store_option()


@dataclass(frozen=True, slots=True)
class _RunOptions(_StoreOptions):
    run: int | None = option(
        "--run N", "Which crawl, by the number that runs shows.  [default: the newest]", type=COUNT
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
@takes(options=_StoreOptions)
@output_options
def runs(options: _StoreOptions) -> None:
    """List the crawls of a store: what each is about, when it was begun, how many pages it has fetched, why it stopped.

    Times are UTC. With a command, change the store.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    emit(
        list_runs(options.store), columns(RunRecord), lambda records: print_table(_TABLE, map(_row, records))
    )


@runs.command(examples=("honeyguide runs delete 1",))
@click.argument("number", metavar="N", type=COUNT)
@takes(options=_StoreOptions)
def delete(number: int, options: _StoreOptions) -> None:
    """Delete a crawl from a store: its pages, its links, its visits.

    N is the number that runs shows. What is known of a URL is deleted with the last crawl that has met it; what was learnt of
    whole sites, such as how often their pages change, stays. The file keeps its size until honeyguide runs compact.
    """
    with rejected_options({"run": "N"}):
        counts = delete_run(_store(options), number)
    urls = count_of(sum(counts.states.values()), "URL")
    note(f"run {number} is deleted: {count_of(counts.fetched, 'page')}, {urls}")


@runs.command(examples=("honeyguide runs compact",))
@takes(options=_StoreOptions)
def compact(options: _StoreOptions) -> None:
    """Make the file of a store as small as what it holds; needs as much room again while it works."""
    before, after = compact_store(_store(options))
    note(f"{_store(options)} has {after / 1e6:,.1f} MB, and had {before / 1e6:,.1f} MB")


def _store(options: _StoreOptions) -> str:
    """Give the store: --store of the command itself, or that of runs before it."""
    ctx = click.get_current_context()
    is_own = ctx.get_parameter_source("store") is not click.core.ParameterSource.DEFAULT
    return options.store if is_own or ctx.parent is None else str(ctx.parent.params["store"])


def _row(record: Record) -> list[str]:
    started = record["started_at"][:16].replace("T", " ")  # the minute tells runs apart
    stopped = record["stopped"] or _UNKNOWN
    fetched = f"{record['fetched']:,}"
    return [str(record["run"]), started, fetched, stopped, record["profile"], record["command"]]


@dataclass(frozen=True, slots=True)
class _ExportOptions(_RunOptions):
    rule: str | None = option("--rule ID", "With out: only what this rule rejected.")
    changed: bool = option("--changed", "With pages: only visits that found a page new or changed.")
    file: str | None = option("-o --output FILE", "Write to a file, in one step.")
    output: str | None = option(
        "--format",
        "How to write.  [default: by the name of -o, else JSON lines]",
        type=click.Choice(["jsonl", "csv", "parquet"]),
    )
    quiet: bool = quiet_option()


@click.command(
    cls=Command,
    examples=(
        "honeyguide export pages",
        "honeyguide export external --format csv",
        "honeyguide export out --rule other-site",
        "honeyguide export links --run 1 -o links.jsonl",
    ),
)
@click.argument("what", metavar="pages|links|external|out", type=click.Choice(list(_NOUNS)))
@takes(options=_ExportOptions)
@no_color_option
def export(what: str, options: _ExportOptions) -> None:
    """Write what a crawl found: pages, links, external links, or rejected URLs.

    `out` lists the rejected URLs, each with the rule that decided. Pages are the records that crawl writes. Links are
    all URLs that the crawl met, in the order of discovery; external links lead to other sites, each with the number
    of pages that link it.
    """
    if options.rule is not None and what != "out":
        raise click.UsageError("--rule selects rejected URLs: export out.")
    if options.changed and what != "pages":
        raise click.UsageError("--changed selects visits of pages: export pages.")
    file, record_type = standard_output(options.file), RECORDS[what]
    chosen = format_of(file, options.output, ALL_FORMATS) if file else check_printable(options.output)
    check_distinct((options.store,), (file,))
    if file is not None:
        check_table(Path(file), chosen, record_type)
    found = export_run(options.store, what, options.run, rule=options.rule, changed=options.changed)
    with rejected_options(), found as records:
        if file is None:
            write_records(chosen, records, column_names(record_type))
            sys.stdout.flush()
        else:
            count = write_table(Path(file), chosen, records, record_type)
    if file is not None and not options.quiet:
        tell_written((file,), count, _NOUNS[what])


@click.command(
    cls=Command,
    examples=(
        "honeyguide explain https://docs.example.org/library/asyncio.html",
        "honeyguide explain https://docs.example.org/about --run 1 --format jsonl",
    ),
)
@click.argument("text", metavar="URL")
@takes(options=_RunOptions)
@output_options
def explain(text: str, options: _RunOptions) -> None:
    """Say what became of a URL in a crawl, and why: how it reads, who links it, what it scored, when it was fetched.

    URL may be a path alone, as crawl prints it. Without --run, the newest crawl that has met the URL is asked; if none
    has, the newest crawl of its site.
    """
    from honeyguide.app.explain import explain_url

    with rejected_options():
        record = explain_url(options.store, text, options.run, note)
    emit([record], columns(ExplainRecord, "steps", "visits", "sentences"), _show_explained)


def _show_explained(records: Iterable[Record]) -> None:
    for record in records:
        for line in record["sentences"]:
            say(line)
