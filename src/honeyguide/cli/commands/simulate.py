"""`honeyguide simulate`: compare recrawl policies in worlds whose changes are known, traversals on the pages of a store.

Owns: the commands, their options, and the tables of outcomes. Must not know: worlds, policies, measures.
Start reading at `recrawl`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from honeyguide.app.arguments import profile_on
from honeyguide.app.files import check_table, write_table
from honeyguide.app.simulate import SimulateRequest, outcome_record, replay_crawl, simulate_policies
from honeyguide.app.tools.kept_pages import topic_of_run
from honeyguide.cli.command import COUNT, CommandGroup, Number, option, takes
from honeyguide.cli.options import (
    check_distinct,
    check_report,
    destination,
    moment,
    rejected_options,
    tell_written,
)
from honeyguide.cli.output import Column, emit, given_format, output_options, print_table, say
from honeyguide.cli.progress import Progress
from honeyguide.core.records.command_records import OutcomeRecord, ReplayRecord
from honeyguide.core.records.fields import columns
from honeyguide.errors import shown
from honeyguide.report import write_sheet
from honeyguide.report.plan import LEGEND, curves_sheet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from honeyguide.app.simulate import Outcome

COLUMNS = columns(OutcomeRecord, "curve", "hosts")
_TABLE = ("Policy", "Fresh", "Late", "Best", "Age", "Idle", "New", "Day 1", "Day 3")
_REPORTS = (".html", ".htm")
_HINTS = {
    "worlds": "WORLD",
    "start": "--from",
    "host_limit": "--host-limit",
    "unchanged_cost": "--unchanged-cost",
}  # where fields are no options


def _parts(_ctx: click.Context, _option: click.Parameter, value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in value.split(",")))


@dataclass(frozen=True, slots=True)
class SimulateOptions:
    """What to simulate, as `SimulateRequest` has it."""

    store: str | None = option("--store FILE", "Use the changes that a store has seen.")
    policies: tuple[str, ...] = option(
        "--policies NAME,...",
        "Policies to compare; known-rates, which knows the true rates, is always added.",
        default="learned,heuristic,uniform,proportional,adaptive-interval",
        callback=_parts,
        multiple=False,
    )
    budgets: tuple[str, ...] = option(
        "--budgets BUDGET,...",
        "How much is fetched: 500/day, 20/hour, or 60d: every page once in 60 days.",
        default="10d",
        callback=_parts,
        multiple=False,
    )
    host_limit: str | None = option("--host-limit N/UNIT", "The most fetches of one host: 100/day or 6/hour.")
    start: datetime | None = option("--from TIME", "Where in a history to begin.", callback=moment)
    days: float | None = option("--days N", "How many days to simulate.", type=float)
    seed: int = option(
        "--seed N",
        "The same seed gives the same random numbers.",
        default=1,
        type=click.IntRange(0, 2**32 - 1),
    )
    sitemap: str | None = option(
        "--sitemap SIGNAL", "Let sitemaps announce changes: recall=0.95,precision=0.9,delay=6 (hours)."
    )
    feed: str | None = option("--feed SIGNAL", "The same for feeds.")
    unchanged_cost: float = option(
        "--unchanged-cost N",
        "What a visit without news costs, in visits.",
        default=1.0,
        type=Number(0.01, 1),
    )
    is_empty: bool = option("--empty", "Begin without copies of pages.")


@dataclass(frozen=True, slots=True)
class _Outputs:
    file: str | None = option("-o --output FILE", "Write the records to a .jsonl or .csv file.")
    report: str | None = option("--report FILE", "Write a report with curves over time, .html.")
    quiet: bool = option("-q --quiet", "Print no progress.")


@click.group(cls=CommandGroup, examples=("honeyguide simulate recrawl poisson:pages=500,days=30",))
def simulate() -> None:
    """Compare recrawl policies in worlds whose changes are known, and traversals on the pages of a store."""


@simulate.command(
    examples=(
        "honeyguide simulate recrawl changes.csv --budgets 20d,60d --report report.html",
        "honeyguide simulate recrawl poisson:pages=500,days=30 bursty:pages=500,days=30",
        "honeyguide simulate recrawl news:articles=20,days=10 --policies learned,uniform --budgets 12/hour --host-limit 2/hour",
    ),
)
@click.argument("worlds", metavar="[WORLD]...", nargs=-1)
@takes(options=SimulateOptions, outputs=_Outputs)
@output_options
def recrawl(worlds: tuple[str, ...], options: SimulateOptions, outputs: _Outputs) -> None:
    """Compare recrawl policies by how fresh they keep the copies, in worlds whose changes are known.

    A WORLD is a CSV file of change times (columns page and timestamp), or a generated one: poisson, bursty, periodic,
    seasonal, mixed, news or archive, also with settings: poisson:pages=20000,days=60. Or use --store.
    """
    (file, kind), report = destination(outputs.file, given_format()), outputs.report
    # What could only fail after the simulation is rejected now.
    if report and not report.lower().endswith(_REPORTS):
        what = f"{shown(report)} should end in {' or '.join(_REPORTS)}."
        raise click.BadParameter(what, param_hint="--report")
    check_distinct((*worlds, options.store), (file, report))
    if file:
        check_table(Path(file), kind, OutcomeRecord)
    if report:
        check_report(report, "simulate")
    with rejected_options(_HINTS):
        request = SimulateRequest(worlds, **asdict(options))
    outcomes = _simulate(request, quiet=outputs.quiet)
    if report:
        write_sheet(curves_sheet(outcomes), Path(report))
    if file:
        write_table(Path(file), kind, map(outcome_record, outcomes), OutcomeRecord)
    else:
        emit(map(outcome_record, outcomes), COLUMNS, lambda _: _show(outcomes))
    if not outputs.quiet:
        tell_written((file, report), len(outcomes), "outcome")


@dataclass(frozen=True, slots=True)
class _ReplayOptions:
    topic: str | None = option("--topic PATTERN", "What to look for.  [default: the topic of the run]")
    profile: str = option("--profile NAME", "Name or path of the profile.", default="docs")
    traversals: tuple[str, ...] = option(
        "--traversals NAME,...",
        "Traversals to compare.",
        default="focused,focused-fixed,hybrid,bfs",
        callback=_parts,
        multiple=False,
    )
    max_pages: int | None = option("--max-pages N", "Go to at most N pages.", type=COUNT)
    run: int | None = option(
        "--run N", "Which crawl, by the number that runs shows.  [default: the one started last]", type=COUNT
    )


@simulate.command("crawl", examples=("honeyguide simulate crawl honeyguide.db --topic 'unicode|codec'",))
@click.argument("store")
@takes(options=_ReplayOptions)
@output_options
def crawl(store: str, options: _ReplayOptions) -> None:
    """Say what another traversal or topic would have found among the pages that STORE keeps.

    Links to pages that the store does not keep lead nowhere: figures are fair if the crawl was complete.
    """
    with rejected_options():
        topic = options.topic or topic_of_run(store, options.run)
        profile = profile_on(options.profile, topic)
        records = replay_crawl(
            store, profile, options.traversals, number=options.run, max_pages=options.max_pages
        )
    emit(records, columns(ReplayRecord), lambda _: _show_replay(records))


def _show_replay(records: Sequence[ReplayRecord]) -> None:
    names = ("Traversal", "Pages", "Relevant", "in 100", "in 300", "Missing")
    listed = [Column(name, right=place > 0, keep=place > 0) for place, name in enumerate(names)]
    fields = ("traversal", "fetched", "relevant", "relevant_100", "relevant_300", "missing")
    print_table(listed, ([str(dict(record)[name]) for name in fields] for record in records))


def _simulate(request: SimulateRequest, *, quiet: bool) -> list[Outcome]:
    running = ["reading"]
    progress = Progress("simulation", total=request.runs, details=lambda _now: running[-1:])
    with progress.shown(quiet=quiet):

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
        print_table(columns, map(_row, group))
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
