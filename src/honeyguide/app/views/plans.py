"""A plan as a person looks at it: how often the pages of a store change, and how fresh copies are for a number of visits a day.

Owns: reading rates and weights of a store as its recrawl policy sees them, and the curve of `simulate`'s optimum over budgets.
Must not know: web pages, how rates are learned. Start reading at `read_freshness`.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from math import expm1
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.app.runs import opened_store
from honeyguide.core.recrawl.policies import Learned
from honeyguide.core.recrawl.priors import Priors, refit_priors
from honeyguide.core.recrawl.signals import state_of

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_RATES = 20_000  # pages whose rates are read; identities are at random, so the first are as good as any
_DRAWN = 400  # of them stand for all in the curve: its cost grows with pages times budgets
EVERY_DAYS = (365.0, 180.0, 90.0, 45.0, 30.0, 14.0, 7.0, 4.0, 2.0, 1.0, 0.5, 0.25)  # a page on average
_STEPS_H = (
    (6, "6 hours"),
    (24, "a day"),
    (168, "a week"),
    (720, "a month"),
    (2_190, "3 months"),
    (8_760, "a year"),
)
SLOWER = "more than a year"


class FreshPoint(NamedTuple):
    """A budget: a page is visited every so many days on average; how fresh copies are at best, and with equal visits."""

    every_days: float
    best: float
    equal: float


class Freshness(NamedTuple):
    """Pages whose rates were read, how many change how often, and the curve; empty without numpy or pages."""

    pages: int
    intervals: dict[str, int]
    curve: list[FreshPoint]


def read_freshness(path: str) -> Freshness:
    """Read how often the pages of a store change, and how fresh visits keep them."""
    with opened_store(path, read_only=True) as store:
        history = store.history
        policy = Learned(refit_priors(history.rates(MAX_RATES), Priors()), history.site)
        states = (state_of(known, policy.priors) for known in islice(history.known(), MAX_RATES))
        pages = [(1.0 / policy.rate_of(state).mean_interval_h, state.weight) for state in states]
    counts = Counter(_interval(1.0 / rate) for rate, _ in pages)
    names = [*(f"within {name}" for _, name in _STEPS_H), SLOWER]
    return Freshness(len(pages), {name: counts[name] for name in names}, _curve(pages))


def _interval(hours: float) -> str:
    return next((f"within {name}" for most, name in _STEPS_H if hours <= most), SLOWER)


def _curve(pages: Sequence[tuple[float, float]]) -> list[FreshPoint]:
    drawn = pages[:: max(1, len(pages) // _DRAWN)]
    weight = sum(one for _, one in drawn)
    try:
        import numpy as np

        from honeyguide.simulation.measures import optimal_freshness
        from honeyguide.simulation.run import Budget
        from honeyguide.simulation.worlds import World
    except ImportError:  # an extra
        return []
    if weight <= 0.0:
        return []
    size = len(drawn)
    none, never = np.zeros(size, np.int64), np.full(size, np.inf)
    rates, weights = (np.array(column) for column in zip(*drawn, strict=True))
    world = World(
        "store", 1.0, ("",) * size, ("",), none, none, weights, np.zeros(size), never, none - 1, np.zeros(size + 1, np.int64),
        np.zeros(0), rates, is_steady=True,
    )  # fmt: skip
    points = []
    for days in EVERY_DAYS:
        z = [rate * 24.0 * days for rate, _ in drawn]
        equal = sum(one * -expm1(-x) / x for x, (_, one) in zip(z, drawn, strict=True)) / weight
        points.append(FreshPoint(days, optimal_freshness(world, Budget("", size / days)), equal))
    return points
