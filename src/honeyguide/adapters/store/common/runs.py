"""The runs of a store.

Owns: reading and writing the table `run`. Must not know: queues, what a command is.
"""

from __future__ import annotations

# ruff: noqa: D102 - ports/store.py says what the methods promise
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.store.common.database import check_numbers, reads
from honeyguide.adapters.store.common.workers import is_alive
from honeyguide.core.crawl.frontier import Run, RunSpec
from honeyguide.ports.store import WorkerState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from honeyguide.adapters.store.common.database import Database


class SqlRuns:
    """The `Runs` of a store."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._sql = db.queries("runs")

    @reads
    def begin(self, spec: RunSpec, now: float, *, restart: bool = False) -> Run:
        self._db.flush()
        self._db.lock("runs")
        found = None if restart else self._db.one(self._sql["latest"], (spec.key,))
        if found is None:
            ((number,),) = self._db.changed(self._sql["create"], (*astuple(spec), now, now))
            run = Run(number, spec, now, now)
        else:
            run = _run(found)
            self._db.write(self._sql["resume"], (spec.request, now, run.id))
        self._db.flush()
        return run

    def end(self, run: Run, why: str, now: float) -> None:
        self._db.write(self._sql["end"], (why, now, run.id))
        self._db.flush()

    def due(self, now: float) -> Sequence[int]:
        self._db.write_waiting()
        return [run for (run,) in self._db.all(self._sql["due"], (now,))]

    @reads
    def workers(self, now: float) -> Sequence[WorkerState]:
        self._db.write_waiting()
        rows = self._db.all(self._sql["list_workers"], (now,))
        alive = (row for *row, token in rows if is_alive(row[1], row[2], token))
        return [WorkerState._make((*row[:-1], bool(row[-1]))) for row in alive]

    def stop_workers(self, now: float, run: int | None = None) -> int:
        self._db.begin_write()
        self._db.changed(self._sql["stop_workers"], (run, now))
        self._db.flush()
        return sum(one.is_stopping for one in self.workers(now))

    @reads
    def list(self) -> Sequence[Run]:
        self._db.write_waiting()
        return [_run(row) for row in self._db.all(self._sql["all"])]


def _run(row: tuple[Any, ...]) -> Run:
    number, *spec, started_at, updated_at, _, fetched, _, _, stopped = row
    check_numbers(started_at, updated_at)
    return Run(number, RunSpec(*spec), started_at, updated_at, fetched, stopped)
