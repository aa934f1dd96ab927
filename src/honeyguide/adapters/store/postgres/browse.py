"""A store in a database, for people: a connection whose statements end after a time.

Owns: `browse_database`. Must not know: what is asked (`common/browse.py`).
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from psycopg.errors import QueryCanceled

from honeyguide.adapters.store.common.browse import LIMIT_S, TOO_LONG, Dialect, StoreBrowser
from honeyguide.adapters.store.postgres.database import PostgresDatabase
from honeyguide.errors import InputError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator


def _field(name: str, kind: str) -> str:
    return f"CAST(CAST(v.record AS jsonb) ->> '{name}' AS {kind})"


_DIALECT = Dialect(
    _field("relevance_score", "float8"), _field("topic_relevance", "float8"), _field("change", "text"), _field("title", "text"),
    "ILIKE", "strpos", "(SELECT coalesce(sum(n), 0) FROM counter WHERE run = $1 AND name = 'fetched')",
)  # fmt: skip


@contextmanager
def browse_database(url: str) -> Iterator[StoreBrowser]:
    """Open a store in a database for one view; it writes nothing, and no transaction stays open between statements."""
    with closing(PostgresDatabase(url, read_only=True, patience_s=0.0)) as database:

        def read(sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
            try:
                return database.all(sql, values)
            except StoreError as error:
                if isinstance(error.__cause__, QueryCanceled):
                    raise InputError(TOO_LONG) from None
                raise

        database.limit(LIMIT_S)
        yield StoreBrowser(read, _DIALECT)
