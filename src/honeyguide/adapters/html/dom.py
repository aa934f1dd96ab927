"""Where the main text of a page is, as far as its markup tells.

Owns: which parts of a page are no main text, and when a `main` or a single `article` stands for all of it.
Must not know: parsing, links, what the main text is compared with. Start reading at `main_of`.

It looks at the parts that the walk has met, not at the document: their number is small, and each line is touched a few
times at most, however parts are nested.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import chain, islice
from operator import is_, itemgetter
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from honeyguide.adapters.html import walk
from honeyguide.adapters.html.walk import (
    ANCHOR,
    AREA,
    ARTICLE,
    ASIDE,
    BLOCK,
    BOX,
    CONTAINER,
    FOOTER,
    HEADER,
    IMAGES,
    IN_FOOTER,
    IN_MAIN,
    IN_NAVIGATION,
    KINDS,
    LANDMARK,
    MAIN,
    MAX_TEXT,
    OTHER,
    POSITIONS,
    SCRIPT,
    SECTION,
    TITLE,
    TOLD,
    fold,
    inside,
)
from honeyguide.core.page.page import Main, Occurrence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from selectolax.lexbor import LexborNode

    from honeyguide.adapters.html.walk import Box, Lines, TextPieces, Walk

    Span = tuple[int, int]  # lines: the first, and the one after the last
    Attributes = dict[str, str | None]

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
        return main_of(self._seen, self._landmarks, self._menu, len(text))

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

    def _text_of(self, text: TextPieces, first: int, last: int) -> str:
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
