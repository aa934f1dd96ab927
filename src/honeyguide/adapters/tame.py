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

from honeyguide.adapters.depth import ATTRIBUTE as _ATTRIBUTE
from honeyguide.adapters.depth import FLAT as _FLAT
from honeyguide.adapters.depth import ITEMS as _ITEMS
from honeyguide.adapters.depth import RAW as _RAW
from honeyguide.adapters.depth import ROOTS as _ROOTS
from honeyguide.adapters.depth import WS as _WS
from honeyguide.adapters.depth import Bounds, reach

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_BYTES = 10 * 1024 * 1024  # of a document; real pages are under 1 MB
MAX_TAGS = 250_000  # of a document, start and end; about 9 MB of ordinary markup
MAX_DEPTH = 2_000  # of elements in a document of many tags; browsers stop at 512
MAX_ATTRIBUTES = 256  # of one tag in a large document
LARGE_BYTES = 128 * 1024  # under this, the worst styling and attributes cost less than a second
MANY_TAGS = 20_000  # under this, the worst nesting costs half a second
SMALL_BYTES = 8 * 1024  # under this, not even styling can do harm
MAX_COPIES = 1_000_000  # elements that a parser may have to make up for unclosed styling

# What follows matches a document as far as it is harmless. Searching for harm instead would begin anew at each `<`, and
# look at `<a<a<a` as often as it has letters.
_FEW_ATTRIBUTES = re.compile(
    rb"(?:[^<]++|<(?![A-Za-z])|<[A-Za-z][^%b/>]*+(?:[%b/]*+%b){0,%d}+(?![%b/]*+%b))*+"
    % (_WS, _WS, _ATTRIBUTE, MAX_ATTRIBUTES, _WS, _ATTRIBUTE)
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
# `embed` has no content, holds nothing that we read, and stands where styling may stand, in drawings as in tables.
_PLAIN = {b"": b"<embed", b"/": b"</embed"}

# The names of all tags, as `reach` reads them one by one: what is in comments, values and raw text has none.
_NAMES = re.compile(
    rb"<(?:(?=[iInNsStTxX][cCeEfFiImMoOtT])(?i:%b)|(/?[A-Za-z][^%b/>]*+)(?:[%b/]++|%b)*+"
    rb"|!--(?:-?>|(?:[^-]++|-(?!-!?>))*+)|(?:[!?]|/(?![A-Za-z]))[^>]*+)"
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
_SPECIAL = re.compile(rb"<(?:[sS](?:[vV][gG]|[eE][lL][eE][cC][tT])|[mM][aA][tT][hH])")
_UNCOUNTED = _FLAT.union(
    (b"/%b" % name for name in _FLAT), [b""]
)  # where there are no drawings and no choices
_DOUBTFUL = frozenset({b"frameset", b"rb", b"rt", b"rp", b"rtc", b"annotation-xml"})  # see there
# No script in a comment: it may go on after what looks like its end.
_PLAIN_SCRIPTS = re.compile(
    rb"(?:[^<]++|<(?!!--)|<!--(?:[^-<]++|-(?!->)|<(?![sS][cC][rR][iI][pP][tT]))*+(?!<))*+"
)

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
    if len(data) <= LARGE_BYTES and data.count(b"<") <= MANY_TAGS:
        styled = len(_STYLE_WITH_ATTRIBUTES.findall(data))
        # Each may be made anew in each block, and the shortest block has four bytes.
        return (data if styled * len(data) <= 4 * MAX_COPIES else _plain(data)), 0
    kept = data[:MAX_BYTES]
    tags = kept.count(b"<")
    is_shallow = tags <= MANY_TAGS or (tags <= MAX_TAGS and _is_shallow(kept))
    if not (is_shallow and _matches(_FEW_ATTRIBUTES, kept)):
        kept = kept[: reach(kept, Bounds(MAX_TAGS, MAX_DEPTH, MAX_ATTRIBUTES))]
    return _plain(kept), len(data) - len(kept)


def _plain(data: bytes) -> bytes:
    """Turn all styling into what parsers neither nest nor carry over."""
    pieces = _STYLE.split(data)  # substituting would call Python for each tag
    pieces[1::2] = map(_PLAIN.__getitem__, pieces[1::2])
    return b"".join(pieces)


def _is_shallow(data: bytes) -> bool:
    """Tell whether a document is surely no deeper than `MAX_DEPTH`, from the names of its tags alone.

    An end tag counts only where it closes the last that was opened. Most large documents are like that, and `reach`,
    which knows better and takes longer, need not read them.
    """
    path: list[bytes] = []
    foreign = choices = 0
    names: Iterable[bytes] = map(bytes.lower, _NAMES.findall(data))
    if not _SPECIAL.search(data):
        names = filterfalse(_UNCOUNTED.__contains__, names)
    for name in names:
        if not name:
            if foreign or choices:
                return False  # what looks like raw text may be none
        elif name[0] == 0x2F:
            if path and path[-1] == name[1:]:
                last = path.pop()
                foreign -= last in _ROOTS
                choices -= last == b"select"
        elif foreign or (name not in _FLAT and not (name in _ITEMS and path and path[-1] == name)):
            path.append(name)
            foreign += name in _ROOTS
            choices += name == b"select"
            if len(path) > MAX_DEPTH or name in _DOUBTFUL:
                return False
    return b"<!--" not in data or _matches(_PLAIN_SCRIPTS, data)


def _matches(harmless: re.Pattern[bytes], data: bytes) -> bool:
    """Tell whether a pattern that always matches does so to the end."""
    found = harmless.match(data)
    return found is not None and found.end() == len(data)
