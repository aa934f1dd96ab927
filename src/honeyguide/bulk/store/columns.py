"""The URLs of a store as arrays: what `Learned.value` reads of each.

Owns: the arrays. Must not know: stores (`app` reads the fields), values, ranks. Start reading at `StoredColumns`.
Most fields of most URLs are empty, and every value that a database hands to Python costs time, so a few fields are read of
all URLs and the others only where they say something. numpy is an extra, so this module is imported on demand.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    """The names of hosts, numbered from 0."""

    def __init__(self) -> None:
        self._by_text: dict[str, int] = {}

    def numbers(self, urls: Sequence[str]) -> Ints:
        """Give the numbers of the hosts of URLs; new ones get the next."""
        texts = [url.split("/", 3)[2] for url in urls]
        for text in dict.fromkeys(texts):
            if text not in self._by_text:
                self._by_text[text] = self.setdefault(site_of(f"//{text}"), len(self))
        return np.fromiter(map(self._by_text.__getitem__, texts), np.int64, len(texts))


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
    def of_known(
        cls, usual: Iterable[Block], unusual: Iterable[Block], excluded: Excluding
    ) -> tuple[StoredColumns, Ints]:
        """Make arrays of the columns `USUAL` of all pages that were visited, and `UNUSUAL` of some of them.

        Beside them are the identities of all pages, also those that are left out.
        """
        hosts = Hosts()
        parts, named = [], []
        for block in usual:
            fields = dict(zip(USUAL, block, strict=True))
            parts.append(cls._plain(fields, hosts))
            named.append(excluded.is_named(fields["digest"], fields["url"]))
        rows = cls.joined(parts, hosts)
        is_left_out = np.concatenate([*named, np.zeros(0, np.bool_)]) | excluded.is_early(rows)
        for block in unusual:
            is_left_out[rows.add(dict(zip(UNUSUAL, block, strict=True)))] = True
        return rows.without(is_left_out), rows.digest

    @classmethod
    def of_queued(cls, blocks: Iterable[Block], hosts: Hosts, excluded: Excluding) -> StoredColumns:
        """Make arrays of links that were never visited: of their identities, URLs, link scores and births."""
        parts = []
        for digests, linked, scores, births in blocks:
            urls = [normalize(url) for url in linked]
            size = len(urls)
            fields: dict[str, Sequence[Any]] = {
                "digest": digests, "url": urls, "kind": [class_of(url, is_hub=False) for url in urls],
                "visited_at": [None] * size, "rate_a": [None] * size, "rate_b": [None] * size, "first_seen": [inf] * size,
                "relevance": [None if score is None else score / SCALES["link"] for score in scores],
            }  # fmt: skip
            part = cls._plain(fields, hosts)
            part.numbers["born_at"] = _floats(births)
            parts.append(part.without(excluded.is_named(digests, urls)))
        return cls.joined(parts, hosts)

    @classmethod
    def _plain(cls, fields: Mapping[str, Sequence[Any]], hosts: Hosts) -> StoredColumns:
        """Make rows of which nothing else is known."""
        size = len(fields["url"])
        kind = np.fromiter(map(_KINDS.__getitem__, fields["kind"]), np.int64, size)
        return cls(
            digest=np.array(fields["digest"], dtype=np.int64),
            host=hosts.numbers(fields["url"]),
            kind=kind,
            numbers={name: _floats(fields[name]) for name in _USUAL_NUMBERS},
            dated=_dated(fields["url"], kind),
            listed=np.zeros(size, np.bool_),
            hosts=hosts,
            hubs=np.zeros(0, np.int64),
            hours=np.zeros((0, DAY_H)),
        )

    def add(self, fields: Mapping[str, Sequence[Any]]) -> Ints:
        """Add what is known of some rows; returns those that have moved. Rows that were added meanwhile are not ours."""
        digest = np.array(fields["digest"], dtype=np.int64)
        ours = np.flatnonzero(are_among(self.digest, digest))
        place = np.searchsorted(self.digest, digest[ours])

        for name in _UNUSUAL_NUMBERS:
            self.numbers[name][place] = _floats(fields[name])[ours]
        self.listed[place] = [fields["lastmod"][number] is not None for number in ours.tolist()]
        hours = fields["hours"]
        busy = [number for number in ours.tolist() if hours[number] is not None]
        if busy:
            self.hubs = np.concatenate([self.hubs, np.searchsorted(self.digest, digest[busy])])
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

    @classmethod
    def joined(cls, parts: Sequence[StoredColumns], hosts: Hosts) -> StoredColumns:
        """Join the arrays of all rows."""
        empty = dict.fromkeys((*USUAL[:2], *_USUAL_NUMBERS, "kind"), ())
        parts = [*parts, cls._plain(empty, hosts)]

        def join(name: str) -> Any:
            return np.concatenate([getattr(part, name) for part in parts])

        def join_numbers(name: str) -> Floats:
            empty = 0.0 if name == "failures" else np.nan
            if not any(name in part.numbers for part in parts):
                return np.full(before[-1], empty)
            return np.concatenate(
                [part.numbers.get(name, np.full(len(part.digest), empty)) for part in parts]
            )

        before = np.cumsum([0, *(len(part.digest) for part in parts)])
        return cls(
            **{name: join(name) for name in ("digest", "host", "kind", "dated", "listed", "hours")},
            numbers={name: join_numbers(name) for name in (*_USUAL_NUMBERS, *_UNUSUAL_NUMBERS)},
            hosts=hosts,
            hubs=np.concatenate([part.hubs + first for part, first in zip(parts, before, strict=False)]),
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


def _floats(values: Sequence[Any]) -> Floats:
    return np.array(values, dtype=float)


def _dated(urls: Sequence[str], kind: Ints) -> Floats:
    """Read the dates in the addresses of articles."""
    dated = np.full((len(urls), 2), np.nan)
    for place in np.flatnonzero(kind == ARTICLE).tolist():
        if (span := published_span(urls[place])) is not None:
            dated[place] = span
    return dated
