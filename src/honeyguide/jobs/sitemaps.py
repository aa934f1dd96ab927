"""The pages that the sitemaps of a crawl list.

Owns: following indexes, finding sitemaps by robots.txt, and limits over all of them. Must not know: XML, HTTP. Start
reading at `list_pages`, which gets a function that parses a sitemap; `queue_listed` queues the pages.
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
MAX_PAGES = 200_000  # pages of all of them
MAX_USELESS = 20  # files that fail or list nothing, before the others are skipped
MAX_S = 900.0  # for all of them together, because the crawl begins afterwards
MAX_LEVELS = 3  # an index may list indexes; sitemaps.org allows none at all
_BATCH = 5_000  # pages that are queued in one call


class RobotsFetcher(Fetcher, Protocol):
    """A polite fetcher that knows the robots.txt of every origin."""

    async def robots(self, url: Url) -> Robots | None:
        """Give the rules of a URL's origin."""
        ...


@dataclass(slots=True)
class Listing:
    """Pages with their lastmod, in the order of the sitemaps; and what could not be read."""

    pages: dict[Url, str | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class SitemapRequest:
    """Which sitemaps to read: by address, from `files` that are parsed already, and those that robots.txt of `sites` names."""

    addresses: Sequence[Url] = ()
    files: Sequence[Sitemap] = ()
    sites: Sequence[Url] = ()


async def list_pages(
    request: SitemapRequest,
    source: RobotsFetcher,
    read: Callable[[bytes], Sitemap],
    limit_s: float | None = None,
) -> Listing:
    """List the pages of all sitemaps; a failure of one that the user named raises, others are `problems`."""
    listing = Listing()
    most_s = MAX_S if limit_s is None else min(MAX_S, limit_s)
    try:
        async with asyncio.timeout(most_s):
            await _list_all(request, source, read, listing)
    except TimeoutError:
        listing.problems.append(f"sitemaps took more than {most_s:g} s; the others are skipped")
    return listing


@dataclass(slots=True)
class _SitemapQueue:
    """Sitemaps in the order they were found, each once, up to one more than allowed."""

    waiting: deque[tuple[Url, int]] = field(default_factory=deque)
    known: set[Url] = field(default_factory=set)

    @property
    def is_full(self) -> bool:
        return len(self.known) > MAX_FILES

    def add(self, urls: Iterable[Url], level: int) -> None:
        for url in urls:
            if self.is_full:
                return
            if url not in self.known:
                self.known.add(url)
                self.waiting.append((url, level))


async def _list_all(
    request: SitemapRequest, source: RobotsFetcher, read: Callable[[bytes], Sitemap], listing: Listing
) -> None:
    """Read one sitemap after the other, until none is left or a limit is reached."""
    queue = _SitemapQueue()
    queue.add(request.addresses, 0)
    for sitemap in request.files:
        queue.add(_add_pages(sitemap, None, listing), 1)
    for site in request.sites:
        queue.add(await _named_by_robots(site, source, listing), 1)
    count = useless = 0
    while queue.waiting and not listing.is_cut:
        url, level = queue.waiting.popleft()
        if count >= MAX_FILES:
            listing.problems.append(f"more than {MAX_FILES} sitemaps; the others are skipped")
            return
        count += 1
        sitemap = await _fetch(url, source, read, listing if level else None)
        useless += not sitemap.pages and not sitemap.more
        if useless >= MAX_USELESS:
            listing.problems.append(f"{useless} sitemaps list nothing; the others are skipped")
            return
        more = _add_pages(sitemap, url, listing)
        if level + 1 < MAX_LEVELS:
            queue.add(more, level + 1)


async def _fetch(
    url: Url, source: RobotsFetcher, read: Callable[[bytes], Sitemap], listing: Listing | None
) -> Sitemap:
    """Fetch a sitemap; a failure is noted in the `listing`, or raises if there is none."""
    try:
        got = await fetch_or_fail(url, source.fetch(url, part=Part.FILE))
        why = "" if got.status == 200 else f"answered {got.status}"
    except FetchError as error:
        why = error.why
    if not why:
        return read(got.body)
    if listing is None:
        raise InputError(f"cannot be fetched: {why}", file=url.as_linked)
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


def _add_pages(sitemap: Sitemap, base: Url | None, listing: Listing) -> Iterator[Url]:
    """Add the pages of a sitemap to the listing; gives the sitemaps that it lists."""
    for text, lastmod in sitemap.pages:
        if len(listing.pages) >= MAX_PAGES:
            listing.is_cut = True
            listing.problems.append(f"more than {MAX_PAGES:,} pages in sitemaps; the others are skipped")
            break
        for url in _urls((text,), base):
            listing.pages.setdefault(url, lastmod)
    return _urls(sitemap.more, base)


def _urls(texts: Iterable[str], base: Url | None) -> Iterator[Url]:
    """Parse URLs, and skip what is none."""
    for text in texts:
        try:
            yield Url.parse(text, base)
        except UrlError:
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
            if lastmod and digest in kept and url.site in sites
        ]
    return lastmods
