"""The store in memory: the same promises as the SQLite store, but for surviving the process.

Owns: `MemoryStore`. For tests, for short crawls without a file, and as the plain model of what a store is.
Must not know: SQL, jobs. Start reading at `MemoryStore`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from honeyguide.core.crawl.frontier import Run
from honeyguide.core.recrawl.clocks import SiteAges
from honeyguide.core.recrawl.history import UNKNOWN_SITE, site_of
from honeyguide.core.recrawl.visits import births_of, heir_of, next_known, next_site
from honeyguide.testing.memory_frontier import MemoryFrontier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from honeyguide.core.crawl.frontier import RunSpec
    from honeyguide.core.recrawl.clocks import AgeProfile
    from honeyguide.core.recrawl.history import HistoryEntry, Site, Visit
    from honeyguide.core.recrawl.priors import PageClass
    from honeyguide.core.recrawl.rate import Rate


class MemoryHistory:
    """A `History` in memory."""

    def __init__(self) -> None:
        self._known: dict[int, HistoryEntry] = {}
        self._visits: dict[int, list[tuple[int, float, int | None]]] = {}
        self._lastmods: dict[int, str] = {}
        self._born: dict[int, float] = {}
        self._sites: dict[str, Site] = {}
        self._every: dict[PageClass, AgeProfile] = {}

    def record(self, visit: Visit, run: int) -> HistoryEntry:
        """Note a visit."""
        old = self.get(visit.digest)
        if old is None and visit.moved_from is not None:
            old = heir_of(self.get(visit.moved_from), visit)
        name = site_of(visit.url)
        site = self.site(name)
        known = self._known[visit.digest] = next_known(old, visit, site, run)
        if not visit.is_redirect_source:
            self._visits.setdefault(visit.digest, []).append((run, visit.at, visit.status))
        learned = next_site(site, old, visit)
        if learned is not site:
            self._sites[name] = learned
            self._every.update((kind, ages.every) for kind, ages in learned.ages.items())
        for digest, at in births_of(old, visit):
            self._born.setdefault(digest, at)
        return known

    def get(self, digest: int) -> HistoryEntry | None:
        """Give what is known of a URL."""
        known = self._known.get(digest)
        if known is None:
            return None
        return known._replace(lastmod=self._lastmods.get(digest), born_at=self._born.get(digest))

    def known(self, after: int | None = None) -> Iterator[HistoryEntry]:
        """Give everything that is known, in the order of identities."""
        for digest in sorted(self._known):
            if (after is None or digest > after) and (known := self.get(digest)) is not None:
                yield known

    def visits(self, digest: int) -> list[tuple[int, float, int | None]]:
        """Give the visits of a URL: run, time, status; oldest first."""
        return list(self._visits.get(digest, ()))

    def note_lastmods(self, lastmods: Iterable[tuple[int, str]]) -> None:
        """Note what sitemaps say of pages, visited or not."""
        self._lastmods.update(lastmods)

    def site(self, name: str) -> Site:
        """Give what is known of a site as a whole."""
        site = self._sites.get(name, UNKNOWN_SITE)
        if not self._every:
            return site
        ages: dict[PageClass, SiteAges] = {}
        for kind, every in self._every.items():
            own = site.aged(kind).own
            ages[kind] = SiteAges.of(kind, (own.found, own.expected), (every.found, every.expected))
        return replace(site, ages=ages)

    def save_priors(self, name: str, priors: Mapping[PageClass, Rate]) -> None:
        """Note the usual change rate of a site's pages, by kind."""
        site = self.site(name)
        self._sites[name] = replace(site, priors={**site.priors, **priors})


class MemoryRuns:
    """The `Runs` of a store in memory."""

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self.queues: dict[int, MemoryFrontier] = {}

    def begin(self, spec: RunSpec, now: float, *, fresh: bool = False) -> Run:
        """Resume the run of that key, or start one; `fresh` always starts one."""
        found = [run for run in self.list() if run.spec.key == spec.key]
        if found and not fresh:
            return found[-1]
        run = Run(len(self._runs) + 1, spec, now, now)
        self._runs.append(run)
        self.queues[run.id] = MemoryFrontier()
        return run

    def end(self, run: Run, why: str, now: float) -> None:
        """Note why a process stopped working on a run."""
        old = self._runs[run.id - 1]
        self._runs[run.id - 1] = replace(old, stopped=why, updated_at=max(old.updated_at, now))

    def list(self) -> Sequence[Run]:
        """List all runs, oldest first."""
        counted = ((run, self.queues[run.id]) for run in self._runs)
        return [replace(run, fetched=queue.fetched, claims=queue.claims) for run, queue in counted]


class MemoryStore:
    """A `Store` in memory. A transaction that fails is not undone: whoever sees the error has no store to go on with."""

    def __init__(self) -> None:
        self.history = MemoryHistory()
        self.runs = MemoryRuns()

    def queue(self, run: Run) -> MemoryFrontier:
        """Open the queue of a run."""
        return self.runs.queues[run.id]

    ledger = queue

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do several things as one."""
        yield

    all_or_nothing = transaction

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing is held."""
