"""The fetcher of a program: its mistakes are failed pages with one sentence, and what is no page is none, whoever fetches it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from honeyguide import (
    Crawl,
    CrawledPage,
    Fetched,
    FetchPolicy,
    Focus,
    Headers,
    StoreError,
    TooLargeError,
    UnreachableError,
    Url,
    crawl,
    load_profile,
    pick_async,
)
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.testing.fakes import FrozenClock
from honeyguide.testing.memory_store import MemoryStore

SITE = "https://tea.example/"
HTML = Headers("text/html")
LONGEST_S = 60.0  # a crawl that hangs fails the test, after much more time than it needs
Answer = Callable[[Url], Any]


class OneAnswer:
    """Answers all pages alike."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    async def fetch(self, url: Url, **_: Any) -> Any:
        return Fetched(url, url, 404) if url.path == "/robots.txt" else self.answer(url)


def crawled(answer: Answer) -> tuple[CrawledPage, Crawl]:
    async def read() -> tuple[CrawledPage, Crawl]:
        async with asyncio.timeout(LONGEST_S):
            policy = FetchPolicy(delay_s=0, jitter=0, retries=0)
            work = crawl(SITE, fetcher=OneAnswer(answer), clock=FrozenClock(), policy=policy, max_pages=1)
            (page,) = [page async for page in work]
            return page, work

    return asyncio.run(read())


def picked(answer: Answer) -> str | None:
    async def read() -> str | None:
        async with asyncio.timeout(LONGEST_S):
            return (await pick_async(SITE, fetcher=OneAnswer(answer), clock=FrozenClock())).reason

    return asyncio.run(read())


def cancelled(_: Url) -> Any:
    raise asyncio.CancelledError


def late(url: Url) -> Any:
    raise UnreachableError(str(url), "busy", retry_after_s="5")  # type: ignore[arg-type]  # that is the point


answered: Any = Fetched  # with arguments of any types
typed: Any = Headers
WELL_FORMED = "the fetcher should return a well-formed Fetched: its "


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda _: None, "the fetcher should return a Fetched, not NoneType"),
        (lambda url: answered(str(url), url, 200, HTML), f"{WELL_FORMED}url must be Url, not str"),
        (lambda url: answered(url, url, "200", HTML), f"{WELL_FORMED}status must be int, not str"),
        (lambda url: answered(url, url, -1), f"{WELL_FORMED}status must be from 100 to 999"),
        (lambda url: answered(url, url, 200, HTML, "tea"), f"{WELL_FORMED}body must be bytes, not str"),
        (
            lambda url: answered(url, url, 200, typed(b"text/html")),
            f"{WELL_FORMED}headers.content_type must be str or None, not bytes",
        ),
        (
            lambda url: answered(url, url, 200, HTML, b"tea", elapsed_s=float("nan")),
            f"{WELL_FORMED}elapsed_s must be 0 or more, not nan",
        ),
        (cancelled, "the fetcher has cancelled its own request"),
        (late, "busy; the fetcher should give retry_after_s in seconds, not '5'"),
    ],
)
def test_a_mistake_of_a_fetcher_fails_the_page_and_says_what_is_wrong(answer: Answer, said: str) -> None:
    page, work = crawled(answer)
    assert (page.status, page.reasons, page.record["points"][0]["rule"]) == (None, (said,), "fetch-error")
    assert work.problem == f"{SITE}: {said}"
    assert picked(answer) == f"'{SITE}': {said}"


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("application/pdf", "its type is 'application/pdf'"),
        (None, "it names no type, and its bytes are no text"),
    ],
)
def test_what_is_no_page_is_none_whoever_fetches_it(kind: str | None, why: str) -> None:
    page, _ = crawled(lambda url: Fetched(url, url, 200, Headers(kind), b"%PDF-1.7 tea"))
    assert (page.reasons, page.record["points"][0]["rule"]) == ((why,), "not-text")
    with Focus(SITE, topic="tea") as focus:
        (url,) = focus.next()
        (page,) = focus.add_page(url, b"%PDF-1.7 tea", content_type=kind)
    assert (page.reasons, page.record["points"][0]["rule"]) == ((why,), "not-text")


def test_headers_and_reasons_of_a_server_may_hold_anything() -> None:
    headers = Headers("text/html; charset=utf-8", etag="\ud800", last_modified="\n", robots="x" * 2_000)
    page, _ = crawled(lambda url: Fetched(url, url, 200, headers, b"<title>Tea"))
    assert (page.status, page.title) == (200, "Tea")

    def fail(url: Url) -> Any:
        raise TooLargeError(str(url), "\ud800")

    assert crawled(fail)[0].reasons == ("\\ud800",)


def test_an_error_of_the_store_in_a_fetch_ends_the_crawl() -> None:
    class Kept:
        async def fetch(self, url: Url, **_: Any) -> Fetched:
            raise StoreError("c.db", f"has no {url}")

    crawler = Crawler(Kept(), HtmlReader(), FrozenClock(), MemoryStore(), load_profile("docs"))
    work = crawler.crawl(CrawlRequest((Url.parse(SITE),), traversal="bfs"), lambda *_: None)
    with pytest.raises(StoreError, match=f"c.db: has no {SITE}"):
        asyncio.run(asyncio.wait_for(work, LONGEST_S))
