"""Files that are replaced as a whole: whoever looks sees the old one or the new one, never a part.

Owns: the file beside it that is written first, and its change of name. Must not know: what is in it.
Start reading at `replacing`.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# The file must be ours: never one that a link of the same name leads to.
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@contextmanager
def replacing(path: Path, name: str = "", *, is_synced: bool = True) -> Iterator[Path]:
    """Give an empty file beside `path` to be written; when the block has ended well, it takes the place of `path`.

    With `is_synced` the disk has it before the old one goes. What a kill left is overwritten by the next one.
    """
    part = path.with_name(name or f"{path.name}.part")
    try:
        make_anew(part)
        yield part
        if is_synced:
            _sync(part)
        part.replace(path)
        if is_synced:
            _sync_names(path.parent)
    except BaseException:  # put in order whatever it is, and raised again
        with suppress(OSError):  # the first error is the one to tell
            part.unlink(missing_ok=True)
        raise


def make_anew(path: Path) -> None:
    """Make an empty file of that name, whatever had it before."""
    path.unlink(missing_ok=True)
    os.close(os.open(path, _NEW, 0o666))


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _sync_names(folder: Path) -> None:
    """Have the disk keep the new name, where folders can be asked to."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
