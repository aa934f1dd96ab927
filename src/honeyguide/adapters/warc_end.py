"""Where the last whole record of a WARC file ends, so that others can be appended.

Owns: telling what a kill left of a record, which may be cut away, from damage and from files of others, which are refused.
Must not know: what stands in the records. Start reading at `whole_end`.
"""

from __future__ import annotations

import os
import re
import zlib
from typing import IO, TYPE_CHECKING

from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = 1 << 14  # of a packed file are unpacked at once: what they may grow to is no matter
_MAGIC = b"WARC/"
_BEHIND = b"\r\n\r\n"  # every record
_NEXT = _BEHIND + _MAGIC
_PACKED = b"\x1f\x8b\x08\0\0\0\0\0"  # how our packed records begin: without a name, without a time
_SHORT = 1_000  # bytes of a packed record: with fewer it may be torn before it says what it is
_MOST_LINES = 1_000  # of a head
_LENGTH = re.compile(rb"content-length:\s*\d{1,18}\s*$", re.IGNORECASE)  # longer ones are no lengths


def whole_end(file: IO[bytes], name: str, *, is_packed: bool) -> int:
    """Find where the last whole record of a WARC file ends; what follows is the beginning of another, which a kill tore.

    Raises `InputError` if the file is something else, or is damaged: what stands behind damage is not ours to cut away.
    """
    file.seek(0)
    end, size = 0, os.fstat(file.fileno()).st_size
    try:
        for end in _packed_ends(file) if is_packed else _plain_ends(file, size):  # noqa: B007 - the last one is meant
            pass
    except (ValueError, zlib.error):
        is_broken = True
    else:
        is_broken = end < size and _has(file, end + 1, _PACKED if is_packed else _NEXT)
    if is_broken:
        what = f"is damaged after byte {end:,}, and goes on behind that" if end else "is no such WARC file"
        raise InputError(f"exists and {what}; choose another --warc", file=name)
    return end


def _packed_ends(file: IO[bytes]) -> Iterator[int]:
    """Unpack record by record, without keeping any; what is no record raises an error."""
    at = 0
    data = file.read(_BLOCK)
    while data:
        start, is_ours = at, _PACKED.startswith(data[: len(_PACKED)])
        member, head, last, has_next = zlib.decompressobj(wbits=31), b"", b"", False
        while data and not member.eof:
            text = member.decompress(data)
            head = (head + text)[: len(_MAGIC)]
            has_next = has_next or _NEXT in last + text
            last = (last + text)[-len(_NEXT) :]
            at += len(data) - len(member.unused_data)
            data = member.unused_data or file.read(_BLOCK)
        is_begun = is_ours and at - start < _SHORT and _MAGIC.startswith(head) and not member.eof
        if (head != _MAGIC and not is_begun) or (has_next and not member.eof):
            raise ValueError
        if member.eof:
            yield at


def _plain_ends(file: IO[bytes], size: int) -> Iterator[int]:
    """Go from head to head by the lengths that they state; what is no record raises an error."""
    end = 0
    while end < size:
        file.seek(end)
        if not file.read(len(_MAGIC)).startswith(_MAGIC[: size - end]):
            raise ValueError
        length = _stated_length(file)
        end = file.tell() + (length or 0) + len(_BEHIND)
        if length is None or end > size:
            return
        file.seek(end - len(_BEHIND))
        if file.read(len(_BEHIND)) != _BEHIND:
            raise ValueError
        yield end


def _stated_length(file: IO[bytes]) -> int | None:
    """Read the rest of a head; None if the file ends in it."""
    length = None
    for _ in range(_MOST_LINES):
        line = file.readline(_BLOCK)
        if not line:
            return None
        if _LENGTH.match(line):
            length = int(line.partition(b":")[2])
        if line == b"\r\n":
            break
    if length is None:
        raise ValueError
    return length


def _has(file: IO[bytes], start: int, mark: bytes) -> bool:
    """Tell whether some bytes stand anywhere from there on."""
    file.seek(start)
    last = b""
    while data := file.read(_BLOCK):
        if mark in last + data:
            return True
        last = data[-len(mark) :]
    return False
