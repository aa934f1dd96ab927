"""The policies that the simulator compares, as arrays: all but `learned`, which is in `learned.py`.

Owns: `heuristic`, `uniform`, `proportional`, `adaptive-interval`, and `known`, which is told the rates. Must not know:
the world, except that `known` is given its rates. Start reading at `Heuristic`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from honeyguide.adapters.simulation.priors import Rates, updated
from honeyguide.adapters.simulation.worlds import HUB, NEVER
from honeyguide.core import schedules
from honeyguide.core.rate import FIRST_A, known_index_by

if TYPE_CHECKING:
    from honeyguide.adapters.simulation.running import Flags, Sight, Visits
    from honeyguide.adapters.simulation.worlds import Floats

_HOUR_S, _DAY_S, _WEEK_S = 3600.0, 86_400.0, 604_800.0
_LONGEST_H = 1e9  # since a visit that never was
_NUTCH = schedules.AdaptiveInterval()


class Heuristic:
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


class Uniform:
    """Round robin: whoever was not visited for longest."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight

    def scores(self, now: float) -> Floats:
        """Score by the time since the last visit."""
        return np.minimum(now - self._sight.visited, _LONGEST_H)

    def learn(self, visits: Visits) -> None:
        """Learn nothing."""


class Proportional:
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


class AdaptiveInterval:
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


class KnownRates:
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
