"""Whether a store file has the tables that we made, and nothing else that SQLite would run for it.

Owns: the comparison of a file's schema with ours. Must not know: what the tables mean. Start reading at `check_schema`.
A file from a stranger may have a view in place of a table, which can compute without end, or triggers that undo what
we write. Comparing the statements that made everything in it leaves no room for either.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING

from honeyguide.adapters.store.sqlite.database import statements
from honeyguide.errors import SchemaMismatchError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from honeyguide.adapters.store.sqlite.database import Database


# What SQLite keeps for itself, such as the statistics of ANALYZE, begins with sqlite_.
_SCHEMA = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' LIMIT 1000"


def check_schema(db: Database, script: str) -> None:
    """Refuse a file whose tables, indexes, views and triggers are not exactly those that the script makes."""
    if _by_words(db.all(_SCHEMA)) != _expected(script):
        raise SchemaMismatchError(
            db.path, "has other tables than a Honeyguide store; restore it from a copy, or name another file"
        )


@cache
def _expected(script: str) -> frozenset[tuple[str, str, str]]:
    with closing(sqlite3.connect(":memory:")) as made:
        for statement in statements(script):
            made.execute(statement)
        return _by_words(made.execute(_SCHEMA))


def _by_words(rows: Iterable[tuple[object, ...]]) -> frozenset[tuple[str, str, str]]:
    """Compare statements by their words; how they are laid out means nothing."""
    return frozenset((str(kind), str(name), " ".join(str(sql).split())) for kind, name, sql in rows)
