"""Watching: a store, a ranking and a crawler, put together for `jobs.watch`. Start reading at `watch_store`."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from heapq import nsmallest
from typing import TYPE_CHECKING

from honeyguide.app.arguments import profile_of
from honeyguide.app.crawl import opened_fetcher, sitemap_request
from honeyguide.app.known_urls.store import Excluded, StoreTable
from honeyguide.app.library.rendering import Rendering, opened_rendering
from honeyguide.app.runs import opened_store, reopen_refused, resume_request
from honeyguide.core.fetching import NEVER
from honeyguide.core.recrawl.plan import PlanQuery
from honeyguide.core.recrawl.priors import CLASSES, PageClass
from honeyguide.core.recrawl.signals import drop_reason, state_of
from honeyguide.errors import HoneyguideError, InputError
from honeyguide.jobs.request import CrawlRequest, latest_runs
from honeyguide.jobs.watch import HOUR_S, CountedFetcher, Round, WatchBudget, WatchRequest, WatchSession

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from honeyguide.core.fetching import FetchPolicy
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.url import Url
    from honeyguide.jobs.sitemaps import Listing
    from honeyguide.ports.fetch import Clock, Fetcher, RobotsFetcher
    from honeyguide.ports.store import Store

__all__ = ["CLASSES", "PageClass", "Round", "WatchBudget", "WatchRequest"]  # front ends import them from here


async def watch_store(
    store: str | Path | Store,
    request: WatchRequest,
    policy: FetchPolicy,
    *,
    fetcher: Fetcher | None = None,
    clock: Clock | None = None,
) -> str:
    """Plan and crawl what a store knows, in a loop, until the budget says that it is over; gives why it ended."""
    with opened_store(store, create=False) as opened:
        if policy.allow_private:
            reopen_refused(opened, opened.runs.list())
        named = [seed for run in latest_runs(opened.runs.list()) for seed in opened.ledger(run).seeds()]
        # What robots.txt says may change while we watch.
        policy = replace(policy, robots_ttl_s=min(policy.robots_ttl_s, HOUR_S))
        count = partial(CountedFetcher, history=opened.history, flush=opened.flush, budget=request.budget)
        async with (
            opened_fetcher(policy, named, fetcher, clock or opened.clock, count) as (polite, ticking),
            AsyncExitStack() as stack,
        ):
            rendering: dict[str, Fetcher] = {}
            session = watch_session(opened, request, polite, ticking, rendering)
            for run, profile in session.runs.values():
                if run.spec is not None and run.render != NEVER:
                    how = Rendering(run.render, policy, profile, named)
                    rendering[run.spec.key] = await stack.enter_async_context(opened_rendering(polite, how))
            return await session.watch()


def watch_session(
    store: Store,
    request: WatchRequest,
    fetcher: RobotsFetcher,
    clock: Clock,
    rendering: Mapping[str, Fetcher] | None = None,
) -> WatchSession:
    """Put together what a watch works with; a store of which no run can be resumed is rejected.

    `rendering` has the fetchers of runs whose pages are rendered, by the key of the run.
    """
    from honeyguide.adapters.html.content import HtmlReader  # costs a third of a second
    from honeyguide.adapters.html.sitemaps import read_sitemap
    from honeyguide.jobs.crawl import Crawler
    from honeyguide.jobs.sitemaps import list_pages

    async def list_sitemap(sitemap: str, seeds: tuple[Url, ...]) -> Listing:
        return await list_pages(sitemap_request((sitemap,), seeds), fetcher, read_sitemap)

    def crawler(run: CrawlRequest, profile: Profile) -> Crawler:
        own = (rendering or {}).get(run.spec.key if run.spec else "", fetcher)
        return Crawler(own, HtmlReader(), clock, store, profile)

    return WatchSession(
        request=request,
        store=store,
        clock=clock,
        runs=_resumable(store, request),
        crawler=crawler,
        best_urls=_ranking(store, request),
        list_sitemap=list_sitemap,
    )


def _ranking(store: Store, request: WatchRequest) -> Callable[[int, float, Collection[str]], list[str]]:
    """Rank what is not scheduled and has rested; priors of new pages are saved once an hour."""
    profile, save_at = profile_of(request.profile), 0.0

    def best_urls(count: int, now: float, unfetchable: Collection[str]) -> list[str]:
        nonlocal save_at
        least = {kind: now - max(request.rest_s, rest_s) for kind, rest_s in request.min_interval_s.items()}
        excluded = Excluded(
            store.history.scheduled(), unfetchable, now - request.rest_s, least, request.visited
        )
        overdue = _overdue(store, request, count, now, excluded) if request.max_interval_s else []
        table = StoreTable(store, profile, request.policy, excluded=excluded)
        if now >= save_at:
            table.save_priors()
            save_at = now + HOUR_S
        query = PlanQuery(datetime.fromtimestamp(now, UTC), top=count, per_host=request.per_host)
        best = [entry.scored.url for entry in table.plan(query).entries] if len(overdue) < count else []
        return list(dict.fromkeys([*overdue, *best]))[:count]

    return best_urls


def _overdue(store: Store, request: WatchRequest, count: int, now: float, excluded: Excluded) -> list[str]:
    """List pages whose class should have been visited by now, the oldest visit first."""
    most = request.max_interval_s
    found = (
        (known.visited_at, known.url)
        for known in store.history.known()
        if known.kind in most
        and known.visited_at < now - most[known.kind]
        and not known.is_moved
        and drop_reason(state_of(known)) is None
        and known.digest not in excluded.digests
        and known.url not in excluded.urls
    )
    return [url for _, url in nsmallest(count, found)]


def _resumable(store: Store, request: WatchRequest) -> dict[int, tuple[CrawlRequest, Profile]]:
    """Make the requests that resume runs; `on_note` receives those that cannot be resumed."""
    found, problems = {}, []
    limits = CrawlRequest((), concurrency=request.concurrency, keep_bytes=request.keep_bytes)
    for run in latest_runs(store.runs.list()):
        try:
            found[run.id] = resume_request(run, limits)
        except HoneyguideError as error:
            problems.append(str(error))
    if not found:
        raise InputError([*problems, "the store has no crawl yet; honeyguide crawl makes one"][0])
    for problem in problems:
        request.on_note(problem)
    return found
