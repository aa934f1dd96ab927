"""A store in a file, for people: a connection whose statements end after a time.

Owns: `browse_file`. Must not know: what is asked (`common/browse.py`).
"""

from __future__ import annotations

import re
import sqlite3
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.store.common.browse import LIMIT_S, TOO_LONG, Dialect, StoreBrowser
from honeyguide.adapters.store.sqlite.files import open_to_read
from honeyguide.errors import InputError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

_STEPS = 20_000  # of SQLite, before the clock is looked at


def _field(name: str) -> str:
    return f"json_extract(v.record, '$.{name}')"


_DIALECT = Dialect(
    _field("relevance_score"), _field("topic_relevance"), _field("change"), _field("title"), "LIKE", "instr", "fetched"
)  # fmt: skip


@contextmanager
def browse_file(path: str) -> Iterator[StoreBrowser]:
    """Open a store in a file for one view."""
    connection, _ = open_to_read(path)
    ends_at = 0.0

    def read(sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        nonlocal ends_at
        ends_at = time.monotonic() + LIMIT_S
        try:
            return connection.execute(re.sub(r"\$(\d)", r"?\1", sql), values).fetchall()
        except sqlite3.Error as error:
            if "interrupted" in str(error):
                raise InputError(TOO_LONG) from None
            raise StoreError(path, str(error)) from None

    with closing(connection):
        connection.execute("PRAGMA busy_timeout = 2000")
        connection.set_progress_handler(lambda: time.monotonic() > ends_at, _STEPS)
        yield StoreBrowser(read, _DIALECT)
