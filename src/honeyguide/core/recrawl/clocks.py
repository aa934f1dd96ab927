"""Clocks: how much a page was exposed to change between two moments.

Owns: the clocks, each from two moments (seconds since 1970) to hours that count, and which clock a page has. Must not
know: rates, policies, stores. Start reading at `ChangeClock`, then `choose_clock`. An hour counts more when more happens: on
the day of a site-wide edit, in the first hours of an article, in the busy hours of a hub. Ages are divided by doublings; in
each, the changes found over those that the rates predict say what an hour counts, so nobody needs to configure it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.core.recrawl.priors import PageClass

HOUR_S, DAY_S = 3600.0, 86_400.0
HOURS_A_SECOND = 1 / 3600
ARTICLE_H = 4.0  # an article has seen half of its changes at this age
SITE_DAYS = 120  # how long the days of a site are remembered
DAY_FIRMNESS = 24.0  # how many changes of a hub a flat day outweighs
# The speed of an article's clock never falls below this: old articles are corrected now and then. At a hundredth, an
# article that changes every two hours at first would change every week for ever.
OLD_SPEED = 0.001
EDGES_H = (0.0, *(2.0**power for power in range(15)))  # where an age begins; the last has no end
FIRMNESS = 4.0  # how many changes the parent of an age profile weighs: as firm as the firmest prior
SLOWEST = 1e-6  # of an hour; no clock by age stands still
_DAY_H = 24


class ChangeClock(Protocol):
    """From two moments to the hours between them that count."""

    def exposure_h(self, start: float, end: float) -> float:
        """Return the hours that count; none if the end is not after the start."""


@dataclass(frozen=True, slots=True)
class WallClock:
    """Every hour counts as one."""

    def exposure_h(self, start: float, end: float) -> float:
        """Return the hours between the moments."""
        # Seconds since 1970 hold microseconds only just: rounded to them, the difference is exact, as that of columns is.
        return max(0, round((end - start) * 1e6)) / 1e6 * HOURS_A_SECOND


@dataclass(frozen=True, slots=True)
class ArticleClock:
    """The first hours after publication count fully, later ones hardly: the clock reads 4 h times age / (age + 4 h)."""

    published_at: float

    def exposure_h(self, start: float, end: float) -> float:
        """Return the hours that count between the moments."""
        return self._reading(max(start, end)) - self._reading(start)

    def _reading(self, moment: float) -> float:
        age = max(0.0, moment - self.published_at) * HOURS_A_SECOND
        return ARTICLE_H * age / (age + ARTICLE_H) + OLD_SPEED * age


@dataclass(frozen=True, slots=True)
class DayProfile:
    """The hours of the day (UTC) count by how much usually happens in them; a whole day counts 24 hours."""

    weights: tuple[float, ...]

    @classmethod
    def of_counts(cls, counts: Sequence[float]) -> DayProfile:
        """Make a profile of 24 counts of changes, which a flat day of `DAY_FIRMNESS` changes smooths."""
        total = sum(counts)
        return cls(tuple(day_weight_by(count, total) for count in counts))

    def exposure_h(self, start: float, end: float) -> float:
        """Return the hours that count between the moments."""
        return max(0.0, self._reading(end) - self._reading(start))

    def _reading(self, moment: float) -> float:
        days, rest = divmod(moment, DAY_S)
        hour, part = divmod(rest, HOUR_S)
        return (
            days * _DAY_H + sum(self.weights[: int(hour)]) + self.weights[int(hour) % _DAY_H] * part / HOUR_S
        )


def day_weight_by(count: Any, total: Any) -> Any:
    """Weigh an hour of the day by its changes and those of the whole day, for numbers and arrays."""
    return (count + DAY_FIRMNESS / _DAY_H) * _DAY_H / (total + DAY_FIRMNESS)


@dataclass(frozen=True, slots=True)
class SiteClock:
    """The days of a site count by its changes found over those expected: a change makes others of the day likelier."""

    first_day: int = 0
    found: tuple[float, ...] = ()
    expected: tuple[float, ...] = ()

    def weight(self, day: int) -> float:
        """Weigh an hour of that day; 1 for days without visits."""
        place = day - self.first_day
        if not 0 <= place < len(self.found):
            return 1.0
        return (self.found[place] + 1.0) / (self.expected[place] + 1.0)

    def exposure_h(self, start: float, end: float) -> float:
        """Return the hours that count between the moments."""
        known_end = (self.first_day + len(self.found)) * DAY_S
        inside = [*self._days(max(start, self.first_day * DAY_S), min(end, known_end))]
        plain = max(0.0, end - start) * HOURS_A_SECOND - sum(hours for _, hours in inside)
        return plain + sum(hours * self.weight(day) for day, hours in inside)

    def with_visit(self, start: float, end: float, *, expected: float, is_changed: bool) -> SiteClock:
        """Learn from a visit at `end` after one at `start`; `expected` is the chance of change that it had."""
        # The expected change is spread over the days by their hours, a found change by the hours that count.
        shifted = self._reaching(int(end // DAY_S))
        days = [*self._days(max(start, shifted.first_day * DAY_S), end)]
        plain, counted = sum(hours for _, hours in days), sum(h * self.weight(day) for day, h in days)
        if plain <= 0.0:
            return shifted
        found, due = list(shifted.found), list(shifted.expected)
        for day, hours in days:
            place = day - shifted.first_day
            due[place] += expected * hours / plain
            found[place] += is_changed * hours * self.weight(day) / counted
        return replace(shifted, found=tuple(found), expected=tuple(due))

    def _reaching(self, day: int) -> SiteClock:
        """Move the window on to that day; days before it are forgotten."""
        last = max(day, self.first_day + len(self.found) - 1)
        oldest = last - SITE_DAYS + 1
        first = max(self.first_day, oldest) if self.found else oldest
        kept = slice(first - self.first_day if self.found else 0, None)
        found, expected = self.found[kept], self.expected[kept]
        fresh = (0.0,) * (last - first + 1 - len(found))
        return SiteClock(first, found + fresh, expected + fresh)

    @staticmethod
    def _days(start: float, end: float) -> Iterator[tuple[int, float]]:
        while start < end:
            day = int(start // DAY_S)
            until = min(end, (day + 1) * DAY_S)
            yield day, (until - start) * HOURS_A_SECOND
            start = until


# --- ages ---


def weight_by(found: Any, expected: Any, parent: Any) -> Any:
    """Weigh an hour of an age, for numbers and arrays: found over expected, near the parent where little is known."""
    # The parent weighs as much as a few changes, whatever they count, because a low weight takes long to be sure of.
    return (found + FIRMNESS) / (expected + FIRMNESS / parent)


def lasting_by(stretch: Any, interval_h: Any, ends: Any) -> Any:
    """Shorten what a visit buys where pages end: a copy lasts until the page changes or ends, whichever is first.

    It changes every `stretch * interval_h` wall hours. Without this, a page would be left until just before its end,
    when it is calm, for a copy that would last for months and is needed for hours.

    >>> lasting_by(10.0, 4.0, 0.0), lasting_by(10.0, 4.0, 0.1)
    (10.0, 2.0)
    """
    return stretch / (1.0 + ends * stretch * interval_h)


@cache
def first_weights(page_class: PageClass) -> tuple[float, ...]:
    """Return the weights of ages before anything was learned: of an article its clock's, else all the same."""
    if page_class != "article":
        return (1.0,) * len(EDGES_H)
    clock, ends = ArticleClock(0.0), (*EDGES_H[1:], 2.0 * EDGES_H[-1])
    return tuple(
        clock.exposure_h(begin / HOURS_A_SECOND, end / HOURS_A_SECOND) / (end - begin)
        for begin, end in zip(EDGES_H, ends, strict=True)
    )


_NOTHING = (0.0,) * len(EDGES_H)
NO_COUNTS = (_NOTHING, _NOTHING)
_ENDS_H = (*EDGES_H[1:], math.inf)
Numbers = tuple[tuple[float, ...], tuple[float, ...]]
Counts = Sequence[tuple[int, float, float]]


@dataclass(frozen=True)  # without slots: these leave no place for cached properties
class AgeProfile:
    """Changes found and expected at each age, and the weights of the `parent`, which are believed without them."""

    parent: tuple[float, ...]  # of the class on all hosts; the parent of that is `first_weights`
    found: tuple[float, ...] = _NOTHING
    expected: tuple[float, ...] = _NOTHING
    # The share of pages that are deleted, or not needed any more, in an hour.
    ends: tuple[float, ...] = _NOTHING

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """What an hour counts at each age."""
        return tuple(map(weight_by, self.found, self.expected, self.parent))

    def hours(self, begin_h: float, end_h: float) -> float:
        """Return the hours that count between two ages."""
        return max(0.0, self._reading(end_h) - self._reading(begin_h))

    def _reading(self, age_h: float) -> float:
        place = _place(age_h)
        reading, speed, slope = self.course[place]
        over = age_h - EDGES_H[place]
        return reading + over * (speed + slope * over / 2.0)

    @cached_property
    def course(self) -> tuple[tuple[float, float, float], ...]:
        """The clock's reading at each edge, its speed there, and how that grows until the next edge."""
        # The speed is linear between edges, and at an edge the geometric mean of both sides: with steps, all pages of one
        # age would have the same value, and chance would choose among them.
        weights = self.weights
        speeds = (weights[0], *(math.sqrt(one * other) for one, other in pairwise(weights)))
        course, reading = [], 0.0
        for begin, end, speed, then in zip(EDGES_H, EDGES_H[1:], speeds, speeds[1:], strict=False):
            course.append((reading, speed, (then - speed) / (end - begin)))
            reading += (end - begin) * (speed + then) / 2.0
        return (*course, (reading, speeds[-1], 0.0))

    def counts(self, begin_h: float, end_h: float, *, found: float, rate: float) -> Counts:
        """List what such a visit adds: the age, the changes found, the changes expected.

        `found` is the expected number of changes between the visits, 0 if there was none; the hours that count spread it
        over the ages. `rate` is per hour at weight 1, after the visit; what other clocks explain must be part of it, or two
        clocks would learn the same changes.
        """
        weights, parts = self.weights, [*_cut(begin_h, end_h)]
        counted = sum(hours * weights[place] for place, hours in parts)
        return [(place, found * hours * weights[place] / counted, rate * hours) for place, hours in parts]

    def with_counts(self, counts: Counts) -> AgeProfile:
        """Add the counts of a visit."""
        found, expected = list(self.found), list(self.expected)
        for place, seen, due in counts:
            found[place] += seen
            expected[place] += due
        return replace(self, found=tuple(found), expected=tuple(expected))


@dataclass(frozen=True, slots=True)
class SiteAges:
    """The ages of one class of pages: on a site, and on all sites together, which is the parent of `own`."""

    own: AgeProfile
    every: AgeProfile

    @classmethod
    def of(cls, page_class: PageClass, own: Numbers = NO_COUNTS, every: Numbers = NO_COUNTS) -> SiteAges:
        """Make profiles of the changes found and expected on the site, and on all sites."""
        common = AgeProfile(first_weights(page_class), *every)
        return cls(AgeProfile(common.weights, *own), common)

    def with_visit(self, begin_h: float, end_h: float, *, found: float, rate: float) -> SiteAges:
        """Learn from a visit at the age `end_h` after one at `begin_h`."""
        counts = self.own.counts(begin_h, end_h, found=found, rate=rate)
        every = self.every.with_counts(counts)
        return SiteAges(replace(self.own.with_counts(counts), parent=every.weights), every)


def _place(age_h: float) -> int:
    return bisect_right(EDGES_H, age_h) - 1


def _cut(begin_h: float, end_h: float) -> Iterator[tuple[int, float]]:
    for place in range(_place(begin_h), len(EDGES_H)):
        last = _ENDS_H[place]
        hours = min(end_h, last) - max(begin_h, EDGES_H[place])
        if hours > 0.0:
            yield place, hours
        if last >= end_h:
            return


@dataclass(frozen=True, slots=True)
class AgeClock:
    """The hours of a page count by its age, multiplied by what the days of its site count."""

    born_at: float
    profile: AgeProfile
    site: ChangeClock = field(default_factory=WallClock)

    def exposure_h(self, start: float, end: float) -> float:
        """Return the hours that count between the moments."""
        plain = (end - start) * HOURS_A_SECOND
        return self.aged_h(start, end) * self.site.exposure_h(start, end) / plain if plain > 0.0 else 0.0

    def aged_h(self, start: float, end: float) -> float:
        """Return the hours that count by age alone."""
        return self.profile.hours(self.age_h(start), self.age_h(end))

    def age_h(self, moment: float) -> float:
        """Return the age of the page at a moment."""
        return max(0.0, moment - self.born_at) * HOURS_A_SECOND

    def stretch(self, now: float, span_h: float, interval_h: float) -> float:
        """Return how many wall hours an hour of the clock takes over the coming span, for a page that may end."""
        ahead = self.aged_h(now, now + span_h / HOURS_A_SECOND)
        ends = self.profile.ends[_place(self.age_h(now))]
        return float(lasting_by(span_h / max(ahead, span_h * SLOWEST), interval_h, ends))


def choose_clock(
    page_class: PageClass,
    born_at: float | None,
    *,
    site: ChangeClock | None = None,
    day: ChangeClock | None = None,
    profile: AgeProfile | None = None,
) -> ChangeClock:
    """Choose the clock that measures the exposure of a page, for learning and planning alike."""
    if page_class == "hub":
        return day or WallClock()
    if born_at is None:
        return site or WallClock()
    is_article = page_class == "article"  # its changes follow its age, not the days of its site
    days = WallClock() if is_article or site is None else site
    if profile is not None:
        return AgeClock(born_at, profile, days)
    return ArticleClock(born_at) if is_article else days
