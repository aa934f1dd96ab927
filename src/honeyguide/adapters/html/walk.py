"""A parsed document and one walk through it: its visible text, and the elements that are read later.

Owns: lexbor, what elements mean (their kinds), which text is visible, where its lines end, and which lines belong to the
block around an anchor or to a part of the page (`boxes`). Must not know: contexts, URLs. Start reading at `Document`.

A walk in Python is cheaper than one search by the parser for each kind of element. There is no recursion.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    Block = tuple["TextPieces", int, int]  # its text, its first line, and the one after its last line
    Scope = tuple[
        LexborNode, int, int
    ]  # an element that may be a menu, its kind, and the number of the scope around it
    Box = tuple[int, int, int, int]  # a part of the page: its kind and scope, its lines as above

MAX_HEADINGS = 500  # of each level
MAX_TEXT = 1_000_000  # characters of visible text
MAX_LABEL = 500  # characters of an anchor text, a title, a rel, a heading
_MAX_RAW_CHARS = 4_000  # characters that are folded for one label
_MAX_RAW_PARTS = 257  # pieces of text that are folded for one label
_MAX_TITLES = 1_000  # headings that may name a group of cards
_MAX_STYLING = 8  # elements inside each other that are looked through at once; without a limit, nested ones take quadratic time
_SHALLOW = 7  # elements around a part of the page that is not called so
_LINE_END = "\0"  # between blocks; no parsed text has it
_MAY_HIDE = re.compile(rb"hidden(?<=[ \t\n\f\r\"'/]hidden)[ \t\n\f\r=>/]")


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

# Class and id names that say "menu" or "footer" where the element does not. Whole names only: `bg-navy` is a colour, and
# a `card-footer` is no footer of the page.
NAVIGATION_NAMES = frozenset({
    "nav", "navbar", "navbar-nav", "navigation", "main-nav", "site-nav", "nav-menu", "mobile-nav", "menu", "main-menu",
    "mobile-menu", "dropdown-menu", "sidemenu", "site-header", "masthead", "topbar", "breadcrumb", "breadcrumbs",
})  # fmt: skip
FOOTER_NAMES = frozenset({"footer", "site-footer", "page-footer", "main-footer", "colophon"})


def numbers_of(names: str) -> set[int]:
    """Ask the parser for its numbers of tags, which differ between versions; a tag it does not know has an address."""
    document = LexborHTMLParser(b"")
    return {number for name in names.split() if (number := document.create_node(name).tag_id) < 1 << 16}


KINDS: Final = {number: kind for kind, names in _TAGS.items() for number in numbers_of(names)}
TEXT: Final = next(node.tag_id for node in LexborHTMLParser(b"text").css("body")[0].iter(include_text=True))
NO_STYLING: Final = frozenset({*KINDS, TEXT})
AREA: Final = numbers_of("area")
WITH_ALTERNATIVES: Final = {number: tag for tag in ("img", "input", "title") for number in numbers_of(tag)}


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


class Blocks:
    """The blocks of text around the anchors of a document: without its tree, which takes far more memory."""

    __slots__ = ("firsts", "invisible", "lasts", "numbers", "size", "visible")

    def __init__(self, size: int) -> None:
        self.size = size  # of the document, in bytes
        self.visible = TextPieces()
        self.invisible: dict[int, TextPieces] = {}  # the text of blocks in invisible parts
        self.numbers: list[int] = []  # of the nearest block around each anchor
        self.firsts = [0]  # the first line of each block, and the line after its last
        self.lasts = [0]

    def around(self, anchor: int) -> Block:
        """Return the block around an anchor, by the number of the anchor."""
        block = self.numbers[anchor]
        return self.invisible.get(block, self.visible), self.firsts[block], self.lasts[block]

    def unseen(self) -> str:
        """Return the text of invisible parts with anchors."""
        return " ".join([line for text in set(self.invisible.values()) for line in text.lines() if line])


class Document:
    r"""A parsed document. `nodes`, `labels`, `blocks.numbers` and `scopes` describe its anchors, in document order.

    >>> document = Document(b"<h1>Fire <b>alarms</b></h1><p>We <a href=/t>test</a> them.")
    >>> document.text(), document.headings, document.labels
    ('Fire alarms\nWe test them.', {1: ['Fire alarms'], 2: []}, ['test'])
    """

    def __init__(self, markup: bytes) -> None:
        self.blocks = Blocks(len(markup))
        self.visible = self.blocks.visible
        self.headings: dict[int, list[str]] = {1: [], 2: []}
        self.found: dict[int, list[LexborNode]] = {kind: [] for kind in range(META, BREAK)}
        self.nodes: list[LexborNode] = []
        self.labels: list[str] = []  # not folded yet
        self.scopes: list[
            int
        ] = []  # the numbers of the nearest elements around the anchors that may be menus
        self.around: list[Scope] = []  # by the number of the scope
        self.boxes: list[Box] = []  # visible ones, in the order of their ends
        # Without events: they cost a fifth more, and make long lists of options quadratic.
        self._tree = LexborHTMLParser(markup, options=LexborDocumentOptions.WO_EVENTS)
        root = self._tree.root
        self._walk(None if root is None else root.first_child, self._hidden(markup))
        for script in self.found[SCRIPT]:
            script.decompose()  # or the parser takes it for text

    def _hidden(self, markup: bytes) -> set[int]:
        """Return the elements with the attribute `hidden`; most pages have the word only as a value."""
        if not _MAY_HIDE.search(markup) and b"HIDDEN" not in markup:
            return set()
        # A hidden body is a page that waits for its scripts, not a page without text.
        return {node.mem_id for node in self._tree.css("body [hidden]")}

    def text(self) -> str:
        """Return the visible text, one line for each block that has any."""
        return "\n".join(filter(None, self.visible.lines()))[:MAX_TEXT].rstrip()

    def titles(self) -> list[LexborNode]:
        """Return the headings that may name a group of cards, in document order."""
        return self._tree.css("h1,h2,h3,h4,h5")[:_MAX_TITLES]

    def metadata_nodes(self) -> list[LexborNode]:
        """Return the root, and all title, base, meta and link elements."""
        root = self._tree.root
        return ([] if root is None else [root]) + self.found[TITLE] + self.found[META]

    def _walk(self, node: LexborNode | None, hidden: set[int]) -> None:  # noqa: C901, PLR0912, PLR0915 - one loop: a call for each node costs more
        """Walk through the document and keep its visible text, headings, anchors and metadata elements."""
        around = visible = self.visible
        parts, line, scope, block = visible.parts, 0, -1, 0
        found, nodes, labels, blocks = self.found, self.nodes, self.labels, self.blocks
        firsts, lasts, numbers = blocks.firsts, blocks.lasts, blocks.numbers
        add_node, add_label, add_scope = nodes.append, labels.append, self.scopes.append
        scopes = self.around
        # Names of the module would cost more: each round of the loop looks most of these up.
        other, anchor, end, line_end, container = OTHER, ANCHOR, BREAK, _LINE_END, CONTAINER
        script, title, plain, h2, box, nav = SCRIPT, TITLE, BLOCK, H2, BOX, NAV
        kind_of, text, no_styling = KINDS.get, TEXT, NO_STYLING
        shallow, add_box = _SHALLOW, self.boxes.append
        ended = -1  # how many parts there were when the last anchor ended
        append = parts.append
        path: list[tuple[LexborNode, int, int, int]] = []  # with the block and the scope around each
        starts: list[int] = []  # of the labels of open anchors and headings, in parts
        open_anchors: list[int] = []
        outside: list[tuple[TextPieces, int]] = []  # the text around open invisible parts, and its line
        while node is not None:
            tag = node.tag_id
            if tag == text:
                append(node.text_content or "")
            else:
                kind = kind_of(tag, other)
                child = node.first_child
                is_invisible = False
                if kind >= end:
                    append(line_end)
                    line += 1
                    if hidden and child is not None:
                        is_invisible = node.mem_id in hidden
                elif kind <= anchor:
                    if kind:
                        add_node(node)
                        add_label("")
                        numbers.append(block)
                        add_scope(scope)
                        if around is not visible:
                            blocks.invisible[block] = around
                        if ended == len(parts):
                            append(" ")  # style sheets usually set anchors side by side apart
                    if hidden:
                        is_invisible = child is not None and node.mem_id in hidden
                    elif child is not None:
                        # Nothing happens where styling ends, so the walk goes straight to what is alone in it.
                        inner, most = child, _MAX_STYLING
                        while (
                            most
                            and inner.next is None
                            and (tag := inner.tag_id) not in no_styling
                            and (deeper := inner.first_child) is not None
                        ):
                            inner = deeper
                            most -= 1
                        if tag == text:
                            append(content := inner.text_content or "")
                            if kind:
                                labels[-1] = content
                                ended = len(parts)
                            child = None
                else:
                    found[kind].append(node)
                    is_invisible = kind >= title
                    if kind == script:
                        child = None
                if child is not None:
                    path.append((node, ~kind if is_invisible else kind, block, scope))
                    if kind >= container or kind <= anchor:
                        scopes.append((node, kind, scope))
                        scope = len(scopes) - 1
                    if is_invisible:  # links count also there, and the part is a block of its own
                        outside.append((around, line))
                        around, line, ended = TextPieces(), 0, -1
                        parts = around.parts
                        append = parts.append
                    if is_invisible or kind >= end:
                        block = len(firsts)
                        firsts.append(line)
                        lasts.append(0)
                    if kind == anchor or plain < kind <= h2:
                        starts.append(len(parts))
                        if kind == anchor:
                            open_anchors.append(len(nodes) - 1)
                            if is_invisible:
                                numbers[-1] = block
                                blocks.invisible[block] = around
                    node = child
                    continue
            while (following := node.next) is None and path:
                own, inner_scope = block, scope
                node, kind, block, scope = path.pop()
                is_invisible = kind < 0
                if is_invisible:
                    kind = ~kind
                if kind >= end or is_invisible:
                    lasts[own] = line + 1
                if kind > plain:
                    if kind >= box:
                        if (len(path) < shallow or kind >= nav) and around is visible:
                            add_box((kind, inner_scope, firsts[own], line + 1))
                    elif kind <= h2:
                        start = starts.pop()
                        if around is visible:
                            self._add_heading(kind - plain, _label(parts, start))
                elif kind == anchor:
                    labels[open_anchors.pop()] = _label(parts, starts.pop())
                    ended = len(parts)
                if is_invisible:
                    around, line = outside.pop()
                    ended, parts = -1, around.parts
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
    return fold("".join(parts[start : start + _MAX_RAW_PARTS]).replace(_LINE_END, " "), MAX_LABEL)


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
    return " ".join(text[:_MAX_RAW_CHARS].split())[:limit].rstrip()
