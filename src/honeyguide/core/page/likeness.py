"""Whether two fetches of a page, or two pages, have the same text.

`main_digest` says whether a page has changed, `sketch_of` with `likeness` whether it is like another. Start reading at
`page_text`. How alike is too alike is `traps.alike` of the base profile. Must not know: traps, history,
markup.
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
_VERSION = "2-"  # of digests: which lines they cover
_TAIL_LINES = 8  # at the end of a page that may be a footer
_DIGIT = re.compile("[0-9]")
_STAMP = re.compile(r"(?<![0-9])(?:(?:19|20)[0-9]{2}(?![0-9])|[0-9]{1,2}:[0-9]{2})")  # a year, a time of day
_NEARLY_ALL = 8  # a main text is none if the page, menus aside, has more than so many times its length
_FOOTER_CHARS = 200  # a longer line is prose
_SKETCH = 32  # numbers in a sketch: likeness is then known to a few per cent
_FEW_LINES = 20  # pages with fewer lines are compared by their words
_MAX_PARTS = 5_000  # lines or words looked at


class PageText(NamedTuple):
    """The lines of a page without its menus, the same as bytes, and its main text as bytes, as far as markup tells."""

    lines: list[str]
    text: bytes  # compared with other pages
    main: bytes  # compared with earlier versions of the page


def page_text(page: Page) -> PageText:
    """Return the text of a page without its menus, and without dates and counters at its end."""
    # A line is part of a menu if it is the anchor text of a link that is outside the main part.
    menu = {anchor for link in page.links for anchor, position in link.seen if position is not _MAIN}
    lines = _without_footer(filterfalse(menu.__contains__, page.text.split("\n")))
    text, main = bytes_of(lines), page.main
    if main is None or _is_little(main.text, page, lines):
        return PageText(lines, text, text)
    if main.is_marked:
        return PageText(lines, text, _encoded(_without_stamp(main.text)))
    menu.difference_update(page.headings)  # a page may have its name in the menu
    own = filterfalse(menu.__contains__, main.text.split("\n"))
    own_bytes = _encoded(_without_stamp("\n".join(own))) if main.is_ended else bytes_of(_without_footer(own))
    return PageText(lines, text, own_bytes)


def _is_little(text: str, page: Page, lines: list[str]) -> bool:
    """Tell whether a text is too small to be the main text, because nearly all of the page is elsewhere."""
    most = _NEARLY_ALL * len(text)
    return most < len(page.text) and most < sum(map(len, lines))


def _without_footer(found: Iterable[str]) -> list[str]:
    """Remove short lines with digits at the end of a page: they may be dates and counters."""
    lines = list(found)
    kept = len(lines) - min(_TAIL_LINES, len(lines) // 4)
    return lines[:kept] + [line for line in lines[kept:] if not _is_stamp(line)]


def _is_stamp(line: str) -> bool:
    if len(line) > _FOOTER_CHARS:
        return False
    return _DIGIT.search(line) is not None or (not line.isascii() and any(map(str.isdigit, line)))


def _without_stamp(text: str) -> str:
    rest, _, last = text.rpartition("\n")
    return rest if len(last) <= _FOOTER_CHARS and len(rest) > 3 * len(last) and _STAMP.search(last) else text


def bytes_of(lines: list[str]) -> bytes:
    """Return lines as the bytes that digests and sketches are made of."""
    return _encoded("\n".join(lines))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def main_digest(main: bytes) -> str | None:
    """Return the digest of a page's main text; None if it has none."""
    return _VERSION + blake2b(main, digest_size=8).hexdigest() if main else None


def can_compare(one: str | None, other: str | None) -> bool:
    """Tell whether two digests are of the same version: earlier versions covered other lines."""
    return one is None or other is None or one.rpartition("-")[0] == other.rpartition("-")[0]


def sketch_of(text: bytes) -> Sketch:
    """Return the smallest checksums of a page's lines: similar pages share most of them."""
    if not text:
        return ()
    parts = text.split(b"\n", _MAX_PARTS)[:_MAX_PARTS]
    if len(parts) < _FEW_LINES:  # too few to compare: groups of three words
        words = text[: _MAX_PARTS * 8].split()[:_MAX_PARTS]
        parts = list(map(b" ".join, zip(words, words[1:], words[2:], strict=False))) or words
    return tuple(sorted(set(map(crc32, parts)))[:_SKETCH])


def likeness(one: Sketch, other: Sketch) -> float:
    """Estimate the share of text that two pages have in common, 0 to 1."""
    if one == other:
        return 1.0
    shared = set(one).intersection(other)
    if not shared:
        return 0.0
    least = sorted(shared.union(one, other))[:_SKETCH]
    return len(shared.intersection(least)) / len(least)
