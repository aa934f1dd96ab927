"""Ages: what an hour counts at each age of a page that was seen to be new, learned from the visits to its siblings.

Owns: the age profile of a class of pages on a host, the clock by it, and which clock a page has. Must not know: policies,
stores. Start reading at `AgeProfile`; which clock is whose is `clock_by`.

Ages are taken by doublings: the first hour, the second, the next two, and so on. In each, the changes that were found
are compared with those that the rates of the pages make expected; the quotient is what an hour of that age counts. So
nobody needs to say that news calm down within hours and documentation within months, or not at all.
Between its edges the speed of the clock goes straight from one to the other, and at an edge it is the geometric mean of both
sides: with steps, all pages of one age would be worth the same, and chance would choose among them.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from honeyguide.core.recrawl.clocks import HOURS_A_SECOND, ArticleClock, WallClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.core.recrawl.clocks import ChangeClock
    from honeyguide.core.recrawl.priors import PageClass


EDGES_H = (0.0, *(2.0**power for power in range(15)))  # where an age begins; the last has no end
FIRMNESS = 4.0  # how many changes the parent weighs: as firm as the firmest prior
SLOWEST = 1e-6  # of an hour; no clock by age stands still


def weight_by(found: Any, expected: Any, parent: Any) -> Any:
    """Say what an hour counts, for numbers and arrays: found over expected, near the parent where little is known.

    The parent weighs as much as a few changes, whatever they count: one that counts little takes long to be sure of.
    """
    return (found + FIRMNESS) / (expected + FIRMNESS / parent)


def lasting_by(stretch: Any, interval_h: Any, ends: Any) -> Any:
    """Shorten what a visit buys where pages end: a copy lasts until the page changes or ends, whichever is first.

    It changes every `stretch * interval_h` wall hours. Without this a page is left until just before its end, when it is
    calm: a copy that would last for months, and is needed for hours.

    >>> lasting_by(10.0, 4.0, 0.0), lasting_by(10.0, 4.0, 0.1)
    (10.0, 2.0)
    """
    return stretch / (1.0 + ends * stretch * interval_h)


@cache
def first_weights(page_class: PageClass) -> tuple[float, ...]:
    """Give what the ages of a class count before anything was learned: of an article its clock's, else all the same.

    >>> [round(weight, 2) for weight in first_weights("article")[:4]]
    [0.8, 0.53, 0.33, 0.17]
    """
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


@dataclass(frozen=True)  # with no slots: these leave no room for what is computed once
class AgeProfile:
    """Changes found and expected at each age; `parent` is what is believed without them.

    The parent of a host's profile is the profile of the class on all hosts, and the parent of that is `first_weights`.
    `ends` says how many pages end in an hour of each age: they are deleted, or nobody asks for them any more.
    """

    parent: tuple[float, ...]
    found: tuple[float, ...] = _NOTHING
    expected: tuple[float, ...] = _NOTHING
    ends: tuple[float, ...] = _NOTHING

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """What an hour counts at each age."""
        return tuple(map(weight_by, self.found, self.expected, self.parent))

    def hours(self, begin_h: float, end_h: float) -> float:
        """Give the hours that count between two ages.

        >>> AgeProfile(first_weights("page")).hours(1.0, 30.0)
        29.0
        """
        return max(0.0, self._reading(end_h) - self._reading(begin_h))

    def _reading(self, age_h: float) -> float:
        """Read the clock at an age; between two edges its speed goes straight from one to the other."""
        place = _place(age_h)
        reading, speed, slope = self._course[place]
        over = age_h - EDGES_H[place]
        return reading + over * (speed + slope * over / 2.0)

    @cached_property
    def _course(self) -> tuple[tuple[float, float, float], ...]:
        """Give what the clock reads at each edge, its speed there, and how that grows from there on."""
        weights = self.weights
        speeds = (weights[0], *(math.sqrt(one * other) for one, other in pairwise(weights)))
        course, reading = [], 0.0
        for begin, end, speed, then in zip(EDGES_H, EDGES_H[1:], speeds, speeds[1:], strict=False):
            course.append((reading, speed, (then - speed) / (end - begin)))
            reading += (end - begin) * (speed + then) / 2.0
        return (*course, (reading, speeds[-1], 0.0))

    def noted(self, begin_h: float, end_h: float, *, found: float, rate: float) -> AgeProfile:
        """Remember a visit at the age `end_h` after one at `begin_h`.

        `found` is the number of changes between them by expectation, 0 if there was none (`core.rate.changes`). It is
        spread over the ages by the hours that count. `rate` is what is believed of the page after the visit, in changes
        per hour at weight 1, so what other clocks explain is to be in it: else two clocks learn the same changes.

        >>> profile = AgeProfile(first_weights("page")).noted(0.0, 2.0, found=4.0, rate=0.5)
        >>> [round(weight, 2) for weight in profile.weights[:3]]
        [1.33, 1.33, 1.0]
        """
        return self.with_counts(self.counts(begin_h, end_h, found=found, rate=rate))

    def counts(self, begin_h: float, end_h: float, *, found: float, rate: float) -> Counts:
        """Say what such a visit adds: which age, how much was found, how much expected."""
        weights, parts = self.weights, [*_cut(begin_h, end_h)]
        counted = sum(hours * weights[place] for place, hours in parts)
        return [(place, found * hours * weights[place] / counted, rate * hours) for place, hours in parts]

    def with_counts(self, counts: Counts) -> AgeProfile:
        """Add what a visit has shown."""
        found, expected = list(self.found), list(self.expected)
        for place, seen, due in counts:
            found[place] += seen
            expected[place] += due
        return replace(self, found=tuple(found), expected=tuple(expected))


@dataclass(frozen=True, slots=True)
class SiteAges:
    """The ages of one class of pages: on a site, and on all sites together, which is what `own` is believed to be like."""

    own: AgeProfile
    every: AgeProfile

    @classmethod
    def of(cls, page_class: PageClass, own: Numbers = NO_COUNTS, every: Numbers = NO_COUNTS) -> SiteAges:
        """Put together what was found and expected on the site, and on all.

        >>> SiteAges.of("page").own.weights == first_weights("page")
        True
        """
        common = AgeProfile(first_weights(page_class), *every)
        return cls(AgeProfile(common.weights, *own), common)

    def noted(self, begin_h: float, end_h: float, *, found: float, rate: float) -> SiteAges:
        """Remember a visit, as `AgeProfile.noted` does."""
        counts = self.own.counts(begin_h, end_h, found=found, rate=rate)
        every = self.every.with_counts(counts)
        return SiteAges(replace(self.own.with_counts(counts), parent=every.weights), every)


def _place(age_h: float) -> int:
    """Find which age that is."""
    return bisect_right(EDGES_H, age_h) - 1


def _cut(begin_h: float, end_h: float) -> Iterator[tuple[int, float]]:
    """Cut a time into ages: which, and how many hours of it."""
    for place in range(_place(begin_h), len(EDGES_H)):
        last = _ENDS_H[place]
        hours = min(end_h, last) - max(begin_h, EDGES_H[place])
        if hours > 0.0:
            yield place, hours
        if last >= end_h:
            return


@dataclass(frozen=True, slots=True)
class AgeClock:
    """The hours of a page count by its age, and besides by the days of its site."""

    born_at: float
    profile: AgeProfile
    site: ChangeClock = field(default_factory=WallClock)

    def exposure_h(self, start: float, end: float) -> float:
        """Give the hours that count between the moments.

        >>> clock = AgeClock(0.0, AgeProfile(first_weights("article")))
        >>> round(clock.exposure_h(0.0, 4 * 3600.0), 2), round(clock.exposure_h(96 * 3600.0, 100 * 3600.0), 2)
        (1.93, 0.01)
        """
        plain = (end - start) * HOURS_A_SECOND
        return self.aged_h(start, end) * self.site.exposure_h(start, end) / plain if plain > 0.0 else 0.0

    def aged_h(self, start: float, end: float) -> float:
        """Give the hours that count by age alone."""
        return self.profile.hours(self.age_h(start), self.age_h(end))

    def age_h(self, moment: float) -> float:
        """Give the age of the page at a moment."""
        return max(0.0, moment - self.born_at) * HOURS_A_SECOND

    def stretch(self, now: float, span_h: float, interval_h: float) -> float:
        """Say how many wall hours an hour of the clock takes over the coming span, for a page that may end.

        Coming days count as all days. `interval_h` is the mean interval of the page's changes, by its clock.
        """
        ahead = self.aged_h(now, now + span_h / HOURS_A_SECOND)
        age_h = self.age_h(now)
        ends = self.profile.ends[_place(age_h)]
        return float(lasting_by(span_h / max(ahead, span_h * SLOWEST), interval_h, ends))


def clock_by(
    page_class: PageClass,
    born_at: float | None,
    *,
    site: ChangeClock | None = None,
    day: ChangeClock | None = None,
    profile: AgeProfile | None = None,
) -> ChangeClock:
    """Give the clock by which a page is exposed to change, for learning and planning alike.

    A hub has its day. A page whose age is known goes by it, and by the days of its site unless it is an article: those are
    told by their age. Without an age profile, articles have a clock of their own.

    >>> clock_by("article", 0.0, site=WallClock())
    ArticleClock(published_at=0.0)
    """
    if page_class == "hub":
        return day or WallClock()
    if born_at is None:
        return site or WallClock()
    is_article = page_class == "article"
    days = WallClock() if is_article or site is None else site
    if profile is not None:
        return AgeClock(born_at, profile, days)
    return ArticleClock(born_at) if is_article else days
