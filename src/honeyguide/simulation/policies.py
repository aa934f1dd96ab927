"""The policies that the simulator compares, as arrays: all but `learned`, which is in `learned.py`.

Owns: `heuristic`, `uniform`, `proportional`, `adaptive-interval`, and `known`, which is told the rates. Must not know:
the world, except that `known` is given its rates. Start reading at `SimulatedHeuristic`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from honeyguide.core.recrawl import policies as schedules
from honeyguide.core.recrawl.rate import (
    FIRST_A,
    chance_by,
    changes_by,
    first_visit_by,
    index_by,
    known_index_by,
)
from honeyguide.core.recrawl.signals import HUB_IMPORTANCE
from honeyguide.simulation.clocks import Clocks, Lessons
from honeyguide.simulation.priors import CLASS_COUNT, Rates, rebased, refit, updated
from honeyguide.simulation.worlds import HUB, NEVER

if TYPE_CHECKING:
    from honeyguide.simulation.run import Flags, Sight, Visits
    from honeyguide.simulation.worlds import Floats

_HOUR_S, _DAY_S, _WEEK_S = 3600.0, 86_400.0, 604_800.0
_LONGEST_H = 1e9  # since a visit that never was
_NUTCH = schedules.AdaptiveInterval()


class SimulatedHeuristic:
    """The card of PLAN-1; importance is topic relevance. The same score: whoever was not visited for longest first."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._changed = np.full(len(sight.kind), -NEVER)
        self._relevance = sight.weight / float(np.max(sight.weight))

    def scores(self, now: float) -> Floats:
        """Add the points of each rule; the fraction orders what has the same points."""
        sight = self._sight
        depth = (sight.hub >= 0).astype(np.float64)
        facts = PlanFacts(
            (now - sight.visited) * _HOUR_S,
            (now - self._changed) * _HOUR_S,
            self._relevance,
            depth,
            sight.kind == HUB,
        )
        waited = np.where(np.isfinite(sight.visited), now - sight.visited, now + 1.0)
        return np.asarray(card_points(facts) + waited / (now + 2.0))

    def learn(self, visits: Visits) -> None:
        """Remember when a change was seen."""
        self._changed[visits.pages[visits.is_changed]] = visits.now


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """The facts of the plan card, one array each; what never happened was infinitely long ago."""

    since_visit_s: Floats
    since_change_s: Floats
    relevance: Floats
    hub_depth: Floats
    is_hub: Flags


def card_points(facts: PlanFacts) -> Floats:
    """Score PLAN-1 for arrays: the same points as the card `plan` of the profile `base`.

    >>> five_days = PlanFacts(*(np.array([x]) for x in (5 * 86400.0, 36000.0, 0.9, 1.0, True)))
    >>> card_points(five_days).tolist()
    [94.0]
    """
    since = facts.since_visit_s
    visit = np.select(
        [since < _HOUR_S, since < _DAY_S, (since > _WEEK_S) & np.isfinite(since)], [-30.0, -10.0, 15.0], 0.0
    )
    change = np.where(facts.since_change_s < _DAY_S, 20.0, 0.0)
    relevance = np.where(facts.relevance > 0.0, np.floor(facts.relevance * 15.0 + 0.5), 0.0)
    structure = np.where(facts.is_hub, 10.0, 0.0) - np.where(facts.hub_depth > 3.0, 5.0, 0.0)
    return np.asarray(np.clip(50.0 + visit + change + relevance + structure, 0.0, 100.0))


class SimulatedUniform:
    """Round robin: whoever was not visited for longest."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight

    def scores(self, now: float) -> Floats:
        """Score by the time since the last visit."""
        return np.minimum(now - self._sight.visited, _LONGEST_H)

    def learn(self, visits: Visits) -> None:
        """Learn nothing."""


class SimulatedProportional:
    """As often as a page changes, as far as visits have shown: by the changes expected since the last one."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._rates = Rates(
            np.full(len(sight.kind), FIRST_A), np.full(len(sight.kind), FIRST_A * sight.cycle_h)
        )

    def scores(self, now: float) -> Floats:
        """Score by the changes that are expected."""
        waited = np.minimum(now - self._sight.visited, _LONGEST_H)
        return np.asarray(waited * self._rates.a / self._rates.b)

    def learn(self, visits: Visits) -> None:
        """Learn the rates."""
        again = ~visits.is_first & ~visits.is_gone
        pages, waited = visits.pages[again], visits.now - visits.since[again]
        self._rates.put(pages, updated(self._rates.at(pages), waited, visits.is_changed[again]))


class SimulatedAdaptiveInterval:
    """Nutch's adaptive schedule: a fifth shorter after a change, two fifths longer without; the most overdue first."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._interval = np.full(len(sight.kind), sight.cycle_h)

    def scores(self, now: float) -> Floats:
        """Score by how far the interval has passed."""
        return np.asarray(np.minimum(now - self._sight.visited, _LONGEST_H) / self._interval)

    def learn(self, visits: Visits) -> None:
        """Adapt the interval."""
        again = ~visits.is_first
        pages = visits.pages[again]
        by = np.where(visits.is_changed[again], 1.0 - _NUTCH.shrink, 1.0 + _NUTCH.grow)
        self._interval[pages] = np.clip(self._interval[pages] * by, _NUTCH.least_h, _NUTCH.most_h)


class SimulatedKnownRates:
    """The greedy index with rates that nobody can know: a reference."""

    def __init__(self, sight: Sight, rates: Floats) -> None:
        self._sight = sight
        self._rates = rates

    def scores(self, now: float) -> Floats:
        """Score by the index at the known rate."""
        waited = np.minimum(now - self._sight.visited, _LONGEST_H)
        return np.asarray(self._sight.weight * known_index_by(np, self._rates, waited))

    def learn(self, visits: Visits) -> None:
        """Learn nothing: all is known."""


_FIT_EVERY_H = 24.0
_FIT_SHARE = 0.02  # of what was learned so far changes little by a fiftieth more
_ROUNDS = 10

_LEARNED_LONGEST_H = 8760.0

_FIRST_FINDS_H = 24.0  # as in `core.learning.after_finds`


class SimulatedLearned:
    """Visit where the most freshness is won, by change rates learned from the visits, from nothing."""

    def __init__(self, sight: Sight, fit_every_h: float = _FIT_EVERY_H) -> None:
        self._sight = sight
        self._fit_every_h = fit_every_h
        self._group = CLASS_COUNT * sight.host + sight.kind
        self._start = Rates(np.full(CLASS_COUNT, FIRST_A), np.full(CLASS_COUNT, FIRST_A * sight.cycle_h))
        self._priors = self._start.at(np.arange(CLASS_COUNT * sight.hosts) % CLASS_COUNT)
        self._rates = self._priors.at(self._group)
        self._is_watched = np.zeros(len(sight.kind), np.bool_)
        self._clocks = Clocks(sight)
        self._hubs = np.flatnonzero(sight.kind == HUB)
        self._finds = Rates(np.zeros(len(sight.kind)), np.full(len(sight.kind), _FIRST_FINDS_H))
        self._next_fit = fit_every_h

    def scores(self, now: float) -> Floats:
        """Score by the index in hours of each page's clock; hubs also by the pages that gather behind them."""
        if now >= self._next_fit:
            self._refit()
            self._next_fit = now + max(self._fit_every_h, now * _FIT_SHARE)
        self._clocks.watch_ends(now)
        sight, known = self._sight, np.flatnonzero(self._sight.is_known)
        rates, visited = self._rates.at(known), sight.visited[known]
        is_seen = np.isfinite(visited)
        since = np.where(is_seen, visited, now)
        worth = index_by(np, rates.a, rates.b, self._clocks.exposure_h(since, now, known))
        worth[~is_seen] = first_visit_by(np, rates.a[~is_seen], rates.b[~is_seen])
        scores = np.zeros(len(sight.kind))
        scores[known] = worth * self._clocks.stretch(now, rates.b / rates.a, known)
        scores[self._hubs] += self._discovery(now)
        return np.asarray(sight.weight * scores)

    def learn(self, visits: Visits) -> None:
        """Update the rates of the pages that could be compared with an earlier copy, and the clocks."""
        kept = ~visits.is_first & ~visits.is_gone
        pages, since, is_changed = visits.pages[kept], visits.since[kept], visits.is_changed[kept]
        if not len(pages):
            return
        self._is_watched[pages] = True
        exposure = self._clocks.exposure_h(since, visits.now, pages)
        rates = self._rates.at(pages)
        after = updated(rates, exposure, is_changed)
        expected = chance_by(np, rates.a, rates.b, self._clocks.aged_h(pages, since, visits.now))
        found = is_changed * changes_by(np, rates.a, rates.b, exposure)
        self._clocks.note(Lessons(pages, since, visits.now, expected, found, after.a / after.b))
        self._rates.put(pages, after)
        self._finds.a[pages] += visits.discovered[kept]
        self._finds.b[pages] += visits.now - since

    def _discovery(self, now: float) -> Floats:
        """Value what gathers behind hubs: a new page that nobody has seen is as bad as a stale one."""
        hubs = self._hubs
        waited = np.clip(now - self._sight.visited[hubs], 0.0, _LEARNED_LONGEST_H)
        return np.asarray(self._finds.a[hubs] / self._finds.b[hubs] * waited**2 / 2.0 / HUB_IMPORTANCE)

    def _refit(self) -> None:
        """Learn the priors from the pages that were visited again, and give them to all; again, until they stay.

        Each round believes a page a little less where all are alike. One round a day would take months to get there.
        """
        watched = np.flatnonzero(self._is_watched & self._sight.is_known)
        if not len(watched):
            return
        for _ in range(_ROUNDS):
            priors = refit(self._rates.at(watched), self._group[watched], self._start, self._sight.hosts)
            old, new = self._priors.at(self._group), priors.at(self._group)
            self._rates, self._priors = rebased(self._rates, old, new), priors
