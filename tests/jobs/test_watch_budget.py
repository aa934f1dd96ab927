"""Watching by requests: robots.txt and redirects count in the budget, and pages have intervals by class. Time is frozen."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from honeyguide import FetchPolicy, WatchBudget, WatchRequest, observe
from honeyguide.app.watch import watch_store
from honeyguide.core.url.url import Url
from honeyguide.jobs.watch import HOUR_S, Round
from honeyguide.ports.fetch import Fetched, Headers, Part, Validators
from honeyguide.testing.fakes import FrozenClock
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from honeyguide.core.recrawl.priors import PageClass

START = 1_750_000_000.0
ROOT = "https://a.example"


class Site:
    """A site with a robots.txt, whose pages are redirected once, and a log of all requests."""

    def __init__(self, clock: FrozenClock) -> None:
        self._clock = clock
        self.log: list[tuple[float, str]] = []

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators, part
        self.log.append((self._clock.now(), url.path))
        await asyncio.sleep(0)
        if url.path == "/robots.txt":
            return Fetched(url, url, 200, Headers("text/plain"), b"User-agent: *\nDisallow: /no\n")
        if url.path.startswith("/old"):
            return Fetched(url, url, 302, Headers(location=f"{ROOT}/new{url.path}"))
        return Fetched(url, url, 200, Headers("text/html"), f"<title>{url.path}</title><p>page</p>".encode())

    def paths(self, kind: str) -> list[float]:
        return [at for at, path in self.log if path.startswith(kind)]


def watched(paths: list[str], request: WatchRequest, *, watches: int = 1) -> Site:
    clock = FrozenClock(START)
    site, store = Site(clock), MemoryStore()
    for age, path in enumerate(paths, 2):
        observe(store, f"{ROOT}{path}", datetime.fromtimestamp(START - age * HOUR_S, UTC))
    for _ in range(watches):
        asyncio.run(watch_store(store, request, FetchPolicy(), fetcher=site, clock=clock))
    return site


def most_in_an_hour(times: list[float]) -> int:
    return max(sum(start <= at < start + HOUR_S for at in times) for start in times)


def test_the_budget_counts_requests_and_not_visits_alone() -> None:
    rounds: list[Round] = []
    budget = WatchBudget(per_hour=7, cycle_s=300.0, rounds=40)
    request = WatchRequest(budget, "news", rest_s=0.0, on_round=rounds.append)
    site = watched([f"/old-{n}" for n in range(9)], request)
    assert most_in_an_hour([at for at, _ in site.log]) <= 7
    assert len(site.paths("/new")) > 6  # and work is done
    assert max(last.spent for last in rounds) <= 7


def test_a_second_process_knows_the_requests_of_the_first() -> None:
    request = WatchRequest(WatchBudget(per_hour=6, cycle_s=60.0, rounds=3), "news", rest_s=0.0)
    site = watched([f"/old-{n}" for n in range(9)], request, watches=4)
    assert most_in_an_hour([at for at, _ in site.log]) <= 6


def test_robots_txt_is_requested_again_at_least_every_hour() -> None:
    request = WatchRequest(
        WatchBudget(per_hour=60, cycle_s=300.0, until=START + 6 * HOUR_S), "news", rest_s=600.0
    )
    times = watched(["/a", "/b"], request).paths("/robots.txt")
    assert len(times) >= 6
    assert max(later - at for at, later in pairwise(times)) <= HOUR_S + 600.0


def test_classes_have_intervals() -> None:
    least: dict[PageClass, float] = {"article": 4 * HOUR_S}
    most: dict[PageClass, float] = {"page": 2 * HOUR_S}
    budget = WatchBudget(per_hour=30, cycle_s=600.0, until=START + 12 * HOUR_S)
    request = WatchRequest(budget, "news", rest_s=300.0, min_interval_s=least, max_interval_s=most)
    site = watched(["/2025/06/01/story", "/page"], request)
    stories, pages = site.paths("/2025"), site.paths("/page")
    assert min(later - at for at, later in pairwise(stories)) >= 4 * HOUR_S
    assert max(later - at for at, later in pairwise(pages)) <= 2 * HOUR_S + 600.0


def test_what_is_overdue_comes_before_what_is_worth_more() -> None:
    overdue = [f"/slow-{n}" for n in range(3)]
    request = WatchRequest(
        WatchBudget(per_hour=4, cycle_s=3600.0, rounds=1), "news", max_interval_s={"page": HOUR_S}
    )
    site = watched([*overdue, "/2025/06/01/story"], request)
    assert [path for _, path in site.log if path != "/robots.txt"] == overdue[::-1]
