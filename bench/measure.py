"""How things are timed here, and how the result is written down.

Owns: `Contest` (entrants over one input, and who is compared with whom), `run_contest`, the Markdown table.
Must not know: what any entrant does. Start reading at `run_contest`.
"""

from __future__ import annotations

import gc
import math
import time
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

ROUNDS = 5
ENOUGH_S = 0.15  # an entrant is repeated until one timing is at least this long


@dataclass(frozen=True, slots=True)
class Unit:
    """What one figure is per: `amount` units are in the input, and a second is shown as so many `name`s."""

    name: str
    amount: float
    per_second: float

    def show(self, seconds: float) -> str:
        value = seconds / self.amount * self.per_second
        return f"{value:.3g} {self.name}" if value < 1000 else f"{value:,.0f} {self.name}"


@dataclass(frozen=True, slots=True)
class Pair:
    """Ours beside a peer. The goal is either how many times faster we mean to be, or a bound on our own seconds."""

    ours: str
    peer: str
    at_least: float | None = None
    below_s: float | None = None

    def goal(self) -> str:
        if self.at_least is not None:
            return f"≥ {self.at_least:g}×"
        return "–" if self.below_s is None else f"< {self.below_s:g} s"

    def reached(self, ours: float, ratio: float) -> str:
        if self.at_least is not None:
            return "yes" if ratio >= self.at_least else "no"
        if self.below_s is not None:
            return "yes" if ours < self.below_s else "no"
        return "–"


@dataclass(frozen=True, slots=True)
class Contest:
    """One job: entrants by name, each going once over the whole input when called."""

    job: str
    unit: Unit
    entrants: Mapping[str, Callable[[], object]]
    pairs: Sequence[Pair]
    notes: Sequence[str] = ()
    clock: Callable[[], float] = time.process_time


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `ratios` are those of the single rounds."""

    job: str
    unit: Unit
    pair: Pair
    ours: float
    theirs: float
    ratios: tuple[float, ...]

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


@dataclass(slots=True)
class _Entrant:
    run: Callable[[], object]
    repeats: int = 1
    seconds: list[float] = field(default_factory=list)

    def time(self, clock: Callable[[], float]) -> float:
        gc.collect()  # the garbage of the one before is not this one's; collection itself stays on, as in normal use
        run = self.run
        start = clock()
        for _ in range(self.repeats):
            run()
        return (clock() - start) / self.repeats


def run_contest(contest: Contest, rounds: int = ROUNDS) -> list[Row]:
    """Warm up, then time every entrant once a round, each round starting with another one."""
    entrants = {name: _Entrant(run) for name, run in contest.entrants.items()}
    for entrant in entrants.values():
        warm = entrant.time(contest.clock)
        entrant.repeats = max(1, math.ceil(ENOUGH_S / max(warm, 1e-6)))
    order = list(entrants.values())
    for number in range(rounds):
        at = number % len(order)
        for entrant in order[at:] + order[:at]:
            entrant.seconds.append(entrant.time(contest.clock))
    return [
        _row(contest, pair, entrants) for pair in contest.pairs if {pair.ours, pair.peer} <= entrants.keys()
    ]


def _row(contest: Contest, pair: Pair, entrants: Mapping[str, _Entrant]) -> Row:
    ours, theirs = entrants[pair.ours].seconds, entrants[pair.peer].seconds
    ratios = tuple(b / a for a, b in zip(ours, theirs, strict=True))
    return Row(contest.job, contest.unit, pair, median(ours), median(theirs), ratios)


_TITLES = ("job", "ours", "", "peer", "theirs", "ratio", "rounds", "goal", "reached")


def table(rows: Iterable[Row]) -> str:
    """Write rows as Markdown: ratio is of the medians, rounds is the span of the single rounds."""
    lines = ["| " + " | ".join(_TITLES) + " |", "|" + "---|" * len(_TITLES)]
    for row in rows:
        cells = (
            row.job,
            row.pair.ours,
            row.unit.show(row.ours),
            row.pair.peer,
            row.unit.show(row.theirs),
            f"**{_times(row.ratio)}**",
            f"{_times(min(row.ratios))} – {_times(max(row.ratios))}",
            row.pair.goal(),
            row.pair.reached(row.ours, row.ratio),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _times(ratio: float) -> str:
    return f"{ratio:.2f}×" if ratio < 1 else f"{ratio:.1f}×" if ratio < 100 else f"{ratio:.0f}×"
