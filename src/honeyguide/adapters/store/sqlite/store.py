"""The store in one SQLite file: opening it, checking that it is ours and whole, and its runs.

Owns: the file, its schema and versions, who is working on it. Must not know: jobs; what frontier and history keep is
their business. Start reading at `SqliteStore`.

One connection writes, in WAL mode. Transactions may share a commit, and other processes wait for it with theirs. A
commit does not wait for the disk (`synchronous = NORMAL`): killing the process loses nothing that was committed; a power
cut may lose the last commits, but never leaves half of one.
"""

from __future__ import annotations

from dataclasses import astuple, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.store.sqlite.database import (
    BUSY_S,
    Database,
    checked,
    moment,
    queries,
    reads,
    sql_text,
)
from honeyguide.adapters.store.sqlite.files import has_log, is_held
from honeyguide.adapters.store.sqlite.history import SqliteHistory
from honeyguide.adapters.store.sqlite.queue import SqliteFrontier
from honeyguide.adapters.store.sqlite.schema import check_schema
from honeyguide.adapters.store.sqlite.workers import SqliteOwners
from honeyguide.core.crawl.frontier import Run, RunSpec
from honeyguide.errors import SchemaMismatchError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager


APPLICATION_ID = 0x486F6E79  # "Hony"
# The version of a file is how many of these it has.
MIGRATIONS = ("001_store.sql", "002_history.sql", "003_ages.sql")
_MAGIC = b"SQLite format 3\x00"
_READING = ("cache_size = -32000", "temp_store = MEMORY")  # KiB
_SETTINGS = (
    "journal_mode = WAL",  # once in a file's life
    "synchronous = NORMAL",
    *_READING,
    "wal_autocheckpoint = 4000",  # pages: moving the log over is cheaper in larger portions
    "journal_size_limit = 67108864",
)
_NOT_OURS = "is no Honeyguide store; name another file"
_OLDER = (
    "was written by an older Honeyguide (version {version} of the store), and is only read here;"
    " honeyguide crawl --due --store FILE brings it up to date, or a copy of it where it cannot be written"
)


class SqliteStore:
    """A `Store` in a file; made if it is not there, or only read."""

    def __init__(self, path: str | Path, *, busy_s: float = BUSY_S, read_only: bool = False) -> None:
        self.path = str(path)
        _check_file(Path(path), read_only=read_only)
        self._db = Database(self.path, busy_s, read_only=read_only)
        try:
            self._prepare(read_only=read_only)
        except BaseException:  # put in order whatever it is, and raised again
            self._db.close()
            raise
        self.history = SqliteHistory(self._db)
        self.runs = SqliteRuns(self)
        self._owners = SqliteOwners(self._db)
        self.queues: dict[int, SqliteFrontier] = {}
        self._undoing = _Undoing(self._undo)

    def queue(self, run: Run) -> SqliteFrontier:
        """Give the queue of a run; there is one, as it keeps what is not yet written."""
        if run.id not in self.queues:
            self.queues[run.id] = SqliteFrontier(self._db, run.id, self._owners)
        return self.queues[run.id]

    def ledger(self, run: Run) -> SqliteFrontier:
        """Open a run to read it."""
        return self.queue(run)

    # --- transactions ---

    def transaction(self) -> AbstractContextManager[None]:
        """Do several things as one; `flush` commits."""
        waiting = {number: len(frontier.counters) for number, frontier in self.queues.items()}
        return self._db.transaction(partial(self._forget, waiting))

    def all_or_nothing(self) -> AbstractContextManager[None]:
        """Do several things as one; if they fail, everything since the last commit is undone."""
        return self._undoing

    def _undo(self) -> None:
        self._db.undo()
        self._forget({})

    def flush(self) -> None:
        """Commit."""
        with self.all_or_nothing():
            for frontier in self.queues.values():
                frontier.counters.write()
            self._db.flush()

    def _forget(self, waiting: Mapping[int, int]) -> None:
        """Forget what was undone; the first so many steps of a frontier still wait for a commit."""
        for number, frontier in self.queues.items():
            frontier.counters.keep(waiting.get(number, 0))
            frontier.forget()
        self.history.forget()
        self._owners.look_again()

    def close(self) -> None:
        """Commit and let go."""
        self._owners.leave()
        try:
            self._owners.disown()
            self.flush()
        finally:
            self._db.close()

    def abandon(self) -> None:
        """Let go without a commit, as a process does that is killed: here for tests, which cannot have one killed each time."""
        self._owners.leave()
        self._db.close()

    def check(self) -> tuple[str, ...]:
        """Look through the whole file; gives what is wrong with it."""
        found = [str(row[0]) for row in self._db.all("PRAGMA integrity_check")]
        return () if found == ["ok"] else tuple(found)

    # --- opening ---

    @reads
    def _prepare(self, *, read_only: bool) -> None:
        """Check whose file it is, and bring it up to date, unless it is only read."""
        application, version = self._pragma("application_id"), self._pragma("user_version")
        has_tables = self._db.one("SELECT count(*) FROM sqlite_schema")[0] > 0
        if application != APPLICATION_ID and (application or has_tables or read_only):
            raise SchemaMismatchError(self.path, _NOT_OURS)
        if not 0 <= version <= len(MIGRATIONS):
            raise SchemaMismatchError(
                self.path,
                f"was written by a newer Honeyguide (version {version} of the store); upgrade, or name another file",
            )
        if read_only and version < len(MIGRATIONS):
            raise SchemaMismatchError(self.path, _OLDER.format(version=version))
        for pragma in _READING if read_only else _SETTINGS:
            self._db.one(f"PRAGMA {pragma}")
        if version < len(MIGRATIONS):
            self._migrate()
        check_schema(self._db, tuple(map(sql_text, MIGRATIONS)))

    def _migrate(self) -> None:
        """Apply what is missing; another process may have been faster."""
        with self._db.transaction():
            for number in range(self._pragma("user_version"), len(MIGRATIONS)):
                self._db.script(sql_text(MIGRATIONS[number]))
                self._db.write(f"PRAGMA user_version = {number + 1}")
            self._db.write(f"PRAGMA application_id = {APPLICATION_ID}")
        self._db.flush()

    def _pragma(self, name: str) -> int:
        return int(self._db.one(f"PRAGMA {name}")[0])


class SqliteRuns:
    """The `Runs` of a store."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._db = store._db  # noqa: SLF001 - a part of it

    @reads
    def begin(self, spec: RunSpec, now: float, *, fresh: bool = False) -> Run:
        """Go on with the run of that key, or start one; `fresh` always starts one."""
        sql = queries("runs")
        self._store.flush()  # what waits counts in the run
        with self._db.transaction():
            found = None if fresh else self._db.one(sql["latest"], (spec.key,))
            if found is None:
                values = (*astuple(spec), now, now)
                number = self._db.write(sql["create"], values).lastrowid or 0
                run = Run(number, spec, now, now)
            else:
                run = _run(found)
                self._db.write(sql["resume"], (spec.request, now, run.id))
        self._store.flush()
        return run

    def end(self, run: Run, why: str, now: float) -> None:
        """Note why a process stopped working on a run."""
        self._db.write(queries("runs")["end"], (why, now, run.id))
        self._store.flush()

    @reads
    def list(self) -> Sequence[Run]:
        """Give all runs, oldest first."""
        return [self._as_counted(_run(row)) for row in self._db.all(queries("runs")["all"])]

    def _as_counted(self, run: Run) -> Run:
        """Add what waits for a commit."""
        if run.id not in self._store.queues:
            return run
        fetched, _, claims = self._store.queues[run.id].counters.budget()
        return replace(run, fetched=run.fetched + fetched, claims=run.claims + claims)


class _Undoing:
    """Calls `undo` where what it surrounds fails, whatever that is; one for all, as every page needs it twice."""

    def __init__(self, undo: Callable[[], None]) -> None:
        self._undo = undo

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._undo()


def _check_file(path: Path, *, read_only: bool) -> None:
    """Refuse what SQLite would misread: other files, and databases that were cut off."""
    try:
        if not read_only and (not path.exists() or (path.is_file() and path.stat().st_size == 0)):
            return
        if is_held(str(path)):
            return  # it was checked when it was first opened; a second look would drop the locks on it
        head = b"" if path.is_fifo() else _head(path)  # a pipe would be waited for without end
        is_logged = has_log(str(path))
    except (OSError, ValueError) as error:
        raise StoreError(
            str(path), f"cannot be opened: {getattr(error, 'strerror', None) or error}"
        ) from None
    if not head.startswith(_MAGIC[: len(head)]) or len(head) < len(_MAGIC):
        raise SchemaMismatchError(str(path), _NOT_OURS)
    page_bytes = int.from_bytes(head[16:18], "big")
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    expected = page_bytes * int.from_bytes(head[28:32], "big")
    # With a log the file may lawfully be behind: whoever was killed in the middle of moving it over left both.
    if len(head) < 100 or (not is_logged and path.stat().st_size < expected):
        raise StoreError(str(path), "is cut off; restore it from a copy, or name another file")


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(100)


def _run(row: tuple[Any, ...]) -> Run:
    (
        number,
        key,
        command,
        topic,
        profile,
        profile_hash,
        started_at,
        updated_at,
        claims,
        fetched,
        _,
        stopped,
        request,
    ) = checked(row, "issSssffiiiSS")
    spec = RunSpec(key, command, topic, profile, profile_hash, request)
    moment(started_at), moment(updated_at)
    return Run(number, spec, started_at, updated_at, fetched, claims, stopped)
