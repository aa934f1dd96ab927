"""Pages that fail for ever: three requests, and neither the end of a crawl nor a round waits for them. On frozen time."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.http.robots import read_robots
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.app.crawl import MAX_WAIT_S
from honeyguide.app.watch import watch_session
from honeyguide.config import load_profile
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.errors import TimedOutError, UnreachableError
from honeyguide.jobs.crawl import Crawler, CrawlSummary
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.jobs.request import CrawlRequest
from honeyguide.jobs.watch import Round, WatchBudget, WatchRequest
from honeyguide.ports.fetch import Fetched, Headers, Part, Validators
from honeyguide.ports.store import Store
from honeyguide.testing.fakes import FrozenClock
from honeyguide.testing.memory_store import MemoryStore

HOME = Url.parse("https://a.example/")
POLICY = FetchPolicy(jitter=0.0, max_wait_s=MAX_WAIT_S)  # as the commands have it
PATIENCE_S = load_profile("docs", topic="fire").crawl.patience_s


class Web:
    """A homepage, good pages, and bad ones that always fail in the same way."""

    def __init__(
        self, bad: int | type[UnreachableError | TimedOutError], pages: int, retry_after: str | None
    ) -> None:
        self.bad: int | type[UnreachableError | TimedOutError] = bad
        self.retry_after = retry_after
        self.links = "".join(f"<a href=/bad{n}>fire {n}</a>" for n in range(pages)) + "<a href=/good>fire</a>"
        self.asked = Counter[str]()

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators, part
        self.asked[url.path] += 1
        await asyncio.sleep(0)
        if url.path.startswith("/bad"):
            if not isinstance(self.bad, int):
                raise self.bad(url.as_linked, "as ever")
            return Fetched(url, url, self.bad, Headers(retry_after=self.retry_after))
        text = f"<title>fire</title><p>fire of {url.path}</p>{self.links if url == HOME else ''}"
        return Fetched(url, url, 404 if "robots" in url.path else 200, Headers("text/html"), text.encode())


def crawl(web: Web) -> tuple[CrawlSummary, float]:
    clock = FrozenClock()
    began = clock.now()
    polite = PoliteFetcher(web, clock, read_robots, POLICY)
    crawler = Crawler(polite, HtmlReader(), clock, MemoryStore(), load_profile("docs", topic="fire"))
    summary = asyncio.run(crawler.crawl(CrawlRequest((HOME,)), lambda _record, _attachments: None))
    return summary, clock.now() - began


@pytest.mark.parametrize("bad", [503, 500, UnreachableError, TimedOutError])
def test_a_page_that_always_fails_gets_three_requests_and_holds_nothing(
    bad: int | type[UnreachableError | TimedOutError],
) -> None:
    web = Web(bad, 1, None)
    summary, passed_s = crawl(web)
    assert web.asked["/bad0"] == 3
    assert (summary.stopped, summary.counts.states["rejected"]) == ("complete", 1)
    assert passed_s < 15  # the delays, and two pauses of our own


@pytest.mark.parametrize("pages", [1, 5, 20])
@pytest.mark.parametrize("asked_s", ["5", "9", "50", "59", "100", "119", "3600", "86400"])
def test_pages_whose_host_asks_for_pauses_for_ever_do_not_hold_the_end(asked_s: str, pages: int) -> None:
    web = Web(503, pages, asked_s)
    summary, passed_s = crawl(web)
    assert max(count for path, count in web.asked.items() if path.startswith("/bad")) <= 3
    assert passed_s <= PATIENCE_S + POLICY.trip_timeout_s + 15
    assert summary.stopped in ("complete", "resting", "site_failing")


FAILURES: dict[str, tuple[int | type[UnreachableError | TimedOutError], str | None]] = {
    "503": (503, None), "pause of 5 s": (503, "5"), "pause of 59 s": (503, "59"), "pause of an hour": (503, "3600"),
    "reset": (UnreachableError, None), "too slow": (TimedOutError, None),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_pages_that_always_fail_do_not_hold_a_round_of_watch(name: str, tmp_path: Path) -> None:
    web, clock, rounds = Web(200, 5, None), FrozenClock(), list[Round]()
    asked = [Counter[str]()]

    def end(done: Round) -> None:
        rounds.append(done)
        asked.append(Counter(web.asked))

    async def run(store: Store) -> None:
        polite = PoliteFetcher(web, clock, read_robots, POLICY)
        crawler = Crawler(polite, HtmlReader(), clock, store, load_profile("docs", topic="fire"))
        await crawler.crawl(CrawlRequest((HOME,)), lambda _record, _attachments: None)
        await clock.sleep(600.0)  # so that the first round visits them again
        web.bad, web.retry_after = FAILURES[name]
        web.asked.clear()
        budget = WatchBudget(per_hour=60, cycle_s=600.0, rounds=3)
        request = WatchRequest(budget, load_profile("news"), on_round=end)
        await watch_session(store, request, polite, clock).watch()

    with closing(SqliteStore(tmp_path / "h.db")) as store:
        asyncio.run(run(store))
    per_round = [later - earlier for earlier, later in pairwise(asked)]
    assert per_round[0].keys() >= {"/", "/good", "/bad0"}  # the good ones beside the failing
    assert (
        max(per_round[0][f"/bad{n}"] for n in range(5)) <= 3
    )  # in a later one, the end of one visit and another
    assert [one.next_at - one.at for one in rounds] == [600.0] * 3  # each ended before the next was due
