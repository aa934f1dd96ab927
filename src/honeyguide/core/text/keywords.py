"""Keywords in a text, each with the words around it as evidence.

Owns: finding keywords and cutting their evidence. Must not know: pages, where text or keywords come from.
Start reading at `find_keywords`. A keyword is found as the rules find their terms: case-blind, as a part of words too
(`sprinkler` in `Sprinklers`), whatever white space stands between its words.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from honeyguide.core.text.fold import fold, fold_case

if TYPE_CHECKING:
    from collections.abc import Sequence


WIDTH = (
    60  # characters of evidence on either side: enough to see what is meant, and a line of a terminal in all
)


@dataclass(frozen=True, slots=True)
class Found:
    """A keyword as it was given, and where it was first met."""

    keyword: str
    text: str


def find_keywords(text: str, keywords: Sequence[str], width: int = WIDTH) -> list[Found]:
    """Find the first evidence of each keyword, in the order of the keywords; the time is linear in the text.

    >>> find_keywords("We test alarms. We install Sprinkler systems in hotels.", ["sprinkler", "foam"], width=12)
    [Found(keyword='sprinkler', text='… We install Sprinkler systems in …')]
    """
    shown = _plain(text)
    folded = fold_case(shown)
    if len(folded) != len(shown):  # a letter that folds to two: show what was searched, so that places agree
        shown = folded
    found = []
    for keyword in dict.fromkeys(keywords):
        sought = fold(keyword)
        place = folded.find(sought) if sought else -1
        if place >= 0:
            found.append(Found(keyword, _around(shown, place, place + len(sought), width)))
    return found


def _plain(text: str) -> str:
    """Fold everything but case, so that the text stays readable and folding its case moves no character."""
    if not text.isascii():
        hidden = {ord(char): None for char in set(text) if not fold_case(char)}
        text = unicodedata.normalize("NFKC", text.translate(hidden))
    return " ".join(text.split())


def _around(text: str, start: int, end: int, width: int) -> str:
    """Cut at word boundaries, about `width` characters before and after; dots show where more was."""
    first, last = max(start - width, 0), min(end + width, len(text))
    if first and text[first - 1] != " ":
        first = text.find(" ", first, start) + 1 or _start_of_word(text, first, start)
    if last < len(text) and text[last] != " ":
        last = text.rfind(" ", end, last) if " " in text[end:last] else _end_of_word(text, end, last)
    before, after = "… " if first else "", " …" if last < len(text) else ""
    return f"{before}{text[first:last].strip()}{after}"


def _start_of_word(text: str, first: int, start: int) -> int:
    """Choose where to cut without a space: before the keyword's word if it is near, else within (Chinese has none)."""
    space = text.rfind(" ", max(first - WIDTH, 0), first)
    return space + 1 if space >= 0 or first <= WIDTH else min(first, start)


def _end_of_word(text: str, end: int, last: int) -> int:
    """Choose where to cut without a space: after the keyword's word if it is near, else within."""
    space = text.find(" ", last, last + WIDTH)
    if space >= 0:
        return space
    return len(text) if len(text) - last <= WIDTH else max(end, last)
