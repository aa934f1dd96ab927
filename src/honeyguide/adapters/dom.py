"""A parsed document, and what a reader sees in it.

Owns: selectolax (lexbor), and what each element of HTML means to a reader: block, styling, landmark, nothing.
Must not know: URLs, pages, scope. Start reading at `Document`.

What the parser does in C is left to it: finding anchors, and the text of a block. Python climbs from each anchor only
as far as nobody has climbed before (`_climb`), and walks through the whole document once, for its visible text. There
is no recursion, and the work for one anchor is bounded, so that the cost stays in proportion to the document.
"""

from __future__ import annotations

import re
from functools import lru_cache
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
CONTEXT = 200  # characters of a context (SPEC section 2: about 200)
MAX_DESCRIPTION = 2_000  # characters
_LABEL_PARTS = 256  # pieces of text that are looked at for one label
_RAW_CHARS = 4_000  # characters that are folded for one label
_BLOCK_TEXT_FACTOR = 4  # text of blocks that is gathered for contexts, in terms of the document's size
_MAX_MISSES = 3  # anchors that could not be found in the text of their block, before it is no longer searched

# Class and id names that say "menu" or "footer" where the element does not. Whole names only: `bg-navy` is a colour, and
# a `card-footer` is no footer of the page.
NAVIGATION_NAMES = frozenset(
    "nav navbar navbar-nav navigation main-nav site-nav nav-menu mobile-nav menu main-menu mobile-menu dropdown-menu "
    "sidemenu site-header masthead topbar breadcrumb breadcrumbs".split()
)
FOOTER_NAMES = frozenset("footer site-footer page-footer main-footer colophon".split())

# The kinds of nodes. From `_BLOCK` on elements end the line that they stand in; from `_CONTAINER` on they may be a menu
# or a footer. What the parser has no number for is `_OTHER`, and so is any element that is not named here.
_TEXT, _OTHER, _IGNORED, _BREAK, _BLOCK, _H1, _H2, _CONTAINER, _NAV, _HEADER, _FOOTER, _LIST = range(12)
_NAMES: Final = {
    _IGNORED: "head title script style template noscript iframe noembed noframes datalist desc",
    _BREAK: "br hr",
    _BLOCK: "html body blockquote button caption center dd details dialog dt fieldset figcaption figure h3 h4 h5 h6 hgroup "
    "legend li optgroup option p pre select summary td textarea th",
    _H1: "h1",
    _H2: "h2",
    _CONTAINER: "address article aside dir div dl form main search section table tbody tfoot thead tr",
    _NAV: "nav",
    _HEADER: "header",
    _FOOTER: "footer",
    _LIST: "ul ol menu",
}
_LINE_END = "\x1e"  # stands between blocks in gathered text; it is white space, so folding swallows it

# Where an element stands. The header is main, but lists in it are menus.
_IN_MAIN, _IN_HEADER, _IN_NAVIGATION, _IN_FOOTER = range(4)
_POSITIONS: Final = (Position.MAIN, Position.MAIN, Position.NAVIGATION, Position.FOOTER)

_TITLED = frozenset({"head", "body", "html"})
METAS = frozenset({"description", "og:title", "og:description", "content-language"})  # all that is read
_IMAGES = 'img[alt]:not([alt=""]),input[alt]:not([alt=""]),svg title'
_MAY_HIDE = re.compile(rb"hidden(?<=[ \t\n\f\r\"'/]hidden)[ \t\n\f\r=>/]")
_LOOSE = re.compile(r" (?=[,.;:!?)\]](?: |\Z))")


def _numbers(names: str) -> set[int]:
    """Ask the parser for its numbers of tags, which differ between versions; a tag it does not know has an address."""
    document = LexborHTMLParser(b"")
    return {number for name in names.split() if (number := document.create_node(name).tag_id) < 1 << 16}


_KINDS: Final = {number: kind for kind, names in _NAMES.items() for number in _numbers(names)}
_KINDS.update((node.tag_id, _TEXT) for node in LexborHTMLParser(b"text").css("body")[0].iter(include_text=True))
_TEXT_NUMBER: Final = next(number for number, kind in _KINDS.items() if kind == _TEXT)
_AREA: Final = _numbers("area")


class _Spot:
    """Where an element stands, and the nearest block around its content, whose text is gathered when it is asked for."""

    __slots__ = ("block", "misses", "position", "reached", "text", "where")

    def __init__(self, where: int, block: LexborNode | None) -> None:
        self.where = where
        self.position = _POSITIONS[where]
        self.block = block
        self.text: str | None = None
        self.reached = 0  # where in the text the last anchor ended
        self.misses = 0

    def around(self, text: str) -> str:
        """Cut what is around the next anchor out of the text, between words."""
        block = self.text or ""
        start = block.find(text, self.reached) if self.misses < _MAX_MISSES else -1
        if start < 0:
            self.misses += 1
            start, text = self.reached, ""
        self.reached = end = start + len(text)
        room = CONTEXT - len(text)
        first = max(start - max(room // 2, room - (len(block) - end)), 0)
        last = first + CONTEXT
        if first > 0 and block[first - 1] != " ":
            first = block.find(" ", first, start) + 1 or start
        if last < len(block) and block[last] != " ":
            last = max(block.rfind(" ", end, last), end)
        return block[first:last].strip()


_NOWHERE: Final = _Spot(_IN_MAIN, None)


class Document:
    """Markup, parsed.

    >>> document = Document(b"<h1>Fire <b>alarms</b></h1><p>We <a href=/t rel=Next>test</a> them.")
    >>> anchor = document.anchors()[0]
    >>> document.occurrence(anchor, anchor.attributes)
    Occurrence(anchor='test', title='', rel='next', position=<Position.MAIN: 'main'>, context='We test them.')
    >>> document.read()
    ('Fire alarms\\nWe test them.', ['Fire alarms'], [])
    """

    def __init__(self, markup: bytes) -> None:
        # Without events: they cost a fifth more, and make long lists of options quadratic.
        self._tree = LexborHTMLParser(markup, options=LexborDocumentOptions.WO_EVENTS)
        self._tree.strip_tags(["script", "style"], recursive=True)
        self._hidden: set[int] = set()
        if _MAY_HIDE.search(markup) or b"HIDDEN" in markup:
            # A hidden body is a page that waits for its scripts, not a page without text.
            self._hidden.update(node.mem_id for node in self._tree.css("body [hidden]"))
        self._spots: dict[int, _Spot] = {}
        self._block_text = _BLOCK_TEXT_FACTOR * len(markup)

    def anchors(self) -> list[LexborNode]:
        """Find everything that links somewhere, in document order."""
        return self._tree.css("a[href],area[href],a[xlink\\:href]")

    def base(self) -> str | None:
        """Give the href of the first base element that has one."""
        return next((href for node in self._tree.tags("base") if (href := node.attributes.get("href")) is not None), None)

    def about(self) -> About:
        """Read what the document says about itself outside of its text."""
        about = About(self.base())
        root = self._tree.root
        if root is not None:
            about.language = fold(root.attributes.get("lang") or root.attributes.get("xml:lang"), MAX_LABEL).lower()
        for node in self._tree.css("title,meta[content],link[href]"):
            about.add(node)
        return about

    def read(self) -> tuple[str, list[str], list[str]]:
        """Give the visible text, a line for each block that has any, and the headings of the first two levels."""
        headings: dict[int, list[str]] = {_H1: [], _H2: []}
        root = self._tree.root
        text = "" if root is None else "".join(self._gather(root, headings))
        lines = [" ".join(words) for line in text.split(_LINE_END) if (words := line.split())]
        return "\n".join(lines)[:MAX_TEXT].rstrip(), headings[_H1], headings[_H2]

    def occurrence(self, node: LexborNode, attributes: Attributes) -> Occurrence:
        """Describe an anchor."""
        child, parent = node.first_child, node.parent
        if child is None:
            text = needle = ""
        elif child.next is None and child.tag_id == _TEXT_NUMBER:
            text = needle = fold(child.text_content, MAX_LABEL)
        else:
            text = fold("".join(self._gather(node)), MAX_LABEL)
            needle = _tight(fold(node.text(separator=" "), MAX_LABEL))
        spot = self._spots.get(parent.mem_id) if parent is not None else _NOWHERE
        if spot is None:
            spot = self._climb(parent)
        context = spot.text
        if context is None:
            context = spot.text = self._text_of(spot.block)
        if len(context) > CONTEXT:
            context = spot.around(needle)
        title, rel = attributes.get("title"), attributes.get("rel")
        return Occurrence(
            text or self._stand_in(node, attributes),
            fold(title, MAX_LABEL) if title else "",
            fold(rel, MAX_LABEL).lower() if rel else "",
            spot.position,
            context,
        )

    def _stand_in(self, node: LexborNode, attributes: Attributes) -> str:
        """Find what stands in for the text of an anchor without any: an image's text, else that for screen readers."""
        if node.tag_id in _AREA:
            return fold(attributes.get("alt"), MAX_LABEL)
        image = node.css_first(_IMAGES)
        text = "" if image is None else fold(image.attributes.get("alt") or image.text(), MAX_LABEL)
        return text or fold(attributes.get("aria-label"), MAX_LABEL)

    def _climb(self, node: LexborNode | None) -> _Spot:
        """Find out where an element stands; remembers it for all elements on the way up."""
        spots, chain, spot = self._spots, [], None
        while node is not None and (spot := spots.get(node.mem_id)) is None:
            chain.append(node)
            node = node.parent
        spot = spot or _NOWHERE
        while chain:
            node = chain.pop()
            where, kind = spot.where, _KINDS.get(node.tag_id, _OTHER)
            if where != _IN_FOOTER and (kind >= _CONTAINER or kind == _OTHER):
                where = _inside(node, kind, where)
            if kind >= _BLOCK:
                spot = _Spot(where, node)
            elif where != spot.where:
                spot = _Spot(where, spot.block)
            spots[node.mem_id] = spot
        return spot

    def _text_of(self, block: LexborNode | None) -> str:
        """Gather the text of a block; nothing, where blocks in blocks would make that cost more than the document."""
        if self._block_text <= 0 or block is None:
            return ""
        raw = block.text(separator=" ")
        self._block_text -= len(raw)
        return _tight(" ".join(raw.split()))

    def _gather(self, root: LexborNode, headings: dict[int, list[str]] | None = None) -> list[str]:
        """Walk through an element and gather its visible text: all of it if headings are wanted, else as for a label."""
        parts: list[str] = []
        path: list[LexborNode] = []
        kinds: list[int] = []
        starts: list[int] = []
        hidden, kind_of, append, node = self._hidden, _KINDS.get, parts.append, root.first_child
        while node is not None:
            kind = kind_of(node.tag_id, _OTHER)
            if kind == _TEXT:
                append(node.text_content or "")
                if headings is None and len(parts) > _LABEL_PARTS:
                    break
            elif kind != _IGNORED:
                if kind != _OTHER:
                    append(_LINE_END)
                child = node.first_child
                if child is not None and not (hidden and node.mem_id in hidden):
                    path.append(node)
                    kinds.append(kind)
                    if kind == _H1 or kind == _H2:
                        starts.append(len(parts))
                    node = child
                    continue
            while (following := node.next) is None and path:
                node = path.pop()
                kind = kinds.pop()
                if kind != _OTHER:
                    if headings is not None and (kind == _H1 or kind == _H2):
                        heading = fold("".join(parts[starts.pop() :][:_LABEL_PARTS]), MAX_LABEL)
                        if heading and len(headings[kind]) < MAX_HEADINGS:
                            headings[kind].append(heading)
                    append(_LINE_END)
            node = following
        return parts


class About:
    """What a document says about itself: the first of each counts."""

    __slots__ = ("base", "canonical", "language", "metas", "title")

    def __init__(self, base: str | None) -> None:
        self.base = base
        self.canonical: str | None = None
        self.language = ""
        self.metas: dict[str, str] = {}
        self.title = ""

    def add(self, node: LexborNode) -> None:
        """Read a title, meta or link element."""
        attributes = node.attributes
        if node.tag == "title":
            # The titles of drawings are no titles of the page.
            if not self.title and node.parent is not None and node.parent.tag in _TITLED:
                self.title = fold(node.text(), MAX_LABEL)
        elif node.tag == "meta":
            name = (attributes.get("name") or attributes.get("property") or attributes.get("http-equiv") or "").strip().lower()
            if name in METAS and (value := fold(attributes.get("content"), MAX_DESCRIPTION)):
                self.metas.setdefault(name, value)
        elif self.canonical is None and "canonical" in (attributes.get("rel") or "").lower().split():
            self.canonical = attributes.get("href")


def _inside(node: LexborNode, kind: int, where: int) -> int:
    """Tell where links inside an element stand, given where the element stands. A footer wins over a menu."""
    attributes = node.attributes
    if attributes:
        named = _named(attributes.get("class"), attributes.get("id"), attributes.get("role"))
        where = max(named, where) if named else where
    if kind == _FOOTER or where == _IN_FOOTER:
        return _IN_FOOTER
    if kind == _NAV or (kind == _LIST and where == _IN_HEADER):
        return _IN_NAVIGATION
    return _IN_HEADER if kind == _HEADER and where == _IN_MAIN else where


@lru_cache(maxsize=8192)
def _named(classes: str | None, name: str | None, role: str | None) -> int:
    """Tell what an element says it is by its class, its id and its role."""
    names = f"{classes or ''} {name or ''}".lower().split()
    role = (role or "").strip().lower()
    if role == "contentinfo" or not FOOTER_NAMES.isdisjoint(names):
        return _IN_FOOTER
    if role == "navigation" or not NAVIGATION_NAMES.isdisjoint(names):
        return _IN_NAVIGATION
    return _IN_MAIN


def fold(text: str | None, limit: int) -> str:
    """Fold white space, and cut to a limit.

    >>> fold("  Fire\\n  alarms ", 8)
    'Fire ala'
    """
    return " ".join(text[:_RAW_CHARS].split())[:limit].rstrip() if text else ""


def _tight(text: str) -> str:
    """Take back the spaces that gathering put between a word and the comma after it."""
    return _LOOSE.sub("", text) if " ," in text or " ." in text else text
