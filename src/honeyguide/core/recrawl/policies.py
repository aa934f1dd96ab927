"""Recrawl policies: which known page to visit next.

Owns: `RecrawlPolicy`, `Learned` and `Heuristic`; simple schedules to compare them with are in adapters/policies.py. Must not know: stores, files, the clock: moments are seconds since 1970.
Start reading at `RecrawlPolicy`, then `Learned`. The page with the highest value is visited first, within the limits of hosts
(`ranking.Best`). Values of `Learned` are hours of freshness, weighted by importance; others have units of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from honeyguide.core.recrawl import clocks
from honeyguide.core.recrawl.clocks import HOUR_S, HOURS_A_SECOND, AgeClock
from honeyguide.core.recrawl.history import precision_of, recall_of
from honeyguide.core.recrawl.plan import UrlSignals, score_url
from honeyguide.core.recrawl.priors import Priors
from honeyguide.core.recrawl.rate import (
    SCALARS,
    SURE,
    SURPRISES,
    Rate,
    chance,
    first_visit_by,
    hours_until,
    index,
    prior,
    score_of,
    single,
)
from honeyguide.core.recrawl.signals import HUB_IMPORTANCE, SITEMAP
from honeyguide.core.rules.language import Reason, Score, half_up
from honeyguide.core.text.printable import amount, duration, every, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from honeyguide.core.recrawl.clocks import ChangeClock
    from honeyguide.core.recrawl.history import Site, Trust
    from honeyguide.core.recrawl.signals import PageState
    from honeyguide.core.rules.profile import Profile

HEURISTIC = "heuristic"
LEARNED = "learned"
RETURN_H = 720.0  # after how long dead pages come back
FORGOTTEN = "later visits contradicted earlier ones, which are forgotten"
FAST = 5.0  # times as often as its siblings: a fast page
_SPAN_H = (1.0, 24.0)  # how far ahead the speed of a clock is measured


class VisitValue(NamedTuple):
    """The value of a visit, which ranks pages, as a score of 0 to 100 with reasons, and when the next visit is due."""

    value: float
    score: Score
    next_due: float | None


class RecrawlPolicy(Protocol):
    """Puts a value on visits; values have no unit. `price` is the value of the last page within the budget: it scores 60 (level high)."""

    @property
    def name(self) -> str:
        """The name of the policy."""

    def value(self, page: PageState, now: float) -> float:
        """Return the number to rank by, the highest first."""

    def judge(self, page: PageState, now: float, price: float) -> VisitValue:
        """Explain the value."""


class ValuePart(NamedTuple):
    """A part of a value, with the rule and the sentence that explain it."""

    rule: str
    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Learned:
    """Visit where the most freshness is won, by change rates learned from the visits (Gamma posterior, Lomax index)."""

    name: ClassVar[str] = LEARNED
    priors: Priors = field(default_factory=Priors)
    site: Callable[[str], Site | None] = lambda _: None  # what was learned of a host, if anything

    def value(self, page: PageState, now: float) -> float:
        """Add up what a visit wins, to 7 digits."""
        return single(sum(self._values(page, now)))

    def judge(self, page: PageState, now: float, price: float) -> VisitValue:
        """Explain the value."""
        return explain_value(self, page, now, price, self._parts(page, now))

    def rate_of(self, page: PageState) -> Rate:
        """Return the change rate of a page: its own or its siblings', less the changes that an honest host announces."""
        if page.failures:  # dead pages come back, if at all, after a month or so
            return prior(RETURN_H)
        rate = page.rate or self.priors.of(page.host, page.page_class)
        trust = self._trust_in(page)
        if trust is None or _is_announced(page):
            return rate
        return Rate(rate.a, rate.b / (1.0 - recall_of(trust.hits, trust.misses)))

    def clock_of(self, page: PageState) -> ChangeClock:
        """Return the clock that measures the page's exposure."""
        site = self.site(page.host)
        return clocks.choose_clock(
            page.page_class,
            page.published_at,
            site=None if site is None else site.clock,
            day=page.day,
            profile=None if site is None else site.aged(page.page_class).own,
        )

    def _values(self, page: PageState, now: float) -> tuple[float, ...]:
        """Return the parts of the value, in the order of `_parts`."""
        if page.visited_at is None:
            rate, clock = self.rate_of(page), self.clock_of(page)
            return (page.weight * _stretch(clock, rate, now) * first_visit_by(SCALARS, rate.a, rate.b),)
        change = self._change(page, page.visited_at, now)
        if page.found is None or page.failures:
            return (change,)
        # Each new page behind a hub is as bad as a stale one until it is visited: D tau^2 / 2.
        each = page.weight / HUB_IMPORTANCE if page.page_class == "hub" else page.weight
        tau_h = max(0.0, (now - page.visited_at) * HOURS_A_SECOND)
        return change, each * page.found.a / page.found.b * tau_h**2 / 2

    def _change(self, page: PageState, visited_at: float, now: float) -> float:
        """Value the sight of a change, in wall hours: an hour of the page's clock may take many."""
        rate, clock = self.rate_of(page), self.clock_of(page)
        weight = page.weight * _stretch(clock, rate, now)
        exposure_h = clock.exposure_h(visited_at, now)
        trust = self._trust_in(page)
        if trust is None or not _is_announced(page):
            return index(rate, exposure_h, weight)
        # An announced change is certain, as far as announcements are true.
        precision = float(precision_of(trust.hits, trust.alarms))
        sure = index(rate, max(exposure_h, SURE * rate.mean_interval_h))
        return weight * (precision * sure + (1.0 - precision) * index(rate, exposure_h))

    def _trust_in(self, page: PageState) -> Trust | None:
        """Return the record of the host's sitemap for such pages, if it has proved honest and lists this page."""
        site = self.site(page.host) if page.announced_at is not None and not page.failures else None
        trust = None if site is None else site.trust_in(SITEMAP, page.page_class)
        return trust if trust is not None and trust.is_proved else None

    def _parts(self, page: PageState, now: float) -> Iterator[ValuePart]:
        values = self._values(page, now)
        if page.visited_at is None:
            yield ValuePart("first-visit", values[0], "first visit")
            return
        since = duration(max(0.0, now - page.visited_at) * HOURS_A_SECOND)
        if page.failures:
            visits = "visit" if page.failures == 1 else f"{page.failures} visits"
            text = f"no page at the last {visits}, the latest {since} ago; retried at growing intervals"
            yield ValuePart("dead", values[0], text)
        elif self._trust_in(page) is not None and _is_announced(page):
            yield ValuePart("announced", values[0], f"announced as changed since the last visit {since} ago")
        else:
            rate, clock = self.rate_of(page), self.clock_of(page)
            odds = f"changed with {percent(chance(rate, clock.exposure_h(page.visited_at, now)))} probability"
            often = change_frequency(rate, clock, now)
            text = f"{odds} since the last visit {since} ago; changes about {often}{self._evidence(page)}"
            yield ValuePart("chance", values[0], text)
        if page.found is not None and not page.failures:
            daily = amount(24.0 * page.found.a / page.found.b)
            if daily != "0":  # a hub that finds next to nothing needs no reason of its own
                pages = "page" if daily == "1" else "pages"
                text = f"{page.page_class} that finds {daily} new {pages} a day"
                yield ValuePart("discovery", values[1], text)

    def _evidence(self, page: PageState) -> str:
        """Say what the rate was learned from; a page is fast if it overruled the rate of its siblings.

        The first visit compares nothing; if others could not either, such as imported ones, the sentence says so.
        """
        if not page.compared or page.rate is None:
            return ""
        siblings = self.priors.of(page.host, page.page_class).mean_interval_h
        is_fast = page.changes > SURPRISES and page.rate.mean_interval_h * FAST < siblings
        compared = "" if page.compared >= page.visits - 1 else "compared "
        visits = f"changed at {page.changes:,} of {page.compared:,} {compared}visits{': a fast page' if is_fast else ''}"
        return f" ({visits}{f'; {FORGOTTEN}' if page.has_forgotten else ''})"


def change_frequency(rate: Rate, clock: ChangeClock, now: float) -> str:
    """Write how often a page changes, and at which age, if its age matters."""
    interval_h = rate.mean_interval_h
    plain = every(interval_h)
    if not isinstance(clock, AgeClock):
        return plain
    span_h = _span_h(rate)
    ahead = clock.aged_h(now, now + span_h * HOUR_S)
    aged = every(interval_h * span_h / max(ahead, span_h * clocks.SLOWEST))
    return plain if aged == plain else f"{aged} at its age of {duration(clock.age_h(now))}"


def _span_h(rate: Rate) -> float:
    return min(max(rate.mean_interval_h, _SPAN_H[0]), _SPAN_H[1])


def _stretch(clock: ChangeClock, rate: Rate, now: float) -> float:
    """Return how many wall hours an hour of the clock takes, around the next change; 1 for clocks that know no future."""
    if isinstance(clock, clocks.WallClock | clocks.SiteClock):
        return 1.0
    span_h = _span_h(rate)
    if isinstance(clock, AgeClock):
        return clock.stretch(now, span_h, rate.mean_interval_h)
    return span_h / max(clock.exposure_h(now, now + span_h * HOUR_S), span_h * clocks.OLD_SPEED)


def _is_announced(page: PageState) -> bool:
    return (page.announced_at or 0.0) > (page.visited_at or 0.0)


def explain_value(
    policy: RecrawlPolicy, page: PageState, now: float, price: float, parts: Iterable[ValuePart]
) -> VisitValue:
    """Turn the parts of a value into a score whose reasons add up, and find when the price is reached."""
    value, parts = policy.value(page, now), list(parts)
    score = score_of(value, price)
    whole = sum(part.value for part in parts)
    points = [half_up(score * part.value / whole, 1) if whole else 0.0 for part in parts]
    points[0] = half_up(score - sum(points[1:]), 1)
    reasons = [Reason(part.rule, paid, part.text) for part, paid in zip(parts, points, strict=True)]
    reasons.append(Reason("importance", 0.0, f"importance {page.weight:.2g}"))
    last, due = page.visited_at, now
    if last is not None:
        due = last + HOUR_S * hours_until(lambda tau_h: policy.value(page, last + tau_h * HOUR_S), price)
    return VisitValue(value, Score(score, tuple(reasons)), due if due < inf else None)


@dataclass(frozen=True, slots=True)
class Heuristic:
    """The plan card of a profile (PLAN-1), exact; it does not know when a page will be due."""

    name: ClassVar[str] = HEURISTIC
    profile: Profile

    def value(self, page: PageState, now: float) -> float:
        """Return the score."""
        return self._score(page, now).value

    def judge(self, page: PageState, now: float, price: float) -> VisitValue:  # noqa: ARG002 - the port's signature
        """Return the score with its reasons."""
        score = self._score(page, now)
        return VisitValue(score.value, score, None)

    def _score(self, page: PageState, now: float) -> Score:
        visited_at, changed_at = (
            None if seconds is None else datetime.fromtimestamp(seconds, UTC)
            for seconds in (page.visited_at, page.changed_at)
        )
        signals = UrlSignals(
            url=page.url,
            visits=page.visits,
            last_visited=visited_at,
            last_changed=changed_at,
            topic_relevance=page.relevance,
            hub_depth=page.hub_depth,
            is_hub=page.page_class == "hub",
        )
        return score_url(signals, datetime.fromtimestamp(now, UTC), self.profile).score
