"""How files are written: replaced in one step, or line by line so that a later process can resume them.

Owns: `replacing`, after which a reader sees the old file or the new one, never a part; `RecordFile`, whose lines count when
their end is there; which files may be replaced, locks, and the error if a file cannot be written. Must not know: what is in
a file, and which lines belong there: for a crawl the store knows (`page_file.py`), for a pick its journal (`pick_file.py`).
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
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

PART = ".honeyguide.part"  # suffix of a part file, which only we give: such a file was left by a kill
HEAD_BYTES = 1_000_000  # of an existing file: enough to tell whose it is
_FOLDER = "check that its folder exists"
_RIGHTS = "check the permissions of its folder"
_ADVICE = {
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR), _FOLDER),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), _RIGHTS),
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
    except BaseException as error:  # remove the part file after any exception, then re-raise it
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


# --- lines that are appended ---

# A kill loses nothing that was written, because the system has it. Only a power cut does, and waiting for the disk after
# every record would cost more than the records of five seconds are worth.
SYNC_EVERY_S = 5.0
MAX_LINE_BYTES = 1 << 28  # the largest page, with all its links and everything escaped, has a fraction of it
_BLOCK = 65_536
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class RecordFile:
    """An open file of lines; `end` is how many of its bytes count."""

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
    def held(cls, path: Path, refusal: str, suffix: str = "") -> Self:
        """Open the file, or the one beside it with this suffix, and lock it; `refusal` is the error if another process has it.

        A link stays, and the file it leads to is meant.
        """
        try:
            check_regular(path)
            target = target_of(path)
            return cls._locked(target.with_name(target.name + suffix), refusal)
        except InputError:
            raise
        except (OSError, ValueError) as error:
            raise unwritable(path, error) from None

    @classmethod
    def _locked(cls, path: Path, refusal: str) -> Self:
        while True:
            file = cls(path)
            try:
                hold(file._fd, refusal)
                is_there = path.exists() and path.stat().st_ino == os.fstat(file._fd).st_ino
            except BaseException:  # close the file after any exception, then re-raise it
                file.close()
                raise
            if is_there:
                return file
            file.close()  # the process that had the lock removed the file before we got it

    def append(self, line: bytes) -> int:
        """Write a line, and return where it begins; after a failed write nothing more is written."""
        if self._is_torn:
            raise OSError(
                errno.EIO, "writing failed before; run the same command again to resume", str(self.path)
            )
        self.cut_passed()
        start, rest = self.end, memoryview(line + b"\n")
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError as error:
            self._is_torn = True
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        except BaseException:  # it is raised again
            self._is_torn = True
            raise
        self.end += len(line) + 1
        if time.monotonic() - self._synced_at >= SYNC_EVERY_S:
            self.sync()
        return start

    def cut_torn(self) -> None:
        """Remove what a kill tore off: everything after the last end of a line."""
        self.pass_torn()
        self.cut_passed()

    def pass_torn(self) -> None:
        """Ignore what a kill tore off, without changing the file yet."""
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
        """Remove what `pass_torn` ignored."""
        if self._is_passed:
            self.cut(self.end)

    def cut(self, size: int) -> None:
        """Keep the first `size` bytes."""
        os.ftruncate(self._fd, size)
        self.end, self._is_passed = size, False
        self._reader.close()  # it may remember what is gone
        self._reader = self.path.open("rb")

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Give each whole line with its place; other reads may come in between."""
        at = 0
        while at < self.end:
            line = self.line_at(at)
            yield at, line
            at += len(line) + 1

    def line_at(self, start: int) -> bytes:
        """Read the line that begins there, without its end."""
        self._reader.seek(start)
        line = self._reader.readline(MAX_LINE_BYTES + 1)
        if len(line) > MAX_LINE_BYTES:
            why = f"has a line of more than {MAX_LINE_BYTES:,} bytes, which no output of this command has; choose another -o"
            raise InputError(why, file=str(self.path))
        return line.removesuffix(b"\n")

    @property
    def is_empty(self) -> bool:
        """Whether it has no byte at all, torn ones included."""
        return self.end == 0 and not self._is_passed

    def sync(self) -> None:
        """Wait until the disk has what was written."""
        os.fsync(self._fd)
        self._synced_at = time.monotonic()

    def rewrite(self, lines: Iterable[bytes]) -> None:
        """Replace all lines in one step: a kill leaves the old file or the new one. The lock is never free."""
        part = self.path.with_name(f"{self.path.name}{PART}")
        make_anew(part)
        new = RecordFile(part)
        try:
            hold(new._fd, f"{part}: another process is writing it")
            for line in lines:
                new.append(line)
            new.sync()
            part.replace(self.path)
        except BaseException:  # remove the new file after any exception, then re-raise it
            new.remove()
            raise
        self.close()
        self._fd, self._reader, self._is_open = new._fd, new._reader, True
        self.end, self._is_torn, self._is_passed = new.end, False, False

    def remove(self) -> None:
        """Remove the file while it is locked, so that no other process takes it."""
        if sys.platform == "win32":  # an open file cannot be removed there
            self.close()
        if not self._is_gone:
            self._is_gone = True
            try:
                self.path.unlink(missing_ok=True)
            finally:
                self.close()

    def close(self) -> None:
        """Close the file and free its lock."""
        if self._is_open:
            self._is_open = False
            self._reader.close()
            os.close(self._fd)
