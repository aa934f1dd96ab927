"""Where the main text of a page is, as far as its markup tells.

Owns: which parts of a page are no main text, and when a `main` or a single `article` stands for all of it.
Must not know: parsing, links, what the main text is compared with. Start reading at `main_of`.

It looks at the parts that the walk has met, not at the document: their number is small, and each line is touched a few
times at most, however parts are nested.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from operator import is_, itemgetter
from typing import TYPE_CHECKING

from honeyguide.adapters.markup.elements import ARTICLE, ASIDE, BOX, FOOTER, HEADER, MAIN, SECTION
from honeyguide.adapters.markup.walk import MAX_TEXT
from honeyguide.core.page import Main

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.adapters.markup.walk import Box, Walk

    Span = tuple[int, int]  # lines: the first, and the one after the last

# What is marked as main is that, unless there is more than so many times as much outside of landmarks.
_FAIR_SHARE = 3
_EDGE_LINES = 30  # at the top and at the end of a page, also empty ones, in which a row of links is a menu
_ROW_LINKS = 3  # at least, side by side
_ROW_SHARE = 0.8  # of the letters in a line that is a menu are links
_ENTRY_LINES = 50  # of a menu's entry at most


class _Parts:
    """The parts of a page, from the outside in: what is out, and what is marked as main.

    Parts are nested or apart, so what begins before another one's end is inside of it.
    """

    def __init__(self, boxes: Sequence[Box], named: Mapping[int, int]) -> None:
        self.out: list[Span] = []
        self.mains: list[Span] = []  # those that are in no other one, and so on
        self.articles: list[Span] = []
        self.footers: list[Span] = []
        self._sort(sorted(_called(boxes, named), key=itemgetter(2)))

    def _sort(self, landmarks: Sequence[Box]) -> None:
        out_end = main_end = article_end = scope_end = 0
        for kind, _, first, last in landmarks:
            if first < out_end:
                continue
            if kind == MAIN:
                if first >= main_end:
                    self.mains.append((first, last))
                    main_end = last
            elif kind == ARTICLE:
                if first >= article_end:
                    self.articles.append((first, last))
                    article_end = last
            # Headers of articles and sections are theirs, and so are notes at the side of an article.
            elif kind != SECTION and first >= (
                scope_end if kind == HEADER else article_end if kind == ASIDE else 0
            ):
                self.out.append((first, last))
                if kind == FOOTER:
                    self.footers.append((first, last))
                out_end = last
                continue
            scope_end = max(scope_end, last)

    @property
    def marked(self) -> list[Span]:
        """What is marked as main: each `main`, or else the article if there is one."""
        return self.mains or (self.articles if len(self.articles) == 1 else [])


def _called(boxes: Sequence[Box], named: Mapping[int, int]) -> list[Box]:
    """Find what is a part of the page by its element, or is named so."""
    if not named:
        return [box for box in boxes if box[0] != BOX]
    called = [(named.get(node.mem_id, kind), node, first, last) for kind, node, first, last in boxes]
    return [box for box in called if box[0] != BOX]


def main_of(seen: Walk, named: Mapping[int, int], menu: Sequence[int], chars: int) -> Main | None:
    """Give the main text of a page whose text has so many characters; None where its markup does not tell.

    `named` is what elements say by their attributes that they are, `menu` the anchors of menus.
    """
    parts = _Parts(seen.boxes, named)
    marked = parts.marked
    kept = seen.visible.lines().copy()
    if not (marked or parts.out):
        return Main(_joined(kept)) if _take_rows(seen, kept) else None
    for first, last in parts.out:
        kept[first:last] = [""] * (last - first)
    if marked:
        _take_entries(seen, menu, kept, (marked[0][0], marked[-1][1]))
        text = _joined(chain.from_iterable(kept[first:last] for first, last in marked))
        fair = _FAIR_SHARE * len(text)
        if text and (fair >= chars or fair >= _chars_outside(kept, marked)):
            return Main(text, is_marked=True, is_ended=True)
    is_ended = bool(parts.footers) and not any(
        kept[parts.footers[-1][1] :]
    )  # else it is the footer of a quotation
    return Main(_joined(kept), is_ended=is_ended)


def _take_entries(seen: Walk, menu: Sequence[int], kept: list[str], within: Span) -> None:
    """Take out menus in the main text that only their links tell: blocks that say nearly nothing else."""
    start, end = within
    blocks: defaultdict[Span, int] = defaultdict(int)
    for number in menu:
        text, first, last = seen.lines[number]
        if start <= first < end and last - first <= _ENTRY_LINES and text is seen.visible:
            blocks[first, last] += _letters(seen.labels.get(number, ""))
    for (first, last), linked in blocks.items():
        if linked >= _ROW_SHARE * sum(map(_letters, kept[first:last])):
            kept[first:last] = [""] * (last - first)


def _take_rows(seen: Walk, kept: list[str]) -> int:
    """Take out lines at the top and at the end that are nearly all links, side by side: menus. Tell how many there were."""
    lines = list(seen.lines.values())
    # Anchors of one block come one after the other: where no two that are two apart share theirs, there are no three.
    if not any(map(is_, lines, lines[2:])):
        return 0
    rows: defaultdict[int, list[int]] = defaultdict(list)
    edge = len(kept) - _EDGE_LINES
    for number, (text, first, last) in seen.lines.items():
        if (first < _EDGE_LINES or first >= edge) and last == first + 1 and text is seen.visible:
            rows[first].append(_letters(seen.labels.get(number, "")))
    menus = [
        line
        for line, links in rows.items()
        if len(links) >= _ROW_LINKS and sum(links) >= _ROW_SHARE * _letters(kept[line])
    ]
    for line in menus:
        kept[line] = ""
    return len(menus)


def _letters(text: str) -> int:
    """Count letters and digits: what stands between links is often a bar."""
    return sum(map(str.isalnum, text))


def _chars_outside(kept: list[str], spans: list[Span]) -> int:
    """Count what stands outside of some parts."""
    starts, ends = [first for first, _ in spans], [last for _, last in spans]
    gaps = zip([0, *ends], [*starts, len(kept)], strict=True)
    return sum(sum(map(len, kept[first:last])) for first, last in gaps)


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(filter(None, lines))[:MAX_TEXT].rstrip()
