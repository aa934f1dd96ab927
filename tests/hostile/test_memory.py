"""Memory is bounded by counts of bytes: bodies that are read, bodies that wait, and bodies that failed."""

from __future__ import annotations

import asyncio
import errno
import gc
import gzip
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from servers import cut

from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.http import body
from honeyguide.adapters.http.client import HttpFetcher
from honeyguide.adapters.http.robots import read_robots
from honeyguide.config import load_profile
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.records import Record
from honeyguide.core.url.url import Url
from honeyguide.errors import FetchError, TooLargeError, UnreachableError
from honeyguide.jobs import results
from honeyguide.jobs.crawl import Crawler
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.jobs.request import CrawlRequest
from honeyguide.jobs.results import Results, fetch_or_fail
from honeyguide.ports.fetch import Fetched, Headers, Part, Validators
from honeyguide.testing.fakes import FrozenClock, LoopbackServer, response
from honeyguide.testing.memory_store import MemoryStore

HOME = Url.parse("https://a.example/")
HERE = FetchPolicy(allow_private=True)


# --- errors ---


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (
            response(gzip.compress(b"<p>" + b"a" * HERE.max_decoded_bytes), "Content-Encoding: gzip"),
            TooLargeError,
        ),
        (cut(response(b"a" * 4_000_000)[:-1]), UnreachableError),
    ],
    ids=["bomb", "cut short"],
)
def test_an_error_does_not_hold_the_bytes_that_came_before_it(answer: Any, kind: type[FetchError]) -> None:
    async def fail(times: int) -> list[FetchError]:
        errors = []
        async with LoopbackServer({"/": answer}) as server, HttpFetcher(HERE, proxies={}) as fetcher:
            for _ in range(times):
                with pytest.raises(kind) as caught:
                    await fetcher.fetch(Url.parse(f"{server.root}/"))
                errors.append(caught.value)  # with its traceback, as whoever waits for its turn keeps it
        return errors

    tracemalloc.start()
    try:
        errors = asyncio.run(fail(4))
        held_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(errors) == 4
    assert held_bytes < 3_000_000  # less than one of the bodies


@pytest.mark.slow
def test_an_error_that_a_job_keeps_does_not_hold_the_buffers_of_its_connection() -> None:
    bomb = response(gzip.compress(b"<p>" + b"a" * (60 * 2**20), 9), "Content-Encoding: gzip")

    async def fail(times: int) -> int:
        answers = {"/": bomb, "/robots.txt": response(b"")}
        async with LoopbackServer(answers) as server, HttpFetcher(HERE, proxies={}) as fetcher:
            polite = PoliteFetcher(fetcher, FrozenClock(), read_robots, HERE)
            url, errors = Url.parse(f"{server.root}/"), []
            tracemalloc.start()
            for _ in range(times):
                try:
                    await fetch_or_fail(url, polite.fetch(url))
                except FetchError as error:
                    errors.append(error)
            assert len(errors) == times
            return tracemalloc.get_traced_memory()[0]

    gc.collect()
    gc.disable()  # it counts objects, not bytes: it may come after a thousand errors
    try:
        held_bytes = asyncio.run(fail(6))
    finally:
        tracemalloc.stop()
        gc.enable()
    assert held_bytes < 6 * 300_000


# --- robots.txt ---


@pytest.mark.parametrize(
    "line", [b"allow:/%05x*\n", b"disallow: /%05x\n", b"User-agent: a%05x\n", b"sitemap:/%05x\n"]
)
@pytest.mark.slow
def test_what_is_kept_of_a_robots_txt_is_about_as_large_as_the_file(line: bytes) -> None:
    text = b"User-agent: *\nDisallow: /b\n" + b"".join(line % n for n in range(500 * 1024 // len(line % 0)))
    kept = [read_robots(b"Disallow: /a")]  # what the reader remembers for good is made before
    gc.collect()
    tracemalloc.start()
    try:
        kept.append(read_robots(text))
        gc.collect()
        held_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held_bytes < 2 * len(text)


# --- bodies that are read ---


def test_bodies_that_are_read_at_once_share_the_memory_and_all_arrive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most, size, count = 400_000, 300_000, 12
    monkeypatch.setattr(body, "MAX_READING_BYTES", most)
    totals = []
    take = body.Room.take

    async def counted(self: body.Room, reader: object, held_bytes: int) -> None:
        totals.append(sum(self._sizes.values()))
        await take(self, reader, held_bytes)

    monkeypatch.setattr(body.Room, "take", counted)

    async def run() -> list[Fetched]:
        answers = {f"/{n}": response(b"a" * size) for n in range(count)}
        policy = FetchPolicy(allow_private=True, per_host=count)
        async with LoopbackServer(answers) as server, HttpFetcher(policy, proxies={}) as fetcher:
            return await asyncio.gather(
                *(fetcher.fetch(Url.parse(f"{server.root}/{n}")) for n in range(count))
            )

    assert [len(got.body) for got in asyncio.run(run())] == [size] * count
    pieces = 2**17 * count  # what each may add before it waits
    assert max(totals) <= most + size + pieces
    assert max(totals) < size * count


# --- bodies that wait ---


class Web:
    """A homepage and large pages; the first of these answers last, so that the others wait for it."""

    def __init__(self, pages: int, size: int) -> None:
        self.pages, self.size, self.others = pages, size, 0

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators, part
        if url == HOME:
            links = "".join(f"<a href=/{n}>fire {n}</a>" for n in range(self.pages))
            return Fetched(url, url, 200, Headers("text/html"), links.encode())
        for _ in range(500 if url.path == "/0" else 1):
            await asyncio.sleep(0)
        text = f"<title>fire {url.path}</title><p>fire of {url.path}</p><!--{'x' * self.size}-->"
        return Fetched(url, url, 200, Headers("text/html"), text.encode())


def crawl(concurrency: int, watch: Callable[[], None] = lambda: None) -> list[Record]:
    records: list[Record] = []
    crawler = Crawler(
        Web(20, 10_000), HtmlReader(), FrozenClock(), MemoryStore(), load_profile("docs", topic="fire")
    )

    def keep(record: Record, attachments: Any) -> None:
        assert attachments.fetched.body.endswith(b"-->") or record["url"] == HOME.text
        records.append(record)
        watch()

    asyncio.run(crawler.crawl(CrawlRequest((HOME,), concurrency=concurrency), keep))
    return records


def test_the_bodies_of_a_window_wait_on_disk_beyond_the_limit_and_nothing_else_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = crawl(1)
    assert len(expected) == 21
    held: list[int] = []
    put = Results.put

    def counted(self: Results, claim: int, result: Fetched | FetchError, at: float) -> None:
        put(self, claim, result, at)
        held.append(self.held_bytes)

    monkeypatch.setattr(Results, "put", counted)
    unbounded = crawl(32)
    assert max(held) > 30_000  # so many wait
    held.clear()
    monkeypatch.setattr(results, "MAX_HELD_BYTES", 30_000)
    bounded = crawl(32)
    assert 0 < max(held) <= 30_000
    assert json.dumps(bounded) == json.dumps(unbounded) == json.dumps(expected)


def test_a_body_that_finds_no_room_on_disk_stays_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(results, "TemporaryFile", full)
    monkeypatch.setattr(results, "MAX_HELD_BYTES", 30_000)
    assert len(crawl(32)) == 21


def test_files_of_results_that_nobody_takes_are_closed() -> None:
    waiting = Results()
    for claim in range(5):
        waiting.put(claim, Fetched(HOME, HOME, 200, body=b"x" * 10_000_000), 0.0)
    files = list(waiting._files.values())  # noqa: SLF001 - what is open shows nowhere else
    assert files
    waiting.close()
    assert all(file.closed for file in files)
