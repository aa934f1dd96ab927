"""The policy that learns, for a simulation: the same as `core.recrawl.Learned`, as arrays.

Owns: the posteriors of all pages, their clocks and priors, as far as arrays need them. Must not know: the world.
Start reading at `Learned.scores`. The formulas are those of `core.rate`; tests compare both page by page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from honeyguide.adapters.sim_clocks import SiteClocks
from honeyguide.adapters.sim_priors import CLASS_COUNT, Rates, rebased, refit
from honeyguide.adapters.worlds import ARTICLE, HUB, PAGE
from honeyguide.core.clocks import ARTICLE_H, OLD_SPEED
from honeyguide.core.page_state import HUB_IMPORTANCE
from honeyguide.core.rate import FIRST_A, chance_by, changed_by, index_by
from honeyguide.core.recrawl import FIRST_VISIT_H

if TYPE_CHECKING:
    from honeyguide.adapters.simulator import Sight, Visits
    from honeyguide.adapters.worlds import Floats, Ints

_DAY_H = 24.0
_LEAST_H = 1e-9
_FIRMNESS = 24.0  # of a hub's day, as in `core.clocks.DayProfile`


class Learned:
    """Where the most freshness is won, by change rates learned from the visits, from nothing."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._group = CLASS_COUNT * sight.host + sight.kind
        self._start = Rates(np.full(3, FIRST_A), np.full(3, FIRST_A * sight.cycle_h))
        self._priors = self._start.at(np.arange(CLASS_COUNT * sight.hosts) % CLASS_COUNT)
        self.rates = self._priors.at(self._group)
        self._is_watched = np.zeros(len(sight.kind), np.bool_)
        self._sites = SiteClocks(sight.hosts)
        self._hubs = _Hubs(sight)
        self._next_fit = _DAY_H

    def scores(self, now: float) -> Floats:
        """Score by the index in hours of each page's clock; hubs also by what they will show."""
        self._sites.move_on(now)
        if now >= self._next_fit:
            self._refit()
            self._next_fit = now + _DAY_H
        ...
