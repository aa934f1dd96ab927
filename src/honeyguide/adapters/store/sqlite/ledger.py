"""What can be read of a run in the SQLite store: counts, rows, sightings, page records.

Owns: the reading queries of the frontier; nothing here changes anything. Must not know: leases.
"""

from __future__ import annotations

import json
from array import array
from math import isfinite
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.store.sqlite.database import checked, moment, queries, reads
from honeyguide.core.crawl.frontier import Counts, FrontierRow, Sighting, State
from honeyguide.core.crawl.traps import UrlShape
from honeyguide.core.records.fields import PageRecord, is_record
from honeyguide.core.url.scope import OTHER_SITE
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.adapters.store.sqlite.database import Database
    from honeyguide.core.page.likeness import Sketch
    from honeyguide.core.records import Record


class SqliteLedger:
    """The reading half of a frontier."""

    def __init__(self, db: Database, run: int) -> None:
        self._db = db
        self._run = run
        self._sql = queries("frontier")

    @reads
    def sites(self) -> frozenset[str]:
        """Give the sites that are part of the crawl."""
        return frozenset(name for (name,) in self._db.all(self._sql["inside"], (self._run,)))

    @reads
    def urls_per_host(self) -> dict[str, int]:
        """Tell how many URLs of each host are known."""
        return dict(self._db.all(self._sql["crowd"], (self._run,)))

    @reads
    def seeds(self) -> tuple[Url, ...]:
        """Give where the run began."""
        return tuple(Url.parse(url) for (url,) in self._db.all(self._sql["seeds"], (self._run,)))

    @reads
    def pages_with_content(self, content: str, limit: int) -> list[str]:
        """Give pages of this run that said so when they were read, the first first."""
        return [str(url) for (url,) in self._db.all(self._sql["said"], (self._run, content, limit))]

    @reads
    def now_internal(self) -> list[int]:
        """Give what was put out as another site's that is part of the crawl by now."""
        return [digest for (digest,) in self._db.all(self._sql["strays"], (self._run,))]

    @reads
    def counts(self) -> Counts:
        """Give the run in numbers."""
        states = dict(self._db.all(self._sql["count_states"], (self._run,)))
        out: dict[str, int] = dict(self._db.all(self._sql["count_out"], (self._run,)))
        return Counts(
            {state.name.lower(): states.get(state, 0) for state in State},
            dict(self._db.all(self._sql["count_lanes"], (self._run,))),
            out,
            dict(self._db.all(self._sql["count_skipped"], (self._run,))),
            self._fetched(),
            out.get(OTHER_SITE, 0),
            self._db.one(self._sql["count_due"], (self._run,))[0],
        )

    def _fetched(self) -> int:
        (fetched,) = self._db.one(self._sql["fetched"], (self._run,))
        return int(fetched)

    @reads
    def rows(self, after: int = 0, rule: str | None = None) -> Iterator[FrontierRow]:
        """Give all entries in the order of discovery, or those that a rule put out."""
        name, more = ("rows", ()) if rule is None else ("rows_out", (rule,))
        while rows := self._db.all(self._sql[name], (self._run, after, *more)):
            yield from map(_row, rows)
            after = rows[-1][0]

    @reads
    def find(self, digest: int) -> tuple[FrontierRow, tuple[tuple[str | None, Sighting], ...]] | None:
        """Give one entry, with the pages that link it."""
        row = self._db.one(self._sql["row"], (self._run, digest))
        if row is None:
            return None
        seen = self._db.all(self._sql["sightings"], (self._run, digest))
        return _row(row), tuple(map(_sighting, seen))

    @reads
    def pages(self, after: int = 0) -> Iterator[tuple[int, Record]]:
        """Give the records of pages in claim order, each with its claim number."""
        while rows := self._db.all(self._sql["pages"], (self._run, after)):
            yield from ((claim, _page(record)) for claim, record in rows)
            after = rows[-1][0]

    @reads
    def shapes(self) -> list[UrlShape]:
        """Give what traps have learnt, in their order."""
        rows = self._db.all(self._sql["families"], (self._run,))
        return [UrlShape(name, admitted, alike, unpack(recent)) for name, admitted, alike, recent in rows]


def _page(text: str) -> Record:
    record = _JSON.decode(text)
    if not is_record(record, PageRecord):
        raise ValueError(text)
    found: Record = record
    return found


def _finite(text: str) -> float:
    """Read a number; what has no end, or is none, is no JSON either."""
    number = float(text)
    if not isfinite(number):
        raise ValueError(text)
    return number


_JSON = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)


def _sighting(row: tuple[Any, ...]) -> tuple[str | None, Sighting]:
    parent, *rest = checked(row, "SssFss")
    seen = Sighting(*rest)
    for point in filter(None, seen.points.split(",")):
        _finite(point.rpartition(":")[2])
    return parent, seen


def _row(row: tuple[Any, ...]) -> FrontierRow:
    entry, url, state, lane, priority, score, depth, parent, *rest = checked(row, "isisfFiSiiIFSS")
    seen, attempts, claim, due_at, rule, why = rest
    reason = None if rule is None else Why(rule, why or "")
    place = (lane, priority, score, depth, parent)
    return FrontierRow(entry, url, State(state), *place, seen, attempts, claim, moment(due_at), reason)


def pack(sketches: tuple[Sketch, ...]) -> bytes:
    """Write sketches: each as its length and its numbers.

    >>> unpack(pack(((1, 2), (), (4294967295,))))
    ((1, 2), (), (4294967295,))
    """
    numbers = array("I", [number for sketch in sketches for number in (len(sketch), *sketch)])
    return numbers.tobytes()


def unpack(data: bytes) -> tuple[Sketch, ...]:
    """Read sketches."""
    numbers = array("I")
    numbers.frombytes(data)
    found, at = [], 0
    while at < len(numbers):
        end = at + 1 + numbers[at]
        found.append(tuple(numbers[at + 1 : end]))
        at = end
    return tuple(found)
