"""The clocks of all pages of a simulation at once: the same as `core.recrawl.clocks`, as arrays.

Owns: site days, hub days and ages as arrays, and exposure by them. Must not know: rates, policies.
Start reading at `Clocks.exposure_h`. A group is a class of pages on a host: 3 x host + class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from honeyguide.core.recrawl import clocks
from honeyguide.core.recrawl.clocks import EDGES_H, SITE_DAYS, weight_by
from honeyguide.simulation.worlds import ARTICLE, CLASSES, HUB, PAGE

if TYPE_CHECKING:
    from honeyguide.core.recrawl.priors import PageClass
    from honeyguide.simulation.run import Flags, Sight
    from honeyguide.simulation.worlds import Floats, Ints

_DAY_H = 24.0
_LEAST_H = 1e-9  # between two visits
_SPAN_H = (1.0, 24.0)  # how far ahead the speed of a clock is measured
_EDGES = np.array(EDGES_H)
_ENDS = np.append(_EDGES[1:], np.inf)


class VisitLessons(NamedTuple):
    """What visits at `now`, after others at `since`, teach the clocks."""

    pages: Ints
    since: Floats
    now: float
    expected: Floats  # the chance of change, by age alone
    found: Floats  # the expected number of changes, 0 if there was none
    rate: Floats  # after the visit


class Clocks:
    """The clock of each page: its site's and its age, of a hub its day, of an article its age alone."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._sites = SiteClocks(sight.hosts)
        self._hubs = np.flatnonzero(sight.kind == HUB)
        self._group = len(CLASSES) * sight.host + sight.kind
        # The age of a page is known if it was not there at the start: then it was seen to be new.
        self._is_aged = (sight.kind == ARTICLE) | ((sight.kind == PAGE) & (sight.published > 0.0))
        self._aged = np.flatnonzero(self._is_aged)
        self._ages = Ages(CLASSES, sight.hosts)
        self._was_known, self._watched_at = sight.is_known[self._aged], 0.0
        self._days = HubDays(len(self._hubs))
        self._place = np.full(len(sight.kind), -1)
        self._place[self._hubs] = np.arange(len(self._hubs))

    def exposure_h(self, since: Floats, now: float, pages: Ints) -> Floats:
        """Return the hours that count from moments until now, for some pages."""
        self._sites.move_on(now)
        hours = self._sites.exposure_h(self._sight.host[pages], since, now)
        hubs = np.flatnonzero(self._sight.kind[pages] == HUB)
        if len(hubs):
            hours[hubs] = self._days.exposure_h(self._place[pages[hubs]], since[hubs], now)
        aged = np.flatnonzero(self._is_aged[pages])
        if len(aged):
            whose, plain = pages[aged], np.maximum(now - since[aged], _LEAST_H)
            hours[aged] = self._by_age(whose, since[aged], now) * self._by_site(whose, hours[aged] / plain)
        return np.maximum(hours, 0.0)

    def aged_h(self, pages: Ints, since: Floats, now: float) -> Floats:
        """Return the hours that count by age alone; all of them for pages whose age is not known."""
        return np.where(self._is_aged[pages], self._by_age(pages, since, now), now - since)

    def stretch(self, now: float, interval_h: Floats, pages: Ints) -> Floats:
        """Return how many wall hours an hour of the clock takes, for some pages."""
        stretch = np.ones(len(pages))
        span = np.clip(interval_h, *_SPAN_H)
        hubs = np.flatnonzero(self._sight.kind[pages] == HUB)
        if len(hubs):
            place = self._place[pages[hubs]]
            ahead = self._days.exposure_h(place, np.full(len(hubs), now), now + span[hubs])
            stretch[hubs] = span[hubs] / np.maximum(ahead, span[hubs] * clocks.OLD_SPEED)
        aged = np.flatnonzero(self._is_aged[pages])
        if len(aged):
            group, age = self._group[pages[aged]], now - self._sight.published[pages[aged]]
            stretch[aged] = self._ages.stretch(group, age, span[aged], interval_h[aged])
        return stretch

    def watch_ends(self, now: float) -> None:
        """Count the pages that have ended, and the hours that the others live."""
        if not len(self._aged) or now <= self._watched_at:
            return
        is_known = self._sight.is_known[self._aged]
        ended, alive = self._aged[self._was_known & ~is_known], self._aged[is_known]
        born = self._sight.published
        self._ages.count_ends(self._group[ended], now - born[ended])
        self._ages.count_lives(self._group[alive], now - born[alive], now - self._watched_at)
        self._was_known, self._watched_at = is_known, now

    def learn(self, lessons: VisitLessons) -> None:
        """Learn from visits which days of sites, which hours of hubs and which ages count more."""
        pages, since, now = lessons.pages, lessons.since, lessons.now
        kind, host = self._sight.kind[pages], self._sight.host[pages]
        aged = np.flatnonzero(self._is_aged[pages])
        if len(aged):  # before the sites learn, because each explains what the other did not
            of_site = self._sites.exposure_h(host[aged], since[aged], now) / (now - since[aged])
            rate = lessons.rate[aged] * self._by_site(pages[aged], of_site)
            born = self._sight.published[pages[aged]]
            ages = since[aged] - born, now - born
            self._ages.learn(self._group[pages[aged]], ages, lessons.found[aged], rate)
        plain = np.flatnonzero(kind == PAGE)
        if len(plain):
            is_changed = lessons.found[plain] > 0.0
            self._sites.learn(host[plain], since[plain], now, lessons.expected[plain], is_changed)
        of_hub = (kind == HUB) & (lessons.found > 0.0)
        if np.any(of_hub):
            self._days.learn(self._place[pages[of_hub]], since[of_hub], now)

    def _by_age(self, pages: Ints, since: Floats, now: float) -> Floats:
        born = self._sight.published[pages]
        return self._ages.exposure_h(self._group[pages], since - born, now - born)

    def _by_site(self, pages: Ints, weight: Floats) -> Floats:
        """Weigh by the days of the site only pages, because articles change by their age."""
        return np.where(self._sight.kind[pages] == PAGE, weight, 1.0)


class Ages:
    """What an hour counts at each age, for each class of pages on each host."""

    def __init__(self, class_names: tuple[PageClass, ...], hosts: int) -> None:
        groups = len(class_names) * hosts
        self._class = np.arange(groups) % len(class_names)
        self._first = np.array([clocks.first_weights(name) for name in class_names])
        self._found = np.zeros((groups, len(EDGES_H)))
        self._expected = np.zeros((groups, len(EDGES_H)))
        self._lived, self._ended = np.zeros_like(self._first), np.zeros_like(self._first)
        self._update()

    def exposure_h(self, group: Ints, since_age: Floats, age: Floats) -> Floats:
        """Return the hours that count between two ages of pages."""
        return self._reading(group, age) - self._reading(group, since_age)

    def stretch(self, group: Ints, age: Floats, span_h: Floats, interval_h: Floats) -> Floats:
        """Return how many wall hours an hour of the clock takes over the coming span, for pages that may end."""
        stretch = span_h / np.maximum(self.exposure_h(group, age, age + span_h), span_h * clocks.SLOWEST)
        ends = self._ended / np.maximum(self._lived, 1.0)
        return np.asarray(clocks.lasting_by(stretch, interval_h, ends[self._class[group], _place(age)]))

    def count_lives(self, group: Ints, age: Floats, hours: float) -> None:
        """Count the hours that pages live at their ages."""
        np.add.at(self._lived, (self._class[group], _place(age)), hours)

    def count_ends(self, group: Ints, age: Floats) -> None:
        """Count pages that end."""
        np.add.at(self._ended, (self._class[group], _place(age)), 1.0)

    def learn(self, group: Ints, ages: tuple[Floats, Floats], found: Floats, rate: Floats) -> None:
        """Learn from visits: both ages, the expected changes between them, and the rate after them."""
        begin, end = (np.maximum(age, 0.0)[:, None] for age in ages)
        hours = np.maximum(np.minimum(end, _ENDS) - np.maximum(begin, _EDGES), 0.0)
        counted = hours * self._weight[group]
        share = found / np.maximum(counted.sum(axis=1), 1e-300)
        np.add.at(self._found, group, counted * share[:, None])
        np.add.at(self._expected, group, hours * rate[:, None])
        self._update()

    def _update(self) -> None:
        """Weigh the ages: of hosts near to their class, of classes near to where they started."""
        found, expected = (
            counts.reshape(-1, *self._first.shape).sum(axis=0) for counts in (self._found, self._expected)
        )
        parent = weight_by(found, expected, self._first)
        self._weight = weight_by(self._found, self._expected, parent[self._class])
        inner = np.sqrt(self._weight[:, :-1] * self._weight[:, 1:])
        self._speed = np.concatenate([self._weight[:, :1], inner], axis=1)
        self._slope = np.zeros_like(self._weight)
        self._slope[:, :-1] = np.diff(self._speed, axis=1) / np.diff(_EDGES)
        self._readings = np.zeros_like(self._weight)
        middle = (self._speed[:, :-1] + self._speed[:, 1:]) / 2.0
        np.cumsum(np.diff(_EDGES) * middle, axis=1, out=self._readings[:, 1:])

    def _reading(self, group: Ints, age: Floats) -> Floats:
        """Read the clocks; between two edges their speed is linear."""
        age, place = np.maximum(age, 0.0), _place(age)
        over = age - _EDGES[place]
        speed = self._speed[group, place] + self._slope[group, place] * over / 2.0
        return np.asarray(self._readings[group, place] + over * speed)


def _place(age: Floats) -> Ints:
    return np.asarray(np.searchsorted(_EDGES, np.maximum(age, 0.0), "right") - 1)


class HubDays:
    """The hours of the day of each hub: how much usually happens in them."""

    def __init__(self, hubs: int) -> None:
        self._counts = np.zeros((hubs, 24))
        self._update()

    def exposure_h(self, hub: Ints, since: Floats, until: Floats | float) -> Floats:
        """Return the hours that count between two moments."""
        return self._reading(hub, np.broadcast_to(until, since.shape)) - self._reading(hub, since)

    def learn(self, hub: Ints, since: Floats, now: float) -> None:
        """Count changes in the hours in which they may have been; a span of a whole day tells nothing."""
        hours = np.arange(24)
        for number, start in zip(hub[now - since < _DAY_H], since[now - since < _DAY_H], strict=True):
            from_h, to_h = start % _DAY_H, start % _DAY_H + (now - start)
            today = np.clip(np.minimum(to_h, hours + 1) - np.maximum(from_h, hours), 0.0, 1.0)
            later = np.clip(np.minimum(to_h - _DAY_H, hours + 1) - hours, 0.0, 1.0)
            self._counts[number] += (today + later) / (now - start)
        self._update()

    def _update(self) -> None:
        self._weight = clocks.day_weight_by(self._counts, self._counts.sum(axis=1, keepdims=True))
        self._readings = np.cumsum(self._weight, axis=1) - self._weight

    def _reading(self, hub: Ints, moment: Floats) -> Floats:
        days = np.floor(moment / _DAY_H)
        rest = moment - _DAY_H * days
        hour = np.minimum(rest.astype(np.int64), 23)
        return np.asarray(days * _DAY_H + self._readings[hub, hour] + (rest - hour) * self._weight[hub, hour])


class SiteClocks:
    """What the last 120 days of each host count; a row for each host, a column for each day."""

    def __init__(self, hosts: int) -> None:
        self._found = np.zeros((hosts, SITE_DAYS))
        self._expected = np.zeros((hosts, SITE_DAYS))
        self._first_day = 1 - SITE_DAYS
        self._update()

    def move_on(self, now: float) -> None:
        """Move the window on to the day of a moment; days before it are forgotten."""
        by = int(now // _DAY_H) - (self._first_day + SITE_DAYS - 1)
        if by > 0:
            by = min(by, SITE_DAYS)
            for days in (self._found, self._expected):
                days[:, : SITE_DAYS - by] = days[:, by:].copy()
                days[:, SITE_DAYS - by :] = 0.0
            self._first_day = int(now // _DAY_H) - SITE_DAYS + 1
            self._update()

    def exposure_h(self, host: Ints, since: Floats, now: float) -> Floats:
        """Return the hours that count between two moments, for pages of hosts."""
        every = np.arange(len(self._found))
        until = self._reading(every, np.full(len(every), now))
        return np.asarray(until[host] - self._reading(host, since))

    def learn(self, host: Ints, since: Floats, now: float, expected: Floats, is_changed: Flags) -> None:
        """Learn from visits at `now`, after others at `since`; `expected` is the chance of change of each."""
        days = _DAY_H * (self._first_day + np.arange(SITE_DAYS + 1))
        hours = np.minimum(now, days[1:]) - np.maximum(since[:, None], days[:-1])
        hours = np.maximum(hours, 0.0)
        counted = hours * self._weight[host]
        plain = np.maximum(hours.sum(axis=1), 1e-300)
        np.add.at(self._expected, host, hours * (expected / plain)[:, None])
        share = is_changed / np.maximum(counted.sum(axis=1), 1e-300)
        np.add.at(self._found, host, counted * share[:, None])
        self._update()

    def _update(self) -> None:
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
