"""A watch of a store, on frozen time: pages that change by a script, one that dies, one that moves, new ones."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from honeyguide import load_profile, plan_store
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.app.watch import watch_session
from honeyguide.core.crawl.frontier import digest_of
from honeyguide.core.recrawl.history import Visit
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.jobs.watch import HOUR_S, Round, WatchBudget, WatchRequest, WatchSession
from honeyguide.ports.fetch import Fetched, Headers, Part, Validators
from honeyguide.testing.fakes import FrozenClock

ROOT = "https://a.example"
DAY_S = 24 * HOUR_S
SLOW = tuple(f"/slow-{n}" for n in range(20))
PROFILE = load_profile("news")
START = 1_750_000_000.0


class Living:
    """A site that lives by the clock: a list that gets a story every four hours, and pages that hardly ever change."""

    def __init__(self, clock: FrozenClock) -> None:
        self._clock = clock
        self.log: list[tuple[float, str]] = []

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators, part
        now = self._clock.now() - START
        self.log.append((self._clock.now(), url.path))
        await asyncio.sleep(0)
        if url.host == "b.example" and now > HOUR_S:
            return Fetched(url, url, 429, Headers(retry_after="90000"))
        if url.path == "/feed":
            return Fetched(url, url, 200, Headers("application/rss+xml"), self.feed(now))
        if url.path == "/dead" and now > DAY_S:
            return Fetched(url, url, 404)
        if url.path == "/moved" and now > DAY_S:
            there = Url.parse(f"{ROOT}/here-now")
            body, hops = self.page("/moved", now), (url.as_linked,)
            return Fetched(there, url, 200, Headers("text/html"), body, hops=hops, is_moved=True)
        return Fetched(url, url, 200, Headers("text/html"), self.page(url.path, now))

    async def robots(self, url: Url) -> None:
        """Say nothing: this site has no robots.txt."""

    @staticmethod
    def page(path: str, now: float) -> bytes:
        stories = range(int(now / (4 * HOUR_S)) + 1) if path == "/" else ()
        names = (*SLOW, "/dead", "/moved", *(f"/story-{n}" for n in stories)) if path == "/" else ()
        links = "".join(f'<p><a href="{name}">fire {name}</a></p>' for name in names)
        state = int(now / (20 * DAY_S)) if path in SLOW else 0
        words = "".join(f"<p>fire alarms {path} {part} {state}</p>" for part in "abcdef")
        return f"<title>fire {path}</title><h1>fire</h1><main>{words}{links}</main>".encode()

    @staticmethod
    def feed(now: float) -> bytes:
        """Announce a page that nobody links, and since yesterday a change of another."""
        at = datetime.fromtimestamp(START + max(0.0, now - DAY_S), UTC)
        items = (("/unlinked", START), ("/slow-7", at.timestamp()), ("https://other.example/", START))
        told = "".join(
            f"<item><link>{link}</link><pubDate>{datetime.fromtimestamp(when, UTC):%a, %d %b %Y %H:%M:%S +0000}</pubDate></item>"
            for link, when in items
        )
        return f"<rss><channel><link>{ROOT}</link>{told}</channel></rss>".encode()

    def since(self, moment: float) -> Counter[str]:
        return Counter(path for at, path in self.log if at >= moment)


@contextmanager
def crawled(path: Path, clock: FrozenClock, site: Living, *more: str) -> Iterator[SqliteStore]:
    store = SqliteStore(path)
    crawler = Crawler(site, HtmlReader(), clock, store, load_profile("docs", topic="fire"))
    seeds = tuple(map(Url.parse, (f"{ROOT}/", *more)))
    asyncio.run(crawler.crawl(CrawlRequest(seeds), lambda _record, _arrival: None))
    try:
        yield store
    finally:
        store.close()


@pytest.mark.slow
def test_ten_days_of_a_living_site(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    site = Living(clock)
    rounds: list[Round] = []
    with crawled(tmp_path / "h.db", clock, site) as store:
        assert len(site.log) == 24
        pace = WatchBudget(per_hour=6, cycle_s=1800.0, until=START + 10 * DAY_S)
        request = WatchRequest(pace, PROFILE, on_round=rounds.append)
        session = watch_session(store, request, site, clock)
        assert asyncio.run(session.watch()) == "until"
    times = [at for at, _ in site.log[24:]]
    assert max(sum(start <= at < start + HOUR_S for at in times) for start in times) <= 6

    late = site.since(START + 4 * DAY_S)  # by then the rates are learnt
    slow = [late[path] for path in SLOW]
    assert late["/"] > 5 * max(slow)
    assert min(slow) >= 2  # and nobody starves
    stories = {path for path in late if path.startswith("/story")}
    assert len(stories) >= 50  # every one of them was found and visited
    assert site.since(START + DAY_S)["/dead"] == 5
    assert late["/moved"] == 0
    assert site.since(START)["/here-now"] > 0

    again = SqliteStore(tmp_path / "h.db", read_only=True)
    ages = {known.url: known.born_at for known in again.history.known()}
    visits = {at for at, path in site.log[24:] if path == "/"}
    assert {path for path in stories | {"/story-0", "/slow-3", "/here-now"} if ages.get(f"{ROOT}{path}") is None} == {
        "/story-0", "/slow-3", "/here-now"  # they were there from the start
    }  # fmt: skip
    assert {ages[f"{ROOT}{path}"] for path in stories - {"/story-0"}} <= visits
    assert sum(again.history.site("a.example").ages["page"].own.expected) > 0.0
    again.close()

    now = datetime.fromtimestamp(clock.now(), UTC)
    plan = plan_store(tmp_path / "h.db", now=now)
    assert plan.dead.first == f"{ROOT}/dead (dropped: no page at 5 visits in a row (last status 404))"
    hub = next(entry for entry in plan.entries if entry.scored.url == f"{ROOT}/")
    assert any("new pages a day" in text for text in hub.scored.score.words)


def test_a_site_that_asks_for_a_pause_does_not_stand_in_the_way(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    site = Living(clock)
    with crawled(tmp_path / "h.db", clock, site, "https://b.example/") as store:
        pace = WatchBudget(per_hour=12, cycle_s=600.0, until=START + 13 * HOUR_S)
        session = watch_session(store, WatchRequest(pace, PROFILE), site, clock)
        asyncio.run(session.watch())
    late = [(at, path) for at, path in site.log if at > START + 2 * HOUR_S]
    assert len(late) >= 11 * 12 * 0.9  # the budget is spent on the other site
    assert {"/", "/slow-3"} <= {path for _, path in late}


def test_a_watch_of_visited_pages_meets_new_links_and_leaves_them(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    site = Living(clock)
    with crawled(tmp_path / "h.db", clock, site) as store:
        before = {path for _, path in site.log}
        pace = WatchBudget(per_hour=60, cycle_s=1800.0, until=START + 12 * HOUR_S)
        asyncio.run(watch_session(store, WatchRequest(pace, PROFILE, visited=True), site, clock).watch())
        assert {path for _, path in site.log} == before
        pace = WatchBudget(per_hour=60, cycle_s=1800.0, until=START + 13 * HOUR_S)
        asyncio.run(watch_session(store, WatchRequest(pace, PROFILE), site, clock).watch())
    assert {"/story-1", "/story-2"} <= {path for _, path in site.log} - before


class Lame(Living):
    """A site whose pages take their time, one after the other, as one that asks for pauses."""

    page_s = 0.0

    def __init__(self, clock: FrozenClock) -> None:
        super().__init__(clock)
        self._turn = asyncio.Lock()

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        async with self._turn:
            if self.page_s:
                await self._clock.sleep(self.page_s)
            return await super().fetch(url, validators=validators, part=part)


def rounds_of(path: Path, page_s: float) -> list[tuple[float, int]]:
    """Fetch twelve pages that are due, in as many rounds as it takes; gives how long each took, and what it fetched."""
    clock = FrozenClock(START)
    site = Lame(clock)
    done: list[tuple[float, int]] = []

    async def go_round(session: WatchSession) -> None:
        while sum(fetched for _, fetched in done) < 12 and len(done) < 99:
            began = clock.now()
            fetched = await session.fetch(12)
            done.append((clock.now() - began, fetched))

    with crawled(path, clock, site) as store:
        asyncio.run(clock.sleep(HOUR_S))
        site.page_s, site.log, site._turn = page_s, [], asyncio.Lock()  # noqa: SLF001 - a lock for another loop
        session = watch_session(store, WatchRequest(WatchBudget(per_hour=600), PROFILE), site, clock)
        assert session.plan(12, clock.now()) == 12
        asyncio.run(go_round(session))
        assert (
            len({path for _, path in site.log}) == len(site.log) == 12
        )  # nothing is lost, and nothing done twice
    return done


def test_a_slow_site_holds_up_no_round(tmp_path: Path) -> None:
    assert rounds_of(tmp_path / "h.db", 50.0) == [*[(120.0, 2)] * 5, (100.0, 2)]


def test_what_takes_longer_than_a_round_gets_a_longer_one(tmp_path: Path) -> None:
    done = rounds_of(tmp_path / "h.db", 500.0)
    assert done[:4] == [(120.0, 0), (240.0, 0), (480.0, 0), (960.0, 1)]
    assert max(fetched for _, fetched in done) == 1


def test_feeds_are_read_again_and_tell_of_pages_and_changes(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    site = Living(clock)
    notes: list[str] = []
    with crawled(tmp_path / "h.db", clock, site) as store:
        pace = WatchBudget(per_hour=6, cycle_s=1800.0, until=START + 12 * HOUR_S)
        feeds = ("nowhere.xml", f"{ROOT}/feed")
        request = WatchRequest(pace, PROFILE, sitemaps=feeds, listen_s=2 * HOUR_S, on_note=notes.append)
        session = watch_session(store, request, site, clock)
        asyncio.run(session.watch())
        digest = digest_of(Url.parse(f"{ROOT}/slow-7"), PROFILE.scope.tracking)
        known = store.history.get(digest)
    times = [at - START for at, path in site.log if path == "/feed"]
    assert times == [2 * HOUR_S * n for n in range(6)]
    assert site.since(START)["/unlinked"] >= 1
    assert known is not None
    assert known.lastmod == f"{datetime.fromtimestamp(START, UTC):%Y-%m-%dT%H:%M:%SZ}"
    assert len(notes) == 6
    assert all("nowhere.xml: cannot be read" in text for text in notes)


def test_what_no_run_can_fetch_does_not_stand_in_the_way(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    site = Living(clock)
    with crawled(tmp_path / "h.db", clock, site) as store:
        store._db.write("DELETE FROM entry WHERE url LIKE '%/slow-1%'")  # noqa: SLF001 - a run that never met them
        store.flush()
        pace = WatchBudget(per_hour=6, cycle_s=HOUR_S, rounds=4)
        session = watch_session(store, WatchRequest(pace, PROFILE), site, clock)
        asyncio.run(session.watch())
    again = Counter(path for _, path in site.log[24:])
    assert not [path for path in again if path.startswith("/slow-1")]
    assert {"/", "/slow-0", "/slow-2", "/dead"} <= set(again)
    assert again.total() == 3 * 6  # the budget is spent, from the hour after the crawl on


def test_runs_that_cannot_be_gone_on_with_are_named(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    site = Living(clock)
    notes: list[str] = []
    request = WatchRequest(WatchBudget(per_hour=6), PROFILE, on_note=notes.append)
    with crawled(tmp_path / "h.db", clock, site) as store:
        store._db.write("UPDATE run SET request = NULL")  # noqa: SLF001 - as an older version left it
        with pytest.raises(InputError, match="run 1"):
            watch_session(store, request, site, clock)
        crawler = Crawler(site, HtmlReader(), clock, store, load_profile("docs", topic="water"))
        asyncio.run(crawler.crawl(CrawlRequest((Url.parse(f"{ROOT}/"),)), lambda _record, _arrival: None))
        watch_session(store, request, site, clock)
    assert len(notes) == 1
    assert "run 1" in notes[0]


def test_visits_that_are_written_late_do_not_hide_those_before_them(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "h.db")
    since = START + DAY_S
    for at in (since - 2 * HOUR_S, since + 60.0, since - HOUR_S / 2, since + 90.0):
        store.history.record(Visit(f"{ROOT}/{at}", int(at), at, 200, "x"), 1)
    found = store.history.latest_visits(9, since)
    store.close()
    assert found == [since + 90.0, since - HOUR_S / 2, since + 60.0]


class Asking(FrozenClock):
    """A clock that asks the workers of a store to stop while it sleeps, from a time on; it notes who was seen before."""

    def __init__(self, path: Path, asked_at: float) -> None:
        super().__init__(START)
        self._path = path
        self._asked_at = asked_at
        self.seen: list[tuple[float, int]] = []

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds)
        if self.now() < START + 1.0:
            return
        with closing(SqliteStore(self._path)) as other:
            self.seen += [(self.now() - one.seen_at, one.pages) for one in other.runs.workers(self.now())]
            if self.now() >= self._asked_at:
                other.runs.stop_workers(self.now())


def test_a_watch_of_a_store_is_listed_with_its_pages_and_stops_when_asked(tmp_path: Path) -> None:
    asked_at = START + 2 * HOUR_S
    clock = Asking(tmp_path / "h.db", asked_at)
    site, rounds = Living(clock), list[Round]()
    with crawled(tmp_path / "h.db", clock, site) as store:
        pace = WatchBudget(per_hour=12, cycle_s=600.0, until=START + DAY_S)
        request = WatchRequest(pace, PROFILE, on_round=rounds.append)
        assert asyncio.run(watch_session(store, request, site, clock).watch()) == "stopped"
    assert clock.now() <= asked_at + 5.0 + 1.0
    assert max(silence for silence, _ in clock.seen) <= 5.0
    assert clock.seen[-1][1] == sum(one.fetched for one in rounds) > 0


def test_a_watch_that_was_stopped_while_it_fetched_tells_of_the_round(tmp_path: Path) -> None:
    clock, rounds = FrozenClock(START), list[Round]()

    class Asked(Living):
        """While a page is fetched, somebody asks, and the seconds of a heartbeat pass."""

        async def fetch(
            self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
        ) -> Fetched:
            if clock.now() > START + HOUR_S:
                with closing(SqliteStore(tmp_path / "h.db")) as other:
                    other.runs.stop_workers(clock.now())
                await clock.sleep(6.0)
            return await super().fetch(url, validators=validators, part=part)

    site = Asked(clock)
    with crawled(tmp_path / "h.db", clock, site) as store:
        asyncio.run(clock.sleep(2 * HOUR_S))
        before = len(site.log)
        pace = WatchBudget(per_hour=200, cycle_s=600.0, until=START + DAY_S)
        request = WatchRequest(pace, PROFILE, on_round=rounds.append, concurrency=1)
        assert asyncio.run(watch_session(store, request, site, clock).watch()) == "stopped"
    assert [(one.number, one.fetched) for one in rounds] == [(1, len(site.log) - before)]
    assert 0 < rounds[0].fetched < rounds[0].planned
