"""One connection to SQLite, and what its errors mean to a person.

Owns: `SqliteDatabase` (a connection whose pages share commits), `translate`, `check_schema`.
Must not know: what the tables mean. Start reading at `SqliteDatabase`.
"""

from __future__ import annotations

# ruff: noqa: D102 - common/database.py says what the methods promise
import os
import re
import sqlite3
import time
from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from honeyguide.adapters.store.common.database import OPENED_TO_READ, ClosedConnection, Database, damaged
from honeyguide.adapters.store.sqlite.files import (
    CHANGED,
    Opened,
    hold,
    identity_of,
    let_go,
    open_to_write,
    state_of,
)
from honeyguide.errors import SchemaMismatchError, StoreBusyError, StoreError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

BUSY_S = 30.0  # another process holds the file for a fraction of a second at a time; this is patience enough
_LOOK_S = 0.001  # between two looks whether it is our turn to write
_ERRORS = (sqlite3.Error, UnicodeDecodeError)  # the latter where a text of the file is none
_GONE = (
    "was deleted or replaced while it was in use, and what was done since then is lost;"
    " run the same command again, which begins with a new store if there is none"
)


class _Translated:
    """Turns SQLite's errors into ours."""

    def __init__(self, path: str, *, read_only: bool) -> None:
        self._path = path
        self._read_only = read_only

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, _ERRORS):
            if (
                self._read_only
                and isinstance(error, sqlite3.Error)
                and _name(error) == "SQLITE_READONLY"  # others name a file that cannot be written
            ):
                raise StoreError(self._path, OPENED_TO_READ) from error
            raise translate(error, self._path) from error


class SqliteDatabase(Database):
    """One connection to a file. Whoever writes has the write lock of the file until the commit."""

    folder = "sqlite"
    listed = "SELECT value FROM json_each(?)"

    def __init__(
        self, path: str, busy_s: float = BUSY_S, open_file: Callable[[str], Opened] = open_to_write
    ) -> None:
        super().__init__(path)
        self._busy_s = busy_s
        self._translated = _Translated(path, read_only=open_file is not open_to_write)
        with self._translated:
            self._connection, self._state = open_file(path)
        self._file = os.path.abspath(path)  # noqa: PTH100 - the path as it is; pathlib would tidy it
        self._identity = identity_of(self._file)
        self._version = (-1, -1)  # of the data, and the turn in which it was read
        hold(path)
        self._is_open = True

    def _run(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run a statement. Who is in its way lets go for moments only; SQLite itself would hardly ever look just then."""
        deadline = 0.0
        while True:
            try:
                return self._connection.execute(sql, values)
            except sqlite3.OperationalError as error:
                deadline = deadline or time.monotonic() + self._busy_s
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
            time.sleep(_LOOK_S)

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._translated:
            return self._run(sql, values).fetchall()

    def one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        with self._translated:
            return self._run(sql, values).fetchone()

    def walk(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        with self._translated:
            yield from self._run(sql, values)

    def version(self) -> int:
        if self._version[0] != self.turn or not self.is_open:
            self.note_version(self.one("PRAGMA data_version")[0])
        return self._version[1]

    def note_version(self, version: int) -> None:
        self._version = (self.turn, version)

    def lock(self, _name: str) -> None:
        self.begin_write()  # which locks everything

    # --- writing ---

    def write(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> sqlite3.Cursor:
        self.begin_write()
        with self._translated:
            return self._connection.execute(sql, values)

    def changed(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._translated:
            return self.write(sql, values).fetchall()

    def write_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        if not rows:
            return
        self.begin_write()
        with self._translated:
            self._connection.executemany(sql, rows)

    def script(self, text: str) -> None:
        """Run several statements inside the transaction."""
        with self._translated:
            self.begin_write()
            for statement in statements(text):
                self._connection.execute(statement)

    def begin_write(self) -> None:
        if not self._connection.in_transaction:
            with self._translated:
                self._run("BEGIN IMMEDIATE")
            self.turn += 1
            self._drop_waiting()

    @property
    def is_open(self) -> bool:
        return self._connection.in_transaction

    def flush(self) -> None:
        self.write_waiting()
        if self.is_open:
            if identity_of(self._file) != self._identity:
                raise StoreError(self.path, _GONE)
            with self._translated:
                self._run("COMMIT")

    def undo(self) -> None:
        self._drop_waiting()
        if self.is_open:
            with self._translated:
                self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Let go of the file; what was not flushed is gone."""
        with self._translated:
            self._connection.close()
        self._connection = cast("sqlite3.Connection", ClosedConnection(self.path))
        if self._is_open:
            self._is_open = False
            let_go(self.path)
        if self._state not in (None, state_of(self.path)):  # what was read without locks cannot be trusted
            raise StoreError(self.path, CHANGED)


def statements(text: str) -> list[str]:
    """Cut a script into its statements, each of which ends with its line; comments are left out."""
    found = [""]
    for line in text.splitlines():
        found[-1] += line.partition("--")[0].rstrip() + "\n"
        if sqlite3.complete_statement(found[-1]):
            found.append("")
    return [statement.strip() for statement in found if statement.strip()]


_SENTENCES = {
    "SQLITE_FULL": "the disk is full; free some space and run the same command again",
    "SQLITE_READONLY": "cannot be written; check the permissions of the file and its folder",
    "SQLITE_PERM": "may not be opened; check its permissions",
    "SQLITE_CANTOPEN": "cannot be opened; check that the folder exists and may be written",
    "SQLITE_CORRUPT": "is damaged; restore it from a copy, or name another file",
    "SQLITE_IOERR": "the disk failed while reading or writing",
    "SQLITE_TOOBIG": "a text is larger than the database can hold",
}


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", None) or ""


def _is_busy(error: sqlite3.Error) -> bool:
    return _name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"))


def translate(error: sqlite3.Error | UnicodeDecodeError, path: str) -> StoreError:
    """Make a sentence of an error."""
    if isinstance(error, UnicodeDecodeError):
        return damaged(path)
    name = _name(error)
    if _is_busy(error):
        return StoreBusyError(
            path, "another process has been writing to it for too long; wait for it, or name another file"
        )
    if name == "SQLITE_NOTADB":
        return SchemaMismatchError(path, "is no Honeyguide store; name another file")
    for start, sentence in _SENTENCES.items():
        if name.startswith(start):
            return StoreError(path, sentence)
    return StoreError(path, f"cannot be used: {shown(str(error), 200)}")


_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT 1000"
# What SQLite itself adds when somebody runs ANALYZE.
_STATISTICS = frozenset(
    ("table", name, name, f"CREATE TABLE {name}({columns})")
    for name, columns in (("sqlite_stat1", "tbl,idx,stat"), ("sqlite_stat4", "tbl,idx,neq,nlt,ndlt,sample"))
)
_GAPS = re.compile(r" ?([(),]) ?")
_Schema = frozenset[tuple[str, ...]]


def check_schema(db: SqliteDatabase, script: str) -> None:
    """Refuse a file whose tables, indexes, views and triggers are not exactly those that the script makes."""
    if _by_words(db.all(_SCHEMA)) - _STATISTICS != _expected(script):
        raise SchemaMismatchError(
            db.path, "has other tables than a Honeyguide store; restore it from a copy, or name another file"
        )


@cache
def _expected(script: str) -> _Schema:
    with closing(sqlite3.connect(":memory:")) as made:
        for statement in statements(script):
            made.execute(statement)
        return _by_words(made.execute(_SCHEMA))


def _by_words(rows: Iterable[tuple[object, ...]]) -> _Schema:
    """Compare statements by their words; how they are laid out, and where a column was added later, means nothing."""
    return frozenset((*map(str, names), _GAPS.sub(r"\1", " ".join(str(sql).split()))) for *names, sql in rows)
