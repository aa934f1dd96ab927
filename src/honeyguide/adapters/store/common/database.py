"""What every database of a store offers: named SQL, rows and counts that wait for a commit, and errors for a person.

Owns: `Database`, `named_queries`, `reads`. Must not know: SQLite, PostgreSQL, what the tables mean. Start reading at `Database`.
"""

from __future__ import annotations

import re
import struct
from functools import cache, wraps
from importlib.resources import files
from inspect import isgeneratorfunction
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

from honeyguide.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

P = ParamSpec("P")
R = TypeVar("R")
OPENED_TO_READ = "was opened with read_only=True; without it, it can be written"
_DAMAGED = "holds what Honeyguide never writes; restore it from a copy, or name another one"
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def named_queries(folder: str, name: str) -> Mapping[str, str]:
    """Read a file of named queries."""
    parts = _NAME.split(sql_text(folder, f"{name}.sql"))
    return dict(zip(parts[1::2], (text.strip() for text in parts[2::2]), strict=True))


def sql_text(folder: str, file: str) -> str:
    """Read one of our SQL files."""
    return (files("honeyguide") / "adapters" / "store" / folder / "sql" / file).read_text("utf-8")


class Changed(Protocol):
    """The answer to a statement that changed something."""

    @property
    def rowcount(self) -> int:
        """How many rows it changed."""


class ClosedConnection:
    """Stands where the connection was: whoever uses a store that is closed hears of it."""

    def __init__(self, path: str) -> None:
        self._path = path

    def close(self) -> None:
        """Do nothing again."""

    def __getattr__(self, name: str) -> Any:
        raise StoreError(self._path, "is closed; open_store opens it again")


class Database:
    """One connection. Writing begins a transaction by itself; `flush` commits what has gathered.

    Rows and counts that nobody reads before the commit wait for it (`later`, `count`), because many pages share one.
    """

    folder: str  # of its SQL
    listed: str  # the texts of a parameter, which is a JSON list

    def __init__(self, path: str) -> None:
        self.path = path  # as a person may see it: without a password
        self.turn = (
            0  # how many transactions were begun: what was done in an earlier one is committed, or undone
        )
        self._rows: dict[str, list[Sequence[Any]]] = {}
        self._counts: dict[str, dict[tuple[Any, ...], int]] = {}

    def queries(self, name: str) -> Mapping[str, str]:
        """Give named queries in the words of this database."""
        return named_queries(self.folder, name)

    def version(self) -> int:
        """Give a number that is another one in a turn before which another process may have written."""
        raise NotImplementedError

    def note_version(self, version: int) -> None:
        """Take over the version of this turn, which a query of the turn has read."""

    def lock(self, _name: str) -> None:
        """Keep others from changing what `_name` stands for until the commit."""
        raise NotImplementedError

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Read rows."""
        raise NotImplementedError

    def one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Read the first row, or None."""
        raise NotImplementedError

    def walk(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Read rows one by one, as far as the caller goes."""
        raise NotImplementedError

    def begin_write(self) -> None:
        """Begin a transaction before reading what a decision to write depends on."""
        raise NotImplementedError

    @property
    def is_open(self) -> bool:
        """Whether something waits for a commit."""
        raise NotImplementedError

    def write(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Changed:
        """Change something; it is committed by the next `flush`."""
        raise NotImplementedError

    def changed(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Change something, and read what it returns."""
        raise NotImplementedError

    def write_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Change many things alike."""
        raise NotImplementedError

    def flush(self) -> None:
        """Commit."""
        raise NotImplementedError

    def undo(self) -> None:
        """Give up what was not committed."""
        raise NotImplementedError

    # --- what waits ---

    def later(self, sql: str, *rows: Sequence[Any]) -> None:
        """Change something before the next commit, or before somebody reads it: see `write_waiting`."""
        self.begin_write()
        self._rows.setdefault(sql, []).extend(rows)

    def is_waiting(self, sql: str) -> bool:
        """Tell whether rows wait to be written by a statement."""
        return sql in self._rows

    def count(self, sql: str, key: tuple[Any, ...], amount: int) -> None:
        """Add to a counter before the next commit; the statement takes the amount, then the key."""
        self.begin_write()
        counted = self._counts.setdefault(sql, {})
        counted[key] = counted.get(key, 0) + amount

    def counted(self, sql: str, key: tuple[Any, ...]) -> int:
        """Tell what waits to be added to a counter."""
        return self._counts.get(sql, {}).get(key, 0)

    def write_waiting(self) -> None:
        """Write what waits."""
        rows, self._rows = self._rows, {}
        counts, self._counts = self._counts, {}
        if not self.is_open:
            return  # a full disk has rolled back the turn that they belong to
        for sql, values in rows.items():
            self.write_many(sql, values)
        for sql, counted in counts.items():
            self.write_many(sql, [(amount, *key) for key, amount in counted.items()])

    def _drop_waiting(self) -> None:
        self._rows, self._counts = {}, {}


# What goes wrong where a text of ours, such as JSON or a URL, turns out to be none, or a row is missing.
_UNEXPECTED = (TypeError, ValueError, LookupError, OverflowError, RecursionError, struct.error)


def reads(method: Callable[P, R]) -> Callable[P, R]:
    """Let a method of somebody with a `_db` say that the store is damaged where it holds what we never write.

    The database checks types and ranges (sql/schema.sql); what texts and lists of numbers mean, only reading shows.
    """

    @wraps(method)
    def read(*args: P.args, **settings: P.kwargs) -> R:
        try:
            return method(*args, **settings)
        except _UNEXPECTED as error:
            raise _damaged(args[0]) from error

    @wraps(method)
    def walk(*args: P.args, **settings: P.kwargs) -> Iterator[Any]:
        try:
            yield from cast("Iterator[Any]", method(*args, **settings))
        except _UNEXPECTED as error:
            raise _damaged(args[0]) from error

    return cast("Callable[P, R]", walk) if isgeneratorfunction(method) else read


_FIRST_S, _LAST_S = -62_135_596_800.0, 253_402_300_799.0  # the years 1 to 9999, in seconds since 1970


def check_numbers(*numbers: float | None) -> None:
    """Refuse times and scores that the schema keeps out: whoever wrote the store may have switched its checks off."""
    if not all(number is None or _FIRST_S <= number <= _LAST_S for number in numbers):
        raise ValueError(numbers)


def damaged(path: str) -> StoreError:
    """Say that a store holds what we never write."""
    return StoreError(path, _DAMAGED)


def _damaged(reader: Any) -> StoreError:
    path: str = reader._db.path  # noqa: SLF001 - of the very object whose method is wrapped
    return damaged(path)
