"""Simulations: what recrawl policies are worth in worlds whose changes are known.

Owns: the library call, what may be asked of it, and how budgets are written. Must not know: arguments, terminals, how worlds
are made or runs go (`adapters.simulation`, which needs numpy and is loaded when something runs).
Start reading at `SimulateRequest` and `simulate_policies`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from honeyguide.adapters.files.read import STDIN
from honeyguide.app.arguments import moment_of
from honeyguide.app.runs import open_store
from honeyguide.core.recrawl.policies import POLICIES
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from honeyguide.simulation.measures import Outcome
    from honeyguide.simulation.run import Budget
    from honeyguide.simulation.worlds import World


REFERENCE = "known-rates"  # is told what nobody can know, and shown beside all others
NAMES = (*POLICIES, REFERENCE)
WORLDS = ("poisson", "bursty", "periodic", "seasonal", "mixed", "news", "archive")
MOST_DAYS = 36_500.0
_MOST = 1e9  # of anything that a budget counts
_BUDGET = re.compile(r"([0-9]+(?:\.[0-9]+)?)(d|/day|/hour)")
_DAY_H = 24.0


@dataclass(frozen=True, slots=True)
class SimulateRequest:
    """What to simulate: every policy in every world with every budget. Raises `InputError` where that makes no sense.

    A world is a CSV file of change times, or a made-up one such as `poisson:pages=500`. A budget is `60d`, every page once in
    60 days, or `500/day`, or `20/hour`. `start` and `days` are the part of a history that counts. Copies are there at the
    beginning unless `is_empty`.
    """

    worlds: tuple[str, ...] = ()
    store: str | Path | None = None
    policies: tuple[str, ...] = tuple(POLICIES)
    budgets: tuple[str, ...] = ("10d",)
    host_limit: str | None = None
    start: datetime | None = None
    days: float | None = None
    seed: int = 1
    is_empty: bool = False

    def __post_init__(self) -> None:
        self._check_worlds()
        for name in self.policies:
            if name not in NAMES:
                raise InputError(f"{name!r} is none of {', '.join(NAMES)}", field="policies")
        for text in self.budgets:
            _cycle_and_rate(text)
        self.host_per_day()
        if self.days is not None and not 0.0 < self.days <= MOST_DAYS:
            raise InputError(
                f"{self.days:g} is no time; give more than 0 and up to {MOST_DAYS:g}", field="days"
            )

    def _check_worlds(self) -> None:
        """Refuse worlds that are none, before one of them is simulated."""
        known = ", ".join(WORLDS)
        if not self.worlds and not self.store:
            raise InputError(f"name one: a CSV file, one of {known}, or a store", field="worlds")
        if self.start is not None:
            moment_of(self.start)
        for text in self.worlds:
            if is_made(text):
                if self.start is not None:
                    raise InputError(
                        f"only a history has a time to begin at; {shown(text)} is made up", field="start"
                    )
            elif text != STDIN and not text.lower().endswith(".csv") and not os.path.exists(text):  # noqa: PTH110 - a path may be hostile; this never raises
                raise InputError(f"is neither a file nor one of the worlds there are: {known}", file=text)

    @property
    def runs(self) -> int:
        """How many policies run, one after the other."""
        places = (len(self.worlds) + bool(self.store)) * len(self.budgets)
        return places * len({*self.policies, REFERENCE})

    def host_per_day(self) -> float | None:
        """Give the most fetches of one host in a day."""
        if self.host_limit is None:
            return None
        found = _amount(self.host_limit)
        if found is None or found[1] == "d":
            raise InputError(f"{self.host_limit!r} is no limit; write 100/day or 6/hour", field="host_limit")
        return found[0] * (_DAY_H if found[1] == "/hour" else 1.0)


def is_made(world: str) -> bool:
    """Say whether a text names a made-up world rather than a file."""
    return world.partition(":")[0] in WORLDS


def simulate_policies(
    request: SimulateRequest, on_policy: Callable[[str], None] | None = None
) -> list[Outcome]:
    """Run every policy in every world with every budget, the one that knows the rates beside them.

    `on_policy` hears what runs next.
    """
    tell = on_policy or (lambda _: None)
    return [
        outcome
        for world in _worlds(request)
        for text in request.budgets
        for outcome in _outcomes(world, text, request, tell)
    ]


def _outcomes(
    world: World, text: str, request: SimulateRequest, tell: Callable[[str], None]
) -> list[Outcome]:
    from honeyguide.simulation.trials import try_policies

    return try_policies(
        world,
        _budget(world, text, request),
        request.policies,
        is_copied=not request.is_empty,
        on_policy=lambda policy: tell(f"{policy}, budget {text}, {world.name}"),
    )


def _worlds(request: SimulateRequest) -> Iterator[World]:
    try:
        from honeyguide.simulation.generated import made_world
    except ImportError:  # an extra
        raise InputError("simulate needs numpy; pip install 'honeyguide[simulate]'") from None
    from honeyguide.simulation.worlds import Window, read_world

    window = Window(request.start, request.days)
    for text in request.worlds:
        if is_made(text):
            yield made_world(text, request.seed, request.days)
        else:
            yield read_world(text, window, request.seed)
    if request.store:
        from honeyguide.simulation.worlds import stored_world

        open_store(request.store, read_only=True).close()  # says what is wrong with it, if anything is
        yield stored_world(str(request.store), window, request.seed)


def _budget(world: World, text: str, request: SimulateRequest) -> Budget:
    """Turn what was written into fetches a day of this world."""
    from honeyguide.simulation.run import Budget

    cycle_days, per_day = _cycle_and_rate(text)
    return Budget(text, per_day or world.alive / (cycle_days or 1.0), request.host_per_day())


def _cycle_and_rate(text: str) -> tuple[float | None, float | None]:
    """Read a budget: every page once in so many days, or so many fetches a day."""
    found = _amount(text)
    if found is None:
        raise InputError(
            f"{text!r} is no budget; write 60d (every page once in 60 days), 500/day or 20/hour",
            field="budgets",
        )
    number, unit = found
    return (number, None) if unit == "d" else (None, number * (_DAY_H if unit == "/hour" else 1.0))


def _amount(text: str) -> tuple[float, str] | None:
    """Read a number above 0 with its unit."""
    match = _BUDGET.fullmatch(text)
    number = float(match[1]) if match else 0.0
    return (number, match[2]) if match and 0.0 < number <= _MOST else None
