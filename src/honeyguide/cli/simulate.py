"""`honeyguide simulate`: what a recrawl policy is worth, in a world whose changes are known.

Owns: the command, its options, how budgets are written. Must not know: how worlds are made, runs go or outcomes look
(`simulated.py`).
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honeyguide.cli.command import Command
from honeyguide.cli.files import STDIN
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
from honeyguide.core.schedules import POLICIES
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from honeyguide.adapters.simulation.running import Budget
    from honeyguide.adapters.simulation.trials import Outcome
    from honeyguide.adapters.simulation.worlds import World

NAMES = (*POLICIES, "known-rates")  # as of `adapters.simulation.trials.POLICIES`, which needs an extra
MOST_DAYS = 36_500.0
_REPORTS = (".html", ".htm")
_BUDGET = re.compile(r"([0-9]+(?:\.[0-9]+)?)(d|/day|/hour)")
_LIMIT = re.compile(r"([0-9]+(?:\.[0-9]+)?)/(day|hour)")


@dataclass(frozen=True, slots=True)
class _Amount:
    """A budget as it was written: every page once in so many days, or so many fetches a day."""

    text: str
    cycle_days: float | None = None
    per_day: float | None = None


def _amounts(_ctx: click.Context, _option: click.Parameter, value: str) -> tuple[_Amount, ...]:
    return tuple(_amount(part.strip()) for part in value.split(","))


def _amount(text: str) -> _Amount:
    match = _BUDGET.fullmatch(text)
    number = float(match[1]) if match else 0.0
    if match is None or not 0.0 < number <= 1e9:
        raise click.BadParameter(
            f"{text!r} is no budget; write 60d (every page once in 60 days), 500/day or 20/hour."
        )
    if match[2] == "d":
        return _Amount(text, cycle_days=number)
    return _Amount(text, per_day=number * (24.0 if match[2] == "/hour" else 1.0))


def _limit(_ctx: click.Context, _option: click.Parameter, value: str | None) -> float | None:
    if value is None:
        return None
    match = _LIMIT.fullmatch(value.strip())
    number = float(match[1]) if match else 0.0
    if match is None or not 0.0 < number <= 1e9:
        raise click.BadParameter(f"{value!r} is no limit; write 100/day or 6/hour.")
    return number * (24.0 if match[2] == "hour" else 1.0)


def _policies(_ctx: click.Context, _option: click.Parameter, value: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in value.split(",")))
    for name in names:
        if name not in NAMES:
            raise click.BadParameter(f"{name!r} is none of {', '.join(NAMES)}.")
    return names


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
    callback=_policies,
    default="learned,heuristic,uniform,proportional,adaptive-interval",
    show_default=True,
    metavar="NAME,...",
    help="Policies to compare; known-rates, which knows too much, is always shown beside them.",
)
@click.option(
    "--budgets",
    callback=_amounts,
    default="10d",
    show_default=True,
    metavar="BUDGET,...",
    help="How much may be fetched: 60d is every page once in 60 days; or 500/day, or 20/hour.",
)
@click.option(
    "--host-limit", callback=_limit, metavar="N/UNIT", help="The most of one host: 100/day or 6/hour."
)
@click.option("--from", "start", callback=moment, metavar="TIME", help="Where in a history to begin.")
@click.option(
    "--days",
    type=click.FloatRange(0, MOST_DAYS, min_open=True),
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
    _check_worlds(asked)
    outcomes = _all_outcomes(asked)
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
        check_report(report)
    return file, kind


def _check_worlds(asked: dict[str, Any]) -> None:
    """Refuse worlds that are none, before one of them is simulated."""
    try:
        from honeyguide.adapters.simulation.made import MAKERS, is_made
    except ImportError:  # numpy is an extra; said once, before anything needs it
        raise InputError("simulate needs numpy; pip install 'honeyguide[simulate]'") from None
    known = ", ".join(MAKERS)
    if not asked["worlds"] and not asked["store"]:
        raise click.UsageError(f"Name a world: a CSV file, one of {known}, or a store with --store.")
    for text in asked["worlds"]:
        if is_made(text):
            if asked["start"] is not None:
                raise click.UsageError(f"--from is about a history; {shown(text)} is made up and has none.")
        elif text != STDIN and not text.lower().endswith(".csv") and not Path(text).exists():
            raise InputError(f"is neither a file nor one of the worlds there are: {known}", file=text)


def _all_outcomes(asked: dict[str, Any]) -> list[Outcome]:
    """Run every policy in every world with every budget, and show how far it is."""
    from honeyguide.adapters.simulation.trials import REFERENCE
    from honeyguide.cli.simulated import Progress

    runs = (len(asked["worlds"]) + bool(asked["store"])) * len(asked["budgets"])
    progress = Progress(runs * len({*asked["policies"], REFERENCE}), time.monotonic())
    outcomes: list[Outcome] = []
    with watch(progress, quiet=asked["quiet"], no_color=is_plain()) as watcher:

        def on_policy(what: str) -> None:
            progress.begin(what)
            watcher.update()

        for world in _worlds(asked):
            for amount in asked["budgets"]:
                outcomes += _outcomes(world, amount, asked, on_policy)
    return outcomes


def _outcomes(
    world: World, amount: _Amount, asked: dict[str, Any], on_policy: Callable[[str], None]
) -> list[Outcome]:
    from honeyguide.adapters.simulation.trials import try_policies

    return try_policies(
        world,
        _budget(world, amount, asked["host_limit"]),
        asked["policies"],
        is_copied=not asked["empty"],
        on_policy=lambda policy: on_policy(f"{policy}, budget {amount.text}, {world.name}"),
    )


def _budget(world: World, amount: _Amount, host_per_day: float | None) -> Budget:
    """Turn what was written into fetches a day of this world."""
    from honeyguide.adapters.simulation.running import Budget

    per_day = amount.per_day or world.alive / (amount.cycle_days or 1.0)
    return Budget(amount.text, per_day, host_per_day)


def _worlds(asked: dict[str, Any]) -> Iterator[World]:
    from honeyguide.adapters.simulation.made import is_made, made_world
    from honeyguide.adapters.simulation.worlds import Window, read_world

    window = Window(asked["start"], asked["days"])
    for text in asked["worlds"]:
        if is_made(text):
            yield made_world(text, asked["seed"], asked["days"])
        else:
            yield read_world(text, window, asked["seed"])
    if asked["store"]:
        from honeyguide import app
        from honeyguide.adapters.simulation.stored import stored_world

        app.open_store(asked["store"], read_only=True).close()  # says what is wrong with it, if anything is
        yield stored_world(asked["store"], window, asked["seed"])
