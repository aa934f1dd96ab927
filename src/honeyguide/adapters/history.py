"""History in the SQLite store.

Owns: the tables `known` and `visit`. Must not know: what a visit means (core/history.py).
"""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.queries import queries
from honeyguide.core.history import Known, next_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.adapters.queries import Database
    from honeyguide.core.history import Visit


class SqliteHistory:
    """A `History` in the file of its store."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._sql = queries("history")

    def record(self, visit: Visit, run: int) -> Known:
        """Note a visit."""
        known = next_known(self.get(visit.digest), visit)
        url, digest, *rest = astuple(known)
        self._db.write(self._sql["put"], (digest, url, *rest))
        values = (visit.digest, run, visit.at, visit.status, visit.content, visit.elapsed_s)
        self._db.write(self._sql["visit"], values)
        return known

    def get(self, digest: int) -> Known | None:
        """Give what is known of a URL."""
        row = self._db.one(self._sql["get"], (digest,))
        return None if row is None else _known(row)

    def known(self, after: int | None = None) -> Iterator[Known]:
        """Give everything that is known, in the order of identities."""
        last = -(2**63) if after is None else after
        while rows := self._db.all(self._sql["after"], (last,)):
            yield from map(_known, rows)
            last = rows[-1][0]

    def visits(self, digest: int) -> list[tuple[int, float, int | None]]:
        """Give the visits of a URL: run, time, status; oldest first."""
        return [(run, at, status) for run, at, status in self._db.all(self._sql["visits"], (digest,))]


def _known(row: tuple[Any, ...]) -> Known:
    digest, url, *rest = row
    rest[10] = bool(rest[10])
    return Known(url, digest, *rest)
