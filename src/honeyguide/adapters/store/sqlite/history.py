"""History in the SQLite store.

Owns: the tables `known`, `visit`, `listed`, `born`, `trust`, `prior`, `site_clock` and `age`. Must not know: what a visit
means (core/recrawl/visits.py).
"""

from __future__ import annotations

from math import isfinite
from struct import pack, unpack
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.store.sqlite.database import checked, moment, queries, reads
from honeyguide.core.recrawl.clocks import DAY_S, EDGES_H, NO_COUNTS, SITE_DAYS, SiteAges, SiteClock
from honeyguide.core.recrawl.history import UNKNOWN_SITE, HistoryEntry, Site, Trust, site_of
from honeyguide.core.recrawl.priors import CLASSES
from honeyguide.core.recrawl.rate import Rate
from honeyguide.core.recrawl.visits import births_of, heir_of, next_known, next_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from honeyguide.adapters.store.sqlite.database import Database
    from honeyguide.core.recrawl.clocks import Numbers
    from honeyguide.core.recrawl.history import Visit
    from honeyguide.core.recrawl.priors import PageClass


# A row is `HistoryEntry` with its digest first; what its values are, but for the hours: see `checked`.
_KINDS = "isifFiiISFiiiiiSSfFIIsFSiifFFFFSF"
_IS_HUB, _KIND, _IS_MOVED = 10, 19, 22  # places in a row, counted after digest and URL
_VISITED, _CHANGED, _FIRST_SEEN, _SEEN = 1, 2, 15, 16
_NUMBER_BYTES = 8
_DAY_H = 24
_LEAST_RATE, _MOST_RATE = Rate(1e-2, 1e-9), Rate(1e9, 1e12)  # beyond these no visits lead
_EVERYWHERE = ""  # the name of all sites together


class SqliteHistory:
    """A `History` in the file of its store."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._sql = queries("history")
        self._turn = db.turn
        self._got: dict[int, HistoryEntry | None] = {}

    def forget(self) -> None:
        """Forget what is known from memory: what it was learnt from was undone."""
        self._got.clear()

    @reads
    def record(self, visit: Visit, run: int) -> HistoryEntry:
        """Note a visit."""
        self._db.begin_write()
        old = self.get(visit.digest)
        if old is None and visit.moved_from is not None:
            old = heir_of(self.get(visit.moved_from), visit)
        site = UNKNOWN_SITE if old is None or old.seen_at is None else self.site(site_of(visit.url))
        known = next_known(old, visit, site, run)
        self._put(known)
        if not visit.is_redirect_source:
            values = (visit.digest, run, visit.at, visit.status, visit.content, visit.elapsed_s)
            self._db.write(self._sql["visit"], values)
        if births := births_of(old, visit):
            self._note_first_seen(births)
        self._learn(site_of(visit.url), site, next_site(site, old, visit))
        return known

    def _note_first_seen(self, births: list[tuple[int, float]]) -> None:
        """Note which pages are new; who was met before is not."""
        self._db.write_many(self._sql["bear"], births)
        for digest, _ in births:
            self._got.pop(digest, None)

    def _put(self, known: HistoryEntry) -> None:
        url, digest, *rest, hours, _, _ = known
        packed = None if hours is None else _packed(hours)
        self._db.write(self._sql["put"], (digest, url, *rest, packed))
        self._got.pop(digest, None)

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
        """Give what is known of a URL; while we have the write lock, nobody else can change it."""
        if self._turn != self._db.turn or not self._db.is_open:
            self._turn = self._db.turn
            self._got.clear()
        elif digest in self._got:
            return self._got[digest]
        row = self._db.one(self._sql["get"], (digest,))
        known = self._got[digest] = None if row is None else _known(row)
        return known

    @reads
    def known(self, after: int | None = None) -> Iterator[HistoryEntry]:
        """Give everything that is known, in the order of identities."""
        last = -(2**63) if after is None else after
        while rows := self._db.all(self._sql["after"], (last,)):
            yield from map(_known, rows)
            last = rows[-1][0]

    @reads
    def visits(self, digest: int) -> list[tuple[int, float, int | None]]:
        """Give the visits of a URL: run, time, status; oldest first."""
        return [_visit(row) for row in self._db.all(self._sql["visits"], (digest,))]

    def note_lastmods(self, lastmods: Iterable[tuple[int, str]]) -> None:
        """Note what sitemaps say of pages, visited or not."""
        self._db.write_many(self._sql["list"], list(lastmods))
        self._got.clear()

    @reads
    def site(self, name: str) -> Site:
        """Give what is known of a site as a whole."""
        told = (checked(row, "siiii") for row in self._db.all(self._sql["trust"], (name,)))
        trust = {source: Trust(*rest) for source, *rest in told}
        rows = (checked(row, "sff") for row in self._db.all(self._sql["priors"], (name,)))
        rates = {kind: sane(Rate(a, b)) for kind, a, b in rows}
        priors = {kind: rates[kind] for kind in CLASSES if kind in rates}
        row = self._db.one(self._sql["clock"], (name,))
        return Site(trust, priors, SiteClock() if row is None else _clock(row), self._ages(name))

    def _ages(self, name: str) -> dict[PageClass, SiteAges]:
        counts: dict[str, dict[str, Numbers]] = {}
        for kind, site, *packed in self._db.all(self._sql["ages"], (name,)):
            counts.setdefault(kind, {})[site] = (
                _counts(packed[0], len(EDGES_H)),
                _counts(packed[1], len(EDGES_H)),
            )
        return {
            kind: SiteAges.of(
                kind, counts[kind].get(name, NO_COUNTS), counts[kind].get(_EVERYWHERE, NO_COUNTS)
            )
            for kind in CLASSES
            if kind in counts
        }

    def save_priors(self, name: str, priors: Mapping[PageClass, Rate]) -> None:
        """Note the usual change rate of a site's pages, by kind."""
        self._db.write_many(self._sql["put_prior"], [(name, kind, *rate) for kind, rate in priors.items()])


def _known(row: tuple[Any, ...]) -> HistoryEntry:
    *most, hours, lastmod, born_at = row
    digest, url, *rest, lastmod, born_at = checked((*most, lastmod, born_at), _KINDS)
    if rest[_KIND] not in CLASSES:
        raise ValueError(rest[_KIND])
    rest[_IS_HUB], rest[_IS_MOVED] = bool(rest[_IS_HUB]), bool(rest[_IS_MOVED])
    for place in (_VISITED, _CHANGED, _FIRST_SEEN, _SEEN):
        moment(rest[place])
    numbers = None if hours is None else _counts(hours, _DAY_H)
    return HistoryEntry._make((url, digest, *rest, numbers, lastmod, moment(born_at)))


def _packed(numbers: tuple[float, ...]) -> bytes:
    return pack(f"<{len(numbers)}d", *numbers)


def _numbers(packed: bytes) -> tuple[float, ...]:
    if len(packed) % _NUMBER_BYTES:
        raise ValueError(len(packed))
    return unpack(f"<{len(packed) // _NUMBER_BYTES}d", packed)


def _counts(packed: bytes, size: int) -> tuple[float, ...]:
    """Read what was counted, at each age or in each hour; other numbers than counts are none of ours."""
    numbers = _numbers(packed)
    if len(numbers) != size or min(numbers, default=0.0) < 0.0 or not isfinite(sum(numbers)):
        raise ValueError(len(numbers))
    return numbers


def _visit(row: tuple[Any, ...]) -> tuple[int, float, int | None]:
    run, at, status = checked(row, "ifI")
    moment(at)
    return run, at, status


def _clock(row: tuple[Any, ...]) -> SiteClock:
    first_day, found, expected = row
    checked((first_day,), "i")
    moment(first_day * DAY_S)
    days = len(found) // _NUMBER_BYTES
    if days > SITE_DAYS:
        raise ValueError(days)
    return SiteClock(first_day, _counts(found, days), _counts(expected, days))


def sane(rate: Rate, *, may_be_zero: bool = False) -> Rate:
    """Give a rate, unless no visits can have made it."""
    is_sure = _LEAST_RATE.a <= rate.a <= _MOST_RATE.a or (may_be_zero and rate.a == 0)
    if not (is_sure and _LEAST_RATE.b <= rate.b <= _MOST_RATE.b):
        raise ValueError(rate)
    return rate
