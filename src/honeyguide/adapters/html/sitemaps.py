"""Sitemaps: XML, indexes of them, feeds, plain text, any of these compressed.

Owns: reading their bytes within bounds, however broken. Must not know: how they were fetched, what becomes of the pages.
Start reading at `read_sitemap`. There is no XML parser here, because addresses stand between two tags: entities that grow or
name files stay text, and a file that breaks off is read up to there.
"""

from __future__ import annotations

import codecs
import re
import zlib
from datetime import UTC
from email.utils import parsedate_to_datetime
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING

from honeyguide.adapters.files.read import read_bytes
from honeyguide.adapters.html.charset import codec_of_xml
from honeyguide.core.crawl.sitemap import Sitemap, read_lastmod
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES = 50 * 2**20  # sitemaps.org: one file, unpacked, has at most 50 MB
MAX_PAGES = 50_000  # and lists at most so many
MAX_URL_CHARS = 2_048
_MAX_LINES = 4 * MAX_PAGES  # of a text: there may be empty ones and words between the addresses
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LINE = re.compile(r"[^\r\n]+")
_MAX_TAGS = 8 * MAX_PAGES  # of those that are read: a page has three
_TAG = r"<%s(url|sitemap|loc|lastmod)(?:\s[^<>]{0,200})?>\s{0,200}(<!\[CDATA\[)?([^<]{0,4096})"
_PLAIN_TAG = re.compile(_TAG % "")  # `<image:loc>` and `<urlset>` are other tags
# Who gives the names of sitemaps a prefix does so from the first one on: then `<sm:loc>` is meant.
_ROOT = re.compile(r"<([^\W\d][\w.-]{0,99}:)?(urlset|sitemapindex)[\s/>]")
_LOOK_CHARS = 65_536  # where a document shows what it is
_GZIP = b"\x1f\x8b"
_BLOCK = 4096  # bytes that are unpacked at a time
_DECLARED_BYTES = 1_024  # where an XML declaration is
_FEED_LOOK_CHARS = 4_096  # where a document shows what it is
_FEED_ROOT = re.compile(r"<(rss|feed|rdf:RDF|urlset|sitemapindex|url|sitemap|loc)[\s>]")
_FEEDS = frozenset({"rss", "feed", "rdf:RDF"})
# The last change counts before the publication.
_TIMES = ("updated", "atom:updated", "pubDate", "dc:date", "published")
_FEED_TAG = re.compile(
    rf"<(item|entry|link|{'|'.join(_TIMES)})(?=[\s/>])([^<>]{{0,4096}})>\s{{0,200}}(<!\[CDATA\[)?([^<]{{0,4096}})"
)
_HREF = re.compile(r"""\shref\s{0,9}=\s{0,9}(?:"([^"]{1,2048})"|'([^']{1,2048})')""")
_REL = re.compile(r"""\srel\s{0,9}=\s{0,9}["']?([A-Za-z]{1,40})""")


def read_sitemap(data: bytes) -> Sitemap:
    """Read a sitemap of any kind; never raises.

    >>> read_sitemap(b"<urlset><url><loc>https://a.example/b?c=1&amp;d=2</loc><lastmod>2024-05-01</lastmod></url>").pages
    (('https://a.example/b?c=1&d=2', '2024-05-01'),)
    """
    text = _decoded(_unpacked(data) if data.startswith(_GZIP) else data[:MAX_BYTES])
    if not text.lstrip().startswith("<"):
        lines = (line[0].strip() for line in islice(_LINE.finditer(text), _MAX_LINES))
        return Sitemap(tuple((line, None) for line in islice(filter(_is_url, lines), MAX_PAGES)))
    if is_feed(bare := without_comments(text)):
        return Sitemap(tuple(islice(entries(bare, _MAX_TAGS), MAX_PAGES)))
    pages: list[tuple[str, str | None]] = []
    more: list[str] = []
    for kind, url, lastmod in locations(text, _MAX_TAGS):
        if len(pages) + len(more) >= MAX_PAGES:
            break
        if 0 < len(url) <= MAX_URL_CHARS:
            more.append(url) if kind == "sitemap" else pages.append((url, lastmod))
    return Sitemap(tuple(pages), tuple(more))


def read_file(path: str) -> Sitemap:
    """Read a sitemap from a file; raises `InputError` if that cannot be read, or lists nothing."""
    found = read_sitemap(read_bytes(path, MAX_BYTES, "split it"))
    if not found.pages and not found.more:
        raise InputError("lists no page; give a sitemap", file=path)
    return found


def is_index(text: str) -> bool:
    """Tell whether a sitemap lists other sitemaps."""
    root = _ROOT.search(without_comments(text), 0, _LOOK_CHARS)
    return root is not None and root[2] == "sitemapindex"


def locations(text: str, most: int | None = None) -> Iterator[tuple[str, str, str | None]]:
    """Return for each <loc>: `url` or `sitemap`, the address, and its lastmod; no more than `most` tags are read."""
    kind, lastmod = "url", None
    url: str | None = None
    bare = without_comments(text)
    for tag in islice(_tag_of(bare).finditer(bare), most):
        name, is_quoted, value = tag.groups()
        if is_quoted:
            value = value.partition("]]>")[0]
        if name == "lastmod":
            lastmod = read_lastmod(value)
            continue
        if url is not None:
            yield kind, url, lastmod
            url = lastmod = None
        if name == "loc":
            url = unescape(value).strip() if len(value) <= MAX_URL_CHARS else value
        else:
            kind, lastmod = name, None
    if url is not None:
        yield kind, url, lastmod


def _tag_of(text: str) -> re.Pattern[str]:
    """Return the pattern of a sitemap's tags, by the prefix of its names."""
    root = _ROOT.search(text, 0, _LOOK_CHARS)
    return re.compile(_TAG % re.escape(root[1])) if root and root[1] else _PLAIN_TAG


def without_comments(text: str) -> str:
    """Remove the comments; one without an end hides the rest."""
    return _COMMENT.sub("", text) if "<!--" in text else text


def _is_url(line: str) -> bool:
    return line.lower().startswith(("http://", "https://")) and len(line) <= MAX_URL_CHARS


def _decoded(data: bytes) -> str:
    """Decode bytes by their byte-order mark, by their XML declaration, or as UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    return data.decode(codec_of_xml(data[:_DECLARED_BYTES].lstrip()) or "utf-8-sig", "replace")


def _unpacked(data: bytes) -> bytes:
    """Unpack all members of a gzip file, as far as they are whole and within bounds."""
    out, at = bytearray(), 0
    while data.startswith(_GZIP, at) and len(out) < MAX_BYTES:
        member = zlib.decompressobj(wbits=31)
        # Each member returns what it leaves of its block: with the whole file, many short ones would be quadratic.
        while not member.eof and at < len(data) and len(out) < MAX_BYTES:
            block = data[at : at + _BLOCK]
            try:
                out += member.decompress(block, MAX_BYTES - len(out))
            except zlib.error:
                return bytes(out)
            at += len(block) - len(member.unused_data)
    return bytes(out)


def is_feed(text: str) -> bool:
    """Tell whether a document is a feed.

    >>> is_feed('<?xml version="1.0"?><rss version="2.0">'), is_feed("<urlset><url>")
    (True, False)
    """
    root = _FEED_ROOT.search(text, 0, _FEED_LOOK_CHARS)
    return root is not None and root[1] in _FEEDS


def entries(text: str, most_tags: int) -> Iterator[tuple[str, str | None]]:
    """Return address and last change of the entries of a feed; no more than `most_tags` tags are read.

    >>> rss = "<rss><item><link>https://a.example/b</link><pubDate>Mon, 06 May 2024 10:00:00 +0200</pubDate></item>"
    >>> list(entries(rss, 10))
    [('https://a.example/b', '2024-05-06T08:00:00Z')]
    """
    url: str | None = None
    times: dict[str, str] = {}
    is_inside = False
    for tag in islice(_FEED_TAG.finditer(text), most_tags):
        name, attributes, is_quoted, value = tag.groups()
        if is_quoted:
            value = value.partition("]]>")[0]
        if name in ("item", "entry"):
            if url:
                yield url, _latest(times)
            url, times, is_inside = None, {}, True
        elif not is_inside:
            continue  # it belongs to the feed, not to an entry
        elif name == "link":
            url = url or _address(attributes, value)
        else:
            times.setdefault(name, value)
    if url:
        yield url, _latest(times)


def _address(attributes: str, value: str) -> str | None:
    """Return the target of a link: RSS writes it between tags, Atom into an attribute, and has links of other kinds."""
    href, rel = _HREF.search(attributes), _REL.search(attributes)
    if rel is not None and rel[1].lower() != "alternate":
        return None
    text = unescape(value if href is None else href[1] or href[2]).strip()
    return text if 0 < len(text) <= MAX_URL_CHARS else None


def _latest(times: dict[str, str]) -> str | None:
    """Read the time of an entry: of its last change if it has one, else of its publication."""
    return next(filter(None, (_time(times.get(name, "")) for name in _TIMES)), None)


def _time(text: str) -> str | None:
    """Read a time as Atom or as RSS writes it; None if it is none, or without a zone."""
    text = text.strip()[:100]
    if found := read_lastmod(text):
        return found
    try:
        moment = parsedate_to_datetime(text)
        return None if moment.tzinfo is None else f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
