"""Clocks: how much a page was exposed to change between two moments.

Owns: the four clocks, each from two moments (seconds since 1970) to hours that count. Must not know: rates, policies.
Start reading at `ChangeClock`. An hour counts more when more happens: on the day of a site-wide edit, in the first hours of an
article, in the busy hours of a hub. A rate is learned in hours of its page's clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


HOUR_S, DAY_S = 3600.0, 86_400.0
HOURS_A_SECOND = 1 / 3600
ARTICLE_H = 4.0  # an article has seen half of its changes at this age
SITE_DAYS = 120  # how long the days of a site are remembered
_DAY_H = 24
# The speed of an article's clock never falls below this: old articles are corrected now and then. At a hundredth, an
# article that changes every two hours at first would change every week for ever.
OLD_SPEED = 0.001


class ChangeClock(Protocol):
    """From two moments to the hours between them that count."""

    def exposure_h(self, start: float, end: float) -> float:
        """Give the hours that count; none if the end is not after the start."""


@dataclass(frozen=True, slots=True)
class WallClock:
    """Every hour counts as one."""

    def exposure_h(self, start: float, end: float) -> float:
        """Give the hours between the moments.

        Seconds since 1970 hold microseconds only just: rounded to them, the difference is exact again, and the same as
        that of columns of times.
        """
        return max(0, round((end - start) * 1e6)) / 1e6 * HOURS_A_SECOND


@dataclass(frozen=True, slots=True)
class ArticleClock:
    """The first hours after publication count fully, later ones hardly: the clock reads 4 h times age / (age + 4 h).

    >>> clock = ArticleClock(published_at=0.0)
    >>> round(clock.exposure_h(0.0, 4 * 3600), 2), round(clock.exposure_h(96 * 3600, 100 * 3600), 2)
    (2.0, 0.01)
    """

    published_at: float

    def exposure_h(self, start: float, end: float) -> float:
        """Give the hours that count between the moments."""
        return self._reading(max(start, end)) - self._reading(start)

    def _reading(self, moment: float) -> float:
        age = max(0.0, moment - self.published_at) * HOURS_A_SECOND
        return ARTICLE_H * age / (age + ARTICLE_H) + OLD_SPEED * age


@dataclass(frozen=True, slots=True)
class DayProfile:
    """The hours of the day (UTC) count by how much usually happens in them; a whole day counts 24 hours."""

    weights: tuple[float, ...]

    @classmethod
    def of_counts(cls, counts: Sequence[float], firmness: float = 24.0) -> DayProfile:
        """Make a profile of 24 counts of changes; `firmness` is how many changes a flat day outweighs.

        >>> [round(weight, 1) for weight in DayProfile.of_counts([0.0] * 8 + [6.0] * 16).weights[6:10]]
        [0.2, 0.2, 1.4, 1.4]
        """
        each = firmness / _DAY_H
        total = sum(counts) + firmness
        return cls(tuple((count + each) * _DAY_H / total for count in counts))

    def exposure_h(self, start: float, end: float) -> float:
        """Give the hours that count between the moments."""
        return max(0.0, self._reading(end) - self._reading(start))

    def _reading(self, moment: float) -> float:
        days, rest = divmod(moment, DAY_S)
        hour, part = divmod(rest, HOUR_S)
        return (
            days * _DAY_H + sum(self.weights[: int(hour)]) + self.weights[int(hour) % _DAY_H] * part / HOUR_S
        )


@dataclass(frozen=True, slots=True)
class SiteClock:
    """The days of a site count by its changes found over those expected, (E + 1) / (X + 1), for the last 120 days.

    So one page found changed makes it likelier that its siblings changed on the same days.
    """

    first_day: int = 0
    found: tuple[float, ...] = ()
    expected: tuple[float, ...] = ()

    def weight(self, day: int) -> float:
        """Say what an hour of that day counts; 1 for days that nothing is known of."""
        place = day - self.first_day
        if not 0 <= place < len(self.found):
            return 1.0
        return (self.found[place] + 1.0) / (self.expected[place] + 1.0)

    def exposure_h(self, start: float, end: float) -> float:
        """Give the hours that count between the moments.

        >>> clock = SiteClock(0, (9.0, 0.0), (1.0, 1.0))
        >>> clock.exposure_h(0.0, 2 * 86400.0)
        132.0
        """
        known_end = (self.first_day + len(self.found)) * DAY_S
        inside = [*self._days(max(start, self.first_day * DAY_S), min(end, known_end))]
        plain = max(0.0, end - start) * HOURS_A_SECOND - sum(hours for _, hours in inside)
        return plain + sum(hours * self.weight(day) for day, hours in inside)

    def noted(self, start: float, end: float, *, expected: float, is_changed: bool) -> SiteClock:
        """Remember a visit at `end` after one at `start`; `expected` is the chance of change that was expected of it.

        What was expected is spread over the days by their hours, what was found by the hours that count.
        """
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
        """Move on to that day; days from before the window are forgotten."""
        last = max(day, self.first_day + len(self.found) - 1)
        oldest = last - SITE_DAYS + 1
        first = max(self.first_day, oldest) if self.found else oldest
        kept = slice(first - self.first_day if self.found else 0, None)
        found, expected = self.found[kept], self.expected[kept]
        fresh = (0.0,) * (last - first + 1 - len(found))
        return SiteClock(first, found + fresh, expected + fresh)

    @staticmethod
    def _days(start: float, end: float) -> Iterator[tuple[int, float]]:
        """Cut a time into days, with the hours in each."""
        while start < end:
            day = int(start // DAY_S)
            until = min(end, (day + 1) * DAY_S)
            yield day, (until - start) * HOURS_A_SECOND
            start = until


def stretch(clock: ChangeClock, now: float, span_h: float) -> float:
    """Say how many wall hours an hour of the clock takes, over the coming span; what is bought is wall time.

    >>> round(stretch(ArticleClock(0.0), 100 * 3600, 1.0))
    406
    """
    return span_h / max(clock.exposure_h(now, now + span_h * HOUR_S), span_h * OLD_SPEED)
