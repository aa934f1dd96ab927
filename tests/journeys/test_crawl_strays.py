"""Sites that become part of a crawl on the way, what sitemaps list, pages that say something else by now."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import permutations
from typing import TYPE_CHECKING

import pytest

from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.app.watch import watch_session
from honeyguide.config import load_profile
from honeyguide.core.crawl.frontier import ScheduledVisit, digest_of
from honeyguide.core.url.url import Url
from honeyguide.jobs.crawl import Crawler
from honeyguide.jobs.request import CrawlRequest, context_of
from honeyguide.jobs.sitemaps import Listing, queue_listed
from honeyguide.jobs.watch import WatchBudget, WatchRequest
from honeyguide.ports.fetch import Fetched, Headers, Robots
from honeyguide.testing.fakes import FakeFetcher, FrozenClock
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from honeyguide.core.crawl.frontier import Run
    from honeyguide.core.records import Record
    from honeyguide.ports.store import Store

FIRE = load_profile("docs", topic="fire")
WWW = "https://www.acme.example"
LONG = "all about fire alarms, their testing and their maintenance; " * 4


def html(*hrefs: str, text: str = "") -> bytes:
    links = "".join(f'<p><a href="{href}">fire {href}</a></p>' for href in hrefs)
    return f"<title>fire</title><main><p>fire {text}</p>{links}</main>".encode()


def moved(old: str, new: str, body: bytes) -> Fetched:
    headers = Headers(content_type="text/html")
    return Fetched(Url.parse(new), Url.parse(old), 200, headers, body, hops=(old,), is_moved=True)


Pages = Mapping[str, "bytes | Fetched | list[bytes]"]


def crawl(
    pages: Pages, seeds: Sequence[str], listed: Sequence[str] = (), store: Store | None = None
) -> list[Record]:
    """Crawl, with a sitemap if it lists anything; gives the records."""
    place = store or MemoryStore()
    records: list[Record] = []
    request = CrawlRequest(tuple(map(Url.parse, seeds)), profile="docs")

    def begun(run: Run) -> None:
        if listed:
            listing = Listing({Url.parse(url): "2026-05-01" for url in listed})
            sites = frozenset(seed.site for seed in request.seeds)
            told = queue_listed(place.queue(run), listing, request.seeds, sites, context_of(request, FIRE))
            place.history.note_lastmods(told)

    crawler = Crawler(FakeFetcher(dict(pages)), HtmlReader(), FrozenClock(), place, FIRE)
    asyncio.run(crawler.crawl(request, lambda record, _: records.append(record), begun))
    return records


def urls(records: Sequence[Record]) -> list[str]:
    return [record["url"] for record in records]


def acme(*names: str) -> Pages:
    home = moved("https://acme.example/", f"{WWW}/", html(*names))
    return {"https://acme.example/": home} | {f"{WWW}{name}": html(text=name) for name in ("/a", "/b", "/c")}


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_sitemap_of_a_site_that_a_seed_leads_to_is_crawled(kind: str, tmp_path: Path) -> None:
    store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "h.db")
    listed = [f"{WWW}/a", f"{WWW}/b", f"{WWW}/login.pdf", "https://other.example/x"]
    records = crawl(acme("/a", "/c"), ["https://acme.example/"], listed, store)
    assert sorted(urls(records)) == ["https://acme.example/", f"{WWW}/a", f"{WWW}/b", f"{WWW}/c"]
    frontier = store.queue(store.runs.list()[0])
    assert frontier.counts().out == {"extension": 1, "other-site": 1}
    found = frontier.find(digest_of(Url.parse(f"{WWW}/a"), FIRE.scope.tracking))
    assert found is not None
    assert (found[0].seen, len(found[1])) == (1, 2)  # by the homepage; and a sitemap lists it
    known = store.history.get(digest_of(Url.parse(f"{WWW}/a"), FIRE.scope.tracking))
    assert known is not None
    assert known.lastmod == "2026-05-01"
    store.close()


def test_seeds_in_any_order_give_the_same_pages() -> None:
    pages: Pages = {
        **acme("/a"),
        "https://one.example/": html(f"{WWW}/b", "https://acme.example/old", "https://two.example/x"),
        "https://two.example/": html("https://one.example/y", f"{WWW}/c"),
        "https://two.example/x": html(text="x"),
        "https://one.example/y": html(text="y"),
    }
    seeds = ("https://acme.example/", "https://one.example/", "https://two.example/", "https://gone.example/")
    found = {tuple(sorted(urls(crawl(pages, order)))) for order in permutations(seeds)}
    (one,) = found
    assert set(one) == {
        *seeds,
        f"{WWW}/a",
        f"{WWW}/b",
        f"{WWW}/c",
        "https://two.example/x",
        "https://one.example/y",
    }


def test_a_seed_that_is_gone_still_has_a_site() -> None:
    pages: Pages = {"https://one.example/": html("https://gone.example/x"), "https://gone.example/x": html()}
    records = crawl(pages, ["https://one.example/", "https://gone.example/"])
    assert "https://gone.example/x" in urls(records)


def test_a_page_is_compared_with_what_others_say_now() -> None:
    home = "https://a.example/"
    pages: Pages = {
        home: [html("/a"), html("/a", "/b", "/c")],
        f"{home}a": [html(text=LONG), html(text=f"something else {LONG}")],
        f"{home}b": html(text=LONG),
        f"{home}c": html(text=LONG),
    }
    store = MemoryStore()
    actions: dict[str, str] = {}
    crawler = Crawler(FakeFetcher(dict(pages)), HtmlReader(), FrozenClock(), store, FIRE)
    request = CrawlRequest((Url.parse(home),))

    def keep(record: Record, _: object) -> None:
        actions[record["url"]] = record["action"]

    asyncio.run(crawler.crawl(request, keep))
    due = [
        ScheduledVisit(digest_of(Url.parse(url), FIRE.scope.tracking), 0.0, n)
        for n, url in enumerate((f"{home}a", home))
    ]
    store.queue(store.runs.list()[0]).schedule(due)
    asyncio.run(crawler.crawl(request, keep))
    duplicates = [url for url, action in actions.items() if action == "duplicate"]
    assert duplicates == [f"{home}c"]  # it says what /b says; /a no longer does


class Announcing:
    """A source whose only file is a sitemap."""

    def __init__(self, *listed: str) -> None:
        self.listed = listed

    async def fetch(self, url: Url, **_: object) -> Fetched:
        rows = "".join(f"<url><loc>{one}</loc><lastmod>2026-05-01</lastmod></url>" for one in self.listed)
        return Fetched(url, url, 200, body=f"<urlset>{rows}</urlset>".encode())

    async def robots(self, _: Url) -> Robots | None:
        return None


def test_announcements_reach_a_crawl_that_was_made_with_a_sitemap_and_obey_its_limits() -> None:
    home, store = "https://a.example", MemoryStore()
    crawl({f"{home}/": html(), f"{home}/p": html()}, [f"{home}/"], [f"{home}/p"], store)
    (run,) = store.runs.list()
    frontier = store.queue(run)
    assert [seed.text for seed in frontier.seeds()] == [f"{home}/"]
    days = [
        f"{home}/calendar?date=2026-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 28)
    ]
    foreign = "https://b.example/x"
    request = WatchRequest(WatchBudget(1), FIRE, sitemaps=(f"{home}/s.xml",))
    for _ in range(2):  # the second time nothing is new
        for some in (days[:100], days[100:200]):
            source = Announcing(*some, f"{home}/new", foreign)
            session = watch_session(store, request, source, FrozenClock())
            asyncio.run(session.listen(0.0))
    rows = list(frontier.rows())
    assert any(row.url == f"{home}/new" for row in rows)
    assert not any(row.url == foreign for row in rows)
    queued = sum("calendar" in row.url and row.why is None for row in rows)
    assert queued == FIRE.traps.max_dates  # over all announcements
