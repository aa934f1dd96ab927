"""A crawl that learns (TOPIC-4c): the same at any concurrency, with errors; every relevant page of a forum and a blog; reasons."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import TYPE_CHECKING

import pytest
from patience import HANG_S

from honeyguide import load_profile
from honeyguide.adapters.clock import SystemClock
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import Budgets
from honeyguide.core.crawl.learner import UNIT
from honeyguide.core.url.url import Url
from honeyguide.errors import UnreachableError
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.ports.fetch import Fetched, Headers, Part, Validators
from honeyguide.testing.fakes import FrozenClock
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide.core.records import Record
    from honeyguide.jobs.crawl import CrawlSummary
    from honeyguide.ports.store import Store

ROOT = "https://a.example"
WORDS = [f"word{n}" for n in range(400)]


def html(title: str, links: list[tuple[str, str]], text: str = "") -> str:
    items = "".join(f'<li><a href="{url}">{anchor}</a></li>' for url, anchor in links)
    return f"<title>{title}</title><h1>{title}</h1><p>{text}</p><ul>{items}</ul>"


def threads(number: int, shape: str) -> list[tuple[str, str, str]]:
    """Make posts, a tenth of them about fire, of which a third does not say so in its title; gives path, title and text."""
    random = Random(number)  # noqa: S311 - the same site in every run
    found = []
    for n in range(number):
        topic = "fire" if random.random() < 0.1 else random.choice(("water", "wood", "stone"))
        title = f"{topic} question {n}" if random.random() < 0.67 else f"a question {n}"
        found.append((shape.format(n), title, f"{topic} " * 12 + " ".join(random.choices(WORDS, k=60))))
    return found


def paged(base: str, posts: list[tuple[str, str, str]], size: int) -> dict[str, str]:
    """Make a list of posts that leads on by `next` alone."""
    pages = {}
    last = (len(posts) - 1) // size
    for at in range(last + 1):
        links = [(path, title) for path, title, _ in posts[at * size : (at + 1) * size]]
        if at < last:
            links.append((base.format(at + 1), "next"))
        pages[base.format(at)] = html(f"Posts, page {at}", links)
    return pages


def forum(posts: int = 300) -> dict[str, str]:
    made = threads(posts, "/t/{0}")
    pages = paged("/list?page={0}", made, 20)
    pages["/"] = html("Forum", [("/list?page=0", "all questions"), ("/about", "about")])
    pages["/about"] = html("About", [("/", "home")], " ".join(WORDS[:50]))
    return pages | {path: html(title, [("/", "home")], text) for path, title, text in made}


def blog(posts: int = 120) -> dict[str, str]:
    made = threads(posts, "/2024/post-{0}")
    pages = paged("/page/{0}", made, 10)
    pages["/"] = pages["/page/0"]
    beside = {path: made[max(0, n - 1)][0] for n, (path, _, _) in enumerate(made)}
    return pages | {path: html(title, [(beside[path], "older")], text) for path, title, text in made}


class Web:
    """Answers after random moments, with errors now and then: the same errors for the same URL, whoever asks when."""

    def __init__(self, pages: dict[str, str], seed: int = 0, errors: float = 0.0) -> None:
        self.pages = pages
        self._moments = Random(seed)  # noqa: S311 - moments, not secrets
        self._errors = errors

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators, part
        for _ in range(self._moments.randrange(40)):
            await asyncio.sleep(0)
        if Random(url.target).random() < self._errors:  # noqa: S311 - the same each time
            raise UnreachableError(url.as_linked, "as told")
        body = self.pages.get(url.target)
        if body is None:
            return Fetched(url, url, 404)
        return Fetched(url, url, 200, Headers(content_type="text/html"), body.encode())


def crawl(
    web: Web, store: Store, concurrency: int = 8, most: int | None = None
) -> tuple[list[str], CrawlSummary]:
    records: list[Record] = []
    crawler = Crawler(web, HtmlReader(), FrozenClock(), store, load_profile("docs", topic="fire"))
    request = CrawlRequest((Url.parse(f"{ROOT}/"),), concurrency=concurrency, budgets=Budgets(most))
    summary = asyncio.run(crawler.crawl(request, lambda record, _: records.append(record)))
    return [record["url"].removeprefix(ROOT) for record in records], summary


def reasons(store: Store) -> dict[str, str | None]:
    """Give what made the worth of each page when it was claimed."""
    (run,) = store.runs.list()
    return {row.url: row.worth for row in store.ledger(run).rows()}


@pytest.mark.slow
def test_order_and_reasons_do_not_depend_on_concurrency_latency_and_errors() -> None:
    site, seen = forum(), set()
    for concurrency in (1, 4, 32):
        for seed in range(2):
            store = MemoryStore()
            urls, _ = crawl(Web(site, 100 * concurrency + seed, errors=0.05), store, concurrency, most=120)
            seen.add((*urls, *sorted(map(str, reasons(store).items()))))
    assert len(seen) == 1


@pytest.mark.parametrize("site", [forum, blog])
def test_without_a_limit_every_relevant_page_is_found(site: object) -> None:
    pages = forum() if site is forum else blog()
    urls, summary = crawl(Web(pages), MemoryStore())
    about = {path for path, body in pages.items() if body.count("fire ") >= 10}
    assert len(about) >= 10
    assert about <= set(urls)
    assert summary.stopped == "complete"


def test_relevant_pages_come_early() -> None:
    urls, _ = crawl(Web(forum()), MemoryStore(), most=60)
    about = {path for path, body in forum().items() if body.count("fire ") >= 10}
    fixed = load_profile("docs", topic="fire")
    records: list[Record] = []
    crawler = Crawler(Web(forum()), HtmlReader(), FrozenClock(), MemoryStore(), fixed)
    request = CrawlRequest((Url.parse(f"{ROOT}/"),), traversal="focused-fixed", budgets=Budgets(60))
    asyncio.run(crawler.crawl(request, lambda record, _: records.append(record)))
    theirs = about & {record["url"].removeprefix(ROOT) for record in records}
    assert len(about & set(urls)) >= 2 * len(theirs)


def test_stores_give_the_same_order_and_the_same_reasons(tmp_path: Path) -> None:
    store, memory = SqliteStore(tmp_path / "h.db"), MemoryStore()
    assert crawl(Web(forum()), store, most=100)[0] == crawl(Web(forum()), memory, most=100)[0]
    assert reasons(store) == reasons(memory)
    store.close()


class Together(Web):
    """Answers one of two workers; after 20 pages it waits until the other one has begun."""

    def __init__(self, number: int, asked: list[int]) -> None:
        super().__init__(forum(), number)
        self._number = number
        self._asked = asked

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        self._asked[self._number] += 1
        async with asyncio.timeout(HANG_S):
            while self._asked[self._number] > 20 and self._asked[1 - self._number] < 10:  # noqa: ASYNC110 - of a thread
                await asyncio.sleep(0.001)
        return await super().fetch(url, validators=validators, part=part)


def test_two_workers_on_one_run_share_what_was_learnt(tmp_path: Path) -> None:
    path, asked = tmp_path / "h.db", [0, 0]
    SqliteStore(path).close()

    def work(number: int) -> dict[str, int]:
        mine: dict[str, int] = {}
        store, web = SqliteStore(path), Together(number, asked)
        crawler = Crawler(web, HtmlReader(), SystemClock(), store, load_profile("docs", topic="fire"))
        request = CrawlRequest((Url.parse(f"{ROOT}/"),), concurrency=4, budgets=Budgets(120))

        def keep(record: Record, _: object) -> None:
            mine[record["url"]] = len(mine)

        asyncio.run(crawler.crawl(request, keep))
        store.close()
        return mine

    with ThreadPoolExecutor() as pool:
        both = list(pool.map(work, range(2)))
    assert not both[0].keys() & both[1].keys()
    assert sum(map(len, both)) == 120
    store = SqliteStore(path)
    said = reasons(store)
    for mine in both:
        # The pages behind a claim are more than the worker itself had read by then.
        behind = {url: sum(map(int, re.findall(r"of (\d+) relevant", said[url] or ""))) for url in mine}
        assert any(behind[url] > at for url, at in mine.items())
    learnt = store.ledger(store.runs.list()[0]).learnt("a.example")
    assert (
        sum(tally.n for name, tally in learnt.items() if name.startswith("links ")) == 119 * UNIT
    )  # but for the seed
    store.close()


def scrolled(posts: int = 120) -> dict[str, str]:
    """Make a list whose next page is named in the head alone, as where scripts load it; the pages differ in digits only."""
    made = threads(posts, "/t/{0}")
    pages = paged("/list-{0}", made, 10)
    for at in range(len(pages) - 1):
        listed = pages[f"/list-{at}"].replace(f'<li><a href="/list-{at + 1}">next</a></li>', "")
        pages[f"/list-{at}"] = f'<link rel="next" href="/list-{at + 1}">{listed}'
    pages["/"] = html("Forum", [("/list-0", "all questions")])
    return pages | {path: html(title, [("/", "home")], text) for path, title, text in made}


def test_the_next_page_that_only_the_head_names_is_followed_as_a_page_of_a_list() -> None:
    pages, store = scrolled(), MemoryStore()
    urls, _ = crawl(Web(pages), store)
    about = {path for path, body in pages.items() if body.count("fire ") >= 10}
    assert len(about) >= 8
    assert about <= set(urls)
    assert any("pages of a list" in (said or "") for said in reasons(store).values())


def test_a_page_of_another_site_that_a_head_names_is_left_alone() -> None:
    pages = {"/": '<link rel="next" href="https://b.example/2"><link rel=prev href="/0">' + html("A", [])}
    assert crawl(Web(pages), MemoryStore())[0] == ["/", "/0"]
