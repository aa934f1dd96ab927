"""`honeyguide simulate`: compare recrawl policies in worlds whose changes are known.

Owns: the commands, their options, and the tables of outcomes. Must not know: worlds, policies, measures.
Start reading at `recrawl`.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honeyguide.app.files import check_table, write_table
from honeyguide.app.simulate import SimulateRequest, outcome_record, simulate_policies
from honeyguide.cli import options as files
from honeyguide.cli import output
from honeyguide.cli.command import CommandGroup
from honeyguide.cli.options import all_options, moment
from honeyguide.cli.output import Column, say
from honeyguide.cli.progress import Progress
from honeyguide.core.records.answers import OutcomeRecord
from honeyguide.core.records.fields import columns
from honeyguide.errors import InputError, shown
from honeyguide.report import write_sheet
from honeyguide.report.plan import LEGEND, curves_sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from honeyguide.app.simulate import Outcome

COLUMNS = columns(OutcomeRecord, "curve", "hosts")
_TABLE = ("Policy", "Fresh", "Late", "Best", "Age", "Idle", "New", "Day 1", "Day 3")
_REPORTS = (".html", ".htm")
_HINTS = {"worlds": "WORLD", "start": "--from", "host_limit": "--host-limit"}  # where fields are no options


def _parts(_ctx: click.Context, _option: click.Parameter, value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in value.split(",")))


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `recrawl`; most are the fields of a `SimulateRequest`."""
    options = (
        click.argument("worlds", metavar="[WORLD]...", nargs=-1),
        click.option("--store", metavar="FILE", help="Use the changes that the visits of a store have seen."),
        click.option("--policies", callback=_parts, default="learned,heuristic,uniform,proportional,adaptive-interval", show_default=True, metavar="NAME,...", help="Policies to compare; known-rates, which knows too much, is always shown beside them."),
        click.option("--budgets", callback=_parts, default="10d", show_default=True, metavar="BUDGET,...", help="How much may be fetched: 60d is every page once in 60 days; or 500/day, or 20/hour."),
        click.option("--host-limit", metavar="N/UNIT", help="The most fetches of one host: 100/day or 6/hour."),
        click.option("--from", "start", callback=moment, metavar="TIME", help="Where in a history to begin."),
        click.option("--days", type=float, metavar="N", help="How many days to simulate."),
        click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, metavar="N", help="Seed of the random numbers: the same seed gives the same result."),
        click.option("--empty", "is_empty", is_flag=True, help="Begin without copies, not with a fresh copy of every page."),
        click.option("-o", "--output", "file", metavar="FILE", help="Write the records to a .jsonl or .csv file."),
        click.option("--report", metavar="FILE", help="Write a report with curves over time: an .html file."),
        click.option("-q", "--quiet", is_flag=True, help="Say nothing about progress."),
        output.output_options,
    )  # fmt: skip
    return all_options(options, command)


@click.group(cls=CommandGroup, examples=("honeyguide simulate recrawl poisson:pages=500,days=30",))
def simulate() -> None:
    """Compare policies in worlds whose changes are known."""


@simulate.command(
    examples=(
        "honeyguide simulate recrawl changes.csv --budgets 20d,60d --report report.html",
        "honeyguide simulate recrawl poisson:pages=500,days=30 bursty:pages=500,days=30",
        "honeyguide simulate recrawl news:articles=20,days=10 --policies learned,uniform --budgets 12/hour --host-limit 2/hour",
    ),
)
@_options
def recrawl(file: str | None, report: str | None, quiet: bool, **values: Any) -> None:
    """Compare recrawl policies by how fresh they keep the copies, in worlds whose changes are known.

    A WORLD is a CSV file of change times (columns page and timestamp), or a generated one: poisson, bursty, periodic,
    seasonal, mixed, news or archive, with settings if wanted, as in poisson:pages=20000,days=60. Or use --store.
    """
    values.pop("output")  # --format, which `given_format` and `emit` read from the context
    file = None if file == "-" else file
    kind = files.format_of(file, output.given_format()) if file else ""
    # What could only fail after the simulation is rejected now.
    if report and not report.lower().endswith(_REPORTS):
        what = f"{shown(report)} should end in {' or '.join(_REPORTS)}."
        raise click.BadParameter(what, param_hint="--report")
    files.check_distinct((*values["worlds"], values["store"]), (file, report))
    if file:
        check_table(Path(file), kind, OutcomeRecord)
    if report:
        files.check_report(report, "simulate")
    outcomes = _simulate(_request(values), quiet=quiet)
    if report:
        write_sheet(curves_sheet(outcomes), Path(report))
    if file:
        write_table(Path(file), kind, map(outcome_record, outcomes), OutcomeRecord)
    else:
        output.emit(map(outcome_record, outcomes), COLUMNS, lambda _: _show(outcomes))
    if not quiet:
        files.tell_written([name for name in (file, report) if name], len(outcomes), "outcome")


def _request(values: Mapping[str, Any]) -> SimulateRequest:
    """Turn options into a request; an invalid value is wrong usage, and named by its option."""
    try:
        return SimulateRequest(**values)
    except InputError as error:
        if not error.field:
            raise
        hint = _HINTS.get(error.field, f"--{error.field}")
        raise click.BadParameter(f"{error.what}.", param_hint=hint) from None


def _simulate(request: SimulateRequest, *, quiet: bool) -> list[Outcome]:
    running = ["reading"]
    progress = Progress("simulation", total=request.runs, details=lambda _now: running[-1:])
    with progress.shown(quiet=quiet, no_color=output.is_plain()):

        def on_policy(what: str) -> None:
            progress.done = len(running) - 1  # what ran before is done
            running.append(what)
            progress.update()

        return simulate_policies(request, on_policy)


def _show(outcomes: Sequence[Outcome]) -> None:
    columns = [Column(name, right=place > 0, keep=place > 0) for place, name in enumerate(_TABLE)]
    for (world, budget), group in groupby(outcomes, lambda item: (item.world, item.budget)):
        say(f"{world}, budget {budget}")
        say()
        output.print_table(columns, map(_row, group))
        say()
    for line in LEGEND:
        say(line)


def _row(outcome: Outcome) -> list[str]:
    days = outcome.days
    return [
        outcome.policy,
        _shown(outcome.freshness, "{:.3f}"),
        _shown(outcome.late, "{:.3f}"),
        _shown(outcome.of_best, "{:.1f}", 100),
        _duration(outcome.mean_age_h),
        _shown(outcome.nothing_share, "{:.0f}", 100),
        _duration(outcome.discovery_h),
        _shown(days[0] if days else None, "{:.3f}"),
        _shown(days[2] if len(days) > 2 else None, "{:.3f}"),
    ]


def _shown(value: float | None, form: str, times: float = 1) -> str:
    return "-" if value is None else form.format(times * value)


def _duration(hours: float | None) -> str:
    """Write hours, or days from two of them on."""
    return _shown(hours, "{:.0f} h") if hours is None or hours < 48 else f"{hours / 24:.0f} d"
