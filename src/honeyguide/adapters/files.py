"""Files and standard input, read as users name them, never more than is sane.

Owns: opening, bounds of whole files and of lines, UTF-8, and the sentence when a file cannot be read. Must not know: what
is in the files. Start reading at `read_bytes` for whole files and at `read_lines` for those with one record a line.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

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
