"""Picking: the network, the reader and the profile, put together for `jobs.pick`.

Start reading at `pick_sites`. Must not know: options, terminals.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from honeyguide.app.arguments import FetchPolicy, strategy_profile
from honeyguide.app.pick.select import options_of
from honeyguide.core.why import Why
from honeyguide.jobs.pick import PickRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from honeyguide.adapters.files.sites import SiteRow
    from honeyguide.core.records import Record
    from honeyguide.jobs.pick import Picker
    from honeyguide.ports.fetch import Clock, Fetcher

__all__ = ["PickRequest"]  # front ends import it from here
# Our own server on our own machine: no need to wait for it, and loopback is where it is.
DEMO_POLICY = FetchPolicy(allow_private=True, delay_s=0.05, jitter=0, retries=0)


async def pick_sites(
    sites: Iterable[str | SiteRow],
    request: PickRequest,
    policy: FetchPolicy,
    on_record: Callable[[int, Record], None],
    *,
    at_once: int = 16,
) -> None:
    """Pick from sites, `at_once` in parallel; `on_record` gets each record as it is finished, with the site's place."""
    from honeyguide.adapters.clock import SystemClock  # the network's libraries cost a third of a second
    from honeyguide.adapters.http.client import HttpFetcher
    from honeyguide.adapters.http.robots import read_robots
    from honeyguide.jobs.pick import pick_all
    from honeyguide.jobs.politeness import PoliteFetcher

    clock = SystemClock()
    async with HttpFetcher(policy) as http:
        polite = PoliteFetcher(http, clock, partial(read_robots, token=policy.robots_token), policy)
        job = picker(request, polite, clock)
        usable: list[tuple[int, str]] = []
        for place, row in enumerate(sites):
            if not isinstance(row, str) and row.problem:
                on_record(place, job.fail(row.text, Why("unreachable", row.problem)))
            else:
                usable.append((place, row if isinstance(row, str) else row.text))
        names = [site for _, site in usable]
        await pick_all(job, names, at_once, lambda index, record: on_record(usable[index][0], record))


def picker(request: PickRequest, fetcher: Fetcher, clock: Clock) -> Picker:
    """Put a picker together: profile, patterns and readers."""
    from honeyguide.adapters.html.content import HtmlReader, load_extractor
    from honeyguide.jobs.pick import Picker

    if request.content:
        load_extractor()  # an extra: if it is missing, that is said before the run
    options = options_of(request.cap, request.include, request.exclude)
    return Picker(
        fetcher=fetcher,
        reader=HtmlReader(),
        clock=clock,
        profile=strategy_profile(request.strategy, request.profile, request.query),
        request=request,
        options=options,
    )
