"""Drift: five made-up worlds whose pages do not keep their rates, and what recrawl policies are worth there.

Owns: the worlds and their seeds, which were written down before the last tuning of any policy that forgets. Run
`python -m bench.drift` for the final seeds, `python -m bench.drift tune` for those that policies may be tuned on.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from statistics import mean, stdev
from typing import TYPE_CHECKING

import numpy as np

from honeyguide.simulation.generated import WorldSettings, world_of_changes
from honeyguide.simulation.measures import fresh_spans, freshness
from honeyguide.simulation.run import POLICIES, Budget, simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from honeyguide.simulation.worlds import Floats, World

TUNING_SEEDS, FINAL_SEEDS = range(1, 4), range(101, 111)
SETTINGS = WorldSettings(pages=1000, days=240.0, hosts=20, interval=10.0, spread=1.5)
CYCLE_DAYS = 10.0
STEP_DAYS = 5.0  # rates are constant within a step
_HOURS = 24.0
_MIDDLE = 0.5


def _start(rng: Generator) -> Floats:
    return np.asarray(rng.normal(0.0, SETTINGS.spread, SETTINGS.pages))


def inverted(rng: Generator, steps: int) -> Floats:
    """Let fast pages be slow from the middle on, and slow ones fast."""
    logs = _start(rng)
    return np.array([logs if step < _MIDDLE * steps else -logs for step in range(steps)])


def swapped(rng: Generator, steps: int) -> Floats:
    """Let half of the pages exchange their rates in the middle."""
    logs = _start(rng)
    later, half = logs.copy(), SETTINGS.pages // 2
    later[:half] = rng.permutation(logs[:half])
    return np.array([logs if step < _MIDDLE * steps else later for step in range(steps)])


def asleep(rng: Generator, steps: int) -> Floats:
    """Let a third of the pages stop to change, each at a time of its own between a quarter and three quarters."""
    logs, ends = _start(rng), rng.uniform(0.25, 0.75, SETTINGS.pages) * steps
    ends[rng.random(SETTINGS.pages) > 1 / 3] = np.inf
    return np.array([np.where(step < ends, logs, -np.inf) for step in range(steps)])


def awake(rng: Generator, steps: int) -> Floats:
    """Let a third of the pages be silent until a time of their own, and then change five times as often as usual."""
    logs, begins = _start(rng), rng.uniform(0.25, 0.75, SETTINGS.pages) * steps
    is_late = rng.random(SETTINGS.pages) < 1 / 3
    return np.array(
        [
            np.where(is_late, np.where(step < begins, -np.inf, logs + np.log(5.0)), logs)
            for step in range(steps)
        ]
    )


def wandering(rng: Generator, steps: int) -> Floats:
    """Let the logarithm of each rate walk at random, by 0.35 in five days, and never far from its beginning."""
    logs, walk = [_start(rng)], 0.35
    for _ in range(steps - 1):
        logs.append(
            logs[-1] * np.sqrt(1 - (walk / SETTINGS.spread) ** 2) + rng.normal(0.0, walk, SETTINGS.pages)
        )
    return np.array(logs)


WORLDS: dict[str, Callable[[Generator, int], Floats]] = {
    "inverted": inverted,
    "swapped": swapped,
    "asleep": asleep,
    "awake": awake,
    "wandering": wandering,
}


def drift_world(name: str, seed: int) -> World:
    """Draw the changes of a world; the same seed gives the same world."""
    rng = np.random.Generator(np.random.PCG64(seed))
    steps, hours = round(SETTINGS.days / STEP_DAYS), STEP_DAYS * _HOURS
    rates = np.exp(WORLDS[name](rng, steps)) / (SETTINGS.interval * _HOURS)
    counts = rng.poisson(rates * hours)
    steps_of, pages = np.divmod(np.repeat(np.arange(counts.size), counts.ravel()), SETTINGS.pages)
    times = (steps_of + rng.random(len(steps_of))) * hours
    return replace(world_of_changes(SETTINGS, rng, pages, times), name=name)


def freshness_of(policy: str, world: World) -> tuple[float, float]:
    """Simulate a policy: freshness of the whole run, and of its second half."""
    budget = Budget("10d", world.alive / CYCLE_DAYS)
    log = simulate(world, budget, lambda sight: POLICIES[policy](sight, world))
    spans, hours = fresh_spans(world, log), world.hours
    whole, late = (freshness(world, spans, np.array([begin, hours]))[0] for begin in (0.0, hours / 2))
    return float(whole), float(late)


def main(
    names: tuple[str, ...] = ("learned", "uniform", "adaptive-interval"), seeds: range = FINAL_SEEDS
) -> None:
    """Print the mean freshness of each world and policy, and its spread over the seeds."""
    for world in WORLDS:
        for policy in names:
            found = [freshness_of(policy, drift_world(world, seed)) for seed in seeds]
            whole, late = zip(*found, strict=True)
            print(
                f"{world:10} {policy:18} {mean(whole):.4f} ± {stdev(whole):.4f}  late {mean(late):.4f} ± {stdev(late):.4f}"
            )


if __name__ == "__main__":
    main(seeds=TUNING_SEEDS if "tune" in sys.argv else FINAL_SEEDS)
