"""`honeyguide workers`: the processes that work on the crawls of a store, and how to stop them; `app` makes the records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from honeyguide.app.files import store_name
from honeyguide.app.runs import list_workers, stop_workers
from honeyguide.cli.command import COUNT, CommandGroup, takes
from honeyguide.cli.commands.runs import StoreOptions, chosen_store
from honeyguide.cli.options import rejected_options
from honeyguide.cli.output import Column, emit, note, output_options, print_table
from honeyguide.cli.progress import count_of
from honeyguide.core.records.fields import WorkerRecord, columns

if TYPE_CHECKING:
    from honeyguide.core.records import Record

_TABLE = (
    Column.number("Run"),
    Column("Machine"),
    Column.number("Process"),
    Column.number("Pages"),
    Column.number("Pages/s"),
    Column.whole("Started"),
    Column.whole("Seen"),
    Column.whole("State"),
)


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    examples=(
        "honeyguide workers",
        "honeyguide workers --store honeyguide.db --format jsonl",
        "honeyguide workers stop",
        "honeyguide workers stop 1 --store honeyguide.db",
    ),
)
@takes(options=StoreOptions)
@output_options
def workers(options: StoreOptions) -> None:
    """List the processes that work on the crawls of a store: machine, rate, last heartbeat.

    A killed process of another machine stays in the list for a minute. Times are UTC.
    """
    if click.get_current_context().invoked_subcommand is None:
        records = list_workers(options.store)
        emit(records, columns(WorkerRecord), lambda found: print_table(_TABLE, map(_worker_row, found)))


@workers.command(examples=("honeyguide workers stop", "honeyguide workers stop 1"))
@click.argument("number", metavar="[RUN]", type=COUNT, required=False)
@takes(options=StoreOptions)
def stop(number: int | None, options: StoreOptions) -> None:
    """Stop the processes of all crawls of a store, or of one, on every machine.

    RUN is the number that runs shows. Each process commits what it has fetched and ends within seconds; the same crawl
    command resumes.
    """
    with rejected_options({"run": "RUN"}):
        count = stop_workers(chosen_store(options), number)
    where = (
        store_name(chosen_store(options))
        if number is None
        else f"run {number} of {store_name(chosen_store(options))}"
    )
    note(f"{count_of(count, 'worker')} of {where} asked to stop" if count else f"nobody works on {where}")


def _worker_row(record: Record) -> list[str]:
    times = [record[name][:19].replace("T", " ") for name in ("started_at", "seen_at")]
    run = "" if record["run"] is None else str(record["run"])
    rate = f"{record['pages_per_s']:g}"
    state = "stopping" if record["stopping"] else "working"
    return [run, record["host"], str(record["pid"]), f"{record['pages']:,}", rate, *times, state]
