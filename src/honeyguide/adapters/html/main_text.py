"""Where the main text of a page is, as far as its markup tells.

Owns: which parts of a page are no main text, and when a `main` or a single `article` stands for all of it.
Must not know: parsing, links, what the main text is compared with. Start reading at `main_text`.

It reads the parts that the walk has found, not the document: their number is small, and each line is read a few times
at most, however parts are nested.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from operator import eq, itemgetter
from typing import TYPE_CHECKING

from honeyguide.adapters.html.walk import ARTICLE, ASIDE, BOX, FOOTER, HEADER, MAIN, MAX_TEXT, SECTION
from honeyguide.core.page.page import Main

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.adapters.html.links import Links
    from honeyguide.adapters.html.walk import Box, Document

    Span = tuple[int, int]  # lines: the first, and the one after the last

_FAIR_SHARE = 3  # what is marked as main counts, unless other parts have more than so many times as much text
_EDGE_LINES = 30  # at the top and at the end of a page, also empty ones, in which a row of links is a menu
_ROW_LINKS = 3  # at least, side by side
_ROW_SHARE = 0.8  # of the letters in a line that is a menu are links
_ENTRY_LINES = 50  # of a menu's entry at most


def main_text(document: Document, links: Links, chars: int) -> Main | None:
    """Return the main text of a page whose text has `chars` characters; None if its markup does not tell."""
    parts = _Parts(document.boxes, links.landmarks)
    marked = parts.marked
    kept = document.visible.lines().copy()
    if not (marked or parts.left_out):
        return Main(_joined(kept)) if _remove_rows(document, kept) else None
    for first, last in parts.left_out:
        kept[first:last] = [""] * (last - first)
    if marked:
        _remove_entries(document, links.menu, kept, (marked[0][0], marked[-1][1]))
        text = _joined(chain.from_iterable(kept[first:last] for first, last in marked))
        fair = _FAIR_SHARE * len(text)
        if text and (fair >= chars or fair >= _chars_outside(kept, marked)):
            return Main(text, is_marked=True, is_ended=True)
    # A footer with text after it is that of a quotation.
    is_ended = bool(parts.footers) and not any(kept[parts.footers[-1][1] :])
    return Main(_joined(kept), is_ended=is_ended)


class _Parts:
    """The parts of a page, from the outside in: those that are left out, and those that are marked as main.

    Parts are nested or apart, so a part that begins before the end of another one is inside it.
    """

    def __init__(self, boxes: Sequence[Box], landmarks: Mapping[int, int]) -> None:
        self.left_out: list[Span] = []
        self.mains: list[Span] = []  # the outermost ones
        self.articles: list[Span] = []
        self.footers: list[Span] = []
        if landmarks:
            boxes = [(landmarks.get(scope, kind), scope, first, last) for kind, scope, first, last in boxes]
        self._sort(sorted((box for box in boxes if box[0] != BOX), key=itemgetter(2)))

    def _sort(self, boxes: Sequence[Box]) -> None:
        out_end = main_end = article_end = scope_end = 0
        for kind, _, first, last in boxes:
            if first < out_end:
                continue
            # Headers of articles and sections are theirs, and so are notes at the side of an article.
            free = scope_end if kind == HEADER else article_end if kind == ASIDE else 0
            if kind == MAIN:
                if first >= main_end:
                    self.mains.append((first, last))
                    main_end = last
            elif kind == ARTICLE:
                if first >= article_end:
                    self.articles.append((first, last))
                    article_end = last
            elif kind != SECTION and first >= free:
                self.left_out.append((first, last))
                if kind == FOOTER:
                    self.footers.append((first, last))
                out_end = last
                continue
            scope_end = max(scope_end, last)

    @property
    def marked(self) -> list[Span]:
        """Every `main`, or else the article if there is exactly one."""
        return self.mains or (self.articles if len(self.articles) == 1 else [])


def _remove_entries(document: Document, menu: Sequence[int], kept: list[str], within: Span) -> None:
    """Remove menus in the main text that only their links tell: blocks of almost nothing but links."""
    start, end = within
    blocks: defaultdict[Span, int] = defaultdict(int)
    for number in menu:
        text, first, last = document.blocks.around(number)
        if start <= first < end and last - first <= _ENTRY_LINES and text is document.visible:
            blocks[first, last] += _letters(document.labels[number])
    for (first, last), linked in blocks.items():
        if linked >= _ROW_SHARE * sum(map(_letters, kept[first:last])):
            kept[first:last] = [""] * (last - first)


def _remove_rows(document: Document, kept: list[str]) -> int:
    """Remove lines at the top and at the end that are almost all links, side by side: menus. Return their number."""
    # Anchors of one line are consecutive: if no two that are two apart share their block, no three do.
    numbers = document.blocks.numbers
    if not any(map(eq, numbers, numbers[2:])):
        return 0
    rows: defaultdict[int, list[int]] = defaultdict(list)
    edge = len(kept) - _EDGE_LINES
    for number, label in enumerate(document.labels):
        text, first, last = document.blocks.around(number)
        if (first < _EDGE_LINES or first >= edge) and last == first + 1 and text is document.visible:
            rows[first].append(_letters(label))
    full = ((line, links) for line, links in rows.items() if len(links) >= _ROW_LINKS)
    menus = [line for line, links in full if sum(links) >= _ROW_SHARE * _letters(kept[line])]
    for line in menus:
        kept[line] = ""
    return len(menus)


def _letters(text: str) -> int:
    """Count letters and digits, because links are often separated by bars."""
    return sum(map(str.isalnum, text))


def _chars_outside(kept: list[str], spans: list[Span]) -> int:
    """Count the characters outside of some parts."""
    starts, ends = [first for first, _ in spans], [last for _, last in spans]
    gaps = zip([0, *ends], [*starts, len(kept)], strict=True)
    return sum(sum(map(len, kept[first:last])) for first, last in gaps)


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(filter(None, lines))[:MAX_TEXT].rstrip()
