"""The store in a PostgreSQL database: opening it, making its tables, and the clock of all workers.

Owns: the schema `honeyguide` of the database and its version. Must not know: jobs. Start reading at `PostgresStore`.
"""

from __future__ import annotations

# ruff: noqa: D102 - ports/store.py says what the methods promise
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from honeyguide.adapters.clock import SystemClock
from honeyguide.adapters.store.common.contents import SqlContents
from honeyguide.adapters.store.common.database import sql_text
from honeyguide.adapters.store.common.history import SqlHistory
from honeyguide.adapters.store.common.runs import SqlRuns
from honeyguide.adapters.store.common.workers import SqlWorkers
from honeyguide.adapters.store.postgres.database import PostgresDatabase
from honeyguide.adapters.store.postgres.queue import PostgresQueue
from honeyguide.errors import SchemaMismatchError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from honeyguide.core.crawl.frontier import Run
    from honeyguide.ports.store import KeptPage

VERSION = 3  # of sql/schema.sql
LEASE_S = 60.0  # without a heartbeat; others are on other machines, and cannot see that a process is gone
_ASKED = 5  # how often the server is asked for the time
_NO_STORE = "has no Honeyguide store; honeyguide crawl makes one"
_OLDER = "was written by an older Honeyguide (version {} of the store); open it once with a role that may write, or name another database"
_NEWER = "was written by a newer Honeyguide (version {} of the store); upgrade, or name another database"


class PostgresStore:
    """A `Store` in a database; its tables are made if they are not there, unless it is only read."""

    lease_s = LEASE_S

    def __init__(self, url: str, *, create: bool = True, read_only: bool = False) -> None:
        self._db = PostgresDatabase(url, read_only=read_only)
        self.path = self._db.path
        self._sql = self._db.queries("runs")
        try:
            self._open(create=create and not read_only)
        except BaseException:  # clean up after any exception, then re-raise it
            self._db.close()
            raise
        self._db.on_lost = self._forget
        self.runs = SqlRuns(self._db)
        self.history = SqlHistory(self._db)
        self.contents = PostgresContents(self._db)
        self._workers = SqlWorkers(self._db)
        self._queues: dict[int, PostgresQueue] = {}
        self._is_closed = False
        self.clock = StoreClock(lambda: self._db.one(self._sql["now"])[0])

    def _open(self, *, create: bool) -> None:
        if not self._db.one(self._sql["has_tables"])[0]:
            if not create:
                raise StoreError(self.path, _NO_STORE)
            self._create()
        (version,) = self._db.one(self._sql["version"])
        if version > VERSION:
            raise SchemaMismatchError(self.path, _NEWER.format(version))
        if version < VERSION and self._db.is_read_only:
            raise SchemaMismatchError(self.path, _OLDER.format(version))
        if version < VERSION:
            self._migrate()

    def _migrate(self) -> None:
        """Bring the tables up to date, version by version; another worker may have been faster."""
        self._db.lock("schema")
        (version,) = self._db.one(self._sql["version"])
        for number in range(version + 1, VERSION + 1):
            self._db.script(self._db.queries("migrations")[f"to_{number}"])
            self._db.write("UPDATE meta SET version = $1", (number,))
        self._db.flush()

    def _create(self) -> None:
        """Make the tables; another worker may have been faster."""
        self._db.lock("schema")
        if not self._db.one(self._sql["has_tables"])[0]:
            self._db.write("CREATE SCHEMA IF NOT EXISTS honeyguide")
            self._db.script(sql_text("postgres", "schema.sql"))
            self._db.write("INSERT INTO meta (version) VALUES ($1)", (VERSION,))
        self._db.flush()

    def queue(self, run: Run) -> PostgresQueue:
        """Open the queue of a run; there is one, as it remembers what it has read."""
        if run.id not in self._queues:
            self._queues[run.id] = PostgresQueue(self._db, run.id, self._workers, self.history)
        return self._queues[run.id]

    ledger = queue

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """As the port says; each page and each claim is a transaction of its own, so that nobody waits for another's."""
        try:
            yield
            self._db.flush()
        except BaseException:  # clean up after any exception, then re-raise it
            self._db.undo()
            self._forget()
            raise

    def flush(self) -> None:
        with self.transaction():
            self._db.flush()

    def _forget(self) -> None:
        """Forget what was undone."""
        for queue in self._queues.values():
            queue.forget()
        self.history.forget()
        self._workers.forget()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._workers.leave()
        try:
            self._workers.dismiss()
            self.flush()
        finally:
            self._db.close()

    def abandon(self) -> None:
        """Let go without a commit, as a process does that is killed: for tests."""
        self._workers.leave()
        self._db.close()

    def check(self) -> tuple[str, ...]:
        return ()  # PostgreSQL checks itself

    @property
    def size(self) -> int:
        """How many bytes the tables take."""
        return int(self._db.one(self._sql["size"])[0])

    def delete(self, run: Run, now: float) -> None:
        """Delete a run, and what is known of URLs that no other run has met; refused while a crawl works on the store."""
        self._workers.dismiss_gone()
        if self._db.one(self._sql["is_worked_on"], (self._workers.id, now))[0]:
            self._db.undo()
            raise StoreError(self.path, "a crawl works on it; stop that first, or wait until it has ended")
        for statement in self._sql["delete"].split(";\n"):
            self._db.write(statement, (run.id,) if "$1" in statement else ())
        self.flush()
        self._queues.pop(run.id, None)

    def compact(self, _now: float) -> None:
        """Let what was deleted be used again; the database gives room back to the disk by itself."""
        self.flush()
        self._db.vacuum()


class PostgresContents(SqlContents):
    """The `Contents` of a store, whose bodies are committed one by one: all workers count them together."""

    _db: PostgresDatabase

    def keep(self, run: int, claim: int, page: KeptPage, max_bytes: int) -> int:
        return self._db.retried(lambda: super(PostgresContents, self).keep(run, claim, page, max_bytes))


class StoreClock(SystemClock):
    """The clock of a database: all workers go by it, whatever their machines say."""

    def __init__(self, ask: Callable[[], float]) -> None:
        super().__init__()
        answers = []
        for _ in range(_ASKED):
            before = self._passed_s()
            now, after = ask(), self._passed_s()
            answers.append((after - before, now - (before + after) / 2))
        self._epoch = min(answers)[1]  # the fastest answer is wrong by half of its way at most
