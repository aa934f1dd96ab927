"""The policy that learns, for a simulation: the same as `core.recrawl.Learned`, as arrays.

Owns: the posteriors of all pages, and when priors are fitted. Must not know: the world. Start reading at
`Learned.scores`. The formulas are those of `core.rate`; tests compare both page by page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from honeyguide.adapters.simulation.clocks import Clocks, Lessons
from honeyguide.adapters.simulation.priors import CLASS_COUNT, Rates, rebased, refit, updated
from honeyguide.adapters.simulation.worlds import HUB
from honeyguide.core.page_state import HUB_IMPORTANCE
from honeyguide.core.rate import FIRST_A, chance_by, changes_by, index_by
from honeyguide.core.worth import first_visit_by

if TYPE_CHECKING:
    from honeyguide.adapters.simulation.running import Sight, Visits
    from honeyguide.adapters.simulation.worlds import Floats

_FIT_EVERY_H = 24.0
_FIT_SHARE = 0.02  # of what was learned so far changes little by a fiftieth more
_ROUNDS = 10
_LONGEST_H = 8760.0
_FIRST_FINDS_H = 24.0  # as in `core.learning.after_finds`


class Learned:
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
        waited = np.clip(now - self._sight.visited[hubs], 0.0, _LONGEST_H)
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
