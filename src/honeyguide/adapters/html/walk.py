"""One walk through a parsed document: its visible text, and the elements that are read later.

Owns: what elements mean (their kinds, `Places`), which text is visible, where its lines end, and which lines belong to the
block around an anchor or to a part of the page (`boxes`). Must not know: contexts, URLs. Start reading at `Walk`.

A walk in Python is cheaper than one search by the parser for each kind of element. There is no recursion.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from selectolax.lexbor import LexborHTMLParser

from honeyguide.core.page.page import Position

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    Lines = tuple["TextPieces", int, int]  # of a block: the text, its first line, and the one after its last
    Box = tuple[int, LexborNode, int, int]  # a part of the page: its kind and node, its lines as above

MAX_HEADINGS = 500  # of each level
MAX_TEXT = 1_000_000  # characters of visible text
MAX_LABEL = 500  # characters of an anchor text, a title, a rel, a heading
_RAW_CHARS = 4_000  # characters that are folded for one label
_RAW_PARTS = 257  # pieces of text that are folded for one label
_SHALLOW = 7  # elements around a part of the page that is not called so
_LINE_END = "\0"  # between blocks; no parsed text has it


# The kinds. Up to `META` they are part of a line, and perhaps a landmark; up to `IGNORED` their content is invisible. From
# `BREAK` on they end the line before them; from `CONTAINER` on they may be a menu or a footer. From `BOX` on they tell
# where the main text is: up to `HEADER` only near the top of the tree, then everywhere. All other elements are `OTHER`.
(
    OTHER, ANCHOR, META, SCRIPT, TITLE, IGNORED, BREAK, BLOCK, H1, H2, CONTAINER, LIST, BOX, SECTION, HEADER, NAV, FOOTER,
    ASIDE, MAIN, ARTICLE,
) = range(20)  # fmt: skip
_TAGS: Final = {
    ANCHOR: "a area frame",
    META: "base meta link",
    SCRIPT: "script style",
    TITLE: "title",
    IGNORED: "head template noscript iframe noembed noframes datalist desc",
    BREAK: "br hr",
    BLOCK: "html body frameset blockquote button caption center dd details dialog dt fieldset figcaption figure h3 h4 h5 h6 hgroup "
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

# Where an element is; the greater wins. The header is main, but lists in it are menus.
IN_MAIN, IN_HEADER, IN_NAVIGATION, IN_FOOTER = range(4)
POSITIONS: Final = (Position.MAIN, Position.MAIN, Position.NAVIGATION, Position.FOOTER)
_LANDMARK = 4  # times a kind, added to a place: what the element is by its attributes
_ROLES: Final = {
    "main": MAIN,
    "navigation": NAV,
    "banner": NAV,
    "complementary": NAV,
}  # the last two are left out as menus are
_NAME_CHARS = 300  # of class and id are read
# Class and id names that say "menu" or "footer" where the element does not. Whole names only: `bg-navy` is a colour, and
# a `card-footer` is no footer of the page.
NAVIGATION_NAMES = frozenset({
    "nav", "navbar", "navbar-nav", "navigation", "main-nav", "site-nav", "nav-menu", "mobile-nav", "menu", "main-menu",
    "mobile-menu", "dropdown-menu", "sidemenu", "site-header", "masthead", "topbar", "breadcrumb", "breadcrumbs",
})  # fmt: skip
FOOTER_NAMES = frozenset({"footer", "site-footer", "page-footer", "main-footer", "colophon"})


def _numbers(names: str) -> set[int]:
    """Ask the parser for its numbers of tags, which differ between versions; a tag it does not know has an address."""
    document = LexborHTMLParser(b"")
    return {number for name in names.split() if (number := document.create_node(name).tag_id) < 1 << 16}


KINDS: Final = {number: kind for kind, names in _TAGS.items() for number in _numbers(names)}
TEXT: Final = next(node.tag_id for node in LexborHTMLParser(b"text").css("body")[0].iter(include_text=True))
NO_STYLING: Final = frozenset({*KINDS, TEXT})
AREA: Final = _numbers("area")
WITH_ALTERNATIVES: Final = {number: tag for tag in ("img", "input", "title") for number in _numbers(tag)}


class TextPieces:
    """Pieces of text, and line ends where blocks begin and end."""

    __slots__ = ("_lines", "parts")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._lines: list[str] | None = None

    def lines(self) -> list[str]:
        """Fold the complete text line by line; there is an empty line between two blocks."""
        if self._lines is None:
            raw = "".join(self.parts).replace("\n", " ").split(_LINE_END)
            self._lines = [
                line and (line if "  " not in line and line.isprintable() else " ".join(line.split()))
                for line in map(str.strip, raw)
            ]
        return self._lines


class Walk:
    """What one walk finds. Anchors are numbered from 1 on; their labels are not folded yet."""

    def __init__(self, start: LexborNode | None, hidden: set[int]) -> None:
        self.visible = TextPieces()
        self.headings: dict[int, list[str]] = {1: [], 2: []}
        self.found: dict[int, list[LexborNode]] = {kind: [] for kind in range(ANCHOR, BREAK)}
        self.labels: dict[int, str] = {}  # of anchors
        self.lines: dict[int, Lines] = {}  # of the nearest blocks around anchors
        self.boxes: list[Box] = []  # visible ones, in the order of their ends
        self._walk(start, hidden)

    def _walk(self, node: LexborNode | None, hidden: set[int]) -> None:  # noqa: C901, PLR0912, PLR0915 - one loop: a call for each node costs more
        """Walk through the document and keep its visible text, headings, anchors and metadata elements."""
        around = visible = self.visible
        parts, line = visible.parts, 0
        found, labels, lines_of = self.found, self.labels, self.lines
        # Names of the module would cost more: each round of the loop looks most of these up.
        other, anchor, end, line_end = OTHER, ANCHOR, BREAK, _LINE_END
        script, title, ignored = SCRIPT, TITLE, IGNORED
        h1, h2, box, nav = H1, H2, BOX, NAV
        kind_of, text, no_styling = KINDS.get, TEXT, NO_STYLING
        shallow, add_box, anchors = _SHALLOW, self.boxes.append, found[anchor]
        open_anchors: list[int] = []  # those whose block has not ended
        ended = -1  # how many parts there were when the last anchor ended
        append = parts.append
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
                            append(" ")  # style sheets usually set anchors side by side apart
                child = node.first_child
                if child is None:
                    pass
                elif kind <= anchor and not hidden:
                    # Nothing happens where styling ends, so the walk goes straight to what is alone in it.
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
                    around, line, ended = TextPieces(), 0, -1  # links count also in invisible parts
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
                        self._add_heading(1 + (kind > h1), _label(parts, start))
                if outside is not around:
                    number -= kind == anchor
                    while number < len(open_anchors):  # an invisible part is a block of its own
                        lines_of[open_anchors.pop()] = around, 0, line + 1
                    around, line, ended = outside, first, -1
                    parts = around.parts
                    append = parts.append
                if kind >= end:
                    append(line_end)
                    line += 1
            node = following

    def _add_heading(self, level: int, text: str) -> None:
        """Keep a heading that is not empty."""
        headings = self.headings[level]
        if text and len(headings) < MAX_HEADINGS:
            headings.append(text)


def _label(parts: list[str], start: int) -> str:
    """Return the text of an anchor or a heading, as much of it as a label needs."""
    return fold("".join(parts[start : start + _RAW_PARTS]).replace(_LINE_END, " "), MAX_LABEL)


def fold(text: str | None, limit: int) -> str:
    r"""Fold white space and cut to `limit` characters.

    >>> fold("  Fire\n  alarms ", 8)
    'Fire ala'
    """
    if not text:
        return ""
    # Of all white space only the space is printable, so most labels need nothing.
    if len(text) <= limit and text.isprintable() and "  " not in text and text[0] != " " != text[-1]:
        return text
    return " ".join(text[:_RAW_CHARS].split())[:limit].rstrip()


class Places:
    """Where the elements of one document are, and which of them are landmarks by their attributes."""

    def __init__(self) -> None:
        self.landmarks: dict[int, int] = {}  # the kind of a landmark by the number of its node
        self.known: dict[int, int] = {}  # the place of each element by its number

    def find(self, node: LexborNode | None) -> int:
        """Find where links inside an element are; remembers it for all elements on the way up."""
        known = self.known
        path: list[LexborNode] = []
        place = None
        while node is not None and (place := known.get(node.mem_id)) is None:
            path.append(node)
            node = node.parent
        place = place or IN_MAIN
        while path:
            node = path.pop()
            kind = KINDS.get(node.tag_id, OTHER)
            if place != IN_FOOTER and (kind >= CONTAINER or kind <= META):
                place = _inside(node, kind, place)
                if place >= _LANDMARK:
                    self.landmarks[node.mem_id] = place // _LANDMARK
                    place %= _LANDMARK
            known[node.mem_id] = place
        return place


def _inside(node: LexborNode, kind: int, place: int) -> int:
    """Tell where links inside an element are, from the place of the element; a footer wins over a menu.

    From `_LANDMARK` on, the result also holds the kind that the element has by its attributes.
    """
    attributes, landmark = node.attributes, 0
    if attributes:
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        named = _named(names[:_NAME_CHARS], (attributes.get("role") or "")[:_NAME_CHARS])
        if named >= _LANDMARK:
            landmark, named = named - named % _LANDMARK, named % _LANDMARK
        place = max(place, named)
    if kind == FOOTER:
        return IN_FOOTER
    if kind == NAV or (kind == LIST and place == IN_HEADER):
        return max(place, IN_NAVIGATION)
    return landmark + (max(place, IN_HEADER) if kind == HEADER else place)


@lru_cache(maxsize=4096)
def _named(names: str, role: str) -> int:
    """Tell what an element is by its class, its id and its role."""
    role, words = role.strip().lower(), names.lower().split()
    landmark = _LANDMARK * _ROLES.get(role, OTHER)
    if role == "contentinfo" or not FOOTER_NAMES.isdisjoint(words):
        return _LANDMARK * FOOTER + IN_FOOTER
    if role == "navigation" or not NAVIGATION_NAMES.isdisjoint(words):
        return landmark + IN_NAVIGATION
    return landmark + IN_MAIN
