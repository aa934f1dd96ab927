"""Replacing a file in one step: a reader sees the old one or the new one, never a part.

Owns: the part file that is written first, its renaming, which files may be replaced, locks, and the error if a file cannot
be written. Must not know: what is in it. Start reading at `replacing`.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PART = (
    ".honeyguide.part"  # suffix of a part file, which only Honeyguide gives: such a file was left by a kill
)
HEAD_BYTES = 1_000_000  # of an existing file: enough to tell whose it is
_FOLDER = "check that its folder exists"
_RIGHTS = "check the permissions of its folder"
_ADVICE = {
    errno.ENOENT: _FOLDER,
    errno.ENOTDIR: _FOLDER,
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: _RIGHTS,
}
# The part file must be new: a link of its name is never followed.
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@contextmanager
def replacing(path: Path, name: str = "", *, is_synced: bool = True) -> Iterator[Path]:
    """Give an empty part file to write; when the block ends without an error, it replaces `path`.

    With `is_synced` the disk has it before the old file goes. A link stays, and the file that it leads to is replaced. Errors
    of the system name `path`, because the user does not know the part file.
    """
    part = None
    try:
        target = target_of(path)
        part = target.with_name(f"{name or target.name}{PART}")
        make_anew(part)
        with suppress(OSError):  # there may be no old file; else the new one gets its permissions
            part.chmod(target.stat().st_mode & 0o777)
        yield part
        if is_synced:
            _sync(part)
        part.replace(target)
        if is_synced:
            _sync_names(target.parent)
    except BaseException as error:  # the part file is removed whatever it is, and it is raised again
        with suppress(OSError):  # the first error is the one to tell
            if part is not None:
                part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise unwritable(path, error) from None
        raise


def target_of(path: Path) -> Path:
    """Follow a link to its file, which need not exist yet."""
    if not path.is_symlink():
        return path
    try:
        target = path.resolve()
    except RuntimeError:  # how links in a circle are told of before Python 3.13
        target = path
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


def unwritable(path: Path, error: Exception) -> InputError:
    """Make the error of a file that cannot be written, with advice if there is any."""
    why = getattr(error, "strerror", None) or error
    advice = _ADVICE.get(getattr(error, "errno", None) or 0)
    return InputError(f"cannot be written: {why}{f'; {advice}' if advice else ''}", file=str(path))


def check_replaceable(path: Path, is_ours: Callable[[bytes], bool], option: str = "-o") -> None:
    """Reject, before any work is done, a file that cannot be written or is not ours; `is_ours` judges its first bytes."""
    import tempfile  # not for those who only replace

    try:
        check_regular(path, option)
        head = _head(path)
        with tempfile.TemporaryFile(dir=target_of(path).parent):
            pass
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None
    if head and not is_ours(head):
        raise InputError(f"exists and is no output of this command; choose another {option}", file=str(path))


def check_regular(path: Path, option: str = "-o") -> None:
    """Reject folders, devices and everything else that cannot be replaced."""
    if path.exists() and not path.is_file():
        raise InputError(f"is not a regular file; choose another {option}", file=str(path))


def _head(path: Path) -> bytes:
    if not path.exists():
        return b""
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def make_anew(path: Path) -> None:
    """Make an empty file; whatever had its name is removed."""
    path.unlink(missing_ok=True)
    os.close(os.open(path, _NEW, 0o666))


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _sync_names(folder: Path) -> None:
    """Sync the folder, so that the new name is on the disk, too."""
    with suppress(OSError):  # not every file system opens folders; the file itself is safe by now
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def hold(handle: int, refusal: str) -> None:
    """Lock an open file until it is closed or the process ends; `refusal` is the error if another process has it."""
    if sys.platform != "win32":  # where there is no such lock, two runs on one output are the user's business
        import fcntl  # only there

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(refusal) from None
