"""Measures: what a recrawl policy achieved in a simulation, and what no policy can exceed.

Owns: freshness, ages, and the bounds. Must not know: policies, how outcomes look. Start reading at `freshness`.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from honeyguide.core.recrawl.rate import known_index_by
from honeyguide.simulation.worlds import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.simulation.run import Budget, FetchLog, Flags
    from honeyguide.simulation.worlds import Floats, Ints, World


_HALVINGS = 50


@dataclass(frozen=True, slots=True)
class Spans:
    """Times at which pages were fresh, or stale: page, beginning, end."""

    pages: Ints
    since: Floats
    until: Floats


def fresh_spans(world: World, log: FetchLog) -> Spans:
    """Return when copies were fresh."""
    pages, times, ends = _copies(world, log)
    return Spans(pages, times, np.minimum(world.next_change(pages, times), ends))


def stale_spans(world: World, log: FetchLog) -> Spans:
    """Return when copies were out of date, or pages had no copy yet."""
    pages, times, ends = _copies(world, log)
    since = np.minimum(world.next_change(pages, times), ends)
    first = np.full(world.size, NEVER)
    np.minimum.at(first, pages, times)
    every = np.arange(world.size)
    begin = np.maximum(world.born, 0.0)
    end = np.minimum(np.minimum(first, world.gone), world.hours)
    return Spans(
        np.concatenate([pages, every]),
        np.concatenate([since, begin]),
        np.concatenate([ends, np.maximum(end, begin)]),
    )


def _copies(world: World, log: FetchLog) -> tuple[Ints, Floats, Floats]:
    """List every copy: its page, its time, and its end: by the next fetch, with the page, or with the run."""
    start = _copied(world, log.is_copied)
    is_there = world.gone[log.pages] > log.times
    pages = np.concatenate([start, log.pages[is_there]])
    times = np.concatenate([np.zeros(len(start)), log.times[is_there]])
    order = np.lexsort((times, pages))
    pages, times = pages[order], times[order]
    ends = np.minimum(world.gone[pages], world.hours)
    is_same = pages[1:] == pages[:-1]
    ends[:-1] = np.where(is_same, times[1:], ends[:-1])
    return pages, times, ends


def freshness(world: World, spans: Spans, edges: Floats) -> Floats:
    """Return the share of importance that was fresh, between each two edges."""
    fresh = _within(spans, world.weight[spans.pages], edges)
    lives = Spans(np.arange(world.size), np.maximum(world.born, 0.0), np.minimum(world.gone, world.hours))
    there = _within(lives, world.weight, edges)
    return np.divide(fresh, there, out=np.zeros(len(fresh)), where=there > 0)


def _within(spans: Spans, weight: Floats, edges: Floats) -> Floats:
    """Add up weighted time between each two edges: exact, whatever lies across them."""
    return np.diff(_ramp(spans.since, weight, edges) - _ramp(spans.until, weight, edges))


def _ramp(times: Floats, weight: Floats, edges: Floats) -> Floats:
    """Add up w (x - t) over all times before each edge x."""
    order = np.argsort(times, kind="stable")
    place = np.searchsorted(times[order], edges, "right")
    of_weight = np.concatenate([[0.0], np.cumsum(weight[order])])
    of_moment = np.concatenate([[0.0], np.cumsum((weight * times)[order])])
    return np.asarray(edges * of_weight[place] - of_moment[place])


def mean_age(world: World, spans: Spans, since: float) -> float:
    """Return how long copies had been out of date, in hours, over all pages and all time from `since` on."""
    weight = world.weight[spans.pages]
    begin = np.maximum(spans.since, since)
    is_late = spans.until > begin
    grown = ((spans.until - spans.since) ** 2 - (begin - spans.since) ** 2) / 2
    begin_life = np.maximum(world.born, since)
    lived = np.maximum(np.minimum(world.gone, world.hours) - begin_life, 0.0)
    total = float(np.sum(world.weight * lived))
    return float(np.sum((weight * grown)[is_late])) / total if total else 0.0


def discovery_delay(world: World, log: FetchLog) -> float | None:
    """Return the mean hours from a page's birth to its first fetch, or to the end of the run; None without births."""
    born = np.flatnonzero(world.born > 0.0)
    if not len(born):
        return None
    first = np.full(world.size, world.hours)
    np.minimum.at(first, log.pages, log.times)
    return float(np.mean(np.minimum(first, world.gone)[born] - world.born[born]))


# --- bounds -----------------------------------------------------------------------------------------------------


def all_knowing(world: World, budget: Budget, tick: float, is_copied: bool) -> Spans:
    """Bound a policy that knows every change: each fetch follows a change at once and lasts until the next."""
    # The best spans between changes are taken, and never more after any moment than the budget has fetches from then on:
    # from the end backwards, the worst span is dropped when there are too many.
    pages, since, until = _between_changes(world, is_copied)
    at = np.ceil(since / tick) * tick
    gain = world.weight[pages] * (until - at)
    order = np.argsort(-at, kind="stable")
    order = order[gain[order] > 0]
    kept: list[tuple[float, int]] = []
    last = int(np.ceil(world.hours / tick))
    for job in order.tolist():
        heapq.heappush(kept, (float(gain[job]), job))
        if len(kept) > (last - round(at[job] / tick)) * tick * budget.per_day / 24.0:
            heapq.heappop(kept)
    chosen = np.array(sorted(job for _, job in kept), np.int64)
    first = _copied(world, is_copied)  # their copies are fresh at the start
    zero = np.zeros(len(first))
    ends = np.minimum(world.next_change(first, zero), np.minimum(world.gone[first], world.hours))
    return Spans(
        np.concatenate([first, pages[chosen]]),
        np.concatenate([zero, at[chosen]]),
        np.concatenate([ends, until[chosen]]),
    )


def _copied(world: World, is_copied: bool) -> Ints:
    """List the pages that a run starts with a copy of."""
    return np.flatnonzero((world.born <= 0.0) & (world.hub < 0) & is_copied)


def _between_changes(world: World, is_copied: bool) -> tuple[Ints, Floats, Floats]:
    """Return the spans between two changes, or from birth to the first, except those that first copies cover."""
    every = np.arange(world.size)
    needs_first = (world.born > 0.0) | (world.hub >= 0) if is_copied else np.full(world.size, True)
    pages = np.concatenate([np.repeat(every, np.diff(world.offsets)), every[needs_first]])
    since = np.concatenate([world.times, np.maximum(world.born[needs_first], 0.0)])
    until = np.minimum(world.next_change(pages, since), np.minimum(world.gone[pages], world.hours))
    return pages, since, until


def optimal_freshness(world: World, budget: Budget) -> float:
    """Return the freshness of the best fixed rates for steady pages: one price for all, a higher one for full hosts."""
    # A page is fetched whenever the index at its known rate reaches the price; each host, and all together, pay the
    # lowest price at which their fetches fit. Cho and Garcia-Molina 2003; with host limits, Kolobov et al. 2019.
    per_hour = budget.per_day / 24.0
    floor = np.zeros(len(world.hosts))
    if budget.host_per_day is not None:
        floor = _prices(world, world.host, len(world.hosts), budget.host_per_day / 24.0)
    everywhere = np.zeros(world.size, np.int64)
    price = _prices(world, everywhere, 1, per_hour, floor[world.host])
    z = _visits_at(world, np.maximum(price[0], floor[world.host]))
    fresh = np.where(np.isfinite(z), -np.expm1(-z) / z, 0.0)
    return float(np.sum(world.weight * fresh) / np.sum(world.weight))


def _prices(world: World, group: Ints, groups: int, per_hour: float, floor: Floats | float = 0.0) -> Floats:
    """Find the lowest price at which each group stays within its fetches, by halving."""

    def is_within(price: Floats) -> Flags:
        z = _visits_at(world, np.maximum(price[group], floor))
        visits = np.where(np.isfinite(z), world.rates / z, 0.0)
        return np.asarray(np.bincount(group, visits, minlength=groups) <= per_hour)

    most = np.log(float(np.max(world.weight / world.rates))) + 1e-9
    return _least(is_within, np.full(groups, np.log(1e-12)), np.full(groups, most))


def _visits_at(world: World, price: Floats) -> Floats:
    """Return how many changes pass between two visits of each page at a price; infinite if it is never visited."""
    target = price * world.rates / world.weight
    low, high = np.full(world.size, np.log(1e-9)), np.full(world.size, np.log(60.0))
    visits = _least(lambda z: np.asarray(known_index_by(np, 1.0, z) >= target), low, high)
    return np.where(target < 1.0, visits, NEVER)


def _least(passes: Callable[[Floats], Flags], low: Floats, high: Floats) -> Floats:
    """Find the least numbers that pass a test, by halving between logarithms."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_passed = passes(np.exp(middle))
        high, low = np.where(is_passed, middle, high), np.where(is_passed, low, middle)
    return np.asarray(np.exp(high))
