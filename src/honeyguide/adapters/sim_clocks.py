"""Site clocks for all hosts of a simulation at once: the same as `core.clocks.SiteClock`, as arrays.

Owns: the days of hosts, and exposure by them. Must not know: rates, policies. Start reading at `SiteClocks.exposure_h`.
Moments are hours since the start of the world, which is taken as the beginning of a day.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from honeyguide.core.clocks import SITE_DAYS

if TYPE_CHECKING:
    from honeyguide.adapters.simulator import Flags
    from honeyguide.adapters.worlds import Floats, Ints

_DAY_H = 24.0


class SiteClocks:
    """What the last 120 days of each host count; a row for each host, a column for each day."""

    def __init__(self, hosts: int) -> None:
        self._found = np.zeros((hosts, SITE_DAYS))
        self._expected = np.zeros((hosts, SITE_DAYS))
        self._first_day = 1 - SITE_DAYS
        self._read()

    def move_on(self, now: float) -> None:
        """Reach the day of a moment; days from before the window are forgotten."""
        by = int(now // _DAY_H) - (self._first_day + SITE_DAYS - 1)
        if by > 0:
            by = min(by, SITE_DAYS)
            for days in (self._found, self._expected):
                days[:, : SITE_DAYS - by] = days[:, by:].copy()
                days[:, SITE_DAYS - by :] = 0.0
            self._first_day = int(now // _DAY_H) - SITE_DAYS + 1
            self._read()

    def exposure_h(self, host: Ints, since: Floats, now: float) -> Floats:
        """Give the hours that count between two moments, for pages of hosts."""
        every = np.arange(len(self._found))
        until = self._reading(every, np.full(len(every), now))
        return np.asarray(until[host] - self._reading(host, since))

    def note(self, host: Ints, since: Floats, now: float, expected: Floats, is_changed: Flags) -> None:
        """Remember visits at `now`, after others at `since`; `expected` is the chance of change of each.

        What was expected is spread over the days by their hours, what was found by the hours that count.
        """
        days = _DAY_H * (self._first_day + np.arange(SITE_DAYS + 1))
        hours = np.minimum(now, days[1:]) - np.maximum(since[:, None], days[:-1])
        hours = np.maximum(hours, 0.0)
        counted = hours * self._weight[host]
        plain = np.maximum(hours.sum(axis=1), 1e-300)
        np.add.at(self._expected, host, hours * (expected / plain)[:, None])
        share = is_changed / np.maximum(counted.sum(axis=1), 1e-300)
        np.add.at(self._found, host, counted * share[:, None])
        self._read()

    def _read(self) -> None:
        """Add up the days, so that a reading needs no sum."""
        self._weight = (self._found + 1.0) / (self._expected + 1.0)
        read = np.zeros((len(self._weight), SITE_DAYS + 1))
        np.cumsum(_DAY_H * self._weight, axis=1, out=read[:, 1:])
        self._readings = read + _DAY_H * self._first_day

    def _reading(self, host: Ints, moment: Floats) -> Floats:
        """Read the clocks; before the window every hour counts as one."""
        day = np.floor(moment / _DAY_H)
        place = np.clip(day - self._first_day, 0, SITE_DAYS - 1).astype(np.int64)
        inside = self._readings[host, place] + (moment - _DAY_H * day) * self._weight[host, place]
        return np.where(day < self._first_day, moment, inside)
