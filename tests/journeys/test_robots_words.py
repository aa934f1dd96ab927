"""What pages say to search engines is recorded, and not obeyed: meta robots, X-Robots-Tag, rel=nofollow."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from honeyguide import load_profile
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.core.url.url import Url
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.ports.fetch import Fetched, Headers
from honeyguide.testing.fakes import FakeFetcher, FrozenClock
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from honeyguide.core.records import Record
    from honeyguide.testing.fakes import Answer

HOME = Url.parse("https://a.example/")


@pytest.mark.parametrize(
    ("meta", "header", "said"),
    [
        ("", None, None),
        ("<meta name=ROBOTS content=' NoIndex,  nofollow '>", None, "noindex, nofollow"),
        ("", "noarchive", "noarchive"),
        ("<meta name=robots content=noindex>", "noindex, nosnippet", "noindex, nosnippet"),
        (f"<meta name=robots content='{'x' * 5_000}'>", None, "x" * 500),
    ],
)
def test_records_have_what_is_said_to_search_engines(meta: str, header: str | None, said: str | None) -> None:
    body = f"{meta}<title>Home</title><p>Hello <a href=/b rel='NoFollow noopener'>fire b</a> <a href=/c>c</a>"
    home = Fetched(HOME, HOME, 200, Headers("text/html", robots=header), body.encode())
    web: dict[str, Answer] = {
        HOME.text: home,
        "https://a.example/b": b"<p>fire b is here",
        "https://a.example/c": b"<p>c is here",
    }
    records: list[Record] = []
    profile = load_profile("docs", topic="fire")
    crawler = Crawler(FakeFetcher(web), HtmlReader(), FrozenClock(), MemoryStore(), profile)
    request = CrawlRequest((HOME,), traversal="bfs", links=True)
    asyncio.run(crawler.crawl(request, lambda record, _: records.append(record)))
    assert [record["robots"] for record in records] == [said, None, None]  # and all links were followed
    assert [link["rel"] for link in records[0]["links"]] == ["nofollow noopener", None]
