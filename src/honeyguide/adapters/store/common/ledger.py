"""What can be read of a run: counts, rows, sightings, page records.

Owns: the reading queries of a run; nothing here changes anything. Must not know: leases.
"""

from __future__ import annotations

# ruff: noqa: D102 - ports/store.py says what the methods promise
import json
from array import array
from collections import Counter
from math import isfinite
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.store.common.database import check_numbers, reads
from honeyguide.core.crawl.frontier import Counts, FrontierRow, KnownState, Sighting, State
from honeyguide.core.crawl.learner import Tally
from honeyguide.core.crawl.traps import MAX_FAMILIES, UrlShape
from honeyguide.core.records.fields import PageRecord, is_record
from honeyguide.core.url.scope import OTHER_SITE
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from honeyguide.adapters.store.common.database import Database
    from honeyguide.core.page.likeness import Sketch
    from honeyguide.core.records import Record


class SqlLedger:
    """A `Ledger` in the tables of its store. What this process has done is there to be read, committed or not."""

    def __init__(self, db: Database, run: int) -> None:
        self._db = db
        self._run = run
        self._sql = {**db.queries("ledger"), **db.queries("queue")}

    def _all(self, name: str, *values: Any) -> list[Any]:
        self._db.write_waiting()
        return self._db.all(self._sql[name], (self._run, *values))

    @reads
    def sites(self) -> frozenset[str]:
        return frozenset(name for (name,) in self._all("inside"))

    @reads
    def learnt(self, site: str) -> Mapping[str, Tally]:
        return {name: Tally(*counts) for name, *counts in self._all("site_learnt", site)}

    def urls_per_host(self) -> Mapping[str, int]:
        return dict(self._all("urls_per_host"))

    @reads
    def seeds(self) -> tuple[Url, ...]:
        return tuple(Url.parse(url) for (url,) in self._all("seeds"))

    @reads
    def known(self, digests: Sequence[int]) -> Mapping[int, KnownState]:
        self._db.write_waiting()
        rows = self._db.all(self._sql["known"], (str(list(digests)), self._run))
        return {row[0]: KnownState._make((*row[1:5], bool(row[5]), row[6])) for row in rows}

    @reads
    def counts(self) -> Counts:
        states, out = Counter(dict(self._all("count_states"))), dict(self._all("count_out"))
        lanes, released = Counter(dict(self._all("count_lanes"))), dict(self._all("count_released"))
        lanes.update(released)
        states.update({State.QUEUED: sum(released.values()), State.LEASED: -sum(released.values())})
        return Counts(
            states={state.name.lower(): states[state] for state in State},
            lanes=lanes,
            out=out,
            skipped=dict(self._all("count_skipped")),
            fetched=self._all("fetched")[0][0],
            external_links=out.get(OTHER_SITE, 0),
            due=self._all("count_due")[0][0],
        )

    @reads
    def rows(self, after: int = 0, rule: str | None = None) -> Iterator[FrontierRow]:
        name, more = ("rows", ()) if rule is None else ("rows_out", (rule,))
        while rows := self._all(name, after, *more):
            yield from map(_row, rows)
            after = rows[-1][0]

    @reads
    def find(self, digest: int) -> tuple[FrontierRow, tuple[tuple[str | None, Sighting], ...]] | None:
        row = next(iter(self._all("row", digest)), None)
        if row is None:
            return None
        return _row(row), tuple(map(_sighting, self._all("sightings", digest)))

    @reads
    def pages(self, after: int = 0) -> Iterator[tuple[int, Record]]:
        while rows := self._all("pages", after):
            yield from ((claim, _page(record)) for claim, record in rows)
            after = rows[-1][0]

    @reads
    def shapes(self) -> Sequence[UrlShape]:
        return [shape_of(row) for row in self._all("shapes", MAX_FAMILIES)]


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
    parent, *rest = row
    seen = Sighting(*rest)
    for point in filter(None, seen.points.split(",")):
        _finite(point.rpartition(":")[2])
    return parent, seen


def _row(row: tuple[Any, ...]) -> FrontierRow:
    entry, url, state, *most, due_at, rule, why, worth = row
    check_numbers(due_at, *most[1:3])
    reason = None if rule is None else Why(rule, why or "")
    return FrontierRow._make((entry, url, State(state), *most, due_at, reason, worth))


def shape_of(row: tuple[Any, ...]) -> UrlShape:
    """Read a row of `shape`."""
    name, admitted, alike, recent = row
    return UrlShape(name, admitted, alike, unpack(recent))


def pack(sketches: tuple[Sketch, ...]) -> bytes:
    """Write sketches: each as its length and its numbers.

    >>> unpack(pack(((1, 2), (), (4294967295,))))
    ((1, 2), (), (4294967295,))
    """
    return array("I", [number for sketch in sketches for number in (len(sketch), *sketch)]).tobytes()


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
