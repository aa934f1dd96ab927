"""`simulate crawl`: another traversal or topic on the pages that a store keeps (TOPIC-4c)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from honeyguide import load_profile
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.app.simulate import replay_crawl
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

if TYPE_CHECKING:
    from pathlib import Path

ROOT = "https://a.example/"
FIRE = "<title>Fire</title><h1>Fire</h1><p>" + "A fire door stops a fire for half an hour. " * 9


def stored(folder: Path, keep_bytes: int = 10**6) -> Path:
    """Crawl a small site for water, breadth first, and keep its pages."""
    names = ("wood", "stone", "list", "missing")
    links = "".join(f"<li><a href=/{name}>{name}</a></li>" for name in names)
    pages = {
        ROOT: f"<title>Home</title><p>Welcome to this home</p><ul>{links}</ul>",
        f"{ROOT}wood": "<title>Wood</title><p>All about wood and its smell",
        f"{ROOT}stone": "<title>Stone</title><p>All about stone and its weight",
        f"{ROOT}list": "<title>List</title><p>A list of things</p><a href=/fire>fire</a>",
        f"{ROOT}fire": FIRE,
    }
    web = FakeFetcher({url: page.encode() for url, page in pages.items()})
    path = folder / "h.db"
    store = SqliteStore(path)
    crawler = Crawler(web, HtmlReader(), FrozenClock(), store, load_profile("docs", topic="water"))
    request = CrawlRequest((Url.parse(ROOT),), traversal="bfs", keep_bytes=keep_bytes)
    asyncio.run(crawler.crawl(request, lambda *_: None))
    store.close()
    return path


def test_another_topic_and_other_traversals_are_replayed_without_a_request(tmp_path: Path) -> None:
    path = stored(tmp_path)
    before = path.read_bytes()
    focused, hybrid = replay_crawl(path, load_profile("docs", topic="fire"), ("focused", "hybrid"))
    assert (focused["fetched"], focused["relevant"], focused["missing"]) == (6, 1, 1)
    assert (focused["traversal"], focused["topic"], focused["relevant_100"]) == ("focused", "fire", 1)
    assert hybrid["relevant"] == 0  # it follows no link of a weak page
    (short,) = replay_crawl(path, load_profile("docs", topic="fire"), ("bfs",), max_pages=2)
    assert (short["fetched"], short["relevant"]) == (2, 0)
    assert path.read_bytes() == before


def test_a_store_that_keeps_no_pages_says_so(tmp_path: Path) -> None:
    path = stored(tmp_path, keep_bytes=0)
    with pytest.raises(InputError, match="keeps no page"):
        replay_crawl(path, load_profile("docs", topic="fire"), ("focused",))
