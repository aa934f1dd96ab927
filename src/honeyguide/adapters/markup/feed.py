"""Feeds: RSS, RDF and Atom, which a site may offer where others offer a sitemap (sitemaps.org allows it).

Owns: finding the addresses and times of their entries, in bytes of any quality and within bounds. Must not know: how
they were fetched, what becomes of the pages. Start reading at `entries`. As with sitemaps there is no XML parser here.
"""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.listed import read_lastmod

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_URL_CHARS = 2_048
_LOOK_CHARS = 4_096  # where a document shows what it is
_ROOT = re.compile(r"<(rss|feed|rdf:RDF|urlset|sitemapindex|url|sitemap|loc)[\s>]")
_FEEDS = frozenset({"rss", "feed", "rdf:RDF"})
# The names stand before their dates: what was changed last comes first.
_TIMES = ("updated", "atom:updated", "pubDate", "dc:date", "published")
_TAG = re.compile(
    rf"<(item|entry|link|{'|'.join(_TIMES)})(?=[\s/>])([^<>]{{0,4096}})>\s{{0,200}}(<!\[CDATA\[)?([^<]{{0,4096}})"
)
_HREF = re.compile(r"""\shref\s{0,9}=\s{0,9}(?:"([^"]{1,2048})"|'([^']{1,2048})')""")
_REL = re.compile(r"""\srel\s{0,9}=\s{0,9}["']?([A-Za-z]{1,40})""")


class Entry(NamedTuple):
    """One entry: its address as written, and when it says that it last changed, as a sitemap would write it."""

    url: str
    lastmod: str | None


def is_feed(text: str) -> bool:
    """Tell whether a document is a feed.

    >>> is_feed('<?xml version="1.0"?><rss version="2.0">'), is_feed("<urlset><url>")
    (True, False)
    """
    root = _ROOT.search(text, 0, _LOOK_CHARS)
    return root is not None and root[1] in _FEEDS


def entries(text: str, most_tags: int) -> Iterator[Entry]:
    """Give the entries of a feed that have an address; no more than `most_tags` tags are looked at.

    >>> rss = "<rss><item><link>https://a.example/b</link><pubDate>Mon, 06 May 2024 10:00:00 +0200</pubDate></item>"
    >>> list(entries(rss, 10))
    [Entry(url='https://a.example/b', lastmod='2024-05-06T08:00:00Z')]
    """
    url: str | None = None
    times: dict[str, str] = {}
    is_inside = False
    for tag in islice(_TAG.finditer(text), most_tags):
        name, attributes, is_quoted, value = tag.groups()
        if is_quoted:
            value = value.partition("]]>")[0]
        if name in ("item", "entry"):
            if url:
                yield Entry(url, _latest(times))
            url, times, is_inside = None, {}, True
        elif not is_inside:
            continue  # of the feed, not of an entry
        elif name == "link":
            url = url or _address(attributes, value)
        else:
            times.setdefault(name, value)
    if url:
        yield Entry(url, _latest(times))


def _address(attributes: str, value: str) -> str | None:
    """Give where a link leads: RSS writes it between tags, Atom into an attribute, and has links of other kinds."""
    href, rel = _HREF.search(attributes), _REL.search(attributes)
    if rel is not None and rel[1].lower() != "alternate":
        return None
    text = unescape(value if href is None else href[1] or href[2]).strip()
    return text if 0 < len(text) <= MAX_URL_CHARS else None


def _latest(times: dict[str, str]) -> str | None:
    """Read the time of an entry: of its last change if it says so, else of its publication."""
    for name in _TIMES:
        if found := _time(times.get(name, "")):
            return found
    return None


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
