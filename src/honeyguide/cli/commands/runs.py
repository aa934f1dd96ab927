"""`honeyguide runs`, `export` and `explain`: the crawls of a store, what each found, and why; `app` makes the records.

Other commands take the options that name a store and a run from here.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honeyguide.app.files import check_table, column_names, write_table
from honeyguide.app.runs import export_run, list_runs
from honeyguide.cli.command import MOST, Command
from honeyguide.cli.options import (
    ALL_FORMATS,
    check_distinct,
    check_printable,
    format_of,
    quiet_option,
    rejected_options,
    tell_written,
)
from honeyguide.cli.output import (
    Column,
    no_color_option,
    note,
    output_options,
    print_table,
    say,
    write_records,
)
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
    from collections.abc import Callable

    from honeyguide.cli.output import Format
    from honeyguide.core.records import Record

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

STORE = "honeyguide.db"
_TABLE = (Column("Run", right=True, keep=True), Column("Started", keep=True), Column("Pages", right=True, keep=True), Column("Stopped", keep=True),
         Column("Profile", keep=True), Column("Command"))  # fmt: skip
_UNKNOWN = "working, or killed"
RECORDS: dict[str, Any] = {
    "pages": PageRecord,
    "links": QueueRecord,
    "external": ExternalRecord,
    "out": RejectedRecord,
}
_NOUNS = {"pages": "page", "links": "link", "external": "link", "out": "URL"}

store_option: Decorator = click.option(
    "--store", default=STORE, show_default=True, metavar="FILE", help="The store that crawls are kept in."
)
run_option: Decorator = click.option(
    "--run",
    type=click.IntRange(1, MOST),
    metavar="N",
    help="Which crawl, by the number that runs shows; the newest if not given.",
)


def name_run(store: str, run: int, newest: int) -> str:
    """Write the options that name a run of a store, unless they are the defaults."""
    named = "" if store == STORE else f" --store {shlex.quote(store)}"
    return named + ("" if run == newest else f" --run {run}")


@click.command(
    cls=Command, examples=("honeyguide runs", "honeyguide runs --store honeyguide.db --format csv")
)
@store_option
@output_options
def runs(store: str, output: Format) -> None:
    """List the crawls of a store: what each is about, when it was begun, how many pages it has fetched, why it stopped.

    Times are UTC.
    """
    records = list_runs(store)
    if output == "table":
        print_table(_TABLE, map(_row, records))
    else:
        write_records(output, records, columns(RunRecord))


def _row(record: Record) -> list[str]:
    started = record["started_at"][:16].replace("T", " ")  # the minute tells runs apart
    stopped = record["stopped"] or _UNKNOWN
    return [
        str(record["run"]), started, f"{record['fetched']:,}", stopped, record["profile"], record["command"],
    ]  # fmt: skip


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
@store_option
@run_option
@click.option("--rule", metavar="ID", help="With out: only what this rule rejected.")
@click.option("--changed", is_flag=True, help="With pages: only visits that found a page new or changed.")
@click.option("-o", "--output", "file", metavar="FILE", help="Write to a file, in one step.")
@click.option(
    "--format",
    "output",
    type=click.Choice(["jsonl", "csv", "parquet"]),
    help="How to write; by the name of -o, else JSON lines.",
)
@quiet_option
@no_color_option
def export(  # noqa: PLR0913 - click passes each option by its name
    what: str,
    store: str,
    run: int | None,
    rule: str | None,
    changed: bool,
    file: str | None,
    output: str | None,
    quiet: bool,
) -> None:
    """Write what a crawl found: pages, links, external links, or rejected URLs.

    `out` lists the rejected URLs, each with the rule that decided. Pages are the records that crawl writes. Links are
    all URLs that the crawl met, in the order of discovery; external links lead to other sites, each with the number
    of pages that link it.
    """
    if rule is not None and what != "out":
        raise click.UsageError("--rule selects rejected URLs: export out.")
    if changed and what != "pages":
        raise click.UsageError("--changed selects visits of pages: export pages.")
    file, record_type = None if file == "-" else file, RECORDS[what]
    chosen = format_of(file, output, ALL_FORMATS) if file else check_printable(output)
    check_distinct((store,), (file,))
    if file is not None:
        check_table(Path(file), chosen, record_type)
    with rejected_options(), export_run(store, what, run, rule=rule, changed=changed) as records:
        if file is None:
            write_records("csv" if chosen == "csv" else "jsonl", records, column_names(record_type))
            sys.stdout.flush()
        else:
            count = write_table(Path(file), chosen, records, record_type)
    if file is not None and not quiet:
        tell_written((file,), count, _NOUNS[what])


@click.command(
    cls=Command,
    examples=(
        "honeyguide explain https://docs.example.org/library/asyncio.html",
        "honeyguide explain https://docs.example.org/about --run 1 --format jsonl",
    ),
)
@click.argument("text", metavar="URL")
@store_option
@run_option
@output_options
def explain(text: str, store: str, run: int | None, output: Format) -> None:
    """Say what became of a URL in a crawl, and why: how it reads, who links it, what it scored, when it was fetched.

    URL may be a path alone, as crawl prints it. Without --run, the newest crawl that has met the URL is asked; if none
    has, the newest crawl of its site.
    """
    from honeyguide.app.explain import explain_url  # crawl and watch import this module, too

    with rejected_options():
        record = explain_url(store, text, run, note)
    if output == "table":
        for line in record["sentences"]:
            say(line)
    else:
        write_records(output, [record], columns(ExplainRecord, "steps", "visits", "sentences"))
