"""Markup that is safe to hand to a parser.

Owns: the bounds on what is parsed at all, and the shapes of markup that cost a parser more than their size. HTML's
rules for broken markup let a few kilobytes of unclosed `<font>` become millions of elements, and deep nesting or a
tag with very many attributes takes quadratic time. Must not know: links, pages, the parser's interface.
Start reading at `tamed`. Bytes are UTF-8 here.

A small document cannot do much harm and is only looked at for styling; a large one is looked at closely, and read tag
by tag if it is suspicious. Looking costs less than parsing.
"""

from __future__ import annotations

import re
from collections import Counter

MAX_BYTES = 10 * 1024 * 1024  # of a document; real pages are under 1 MB
MAX_TAGS = 250_000  # of a document, start and end; about 9 MB of ordinary markup
MAX_DEPTH = 2_000  # of elements in a large document; browsers stop at 512
MAX_ATTRIBUTES = 256  # of one tag in a large document
LARGE_BYTES = 128 * 1024  # under this, the worst shapes cost a second or two
MANY_TAGS = 25_000  # under this, the worst nesting costs a second or two
SMALL_BYTES = 8 * 1024  # under this, not even styling can do harm
_STRETCH = 500  # tags that are counted together
MAX_COPIES = 1_000_000  # elements that a parser may have to make up for unclosed styling

_WS = rb" \t\n\f\r"
_ATTRIBUTE = (
    rb"[^%(ws)b/>][^%(ws)b/>=]*+(?:[%(ws)b]*+=[%(ws)b]*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^%(ws)b>]*+))?+"
    % {b"ws": _WS}
)
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_TOKEN = re.compile(rb"<(?:(!--)|(/?)([A-Za-z][^%b/>]*+)((?:[%b/]++|%b)*+))" % (_WS, _WS, _ATTRIBUTE))
# The look-ahead lets most tags pass quickly: those with up to three attributes in the plainest spelling.
_MANY_ATTRIBUTES = re.compile(
    rb"<[A-Za-z][^%b/>]*+(?!(?: [a-z]++=\"[^\"]*+\"){0,3}+>)(?:[%b/]*+%b){%d}"
    % (_WS, _WS, _ATTRIBUTE, MAX_ATTRIBUTES + 1)
)

# Elements whose styling a parser carries over into every following block (the standard's formatting elements) and which
# hold nothing that we read. Both cases are spelled out, which is three times as fast as ignoring case.
_STYLE_NAMES = (
    rb"(?:[bB](?:[iI][gG])?+|[sS](?:[mM][aA][lL]{2}|[tT][rR](?:[iI][kK][eE]|[oO][nN][gG]))?+|[iIuU]|[eE][mM]|[tT]{2}"
    rb"|[cC][oO][dD][eE]|[fF][oO][nN][tT]|[nN][oO][bB][rR])"
)
# The first two letters tell most other tags apart at once, `span` among them.
_STYLE_START = rb"[bBcCeEfFiInNsStTuU][iImMoOtT%b/>]" % _WS
_STYLE = re.compile(rb"<(?=/?%b)(/?)%b(?=[%b/>])" % (_STYLE_START, _STYLE_NAMES, _WS))
_STYLE_WITH_ATTRIBUTES = re.compile(rb"<(?=%b)%b[%b/]" % (_STYLE_START, _STYLE_NAMES, _WS))
_PLAIN = {b"": b"<span", b"/": b"</span"}

# What is inside these is text to a parser.
_RAW = {
    name: re.compile(rb"</%b[%b/>]" % (name, _WS), re.IGNORECASE)
    for name in (b"script", b"style", b"textarea", b"title", b"xmp", b"iframe", b"noembed", b"noframes")
}
# The names of all tags, as `_reach` would read them one by one: nothing is found in comments, values and raw text.
_NAMES = re.compile(
    rb"<(?:(?=[iInNsStTxX][cCeEfFiImMoOtT])(?i:%b)|(/?[A-Za-z][^%b/>]*+)(?:[%b/]++|%b)*+|!(?=--)(?:[^-]++|-(?!->))*+)"
    % (
        b"|".join(
            rb"%b(?=[%b/>])(?:[%b/]++|%b)*+(?:[^<]++|<(?!/%b[%b/>]))*+"
            % (name, _WS, _WS, _ATTRIBUTE, name, _WS)
            for name in _RAW
        ),
        _WS,
        _WS,
        _ATTRIBUTE,
    )
)
# Elements that never nest by themselves: without content, closed by the next of their kind, or styling.
_FLAT = frozenset({
    b"area", b"base", b"br", b"col", b"embed", b"frame", b"hr", b"image", b"img", b"input", b"link", b"meta", b"param",
    b"source", b"track", b"wbr", b"a", b"p", b"li", b"dt", b"dd", b"option", b"optgroup", b"tr", b"td", b"th", b"thead",
    b"tbody", b"tfoot", b"colgroup", b"caption", b"rb", b"rt", b"rp", b"rtc", b"html", b"head", b"body", b"b",
    b"big", b"code", b"em", b"font", b"i", b"nobr", b"s", b"small", b"strike", b"strong", b"tt", b"u",
})  # fmt: skip

_XML = re.compile(rb"\s*<(?:\?xml\s|(?:rss|feed|urlset|sitemapindex|rdf:rdf)[\s>])", re.IGNORECASE)
_XHTML = re.compile(rb"<(?:!doctype\s+)?html[\s/>]", re.IGNORECASE)
_HTML = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|header|nav|main|section|article|form|table|div|span"
    rb"|ul|ol|li|p|a|b|br|img|h[1-6]|font|center)[\s/>]",
    re.IGNORECASE,
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
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


def tamed(data: bytes) -> tuple[bytes, int]:
    """Give markup that parses in time and space in proportion to its size, and how many bytes had to be left out.

    >>> markup, left_out = tamed(b"<div>" * 100_000)
    >>> len(markup), left_out
    (10005, 489995)
    """
    if len(data) <= SMALL_BYTES:
        return data, 0
    if len(data) <= LARGE_BYTES:
        styled = len(_STYLE_WITH_ATTRIBUTES.findall(data))
        # Each may be made anew in each block, and the shortest block has four bytes.
        return (data if styled * len(data) <= 4 * MAX_COPIES else _plain(data)), 0
    kept = data[:MAX_BYTES]
    tags = kept.count(b"<")
    is_shallow = tags <= MANY_TAGS or (tags <= MAX_TAGS and _is_shallow(kept))
    if not is_shallow or _MANY_ATTRIBUTES.search(kept):
        kept = kept[: _reach(kept)]
    return _plain(kept), len(data) - len(kept)


def _plain(data: bytes) -> bytes:
    """Turn all styling into `span`, which parsers do not carry over."""
    pieces = _STYLE.split(data)  # substituting would call Python for each tag
    pieces[1::2] = map(_PLAIN.__getitem__, pieces[1::2])
    return b"".join(pieces)


def _is_shallow(data: bytes) -> bool:
    """Tell whether a document is far from `MAX_DEPTH`, in whatever order the tags of each stretch of it come.

    This is the worst order: first all that close, then all that open. Most large documents are in order, and `_reach`
    need not read them.
    """
    names = _NAMES.findall(data)
    opened: Counter[bytes] = Counter()  # at most so many
    for start in range(0, len(names), _STRETCH):
        if opened.total() > MAX_DEPTH - _STRETCH:
            return False
        counts = Counter(names[start : start + _STRETCH])
        for name in sorted(counts):  # a slash comes before all letters
            if name.startswith(b"/"):
                closed = name[1:].lower()
                opened[closed] = max(opened[closed] - counts[name], 0)
            elif name and (lower := name.lower()) not in _FLAT:
                opened[lower] += counts[name]
    return True


def _reach(data: bytes) -> int:
    """Find how far a large document can be read: to its end, or to the tag that goes over a bound."""
    path: list[bytes] = []
    opened: Counter[bytes] = Counter()
    at = tags = 0
    while token := _TOKEN.search(data, at):
        comment, closing, name, attributes = token.groups()
        at = token.end()
        tags += 1
        if tags > MAX_TAGS:
            return token.start()
        if comment:
            end_of_comment = data.find(b"-->", token.start() + 2)  # <!--> is a whole comment
            at = end_of_comment + 3 if end_of_comment >= 0 else len(data)
        elif closing:
            _close(name.lower(), path, opened)
        elif len(path) > MAX_DEPTH or (
            len(attributes) > MAX_ATTRIBUTES and len(_ATTRIBUTES.findall(attributes)) > MAX_ATTRIBUTES
        ):
            return token.start()
        elif (name := name.lower()) in _RAW:
            end = _RAW[name].search(data, at)
            at = end.start() if end else len(data)
        elif name not in _FLAT:
            path.append(name)
            opened[name] += 1
    return len(data)


def _close(name: bytes, path: list[bytes], opened: Counter[bytes]) -> None:
    """Close the last open element of that name and all that are open inside it."""
    if opened[name]:
        while (last := path.pop()) != name:
            opened[last] -= 1
        opened[name] -= 1
