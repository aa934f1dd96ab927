"""Pages that send their readers elsewhere are redirects, to pick and crawl alike: bounded, polite, never to private addresses."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from honeyguide import FetchPolicy, load_profile
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.html.page import forward_of
from honeyguide.adapters.http.client import HttpFetcher
from honeyguide.adapters.http.robots import read_robots
from honeyguide.core.url.url import Url
from honeyguide.errors import AddressRefusedError, ForbiddenError
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.testing.fakes import FakeFetcher, FrozenClock
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from honeyguide.core.records import Record
    from honeyguide.ports.fetch import Fetched, Fetcher
    from honeyguide.testing.fakes import Answer

A = "https://a.example"


def sends_to(target: str) -> bytes:
    return f"<meta http-equiv=refresh content='0; url={target}'><p>Moved".encode()


def page(title: str, *links: str) -> bytes:
    text = " ".join(f"{title}{number}" for number in range(60))
    return f"<title>{title}</title><p>{text}</p>{''.join(f'<p><a href={x}>{x}</a>' for x in links)}".encode()


def polite(fetcher: Fetcher, policy: FetchPolicy | None = None) -> PoliteFetcher:
    return PoliteFetcher(fetcher, FrozenClock(), read_robots, policy or FetchPolicy(), forward_of)


def get(web: dict[str, Answer], policy: FetchPolicy | None = None) -> tuple[Fetched, list[str]]:
    fetcher = FakeFetcher({f"{A}{path}": answer for path, answer in web.items()})
    fetched = asyncio.run(polite(fetcher, policy).fetch(Url.parse(f"{A}/")))
    return fetched, [url.removeprefix(A) for url in fetcher.requests if not url.endswith("/robots.txt")]


def test_a_refresh_is_a_redirect() -> None:
    fetched, asked = get({"/": sends_to("/en/"), "/en/": sends_to("home"), "/en/home": page("home")})
    assert (fetched.url.path, fetched.request_url.path, asked) == ("/en/home", "/", ["/", "/en/", "/en/home"])
    assert fetched.hops == (f"{A}/", f"{A}/en/")
    assert not fetched.is_moved  # a page may send its readers elsewhere tomorrow


def test_a_circle_ends_at_the_page_that_closes_it() -> None:
    fetched, asked = get({"/": sends_to("/b"), "/b": sends_to("/")})
    assert (fetched.url.path, fetched.status, asked) == ("/b", 200, ["/", "/b"])


def test_a_chain_is_as_long_as_redirects_may_be() -> None:
    web: dict[str, Answer] = {"/": sends_to("/1"), **{f"/{n}": sends_to(f"/{n + 1}") for n in range(1, 99)}}
    _, asked = get(web, FetchPolicy(max_redirects=4))
    assert len(asked) == 5


def test_robots_apply_where_a_refresh_leads() -> None:
    web: dict[str, Answer] = {
        "/": sends_to("/private/x"), "/robots.txt": b"User-agent: *\nDisallow: /private", "/private/x": page("x"),
    }  # fmt: skip
    with pytest.raises(ForbiddenError, match=r"robots\.txt disallows"):
        get(web)


def test_no_page_sends_us_to_a_private_address() -> None:
    class Split:
        """The web of a fake, but private addresses are asked for by the real fetcher."""

        def __init__(self, http: HttpFetcher) -> None:
            self.http = http

        async def fetch(self, url: Url, **asked: object) -> Fetched:
            if url.host == "a.example":
                return await FakeFetcher({f"{A}/": sends_to("http://127.0.0.1:9/x")}).fetch(url)
            return await self.http.fetch(url, **asked)  # type: ignore[arg-type]  # as they came

    async def work() -> None:
        async with HttpFetcher(FetchPolicy()) as http:
            await polite(Split(http)).fetch(Url.parse(f"{A}/"))

    with pytest.raises(AddressRefusedError):
        asyncio.run(work())


def test_a_crawl_follows_refreshes_of_seeds_and_pages_and_reads_frames() -> None:
    web: dict[str, Answer] = {
        f"{A}/": sends_to("https://www.a.example/start"),
        "https://www.a.example/start": b"<frameset><frame src=/menu><frame src=/main></frameset>",
        "https://www.a.example/menu": page("menu", "/old"),
        "https://www.a.example/main": page("main"),
        "https://www.a.example/old": sends_to("/new"),
        "https://www.a.example/new": page("new"),
    }
    records: list[Record] = []
    crawler = Crawler(
        polite(FakeFetcher(web)), HtmlReader(), FrozenClock(), MemoryStore(), load_profile("docs")
    )
    request = CrawlRequest((Url.parse(f"{A}/"),), traversal="bfs")
    asyncio.run(crawler.crawl(request, lambda record, _: records.append(record)))
    assert [
        (Url.parse(r["url"]).path, r["final_url"] and Url.parse(r["final_url"]).path) for r in records
    ] == [
        ("/", "/start"),
        ("/menu", None),
        ("/main", None),
        ("/old", "/new"),
    ]
