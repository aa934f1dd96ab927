"""When two fetches of a page, or two pages, say the same.

Owns: `main_digest` (has a page changed?) and `sketch_of` with `likeness` (is a page like another?).
Must not know: traps, history, who compares. Start reading at `main_lines`, then `said_by`.
"""

from __future__ import annotations

from hashlib import blake2b
from itertools import filterfalse
from typing import TYPE_CHECKING
from zlib import crc32

from honeyguide.core.page import Position

if TYPE_CHECKING:
    from honeyguide.core.page import Page

Sketch = tuple[int, ...]

_TAIL_LINES = 8  # at most so many lines at the end may be a footer
_FOOTER_CHARS = 200  # a longer line is prose
_SKETCH = 32  # numbers kept of a page: its likeness to another is then known to a few per cent
_FEW_LINES = 20  # pages with fewer lines are compared by their words
_MAX_PARTS = 5_000  # lines or words looked at


def main_lines(page: Page) -> list[str]:
    """Give the lines of a page without its menus, and without dates and counters at its end.

    A page does not tell where its text stands, but its links do: a line that is the anchor of a menu's link is menu.
    """
    main = Position.MAIN
    menu = {
        occurrence.anchor
        for link in page.links
        for occurrence in link.occurrences
        if occurrence.position is not main
    }
    lines = list(filterfalse(menu.__contains__, page.text.split("\n")))
    tail = min(_TAIL_LINES, len(lines) // 4)
    kept = len(lines) - tail
    return lines[:kept] + [line for line in lines[kept:] if not _is_stamp(line)]


def _is_stamp(line: str) -> bool:
    return len(line) <= _FOOTER_CHARS and any(map(str.isdigit, line))


def said_by(lines: list[str]) -> bytes:
    """Give what a page says, as digest and sketch read it."""
    return "\n".join(lines).encode("utf-8", "backslashreplace")


def main_digest(said: bytes) -> str | None:
    """Give a digest of what a page says; None if it says nothing.

    >>> main_digest(b"Fire alarms")
    '6d5605f30aa2344d'
    """
    return blake2b(said, digest_size=8).hexdigest() if said else None


def sketch_of(said: bytes) -> Sketch:
    """Give a few numbers that are alike where pages are: the smallest checksums of their lines.

    Short pages are compared by groups of three words, as a line more or less is all they have.

    >>> sketch_of(b"a") == sketch_of(b"a") != sketch_of(b"b")
    True
    """
    if not said:
        return ()
    parts = said.split(b"\n", _MAX_PARTS)[:_MAX_PARTS]
    if len(parts) < _FEW_LINES:
        words = said[: _MAX_PARTS * 8].split()[:_MAX_PARTS]
        parts = [b" ".join(three) for three in zip(words, words[1:], words[2:], strict=False)] or words
    return tuple(sorted(set(map(crc32, parts)))[:_SKETCH])


def likeness(one: Sketch, other: Sketch) -> float:
    """Estimate which share of what two pages say is the same, 0 to 1.

    >>> likeness((1, 2, 3), (1, 2, 3)), likeness((1, 2), (3, 4)), likeness((), ())
    (1.0, 0.0, 1.0)
    """
    if one == other:
        return 1.0
    shared = set(one).intersection(other)
    if not shared:
        return 0.0
    least = sorted(shared.union(one, other))[:_SKETCH]
    return len(shared.intersection(least)) / len(least)
