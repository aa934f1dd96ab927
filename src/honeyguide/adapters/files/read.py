"""Files and standard input, read as users name them, never more than is sane.

Owns: opening, bounds of whole files and of lines, UTF-8, and the sentence when a file cannot be read. Must not know: what
is in the files. Start reading at `read_bytes` for whole files and at `read_lines` for those with one record a line.
"""

from __future__ import annotations

import atexit
import glob
import stat
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING

from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


STDIN = "-"
MAX_PAGE_BYTES = 20_000_000  # the largest homepages have a tenth of it
MAX_LINE_BYTES = 1_000_000


def name_of(path: str) -> str:
    """Name a file in messages."""
    return "standard input" if path == STDIN else path


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file or standard input; whatever the system complains about becomes one sentence."""
    try:
        if path == STDIN:
            if sys.stdin is None:
                raise InputError("is closed", file=name_of(path))
            yield sys.stdin.buffer
        elif "\0" in path:
            raise InputError("is not a usable path", file=path)
        else:
            with Path(path).open("rb") as file:
                yield file
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}; check the path", file=name_of(path)
        ) from None


def read_bytes(path: str, limit: int = MAX_PAGE_BYTES, advice: str = "give a smaller file") -> bytes:
    """Read a whole file that may not be larger than `limit`."""
    with opened(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"is larger than {limit / 1e6:g} MB; {advice}", file=name_of(path))
    return data


def read_text(path: str, limit: int = MAX_PAGE_BYTES) -> str:
    """Read a whole UTF-8 file."""
    return decoded(read_bytes(path, limit), name_of(path), 1)


def read_lines(path: str, name: str = "", limit: int | None = None) -> Iterator[tuple[int, str]]:
    """Read a UTF-8 file line by line, with line numbers from 1; the line ends stay."""
    for number, text, error in lines_or_errors(path, name, limit):
        if error is not None:
            raise error
        yield number, text


def lines_or_errors(
    path: str, name: str = "", limit: int | None = None
) -> Iterator[tuple[int, str, InputError | None]]:
    """Read a file line by line; one that is not UTF-8 comes with its error, and signs in place of what is wrong."""
    named, most = name or name_of(path), limit or MAX_LINE_BYTES
    with opened(path) as file:
        number = 0
        while data := file.readline(most + 1):
            number += 1
            if len(data) > most:
                raise InputError(
                    f"is longer than {most / 1e6:g} MB; write one record on each line",
                    file=f"{named} line {number}",
                )
            try:
                yield number, decoded(data, named, number), None
            except InputError as error:
                yield number, data.decode("utf-8", "replace"), error


def decoded(data: bytes, name: str, number: int) -> str:
    """Read bytes that start in line `number` of a file as UTF-8."""
    try:
        return data.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        line = number + data.count(b"\n", 0, error.start)
        raise InputError("is not UTF-8; save the file as UTF-8", file=f"{name} line {line}") from None


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


SMALL_BYTES = 100_000  # about a thousand rows; below it rows are as fast as columns
_KINDS = {"csv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet", "pq": "parquet"}


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read: where it lies, what it is, and what messages call it."""

    path: str
    kind: str
    name: str


def kind_of(path: str) -> str | None:
    """Tell what a file is by its name: csv, jsonl or parquet.

    >>> kind_of("known.ndjson"), kind_of("known.txt")
    ('jsonl', None)
    """
    return _KINDS.get(path.rpartition(".")[2].lower())


def sources_of(paths: Sequence[str], kind: str | None) -> list[Source]:
    """Say which files are meant and what they are; one that nobody here can read is refused."""
    sources = [_source(path, kind) for given in paths for path in expanded(given)]
    if not _has_polars():
        for source in sources:
            if source.kind == "parquet":
                what = "is Parquet, which needs the extra: pip install 'honeyguide[bulk]'"
                raise InputError(what, file=source.name)
    return sources


def pays_by_columns(sources: Sequence[Source]) -> bool:
    """Tell whether files are read by columns: Parquet, and text that is large enough for it."""
    return _has_polars() and (
        any(source.kind == "parquet" for source in sources) or _size(sources) > SMALL_BYTES
    )


def expanded(path: str) -> list[str]:
    """Find the files that a pattern means; a file of that very name comes first."""
    if path == STDIN or "\0" in path or not set("*?[") & set(path) or Path(path).exists():
        return [path]
    found = sorted(glob.glob(path))  # noqa: PTH207 - patterns may be absolute
    if not found:
        raise InputError("is a pattern that no file matches; check the path", file=path)
    return found


def _source(path: str, kind: str | None) -> Source:
    chosen = kind or kind_of(path)
    if chosen is None:
        raise InputError("is of no kind that its name tells; say csv, jsonl or parquet", file=name_of(path))
    return Source(spooled(path) if path == STDIN or is_stream(path) else path, chosen, name_of(path))


def _size(sources: Sequence[Source]) -> int:
    """Add up the bytes; what cannot be asked is complained about when it is opened."""
    total = 0
    for source in sources:
        try:
            total += Path(source.path).stat().st_size
        except (OSError, ValueError):
            continue
    return total


def _has_polars() -> bool:
    return find_spec("polars") is not None
