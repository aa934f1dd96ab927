"""Where redirects lead, and whose doing it is: failures, pauses and budgets beside the site that redirects."""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import pytest

from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.html.page import forward_of
from honeyguide.adapters.http.robots import read_robots
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.config import load_profile
from honeyguide.core.crawl.frontier import Budgets
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.errors import UnreachableError
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.ports.fetch import Fetched, Headers, Part, Validators
from honeyguide.testing.fakes import FrozenClock
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from honeyguide.core.records import Record
    from honeyguide.jobs.crawl import CrawlSummary
    from honeyguide.ports.store import Store

A, B = "https://a.example", "https://b.example"
BASE = load_profile("base")
POLICY = FetchPolicy(delay_s=0.0, jitter=0.0, retries=0)
Answer = bytes | int | str | None  # a page, a status, where it redirects to, or nobody there


class Web:
    """Single requests, answered by a function of the URL, after random moments if there are dice."""

    def __init__(self, answer: Callable[[Url, int], Answer], dice: Random | None = None) -> None:
        self.answer = answer
        self.dice = dice
        self.asked: Counter[str] = Counter()

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators, part
        self.asked[url.as_linked] += 1
        for _ in range(self.dice.randrange(15) if self.dice else 1):
            await asyncio.sleep(0)
        made = self.answer(url, self.asked[url.as_linked])
        if made is None:
            raise UnreachableError(url.as_linked, "no connection")
        if isinstance(made, str):
            return Fetched(url, url, 302, Headers(location=made))
        if isinstance(made, int):
            return Fetched(url, url, made, Headers(retry_after="900" if made == 429 else None))
        return Fetched(url, url, 200, Headers(content_type="text/html"), made)

    def pages_of(self, site: str) -> list[str]:
        """What was asked for of a site, but for robots.txt."""
        return [url for url in self.asked if url.startswith(f"{site}/") and not url.endswith("/robots.txt")]


def page(url: Url, *links: str) -> bytes:
    anchors = "".join(f'<p><a href="{link}">{link}</a></p>' for link in links)
    return f"<title>{url.path}</title><p>what {url.text} says, and nobody else {url.path * 9}</p>{anchors}".encode()


class Done(NamedTuple):
    summary: CrawlSummary
    records: list[Record]
    store: Store

    def told(self, path: str) -> tuple[str, str]:
        """Give the rule and the reason of a page."""
        (found,) = [record for record in self.records if record["url"] == f"{A}{path}"]
        return found["points"][-1]["rule"], found["points"][-1]["reason"]


def crawl(web: Web, store: Store, **asked: object) -> Done:
    """Crawl A breadth first, politely, on frozen time."""
    clock = FrozenClock()
    records: list[Record] = []
    polite = PoliteFetcher(web, clock, read_robots, POLICY, forward_of)
    request = CrawlRequest((Url.parse(f"{A}/"),), traversal="bfs", **asked)  # type: ignore[arg-type]  # any field
    crawler = Crawler(polite, HtmlReader(), clock, store, BASE)
    summary = asyncio.run(crawler.crawl(request, lambda record, _: records.append(record)))
    return Done(summary, records, store)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "h.db")
    yield made
    made.close()


NAMES = [f"/n-{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(40)]


def site_with(*gone: str, other: Answer, robots: Answer = 404) -> Callable[[Url, int], Answer]:
    """A healthy site, some of whose pages redirect to another one, which has one answer to everything."""

    def answer(url: Url, _: int) -> Answer:
        if url.site == "b.example":
            return robots if url.path == "/robots.txt" else other
        if url.path == "/robots.txt":
            return 404
        if url.path in gone:
            return f"{B}{url.path}"
        return page(url, *gone, *NAMES) if url.path == "/" else page(url)

    return answer


# --- whose failure it is ---


@pytest.mark.parametrize(
    ("other", "robots"), [(None, None), (None, 404), (429, 404), (500, 404), (b"", 500)], ids=repr
)
def test_a_redirect_to_a_host_that_fails_costs_that_page_and_no_other(
    store: Store, other: Answer, robots: Answer
) -> None:
    gone = [f"/go-{name}" for name in "abcdefghijklmno"]  # more than a site may fail in a row
    web = Web(site_with(*gone, other=other, robots=robots))
    done = crawl(web, store, budgets=Budgets(external_pages=100))
    assert len(done.records) >= 1 + len(NAMES)
    assert {f"{A}{name}" for name in NAMES} <= {record["url"] for record in done.records}
    assert done.summary.stopped in ("complete", "resting")  # and never `site_failing`
    assert done.summary.counts.states["queued"] in (0, len(gone))
    rows = [row for row in store.ledger(store.runs.list()[0]).rows() if row.url.startswith(f"{A}/go-")]
    assert len(rows) == len(gone)
    for row in rows:
        assert row.why is not None
        assert row.why.rule.startswith("http-") or row.why.text.startswith(
            f"redirects to {B}{row.url[len(A) :]}: "
        )


def test_a_host_that_fails_by_itself_is_still_left_alone(store: Store) -> None:
    web = Web(
        lambda url, _: page(url, *NAMES) if url.path == "/" else 404 if url.path == "/robots.txt" else 500
    )
    assert crawl(web, store).summary.stopped == "site_failing"


def flaky_target(url: Url, nth: int) -> Answer:
    """A page that fails once, and another that redirects to it."""
    if url.path == "/robots.txt":
        return 404
    if url.path == "/x":
        return 500 if nth == 1 else page(url)
    if url.path == "/a":
        return "/x"
    return page(url, "/x", "/a", *NAMES) if url.path == "/" else page(url)


def test_where_a_redirect_has_led_is_not_tried_again_however_long_the_rest_takes(store: Store) -> None:
    web = Web(flaky_target)
    done = crawl(web, store)
    assert web.asked[f"{A}/x"] == 2
    assert [record["url"] for record in done.records if record.get("final_url")] == [f"{A}/a"]
    assert (len(done.records), done.summary.stopped) == (2 + len(NAMES), "complete")
    assert crawl(web, store).records == []


# --- budgets ---


def into_secrets(url: Url, _: int) -> Answer:
    if url.path == "/robots.txt":
        return b"User-agent: *\nDisallow: /secret/\n"
    return page(url, *NAMES) if url.path == "/" else f"/secret{url.path}"


def test_a_page_that_redirects_into_what_is_refused_was_fetched_and_says_where_it_led(store: Store) -> None:
    web = Web(into_secrets)
    done = crawl(web, store, budgets=Budgets(max_pages=5))
    assert len(web.pages_of(A)) == 5
    assert (done.summary.counts.fetched, done.summary.stopped) == (5, "max_pages")
    assert done.told(NAMES[0]) == (
        "forbidden",
        f"redirects to {A}/secret{NAMES[0]}: robots.txt disallows it",
    )


def test_what_is_refused_itself_is_no_fetch(store: Store) -> None:
    web = Web(lambda url, n: page(url, "/secret/x") if url.path == "/" else into_secrets(url, n))
    done = crawl(web, store)
    assert (done.summary.counts.fetched, done.told("/secret/x")) == (
        1,
        ("forbidden", "robots.txt disallows it"),
    )


def out_of_the_site(url: Url, _: int) -> Answer:
    """Half of the pages redirect to another site; the rest are links to a third one, and pages."""
    if url.path == "/robots.txt":
        return 404
    if url.path == "/":
        return page(url, *NAMES, *(f"https://c.example{name}" for name in NAMES[:5]))
    is_away = url.site == "a.example" and NAMES.index(url.path) % 2 == 0
    return f"{B}{url.path}" if is_away else page(url)


@pytest.mark.parametrize("most", [1, 3, 12])
def test_redirects_to_other_sites_are_within_the_budget_of_other_sites(store: Store, most: int) -> None:
    done = crawl(Web(out_of_the_site), store, budgets=Budgets(external_pages=most))
    ends = Counter(
        Url.parse(record.get("final_url") or record["url"]).site
        for record in done.records
        if record["action"] != "dropped"
    )
    assert (ends["a.example"], ends["b.example"] + ends["c.example"]) == (21, most)
    assert done.summary.counts.out == {"redirect-outside": 20 - ends["b.example"]}
    assert done.told(NAMES[-2]) == (
        "redirect-outside",
        f"leads to {B}{NAMES[-2]}, and --follow-external is used up",
    )


def test_what_redirects_out_of_the_crawl_does_not_depend_on_timing() -> None:
    budgets = Budgets(max_pages=35, external_pages=7)
    runs = {
        repr([(r["url"], r["action"], r.get("final_url")) for r in done.records])
        for concurrency in (1, 4, 32)
        for seed in range(3)
        for done in [
            crawl(
                Web(out_of_the_site, Random(seed)),  # noqa: S311 - repeatable is what is wanted
                MemoryStore(),
                budgets=budgets,
                concurrency=concurrency,
            )
        ]
    }
    assert len(runs) == 1


# --- what is not requested ---


def test_a_redirect_that_leaves_the_site_is_not_requested_beyond_it(store: Store) -> None:
    web = Web(site_with("/go", other=b"", robots=404))
    done = crawl(web, store)
    assert [url for url in web.asked if url.startswith(B)] == []  # not even its robots.txt
    assert done.told("/go") == ("redirect-outside", f"leads to {B}/go")
    (record,) = [record for record in done.records if record["url"] == f"{A}/go"]
    assert (record["action"], record["status"], record["final_url"]) == ("dropped", 302, f"{B}/go")
    assert done.summary.counts.out == {"redirect-outside": 1}
    assert done.summary.counts.fetched == 2 + len(NAMES)  # the redirect itself is a fetch


def test_a_refresh_that_leaves_the_site_is_not_requested_beyond_it(store: Store) -> None:
    away = f'<meta http-equiv="refresh" content="0; url={B}/x">'.encode()
    web = Web(
        lambda url, _: 404 if url.path == "/robots.txt" else page(url, "/go") if url.path == "/" else away
    )
    done = crawl(web, store)
    assert [url for url in web.asked if url.startswith(B)] == []
    assert done.told("/go") == ("redirect-outside", f"leads to {B}/x")


@pytest.mark.parametrize("concurrency", [1, 2, 32])
@pytest.mark.parametrize("dice", range(4))
def test_a_seed_before_it_says_what_is_inside_whichever_answer_is_faster(concurrency: int, dice: int) -> None:
    def answer(url: Url, _: int) -> Answer:
        if url.path == "/robots.txt":
            return 404
        if url.text == "https://s.example/":
            return f"{B}/"
        return f"{B}/x" if url.path == "/go" else page(url, "/go")

    clock, web = FrozenClock(), Web(answer, Random(dice))  # noqa: S311 - repeatable is what is wanted
    polite = PoliteFetcher(web, clock, read_robots, POLICY, forward_of)
    seeds = (Url.parse(f"{A}/"), Url.parse("https://s.example/"))
    request = CrawlRequest(seeds, traversal="bfs", concurrency=concurrency)
    records: list[Record] = []
    crawler = Crawler(polite, HtmlReader(), clock, MemoryStore(), BASE)
    asyncio.run(crawler.crawl(request, lambda record, _: records.append(record)))
    assert [(record["url"], record.get("final_url")) for record in records] == [
        (f"{A}/", None),
        ("https://s.example/", f"{B}/"),
        (f"{A}/go", f"{B}/x"),
        (f"{B}/go", f"{B}/x"),
    ]
    assert all(record["action"] != "dropped" for record in records)


def test_a_seed_is_followed_out_of_its_site_as_it_takes_the_crawl_along(store: Store) -> None:
    web = Web(
        lambda url, _: 404 if url.path == "/robots.txt" else f"{B}/" if url.site == "a.example" else page(url)
    )
    assert [record.get("final_url") for record in crawl(web, store).records] == [f"{B}/"]
