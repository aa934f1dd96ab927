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
from itertools import filterfalse
from typing import TYPE_CHECKING

from honeyguide.adapters.html.depth import ATTRIBUTE as _ATTRIBUTE
from honeyguide.adapters.html.depth import FLAT as _FLAT
from honeyguide.adapters.html.depth import ITEMS as _ITEMS
from honeyguide.adapters.html.depth import RAW as _RAW
from honeyguide.adapters.html.depth import ROOTS as _ROOTS
from honeyguide.adapters.html.depth import WS as _WS
from honeyguide.adapters.html.depth import Bounds, reach

if TYPE_CHECKING:
    from collections.abc import Iterator


MAX_BYTES = 10 * 1024 * 1024  # of a document; real pages are under 1 MB
MAX_TAGS = 250_000  # of a document, start and end; about 9 MB of ordinary markup
MAX_DEPTH = 2_000  # of elements in a document of many tags; browsers stop at 512
MAX_ATTRIBUTES = 256  # of one tag in a large document
LARGE_BYTES = 128 * 1024  # under this, the worst styling and attributes cost less than a second
MANY_TAGS = 20_000  # under this, the worst nesting costs half a second
SMALL_BYTES = 8 * 1024  # under this, not even styling can do harm
MAX_COPIES = 1_000_000  # elements that a parser may have to make up for unclosed styling


# Whatever comes before it, no tag goes on after a quotation mark that begins no value and the `>` behind it ...
_SURE_END = rb"\">(?<=[^=%b]\">)" % _WS
_NEXT_SURE_END = re.compile(_SURE_END)
# ... except where both may stand in a value of the other kind.
_OTHER_VALUE = re.compile(rb"'(?:(?<==')|(?<=[=%b][%b]'))[^'\"]*+(?:\"(?!>)[^'\"]*+)*+\">[^']*+" % (_WS, _WS))
_SHORT = 2 * MAX_ATTRIBUTES  # bytes: each attribute takes two at least
_SHORT_PARTS = re.compile(rb"(?s:.{0,%d}%b)*+" % (_SHORT - 2, _SURE_END))
_TAG = re.compile(
    rb"<(?=[A-Za-z][^%b/>]*+((?:[%b/]*+%b){0,%d}+[%b/]*+)(%b)?+)"
    % (_WS, _WS, _ATTRIBUTE, MAX_ATTRIBUTES, _WS, _ATTRIBUTE)
)
_LOOKS = 4  # how often a byte is looked at, on average; `<a<a<a` is a tag at each `<`


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


# The names of all tags, as `reach` reads them one by one: what is in comments, values and raw text has none. Letters are
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
_DOUBTFUL = frozenset({b"frameset", b"rb", b"rt", b"rp", b"rtc", b"annotation-xml"})  # see there
_SPECIAL = _ROOTS | {b"select"}  # where other rules hold
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


def uncoloured(data: bytes) -> bytes:
    """Take off the elements around single words, of which listings have thousands: to parse and walk them costs more.

    What they hold is text, so a reader sees the same, and no link stands in one.

    >>> uncoloured(b'<pre><span class="k">def</span> <code><span class="n">run</span></code><span id=x>()</span>')
    b'<pre>def run<span id=x>()</span>'
    """
    return b"".join(filter(None, _COLOURED.split(data)))


def tamed(data: bytes, *, has_ends: bool = False) -> tuple[bytes, int]:
    """Give markup that parses in time and space in proportion to its size, and how many bytes had to be left out.

    Where styling becomes plain, its end tags mean nothing any more, and stay. `has_ends` is for readers that wait for
    the end of every element.

    >>> markup, left_out = tamed(b"<div>" * 100_000)
    >>> len(markup), left_out
    (10005, 489995)
    """
    if len(data) <= SMALL_BYTES:
        return data, 0
    kept, copies = data, MAX_COPIES
    if len(data) > LARGE_BYTES or (
        len(data) > 3 * MANY_TAGS and data.count(b"<") > MANY_TAGS
    ):  # `<b>` is shortest
        kept, copies = _cut(data), 0
    return _plain(kept, copies, has_ends=has_ends), len(data) - len(kept)


def _cut(data: bytes) -> bytes:
    """Cut a large document off where it goes over a bound."""
    kept = data[:MAX_BYTES]
    tags = kept.count(b"<")
    is_shallow = tags <= MANY_TAGS or (tags <= MAX_TAGS and _is_shallow(kept))
    if is_shallow and _has_few_attributes(kept):
        return kept
    return kept[: reach(kept, Bounds(MAX_TAGS, MAX_DEPTH, MAX_ATTRIBUTES))]


def _plain(data: bytes, copies: int = 0, *, has_ends: bool = False) -> bytes:
    """Turn all styling into what parsers neither nest nor carry over, if it could make for too many copies.

    That is `embed`: it has no content, holds nothing that we read, and stands where styling may stand, in drawings as in
    tables.
    """
    pieces = _STYLE_START.split(data)
    after = pieces[1::2]
    # Each with attributes may be made anew in each block, and the shortest block has four bytes.
    if copies and (len(after) - after.count(b">")) * len(data) <= 4 * copies:
        return data
    plain = b"<embed".join(pieces[::2])
    return _STYLE_END.sub(b"</embed", plain) if has_ends else plain


def _has_few_attributes(data: bytes) -> bool:
    """Tell whether surely no tag has more than `MAX_ATTRIBUTES`, wherever tags begin: scripts and comments count."""
    data = _OTHER_VALUE.sub(_without_ends, data)
    at = 0
    while len(data) - (at := _end(_SHORT_PARTS, data, at)) > _SHORT:
        sure = _NEXT_SURE_END.search(data, at)
        end = sure.end() if sure else len(data)
        if not _have_few_attributes(data, at, end):
            return False
        at = end
    return True


def _without_ends(value: re.Match[bytes]) -> bytes:
    """Let no tag end in what may be a value; if it is none, tags only seem to have more attributes."""
    return value[0].replace(b'">', b'"x')


def _have_few_attributes(data: bytes, start: int, end: int) -> bool:
    """Tell the same of the tags in a part of a document, one by one."""
    left = _LOOKS * (end - start)
    for tag in _TAG.finditer(data, start, end):
        left -= tag.end(1) - tag.end()
        if left < 0 or tag[2]:
            return False
    return True


def _is_shallow(data: bytes) -> bool:
    """Tell whether a document is surely no deeper than `MAX_DEPTH`, from the names of its tags alone.

    An end tag counts only where it closes the last that was opened. Most large documents are like that, and `reach`,
    which knows better and takes longer, need not read them.
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
    """Tell the same of a drawing, a formula or choices that were just opened, and take their names away."""
    outside = len(path) - 1
    foreign = int(path[-1] in _ROOTS)
    for name in names:
        if not name:
            return False  # what looks like raw text may be none, and `span` ends a drawing
        if name[0] == _SLASH:
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
    """Tell how far a document is harmless."""
    found = harmless.match(data, start)
    return found.end() if found else start
