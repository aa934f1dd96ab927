"""The URLs of a store as arrays: what `Learned.value` reads of each.

Owns: the arrays. Must not know: stores (`app` reads the fields), values, ranks. Start reading at `StoredColumns`.
Most fields of most URLs are empty, and every value that a database hands to Python costs time, so a few fields are read of
all URLs and the others only where they say something. numpy is an extra, so this module is imported on demand.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from honeyguide.core.recrawl.history import site_of
from honeyguide.core.recrawl.priors import CLASSES
from honeyguide.core.recrawl.signals import DROP_AFTER, DROP_GONE_AFTER, GONE, class_of, published_span
from honeyguide.core.rules.topic import SCALES
from honeyguide.core.url.url import normalize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from honeyguide.core.recrawl.priors import PageClass

    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]
    Ints = npt.NDArray[np.int64]
    Block = Sequence[Sequence[Any]]  # the columns of some rows

# What is read of each URL, and what of those of which there is more to know, by the names of `HistoryEntry`.
USUAL = ("digest", "url", "visited_at", "relevance", "kind", "rate_a", "rate_b", "first_seen")
UNUSUAL = (
    "digest", "is_moved", "changed_at", "failures", "status", "found_a", "found_b", "lastmod", "born_at", "hours",
)  # fmt: skip
_USUAL_NUMBERS = ("visited_at", "relevance", "rate_a", "rate_b", "first_seen")
_UNUSUAL_NUMBERS = ("changed_at", "failures", "status", "found_a", "found_b", "born_at")
_BLANK = {"failures": 0.0}  # of other numbers, nothing is known
_KINDS = {name: place for place, name in enumerate(CLASSES)}
HUB, ARTICLE = CLASSES.index("hub"), CLASSES.index("article")
DAY_H = 24


@dataclass(frozen=True, slots=True)
class Excluding:
    """What a plan leaves out: URLs by name, and pages visited after a moment, which each class has."""

    names: Callable[[int, str], bool] | None
    visited_since: Mapping[PageClass, float]

    def is_named(self, digests: Sequence[int], urls: Sequence[str]) -> Flags:
        """Tell which URLs are named."""
        if self.names is None:
            return np.zeros(len(urls), np.bool_)
        return np.fromiter(map(self.names, digests, urls), np.bool_, len(urls))

    def is_early(self, rows: StoredColumns) -> Flags:
        """Tell for which pages another visit is too early."""
        since = np.array([self.visited_since[kind] for kind in CLASSES])
        return np.asarray(rows.numbers["visited_at"] > since[rows.kind])


class Hosts(dict[str, int]):
    """The names of hosts, numbered from 0: all of them, or if `only` some matter, these, and 0 for the others."""

    def __init__(self, only: Iterable[str] | None = None) -> None:
        self._has_all = only is None
        names = () if only is None else dict.fromkeys(("", *only))
        super().__init__({name: number for number, name in enumerate(names)})

    def numbers(self, urls: Sequence[str]) -> Ints:
        """Give the numbers of the hosts of URLs."""
        names = [url.split("/", 3)[2] for url in urls]
        if "@" in "".join(names):
            names = list(map(site_of, urls))
        if self._has_all:
            found: Iterable[int] = [self.setdefault(name, len(self)) for name in names]
        else:
            found = map(self.get, names, repeat(0))
        return np.fromiter(found, np.int64, len(names))


@dataclass(slots=True)
class StoredColumns:
    """The fields of URLs in their order, as arrays; a time or number that is not known is not a number.

    `host` numbers the `hosts`, `listed` says where a sitemap says something; `hours` are of the rows `hubs`.
    """

    digest: Ints
    host: Ints
    kind: Ints
    numbers: dict[str, Floats]
    dated: Floats  # the first moment that the address of an article names, and the one after its last
    listed: Flags
    hosts: Hosts
    hubs: Ints
    hours: Floats

    @classmethod
    def of(
        cls,
        usual: Iterable[Block],
        unusual: Iterable[Block],
        unvisited: Iterable[Block],
        excluded: Excluding,
        hosts: Hosts,
    ) -> StoredColumns:
        """Make arrays of the columns `USUAL` of all pages that were visited, of `UNUSUAL` of some of them, and of links.

        `unvisited` are the fields of links that were never visited.
        """
        parts: list[dict[str, Any]] = []
        named, births = [np.zeros(0, np.bool_)], [np.zeros(0)]
        for block in usual:
            fields = dict(zip(USUAL, block, strict=True))
            parts.append(_arrays(fields, hosts))
            named.append(excluded.is_named(fields["digest"], fields["url"]))
        visited = np.concatenate([np.zeros(0, np.int64), *(part["digest"] for part in parts)])
        for digests, urls, scores, _, born in unvisited:
            fields = _link_fields(digests, urls, scores)
            parts.append(_arrays(fields, hosts))
            named.append(excluded.is_named(digests, fields["url"]))
            births.append(_floats(born))
        rows = cls._joined(parts, hosts)
        if len(births) > 1:
            rows.set_numbers("born_at", slice(len(visited), None), np.concatenate(births))
        is_left_out = np.concatenate(named) | excluded.is_early(rows)
        for block in unusual:
            is_left_out[rows.add(dict(zip(UNUSUAL, block, strict=True)), visited)] = True
        return rows.without(is_left_out)

    @classmethod
    def _joined(cls, parts: Sequence[Mapping[str, Any]], hosts: Hosts) -> StoredColumns:
        """Join arrays to rows of which nothing unusual is known: those fields take no memory until one is set."""
        parts = [_arrays(dict.fromkeys(USUAL, ()), hosts), *parts]
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        size = len(joined["digest"])
        blank = {name: np.broadcast_to(_BLANK.get(name, np.nan), size) for name in _UNUSUAL_NUMBERS}
        return cls(
            **{name: joined[name] for name in ("digest", "host", "kind", "dated")},
            numbers={**{name: joined[name] for name in _USUAL_NUMBERS}, **blank},
            listed=np.zeros(size, np.bool_),
            hosts=hosts,
            hubs=np.zeros(0, np.int64),
            hours=np.zeros((0, DAY_H)),
        )

    def set_numbers(self, name: str, place: Ints | slice, values: Floats) -> None:
        """Set a field of some rows."""
        if not self.numbers[name].flags.writeable:
            self.numbers[name] = self.numbers[name].copy()
        self.numbers[name][place] = values

    def add(self, fields: Mapping[str, Sequence[Any]], visited: Ints) -> Ints:
        """Add what is known of some rows; returns those that have moved. Rows that were added meanwhile are not ours."""
        digest = np.array(fields["digest"], dtype=np.int64)
        ours = np.flatnonzero(are_among(visited, digest))
        place = np.searchsorted(visited, digest[ours])
        for name in _UNUSUAL_NUMBERS:
            self.set_numbers(name, place, _floats(fields[name])[ours])
        self.listed[place] = [fields["lastmod"][number] is not None for number in ours.tolist()]
        hours = fields["hours"]
        busy = [number for number in ours.tolist() if hours[number] is not None]
        if busy:
            self.hubs = np.concatenate([self.hubs, np.searchsorted(visited, digest[busy])])
            self.hours = np.concatenate([self.hours, [hours[number] for number in busy]])
        return np.asarray(place[np.array(fields["is_moved"], dtype=np.bool_)[ours]])

    def without(self, is_left_out: Flags) -> StoredColumns:
        """Leave rows out."""
        if not is_left_out.any():
            return self
        kept = ~is_left_out
        place, is_hub = np.cumsum(kept) - 1, kept[self.hubs]
        return StoredColumns(
            digest=self.digest[kept],
            host=self.host[kept],
            kind=self.kind[kept],
            numbers={name: column[kept] for name, column in self.numbers.items()},
            dated=self.dated[kept],
            listed=self.listed[kept],
            hosts=self.hosts,
            hubs=place[self.hubs[is_hub]],
            hours=self.hours[is_hub],
        )

    def published(self) -> Floats:
        """Give when each page was new, as `born_at` does; a link that was there from the start has no age."""
        met, seen = self.numbers["born_at"], self.numbers["first_seen"]
        first, end = self.dated.T
        with np.errstate(invalid="ignore"):
            met = np.where(met <= seen, met, np.nan)
            born = np.where(np.isnan(first) | (met < end), met, np.minimum(first, seen))
            is_ageless = (self.kind == HUB) | (np.isnan(met) & np.isinf(seen))
        return np.where(is_ageless, np.nan, born)

    @property
    def is_dead(self) -> Flags:
        """Where a page is not visited any more, as `drop_reason` tells."""
        limit = np.where(self.numbers["status"] == GONE, DROP_GONE_AFTER, DROP_AFTER)
        return np.asarray(self.numbers["failures"] >= limit)


def are_among(ordered: Ints, digests: Ints) -> Flags:
    """Tell which identities are among others, which are in their order."""
    place = np.searchsorted(ordered, digests)
    found = place < len(ordered)
    found[found] = ordered[place[found]] == digests[found]
    return np.asarray(found)


def _link_fields(
    digests: Sequence[int], urls: Sequence[str], scores: Sequence[float | None]
) -> dict[str, Sequence[Any]]:
    """Give the fields `USUAL` of links that were never visited."""
    texts, nothing = [normalize(url) for url in urls], [None] * len(urls)
    return {
        "digest": digests, "url": texts, "kind": [class_of(url, is_hub=False) for url in texts],
        "visited_at": nothing, "rate_a": nothing, "rate_b": nothing, "first_seen": [inf] * len(urls),
        "relevance": [None if score is None else score / SCALES["link"] for score in scores],
    }  # fmt: skip


def _arrays(fields: Mapping[str, Sequence[Any]], hosts: Hosts) -> dict[str, Any]:
    """Make arrays of the fields `USUAL` of some rows; the URLs give hosts and dates."""
    size = len(fields["url"])
    kind = np.fromiter(map(_KINDS.__getitem__, fields["kind"]), np.int64, size)
    return {
        "digest": np.fromiter(fields["digest"], np.int64, size),
        "host": hosts.numbers(fields["url"]),
        "kind": kind,
        "dated": _dated(fields["url"], kind),
        **{name: _floats(fields[name]) for name in _USUAL_NUMBERS},
    }


def _floats(values: Sequence[Any]) -> Floats:
    try:
        return np.fromiter(values, float, len(values))
    except TypeError:  # some are None, which takes three times as long
        return np.array(values, dtype=float)


def _dated(urls: Sequence[str], kind: Ints) -> Floats:
    """Read the dates in the addresses of articles."""
    dated = np.full((len(urls), 2), np.nan)
    for place in np.flatnonzero(kind == ARTICLE).tolist():
        if (span := published_span(urls[place])) is not None:
            dated[place] = span
    return dated
