"""Who works on a store: processes that hold leases, with their heartbeats.

Owns: the table `worker`. Must not know: what they hold (leases.py). Start reading at `SqlWorkers`.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from honeyguide.adapters.store.common.database import reads
from honeyguide.ports.store import Heartbeat

if TYPE_CHECKING:
    from honeyguide.adapters.store.common.database import Database

_alive: set[str] = set()  # tokens of the stores that this process has open


class SqlWorkers:
    """The workers of one store; we are one of them as soon as we hold a lease or send a heartbeat."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._sql = db.queries("runs")
        self._token = uuid4().hex
        self._id: int | None = None
        self._may_be_known = False  # after something was undone
        self.is_lost = False  # others took us for gone: nothing is ours until the next heartbeat has said so
        _alive.add(self._token)

    @property
    def id(self) -> int:
        """Our number; -1 while we hold nothing."""
        if self._id is None and self._may_be_known:
            self._may_be_known = False
            known = self._db.one(self._sql["registered"], (self._token,))
            self._id = known and known[0]
        return -1 if self._id is None else self._id

    def register(self, now: float, until: float, run: int) -> int:
        """Give our number as a worker of a run, whose heartbeat expires then."""
        if self.id < 0:
            self.is_lost = False
            values = (socket.gethostname(), os.getpid(), self._token, now, until, run)
            ((self._id,),) = self._db.changed(self._sql["register"], values)
        return self.id

    def beat(self, now: float, until: float, run: int, pages: int = 0) -> Heartbeat:
        """Send a heartbeat; a worker that was taken for gone begins again, and holds nothing."""
        if self.id < 0 and not self.is_lost:
            self.register(now, until, run)
        found = self._db.changed(self._sql["heartbeat"], (now, until, run, pages, self.id))
        if found:
            # Or a long crawl looks as if it had been killed.
            self._db.write(self._sql["progress"], (now, run))
            return Heartbeat(is_stopping=bool(found[0][0]))
        self.lose()
        self.register(now, until, run)
        return Heartbeat(is_held=False)

    def lose(self) -> None:
        """Forget our number, because others have struck it out."""
        self._id, self._token, self.is_lost = None, uuid4().hex, True
        _alive.add(self._token)

    def expire(self, now: float, me: int) -> None:
        """Strike out workers whose heartbeat has expired, but for `me`."""
        if (self.id,) in map(tuple, self._db.changed(self._sql["expire"], (now, me))):
            self.lose()

    def forget(self) -> None:
        """Forget our number: what was undone may have given it."""
        self._id, self._may_be_known = None, True

    @reads
    def dismiss_gone(self) -> bool:
        """Strike out workers that are surely gone, because no process of this machine has their number."""
        self._db.begin_write()
        others = self._db.all(self._sql["workers"], (self.id,))
        gone = [(number,) for number, host, pid, token in others if not is_alive(host, pid, token)]
        self._db.write_many(self._sql["dismiss"], gone)
        return bool(gone)

    def leave(self) -> None:
        """Be gone, as far as others in this process can tell."""
        _alive.discard(self._token)

    def dismiss(self) -> None:
        """Strike ourselves out: what we still hold is for whoever comes next."""
        if self.id >= 0:
            self._db.write(self._sql["dismiss"], (self.id,))


def is_alive(host: str, pid: int, token: str) -> bool:
    """Tell whether a worker may still be there; when in doubt it is, until its heartbeat expires."""
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
