"""The state of a known page: what a recrawl policy may know of it, and when it is dropped.

Owns: `PageState`, importance, classes, the words for durations. Must not know: policies, stores, the clock: moments are
seconds since 1970. Start reading at `PageState`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from honeyguide.core.rate import Rate

if TYPE_CHECKING:
    from honeyguide.core.plan import Signals
    from honeyguide.core.priors import PageClass

HUB_IMPORTANCE = 2.0  # a hub leads to others
UNKNOWN_RELEVANCE = 0.5
LEAST_RELEVANCE = 0.05  # a page that says nothing on the topic is visited seldom, not never
DROP_AFTER = 5  # visits in a row without a page
DROP_GONE_AFTER = 2  # the same, where the server says that it is gone for good
_GONE = 410
_DATED = re.compile(r"/(?:19|20)[0-9]{2}[/-](?:0?[1-9]|1[0-2])(?:[/-]|$)")


@dataclass(frozen=True, slots=True)
class PageState:
    """What a policy may know of a page; None is not known. `found` is its rate of new links, for hubs.

    `published_at` is when it was new, where its age is known (`core.testimony.born_at`), and `announced_at` when the site
    says that it last changed. `failures` counts visits in a row without a page.
    """

    url: str
    host: str = ""
    page_class: PageClass = "page"
    visits: int = 0
    visited_at: float | None = None
    changed_at: float | None = None
    changes: int = 0
    failures: int = 0
    status: int | None = None
    relevance: float | None = None
    hub_depth: int | None = None
    importance: float | None = None
    rate: Rate | None = None
    found: Rate | None = None
    published_at: float | None = None
    announced_at: float | None = None

    @property
    def weight(self) -> float:
        """The importance: as given, or by relevance and class; each failure in a row halves it."""
        given = importance_of(self.relevance, self.page_class) if self.importance is None else self.importance
        return float(given * 0.5**self.failures)


def page_of(signals: Signals, host: str = "") -> PageState:
    """Turn the signals of a row into the state of a page; without a class, a hub is told by its flag.

    >>> from honeyguide.core.plan import Signals
    >>> page_of(Signals("https://a.example/", is_hub=True)).page_class
    'hub'
    """
    has_rate = signals.rate_a is not None and signals.rate_b is not None
    return PageState(
        signals.url,
        host,
        signals.page_class or ("hub" if signals.is_hub else "page"),
        visits=signals.visits or 0,
        visited_at=None if signals.last_visited is None else signals.last_visited.timestamp(),
        changed_at=None if signals.last_changed is None else signals.last_changed.timestamp(),
        relevance=signals.topic_relevance,
        hub_depth=signals.hub_depth,
        importance=signals.importance,
        rate=Rate(signals.rate_a or 0.0, signals.rate_b or 0.0) if has_rate else None,
    )


def drop_reason(page: PageState) -> str | None:
    """Say why a page is visited no more; None while it is.

    >>> drop_reason(PageState("https://a.example/", failures=5, status=404))
    'dropped: no page at 5 visits in a row (last status 404)'
    """
    limit = DROP_GONE_AFTER if page.status == _GONE else DROP_AFTER
    if page.failures < limit:
        return None
    status = "no answer" if page.status is None else f"status {page.status}"
    return f"dropped: no page at {page.failures} visits in a row (last {status})"


# --- for people ---


def importance_of(relevance: float | None, page_class: PageClass) -> float:
    """Weigh a page by its relevance, hubs twice.

    >>> importance_of(0.8, "page"), importance_of(None, "hub"), importance_of(0.0, "article")
    (0.8, 1.0, 0.05)
    """
    known = UNKNOWN_RELEVANCE if relevance is None else max(relevance, LEAST_RELEVANCE)
    return known * (HUB_IMPORTANCE if page_class == "hub" else 1.0)


def class_of(url: str, *, is_hub: bool, is_dated: bool = False) -> PageClass:
    """Tell hubs, articles (dated by a feed, or in their URL) and other pages apart.

    >>> class_of("https://a.example/2026/05/a-story", is_hub=False)
    'article'
    """
    if is_hub:
        return "hub"
    return "article" if is_dated or _DATED.search(url) else "page"


_UNITS = ((8760.0, "year"), (24.0, "day"), (1.0, "hour"), (1 / 60, "minute"), (1 / 3600, "second"))
_WHOLE = {"60 seconds": "1 minute", "60 minutes": "1 hour", "24 hours": "1 day", "365 days": "1 year"}


def duration(hours: float) -> str:
    """Say how long, to two digits; what rounds to a whole larger unit is said in that.

    >>> duration(40.8), duration(72.0), duration(0.5), duration(1.0), duration(0.005), duration(23.8)
    ('1.7 days', '3 days', '30 minutes', '1 hour', '18 seconds', '1 day')
    """
    size, unit = next((item for item in _UNITS if hours >= item[0]), _UNITS[-1])
    text = amount(hours / size)
    told = f"{text} {unit}" if text == "1" else f"{text} {unit}s"
    return _WHOLE.get(told, told)


def every(hours: float) -> str:
    """Say how often something happens.

    >>> every(24.0), every(72.0)
    ('every day', 'every 3 days')
    """
    return f"every {duration(hours).removeprefix('1 ')}"


def amount(number: float) -> str:
    """Write a number to two digits, or more where it has more before the point."""
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}".removesuffix(".0")


def percent(share: float) -> str:
    """Write a share for people; what is not nothing is not called 0 %.

    >>> percent(0.834), percent(0.001), percent(0.0)
    ('83 %', 'less than 1 %', '0 %')
    """
    return "less than 1 %" if 0.0 < share < 0.005 else f"{100 * share:.0f} %"


def times(count: int) -> str:
    """Say how many visits."""
    return "visit" if count == 1 else f"{count} visits"
