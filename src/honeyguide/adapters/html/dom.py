"""A parsed document: its anchors with their positions and contexts, its text and its metadata elements.

Owns: lexbor, and what is said of an anchor. Must not know: URLs, merging of links. Start reading at `Document`. What elements
mean, and the walk that reads them, is in `walk.py`, the main text in `main_text.py`.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from honeyguide.adapters.html import walk
from honeyguide.adapters.html.main_text import main_text
from honeyguide.adapters.html.walk import AREA, BLOCK, IN_MAIN, IN_NAVIGATION, KINDS, OTHER, POSITIONS, fold
from honeyguide.core.page.page import FRAME, Occurrence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

    from honeyguide.adapters.html.walk import Lines, TextPieces
    from honeyguide.core.page.page import Main

    Attributes = dict[str, str | None]

CONTEXT = 200  # characters of a context (SPEC section 2: about 200)
_ALTERNATIVE_NODES = 200  # elements of an anchor that are searched for a text in place of its own
_BLOCK_TEXT_FACTOR = 4  # times the document's size: how much text of blocks is read for contexts
_MAX_TITLES = 1_000  # headings that may name a group of cards
_MAX_MISSES = 3  # anchors that are not found in the text of their block before it is no longer searched
_MAY_HIDE = re.compile(rb"hidden(?<=[ \t\n\f\r\"'/]hidden)[ \t\n\f\r=>/]")


class _Block:
    """The text of a block with anchors, and how far it was searched for them."""

    __slots__ = ("misses", "reached", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.reached = 0  # where in the text the last anchor ended
        self.misses = 0

    def around(self, anchor: str) -> str:
        """Return the text; of a long text the part around the next anchor, cut between words."""
        text = self.text
        if len(text) <= CONTEXT:
            return text
        start = text.find(anchor, self.reached) if self.misses < _MAX_MISSES else -1
        if start < 0:
            self.misses += 1
            start, anchor = self.reached, ""
        self.reached = end = start + len(anchor)
        left = max(CONTEXT - len(anchor), 0)
        first = max(start - max(left // 2, left - (len(text) - end)), 0)
        last = first + CONTEXT
        if first > 0 and text[first - 1] != " ":
            first = text.find(" ", first, start) + 1 or start
        if last < len(text) and text[last] != " ":
            last = max(text.rfind(" ", end, last), min(end, last))
        return text[first:last].strip()


class Document:
    r"""A parsed document.

    >>> document = Document(b"<h1>Fire <b>alarms</b></h1><p>We <a href=/t rel=Next>test</a> them.")
    >>> [document.occurrence(*anchor)[:5] for anchor in document.anchors()]
    [('test', '', 'next', <Position.MAIN: 'main'>, 'We test them.')]
    >>> document.text(), document.headings
    ('Fire alarms\nWe test them.', {1: ['Fire alarms'], 2: []})
    """

    def __init__(self, markup: bytes) -> None:
        # Without events: they cost a fifth more, and make long lists of options quadratic.
        self._tree = LexborHTMLParser(markup, options=LexborDocumentOptions.WO_EVENTS)
        hidden: set[int] = set()
        if (b"hidden" in markup and _MAY_HIDE.search(markup)) or b"HIDDEN" in markup:
            # A hidden body is a page that waits for its scripts, not a page without text.
            hidden.update(node.mem_id for node in self._tree.css("body [hidden]"))
        root = self._tree.root
        self._walk = walk.Walk(None if root is None else root.first_child, hidden)
        self.headings = self._walk.headings
        self._blocks: dict[Lines, _Block] = {}  # those of described anchors
        self._places = walk.Places()
        self._menu: list[int] = []  # described anchors in menus and footers
        self._block_text = _BLOCK_TEXT_FACTOR * len(markup)
        for script in self._walk.found[walk.SCRIPT]:
            script.decompose()  # or the parser takes it for text

    def anchors(self) -> Iterator[tuple[int, LexborNode, Attributes]]:
        """Find all links in document order, each with its number and its attributes."""
        for number, node in enumerate(self._walk.found[walk.ANCHOR], 1):
            attributes = node.attributes
            if "href" in attributes or ("xlink:href" in attributes and node.tag_id not in AREA):
                yield number, node, attributes
            elif node.tag == "frame" and (source := attributes.get("src")):
                title = attributes.get("title") or attributes.get("name")
                yield number, node, {"href": source, "title": title, "rel": FRAME}

    def titles(self) -> list[LexborNode]:
        """Return the headings that may name a group of cards, in document order."""
        return self._tree.css("h1,h2,h3,h4,h5")[:_MAX_TITLES]

    def metadata_nodes(self) -> list[LexborNode]:
        """Return the root, and all title, base, meta and link elements."""
        root, found = self._tree.root, self._walk.found
        return ([] if root is None else [root]) + found[walk.TITLE] + found[walk.META]

    def text(self) -> str:
        """Return the visible text, one line for each block that has any."""
        return "\n".join(filter(None, self._walk.visible.lines()))[: walk.MAX_TEXT].rstrip()

    def main(self, text: str) -> Main | None:
        """Return the main part of the visible text, if the markup tells; call it after the anchors were described."""
        return main_text(self._walk, self._places.landmarks, self._menu, len(text))

    def occurrence(self, number: int, node: LexborNode, attributes: Attributes) -> Occurrence:
        """Describe an anchor."""
        text = fold(self._walk.labels.get(number), walk.MAX_LABEL)
        parent, is_alone = node.parent, False
        if parent is not None and node.next is None and node.prev is None:
            kind = KINDS.get(parent.tag_id, OTHER)
            is_alone = kind >= BLOCK
            if kind == BLOCK:
                parent = parent.parent  # an item with nothing but the anchor in it need not be remembered
        place = self._places.known.get(parent.mem_id) if parent is not None else IN_MAIN
        if place is None:
            place = self._places.find(parent)
        if place >= IN_NAVIGATION:
            self._menu.append(number)
        title, rel = attributes.get("title"), attributes.get("rel")
        return Occurrence(
            text or _alternative(node, attributes),
            fold(title, walk.MAX_LABEL) if title else "",
            fold(rel, walk.MAX_LABEL).lower() if rel else "",
            POSITIONS[place],
            text[:CONTEXT].rstrip() if is_alone else self._block(number).around(text),
        )

    def _block(self, number: int) -> _Block:
        """Find the nearest block around an anchor."""
        lines = self._walk.lines[number]
        block = self._blocks.get(lines)
        if block is None:
            block = self._blocks[lines] = _Block(self._text_of(*lines))
        return block

    def _text_of(self, text: TextPieces, first: int, last: int) -> str:
        """Return the lines of a block; none if blocks in blocks would cost more than the document."""
        if self._block_text <= 0:
            return ""
        whole = " ".join(filter(None, text.lines()[first:last]))
        self._block_text -= len(whole) + last - first
        return whole


def _alternative(node: LexborNode, attributes: Attributes) -> str:
    """Find a text for an anchor without text: that of an image, else that for screen readers."""
    label = attributes.get("aria-label")
    if node.tag_id in AREA:
        return fold(attributes.get("alt"), walk.MAX_LABEL) or fold(label, walk.MAX_LABEL)
    for inner in islice(node.traverse(), _ALTERNATIVE_NODES):
        tag = walk.WITH_ALTERNATIVES.get(inner.tag_id)
        if tag:
            text = fold(inner.text() if tag == "title" else inner.attributes.get("alt"), walk.MAX_LABEL)
            if text:
                return text
    return fold(label, walk.MAX_LABEL)
