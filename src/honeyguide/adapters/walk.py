"""One walk through a parsed document.

Owns: selectolax (lexbor), and what each element of HTML means to a reader: block, styling, image, landmark, nothing.
Must not know: URLs, pages, scope. Start reading at `walk`; the loop is `Walk.run`.

The document's text becomes a flat list of parts, and every element is a range in that list: an anchor's text, its
context, a heading and the visible text are slices of it. No step of the walk looks at more than a bounded number of
parts, and there is no recursion, so the cost is in proportion to the document whatever its shape.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from honeyguide.core.page import Position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selectolax.lexbor import LexborNode

MAX_HEADINGS = 500  # of each level
MAX_TEXT = 1_000_000  # characters of visible text
MAX_LABEL = 500  # characters of an anchor text, a title, a rel, a heading
MAX_DESCRIPTION = 2_000  # characters
MAX_LANGUAGE = 40  # characters; RFC 5646 asks for 35
CONTEXT = 200  # characters of a context (SPEC section 2: about 200)
# What is looked at for one label, and for one side of a context: most of it is white space between tags.
_RAW_PARTS = 256
_RAW_CHARS = 4_000
_SIDE_PARTS = 24
_SIDE_CHARS = 400

# Class and id names that say "menu" or "footer" where the element does not. Whole names only: `bg-navy` is a colour, and
# a `card-footer` is no footer of the page.
NAVIGATION_NAMES = frozenset(
    "nav navbar navbar-nav navigation main-nav site-nav nav-menu mobile-nav menu main-menu mobile-menu dropdown-menu "
    "sidemenu site-header masthead topbar breadcrumb breadcrumbs".split()
)
FOOTER_NAMES = frozenset("footer site-footer page-footer main-footer colophon".split())

# The kinds of nodes: text; elements that are walked through, where from `_BLOCK` on they end the line that they stand
# in; and from `_IGNORED` on leaves. What the parser has no number for is `_OTHER`. `_HIDDEN` is a flag beside the kind.
_TEXT, _INLINE, _OTHER, _NOSCRIPT, _A, _SVG, _BLOCK, _CONTAINER, _HTML, _H1, _H2 = range(11)
_IGNORED, _BREAK, _AREA, _IMAGE, _TITLE, _META, _LINK, _BASE = range(11, 19)
_HIDDEN = 32
_LANDMARKS: Final = {_OTHER, _CONTAINER, _CONTAINER | _HIDDEN}  # where a menu or footer can begin
_NAMES: Final = {
    _INLINE: "abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark math meter nobr output picture "
    "progress q rp rt ruby s samp small span strike strong sub sup time tt u var",
    _NOSCRIPT: "noscript",
    _A: "a",
    _SVG: "svg",
    _BLOCK: "blockquote body button caption center dd details dialog dt fieldset figcaption figure h3 h4 h5 h6 hgroup legend "
    "li optgroup option p pre select summary td textarea th",
    _CONTAINER: "address article aside dir div dl footer form header main menu nav ol search section table tbody tfoot thead tr ul",
    _HTML: "html",
    _H1: "h1",
    _H2: "h2",
    _IGNORED: "script style template iframe noembed noframes datalist desc",
    _BREAK: "br hr",
    _AREA: "area",
    _IMAGE: "img input",
    _TITLE: "title",
    _META: "meta",
    _LINK: "link",
    _BASE: "base",
}
METAS = frozenset({"description", "og:title", "og:description", "content-language"})  # all that is read
_LINE_END = "\x1e"  # ends a block in the list of parts; it is white space, so folding swallows it
_MAY_HIDE = re.compile(rb"hidden(?<=[ \t\n\f\r\"'/]hidden)[ \t\n\f\r=>/]")

# Where the walk is. The header is main, but lists in it are menus.
_IN_MAIN, _IN_HEADER, _IN_NAVIGATION, _IN_FOOTER = range(4)
_POSITIONS: Final = (Position.MAIN, Position.MAIN, Position.NAVIGATION, Position.FOOTER)


def _numbers(names: str) -> set[int]:
    """Ask the parser for its numbers of tags, which differ between versions; a tag it does not know has an address."""
    document = LexborHTMLParser(b"")
    return {number for name in names.split() if (number := document.create_node(name).tag_id) < 1 << 16}


_KINDS: Final = {number: kind for kind, names in _NAMES.items() for number in _numbers(names)}
_KINDS.update((node.tag_id, _TEXT) for node in LexborHTMLParser(b"text").css("body")[0].iter(include_text=True))
_NAV, _HEADER, _FOOTER, _LISTS = map(_numbers, ("nav", "header", "footer", "ul ol menu"))


class Anchor:
    """An `a` or `area` with an href: what it says, and where its text is in the list of parts."""

    __slots__ = ("context", "end", "href", "label", "position", "rel", "start", "title")

    def __init__(self, href: str, label: str, position: Position, start: int, end: int) -> None:
        self.href = href
        self.label = label
        self.position = position
        self.start = start
        self.end = end
        self.title = self.rel = self.context = ""


def walk(markup: bytes) -> Walk:
    """Parse UTF-8 markup and walk through it.

    >>> seen = walk(b"<h1>Fire <b>alarms</b></h1><p>We <a href=/t>test</a> them.")
    >>> seen.h1, seen.anchors[0].label, seen.anchors[0].context
    (['Fire alarms'], 'test', 'We test them.')
    """
    # Without events: they cost a fifth more, and make long lists of options quadratic.
    document = LexborHTMLParser(markup, options=LexborDocumentOptions.WO_EVENTS)
    hidden: set[int] = set()
    if _MAY_HIDE.search(markup) or b"HIDDEN" in markup:
        # A hidden body is a page that waits for its scripts, not a page without text.
        hidden.update(node.mem_id for node in document.css("body [hidden]"))
    seen = Walk(hidden)
    seen.run(document.root)
    return seen


class Walk:
    """The state of a walk, and everything that was seen on it."""

    def __init__(self, hidden: set[int]) -> None:
        self.parts: list[str] = []
        self.anchors: list[Anchor] = []
        self.title = ""
        self.language = ""
        self.metas: dict[str, str] = {}
        self.base: str | None = None
        self.canonical: str | None = None
        self.h1: list[str] = []
        self.h2: list[str] = []
        self._hidden = hidden
        self._path: list[LexborNode] = []
        self._kinds: list[int] = []
        self._blocks: list[int] = []  # where the open blocks start in `parts`
        self._open: list[tuple[dict[str, str | None], Position, int, list[str]]] = []  # anchors that the walk is in
        self._waiting: list[tuple[int, Anchor]] = []  # for the end of the block around them, which is that deep
        self._known: list[tuple[LexborNode, int]] = []  # where links stand, for the first elements of the path
        self._concealed = 0
        self._svg = 0

    def run(self, node: LexborNode | None) -> None:  # noqa: C901, PLR0912 - the hot loop: a call for each node would double it
        """Walk through the document in order, entering and leaving each element."""
        parts, blocks, path, kinds, waiting = self.parts, self._blocks, self._path, self._kinds, self._waiting
        hidden, kind_of = self._hidden, _KINDS.get
        while node is not None:
            kind = kind_of(node.tag_id, _OTHER)
            if kind == _TEXT:
                parts.append(node.text_content or "")
            elif kind >= _IGNORED:
                if kind > _IGNORED:
                    self._see(kind, node)
            else:
                if hidden and node.mem_id in hidden:
                    kind |= _HIDDEN
                if kind == _BLOCK or kind == _CONTAINER:
                    parts.append(_LINE_END)
                    blocks.append(len(parts))
                elif kind > _OTHER:
                    self._enter(kind, node)
                if (child := node.first_child) is not None:
                    path.append(node)
                    kinds.append(kind)
                    node = child
                    continue
                if kind > _OTHER:
                    self._leave(kind)
            while (following := node.next) is None and path:
                node = path.pop()
                kind = kinds.pop()
                if kind == _BLOCK or kind == _CONTAINER:
                    start = blocks.pop()
                    if waiting and waiting[-1][0] > len(blocks):
                        self._settle(start)
                    parts.append(_LINE_END)
                elif kind > _OTHER:
                    self._leave(kind)
            node = following

    def _enter(self, kind: int, node: LexborNode) -> None:
        """Go into an element that means something."""
        if kind == _A:
            self._open.append((node.attributes, self._position(), len(self.parts), []))
            return
        if kind & _HIDDEN or kind == _NOSCRIPT:
            self._concealed += 1
            self._blocks.append(len(self.parts))
            if kind != _NOSCRIPT:
                self._enter(kind & ~_HIDDEN, node)
        elif kind >= _BLOCK:
            self.parts.append(_LINE_END)
            self._blocks.append(len(self.parts))
            if kind == _HTML:
                attributes = node.attributes
                self.language = fold(attributes.get("lang") or attributes.get("xml:lang"), MAX_LANGUAGE).lower()
        elif kind == _SVG:
            self._svg += 1

    def _leave(self, kind: int) -> None:
        """Come out of an element that means something."""
        if kind == _A:
            attributes, position, start, stand_ins = self._open.pop()
            if "href" in attributes or "xlink:href" in attributes:
                self._keep(attributes, position, start, stand_ins)
        elif kind & _HIDDEN or kind == _NOSCRIPT:
            if kind != _NOSCRIPT:
                self._leave(kind & ~_HIDDEN)
            self._reveal()
            if kind & ~_HIDDEN >= _BLOCK:
                self.parts.append(_LINE_END)
        elif kind >= _BLOCK:
            self._leave_block(kind)
        elif kind == _SVG:
            self._svg -= 1

    def _leave_block(self, kind: int) -> None:
        """End a block: its anchors have their context now, and a heading its text."""
        start = self._blocks.pop()
        self._settle(start)
        if kind >= _H1 and not self._concealed:
            headings = self.h1 if kind == _H1 else self.h2
            text = self._label(start)
            if text and len(headings) < MAX_HEADINGS:
                headings.append(text)
        self.parts.append(_LINE_END)

    def _reveal(self) -> None:
        """End what is hidden: its anchors have had what they need of its text."""
        start = self._blocks.pop()
        self._settle(start)
        del self.parts[start:]
        self._concealed -= 1

    def _keep(self, attributes: dict[str, str | None], position: Position, start: int, stand_ins: list[str]) -> None:
        """Keep an anchor. Its label is its visible text, else what stands in for images, else that for screen readers."""
        get = attributes.get
        label = self._label(start) or fold(" ".join(stand_ins) or get("aria-label"), MAX_LABEL)
        anchor = Anchor(get("href") or get("xlink:href") or "", label, position, start, len(self.parts))
        if title := get("title"):
            anchor.title = fold(title, MAX_LABEL)
        if rel := get("rel"):
            anchor.rel = fold(rel, MAX_LABEL).lower()
        self.anchors.append(anchor)
        self._waiting.append((len(self._blocks), anchor))

    def _see(self, kind: int, node: LexborNode) -> None:
        """Look at an element without going into it."""
        if kind == _BREAK:
            self.parts.append(_LINE_END)
        elif kind == _IMAGE:
            if self._open and not self._concealed:
                self._see_image(node.attributes)
        elif kind == _TITLE:
            self._see_title(node.text())
        elif kind == _AREA:
            attributes = node.attributes
            if "href" in attributes:
                self._keep(attributes, self._position(), len(self.parts), [attributes.get("alt") or ""])
        else:
            self._see_about(kind, node.attributes)

    def _see_image(self, attributes: dict[str, str | None]) -> None:
        """Let an image's alternative text stand in for an anchor's; an input is an image if it says so."""
        kind = attributes.get("type")
        if (alt := attributes.get("alt")) and (kind is None or kind.strip().lower() == "image"):
            self._open[-1][3].append(alt)

    def _see_title(self, text: str) -> None:
        """Take the first title; those in a drawing name the drawing."""
        if self._svg:
            if self._open:
                self._open[-1][3].append(text)
        elif not self.title:
            self.title = fold(text, MAX_LABEL)

    def _see_about(self, kind: int, attributes: dict[str, str | None]) -> None:
        """Read what the document says about itself: meta, link and base elements; the first of each counts."""
        href, content = attributes.get("href"), attributes.get("content")
        if kind == _META and content:
            name = (attributes.get("name") or attributes.get("property") or attributes.get("http-equiv") or "").strip().lower()
            if name in METAS and (value := fold(content, MAX_DESCRIPTION)):
                self.metas.setdefault(name, value)
        elif kind == _BASE and self.base is None:
            self.base = href
        elif kind == _LINK and href and self.canonical is None and "canonical" in (attributes.get("rel") or "").lower().split():
            self.canonical = href

    def _position(self) -> Position:
        """Tell where the walk is; each element of the path is looked at once, and only if there are links in it."""
        path, known = self._path, self._known
        depth = min(len(known), len(path))
        while depth and known[depth - 1][0] is not path[depth - 1]:
            depth -= 1
        del known[depth:]
        where = known[-1][1] if depth else _IN_MAIN
        for index in range(depth, len(path)):
            node = path[index]
            if where != _IN_FOOTER and self._kinds[index] in _LANDMARKS:
                where = _inside(node, where)
            known.append((node, where))
        return _POSITIONS[where]

    def _label(self, start: int) -> str:
        """Fold the text from a part on, as much as a label may have."""
        parts = self.parts
        raw = parts[start] if len(parts) == start + 1 else "".join(parts[start : start + _RAW_PARTS])
        return fold(raw, MAX_LABEL)

    def _settle(self, start: int) -> None:
        """Give the anchors that waited for the end of this block their context."""
        waiting, depth = self._waiting, len(self._blocks)
        if waiting and waiting[-1][0] > depth:
            whole = self._whole(start)
            while waiting and waiting[-1][0] > depth:
                anchor = waiting.pop()[1]
                anchor.context = self._around(anchor, start) if whole is None else whole

    def _whole(self, start: int) -> str | None:
        """Fold the text from a part on, if it is short enough for a context."""
        parts = self.parts
        if len(parts) - start > 2 * _SIDE_PARTS:
            return None
        raw = parts[start] if len(parts) == start + 1 else "".join(parts[start:])
        if len(raw) > 2 * _SIDE_CHARS:
            return None
        text = " ".join(raw.split())
        return text if len(text) <= CONTEXT else None

    def _around(self, anchor: Anchor, start: int) -> str:
        """Cut the context of an anchor out of a block that is too long to be one."""
        parts = self.parts
        before = "".join(parts[max(start, anchor.start - _SIDE_PARTS) : anchor.start])[-_SIDE_CHARS:]
        inside = "".join(parts[anchor.start : min(anchor.end, anchor.start + _SIDE_PARTS)])[:_SIDE_CHARS]
        after = "".join(parts[anchor.end : anchor.end + _SIDE_PARTS])[:_SIDE_CHARS]
        return centred(before, inside, after)


def _inside(node: LexborNode, where: int) -> int:
    """Tell where links inside an element stand, given where the element stands. A footer wins over a menu."""
    number, attributes = node.tag_id, node.attributes
    names: list[str] = []
    role = ""
    if attributes:
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".lower().split()
        role = (attributes.get("role") or "").strip().lower()
    if number in _FOOTER or role == "contentinfo" or not FOOTER_NAMES.isdisjoint(names):
        return _IN_FOOTER
    if number in _NAV or role == "navigation" or not NAVIGATION_NAMES.isdisjoint(names):
        return _IN_NAVIGATION
    if where == _IN_HEADER and number in _LISTS:
        return _IN_NAVIGATION
    return _IN_HEADER if number in _HEADER and where == _IN_MAIN else where


def fold(text: str | None, limit: int) -> str:
    """Fold white space, and cut to a limit.

    >>> fold("  Fire\\n  alarms ", 8)
    'Fire ala'
    """
    return " ".join(text[:_RAW_CHARS].split())[:limit].rstrip() if text else ""


def visible(parts: Sequence[str]) -> str:
    """Give the visible text of a walk: a line for each block that has any."""
    lines = (" ".join(line.split()) for line in "".join(parts).split(_LINE_END))
    return "\n".join(filter(None, lines))[:MAX_TEXT].rstrip()


def centred(before: str, inside: str, after: str) -> str:
    """Fold raw text around an anchor into one context with the anchor in the middle, cut between words.

    >>> centred("a " * 200, "anchor", " b" * 200)[90:112]
    'a a a a anchor b b b b'
    """
    marked = " ".join(f"{before}\0{inside}\0{after}".split())
    start, end = marked.index("\0"), marked.rindex("\0") - 1
    text = marked.replace("\0", "")
    room = max(CONTEXT - (end - start), 0)
    first = max(start - max(room // 2, room - (len(text) - end)), 0)
    last = first + CONTEXT
    if 0 < first < start and text[first - 1] != " ":
        first = text.find(" ", first, start) + 1 or start
    if last < len(text) and text[last] != " ":
        last = max(text.rfind(" ", end, last), min(end, last))
    return " ".join(text[first:last].split())
