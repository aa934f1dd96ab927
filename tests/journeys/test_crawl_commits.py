"""When a crawl commits: pages share commits, nothing is asked for before its lease is kept, and others get their turn."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from patience import HANG_S

from honeyguide import load_profile
from honeyguide.adapters.clock import SystemClock
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.http.robots import read_robots
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, StoreError
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.ports.fetch import Fetched, Headers, Part, Validators
from honeyguide.testing.fakes import FrozenClock
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.core.crawl.frontier import Run
    from honeyguide.core.records import Record
    from honeyguide.ports.store import Store

SIZE = 60
SHARED = 4  # pages that may share a commit


class Site:
    """Answers at once with pages that link the next few; `look` is called with every request."""

    def __init__(self, look: Callable[[str], None] | None = None, words: int = 0) -> None:
        self._look = look
        self._words = words

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators, part
        if self._look is not None:
            self._look(url.text)
        number = int(url.path.removeprefix("/") or 0)
        links = "".join(
            f'<p><a href="/{n}">fire {n}</a></p>' for n in range(number + 1, min(number + 10, SIZE))
        )
        words = "".join(f"<p>fire {number * self._words + n}</p>" for n in range(self._words))
        body = f"<title>fire {number}</title><p>fire {number}</p>{links}{words}".encode()
        return Fetched(url, url, 200, Headers(content_type="text/html"), body)


def crawl(path: Path, site: Site, on_page: Callable[[str], None], host: str = "a.example") -> str:
    store = SqliteStore(path)
    crawler = Crawler(site, HtmlReader(), FrozenClock(), store, load_profile("docs", topic="fire"))

    def handed(record: Record, _: object) -> None:
        on_page(record["url"])

    try:
        request = CrawlRequest((Url.parse(f"https://{host}/"),))
        return asyncio.run(crawler.crawl(request, handed)).stopped
    finally:
        store.close()


def test_nothing_is_asked_for_before_its_lease_is_kept(tmp_path: Path) -> None:
    path, states = tmp_path / "h.db", []

    def look(url: str) -> None:
        with closing(sqlite3.connect(path)) as other:
            states.append(
                other.execute("SELECT state, worker > 0 FROM entry WHERE url = ?", (url,)).fetchall()
            )

    assert crawl(path, Site(look), lambda _: None) == "complete"
    assert states == [[(1, 1)]] * SIZE


class Counting(sqlite3.Connection):
    """A connection that counts what it is asked to do; an executemany counts once."""

    statements = 0

    def execute(self, *asked: Any) -> sqlite3.Cursor:
        Counting.statements += 1
        return super().execute(*asked)

    def executemany(self, *asked: Any) -> sqlite3.Cursor:
        Counting.statements += 1
        return super().executemany(*asked)


class Manual:
    """A site whose pages all have the same menu."""

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators, part
        status = 404 if url.path == "/robots.txt" else 200
        menu = "".join(f'<p><a href="/{n}">fire {n}</a></p>' for n in range(SIZE))
        body = f"<title>fire</title><h1>fire of {url.path}</h1>{menu}".encode()
        return Fetched(url, url, status, Headers(content_type="text/html"), body)


@pytest.mark.parametrize(
    ("traversal", "keep_bytes", "most"),
    [("focused-fixed", 0, 12), ("focused-fixed", 10**9, 14), ("focused", 0, 13), ("focused", 10**9, 16)],
)
def test_a_page_of_a_polite_crawl_costs_few_statements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, traversal: str, keep_bytes: int, most: int
) -> None:
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Counting))
    store, clock = SqliteStore(tmp_path / "h.db"), FrozenClock()
    policy, profile = FetchPolicy(), load_profile("docs", topic="fire")
    polite = PoliteFetcher(Manual(), clock, partial(read_robots, token=policy.robots_token), policy)
    profile = replace(profile, traps=replace(profile.traps, max_alike=SIZE))
    counted: list[int] = []

    def handed(*_: object) -> None:
        counted.append(Counting.statements)

    crawler = Crawler(polite, HtmlReader(), clock, store, profile)
    home = (Url.parse("https://a.example/"),)
    asyncio.run(crawler.crawl(CrawlRequest(home, traversal=traversal, keep_bytes=keep_bytes), handed))
    store.close()
    assert len(counted) == SIZE + 1
    assert 8 < (counted[-1] - counted[9]) / (SIZE - 9) <= most  # the first few pages reveal the others


def test_a_few_pages_share_a_commit_and_the_first_has_its_own(tmp_path: Path) -> None:
    path, kept = tmp_path / "h.db", []

    def count(_: str) -> None:
        with closing(sqlite3.connect(path)) as other:
            kept.append(other.execute("SELECT count(record) FROM visit").fetchone()[0])

    crawl(path, Site(), count)
    behind = [handed - committed for handed, committed in enumerate(kept)]
    assert len(kept) == SIZE
    assert behind[:2] == [0, 0]
    assert max(behind) == SHARED - 1
    assert len(set(kept)) < SIZE / 2


def test_an_output_that_fails_takes_its_page_along_and_no_other(tmp_path: Path) -> None:
    handed: list[str] = []

    def fail(url: str) -> None:
        if len(handed) == 3:  # in the middle of what shares a commit
            raise OSError(url)
        handed.append(url)

    with pytest.raises(OSError, match=r"^https://a\.example/"):
        crawl(tmp_path / "h.db", Site(), fail)
    store = SqliteStore(tmp_path / "h.db")
    (run,) = store.runs.list()
    assert [record["url"] for _, record in store.queue(run).pages()] == handed
    store.close()


def test_a_claim_that_fails_undoes_what_was_not_committed_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    handed: list[str] = []
    crawl(tmp_path / "whole.db", Site(), handed.append)
    store = SqliteStore(path)
    fault = (
        "CREATE TEMP TRIGGER t BEFORE UPDATE OF fetched ON site WHEN new.fetched >= 22 AND old.fetched < 22"
    )
    store._db.write(f"{fault} BEGIN SELECT raise(ABORT, 'no'); END")  # noqa: SLF001 - a disk that fails at the worst moment
    crawler = Crawler(Site(), HtmlReader(), FrozenClock(), store, load_profile("docs", topic="fire"))
    request = CrawlRequest((Url.parse("https://a.example/"),))
    before: list[str] = []
    with pytest.raises(StoreError, match="cannot be used: 'no'"):
        asyncio.run(crawler.crawl(request, lambda record, _: before.append(record["url"])))
    (run,) = store.runs.list()
    kept = [record["url"] for _, record in store.queue(run).pages()]
    assert 22 <= len(before) <= 22 + SHARED  # the site is counted with the commit that pages share
    assert before == handed[: len(before)]
    assert kept == handed[: run.fetched]
    assert 22 - SHARED <= run.fetched < 22
    store.close()
    rest: list[str] = []
    assert crawl(path, Site(), rest.append) == "complete"
    assert kept + rest == handed


def test_a_page_whose_lease_was_lost_is_not_handed_over(tmp_path: Path) -> None:
    path, lost = tmp_path / "h.db", "https://a.example/5"
    asked: list[str] = []
    handed: list[str] = []

    def look(url: str) -> None:
        if url == lost and url not in asked:
            with closing(sqlite3.connect(path)) as other, other:
                other.execute(
                    "INSERT INTO worker (id, host, pid, token, started_at, seen_at, expires_at)"
                    " SELECT 99, 'elsewhere', 1, 't', started_at, seen_at, expires_at FROM worker"
                )
                other.execute("UPDATE entry SET worker = 99 WHERE url = ?", (url,))
        asked.append(url)

    assert crawl(path, Site(look), handed.append) == "complete"
    assert (len(handed), set(handed)) == (SIZE, set(asked))
    assert (asked.count(lost), handed[-1]) == (2, lost)  # ours again, after the other's time was over


@pytest.mark.slow
def test_two_crawls_on_one_store_both_get_on(tmp_path: Path) -> None:
    path, handed = tmp_path / "h.db", []
    SqliteStore(path).close()
    together = threading.Barrier(2)

    def work(host: str) -> None:
        together.wait()
        crawl(path, Site(words=2000), lambda _: handed.append(host), host)

    threads = [threading.Thread(target=work, args=(host,)) for host in ("a.example", "b.example")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(handed) == 2 * SIZE
    last = handed[-1]
    first_ended = max(place for place, host in enumerate(handed) if host != last)
    assert handed[:first_ended].count(last) > SIZE / 5


def test_leases_are_renewed_while_nothing_arrives(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    seen: set[tuple[float]] = set()

    def look() -> None:
        with closing(sqlite3.connect(path)) as other:
            seen.update(other.execute("SELECT expires_at FROM worker"))

    class Slow(Site):
        async def fetch(
            self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
        ) -> Fetched:
            async with asyncio.timeout(HANG_S):
                while len(seen) <= 2:  # until it was renewed twice
                    look()
                    await asyncio.sleep(0.05)
            return await super().fetch(url, validators=validators, part=part)

    profile = load_profile("docs", topic="fire")
    hasty = replace(profile, crawl=replace(profile.crawl, lease_s=4.0))
    store = SqliteStore(path)
    crawler = Crawler(Slow(), HtmlReader(), SystemClock(), store, hasty)
    request = CrawlRequest((Url.parse("https://a.example/59"),))
    assert asyncio.run(crawler.crawl(request, lambda *_: None)).stopped == "complete"
    assert len(seen) > 2
    store.close()


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_command_that_is_refused_leaves_no_run_that_seems_to_work(kind: str, tmp_path: Path) -> None:
    store: Store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "h.db")
    crawler = Crawler(Site(), HtmlReader(), FrozenClock(), store, load_profile("docs", topic="fire"))
    request = CrawlRequest((Url.parse("https://a.example/"),))

    def refuse(_: Run) -> None:
        raise InputError("belongs to another crawl", file="pages.jsonl")

    for on_run, stopped in ((refuse, "interrupted"), (None, "complete"), (refuse, "complete")):
        try:
            asyncio.run(crawler.crawl(request, lambda *_: None, on_run))
        except InputError:
            assert on_run is refuse
        (run,) = store.runs.list()
        assert run.stopped == stopped
    store.close()
