"""Files that are replaced as a whole: whoever looks sees the old one or the new one, never a part.

Owns: the file beside it that is written first, its change of name, which file may be replaced, and the sentence where
one cannot be written. Must not know: what is in it. Start reading at `replacing`.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self

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


# A killed process loses nothing that was written: the system has it. Only a power cut does, and waiting for the disk
# after every record would cost more than the records of five seconds are worth.
SYNC_EVERY_S = 5.0
MAX_LINE_BYTES = 1 << 28  # the largest page, with all its links and everything escaped, has a fraction of it
_BLOCK = 65_536
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class LineFile:
    """An open file; `end` is how many of its bytes count."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = os.open(path, _FLAGS, 0o666)
        self._reader = path.open("rb")
        self._is_open = True
        self._is_torn = False
        self._is_passed = False
        self._is_gone = False
        self._synced_at = time.monotonic()
        self.end = os.fstat(self._fd).st_size

    @classmethod
    def anew(cls, path: Path) -> Self:
        """Make an empty file that takes the place of another later; what has its name goes, and a link is not followed."""
        make_anew(path)
        return cls(path)

    @classmethod
    def locked(cls, path: Path, refusal: str) -> Self:
        """Open a file that no other process holds; `refusal` is the sentence if one does."""
        while True:
            file = cls(path)
            try:
                file.lock(refusal)
                is_there = path.exists() and path.stat().st_ino == os.fstat(file._fd).st_ino
            except BaseException:  # put in order whatever it is, and raised again
                file.close()
                raise
            if is_there:
                return file
            file.close()  # it was removed by the process that held it, between our opening and locking it

    def lock(self, refusal: str) -> None:
        """Hold the file until it is closed, or the process ends, however it ends."""
        hold(self._fd, refusal)

    def append(self, line: bytes) -> int:
        """Write a line with its end, and give where it begins; after a failure nothing more is written."""
        if self._is_torn:
            raise OSError(errno.EIO, "writing failed before; start again to go on", str(self.path))
        self.cut_passed()
        start, rest = self.end, memoryview(line + b"\n")
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError as error:
            self._is_torn = True
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        except BaseException:  # put in order whatever it is, and raised again
            self._is_torn = True
            raise
        self.end += len(line) + 1
        if time.monotonic() - self._synced_at >= SYNC_EVERY_S:
            self.sync()
        return start

    def cut_torn(self) -> None:
        """Cut away what stands after the last end of a line."""
        self.pass_torn()
        self.cut_passed()

    def pass_torn(self) -> None:
        """Count only what stands before the last end of a line; nothing is cut away yet."""
        at = self.end
        while at > 0:
            start = max(0, at - _BLOCK)
            self._reader.seek(start)
            found = self._reader.read(at - start).rfind(b"\n")
            if found >= 0:
                at = start + found + 1
                break
            at = start
        self._is_passed = self._is_passed or at < self.end
        self.end = at

    def cut_passed(self) -> None:
        """Cut away what was passed over."""
        if self._is_passed:
            self.cut(self.end)

    def cut(self, size: int) -> None:
        """Keep the first `size` bytes."""
        os.ftruncate(self._fd, size)
        self.end, self._is_passed = size, False
        self._reader.close()  # it may remember what is gone
        self._reader = self.path.open("rb")

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Give each whole line with where it begins; others may read in between."""
        at = 0
        while at < self.end:
            line = self.line_at(at)
            yield at, line
            at += len(line) + 1

    def line_at(self, start: int) -> bytes:
        """Give the line that begins there, without its end."""
        self._reader.seek(start)
        line = self._reader.readline(MAX_LINE_BYTES + 1)
        if len(line) > MAX_LINE_BYTES:
            why = f"has a line of more than {MAX_LINE_BYTES:,} bytes, which no output of this command has; choose another -o"
            raise InputError(why, file=str(self.path))
        return line.removesuffix(b"\n")

    @property
    def is_empty(self) -> bool:
        """Whether it has no byte, also none that does not count."""
        return self.end == 0 and not self._is_passed

    def sync(self) -> None:
        """Have the disk keep what was written so far."""
        os.fsync(self._fd)
        self._synced_at = time.monotonic()

    def replace(self, path: Path) -> None:
        """Take the place of another file, in one step."""
        self.path.replace(path)
        self.path = path

    def remove(self) -> None:
        """Remove the file, before the lock goes, so that nobody else gets hold of it in between."""
        if sys.platform == "win32":  # an open file cannot be removed there
            self.close()
        if not self._is_gone:
            self._is_gone = True
            try:
                self.path.unlink(missing_ok=True)
            finally:
                self.close()

    def close(self) -> None:
        """Let go of the file; nothing is written."""
        if self._is_open:
            self._is_open = False
            self._reader.close()
            os.close(self._fd)


def hold(handle: int, refusal: str) -> None:
    """Hold an open file until it is closed, or the process ends; `refusal` is the sentence if another process does."""
    if sys.platform != "win32":  # where there is no such lock, two runs on one output are the user's business
        import fcntl  # only there

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(refusal) from None
