"""A crawl as the command line starts it: what happens before the first page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from honeyguide import load_profile
from honeyguide.adapters.http.robots import read_robots
from honeyguide.app.crawl import CrawlJob, CrawlRequest, CrawlSession
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.ports.fetch import Fetched, Part, Validators
from honeyguide.testing.fakes import FakeFetcher, FrozenClock
from honeyguide.testing.memory_store import MemoryStore

A = "https://a.example"
POLICY = FetchPolicy(delay_s=0.0, jitter=0.0, retries=0)


class SlowFetcher(FakeFetcher):
    """Takes ten seconds for a page, and longer for a sitemap."""

    def __init__(self, clock: FrozenClock, sitemap_s: float) -> None:
        links = "".join(f"<a href=/{n}>fire {n}</a> " for n in range(40))
        pages = {
            f"{A}/{n}": f"<title>{n}</title><p>Fire {n} in words of its own.".encode() for n in range(40)
        }
        super().__init__({f"{A}/s.xml": b"<urlset></urlset>", f"{A}/": links.encode(), **pages})
        self._clock, self._sitemap_s = clock, sitemap_s

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        await self._clock.sleep(
            self._sitemap_s if url.path == "/s.xml" else 10.0 * (url.path != "/robots.txt")
        )
        return await super().fetch(url, validators=validators, part=part)


@pytest.mark.parametrize(("sitemap_s", "left_s"), [(0.0, 100.0), (40.0, 60.0), (70.0, 50.0)])
def test_what_sitemaps_take_is_taken_off_the_time_of_a_crawl_but_half_is_left(
    monkeypatch: pytest.MonkeyPatch, sitemap_s: float, left_s: float
) -> None:
    clock = FrozenClock()

    @asynccontextmanager
    async def opened(policy: FetchPolicy, *_: object) -> AsyncIterator[tuple[PoliteFetcher, FrozenClock]]:
        yield PoliteFetcher(SlowFetcher(clock, sitemap_s), clock, read_robots, policy), clock

    monkeypatch.setattr(
        "honeyguide.jobs.request.setup_time_s", lambda _: None
    )  # it is real time, not the clock's
    request = CrawlRequest((Url.parse(f"{A}/"),), max_time_s=100.0, concurrency=1)
    job = CrawlJob(request, POLICY, load_profile("docs", topic="fire"), (f"{A}/s.xml",))
    summary = asyncio.run(CrawlSession(MemoryStore(), job, network=opened).crawl(lambda *_: None))
    assert (summary.stopped, summary.elapsed_s) == ("max_time", left_s)
