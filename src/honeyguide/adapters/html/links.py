"""The links of a page: where its anchors lead, merged by URL, and what the page says of each.

Owns: `Links`; positions, contexts, and the hrefs that are no links. Must not know: parsing, metadata. Start reading at `Links`.
What elements mean, and the walk that finds the anchors, is in `walk.py`.

A link is an `a` or `area` with an href, also in svg, or a `frame`. Links inside `noscript` and elements with the `hidden` attribute
count, because readers without scripts follow them, but their text is not visible text. The content of `template` is no
part of the page. Nothing is left out silently: see `Page.skipped`, rule `limit`.
"""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from honeyguide.adapters.html.groups import Anchor, read_groups
from honeyguide.adapters.html.walk import (
    AREA,
    FOOTER,
    FOOTER_NAMES,
    HEADER,
    LIST,
    MAIN,
    MAX_LABEL,
    NAV,
    NAVIGATION_NAMES,
    OTHER,
    WITH_ALTERNATIVES,
    fold,
)
from honeyguide.core.page.page import FRAME, Link, Occurrence, Position
from honeyguide.core.url.scope import not_a_page
from honeyguide.core.url.steps import MAX_CHARS
from honeyguide.core.url.url import Url
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

    from honeyguide.adapters.html.walk import Block, Blocks, Document
    from honeyguide.core.page.page import Seen

    Attributes = dict[str, str | None]
    _FoundAnchor = tuple[int, str, Attributes]  # the number of an anchor, its text, its attributes

CONTEXT = 200  # characters of a context (SPEC section 2: about 200)
MAX_LINKS = 20_000  # distinct URLs of a page; real index pages stay under 10,000
MAX_INTERNATIONAL = 1_000  # distinct hosts in other letters of a page: each takes half a millisecond to read
MAX_OCCURRENCES = 20  # kept of one link: further ones add nothing
MAX_SKIPPED = 1_000  # hrefs that are no pages; a last entry counts the others
MAX_SKIPPED_HREF = 200  # characters
LIMIT = "limit"  # the rule that rejects what is over one of these
_FRAGMENT_ONLY = "fragment-only"  # the rule of `not_a_page` for most hrefs that are none
_ABSOLUTE = ("http://", "https://")
_SURELY_A_PAGE = ("/", *_ABSOLUTE)
_MAX_ALTERNATIVE_NODES = 200  # elements of an anchor that are searched for a text in place of its own
_BLOCK_TEXT_FACTOR = 4  # times the document's size: how much text of blocks is read for contexts
_MAX_MISSES = 3  # anchors that are not found in the text of their block before it is no longer searched
_NAME_CHARS = 300  # of class and id are read
_NO_GROUP = ("", "")

# Where a link is; the greater wins. The header is main, but lists in it are menus.
_IN_MAIN, _IN_HEADER, _IN_NAVIGATION, _IN_FOOTER = range(4)
_POSITIONS: Final = (Position.MAIN, Position.MAIN, Position.NAVIGATION, Position.FOOTER)
_ROLES: Final = {  # the last two are left out as menus are
    "main": MAIN,
    "navigation": NAV,
    "contentinfo": FOOTER,
    "banner": NAV,
    "complementary": NAV,
}

# Parsed hrefs, by the folder of the page: the pages of a folder repeat their menu and link each other.
_KNOWN: dict[tuple[str, str], Url] = {}
_MAX_KNOWN = 10_000  # about a kilobyte each


class Links:
    """The links of a document, in the order of their first occurrences.

    `menu` are the numbers of the anchors of links in menus and footers, `landmarks` the kinds of scopes by their attributes.
    """

    def __init__(self, document: Document, base: Url) -> None:
        self._document = document
        self._base = base
        self._folder = base.as_linked.partition("?")[0].rpartition("/")[0]
        self._by_href: dict[str, _Found | None] = {}  # or by the part before the fragment; None: no link
        self._by_url: dict[str, _Found] = {}
        self._skipped: list[tuple[str, str]] = []
        self._international: set[str] = set()  # hosts in other letters, and hrefs that have no valid one
        self._places = {-1: _IN_MAIN}  # by scope
        self._descriptions = _Descriptions(document.blocks, self._by_url)
        self.landmarks: dict[int, int] = {}
        self.menu: list[int] = []
        self._read()

    def _read(self) -> None:  # noqa: C901 - one loop: a call for each anchor costs more
        document, by_href, places, order = self._document, self._by_href, self._places, 0
        anchors = zip(document.nodes, document.labels, document.scopes, strict=True)
        for number, (node, label, scope) in enumerate(anchors):
            attributes = node.attributes
            href = attributes.get("href")
            if not href:
                attributes = _as_link(node, attributes)
                if not attributes:
                    continue
                href = attributes["href"] or ""
            if href[:1] == "#":
                if href not in by_href:
                    self._skip(href, _FRAGMENT_ONLY)
                continue
            link = by_href.get(href.partition("#")[0])
            if link is None or len(href) > MAX_CHARS:
                link = by_href[href] if href in by_href else self._add(href, order)
            if link is not None:
                order += 1
                if len(link.seen) < MAX_OCCURRENCES:
                    place = places.get(scope)
                    if place is None:
                        place = self._find_place(scope)
                    if place >= _IN_NAVIGATION:
                        self.menu.append(number)
                    text = fold(label, MAX_LABEL)
                    link.seen.append((text or _alternative(node, attributes), _POSITIONS[place]))
                    link.anchors.append((number, text, attributes))

    def group(self, page: Url) -> None:
        """Add to each occurrence how the page groups it."""
        placed = sorted(
            (number, link, place)
            for link in self._by_url.values()
            for place, (number, _, _) in enumerate(link.anchors)
        )
        anchors = [
            Anchor(self._document.nodes[number], link.url.text, link.seen[place][1])
            for number, link, place in placed
        ]
        groups = read_groups(anchors, self._document.titles(), page.text)
        self._descriptions.groups = {
            number: group for (number, _, _), group in zip(placed, groups, strict=True)
        }

    def merged(self) -> tuple[Link, ...]:
        """Return the links."""
        describe = self._descriptions.describe
        return tuple(
            [Link(link.url, partial(describe, link), link.order, link.seen) for link in self._by_url.values()]
        )

    def skipped(self, unread_bytes: int) -> tuple[tuple[str, str], ...]:
        """Return the hrefs that are no links, each with its rule, and what went over a limit."""
        skipped = self._skipped[:MAX_SKIPPED]
        if more := len(self._skipped) - len(skipped):
            skipped.append((f"{more} more", LIMIT))
        if unread_bytes:
            skipped.append((f"{unread_bytes} bytes of markup", LIMIT))
        return tuple(skipped)

    # --- where a link leads ---

    def _add(self, href: str, order: int) -> _Found | None:
        """Find the link that a new href belongs to, or skip the href (URL-9)."""
        stem = href.partition("#")[0]
        found = self._resolve(href, stem)
        if isinstance(found, Url):
            link = self._by_url.get(found.text)
            if link is None and len(self._by_url) < MAX_LINKS:
                link = self._by_url[found.text] = _Found(found, order, [], [])
            if link is not None:
                if stem[-1:] > " ":  # a space at the end counts, but only before a fragment
                    self._by_href[stem] = link
                return link
            found = LIMIT
        self._skip(href, found)
        return None

    def _skip(self, href: str, rule: str) -> None:
        self._by_href[href] = None
        self._skipped.append((href[:MAX_SKIPPED_HREF], rule))

    def _resolve(self, href: str, stem: str) -> Url | str:
        """Resolve an href, or return the rule that rejects it."""
        url = _KNOWN.get((self._folder, stem))
        if url is not None and len(href) <= MAX_CHARS:
            return url
        # Most hrefs show at once that they are neither empty nor a fragment nor of another scheme.
        if not href.startswith(_SURELY_A_PAGE) and (verdict := not_a_page(href)):
            return verdict.rule
        if len(self._international) >= MAX_INTERNATIONAL and _may_be_international(stem):
            return LIMIT
        try:
            url = Url.parse(href, self._base)
        except UrlError:
            if _may_be_international(stem):
                self._international.add(stem)
            return "unparsable"
        if "xn--" in url.host:
            self._international.add(url.host)
        if _needs_only_folder(stem):
            if len(_KNOWN) >= _MAX_KNOWN:
                _KNOWN.clear()
            _KNOWN[self._folder, stem] = url
        return url

    # --- where it stands ---

    def _find_place(self, scope: int) -> int:
        """Find where the links in a scope are; remembers it for all scopes around it."""
        around, places, path = self._document.around, self._places, []
        while (place := places.get(scope)) is None:
            path.append(scope)
            scope = around[scope][2]
        for inner in reversed(path):
            if place != _IN_FOOTER:
                node, kind, _ = around[inner]
                place, landmark = _inside(node, kind, place)
                if landmark:
                    self.landmarks[inner] = landmark
            places[inner] = place
        return place


class _Found(NamedTuple):
    """A link, and what was read of its anchors."""

    url: Url
    order: int
    seen: list[Seen]
    anchors: list[_FoundAnchor]


class _Descriptions:
    """Describes links when somebody asks for it, from the text of the page; it does not keep the tree."""

    def __init__(self, blocks: Blocks, found: dict[str, _Found]) -> None:
        self._blocks = blocks
        self._found = found
        self._in_long_blocks: dict[int, str] | None = None
        self.groups: dict[int, tuple[str, str]] = {}

    def describe(self, link: _Found) -> tuple[Occurrence, ...]:
        """Say all that the page says of a link."""
        return tuple(map(self._occurrence, link.seen, link.anchors))

    def _occurrence(self, seen: Seen, found: _FoundAnchor) -> Occurrence:
        (anchor, position), (number, text, attributes) = seen, found
        title, rel = attributes.get("title"), attributes.get("rel")
        menu, heading = self.groups.get(number, _NO_GROUP)
        return Occurrence(
            anchor,
            fold(title, MAX_LABEL) if title else "",
            fold(rel, MAX_LABEL).lower() if rel else "",
            position,
            self._context(number, text, position),
            menu,
            heading,
        )

    def _context(self, number: int, text: str, position: Position) -> str:
        """Return the text of the block around an anchor; of a long text the part around it."""
        if self._is_listed(number, position):
            return text
        line = self._short_line(number)
        if line is not None:
            return line
        if self._in_long_blocks is None:
            self._in_long_blocks = dict(self._search_long_blocks())
        return self._in_long_blocks[number]

    def _is_listed(self, number: int, position: Position) -> bool:
        """Tell whether a link shares its block with others in a menu or a footer: they are no context of it."""
        if position is Position.MAIN:
            return False
        numbers = self._blocks.numbers
        return numbers[number] in (*numbers[max(0, number - 1) : number], *numbers[number + 1 : number + 2])

    def _short_line(self, number: int) -> str | None:
        """Return the text of the block around an anchor if it is a short line."""
        text, first, last = self._blocks.around(number)
        return line if last == first + 1 and len(line := text.lines()[first]) <= CONTEXT else None

    def _search_long_blocks(self) -> Iterator[tuple[int, str]]:
        """Find the contexts of all anchors in long blocks, in document order: each is searched for after the one before."""
        anchors = sorted(
            (number, text, position)
            for link in self._found.values()
            for (number, text, _), (_, position) in zip(link.anchors, link.seen, strict=True)
        )
        searched: dict[Block, _BlockText] = {}
        left = _BLOCK_TEXT_FACTOR * self._blocks.size
        for number, anchor, position in anchors:
            if self._is_listed(number, position) or self._short_line(number) is not None:
                continue
            block = text, first, last = self._blocks.around(number)
            if block not in searched:
                whole = ""
                if left > 0:  # or blocks in blocks would cost more than the document
                    whole = " ".join(filter(None, text.lines()[first:last]))
                    left -= len(whole) + last - first
                searched[block] = _BlockText(whole)
            yield number, searched[block].around(anchor)


def _as_link(node: LexborNode, attributes: Attributes) -> Attributes:
    """Return the attributes of an anchor without an ordinary href as those of a link; empty if it is none."""
    if "href" in attributes or ("xlink:href" in attributes and node.tag_id not in AREA):
        return {**attributes, "href": attributes.get("xlink:href")}
    if node.tag == "frame" and (source := attributes.get("src")):
        return {"href": source, "title": attributes.get("title") or attributes.get("name"), "rel": FRAME}
    return {}


def _needs_only_folder(stem: str) -> bool:
    """Tell whether an href resolves alike on all pages of a folder: it has a path, and no scheme or a whole URL."""
    is_path = stem[:1].isalnum() or stem[:1] in ("/", ".")
    return is_path and stem[-1] > " " and (":" not in stem or stem.startswith(_ABSOLUTE))


def _may_be_international(stem: str) -> bool:
    return (not stem.isascii() or "%" in stem) and any(mark in stem for mark in (":", "//", "\\"))


def _inside(node: LexborNode, kind: int, place: int) -> tuple[int, int]:
    """Tell where links inside an element are, from the place of the element; a footer wins over a menu.

    Also tell which kind the element has by its attributes, where its own does not say.
    """
    attributes, landmark = node.attributes, OTHER
    if attributes:
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        named, landmark = _named(names[:_NAME_CHARS], (attributes.get("role") or "")[:_NAME_CHARS])
        place = max(place, named)
    if kind == FOOTER:
        return _IN_FOOTER, OTHER
    if kind == NAV or (kind == LIST and place == _IN_HEADER):
        return max(place, _IN_NAVIGATION), OTHER
    return (max(place, _IN_HEADER) if kind == HEADER else place), landmark


@lru_cache(maxsize=4096)
def _named(names: str, role: str) -> tuple[int, int]:
    """Tell where an element is, and its kind, by its class, its id and its role."""
    landmark, words = _ROLES.get(role.strip().lower(), OTHER), names.lower().split()
    if landmark == FOOTER or not FOOTER_NAMES.isdisjoint(words):
        return _IN_FOOTER, FOOTER
    is_menu = role.strip().lower() == "navigation" or not NAVIGATION_NAMES.isdisjoint(words)
    return _IN_NAVIGATION if is_menu else _IN_MAIN, landmark


class _BlockText:
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


def _alternative(node: LexborNode, attributes: Attributes) -> str:
    """Find a text for an anchor without text: that of an image, else that for screen readers."""
    label = attributes.get("aria-label")
    if node.tag_id in AREA:
        return fold(attributes.get("alt"), MAX_LABEL) or fold(label, MAX_LABEL)
    for inner in islice(node.traverse(), _MAX_ALTERNATIVE_NODES):
        tag = WITH_ALTERNATIVES.get(inner.tag_id)
        if tag:
            text = fold(inner.text() if tag == "title" else inner.attributes.get("alt"), MAX_LABEL)
            if text:
                return text
    return fold(label, MAX_LABEL)
