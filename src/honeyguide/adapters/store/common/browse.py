"""A store for people: its pages search by search, a site as a tree, a run that is being worked on; read-only, within limits.

Owns: the SQL of these views, in words that SQLite and PostgreSQL share but for a `Dialect`. A first look at a large run reads a part of it
and says so, because a store may have millions of pages; each statement has a time limit. Must not know: web pages, what a page
record means. Start reading at `StoreBrowser`; `sqlite/browse.py` and `postgres/browse.py` open one.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.core.crawl.frontier import Counts, QueuedUrl, State
from honeyguide.core.url.scope import OTHER_SITE
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.core.records import Record

LIMIT_S = 8.0  # for one statement
TOO_LONG = f"that takes longer than {LIMIT_S:g} s; search for less"
MAX_ROWS = 500  # of one view
DRAWN = 5_000  # URLs of a large run that stand for all of them, and pages that are searched first
_BELOW = (
    10  # times as many are drawn for the tree below a prefix: most of them are elsewhere, and cost little
)
_MAX_RECORD = 4_000_000  # characters; page records without links have a few thousand
_SORTS = {
    "newest": "v.claim DESC",
    "oldest": "v.claim",
    "score": "{score} DESC, v.claim",
    "relevance": "{relevance} DESC, v.claim",
    "url": "e.url, v.claim",
    "depth": "e.depth, v.claim",
}
_FILTERS = {
    "all": "1 = 1",
    "relevant": "{relevance} >= 0.5",
    "not relevant": "NOT coalesce({relevance} >= 0.5, 1 = 0)",
    "failed": "(v.status IS NULL OR v.status >= 400)",
    "changed": "{change} = 'changed'",
    "new": "{change} = 'new'",
}
_SEARCH = r"AND (e.url {like} CAST($3 AS text) ESCAPE '\' OR {title} {like} CAST($3 AS text) ESCAPE '\')"
_PAGES = """
SELECT v.record FROM visit v LEFT JOIN entry e ON e.id = v.entry WHERE v.run = $1 AND v.claim IS NOT NULL AND v.claim > $2
AND CAST($3 AS text) IS NOT NULL {search} AND {filter} ORDER BY {sort} LIMIT $4 OFFSET $5"""
# A part of a run, drawn evenly: digests are hashes, and their index finds a range of them without looking at the rest.
_DRAWN = """
  SELECT e.url, e.site, CASE WHEN e.state = 1 AND e.worker IS NULL THEN 0 ELSE e.state END AS state, e.fetches, e.priority, e.rule, e.lane, e.rank, e.due_at,
    CASE WHEN e.fetches > 0 THEN (SELECT {relevance} FROM visit v WHERE v.run = e.run AND v.claim = e.claim) END >= 0.5 AS relevant
  FROM entry e WHERE e.run = $1 AND e.digest < $2"""
_COUNTS = (
    "count(*), count(*) FILTER (WHERE fetches > 0), count(*) FILTER (WHERE relevant), count(*) FILTER (WHERE state < 2),"
    " count(*) FILTER (WHERE state = 3)"
)
# The rest of each URL below a prefix, up to its next slash.
_BRANCHES = """
SELECT substr(rest, 1, {find}(rest || '/', '/')) AS branch, {counts} FROM (
  SELECT d.*, substr(url, length(CASE WHEN url LIKE 'https:%' THEN CAST($4 AS text) ELSE CAST($3 AS text) END) + 1) AS rest FROM ({drawn}
    AND (substr(e.url, 1, length(CAST($3 AS text))) = $3 OR substr(e.url, 1, length(CAST($4 AS text))) = $4)) d
) r GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {limit}"""
_SITES = """
SELECT coalesce((SELECT name FROM site WHERE id = d.site), ''), {counts} FROM ({drawn}) d GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {limit}"""
_QUEUED = "SELECT priority FROM ({drawn}) d WHERE state = 0"
_REJECTED = """
SELECT rule, count(*) FROM ({drawn}) d WHERE state = 3 AND rule IS NOT NULL GROUP BY rule ORDER BY 2 DESC, 1 LIMIT {limit}"""
_STATES = """
SELECT state, lane, CASE WHEN state = 3 THEN rule END,
  rank < 0 AND (state < 2 OR (state = 2 AND due_at IS NOT NULL) OR (state = 3 AND rule = 'address-refused')), count(*)
FROM ({drawn}) d GROUP BY 1, 2, 3, 4"""
_UNVISITED = """
SELECT d.digest, d.url, d.score, d.hub_depth, b.at
FROM (SELECT * FROM entry e WHERE e.run IN (SELECT id FROM run) AND e.digest < $1) d LEFT JOIN born b ON b.digest = d.digest
WHERE d.state = 0 AND d.site IS NOT NULL AND NOT EXISTS (SELECT 1 FROM known k WHERE k.digest = d.digest) ORDER BY d.digest, d.run"""
_LIVE = """
SELECT id, CAST({fetched} AS bigint), (SELECT count(*) FROM entry e WHERE e.run = $1 AND e.state = 1 AND e.worker IS NOT NULL),
  (SELECT CAST(coalesce(sum(urls), 0) AS bigint) FROM (SELECT urls FROM site WHERE run = $1 LIMIT 10000) s),
  (SELECT count(*) FROM (SELECT 1 FROM site WHERE run = $1 AND blocked_until > $2 LIMIT 10000) s), updated_at, stopped
FROM run WHERE id = $1"""
SORTS, FILTERS = tuple(_SORTS), tuple(_FILTERS)


class Dialect(NamedTuple):
    """What a database calls things: fields of a page record, the place of a text in another, pages that were fetched."""

    score: str
    relevance: str
    change: str
    title: str
    like: str
    find: str
    fetched: str


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Which pages of a run: those whose URL or title has `search`, of one of `FILTERS`, in one of the orders `SORTS`.

    Among many pages the newest are searched, filtered and sorted, unless `is_exact`.
    """

    run: int
    search: str = ""
    filter: str = "all"
    sort: str = "newest"
    offset: int = 0
    limit: int = 50
    is_exact: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether pages come in the order of their claims, as an index has them."""
        return not self.search and self.filter == "all" and self.sort in ("newest", "oldest")


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
    """Reads a store for a view, by a connection `read` that its owner closes; parameters are $1, $2, and so on."""

    def __init__(
        self, read: Callable[[str, tuple[Any, ...]], list[tuple[Any, ...]]], dialect: Dialect
    ) -> None:
        self._read = read
        self._words = {**dialect._asdict(), "counts": _COUNTS, "limit": str(MAX_ROWS)}
        self._words["drawn"] = _DRAWN.format_map(self._words)

    def _all(self, sql: str, *values: Any, **parts: str) -> list[tuple[Any, ...]]:
        written = {name: text.format_map(self._words) for name, text in parts.items()}
        return self._read(sql.format_map({**self._words, **written}), values)

    def pages(self, query: PageQuery) -> tuple[list[Record], bool]:
        """Give the records of some pages; also says whether all pages were looked at."""
        after, is_exact = 0, True
        if not query.is_plain and not query.is_exact:
            ((last,),) = self._all(
                "SELECT coalesce(max(claim), 0) FROM visit WHERE run = $1 AND claim IS NOT NULL", query.run
            )
            after = max(0, last - DRAWN) if last > 2 * DRAWN else 0
            is_exact = after == 0
        rows = self._all(
            _PAGES, query.run, after, f"%{_escaped(query.search)}%", min(query.limit, MAX_ROWS), query.offset,
            search=_SEARCH if query.search else "", filter=_FILTERS.get(query.filter, "1 = 1"), sort=_SORTS.get(query.sort, "v.claim DESC"),
        )  # fmt: skip
        return [record for (text,) in rows if (record := _record(text)) is not None], is_exact

    def branches(self, run: int, prefix: str, *, is_exact: bool = False) -> tuple[list[Branch], bool]:
        """List the parts of a site below a prefix, or the sites of the run; also says whether all URLs were counted."""
        urls = (f"http://{prefix}", f"https://{prefix}") if prefix else ()
        sql = _BRANCHES if prefix else _SITES
        share = 1.0 if is_exact else min(1.0, self._share(run) * (_BELOW if prefix else 1))
        rows = self._drawn(sql, run, share, *urls)
        if share < 1.0 and not rows:
            with suppress(InputError):  # that takes too long: few URLs, or none, are there
                share, rows = 1.0, self._drawn(sql, run, 1.0, *urls)
        empty = "(this page)" if prefix else "other sites"
        found = [
            Branch(name or empty, f"{prefix}{name}", *(round(count / share) for count in counts))
            for name, *counts in rows
        ]
        return found, share == 1.0

    def counts(self, run: int) -> tuple[Counts, bool]:
        """Count a run, of a large one by a part of its URLs; also says whether all were counted."""
        share = self._share(run)
        states: dict[str, int] = {state.name.lower(): 0 for state in State}
        lanes: dict[str, int] = {}
        out: dict[str, int] = {}
        due = 0
        for state, lane, rule, is_due, count in self._drawn(_STATES, run, share):
            for found, name in (
                (states, State(state).name.lower()),
                (lanes, lane if state == 0 else None),
                (out, rule),
            ):
                if name is not None:
                    found[name] = found.get(name, 0) + count
            due += count if is_due else 0
        live, skipped = (
            self.live(run),
            self._all("SELECT rule, sum(n) FROM tally WHERE run = $1 GROUP BY rule ORDER BY rule", run),
        )
        whole = [{name: round(n / share) for name, n in found.items()} for found in (states, lanes, out)]
        fetched, external = live.fetched if live else 0, whole[2].get(OTHER_SITE, 0)
        counts = Counts(
            whole[0],
            whole[1],
            whole[2],
            {rule: int(n) for rule, n in skipped},
            fetched,
            external,
            round(due / share),
        )
        return counts, share == 1.0

    def standing(self, run: int) -> Standing:
        """Tell what a run has in its queue, what it rejected, and which hosts rest; of a large run by a part of its URLs."""
        share = self._share(run)
        queued = [priority for (priority,) in self._drawn(_QUEUED, run, share)]
        rejected = {rule: round(n / share) for rule, n in self._drawn(_REJECTED, run, share)}
        rest = "SELECT name, blocked_until FROM site WHERE run = $1 AND blocked_until > $2 ORDER BY 2 DESC LIMIT 10"
        resting = [(name, until) for name, until in self._all(rest, run, time.time())]
        return Standing(queued, share, rejected, resting)

    def live(self, run: int) -> LiveRun | None:
        """Tell how far a run is, by what costs nothing to read."""
        rows = self._all(_LIVE, run, time.time())
        return LiveRun(*rows[0]) if rows else None

    def visits(self, run: int, after: int, limit: int = 1_000) -> list[tuple[int, bool]]:
        """List the pages after a claim: the claim, and whether each is relevant."""
        rows = self._all(
            "SELECT v.claim, {relevance} >= 0.5 FROM visit v WHERE v.run = $1 AND v.claim > $2 ORDER BY v.claim LIMIT $3",
            run, after, limit,
        )  # fmt: skip
        return [(claim, bool(found)) for claim, found in rows]

    def urls(self) -> int:
        """Count the URLs of all runs."""
        ((known,),) = self._all("SELECT coalesce(sum(urls), 0) FROM site")
        return int(known)

    def queued(self, below: int) -> list[QueuedUrl]:
        """List the queued URLs with an identity below a number that were never visited, in the order of identities."""
        found = {row[0]: row for row in self._all(_UNVISITED, below)}
        return [QueuedUrl(digest, Url.parse(url).text, *rest) for digest, url, *rest in found.values()]

    def _share(self, run: int) -> float:
        """Say which share of the URLs of a run is looked at: all of them, or about `DRAWN`."""
        ((known,),) = self._all("SELECT coalesce(sum(urls), 0) FROM site WHERE run = $1", run)
        return min(1.0, DRAWN / int(known)) if known > 2 * DRAWN else 1.0

    def _drawn(self, sql: str, run: int, share: float, *values: str) -> list[tuple[Any, ...]]:
        below = 2**63 - 1 if share == 1.0 else int(share * 2**64) - 2**63
        return self._all(sql, run, below, *values)


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
