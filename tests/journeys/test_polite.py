"""Politeness from end to end: fakes and frozen time for the arithmetic, real HTTP on loopback for the rest."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

import honeyguide.jobs.politeness
from honeyguide import load_profile
from honeyguide.adapters.clock import SystemClock
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.http.client import HttpFetcher
from honeyguide.adapters.http.robots import read_robots
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.errors import FetchError, ForbiddenError, NameNotFoundError, TimedOutError, UnreachableError
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.jobs.pick import Picker, PickRequest, pick_all
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.ports.fetch import Fetched, Headers, Part, Validators
from honeyguide.testing.fakes import Answer, FakeFetcher, FrozenClock, LoopbackServer, Script, response
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from honeyguide.core.records import Record
    from honeyguide.ports.fetch import Clock, Fetcher

STEADY = FetchPolicy(jitter=0.0)
A = "https://a.example"
B = "https://b.example"


class Watched:
    """A fetcher that notes when each request starts, and how many run at once."""

    def __init__(self, inner: Fetcher, clock: Clock, takes_s: float = 0.0) -> None:
        self._inner = inner
        self._clock = clock
        self._takes_s = takes_s
        self.starts: list[tuple[str, float]] = []
        self.told: list[Validators | None] = []
        self.running = 0
        self.most_running = 0

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        self.starts.append((url.as_linked, self._clock.now()))
        self.told.append(validators)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            if self._takes_s:
                await self._clock.sleep(self._takes_s)
            return await self._inner.fetch(url, validators=validators, part=part)
        finally:
            self.running -= 1

    def times(self, site: str) -> list[float]:
        return [at for url, at in self.starts if url.startswith(site)]


class World:
    """A fake web, a frozen clock and a polite fetcher between them."""

    def __init__(
        self,
        pages: Mapping[str, Answer | Sequence[Answer]],
        policy: FetchPolicy = STEADY,
        takes_s: float = 0.0,
    ) -> None:
        self.clock = FrozenClock()
        self.fake = FakeFetcher(pages)
        self.watched = Watched(self.fake, self.clock, takes_s)
        self.polite = PoliteFetcher(self.watched, self.clock, read_robots, policy)

    async def get(self, url: str, validators: Validators | None = None) -> Fetched:
        return await self.polite.fetch(Url.parse(url), validators=validators)

    async def get_all(self, *urls: str) -> list[Fetched | BaseException]:
        return await asyncio.gather(*map(self.get, urls), return_exceptions=True)


def answer(url: str, status: int, **headers: str) -> Fetched:
    here = Url.parse(url)
    return Fetched(here, here, status, Headers(**headers))


def moved(url: str, to: str, status: int = 301) -> Fetched:
    return answer(url, status, location=to)


def rules(text: str) -> bytes:
    return text.encode()


def fetched(pages: Mapping[str, Answer | Sequence[Answer]], url: str) -> Fetched:
    return asyncio.run(World(pages).get(url))


def failure(pages: Mapping[str, Answer | Sequence[Answer]], url: str) -> FetchError:
    with pytest.raises(FetchError) as caught:
        asyncio.run(World(pages).get(url))
    return caught.value


# --- failures ---


class Broken:
    """A fetcher with a bug, for one host."""

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators, part
        if url.host == "b.example":
            raise KeyError("a bug\nof two lines")
        return Fetched(url, url, 200, Headers("text/html"), b"<p>hello <a href=/services>Services</a>")


def test_a_bug_in_fetching_costs_a_site_and_not_the_run() -> None:
    picker = Picker(Broken(), HtmlReader(), FrozenClock(), load_profile("company"), PickRequest())
    found: dict[str, str] = {}

    def keep(_: int, record: Record) -> None:
        found[record["site"]] = record["status"]

    sites = (f"{A}/", f"{B}/", "https://c.example/")
    asyncio.run(pick_all(picker, sites, 1, keep))
    assert list(found) == list(sites)
    assert found[f"{B}/"] == "unreachable"


def test_a_bug_in_fetching_costs_a_page_and_not_the_crawl() -> None:
    crawler = Crawler(
        Broken(), HtmlReader(), FrozenClock(), MemoryStore(), load_profile("docs", topic="fire")
    )
    seeds = (Url.parse(f"{B}/"), Url.parse(f"{A}/"))
    seen: list[str] = []
    done = asyncio.run(crawler.crawl(CrawlRequest(seeds), lambda record, _: seen.append(record["url"])))
    assert done.stopped == "complete"
    assert {f"{A}/", f"{A}/services"} <= set(seen)


def test_a_site_that_does_not_exist_is_no_matter_of_robots_txt() -> None:
    assert failure({f"{A}/robots.txt": NameNotFoundError}, f"{A}/page").why == "as told"
    elsewhere: dict[str, Answer] = {
        f"{A}/robots.txt": moved(f"{A}/robots.txt", f"{B}/r"),
        f"{B}/r": NameNotFoundError,
    }
    assert failure(elsewhere, f"{A}/page").why == "robots.txt could not be fetched: as told"


def test_robots_txt_of_a_site_in_use_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(honeyguide.jobs.politeness, "_MAX_ROBOTS", 3)
    urls = [f"https://s{n}.example/" for n in range(8)]
    world = World({A + "/": b"", **dict.fromkeys(urls, b"")})

    async def visit() -> None:
        for url in urls:
            await world.get(f"{A}/")
            await world.get(url)
        await world.get(urls[0])

    asyncio.run(visit())
    asked = [url for url, _ in world.watched.starts if url.endswith("/robots.txt")]
    assert asked.count(f"{A}/robots.txt") == 1
    assert asked.count(f"{urls[0]}robots.txt") == 2  # others are


# --- pace ---


def test_starts_on_one_host_keep_the_delay() -> None:
    world = World({f"{A}/{n}": b"" for n in range(10)})
    asyncio.run(world.get_all(*(f"{A}/{n}" for n in range(10))))
    times = world.watched.times(A)
    assert len(times) == 11  # robots.txt is a request like any other
    assert [round(b - a, 6) for a, b in pairwise(times)] == [0.5] * 10


def test_jitter_lengthens_the_delay_the_same_way_in_every_run() -> None:
    def run() -> list[float]:
        world = World({}, FetchPolicy(jitter=0.2))
        asyncio.run(world.get_all(*(f"{A}/{n}" for n in range(10))))
        return world.watched.times(A)

    gaps = [b - a for a, b in pairwise(run())]
    assert min(gaps) >= 0.5
    assert max(gaps) <= 0.6
    assert len(set(gaps)) == 10
    assert run() == run()


def test_hosts_do_not_wait_for_each_other() -> None:
    world = World({})
    asyncio.run(world.get_all(*(f"https://{n}.example/" for n in range(20))))
    assert world.clock.now() == FrozenClock().now() + 0.5  # each: robots.txt, the delay, the page


def test_in_flight_limits_hold_on_one_host_and_over_all() -> None:
    one = World({}, replace(STEADY, delay_s=0.0), takes_s=60.0)
    asyncio.run(one.get_all(*(f"{A}/{n}" for n in range(30))))
    assert one.watched.most_running == 5
    many = World({}, replace(STEADY, delay_s=0.0, concurrency=7), takes_s=60.0)
    asyncio.run(many.get_all(*(f"https://{n % 10}.example/{n}" for n in range(40))))
    assert many.watched.most_running == 7


@pytest.mark.parametrize(("asked", "kept_s"), [("2", 2.0), ("0.1", 0.5), ("3600", 30.0)])
def test_crawl_delay_is_honoured_up_to_its_bound(asked: str, kept_s: float) -> None:
    world = World({f"{A}/robots.txt": rules(f"User-agent: *\nCrawl-delay: {asked}")})
    asyncio.run(world.get_all(f"{A}/1", f"{A}/2", f"{A}/3"))
    times = world.watched.times(A)[1:]
    assert [round(b - a, 6) for a, b in pairwise(times)] == [kept_s] * 2


# --- robots.txt (RFC 9309 2.3.1) ---


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 304])
def test_no_robots_txt_means_no_rules(status: int) -> None:
    assert fetched({f"{A}/robots.txt": status, f"{A}/p": b"x"}, f"{A}/p").body == b"x"


@pytest.mark.parametrize("status", [500, 503, 599, 429])
def test_a_failing_robots_txt_closes_the_site(status: int) -> None:
    error = failure({f"{A}/robots.txt": status, f"{A}/p": b"x"}, f"{A}/p")
    assert type(error) is ForbiddenError
    assert str(status) in error.why


@pytest.mark.parametrize("kind", [UnreachableError, NameNotFoundError, TimedOutError])
def test_an_unreachable_robots_txt_says_what_is_wrong_with_the_host(kind: type[FetchError]) -> None:
    error = failure({f"{A}/robots.txt": kind, f"{A}/p": b"x"}, f"{A}/p")
    assert type(error) is kind
    assert error.url == f"{A}/p"


def test_what_robots_txt_disallows_is_not_requested() -> None:
    world = World({f"{A}/robots.txt": rules("User-agent: *\nDisallow: /p")})
    with pytest.raises(ForbiddenError, match="robots"):
        asyncio.run(world.get(f"{A}/p"))
    assert world.fake.requests == [f"{A}/robots.txt"]


def chain(length: int) -> dict[str, Answer | Sequence[Answer]]:
    """Build a robots.txt that is `length` redirects away, on other hosts, and disallows everything."""
    names = [f"{A}/robots.txt", *(f"https://r{n}.example/robots.txt" for n in range(length))]
    pages: dict[str, Answer | Sequence[Answer]] = {
        here: moved(here, there) for here, there in pairwise(names)
    }
    return pages | {names[-1]: rules("User-agent: *\nDisallow: /"), f"{A}/p": b"x"}


def test_robots_txt_is_followed_through_five_redirects_and_no_more() -> None:
    assert type(failure(chain(5), f"{A}/p")) is ForbiddenError
    assert fetched(chain(6), f"{A}/p").status == 200


@pytest.mark.parametrize("to", ["mailto:a@b.example", "http://[", "/robots.txt"])
def test_a_robots_txt_that_redirects_nowhere_means_no_rules(to: str) -> None:
    here = f"{A}/robots.txt"
    assert fetched({here: moved(here, to), f"{A}/p": b"x"}, f"{A}/p").status == 200


def test_robots_txt_is_asked_for_once_however_many_wait() -> None:
    world = World({})
    asyncio.run(world.get_all(*(f"{A}/{n}" for n in range(20))))
    assert world.fake.requests.count(f"{A}/robots.txt") == 1


def test_each_scheme_has_its_own_robots_txt() -> None:
    world = World({f"{A}/robots.txt": rules("User-agent: *\nDisallow: /")})
    closed, opened = asyncio.run(world.get_all(f"{A}/p", "http://a.example/p"))
    assert isinstance(closed, ForbiddenError)
    assert isinstance(opened, Fetched)


@pytest.mark.parametrize(("first", "kept_s"), [(404, 86_400.0), (UnreachableError, 600.0)])
def test_robots_txt_is_asked_for_again_when_it_is_stale(first: Answer, kept_s: float) -> None:
    policy = replace(STEADY, retries=0)
    world = World({f"{A}/robots.txt": [first, rules("User-agent: *\nDisallow: /p")]}, policy)

    async def run() -> None:
        await world.get_all(f"{A}/q")
        await world.clock.sleep(kept_s - 10)
        await world.get_all(f"{A}/q")
        assert world.fake.requests.count(f"{A}/robots.txt") == 1
        await world.clock.sleep(20)
        await world.get(f"{A}/q")
        assert world.fake.requests.count(f"{A}/robots.txt") == 2

    asyncio.run(run())


# --- redirects ---


def test_redirects_are_followed_and_recorded() -> None:
    first, second = moved(f"{A}/1", "2"), moved(f"{A}/2", f"{B}/3/", 308)
    got = fetched({f"{A}/1": first, f"{A}/2": second, f"{B}/3/": b"x"}, f"{A}/1")
    assert (got.body, got.url.as_linked, got.request_url.as_linked) == (b"x", f"{B}/3/", f"{A}/1")
    assert got.hops == (f"{A}/1", f"{A}/2")


def test_every_hop_obeys_the_robots_txt_of_its_host() -> None:
    world = World(
        {f"{A}/1": moved(f"{A}/1", f"{B}/2"), f"{B}/robots.txt": rules("User-agent: *\nDisallow: /2")}
    )
    with pytest.raises(ForbiddenError, match="robots"):
        asyncio.run(world.get(f"{A}/1"))
    assert f"{B}/2" not in world.fake.requests


def test_every_hop_keeps_the_pace_of_its_host() -> None:
    world = World({f"{A}/1": moved(f"{A}/1", f"{A}/2"), f"{A}/2": moved(f"{A}/2", f"{A}/3"), f"{A}/3": b"x"})
    asyncio.run(world.get(f"{A}/1"))
    assert [round(b - a, 6) for a, b in pairwise(world.watched.times(A))] == [0.5] * 3


def test_a_downgrade_is_allowed_and_recorded() -> None:
    got = fetched({f"{A}/1": moved(f"{A}/1", "http://a.example/2"), "http://a.example/2": b"x"}, f"{A}/1")
    assert (got.hops, got.url.text) == ((f"{A}/1",), "http://a.example/2")


@pytest.mark.parametrize(
    ("to", "why"),
    [
        ("/1", "in a circle"),
        ("mailto:a@b.example", "mailto"),
        ("javascript:alert(1)", "javascript"),
        ("file:///etc/passwd", "file"),
        ("http://[::", "redirects to"),
        ("http://", "redirects to"),
    ],
)
def test_redirects_that_lead_nowhere(to: str, why: str) -> None:
    error = failure({f"{A}/1": moved(f"{A}/1", to)}, f"{A}/1")
    assert type(error) is UnreachableError
    assert why in error.why
    assert not error.retryable


def test_a_long_way_round_is_a_circle_too() -> None:
    pages = {f"{A}/{n}": moved(f"{A}/{n}", f"{A}/{(n + 1) % 3}") for n in range(3)}
    assert "in a circle" in failure(pages, f"{A}/0").why


def test_redirects_without_end_are_given_up() -> None:
    pages = {f"{A}/{n}": moved(f"{A}/{n}", f"{A}/{n + 1}") for n in range(50)}
    world = World(pages)
    with pytest.raises(UnreachableError, match="more than 10"):
        asyncio.run(world.get(f"{A}/0"))
    assert len(world.fake.requests) == 12


@pytest.mark.parametrize(
    ("first", "second", "is_moved"), [(301, 308, True), (301, 302, False), (307, 301, False)]
)
def test_a_page_has_moved_where_every_redirect_is_for_good(first: int, second: int, is_moved: bool) -> None:
    web: dict[str, Answer] = {
        f"{A}/1": moved(f"{A}/1", f"{A}/2", first),
        f"{A}/2": moved(f"{A}/2", f"{A}/3", second),
        f"{A}/3": b"x",
    }
    assert fetched(web, f"{A}/1").is_moved is is_moved
    assert not fetched(web, f"{A}/3").is_moved


def test_a_redirect_without_a_location_is_an_answer() -> None:
    assert fetched({f"{A}/1": 302}, f"{A}/1").status == 302


@pytest.mark.parametrize(
    ("mark", "sent_to"),
    [(Validators('"v"'), f"{A}/1"), (Validators('"v"', of=Url.parse(f"{B}/3")), f"{B}/3")],
)
def test_validators_go_to_the_url_that_they_are_of(mark: Validators, sent_to: str) -> None:
    world = World({f"{A}/1": moved(f"{A}/1", f"{A}/2"), f"{A}/2": moved(f"{A}/2", f"{B}/3"), f"{B}/3": b"x"})
    asyncio.run(world.get(f"{A}/1", mark))
    told = {url: told for (url, _), told in zip(world.watched.starts, world.watched.told, strict=True)}
    assert {url for url, given in told.items() if given is mark} == {sent_to}


# --- retries and back-off ---


@pytest.mark.parametrize("first", [500, 502, 504, 408, UnreachableError, TimedOutError])
def test_what_may_pass_is_tried_again(first: Answer) -> None:
    assert fetched({f"{A}/p": [first, b"x"]}, f"{A}/p").body == b"x"


def test_pauses_between_tries_double() -> None:
    world = World({f"{A}/p": [UnreachableError, 500, b"x"]})
    asyncio.run(world.get(f"{A}/p"))
    assert [round(b - a, 6) for a, b in pairwise(world.watched.times(f"{A}/p"))] == [1.0, 2.0]


def test_tries_end() -> None:
    assert fetched({f"{A}/p": 503}, f"{A}/p").status == 503
    world = World({f"{A}/p": UnreachableError})
    with pytest.raises(UnreachableError):
        asyncio.run(world.get(f"{A}/p"))
    assert world.fake.requests.count(f"{A}/p") == 3


@pytest.mark.parametrize("first", [404, 403, NameNotFoundError, ForbiddenError])
def test_what_will_not_pass_is_not_tried_again(first: Answer) -> None:
    world = World({f"{A}/p": [first, b"x"]})
    asyncio.run(world.get_all(f"{A}/p"))
    assert world.fake.requests.count(f"{A}/p") == 1


@pytest.mark.parametrize("status", [429, 503])
def test_a_host_that_pushes_back_rests_as_a_whole(status: int) -> None:
    world = World({f"{A}/p": [answer(f"{A}/p", status, retry_after="40"), b"x"]})

    async def run() -> None:
        await world.get(f"{A}/warm-up")
        await world.get_all(f"{A}/p", f"{A}/q", f"{B}/r")

    asyncio.run(run())
    refused_at = world.watched.times(f"{A}/p")[0]
    later = [at for url, at in world.watched.starts if at > refused_at and url.startswith(A)]
    assert min(later) >= refused_at + 40
    assert world.watched.times(f"{B}/r")[0] < refused_at + 2


def test_a_shorter_pause_does_not_shorten_a_longer_one() -> None:
    pages = {f"{A}/{s}": answer(f"{A}/{s}", 429, retry_after=s) for s in ("40", "10")}
    world = World(pages, replace(STEADY, delay_s=1.0, retries=0), takes_s=5.0)

    async def run() -> None:
        await world.get_all(*pages)  # both are in flight when the first answers
        await world.get(f"{A}/later")

    asyncio.run(run())
    refused_at = world.watched.times(f"{A}/40")[0] + 5.0
    assert world.watched.times(f"{A}/later")[0] >= refused_at + 40


def test_without_retry_after_the_rest_grows() -> None:
    world = World({f"{A}/p": [503, 503, b"x"]})
    asyncio.run(world.get(f"{A}/p"))
    assert [round(b - a, 6) for a, b in pairwise(world.watched.times(f"{A}/p"))] == [1.0, 2.0]


def test_an_ordinary_answer_makes_up_for_it() -> None:
    world = World({f"{A}/p": [503, 200, 503, 200]})

    async def run() -> None:
        await world.get(f"{A}/p")
        await world.get(f"{A}/p")

    asyncio.run(run())
    first, second, third, fourth = world.watched.times(f"{A}/p")
    assert (round(second - first, 6), round(fourth - third, 6)) == (1.0, 1.0)


def test_who_stood_in_line_when_a_host_pushed_back_rests_too() -> None:
    pushed = answer(f"{A}/0", 429, retry_after="40")
    world = World({f"{A}/0": [pushed, b"x"]}, replace(STEADY, concurrency=1), takes_s=5.0)
    asyncio.run(world.get_all(*(f"{A}/{n}" for n in range(4))))
    refused_at = world.watched.times(f"{A}/0")[0] + 5.0
    later = [at for _, at in world.watched.starts if at >= refused_at]
    assert len(later) == 4
    assert min(later) >= refused_at + 40


def test_a_host_that_wants_long_rest_is_reported_at_once() -> None:
    world = World({f"{A}/p": answer(f"{A}/p", 429, retry_after="999999")})

    async def run() -> tuple[Fetched, BaseException | Fetched]:
        got = await world.get(f"{A}/p")
        return got, (await world.get_all(f"{A}/q"))[0]

    got, other = asyncio.run(run())
    assert got.status == 429
    assert world.fake.requests.count(f"{A}/p") == 1
    assert isinstance(other, UnreachableError)
    assert other.retryable
    assert other.retry_after_s is not None
    assert 3000 < other.retry_after_s <= 3600
    assert f"{A}/q" not in world.fake.requests


# --- cancellation ---


def test_cancelled_tasks_give_their_slots_back() -> None:
    policy = replace(STEADY, per_host=2, concurrency=3)
    world = World({}, policy, takes_s=5.0)

    async def run() -> list[Fetched | BaseException]:
        tasks = [asyncio.create_task(world.get(f"https://{n % 3}.example/{n}")) for n in range(12)]
        for turns in range(40):
            for _ in range(turns):
                await asyncio.sleep(0)
            tasks[turns % 12].cancel()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert world.watched.running == 0
        return await world.get_all(*(f"https://{n % 3}.example/{n}" for n in range(12)))

    assert [type(got) for got in asyncio.run(run())] == [Fetched] * 12
    assert world.watched.most_running <= 3


def test_a_cancelled_first_asker_of_robots_txt_leaves_the_others_unharmed() -> None:
    world = World({}, takes_s=5.0)

    async def run() -> list[Fetched]:
        tasks = [asyncio.create_task(world.get(f"{A}/{n}")) for n in range(3)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        return await asyncio.gather(*tasks[1:])

    assert [got.status for got in asyncio.run(run())] == [404, 404]


class Held:
    """A fetcher that holds the requests for one site until told."""

    def __init__(self, site: str) -> None:
        self._site = site
        self.go = asyncio.Event()
        self.running = 0
        self.most_running = 0

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators, part
        if url.as_linked.startswith(self._site) and not url.as_linked.endswith("/robots.txt"):
            self.running += 1
            self.most_running = max(self.most_running, self.running)
            await self.go.wait()
            self.running -= 1
        return Fetched(url, url, 404)


@pytest.mark.slow
def test_a_host_in_use_is_not_forgotten_over_ten_thousand_others() -> None:
    async def run() -> Held:
        held = Held(A)
        policy = replace(STEADY, delay_s=0.0, per_host=1)
        polite = PoliteFetcher(held, FrozenClock(), read_robots, policy)
        first = asyncio.create_task(polite.fetch(Url.parse(f"{A}/1")))
        for n in range(10_010):
            await polite.fetch(Url.parse(f"https://{n}.example/"))
        second = asyncio.create_task(polite.fetch(Url.parse(f"{A}/2")))
        for _ in range(20):
            await asyncio.sleep(0)
        assert held.running == 1
        held.go.set()
        await asyncio.gather(first, second)
        return held

    assert asyncio.run(run()).most_running == 1


# --- real HTTP ---


class Split:
    """The first hop from a fake web, all others for real: how a public page that redirects inwards looks."""

    def __init__(self, fake: FakeFetcher, real: HttpFetcher) -> None:
        self._fake = fake
        self._real = real

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        chosen: Fetcher = self._fake if url.host.endswith(".example") else self._real
        return await chosen.fetch(url, validators=validators, part=part)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::ffff:127.0.0.1]", "127.1", "2130706433"])
def test_a_redirect_to_loopback_is_refused_and_no_packet_sent(host: str) -> None:
    async def run() -> int:
        async with LoopbackServer({}) as server, HttpFetcher(FetchPolicy(), proxies={}) as real:
            fake = FakeFetcher({f"{A}/1": moved(f"{A}/1", f"http://{host}:{server.port}/")})
            polite = PoliteFetcher(Split(fake, real), FrozenClock(), read_robots, FetchPolicy())
            with pytest.raises(ForbiddenError, match="loopback"):
                await polite.fetch(Url.parse(f"{A}/1"))
            return server.connections

    assert asyncio.run(run()) == 0


def test_a_redirect_to_the_metadata_address_is_refused() -> None:
    async def run() -> None:
        async with HttpFetcher(FetchPolicy(), proxies={}) as real:
            fake = FakeFetcher({f"{A}/1": moved(f"{A}/1", "http://169.254.169.254/latest/meta-data/")})
            polite = PoliteFetcher(Split(fake, real), FrozenClock(), read_robots, FetchPolicy())
            await polite.fetch(Url.parse(f"{A}/1"))

    with pytest.raises(ForbiddenError, match="metadata"):
        asyncio.run(run())


def on_loopback(
    answers: Mapping[str, bytes | Script],
    policy: FetchPolicy,
    work: Callable[[PoliteFetcher, str], Awaitable[object]],
) -> LoopbackServer:
    """Run some work against a real server, in real time."""

    async def run() -> LoopbackServer:
        async with LoopbackServer(answers) as server, HttpFetcher(policy, proxies={}) as http:
            await work(PoliteFetcher(http, SystemClock(), read_robots, policy), server.root)
            return server

    return asyncio.run(run())


def test_limits_hold_on_a_real_server() -> None:
    async def slow(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.03)
        writer.write(response(b"x"))

    async def work(polite: PoliteFetcher, root: str) -> None:
        await asyncio.gather(*(polite.fetch(Url.parse(f"{root}/{n}")) for n in range(12)))

    policy = FetchPolicy(allow_private=True, delay_s=0.002, per_host=3)
    server = on_loopback({f"/{n}": slow for n in range(12)}, policy, work)
    assert server.paths[0] == "/robots.txt"
    assert len(server.paths) == 13
    assert server.most_in_flight <= 3


def test_the_delay_holds_in_real_time() -> None:
    async def run() -> list[float]:
        clock = SystemClock()
        watched = Watched(FakeFetcher({}), clock)
        polite = PoliteFetcher(watched, clock, read_robots, FetchPolicy(delay_s=0.01))
        began = clock.now()
        await asyncio.gather(*(polite.fetch(Url.parse(f"{A}/{n}")) for n in range(5)))
        return [at - began for at in watched.times(A)]

    times = asyncio.run(run())
    assert len(times) == 6  # robots.txt, and five pages
    # Since the beginning, because a busy machine may note one request late and the next on time.
    assert all(at >= 0.0099 * number for number, at in enumerate(times))


def test_a_walk_over_real_http() -> None:
    seen: list[Fetched] = []

    async def work(polite: PoliteFetcher, root: str) -> None:
        seen.append(await polite.fetch(Url.parse(f"{root}/old")))
        with pytest.raises(ForbiddenError):
            await polite.fetch(Url.parse(f"{root}/secret/1"))

    answers = {
        "/robots.txt": response(b"User-agent: *\nDisallow: /secret", kind="text/plain"),
        "/old": response(b"", "Location: new/", status="301 Moved Permanently"),
        "/new/": response("né".encode("cp1252"), 'ETag: "1"', kind="text/html; charset=latin1"),
    }  # fmt: skip
    server = on_loopback(answers, FetchPolicy(allow_private=True, delay_s=0.0), work)
    assert server.paths == ["/robots.txt", "/old", "/new/"]
    assert (seen[0].body, seen[0].headers.etag, len(seen[0].hops)) == ("né".encode("cp1252"), '"1"', 1)
