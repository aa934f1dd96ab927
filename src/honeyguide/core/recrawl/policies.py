"""Recrawl: which known page to visit next, by a policy; the port, and the policy that learns.

Owns: `RecrawlPolicy` and `Learned`. Must not know: stores, files, the clock: moments are seconds since 1970.
Start reading at `RecrawlPolicy`, then `Learned`.

A policy says what a visit is worth now; the highest is visited first, within the limits of hosts (`core.ranking.Best`).
Worth is in hours of freshness, weighted by importance. Policies that do not learn are in `core.schedules`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

from honeyguide.core.recrawl.ages import SLOWEST, AgeClock, clock_by
from honeyguide.core.recrawl.clocks import HOUR_S, HOURS_A_SECOND, SiteClock, WallClock, stretch
from honeyguide.core.recrawl.plan import UrlSignals, score_url
from honeyguide.core.recrawl.priors import Priors
from honeyguide.core.recrawl.rate import (
    SCALARS,
    SURE,
    Rate,
    chance,
    first_visit_by,
    index,
    prior,
    reached,
    score_of,
    single,
)
from honeyguide.core.recrawl.signals import HUB_IMPORTANCE, SITEMAP, amount, duration, every, percent, times
from honeyguide.core.rules.language import Reason, Score, half_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from honeyguide.core.recrawl.clocks import ChangeClock
    from honeyguide.core.recrawl.history import Site, Trust
    from honeyguide.core.recrawl.signals import PageState
    from honeyguide.core.rules.profile import Profile

HEURISTIC, LEARNED = "heuristic", "learned"
RETURN_H = 720.0  # when dead pages come back
_SPAN_H = (1.0, 24.0)  # how far ahead a clock is asked for its speed


class VisitValue(NamedTuple):
    """What a policy says of a page: the number it ranks by, 0 to 100 with reasons, and when the next visit is due."""

    value: float
    score: Score
    next_due: float | None


class RecrawlPolicy(Protocol):
    """What to visit next. `price` is the value at the cut of the budget: what is worth as much scores 60."""

    @property
    def name(self) -> str:
        """What the policy is called."""

    def value(self, page: PageState, now: float) -> float:
        """Give the number to rank by, the highest first."""

    def judge(self, page: PageState, now: float, price: float) -> VisitValue:
        """Explain it."""


class Worth(NamedTuple):
    """A part of a value, and the sentence that people read."""

    rule: str
    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Learned:
    """Visit where the most freshness is won, by change rates learned from the visits (Gamma posterior, Lomax index).

    >>> from honeyguide.core.recrawl.signals import PageState
    >>> page = PageState("https://a.example/", visits=3, visited_at=0.0, rate=Rate(2.5, 102.0), importance=1.0)
    >>> Learned().judge(page, 3 * 86400.0, price=9.0).score.words[0]
    'changed with 74 % probability since the last visit 3 days ago; changes about every 1.7 days'
    """

    priors: Priors = field(default_factory=Priors)
    site: Callable[[str], Site | None] = lambda _: None  # what was learned of a host, if anything

    @property
    def name(self) -> str:
        """What the policy is called."""
        return "learned"

    def value(self, page: PageState, now: float) -> float:
        """Add up what a visit wins, to 7 digits."""
        return single(sum(self._values(page, now)))

    def judge(self, page: PageState, now: float, price: float) -> VisitValue:
        """Explain it."""
        return judged(self, page, now, price, self._parts(page, now))

    def rate_of(self, page: PageState) -> Rate:
        """Give what is believed of the page: its own rate or its siblings', less what an honest host would announce.

        Dead pages come back, if at all, after a month or so.
        """
        if page.failures:
            return prior(RETURN_H)
        rate = page.rate or self.priors.of(page.host, page.page_class)
        trust = self._trust_in(page)
        return rate if trust is None or _is_announced(page) else _silent(rate, trust)

    def clock_of(self, page: PageState) -> ChangeClock:
        """Give the clock that the page's exposure is measured by."""
        site = self.site(page.host)
        return clock_by(
            page.page_class,
            page.published_at,
            site=None if site is None else site.clock,
            day=page.day,
            profile=None if site is None else site.aged(page.page_class).own,
        )

    def _values(self, page: PageState, now: float) -> tuple[float, ...]:
        """Give the parts of the value, in the order of their texts."""
        if page.visited_at is None:
            rate, clock = self.rate_of(page), self.clock_of(page)
            return (page.weight * _stretched(clock, rate, now) * first_visit_by(SCALARS, rate.a, rate.b),)
        change = self._change(page, page.visited_at, now)
        if page.found is None or page.failures:
            return (change,)
        return change, _discovery(page, page.found, (now - page.visited_at) * HOURS_A_SECOND)

    def _change(self, page: PageState, visited_at: float, now: float) -> float:
        """Say what is won by seeing a change, in wall hours: an hour of the page's clock may take many."""
        rate, clock = self.rate_of(page), self.clock_of(page)
        weight = page.weight * _stretched(clock, rate, now)
        exposure_h = clock.exposure_h(visited_at, now)
        trust = self._trust_in(page)
        if trust is not None and _is_announced(page):
            return weight * _announced(rate, exposure_h, trust)
        return index(rate, exposure_h, weight)

    def _trust_in(self, page: PageState) -> Trust | None:
        """Give the host's record, if it has proved honest and speaks of this page."""
        site = self.site(page.host) if page.announced_at is not None and not page.failures else None
        trust = None if site is None else site.trust.get(SITEMAP)
        return trust if trust is not None and trust.is_proved else None

    def _parts(self, page: PageState, now: float) -> Iterator[Worth]:
        """Put the parts of the value into words."""
        values = self._values(page, now)
        if page.visited_at is None:
            yield Worth("first-visit", values[0], "first visit")
            return
        since = duration(max(0.0, now - page.visited_at) * HOURS_A_SECOND)
        if page.failures:
            text = f"no page at the last {times(page.failures)}, the latest {since} ago; looked for ever more rarely"
            yield Worth("dead", values[0], text)
        elif self._trust_in(page) is not None and _is_announced(page):
            yield Worth("announced", values[0], f"announced as changed since the last visit {since} ago")
        else:
            rate, clock = self.rate_of(page), self.clock_of(page)
            odds = f"changed with {percent(chance(rate, clock.exposure_h(page.visited_at, now)))} probability"
            text = f"{odds} since the last visit {since} ago; changes about {often(rate, clock, now)}"
            yield Worth("chance", values[0], text)
        if page.found is not None and not page.failures:
            daily = amount(24.0 * page.found.a / page.found.b)
            if daily != "0":  # what finds next to nothing needs no reason of its own
                pages = "page" if daily == "1" else "pages"
                yield Worth("discovery", values[1], f"{page.page_class} that finds {daily} new {pages} a day")


def often(rate: Rate, clock: ChangeClock, now: float) -> str:
    """Say how often a page changes, and what its age does to that, where it matters.

    >>> from honeyguide.core.recrawl.ages import AgeProfile, first_weights
    >>> clock = AgeClock(0.0, AgeProfile(first_weights("article")))
    >>> often(Rate(2.0, 8.0), WallClock(), 0.0), often(Rate(2.0, 8.0), clock, 24 * 3600.0)
    ('every 4 hours', 'every 7.2 days at its age of 1 day')
    """
    interval_h = rate.mean_interval_h
    plain = every(interval_h)
    if not isinstance(clock, AgeClock):
        return plain
    span_h = _span_h(rate)
    ahead = clock.aged_h(now, now + span_h * HOUR_S)
    aged = every(interval_h * span_h / max(ahead, span_h * SLOWEST))
    return plain if aged == plain else f"{aged} at its age of {duration(clock.age_h(now))}"


def _span_h(rate: Rate) -> float:
    return min(max(rate.mean_interval_h, _SPAN_H[0]), _SPAN_H[1])


def _stretched(clock: ChangeClock, rate: Rate, now: float) -> float:
    """Say how long an hour of the clock takes, around the time of the next change; 1 where no clock runs ahead."""
    if isinstance(clock, WallClock | SiteClock):
        return 1.0
    span_h = _span_h(rate)
    if isinstance(clock, AgeClock):
        return clock.stretch(now, span_h, rate.mean_interval_h)
    return stretch(clock, now, span_h)


def _is_announced(page: PageState) -> bool:
    """Tell whether the site says that the page changed after the last visit."""
    return (page.announced_at or 0.0) > (page.visited_at or 0.0)


def _announced(rate: Rate, exposure_h: float, trust: Trust) -> float:
    """Take an announced change as certain, as far as announcements are true."""
    precision = (trust.hits + 1.0) / (trust.hits + trust.alarms + 2.0)
    sure = index(rate, max(exposure_h, SURE * rate.mean_interval_h))
    return precision * sure + (1.0 - precision) * index(rate, exposure_h)


def _silent(rate: Rate, trust: Trust) -> Rate:
    """Leave only the changes to find that the site does not announce; without evidence, all of them."""
    recall = trust.hits / (trust.hits + trust.misses + 2.0)
    return Rate(rate.a, rate.b / (1.0 - recall))


def _discovery(page: PageState, found: Rate, tau_h: float) -> float:
    """Count the new pages that gather behind a hub, each as bad as a stale one until it is visited: D tau^2 / 2."""
    each = page.weight / HUB_IMPORTANCE if page.page_class == "hub" else page.weight
    return each * found.a / found.b * max(0.0, tau_h) ** 2 / 2


def judged(
    policy: RecrawlPolicy, page: PageState, now: float, price: float, parts: Iterable[Worth]
) -> VisitValue:
    """Turn the parts of a value into a score whose reasons add up, and find when the price is reached."""
    value, parts = policy.value(page, now), list(parts)
    score = score_of(value, price)
    whole = sum(part.value for part in parts)
    points = [half_up(score * part.value / whole, 1) if whole else 0.0 for part in parts]
    points[0] = half_up(score - sum(points[1:]), 1)
    reasons = [Reason(part.rule, paid, part.text) for part, paid in zip(parts, points, strict=True)]
    reasons.append(Reason("importance", 0.0, f"importance {page.weight:.2g}"))
    return VisitValue(value, Score(score, tuple(reasons)), due_at(policy, page, now, price))


def due_at(policy: RecrawlPolicy, page: PageState, now: float, price: float) -> float | None:
    """Find the moment at which a visit is worth the price; None if never, `now` at the first visit."""
    if page.visited_at is None:
        return now
    last = page.visited_at
    hours = reached(lambda tau_h: policy.value(page, last + tau_h * HOUR_S), price)
    return last + hours * HOUR_S if hours < float("inf") else None


_NEVER_H = 1e7  # how long a page has waited that was never visited: a thousand years


@dataclass(frozen=True, slots=True)
class Heuristic:
    """The plan card of a profile (PLAN-1), exact; it knows no time at which a page will be due."""

    profile: Profile

    @property
    def name(self) -> str:
        """What the policy is called."""
        return "heuristic"

    def value(self, page: PageState, now: float) -> float:
        """Give the score."""
        return self._score(page, now).value

    def judge(self, page: PageState, now: float, price: float) -> VisitValue:  # noqa: ARG002 - the port's signature
        """Give the score with its reasons."""
        score = self._score(page, now)
        return VisitValue(score.value, score, None)

    def _score(self, page: PageState, now: float) -> Score:
        signals = UrlSignals(
            url=page.url,
            visits=page.visits,
            last_visited=_moment(page.visited_at),
            last_changed=_moment(page.changed_at),
            topic_relevance=page.relevance,
            hub_depth=page.hub_depth,
            is_hub=page.page_class == "hub",
        )
        return score_url(signals, datetime.fromtimestamp(now, UTC), self.profile).score


@dataclass(frozen=True, slots=True)
class Uniform:
    """Round robin: whoever was visited longest ago."""

    @property
    def name(self) -> str:
        """What the policy is called."""
        return "uniform"

    def value(self, page: PageState, now: float) -> float:
        """Give the hours since the last visit."""
        return _since_h(page, now)

    def judge(self, page: PageState, now: float, price: float) -> VisitValue:
        """Explain it."""
        return judged(self, page, now, price, [_visited(page, now, self.value(page, now), "")])


@dataclass(frozen=True, slots=True)
class Proportional:
    """Visit pages as often as they change: by the changes expected since the last visit."""

    priors: Priors = field(default_factory=Priors)

    @property
    def name(self) -> str:
        """What the policy is called."""
        return "proportional"

    def value(self, page: PageState, now: float) -> float:
        """Give the changes expected since the last visit."""
        return _since_h(page, now) / self._interval_h(page)

    def judge(self, page: PageState, now: float, price: float) -> VisitValue:
        """Explain it."""
        text = f"; changes about {every(self._interval_h(page))}"
        return judged(self, page, now, price, [_visited(page, now, self.value(page, now), text)])

    def _interval_h(self, page: PageState) -> float:
        return (page.rate or self.priors.of(page.host, page.page_class)).mean_interval_h


@dataclass(frozen=True, slots=True)
class AdaptiveInterval:
    """Visit in intervals that grow while a page stays the same and shrink when it changes, as Nutch does."""

    first_h: float = 720.0
    grow: float = 0.4
    shrink: float = 0.2
    least_h: float = 1 / 60
    most_h: float = 8760.0

    @property
    def name(self) -> str:
        """What the policy is called."""
        return "adaptive-interval"

    def interval_of(self, page: PageState) -> float:
        """Give the interval that the counts of visits and changes make.

        >>> from honeyguide.core.recrawl.signals import PageState
        >>> round(AdaptiveInterval().interval_of(PageState("https://a.example/", visits=2)), 3)
        1008.0
        """
        same = max(0, page.visits - 1 - page.changes)
        try:
            interval = self.first_h * (1.0 + self.grow) ** same * (1.0 - self.shrink) ** page.changes
        except OverflowError:
            interval = self.most_h
        return min(max(interval, self.least_h), self.most_h)

    def value(self, page: PageState, now: float) -> float:
        """Give how many intervals have passed; from 1 on a visit is due."""
        return _since_h(page, now) / self.interval_of(page)

    def judge(self, page: PageState, now: float, price: float) -> VisitValue:
        """Explain it."""
        text = f"; visited {every(self.interval_of(page))}"
        return judged(self, page, now, price, [_visited(page, now, self.value(page, now), text)])


def _since_h(page: PageState, now: float) -> float:
    """Give the hours since the last visit; a page never visited waits for longer than any other."""
    if page.visited_at is None:
        return _NEVER_H
    return max(0.0, now - page.visited_at) * HOURS_A_SECOND


def _visited(page: PageState, now: float, value: float, more: str) -> Worth:
    if page.visited_at is None:
        return Worth("first-visit", value, "first visit")
    return Worth("visited", value, f"last visit {duration(_since_h(page, now))} ago{more}")


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


# Each makes a policy from the profile and the priors.
POLICIES: Mapping[str, Callable[[Profile, Priors], RecrawlPolicy]] = {
    "learned": lambda _, priors: Learned(priors),
    "heuristic": lambda profile, _: Heuristic(profile),
    "uniform": lambda _, __: Uniform(),
    "proportional": lambda _, priors: Proportional(priors),
    "adaptive-interval": lambda _, __: AdaptiveInterval(),
}
