"""Markup that is safe to parse.

Owns: the limits of markup, and the shapes of markup that cost a parser more than their size. HTML's rules for broken markup
let a few kilobytes of unclosed `<font>` become millions of elements, and deep nesting or a tag with very many attributes
takes quadratic time. Must not know: links, pages, the parser's interface. Start reading at `bound_markup`. Bytes are UTF-8.

A small document is only checked for styling; a large one is checked closely, and cut where it is suspicious. Of 75,000 real
pages two were cut that need not be. The check costs less than parsing.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import filterfalse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


MAX_BYTES = 10 * 1024 * 1024  # of a document; real pages are under 1 MB
MAX_TAGS = 250_000  # of a document, start and end; about 9 MB of ordinary markup
MAX_DEPTH = 2_000  # of elements; a document that may have more is cut after `MANY_TAGS`. Browsers stop at 512
MAX_ATTRIBUTES = 256  # of one tag in a large document
LARGE_BYTES = 128 * 1024  # under this, the worst styling and attributes cost less than a second
MANY_TAGS = 20_000  # under this, the worst nesting costs half a second
SMALL_BYTES = 8 * 1024  # under this, not even styling can do harm
MAX_COPIES = 250_000  # elements that a parser may have to create for unclosed styling

_WS = rb" \t\n\f\r"
_ATTRIBUTE = (
    rb"[^%(ws)b/>][^%(ws)b/>=]*+(?:[%(ws)b]*+=[%(ws)b]*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^%(ws)b>]*+))?+"
    % {b"ws": _WS}
)
# Elements that never nest by themselves: styling, without content, or closed by the next of their kind.
_FLAT = frozenset({
    b"b", b"big", b"code", b"em", b"font", b"i", b"nobr", b"s", b"small", b"strike", b"strong", b"tt", b"u", b"area", b"base",
    b"br", b"col", b"embed", b"frame", b"hr", b"image", b"img", b"input", b"link", b"meta", b"param", b"source", b"track",
    b"wbr", b"basefont", b"bgsound", b"keygen", b"a", b"p", b"option", b"tr", b"td", b"th", b"thead", b"tbody", b"tfoot",
    b"colgroup", b"caption", b"html", b"head", b"body",
})  # fmt: skip
_ITEMS = frozenset({b"li", b"dt", b"dd"})  # end with the next of their kind, unless a block is between them
_RAW = (
    b"script",
    b"style",
    b"textarea",
    b"title",
    b"xmp",
    b"iframe",
    b"noembed",
    b"noframes",
)  # content is text
_ROOTS = frozenset({b"svg", b"math"})  # in drawings and formulas everything nests
_SPECIAL = _ROOTS | {b"select"}  # where other rules hold
_SHAPES = frozenset(b"circle defs ellipse g line lineargradient path polygon polyline rect stop use".split())
# Parsers may differ on what these close.
_DOUBTFUL = frozenset({b"frameset", b"rb", b"rt", b"rp", b"rtc", b"annotation-xml"})

# Whatever comes before it, no tag continues after a quotation mark that begins no value and the `>` behind it ...
_SURE_END = rb"\">(?<=[^=%b]\">)" % _WS
_NEXT_SURE_END = re.compile(_SURE_END)
# ... except where both may stand in a value of the other kind.
_OTHER_VALUE = re.compile(rb"'(?:(?<==')|(?<=[=%b][%b]'))[^'\"]*+(?:\"(?!>)[^'\"]*+)*+\">[^']*+" % (_WS, _WS))
_SHORT = 2 * MAX_ATTRIBUTES  # bytes: each attribute takes two at least
_SHORT_PARTS = re.compile(rb"(?s:.{0,%d}%b)*+" % (_SHORT - 2, _SURE_END))
_LOOKS = 4  # how often a byte is read, on average; `<a<a<a` is a tag at each `<`

# Elements whose styling a parser carries over into every following block (the standard's formatting elements) and which
# hold nothing that we read. Both cases are spelled out, which is three times as fast as ignoring case. The first two
# letters tell most other tags apart at once, `span` among them.
_STYLE = (
    rb"(?=[bBcCeEfFiInNsStTuU][iImMoOtT%b/>])"
    rb"(?:[cC][oO][dD][eE]|[eE][mM]|[sS](?:[tT][rR](?:[oO][nN][gG]|[iI][kK][eE])|[mM][aA][lL]{2})?+|[bB](?:[iI][gG])?+"
    rb"|[iIuU]|[fF][oO][nN][tT]|[tT]{2}|[nN][oO][bB][rR])(?=([%b/>]))"
) % (_WS, _WS)
_STYLE_START = re.compile(b"<" + _STYLE)
_STYLE_END = re.compile(b"</" + _STYLE)

# The names of all tags: what is in comments, values and raw text has none. Letters are
# small here. Usual attributes come first, and a `span` with nothing but text is left out as a whole: both are faster.
_USUAL_ATTRIBUTES = rb"(?: [a-z]++=\"[^\"]*+\")*+"
_ATTRIBUTES = rb"(?:[%b/]++|%b)*+" % (_WS, _ATTRIBUTE)
_NAMES = re.compile(
    rb"<(?:span%b>[^<]*+</span>|%b|(/?[a-z][^%b/>]*+)(?:>|%b(?:>|%b))"
    rb"|!--(?:-?>|(?:[^-]++|-(?!-!?>))*+)|(?:[!?]|/(?![a-z]))[^>]*+)"
    % (
        _USUAL_ATTRIBUTES,
        b"|".join(
            rb"%b(?=[%b/>])%b(?:[^<]++|<(?!/%b[%b/>]))*+" % (name, _WS, _ATTRIBUTES, name, _WS)
            for name in _RAW
        ),
        _WS,
        _USUAL_ATTRIBUTES,
        _ATTRIBUTES,
    )
)
_UNCOUNTED = _FLAT.union((b"/%b" % name for name in _FLAT), [b""])  # outside of drawings and choices
# No script in a comment: it may go on after what looks like its end.
_PLAIN_SCRIPTS = re.compile(
    rb"(?:[^<]++|<(?!!--)|<!--(?:[^-<]++|-(?!->)|<(?![sS][cC][rR][iI][pP][tT]))*+(?!<))*+"
)

# Words with a colour of their own. Only in this form, which is how programs write it: an attribute more may mean more.
_COLOUR = rb'(?: class="[^"<>]*+")?+>'
_COLOURED = re.compile(
    rb"<(?:span%b([^<]*+)</span>|code%b(?:<span%b([^<]*+)</span>|([^<]*+))</code>)"
    % (_COLOUR, _COLOUR, _COLOUR)
)

_COLOURED_SPAN = re.compile(rb"<span%b([^<]*+)</span>" % _COLOUR)
_LINE_NUMBER = re.compile(rb'<span class="(?:linenos?|line-numbers?|lineno-[^"<>]*)"[^<>]*>[^<]*+</span>')

_XML = re.compile(rb"\s*<(?:\?xml\s|(?:rss|feed|urlset|sitemapindex|rdf:rdf)[\s>])", re.IGNORECASE)
_XHTML = re.compile(rb"<(?:!doctype\s+)?html[\s/>]", re.IGNORECASE)
_HTML = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|header|nav|main|section|article|form|table|div|span"
    rb"|ul|ol|li|p|a|b|br|img|h[1-6]|font|center)[\s/>]",
    re.IGNORECASE,
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_SLASH = ord("/")
_LOOK_BYTES = 2048  # where a document shows what it is


def is_page(data: bytes) -> bool:
    r"""Tell whether bytes can be an HTML page at all, and not XML of another kind, an image, an archive.

    >>> is_page(b"<p>Hello"), is_page(b"<?xml version='1.0'?><rss>"), is_page(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (True, False, False)
    """
    start = data[:_LOOK_BYTES]
    if _XML.match(start):
        return bool(_XHTML.search(start))
    return not _CONTROL.search(start) or bool(_HTML.search(start))


def strip_highlighting(data: bytes) -> bytes:
    """Remove the elements around single words of code listings, because parsing thousands of them costs more.

    They hold only text: a reader sees the same, and no link is lost.

    >>> strip_highlighting(b'<pre><span class="k">def</span> <code><span class="n">run</span></code><span id=x>()</span>')
    b'<pre>def run<span id=x>()</span>'
    """
    return b"".join(filter(None, _COLOURED.split(data)))


def bound_markup(data: bytes) -> tuple[bytes, int]:
    """Return markup that parses in time and space in proportion to its size, and the number of bytes left out.

    >>> markup, unread_bytes = bound_markup(b"<div>" * 100_000)
    >>> len(markup), unread_bytes
    (100000, 400000)
    """
    if len(data) <= SMALL_BYTES:
        return data, 0
    kept = bound_size(data)
    copies = MAX_COPIES if len(data) <= LARGE_BYTES and kept is data else 0
    return _plain(kept, copies), len(data) - len(kept)


def bound_size(data: bytes) -> bytes:
    """Cut a document where its size, its depth or its attributes exceed a limit; `mark_styling` is for the rest."""
    has_many_tags = len(data) > 3 * MANY_TAGS and data.count(b"<") > MANY_TAGS  # `<b>` is shortest
    return _cut(data) if len(data) > LARGE_BYTES or has_many_tags else data


def mark_styling(data: bytes) -> bytes:
    """Replace every styling tag by an empty element that says what begins or ends there, so that nothing nests or is copied.

    >>> mark_styling(b'<p>Run <code class="x">ls</code> <span class="k">now</span>')
    b'<p>Run <embed on=code class="x">ls<embed off=code> now'
    """
    if b"line" in data:
        data = _LINE_NUMBER.sub(b"", data)
    data = b"".join(filter(None, _COLOURED_SPAN.split(data)))
    data = _STYLE_START.sub(_mark_start, data)
    return _STYLE_END.sub(_mark_end, data)


def _mark_start(tag: re.Match[bytes]) -> bytes:
    return b"<embed on=" + tag[0][1:].lower()


def _mark_end(tag: re.Match[bytes]) -> bytes:
    return b"<embed off=" + tag[0][2:].lower()


def _cut(data: bytes) -> bytes:
    """Cut a large document where it exceeds a limit, or may do so."""
    kept = _first_tags(data[:MAX_BYTES], MAX_TAGS)
    if kept.count(b"<") > MANY_TAGS and not _is_shallow(kept):
        kept = _first_tags(kept, MANY_TAGS)
    return kept[: _few_attributes(kept)]


def _first_tags(data: bytes, most: int) -> bytes:
    parts = data.split(b"<", most + 1)
    return data[: -1 - len(parts[-1])] if len(parts) > most + 1 else data


def _plain(data: bytes, copies: int = 0) -> bytes:
    """Replace all styling by `embed` if it could make for too many copies.

    Parsers neither nest `embed` nor carry it over, it holds nothing that we read, and it may stand wherever styling may.
    """
    # Each one with attributes may be copied after each other tag: at most the square of half the tags.
    tags = data.count(b"<")
    if tags * tags <= 4 * copies:
        return data
    pieces = _STYLE_START.split(data)
    after = pieces[1::2]
    if copies and (len(after) - after.count(b">")) * tags <= copies:
        return data
    return b"<embed".join(pieces[::2])


def _few_attributes(data: bytes) -> int:
    """Return how many bytes hold no tag of more than `MAX_ATTRIBUTES`, wherever tags begin: scripts and comments count."""
    data = _OTHER_VALUE.sub(_without_ends, data)
    at = 0
    while len(data) - (at := _end(_SHORT_PARTS, data, at)) > _SHORT:
        sure = _NEXT_SURE_END.search(data, at)
        end = sure.end() if sure else len(data)
        left = _LOOKS * (end - at)
        for tag in _tags(MAX_ATTRIBUTES).finditer(data, at, end):
            left -= tag.end(1) - tag.end()
            if left < 0 or tag[2]:
                return tag.start()
        at = end
    return len(data)


@cache
def _tags(most: int) -> re.Pattern[bytes]:
    """Return the pattern of a tag: its first attributes, and one more if it has more than `most`."""
    return re.compile(
        rb"<(?=[A-Za-z][^%b/>]*+((?:[%b/]*+%b){0,%d}+[%b/]*+)(%b)?+)"
        % (_WS, _WS, _ATTRIBUTE, most, _WS, _ATTRIBUTE)
    )


def _without_ends(value: re.Match[bytes]) -> bytes:
    """Hide tag ends in what may be a value; if it is none, tags only seem to have more attributes."""
    return value[0].replace(b'">', b'"x')


def _is_shallow(data: bytes) -> bool:
    """Tell whether a document cannot be deeper than `MAX_DEPTH`, from the names of its tags alone.

    An end tag counts only if it closes the last open element, which is enough for nearly all large documents.
    """
    path: list[bytes] = []
    names = iter(_NAMES.findall(data.lower()))
    for name in filterfalse(_UNCOUNTED.__contains__, names):
        if name[0] == _SLASH:
            if path and path[-1] == name[1:]:
                path.pop()
        elif not (name in _ITEMS and path and path[-1] == name):
            path.append(name)
            if len(path) > MAX_DEPTH or name in _DOUBTFUL:
                return False
            if name in _SPECIAL and not _is_special_shallow(names, path):
                return False
    return b"<!--" not in data or _end(_PLAIN_SCRIPTS, data) == len(data)


def _is_special_shallow(names: Iterator[bytes], path: list[bytes]) -> bool:
    """Tell the same of a drawing, a formula or choices that were just opened, and consume their names."""
    outside = len(path) - 1
    foreign = int(path[-1] in _ROOTS)
    for name in names:
        if not name:
            return False  # raw text may be none here, and `span` ends a drawing
        if name[0] == _SLASH:
            if name == b"/svg" == b"/" + path[outside] and _SHAPES.issuperset(path[outside + 1 :]):
                del path[outside:]  # with its shapes, which need no ends of their own
                return True
            if path[-1] == name[1:]:
                foreign -= path.pop() in _ROOTS
                if len(path) == outside:
                    return True
        elif foreign or (name not in _FLAT and not (name in _ITEMS and path[-1] == name)):
            path.append(name)
            foreign += name in _ROOTS
            if len(path) > MAX_DEPTH or name in _DOUBTFUL:
                return False
    return True


def _end(harmless: re.Pattern[bytes], data: bytes, start: int = 0) -> int:
    """Return where the harmless beginning of a document ends."""
    found = harmless.match(data, start)
    return found.end() if found else start
