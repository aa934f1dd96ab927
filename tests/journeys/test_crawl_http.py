"""The crawl on real HTTP: robots.txt, redirects, pages of all sizes, answers in any order."""

from __future__ import annotations

import asyncio
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import pytest

import honeyguide
from honeyguide import load_profile
from honeyguide.adapters.clock import SystemClock
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.http.client import HttpFetcher
from honeyguide.adapters.http.robots import read_robots
from honeyguide.core.crawl.frontier import Budgets
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.jobs.crawl import Crawler, CrawlRequest, PageAttachments
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.testing.fakes import LoopbackServer, Script, response
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide.core.records import Record

SIZE = 40


def late(body: bytes, random: Random) -> Script:
    async def script(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(random.random() * 0.01)
        writer.write(response(body))
        await writer.drain()

    return script


def site(random: Random) -> dict[str, bytes | Script]:
    """A site whose pages are always the same, and whose answers take random times."""
    numbers = Random(1)  # noqa: S311 - the same site every time

    def page(number: int) -> bytes:
        links = "".join(f'<p><a href="/fire-{n}">fire {n}</a></p>' for n in numbers.sample(range(SIZE), 4))
        return f"<title>fire {number}</title><h1>Page {number}</h1><p>{'fire ' * (number % 9)}</p>{links}".encode()

    answers: dict[str, bytes | Script] = {f"/fire-{n}": late(page(n), random) for n in range(SIZE)}
    names = ("/fire-1", "/fire-2", "/private/fire", "/moved", "/huge", "/fire.pdf", "/gone")
    home = "".join(f'<p><a href="{name}">fire</a></p>' for name in names)
    return answers | {
        "/": response(f"<title>Home</title>{home}".encode()),
        "/robots.txt": response(b"User-agent: *\nDisallow: /private/", kind="text/plain"),
        "/moved": response(b"", "Location: /fire-3", status="301 Moved Permanently"),
        "/huge": response(b"fire " * 40_000),
    }


def crawl(concurrency: int, seed: int) -> tuple[list[Record], list[str]]:
    policy = FetchPolicy(
        allow_private=True,
        delay_s=0.0,
        concurrency=concurrency,
        per_host=concurrency,
        max_bytes=100_000,
        retries=0,
    )

    async def run() -> tuple[list[Record], list[str]]:
        records: list[Record] = []

        def keep(record: Record, _: PageAttachments) -> None:
            records.append(record)

        random = Random(seed)  # noqa: S311 - repeatable
        async with LoopbackServer(site(random)) as server, HttpFetcher(policy, proxies={}) as http:
            clock = SystemClock()
            polite = PoliteFetcher(http, clock, partial(read_robots, token=policy.robots_token), policy)
            crawler = Crawler(polite, HtmlReader(), clock, MemoryStore(), load_profile("docs", topic="fire"))
            request = CrawlRequest(
                (Url.parse(f"{server.root}/"),),
                budgets=Budgets(max_pages=30),
                concurrency=concurrency,
                traversal="focused-fixed",
            )
            summary = await crawler.crawl(request, keep)
            assert summary.stopped == "max_pages"
            return [{**one, "url": one["url"].removeprefix(server.root)} for one in records], server.paths

    return asyncio.run(run())


def test_the_sequence_is_the_same_whatever_the_network_does() -> None:
    runs = [crawl(concurrency, seed) for seed, concurrency in enumerate((1, 4, 32))]
    sequences = {tuple(record["url"] for record in records) for records, _ in runs}
    assert len(sequences) == 1
    records, paths = runs[0]
    by_url = {record["url"]: record for record in records}
    assert by_url["/private/fire"]["points"][-1]["rule"] == "forbidden"
    assert by_url["/huge"]["points"][-1]["rule"] == "too-large"
    assert by_url["/gone"]["status"] == 404
    assert by_url["/moved"]["final_url"].endswith("/fire-3")
    assert not {"/private/fire", "/fire.pdf"} & set(paths)
    assert paths.count("/fire-3") == 1  # the redirect has been there already
    assert len(records) == 31  # what robots.txt forbids is recorded, and is no fetch


@pytest.mark.parametrize("is_seeded", [True, False])
def test_who_keeps_a_sitemap_is_no_part_of_the_crawl(is_seeded: bool, tmp_path: Path) -> None:
    async def run() -> tuple[list[str], list[str]]:
        async with LoopbackServer({}) as site, LoopbackServer({}) as keeper:
            away = f'<a href="{keeper.root}/page">away</a>'
            site.answers["/"] = response(f"<title>Home</title>{away}".encode())
            site.answers["/listed"] = response(f"<title>Listed</title>as listed {away}".encode())
            listed = f"<urlset><url><loc>{site.root}/listed</loc></url></urlset>"
            keeper.answers["/map.xml"] = response(listed.encode(), kind="application/xml")
            keeper.answers["/page"] = response(b"<title>Page</title>of the keeper")
            seeds = (Url.parse(f"{site.root}/"),) if is_seeded else ()
            await honeyguide.crawl_site(
                CrawlRequest(seeds, traversal="bfs"),
                FetchPolicy(allow_private=True, delay_s=0.0, retries=0),
                load_profile("base"),
                tmp_path / "h.db",
                lambda *_: None,
                sitemaps=[f"{keeper.root}/map.xml"],
            )
            return site.paths, keeper.paths

    own, kept = asyncio.run(run())
    assert own == ["/robots.txt", "/", "/listed"]
    assert kept == ["/robots.txt", "/map.xml"]
