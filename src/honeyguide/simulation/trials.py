"""Trials: one world, one budget, several policies, and what each of them achieved beside the bounds.

Owns: the names of policies, and what they are measured against. Must not know: formats, how worlds are made.
Start reading at `try_policies`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from honeyguide.simulation.measures import (
    Outcome,
    Spans,
    all_knowing,
    discovery_delay,
    fresh_spans,
    freshness,
    mean_age,
    optimal_freshness,
    stale_spans,
)
from honeyguide.simulation.policies import (
    SimulatedAdaptiveInterval,
    SimulatedHeuristic,
    SimulatedKnownRates,
    SimulatedLearned,
    SimulatedProportional,
    SimulatedUniform,
)
from honeyguide.simulation.run import simulate, tick_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from honeyguide.simulation.run import Budget, Sight, SimPolicy
    from honeyguide.simulation.worlds import World

    Maker = Callable[[Sight, World], SimPolicy]


POLICIES: dict[str, Maker] = {
    "learned": lambda sight, _: SimulatedLearned(sight),
    "heuristic": lambda sight, _: SimulatedHeuristic(sight),
    "uniform": lambda sight, _: SimulatedUniform(sight),
    "proportional": lambda sight, _: SimulatedProportional(sight),
    "adaptive-interval": lambda sight, _: SimulatedAdaptiveInterval(sight),
    "known-rates": lambda sight, world: SimulatedKnownRates(sight, world.rates),
}
REFERENCE = "known-rates"  # is told what nobody can know
OPTIMUM, ALL_KNOWING = "optimum", "all-knowing"  # bounds: no policy, only a freshness
_POINTS = 120  # of a curve, at most
_DAY_H = 24.0


def try_policies(
    world: World,
    budget: Budget,
    names: Sequence[str],
    *,
    is_copied: bool = True,
    on_policy: Callable[[str], None] = lambda _: None,
) -> list[Outcome]:
    """Run each policy, the one with known rates in any case, and compare: policies as asked, then the references.

    `on_policy` hears of each policy before it runs. The best possible is the optimum of fixed rates where the world is steady, and else what known rates achieve.
    """
    asked = [name for name in names if name != REFERENCE]
    outcomes = []
    for name in (*asked, REFERENCE):
        on_policy(name)
        outcomes.append(_run(world, budget, name, is_copied))
    bounds = list(_bounds(world, budget, is_copied))
    best = next((item for item in bounds if item.policy == OPTIMUM), outcomes[-1])
    top = bounds[-1]
    return [
        replace(item, of_best=_share(item.late, best.late), of_all_knowing=_share(item.late, top.late))
        for item in (*outcomes, *bounds)
    ]


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None


def _run(world: World, budget: Budget, name: str, is_copied: bool) -> Outcome:
    log = simulate(world, budget, lambda sight: POLICIES[name](sight, world), is_copied=is_copied)
    fetched = np.bincount(world.host[log.pages], minlength=len(world.hosts))
    return replace(
        _measured(world, budget, name, fresh_spans(world, log)),
        is_reference=name == REFERENCE,
        mean_age_h=mean_age(world, stale_spans(world, log), 0.0),
        nothing_share=float(1.0 - np.mean(log.is_news)) if len(log.pages) else None,
        discovery_h=discovery_delay(world, log),
        fetches=len(log.pages),
        hosts=tuple((host, int(count)) for host, count in zip(world.hosts, fetched, strict=True)),
    )


def _measured(world: World, budget: Budget, name: str, spans: Spans) -> Outcome:
    """Measure freshness: whole, in the second half, day by day at first, and as a curve."""
    parts = max(2, min(_POINTS, round(world.hours / _DAY_H)))
    curve = freshness(world, spans, np.linspace(0.0, world.hours, parts + 1))
    halves = freshness(world, spans, np.array([world.hours / 2, world.hours]))
    days = np.arange(0.0, min(5.0, world.hours // _DAY_H) + 1.0) * _DAY_H
    whole = freshness(world, spans, np.array([0.0, world.hours]))
    return Outcome(
        world=world.name,
        budget=budget.name,
        policy=name,
        is_reference=True,
        freshness=float(whole[0]),
        late=float(halves[0]),
        days=tuple(map(float, freshness(world, spans, days))),
        curve=tuple(map(float, curve)),
    )


def _bounds(world: World, budget: Budget, is_copied: bool) -> Iterator[Outcome]:
    if world.is_steady:
        best = optimal_freshness(world, budget)
        yield Outcome(world.name, budget.name, OPTIMUM, True, best, best)
    tick = tick_of(world, budget)
    yield _measured(world, budget, ALL_KNOWING, all_knowing(world, budget, tick, is_copied))
