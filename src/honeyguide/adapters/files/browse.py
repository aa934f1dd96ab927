"""A store for people: its pages search by search, a site as a tree, a run that is being worked on; read-only, within limits.

Owns: the SQL of these views. Each statement has a time limit, because a store may have millions of pages. Must not know: web
pages, what a page record means. Start reading at `StoreBrowser`.
"""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.adapters.store.sqlite.files import open_to_read
from honeyguide.errors import InputError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.core.records import Record

LIMIT_S = 8.0  # for one statement
MAX_ROWS = 500  # of one view
DRAWN = 10_000  # URLs of a large run that stand for all of them
_FEW = 200  # drawn URLs: with fewer below a prefix, all are counted
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
# A part of a run, drawn evenly: digests are hashes, and their index finds a range of them without looking at the rest.
_DRAWN = """
  SELECT e.url, e.site, e.state, e.fetches, e.priority, e.rule, CASE WHEN e.fetches > 0 THEN (SELECT {relevant} FROM visit v
      WHERE v.run = e.run AND v.claim = e.claim) END AS relevant
  FROM entry e WHERE e.run = :run AND e.digest < :below"""
_COUNTS = "count(*), sum(fetches > 0), sum(coalesce(relevant, 0)), sum(state < 2), sum(state = 3)"
# The rest of each URL below a prefix, up to its next slash.
_BRANCHES = """
SELECT substr(rest, 1, instr(rest || '/', '/')) AS branch, {counts} FROM (
  SELECT *, substr(url, length(CASE WHEN url LIKE 'https:%' THEN :secure ELSE :plain END) + 1) AS rest FROM ({drawn}
    AND (substr(e.url, 1, length(:plain)) = :plain OR substr(e.url, 1, length(:secure)) = :secure))
) GROUP BY branch ORDER BY 2 DESC, 1 LIMIT :limit
"""
_SITES = """
SELECT coalesce((SELECT name FROM site WHERE id = d.site), ''), {counts} FROM ({drawn}) d GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT :limit
"""
_QUEUED = "SELECT priority FROM ({drawn}) WHERE state = 0"
_REJECTED = "SELECT rule, count(*) FROM ({drawn}) WHERE state = 3 AND rule IS NOT NULL GROUP BY rule ORDER BY 2 DESC, 1 LIMIT :limit"
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


class Standing(NamedTuple):
    """What waits, what was rejected, who rests: worths of queued URLs, of which `share` of all is listed; hosts with the end of their rest."""

    worths: list[float]
    share: float
    rejected: dict[str, int]
    resting: list[tuple[str, float]]


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

    def branches(self, run: int, prefix: str, *, is_exact: bool = False) -> tuple[list[Branch], bool]:
        """List the parts of a site below a prefix, or the sites of the run; also says whether all URLs were counted."""
        urls = {"plain": f"http://{prefix}", "secure": f"https://{prefix}"} if prefix else {}
        sql = _BRANCHES if prefix else _SITES
        with self._opened() as db:
            share = 1.0 if is_exact else _share(db, run)
            rows = _drawn(db, sql, run, share, **urls)
            if share < 1.0 and prefix and sum(row[1] for row in rows) < _FEW:
                with suppress(
                    sqlite3.OperationalError
                ):  # that takes too long: what was drawn is better than nothing
                    share, rows = 1.0, _drawn(db, sql, run, 1.0, **urls)
        empty = "(this page)" if prefix else "other sites"
        found = [
            Branch(name or empty, f"{prefix}{name}", *(round(count / share) for count in counts))
            for name, *counts in rows
        ]
        return found, share == 1.0

    def standing(self, run: int) -> Standing:
        """Tell what a run has in its queue, what it rejected, and which hosts rest; of a large run by a part of its URLs."""
        with self._opened() as db:
            share = _share(db, run)
            queued = [priority for (priority,) in _drawn(db, _QUEUED, run, share)]
            rejected = {rule: round(n / share) for rule, n in _drawn(db, _REJECTED, run, share)}
            resting = db.execute(
                "SELECT name, blocked_until FROM site WHERE run = ? AND blocked_until > ? ORDER BY 2 DESC LIMIT 10",
                (run, time.time()),
            ).fetchall()
        return Standing(queued, share, rejected, resting)

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


def _share(db: sqlite3.Connection, run: int) -> float:
    """Say which share of the URLs of a run is looked at: all of them, or about `DRAWN`."""
    (known,) = db.execute("SELECT coalesce(sum(urls), 0) FROM site WHERE run = ?", (run,)).fetchone()
    return min(1.0, DRAWN / known) if known > 2 * DRAWN else 1.0


def _drawn(db: sqlite3.Connection, sql: str, run: int, share: float, **values: str) -> list[tuple[Any, ...]]:
    below = 2**63 - 1 if share == 1.0 else int(share * 2**64) - 2**63
    text = sql.format(counts=_COUNTS, drawn=_DRAWN.format(relevant=_RELEVANT))
    return db.execute(text, {"run": run, "below": below, "limit": MAX_ROWS, **values}).fetchall()


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
