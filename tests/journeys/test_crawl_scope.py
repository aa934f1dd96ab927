"""Which hosts are one site (URL-10): `--scope` of crawl, in both stores, whatever the order of the seeds."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from honeyguide import load_profile
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.url.url import Url
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.jobs.request import resumed_request
from honeyguide.testing.fakes import FakeFetcher, FrozenClock
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide.ports.store import Store
    from honeyguide.testing.fakes import Answer


def page(title: str, *links: str) -> bytes:
    text = " ".join(f"{title}{number}" for number in range(60))
    return f"<title>{title}</title><p>{text}</p>{''.join(f'<p><a href={x}>{x}</a>' for x in links)}".encode()


WEB: dict[str, Answer] = {
    "https://www.acme.example/": page("home", "https://acme.example/a", "https://shop.acme.example/s"),
    "https://acme.example/a": page("a", "https://www.acme.example/b", "https://other.example/x"),
    "https://www.acme.example/b": page("b"),
    "https://shop.acme.example/s": page("shop"),
    "https://other.example/": page("other", "https://acme.example/late"),
    "https://acme.example/late": page("late"),
    "https://other.example/x": page("x"),
}
HOME, OTHER = "https://www.acme.example/", "https://other.example/"


def crawl(store: Store, scope: str, *seeds: str) -> list[str]:
    request = CrawlRequest(tuple(map(Url.parse, seeds)), traversal="bfs", scope=scope)
    crawler = Crawler(FakeFetcher(WEB), HtmlReader(), FrozenClock(), store, load_profile("docs"))
    urls: list[str] = []
    asyncio.run(crawler.crawl(request, lambda record, _: urls.append(record["url"])))
    return urls


@pytest.mark.parametrize(
    ("scope", "found"),
    [
        ("host", [HOME]),
        ("www", [HOME, "https://acme.example/a", "https://www.acme.example/b"]),
        (
            "domain",
            [HOME, "https://acme.example/a", "https://shop.acme.example/s", "https://www.acme.example/b"],
        ),
    ],
)
def test_the_scope_of_a_crawl(scope: str, found: list[str], tmp_path: Path) -> None:
    # URL-10 to the letter unless the user asks for more.
    store = SqliteStore(tmp_path / "h.db")
    assert crawl(store, scope, HOME) == crawl(MemoryStore(), scope, HOME) == found
    (run,) = store.runs.list()
    assert resumed_request(run).scope == scope
    outside = {row.url: row.why for row in store.ledger(run).rows(rule="other-site")}
    store.close()
    if scope == "www":
        assert outside["https://shop.acme.example/s"] == ("other-site", "shop.acme.example")


@pytest.mark.parametrize("seeds", [(HOME, OTHER), (OTHER, HOME)])
def test_a_link_that_was_met_before_its_site_is_part_of_the_crawl(
    seeds: tuple[str, str], tmp_path: Path
) -> None:
    store = SqliteStore(tmp_path / "h.db")
    assert sorted(crawl(store, "www", *seeds)) == sorted(set(WEB) - {"https://shop.acme.example/s"})
    store.close()


def test_another_scope_is_another_crawl(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "h.db")
    crawl(store, "host", HOME)
    crawl(store, "domain", HOME)
    assert [run.fetched for run in store.runs.list()] == [1, 4]
    store.close()
