"""Which pages the sitemaps of a crawl list.

Owns: following indexes, finding sitemaps by robots.txt, and bounds over all of them. Must not know: XML, HTTP; reading
bytes is a function it is given. Start reading at `list_pages`; `queue_listed` puts what was found into the queue.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from honeyguide.core.crawl.sitemap import place_sitemap_urls
from honeyguide.core.url.url import Url
from honeyguide.errors import FetchError, InputError, UrlError
from honeyguide.jobs.politeness import fetch_or_fail
from honeyguide.ports.fetch import Fetcher, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from honeyguide.core.crawl.judge import CrawlContext
    from honeyguide.core.crawl.sitemap import Sitemap
    from honeyguide.ports.fetch import Robots
    from honeyguide.ports.store import Queue


MAX_FILES = 500  # sitemaps that are fetched for one crawl
MAX_PAGES = 200_000  # pages that are taken from all of them
MAX_USELESS = 20  # files that cannot be had, or list nothing, until the others are no longer asked for
MAX_S = 900.0  # for all of them together: the crawl begins when they are read
MAX_LEVELS = 3  # an index may list indexes; sitemaps.org allows none at all
_AT_ONCE = 5_000  # pages that are given to the frontier in one call


class RobotsFetcher(Fetcher, Protocol):
    """A fetcher that behaves by itself, and knows the robots.txt of every origin."""

    async def robots(self, url: Url) -> Robots | None:
        """Give the rules of a URL's origin."""
        ...


@dataclass(slots=True)
class Listing:
    """Pages with their lastmod, in the order they were met; and what could not be read."""

    pages: dict[Url, str | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class SitemapRequest:
    """Where to look: sitemaps by address, sitemaps that were read already, sites whose robots.txt names some."""

    addresses: Sequence[Url] = ()
    given: Sequence[Sitemap] = ()
    sites: Sequence[Url] = ()


async def list_pages(
    asked: SitemapRequest,
    source: RobotsFetcher,
    read: Callable[[bytes], Sitemap],
    limit_s: float | None = None,
) -> Listing:
    """List the pages of all sitemaps; one that was named and cannot be had raises, others are noted."""
    listing = Listing()
    most_s = MAX_S if limit_s is None else min(MAX_S, limit_s)
    try:
        async with asyncio.timeout(most_s):
            await _list_all(asked, source, read, listing)
    except TimeoutError:
        listing.problems.append(f"sitemaps took more than {most_s:g} s; the others are left out")
    return listing


@dataclass(slots=True)
class _Todo:
    """Sitemaps in the order they were met, each once; those beyond the bound are only counted as too many."""

    waiting: deque[tuple[Url, int]] = field(default_factory=deque)
    met: set[Url] = field(default_factory=set)

    @property
    def is_full(self) -> bool:
        return len(self.met) > MAX_FILES

    def add(self, urls: Iterable[Url], level: int) -> None:
        for url in urls:
            if self.is_full:
                return
            if url not in self.met:
                self.met.add(url)
                self.waiting.append((url, level))


async def _list_all(
    asked: SitemapRequest, source: RobotsFetcher, read: Callable[[bytes], Sitemap], listing: Listing
) -> None:
    """Go from sitemap to sitemap, until there is none left or a bound is reached."""
    todo = _Todo()
    todo.add(asked.addresses, 0)
    for sitemap in asked.given:
        todo.add(_take(sitemap, None, listing), 1)
    for site in asked.sites:
        todo.add(await _named_by_robots(site, source, listing), 1)
    files = useless = 0
    while todo.waiting and not listing.is_cut:
        url, level = todo.waiting.popleft()
        if files >= MAX_FILES:
            listing.problems.append(f"more than {MAX_FILES} sitemaps; the others are left out")
            return
        files += 1
        sitemap = await _fetched(url, source, read, listing if level else None)
        useless += not sitemap.pages and not sitemap.more
        if useless >= MAX_USELESS:
            listing.problems.append(f"{useless} sitemaps list nothing; the others are left out")
            return
        more = _take(sitemap, url, listing)
        if level + 1 < MAX_LEVELS:
            todo.add(more, level + 1)


async def _fetched(
    url: Url, source: RobotsFetcher, read: Callable[[bytes], Sitemap], listing: Listing | None
) -> Sitemap:
    """Fetch one; without a listing to note it in, a failure is an error."""
    try:
        got = await fetch_or_fail(url, source.fetch(url, part=Part.FILE))
        why = "" if got.status == 200 else f"answered {got.status}"
    except FetchError as error:
        why = error.why
    if not why:
        return read(got.body)
    if listing is None:
        raise InputError(f"cannot be had: {why}", file=url.as_linked)
    listing.problems.append(f"sitemap {url.as_linked}: {why}")
    return read(b"")


async def _named_by_robots(site: Url, source: RobotsFetcher, listing: Listing) -> list[Url]:
    try:
        robots = await fetch_or_fail(site, source.robots(site))
    except FetchError as error:
        listing.problems.append(f"{site.site}: {error.why}")
        return []
    found = list(_urls(robots.sitemaps if robots else (), site))
    if not found:
        listing.problems.append(f"robots.txt of {site.site} names no sitemap")
    return found


def _take(sitemap: Sitemap, base: Url | None, listing: Listing) -> Iterator[Url]:
    """Take the pages of a sitemap, each once; gives the sitemaps that it lists."""
    for text, lastmod in sitemap.pages:
        if len(listing.pages) >= MAX_PAGES:
            listing.is_cut = True
            listing.problems.append(f"more than {MAX_PAGES:,} pages in sitemaps; the others are left out")
            break
        for url in _urls((text,), base):
            listing.pages.setdefault(url, lastmod)
    return _urls(sitemap.more, base)


def _urls(texts: Iterable[str], base: Url | None) -> Iterator[Url]:
    """Read addresses; what is none is left out."""
    for text in texts:
        try:
            yield Url.parse(text, base)
        except UrlError:
            continue


def queue_listed(
    queue: Queue, listing: Listing, seeds: Sequence[Url], sites: frozenset[str], ground: CrawlContext
) -> list[tuple[int, str]]:
    """Queue what is listed and not known yet, each page where the rules of the run place it. Seeds stay seeds.

    Gives what the listing says of changes, by the identity of the page: of pages of these sites that the run keeps.
    """
    ground.traps.restore(queue.shapes())
    ground.crowd.restore(queue.urls_per_host())
    own = {ground.digest(seed) for seed in seeds}
    told: list[tuple[int, str]] = []
    pages = iter(listing.pages.items())
    while some := {ground.digest(url): (url, lastmod) for url, lastmod in islice(pages, _AT_ONCE)}:
        kept = own.union(queue.known(list(some)))
        new = dict(page for digest, page in some.items() if digest not in kept)
        found = place_sitemap_urls(new, seeds[0], sites, ground)
        queue.add(found, ground.traps.take_changes())
        kept.update(one.digest for one in found)
        told += [
            (digest, lastmod)
            for digest, (url, lastmod) in some.items()
            if lastmod and digest in kept and url.site in sites
        ]
    return told
