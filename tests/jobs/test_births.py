"""Which pages a crawl sees to be new: those that a known hub leads to now and did not when it was read before."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from honeyguide import load_profile
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.core.crawl.frontier import ScheduledVisit, digest_of
from honeyguide.core.url.url import Url
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.testing.fakes import FakeFetcher, FrozenClock
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT, OTHER = "https://a.example", "https://b.example"
PROFILE = load_profile("docs", topic="fire")
LISTED = [f"/{n}" for n in range(12)]
START, LATER = 1_750_000_000.0, 1_750_086_400.0


def hub(links: Sequence[str]) -> bytes:
    listed = "".join(f'<p><a href="{link}">fire {link}</a></p>' for link in links)
    return f"<title>Fire</title><main>{listed}</main>".encode()


def page(name: str, link: str) -> bytes:
    words = "".join(f"<p>fire alarms and {name}, part {part}</p>" for part in "abcdefgh")
    return f'<title>{name}</title><main>{words}<p><a href="{link}">fire</a></p></main>'.encode()


class Crawl:
    """A store, and crawls of a site whose hub and first page lead to more when they are visited again."""

    def __init__(self) -> None:
        more = ["/new", f"{OTHER}/elsewhere"]
        pages = {f"{ROOT}{name}": page(f"words of {name}", "/0") for name in (*LISTED, "/new", "/old")}
        self.fetcher = FakeFetcher({
            **pages,
            f"{ROOT}/": [hub(LISTED), hub([*LISTED, *more])],
            f"{ROOT}/0": [page("first words", "/1"), page("other words", "/old")],
            f"{OTHER}/": page("other site", "/x"),
        })  # fmt: skip
        self.store = MemoryStore()

    def go(self, at: float, *, only_due: bool = False, restart: bool = False) -> None:
        request = CrawlRequest(
            (Url.parse(f"{ROOT}/"), Url.parse(f"{OTHER}/")), concurrency=1, only_due=only_due, restart=restart
        )
        crawler = Crawler(self.fetcher, HtmlReader(), FrozenClock(at), self.store, PROFILE)
        asyncio.run(crawler.crawl(request, lambda _record, _arrival: None))

    def again(self, *paths: str) -> None:
        due = [ScheduledVisit(digest(f"{ROOT}{path}"), LATER, place) for place, path in enumerate(paths)]
        self.store.queue(self.store.runs.list()[0]).schedule(due)
        self.go(LATER, only_due=True)
        self.go(LATER + 60.0)  # what they led to

    @property
    def born(self) -> dict[str, float]:
        known = self.store.history.known()
        return {one.url: one.born_at for one in known if one.born_at is not None}


def digest(url: str) -> int:
    return digest_of(Url.parse(url), PROFILE.scope.tracking)


def visited(crawl: Crawl) -> set[str]:
    return {known.url for known in crawl.store.history.known()}


def test_what_a_known_hub_leads_to_now_and_did_not_is_new() -> None:
    crawl = Crawl()
    crawl.go(START)
    assert crawl.born == {}  # who comes to a site for the first time knows no ages
    crawl.again("/", "/0")
    assert {f"{ROOT}/new", f"{ROOT}/old", f"{OTHER}/elsewhere"} < visited(crawl)
    # A page that is no hub may lead to something old, and so may a link to another site.
    assert crawl.born == {f"{ROOT}/new": LATER}


def test_what_is_new_to_another_run_alone_is_not_new() -> None:
    crawl = Crawl()
    crawl.go(START)
    crawl.go(LATER, restart=True)
    assert f"{ROOT}/new" in visited(crawl)
    assert crawl.born == {}
