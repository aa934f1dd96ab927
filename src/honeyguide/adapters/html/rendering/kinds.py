"""What elements are to a renderer: their kinds, by tag. The end of an element is the negative number of its kind.

Must not know: how a page is walked, or written.
"""

from __future__ import annotations

from typing import Final

from honeyguide.adapters.html.walk import numbers_of

# A `NAMED_CONTENT` is a block whose name says so; what is `OUT` is not read.
(
    TEXT, LINKED_TEXT, BLOCK, SECTION, MAIN, ARTICLE, HEADER, FOOTER, ASIDE, NAV, HEADING, BULLETS, NUMBERS, ITEM, TERM,
    DEFINITION, QUOTE, PRE, TABLE, ROW, CELL, CAPTION, LINK, IMAGE, LINE_BREAK, RULE, STYLE, CODE, NAMED_CONTENT, OUT,
) = range(30)  # fmt: skip
_TAGS: Final = {
    OUT: "script style template noscript iframe noembed noframes head title button select textarea input datalist "
    "dialog object canvas audio video svg map annotation annotation-xml",
    BLOCK: "body p div address center details summary figure figcaption fieldset legend form hgroup dl search "
    "optgroup tbody thead tfoot",
    SECTION: "section",
    MAIN: "main",
    ARTICLE: "article",
    HEADER: "header",
    FOOTER: "footer",
    ASIDE: "aside",
    NAV: "nav",
    HEADING: "h1 h2 h3 h4 h5 h6",
    BULLETS: "ul menu dir",
    NUMBERS: "ol",
    ITEM: "li",
    TERM: "dt",
    DEFINITION: "dd",
    QUOTE: "blockquote",
    PRE: "pre listing xmp",
    TABLE: "table",
    ROW: "tr",
    CELL: "td th",
    CAPTION: "caption",
    LINK: "a",
    IMAGE: "img",
    LINE_BREAK: "br",
    RULE: "hr",
    STYLE: "embed",
    CODE: "kbd samp",
}
KINDS: Final = {number: kind for kind, tags in _TAGS.items() for number in numbers_of(tags)}
LEVELS: Final = {number: level for level in range(1, 7) for number in numbers_of(f"h{level}")}  # of headings
