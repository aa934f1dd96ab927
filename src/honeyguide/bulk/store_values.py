"""The value of visits to all URLs of a store at once, as arrays: what `Learned.value` gives, without an object for each row.

Owns: the arrays, and the clocks over them. Must not know: stores (`app` reads the fields), ranks. Start reading at
`learned_values`. Sums over days are made otherwise than row by row, so a value that could be rounded to another number
is named in `is_close`, and made row by row. numpy is an extra, so this module is imported on demand.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from honeyguide.core.recrawl import clocks
from honeyguide.core.recrawl.clocks import DAY_S, EDGES_H, HOUR_S, HOURS_A_SECOND, lasting_by
from honeyguide.core.recrawl.history import UNKNOWN_SITE, site_of
from honeyguide.core.recrawl.plan import future_fields
from honeyguide.core.recrawl.policies import RETURN_H
from honeyguide.core.recrawl.priors import CLASSES
from honeyguide.core.recrawl.ranking import host_of
from honeyguide.core.recrawl.rate import SURE, believed_by, index_by, prior
from honeyguide.core.recrawl.signals import (
    DROP_AFTER,
    DROP_GONE_AFTER,
    GONE,
    HUB_IMPORTANCE,
    LEAST_RELEVANCE,
    SITEMAP,
    UNKNOWN_RELEVANCE,
    born_at,
    drop_reason,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    import numpy.typing as npt

    from honeyguide.core.recrawl.history import Site
    from honeyguide.core.recrawl.plan import KnownUrl, PlanQuery
    from honeyguide.core.recrawl.policies import Learned
    from honeyguide.core.recrawl.priors import PageClass, Priors
    from honeyguide.core.recrawl.ranking import Survey

    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]
    Ints = npt.NDArray[np.int64]

# What is read of each URL, by the names of `HistoryEntry`.
FIELDS = (
    "digest", "url", "visited_at", "changed_at", "failures", "status", "relevance", "kind", "rate_a", "rate_b", "found_a",
    "found_b", "first_seen", "lastmod", "born_at", "hours",
)  # fmt: skip
_SPAN_H = (1.0, 24.0)  # as in core.recrawl.policies
_CLOSE = 1e-10  # of a value: how near to the middle between two singles it may be
_EDGES = np.array(EDGES_H)
_DAY_H = 24
_TEXTS = ("digest", "url", "kind", "lastmod", "hours")
_NUMBERS = [name for name in FIELDS if name not in _TEXTS]
_KINDS = {name: place for place, name in enumerate(CLASSES)}
_HUB, _ARTICLE = CLASSES.index("hub"), CLASSES.index("article")


@dataclass(slots=True)
class StoredColumns:
    """The fields of URLs in their order, as arrays; a time or number that is not known is not a number.

    `host` numbers the `hosts`, `listed` says where a sitemap says something, and `hours` are of hubs, by the place of the row.
    """

    digest: Ints
    urls: npt.NDArray[np.object_]
    host: Ints
    kind: Ints
    numbers: dict[str, Floats]
    published: Floats
    listed: Flags
    hosts: dict[str, int]
    hours: dict[int, Sequence[float]]

    @classmethod
    def of(cls, fields: Sequence[Sequence[Any]], hosts: dict[str, int], before: int) -> StoredColumns:
        """Make arrays of the columns `FIELDS` of some rows, before which there were others."""
        columns = dict(zip(FIELDS, fields, strict=True))
        urls, size = columns["url"], len(columns["url"])
        kind = np.fromiter(map(_KINDS.__getitem__, columns["kind"]), np.int64, size)
        numbers = {name: np.array(columns[name], dtype=float) for name in _NUMBERS}
        hours = columns["hours"]
        return cls(
            digest=np.array(columns["digest"], dtype=np.int64),
            urls=np.array(urls, dtype=object),
            host=np.fromiter((hosts.setdefault(site_of(url), len(hosts)) for url in urls), np.int64, size),
            kind=kind,
            numbers=numbers,
            published=_published(urls, kind, numbers),
            listed=np.isin(np.arange(size), _present(columns["lastmod"])),
            hosts=hosts,
            hours={before + place: hours[place] for place in _present(hours)},
        )

    @classmethod
    def joined(cls, parts: Sequence[StoredColumns], hosts: dict[str, int]) -> StoredColumns:
        """Join the arrays of all rows."""

        def join(name: str) -> Any:
            return np.concatenate([getattr(part, name) for part in parts])

        numbers = {name: np.concatenate([part.numbers[name] for part in parts]) for name in _NUMBERS}
        hours = {place: one for part in parts for place, one in part.hours.items()}
        return cls(
            **{name: join(name) for name in ("digest", "urls", "host", "kind", "published", "listed")},
            numbers=numbers, hosts=hosts, hours=hours,
        )  # fmt: skip

    @property
    def is_dead(self) -> Flags:
        """Where a page is not visited any more, as `drop_reason` tells."""
        limit = np.where(self.numbers["status"] == GONE, DROP_GONE_AFTER, DROP_AFTER)
        return np.asarray(self.numbers["failures"] >= limit)


def _present(values: Sequence[Any]) -> list[int]:
    """Find where there is a value; most columns have none at all."""
    if values.count(None) == len(values):
        return []
    return [place for place, value in enumerate(values) if value is not None]


def _published(urls: Sequence[str], kind: Ints, numbers: dict[str, Floats]) -> Floats:
    met, seen = numbers["born_at"], numbers["first_seen"]
    published = np.where((kind != _HUB) & (met <= seen), met, np.nan)
    for place in np.flatnonzero((kind == _ARTICLE) & ~(np.isnan(met) & np.isinf(seen))).tolist():
        at = None if np.isnan(met[place]) else float(met[place])
        born = born_at(urls[place], "article", at, float(seen[place]))
        published[place] = np.nan if born is None else born
    return published


@dataclass(frozen=True, slots=True)
class StoredValues:
    """The values, in single precision, and the rows that have to be valued one by one."""

    values: Floats
    is_close: Flags


def learned_values(rows: StoredColumns, now: float, policy: Learned) -> StoredValues:
    """Value all rows as `Learned` does."""
    sites = [policy.site(name) or UNKNOWN_SITE for name in rows.hosts]
    numbers, groups = rows.numbers, _Groups(rows, policy.priors, sites)
    is_failing = numbers["failures"] > 0
    a, b = groups.rates(numbers)
    dead = prior(RETURN_H)
    a, b = np.where(is_failing, dead.a, a), np.where(is_failing, dead.b, b)
    known = np.where(
        np.isnan(numbers["relevance"]), UNKNOWN_RELEVANCE, np.maximum(numbers["relevance"], LEAST_RELEVANCE)
    )
    weight = known * np.where(rows.kind == _HUB, HUB_IMPORTANCE, 1.0) * 0.5 ** numbers["failures"]
    visited = numbers["visited_at"]
    is_new = np.isnan(visited)
    clock = _Clocks(rows, now, groups)
    exposure = np.where(is_new, SURE * b / a, clock.exposure_h(np.where(is_new, now, visited)))
    with np.errstate(all="ignore"):
        value = weight * clock.stretch(b / a) * index_by(np, a, b, np.maximum(exposure, 0.0))
        tau = np.maximum(0.0, (now - visited) * HOURS_A_SECOND)
        each = np.where(rows.kind == _HUB, weight / HUB_IMPORTANCE, weight)
        finds = each * numbers["found_a"] / numbers["found_b"] * tau**2 / 2
    value = value + np.where(np.isnan(finds) | is_failing, 0.0, finds)
    trusted = np.zeros((len(sites), len(CLASSES)), np.bool_)
    for number, site in enumerate(sites):
        if site.trust:
            trusted[number] = [site.is_trusted(SITEMAP, kind) for kind in CLASSES]
    return StoredValues(*_rounded(value, rows.listed & trusted[rows.host, rows.kind] & ~is_failing))


def _rounded(value: Floats, is_special: Flags) -> tuple[Floats, Flags]:
    """Round to singles; what is near to the middle between two of them, or special, is not sure."""
    low, high = (value * (1.0 + change) for change in (-_CLOSE, _CLOSE))
    singles = [part.astype(np.float32) for part in (low, high)]
    return value.astype(np.float32).astype(np.float64), is_special | (singles[0] != singles[1])


class _Groups:
    """What the pages of a class on a host have in common: a group is 3 x host + class."""

    def __init__(self, rows: StoredColumns, priors: Priors, sites: Sequence[Site]) -> None:
        self.of_row = len(CLASSES) * rows.host + rows.kind
        self.sites = sites
        self._host_of_row = rows.host
        self._used = np.flatnonzero(np.bincount(self.of_row))
        names = list(rows.hosts)
        pairs = [(names[number // 3], CLASSES[number % 3]) for number in self._used.tolist()]
        own = np.array([priors.of(host, kind) for host, kind in pairs])
        places = np.zeros(len(CLASSES) * len(names), dtype=np.int64)
        places[self._used] = np.arange(len(self._used))
        self.place = places[self.of_row]
        self._prior_a, self._prior_b = own[:, 0][self.place], own[:, 1][self.place]

    def rates(self, numbers: dict[str, Floats]) -> tuple[Floats, Floats]:
        """Give the change rates: of pages that were compared what visits saw, added to the prior, else the prior."""
        seen_a, seen_b = numbers["rate_a"], numbers["rate_b"]
        is_seen = ~(np.isnan(seen_a) | np.isnan(seen_b))
        seen = np.where(is_seen, seen_a, 0.0), np.where(is_seen, seen_b, 0.0)
        with np.errstate(all="ignore"):
            a, b = believed_by(np, (self._prior_a, self._prior_b), seen)
        return np.where(is_seen, a, self._prior_a), np.where(is_seen, b, self._prior_b)

    def courses(self) -> tuple[Floats, Floats]:
        """Give the course of the clock by age of each group, and the share of pages that end at each age."""
        profiles = [self.sites[number // 3].aged(_class(number % 3)).own for number in self._used.tolist()]
        courses = [profile._course for profile in profiles]  # noqa: SLF001 - the same clock, for arrays
        return np.array(courses), np.array([profile.ends for profile in profiles])


def _class(number: int) -> PageClass:
    return CLASSES[number]


class _Clocks:
    """The clock of each page, as `core.recrawl.clocks.choose_clock` chooses it."""

    def __init__(self, rows: StoredColumns, now: float, groups: _Groups) -> None:
        self._rows = rows
        self._now = now
        self._groups = groups
        self._aged = np.flatnonzero(~np.isnan(rows.published))
        self._hubs = np.array(sorted(rows.hours), dtype=np.int64)
        counts = np.array([rows.hours[place] for place in self._hubs.tolist()], dtype=float).reshape(
            -1, _DAY_H
        )
        self._weights = clocks.day_weight_by(counts, counts.sum(axis=1, keepdims=True))
        self._before = np.cumsum(self._weights, axis=1) - self._weights
        if len(self._aged):
            self._course, self._ends = groups.courses()

    def exposure_h(self, since: Floats) -> Floats:
        """Return the hours that count from moments until now."""
        passed = np.maximum(self._now - since, 0.0)
        wall = np.rint(passed * 1e6) / 1e6 * HOURS_A_SECOND
        days = self._by_site(since)
        hours = np.where(self._rows.kind == _HUB, wall, days)
        if len(self._aged):
            place, born = self._aged, self._rows.published[self._aged]
            plain = passed[place] * HOURS_A_SECOND
            site = np.where(self._rows.kind[place] == _ARTICLE, wall[place], days[place])
            aged = self._by_age(since[place] - born, self._now - born)
            with np.errstate(all="ignore"):
                hours[place] = np.where(plain > 0.0, aged * site / plain, 0.0)
        if len(self._hubs):
            ends = np.full(len(self._hubs), self._now)
            hours[self._hubs] = np.maximum(0.0, self._by_day(ends) - self._by_day(since[self._hubs]))
        return np.asarray(hours)

    def stretch(self, interval_h: Floats) -> Floats:
        """Return how many wall hours an hour of the clock takes, around the next change."""
        stretch, span = np.ones(len(interval_h)), np.clip(interval_h, *_SPAN_H)
        if len(self._aged):
            place = self._aged
            age = np.maximum(0.0, self._now - self._rows.published[place]) * HOURS_A_SECOND
            later = np.maximum(0.0, self._now + span[place] / HOURS_A_SECOND - self._rows.published[place])
            ahead = self._readings(later * HOURS_A_SECOND) - self._readings(age)
            ends = self._ends[self._groups.place[place], _age_place(age)]
            slow = span[place] / np.maximum(np.maximum(ahead, 0.0), span[place] * clocks.SLOWEST)
            stretch[place] = lasting_by(slow, interval_h[place], ends)
        if len(self._hubs):
            wide = span[self._hubs]
            now = np.full(len(wide), self._now)
            ahead = np.maximum(0.0, self._by_day(now + wide * HOUR_S) - self._by_day(now))
            stretch[self._hubs] = wide / np.maximum(ahead, wide * clocks.OLD_SPEED)
        return stretch

    def _by_site(self, since: Floats) -> Floats:
        """Measure by the days of each site that was watched; elsewhere every hour counts as one."""
        hours = np.maximum(self._now - since, 0.0) * HOURS_A_SECOND
        watched = [number for number, site in enumerate(self._groups.sites) if site.clock.found]
        if not watched:
            return hours
        order = np.argsort(self._rows.host, kind="stable")
        hosts = self._rows.host[order]
        for number in watched:
            first, last = np.searchsorted(hosts, [number, number + 1])
            rows = order[first:last]
            clock = self._groups.sites[number].clock
            reading = _day_readings(clock)
            moments = np.minimum(since[rows], self._now)
            hours[rows] = reading(np.full(len(rows), self._now)) - reading(moments)
        return np.asarray(hours)

    def _by_age(self, begin_s: Floats, end_s: Floats) -> Floats:
        begin, end = (self._readings(np.maximum(0.0, part) * HOURS_A_SECOND) for part in (begin_s, end_s))
        return np.maximum(0.0, end - begin)

    def _readings(self, age_h: Floats) -> Floats:
        place = _age_place(age_h)
        course = self._course[self._groups.place[self._aged], place]
        over = age_h - _EDGES[place]
        return np.asarray(course[:, 0] + over * (course[:, 1] + course[:, 2] * over / 2.0))

    def _by_day(self, moment: Floats) -> Floats:
        days = np.floor(moment / DAY_S)
        rest = moment - days * DAY_S
        hour = np.floor(rest / HOUR_S)
        place = hour.astype(np.int64) % _DAY_H
        row = np.arange(len(moment))
        part = (rest - hour * HOUR_S) / HOUR_S
        return np.asarray(days * _DAY_H + self._before[row, place] + self._weights[row, place] * part)


def _age_place(age_h: Floats) -> Ints:
    return np.asarray(np.searchsorted(_EDGES, age_h, "right") - 1)


def _day_readings(clock: clocks.SiteClock) -> Callable[[Floats], Floats]:
    """Give the reading of a site's clock at moments: its known days count by their weights, others as they are."""
    weights = (np.array(clock.found) + 1.0) / (np.array(clock.expected) + 1.0)
    begin = clock.first_day * DAY_S
    passed = np.concatenate([[0.0], np.cumsum(weights * _DAY_H)])

    def reading(moment: Floats) -> Floats:
        days = (moment - begin) / DAY_S
        place = np.clip(np.floor(days), 0, len(weights) - 1).astype(np.int64)
        inside = passed[place] + (days - place) * _DAY_H * weights[place]
        after = passed[-1] + (days - len(weights)) * _DAY_H
        return np.asarray(np.where(days < 0, days * _DAY_H, np.where(days < len(weights), inside, after)))

    return reading


class StoredTable:
    """The rows of a store as arrays, numbered from 1: known ones, then those that were never visited."""

    def __init__(self, blocks: Iterable[Sequence[Sequence[Any]]]) -> None:
        parts: list[StoredColumns] = []
        hosts: dict[str, int] = {}
        count = 0
        for columns in blocks:
            parts.append(StoredColumns.of(columns, hosts, count))
            count += len(columns[0])
        if not parts:
            raise ValueError(count)
        self.columns = StoredColumns.joined(parts, hosts)
        self._values = np.zeros(0)
        self._numbers = np.zeros(0, dtype=np.int64)

    def survey(
        self, now: datetime, policy: Learned, row: Callable[[int], KnownUrl], found: Survey
    ) -> tuple[array[float], array[int]]:
        """Value all rows that are not dead, in their order; `found` counts dead ones and times in the future."""
        at, numbers = now.timestamp(), self.columns.numbers
        valued = learned_values(self.columns, at, policy)
        is_dead = self.columns.is_dead
        for place in np.flatnonzero(valued.is_close & ~is_dead).tolist():
            state = row(place + 1).state
            valued.values[place] = 0.0 if state is None else policy.value(state, at)
        for place in np.flatnonzero(is_dead).tolist():
            state = row(place + 1).state if not found.dead.rows else None
            where = "" if state is None else f"{state.url} ({drop_reason(state)})"
            found.dead.add(where)
        with np.errstate(invalid="ignore"):
            is_future = (numbers["visited_at"] > at) | (numbers["changed_at"] > at)
        for place in np.flatnonzero(is_future & ~is_dead).tolist():
            late = row(place + 1)
            if fields := ", ".join(future_fields(late.signals, now)):
                found.future.add(f"{late.where} ({fields})")
        alive = np.flatnonzero(~is_dead)
        self._values, self._numbers = valued.values[alive], alive + 1
        found.ordered = np.sort(self._values).tolist()
        return array("d", self._values.tobytes()), array("q", self._numbers.tobytes())

    def best(self, query: PlanQuery, wants: Callable[[float], bool] | None) -> list[tuple[float, int]]:
        """Order the rows that are wanted, the best first, each with its value and number; of equals, the first."""
        values, numbers = self._values, self._numbers
        if wants is not None:
            wanted = np.fromiter(map(wants, values.tolist()), np.bool_, len(values))
            values, numbers = values[wanted], numbers[wanted]
        if query.top is not None and query.per_host is None and query.top < len(values):
            least = np.partition(values, -query.top)[-query.top]
            values, numbers = values[values >= least], numbers[values >= least]
        order = np.lexsort((numbers, -values))
        listed: Iterable[tuple[float, int]] = zip(
            values[order].tolist(), numbers[order].tolist(), strict=True
        )
        if query.per_host is not None:
            listed = self._per_host(listed, query.per_host)
        return list(islice(listed, query.top))

    def _per_host(self, listed: Iterable[tuple[float, int]], most: int) -> Iterator[tuple[float, int]]:
        hosts: Counter[str] = Counter()
        for value, number in listed:
            host = host_of(self.columns.urls[number - 1])
            hosts[host] += 1
            if hosts[host] <= most:
                yield value, number
