"""Attacks on what a crawl remembers, and on what is shown and written, that go just beyond a limit.

Each takes the number to go beyond, and the limit in force for those that hand it over themselves; it fails unless it is
stopped as `docs/reference/limits.md` says. `test_limits.py` runs them.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from attacks_of_sites import HOME, polite
from click.testing import CliRunner

from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.output.page_file import PageFile, file_name
from honeyguide.adapters.output.pick_file import read_back
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.cli.main import root
from honeyguide.cli.output import line_for_people
from honeyguide.config import load_profile
from honeyguide.core.crawl.frontier import Budgets, Counts, FrontierRow, Sighting, digest_of
from honeyguide.core.crawl.traps import Traps
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.records import Record
from honeyguide.core.text.printable import printable
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError
from honeyguide.jobs.crawl import Crawler, CrawlRequest, CrawlSummary, PageAttachments
from honeyguide.ports.store import Store
from honeyguide.report import sheet as reports
from honeyguide.report import write_report
from honeyguide.report.crawl import CrawlReportData, crawl_sheet
from honeyguide.report.plan import PlanReportData, plan_sheet
from honeyguide.report.sheet import CountList, Pages, Sheet
from honeyguide.testing.fakes import FakeFetcher, FrozenClock
from honeyguide.testing.memory_store import MemoryStore

# --- a crawl ------------------------------------------------------------------------------------------------------


def crawl(
    pages: dict[str, Any], budgets: Budgets | None = None, store: Store | None = None, **rules: Any
) -> tuple[list[Record], CrawlSummary, Store]:
    """Crawl a made-up site; gives its records, how it went, and where it is kept."""
    profile = load_profile("docs", topic="fire")
    profile = replace(profile, crawl=replace(profile.crawl, **rules))
    records: list[Record] = []
    store = MemoryStore() if store is None else store

    def keep(record: Record, _: PageAttachments) -> None:
        records.append(record)

    crawler = Crawler(FakeFetcher(pages), HtmlReader(), FrozenClock(), store, profile)
    request = CrawlRequest((HOME,), budgets=budgets or Budgets())
    return records, asyncio.run(crawler.crawl(request, keep)), store


def linking(*hrefs: str) -> bytes:
    """Make a page that is about fire, says what no other page says, and links pages."""
    listed = "".join(f'<p><a href="{href}">fire {n}</a></p>' for n, href in enumerate(hrefs))
    words = " ".join(f"{n}of{''.join(hrefs[-1:])[1:]}" for n in range(60))
    return f"<title>fire</title><p>fire {words}</p>{listed}".encode()


def _found(store: Store, path: str) -> tuple[FrontierRow, tuple[tuple[str | None, Sighting], ...]]:
    """Look up what the run knows of a path."""
    digest = digest_of(Url.parse(path, HOME), load_profile("docs", topic="fire").scope.tracking)
    found = store.ledger(store.runs.list()[0]).find(digest)
    assert found is not None
    return found


def attempts(over: int, limit: int) -> None:
    failing = [503] * over
    records, _, _ = crawl({HOME.text: linking("/a"), f"{HOME}a": [*failing, linking()]}, max_attempts=limit)
    assert [record["status"] for record in records] == [200, 503]


def site_failures(over: int, limit: int) -> None:
    pages: dict[str, Any] = {HOME.text: linking(*(f"/{n}" for n in range(over + 9)))}
    pages |= {f"{HOME}{n}": 500 for n in range(over + 9)}
    _, summary, _ = crawl(pages, max_site_failures=limit, max_attempts=9, lookahead=1)
    assert summary.stopped == "site_failing"


def sightings(over: int, limit: int) -> None:
    names = [f"/p{n}" for n in range(over + 3)]
    pages = {HOME.text: linking(*names)} | {f"{HOME}p{n}": linking("/x", f"/y{n}") for n in range(over + 3)}
    _, summary, store = crawl(pages, sightings=limit)
    assert summary.stopped == "complete"
    row, seen = _found(store, "/x")
    assert (row.seen, len(seen)) == (over + 3, over)


def host_urls(over: int, _limit: int) -> None:
    """Links are made up on every page; a crawl that goes on counts on."""
    pages = {HOME.text: linking(*(f"/p{n}" for n in range(over - 2)), "/gone")}
    pages |= {
        f"{HOME}p{n}": linking(f"/x{n}", f"https://other.example/{n}", f"/y{n}") for n in range(over - 2)
    }
    _, summary, store = crawl(pages)
    crowd = store.ledger(store.runs.list()[0]).urls_per_host()
    assert crowd["a.example"] == over
    assert summary.counts.skipped["host-full"] > 0
    assert summary.stopped == "complete"


def crawl_hosts(over: int, _limit: int) -> None:
    pages = {HOME.text: linking(*(f"https://fire{n}.example/" for n in range(2 * over)))}
    _, summary, store = crawl(pages, Budgets(external_pages=1))
    assert len(store.ledger(store.runs.list()[0]).urls_per_host()) <= over
    assert summary.counts.skipped["too-many-hosts"] > 0


def families(over: int, _limit: int) -> None:
    traps = Traps(load_profile("docs", topic="x").traps)
    for n in range(over + 1):
        traps.learn(Url.parse(f"https://a.example/s{'x' * (n % 90)}/{n // 90}/p?{'y' * (n // 90)}=1"), ())
    assert len(traps.shapes) <= over


def link_groups(over: int, _limit: int) -> None:
    links = "".join(f"<a href='/{chr(97 + n // 26)}{chr(97 + n % 26)}/a'>x</a>" for n in range(over * 4))
    pages = {HOME.text: links.encode()}
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "h.db")
        crawl(pages, store=store)
        store.close()
        with closing(sqlite3.connect(Path(folder) / "h.db")) as file:
            assert file.execute("SELECT count(*) FROM link_group").fetchone()[0] <= over + 24


def remembered_hosts(over: int, _limit: int) -> None:
    pages = {f"https://s{n}.example/": b"x" for n in range(3 * over)}
    fetcher = polite(pages, FetchPolicy(delay_s=0, jitter=0))

    async def go() -> None:
        for url in pages:
            await fetcher.fetch(Url.parse(url))

    asyncio.run(go())
    assert len(vars(fetcher)["_hosts"]) <= over


def remembered_robots(over: int, _limit: int) -> None:
    fetcher = polite({}, FetchPolicy(delay_s=0, jitter=0))

    async def go() -> None:
        for n in range(2 * over):
            await fetcher.robots(Url.parse(f"https://s{n}.example/"))

    asyncio.run(go())
    assert len(vars(fetcher)["_origins"]) <= over


def remembered_robots_bytes(over: int, _limit: int) -> None:
    pages = {f"https://s{n}.example/robots.txt": b"#" * (over // 4) for n in range(20)}
    fetcher = polite(pages, FetchPolicy(delay_s=0, jitter=0))

    async def go() -> None:
        for url in pages:
            await fetcher.robots(Url.parse(url))

    asyncio.run(go())
    assert sum(one.size_bytes for one in vars(fetcher)["_origins"].values()) <= over


def sighting_chars(over: int, _limit: int) -> None:
    page = linking("/a").replace(b">fire 0<", b">" + b"fire " * over + b"<")
    _, _, store = crawl({HOME.text: page})
    assert max(len(seen.anchor) for _, seen in _found(store, "/a")[1]) <= over


def robots_chars(over: int, _limit: int) -> None:
    said = b"<meta name=robots content=" + b"x" * (over + 1) + b">"
    records, _, _ = crawl({HOME.text: said + linking()})
    assert len(records[0]["robots"]) <= over


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


def output_line(over: int, _limit: int) -> None:
    line = b'{"schema": 2, "url": "https://a.example/", "x": "'.ljust(over + 1, b"x") + b'"}\n'
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "p.jsonl")
        path.write_bytes(line)
        with pytest.raises(InputError, match="which no output of this command has"):
            PageFile(path).close()
        path.write_bytes(line.replace(b'"url"', b'"site"'))
        assert read_back(path, "jsonl") is None


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
    gone = [{"url": f"https://a.example/{n}", "reason": "x"} for n in range(over + 1)]
    assert _report({"site": "a", "replaced": gone}).count('<a href="https://a.example/') <= over


def report_named(over: int, _limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_report(({"site": f"s{n}", "status": "x"} for n in range(over + 1)), Path(folder, "r.html"))
        assert (
            Path(folder, "r.html").read_text("utf-8").count('<li><a href="#s') <= over + 1
        )  # one is the index's


def report_bytes(over: int, _limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one = {"site": "s", "candidates": [{"url": "https://a.example/", "score": 1, "points": []}]}
        write_report((one for _ in range(over // 300 + 2)), Path(folder, "r.html"))
        assert "candidate not shown" in Path(folder, "r.html").read_text("utf-8")


def _told(pages: Iterable[Record], sites: Iterable[str]) -> Sheet:
    outside = ({"url": f"https://{site}/", "site": site, "seen": 1} for site in sites)
    counts = Counts({"queued": 0, "leased": 0}, {}, {}, {}, 0, 0)
    return crawl_sheet(CrawlReportData({"topic": "fire"}, "", counts, pages, outside, {}, str))


def report_pages(over: int, _limit: int) -> None:
    urls = [f"https://a.example/{n}" for n in range(over + 1)]
    pages = ({"url": url, "relevance_score": 9, "status": 200, "action": "expand"} for url in urls)
    best = _told(pages, ()).parts[0]
    assert isinstance(best, Pages)
    plan = plan_sheet(PlanReportData([{"rank": 1, "url": url} for url in urls], urls, {}, ())).parts[0]
    assert isinstance(plan, Pages)
    assert (len(best.rows), len(plan.rows), plan.more) == (over, over, 1)


def report_lines(over: int, _limit: int) -> None:
    listed = _told((), (f"s{n}.example" for n in range(over + 1))).parts[-1]
    assert isinstance(listed, CountList)
    assert (len(listed.lines), listed.more) == (over, 1)


def report_sites(over: int, _limit: int) -> None:
    listed = _told((), (f"s{n}.example" for n in range(over + 3))).parts[-1]
    assert isinstance(listed, CountList)
    assert (len(listed.lines), listed.lines[0].name, listed.lines[0].count) == (over + 1, "further sites", 3)


def file_name_chars(over: int, _limit: int) -> None:
    assert max(map(len, file_name(Url.parse(f"https://a.example/{'x' * (over + 40)}")).parts)) <= over + 20


def file_path_chars(over: int, _limit: int) -> None:
    deep = Url.parse("https://a.example/" + "/".join("abcde" for _ in range(over // 5)))
    assert len(str(file_name(deep))) <= over
