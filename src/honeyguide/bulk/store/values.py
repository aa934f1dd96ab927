"""The value of visits to all URLs of a store at once: what `Learned.value` gives, without an object for each row.

Owns: the values, and the clocks over arrays. Must not know: how rows are read (columns.py), ranks (table.py). Start reading at
`learned_values`. Sums over days are made otherwise than row by row, so a value that could be rounded to another number
is named in `is_close`, and made row by row. numpy is an extra, so this module is imported on demand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from honeyguide.bulk.store.columns import ARTICLE, DAY_H, HUB
from honeyguide.core.recrawl import clocks
from honeyguide.core.recrawl.clocks import DAY_S, EDGES_H, HOUR_S, HOURS_A_SECOND, lasting_by
from honeyguide.core.recrawl.history import UNKNOWN_SITE
from honeyguide.core.recrawl.policies import RETURN_H
from honeyguide.core.recrawl.priors import CLASSES
from honeyguide.core.recrawl.rate import SURE, believed_by, index_by, prior
from honeyguide.core.recrawl.signals import HUB_IMPORTANCE, LEAST_RELEVANCE, SITEMAP, UNKNOWN_RELEVANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from honeyguide.bulk.store.columns import StoredColumns
    from honeyguide.core.recrawl.history import Site
    from honeyguide.core.recrawl.policies import Learned
    from honeyguide.core.recrawl.priors import Priors

    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]
    Ints = npt.NDArray[np.int64]

_SPAN_H = (1.0, 24.0)  # as in core.recrawl.policies
_CLOSE = 1e-10  # of a value: how near to the middle between two singles it may be
_EDGES = np.array(EDGES_H)


@dataclass(frozen=True, slots=True)
class StoredValues:
    """The values, in single precision, and the rows that have to be valued one by one."""

    values: Floats
    is_close: Flags


def learned_values(rows: StoredColumns, now: float, policy: Learned) -> StoredValues:
    """Value all rows as `Learned` does."""
    sites = [policy.site(name) or UNKNOWN_SITE for name in rows.hosts]
    numbers, groups = rows.numbers, _Groups(rows, policy.priors, sites)
    is_failing = numbers["failures"] > 0
    a, b = groups.rates(numbers)
    dead = prior(RETURN_H)
    a, b = np.where(is_failing, dead.a, a), np.where(is_failing, dead.b, b)
    weight = _importance(rows) * 0.5 ** numbers["failures"]
    visited = numbers["visited_at"]
    is_new = np.isnan(visited)
    clock = _Clocks(rows, now, groups)
    exposure = np.where(is_new, SURE * b / a, clock.exposure_h(np.where(is_new, now, visited)))
    with np.errstate(all="ignore"):
        value = weight * clock.stretch(b / a) * index_by(np, a, b, np.maximum(exposure, 0.0))
        tau = np.maximum(0.0, (now - visited) * HOURS_A_SECOND)
        each = np.where(rows.kind == HUB, weight / HUB_IMPORTANCE, weight)
        finds = each * numbers["found_a"] / numbers["found_b"] * tau**2 / 2
    value = value + np.where(np.isnan(finds) | is_failing, 0.0, finds)
    trusted = np.zeros((len(sites), len(CLASSES)), np.bool_)
    for number, site in enumerate(sites):
        if site.trust:
            trusted[number] = [site.is_trusted(SITEMAP, kind) for kind in CLASSES]
    return StoredValues(*_rounded(value, rows.listed & trusted[rows.host, rows.kind] & ~is_failing))


def _importance(rows: StoredColumns) -> Floats:
    """Weigh pages as `core.recrawl.signals.importance_of` does."""
    relevance = rows.numbers["relevance"]
    known = np.where(np.isnan(relevance), UNKNOWN_RELEVANCE, np.maximum(relevance, LEAST_RELEVANCE))
    return known * np.where(rows.kind == HUB, HUB_IMPORTANCE, 1.0)


def _rounded(value: Floats, is_special: Flags) -> tuple[Floats, Flags]:
    """Round to singles; what is near to the middle between two of them, or special, is not sure."""
    low, high = (value * (1.0 + change) for change in (-_CLOSE, _CLOSE))
    singles = [part.astype(np.float32) for part in (low, high)]
    return value.astype(np.float32).astype(np.float64), is_special | (singles[0] != singles[1])


class _Groups:
    """What the pages of a class on a host have in common: a group is the host times the number of classes, plus the class."""

    def __init__(self, rows: StoredColumns, priors: Priors, sites: Sequence[Site]) -> None:
        self.of_row = len(CLASSES) * rows.host + rows.kind
        self.sites = sites
        self._used = np.flatnonzero(np.bincount(self.of_row))
        names = list(rows.hosts)
        self._hosts_and_kinds = [divmod(number, len(CLASSES)) for number in self._used.tolist()]
        own = np.array([priors.of(names[host], CLASSES[kind]) for host, kind in self._hosts_and_kinds])
        places = np.zeros(len(CLASSES) * len(names), dtype=np.int64)
        places[self._used] = np.arange(len(self._used))
        self.place = places[self.of_row]
        self._prior_a, self._prior_b = own[:, 0][self.place], own[:, 1][self.place]

    def rates(self, numbers: dict[str, Floats]) -> tuple[Floats, Floats]:
        """Give the change rates: of pages that were compared what visits saw, added to the prior, else the prior."""
        seen_a, seen_b = numbers["rate_a"], numbers["rate_b"]
        is_seen = ~(np.isnan(seen_a) | np.isnan(seen_b))
        seen = np.where(is_seen, seen_a, 0.0), np.where(is_seen, seen_b, 0.0)
        with np.errstate(all="ignore"):
            a, b = believed_by(np, (self._prior_a, self._prior_b), seen)
        return np.where(is_seen, a, self._prior_a), np.where(is_seen, b, self._prior_b)

    def courses(self) -> tuple[Floats, Floats]:
        """Give the course of the clock by age of each group, and the share of pages that end at each age."""
        profiles = [self.sites[host].aged(CLASSES[kind]).own for host, kind in self._hosts_and_kinds]
        courses = [profile.course for profile in profiles]
        return np.array(courses), np.array([profile.ends for profile in profiles])


class _Clocks:
    """The clock of each page, as `core.recrawl.clocks.choose_clock` chooses it."""

    def __init__(self, rows: StoredColumns, now: float, groups: _Groups) -> None:
        self._rows = rows
        self._now = now
        self._groups = groups
        self._published = rows.published()
        self._aged = np.flatnonzero(~np.isnan(self._published))
        self._hubs = rows.hubs
        self._weights = clocks.day_weight_by(rows.hours, rows.hours.sum(axis=1, keepdims=True))
        self._before = np.cumsum(self._weights, axis=1) - self._weights
        if len(self._aged):
            self._course, self._ends = groups.courses()

    def exposure_h(self, since: Floats) -> Floats:
        """Return the hours that count from moments until now."""
        passed = np.maximum(self._now - since, 0.0)
        wall = np.rint(passed * 1e6) / 1e6 * HOURS_A_SECOND
        days = self._by_site(since)
        hours = np.where(self._rows.kind == HUB, wall, days)
        if len(self._aged):
            place, born = self._aged, self._published[self._aged]
            plain = passed[place] * HOURS_A_SECOND
            site = np.where(self._rows.kind[place] == ARTICLE, wall[place], days[place])
            aged = self._by_age(since[place] - born, self._now - born)
            with np.errstate(all="ignore"):
                hours[place] = np.where(plain > 0.0, aged * site / plain, 0.0)
        if len(self._hubs):
            ends = np.full(len(self._hubs), self._now)
            hours[self._hubs] = np.maximum(0.0, self._by_day(ends) - self._by_day(since[self._hubs]))
        return np.asarray(hours)

    def stretch(self, interval_h: Floats) -> Floats:
        """Return how many wall hours an hour of the clock takes, around the next change."""
        stretch, span = np.ones(len(interval_h)), np.clip(interval_h, *_SPAN_H)
        if len(self._aged):
            place = self._aged
            age = np.maximum(0.0, self._now - self._published[place]) * HOURS_A_SECOND
            later = np.maximum(0.0, self._now + span[place] / HOURS_A_SECOND - self._published[place])
            ahead = self._readings(later * HOURS_A_SECOND) - self._readings(age)
            ends = self._ends[self._groups.place[place], _age_place(age)]
            slow = span[place] / np.maximum(np.maximum(ahead, 0.0), span[place] * clocks.SLOWEST)
            stretch[place] = lasting_by(slow, interval_h[place], ends)
        if len(self._hubs):
            wide = span[self._hubs]
            now = np.full(len(wide), self._now)
            ahead = np.maximum(0.0, self._by_day(now + wide * HOUR_S) - self._by_day(now))
            stretch[self._hubs] = wide / np.maximum(ahead, wide * clocks.OLD_SPEED)
        return stretch

    def _by_site(self, since: Floats) -> Floats:
        """Measure by the days of each site that was watched; elsewhere every hour counts as one."""
        hours = np.maximum(self._now - since, 0.0) * HOURS_A_SECOND
        watched = [number for number, site in enumerate(self._groups.sites) if site.clock.found]
        if not watched:
            return hours
        order = np.argsort(self._rows.host, kind="stable")
        hosts = self._rows.host[order]
        for number in watched:
            first, last = np.searchsorted(hosts, [number, number + 1])
            rows = order[first:last]
            clock = self._groups.sites[number].clock
            reading = _day_readings(clock)
            moments = np.minimum(since[rows], self._now)
            hours[rows] = reading(np.full(len(rows), self._now)) - reading(moments)
        return np.asarray(hours)

    def _by_age(self, begin_s: Floats, end_s: Floats) -> Floats:
        begin, end = (self._readings(np.maximum(0.0, part) * HOURS_A_SECOND) for part in (begin_s, end_s))
        return np.maximum(0.0, end - begin)

    def _readings(self, age_h: Floats) -> Floats:
        place = _age_place(age_h)
        course = self._course[self._groups.place[self._aged], place]
        over = age_h - _EDGES[place]
        return np.asarray(course[:, 0] + over * (course[:, 1] + course[:, 2] * over / 2.0))

    def _by_day(self, moment: Floats) -> Floats:
        days = np.floor(moment / DAY_S)
        rest = moment - days * DAY_S
        hour = np.floor(rest / HOUR_S)
        place = hour.astype(np.int64) % DAY_H
        row = np.arange(len(moment))
        part = (rest - hour * HOUR_S) / HOUR_S
        return np.asarray(days * DAY_H + self._before[row, place] + self._weights[row, place] * part)


def _age_place(age_h: Floats) -> Ints:
    return np.asarray(np.searchsorted(_EDGES, age_h, "right") - 1)


def _day_readings(clock: clocks.SiteClock) -> Callable[[Floats], Floats]:
    """Give the reading of a site's clock at moments: its known days count by their weights, others as they are."""
    weights = (np.array(clock.found) + 1.0) / (np.array(clock.expected) + 1.0)
    begin = clock.first_day * DAY_S
    passed = np.concatenate([[0.0], np.cumsum(weights * DAY_H)])

    def reading(moment: Floats) -> Floats:
        days = (moment - begin) / DAY_S
        place = np.clip(np.floor(days), 0, len(weights) - 1).astype(np.int64)
        inside = passed[place] + (days - place) * DAY_H * weights[place]
        after = passed[-1] + (days - len(weights)) * DAY_H
        return np.asarray(np.where(days < 0, days * DAY_H, np.where(days < len(weights), inside, after)))

    return reading
