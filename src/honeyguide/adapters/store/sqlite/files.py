"""Opening a store that is only read, wherever it is: nothing of it is changed, and nothing is left beside it.

Owns: which of SQLite's ways of opening a file fits, the name it goes by, and which are open. Must not know: what the tables mean.
Start reading at `open_to_read`.

- A store that may be written is opened as writers do, with writing switched off: the last one to let go of it clears
  the files beside it away, and only one that may write can do that.
- Elsewhere the files beside it are read as they are, if somebody works on it, or was killed in the middle.
- Without them the file is all there is, and is read without locks. Nobody can be kept from writing to it meanwhile, so
  who lets go of it looks whether somebody has.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from honeyguide.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator


_LOGS = ("-wal", "-journal")  # hold what is not yet in the file; -journal only while a store is made
# What SQLite says where it may not make the files that it needs, or the disk has no room for them.
_REFUSALS = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR_SHM")
_UNREADABLE = (
    "has a log beside it (-wal or -journal), which cannot be read where nothing can be written;"
    " copy both files to a folder that can be written, and name the copy"
)
CHANGED = "was written by another process while it was read; the same command reads it again"
_UNLOCKED = "mode=ro&immutable=1"


# A connection, and what the file was like, if nothing keeps others from writing to it.
Opened = tuple[sqlite3.Connection, tuple[int, int] | None]


def open_to_write(path: str) -> Opened:
    """Open a store, or make the file."""
    return connect(path), None


def open_to_check(path: str) -> Opened:
    """Open a file that may be anybody's: nothing of it is changed, neither by reading nor by letting go."""
    return connect(path, "mode=ro" if has_log(path) else _UNLOCKED), None


def open_to_read(path: str) -> Opened:
    """Open a store in the first way that works here."""
    for way in _ways(path):
        if way == _UNLOCKED:
            return connect(path, way), state_of(path)
        connection = connect(path, way)
        if not _is_refused(connection):
            connection.execute("PRAGMA query_only = ON")
            return connection, None
        connection.close()
    raise StoreError(path, _UNREADABLE)


def _is_refused(connection: sqlite3.Connection) -> bool:
    """Tell whether SQLite lacks files; what else is wrong, or who is in the way, is for those who read."""
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error as error:
        return (getattr(error, "sqlite_errorname", None) or "").startswith(_REFUSALS)
    return False


def connect(path: str, way: str | None = None) -> sqlite3.Connection:
    """Connect to a file, or by one of the ways of a URI; statements never wait for others by themselves."""
    # The absolute path, because SQLite takes `file:a?mode=memory` and `:memory:` for more than names.
    name = str(Path(path).absolute()) if way is None else f"{uri_of(path)}?{way}"
    return sqlite3.connect(name, timeout=0, isolation_level=None, cached_statements=256, uri=way is not None)


def uri_of(path: str) -> str:
    """Write the name of a file as a URI, whatever is in it.

    >>> uri_of("/tmp/50% off?.db")
    'file:///tmp/50%25%20off%3F.db'
    """
    text = Path(path).absolute().as_posix()
    return f"file://{'' if text.startswith('/') else '/'}{quote(os.fsencode(text), safe='/:')}"


# Paths that this process has open, each connection once. The system drops all locks of a process on a file when any of its
# descriptors of that file is closed, whoever opened it; SQLite minds that, and reading a file by ourselves would not.
_HELD: Counter[str] = Counter()


def hold(path: str) -> None:
    """Note that a connection of this process is open."""
    _HELD[os.path.abspath(path)] += 1  # noqa: PTH100 - the path as it is; pathlib would tidy it


def let_go(path: str) -> None:
    """Note that one of them is closed."""
    _HELD[os.path.abspath(path)] -= 1  # noqa: PTH100 - as in `hold`


def is_held(path: str) -> bool:
    """Tell whether this process has the file open, so that nobody but SQLite may open and close it here."""
    for other in +_HELD:
        with suppress(OSError):  # one of them is gone, so they are not the same
            if Path(path).samefile(other):
                return True
    return False


def has_log(path: str) -> bool:
    """Tell whether a store has a log: without it, the file may lack what was committed."""
    return log_bytes(path) > 0


def log_bytes(path: str) -> int:
    """Tell how long the log of a store is; -1 if it has none."""
    real = os.path.realpath(path)  # SQLite follows links, too, before it looks beside a file
    return max(state_of(real + end)[1] for end in _LOGS)


def identity_of(path: str) -> tuple[int, int] | None:
    """Tell which file a path names; None if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - the path as it is; pathlib would tidy it
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _ways(path: str) -> Iterator[str]:
    """Give the ways to open a store, those first that keep others out."""
    real = Path(os.path.realpath(path))
    # A file that may not be written would be opened anyway, and files made beside it that its owner may not write.
    if os.access(real, os.W_OK) and os.access(real.parent, os.W_OK):
        yield "mode=rw"
    if all(real.with_name(real.name + end).exists() for end in ("-wal", "-shm")):
        yield "mode=ro"
    if not has_log(path):
        yield _UNLOCKED


def state_of(path: str) -> tuple[int, int]:
    """Tell when a file was written, and how large it is."""
    try:
        found = os.stat(path)  # noqa: PTH116 - the path as it is; pathlib would tidy it
    except OSError:
        return 0, -1  # is not there
    return found.st_mtime_ns, found.st_size
