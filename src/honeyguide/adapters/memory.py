"""The store in memory: the same promises as the SQLite store, but for surviving the process.

Owns: `MemoryStore`. For tests, for short crawls without a file, and as the plain model of what a store is.
Must not know: SQL, jobs. Start reading at `MemoryStore`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from honeyguide.adapters.memory_frontier import MemoryFrontier
from honeyguide.core.frontier import Run
from honeyguide.core.history import next_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.core.frontier import RunSpec
    from honeyguide.core.history import Known, Visit


class MemoryHistory:
    """A `History` in memory."""

    def __init__(self) -> None:
        self._known: dict[int, Known] = {}
        self._visits: dict[int, list[tuple[int, float, int | None]]] = {}

    def record(self, visit: Visit, run: int) -> Known:
        """Note a visit."""
        known = self._known[visit.digest] = next_known(self._known.get(visit.digest), visit)
        self._visits.setdefault(visit.digest, []).append((run, visit.at, visit.status))
        return known

    def get(self, digest: int) -> Known | None:
        """Give what is known of a URL."""
        return self._known.get(digest)

    def known(self, after: int | None = None) -> Iterator[Known]:
        """Give everything that is known, in the order of identities."""
        return (self._known[digest] for digest in sorted(self._known) if after is None or digest > after)

    def visits(self, digest: int) -> list[tuple[int, float, int | None]]:
        """Give the visits of a URL: run, time, status; oldest first."""
        return list(self._visits.get(digest, ()))


class MemoryStore:
    """A `Store` in memory. A transaction that fails is not undone: whoever sees the error has no store to go on with."""

    def __init__(self) -> None:
        self.history = MemoryHistory()
        self._runs: list[Run] = []
        self._frontiers: dict[int, MemoryFrontier] = {}

    def begin(self, spec: RunSpec, now: float, *, fresh: bool = False) -> Run:
        """Go on with the run of that key, or start one; `fresh` always starts one."""
        found = [run for run in self.runs() if run.spec.key == spec.key]
        if found and not fresh:
            return found[-1]
        run = Run(len(self._runs) + 1, spec, now, now)
        self._runs.append(run)
        self._frontiers[run.id] = MemoryFrontier()
        return run

    def end(self, run: Run, why: str, now: float) -> None:
        """Note why a process stopped working on a run."""
        old = self._runs[run.id - 1]
        self._runs[run.id - 1] = replace(old, stopped=why, updated_at=max(old.updated_at, now))

    def runs(self) -> list[Run]:
        """Give all runs, oldest first."""
        queues = self._frontiers
        return [
            replace(run, fetched=queues[run.id].fetched, claims=queues[run.id].claims) for run in self._runs
        ]

    def frontier(self, run: Run) -> MemoryFrontier:
        """Give the queue of a run."""
        return self._frontiers[run.id]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do several things as one."""
        yield

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing is held."""
