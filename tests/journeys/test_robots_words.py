"""What pages say to search engines is recorded, and obeyed on request: meta robots, X-Robots-Tag, rel=nofollow."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from honeyguide import load_profile
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.core.crawl.judge import robots_tags
from honeyguide.core.page.page import Page
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


PAGES: dict[str, Answer] = {
    "https://a.example/": b"<title>Home</title><p>Hello <a href=/b rel='NoFollow noopener'>fire b</a> <a href=/c>c</a>"
    b"<a href=/quiet>quiet</a> <a href=/d rel=nofollow>d</a> <a href=/d>d once more</a>",
    "https://a.example/b": b"<p>fire b is here",
    "https://a.example/c": b"<meta name=robots content='None'><p>c is here <a href=/below>below</a>",
    "https://a.example/d": b"<p>d is here",
    "https://a.example/quiet": b"<meta name=robots content=noindex><p>quiet is here <a href=/e>e</a>",
    "https://a.example/e": b"<p>e is here",
    "https://a.example/below": b"<p>below is here",
}


def crawled(pages: dict[str, Answer], **asked: bool) -> tuple[list[str], list[str], dict[str, int]]:
    """Crawl; gives what was fetched, what was written, and what was rejected by rule."""
    records: list[Record] = []
    web, store = FakeFetcher(pages), MemoryStore()
    crawler = Crawler(web, HtmlReader(), FrozenClock(), store, load_profile("docs", topic="fire"))
    request = CrawlRequest((HOME,), **asked)  # type: ignore[arg-type]  # flags
    summary = asyncio.run(crawler.crawl(request, lambda record, _: records.append(record)))
    rejected = Counter(summary.counts.out) + Counter(summary.counts.skipped)
    return sorted(web.requests), sorted(record["url"] for record in records), rejected


def test_tags_are_obeyed_if_that_is_asked_for() -> None:
    everything = sorted(PAGES)
    assert crawled(PAGES)[:2] == (everything, everything)
    fetched, written, rejected = crawled(PAGES, respect_meta_robots=True)
    assert fetched == [f"https://a.example/{name}" for name in ("", "c", "d", "e", "quiet")]
    assert written == [f"https://a.example/{name}" for name in ("", "d", "e")]
    assert rejected == {"nofollow": 2, "noindex": 2}  # the link to /b and the links of /c; /c and /quiet


@pytest.mark.parametrize(
    ("meta", "header", "tags"),
    [
        ("noindex, NOFOLLOW", None, {"noindex", "nofollow"}),
        ("none", None, {"noindex", "nofollow"}),
        ("index,follow", "nofollow", {"nofollow"}),
        ("all", "otherbot: noindex", set()),
        ("", None, set()),
    ],
)
def test_tags_of_meta_element_and_header(meta: str, header: str | None, tags: set[str]) -> None:
    assert robots_tags(Page(HOME, robots=meta), header) == tags


def test_a_canonical_address_that_nothing_else_links_is_queued_last() -> None:
    pages: dict[str, Answer] = {
        "https://a.example/": b"<link rel=canonical href=/home><p>Hello <a href=/b>b</a> <a href=/fire>fire</a>",
        "https://a.example/b": b"<link rel=canonical href='https://b.example/b'><p>b is here",
        "https://a.example/fire": b"<link rel=canonical href=/fire><p>fire is here",
        "https://a.example/home": b"<p>Hello at home",
    }
    records: list[Record] = []
    web = FakeFetcher(pages)
    crawler = Crawler(web, HtmlReader(), FrozenClock(), MemoryStore(), load_profile("docs", topic="fire"))
    asyncio.run(crawler.crawl(CrawlRequest((HOME,)), lambda record, _: records.append(record)))
    assert web.requests == [f"https://a.example/{name}" for name in ("", "fire", "b", "home")]
