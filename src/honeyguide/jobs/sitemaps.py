"""The pages that the sitemaps of a crawl list.

Owns: following indexes, finding sitemaps by robots.txt, and limits over all of them. Must not know: XML, HTTP.
Start reading at `list_pages`; `queue_listed` queues the pages.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from honeyguide.core.crawl.sitemap import place_sitemap_urls
from honeyguide.core.url.url import Url
from honeyguide.errors import FetchError, InputError, UrlError
from honeyguide.jobs.results import fetch_or_fail
from honeyguide.ports.fetch import Part, RobotsFetcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from honeyguide.core.crawl.judge import CrawlContext
    from honeyguide.core.crawl.sitemap import Sitemap
    from honeyguide.ports.store import Queue


MAX_FILES = 500  # sitemaps that are fetched for one crawl
MAX_PAGES = 200_000  # pages of all of them
MAX_USELESS = 20  # files that fail or list nothing, before the others are skipped
MAX_S = 900.0  # for all of them together, because the crawl begins afterwards
MAX_LEVELS = 3  # an index may list indexes; sitemaps.org allows none at all
_BATCH = 5_000  # pages that are queued in one call


@dataclass(slots=True)
class Listing:
    """Pages with their lastmod, in the order of the sitemaps; and what could not be read."""

    pages: dict[Url, str | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    is_cut: bool = False
    files: int = 0  # sitemaps that were requested


@dataclass(frozen=True, slots=True)
class SitemapRequest:
    """Which sitemaps to read: by address, from `files` that are parsed already, and those that robots.txt of `sites` names.

    With `is_guess`, /sitemap.xml is tried where robots.txt names none.
    """

    addresses: Sequence[Url] = ()
    files: Sequence[Sitemap] = ()
    sites: Sequence[Url] = ()
    is_guess: bool = False
    max_files: int | None = None
    max_pages: int | None = None


async def list_pages(
    request: SitemapRequest,
    source: RobotsFetcher,
    read: Callable[[bytes], Sitemap],
    limit_s: float | None = None,
) -> Listing:
    """List the pages of all sitemaps; a failure of one that the user named raises, others are `problems`."""
    reading = _Reading(source, read, request)
    most_s = MAX_S if limit_s is None else min(MAX_S, limit_s)
    try:
        async with asyncio.timeout(most_s):
            await reading.read_all()
    except TimeoutError:
        reading.listing.problems.append(f"sitemaps took more than {most_s:g} s; the others are skipped")
    return reading.listing


@dataclass(slots=True)
class _Reading:
    """One sitemap after the other, in the order they were found, each once; one more than allowed is queued."""

    source: RobotsFetcher
    read: Callable[[bytes], Sitemap]
    request: SitemapRequest
    listing: Listing = field(default_factory=Listing)
    queue: deque[tuple[Url, int]] = field(default_factory=deque)
    known: set[Url] = field(default_factory=set)

    async def read_all(self) -> None:
        """Read until no sitemap is left or a limit is reached."""
        problems, request = self.listing.problems, self.request
        most = request.max_files or MAX_FILES
        self._enqueue(request.addresses, 0)
        for sitemap in request.files:
            if not self.listing.is_cut:
                self._enqueue(self._add_pages(sitemap, None), 1)
        for site in request.sites:
            self._enqueue(await self._named_by_robots(site), 1)
        useless = 0
        while self.queue and not self.listing.is_cut:
            url, level = self.queue.popleft()
            if self.listing.files >= most:
                problems.append(f"more than {most} sitemaps; the others are skipped")
                return
            self.listing.files += 1
            sitemap = await self._fetch(url, is_named=level == 0)
            useless += not sitemap.pages and not sitemap.more
            if useless >= MAX_USELESS:
                problems.append(f"{useless} sitemaps list nothing; the others are skipped")
                return
            more = self._add_pages(sitemap, url)
            if level + 1 < MAX_LEVELS:
                self._enqueue(more, level + 1)

    def _enqueue(self, urls: Iterable[Url], level: int) -> None:
        for url in urls:
            if len(self.known) > MAX_FILES:
                return
            if url not in self.known:
                self.known.add(url)
                self.queue.append((url, level))

    async def _fetch(self, url: Url, *, is_named: bool) -> Sitemap:
        """Fetch a sitemap; a failure is a problem, or raises if the user named it."""
        try:
            got = await fetch_or_fail(url, self.source.fetch(url, part=Part.FILE))
            why = "" if got.status == 200 else f"answered {got.status}"
        except FetchError as error:
            why = error.why
        if not why:
            return self.read(got.body)
        if is_named:
            raise InputError(f"cannot be fetched: {why}", file=url.as_linked)
        self.listing.problems.append(f"sitemap {url.as_linked}: {why}")
        return self.read(b"")

    async def _named_by_robots(self, site: Url) -> list[Url]:
        try:
            robots = await fetch_or_fail(site, self.source.robots(site))
        except FetchError as error:
            self.listing.problems.append(f"{site.site}: {error.why}")
            return []
        found = list(_urls(robots.sitemaps if robots else (), site))
        if not found and self.request.is_guess:
            return [Url.parse("/sitemap.xml", site)]
        if not found:
            self.listing.problems.append(f"robots.txt of {site.site} names no sitemap")
        return found

    def _add_pages(self, sitemap: Sitemap, base: Url | None) -> Iterator[Url]:
        """Add the pages of a sitemap to the listing; gives the sitemaps that it lists."""
        listing, most = self.listing, self.request.max_pages or MAX_PAGES
        for text, lastmod in sitemap.pages:
            if len(listing.pages) >= most:
                listing.is_cut = True
                listing.problems.append(f"more than {most:,} pages in sitemaps; the others are skipped")
                break
            for url in _urls((text,), base):
                listing.pages.setdefault(url, lastmod)
        return _urls(sitemap.more, base)


def _urls(texts: Iterable[str], base: Url | None) -> Iterator[Url]:
    for text in texts:
        try:
            yield Url.parse(text, base)
        except UrlError:  # what is no URL is skipped
            continue


def queue_listed(
    queue: Queue, listing: Listing, seeds: Sequence[Url], sites: frozenset[str], context: CrawlContext
) -> list[tuple[int, str]]:
    """Queue listed pages that are not known yet, where the rules of the run place them; seeds stay seeds.

    Gives the lastmod of each page that the run keeps and that belongs to `sites`, by its digest.
    """
    context.traps.restore(queue.shapes())
    own = {context.digest(seed) for seed in seeds}
    lastmods: list[tuple[int, str]] = []
    pages = iter(listing.pages.items())
    while batch := {context.digest(url): (url, lastmod) for url, lastmod in islice(pages, _BATCH)}:
        kept = own.union(queue.known(list(batch)))
        new = dict(page for digest, page in batch.items() if digest not in kept)
        found = place_sitemap_urls(new, seeds[0], sites, context)
        queue.add(found)
        kept.update(discovered.digest for discovered in found)
        lastmods += [
            (digest, lastmod)
            for digest, (url, lastmod) in batch.items()
            if lastmod and digest in kept and context.profile.scope.area(url.site) in sites
        ]
    return lastmods
