"""Files and standard input, opened, decoded and bounded; the error sentence names the file.

Start reading at `read_bytes` for whole files, at `lines_or_errors` for one record on each line. Tables are in `sources.py`. Must not
know: what is in the files.
"""

from __future__ import annotations

import gzip
import logging
import sys
import zlib
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    Line = tuple[int, str, InputError | None]  # its number from 1, its text, and why that is not UTF-8

_LOG = logging.getLogger("honeyguide.files")
STDIN = "-"
MAX_PAGE_BYTES = 20_000_000  # the largest homepages have a tenth of it
MAX_LINE_BYTES = 1_000_000
_PACKED = ("gz", "zst")
_DATABASE = b"SQLite format 3\x00"


def name_of(path: str) -> str:
    """Name a file in messages."""
    return "standard input" if path == STDIN else path


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file or standard input; an `OSError` becomes an `InputError`."""
    try:
        if path == STDIN:
            if sys.stdin is None:
                raise InputError("is closed", file=name_of(path))
            yield sys.stdin.buffer
        elif "\0" in path:
            raise InputError("is not a usable path", file=path)
        else:
            _LOG.info("reading %s", path)
            with Path(path).open("rb") as file, _decompressed(file, path) as plain:
                yield plain
    except gzip.BadGzipFile:
        raise _damaged(path) from None
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}; check the path"
        if isinstance(error, FileNotFoundError) and path.startswith(("http://", "https://")):
            what = "is an address, not a file; honeyguide pick and crawl read addresses"
        elif isinstance(error, FileNotFoundError) and "://" in path:
            what = "is no file here; of object stores, only s3:// is read, and only Parquet"
        raise InputError(what, file=name_of(path)) from None


@contextmanager
def _decompressed(file: IO[bytes], path: str) -> Iterator[IO[bytes]]:
    """Read through the compression that the name tells; what comes out is bounded by whoever reads it."""
    packed = _packing(path)
    if not packed:
        yield file
        return
    try:
        with gzip.GzipFile(fileobj=file) if packed == "gz" else _zstd(file, path) as plain:
            yield cast("IO[bytes]", plain)
    except (EOFError, zlib.error):
        raise _damaged(path) from None
    except Exception as error:  # ZstdError belongs to an extra: its class may not exist here
        if type(error).__name__ != "ZstdError":
            raise
        raise _damaged(path) from None


def _zstd(file: IO[bytes], path: str) -> IO[bytes]:
    try:
        zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ImportError:
        what = "is compressed by zstd, which needs a library: pip install 'backports.zstd>=1.0'"
        raise InputError(what, file=path) from None
    return cast("IO[bytes]", zstd.ZstdFile(file))


def _damaged(path: str) -> InputError:
    return InputError("is not compressed as its name tells, or is cut off", file=path)


def _packing(path: str) -> str:
    end = path.rpartition(".")[2].lower()
    return end if end in _PACKED else ""


def plain_name(path: str) -> str:
    """Give the name of a file without the ending of its compression.

    >>> plain_name("known.csv.GZ"), plain_name("known.csv")
    ('known.csv', 'known.csv')
    """
    return path[: -1 - len(end)] if (end := _packing(path)) else path


def read_bytes(path: str, limit: int = MAX_PAGE_BYTES, advice: str = "give a smaller file") -> bytes:
    """Read a whole file of at most `limit` bytes."""
    with opened(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"is larger than {limit / 1e6:g} MB; {advice}", file=name_of(path))
    return data


def read_text(path: str) -> str:
    """Read a whole UTF-8 file."""
    return _decoded(read_bytes(path), name_of(path), 1)


def read_lines(path: str, limit: int | None = None) -> Iterator[tuple[int, str]]:
    """Read a UTF-8 file line by line, with line numbers from 1; line ends stay."""
    for number, text, error in lines_or_errors(path, limit=limit):
        if error is not None:
            raise error
        yield number, text


def lines_or_errors(path: str, name: str = "", limit: int | None = None) -> Iterator[Line]:
    """Read a file line by line; a line that is not UTF-8 comes with its error and replacement characters."""
    with opened(path) as file:
        yield from numbered_lines(file, name or name_of(path), limit or MAX_LINE_BYTES)


def numbered_lines(
    file: IO[bytes], name: str, limit: int = MAX_LINE_BYTES, before: int = 0
) -> Iterator[Line]:
    """Read the lines of an open file from where it is, `before` which there were so many."""
    number = before
    while data := file.readline(limit + 1):
        number += 1
        if len(data) > limit:
            what = f"is longer than {limit / 1e6:g} MB; write one record on each line"
            raise InputError(what, file=f"{name} line {number}")
        try:
            yield number, _decoded(data, name, number), None
        except InputError as error:
            yield number, data.decode("utf-8", "replace"), error


def _decoded(data: bytes, name: str, number: int) -> str:
    try:
        return data.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        if data.startswith(_DATABASE):
            raise InputError(
                "is a database, such as a store, not a text file; check the path", file=name
            ) from None
        line = number + error.object.count(b"\n", 0, error.start)  # which is without the byte-order mark
        raise InputError("is not UTF-8; save the file as UTF-8", file=f"{name} line {line}") from None
