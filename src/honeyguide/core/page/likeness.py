"""When two fetches of a page, or two pages, say the same.

Owns: `main_digest` (has a page changed?) and `sketch_of` with `likeness` (is a page like another?).
Must not know: traps, history, who compares, markup. Start reading at `said_on`.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from itertools import filterfalse
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from honeyguide.core.page.page import Position

if TYPE_CHECKING:
    from collections.abc import Iterable

    from honeyguide.core.page.page import Page


Sketch = tuple[int, ...]


_MAIN = Position.MAIN
_VERSION = "2-"  # of digests: which lines they are of
_TAIL_LINES = 8  # at most so many lines at the end may be a footer
_DIGIT = re.compile("[0-9]")
_STAMP = re.compile(r"(?<![0-9])(?:(?:19|20)[0-9]{2}(?![0-9])|[0-9]{1,2}:[0-9]{2})")  # a year, a time of day
_NEARLY_ALL = 8  # a main text is none if there is more than so many times as much on the page, menus aside
_FOOTER_CHARS = 200  # a longer line is prose
_SKETCH = 32  # numbers kept of a page: its likeness to another is then known to a few per cent
_FEW_LINES = 20  # pages with fewer lines are compared by their words
_MAX_PARTS = 5_000  # lines or words looked at


class Said(NamedTuple):
    """What a page says: its lines without menus, those as bytes, and the bytes of its main text, as far as markup tells.

    The second is compared with other pages, the third with what the page was before.
    """

    lines: list[str]
    text: bytes
    main: bytes


def said_on(page: Page) -> Said:
    """Read what a page says: without its menus, and without dates and counters at its end.

    Text does not tell where it stands, but links do: a line that is the anchor of a menu's link is menu.
    """
    menu = {one.anchor for link in page.links for one in link.occurrences if one.position is not _MAIN}
    lines = _without_footer(filterfalse(menu.__contains__, page.text.split("\n")))
    text, main = said_by(lines), page.main
    if main is None or _is_little(main.text, page, lines):
        return Said(lines, text, text)
    if main.is_marked:
        return Said(lines, text, _bytes_of(_without_stamp(main.text)))
    menu.difference_update(page.headings)  # a page may have its name in the menu
    own = filterfalse(menu.__contains__, main.text.split("\n"))
    said = _bytes_of(_without_stamp("\n".join(own))) if main.is_ended else said_by(_without_footer(own))
    return Said(lines, text, said)


def _is_little(text: str, page: Page, lines: list[str]) -> bool:
    """Tell whether a main text cannot be that, as nearly all of the page stands elsewhere."""
    most = _NEARLY_ALL * len(text)
    return most < len(page.text) and most < sum(map(len, lines))


def _without_footer(found: Iterable[str]) -> list[str]:
    """Leave out short lines with digits at the end of a page: they may be dates and counters."""
    lines = list(found)
    kept = len(lines) - min(_TAIL_LINES, len(lines) // 4)
    return lines[:kept] + [line for line in lines[kept:] if not _is_stamp(line)]


def _is_stamp(line: str) -> bool:
    if len(line) > _FOOTER_CHARS:
        return False
    return _DIGIT.search(line) is not None or (not line.isascii() and any(map(str.isdigit, line)))


def _without_stamp(text: str) -> str:
    """Leave out the last line of a text if it is short, and has a year or a time of day."""
    rest, _, last = text.rpartition("\n")
    return rest if len(last) <= _FOOTER_CHARS and len(rest) > 3 * len(last) and _STAMP.search(last) else text


def said_by(lines: list[str]) -> bytes:
    """Give what lines say, as digest and sketch read it."""
    return _bytes_of("\n".join(lines))


def _bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def main_digest(main: bytes) -> str | None:
    """Give a digest of the main text of a page; None if it has none.

    >>> main_digest(b"Fire alarms")
    '2-6d5605f30aa2344d'
    """
    return _VERSION + blake2b(main, digest_size=8).hexdigest() if main else None


def can_compare(one: str | None, other: str | None) -> bool:
    """Tell whether two digests differ only if what they are of does: those of earlier versions are of other lines.

    >>> can_compare("2-6d5605f30aa2344d", "2-0123456789abcdef"), can_compare("2-6d5605f30aa2344d", "6d5605f30aa2344d")
    (True, False)
    """
    return one is None or other is None or one.rpartition("-")[0] == other.rpartition("-")[0]


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
        parts = list(map(b" ".join, zip(words, words[1:], words[2:], strict=False))) or words
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
