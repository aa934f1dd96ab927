"""A parsed document, and its anchors as a reader sees them.

Owns: parsing (selectolax, lexbor), and what is said about an anchor: label, position, context. Must not know: URLs, pages,
scope. What elements mean is in `elements.py`, how the document is walked in `walk.py`. Start reading at `Document`.

It climbs from each anchor only as far as nobody has climbed before (`_climb`), and the work for one anchor is bounded, so
the cost is in proportion to the document.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from honeyguide.adapters.markup import landmarks, walk
from honeyguide.adapters.markup.elements import (
    ANCHOR,
    AREA,
    BLOCK,
    CONTAINER,
    IMAGES,
    IN_FOOTER,
    IN_MAIN,
    IN_NAVIGATION,
    KINDS,
    LANDMARK,
    OTHER,
    POSITIONS,
    SCRIPT,
    TITLE,
    TOLD,
    inside,
)
from honeyguide.adapters.markup.walk import fold
from honeyguide.core.page import Occurrence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

    from honeyguide.adapters.markup.walk import Lines, Text
    from honeyguide.core.page import Main

    Attributes = dict[str, str | None]

CONTEXT = 200  # characters of a context (SPEC section 2: about 200)
_IMAGE_NODES = 200  # elements that are looked at for what stands in for an anchor's text
_BLOCK_TEXT_FACTOR = 4  # text of blocks that is gathered for contexts, as a multiple of the document's size
_MAX_MISSES = 3  # anchors that could not be found in the text of their block before it is no longer searched

_MAY_HIDE = re.compile(rb"hidden(?<=[ \t\n\f\r\"'/]hidden)[ \t\n\f\r=>/]")


class _Block:
    """The text of a block with anchors, and how far they have been looked for."""

    __slots__ = ("misses", "reached", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.reached = 0  # where in the text the last anchor ended
        self.misses = 0

    def around(self, anchor: str) -> str:
        """Give the text, or of a long text what is around the next anchor, between words."""
        text = self.text
        if len(text) <= CONTEXT:
            return text
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
        hidden: set[int] = set()
        if (b"hidden" in markup and _MAY_HIDE.search(markup)) or b"HIDDEN" in markup:
            # A hidden body is a page that waits for its scripts, not a page without text.
            hidden.update(node.mem_id for node in self._tree.css("body [hidden]"))
        root = self._tree.root
        self._seen = walk.Walk(None if root is None else root.first_child, hidden)
        self._blocks: dict[Lines, _Block] = {}  # those that somebody asked for
        self._wheres: dict[int, int] = {}  # where elements stand
        self._menu: list[int] = []  # the anchors of menus and footers, as far as they were described
        self._landmarks: dict[int, int] = {}  # what elements around anchors are by their attributes
        self._block_text = _BLOCK_TEXT_FACTOR * len(markup)
        for script in self._seen.found[SCRIPT]:
            script.decompose()  # or the parser takes it for text

    @property
    def headings(self) -> dict[int, list[str]]:
        """The headings of level 1 and 2."""
        return self._seen.headings

    def anchors(self) -> Iterator[tuple[int, LexborNode, Attributes]]:
        """Find everything that links somewhere, in document order, with its number and its attributes."""
        for number, node in enumerate(self._seen.found[ANCHOR], 1):
            attributes = node.attributes
            if "href" in attributes or ("xlink:href" in attributes and node.tag_id not in AREA):
                yield number, node, attributes

    def told(self) -> list[LexborNode]:
        """Find what may tell about the document: its root, and all title, base, meta and link elements."""
        root = self._tree.root
        return ([] if root is None else [root]) + self._seen.found[TITLE] + self._seen.found[TOLD]

    def text(self) -> str:
        """Give the visible text, a line for each block that has any."""
        return "\n".join(filter(None, self._seen.visible.lines()))[: walk.MAX_TEXT].rstrip()

    def main(self, text: str) -> Main | None:
        """Give what is main of the visible text, as far as the markup tells; ask once the anchors were described."""
        return landmarks.main_of(self._seen, self._landmarks, self._menu, len(text))

    def occurrence(self, number: int, node: LexborNode, attributes: Attributes) -> Occurrence:
        """Describe an anchor."""
        text = fold(self._seen.labels.get(number), walk.MAX_LABEL)
        parent, is_alone = node.parent, False
        if parent is not None and node.next is None and node.prev is None:
            kind = KINDS.get(parent.tag_id, OTHER)
            is_alone = kind >= BLOCK
            if kind == BLOCK:
                parent = parent.parent  # an item with nothing but the anchor in it need not be remembered
        where = self._wheres.get(parent.mem_id) if parent is not None else IN_MAIN
        if where is None:
            where = self._climb(parent)
        if where >= IN_NAVIGATION:
            self._menu.append(number)
        title, rel = attributes.get("title"), attributes.get("rel")
        return Occurrence(
            text or self._stand_in(node, attributes),
            fold(title, walk.MAX_LABEL) if title else "",
            fold(rel, walk.MAX_LABEL).lower() if rel else "",
            POSITIONS[where],
            text[:CONTEXT].rstrip() if is_alone else self._block(number).around(text),
        )

    def _block(self, number: int) -> _Block:
        """Find the nearest block around an anchor."""
        lines = self._seen.lines[number]
        block = self._blocks.get(lines)
        if block is None:
            block = self._blocks[lines] = _Block(self._text_of(*lines))
        return block

    def _text_of(self, text: Text, first: int, last: int) -> str:
        """Give the lines of a block; none, where blocks in blocks would make that cost more than the document."""
        if self._block_text <= 0:
            return ""
        whole = " ".join(filter(None, text.lines()[first:last]))
        self._block_text -= len(whole) + last - first
        return whole

    def _stand_in(self, node: LexborNode, attributes: Attributes) -> str:
        """Find what stands in for the text of an anchor without any: an image's text, else that for screen readers."""
        if node.tag_id in AREA:
            return fold(attributes.get("alt"), walk.MAX_LABEL) or fold(
                attributes.get("aria-label"), walk.MAX_LABEL
            )
        for inner in islice(node.traverse(), _IMAGE_NODES):
            kind = IMAGES.get(inner.tag_id)
            if kind and (
                text := fold(inner.text() if kind == "title" else inner.attributes.get("alt"), walk.MAX_LABEL)
            ):
                return text
        return fold(attributes.get("aria-label"), walk.MAX_LABEL)

    def _climb(self, node: LexborNode | None) -> int:
        """Find out where an element stands; remembers it for all elements on the way up."""
        wheres = self._wheres
        chain: list[LexborNode] = []
        where = None
        while node is not None and (where := wheres.get(node.mem_id)) is None:
            chain.append(node)
            node = node.parent
        where = where or IN_MAIN
        while chain:
            node = chain.pop()
            kind = KINDS.get(node.tag_id, OTHER)
            if where != IN_FOOTER and (kind >= CONTAINER or kind <= TOLD):
                where = inside(node, kind, where)
                if where >= LANDMARK:
                    self._landmarks[node.mem_id] = where // LANDMARK
                    where %= LANDMARK
            wheres[node.mem_id] = where
        return where
