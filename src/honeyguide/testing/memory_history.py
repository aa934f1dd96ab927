"""History in memory: a part of `MemoryStore`, the plain model of a store.

Owns: `MemoryHistory`. Must not know: SQL, jobs.
"""

from __future__ import annotations

# ruff: noqa: D102 - ports/store.py says what the methods promise
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from honeyguide.core.crawl.frontier import QueuedUrl, State
from honeyguide.core.recrawl.clocks import SiteAges
from honeyguide.core.recrawl.history import UNKNOWN_SITE, SeenContent, site_of
from honeyguide.core.recrawl.priors import Watched
from honeyguide.core.recrawl.visits import births_of, heir_of, next_known, next_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from honeyguide.core.recrawl.clocks import AgeProfile
    from honeyguide.core.recrawl.history import HistoryEntry, Site, Visit
    from honeyguide.core.recrawl.priors import PageClass
    from honeyguide.core.recrawl.rate import Rate
    from honeyguide.testing.memory_run import MemoryRuns


class MemoryHistory:
    """A `History` in memory."""

    def __init__(self, runs: MemoryRuns) -> None:
        self._runs = runs
        self._known: dict[int, HistoryEntry] = {}
        self._visits: list[tuple[int, Visit]] = []
        self._lastmods: dict[int, str] = {}
        self._born: dict[int, float] = {}
        self._sites: dict[str, Site] = {}
        self._every: dict[PageClass, AgeProfile] = {}

    def record(self, visit: Visit, run: int) -> HistoryEntry:
        old = self.get(visit.digest)
        if old is None and visit.moved_from is not None:
            old = heir_of(self.get(visit.moved_from), visit)
        name = site_of(visit.url)
        site = self.site(name)
        known = self._known[visit.digest] = next_known(old, visit, site, run)
        if not visit.is_redirect_source:
            self._visits.append((run, visit))
        learned = next_site(site, old, visit)
        if learned is not site:
            self._sites[name] = learned
            self._every.update((kind, ages.every) for kind, ages in learned.ages.items())
        for digest, at in births_of(old, visit):
            self._born.setdefault(digest, at)
        return known

    def get(self, digest: int) -> HistoryEntry | None:
        known = self._known.get(digest)
        if known is None:
            return None
        return known._replace(lastmod=self._lastmods.get(digest), born_at=self._born.get(digest))

    def known(self, after: int | None = None) -> Iterator[HistoryEntry]:
        for digest in sorted(self._known):
            if (after is None or digest > after) and (known := self.get(digest)) is not None:
                yield known

    def visits(self, digest: int) -> list[tuple[int, float, int | None]]:
        return [(run, visit.at, visit.status) for run, visit in self._visits if visit.digest == digest]

    def latest_visits(self, limit: int, since: float) -> Sequence[float]:
        del since
        return [visit.at for _, visit in islice(reversed(self._visits), limit)]

    def contents(self) -> Iterator[SeenContent]:
        for visit in sorted((visit for _, visit in self._visits), key=lambda visit: visit.digest):
            known = self._known[visit.digest]
            if visit.content is not None:
                yield SeenContent(known.url, known.relevance, known.kind, visit.at, visit.content)

    def rates(self, limit: int) -> Iterator[Watched]:
        rated = (
            Watched(known.site, known.kind, known.rate) for known in self.known() if known.rate is not None
        )
        return islice(rated, limit)

    def unvisited(self) -> Iterator[QueuedUrl]:
        newest: dict[int, int] = {}
        queued = [
            (run, e)
            for run, data in self._runs.data.items()
            for e in data.by_id
            if e.state == State.QUEUED and e.found.site is not None
        ]
        newest.update((e.found.digest, run) for run, e in queued)
        for run, entry in queued:
            digest, found = entry.found.digest, entry.found
            if newest[digest] == run and digest not in self._known:
                yield QueuedUrl(digest, entry.url.text, found.score, found.hub_depth, self._born.get(digest))

    def find_unvisited(self, digest: int) -> QueuedUrl | None:
        return next((one for one in self.unvisited() if one.digest == digest), None)

    def scheduled(self) -> frozenset[int]:
        entries = (entry for data in self._runs.data.values() for entry in data.by_id)
        return frozenset(e.found.digest for e in entries if e.is_due and e.state != State.DROPPED)

    def note_lastmods(self, lastmods: Iterable[tuple[int, str]]) -> None:
        self._lastmods.update(lastmods)

    def site(self, name: str) -> Site:
        site = self._sites.get(name, UNKNOWN_SITE)
        if not self._every:
            return site
        ages: dict[PageClass, SiteAges] = {}
        for kind, every in self._every.items():
            own = site.aged(kind).own
            ages[kind] = SiteAges.of(kind, (own.found, own.expected), (every.found, every.expected))
        return replace(site, ages=ages)

    def save_priors(self, name: str, priors: Mapping[PageClass, Rate]) -> None:
        site = self.site(name)
        self._sites[name] = replace(site, priors={**site.priors, **priors})
