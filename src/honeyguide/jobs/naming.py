"""From the names that people write to the addresses that answer, before a crawl begins.

Owns: trying what a seed may mean, and keeping the run that of what was written. Must not know: HTTP, arguments.
Start reading at `placed`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from honeyguide.errors import AddressRefused, FetchError, Forbidden
from honeyguide.jobs.asked import spec_of
from honeyguide.jobs.ours import ours
from honeyguide.ports import Part

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from honeyguide.core.profile import Profile
    from honeyguide.core.url import Url
    from honeyguide.jobs.asked import CrawlRequest
    from honeyguide.ports import Fetcher, Store

    Meant = Mapping[Url, Sequence[Url]]


def part_of(max_time_s: float | None) -> float | None:
    """Say how long each step before the first page may take: with two of them, half of the time is left for pages."""
    return None if max_time_s is None else max_time_s / 4


async def placed(
    request: CrawlRequest, otherwise: Meant, profile: Profile, store: Store, fetcher: Fetcher
) -> CrawlRequest:
    """Give a request whose seeds are what answers. The run is that of what was written, wherever it leads today."""
    spec = spec_of(request, profile)
    runs = [run for run in store.runs() if run.spec.key == spec.key and run.fetched]
    if runs and not request.fresh and store.frontier(runs[-1]).counts().states["done"]:
        return replace(request, seeds=store.frontier(runs[-1]).seeds(), spec=spec)
    seeds = await _reached(request.seeds, otherwise, fetcher, part_of(request.max_time_s))
    return replace(request, seeds=seeds, spec=spec)


async def _reached(
    seeds: Sequence[Url], otherwise: Meant, fetcher: Fetcher, limit_s: float | None
) -> tuple[Url, ...]:
    """Give each seed as what answers, of all that it may mean; where nothing does, the crawl says so of the first.

    One seed of a host is tried for all.
    """
    meant = {seed: (seed, *otherwise.get(seed, ())) for seed in seeds}
    tried = {seed.site: seed for seed in reversed(seeds) if len(meant[seed]) > 1}
    found: dict[str, int] = {}

    async def reach(seed: Url) -> None:
        for place, url in enumerate(meant[seed]):
            try:
                await ours(url, fetcher.fetch(url, part=Part.HEAD))
            except (Forbidden, AddressRefused):
                pass  # there is a site, which says no, or an address, which we may not ask
            except FetchError:
                continue
            found[seed.site] = place
            return

    with suppress(TimeoutError):  # what was not reached in time is asked for as it is written
        async with asyncio.timeout(limit_s):
            await asyncio.gather(*map(reach, tried.values()))
    return tuple(meant[seed][found.get(seed.site, 0) if len(meant[seed]) > 1 else 0] for seed in seeds)
