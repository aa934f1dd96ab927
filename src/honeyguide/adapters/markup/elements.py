"""What each element of HTML means to a reader: block, styling, landmark, nothing.

Owns: the kinds of elements, by the parser's numbers for them, and where the links inside an element stand.
Must not know: how a document is walked (`walk.py`), links. Start reading at `OTHER` and the kinds after it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from selectolax.lexbor import LexborHTMLParser

from honeyguide.core.page import Position

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_NAME_CHARS = 300  # characters of class and id that are looked at

# Class and id names that say "menu" or "footer" where the element does not. Whole names only: `bg-navy` is a colour, and
# a `card-footer` is no footer of the page.
NAVIGATION_NAMES = frozenset({
    "nav", "navbar", "navbar-nav", "navigation", "main-nav", "site-nav", "nav-menu", "mobile-nav", "menu", "main-menu",
    "mobile-menu", "dropdown-menu", "sidemenu", "site-header", "masthead", "topbar", "breadcrumb", "breadcrumbs",
})  # fmt: skip
FOOTER_NAMES = frozenset({"footer", "site-footer", "page-footer", "main-footer", "colophon"})

# The kinds of elements. Up to `TOLD` they are part of a line, and perhaps a landmark; up to `IGNORED` nobody sees what is
# in them. From `BREAK` on they end the line that they stand in; from `CONTAINER` on they may be a menu or a footer. From
# `BOX` on they tell where the main text is: up to `HEADER` only near the top of the tree, then everywhere. What is not
# named here, or unknown to the parser, is `OTHER`.
(
    OTHER,
    ANCHOR,
    TOLD,
    SCRIPT,
    TITLE,
    IGNORED,
    BREAK,
    BLOCK,
    H1,
    H2,
    CONTAINER,
    LIST,
    BOX,
    SECTION,
    HEADER,
    NAV,
    FOOTER,
    ASIDE,
    MAIN,
    ARTICLE,
) = range(20)
_NAMES: Final = {
    ANCHOR: "a area",
    TOLD: "base meta link",
    SCRIPT: "script style",
    TITLE: "title",
    IGNORED: "head template noscript iframe noembed noframes datalist desc",
    BREAK: "br hr",
    BLOCK: "html body blockquote button caption center dd details dialog dt fieldset figcaption figure h3 h4 h5 h6 hgroup "
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
LEVELS: Final = {H1: 1, H2: 2}

# Where an element stands; the greater wins. The header is main, but lists in it are menus.
IN_MAIN, IN_HEADER, IN_NAVIGATION, IN_FOOTER = range(4)
LANDMARK = 4
_ROLES: Final = {
    "main": MAIN,
    "navigation": NAV,
    "banner": NAV,
    "complementary": NAV,
}  # those two are out as menus are
POSITIONS: Final = (Position.MAIN, Position.MAIN, Position.NAVIGATION, Position.FOOTER)


def _numbers(names: str) -> set[int]:
    """Ask the parser for its numbers of tags, which differ between versions; a tag it does not know has an address."""
    document = LexborHTMLParser(b"")
    return {number for name in names.split() if (number := document.create_node(name).tag_id) < 1 << 16}


KINDS: Final = {number: kind for kind, names in _NAMES.items() for number in _numbers(names)}
TEXT_NUMBER: Final = next(
    node.tag_id for node in LexborHTMLParser(b"text").css("body")[0].iter(include_text=True)
)
NO_STYLING: Final = frozenset({*KINDS, TEXT_NUMBER})
AREA: Final = _numbers("area")
IMAGES: Final = {
    number: name for name in ("img", "input", "title") for number in _numbers(name)
}  # with their alternatives


def inside(node: LexborNode, kind: int, where: int) -> int:
    """Tell where links inside an element stand, given where the element stands. A footer wins over a menu.

    From `LANDMARK` on, it also tells that the element says by its attributes what it is: times so many.
    """
    attributes, landmark = node.attributes, 0
    if attributes:
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        named = _named(names[:_NAME_CHARS], (attributes.get("role") or "")[:_NAME_CHARS])
        if named >= LANDMARK:
            landmark, named = named - named % LANDMARK, named % LANDMARK
        where = max(where, named)
    if kind == FOOTER:
        return IN_FOOTER
    if kind == NAV or (kind == LIST and where == IN_HEADER):
        return max(where, IN_NAVIGATION)
    return landmark + (max(where, IN_HEADER) if kind == HEADER else where)


@lru_cache(maxsize=4096)
def _named(names: str, role: str) -> int:
    """Tell what an element says it is by its class and id, and by its role."""
    role, words = role.strip().lower(), names.lower().split()
    landmark = LANDMARK * _ROLES.get(role, OTHER)
    if role == "contentinfo" or not FOOTER_NAMES.isdisjoint(words):
        return LANDMARK * FOOTER + IN_FOOTER
    if role == "navigation" or not NAVIGATION_NAMES.isdisjoint(words):
        return landmark + IN_NAVIGATION
    return landmark + IN_MAIN
