"""What is remembered of URLs and sites across runs: visits, rates of change, what sitemaps claim and how far they are believed.

Owns: the tables `known`, `visit`, `listed`, `born`, `trust`, `prior`, `site_clock` and `age`. Must not know: what a visit
means (core/recrawl/visits.py). Start reading at `SqlHistory.record`.
"""

from __future__ import annotations

# ruff: noqa: D102 - ports/store.py says what the methods promise
import json
from math import isfinite
from struct import pack, unpack
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.store.common.database import check_numbers, reads
from honeyguide.core.crawl.frontier import QueuedUrl
from honeyguide.core.recrawl.clocks import DAY_S, EDGES_H, NO_COUNTS, SITE_DAYS, SiteAges, SiteClock
from honeyguide.core.recrawl.history import (
    UNKNOWN_SITE,
    HistoryEntry,
    SeenContent,
    Site,
    Trust,
    site_of,
)
from honeyguide.core.recrawl.priors import CLASSES, Watched
from honeyguide.core.recrawl.rate import Rate
from honeyguide.core.recrawl.visits import births_of, heir_of, next_known, next_site
from honeyguide.core.url.url import Url

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from honeyguide.adapters.store.common.database import Database
    from honeyguide.core.recrawl.clocks import Numbers
    from honeyguide.core.recrawl.history import Visit
    from honeyguide.core.recrawl.priors import PageClass


# Places in a row of `known`, counted after digest and URL; from `_JOINED` on, fields of `HistoryEntry` are in other tables.
_IS_HUB, _IS_MOVED, _HOURS = (
    HistoryEntry._fields.index(name) - 2 for name in ("is_hub", "is_moved", "hours")
)
_JOINED = HistoryEntry._fields.index("lastmod")
_NUMBER_BYTES = 8
_DAY_H = 24
_EVERYWHERE = ""  # the name of all sites together
_FIRST = -(2**63)
_COLUMN_ROWS = 2_000  # rows of columns that are read at once: they fit into the processor's cache
_QUEUED_ROWS = 5_000
_ELSEWHERE = {"lastmod": "l.lastmod", "born_at": "b.at"}  # fields in other tables than `known`
_SITE_PARTS = ("trust", "priors", "clock", "ages")  # queries, each of a table
NO_PAGE: tuple[Any, ...] = (None, None, None)
_NOTHING_SEEN = Rate(0.0, 0.0)
_OUT_OF_ORDER_S = 3600.0  # visits are numbered as they are applied, and that is not quite as they were made


class SqlHistory:
    """A `History` in the tables of its store."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._sql = db.queries("history")
        self._turn = db.turn
        self._got: dict[int, HistoryEntry | None] = {}
        self._unwritten: set[int | str] = set()  # digests of URLs, and of what their pages say

    def forget(self) -> None:
        """Forget what is known from memory: what it was learnt from was undone."""
        self._got.clear()
        self._unwritten.clear()

    def is_waiting(self, content: str) -> bool:
        """Tell whether a page that says this was visited in this turn, and is not written yet."""
        self._check_turn()
        return content in self._unwritten

    @reads
    def record(self, visit: Visit, run: int, page: tuple[Any, ...] = NO_PAGE) -> HistoryEntry:
        """Note a visit; `page` is the claim, the entry and the record of what it read, if its run has one."""
        self._db.begin_write()
        old = self.get(visit.digest)
        if old is None and visit.moved_from is not None:
            old = heir_of(self.get(visit.moved_from), visit)
        site = UNKNOWN_SITE
        if old is not None and old.seen_at is not None:
            self._db.lock("history")  # what is known of sites is read, added to and written
            site = self.site(site_of(visit.url))
        known = next_known(old, visit, site, run)
        self._put(known)
        if not visit.is_redirect_source:
            self._keep(run, visit.digest, visit.at, visit.status, visit.content, *page)
        if births := births_of(old, visit):
            self._note_first_seen(births)
        self._learn(site_of(visit.url), site, next_site(site, old, visit))
        return known

    @reads
    def adopt(self, entries: Iterable[HistoryEntry]) -> None:
        self._db.begin_write()
        for known in entries:
            self._put(known)

    def keep_page(self, run: int, content: str | None, page: tuple[Any, ...]) -> None:
        """Keep the record of a page that no visit comes with."""
        self._keep(run, None, None, None, content, *page)

    def _keep(self, *values: Any) -> None:
        self._db.later(self._sql["visit"], values)
        self._check_turn()
        if values[4] is not None:
            self._unwritten.add(values[4])

    def _note_first_seen(self, births: list[tuple[int, float]]) -> None:
        """Note which pages are new; who was met before is not."""
        self._db.write_many(self._sql["bear"], births)
        for digest, _ in births:
            self._got.pop(digest, None)

    def _put(self, known: HistoryEntry) -> None:
        values: list[Any] = [known.digest, known.url, *known[2:_JOINED]]
        values[2 + _HOURS] = None if known.hours is None else _packed(known.hours)
        self._db.later(self._sql["put"], values)
        self._got.pop(known.digest, None)
        self._unwritten.add(known.digest)

    def _learn(self, name: str, old: Site, new: Site) -> None:
        """Write what of a site is new."""
        for source, trust in new.trust.items():
            if trust != old.trust.get(source):
                self._db.write(self._sql["put_trust"], (name, source, *trust))
        if new.clock is not old.clock:
            clock = new.clock
            values = (name, clock.first_day, _packed(clock.found), _packed(clock.expected))
            self._db.write(self._sql["put_clock"], values)
        for kind, ages in new.ages.items():
            if ages is not old.ages.get(kind):
                sides = ((name, ages.own), (_EVERYWHERE, ages.every))
                rows = [(site, kind, _packed(one.found), _packed(one.expected)) for site, one in sides]
                self._db.write_many(self._sql["put_age"], rows)

    @reads
    def get(self, digest: int) -> HistoryEntry | None:
        self._check_turn()
        if digest in self._got:
            return self._got[digest]
        if digest in self._unwritten:
            self._write_waiting()
        row = self._db.one(self._sql["get"], (digest,))
        known = None if row is None else _known(row)
        if self._db.is_open:  # while we have the write lock, nobody else can change it
            self._got[digest] = known
        return known

    @reads
    def known_among(self, digests: Sequence[int]) -> dict[int, HistoryEntry]:
        known = map(_known, self._all("get_many", json.dumps(sorted(digests))))
        return {one.digest: one for one in known}

    def note_unvisited(self, digest: int) -> None:
        """Remember for this turn that a URL was never visited."""
        self._check_turn()
        if digest not in self._unwritten:
            self._got[digest] = None

    def _check_turn(self) -> None:
        if self._turn != self._db.turn or not self._db.is_open:
            self._turn = self._db.turn
            self.forget()

    def _write_waiting(self) -> None:
        self._db.write_waiting()
        self._unwritten.clear()

    def _all(self, name: str, *values: Any) -> list[Any]:
        self._write_waiting()
        return self._db.all(self._sql[name], values)

    @reads
    def known(self, after: int | None = None) -> Iterator[HistoryEntry]:
        last = _FIRST if after is None else after
        while rows := self._all("after", last):
            yield from map(_known, rows)
            last = rows[-1][0]

    @reads
    def known_columns(
        self, fields: Sequence[str], *, only_unusual: bool = False
    ) -> Iterator[list[Sequence[Any]]]:
        listed = fields if "digest" in fields else (*fields, "digest")
        chosen = ", ".join(
            _ELSEWHERE.get(name, f"k.{name}") for name in listed if name in HistoryEntry._fields
        )
        name = "after" if _ELSEWHERE.keys() & set(fields) else "after_alone"
        sql = self._sql["unusual" if only_unusual else name]
        sql = sql.replace("k.*, l.lastmod, b.at", chosen).replace("1000", str(_COLUMN_ROWS))
        last = _FIRST
        self._write_waiting()
        while rows := self._db.all(sql, (last,)):
            columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
            last = columns[listed.index("digest")][-1]
            if "hours" in fields:
                place = fields.index("hours")
                columns[place] = [None if one is None else _counts(one, _DAY_H) for one in columns[place]]
            yield columns[: len(fields)]

    @reads
    def visits(self, digest: int) -> list[tuple[int, float, int | None]]:
        found = self._all("visits", digest)
        check_numbers(*(at for _, at, _ in found))
        return found

    def latest_visits(self, limit: int, since: float) -> Sequence[float]:
        found: list[float] = []
        self._write_waiting()
        for (at,) in self._db.walk(self._sql["latest_visits"], (limit,)):
            if at < since - _OUT_OF_ORDER_S:
                break
            found.append(at)
        return found

    def note_request(self, at: float) -> None:
        self._db.later(self._sql["request"], (at,))

    def latest_requests(self, limit: int) -> Sequence[float]:
        return [at for (at,) in self._all("latest_requests", limit)]

    def contents(self) -> Iterator[SeenContent]:
        place = (_FIRST, 0)
        while rows := self._all("contents", *place):
            yield from (SeenContent(*row[2:]) for row in rows)
            place = rows[-1][:2]

    def rates(self, limit: int) -> Iterator[Watched]:
        # Identities are at random, so the first are any.
        for url, kind, a, b in self._all("rates", limit):
            yield Watched(site_of(url), kind, Rate(a, b))

    @reads
    def unvisited(self) -> Iterator[QueuedUrl]:
        for rows in self._unvisited_rows():
            yield from map(_queued, rows)

    @reads
    def unvisited_columns(self) -> Iterator[list[Sequence[Any]]]:
        for rows in self._unvisited_rows():
            yield list(zip(*rows, strict=True))

    def _unvisited_rows(self) -> Iterator[list[Any]]:
        last = 0
        self._write_waiting()
        while ids := [id_ for (id_,) in self._db.walk(self._sql["never_visited"], (last,))]:
            last = ids[-1]
            for first in range(0, len(ids), _QUEUED_ROWS):
                some = ids[first : first + _QUEUED_ROWS]
                if rows := self._all("queued_among", json.dumps(some)):
                    yield rows

    @reads
    def find_unvisited(self, digest: int) -> QueuedUrl | None:
        return next(map(_queued, self._all("find_unvisited", digest)), None)

    def scheduled(self) -> frozenset[int]:
        return frozenset(digest for (digest,) in self._all("scheduled"))

    def note_lastmods(self, lastmods: Iterable[tuple[int, str]]) -> None:
        self._db.write_many(self._sql["list"], list(lastmods))
        self._got.clear()

    @reads
    def site(self, name: str) -> Site:
        return _site(name, [self._db.all(self._sql[part], (name,)) for part in _SITE_PARTS])

    @reads
    def sites(self, names: Collection[str] | None = None) -> dict[str, Site]:
        self._write_waiting()
        some = "" if names is None else f" WHERE site IN ({self._db.listed})"
        values = () if names is None else (json.dumps([*names, _EVERYWHERE]),)
        parts: list[dict[str, list[Any]]] = []
        for part in _SITE_PARTS:
            parts.append({})
            columns = self._sql[part].removeprefix("SELECT ").partition(" WHERE ")[0]
            for site, *row in self._db.walk(f"SELECT site, {columns}{some}", values):
                parts[-1].setdefault(site, []).append(row)
        every = parts[-1].get(_EVERYWHERE, [])
        known = {_EVERYWHERE}.union(*parts)
        return {name: _site(name, [part.get(name, []) for part in parts], every) for name in known}

    def save_priors(self, name: str, priors: Mapping[PageClass, Rate]) -> None:
        self._db.write_many(self._sql["put_prior"], [(name, kind, *rate) for kind, rate in priors.items()])


def _known(row: tuple[Any, ...]) -> HistoryEntry:
    digest, url, *rest = row
    rest[_IS_HUB], rest[_IS_MOVED] = bool(rest[_IS_HUB]), bool(rest[_IS_MOVED])
    rest[_HOURS] = None if rest[_HOURS] is None else _counts(rest[_HOURS], _DAY_H)
    known = HistoryEntry._make((url, digest, *rest))
    times = (
        known.visited_at,
        known.changed_at,
        known.first_seen,
        known.seen_at,
        known.born_at,
        known.forgot_at,
    )
    check_numbers(*times, known.relevance, known.doubt)
    _check_rate(known.seen or _NOTHING_SEEN, least_h=0.0)
    _check_rate(known.latest, least_h=0.0)
    _check_rate(known.found or _NOTHING_SEEN._replace(b=1.0))
    site_of(url)  # raises where the text is no URL
    return known


def _site(name: str, rows: list[list[Any]], every: Sequence[Any] = ()) -> Site:
    """Make a site of its rows of `_SITE_PARTS`; `every` has the ages on all sites, unless they are among them."""
    trust, priors, clocks, ages = rows
    rates = {kind: Rate(a, b) for kind, a, b in priors}
    for rate in rates.values():
        _check_rate(rate)
    counts: dict[tuple[str, str], Numbers] = {}
    for kind, site, *packed in (*every, *ages):
        counts[kind, site] = _counts(packed[0], len(EDGES_H)), _counts(packed[1], len(EDGES_H))
    kinds = {kind for kind, _ in counts}
    return Site(
        {source: Trust(*rest) for source, *rest in trust},
        {kind: rates[kind] for kind in CLASSES if kind in rates},
        _clock(clocks[0]) if clocks else SiteClock(),
        {
            kind: SiteAges.of(
                kind,
                counts.get((kind, name), NO_COUNTS) if name else NO_COUNTS,
                counts.get((kind, _EVERYWHERE), NO_COUNTS),
            )
            for kind in CLASSES
            if kind in kinds
        },
    )


def _check_rate(rate: Rate, least_h: float = 1e-9) -> None:
    """Refuse a rate that no visits lead to; what they saw may be no change, in no time."""
    if not (0.0 <= rate.a <= 1e9 and least_h <= rate.b <= 1e12):
        raise ValueError(rate)


def _queued(row: tuple[Any, ...]) -> QueuedUrl:
    digest, url, score, hub_depth, born_at = row
    return QueuedUrl(digest, Url.parse(url).text, score, hub_depth, born_at)


def _packed(numbers: tuple[float, ...]) -> bytes:
    return pack(f"<{len(numbers)}d", *numbers)


def _counts(packed: bytes, size: int) -> tuple[float, ...]:
    """Read what was counted, at each age or in each hour; other numbers than counts are none of ours."""
    numbers = unpack(f"<{size}d", packed)
    if min(numbers, default=0.0) < 0.0 or not isfinite(sum(numbers)):
        raise ValueError(len(numbers))
    return numbers


def _clock(row: tuple[Any, ...]) -> SiteClock:
    first_day, found, expected = row
    check_numbers(first_day * DAY_S)
    days = len(found) // _NUMBER_BYTES
    if days > SITE_DAYS:
        raise ValueError(days)
    return SiteClock(first_day, _counts(found, days), _counts(expected, days))
