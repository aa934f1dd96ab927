"""Pages that no page at hand links: what is read of a sitemap, and where such pages go in the queue.

Owns: `Sitemap`, the time format of `lastmod`, `place_sitemap_urls`, and `place_external` for links that were met before their site
was part of the crawl. Must not know: XML, files, fetching.
A sitemap is taken for a page of links without a word about any of them, so the same rules decide: scope, skip rules,
patterns, traps, and the lanes by what the URL itself says of the topic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from honeyguide.core.crawl.frontier import Lease, Sighting
from honeyguide.core.crawl.judge import Around, candidates_of, judge_page
from honeyguide.core.page.page import Link, Occurrence, Page, Position
from honeyguide.core.url.url import Url

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from honeyguide.core.crawl.frontier import Discovered, FrontierRow
    from honeyguide.core.crawl.judge import CrawlContext


POSITION = Position.SITEMAP.value  # of a sighting that is no link on a page; its anchor is the lastmod
_COARSE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
_PLACES = frozenset(place.value for place in Position if place is not Position.SITEMAP)
_SILENT = (Occurrence(position=Position.FOOTER),)  # the position that pays nothing (TOPIC-1)


@dataclass(frozen=True, slots=True)
class Sitemap:
    """One file, as written: pages with their `lastmod`, and the further sitemaps of an index."""

    pages: tuple[tuple[str, str | None], ...] = ()
    more: tuple[str, ...] = ()


def read_lastmod(text: str) -> str | None:
    """Read a W3C date; times become UTC, dates stay dates, and what is neither is not known.

    >>> read_lastmod("2024-05-01"), read_lastmod("2024-05-01T10:00:00+02:00"), read_lastmod("yesterday")
    ('2024-05-01', '2024-05-01T08:00:00Z', None)
    """
    stripped = text.strip()
    try:
        moment = datetime.fromisoformat(stripped if len(stripped) != 7 else f"{stripped}-01")
    except ValueError:
        return stripped if re.fullmatch(r"[12]\d{3}", stripped) else None
    if _COARSE.fullmatch(stripped):
        return stripped
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except OverflowError:
        return None


def place_sitemap_urls(
    pages: Mapping[Url, str | None], start: Url, sites: frozenset[str], ground: CrawlContext
) -> list[Discovered]:
    """Give listed pages as the frontier takes them in, queued or rejected; each says when it was last changed."""
    links = tuple(Link(url, _SILENT, order) for order, url in enumerate(pages))
    # What it lists is no link further than a seed.
    return [_noted(found, pages[found.url]) for found in _placed(Page(start, links=links), 0, sites, ground)]


def place_external(
    row: FrontierRow, seen: Iterable[Sighting], sites: frozenset[str], ground: CrawlContext
) -> Discovered | None:
    """Place a link anew by all that was seen of it, as if one seed linked it so; None if there are too many."""
    url = Url.parse(row.url)
    link = Link(url, tuple(map(_occurrence, seen)) or _SILENT)
    # Of the same site, so the link is judged as one of its own; and never the link itself, which would be no link.
    page = Page(Url.parse("/robots.txt", url), links=(link,))
    return next(iter(_placed(page, row.depth, sites, ground)), None)


def _placed(page: Page, depth: int, sites: frozenset[str], ground: CrawlContext) -> list[Discovered]:
    """Place the links of a page that stands for a seed, each so many links from one."""
    lease = Lease(0, 0, page.url, page.url.site, depth=depth - 1, is_seed=True)
    return judge_page(page, lease, candidates_of(page, ground), Around({}, sites), ground).findings.new


def _occurrence(seen: Sighting) -> Occurrence:
    return (
        Occurrence(seen.anchor, position=Position(seen.position)) if seen.position in _PLACES else _SILENT[0]
    )


def _noted(found: Discovered, lastmod: str | None) -> Discovered:
    seen = found.sighting or Sighting("", "", None, "", "")
    return found._replace(sighting=seen._replace(anchor=lastmod or "", position=POSITION))
