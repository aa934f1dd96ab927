"""Count the SQL statements that a crawl sends to SQLite, per page and by statement.

Usage: python tools/count_statements.py FOLDER [--pages 500] [--delay 0.05] [--no-keep] [--by]

FOLDER is served on loopback, for example /usr/share/doc/postgresql-doc-15/html of the Debian package postgresql-doc-15.
With a delay the crawl is polite: robots.txt is asked for, the store keeps the pace, and each page has a commit of its own.
An executemany counts once. The mean is over the pages of the crawl after the first ten.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import sqlite3
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from honeyguide import load_profile
from honeyguide.adapters.clock import SystemClock
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.http.client import HttpFetcher
from honeyguide.adapters.http.robots import read_robots
from honeyguide.adapters.store.sqlite import files
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import Budgets
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.jobs.politeness import PoliteFetcher

_WARM_UP = 10


class Counting(sqlite3.Connection):
    """A connection that counts what it is asked to do."""

    seen: ClassVar[Counter[str]] = Counter()

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:  # noqa: D102 - as the base class
        self.seen[" ".join(sql.split())] += 1
        return super().execute(sql, *values)

    def executemany(self, sql: str, *values: Any) -> sqlite3.Cursor:  # noqa: D102 - as the base class
        self.seen["many: " + " ".join(sql.split())] += 1
        return super().executemany(sql, *values)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


async def crawl(request: CrawlRequest, delay_s: float, store: SqliteStore) -> int:
    """Crawl; give how many pages were handed over."""
    marks: list[int] = []
    policy = FetchPolicy(delay_s=delay_s, allow_private=True)
    clock = SystemClock()
    async with HttpFetcher(policy) as http:
        polite = PoliteFetcher(http, clock, partial(read_robots, token=policy.robots_token), policy)
        fetcher = polite if delay_s else http
        crawler = Crawler(fetcher, HtmlReader(), clock, store, load_profile("docs", topic="index|vacuum"))

        def keep(*_: object) -> None:
            marks.append(1)
            if len(marks) == _WARM_UP:
                Counting.seen.clear()

        await crawler.crawl(request, keep)
    return len(marks) - _WARM_UP


def main() -> None:
    """Serve, crawl, and print what was counted."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds between two requests")
    parser.add_argument("--no-keep", action="store_true", help="keep no pages, as crawl --no-keep")
    parser.add_argument("--by", action="store_true", help="list the statements, most frequent first")
    args = parser.parse_args()
    handler = partial(_Quiet, directory=args.folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = Url.parse(f"http://127.0.0.1:{server.server_port}/")
    request = CrawlRequest((home,), budgets=Budgets(max_pages=args.pages))
    request = replace(request, keep_bytes=0) if args.no_keep else request
    connect = sqlite3.connect
    files.sqlite3.connect = partial(connect, factory=Counting)  # type: ignore[attr-defined]  # counts
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "h.db")
        before = resource.getrusage(resource.RUSAGE_SELF)
        counted = asyncio.run(crawl(request, args.delay, store))
        after = resource.getrusage(resource.RUSAGE_SELF)
        store.close()
    spent_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    mean, cpu_ms = Counting.seen.total() / counted, 1000 * spent_s / args.pages
    sys.stdout.write(f"{mean:.1f} statements a page over {counted} pages; {cpu_ms:.1f} ms CPU a page\n")
    if args.by:
        for sql, n in Counting.seen.most_common():
            sys.stdout.write(f"{n / counted:7.2f}  {sql[:140]}\n")


if __name__ == "__main__":
    main()
