"""A store for people: its pages search by search, a site as a tree, a run that is being worked on; read-only, within limits.

Owns: the SQL of these views. Each statement has a time limit, because a store may have millions of pages. Must not know: web
pages, what a page record means. Start reading at `StoreBrowser`.
"""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.adapters.store.sqlite.files import open_to_read
from honeyguide.errors import InputError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.core.records import Record

LIMIT_S = 8.0  # for one statement
MAX_ROWS = 500  # of one view
_MAX_RECORD = 4_000_000  # characters; page records without links have a few thousand
_STEPS = 20_000  # of SQLite, before the clock is looked at
_RELEVANT = "json_extract(v.record, '$.topic_relevance') >= 0.5"
_SORTS = {
    "newest": "v.claim DESC",
    "oldest": "v.claim",
    "score": "json_extract(v.record, '$.relevance_score') DESC, v.claim",
    "relevance": "json_extract(v.record, '$.topic_relevance') DESC, v.claim",
    "url": "e.url, v.claim",
    "depth": "e.depth, v.claim",
}
_FILTERS = {
    "all": "1",
    "relevant": _RELEVANT,
    "not relevant": f"NOT coalesce({_RELEVANT}, 0)",
    "failed": "(v.status IS NULL OR v.status >= 400)",
    "changed": "json_extract(v.record, '$.change') = 'changed'",
    "new": "json_extract(v.record, '$.change') = 'new'",
}
# The rest of each URL below a prefix, up to its next slash.
_BRANCHES = """
SELECT substr(rest, 1, instr(rest || '/', '/')) AS branch, count(*), sum(fetches > 0), sum(coalesce(relevant, 0)),
  sum(state < 2), sum(state = 3) FROM (
  SELECT e.state, e.fetches, substr(e.url, length(CASE WHEN e.url LIKE 'https:%' THEN ?3 ELSE ?2 END) + 1) AS rest,
    CASE WHEN e.fetches > 0 THEN (SELECT json_extract(v.record, '$.topic_relevance') >= 0.5 FROM visit v
      WHERE v.run = e.run AND v.claim = e.claim) END AS relevant
  FROM entry e WHERE e.run = ?1 AND (substr(e.url, 1, length(?2)) = ?2 OR substr(e.url, 1, length(?3)) = ?3)
) GROUP BY branch ORDER BY 2 DESC, 1 LIMIT ?4
"""
SORTS, FILTERS = tuple(_SORTS), tuple(_FILTERS)


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Which pages of a run: those whose URL or title has `search`, of one of `FILTERS`, in one of the orders `SORTS`."""

    run: int
    search: str = ""
    filter: str = "all"
    sort: str = "newest"
    offset: int = 0
    limit: int = 50


class Branch(NamedTuple):
    """A part of a site: the URLs that begin like it, how many of them were fetched, are relevant, or wait."""

    name: str
    prefix: str
    urls: int
    fetched: int
    relevant: int
    queued: int
    rejected: int


class LiveRun(NamedTuple):
    """A run at a moment: pages fetched, leases, URLs met; `stopped` is None while somebody works on it."""

    run: int
    fetched: int
    leased: int
    known: int
    resting: int
    updated_at: float
    stopped: str | None


class StoreBrowser:
    """Reads a store for one view; a connection is as short as the view."""

    def __init__(self, path: str) -> None:
        self.path = path

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        if "://" in self.path:
            raise InputError(
                "the studio searches pages of stores in a file; honeyguide export reads this one"
            )
        connection, _ = open_to_read(self.path)
        ends_at = time.monotonic() + LIMIT_S
        try:
            connection.execute("PRAGMA busy_timeout = 2000")
            connection.set_progress_handler(lambda: time.monotonic() > ends_at, _STEPS)
            yield connection
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                raise InputError(f"that takes longer than {LIMIT_S:g} s; search for less") from None
            raise StoreError(self.path, str(error)) from None
        except sqlite3.Error as error:
            raise StoreError(self.path, str(error)) from None
        finally:
            connection.close()

    def _all(self, sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        with self._opened() as db:
            return db.execute(sql, values).fetchall()

    def pages(self, query: PageQuery) -> list[Record]:
        """Give the records of some pages."""
        search = f"%{_escaped(query.search)}%"
        where = (
            ""
            if not query.search
            else r"AND (e.url LIKE ?2 ESCAPE '\' OR json_extract(v.record, '$.title') LIKE ?2 ESCAPE '\')"
        )
        rows = self._all(
            f"SELECT v.record FROM visit v LEFT JOIN entry e ON e.id = v.entry WHERE v.run = ?1 AND v.claim IS NOT NULL {where}"  # noqa: S608 - of our own constants
            f" AND {_FILTERS.get(query.filter, '1')} ORDER BY {_SORTS.get(query.sort, 'v.claim DESC')} LIMIT ?3 OFFSET ?4",
            (query.run, search, min(query.limit, MAX_ROWS), query.offset),
        )
        return [record for (text,) in rows if (record := _record(text)) is not None]

    def branches(self, run: int, prefix: str) -> list[Branch]:
        """List the parts of a site below a prefix; without one, the sites of the run."""
        if not prefix:
            rows = self._all(
                "SELECT name, urls, fetched FROM site WHERE run = ? AND urls > 0 ORDER BY urls DESC, name LIMIT ?",
                (run, MAX_ROWS),
            )
            return [
                Branch(name or "other sites", name, urls, fetched, 0, 0, 0) for name, urls, fetched in rows
            ]
        rows = self._all(_BRANCHES, (run, f"http://{prefix}", f"https://{prefix}", MAX_ROWS))
        return [Branch(name or "(this page)", f"{prefix}{name}", *counts) for name, *counts in rows]

    def live(self, run: int) -> LiveRun | None:
        """Tell how far a run is, by what costs nothing to read."""
        rows = self._all(
            "SELECT id, fetched, leased, (SELECT coalesce(sum(urls), 0) FROM (SELECT urls FROM site WHERE run = ?1 LIMIT 10000)),"
            " (SELECT count(*) FROM (SELECT 1 FROM site WHERE run = ?1 AND blocked_until > ?2 LIMIT 10000)),"
            " updated_at, stopped FROM run WHERE id = ?1",
            (run, time.time()),
        )
        return LiveRun(*rows[0]) if rows else None

    def visits(self, run: int, after: int, limit: int = 1_000) -> list[tuple[int, bool]]:
        """List the pages after a claim: the claim, and whether each is relevant."""
        rows = self._all(
            f"SELECT v.claim, coalesce({_RELEVANT}, 0) FROM visit v WHERE v.run = ? AND v.claim > ? ORDER BY v.claim LIMIT ?",  # noqa: S608 - as above
            (run, after, limit),
        )
        return [(claim, bool(found)) for claim, found in rows]


def _escaped(text: str) -> str:
    r"""Escape what LIKE would read as a pattern.

    >>> _escaped("50%_a")
    '50\\%\\_a'
    """
    return text.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")


def _record(text: object) -> Record | None:
    """Read the record of a page; what is none is left out, because a store may be a stranger's."""
    try:
        found = json.loads(text) if isinstance(text, str) and len(text) <= _MAX_RECORD else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
