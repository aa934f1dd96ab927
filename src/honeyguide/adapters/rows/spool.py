"""Streams as files: standard input, pipes and devices, copied to disk because rows are read more than once.

Owns: what a stream is, the copy, and how large it may be. Must not know: what is in it. Start reading at `spooled`.
"""

from __future__ import annotations

import atexit
import stat
import tempfile
from pathlib import Path

from honeyguide.adapters.files import name_of, opened
from honeyguide.errors import InputError

MAX_STREAM_BYTES = 1 << 32  # what is copied to disk: some forty million rows
_BLOCK_BYTES = 1 << 20
_OPEN_FILES = Path("/proc/self/fd")  # Linux: opens a file anew, by its number


def is_stream(path: str) -> bool:
    """Tell whether a path is a pipe or a device, whose bytes come once; of folders, whoever opens them complains."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def spooled(stream: str) -> str:
    """Copy standard input or a pipe into a file, because it is read more than once; it goes with the process.

    Where open files have names of their own, it has no other: not even a kill leaves it behind.
    """
    copy = tempfile.NamedTemporaryFile(prefix="honeyguide-", delete=False)  # noqa: SIM115 - open to the end
    atexit.register(copy.close)
    path = Path(copy.name)
    by_number = _OPEN_FILES / str(copy.fileno())
    if by_number.exists():
        path.unlink()
        path = by_number
    else:
        atexit.register(path.unlink, missing_ok=True)
    with opened(stream) as given:
        size = 0
        while block := given.read(_BLOCK_BYTES):
            size += len(block)
            if size > MAX_STREAM_BYTES:
                what = f"has more than {MAX_STREAM_BYTES:,} bytes; write it to a file, which may be larger"
                raise InputError(what, file=name_of(stream))
            copy.write(block)
    copy.flush()
    return str(path)
