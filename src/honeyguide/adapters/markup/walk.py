"""One walk through a parsed document: its visible text, and all elements that somebody will ask for.

Owns: which text is visible, where its lines end, which lines belong to the block around an anchor, and which to what may
be a part of the page (`boxes`).
Must not know: positions, contexts, URLs. Start reading at `Walk`.

That Python walks is cheaper than to let the parser search for each kind of element. There is no recursion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.adapters.markup.elements import (
    ANCHOR,
    BOX,
    BREAK,
    H1,
    H2,
    IGNORED,
    KINDS,
    LEVELS,
    NAV,
    NO_STYLING,
    OTHER,
    SCRIPT,
    TEXT_NUMBER,
    TITLE,
    TOLD,
)

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    Lines = tuple["Text", int, int]  # of a block: the text, its first line, and the one after its last
    Box = tuple[
        int, LexborNode, int, int
    ]  # a part of the page: its kind, its first line, and the one after its last

MAX_HEADINGS = 500  # of each level
MAX_TEXT = 1_000_000  # characters of visible text
MAX_LABEL = 500  # characters of an anchor text, a title, a rel, a heading
_RAW_CHARS = 4_000  # characters that are folded for one label
_RAW_PARTS = 257  # pieces of text that are folded for one label
_SHALLOW = 7  # elements around one that may be a part of the page without being called so
_LINE_END = "\0"  # stands between blocks in gathered text; no parsed text has it


class Text:
    """Text as it was gathered: pieces, and line ends where blocks begin and end."""

    __slots__ = ("_lines", "parts")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._lines: list[str] | None = None

    def lines(self) -> list[str]:
        """Fold it, line by line, once it is complete; what is between two blocks is an empty line."""
        if self._lines is None:
            raw = "".join(self.parts).replace("\n", " ").split(_LINE_END)
            self._lines = [
                line and (line if "  " not in line and line.isprintable() else " ".join(line.split()))
                for line in map(str.strip, raw)
            ]
        return self._lines


class Walk:
    """What one walk finds. Anchors are numbered from 1 on; their labels are not yet folded."""

    def __init__(self, start: LexborNode | None, hidden: set[int]) -> None:
        self.visible = Text()
        self.headings: dict[int, list[str]] = {1: [], 2: []}
        self.found: dict[int, list[LexborNode]] = {
            kind: [] for kind in (ANCHOR, TOLD, SCRIPT, TITLE, IGNORED)
        }
        self.labels: dict[int, str] = {}  # of anchors
        self.lines: dict[int, Lines] = {}  # of the nearest blocks around anchors
        self.boxes: list[Box] = []  # visible ones, as they end
        self._walk(start, hidden)

    def _walk(self, node: LexborNode | None, hidden: set[int]) -> None:  # noqa: C901, PLR0912, PLR0915 - one loop: a call for each node costs more
        """Walk through the document and keep its visible text, its headings, its anchors, and what tells about it."""
        around = visible = self.visible
        parts, line = visible.parts, 0
        found, labels, lines_of = self.found, self.labels, self.lines
        anchors = found[ANCHOR]
        open_anchors: list[int] = []  # those whose block has not ended
        ended = -1  # how many parts there were when the last anchor ended
        append = parts.append
        kind_of, text, no_styling = KINDS.get, TEXT_NUMBER, NO_STYLING
        # Names of the module would cost more: each round of the loop looks most of these up.
        other, anchor, end, line_end = OTHER, ANCHOR, BREAK, _LINE_END
        script, title, ignored = SCRIPT, TITLE, IGNORED
        h1, h2, box, nav, shallow, add_box = H1, H2, BOX, NAV, _SHALLOW, self.boxes.append
        path: list[tuple[LexborNode, int, Text, int, int, int]] = []
        while node is not None:
            tag = node.tag_id
            if tag == text:
                append(node.text_content or "")
            else:
                kind = kind_of(tag, other)
                if kind >= end:
                    append(line_end)
                    line += 1
                elif kind:
                    found[kind].append(node)
                    if kind == anchor:
                        open_anchors.append(len(anchors))
                        if ended == len(parts):
                            append(" ")  # anchors side by side are words apart, as a rule by style sheets
                child = node.first_child
                if child is None:
                    pass
                elif kind <= anchor and not hidden:
                    # Nothing happens where styling ends, so the walk need not come back to what is alone in an element.
                    while (
                        child.next is None
                        and (tag := child.tag_id) not in no_styling
                        and (inner := child.first_child) is not None
                    ):
                        child = inner
                    if tag == text:
                        append(content := child.text_content or "")
                        if kind:
                            labels[len(anchors)] = content
                            ended = len(parts)
                        child = None
                elif kind == script:
                    child = None
                elif title <= kind <= ignored or (hidden and node.mem_id in hidden):
                    path.append((node, kind, around, line, 0, len(open_anchors)))
                    around, line, ended = Text(), 0, -1  # links count also in what nobody sees
                    parts = around.parts
                    append = parts.append
                    node = child
                    continue
                if child is not None:
                    path.append((node, kind, around, line, len(parts), len(open_anchors)))
                    node = child
                    continue
            while (following := node.next) is None and path:
                node, kind, outside, first, start, number = path.pop()
                if kind == anchor:
                    labels[open_anchors[number - 1]] = _label(parts, start)
                    ended = len(parts)
                elif kind >= end:
                    if number < len(open_anchors):
                        lines = around, first if outside is around else 0, line + 1
                        while number < len(open_anchors):
                            lines_of[open_anchors.pop()] = lines
                    if kind >= box:
                        if (len(path) < shallow or kind >= nav) and around is visible:
                            add_box((kind, node, first, line + 1))
                    elif h1 <= kind <= h2 and around is visible:
                        self._add_heading(LEVELS[kind], _label(parts, start))
                if outside is not around:
                    number -= kind == anchor
                    while number < len(open_anchors):  # what nobody sees is a block of its own
                        lines_of[open_anchors.pop()] = around, 0, line + 1
                    around, line, ended = outside, first, -1
                    parts = around.parts
                    append = parts.append
                if kind >= end:
                    append(line_end)
                    line += 1
            node = following

    def _add_heading(self, level: int, text: str) -> None:
        """Keep a heading that says something."""
        headings = self.headings[level]
        if text and len(headings) < MAX_HEADINGS:
            headings.append(text)


def _label(parts: list[str], start: int) -> str:
    """Gather the text of an anchor or a heading, as much of it as a label needs."""
    return fold("".join(parts[start : start + _RAW_PARTS]).replace(_LINE_END, " "), MAX_LABEL)


def fold(text: str | None, limit: int) -> str:
    r"""Fold white space, and cut to a limit.

    >>> fold("  Fire\n  alarms ", 8)
    'Fire ala'
    """
    if not text:
        return ""
    # Of all white space only the space is printable, so most labels need nothing.
    if len(text) <= limit and text.isprintable() and "  " not in text and text[0] != " " != text[-1]:
        return text
    return " ".join(text[:_RAW_CHARS].split())[:limit].rstrip()
