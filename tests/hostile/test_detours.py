"""Redirects, tries, robots.txt and sitemaps that attack: on frozen time, because their weapon is ours."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable
from dataclasses import replace

import pytest
from patience import HANG_S
from servers import HEAD, pour

from honeyguide.adapters.html.sitemaps import MAX_PAGES, read_sitemap
from honeyguide.adapters.http.client import HttpFetcher
from honeyguide.adapters.http.robots import read_robots
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.errors import AddressRefusedError, FetchError, ForbiddenError, TimedOutError, UnreachableError
from honeyguide.jobs import politeness as polite
from honeyguide.jobs import sitemaps
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.jobs.sitemaps import Listing, SitemapRequest, list_pages
from honeyguide.ports.fetch import Fetched, Headers, Part, Robots, Validators
from honeyguide.testing.fakes import FrozenClock, LoopbackServer, Script, drip, response

A = "https://a.example"
ROBOTS_BYTES = 500 * 1024  # what is read of robots.txt
STEADY = FetchPolicy(jitter=0.0)
Answering = Callable[[Url, int], Fetched]


class World:
    """A web that answers by a function and takes its time, a frozen clock, and a polite fetcher between them."""

    def __init__(self, answer: Answering, takes_s: float = 0.0, policy: FetchPolicy = STEADY) -> None:
        self.clock = FrozenClock()
        self.asked: list[str] = []
        self.polite = PoliteFetcher(self, self.clock, read_robots, policy)
        self._answer = answer
        self._takes_s = takes_s

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators, part
        self.asked.append(url.as_linked)
        await self.clock.sleep(self._takes_s)
        return self._answer(url, len(self.asked))

    @property
    def passed_s(self) -> float:
        return self.clock.now() - FrozenClock().now()

    @property
    def pages(self) -> list[str]:
        return [url for url in self.asked if "/robots.txt" not in url]

    def get(self, url: str = f"{A}/p") -> Fetched:
        return asyncio.run(self.polite.fetch(Url.parse(url)))

    def failure(self) -> FetchError:
        with pytest.raises(FetchError) as caught:
            self.get()
        return caught.value


def status(code: int, **headers: str) -> Answering:
    return lambda url, _: Fetched(url, url, code, Headers(**headers))


def except_robots(answer: Answering) -> Answering:
    """Answer like that, but have no robots.txt."""
    return lambda url, nth: (status(404) if url.path == "/robots.txt" else answer)(url, nth)


def onward(url: Url, nth: int) -> Fetched:
    """Send everybody to another host, for ever."""
    return Fetched(url, url, 302, Headers(location=f"https://h{nth}.example{url.path}?{nth}"))


# --- redirects and tries ---


def test_redirects_end_after_ten() -> None:
    world = World(except_robots(onward))
    assert "more than 10 redirects" in world.failure().why
    assert len(world.pages) == 11


def test_redirects_that_take_their_time_end_after_a_minute_and_a_half() -> None:
    """Ten hops, each with a robots.txt of six, each of them tried three times for 30 s, would be two hours."""
    world = World(onward, takes_s=29.0)
    error = world.failure()
    assert type(error) is TimedOutError
    assert "more than 90 s" in error.why
    assert len(world.asked) == 4
    assert world.passed_s < 90 + 30


def test_tries_end_when_the_time_is_over() -> None:
    world = World(except_robots(status(500)), takes_s=50.0)
    assert world.get().status == 500
    assert len(world.asked) == 2  # robots.txt, and one try


@pytest.mark.parametrize(
    "to",
    ["/" + "a" * 60_000, "//", "http://", "http://[::1", "ftp://x/", "http://a b/", "http://x:99999/", "\x1b[2J"],
)  # fmt: skip
def test_locations_that_lead_nowhere(to: str) -> None:
    world = World(except_robots(status(302, location=to)))
    error = world.failure()
    assert isinstance(error, UnreachableError)
    assert len(str(error)) < 1_000
    assert str(error).isprintable()
    assert len(world.pages) <= 11


# --- rests ---


@pytest.mark.parametrize("asked", ["31536000000000", "9" * 1_000, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_host_that_asks_for_a_million_years_rests_an_hour(asked: str) -> None:
    world = World(except_robots(status(503, retry_after=asked)))

    async def twice() -> FetchError:
        assert (await world.polite.fetch(Url.parse(f"{A}/p"))).status == 503
        with pytest.raises(FetchError) as caught:
            await world.polite.fetch(Url.parse(f"{A}/q"))
        return caught.value

    error = asyncio.run(twice())
    assert error.retry_after_s is not None
    assert 3_590 < error.retry_after_s <= 3_600
    assert world.pages == [f"{A}/p"]
    assert world.passed_s < 2  # nobody tries again what can only be refused again


@pytest.mark.parametrize("asked", ["-5", "soon", "1e9", "NaN", "٣", ""])
def test_a_rest_that_cannot_be_read_grows_by_our_own_rule(asked: str) -> None:
    world = World(except_robots(status(503, retry_after=asked)))
    assert world.get().status == 503
    assert len(world.pages) == 3
    assert world.passed_s == pytest.approx(0.5 + 1.0 + 2.0)


def test_hosts_that_all_ask_for_rest_are_not_looked_through_for_each_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(polite, "_MAX_HOSTS", 8)
    looked = 0

    class Counted(dict[str, object]):
        def items(self) -> object:  # type: ignore[override]  # only counts
            nonlocal looked
            looked += 1
            return super().items()

    async def run() -> None:
        world = World(status(503, retry_after="3600"), policy=replace(STEADY, retries=0))
        for n in range(200):
            with pytest.raises(FetchError):
                await world.polite.fetch(Url.parse(f"https://h{n}.example/"))
            if not isinstance(world.polite._hosts, Counted):  # noqa: SLF001 - how often it is gone through
                world.polite._hosts = Counted(world.polite._hosts)  # type: ignore[assignment]  # noqa: SLF001 - how often the table is looked through shows nowhere else

    asyncio.run(run())
    assert 1 <= looked <= 6  # each time there are twice as many


def test_what_is_remembered_of_robots_txt_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert polite._MAX_ROBOTS == 1_000  # noqa: SLF001 - the bound
    monkeypatch.setattr(polite, "_MAX_ROBOTS", 8)

    async def run() -> int:
        world = World(status(404))
        for n in range(40):
            await world.polite.fetch(Url.parse(f"https://h{n}.example/"))
        return len(world.polite._origins)  # noqa: SLF001 - what is in memory

    assert asyncio.run(run()) == 8


def test_robots_txt_files_are_remembered_up_to_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of hostile sites are forgotten first: a small file is not asked for again because of them."""
    assert polite._MAX_ROBOTS_BYTES == 32 * 2**20  # noqa: SLF001 - the bound
    monkeypatch.setattr(polite, "_MAX_ROBOTS_BYTES", 10_000)

    def answer(url: Url, _nth: int) -> Fetched:
        body = b"User-agent: *\nDisallow: /no\n" + b"#" * (3_000 if url.host.startswith("h") else 0)
        return Fetched(url, url, 200, body=body)

    async def run() -> list[str]:
        world = World(answer)
        for host in ["small", *(f"h{n}" for n in range(20)), "small"]:
            await world.polite.fetch(Url.parse(f"https://{host}.example/"))
        assert sum(one.size_bytes for one in world.polite._origins.values()) <= 10_000  # noqa: SLF001 - what is in memory
        return world.asked

    assert asyncio.run(run()).count("https://small.example/robots.txt") == 1


def test_too_many_and_too_large_robots_txt_are_forgotten_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polite, "_MAX_ROBOTS", 3)
    monkeypatch.setattr(polite, "_MAX_ROBOTS_BYTES", 350)
    sizes = dict(zip("abcd", (100, 100, 100, 5_000), strict=True))

    async def run() -> list[str]:
        world = World(lambda url, _: Fetched(url, url, 200, body=b"#" * sizes[url.host[0]]))
        for host in sizes:
            await world.polite.fetch(Url.parse(f"https://{host}.example/"))
        return list(world.polite._origins)  # noqa: SLF001 - what is in memory

    assert asyncio.run(run()) == ["https://d.example"]


# --- robots.txt ---

RULES = b"User-agent: *\nDisallow: /p\n"


def robots_over_http(answer: bytes | Script, total_timeout_s: float) -> str:
    """Fetch /p where robots.txt is like this; gives the page, or the name of the error and why."""

    async def run() -> str:
        chosen = replace(STEADY, allow_private=True, delay_s=0.0, retries=0, total_timeout_s=total_timeout_s)
        answers = {"/robots.txt": answer, "/p": response(b"page")}
        async with LoopbackServer(answers) as server, HttpFetcher(chosen, proxies={}) as http:
            fetcher = PoliteFetcher(http, FrozenClock(), read_robots, chosen)
            try:
                return (await fetcher.fetch(Url.parse(f"{server.root}/p"))).body.decode()
            except FetchError as error:
                assert "/p" not in server.paths
                return f"{type(error).__name__}: {error.why}"

    return asyncio.run(run())


def plain(body: bytes, *headers: str, code: str = "200 OK") -> bytes:
    return response(body, *headers, status=code, kind="text/plain")


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        pytest.param(plain(RULES), "ForbiddenError: robots.txt disallows it", id="the rules"),
        pytest.param(plain(b"", code="500 Oops"), "ForbiddenError: robots.txt answered 500", id="5xx"),
        pytest.param(plain(b"", code="999 Denied"), "ForbiddenError: robots.txt answered 999", id="999"),
        pytest.param(
            plain(b"", code="101 Switching"), "UnreachableError: robots.txt could not be fetched", id="101"
        ),
        pytest.param(plain(RULES, code="404 No"), "page", id="rules behind a 404"),
        pytest.param(response(b"<html><p>Disallow: /"), "page", id="a page"),
        pytest.param(response(b"<pre>\n" + RULES), "ForbiddenError", id="rules in a page"),
        pytest.param(
            plain(b"\xff\xfe\0\x1b[2J" * 999 + b"\n" + RULES), "ForbiddenError", id="garbage before"
        ),
        pytest.param(plain(RULES + b"x" * 10**7), "ForbiddenError", id="10 MB"),
        pytest.param(plain(b"#" * ROBOTS_BYTES + b"\n" + RULES), "page", id="rules after 500 KiB"),
        pytest.param(pour(HEAD + b"\r\n" + RULES, b"x\n" * 9_999), "ForbiddenError", id="without end"),
        pytest.param(
            drip(HEAD + b"\r\n" + RULES, b"x", every_s=0.05), "TimedOutError: robots.txt", id="slow"
        ),
        pytest.param(plain(RULES, "Content-Encoding: gzip"), "NotTextError: robots.txt", id="broken gzip"),
        pytest.param(
            plain(gzip.compress(RULES + bytes(10**7)), "Content-Encoding: gzip"), "ForbiddenError", id="bomb"
        ),
        pytest.param(plain(b"", "Location: /robots.txt", code="301 M"), "page", id="circle"),
        pytest.param(
            plain(b"", "Location: /" + "a" * 10**6, code="301 M"), "TooLargeError: robots", id="location"
        ),
        pytest.param(b"garbage", "UnreachableError: robots.txt could not be fetched", id="no HTTP"),
    ],
)
def test_robots(answer: bytes | Script, outcome: str) -> None:
    assert robots_over_http(answer, 0.3 if "TimedOutError" in outcome else HANG_S).startswith(outcome)


def test_a_line_of_robots_txt_that_is_cut_off_does_not_count() -> None:
    start = b"User-agent: *\nDisallow: /private\n#"
    filler = b"x" * (ROBOTS_BYTES - len(start) - len(b"\nDisallow: /"))
    rules = read_robots(start + filler + b"\nDisallow: /some/place")
    assert rules.allows(Url.parse(f"{A}/p"))
    assert not rules.allows(Url.parse(f"{A}/private"))
    assert rules.allows(Url.parse(f"{A}/some/place"))


def test_robots_txt_that_redirects_to_a_private_address_closes_the_site() -> None:
    async def run() -> tuple[type[FetchError], int]:
        world = World(lambda url, _: Fetched(url, url, 302, Headers(location=f"http://127.0.0.1:{port}/")))
        async with LoopbackServer({}) as server, HttpFetcher(STEADY, proxies={}) as http:
            port = server.port

            class Split:
                async def fetch(
                    self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
                ) -> Fetched:
                    chosen = world if url.host.endswith(".example") else http
                    return await chosen.fetch(url, validators=validators, part=part)

            fetcher = PoliteFetcher(Split(), FrozenClock(), read_robots, STEADY)
            with pytest.raises(ForbiddenError) as caught:
                await fetcher.fetch(Url.parse(f"{A}/p"))
            assert world.asked == [f"{A}/robots.txt"]
            return type(caught.value), server.connections

    assert asyncio.run(run()) == (AddressRefusedError, 0)


# --- sitemaps ---


class Listed:
    """A source whose sitemaps a function writes; none takes any time unless told, and the first one never."""

    def __init__(self, write: Callable[[str, int], bytes | int], takes_s: float = 0.0) -> None:
        self._write = write
        self._takes_s = takes_s
        self.asked: list[str] = []

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators
        assert part is Part.FILE
        self.asked.append(url.path)
        await asyncio.sleep(self._takes_s if len(self.asked) > 1 else 0.0)
        made = self._write(url.path, len(self.asked))
        return Fetched(url, url, 200, body=made) if isinstance(made, bytes) else Fetched(url, url, made)

    async def robots(self, url: Url) -> Robots | None:
        del url
        return read_robots(b"".join(b"Sitemap: /s%d.xml\n" % n for n in range(5_000)))


def index(*names: str) -> bytes:
    return b"<sitemapindex>" + b"".join(f"<sitemap><loc>/{name}</loc></sitemap>".encode() for name in names)


def listed(source: Listed, *names: str) -> Listing:
    asked = SitemapRequest([Url.parse(f"{A}/{name}") for name in names], (), () if names else (Url.parse(A),))
    return asyncio.run(list_pages(asked, source, read_sitemap))


def test_sitemaps_that_list_each_other_end() -> None:
    source = Listed(lambda path, _: index("a.xml", "b.xml", path[1:], f"{path[1:]}x"))
    listing = listed(source, "a.xml")
    assert len(source.asked) == len(set(source.asked)) <= 8
    assert listing.pages == {}


def test_sitemaps_without_end_are_500() -> None:
    source = Listed(lambda _, nth: index(*(f"{nth}-{n}.xml" for n in range(600 // nth**2))) + b"<url><loc>/x")
    listing = listed(source, "a.xml")
    assert len(source.asked) == sitemaps.MAX_FILES == 500
    assert listing.problems == ["more than 500 sitemaps; the others are skipped"]


@pytest.mark.parametrize("useless", [404, b"", b"<urlset></urlset>", gzip.compress(bytes(10**6))])
def test_sitemaps_that_list_nothing_are_given_up(useless: bytes | int) -> None:
    source = Listed(lambda _path, _nth: useless)
    listing = listed(source)
    assert len(source.asked) == sitemaps.MAX_USELESS == 20
    assert listing.problems[-1] == "20 sitemaps list nothing; the others are skipped"


def test_sitemaps_have_a_time_together(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sitemaps.MAX_S == 900
    monkeypatch.setattr(sitemaps, "MAX_S", 1.0)
    source = Listed(lambda path, _: b"<urlset><url><loc>" + path.encode(), takes_s=3600.0)
    listing = listed(source)
    assert [url.path for url in listing.pages] == ["/s0.xml"]
    assert listing.problems == ["sitemaps took more than 1 s; the others are skipped"]


def test_a_sitemap_of_five_million_lines_costs_no_more_than_its_first_ones() -> None:
    found = read_sitemap(gzip.compress(b"http://a.example/\n" * 10**6, 1))
    assert len(found.pages) == MAX_PAGES
    assert read_sitemap(b"x\n" * 10**6 + b"http://a.example/").pages == ()
