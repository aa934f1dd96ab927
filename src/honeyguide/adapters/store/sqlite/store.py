"""The store in one SQLite file: opening it, checking that it is ours and whole, and its runs.

Owns: the file, its schema and version. Must not know: jobs; what queues and history keep is their business. Start
reading at `SqliteStore`.

One connection writes, in WAL mode. Pages may share a commit, and other processes wait for it with theirs. A commit does
not wait for the disk (`synchronous = NORMAL`): killing the process loses nothing that was committed; a power cut may
lose the last commits, but never leaves half of one.
"""

from __future__ import annotations

# ruff: noqa: D102 - ports/store.py says what the methods promise
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Self

from honeyguide.adapters.store.common.contents import SqlContents
from honeyguide.adapters.store.common.database import named_queries, sql_text
from honeyguide.adapters.store.common.history import SqlHistory
from honeyguide.adapters.store.common.queue import SqlQueue
from honeyguide.adapters.store.common.runs import SqlRuns
from honeyguide.adapters.store.common.workers import SqlWorkers
from honeyguide.adapters.store.sqlite.database import BUSY_S, SqliteDatabase, check_schema, statements
from honeyguide.adapters.store.sqlite.files import (
    has_log,
    is_held,
    log_bytes,
    open_to_check,
    open_to_read,
    open_to_write,
    state_of,
)
from honeyguide.errors import SchemaMismatchError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.core.crawl.frontier import Run
    from honeyguide.ports.fetch import Clock


APPLICATION_ID = 0x486F6E79  # "Hony"
VERSION = 11  # of sql/schema.sql
_OLDEST = 10  # that sql/migrations.sql brings up to date
_MAGIC = b"SQLite format 3\x00"
_READING = ("cache_size = -32000", "temp_store = MEMORY")  # KiB
_SETTINGS = (
    "journal_mode = WAL",  # once in a file's life
    "synchronous = NORMAL",
    *_READING,
    "wal_autocheckpoint = 0",  # see `_mark_log`
    "secure_delete = FAST",  # rows that were moved leave nothing behind that a deleted run could be read from
)
_NO_LIMIT = 2**62
_LOG_BYTES = 16 * 2**20  # moving the log over is cheaper in larger portions
_LOG_MISSING = (
    "was copied without its log, so it lacks what was committed last; copy the file that ends in -wal, too,"
    " or stop the crawl that works on the store before it is copied"
)
_NOT_OURS = "is no Honeyguide store; name another file"
_NEWER = "was written by a newer Honeyguide (version {} of the store); upgrade, or name another file"
_OLDER = "was written by an older Honeyguide (version {} of the store), which this one cannot read; name another file"
_UNMIGRATED = "was written by an older Honeyguide (version {} of the store); let a command that may write open it once, such as honeyguide crawl, or name another file"


class SqliteStore:
    """A `Store` in a file; made if it is not there, or only read."""

    _sql = named_queries("sqlite", "runs")
    lease_s = inf  # processes of this machine can be seen
    clock: Clock | None = None

    def __init__(self, path: str | Path, *, busy_s: float = BUSY_S, read_only: bool = False) -> None:
        self.path = str(path)
        self._log_limit = _NO_LIMIT if read_only else 0
        # Another process may make the log while we look for it, so a missing one is looked for twice.
        if not self._open(busy_s, read_only=read_only) and not self._open(busy_s, read_only=read_only):
            raise StoreError(self.path, _LOG_MISSING)
        self.runs = SqlRuns(self._db)
        self.history = SqlHistory(self._db)
        self.contents = SqlContents(self._db)
        self._workers = SqlWorkers(self._db)
        self._queues: dict[int, SqlQueue] = {}
        self._is_closed = False

    def queue(self, run: Run) -> SqlQueue:
        """Open the queue of a run; there is one, as it remembers what it has read."""
        if run.id not in self._queues:
            self._queues[run.id] = SqlQueue(self._db, run.id, self._workers, self.history)
        return self._queues[run.id]

    ledger = queue

    # --- transactions ---

    @contextmanager
    def transaction(self) -> Iterator[None]:
        try:
            yield
        except BaseException:  # clean up after any exception, then re-raise it
            self._db.undo()
            self._forget()
            raise

    def flush(self) -> None:
        """Commit."""
        with self.transaction():
            self._db.flush()
        if log_bytes(self.path) > self._log_limit:
            self._mark_log()

    def _mark_log(self) -> None:
        """Move the log over to the file, and note in the file that the log has more from now on."""
        self._db.write(self._sql["set_more"], (1,))
        self._db.flush()
        self._db.one("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.write(self._sql["set_more"], (0,))
        self._db.flush()
        self._log_limit = log_bytes(self.path) + _LOG_BYTES

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
        """Let go without a commit, as a process does that is killed: here for tests, which cannot have one killed each time."""
        self._workers.leave()
        self._db.close()

    def check(self) -> tuple[str, ...]:
        """Look through the whole file; gives what is wrong with it."""
        found = [str(row[0]) for row in self._db.all("PRAGMA integrity_check")]
        return () if found == ["ok"] else tuple(found)

    @property
    def size(self) -> int:
        """How many bytes the file has."""
        return Path(self.path).stat().st_size

    def delete(self, run: Run, now: float) -> None:
        """Delete a run, and what is known of URLs that no other run has met; refused while a crawl works on the store."""
        self._check_idle(now)
        self._db.one("PRAGMA secure_delete = ON")  # what is deleted is not left in free pages of the file
        for statement in statements(self._sql["delete"]):
            self._db.write(statement, {"run": run.id} if ":run" in statement else {})
        self.flush()
        self._queues.pop(run.id, None)

    def compact(self, now: float) -> None:
        """Give the room of what was deleted back to the disk."""
        self._check_idle(now)
        self.flush()
        self._db.one("PRAGMA temp_store = FILE")  # the copy may be larger than memory
        self._db.one("VACUUM")
        self._mark_log()

    def _check_idle(self, now: float) -> None:
        self._workers.dismiss_gone()
        if self._db.one(self._sql["is_worked_on"], (self._workers.id, now))[0]:
            self._db.undo()
            raise StoreError(self.path, "a crawl works on it; stop that first, or wait until it has ended")

    # --- opening ---

    def _open(self, busy_s: float, *, read_only: bool) -> bool:
        """Open the file and check whose it is; False, and closed again, if its log is missing.

        A log that is there but empty is all that a kill has left.
        """
        is_new = not _check_file(Path(self.path), read_only=read_only)
        has_had_log = is_new or is_held(self.path) or log_bytes(self.path) >= 0
        if not (is_new or read_only or is_held(self.path)):
            self._check_first(busy_s)
        self._db = SqliteDatabase(self.path, busy_s, open_to_read if read_only else open_to_write)
        try:
            self._prepare(read_only=read_only)
            has_more = bool(self._db.one(self._sql["has_more"])[0])
            if has_more and has_had_log and not read_only:
                self._db.write(self._sql["set_more"], (0,))
                self._db.flush()
        except BaseException:  # clean up after any exception, then re-raise it
            self._db.close()
            raise
        if has_more and not has_had_log:
            self._db.close()
            return False
        return True

    def _check_first(self, busy_s: float) -> None:
        """Check whose file it is before anything of it is changed; again, if somebody has written to it meanwhile."""
        while True:
            before = state_of(self.path)
            self._db = SqliteDatabase(self.path, busy_s, open_to_check)
            try:
                self._check(read_only=False)
            except StoreError:
                if state_of(self.path) == before:
                    raise
            else:
                return
            finally:
                self._db.close()

    def _prepare(self, *, read_only: bool) -> None:
        """Check whose file it is; a new one gets its tables."""
        version = self._check(read_only=read_only)
        for pragma in _READING if read_only else _SETTINGS:
            self._db.one(f"PRAGMA {pragma}")
        if version < VERSION:
            self._migrate() if version else self._create()
            check_schema(self._db, _script(VERSION))

    def _check(self, *, read_only: bool) -> int:
        """Refuse what is not ours; returns the version, which a file has that has tables."""
        application, version, has_tables = self._db.one(self._sql["identity"])
        if application != APPLICATION_ID and (application or has_tables or read_only):
            raise SchemaMismatchError(self.path, _NOT_OURS)
        if version > VERSION:
            raise SchemaMismatchError(self.path, _NEWER.format(version))
        if version < _OLDEST and (version or has_tables):
            raise SchemaMismatchError(self.path, _OLDER.format(version))
        if _OLDEST <= version < VERSION and read_only:
            raise SchemaMismatchError(self.path, _UNMIGRATED.format(version))
        if version:
            check_schema(self._db, _script(version))
        return int(version)

    def _migrate(self) -> None:
        """Bring the tables up to date, version by version; another process may have been faster."""
        self._db.begin_write()
        (version,) = self._db.one("PRAGMA user_version")
        for number in range(version + 1, VERSION + 1):
            self._db.script(self._db.queries("migrations")[f"to_{number}"])
            self._db.write(f"PRAGMA user_version = {number}")
        self._db.flush()

    def _create(self) -> None:
        """Make the tables; another process may have been faster."""
        self._db.begin_write()
        if not self._db.one("PRAGMA user_version")[0]:
            self._db.script(sql_text("sqlite", "schema.sql"))
            self._db.write(self._sql["add_log"])
            self._db.write(self._sql["add_kept"])
            self._db.write(f"PRAGMA user_version = {VERSION}")
            self._db.write(f"PRAGMA application_id = {APPLICATION_ID}")
        self._db.flush()


def _script(version: int) -> str:
    """Return what makes the tables of a version."""
    older = [
        named_queries("sqlite", "migrations")[f"from_{number}"] for number in range(VERSION, version, -1)
    ]
    return "\n".join([sql_text("sqlite", "schema.sql"), *older])


def _check_file(path: Path, *, read_only: bool) -> bool:
    """Refuse what SQLite would misread: other files, and databases that were cut off; False if there is none yet."""
    try:
        if not read_only and (not path.exists() or (path.is_file() and path.stat().st_size == 0)):
            return False
        if is_held(str(path)):
            return True  # it was checked when it was first opened; a second look would drop the locks on it
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
    return True


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(100)
