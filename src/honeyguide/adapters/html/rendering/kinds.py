"""What elements are to a renderer: their kinds, by tag.

Must not know: how a page is walked, or written. Start reading at `Kind`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

from selectolax.lexbor import LexborHTMLParser

if TYPE_CHECKING:
    Attributes = dict[str, str | None]


class Kind(IntEnum):
    """What an element is to a renderer. The end of an element is the negative number of its kind."""

    TEXT = 0
    LINKED_TEXT = 1
    BLOCK = 2
    SECTION = 3
    MAIN = 4
    ARTICLE = 5
    HEADER = 6
    FOOTER = 7
    ASIDE = 8
    NAV = 9
    HEADING = 10
    BULLETS = 11
    NUMBERS = 12
    ITEM = 13
    TERM = 14
    DEFINITION = 15
    QUOTE = 16
    PRE = 17
    TABLE = 18
    ROW = 19
    CELL = 20
    CAPTION = 21
    LINK = 22
    IMAGE = 23
    LINE_BREAK = 24
    RULE = 25
    STYLE = 26
    CODE = 27
    NAMED_CONTENT = 28  # a block whose name says so
    OUT = 29


_TAGS: Final = {
    Kind.OUT: "script style template noscript iframe noembed noframes head title button select textarea input datalist "
    "dialog object canvas audio video svg map annotation annotation-xml",
    Kind.BLOCK: "body p div address center details summary figure figcaption fieldset legend form hgroup dl search "
    "optgroup tbody thead tfoot",
    Kind.SECTION: "section",
    Kind.MAIN: "main",
    Kind.ARTICLE: "article",
    Kind.HEADER: "header",
    Kind.FOOTER: "footer",
    Kind.ASIDE: "aside",
    Kind.NAV: "nav",
    Kind.HEADING: "h1 h2 h3 h4 h5 h6",
    Kind.BULLETS: "ul menu dir",
    Kind.NUMBERS: "ol",
    Kind.ITEM: "li",
    Kind.TERM: "dt",
    Kind.DEFINITION: "dd",
    Kind.QUOTE: "blockquote",
    Kind.PRE: "pre listing xmp",
    Kind.TABLE: "table",
    Kind.ROW: "tr",
    Kind.CELL: "td th",
    Kind.CAPTION: "caption",
    Kind.LINK: "a",
    Kind.IMAGE: "img",
    Kind.LINE_BREAK: "br",
    Kind.RULE: "hr",
    Kind.STYLE: "embed",
    Kind.CODE: "kbd samp",
}


def _kinds_by_number() -> tuple[dict[int, int], dict[int, str]]:
    """Ask the parser for its numbers of tags, which differ between versions."""
    document = LexborHTMLParser(b"")
    kinds, names = {}, {}
    for kind, tags in _TAGS.items():
        for tag in tags.split():
            number = document.create_node(tag).tag_id
            kinds[number], names[number] = int(kind), tag
    return kinds, names
