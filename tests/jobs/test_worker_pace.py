"""Sites of a worker that is gone are left in peace for their delay, counted from when it is surely gone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import load_profile
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.core.crawl.frontier import SitePace
from honeyguide.core.url.url import Url
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.jobs.request import spec_of
from honeyguide.testing.contracts import ask, found
from honeyguide.testing.fakes import FakeFetcher, FrozenClock
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from honeyguide.core.crawl.frontier import ClaimRequest, Run
    from honeyguide.ports.fetch import Fetched
    from honeyguide.testing.memory_store import MemoryQueue

SITE, DELAY_S, WAITED_S = "https://a.example/", 5.0, 3.0


class PacedFake(FakeFetcher):
    """Notes when sites may be asked."""

    delay_s = DELAY_S

    def __init__(self) -> None:
        super().__init__({SITE: b"<title>A</title>"})
        self.starts: list[float] = []

    async def fetch(self, url: Url, **options: Any) -> Fetched:
        options.pop("tries", None)
        return await super().fetch(url, **options)

    def wait_until(self, site: str, until: float) -> None:
        del site
        self.starts.append(until)

    def pace_of(self, site: str) -> SitePace:
        return SitePace(site, 0.0, DELAY_S)


class SlowStore(MemoryStore):
    """Takes a while to hand over leases, as a store does that another process writes to."""

    def __init__(self, other: MemoryStore, clock: FrozenClock, *, adopts: bool) -> None:
        super().__init__(other)
        self.ticking = clock
        self.adopts = adopts
        self.handed_over_at = 0.0

    def queue(self, run: Run) -> MemoryQueue:
        queue: Any = super().queue(run)
        adopt, claim = queue.adopt, queue.claim
        queue.adopt = lambda request: self.slowly(adopt, request) if self.adopts else ()
        queue.claim = lambda request: self.slowly(claim, request)
        opened: MemoryQueue = queue
        return opened

    ledger = queue

    def slowly(self, take: Any, request: ClaimRequest) -> Any:
        taken = take(request)
        self.ticking._now += WAITED_S  # noqa: SLF001 - a clock that only tests have
        self.handed_over_at = self.handed_over_at or self.ticking.now()
        return taken


@pytest.mark.parametrize("adopts", [True, False])
def test_the_delay_of_a_site_counts_from_when_its_worker_is_surely_gone(*, adopts: bool) -> None:
    clock, profile, paced = FrozenClock(), load_profile("docs", topic="fire"), PacedFake()
    request = CrawlRequest((Url.parse(SITE),), traversal="bfs")
    dead = MemoryStore()
    run = dead.runs.begin(spec_of(request, profile), clock.now())
    dead.queue(run).add([found("/")])
    assert dead.queue(run).claim(ask(now=clock.now(), delay_s=DELAY_S)).leases
    store = SlowStore(dead, clock, adopts=adopts)
    dead.close()
    crawler = Crawler(paced, HtmlReader(), clock, store, profile)
    asyncio.run(crawler.crawl(request, lambda *_: None))
    assert paced.starts[0] >= store.handed_over_at + DELAY_S
