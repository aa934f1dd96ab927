"""Signals: what a recrawl policy may know of a page: its state, its class, when it was new and when it claims to have changed.

Owns: `PageState`, importance, page classes, change claims. Must not know: policies, stores, the clock: moments are seconds
since 1970. Start reading at `PageState`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.fetching import http_time
from honeyguide.core.page.page import Link, Position
from honeyguide.core.recrawl.clocks import DayProfile
from honeyguide.core.recrawl.priors import FIRST_PRIORS
from honeyguide.core.recrawl.rate import Rate, believed
from honeyguide.core.rules.facts import Facts
from honeyguide.core.why import Why

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from honeyguide.core.page.page import Page
    from honeyguide.core.recrawl.history import HistoryEntry
    from honeyguide.core.recrawl.plan import UrlSignals
    from honeyguide.core.recrawl.priors import PageClass, Priors
    from honeyguide.core.rules.language import Score
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.url import Url

LIST = "list"  # the rule of a page that is a list of others
HUB_IMPORTANCE = 2.0  # a hub leads to others
UNKNOWN_RELEVANCE = 0.5
LEAST_RELEVANCE = 0.05  # a page without a word on the topic is visited seldom, not never
DROP_AFTER = 5  # failures in a row
DROP_GONE_AFTER = 2  # the same, where the server says that the page is gone for good
GONE = 410
_DATED = re.compile(r"/(?:19|20)[0-9]{2}[/-](?:0?[1-9]|1[0-2])(?:[/-]|$)")
_DATED_PATH = re.compile(r"/((?:19|20)[0-9]{2})[/-]([01]?[0-9])(?:[/-]([0-3]?[0-9]))?(?:[/-]|$)")
_MAX_TIME_CHARS = 64  # characters


@dataclass(frozen=True, slots=True)
class PageState:
    """What a policy may know of a page; None is not known."""

    url: str
    host: str = ""
    page_class: PageClass = "page"
    visits: int = 0
    visited_at: float | None = None
    changed_at: float | None = None
    changes: int = 0
    compared: int = 0  # visits that could tell whether it had changed
    failures: int = 0  # visits in a row without a page
    status: int | None = None
    relevance: float | None = None
    hub_depth: int | None = None
    importance: float | None = None
    rate: Rate | None = None
    found: Rate | None = None  # of new links, for hubs
    published_at: float | None = None  # when it was new, where its age is known (`born_at`)
    announced_at: float | None = None  # when its sitemap claims that it last changed
    day: DayProfile | None = None  # the busy hours of a hub
    has_forgotten: bool = False  # its visits contradicted earlier ones, so `rate` does not know those

    @property
    def weight(self) -> float:
        """The importance, from relevance and class unless it is set; each failure in a row halves it."""
        full = importance_of(self.relevance, self.page_class) if self.importance is None else self.importance
        return float(full * 0.5**self.failures)


def page_of(signals: UrlSignals, host: str = "") -> PageState:
    """Turn the signals of a row into the state of a page; without a class, `is_hub` tells hubs from pages."""
    has_rate = signals.rate_a is not None and signals.rate_b is not None
    return PageState(
        url=signals.url,
        host=host,
        page_class=signals.page_class or ("hub" if signals.is_hub else "page"),
        visits=signals.visits or 0,
        visited_at=None if signals.last_visited is None else signals.last_visited.timestamp(),
        changed_at=None if signals.last_changed is None else signals.last_changed.timestamp(),
        relevance=signals.topic_relevance,
        hub_depth=signals.hub_depth,
        importance=signals.importance,
        rate=Rate(signals.rate_a or 0.0, signals.rate_b or 0.0) if has_rate else None,
    )


def drop_reason(page: PageState) -> str | None:
    """Return why a page is not visited any more; None while it is."""
    limit = DROP_GONE_AFTER if page.status == GONE else DROP_AFTER
    if page.failures < limit:
        return None
    status = "no answer" if page.status is None else f"status {page.status}"
    return f"dropped: no page at {page.failures} visits in a row (last {status})"


def importance_of(relevance: float | None, page_class: PageClass) -> float:
    """Weigh a page by its relevance, hubs twice; `_importance` of `bulk` does the same over columns."""
    known = UNKNOWN_RELEVANCE if relevance is None else max(relevance, LEAST_RELEVANCE)
    return known * (HUB_IMPORTANCE if page_class == "hub" else 1.0)


def class_of(url: str, *, is_hub: bool) -> PageClass:
    """Tell hubs, articles (with a date in their URL) and other pages apart."""
    if is_hub:
        return "hub"
    return "article" if _DATED.search(url) else "page"


class LinkDensity(NamedTuple):
    """The links of a page's main part into its site, and the share of the main text that they are."""

    links: int = 0
    link_share: float | None = None


def link_density(page: Page, lines: Sequence[str], sites: Collection[str]) -> LinkDensity:
    """Measure a page; `lines` is its main text (`page.likeness`). Links of the page to itself do not count."""
    links = chars = 0
    starts = tuple(f"{scheme}://{site}/" for site in sites for scheme in ("https", "http"))
    own, main = page.url.text, Position.MAIN
    for link in page.links:
        if link.url.text.startswith(starts) and link.url.text != own:
            is_main = False
            for anchor, position in link.seen:
                if position is main:
                    is_main = True
                    chars += len(anchor)
            links += is_main
    text = sum(map(len, lines))
    return LinkDensity(links, min(1.0, chars / text) if text else None)


def hub_score(url: Url, density: LinkDensity, found: Rate | None, profile: Profile) -> Score | None:
    """Score how much a page is worth for its links, 0 to 100; None if the profile has no card for it."""
    if "hub" not in profile.cards:
        return None
    finds = None if found is None else 24.0 * found.a / found.b
    links, share = float(density.links), density.link_share
    facts = Facts(Link(url), main_links=links, link_share=share, daily_finds=finds)
    return profile.score("hub", facts)


def kind_of(url: Url, density: LinkDensity, found: Rate | None, profile: Profile) -> PageClass:
    """Tell hubs, articles and other pages apart."""
    score = hub_score(url, density, found, profile)
    return class_of(url.text, is_hub=score is not None and score.value >= profile.crawl.hub_points)


def describe_list(url: Url, density: LinkDensity, profile: Profile) -> Why | None:
    """Say why a page is a list of other pages, such as an index, from its links alone; None if it is not."""
    score = hub_score(url, density, None, profile)
    if score is None or score.value < profile.crawl.hub_points:
        return None
    return Why(LIST, f"a list: {', '.join(reason.text for reason in score.reasons)}")


def state_of(known: HistoryEntry, priors: Priors = FIRST_PRIORS) -> PageState:
    """Turn the history of a URL into the state that recrawl policies judge."""
    span = lastmod_span(known.lastmod)
    return PageState(
        url=known.url,
        host=known.site,
        page_class=known.kind,
        visits=known.visits,
        visited_at=known.visited_at,
        changed_at=known.changed_at,
        changes=known.changes,
        failures=known.failures,
        status=known.status,
        relevance=known.relevance,
        hub_depth=known.hub_depth,
        rate=None if known.seen is None else believed(priors.of(known.site, known.kind), known.seen),
        compared=known.changes + known.unchanged,
        found=known.found,
        published_at=born_at(known.url, known.kind, known.born_at, known.first_seen),
        announced_at=None if span is None else span[0],
        day=None if known.hours is None else DayProfile.of_counts(known.hours),
        has_forgotten=known.forgot_at is not None,
    )


# --- change claims ---

# Who claims that a page changed.
SITEMAP = "lastmod"
HEADER = "last-modified"


class ChangeClaim(NamedTuple):
    """A source's claim that a page changed between two moments, in seconds since 1970."""

    source: str
    first: float
    last: float

    def claims_change(self, since: float) -> bool | None:
        """Tell whether the page is claimed to have changed since then; None where a date leaves it open."""
        if self.first > since:
            return True
        return False if self.last <= since else None


def change_claims(header: str | None, lastmod: str | None) -> Iterator[ChangeClaim]:
    """Read the claims of a Last-Modified header and of a sitemap; unreadable ones are skipped."""
    at, span = http_time(header), lastmod_span(lastmod)
    if at is not None:
        yield ChangeClaim(HEADER, at, at)
    if span is not None:
        yield ChangeClaim(SITEMAP, *span)


def lastmod_span(text: str | None) -> tuple[float, float] | None:
    """Return the first and the last moment that a lastmod may mean: a date is a day, and a year a year.

    >>> lastmod_span("1970-01-02"), lastmod_span("1970-01-01T00:00:05Z")
    ((86400.0, 172800.0), (5.0, 5.0))
    """
    if not text or len(text) > _MAX_TIME_CHARS:
        return None
    try:
        moment = datetime.fromisoformat({4: f"{text}-01-01", 7: f"{text}-01"}.get(len(text), text))
        first = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        days = {4: 366, 7: 31, 10: 1}.get(len(text), 0)
        return first.timestamp(), (first + timedelta(days=days)).timestamp()
    except (ValueError, OverflowError):
        return None


def published_span(url: str) -> tuple[float, float] | None:
    """Read the day, or the month, in the path of an article: its first moment, and the one after its last.

    >>> published_span("https://a.example/1970/01/02/a-story"), published_span("https://a.example/story-2")
    ((86400.0, 172800.0), None)
    """
    found = _DATED_PATH.search(url)
    if found is None:
        return None
    return _days_of(*(int(part or 0) for part in found.groups()))


@lru_cache(10_000)  # many articles have the same day
def _days_of(year: int, month: int, day: int) -> tuple[float, float] | None:
    try:
        first = datetime(year, month, day or 1, tzinfo=UTC)
    except ValueError:
        return None
    return first.timestamp(), (first + timedelta(days=1 if day else 31)).timestamp()


def born_at(url: str, page_class: PageClass, met_at: float | None, first_seen: float = inf) -> float | None:
    """Return when a page was new, if that is known: when a hub first linked it, or the date in an article's address."""
    if page_class == "hub":  # its age means nothing
        return None
    # A page visited before it was met was not new; a link met within the day, or month, of the address is as old as that.
    met = met_at if met_at is not None and met_at <= first_seen else None
    span = published_span(url) if page_class == "article" else None
    if span is None or (met is not None and met < span[1]):
        return met
    return min(span[0], first_seen)
