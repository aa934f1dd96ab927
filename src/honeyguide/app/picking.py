"""Picking: the network, the reader and the profile, put together for `jobs.pick`.

Owns: what a pick is made of. Must not know: arguments, terminals. Start reading at `pick_sites`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from honeyguide.app.given import check_strategy, count_of, pattern_of, profile_of
from honeyguide.app.links import default_profile
from honeyguide.core import select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from honeyguide.core.policy import Policy
    from honeyguide.core.records import Record
    from honeyguide.jobs.pick import Picker, PickRequest
    from honeyguide.ports import Clock, Fetcher


async def pick_sites(
    sites: Iterable[str],
    request: PickRequest,
    policy: Policy,
    on_record: Callable[[int, Record], None],
    *,
    at_once: int = 16,
) -> None:
    """Pick from sites, up to `at_once` at a time; records are handed over with their place as each is finished."""
    from honeyguide.adapters.clock import SystemClock  # the network's libraries cost a third of a second
    from honeyguide.adapters.http import HttpFetcher
    from honeyguide.adapters.robots import read_robots
    from honeyguide.jobs.pick import pick_all
    from honeyguide.jobs.polite import PoliteFetcher

    clock = SystemClock()
    async with HttpFetcher(policy) as http:
        polite = PoliteFetcher(http, clock, partial(read_robots, token=policy.robots_token), policy)
        await pick_all(picker(request, polite, clock), sites, request, at_once, on_record)


def picker(request: PickRequest, fetcher: Fetcher, clock: Clock) -> Picker:
    """Put a picker together: profile, patterns and readers."""
    from honeyguide.adapters.markup.documents import Documents
    from honeyguide.jobs.pick import Picker  # asyncio is not for those who only score

    profile = profile_of(request.profile or default_profile(request.strategy))
    check_strategy(profile, request.strategy)
    if request.content:
        from honeyguide.adapters.markup.content import load_extractor  # an extra

        load_extractor()  # what is missing is said before the run, not in the middle of it
    if request.query is not None:
        profile = profile.with_query(request.query)
    cap = count_of(request.cap, "cap")
    asked = select.Request(None, cap, pattern_of(request.include), pattern_of(request.exclude))
    return Picker(fetcher, Documents(), clock, profile, asked)
