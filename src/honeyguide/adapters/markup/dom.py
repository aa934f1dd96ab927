"""A parsed document, and what a reader sees in it.

Owns: selectolax (lexbor), and what each element of HTML means to a reader: block, styling, landmark, nothing.
Must not know: URLs, pages, scope. Start reading at `Document`.

Python walks through the whole document once, and keeps its visible text and all elements that somebody will ask for
(`_walk`): that is cheaper than to let the parser search for each kind. Only listings, where every word may have its own
colour, are read by the parser (`_read`). It climbs from each anchor only as far as nobody has climbed before (`_climb`).
There is no recursion, and the work for one anchor is bounded, so the cost is in proportion to the document.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from honeyguide.core.page import Occurrence, Position

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

    Attributes = dict[str, str | None]

MAX_HEADINGS = 500  # of each level
MAX_TEXT = 1_000_000  # characters of visible text
MAX_LABEL = 500  # characters of an anchor text, a title, a rel, a heading
MAX_DESCRIPTION = 2_000  # characters
CONTEXT = 200  # characters of a context (SPEC section 2: about 200)
_RAW_CHARS = 4_000  # characters that are folded for one label
_RAW_PARTS = 257  # pieces of text that are folded for one label
_IMAGE_NODES = 200  # elements that are looked at for what stands in for an anchor's text
_NAME_CHARS = 300  # characters of class and id that are looked at
_BLOCK_TEXT_FACTOR = 4  # text of blocks that is gathered for contexts, as a multiple of the document's size
_MAX_MISSES = 3  # anchors that could not be found in the text of their block before it is no longer searched

# Class and id names that say "menu" or "footer" where the element does not. Whole names only: `bg-navy` is a colour, and
# a `card-footer` is no footer of the page.
NAVIGATION_NAMES = frozenset({
    "nav", "navbar", "navbar-nav", "navigation", "main-nav", "site-nav", "nav-menu", "mobile-nav", "menu", "main-menu",
    "mobile-menu", "dropdown-menu", "sidemenu", "site-header", "masthead", "topbar", "breadcrumb", "breadcrumbs",
})  # fmt: skip
FOOTER_NAMES = frozenset({"footer", "site-footer", "page-footer", "main-footer", "colophon"})

# The kinds of elements. Up to `_TOLD` they are part of a line, and perhaps a landmark; up to `_IGNORED` nobody sees what is
# in them. From `_BREAK` on they end the line that they stand in; from `_CONTAINER` on they may be a menu or a footer. What
# is not named here, or unknown to the parser, is `_OTHER`.
(
    _OTHER,
    _ANCHOR,
    _TOLD,
    _SCRIPT,
    _TITLE,
    _IGNORED,
    _BREAK,
    _BLOCK,
    _LISTING,
    _H1,
    _H2,
    _CONTAINER,
    _NAV,
    _HEADER,
    _FOOTER,
    _LIST,
) = range(16)
_NAMES: Final = {
    _ANCHOR: "a area",
    _TOLD: "base meta link",
    _SCRIPT: "script style",
    _TITLE: "title",
    _IGNORED: "head template noscript iframe noembed noframes datalist desc",
    _BREAK: "br hr",
    _BLOCK: "html body blockquote button caption center dd details dialog dt fieldset figcaption figure h3 h4 h5 h6 hgroup "
    "legend li optgroup option p select summary td textarea th",
    _LISTING: "pre",
    _H1: "h1",
    _H2: "h2",
    _CONTAINER: "address article aside dir div dl form main search section table tbody tfoot thead tr",
    _NAV: "nav",
    _HEADER: "header",
    _FOOTER: "footer",
    _LIST: "ul ol menu",
}
_LEVELS: Final = {_H1: 1, _H2: 2}
_PART_END = "\0"  # stands between pieces of text; no parsed text has it
_LINE_END = "\x1e"  # stands between blocks in gathered text; it is white space, so folding swallows it

# Where an element stands; the greater wins. The header is main, but lists in it are menus.
_IN_MAIN, _IN_HEADER, _IN_NAVIGATION, _IN_FOOTER = range(4)
_POSITIONS: Final = (Position.MAIN, Position.MAIN, Position.NAVIGATION, Position.FOOTER)

_MAY_HIDE = re.compile(rb"hidden(?<=[ \t\n\f\r\"'/]hidden)[ \t\n\f\r=>/]")
_LOOSE = re.compile(r" (?=[,.;:!?)](?: |\Z))")


def _numbers(names: str) -> set[int]:
    """Ask the parser for its numbers of tags, which differ between versions; a tag it does not know has an address."""
    document = LexborHTMLParser(b"")
    return {number for name in names.split() if (number := document.create_node(name).tag_id) < 1 << 16}


_KINDS: Final = {number: kind for kind, names in _NAMES.items() for number in _numbers(names)}
_TEXT_NUMBER: Final = next(
    node.tag_id for node in LexborHTMLParser(b"text").css("body")[0].iter(include_text=True)
)
_NO_STYLING: Final = frozenset({*_KINDS, _TEXT_NUMBER})
_AREA: Final = _numbers("area")
_IMAGES: Final = {
    number: name for name in ("img", "input", "title") for number in _numbers(name)
}  # with their alternatives


class _Spot:
    """Where an element stands, and the nearest block around what is in it, with its text once that was asked for."""

    __slots__ = ("block", "misses", "position", "reached", "text", "where")

    def __init__(self, where: int, block: LexborNode | None) -> None:
        self.where = where
        self.position = _POSITIONS[where]
        self.block = block
        self.text: str | None = None
        self.reached = 0  # where in the text the last anchor ended
        self.misses = 0

    def around(self, anchor: str) -> str:
        """Cut what is around the next anchor out of the text, between words."""
        text = self.text or ""
        start = text.find(anchor, self.reached) if self.misses < _MAX_MISSES else -1
        if start < 0:
            self.misses += 1
            start, anchor = self.reached, ""
        self.reached = end = start + len(anchor)
        room = max(CONTEXT - len(anchor), 0)
        first = max(start - max(room // 2, room - (len(text) - end)), 0)
        last = first + CONTEXT
        if first > 0 and text[first - 1] != " ":
            first = text.find(" ", first, start) + 1 or start
        if last < len(text) and text[last] != " ":
            last = max(text.rfind(" ", end, last), min(end, last))
        return text[first:last].strip()


_NOWHERE: Final = _Spot(_IN_MAIN, None)
_NOWHERE.text = ""


class Document:
    r"""Markup, parsed.

    >>> document = Document(b"<h1>Fire <b>alarms</b></h1><p>We <a href=/t rel=Next>test</a> them.")
    >>> [document.occurrence(*anchor) for anchor in document.anchors()]
    [Occurrence(anchor='test', title='', rel='next', position=<Position.MAIN: 'main'>, context='We test them.')]
    >>> document.text(), document.headings
    ('Fire alarms\nWe test them.', {1: ['Fire alarms'], 2: []})
    """

    def __init__(self, markup: bytes) -> None:
        # Without events: they cost a fifth more, and make long lists of options quadratic.
        self._tree = LexborHTMLParser(markup, options=LexborDocumentOptions.WO_EVENTS)
        self._hidden: set[int] = set()
        if (b"hidden" in markup and _MAY_HIDE.search(markup)) or b"HIDDEN" in markup:
            # A hidden body is a page that waits for its scripts, not a page without text.
            self._hidden.update(node.mem_id for node in self._tree.css("body [hidden]"))
        self.headings: dict[int, list[str]] = {1: [], 2: []}
        self._visible: list[str] = []
        self._found: dict[int, list[LexborNode]] = {
            kind: [] for kind in (_ANCHOR, _TOLD, _SCRIPT, _TITLE, _IGNORED)
        }
        self._labels: dict[int, str] = {}  # the texts of the anchors, the first of which is 1
        self._spots: dict[int, _Spot] = {}
        self._block_text = _BLOCK_TEXT_FACTOR * len(markup)
        root = self._tree.root
        self._walk(None if root is None else root.first_child)
        for script in self._found[_SCRIPT]:
            script.decompose()  # or the parser takes it for text

    def _walk(self, node: LexborNode | None) -> None:  # noqa: C901, PLR0912 - one loop: calls for each node cost more
        """Walk through the document and keep its visible text, its headings, its anchors, and what tells about it."""
        parts, hidden = self._visible, self._hidden
        found, labels, anchors = self._found, self._labels, self._found[_ANCHOR]
        append = parts.append
        kind_of, text, no_styling = _KINDS.get, _TEXT_NUMBER, _NO_STYLING
        path: list[tuple[LexborNode, int, list[str], int, int]] = []
        while node is not None:
            tag = node.tag_id
            if tag == text:
                append(node.text_content or "")
            else:
                kind = kind_of(tag, _OTHER)
                if kind >= _BREAK:
                    append(_LINE_END)
                elif kind:
                    found[kind].append(node)
                child = node.first_child if kind != _SCRIPT else None
                outside = parts
                if child is None:
                    pass
                elif kind <= _ANCHOR and not hidden:
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
                        child = None
                elif kind == _LISTING and not hidden and child.next is not None and _read(node, parts):
                    append(_LINE_END)
                    child = None
                elif _TITLE <= kind <= _IGNORED or (hidden and node.mem_id in hidden):
                    parts = []  # but links count also in what nobody sees
                    append = parts.append
                if child is not None:
                    path.append((node, kind, outside, len(parts), len(anchors)))
                    node = child
                    continue
            while (following := node.next) is None and path:
                node, kind, outside, start, number = path.pop()
                if kind == _ANCHOR:
                    labels[number] = _label(parts, start)
                elif kind in _LEVELS and parts is self._visible:
                    self._add_heading(_LEVELS[kind], _label(parts, start))
                if outside is not parts:
                    parts = outside
                    append = parts.append
                if kind >= _BREAK:
                    append(_LINE_END)
            node = following

    def _add_heading(self, level: int, text: str) -> None:
        """Keep a heading that says something."""
        headings = self.headings[level]
        if text and len(headings) < MAX_HEADINGS:
            headings.append(text)

    def anchors(self) -> Iterator[tuple[LexborNode, Attributes, str]]:
        """Find everything that links somewhere, in document order, with its attributes and its text, not yet folded."""
        for number, node in enumerate(self._found[_ANCHOR], 1):
            attributes = node.attributes
            if "href" in attributes or ("xlink:href" in attributes and node.tag_id not in _AREA):
                yield node, attributes, self._labels.get(number, "")

    def told(self) -> list[LexborNode]:
        """Find what may tell about the document: its root, and all title, base, meta and link elements."""
        root = self._tree.root
        return ([] if root is None else [root]) + self._found[_TITLE] + self._found[_TOLD]

    def text(self) -> str:
        """Give the visible text, a line for each block that has any."""
        lines = "".join(self._visible).replace("\n", " ").split(_LINE_END)
        folded = [
            line if "  " not in line and line.isprintable() else " ".join(line.split())
            for line in map(str.strip, lines)
            if line
        ]
        return "\n".join(folded)[:MAX_TEXT].rstrip()

    def occurrence(self, node: LexborNode, attributes: Attributes, text: str) -> Occurrence:
        """Describe an anchor."""
        text = fold(text, MAX_LABEL)
        parent, is_alone = node.parent, False
        if parent is not None and node.next is None and node.prev is None:
            kind = _KINDS.get(parent.tag_id, _OTHER)
            is_alone = kind >= _BLOCK
            if kind == _BLOCK:
                parent = parent.parent  # an item with nothing but the anchor in it needs no spot of its own
        spot = self._spots.get(parent.mem_id) if parent is not None else _NOWHERE
        if spot is None:
            spot = self._climb(parent)
        title, rel = attributes.get("title"), attributes.get("rel")
        return Occurrence(
            text or self._stand_in(node, attributes),
            fold(title, MAX_LABEL) if title else "",
            fold(rel, MAX_LABEL).lower() if rel else "",
            spot.position,
            text[:CONTEXT].rstrip() if is_alone else self._context(node, text, spot),
        )

    def _context(self, node: LexborNode, text: str, spot: _Spot) -> str:
        """Give the text of a block, or of a long block what is around an anchor."""
        whole = spot.text
        if whole is None:
            whole = spot.text = self._text_of(spot.block)
        if len(whole) <= CONTEXT:
            return whole
        child = node.first_child
        if text and child is not None and child.next is not None:
            text = _tight(fold(node.text(separator=" "), MAX_LABEL))  # as the block's text was gathered
        return spot.around(text)

    def _text_of(self, block: LexborNode | None) -> str:
        """Gather the text of a block; nothing, where blocks in blocks would make that cost more than the document."""
        if self._block_text <= 0 or block is None:
            return ""
        raw = block.text(separator=" ")
        self._block_text -= len(raw)
        return _tight(" ".join(raw.split()))

    def _stand_in(self, node: LexborNode, attributes: Attributes) -> str:
        """Find what stands in for the text of an anchor without any: an image's text, else that for screen readers."""
        if node.tag_id in _AREA:
            return fold(attributes.get("alt"), MAX_LABEL) or fold(attributes.get("aria-label"), MAX_LABEL)
        for inner in islice(node.traverse(), _IMAGE_NODES):
            kind = _IMAGES.get(inner.tag_id)
            if kind and (
                text := fold(inner.text() if kind == "title" else inner.attributes.get("alt"), MAX_LABEL)
            ):
                return text
        return fold(attributes.get("aria-label"), MAX_LABEL)

    def _climb(self, node: LexborNode | None) -> _Spot:
        """Find out where an element stands; remembers it for all elements on the way up."""
        chain: list[LexborNode] = []
        spot = None
        while node is not None and (spot := self._spots.get(node.mem_id)) is None:
            chain.append(node)
            node = node.parent
        spot = spot or _NOWHERE
        while chain:
            node = chain.pop()
            where, kind = spot.where, _KINDS.get(node.tag_id, _OTHER)
            if where != _IN_FOOTER and (kind >= _CONTAINER or kind <= _TOLD):
                where = _inside(node, kind, where)
            if kind >= _BLOCK:
                spot = _Spot(where, node)
            elif where != spot.where:
                spot = _Spot(where, spot.block)
            self._spots[node.mem_id] = spot
        return spot


def _read(block: LexborNode, parts: list[str]) -> bool:
    """Read a block of text and styling at one go, twice as fast as the walk; if there is more in it, read nothing."""
    inside = block.traverse()
    next(inside)  # the block itself
    for node in inside:
        if node.tag_id in _KINDS:
            return False
    if text := block.text(separator=_PART_END):
        parts += text.split(_PART_END)
    return True


def _inside(node: LexborNode, kind: int, where: int) -> int:
    """Tell where links inside an element stand, given where the element stands. A footer wins over a menu."""
    attributes = node.attributes
    if attributes:
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        where = max(where, _named(names[:_NAME_CHARS], (attributes.get("role") or "")[:_NAME_CHARS]))
    if kind == _FOOTER:
        return _IN_FOOTER
    if kind == _NAV or (kind == _LIST and where == _IN_HEADER):
        return max(where, _IN_NAVIGATION)
    return max(where, _IN_HEADER) if kind == _HEADER else where


@lru_cache(maxsize=4096)
def _named(names: str, role: str) -> int:
    """Tell what an element says it is by its class and id, and by its role."""
    role, words = role.strip().lower(), names.lower().split()
    if role == "contentinfo" or not FOOTER_NAMES.isdisjoint(words):
        return _IN_FOOTER
    if role == "navigation" or not NAVIGATION_NAMES.isdisjoint(words):
        return _IN_NAVIGATION
    return _IN_MAIN


def _label(parts: list[str], start: int) -> str:
    """Gather the text of an anchor or a heading, as much of it as a label needs."""
    return fold("".join(parts[start : start + _RAW_PARTS]), MAX_LABEL)


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


def _tight(text: str) -> str:
    """Take back the spaces that gathering put between a word and the comma after it."""
    return _LOOSE.sub("", text) if " ," in text or " ." in text else text
