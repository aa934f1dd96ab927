"""What sites say of changes: sitemaps by lastmod, answers by Last-Modified, articles by the date in their address.

Owns: reading those times, `Claim`, and when a page was new. Must not know: what is believed of whom (history.py), how visits are made.
Start reading at `claims_of`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.pace import http_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.core.priors import PageClass

# Who tells when a page changed.
SITEMAP = "lastmod"
HEADER = "last-modified"

_LONGEST_TIME = 64  # characters
_DATED = re.compile(r"/((?:19|20)[0-9]{2})[/-]([01]?[0-9])(?:[/-]([0-3]?[0-9]))?(?:[/-]|$)")


class Claim(NamedTuple):
    """Who says that a page changed, between which moments; seconds since 1970."""

    source: str
    first: float
    last: float

    def says_changed(self, since: float) -> bool | None:
        """Tell whether the page is said to have changed since then; None where a date leaves it open.

        >>> day = Claim(SITEMAP, 86400.0, 172800.0)
        >>> day.says_changed(0.0), day.says_changed(90000.0), day.says_changed(172800.0)
        (True, None, False)
        """
        if self.first > since:
            return True
        return False if self.last <= since else None


def claims_of(header: str | None, lastmod: str | None) -> Iterator[Claim]:
    """Read what an answer and a sitemap say, as far as it can be read.

    >>> [claim.source for claim in claims_of("yesterday", "2026-05-01")]
    ['lastmod']
    """
    at, span = http_time(header), lastmod_span(lastmod)
    if at is not None:
        yield Claim(HEADER, at, at)
    if span is not None:
        yield Claim(SITEMAP, *span)


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
    found = _DATED.search(url)
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
