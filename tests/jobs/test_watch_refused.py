"""A watch of a store where pages are refused: each attempt is remembered, so that others have their turn."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from honeyguide import load_profile
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.app.watch import watch_session
from honeyguide.core.crawl.frontier import digest_of
from honeyguide.core.url.url import Url
from honeyguide.errors import AddressRefusedError, FetchError, ForbiddenError
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.jobs.watch import HOUR_S, WatchBudget, WatchRequest
from honeyguide.ports.fetch import Fetched, Headers, Part, Validators
from honeyguide.testing.fakes import FrozenClock

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide.core.records import Record
    from honeyguide.core.recrawl.history import HistoryEntry
    from honeyguide.jobs.watch import Round

ROOT = "https://a.example"
OTHERS = tuple(f"/page-{n}" for n in range(6))
NEWS = load_profile("news")


class Refusing:
    """A site whose news are refused as soon as somebody says how."""

    def __init__(self) -> None:
        self.refusal: FetchError | None = None
        self.log: list[str] = []

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators, part
        self.log.append(url.path)
        await asyncio.sleep(0)
        if url.path == "/news" and self.refusal is not None:
            raise self.refusal
        links = ("/news", *OTHERS) if url.path == "/" else ()
        listed = "".join(f'<p><a href="{link}">fire {link}</a></p>' for link in links)
        state = len(self.log) if url.path == "/news" else 0  # the news are new at each visit
        words = "".join(f"<p>fire alarms {url.path} {part} {state}</p>" for part in "abcdef")
        body = f"<title>fire {url.path}</title><h1>fire</h1><main>{words}{listed}</main>".encode()
        return Fetched(url, url, 200, Headers("text/html"), body)

    async def robots(self, url: Url) -> None:
        """Say nothing: this site has no robots.txt."""


class Watched:
    """A store that was crawled and watched for a day, with all records and rounds since then."""

    def __init__(self, path: Path) -> None:
        self.clock = FrozenClock(1_750_000_000.0)
        self.site = Refusing()
        self.store = SqliteStore(path)
        crawler = Crawler(self.site, HtmlReader(), self.clock, self.store, load_profile("docs", topic="fire"))
        asyncio.run(crawler.crawl(CrawlRequest((Url.parse(f"{ROOT}/"),)), lambda _record, _arrival: None))
        self.records: list[Record] = []
        self.rounds: list[Round] = []
        self.watch(24)
        self.records.clear()
        self.rounds.clear()
        self.site.log.clear()

    def watch(self, hours: int) -> None:
        pace = WatchBudget(per_hour=2, cycle_s=HOUR_S, until=self.clock.now() + hours * HOUR_S)
        request = WatchRequest(
            pace,
            NEWS,
            on_page=lambda record, _: self.records.append(record),
            on_round=self.rounds.append,
        )
        session = watch_session(self.store, request, self.site, self.clock)
        assert asyncio.run(session.watch()) == "until"

    def known(self, path: str) -> HistoryEntry:
        known = self.store.history.get(digest_of(Url.parse(ROOT + path), NEWS.scope.tracking))
        assert known is not None
        return known

    def close(self) -> None:
        self.store.close()


@pytest.mark.parametrize(
    "refusal",
    [
        ForbiddenError(f"{ROOT}/news", "robots.txt disallows it"),
        AddressRefusedError(f"{ROOT}/news", "10.0.0.1 is a private address"),
    ],
)
def test_a_page_that_is_refused_is_backed_off_and_the_others_have_their_turn(
    tmp_path: Path, refusal: FetchError
) -> None:
    watched = Watched(tmp_path / "h.db")
    visits = watched.known("/news").visits
    assert visits >= 8  # it was the best page of all
    watched.site.refusal = refusal
    watched.watch(24)
    asked = Counter(watched.site.log)
    assert 1 <= asked["/news"] <= 5
    assert {path for path in OTHERS if not asked[path]} == set()
    assert len(watched.site.log) >= 40  # the budget is spent on others
    known = watched.known("/news")
    assert (known.visits, known.failures, known.status) == (visits, asked["/news"], None)  # no request
    refused = [record for record in watched.records if record["action"] == "dropped"]
    assert [record["points"][-1]["rule"] for record in refused] == [refusal.rule] * asked["/news"]
    watched.close()


def test_a_link_that_is_refused_at_once_was_never_visited(tmp_path: Path) -> None:
    site, clock, store = Refusing(), FrozenClock(1_750_000_000.0), SqliteStore(tmp_path / "h.db")
    site.refusal = ForbiddenError(f"{ROOT}/news", "robots.txt disallows it")
    crawler = Crawler(site, HtmlReader(), clock, store, load_profile("docs", topic="fire"))
    asyncio.run(crawler.crawl(CrawlRequest((Url.parse(f"{ROOT}/"),)), lambda _record, _arrival: None))
    assert store.history.get(digest_of(Url.parse(f"{ROOT}/news"), NEWS.scope.tracking)) is None
    store.close()
