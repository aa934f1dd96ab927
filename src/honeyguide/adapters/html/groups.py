"""How a page groups its links: the label of a submenu, the heading of a group of cards.

Owns: which text names a group, and when a group counts. Must not know: URLs, rules. Start reading at `read_groups`. Only pick
reads pages this way, so that a crawl does not pay for it. Every climb and every text is bounded, whatever the markup.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.adapters.html.walk import (
    ANCHOR,
    BOX,
    FOOTER,
    HEADER,
    KINDS,
    LIST,
    MAIN,
    NAV,
    OTHER,
    SECTION,
    fold,
)
from honeyguide.core.page.page import Position

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from selectolax.lexbor import LexborNode

_CLIMB = 6  # ancestors of a link that are looked at
_LEVELS = 4  # the parent of a group and the levels above it where its heading may stand
_MAX_HEADING_DEPTH = 40  # ancestors of a heading that know it
_LABEL_CHARS = 59
_MAX_LABEL_NODES = 40  # elements and texts of a label or a heading
_BEFORE = 4  # siblings before a submenu: arrows and empty texts are passed over
_MAX_CHILDREN = 2_000  # of a parent that are compared
_LEAST = 3  # pages that make a group
_ENDS = frozenset({NAV, HEADER, FOOTER, MAIN})  # no group reaches beyond one of these
_NO_LABEL = re.compile(r"©|\(c\)|copyright|all rights reserved", re.IGNORECASE)  # the last line of a footer


class Anchor(NamedTuple):
    """A link element, the page that it leads to, and where it is."""

    node: LexborNode
    target: str
    position: Position


def read_groups(
    anchors: Sequence[Anchor], headings: Iterable[LexborNode], home: str
) -> list[tuple[str, str]]:
    """Name the submenu and the group of cards of each anchor; empty where the page says nothing.

    `headings` are h1 to h5 in document order, `home` is the target that labels nothing.
    """
    menus, cards = _Menus(anchors, home), _Cards(headings)
    labels = [menus.label(anchor) if anchor.position is not Position.MAIN else "" for anchor in anchors]
    titles = [
        cards.heading(anchor.node) if anchor.position is not Position.NAVIGATION else "" for anchor in anchors
    ]
    submenus = _submenus(anchors, labels)
    shared = {title for title, members in _members(anchors, titles).items() if len(members) >= _LEAST}
    return [
        (label if label in submenus else "", title if title in shared else "")
        for label, title in zip(labels, titles, strict=True)
    ]


def _submenus(anchors: Sequence[Anchor], labels: list[str]) -> set[str]:
    """Return the labels of submenus; the members of others stand in the menu without that label, too."""
    seen: defaultdict[str, set[str]] = defaultdict(set)  # labels of each page in the menu
    for anchor, label in zip(anchors, labels, strict=True):
        if anchor.position is Position.NAVIGATION:
            seen[anchor.target].add(label)
    kept = set()
    for label, members in _members(anchors, labels).items():
        elsewhere = sum(bool(seen[member] - {label}) for member in members)
        if len(members) >= _LEAST and 2 * elsewhere <= len(members):
            kept.add(label)
    return kept


def _members(anchors: Sequence[Anchor], names: list[str]) -> dict[str, set[str]]:
    members: defaultdict[str, set[str]] = defaultdict(set)
    for anchor, name in zip(anchors, names, strict=True):
        if name:
            members[name].add(anchor.target)
    return members


def _above(node: LexborNode, most: int) -> list[LexborNode]:
    """Return the ancestors of a node, the nearest first."""
    found: list[LexborNode] = []
    parent = node.parent
    while parent is not None and len(found) < most:
        found.append(parent)
        parent = parent.parent
    return found


def _kind(node: LexborNode) -> int:
    return KINDS.get(node.tag_id, OTHER)


class _Menus:
    """The labels of submenus: the short text before a list, or before a box of links."""

    def __init__(self, anchors: Sequence[Anchor], home: str) -> None:
        self._home = home
        self._targets = {anchor.node.mem_id: anchor.target for anchor in anchors}
        self._inside: dict[int, str | None] = {}  # the only target in an element; None if there are several
        self._labels: dict[int, str] = {}
        for anchor in anchors:
            if anchor.position is not Position.MAIN:
                for node in _above(anchor.node, _CLIMB):
                    first = self._inside.setdefault(node.mem_id, anchor.target)
                    if first != anchor.target:
                        self._inside[node.mem_id] = None

    def label(self, anchor: Anchor) -> str:
        is_found = False
        for node in _above(anchor.node, _CLIMB):
            kind = _kind(node)
            if kind == LIST or (BOX <= kind <= SECTION and self._inside[node.mem_id] is None):
                if label := self._label(node):
                    return label
                is_found = True
            elif is_found and kind not in (OTHER, BOX, SECTION):
                return ""
            if kind in _ENDS:
                return ""
        return ""

    def _label(self, node: LexborNode) -> str:
        label = self._labels.get(node.mem_id)
        if label is None:
            label = self._labels[node.mem_id] = self._read_label(node)
        return label

    def _read_label(self, node: LexborNode) -> str:
        before = node.prev
        for _ in range(_BEFORE):
            if before is None:
                return ""
            nodes = list(islice(before.traverse(include_text=True), _MAX_LABEL_NODES))
            links = [inner.mem_id for inner in nodes if _kind(inner) == ANCHOR]
            text = _text(nodes)
            if text.strip("+-–—|/<>▾▼▸›»·•"):
                is_short = len(text) <= _LABEL_CHARS and len(links) <= 1 and len(nodes) < _MAX_LABEL_NODES
                is_label = is_short and not _NO_LABEL.search(text)
                return text if is_label and self._home not in map(self._targets.get, links) else ""
            before = before.prev
        return ""


class _Cards:
    """The headings of groups of cards: elements of one tag and class side by side."""

    def __init__(self, headings: Iterable[LexborNode]) -> None:
        self._within: defaultdict[int, list[tuple[LexborNode, LexborNode]]] = defaultdict(
            list
        )  # the child below, the heading
        self._shapes: dict[int, Counter[tuple[int, str]]] = {}
        self._titles: dict[tuple[int, tuple[int, str]], str] = {}
        for heading in headings:
            below = heading
            for node in _above(heading, _MAX_HEADING_DEPTH):
                self._within[node.mem_id].append((below, heading))
                below = node

    def heading(self, node: LexborNode) -> str:
        for parent in _above(node, _CLIMB):
            shape = _shape(node)
            if self._count(parent)[shape] >= _LEAST:
                key = parent.mem_id, shape
                title = self._titles.get(key)
                if title is None:
                    title = self._titles[key] = self._find(parent, shape)
                return title
            if _kind(parent) in _ENDS:
                break
            node = parent
        return ""

    def _count(self, parent: LexborNode) -> Counter[tuple[int, str]]:
        counts = self._shapes.get(parent.mem_id)
        if counts is None:
            counts = self._shapes[parent.mem_id] = Counter(map(_shape, islice(parent.iter(), _MAX_CHILDREN)))
        return counts

    def _find(self, parent: LexborNode, shape: tuple[int, str]) -> str:
        """Find the first heading in the parent of a group, or above it, that is not in a card."""
        inner = 0
        for level in (parent, *_above(parent, _LEVELS - 1)):
            for below, heading in self._within.get(level.mem_id, ()):
                is_outside = below.mem_id != inner if inner else _shape(below) != shape
                if is_outside and (
                    text := _text(islice(heading.traverse(include_text=True), _MAX_LABEL_NODES))
                ):
                    return text
            if _kind(level) in _ENDS:
                break
            inner = level.mem_id
        return ""


def _shape(node: LexborNode) -> tuple[int, str]:
    return node.tag_id, (node.attributes.get("class") or "")[:200]


def _text(nodes: Iterable[LexborNode]) -> str:
    texts = [node.text_content or "" for node in nodes if node.tag == "-text"]
    return fold(" ".join(text[:200] for text in texts), 200)
