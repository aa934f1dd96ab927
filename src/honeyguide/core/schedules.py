"""Schedules: the recrawl policies that do not learn rates by themselves, and all policies by name.

Owns: `heuristic`, `uniform`, `proportional`, `adaptive-interval`, and the table of names. Must not know: files, stores,
plugins. Start reading at `POLICIES`; the port is `core.recrawl.RecrawlPolicy`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from honeyguide.core.clocks import HOURS_A_SECOND
from honeyguide.core.page_state import duration, every
from honeyguide.core.plan import Signals, score_url
from honeyguide.core.priors import Priors
from honeyguide.core.recrawl import Judged, Learned, Worth, judged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from honeyguide.core.page_state import PageState
    from honeyguide.core.profile import Profile
    from honeyguide.core.recrawl import RecrawlPolicy
    from honeyguide.core.rules import Score


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

    def judge(self, page: PageState, now: float, price: float) -> Judged:  # noqa: ARG002 - the port's signature
        """Give the score with its reasons."""
        score = self._score(page, now)
        return Judged(score.value, score, None)

    def _score(self, page: PageState, now: float) -> Score:
        signals = Signals(
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

    def judge(self, page: PageState, now: float, price: float) -> Judged:
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

    def judge(self, page: PageState, now: float, price: float) -> Judged:
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

        >>> from honeyguide.core.page_state import PageState
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

    def judge(self, page: PageState, now: float, price: float) -> Judged:
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
