"""What sites announce between visits: their sitemaps and feeds, read again while a store is watched.

Owns: reading them for the runs of a store, queueing what is new, and noting what they say of changes. Must not know: when
it is time to (`watching.py`), what is made of it (history and plan). Start reading at `take_announced`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.app.crawling import asked_of
from honeyguide.errors import FetchError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from honeyguide.core.frontier import Run
    from honeyguide.core.profile import Profile
    from honeyguide.jobs.crawl import CrawlRequest
    from honeyguide.jobs.sitemaps import Listing, Source
    from honeyguide.ports import Store

    Runs = Mapping[int, tuple[CrawlRequest, Profile]]


async def take_announced(store: Store, runs: Runs, sitemaps: Sequence[str], source: Source) -> list[str]:
    """Read sitemaps and feeds for all runs of a store; gives what could not be read, which is no reason to stop."""
    from honeyguide.adapters.markup.sitemap import read_sitemap  # see pick_sites
    from honeyguide.jobs.sitemaps import list_pages

    taking = [run for run in store.runs() if run.id in runs]
    seeds = dict.fromkeys(seed for run in taking for seed in store.frontier(run).seeds())
    problems: list[str] = []
    for sitemap in sitemaps:
        try:
            listing = await list_pages(asked_of((sitemap,), tuple(seeds)), source, read_sitemap)
        except (FetchError, InputError) as error:
            problems.append(str(error))
        else:
            problems += listing.problems
            for run in taking:
                _take(store, run, listing, *runs[run.id])
            store.flush()
    return problems


def _take(store: Store, run: Run, listing: Listing, request: CrawlRequest, profile: Profile) -> None:
    """Queue what a run may fetch and does not know yet, and note when the listed pages say that they changed."""
    from honeyguide.jobs.asked import ground_of
    from honeyguide.jobs.sitemaps import Listing, queue_listed

    frontier = store.frontier(run)
    sites, seeds = frontier.sites(), frontier.seeds()
    own = Listing({url: lastmod for url, lastmod in listing.pages.items() if url.site in sites})
    if own.pages and seeds:
        with store.transaction():
            store.history.listed(queue_listed(frontier, own, seeds, sites, ground_of(request, profile)))
