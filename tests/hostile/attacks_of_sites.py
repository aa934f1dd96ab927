"""Attacks of a site that go just beyond a limit: answers, sitemaps, markup.

Each takes the number to go beyond, and the limit in force for those that hand it over themselves; it fails unless it is
stopped as `docs/reference/limits.md` says. `test_limits.py` runs them.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable, Iterable
from itertools import count, pairwise
from typing import Any
from unittest.mock import patch

import pytest

import honeyguide
from honeyguide.adapters.html import content
from honeyguide.adapters.html import sitemaps as feed
from honeyguide.adapters.html import sitemaps as sitemap
from honeyguide.adapters.html.guards import bound_markup
from honeyguide.adapters.html.page import forward_of, parse_head, parse_page
from honeyguide.adapters.http import robots
from honeyguide.adapters.http.body import Room
from honeyguide.adapters.http.client import HttpFetcher
from honeyguide.app.pick import picker
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.records import Record
from honeyguide.core.url.url import Url
from honeyguide.errors import TooLargeError, UnreachableError
from honeyguide.jobs.pick import PickRequest
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.jobs.results import Results
from honeyguide.jobs.sitemaps import Listing, SitemapRequest, list_pages
from honeyguide.ports.fetch import Fetched, Headers, Part, Validators
from honeyguide.testing.fakes import FakeFetcher, FrozenClock, LoopbackServer, response

NONE = 1 << 26  # as good as no limit
HOME = Url.parse("https://a.example/")


# --- over the wire ------------------------------------------------------------------------------------------------


async def _fetched(answers: dict[str, Any], policy: FetchPolicy, part: Part = Part.PAGE) -> Fetched:
    async with LoopbackServer(answers) as server, HttpFetcher(policy) as fetcher:
        return await fetcher.fetch(Url.parse(f"{server.root}/"), part=part)


def fetch(answer: bytes, part: Part = Part.PAGE, **settings: Any) -> Fetched:
    """Ask a real server."""
    return asyncio.run(_fetched({"/": answer}, FetchPolicy(allow_private=True, **settings), part))


def sent_bytes(over: int, limit: int) -> None:
    with pytest.raises(TooLargeError):
        fetch(response(b"x" * (over + 1)), max_bytes=limit, max_decoded_bytes=NONE)


def decoded_bytes(over: int, limit: int) -> None:
    bomb = response(gzip.compress(b"x" * (over + 1)), "Content-Encoding: gzip")
    with pytest.raises(TooLargeError):
        fetch(bomb, max_decoded_bytes=limit)


def file_bytes(over: int, _limit: int) -> None:
    with pytest.raises(TooLargeError):
        fetch(response(gzip.compress(b"x" * (over + 1)), "Content-Encoding: gzip"), Part.FILE)
    with pytest.raises(TooLargeError):
        fetch(response(b"x" * (over + 1)), Part.FILE)


def reading_bytes(over: int, _limit: int) -> None:
    async def read_two() -> None:
        room, first, second = Room(), object(), object()
        await room.take(first, over)
        waiting = asyncio.ensure_future(room.take(second, over))
        await asyncio.sleep(0)
        assert not waiting.done()
        room.leave(first)
        await waiting

    asyncio.run(read_two())


def waiting_bytes(over: int, _limit: int) -> None:
    results = Results()
    for claim in (1, 2):
        results.put(claim, Fetched(HOME, HOME, 200, body=b"x" * over), 0.0)
    held_bytes = results.held_bytes
    for claim in (1, 2):
        got, _ = results.pop(claim)
        assert isinstance(got, Fetched)
        assert got.body == b"x" * over
    assert held_bytes <= over


def header_bytes(over: int, _limit: int) -> None:
    with pytest.raises(TooLargeError):
        fetch(response(b"x", "X-Long: " + "x" * (over + 100)))


def header_count(over: int, _limit: int) -> None:
    with pytest.raises(TooLargeError):
        fetch(response(b"x", *(f"X-{n}: x" for n in range(over + 8))))


def all_header_bytes(over: int, _limit: int) -> None:
    with pytest.raises(TooLargeError):
        fetch(response(b"x", *(f"X-{n}: {'x' * 60_000}" for n in range(4 * over // 60_000))))


def head_bytes(over: int, _limit: int) -> None:
    assert len(fetch(response(b"<title>a</title>" + b" " * over), Part.HEAD).body) <= over


def robots_bytes(over: int, _limit: int) -> None:
    assert len(fetch(response(b"#" * (over + 1)), Part.START).body) <= over


def polite(pages: dict[str, Any], policy: FetchPolicy) -> PoliteFetcher:
    return PoliteFetcher(FakeFetcher(pages), FrozenClock(), robots.read_robots, policy)


def moved(path: str, to: str) -> Fetched:
    url = Url.parse(f"https://a.example{path}")
    return Fetched(url, url, 302, Headers(location=to))


def redirects(over: int, limit: int) -> None:
    chain: dict[str, Any] = {f"https://a.example/{n}": moved(f"/{n}", f"/{n + 1}") for n in range(over + 1)}
    chain[f"https://a.example/{over + 1}"] = b"here"
    with pytest.raises(UnreachableError, match="redirects"):
        asyncio.run(polite(chain, FetchPolicy(max_redirects=limit)).fetch(Url.parse("https://a.example/0")))


def robots_redirects(over: int, _limit: int) -> None:
    names = ["/robots.txt", *(f"/r{n}" for n in range(over + 1))]
    chain: dict[str, Any] = {f"https://a.example{a}": moved(a, b) for a, b in pairwise(names)}
    chain[f"https://a.example{names[-1]}"] = b"User-agent: *\nDisallow: /"
    asyncio.run(
        polite({**chain, "https://a.example/": b"x"}, FetchPolicy()).fetch(HOME)
    )  # as if there were none


def robots_sitemaps(over: int, _limit: int) -> None:
    assert len(robots.read_robots(b"Sitemap: https://a.example/s\n" * (over + 1)).sitemaps) <= over


def robots_steps(over: int, _limit: int) -> None:
    rules = robots.read_robots(b"User-agent: *\nDisallow: /*b\nDisallow: /*c")
    assert not rules.allows(Url.parse(f"https://a.example/{'a' * (over // 2)}"))


# --- sitemaps -----------------------------------------------------------------------------------------------------


def sitemap_bytes(over: int, _limit: int) -> None:
    one = b"<url><loc>https://a.example/x</loc></url>"
    packed = gzip.compress(b"<urlset>" + one + b" " * over + one)
    assert len(sitemap.read_sitemap(packed).pages) == 1


def sitemap_pages(over: int, _limit: int) -> None:
    listed = b"<urlset>" + b"<url><loc>https://a.example/x</loc></url>" * (over + 1)
    assert len(sitemap.read_sitemap(listed).pages) <= over


def sitemap_url_chars(over: int, _limit: int) -> None:
    url = "https://a.example/".ljust(over + 1, "x")
    assert sitemap.read_sitemap(f"<urlset><url><loc>{url}</loc></url>".encode()).pages == ()


def feed_url_chars(over: int, _limit: int) -> None:
    url = "https://a.example/".ljust(over + 1, "x")
    assert list(feed.entries(f"<rss><item><link>{url}</link></item>", 9)) == []


class Maps:
    """A source in which every sitemap is what a function makes of its number."""

    def __init__(self, make: Callable[[int], bytes]) -> None:
        self.make = make

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators
        assert part is Part.FILE
        return Fetched(url, url, 200, body=self.make(int(url.path.rpartition("/")[2])))

    async def robots(self, url: Url) -> None:
        """There is none."""


def listing(make: Callable[[int], bytes]) -> Listing:
    asked = SitemapRequest(addresses=(Url.parse("https://a.example/0"),))
    return asyncio.run(list_pages(asked, Maps(make), sitemap.read_sitemap))


def _index(*numbers: int) -> bytes:
    return b"<sitemapindex>" + b"".join(
        b"<sitemap><loc>https://a.example/%d</loc></sitemap>" % n for n in numbers
    )


def _pages(first: int, count: int = 1) -> bytes:
    return b"<urlset>" + b"".join(
        b"<url><loc>https://a.example/p%d</loc></url>" % (first + n) for n in range(count)
    )


def sitemap_files(over: int, _limit: int) -> None:
    found = listing(lambda n: _pages(n) if n else _index(*range(1, over + 2)))
    assert len(found.pages) < over + 1
    assert found.problems


def sitemap_levels(over: int, _limit: int) -> None:
    assert not listing(lambda n: _index(n + 1) if n < over else _pages(n)).pages


def sitemap_all_pages(over: int, _limit: int) -> None:
    found = listing(lambda n: _pages(n * over, over) if n else _index(1, 2))
    assert (len(found.pages) <= over, found.is_cut) == (True, True)


def sitemap_useless(over: int, _limit: int) -> None:
    found = listing(lambda n: _index(*range(1, over + 3)) if not n else b"" if n <= over else _pages(n))
    assert not found.pages


def sitemap_seconds(over: int, _limit: int) -> None:
    async def run() -> Listing:
        loop = asyncio.get_running_loop()
        late = loop.time() + over + 1

        class Slow(Maps):
            async def fetch(
                self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
            ) -> Fetched:
                with patch.object(loop, "time", lambda: late):  # as if it had taken that long
                    await asyncio.sleep(0)
                    await asyncio.sleep(0)
                return await super().fetch(url, validators=validators, part=part)

        asked = SitemapRequest(addresses=(Url.parse("https://a.example/0"),))
        return await list_pages(asked, Slow(_pages), sitemap.read_sitemap)

    found = asyncio.run(run())
    assert not found.pages
    assert "took more than" in found.problems[0]


# --- picks --------------------------------------------------------------------------------------------------------


def _picked(strategy: str, links: int) -> tuple[Record, list[str]]:
    """Pick from a site of so many links that are alike, none of which is there."""
    anchors = "".join(
        f"<a href=/services/repair-{n:03}>Fire protection inspection {n}</a> " for n in range(links)
    )
    fetcher = FakeFetcher({HOME.text: f"<title>Acme</title><nav>{anchors}</nav><p>Welcome".encode()})
    request = PickRequest(strategy, timings=False)
    record = asyncio.run(picker(request, fetcher, FrozenClock()).pick(HOME.text))
    return record, fetcher.requests


def heads(over: int, _limit: int) -> None:
    record, asked = _picked("blend", over + 10)
    assert len(asked) == 1 + over + len(record["replaced"])


def replacing(over: int, _limit: int) -> None:
    record, _ = _picked("portfolio", over + 50)
    assert over < len(record["replaced"]) <= over + 10
    assert record["counts"]["rejected_untried"] > 0


def _pick_politely(pages: dict[str, Any]) -> tuple[Record, list[str]]:
    fetcher, clock = (
        FakeFetcher({f"https://a.example{path}": body for path, body in pages.items()}),
        FrozenClock(),
    )
    polite = PoliteFetcher(fetcher, clock, robots.read_robots, FetchPolicy(), forward_of)
    record = asyncio.run(picker(PickRequest(timings=False), polite, clock).pick("https://a.example/"))
    return record, fetcher.requests


def _locs(tag: str, names: Iterable[str]) -> bytes:
    return "".join(f"<{tag}><loc>https://a.example/{name}</loc></{tag}>" for name in names).encode()


def pick_frames(over: int, _limit: int) -> None:
    frames = "".join(f"<frame src=/f{n}>" for n in range(over + 5))
    pages = {f"/f{n}": b"<a href=/about>About</a>" for n in range(over + 5)}
    _, asked = _pick_politely({"/": f"<frameset>{frames}</frameset>".encode(), **pages})
    assert sum("/f" in url for url in asked) == over


def pick_sitemaps(over: int, _limit: int) -> None:
    files = {f"/{n}.xml": _locs("url", [f"p{n}"]) for n in range(over + 5)}
    index = _locs("sitemap", [f"{n}.xml" for n in range(over + 5)])
    _, asked = _pick_politely({"/": b"<p>Hello", "/sitemap.xml": index, **files})
    assert sum(url.endswith(".xml") for url in asked) == over


def pick_listed(over: int, _limit: int) -> None:
    pages = _locs("url", [f"p{n}" for n in range(over + 5)])
    record, _ = _pick_politely({"/": b"<p>Hello", "/sitemap.xml": pages})
    assert len(record["candidates"]) <= over


def pick_listed_pages(over: int, _limit: int) -> None:
    pages = _locs("url", [f"a/b/p{n}" for n in range(over)])
    record, _ = _pick_politely({"/": b"<p>Hello", "/sitemap.xml": pages + _locs("url", ["about"])})
    assert not any(candidate["url"].endswith("/about") for candidate in record["candidates"])


def forward_bytes(over: int, _limit: int) -> None:
    body = b"<!--" + b"x" * over + b"--><meta http-equiv=refresh content='0; url=/y'>"
    assert forward_of(body, HOME) is None


# --- pages --------------------------------------------------------------------------------------------------------

PAD = b"<!--" + b"x" * 140_000 + b"-->"  # a large document is looked at closely


def markup_bytes(over: int, _limit: int) -> None:
    assert bound_markup(PAD + b"x" * (over + 1))[1] > 0


def markup_tags(over: int, _limit: int) -> None:
    assert bound_markup(PAD + b"<p>x</p>" * (over // 2 + 15_000))[1] > 0


def markup_depth(over: int, _limit: int) -> None:
    assert bound_markup(PAD + b"<br>" * 26_000 + b"<div>" * (over + 5))[1] > 0


def markup_attributes(over: int, _limit: int) -> None:
    tag = b"<p " + b" ".join(b"a%d=1" % n for n in range(over + 5)) + b">"
    assert bound_markup(PAD + tag)[1] > 0


_FRESH = count()


def markup_copies(over: int, _limit: int) -> None:
    styled = b"<font color=red>" * 4_000
    assert len(styled) * 4_000 > 4 * over
    assert b"<font" not in bound_markup(styled)[0]


def links(over: int, _limit: int) -> None:
    page = parse_page("".join(f"<a href=/{n}>x</a>" for n in range(over + 1)), HOME)
    assert len(page.links) <= over
    assert [rule for _, rule in page.skipped] == ["limit"]


def international_hosts(over: int, _limit: int) -> None:
    fresh = next(_FRESH)  # hosts that were met before are remembered, and cost nothing
    page = parse_page("".join(f"<a href=https://ü{n}-{fresh}.example/>x</a>" for n in range(over + 1)), HOME)
    assert [rule for _, rule in page.skipped] == ["limit"]


def occurrences(over: int, _limit: int) -> None:
    (link,) = parse_page("<a href=/a>x</a>" * (over + 1), HOME).links
    assert len(link.occurrences) <= over


def versions(over: int, _limit: int) -> None:
    others = "".join(f"<link rel=alternate hreflang=x{n} href=/{n}>" for n in range(over + 1))
    assert len(parse_page(others, HOME).versions) <= over


def skipped_hrefs(over: int, _limit: int) -> None:
    page = parse_page("".join(f"<a href=mailto:{n}>x</a>" for n in range(over + 1)), HOME)
    assert page.skipped[-1] == ("1 more", "limit")


def skipped_chars(over: int, _limit: int) -> None:
    assert len(parse_page(f"<a href=mailto:{'x' * over}>x</a>", HOME).skipped[0][0]) <= over


def text_chars(over: int, _limit: int) -> None:
    assert len(parse_page("<p>" + "word " * (over // 5 + 1), HOME).text) <= over


def label_chars(over: int, _limit: int) -> None:
    long = "x" * (over + 1)
    page = parse_page(f"<title>{long}</title><h1>{long}</h1><a href=/a title={long}>{long}</a>", HOME)
    occurrence = page.links[0].occurrences[0]
    assert max(map(len, (page.title, page.h1[0], occurrence.anchor, occurrence.title))) <= over


def description_chars(over: int, _limit: int) -> None:
    head = parse_head(f"<meta name=description content={'x' * (over + 1)}>")
    assert len(head.description or "") <= over


def headings(over: int, _limit: int) -> None:
    assert len(parse_page("".join(f"<h2>h{n}</h2>" for n in range(over + 1)), HOME).h2) <= over


def content_html(over: int, _limit: int) -> None:
    page = b"<html><body>" + b"<!--" + b"x" * over + b"-->" + b"<main><p>After all that.</p></main>"
    assert "After all that" not in content.main_content(page, HOME).markdown


def content_markdown(over: int, _limit: int) -> None:
    words = "".join(f"<p>{'word ' * 20}{n}</p>" for n in range(over // 50))
    found = content.main_content(f"<html><body><main>{words}</main>".encode(), HOME)
    assert len(found.markdown) <= over


def content_cells(over: int, _limit: int) -> None:
    rows = "<tr><td>a<td>b" * (over // 2 + 1)
    assert "|" not in content.main_content(f"<main><table>{rows}</table></main>".encode(), HOME).markdown


def content_headings(over: int, _limit: int) -> None:
    parts = "".join(f"<h2>Heading {n}</h2><p>{'word ' * 12}{n}</p>" for n in range(over + 1))
    assert len(content.main_content(f"<html><body><main>{parts}</main>".encode(), HOME).headings) <= over


def content_heading_chars(over: int, _limit: int) -> None:
    part = f"<h2>{'head ' * over}</h2><p>{'word ' * 60}</p>"
    found = content.main_content(f"<html><body><main>{part}</main>".encode(), HOME).headings
    assert found
    assert max(map(len, found)) <= over


def markdown_chars(over: int, _limit: int) -> None:
    page = honeyguide.parse_markdown("x" * over + " [x](/a)", HOME)
    assert page.links == ()
    assert [rule for _, rule in page.skipped] == ["limit"]


def markdown_marks(over: int, _limit: int) -> None:
    page = honeyguide.parse_markdown("\n" * over + "[x](/a)", HOME)
    assert page.links == ()
    assert [rule for _, rule in page.skipped] == ["limit"]


def markdown_links(over: int, _limit: int) -> None:
    text = " ".join(f"[x](/{n})" for n in range(over + 1))
    page = honeyguide.parse_markdown(text, HOME)
    assert len(page.links) <= over
    assert [rule for _, rule in page.skipped] == ["limit"]
