"""Every limit of `docs/reference/limits.md` is enforced, and its test would notice if it were not.

A row here is a row there: the same name, the same value. Each has an attack that goes just beyond the limit. It is run
twice: with the limit it must end as the table says, and without the limit it must not.
"""

from __future__ import annotations

import asyncio
import gzip
import importlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from honeyguide import app
from honeyguide.adapters import content, inputs, robots, sitemap
from honeyguide.adapters.documents import Documents
from honeyguide.adapters.folder import file_name
from honeyguide.adapters.html import parse_head, parse_page
from honeyguide.adapters.http import HttpFetcher
from honeyguide.adapters.memory import MemoryStore
from honeyguide.adapters.tame import tamed
from honeyguide.cli import root
from honeyguide.cli.output import line_for_people
from honeyguide.config import load_profile
from honeyguide.core.frontier import Budgets, Row, Sighting, digest_of
from honeyguide.core.harmless import printable
from honeyguide.core.pattern import compile_pattern
from honeyguide.core.policy import Policy
from honeyguide.core.records import Record
from honeyguide.core.traps import Traps
from honeyguide.core.url import Url
from honeyguide.errors import (
    ConfigError,
    HoneyguideError,
    InputError,
    PatternError,
    TooLarge,
    Unreachable,
    UrlError,
)
from honeyguide.jobs.crawl import Arrival, Crawler, CrawlRequest, CrawlSummary
from honeyguide.jobs.polite import PoliteFetcher
from honeyguide.jobs.sitemaps import Asked, Listing, list_pages
from honeyguide.ports import Fetched, Headers, Part
from honeyguide.report import summary as reports
from honeyguide.report import write_report
from honeyguide.testing import FakeFetcher, FrozenClock, LoopbackServer, response

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "limits.md"
NONE = 1 << 26  # as good as no limit
HOME = Url.parse("https://a.example/")

Attack = Callable[[int, int], object]
"""Goes beyond the first number; the second is the limit in force, for those that hand it over themselves."""


@dataclass(frozen=True)
class Limit:
    """A row of the table: its name, its value there, where it is set, and an attack that goes beyond it.

    `tried` is a smaller value to try it with, where the real one would take too long to go beyond.
    """

    name: str
    value: str
    place: str
    attack: Attack
    tried: int | None = None
    also: str = ""  # a module that took it over by its name

    @property
    def real(self) -> int:
        """Read the value from where it is set."""
        kind, _, name = self.place.rpartition(":")
        if kind == "policy":
            return int(getattr(Policy(), name))
        if kind in ("traps", "crawl"):
            return int(getattr(getattr(load_profile("docs", topic="x"), kind), name))
        value = getattr(importlib.import_module(f"honeyguide.{kind}"), name.partition("[")[0])
        return int(value[Part[name.partition("[")[2][:-1]]] if "[" in name else value)

    @contextmanager
    def set_to(self, number: int) -> Iterator[None]:
        """Have another limit for a while; what is handed over by the attack itself is left alone."""
        kind, _, name = self.place.rpartition(":")
        with ExitStack() as stack:
            if kind not in ("policy", "traps", "crawl"):
                module = importlib.import_module(f"honeyguide.{kind}")
                if "[" in name:
                    cuts = {
                        **getattr(module, name.partition("[")[0]),
                        Part[name.partition("[")[2][:-1]]: number,
                    }
                    stack.enter_context(patch.object(module, name.partition("[")[0], cuts))
                else:
                    stack.enter_context(patch.object(module, name, number))
                if self.also:
                    stack.enter_context(
                        patch.object(importlib.import_module(f"honeyguide.{self.also}"), name, number)
                    )
            yield


# --- over the wire ------------------------------------------------------------------------------------------------


async def _fetched(answers: dict[str, Any], policy: Policy, part: Part = Part.PAGE) -> Fetched:
    async with LoopbackServer(answers) as server, HttpFetcher(policy) as fetcher:
        return await fetcher.fetch(Url.parse(f"{server.root}/"), part=part)


def fetch(answer: bytes, part: Part = Part.PAGE, **settings: Any) -> Fetched:
    """Ask a real server."""
    return asyncio.run(_fetched({"/": answer}, Policy(allow_private=True, **settings), part))


def sent_bytes(over: int, limit: int) -> None:
    with pytest.raises(TooLarge):
        fetch(response(b"x" * (over + 1)), max_bytes=limit, max_decoded_bytes=NONE)


def decoded_bytes(over: int, limit: int) -> None:
    bomb = response(gzip.compress(b"x" * (over + 1)), "Content-Encoding: gzip")
    with pytest.raises(TooLarge):
        fetch(bomb, max_decoded_bytes=limit)


def header_bytes(over: int, _limit: int) -> None:
    with pytest.raises(TooLarge):
        fetch(response(b"x", "X-Long: " + "x" * (over + 100)))


def header_count(over: int, _limit: int) -> None:
    with pytest.raises(TooLarge):
        fetch(response(b"x", *(f"X-{n}: x" for n in range(over + 8))))


def all_header_bytes(over: int, _limit: int) -> None:
    with pytest.raises(TooLarge):
        fetch(response(b"x", *(f"X-{n}: {'x' * 60_000}" for n in range(4 * over // 60_000))))


def head_bytes(over: int, _limit: int) -> None:
    assert len(fetch(response(b"<title>a</title>" + b" " * over), Part.HEAD).body) <= over


def robots_bytes(over: int, _limit: int) -> None:
    assert len(fetch(response(b"#" * (over + 1)), Part.START).body) <= over


def polite(pages: dict[str, Any], policy: Policy) -> PoliteFetcher:
    return PoliteFetcher(FakeFetcher(pages), FrozenClock(), robots.read_robots, policy)


def moved(path: str, to: str) -> Fetched:
    url = Url.parse(f"https://a.example{path}")
    return Fetched(url, url, 302, Headers(location=to))


def redirects(over: int, limit: int) -> None:
    chain: dict[str, Any] = {f"https://a.example/{n}": moved(f"/{n}", f"/{n + 1}") for n in range(over + 1)}
    chain[f"https://a.example/{over + 1}"] = b"here"
    with pytest.raises(Unreachable, match="redirects"):
        asyncio.run(polite(chain, Policy(max_redirects=limit)).fetch(Url.parse("https://a.example/0")))


def robots_redirects(over: int, _limit: int) -> None:
    names = ["/robots.txt", *(f"/r{n}" for n in range(over + 1))]
    chain: dict[str, Any] = {f"https://a.example{a}": moved(a, b) for a, b in pairwise(names)}
    chain[f"https://a.example{names[-1]}"] = b"User-agent: *\nDisallow: /"
    asyncio.run(polite({**chain, "https://a.example/": b"x"}, Policy()).fetch(HOME))  # as if there were none


def robots_sitemaps(over: int, _limit: int) -> None:
    assert len(robots.read_robots(b"Sitemap: https://a.example/s\n" * (over + 1)).sitemaps) <= over


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


class Maps:
    """A source in which every sitemap is what a function makes of its number."""

    def __init__(self, make: Callable[[int], bytes]) -> None:
        self.make = make

    async def fetch(self, url: Url, *, part: Part = Part.PAGE) -> Fetched:
        assert part is Part.FILE
        return Fetched(url, url, 200, body=self.make(int(url.path.rpartition("/")[2])))

    async def robots(self, url: Url) -> None:
        """There is none."""


def listing(make: Callable[[int], bytes]) -> Listing:
    asked = Asked(addresses=(Url.parse("https://a.example/0"),))
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


# --- pages --------------------------------------------------------------------------------------------------------

PAD = b"<!--" + b"x" * 140_000 + b"-->"  # a large document is looked at closely


def markup_bytes(over: int, _limit: int) -> None:
    assert tamed(PAD + b"x" * (over + 1))[1] > 0


def markup_tags(over: int, _limit: int) -> None:
    assert tamed(PAD + b"<p>x</p>" * (over // 2 + 15_000))[1] > 0


def markup_depth(over: int, _limit: int) -> None:
    assert tamed(PAD + b"<br>" * 26_000 + b"<div>" * (over + 5))[1] > 0


def markup_attributes(over: int, _limit: int) -> None:
    tag = b"<p " + b" ".join(b"a%d=1" % n for n in range(over + 5)) + b">"
    assert tamed(PAD + tag)[1] > 0


def markup_copies(over: int, _limit: int) -> None:
    styled = b"<font color=red>" * 4_000
    assert len(styled) * 4_000 > 4 * over
    assert b"<font" not in tamed(styled)[0]


def links(over: int, _limit: int) -> None:
    page = parse_page("".join(f"<a href=/{n}>x</a>" for n in range(over + 1)), HOME)
    assert len(page.links) <= over
    assert [rule for _, rule in page.skipped] == ["limit"]


def occurrences(over: int, _limit: int) -> None:
    (link,) = parse_page("<a href=/a>x</a>" * (over + 1), HOME).links
    assert len(link.occurrences) <= over


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
    pytest.importorskip("trafilatura")
    page = b"<html><body>" + b"<!--" + b"x" * over + b"-->" + b"<main><p>After all that.</p></main>"
    assert "After all that" not in content.main_content(page, HOME.text).markdown


def content_markdown(over: int, _limit: int) -> None:
    pytest.importorskip("trafilatura")
    words = "".join(f"<p>{'word ' * 20}{n}</p>" for n in range(over // 50))
    found = content.main_content(f"<html><body><main>{words}</main>".encode(), HOME.text)
    assert len(found.markdown.encode()) <= over


def content_headings(over: int, _limit: int) -> None:
    pytest.importorskip("trafilatura")
    parts = "".join(f"<h2>Heading {n}</h2><p>{'word ' * 12}{n}</p>" for n in range(over + 1))
    assert len(content.main_content(f"<html><body><main>{parts}</main>".encode(), HOME.text).headings) <= over


def markdown_links(over: int, _limit: int) -> None:
    text = " ".join(f"[x](/{n})" for n in range(over + 1))
    page = app.parse_markdown(text, HOME)
    assert len(page.links) <= over
    assert [rule for _, rule in page.skipped] == ["limit"]


# --- addresses, patterns, profiles --------------------------------------------------------------------------------


def url_chars(over: int, _limit: int) -> None:
    with pytest.raises(UrlError, match="longer than"):
        Url.parse("https://a.example/".ljust(over + 1, "x"))


def _trapped(url: str, name: str, limit: int) -> str | None:
    changed: dict[str, Any] = {name: limit}
    limits = replace(load_profile("docs", topic="x").traps, **changed)
    why = Traps(limits).inspect(Url.parse(url))
    return None if why is None else why.rule


def crawl_url_chars(over: int, limit: int) -> None:
    assert _trapped("https://a.example/".ljust(over + 1, "x"), "max_url_chars", limit) == "TRAP-1"


def crawl_segments(over: int, limit: int) -> None:
    url = "https://a.example/" + "/".join(f"a{n}" for n in range(over + 1))
    assert _trapped(url, "max_segments", limit) == "TRAP-2"


def pattern_chars(over: int, _limit: int) -> None:
    compile_pattern.cache_clear()
    with pytest.raises(PatternError, match="longer than"):
        compile_pattern("x" * (over + 1))


def pattern_program(_over: int, _limit: int) -> None:
    compile_pattern.cache_clear()
    with pytest.raises(PatternError, match="too large"):
        compile_pattern(r"(\pL{1,500}\pN{1,500}x){1,2}")


def _profile(text: str, folder: str) -> str:
    path = Path(folder, "p.toml")
    path.write_text(f'schema = 1\nextends = "company"\nname = "p"\n{text}', "utf-8")
    return str(path)


def profile_bytes(over: int, _limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.raises(ConfigError, match="larger than"):
        load_profile(_profile("#" * (over + 1), folder))


def profile_extends(over: int, _limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for n in range(over):
            parent = "company" if n == over - 1 else f"p{n + 1}.toml"
            Path(folder, f"p{n}.toml").write_text(f'schema = 1\nextends = "{parent}"\nname = "p"\n', "utf-8")
        with pytest.raises(ConfigError, match="too deep"):
            load_profile(str(Path(folder, "p0.toml")))


def profile_conditions(over: int, _limit: int) -> None:
    when = "{ not = " * (over + 1) + '{ path = { has = ["x"] } }' + " }" * (over + 1)
    rules = f'filter = [{{ id = "x", reason = "x", when = {when} }}]\n'
    with tempfile.TemporaryDirectory() as folder, pytest.raises(ConfigError, match="nested deeper"):
        load_profile(_profile(rules, folder))


# --- files that are given -----------------------------------------------------------------------------------------


def _file(data: bytes, work: Callable[[str], object], suffix: str = ".txt") -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"f{suffix}")
        path.write_bytes(data)
        work(str(path))


def _refused(data: bytes, words: str, *command: str, suffix: str = ".txt") -> None:
    """A command refuses a file, with one sentence."""

    def work(path: str) -> None:
        result = CliRunner().invoke(
            root, [part.replace("FILE", path) for part in command], prog_name="honeyguide"
        )
        assert result.exit_code == 1, result.output
        assert words in result.stderr

    _file(data, work, suffix)


def page_file_bytes(over: int, _limit: int) -> None:
    # The bound is a default of a function, so it is taken from there.
    files = importlib.import_module("honeyguide.cli.files")
    with pytest.raises(InputError, match="larger than"):
        _file(b" " * (over + 1), lambda path: files.read_bytes(path, files.MAX_PAGE_BYTES))


def line_bytes(over: int, _limit: int) -> None:
    _refused(b"x" * (over + 1), "is longer than", "plan", "FILE", "--input-format", "jsonl")


def list_bytes(over: int, _limit: int) -> None:
    with pytest.raises(InputError, match="larger than"):
        _file(b"a.example\n" * (over // 10 + 1), inputs.read_sites)


def list_sites(over: int, _limit: int) -> None:
    with pytest.raises(InputError, match="more than"):
        _file(b"".join(b"s%d.example\n" % n for n in range(over + 1)), inputs.read_sites)


def list_site_chars(over: int, _limit: int) -> None:
    (row,) = inputs.given_sites(["a.example/".ljust(over + 1, "x")])
    assert "longer than" in row.problem


def plan_rows(over: int, _limit: int) -> None:
    names = b"url,visits,lastVisited,lastChanged,topicRelevance,hubDepth,isHub\n"
    rows = names + b"".join(b"https://a.example/%d,0,,,0,1,no\n" % n for n in range(over + 1))
    _refused(rows, "more than", "plan", "FILE", "--now", "2024-06-15T08:00:00Z", suffix=".csv")


def head_rows(over: int, _limit: int) -> None:
    rows = b"".join(b'{"url": "/%d", "title": "x"}\n' % n for n in range(over + 1))
    _refused(rows, "heads", "select", "--demo", "--heads", "FILE", suffix=".jsonl")


def record_bytes(over: int, _limit: int) -> None:
    record = json.dumps({"site": "a.example", "status": "ok", "selected": [], "x": "x" * over}).encode()
    _refused(record, "is longer than", "eval", "FILE", "--gold", "FILE", suffix=".jsonl")


# --- a crawl ------------------------------------------------------------------------------------------------------


def crawl(
    pages: dict[str, Any], budgets: Budgets | None = None, **rules: Any
) -> tuple[list[Record], CrawlSummary, MemoryStore]:
    profile = load_profile("docs", topic="fire")
    profile = replace(profile, crawl=replace(profile.crawl, **rules))
    store, records = MemoryStore(), list[Record]()

    def keep(record: Record, _: Arrival) -> None:
        records.append(record)

    crawler = Crawler(FakeFetcher(pages), Documents(), FrozenClock(), store, profile)
    request = CrawlRequest((HOME,), budgets=budgets or Budgets())
    return records, asyncio.run(crawler.crawl(request, keep)), store


def _linking(*hrefs: str) -> bytes:
    """Make a page that is about fire, says what no other page says, and links pages."""
    listed = "".join(f'<p><a href="{href}">fire {n}</a></p>' for n, href in enumerate(hrefs))
    words = " ".join(f"{n}of{''.join(hrefs[-1:])[1:]}" for n in range(60))
    return f"<title>fire</title><p>fire {words}</p>{listed}".encode()


def _found(store: MemoryStore, path: str) -> tuple[Row, tuple[tuple[str | None, Sighting], ...]]:
    """Look up what the run knows of a path."""
    digest = digest_of(Url.parse(path, HOME), load_profile("docs", topic="fire").scope.tracking)
    found = store.frontier(store.runs()[0]).find(digest)
    assert found is not None
    return found


def attempts(over: int, limit: int) -> None:
    failing = [503] * over
    records, _, _ = crawl({HOME.text: _linking("/a"), f"{HOME}a": [*failing, _linking()]}, max_attempts=limit)
    assert [record["status"] for record in records] == [200, 503]


def site_failures(over: int, limit: int) -> None:
    pages: dict[str, Any] = {HOME.text: _linking(*(f"/{n}" for n in range(over + 9)))}
    pages |= {f"{HOME}{n}": 500 for n in range(over + 9)}
    _, summary, _ = crawl(pages, max_site_failures=limit, max_attempts=9, lookahead=1)
    assert summary.stopped == "site_failing"


def sightings(over: int, limit: int) -> None:
    names = [f"/p{n}" for n in range(over + 3)]
    pages = {HOME.text: _linking(*names)} | {f"{HOME}p{n}": _linking("/x", f"/y{n}") for n in range(over + 3)}
    _, summary, store = crawl(pages, sightings=limit)
    assert summary.stopped == "complete"
    row, seen = _found(store, "/x")
    assert (row.seen, len(seen)) == (over + 3, over)


def families(over: int, _limit: int) -> None:
    traps = Traps(load_profile("docs", topic="x").traps)
    for n in range(over + 1):
        traps.learn(Url.parse(f"https://a.example/s{'x' * (n % 90)}/{n // 90}/p?{'y' * (n // 90)}=1"), ())
    assert len(traps.families) <= over


def remembered_hosts(over: int, _limit: int) -> None:
    pages = {f"https://s{n}.example/": b"x" for n in range(3 * over)}
    fetcher = polite(pages, Policy(delay_s=0, jitter=0))

    async def go() -> None:
        for url in pages:
            await fetcher.fetch(Url.parse(url))

    asyncio.run(go())
    assert len(vars(fetcher)["_hosts"]) <= over


def remembered_robots(over: int, _limit: int) -> None:
    fetcher = polite({}, Policy(delay_s=0, jitter=0))

    async def go() -> None:
        for n in range(2 * over):
            await fetcher.robots(Url.parse(f"https://s{n}.example/"))

    asyncio.run(go())
    assert len(vars(fetcher)["_origins"]) <= over


def sighting_chars(over: int, _limit: int) -> None:
    page = _linking("/a").replace(b">fire 0<", b">" + b"fire " * over + b"<")
    _, _, store = crawl({HOME.text: page})
    assert max(len(seen.anchor) for _, seen in _found(store, "/a")[1]) <= over


def command_chars(over: int, _limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder, "h.db"))
        args = [
            "crawl",
            "http://127.0.0.1:9/",
            "--topic",
            "x",
            "--include",
            "y" * (over + 1),
            "--store",
            store,
            "--quiet",
        ]
        CliRunner().invoke(root, args, prog_name="honeyguide")
        told = CliRunner().invoke(
            root, ["runs", "--store", store, "--format", "jsonl"], prog_name="honeyguide"
        )
    assert len(json.loads(told.stdout)["command"]) <= over


# --- what is shown and written ------------------------------------------------------------------------------------


def shown_line(over: int, _limit: int) -> None:
    assert len(line_for_people("x" * 3 * over)) < 2 * over


def marks(over: int, _limit: int) -> None:
    assert len(printable("a" + "\u0301" * (over + 1))) <= over + 1


def report_text(over: int, _limit: int) -> None:
    assert len(reports.clean("x" * (over + 2))) <= over + 1


def report_url(over: int, _limit: int) -> None:
    assert reports.link_of("https://a.example/".ljust(over + 1, "x")) is None


def _report(record: dict[str, Any]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        write_report([record], Path(folder, "r.html"))
        return Path(folder, "r.html").read_text("utf-8")


def report_selected(over: int, _limit: int) -> None:
    pages = [{"url": f"https://a.example/{n}", "rank": n} for n in range(over + 1)]
    assert _report({"site": "a", "selected": pages}).count('<a href="https://a.example/') <= over


def report_ranked(over: int, _limit: int) -> None:
    pages = [{"url": f"https://a.example/{n}", "score": n} for n in range(over + 1)]
    assert _report({"site": "a", "candidates": pages}).count('<a href="https://a.example/') <= over


def report_listed(over: int, _limit: int) -> None:
    gone = [{"url": f"https://a.example/{n}", "why": "x"} for n in range(over + 1)]
    assert _report({"site": "a", "replaced": gone}).count('<a href="https://a.example/') <= over


def report_named(over: int, _limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_report(({"site": f"s{n}", "status": "x"} for n in range(over + 1)), Path(folder, "r.html"))
        assert Path(folder, "r.html").read_text("utf-8").count('<a href="#s') <= over


def report_bytes(over: int, _limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one = {"site": "s", "candidates": [{"url": "https://a.example/", "score": 1, "reasons": []}]}
        write_report((one for _ in range(over // 300 + 2)), Path(folder, "r.html"))
        assert "candidate not shown" in Path(folder, "r.html").read_text("utf-8")


def file_name_chars(over: int, _limit: int) -> None:
    assert max(map(len, file_name(Url.parse(f"https://a.example/{'x' * (over + 40)}")).parts)) < over + 20


def file_path_chars(over: int, _limit: int) -> None:
    deep = Url.parse("https://a.example/" + "/".join("abcde" for _ in range(over // 5)))
    assert len(str(file_name(deep))) <= over


LIMITS = [
    Limit("body as sent", "5,242,880 bytes", "policy:max_bytes", sent_bytes, 1000),
    Limit("body after decompression", "10,485,760 bytes", "policy:max_decoded_bytes", decoded_bytes, 1000),
    Limit("one header", "65,536 bytes", "adapters.wire:MAX_LINE_BYTES", header_bytes, also="adapters.http"),
    Limit("headers of an answer", "256", "adapters.wire:MAX_HEADERS", header_count, also="adapters.http"),
    Limit("all headers of an answer", "262,144 bytes", "adapters.wire:MAX_HEAD_BYTES", all_header_bytes),
    Limit("redirects of a page", "10", "policy:max_redirects", redirects),
    Limit("redirects of robots.txt", "5", "jobs.polite:_ROBOTS_REDIRECTS", robots_redirects),
    Limit("head of a page", "65,536 bytes", "adapters.http:_CUTS[HEAD]", head_bytes),
    Limit("robots.txt", "512,000 bytes", "adapters.http:_CUTS[START]", robots_bytes),
    Limit("sitemaps that robots.txt names", "1,000", "adapters.robots:_MAX_SITEMAPS", robots_sitemaps),
    Limit("sitemap", "52,428,800 bytes", "adapters.sitemap:MAX_BYTES", sitemap_bytes, 100_000),
    Limit("entries of a sitemap", "50,000", "adapters.sitemap:MAX_PAGES", sitemap_pages),
    Limit("address in a sitemap", "2,048 characters", "adapters.sitemap:MAX_URL_CHARS", sitemap_url_chars),
    Limit("sitemaps of a crawl", "500", "jobs.sitemaps:MAX_FILES", sitemap_files),
    Limit("sitemaps inside of sitemaps", "3 levels", "jobs.sitemaps:MAX_LEVELS", sitemap_levels),
    Limit("pages from all sitemaps", "200,000", "jobs.sitemaps:MAX_PAGES", sitemap_all_pages, 50),
    Limit("sitemaps that list nothing", "20", "jobs.sitemaps:MAX_USELESS", sitemap_useless),
    Limit("markup of a page", "10,485,760 bytes", "adapters.tame:MAX_BYTES", markup_bytes, 300_000),
    Limit("tags of a page", "250,000", "adapters.tame:MAX_TAGS", markup_tags, 50_000),
    Limit("depth of markup", "2,000 elements", "adapters.tame:MAX_DEPTH", markup_depth),
    Limit("attributes of a tag", "256", "adapters.tame:MAX_ATTRIBUTES", markup_attributes),
    Limit("unclosed styling", "1,000,000 copies", "adapters.tame:MAX_COPIES", markup_copies),
    Limit("links of a page", "20,000", "adapters.html:MAX_LINKS", links, 500),
    Limit("links of a Markdown text", "20,000", "app.links:MAX_MARKDOWN_LINKS", markdown_links, 500),
    Limit("occurrences of a link", "50", "adapters.html:MAX_OCCURRENCES", occurrences),
    Limit("hrefs that are no links", "1,000", "adapters.html:MAX_SKIPPED", skipped_hrefs),
    Limit("such an href", "200 characters", "adapters.html:MAX_SKIPPED_HREF", skipped_chars),
    Limit("text of a page", "1,000,000 characters", "adapters.dom:MAX_TEXT", text_chars, 1000),
    Limit("title, heading, anchor", "500 characters", "adapters.dom:MAX_LABEL", label_chars),
    Limit("description", "2,000 characters", "adapters.dom:MAX_DESCRIPTION", description_chars),
    Limit("headings of a page", "500", "adapters.dom:MAX_HEADINGS", headings),
    Limit(
        "markup that content is read from",
        "2,097,152 bytes",
        "adapters.content:MAX_HTML_BYTES",
        content_html,
        5_000,
    ),
    Limit(
        "content of a page", "200,000 bytes", "adapters.content:MAX_MARKDOWN_BYTES", content_markdown, 5_000
    ),
    Limit("headings of content", "200", "adapters.content:MAX_HEADINGS", content_headings, 20),
    Limit("URL", "65,536 characters", "core.rewrite:MAX_CHARS", url_chars),
    Limit("URL in a crawl", "2,000 characters", "traps:max_url_chars", crawl_url_chars),
    Limit("path segments in a crawl", "20", "traps:max_segments", crawl_segments),
    Limit("pattern", "4,000 characters", "core.pattern:MAX_PATTERN_CHARS", pattern_chars),
    Limit("compiled pattern", "4,194,304 bytes", "core.pattern:_MAX_PROGRAM_BYTES", pattern_program),
    Limit("profile", "262,144 bytes", "config.files:MAX_PROFILE_BYTES", profile_bytes),
    Limit("profiles that extend each other", "8", "config.files:MAX_EXTENDS", profile_extends),
    Limit("nesting of conditions", "20", "config.conditions:MAX_DEPTH", profile_conditions),
    Limit("page in a file", "20,000,000 bytes", "cli.files:MAX_PAGE_BYTES", page_file_bytes, 1000),
    Limit("line of a file", "1,000,000 bytes", "adapters.rowfiles:MAX_LINE_BYTES", line_bytes),
    Limit("list of sites", "200,000,000 bytes", "adapters.inputs:MAX_BYTES", list_bytes, 1000),
    Limit("sites of a list", "1,000,000", "adapters.inputs:MAX_SITES", list_sites, 50),
    Limit("address in a list", "2,048 characters", "adapters.inputs:MAX_SITE_CHARS", list_site_chars),
    Limit("rows of a plan that is shown whole", "1,000,000", "cli.plan:MAX_ROWS", plan_rows, 50),
    Limit("heads of a selection", "20,000", "cli.select:MAX_HEADS", head_rows, 50),
    Limit(
        "record of a pick that is judged", "64,000,000 bytes", "cli.eval:MAX_RECORD_BYTES", record_bytes, 1000
    ),
    Limit("tries of a page", "3", "crawl:max_attempts", attempts),
    Limit("failures of a site in a row", "10", "crawl:max_site_failures", site_failures),
    Limit("links to a page that are remembered", "5", "crawl:sightings", sightings),
    Limit("families of URLs that are remembered", "20,000", "core.traps:MAX_FAMILIES", families, 2_000),
    Limit("anchor that is remembered", "200 characters", "core.judge:_ANCHOR", sighting_chars),
    Limit("command that a store remembers", "500 characters", "cli.crawl:_MOST_COMMAND", command_chars),
    Limit("hosts whose pace is remembered", "10,000", "jobs.polite:_KEPT_HOSTS", remembered_hosts, 20),
    Limit("robots.txt files that are remembered", "1,000", "jobs.polite:_KEPT_ROBOTS", remembered_robots, 20),
    Limit("line in a terminal", "4,000 characters", "cli.output:MAX_LINE_CHARS", shown_line),
    Limit("marks on a letter", "6", "core.harmless:MAX_MARKS", marks),
    Limit("text in a report", "200 characters", "report.summary:MAX_TEXT", report_text),
    Limit("link in a report", "500 characters", "report.summary:MAX_URL", report_url),
    Limit("picks of a site in a report", "50", "report.summary:MAX_SELECTED", report_selected),
    Limit("candidates of a site in a report", "40", "report.summary:MAX_RANKED", report_ranked),
    Limit("pages by rule in a report", "12", "report.summary:MAX_LISTED", report_listed),
    Limit("failed sites by kind in a report", "30", "report.summary:MAX_NAMED", report_named),
    Limit("report with all candidates", "16,000,000 bytes", "report:DETAILED_BYTES", report_bytes, 3_000),
    Limit("name of a file", "60 characters", "adapters.folder:MAX_NAME_CHARS", file_name_chars),
    Limit("path of a file", "180 characters", "adapters.folder:MAX_PATH_CHARS", file_path_chars),
]
by_name = pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)


@by_name
def test_beyond_the_limit_it_ends_as_is_said(limit: Limit) -> None:
    number = limit.tried or limit.real
    with limit.set_to(number):
        limit.attack(number, number)


@by_name
def test_without_the_limit_the_test_would_fail(limit: Limit) -> None:
    number = limit.tried or limit.real
    with limit.set_to(NONE), pytest.raises((AssertionError, HoneyguideError, pytest.fail.Exception)):
        limit.attack(number, NONE)


# --- the table ----------------------------------------------------------------------------------------------------


def table() -> dict[str, list[str]]:
    """Read the rows of the page: name, value, what happens beyond it, where it is set."""
    rows = re.findall(r"^\| (.*) \|$", DOCS.read_text("utf-8"), re.MULTILINE)
    cells = [row.split(" | ") for row in rows]
    return {row[0]: row[1:] for row in cells if row[0] not in ("Limit", "---")}


def test_the_table_has_every_limit_and_no_other() -> None:
    assert list(table()) == [limit.name for limit in LIMITS]


@by_name
def test_the_table_has_the_value_that_is_set(limit: Limit) -> None:
    assert table()[limit.name][0] == limit.value
    assert limit.value.split(" ")[0] == f"{limit.real:,}"


@by_name
def test_the_table_says_where_it_is_set(limit: Limit) -> None:
    kind, _, name = limit.place.rpartition(":")
    where = table()[limit.name][2]
    bare = name.partition("[")[0]
    assert where == {
        "policy": f"`Policy.{bare}`",
        "traps": f"profile, `traps.{bare}`",
        "crawl": f"profile, `crawl.{bare}`",
    }.get(
        kind, f"fixed, `{kind.replace('.', '/')}.py`" if kind != "report" else "fixed, `report/__init__.py`"
    )
