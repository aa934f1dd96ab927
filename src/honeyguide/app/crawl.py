"""Crawling: the network, the reader, the store and sitemaps, put together for `jobs.crawl`.

Owns: what a crawl is made of. Must not know: arguments, terminals. Start reading at `crawl_site`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from honeyguide.app.runs import open_store
from honeyguide.core.url.url import Url
from honeyguide.errors import AddressRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from honeyguide.core.crawl.frontier import Run
    from honeyguide.core.fetching import FetchPolicy
    from honeyguide.core.records import Record
    from honeyguide.core.rules.profile import Profile
    from honeyguide.jobs.crawl import CrawlRequest, CrawlSummary, PageAttachments
    from honeyguide.jobs.politeness import PoliteFetcher
    from honeyguide.jobs.sitemaps import SitemapRequest
    from honeyguide.ports.store import Store


async def crawl_site(  # noqa: PLR0913 - settings of a library call
    request: CrawlRequest,
    policy: FetchPolicy,
    profile: Profile,
    store_path: str | Path,
    on_page: Callable[[Record, PageAttachments], None],
    *,
    sitemaps: Sequence[str] = (),
    otherwise: Mapping[Url, Sequence[Url]] | None = None,
    on_run: Callable[[Store, Run], None] | None = None,
    on_note: Callable[[str], None] | None = None,
) -> CrawlSummary:
    """Crawl, or go on with what the store has of the same crawl; pages are handed over as each is finished.

    `sitemaps` are addresses, files, or `auto`: those that robots.txt names. `otherwise` has what a seed may mean besides, in
    the order to try: of a bare name, other schemes and www. `on_run` learns the run before the first
    page is fetched, `on_note` what could not be read of sitemaps.
    """
    from honeyguide.adapters.clock import SystemClock  # see pick_sites
    from honeyguide.adapters.html.content import Documents
    from honeyguide.adapters.http.client import HttpFetcher
    from honeyguide.adapters.http.robots import read_robots
    from honeyguide.jobs.crawl import Crawler
    from honeyguide.jobs.politeness import PoliteFetcher

    clock = SystemClock()
    store = open_store(store_path)
    try:
        async with HttpFetcher(policy) as http:
            polite = PoliteFetcher(http, clock, partial(read_robots, token=policy.robots_token), policy)
            queue = None
            begun_at = clock.now()
            if otherwise:
                from honeyguide.jobs.request import resolve_seeds

                request = await resolve_seeds(request, otherwise, profile, store, polite)
            if sitemaps:
                request, queue = await _listed(sitemaps, request, profile, polite, on_note)
            request = _less(request, clock.now() - begun_at)

            def begun(run: Run) -> None:
                if policy.allow_private:
                    reopen_refused(store, [run])
                if queue is not None:
                    queue(store, run)
                if on_run is not None:
                    on_run(store, run)

            crawler = Crawler(polite, Documents(), clock, store, profile)
            return await crawler.crawl(request, on_page, begun)
    finally:
        store.close()


def _less(request: CrawlRequest, spent_s: float) -> CrawlRequest:
    """Take time off a request: what it took to get there is no longer there for pages."""
    if request.max_time_s is None:
        return request
    return replace(request, max_time_s=max(request.max_time_s / 2, request.max_time_s - spent_s))


def reopen_refused(store: Store, runs: Iterable[Run]) -> None:
    """Queue again what was refused for its address, by a command that did not allow it."""
    for run in runs:
        store.queue(run).reopen(AddressRefusedError.rule)
    store.flush()


def sitemap_request(sitemaps: Sequence[str], seeds: tuple[Url, ...]) -> SitemapRequest:
    """Tell addresses, files and `auto` apart."""
    from honeyguide.adapters.html.sitemaps import read_file
    from honeyguide.jobs.sitemaps import SitemapRequest

    named = [text for text in sitemaps if text != "auto"]
    is_auto = len(named) < len(sitemaps)
    urls = [Url.parse(text) for text in named if text.lower().startswith(("http://", "https://"))]
    files = [text for text in named if not text.lower().startswith(("http://", "https://"))]
    return SitemapRequest(urls, [read_file(file) for file in files], seeds if is_auto else ())


async def _listed(
    sitemaps: Sequence[str],
    request: CrawlRequest,
    profile: Profile,
    fetcher: PoliteFetcher,
    on_note: Callable[[str], None] | None,
) -> tuple[CrawlRequest, Callable[[Store, Run], None]]:
    """Read the sitemaps; gives the request, and what queues the pages they list, by the rules of the crawl.

    Where no seed is given, the homepages of what they list are the seeds.
    """
    from honeyguide.adapters.html.sitemaps import read_sitemap
    from honeyguide.core.crawl.sitemap import roots_of
    from honeyguide.jobs.request import context_of, setup_time_s
    from honeyguide.jobs.sitemaps import list_pages, queue_listed

    asked = sitemap_request(sitemaps, request.seeds)
    listing = await list_pages(asked, fetcher, read_sitemap, setup_time_s(request.max_time_s))
    for problem in listing.problems:
        if on_note is not None:
            on_note(problem)
    seeded = request if request.seeds else replace(request, seeds=roots_of(listing.pages))
    sites = frozenset(seed.site for seed in seeded.seeds)  # and not who keeps the sitemap

    def queue(store: Store, run: Run) -> None:
        if listing.pages:
            ground = context_of(seeded, profile)
            store.history.note_lastmods(queue_listed(store.queue(run), listing, seeded.seeds, sites, ground))
            store.flush()

    return seeded, queue


def due_runs(store: Store) -> list[Run]:
    """Give the runs that have something scheduled, oldest first; one that was started over is not gone on with."""
    newest = {run.spec.key: run for run in store.runs.list()}
    found = sorted(newest.values(), key=lambda run: run.id)
    return [run for run in found if store.ledger(run).counts().due]
