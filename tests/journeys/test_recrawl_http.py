"""Visits of known pages on real HTTP: conditional requests, pages that are the same, pages that moved or are gone."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import pytest

from honeyguide import load_profile
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.http.client import HttpFetcher
from honeyguide.adapters.http.robots import read_robots
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import Budgets, ClaimRequest, ScheduledVisit, digest_of
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.records import verdict_of
from honeyguide.core.rules.profile import LearnerRules
from honeyguide.core.url.url import Url
from honeyguide.jobs.crawl import Crawler, CrawlRequest, PageAttachments
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.testing.fakes import FrozenClock, LoopbackServer, Script, response

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide.core.page.page import Page
    from honeyguide.core.records import Record
    from honeyguide.core.recrawl.history import HistoryEntry

FIRE = load_profile("docs", topic="fire")
DAY_S = 86400.0


class CountingReader:
    """A reader that counts the pages it reads."""

    head = staticmethod(HtmlReader.head)
    content = staticmethod(HtmlReader.content)

    def __init__(self) -> None:
        self.read: list[str] = []

    def page(self, body: bytes, url: Url, content_type: str | None) -> Page:
        self.read.append(url.path)
        return HtmlReader.page(body, url, content_type)


@dataclass
class Site:
    """A served site whose pages have versions: text, ETag if it has one, Last-Modified if it has one."""

    texts: dict[str, str]
    marks: dict[str, str] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    how: str = "301 Moved Permanently"
    bodies: Counter[str] = field(default_factory=Counter)
    server: LoopbackServer = field(init=False)

    def __post_init__(self) -> None:
        paths = (*self.texts, *self.moved, "/new", "/place")
        self.server = LoopbackServer({path: self._script(path) for path in paths})

    def _script(self, path: str) -> Script:
        async def script(writer: asyncio.StreamWriter) -> None:
            head = next(h for h in reversed(self.server.requests) if h.split(" ", 2)[1] == path)
            writer.write(self._answer(path, head))
            await writer.drain()

        return script

    def _answer(self, path: str, head: str) -> bytes:
        if path in self.moved:
            return response(b"", f"Location: {self.moved[path]}", 'ETag: "hop"', status=self.how)
        if path not in self.texts:
            return response(b"", status="404 Not Found")
        mark = self.marks.get(path)
        told = () if mark is None else (f"ETag: {mark}",)
        if mark is not None and f"If-None-Match: {mark}" in head:
            return response(b"", *told, status="304 Not Modified")
        self.bodies[path] += 1
        return response(self.texts[path].encode(), *told)


def page(title: str, *links: str, date: str = "1 May") -> str:
    listed = "".join(f'<p><a href="{link}">{link.strip("/")}</a></p>' for link in links)
    words = "".join(f"<p>About {title}, sentence {n}: fire and water and what they do.</p>" for n in "abcdef")
    footer = f"<footer><p>Printed on {date} 2026</p></footer>"
    return f"<title>{title}</title><main><h1>{title}</h1>{words}{listed}</main>{footer}"


def small_site() -> Site:
    names = ("/marked", "/plain", "/dated", "/gone", "/old")
    return Site(
        {"/": page("Fire", *names)} | {name: page(f"fire {name}") for name in names},
        marks={"/marked": '"m1"', "/dated": '"d1"'},
    )


@dataclass
class World:
    """One store, one site, one clock: crawls that follow each other."""

    site: Site
    store: SqliteStore
    clock: FrozenClock = field(default_factory=lambda: FrozenClock(1_700_000_000.0))
    reader: CountingReader = field(default_factory=CountingReader)

    async def crawl(self, **asked: object) -> tuple[str, dict[str, Record]]:
        policy = FetchPolicy(allow_private=True, delay_s=0.0, retries=0)
        records: dict[str, Record] = {}
        root = self.site.server.root

        def keep(record: Record, _: PageAttachments) -> None:
            records[record["url"].removeprefix(root)] = record

        async with HttpFetcher(policy, proxies={}) as http:
            polite = PoliteFetcher(http, self.clock, partial(read_robots, token=policy.robots_token), policy)
            crawler = Crawler(polite, self.reader, self.clock, self.store, FIRE)
            request = CrawlRequest((Url.parse(f"{root}/"),), **asked)  # type: ignore[arg-type]  # any field
            summary = await crawler.crawl(request, keep)
        return summary.stopped, records

    async def again(self, *paths: str, **asked: object) -> tuple[str, dict[str, Record]]:
        """A day later, visit these pages, and no others."""
        await self.clock.sleep(DAY_S)
        self.reader.read.clear()
        self.site.bodies.clear()
        self.site.server.requests.clear()
        frontier = self.store.queue(self.store.runs.list()[0])
        due = [ScheduledVisit(self.digest(path), self.clock.now(), place) for place, path in enumerate(paths)]
        assert frontier.schedule(due) == {one.digest for one in due}
        return await self.crawl(only_due=True, **asked)

    def digest(self, path: str) -> int:
        return digest_of(Url.parse(self.site.server.root + path), FIRE.scope.tracking)

    def known(self, path: str) -> HistoryEntry:
        known = self.store.history.get(self.digest(path))
        assert known is not None
        return known


@pytest.mark.parametrize(("is_gone", "action"), [(True, "expand"), (False, "duplicate")])
def test_a_page_whose_last_visit_failed_is_no_twin(tmp_path: Path, is_gone: bool, action: str) -> None:
    # TRAP-9
    async def run() -> Record:
        world = World(small_site(), SqliteStore(tmp_path / "h.db"))
        async with world.site.server:
            await world.crawl()
            world.site.texts["/new"] = world.site.texts["/gone"]
            world.site.texts["/old"] = page("fire /old", "/new")
            if is_gone:
                del world.site.texts["/gone"]
            await world.again("/gone", "/old")
            _, records = await world.crawl()
        world.store.close()
        return records["/new"]

    record = asyncio.run(run())
    assert record["action"] == action


def test_pages_that_are_the_same_are_neither_sent_nor_read_again(tmp_path: Path) -> None:
    async def run() -> None:
        world = World(small_site(), SqliteStore(tmp_path / "h.db"))
        async with world.site.server:
            await world.crawl()
            assert sorted(world.reader.read) == ["/", "/dated", "/gone", "/marked", "/old", "/plain"]
            before = world.known("/marked")
            world.site.texts["/dated"] = page("fire /dated", date="2 May")
            world.site.marks["/dated"] = '"d2"'
            world.site.texts["/old"] = page("fire /old", "/new") + "<p>What is new: a fire.</p>"
            world.site.texts["/new"] = page("new")
            del world.site.texts["/gone"]
            stopped, records = await world.again("/marked", "/plain", "/dated", "/gone", "/old")
        assert stopped == "nothing_due"
        assert world.site.server.paths[0] == "/robots.txt"
        assert world.site.server.paths[1:] == [
            "/marked",
            "/plain",
            "/dated",
            "/gone",
            "/old",
        ]  # not the new link
        assert world.site.bodies == {"/plain": 1, "/dated": 1, "/old": 1}
        assert world.reader.read == ["/dated", "/old"]
        verdicts = {path: verdict_of(record) for path, record in records.items()}
        assert verdicts == {
            "/marked": "not-modified",
            "/plain": "same-bytes",
            "/dated": "same-content",
            "/gone": "gone",
            "/old": "changed",
        }
        actions = {path: record["action"] for path, record in records.items()}
        assert (actions["/marked"], actions["/plain"], actions["/gone"]) == (
            "unchanged",
            "unchanged",
            "dropped",
        )
        assert records["/marked"]["digest"] == before.content
        after = world.known("/marked")
        assert (after.visits, after.status, after.changes, after.unchanged) == (2, 304, 0, 1)
        assert (after.relevance, after.links, after.is_hub, after.etag) == (
            before.relevance, before.links, before.is_hub, '"m1"',
        )  # fmt: skip
        assert (world.known("/dated").changes, world.known("/dated").etag) == (0, '"d2"')
        assert (world.known("/old").changes, world.known("/old").changed_at) == (1, world.clock.now())
        assert (world.known("/gone").is_gone, world.known("/gone").failures) == (True, 1)
        assert world.store.queue(world.store.runs.list()[0]).counts().states["queued"] == 1
        world.store.close()

    asyncio.run(run())


def test_a_page_that_moves_takes_its_history_along(tmp_path: Path) -> None:
    async def run() -> None:
        world = World(small_site(), SqliteStore(tmp_path / "h.db"))
        async with world.site.server:
            await world.crawl()
            world.site.moved["/marked"] = "/place"
            world.site.texts["/place"] = world.site.texts.pop("/marked")
            world.site.marks["/place"] = '"hop"'  # the mark that the redirect carries, too
            await world.again("/marked")
            place, old = world.known("/place"), world.known("/marked")
            assert (place.visits, place.unchanged, place.first_seen) == (2, 1, old.first_seen)
            assert (old.is_moved, old.arrived) == (True, f"{world.site.server.root}/place")
            _, records = await world.again("/marked", "/place")
        heads = [head for head in world.site.server.requests if " /robots.txt " not in head]
        sent = [(head.split(" ", 2)[1], "If-None-Match" in head) for head in heads]
        assert sorted(sent) == [("/marked", False), ("/place", True), ("/place", True)]
        assert {verdict_of(record) for record in records.values()} == {"not-modified"}
        world.store.close()

    asyncio.run(run())


def test_a_page_that_is_away_for_a_while_keeps_its_history(tmp_path: Path) -> None:
    async def run() -> None:
        world = World(small_site(), SqliteStore(tmp_path / "h.db"))
        world.site.how = "302 Found"
        async with world.site.server:
            await world.crawl()
            world.site.moved["/marked"] = "/place"
            world.site.texts["/place"] = page("We are closed for today")
            await world.again("/marked")
            away, place = world.known("/marked"), world.known("/place")
            assert (away.is_moved, away.failures, away.status, place.visits) == (False, 0, 302, 1)
            assert len(world.store.history.visits(world.digest("/marked"))) == 1
            del world.site.moved["/marked"]
            _, records = await world.again("/marked")
        assert verdict_of(records["/marked"]) == "not-modified"
        assert (world.known("/marked").failures, world.known("/marked").unchanged) == (0, 1)
        world.store.close()

    asyncio.run(run())


def test_a_page_that_says_that_it_is_gone_is_gone(tmp_path: Path) -> None:
    async def run() -> None:
        world = World(small_site(), SqliteStore(tmp_path / "h.db"))
        async with world.site.server:
            await world.crawl()
            world.site.texts["/plain"] = "<title>Page not found</title><p>There is nothing here.</p>"
            _, records = await world.again("/plain")
        assert (records["/plain"]["action"], verdict_of(records["/plain"])) == ("soft-404", "gone")
        assert (world.known("/plain").is_gone, world.known("/plain").changes) == (True, 0)
        world.store.close()

    asyncio.run(run())


def test_a_304_that_nobody_asked_for_is_no_page(tmp_path: Path) -> None:
    async def run() -> None:
        world = World(small_site(), SqliteStore(tmp_path / "h.db"))
        world.site.server.answers["/plain"] = response(b"", status="304 Not Modified")
        async with world.site.server:
            _, records = await world.crawl()
        assert (records["/plain"]["action"], records["/plain"]["points"][-1]["rule"]) == (
            "dropped",
            "http-304",
        )
        world.store.close()

    asyncio.run(run())


def test_budgets_are_of_this_visit_and_what_is_left_stays_due(tmp_path: Path) -> None:
    async def run() -> None:
        world = World(small_site(), SqliteStore(tmp_path / "h.db"))
        async with world.site.server:
            await world.crawl(budgets=Budgets(max_pages=4))
            fetched = world.site.server.paths
            due = [path for path in fetched if path not in ("/robots.txt", "/")]
            stopped, records = await world.again(*due, budgets=Budgets(max_pages=2))
            assert (stopped, list(records)) == ("max_pages", due[:2])
            stopped, records = await world.crawl(only_due=True)
        assert (stopped, list(records)) == ("nothing_due", due[2:])
        world.store.close()

    asyncio.run(run())


def test_another_run_reads_a_page_whatever_history_knows(tmp_path: Path) -> None:
    async def run() -> None:
        world = World(small_site(), SqliteStore(tmp_path / "h.db"))
        async with world.site.server:
            await world.crawl()
            world.reader.read.clear()
            world.site.server.requests.clear()
            await world.crawl(restart=True)
        assert len(world.reader.read) == 6
        assert not any("If-None-Match" in head for head in world.site.server.requests)
        assert (world.known("/plain").visits, world.known("/plain").changes) == (2, 0)
        world.store.close()

    asyncio.run(run())


def test_a_page_that_is_visited_often_is_no_family_of_pages_that_are_alike(tmp_path: Path) -> None:
    async def run() -> None:
        site = Site({"/": page("Fire", "/item/1"), "/item/1": page("fire item")})
        world = World(site, SqliteStore(tmp_path / "h.db"))
        site.server.answers["/item/2"] = response(page("other item, and quite another one").encode())
        async with site.server:
            await world.crawl()
            for day in range(2, 12):
                site.texts["/item/1"] = page("fire item", date=f"{day} May")
                _, records = await world.again("/item/1")
                assert verdict_of(records["/item/1"]) == "same-content"
            site.texts["/"] = page("Fire", "/item/1", "/item/2")
            await world.again("/")
            _, records = await world.crawl()
        assert list(records) == ["/item/2"]
        world.store.close()

    asyncio.run(run())


def test_what_a_killed_process_left_is_not_fetched_unless_it_is_due(tmp_path: Path) -> None:
    async def run() -> None:
        world = World(small_site(), SqliteStore(tmp_path / "h.db"))
        async with world.site.server:
            await world.crawl(budgets=Budgets(max_pages=3))
            frontier = world.store.queue(world.store.runs.list()[0])
            rules = LearnerRules()  # without it, what goes by worth is not claimed
            request = ClaimRequest(world.clock.now(), 2, world.clock.now() + 600.0, learner=rules)
            left = frontier.claim(request).leases
            assert len(left) == 2
            frontier.release(world.clock.now())
            stopped, records = await world.again("/")
        assert (stopped, list(records)) == ("nothing_due", ["/"])
        assert frontier.counts().states["leased"] == 0
        world.store.close()

    asyncio.run(run())


def test_depth_that_was_not_asked_for_stays_out(tmp_path: Path) -> None:
    async def run() -> None:
        world = World(small_site(), SqliteStore(tmp_path / "h.db"))
        async with world.site.server:
            await world.crawl(max_depth=0)
            await world.again("/")
        assert world.store.queue(world.store.runs.list()[0]).counts().out == {"max-depth": 5}
        world.store.close()

    asyncio.run(run())
