"""Reading what the user names: files and standard input, never more than is sane.

Owns: bounds of whole files. Must not know: what is in the files; lines are read by `adapters.rows.rowfiles`.
Start reading at `read_bytes` for pages and at `read_lines` for everything with one record a line.
"""

from __future__ import annotations

from honeyguide.adapters.rows.rowfiles import MAX_LINE_BYTES, STDIN, decoded, name_of, opened, read_lines
from honeyguide.errors import InputError

__all__ = [
    "MAX_LINE_BYTES",
    "MAX_PAGE_BYTES",
    "STDIN",
    "name_of",
    "opened",
    "read_bytes",
    "read_lines",
    "read_text",
]

MAX_PAGE_BYTES = 20_000_000  # the largest homepages have a tenth of it


def read_bytes(path: str, limit: int = MAX_PAGE_BYTES) -> bytes:
    """Read a whole file that may not be larger than `limit`."""
    with opened(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"is larger than {limit / 1e6:g} MB; give a smaller file", file=name_of(path))
    return data


def read_text(path: str, limit: int = MAX_PAGE_BYTES) -> str:
    """Read a whole UTF-8 file."""
    return decoded(read_bytes(path, limit), name_of(path), 1)
