"""`honeyguide simulate`: what a recrawl policy is worth, in a world whose changes are known.

Owns: the command and its options. Must not know: what may be asked (`app.simulating`), how outcomes look
(`simulated.py`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honeyguide import app
from honeyguide.adapters.files.read import STDIN
from honeyguide.adapters.output.write import replacing
from honeyguide.cli.command import Command
from honeyguide.cli.files import (
    check_distinct,
    check_output,
    check_report,
    format_of,
    tell_written,
    write_file,
)
from honeyguide.cli.options import moment
from honeyguide.cli.output import (
    Column,
    given_format,
    is_plain,
    output_options,
    print_table,
    rounded,
    say,
    write_records,
)
from honeyguide.cli.progress import LINE_EVERY_S, duration, watch
from honeyguide.core.records import SCHEMA
from honeyguide.errors import InputError, shown
from honeyguide.report.curves import LEGEND, curves_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from honeyguide.app import SimulateRequest
    from honeyguide.cli.output import Format
    from honeyguide.core.records import Record
    from honeyguide.simulation.measures import Outcome

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
    progress = SimulationProgress(request.runs, time.monotonic())
    with watch(progress, quiet=quiet, no_color=is_plain()) as watcher:

        def on_policy(what: str) -> None:
            progress.begin(what)
            watcher.update()

        return app.simulate_policies(request, on_policy)


COLUMNS = (
    "schema", "world", "budget", "policy", "is_reference", "freshness", "freshness_late", "of_best",
    "of_all_knowing", "mean_age_h", "nothing_share", "discovery_h", "fetches", "days",
)  # fmt: skip
_SHOWN = ("Policy", "Fresh", "Late", "Best", "Age", "Idle", "New", "Day 1", "Day 3")


@dataclass(slots=True)
class SimulationProgress:
    """How far a simulation is: what runs now, and how much of all there is has been begun.

    >>> progress = SimulationProgress(total=6, started=100.0)
    >>> progress.begin("learned, budget 10d, poisson")
    >>> progress.line(112.0)
    '1 of 6, 12 s: learned, budget 10d, poisson'
    """

    total: int | None
    started: float
    done: int = 0
    _begun: int = 0
    _what: str = "reading"
    _said_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._said_at = self.started

    def begin(self, what: str) -> None:
        """Hear what runs from now on; what ran before is done."""
        self.done, self._begun, self._what = self._begun, self._begun + 1, what

    def is_line_due(self, now: float) -> bool:
        """Say whether a log should get a line now; a yes counts as said."""
        is_due = now - self._said_at >= LINE_EVERY_S
        if is_due:
            self._said_at = now
        return is_due

    def line(self, now: float) -> str:
        """Say how far it is."""
        return f"{self._begun:,} of {self.total:,}, {duration(now - self.started)}: {self._what}"


def outcome_record(outcome: Outcome) -> Record:
    """Write an outcome as data."""
    return {
        "schema": SCHEMA,
        "world": outcome.world,
        "budget": outcome.budget,
        "policy": outcome.policy,
        "is_reference": outcome.is_reference,
        "freshness": rounded(outcome.freshness),
        "freshness_late": rounded(outcome.late),
        "of_best": rounded(outcome.of_best),
        "of_all_knowing": rounded(outcome.of_all_knowing),
        "mean_age_h": rounded(outcome.mean_age_h),
        "nothing_share": rounded(outcome.nothing_share),
        "discovery_h": rounded(outcome.discovery_h),
        "fetches": outcome.fetches,
        "days": [rounded(value) for value in outcome.days],
        "curve": [rounded(value) for value in outcome.curve],
        "hosts": dict(outcome.hosts),
    }


def show_outcomes(output: Format, outcomes: Sequence[Outcome]) -> None:
    """Print the outcomes; for people one table for each world and budget."""
    if output != "table":
        write_records(output, map(outcome_record, outcomes), COLUMNS)
        return
    for (world, budget), group in groupby(outcomes, lambda item: (item.world, item.budget)):
        say(f"{world}, budget {budget}")
        say()
        columns = [Column(name, right=place > 0, keep=place > 0) for place, name in enumerate(_SHOWN)]
        print_table(columns, map(_row, group))
        say()
    for line in LEGEND:
        say(line)


def _row(outcome: Outcome) -> list[str]:
    days = outcome.days
    return [
        outcome.policy,
        _share(outcome.freshness),
        _share(outcome.late),
        _percent(outcome.of_best, 1),
        _duration(outcome.mean_age_h),
        _percent(outcome.nothing_share, 0),
        _duration(outcome.discovery_h),
        _share(days[0] if days else None),
        _share(days[2] if len(days) > 2 else None),
    ]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _percent(value: float | None, decimals: int) -> str:
    return "-" if value is None else f"{100 * value:.{decimals}f}"


def _duration(hours: float | None) -> str:
    """Write hours, or days from two of them on."""
    if hours is None:
        return "-"
    return f"{hours:.0f} h" if hours < 48 else f"{hours / 24:.0f} d"


def write_report(file: str, outcomes: Sequence[Outcome]) -> None:
    """Write the report for people."""
    with replacing(Path(file)) as part:
        part.write_text(curves_report(outcomes), "utf-8")
