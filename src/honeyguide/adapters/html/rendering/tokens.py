"""A document as a flat list of tokens: what a renderer writes, in order, without menus, footers and hidden parts.

Owns: which elements are content and which are left out (landmarks, controls, cookie banners, permalinks). Must not know: how
tokens are written, which part of the page is the main one. Start reading at `ContentTree.tokens`.

One walk without recursion. An element is left out when it begins, or, if only its links tell, when it ends: then its tokens
are removed again.
"""

from __future__ import annotations

import re
from collections.abc import Callable  # noqa: TC003 - the type of a table at run time
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from honeyguide.adapters.html.rendering import kinds
from honeyguide.adapters.html.walk import FOOTER_NAMES, NAVIGATION_NAMES, TEXT

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from honeyguide.adapters.html.rendering.writer import Written

    Attributes = dict[str, str | None]

MAX_TOKENS = 400_000  # of a page; further elements are not read
_WEAK_LINK_SHARE = 0.4  # of the characters of a part with a weak name: from here on it is a menu
_MAX_TITLES = 50  # headings of the first level that are looked at
_NAME_CHARS = 300  # of class and id are read


# Elements whose attributes say what they are.
_NAMED: Final = frozenset({
    kinds.BLOCK, kinds.SECTION, kinds.MAIN, kinds.ARTICLE, kinds.HEADER, kinds.FOOTER, kinds.ASIDE, kinds.BULLETS, kinds.NUMBERS,
    kinds.TABLE, kinds.PRE, kinds.CELL, kinds.TERM, kinds.LINK, kinds.IMAGE, kinds.STYLE,
})  # fmt: skip
_CONTENT_NAMES = frozenset({
    "content", "main-content", "maincontent", "page-content", "entry-content", "post-content", "article-content", "body",
    "article-body", "document", "post-body", "main", "site-content", "contents", "markdown-body",
})  # fmt: skip
_OUT_NAMES = NAVIGATION_NAMES | FOOTER_NAMES | frozenset({
    "navheader", "navfooter", "nav-header", "nav-footer", "pagination", "pager", "skip-link", "skiplink", "skip-to-content",
    "cookie-banner", "cookie-notice", "cookie-consent", "cookie-bar", "cookiebar", "cookie-popup", "cookies", "gdpr",
    "cookie-law-info-bar", "onetrust-consent-sdk", "cybotcookiebotdialog", "linenos", "lineno", "linenodiv", "line-numbers",
    "gutter", "headerlink", "header-anchor", "anchor-link", "anchorjs-link", "permalink", "headeranchor", "sr-only",
    "screen-reader-text", "visually-hidden", "editsection", "mw-editsection", "modal",
})  # fmt: skip
_WEAK_NAMES = frozenset({
    "sidebar", "side-bar", "sphinxsidebar", "related", "related-posts", "share", "sharing", "social", "social-links",
    "social-media",
})  # fmt: skip
_PERMALINKS = frozenset({"¶", "#", "§", "🔗", "∞", "[link]", "link", ""})
_HIDING = re.compile(rb"hidden|display: ?none", re.IGNORECASE)
_HIDDEN = '[hidden],[aria-hidden="true"],[style*="display:none"],[style*="display: none"]'
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight|source|brush)[-:]\s?([\w+#-]{1,30})")
_NO_LANGUAGES = frozenset({"none", "default", "text", "notranslate", "highlight", "source"})
_SCOPES: Final = frozenset({kinds.SECTION, kinds.MAIN, kinds.ARTICLE})
_BOXES: Final = frozenset({kinds.MAIN, kinds.ARTICLE, kinds.NAMED_CONTENT})
_VOID: Final = frozenset({kinds.IMAGE, kinds.LINE_BREAK, kinds.RULE, kinds.STYLE})
_NO_LINES: Final = frozenset({  # in a cell
    kinds.PRE, kinds.BULLETS, kinds.NUMBERS, kinds.HEADING, kinds.QUOTE, kinds.TERM, kinds.TABLE,
})  # fmt: skip
_KEEP, _OUT_NAME, _WEAK, _MAIN, _CONTENT = range(5)
_KIND_BY_NAME: Final[dict[tuple[int, int], int]] = {
    (_CONTENT, kinds.BLOCK): kinds.NAMED_CONTENT,
    (_CONTENT, kinds.SECTION): kinds.NAMED_CONTENT,
    **{(_MAIN, kind): kinds.MAIN for kind in (kinds.BLOCK, kinds.SECTION, kinds.ARTICLE)},
}
_NOWHERE = (0, 0, 0, 0)
_ROLES: Final = {
    **dict.fromkeys(
        ["navigation", "banner", "contentinfo", "search", "dialog", "alertdialog", "menu", "menubar"],
        _OUT_NAME,
    ),
    "complementary": _WEAK,
    "main": _MAIN,
}


class Box(NamedTuple):
    """An element that may be the main part: its tokens, and how many characters of text it has."""

    kind: int
    first: int
    last: int  # the token after its end
    chars: int


@dataclass(slots=True)
class Tokens:
    """The tokens of a page, in order: `kinds` and `values` belong together."""

    kinds: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)  # what a value is depends on the kind: see `_VALUES`
    boxes: list[Box] = field(default_factory=list)
    chars: int = 0


@dataclass(slots=True)
class TableToken:
    """A table."""

    is_layout: bool = False  # its cells hold more than lines of text


class ContentTree:
    """A parsed page; it can be read twice, with and without the names of its elements."""

    def __init__(self, markup: bytes) -> None:
        """Parse markup that `bound_size` and `mark_styling` have made safe."""
        self._tree = LexborHTMLParser(markup, options=LexborDocumentOptions.WO_EVENTS)
        self._hidden: set[int] = set()
        if _HIDING.search(markup):
            # A hidden body is a page that waits for its scripts.
            self._hidden = {node.mem_id for node in self._tree.css(_HIDDEN) if node.tag != "body"}

    def base(self) -> str | None:
        """Return what hrefs are relative to, as the page says; None if it does not."""
        base = self._tree.css_first("base[href]")
        return None if base is None else (base.attributes.get("href") or "").strip() or None

    def title(self, written: Written) -> str:
        """Return the heading that names the page, if it was not written: the only h1, or the one that is most of the title."""
        found = [" ".join(node.text().split()) for node in self._tree.css("h1")[:_MAX_TITLES]]
        if len(found) == 1:
            return "" if written.has_title else found[0]
        node = self._tree.css_first("title")
        named = "" if node is None else " ".join(node.text().split())
        fits = (text for text in found if named.startswith(text) and len(text) >= len(named) / 2 > 0)
        title = next(fits, "")
        return "" if title in written.headings else title

    def tokens(self, *, use_names: bool) -> Tokens:
        """Read the page; `use_names` leaves out what class and id call a menu or a footer."""
        walk = _Walk(self._hidden, use_names=use_names)
        if self._tree.body is not None:
            walk.run(self._tree.body)
        return walk.tokens


class _Walk:
    """One walk through the body of a page."""

    def __init__(self, hidden: set[int], *, use_names: bool) -> None:
        self.tokens = Tokens()
        self._hidden = hidden
        self._use_names = use_names
        self._linked = 0  # characters in links so far
        self._scopes = 0  # open main, article and section elements
        self._mains = 0  # open main and article elements
        self._tables: list[TableToken] = []

    def run(self, body: LexborNode) -> None:  # noqa: C901, PLR0912 - one loop: a call for each node costs more
        """Walk through all elements below the body."""
        tokens = self.tokens
        add_kind, add_value = tokens.kinds.append, tokens.values.append
        kind_of, text, link, hidden = kinds.KINDS.get, TEXT, kinds.LINK, self._hidden
        links = 0
        path: list[tuple[LexborNode, int, tuple[int, int, int, int], bool]] = []
        node: LexborNode | None = body.first_child
        while node is not None:
            tag = node.tag_id
            child = None
            if tag == text:
                content = node.text_content or ""
                size = len(content.strip())
                tokens.chars += size
                if links:
                    self._linked += size
                add_kind(1 if links else 0)
                add_value(content)
            elif len(tokens.kinds) < MAX_TOKENS and not (hidden and node.mem_id in hidden):
                kind = kind_of(tag, -1)
                if kind == -1:
                    child = node.first_child
                    if child is not None:
                        path.append((node, 0, _NOWHERE, False))
                else:
                    mark = (len(tokens.kinds), tokens.chars, self._linked, len(tokens.boxes))
                    is_kept, is_weak, kind = self._begin(node, tag, kind)
                    if is_kept:
                        child = node.first_child
                        if child is None:
                            self._end(kind, mark, is_weak=is_weak)
                        else:
                            links += kind == link
                            path.append((node, kind, mark, is_weak))
            if child is not None:
                node = child
                continue
            while (following := node.next) is None and path:
                node, kind, mark, is_weak = path.pop()
                if kind:
                    links -= kind == link
                    self._end(kind, mark, is_weak=is_weak)
            node = following

    def _begin(self, node: LexborNode, tag: int, kind: int) -> tuple[bool, bool, int]:
        """Add the token of an element, unless it is left out; also tell whether its links decide at its end."""
        if kind in (kinds.OUT, kinds.NAV):
            return False, False, kind
        value: Any = kinds.LEVELS.get(tag)
        named = _KEEP
        if kind in _NAMED:
            attributes = node.attributes
            named = self._name(kind, attributes)
            if named == _OUT_NAME:
                return False, False, kind
            kind = _KIND_BY_NAME.get((named, kind), kind)
            value = _VALUES[kind](node, attributes) if kind in _VALUES else None
        if kind in _SCOPES:
            self._scopes += 1
            self._mains += kind != kinds.SECTION
        elif kind == kinds.TABLE or self._tables:
            self._note_table(kind, value)
        self.tokens.kinds.append(kind)
        self.tokens.values.append(value)
        return True, named == _WEAK, kind

    def _note_table(self, kind: int, value: Any) -> None:
        """Note that a table begins, or what the cells of the open one hold."""
        if kind in _NO_LINES and self._tables:
            self._tables[-1].is_layout = True
        if kind == kinds.TABLE:
            self._tables.append(value)

    def _name(self, kind: int, attributes: Attributes) -> int:
        """Tell what an element is by its tag, its role and its names."""
        if kind == kinds.HEADER:
            if not self._scopes:
                return _OUT_NAME
        elif kind in (kinds.FOOTER, kinds.ASIDE):
            return _WEAK if self._mains else _OUT_NAME
        if not self._use_names or not attributes:
            return _KEEP
        classes, identity, role = (
            (attributes.get(name) or "")[:_NAME_CHARS] for name in ("class", "id", "role")
        )
        return _named(classes, identity, role)

    def _end(self, kind: int, mark: tuple[int, int, int, int], *, is_weak: bool) -> None:
        """End an element: remove it if its links tell that it is a menu."""
        tokens = self.tokens
        first, chars_before, linked_before, boxes_before = mark
        chars = tokens.chars - chars_before
        if kind in _SCOPES:
            self._scopes -= 1
            self._mains -= kind != kinds.SECTION
        elif kind == kinds.TABLE:
            self._tables.pop()
        if (is_weak and self._linked - linked_before >= _WEAK_LINK_SHARE * chars) or (
            kind == kinds.LINK and self._is_permalink(first)
        ):
            del tokens.kinds[first:], tokens.values[first:], tokens.boxes[boxes_before:]
            tokens.chars, self._linked = chars_before, linked_before
            return
        if kind in _VOID:
            return
        tokens.kinds.append(-kind)
        tokens.values.append(None)
        if kind in _BOXES:
            tokens.boxes.append(Box(kind, first, len(tokens.kinds), chars))

    def _is_permalink(self, first: int) -> bool:
        """Tell whether a link that just ended is the mark beside a heading."""
        href, *inside = self.tokens.values[first : first + 3]
        return href.startswith("#") and len(inside) == 1 and str(inside[0]).strip() in _PERMALINKS


def _language(node: LexborNode, attributes: Attributes) -> str:
    """Find the language of a listing in its attributes, those of what is in it, or of three elements around it."""
    inside = node.first_child
    found = _language_in(inside.attributes) if inside is not None and inside.tag_id != TEXT else ""
    found = found or _language_in(attributes)
    around = node.parent
    for _ in range(3):
        if found or around is None:
            break
        found = _language_in(around.attributes)
        around = around.parent
    return found


def _language_in(attributes: Attributes) -> str:
    named = f"{attributes.get('class') or ''} {attributes.get('data-lang') and 'language-' + str(attributes['data-lang'])}"
    found = _LANGUAGE.search(named[:_NAME_CHARS])
    name = found[1].lower() if found else ""
    return "" if name in _NO_LANGUAGES else name


def _number(text: str | None, default: int, most: int) -> int:
    return min(int(text), most) if text and text.isascii() and text.isdigit() and len(text) < 10 else default


_VALUES: Final[dict[int, Callable[[LexborNode, Attributes], Any]]] = {
    kinds.LINK: lambda _, attributes: (attributes.get("href") or "").strip(),
    kinds.IMAGE: lambda _, attributes: (attributes.get("alt") or "", attributes.get("src") or ""),
    kinds.PRE: _language,
    kinds.CELL: lambda node, attributes: (
        _number(attributes.get("colspan"), 1, 200),
        _number(attributes.get("rowspan"), 1, 1000),
        node.tag == "th",
    ),
    kinds.TABLE: lambda *_: TableToken(),
    kinds.TERM: lambda _, attributes: "sig" in (attributes.get("class") or "").split(),
    kinds.NUMBERS: lambda _, attributes: _number(attributes.get("start"), 1, 999_999_999),
    kinds.STYLE: lambda _, attributes: (attributes.get("on") or "", attributes.get("off") or ""),
}


@lru_cache(maxsize=4096)
def _named(classes: str, identity: str, role: str) -> int:
    """Tell what an element is by its class, its id and its role; whole names only."""
    by_role = _ROLES.get(role.strip().lower(), _KEEP)
    if by_role:
        return by_role
    words = {*classes.lower().split(), identity.strip().lower()}
    if not _OUT_NAMES.isdisjoint(words):
        return _OUT_NAME
    if not _WEAK_NAMES.isdisjoint(words):
        return _WEAK
    return _KEEP if _CONTENT_NAMES.isdisjoint(words) else _CONTENT
