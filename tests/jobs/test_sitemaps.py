"""Which pages sitemaps list, whatever the sitemaps are like; and where in the queue they go."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from honeyguide.adapters.html.sitemaps import read_sitemap
from honeyguide.adapters.http.robots import read_robots
from honeyguide.config import load_profile
from honeyguide.core.crawl.frontier import RunSpec, State
from honeyguide.core.crawl.judge import CrawlContext
from honeyguide.core.crawl.sitemap import Sitemap
from honeyguide.core.crawl.traps import Traps
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, UnreachableError
from honeyguide.jobs import sitemaps
from honeyguide.jobs.sitemaps import Listing, SitemapRequest, list_pages, queue_listed
from honeyguide.ports.fetch import Fetched, Part, Robots, Validators
from honeyguide.testing.memory_store import MemoryStore

HOME = "https://a.example"


class Web:
    """A source whose files are texts by path; `robots` is the robots.txt, None one that cannot be had."""

    def __init__(self, files: Mapping[str, str], robots: str | None = "") -> None:
        self.files = files
        self.robots_txt = robots
        self.asked: list[str] = []

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators
        assert part is Part.FILE
        self.asked.append(url.path)
        if url.path == "/broken.xml":
            raise UnreachableError(url.as_linked, "no connection")
        text = self.files.get(url.path)
        return Fetched(url, url, 404 if text is None else 200, body=(text or "").encode())

    async def robots(self, url: Url) -> Robots | None:
        if self.robots_txt is None:
            raise UnreachableError(url.as_linked, "robots.txt could not be had")
        return read_robots(self.robots_txt.encode())


def index(*names: str) -> str:
    return "<sitemapindex>" + "".join(f"<sitemap><loc>{HOME}/{name}</loc></sitemap>" for name in names)


def urls(*names: str) -> str:
    return "<urlset>" + "".join(f"<url><loc>{HOME}/{name}</loc></url>" for name in names)


def listed(asked: SitemapRequest, web: Web) -> Listing:
    return asyncio.run(list_pages(asked, web, read_sitemap))


def at(*names: str) -> SitemapRequest:
    return SitemapRequest([Url.parse(f"{HOME}/{name}") for name in names])


def names_of(listing: Listing) -> list[str]:
    return [url.path for url in listing.pages]


def test_an_index_is_followed_and_a_circle_is_not() -> None:
    web = Web(
        {"/i.xml": index("a.xml", "i.xml", "gone.xml", "broken.xml", "a.xml"), "/a.xml": urls("x", "y", "x")}
    )
    listing = listed(at("i.xml"), web)
    assert names_of(listing) == ["/x", "/y"]
    assert web.asked == ["/i.xml", "/a.xml", "/gone.xml", "/broken.xml"]
    assert listing.problems == [
        f"sitemap {HOME}/gone.xml: answered 404",
        f"sitemap {HOME}/broken.xml: no connection",
    ]


def test_what_was_named_must_be_there() -> None:
    for name, why in (("gone.xml", "answered 404"), ("broken.xml", "no connection")):
        with pytest.raises(InputError, match=why):
            listed(at(name), Web({}))


def test_indexes_of_indexes_end() -> None:
    web = Web({f"/{n}.xml": index(f"{n + 1}.xml") for n in range(9)})
    assert names_of(listed(at("0.xml"), web)) == []
    assert web.asked == ["/0.xml", "/1.xml", "/2.xml"]


def test_bounds_over_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MAX_FILES", 3)
    monkeypatch.setattr(sitemaps, "MAX_PAGES", 5)
    many = {f"/{n}.xml": urls(f"p{n}") for n in range(9)}
    web = Web({"/i.xml": index(*(f"{n}.xml" for n in range(9))), **many})
    listing = listed(at("i.xml"), web)
    assert (len(web.asked), len(listing.pages)) == (3, 2)
    assert "more than 3 sitemaps" in listing.problems[0]
    listing = listed(at("s.xml"), Web({"/s.xml": urls(*map(str, range(9)))}))
    assert (len(listing.pages), listing.is_cut) == (5, True)


@pytest.mark.parametrize(
    ("robots", "pages", "problem"),
    [
        (f"Sitemap: {HOME}/s.xml\nSitemap: /s.xml\nSitemap: javascript:x", ["/x"], ""),
        ("User-agent: *\nDisallow:", [], "robots.txt of a.example names no sitemap"),
        (None, [], "a.example: robots.txt could not be had"),
    ],
)
def test_those_that_robots_txt_names(robots: str | None, pages: list[str], problem: str) -> None:
    listing = listed(SitemapRequest(sites=[Url.parse(f"{HOME}/")]), Web({"/s.xml": urls("x")}, robots))
    assert names_of(listing) == pages
    assert listing.problems == ([problem] if problem else [])


def test_a_file_that_was_read_already() -> None:
    given = Sitemap(
        (("https://a.example/x", "2024"), ("/relative", None), ("mailto:x", None)), (f"{HOME}/s.xml",)
    )
    listing = listed(SitemapRequest(files=[given]), Web({"/s.xml": urls("y")}))
    assert [(url.path, lastmod) for url, lastmod in listing.pages.items()] == [("/x", "2024"), ("/y", None)]


def test_pages_go_where_the_rules_place_them() -> None:
    profile = load_profile("docs", topic="asyncio")
    ground = CrawlContext(profile, profile.traversals["focused"], Traps(profile.traps), max_depth=0)
    seed = Url.parse(f"{HOME}/")
    store = MemoryStore()
    frontier = store.queue(store.runs.begin(RunSpec("k", "", None, "docs", ""), 0.0))
    found = ["/", "/docs/asyncio", "/other", "/m.pdf", "//b.example/x", "//c.example/x", "/login"]
    pages: dict[Url, str | None] = {Url.parse(name, seed): "2024-05-01" for name in found}
    for _ in range(2):  # the second time nothing is new
        queue_listed(frontier, Listing(pages), (seed,), frozenset({"a.example", "b.example"}), ground)
    rows = {row.url.removeprefix("https:"): row for row in frontier.rows()}
    assert "//a.example/" not in rows  # a seed is a seed
    assert [row.url for row in frontier.rows() if row.state is State.QUEUED] == [
        f"{HOME}/docs/asyncio", f"{HOME}/other", "https://b.example/x",
    ]  # fmt: skip
    assert rows["//a.example/docs/asyncio"].priority > rows["//a.example/other"].priority
    assert {rule for row in rows.values() if row.why for rule in [row.why.rule]} >= {
        "extension",
        "other-site",
    }
    entry = frontier.find(ground.digest(Url.parse(f"{HOME}/docs/asyncio")))
    assert entry is not None
    assert [(parent, seen.anchor, seen.position) for parent, seen in entry[1]] == [
        (None, "2024-05-01", "sitemap")
    ]
