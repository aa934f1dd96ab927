"""`honeyguide simulate`: what a recrawl policy is worth, in a world whose changes are known.

Owns: the command and its options. Must not know: what may be asked (`app.simulating`), how outcomes look
(`simulated.py`).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from honeyguide import app
from honeyguide.adapters.files import STDIN
from honeyguide.cli.command import Command
from honeyguide.cli.given import moment
from honeyguide.cli.live import watch
from honeyguide.cli.output import given_format, is_plain, output_options
from honeyguide.cli.written import (
    check_distinct,
    check_output,
    check_report,
    format_of,
    tell_written,
    write_file,
)
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from honeyguide.app import SimulateRequest
    from honeyguide.core.outcome import Outcome

_REPORTS = (".html", ".htm")
_HINTS = {
    "worlds": "WORLD",
    "start": "--from",
    "host_limit": "--host-limit",
}  # fields that options do not name


def _parts(_ctx: click.Context, _option: click.Parameter, value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in value.split(",")))


@click.command(
    cls=Command,
    examples=(
        "honeyguide simulate changes.csv --budgets 20d,60d --report report.html",
        "honeyguide simulate poisson:pages=500,days=30 bursty:pages=500,days=30",
        "honeyguide simulate news:articles=20,days=10 --policies learned,uniform --budgets 12/hour --host-limit 2/hour",
    ),
)
@click.argument("worlds", metavar="[WORLD]...", nargs=-1)
@click.option(
    "--store", metavar="FILE", help="A store whose visits have seen changes; a world as they tell it."
)
@click.option(
    "--policies",
    callback=_parts,
    default="learned,heuristic,uniform,proportional,adaptive-interval",
    show_default=True,
    metavar="NAME,...",
    help="Policies to compare; known-rates, which knows too much, is always shown beside them.",
)
@click.option(
    "--budgets",
    callback=_parts,
    default="10d",
    show_default=True,
    metavar="BUDGET,...",
    help="How much may be fetched: 60d is every page once in 60 days; or 500/day, or 20/hour.",
)
@click.option("--host-limit", metavar="N/UNIT", help="The most of one host: 100/day or 6/hour.")
@click.option("--from", "start", callback=moment, metavar="TIME", help="Where in a history to begin.")
@click.option(
    "--days",
    type=float,
    metavar="N",
    help="How many days to simulate.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=1,
    show_default=True,
    metavar="N",
    help="One seed, one result.",
)
@click.option(
    "--empty", is_flag=True, help="Begin without copies; else every page there is has just been fetched."
)
@click.option("-o", "--output", "file", metavar="FILE", help="Write the records to a .jsonl or .csv file.")
@click.option("--report", metavar="FILE", help="Write a report with curves over time: an .html file.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing about progress.")
@output_options
def simulate(**asked: Any) -> None:
    """Say what a recrawl policy is worth, in a world whose changes are known: how fresh it keeps the copies.

    A WORLD is a CSV file of change times (columns page and timestamp), or a made-up one: poisson, bursty, periodic,
    seasonal, mixed, news or archive, perhaps with settings, as in poisson:pages=20000,days=60. Or --store is one.
    """
    from honeyguide.cli.simulated import COLUMNS, outcome_record, show_outcomes, write_report

    file, kind = _destination(asked)
    outcomes = _outcomes(_request(asked), quiet=asked["quiet"])
    if asked["report"]:
        write_report(asked["report"], outcomes)
    if file:
        write_file(file, kind, map(outcome_record, outcomes), COLUMNS)
    else:
        show_outcomes(asked["output"], outcomes)
    if not asked["quiet"]:
        tell_written([name for name in (file, asked["report"]) if name], len(outcomes), "outcome")


def _destination(asked: dict[str, Any]) -> tuple[str | None, str]:
    """Settle where the records go and how they are written; refuses what could only fail after everything was simulated."""
    from honeyguide.cli.simulated import COLUMNS

    file, report = None if asked["file"] == STDIN else asked["file"], asked["report"]
    kind = format_of(file, given_format()) if file else ""
    if report and not report.lower().endswith(_REPORTS):
        raise click.BadParameter(
            f"{shown(report)} should end in {' or '.join(_REPORTS)}.", param_hint="--report"
        )
    check_distinct((*asked["worlds"], asked["store"]), (file, report))
    if file:
        check_output(file, COLUMNS)
    if report:
        check_report(report, "simulate")
    return file, kind


def _request(asked: dict[str, Any]) -> SimulateRequest:
    """Turn options into a request; what makes no sense is wrong usage, and named by its option."""
    names = ("worlds", "store", "policies", "budgets", "host_limit", "start", "days", "seed")
    try:
        return app.SimulateRequest(**{name: asked[name] for name in names}, is_empty=asked["empty"])
    except InputError as error:
        if not error.field:
            raise
        hint = _HINTS.get(error.field, f"--{error.field}")
        raise click.BadParameter(f"{error.what}.", param_hint=hint) from None


def _outcomes(request: SimulateRequest, *, quiet: bool) -> list[Outcome]:
    """Simulate, and show how far it is."""
    from honeyguide.cli.simulated import Progress

    progress = Progress(request.runs, time.monotonic())
    with watch(progress, quiet=quiet, no_color=is_plain()) as watcher:

        def on_policy(what: str) -> None:
            progress.begin(what)
            watcher.update()

        return app.simulate_policies(request, on_policy)
