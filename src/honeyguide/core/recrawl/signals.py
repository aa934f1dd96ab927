"""The state of a known page: what a recrawl policy may know of it, and when it is dropped.

Owns: `PageState`, importance, classes, the words for durations. Must not know: policies, stores, the clock: moments are
seconds since 1970. Start reading at `PageState`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.fetching import http_time
from honeyguide.core.page.page import Link, Position
from honeyguide.core.recrawl.clocks import DayProfile
from honeyguide.core.recrawl.history import UNKNOWN_SITE
from honeyguide.core.recrawl.plan import UrlSignals
from honeyguide.core.recrawl.rate import Rate
from honeyguide.core.rules.facts import Facts
from honeyguide.core.url.url import Url

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from honeyguide.core.page.page import Page
    from honeyguide.core.recrawl.history import HistoryEntry, Site
    from honeyguide.core.recrawl.priors import PageClass
    from honeyguide.core.rules.language import Score
    from honeyguide.core.rules.profile import Profile

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
    day: DayProfile | None = None

    @property
    def weight(self) -> float:
        """The importance: as given, or by relevance and class; each failure in a row halves it."""
        given = importance_of(self.relevance, self.page_class) if self.importance is None else self.importance
        return float(given * 0.5**self.failures)


def page_of(signals: UrlSignals, host: str = "") -> PageState:
    """Turn the signals of a row into the state of a page; without a class, a hub is told by its flag.

    >>> from honeyguide.core.recrawl.plan import UrlSignals
    >>> page_of(UrlSignals("https://a.example/", is_hub=True)).page_class
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


_HUB = "hub"
_DAY_H = 24.0


# --- what kind of page it is ---


class LinkDensity(NamedTuple):
    """What the main part of a page is made of: links into the site, and the share of its text that they are."""

    links: int = 0
    link_share: float | None = None


def made_of(page: Page, lines: Sequence[str], sites: Collection[str]) -> LinkDensity:
    """Measure a page; `lines` is its main text (`likeness.page_text`). Links to itself lead nowhere."""
    links = chars = 0
    starts = tuple(f"{scheme}://{site}/" for site in sites for scheme in ("https", "http"))
    own, main = page.url.text, Position.MAIN
    for link in page.links:
        if link.url.text.startswith(starts) and link.url.text != own:
            is_main = False
            for one in link.occurrences:
                if one.position is main:
                    is_main = True
                    chars += len(one.anchor)
            links += is_main
    text = sum(map(len, lines))
    return LinkDensity(links, min(1.0, chars / text) if text else None)


def hub_score(url: Url, made: LinkDensity, found: Rate | None, profile: Profile) -> Score | None:
    """Score how much a page is worth for its links, 0 to 100; None where the profile has no card for it."""
    if _HUB not in profile.cards:
        return None
    finds = None if found is None else _DAY_H * found.a / found.b
    facts = Facts(Link(url), main_links=float(made.links), link_share=made.link_share, daily_finds=finds)
    return profile.score(_HUB, facts)


def kind_of(url: Url, made: LinkDensity, found: Rate | None, profile: Profile) -> PageClass:
    """Tell hubs, articles and other pages apart."""
    score = hub_score(url, made, found, profile)
    is_hub = score is not None and score.value >= profile.crawl.hub_points
    return class_of(url.text, is_hub=is_hub)


def kind_words(known: HistoryEntry, profile: Profile) -> str | None:
    """Say why a page is a hub or an article, as of its last reading; of other pages there is nothing to say."""
    if known.kind == "article":
        return "It is an article: its address has a date."
    score = hub_score(Url.parse(known.url), LinkDensity(known.links, known.link_share), known.found, profile)
    if known.kind != _HUB or score is None:
        return None
    told = ", ".join(f"{reason.text} ({reason.points:+g})" for reason in score.reasons)
    return f"It is a hub: {told}; {profile.crawl.hub_points:g} points make one."


# --- signals ---


def announced_at(known: HistoryEntry, site: Site = UNKNOWN_SITE) -> float | None:
    """Say when its sitemap says that it changed after we saw it last, if the sitemaps of its site have proved honest."""
    span = lastmod_span(known.lastmod)
    if span is None or known.seen_at is None or span[0] <= known.seen_at or not site.is_trusted(SITEMAP):
        return None
    return span[0]


def signals_of(known: HistoryEntry, site: Site = UNKNOWN_SITE) -> UrlSignals:
    """Turn what is known of a URL into what plan reads (PLAN-1).

    The last change is one that a visit saw, or one that an honest sitemap announces.

    >>> from honeyguide.core.recrawl.history import Visit
    >>> from honeyguide.core.recrawl.visits import next_known
    >>> signals_of(next_known(None, Visit("https://a.example/", 1, 0.0, 200, "x", 0.9))).last_changed is None
    True
    """
    changed_at = announced_at(known, site) or known.changed_at
    return UrlSignals(
        known.url,
        known.visits,
        datetime.fromtimestamp(known.visited_at, UTC),
        None if changed_at is None else datetime.fromtimestamp(changed_at, UTC),
        known.relevance,
        known.hub_depth,
        known.is_hub,
        known.rate_a,
        known.rate_b,
        known.kind,
    )


def state_of(known: HistoryEntry) -> PageState:
    """Turn what is known of a URL into what recrawl policies judge."""
    span = lastmod_span(known.lastmod)
    return PageState(
        known.url,
        known.site,
        known.kind,
        known.visits,
        known.visited_at,
        known.changed_at,
        known.changes,
        known.failures,
        known.status,
        known.relevance,
        known.hub_depth,
        rate=known.rate,
        found=known.found,
        published_at=born_at(known.url, known.kind, known.born_at, known.first_seen),
        announced_at=None if span is None else span[0],
        day=None if known.hours is None else DayProfile.of_counts(known.hours),
    )


# Who tells when a page changed.
SITEMAP = "lastmod"
HEADER = "last-modified"


_LONGEST_TIME = 64  # characters

_DATED_PATH = re.compile(r"/((?:19|20)[0-9]{2})[/-]([01]?[0-9])(?:[/-]([0-3]?[0-9]))?(?:[/-]|$)")


class ChangeClaim(NamedTuple):
    """Who says that a page changed, between which moments; seconds since 1970."""

    source: str
    first: float
    last: float

    def says_changed(self, since: float) -> bool | None:
        """Tell whether the page is said to have changed since then; None where a date leaves it open.

        >>> day = ChangeClaim(SITEMAP, 86400.0, 172800.0)
        >>> day.says_changed(0.0), day.says_changed(90000.0), day.says_changed(172800.0)
        (True, None, False)
        """
        if self.first > since:
            return True
        return False if self.last <= since else None


def claims_of(header: str | None, lastmod: str | None) -> Iterator[ChangeClaim]:
    """Read what an answer and a sitemap say, as far as it can be read.

    >>> [claim.source for claim in claims_of("yesterday", "2026-05-01")]
    ['lastmod']
    """
    at, span = http_time(header), lastmod_span(lastmod)
    if at is not None:
        yield ChangeClaim(HEADER, at, at)
    if span is not None:
        yield ChangeClaim(SITEMAP, *span)


def lastmod_span(text: str | None) -> tuple[float, float] | None:
    """Give the first and the last moment that a lastmod may mean: a date is a day, and a year a year.

    >>> lastmod_span("1970-01-02"), lastmod_span("1970-01-01T00:00:05Z")
    ((86400.0, 172800.0), (5.0, 5.0))
    """
    if not text or len(text) > _LONGEST_TIME:
        return None
    try:
        moment = datetime.fromisoformat({4: f"{text}-01-01", 7: f"{text}-01"}.get(len(text), text))
        first = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        days = {4: 366, 7: 31, 10: 1}.get(len(text), 0)
        return first.timestamp(), (first + timedelta(days=days)).timestamp()
    except (ValueError, OverflowError):
        return None


def published_span(url: str) -> tuple[float, float] | None:
    """Read the day, or the month, that the path of an article names: its first moment, and the one after its last.

    >>> published_span("https://a.example/1970/01/02/a-story"), published_span("https://a.example/story-2")
    ((86400.0, 172800.0), None)
    """
    found = _DATED_PATH.search(url)
    if found is None:
        return None
    year, month, day = (int(part or 0) for part in found.groups())
    try:
        first = datetime(year, month, day or 1, tzinfo=UTC)
    except ValueError:
        return None
    return first.timestamp(), (first + timedelta(days=1 if day else 31)).timestamp()


def born_at(url: str, page_class: PageClass, met_at: float | None, first_seen: float = inf) -> float | None:
    """Say when a page was new, if that is known: when it was met as a new link, or the date in an article's address.

    What was met within the day, or the month, of the address is as old as that; what was visited before it was met was
    not new. Of a hub the age means nothing.

    >>> born_at("https://a.example/1970/01/a", "article", None), born_at("https://a.example/1970/01/a", "article", 7200.0)
    (0.0, 7200.0)
    """
    if page_class == "hub":
        return None
    met = met_at if met_at is not None and met_at <= first_seen else None
    span = published_span(url) if page_class == "article" else None
    if span is None or (met is not None and met < span[1]):
        return met
    return min(span[0], first_seen)
