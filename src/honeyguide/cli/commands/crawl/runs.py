"""`honeyguide runs`: the crawls of a store.

Owns: the command, finding a run by its number for those that ask for one, and saying how it is found. Must not know: what a run did.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from honeyguide import app
from honeyguide.cli.command import MOST, Command
from honeyguide.cli.output import Column, output_options, print_table, write_records
from honeyguide.core.records import SCHEMA, iso
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from honeyguide.cli.output import Format
    from honeyguide.core.crawl.frontier import Run
    from honeyguide.core.records import Record
    from honeyguide.ports.store import Store


COLUMNS = (
    "schema",
    "run",
    "command",
    "topic",
    "profile",
    "profile_hash",
    "fetched",
    "started_at",
    "updated_at",
    "stopped",
)
WORDS = (Column("Run", right=True, keep=True), Column("Started", keep=True), Column("Pages", right=True, keep=True), Column("Stopped", keep=True),
         Column("Profile", keep=True), Column("Command"))  # fmt: skip
UNKNOWN = "working, or killed"
STORE = "honeyguide.db"


store_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--store",
    default=STORE,
    show_default=True,
    metavar="FILE",
    help="The store that crawls are kept in.",
)
run_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--run",
    type=click.IntRange(1, MOST),
    metavar="N",
    help="Which crawl, by the number that runs shows; the newest if not given.",
)


@click.command(
    cls=Command, examples=("honeyguide runs", "honeyguide runs --store honeyguide.db --format csv")
)
@store_option
@output_options
def runs(store: str, output: Format) -> None:
    """List the crawls of a store: what each is about, when it was begun, how many pages it has fetched, why it stopped.

    Times are UTC.
    """
    opened = app.open_store(store, read_only=True)
    try:
        records = [run_record(run) for run in opened.runs()]
    finally:
        opened.close()
    if output == "table":
        print_table(WORDS, [_row(record) for record in records])
    else:
        write_records(output, records, COLUMNS)


def run_record(run: Run) -> Record:
    """Write a run."""
    return {
        "schema": SCHEMA,
        "run": run.id,
        "command": run.spec.command,
        "topic": run.spec.topic,
        "profile": run.spec.profile,
        "profile_hash": run.spec.profile_hash,
        "fetched": run.fetched,
        "started_at": iso(run.started_at),
        "updated_at": iso(run.updated_at),
        "stopped": run.stopped,
    }


def _row(record: Record) -> list[str]:
    stopped = record["stopped"] or UNKNOWN
    started = record["started_at"][:16].replace(
        "T", " "
    )  # the minute tells runs apart; JSON lines have all of it
    return [
        str(record["run"]), started, f"{record['fetched']:,}", stopped, record["profile"], record["command"],
    ]  # fmt: skip


def options_of(store: str, run: Run, runs: Sequence[Run]) -> str:
    """Write what commands need to find a run of a store, where it is not what they take by themselves."""
    named = "" if store == STORE else f" --store {shlex.quote(store)}"
    return named + ("" if run.id == runs[-1].id else f" --run {run.id}")


def find_run(store: Store, number: int | None) -> Run:
    """Find a run by its number, or the newest."""
    found = store.runs()
    if not found:
        raise InputError("the store has no crawl yet; honeyguide crawl makes one")
    if number is None:
        return found[-1]
    chosen = next((run for run in found if run.id == number), None)
    if chosen is None:
        raise click.BadParameter(
            f"there is no run {number}; there are {found[0].id} to {found[-1].id}.", param_hint="--run"
        )
    return chosen
