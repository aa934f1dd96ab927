"""Files that are replaced as a whole: whoever looks sees the old one or the new one, never a part.

Owns: the file beside it that is written first, its change of name, which file may be replaced, and the sentence where
one cannot be written. Must not know: what is in it. Start reading at `replacing`.
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

PART = ".honeyguide.part"  # the end of a name that nobody else gives: a file of that name is what a kill left
HEAD_BYTES = 1_000_000  # of a file that is there: as much as tells whose it is
_FOLDER = "check that its folder exists"
_RIGHTS = "check the permissions of its folder"
_ADVICE = {
    errno.ENOENT: _FOLDER,
    errno.ENOTDIR: _FOLDER,
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: _RIGHTS,
}
# The file must be ours: never one that a link of the same name leads to.
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@contextmanager
def replacing(path: Path, name: str = "", *, is_synced: bool = True) -> Iterator[Path]:
    """Give an empty file beside `path` to be written; when the block has ended well, it takes the place of `path`.

    With `is_synced` the disk has it before the old one goes. What a kill left is overwritten by the next one. A link
    stays, and what it leads to is replaced. What the system complains about is said of `path`, which alone the user has
    named.
    """
    part = None
    try:
        target = target_of(path)
        part = target.with_name(f"{name or target.name}{PART}")
        make_anew(part)
        with suppress(OSError):  # there may be no old one; else, who may read it may read the new one
            part.chmod(target.stat().st_mode & 0o777)
        yield part
        if is_synced:
            _sync(part)
        part.replace(target)
        if is_synced:
            _sync_names(target.parent)
    except BaseException as error:  # put in order whatever it is, and raised again
        with suppress(OSError):  # the first error is the one to tell
            if part is not None:
                part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise unwritable(path, error) from None
        raise


def target_of(path: Path) -> Path:
    """Follow a link to the file that is meant; it need not be there yet."""
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
    """Say that a file cannot be written, why, and where a remedy is known, which."""
    why = getattr(error, "strerror", None) or error
    advice = _ADVICE.get(getattr(error, "errno", None) or 0)
    return InputError(f"cannot be written: {why}{f'; {advice}' if advice else ''}", file=str(path))


def check_replaceable(path: Path, is_ours: Callable[[bytes], bool], option: str = "-o") -> None:
    """Refuse, before any work is done, a file that could not be written in the end, or that somebody else has made.

    `is_ours` is asked about how the file begins that is there.
    """
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
    """Refuse folders, devices and whatever else cannot be replaced."""
    if path.exists() and not path.is_file():
        raise InputError(f"is not a regular file; choose another {option}", file=str(path))


def _head(path: Path) -> bytes:
    if not path.exists():
        return b""
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def make_anew(path: Path) -> None:
    """Make an empty file of that name, whatever had it before."""
    path.unlink(missing_ok=True)
    os.close(os.open(path, _NEW, 0o666))


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _sync_names(folder: Path) -> None:
    """Have the disk keep the new name, where folders can be asked to."""
    with suppress(OSError):  # not every file system opens folders; the file itself is safe by now
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def hold(handle: int, refusal: str) -> None:
    """Hold an open file until it is closed, or the process ends; `refusal` is the sentence if another process does."""
    if sys.platform != "win32":  # where there is no such lock, two runs on one output are the user's business
        import fcntl  # only there

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(refusal) from None
