"""Who works on a store: processes that hold leases, and which of them are gone.

Owns: the table `owner`. Must not know: what is leased. Start reading at `SqliteOwners.gone`.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from honeyguide.adapters.store.sqlite.database import queries, reads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from honeyguide.adapters.store.sqlite.database import Database


_alive: set[str] = set()  # tokens of the stores that this process has open


class SqliteOwners:
    """The holders of leases of one store; we are one of them as soon as we hold any."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._sql = queries("runs")
        self._token = uuid4().hex
        self._owner: int | None = None
        _alive.add(self._token)

    def owner(self) -> int:
        """Give our number as a holder of leases."""
        if self._owner is None:
            self._db.begin_write()
            known = self._db.one(self._sql["owned"], (self._token,))
            values = (socket.gethostname(), os.getpid(), self._token)
            self._owner = known[0] if known else self._db.write(self._sql["own"], values).lastrowid or 0
        return self._owner

    def look_again(self) -> None:
        """Forget our number: what was undone may have taken it, and another may have it then."""
        self._owner = None

    @reads
    def gone(self) -> frozenset[int]:
        """Give the holders of leases that are surely gone: no process of this machine has their number."""
        rows = self._db.all(self._sql["owners"])
        return frozenset(number for number, host, pid, token in rows if not _is_alive(host, pid, token))

    def forget(self, owners: Iterable[int]) -> None:
        """Strike out holders that hold nothing any more."""
        self._db.write_many(self._sql["disown"], [(number,) for number in owners])

    def disown(self) -> None:
        """Strike ourselves out, if we hold nothing."""
        self.forget(number for (number,) in self._db.all(self._sql["owned"], (self._token,)))

    def leave(self) -> None:
        """Be gone, as far as others in this process can tell."""
        _alive.discard(self._token)


def _is_alive(host: str, pid: int, token: str) -> bool:
    """Tell whether a holder of leases may still be there; when in doubt it is, until its leases run out."""
    if host != socket.gethostname():
        return True
    if pid == os.getpid():
        return token in _alive
    if sys.platform == "win32":  # where signal 0 is not a question
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Tell whether a process has ended and nobody has asked how: usual in containers. Systems without /proc do not say."""
    try:
        status = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return status.rpartition(b")")[2].split()[:1] == [b"Z"]  # its name, in brackets, may hold anything
