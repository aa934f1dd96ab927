"""A made-up store of any size, in a file or in PostgreSQL: what a crawl leaves behind after weeks, written in minutes.

    python -m bench.large_store STORE [--pages 1000000] [--queued 300000] [--hosts 1000]

Owns: `make`. Rows go into the tables as they are, because a crawl of so many pages would take hours; they come from mixing numbers, so
they are the same everywhere. Identities are those of the URLs, so every view and command reads the store as its own.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from honeyguide.app.runs import open_store
from honeyguide.core.crawl.frontier import RunSpec, digest_of
from honeyguide.core.crawl.placement import rank_by_units
from honeyguide.core.records import iso
from honeyguide.core.url.url import Tracking, Url

if TYPE_CHECKING:
    from collections.abc import Iterator

START = 1_790_000_000.0
_COLUMNS = {
    "site": "id run name is_inside urls fetched head_rank head_entry",
    "entry": "id run digest site url state rank lane priority score depth weak_pages hub_depth parent is_seed attempts visits"
    " fetches claim rule why",
    "visit": "run digest at status content claim entry record",
    "known": "digest url visits visited_at changed_at changes failures status content relevance depth hub_depth is_hub links"
    " new_links first_seen seen_at run kind is_moved unchanged exposure_h rate_a rate_b",
}
_FLAGS = {"is_inside", "is_seed", "is_hub", "is_moved"}
_REASONS = ["topic in title", "5 to 9 mentions"]
_POINTS = [{"rule": "title-topic", "points": 3, "reason": "topic in title"}]


class _Web:
    """The rows of a store: pages of hosts, each in a folder of its site, then what is queued, and what a rule rejected."""

    def __init__(self, pages: int, queued: int, hosts: int) -> None:
        self.pages, self.hosts = pages, hosts
        self.rejected = pages // 10
        self.all = pages + queued + self.rejected

    def url(self, number: int) -> str:
        host, page = number % self.hosts, number // self.hosts
        return f"https://www.host-{host}.example/section-{page % 7}/topic-{page % 53}/page-{page}"

    def digest(self, number: int) -> int:
        return digest_of(Url.parse(self.url(number)), Tracking())

    def sites(self) -> Iterator[tuple[Any, ...]]:
        for host in range(self.hosts):
            urls = len(range(host, self.all, self.hosts))
            fetched = len(range(host, self.pages, self.hosts))
            first = self.pages + (host - self.pages) % self.hosts
            has_queue = first < self.all - self.rejected
            yield (
                host + 1,
                1,
                f"www.host-{host}.example",
                True,
                urls,
                fetched,
                *((rank_by_units(self._worth(first)), first + 1) if has_queue else (None, None)),
            )

    def _worth(self, number: int) -> int:
        return number * 7919 % 10_000

    def entries(self) -> Iterator[tuple[Any, ...]]:
        for number in range(self.all):
            state = 2 if number < self.pages else 0 if number < self.all - self.rejected else 3
            claim = number + 1 if state == 2 else None
            rule, why = ("max-depth", "farther than 3") if state == 3 else (None, None)
            done = int(state == 2)
            yield (
                number + 1, 1, self.digest(number), number % self.hosts + 1, self.url(number), state,
                rank_by_units(self._worth(number)), "worth", self._worth(number) / 1e4, float(number % 9), number % 5, 0, number % 4,
                number // 20 + 1 if number else None, number < self.hosts, done, done, done, claim, rule, why,
            )  # fmt: skip

    def visits(self) -> Iterator[tuple[Any, ...]]:
        for number in range(self.pages):
            at = START + number
            status = 404 if number % 50 == 49 else 200
            record = {
                "schema": 2, "url": self.url(number), "final_url": None, "status": status, "depth": number % 5,
                "parent": self.url(number // 20), "relevance_score": number % 9, "relevance_level": "Medium", "reasons": _REASONS,
                "points": _POINTS, "topic_relevance": number % 101 / 100, "topic_points": _POINTS, "action": "expand",
                "change": ("new", "changed", "same")[number % 3], "lane": "worth", "priority": self._worth(number) / 1e4,
                "title": f"Page {number} on alarms | Host {number % self.hosts}", "fetched_at": iso(at), "elapsed_s": 0.1,
                "digest": f"2-{number:016x}", "canonical": None, "language": "en", "language_group": None, "robots": None,
                "duplicate_of": None,
            }  # fmt: skip
            text = json.dumps(record, separators=(",", ":"))
            yield 1, self.digest(number), at, status, f"2-{number:016x}", number + 1, number + 1, text

    def known(self) -> Iterator[tuple[Any, ...]]:
        chance = random.Random(1)  # noqa: S311 - made-up rows
        for number in range(self.pages):
            at, visits = START + number, 1 + number % 4
            changes = chance.randrange(visits)
            hours = 24.0 * visits * chance.randrange(1, 60)
            rates = (float(changes), hours) if visits > 1 else (None, None)
            kind = ("page", "page", "article", "hub")[number % 4]
            yield (
                self.digest(number), self.url(number), visits, at, at - 3600.0 * hours if changes else None, changes, 0, 200,
                f"2-{number:016x}", number % 101 / 100, number % 5, number % 4, kind == "hub", 20, 0, at - 3600.0 * hours, at, 1, kind,
                False, visits - 1 - changes, hours, *rates,
            )  # fmt: skip


def make(store: str, pages: int, queued: int, hosts: int) -> None:
    """Make a store; it must not exist, and a database must be empty."""
    _begin(store)
    web = _Web(pages, queued, hosts)
    rows = {"site": web.sites(), "entry": web.entries(), "visit": web.visits(), "known": web.known()}
    if "://" in store:
        _into_postgres(store, rows, web)
    else:
        _into_sqlite(store, rows, web)


def _begin(store: str) -> None:
    request = json.dumps({"traversal": "focused", "profile": "docs"})
    with closing(open_store(store)) as opened:
        spec = RunSpec(
            "large", "crawl https://www.host-0.example/ --topic alarm", "alarm", "docs", "0" * 16, request
        )
        opened.runs.begin(spec, START)
        opened.flush()


# --- a queue alone, of tens of millions ---

_MIX = 0x9E3779B97F4A7C15  # the golden ratio: multiples of it are spread evenly
_QUEUE = """
INSERT INTO entry (id, run, digest, site, url, state, rank, lane, priority, score, depth, weak_pages, hub_depth, is_seed)
SELECT n + 1, 1, {digest}, n % {hosts} + 1,
  'https://www.host-' || (n % {hosts}) || '.example/section-' || (n / {hosts} % 7) || '/page-' || (n / {hosts}),
  0, {middle} - n * 7919 % 10000, 'worth', (n * 7919 % 10000) / 1e4, 3.0, n % 5, 0, n % 4, {no} FROM {numbers}"""


def queue_digest(number: int) -> int:
    """Give the identity of a URL of a queue; it is not that of its text, because ten million of those take minutes."""
    return number * _MIX % 2**64 - 2**63


def make_queue(store: str, rows: int, hosts: int) -> None:
    """Make a store that has met URLs and fetched none of them."""
    _begin(store)
    web = _Web(0, rows, hosts)
    words: dict[str, Any] = {"hosts": hosts, "middle": rank_by_units(0)}
    if "://" in store:
        digest = f"CAST(mod(CAST(n AS numeric) * {_MIX}, {2**64}) - {2**63} AS bigint)"
        entries = _QUEUE.format(
            **words, digest=digest, no="false", numbers=f"generate_series(CAST(0 AS bigint), {rows - 1}) n"
        )
        _into_postgres(store, {"site": web.sites()}, web, entries)
    else:
        count = "WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c LIMIT {}) SELECT n FROM c"
        numbers = f"({count.format(rows)})"
        entries = _QUEUE.format(**words, digest="queue_digest(n)", no="0", numbers=numbers)
        _into_sqlite(store, {"site": web.sites()}, web, entries)


def _into_sqlite(
    store: str, rows: dict[str, Iterator[tuple[Any, ...]]], web: _Web, more: str | None = None
) -> None:
    import sqlite3

    with closing(sqlite3.connect(store)) as db:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA cache_size = -1000000")  # a gigabyte: identities go all over their index
        for table, found in rows.items():
            names = _COLUMNS[table].split()
            marks = ", ".join("?" * len(names))
            db.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", found)  # noqa: S608 - ours
            db.commit()
        if more is not None:
            db.create_function("queue_digest", 1, queue_digest, deterministic=True)
            db.execute(more)
        values = (web.pages, web.pages, web.hosts, START + web.pages)
        db.execute(
            "UPDATE run SET claims = ?, fetched = ?, hosts = ?, updated_at = ?, stopped = 'page-budget'",
            values,
        )
        db.commit()
        db.execute("PRAGMA optimize")


def _into_postgres(
    store: str, rows: dict[str, Iterator[tuple[Any, ...]]], web: _Web, more: str | None = None
) -> None:
    import psycopg

    with psycopg.connect(store, autocommit=True) as db:
        db.execute("SET search_path TO honeyguide")
        db.execute("SET maintenance_work_mem TO '500MB'")
        indexes = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'honeyguide' AND tablename = 'entry' AND indexname != 'entry_pkey'"
        found_indexes = db.execute(indexes).fetchall()
        for name, _ in found_indexes:  # they are made faster afterwards
            db.execute(f"DROP INDEX {name}".encode())
        for table, found in rows.items():
            names = _COLUMNS[table]
            with db.cursor().copy(f"COPY {table} ({', '.join(names.split())}) FROM STDIN".encode()) as copy:
                for row in found:
                    copy.write_row(row)
        if more is not None:
            db.execute(more.encode())
        for _, definition in found_indexes:
            db.execute(definition.encode())
        for name, count in (("fetched", web.pages), ("hosts", web.hosts)):
            db.execute("INSERT INTO counter (run, name, pid, n) VALUES (1, %s, 0, %s)", (name, count))
        db.execute("UPDATE run SET updated_at = %s, stopped = 'page-budget'", (START + web.pages,))
        for table in ("site", "entry", "visit"):
            last = f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"  # noqa: S608 - ours
            db.execute(last.encode())
        db.execute("SELECT setval('claim_1', %s)", (max(1, web.pages),))
        db.execute("VACUUM ANALYZE")


def main() -> None:
    """Make a store, and say how long it took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--queued", type=int, default=300_000)
    parser.add_argument("--hosts", type=int, default=1_000)
    given = parser.parse_args()
    before = time.process_time()
    make(given.store, given.pages, given.queued, given.hosts)
    print(
        f"{given.pages:,} pages, {given.queued:,} queued, {given.hosts:,} hosts: {time.process_time() - before:.0f} s of CPU"
    )


if __name__ == "__main__":
    main()
