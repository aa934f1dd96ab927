"""How far markup can be read before elements nest too deeply.

Owns: a model of the elements that a parser has open. Must not know: links, pages. Start reading at `safe_length`.
Parsers search their open elements again and again, so hostile markup costs depth times tags. The model may have more
elements open than a parser, never noticeably fewer: an end tag closes an element here only if it does in every parser,
and where parsers may differ, such as on frames in a list of choices, reading ends.
Elements that never nest, `FLAT`, are not counted; `guards.py` makes sure that styling is among them. Bytes are UTF-8.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

WS = rb" \t\n\f\r"
ATTRIBUTE = (
    rb"[^%(ws)b/>][^%(ws)b/>=]*+(?:[%(ws)b]*+=[%(ws)b]*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^%(ws)b>]*+))?+"
    % {b"ws": WS}
)
ATTRIBUTES = re.compile(ATTRIBUTE)
_TOKEN = re.compile(
    rb"<(?:(!--(?:-?>)?)|(!\[CDATA\[)|([!?]|/(?![A-Za-z]))|(/?)([A-Za-z][^%b/>]*+)((?:[%b/]++|%b)*+))"
    % (WS, WS, ATTRIBUTE)
)
_END_OF_COMMENT = re.compile(rb"--!?>")
# The content of these is text to a parser.
RAW = {
    name: re.compile(rb"</%b[%b/>]" % (name, WS), re.IGNORECASE)
    for name in (b"script", b"style", b"textarea", b"title", b"xmp", b"iframe", b"noembed", b"noframes")
}
_IN_SCRIPT = re.compile(rb"<!--(-?>)?|(-->)|<(/?)script(?=[%b/>])" % WS, re.IGNORECASE)


# Elements that never nest by themselves: without content, closed by the next of their kind, or styling.
STYLING = frozenset({
    b"b", b"big", b"code", b"em", b"font", b"i", b"nobr", b"s", b"small", b"strike", b"strong", b"tt", b"u",
})  # fmt: skip
FLAT = STYLING | frozenset({
    b"area", b"base", b"br", b"col", b"embed", b"frame", b"hr", b"image", b"img", b"input", b"link", b"meta", b"param",
    b"source", b"track", b"wbr", b"basefont", b"bgsound", b"keygen", b"a", b"p", b"option", b"tr", b"td", b"th", b"thead",
    b"tbody", b"tfoot", b"colgroup", b"caption", b"html", b"head", b"body",
})  # fmt: skip
# Items end with the next of their kind, unless a block is between them: which of them does an item end?
ITEMS = {b"li": (b"li",), b"dt": (b"dt", b"dd"), b"dd": (b"dt", b"dd")}
_RUBY = frozenset({b"rb", b"rt", b"rp", b"rtc"})
# Drawings and formulas have rules of their own: everything nests, and a slash at the end of a tag closes it.
ROOTS = frozenset({b"svg", b"math"})
_POINTS = {  # where HTML begins again
    b"svg": frozenset({b"foreignobject", b"desc", b"title"}),
    b"math": frozenset({b"mi", b"mo", b"mn", b"ms", b"mtext"}),
}
_BREAK_OUT = STYLING | frozenset({
    b"blockquote", b"body", b"br", b"center", b"dd", b"div", b"dl", b"dt", b"embed", b"h1", b"h2", b"h3", b"h4", b"h5",
    b"h6", b"head", b"hr", b"img", b"li", b"listing", b"menu", b"meta", b"ol", b"p", b"pre", b"ruby", b"span", b"sub",
    b"table", b"ul", b"var",
}) - {b"font"}  # fmt: skip
_CELLS = frozenset({b"td", b"th", b"tr", b"tbody", b"thead", b"tfoot", b"caption", b"colgroup", b"col"})
# An end tag does not reach beyond one of these; and one of an ordinary element, such as span, not beyond a block.
_BORDERS = frozenset({b"table", b"object", b"applet", b"marquee", b"template", b"select", b"button"})
_BORDERS = _BORDERS.union(*_POINTS.values())
_BLOCKS = _BORDERS | frozenset({
    b"address", b"article", b"aside", b"blockquote", b"center", b"details", b"dialog", b"dir", b"div", b"dl", b"fieldset",
    b"figcaption", b"figure", b"footer", b"form", b"h1", b"h2", b"h3", b"h4", b"h5", b"h6", b"header",
    b"hgroup", b"listing", b"main", b"menu", b"nav", b"noscript", b"ol", b"plaintext", b"pre", b"search", b"section",
    b"summary", b"ul", *ITEMS,
})  # fmt: skip
# The blocks whose end tags reach over other blocks.
_REACHING = _BLOCKS - frozenset({b"noscript", b"plaintext"}).union(*_POINTS.values())
_LETS_ITEMS_END = frozenset({b"address", b"div"})


class Bounds(NamedTuple):
    """The limits of markup."""

    tags: int
    depth: int
    attributes: int  # of one tag


def safe_length(data: bytes, bounds: Bounds) -> int:
    """Return how many bytes can be read: all, or those before a tag that exceeds a limit or can be read two ways.

    >>> safe_length(b"<div><p><div></div></div>" + b"<i>" * 9, Bounds(99, 2, 9)), safe_length(b"<p><div><div><div>", Bounds(9, 1, 9))
    (52, 13)
    """
    path = _Path()
    at = tags = 0
    while token := _TOKEN.search(data, at):
        closing, name, attributes = token.group(4, 5, 6)
        at = token.end()
        tags += 1
        if tags > bounds.tags:
            return token.start()
        if name is None:
            at = _after_other(data, token, is_foreign=path.is_foreign)
        elif closing:
            path.close(name.lower())
        elif len(path.names) > bounds.depth or (
            len(attributes) > bounds.attributes and len(ATTRIBUTES.findall(attributes)) > bounds.attributes
        ):
            return token.start()
        else:
            name = name.lower()
            if path.is_doubtful(name, attributes):
                return token.start()
            if name in RAW and not path.is_foreign:
                at = _after_text(data, name, at)
            else:
                path.open(name, attributes)
    return len(data)


def _after_other(data: bytes, token: re.Match[bytes], *, is_foreign: bool) -> int:
    """Find the end of a comment, a declaration, or text in a drawing."""
    comment, cdata = token[1], token[2]
    if comment is not None:
        if comment.endswith(b">"):  # <!--> is a whole comment
            return token.end()
        end = _END_OF_COMMENT.search(data, token.end())
        return end.end() if end else len(data)
    mark = b"]]>" if cdata is not None and is_foreign else b">"
    found = data.find(mark, token.end())
    return found + len(mark) if found >= 0 else len(data)


def _after_text(data: bytes, name: bytes, at: int) -> int:
    """Find the end tag of an element whose content is text."""
    if name != b"script":
        end = RAW[name].search(data, at)
        return end.start() if end else len(data)
    level = 0  # a script in a comment in a script does not end it
    for found in _IN_SCRIPT.finditer(data, at):
        whole, end_of_comment, slash = found.groups()
        if end_of_comment:
            level = 0
        elif slash is None:
            level = level if whole else max(level, 1)
        elif not slash:
            level = 2 if level else 0
        elif level < 2:
            return found.start()
        else:
            level = 1
    return len(data)


class _Path:
    """The elements that are open, from the outside in."""

    def __init__(self) -> None:
        self.names: list[bytes] = []
        self._places: dict[bytes, list[int]] = {}
        self._blocks: list[int] = []
        self._stops: list[int] = []  # the blocks beyond which no item ends
        self._borders: list[int] = []
        self._roots: list[int] = []
        self._points: list[int] = []

    @property
    def is_foreign(self) -> bool:
        """Whether the next tag belongs to a drawing or a formula."""
        return bool(self._roots) and (not self._points or self._roots[-1] > self._points[-1])

    def is_doubtful(self, name: bytes, attributes: bytes) -> bool:
        """Tell whether parsers may differ on what a start tag does here."""
        if name in RAW:
            return bool(self._places.get(b"select")) and not self.is_foreign
        if name in _RUBY:  # these end an item, if there is a ruby around it
            ruby = self._last(b"ruby")
            return ruby >= 0 and any(self._last(item) > ruby for item in ITEMS)
        if name == b"sup":
            return self.is_foreign
        if name == b"svg":
            return self._last(b"annotation-xml") >= 0
        return name == b"frameset" or (name == b"annotation-xml" and b"html" in attributes.lower())

    def _last(self, name: bytes) -> int:
        places = self._places.get(name)
        return places[-1] if places else -1

    def open(self, name: bytes, attributes: bytes) -> None:
        """Read a start tag."""
        is_foreign = self.is_foreign
        if is_foreign and name in _BREAK_OUT:
            self._break_out()
            is_foreign = False
        if is_foreign or name in ROOTS:
            if attributes.endswith(b"/") and ATTRIBUTES.sub(b"", attributes).endswith(b"/"):
                return
            if not is_foreign:
                self._roots.append(len(self.names))
            elif name in _POINTS[self.names[self._roots[-1]]]:
                self._points.append(len(self.names))
            self._push(name)
        elif name not in FLAT:
            if name in ITEMS:
                self._end_item(name)
            self._push(name)
        elif name in _CELLS and self._borders and self._borders[-1] == (table := self._last(b"table")):
            self._cut(table + 1)  # a cell ends with the next one, and what is in it as well

    def _end_item(self, name: bytes) -> None:
        at = max(map(self._last, ITEMS[name]))
        if at >= 0 and (not self._stops or self._stops[-1] <= at):
            self._cut(at)

    def close(self, name: bytes) -> None:
        """Read an end tag: it closes the last element of its name, and all inside it, if no border is between."""
        if name in (b"br", b"p") and self.is_foreign:
            self._break_out()
        at = self._last(name)
        if at < 0:
            return
        walls = self._stops if name in ITEMS else self._borders if name in _REACHING else self._blocks
        if walls and walls[-1] > at:
            return
        if name == b"form" and at != len(self.names) - 1:
            return  # a form ends, but not the elements inside it
        self._cut(at)

    def _break_out(self) -> None:
        """End the drawing or formula."""
        after = self._points[-1] if self._points else -1
        self._cut(self._roots[bisect_left(self._roots, after)])

    def _push(self, name: bytes) -> None:
        at = len(self.names)
        self.names.append(name)
        self._places.setdefault(name, []).append(at)
        if name in _BLOCKS:
            self._blocks.append(at)
            if name not in _LETS_ITEMS_END:
                self._stops.append(at)
        if name in _BORDERS:
            self._borders.append(at)

    def _cut(self, at: int) -> None:
        for name in self.names[at:]:
            self._places[name].pop()
        del self.names[at:]
        for places in (self._blocks, self._stops, self._borders, self._roots, self._points):
            while places and places[-1] >= at:
                places.pop()
