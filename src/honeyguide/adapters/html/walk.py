"""One walk through a parsed document: its visible text, and all elements that somebody will ask for.

Owns: which text is visible, where its lines end, which lines belong to the block around an anchor, and which to what may
be a part of the page (`boxes`).
Must not know: positions, contexts, URLs. Start reading at `Walk`.

That Python walks is cheaper than to let the parser search for each kind of element. There is no recursion.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from selectolax.lexbor import LexborHTMLParser

from honeyguide.core.page.page import Position

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    Lines = tuple["TextPieces", int, int]  # of a block: the text, its first line, and the one after its last
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


class TextPieces:
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
        self.visible = TextPieces()
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
        path: list[tuple[LexborNode, int, TextPieces, int, int, int]] = []
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
                    around, line, ended = TextPieces(), 0, -1  # links count also in what nobody sees
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


_NAME_CHARS = 300  # characters of class and id that are looked at


# Class and id names that say "menu" or "footer" where the element does not. Whole names only: `bg-navy` is a colour, and
# a `card-footer` is no footer of the page.
NAVIGATION_NAMES = frozenset({
    "nav", "navbar", "navbar-nav", "navigation", "main-nav", "site-nav", "nav-menu", "mobile-nav", "menu", "main-menu",
    "mobile-menu", "dropdown-menu", "sidemenu", "site-header", "masthead", "topbar", "breadcrumb", "breadcrumbs",
})  # fmt: skip
FOOTER_NAMES = frozenset({"footer", "site-footer", "page-footer", "main-footer", "colophon"})


# The kinds of elements. Up to `TOLD` they are part of a line, and perhaps a landmark; up to `IGNORED` nobody sees what is
# in them. From `BREAK` on they end the line that they stand in; from `CONTAINER` on they may be a menu or a footer. From
# `BOX` on they tell where the main text is: up to `HEADER` only near the top of the tree, then everywhere. What is not
# named here, or unknown to the parser, is `OTHER`.
(
    OTHER,
    ANCHOR,
    TOLD,
    SCRIPT,
    TITLE,
    IGNORED,
    BREAK,
    BLOCK,
    H1,
    H2,
    CONTAINER,
    LIST,
    BOX,
    SECTION,
    HEADER,
    NAV,
    FOOTER,
    ASIDE,
    MAIN,
    ARTICLE,
) = range(20)
_NAMES: Final = {
    ANCHOR: "a area",
    TOLD: "base meta link",
    SCRIPT: "script style",
    TITLE: "title",
    IGNORED: "head template noscript iframe noembed noframes datalist desc",
    BREAK: "br hr",
    BLOCK: "html body blockquote button caption center dd details dialog dt fieldset figcaption figure h3 h4 h5 h6 hgroup "
    "legend li optgroup option p pre select summary td textarea th",
    H1: "h1",
    H2: "h2",
    CONTAINER: "address dir dl form search table tbody tfoot thead tr",
    LIST: "ul ol menu",
    BOX: "div",
    SECTION: "section",
    HEADER: "header",
    NAV: "nav",
    FOOTER: "footer",
    ASIDE: "aside",
    MAIN: "main",
    ARTICLE: "article",
}
LEVELS: Final = {H1: 1, H2: 2}


# Where an element stands; the greater wins. The header is main, but lists in it are menus.
IN_MAIN, IN_HEADER, IN_NAVIGATION, IN_FOOTER = range(4)
LANDMARK = 4
_ROLES: Final = {
    "main": MAIN,
    "navigation": NAV,
    "banner": NAV,
    "complementary": NAV,
}  # those two are out as menus are
POSITIONS: Final = (Position.MAIN, Position.MAIN, Position.NAVIGATION, Position.FOOTER)


def _numbers(names: str) -> set[int]:
    """Ask the parser for its numbers of tags, which differ between versions; a tag it does not know has an address."""
    document = LexborHTMLParser(b"")
    return {number for name in names.split() if (number := document.create_node(name).tag_id) < 1 << 16}


KINDS: Final = {number: kind for kind, names in _NAMES.items() for number in _numbers(names)}
TEXT_NUMBER: Final = next(
    node.tag_id for node in LexborHTMLParser(b"text").css("body")[0].iter(include_text=True)
)
NO_STYLING: Final = frozenset({*KINDS, TEXT_NUMBER})
AREA: Final = _numbers("area")
IMAGES: Final = {
    number: name for name in ("img", "input", "title") for number in _numbers(name)
}  # with their alternatives


def inside(node: LexborNode, kind: int, where: int) -> int:
    """Tell where links inside an element stand, given where the element stands. A footer wins over a menu.

    From `LANDMARK` on, it also tells that the element says by its attributes what it is: times so many.
    """
    attributes, landmark = node.attributes, 0
    if attributes:
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        named = _named(names[:_NAME_CHARS], (attributes.get("role") or "")[:_NAME_CHARS])
        if named >= LANDMARK:
            landmark, named = named - named % LANDMARK, named % LANDMARK
        where = max(where, named)
    if kind == FOOTER:
        return IN_FOOTER
    if kind == NAV or (kind == LIST and where == IN_HEADER):
        return max(where, IN_NAVIGATION)
    return landmark + (max(where, IN_HEADER) if kind == HEADER else where)


@lru_cache(maxsize=4096)
def _named(names: str, role: str) -> int:
    """Tell what an element says it is by its class and id, and by its role."""
    role, words = role.strip().lower(), names.lower().split()
    landmark = LANDMARK * _ROLES.get(role, OTHER)
    if role == "contentinfo" or not FOOTER_NAMES.isdisjoint(words):
        return LANDMARK * FOOTER + IN_FOOTER
    if role == "navigation" or not NAVIGATION_NAMES.isdisjoint(words):
        return landmark + IN_NAVIGATION
    return landmark + IN_MAIN
