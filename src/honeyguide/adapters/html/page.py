"""HTML to plain data: the links of a page, and its metadata.

Owns: links, merged by the identity of their URL, and the fields of `Page` and `Head`. Parsing is in `dom.py`, the character
encoding in `charset.py`, limits of markup in `guards.py`. Must not know: HTTP, scores. Start reading at `parse_page`.

A link is an `a` or `area` with an href, also in svg, or a `frame`. Links inside `noscript` and elements with the `hidden` attribute
count, because readers without scripts follow them, but their text is not visible text. The content of `template` is no
part of the page. Nothing is left out silently: see `Page.skipped`, rule `limit`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from honeyguide.adapters.html.charset import to_markup
from honeyguide.adapters.html.dom import Document
from honeyguide.adapters.html.groups import NO_GROUP, Anchor, read_groups
from honeyguide.adapters.html.guards import bound_markup, is_page, strip_highlighting
from honeyguide.adapters.html.walk import MAX_LABEL, fold
from honeyguide.core.page.page import FRAME, Head, Link, Occurrence, Page
from honeyguide.core.url.scope import not_a_page
from honeyguide.core.url.steps import MAX_CHARS
from honeyguide.core.url.url import Url
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_LINKS = 20_000  # distinct URLs of a page; real index pages stay under 10,000
MAX_INTERNATIONAL = 1_000  # distinct hosts in other letters of a page: each takes half a millisecond to read
MAX_OCCURRENCES = 20  # kept of one link: further ones add nothing
MAX_SKIPPED = 1_000  # hrefs that are no pages; a last entry counts the others
MAX_SKIPPED_HREF = 200  # characters
MAX_DESCRIPTION = 2_000  # characters
LIMIT = "limit"  # the rule that rejects what is over one of these
METAS = frozenset(
    {"robots", "description", "og:title", "og:description", "content-language"}
)  # all that is read
FORWARD_BYTES = 65_536  # of a page, where it sends its readers elsewhere
_MAY_REFRESH = re.compile(rb"http-equiv\s{0,9}=\s{0,9}[\"']?\s{0,9}refresh")  # in small letters
# At most ten seconds: later, a page is to be read first, or shows itself again.
_REFRESH = re.compile(
    r"\s*0*(?:\d|10)(?:\.\d*)?\s*[;,\s]\s*(?:url\s*=\s*)?[\"']?([^\"']+?)[\"']?\s*", re.IGNORECASE
)
_DRAWING_DEPTH = 20  # elements around a title in a drawing
_ABSOLUTE = ("http://", "https://")
_SURELY_A_PAGE = ("/", *_ABSOLUTE)
_FRAGMENT_ONLY = "fragment-only"  # the rule of `not_a_page` for most hrefs that are none

# Parsed hrefs, by the folder of the page: the pages of a folder repeat their menu and link each other.
_KNOWN: dict[tuple[str, str], Url] = {}
_MOST_KNOWN = 20_000


def parse_page(
    body: bytes | str, url: Url, content_type: str | None = None, *, with_groups: bool = False
) -> Page:
    """Read a document: its links, its text and its metadata; `with_groups` also how it groups its links.

    >>> page = parse_page("<title>Acme</title><nav><a href=about/>About us</a></nav>", Url.parse("https://a.example/"))
    >>> page.title, page.links[0].url.as_linked, page.links[0].anchor, page.links[0].position.value
    ('Acme', 'https://a.example/about/', 'About us', 'navigation')
    """
    document, unread_bytes = _parse(body, content_type)
    metadata = Metadata(document)
    base = _base(metadata.base, url)
    links, text = _Links(document, base), document.text()
    if with_groups:
        links.group(document, url)
    return Page(
        url=url,
        title=metadata.title,
        description=metadata.metas.get("description", ""),
        canonical=_canonical(metadata.canonical, base),
        language=_language(metadata),
        robots=metadata.metas.get("robots", ""),
        h1=tuple(document.headings[1]),
        h2=tuple(document.headings[2]),
        text=text,
        links=links.merged(),
        skipped=links.skipped(unread_bytes),
        main=document.main(text),
    )


def parse_head(body: bytes | str, content_type: str | None = None) -> Head:
    """Read only title and description (PICK-11) of a document, which may be cut off.

    >>> parse_head('<title>Fire &amp; Safety</title><meta property="og:description" content="Alarms"><meta name="desc')
    Head(title='Fire & Safety', description='Alarms')
    """
    metadata = Metadata(_parse(body, content_type)[0])
    metas = metadata.metas
    return Head(
        metadata.title or metas.get("og:title"), metas.get("description") or metas.get("og:description")
    )


def forward_of(body: bytes, url: Url, content_type: str | None = None) -> Url | None:
    """Return where a page sends its readers: by a meta refresh within seconds, or as the only frame of a frameset.

    >>> home = Url.parse("https://a.example/")
    >>> forward_of(b"<meta http-equiv=refresh content=0;url=en>", home).text, forward_of(b"<a href=en>", home)
    ('https://a.example/en', None)
    """
    start = body[:FORWARD_BYTES]
    small = start.lower()  # ignoring case in a search costs twenty times as much
    may_forward = b"<frameset" in small or _MAY_REFRESH.search(small)
    if "html" not in (content_type or "html").lower() or not may_forward:
        return None
    document, _ = _parse(start, content_type)
    metadata = Metadata(document)
    base, refresh = _base(metadata.base, url), _REFRESH.fullmatch(metadata.refresh)
    frames = [link.url for link in _Links(document, base).merged() if link.rel == FRAME]
    if refresh is not None and not not_a_page(refresh[1]):
        try:
            frames = [Url.parse(refresh[1], base)]
        except UrlError:
            return None
    return frames[0] if len(frames) == 1 and frames[0].as_linked != url.as_linked else None


def extract_links(html: bytes | str, url: Url) -> tuple[Link, ...]:
    """Return the links that `parse_page` finds, without the cost of the text.

    >>> [link.anchor for link in extract_links("<a href=a><img alt=Logo></a>", Url.parse("https://a.example/"))]
    ['Logo']
    """
    document, _ = _parse(html, None)
    return _Links(document, _base(Metadata(document).base, url)).merged()


def _parse(body: bytes | str, content_type: str | None) -> tuple[Document, int]:
    """Parse a document; also return how many bytes of it were not read."""
    if isinstance(body, str):
        markup = body.removeprefix("\ufeff").encode("utf-8", "replace")
    else:
        markup = to_markup(body, content_type)
    if not is_page(markup):
        return Document(b""), 0
    markup, unread_bytes = bound_markup(strip_highlighting(markup))
    return Document(markup), unread_bytes


def _base(href: str | None, url: Url) -> Url:
    """Find what relative links resolve against: the base element's href if it is a URL, else the page."""
    try:
        return url if href is None else Url.parse(href, url)
    except UrlError:
        return url


def _canonical(href: str | None, base: Url) -> str | None:
    """Resolve a canonical link; None if it is no URL."""
    try:
        return None if href is None or not_a_page(href) else Url.parse(href, base).as_linked
    except UrlError:
        return None


def _language(metadata: Metadata) -> str | None:
    """Return the language of the html element, else the first one of a meta element."""
    declared = metadata.metas.get("content-language", "").partition(",")[0].strip().lower()
    return metadata.language or declared or None


class _Links:
    """The links of a page, merged by URL."""

    def __init__(self, document: Document, base: Url) -> None:
        self._base = base
        self._folder = base.as_linked.partition("?")[0].rpartition("/")[0]
        self._by_href: dict[str, list[Occurrence] | None] = {}  # None: no link
        self._by_stem: dict[str, list[Occurrence]] = {}  # by the part before the fragment
        self._by_url: dict[str, tuple[Url, int, list[Occurrence]]] = {}
        self._skipped: list[tuple[str, str]] = []
        self._international: set[str] = set()  # hosts in other letters, and hrefs that have no valid one
        self._placed: list[tuple[LexborNode, list[Occurrence]]] = []  # in document order
        by_href, by_stem, order = self._by_href, self._by_stem, 0
        for number, node, attributes in document.anchors():
            href = attributes.get("href") or attributes.get("xlink:href") or ""
            stem = href.partition("#")[0]
            occurrences = by_stem.get(stem)
            if occurrences is None or len(href) > MAX_CHARS:
                occurrences = by_href[href] if href in by_href else self._add(href, stem, order)
            if occurrences is not None:
                order += 1
                if len(occurrences) < MAX_OCCURRENCES:
                    occurrences.append(document.occurrence(number, node, attributes))
                    self._placed.append((node, occurrences))

    def group(self, document: Document, page: Url) -> None:
        """Add to each occurrence how the page groups it."""
        targets = {id(occurrences): text for text, (_, _, occurrences) in self._by_url.items()}
        places: Counter[int] = Counter()
        listed: list[tuple[list[Occurrence], int]] = []
        anchors = []
        for node, occurrences in self._placed:
            place = places[id(occurrences)]
            places[id(occurrences)] += 1
            listed.append((occurrences, place))
            anchors.append(Anchor(node, targets[id(occurrences)], occurrences[place].position))
        for (occurrences, place), group in zip(
            listed, read_groups(anchors, document.titles(), page.text), strict=True
        ):
            if group != NO_GROUP:
                occurrences[place] = occurrences[place]._replace(menu=group.menu, heading=group.heading)

    def merged(self) -> tuple[Link, ...]:
        """Return the links in the order of their first occurrences."""
        return tuple(
            Link(url, tuple(occurrences), order) for url, order, occurrences in self._by_url.values()
        )

    def skipped(self, unread_bytes: int) -> tuple[tuple[str, str], ...]:
        """Return the hrefs that are no links, each with its rule, and what went over a limit."""
        skipped = self._skipped[:MAX_SKIPPED]
        if more := len(self._skipped) - len(skipped):
            skipped.append((f"{more} more", LIMIT))
        if unread_bytes:
            skipped.append((f"{unread_bytes} bytes of markup", LIMIT))
        return tuple(skipped)

    def _add(self, href: str, stem: str, order: int) -> list[Occurrence] | None:
        """Find the link that a new href belongs to, or skip the href."""
        found = _FRAGMENT_ONLY if href[:1] == "#" else self._find(href, stem, order)
        occurrences = None if isinstance(found, str) else found
        if isinstance(found, str):
            self._skipped.append((href[:MAX_SKIPPED_HREF], found))
        self._by_href[href] = occurrences
        return occurrences

    def _find(self, href: str, stem: str, order: int) -> list[Occurrence] | str:
        """Find the occurrences of a link, or the rule that rejects the href (URL-9)."""
        url = self._read(href, stem)
        if isinstance(url, str):
            return url
        known = self._by_url.get(url.text)
        if known is None:
            if len(self._by_url) >= MAX_LINKS:
                return LIMIT
            known = self._by_url[url.text] = (url, order, [])
        if stem[-1:] > " ":  # a space at the end counts, but only before a fragment
            self._by_stem[stem] = known[2]
        return known[2]

    def _read(self, href: str, stem: str) -> Url | str:
        """Resolve an href, or return the rule that rejects it."""
        url = _KNOWN.get((self._folder, stem))
        if url is not None and len(href) <= MAX_CHARS:
            return url
        # Most hrefs show at once that they are neither empty nor a fragment nor of another scheme.
        if not href.startswith(_SURELY_A_PAGE) and (verdict := not_a_page(href)):
            return verdict.rule
        if len(self._international) >= MAX_INTERNATIONAL and _may_be_international(stem):
            return LIMIT
        try:
            url = Url.parse(href, self._base)
        except UrlError:
            if _may_be_international(stem):
                self._international.add(stem)
            return "unparsable"
        if "xn--" in url.host:
            self._international.add(url.host)
        if _needs_only_folder(stem):
            if len(_KNOWN) >= _MOST_KNOWN:
                _KNOWN.clear()
            _KNOWN[self._folder, stem] = url
        return url


def _needs_only_folder(stem: str) -> bool:
    """Tell whether an href resolves alike on all pages of a folder: it has a path, and no scheme or a whole URL."""
    is_path = stem[:1].isalnum() or stem[:1] in ("/", ".")
    return is_path and stem[-1] > " " and (":" not in stem or stem.startswith(_ABSOLUTE))


def _may_be_international(stem: str) -> bool:
    return (not stem.isascii() or "%" in stem) and any(mark in stem for mark in (":", "//", "\\"))


class Metadata:
    """What a document says about itself; the first of each element counts.

    >>> metadata = Metadata(Document(b"<html lang=en><title>Acme</title><link rel=canonical href=/a>"))
    >>> metadata.language, metadata.title, metadata.canonical
    ('en', 'Acme', '/a')
    """

    def __init__(self, document: Document) -> None:
        self.language = ""
        self.base: str | None = None
        self.canonical: str | None = None
        self.metas: dict[str, str] = {}
        self.title = self.refresh = ""
        for node in document.metadata_nodes():
            self._add(node)

    def _add(self, node: LexborNode) -> None:
        """Read an html, title, meta, link or base element."""
        get = node.attributes.get
        if node.tag == "title":
            if not self.title and not _is_inside(node, "svg"):
                self.title = fold(node.text(), MAX_LABEL)
        elif node.tag == "meta":
            name = (get("name") or get("property") or get("http-equiv") or "").strip().lower()
            if name in METAS and (value := fold(get("content"), MAX_DESCRIPTION)):
                self.metas.setdefault(name, value)
            elif name == "refresh" and not self.refresh and not _is_inside(node, "noscript"):
                self.refresh = fold(get("content"), MAX_DESCRIPTION)
        elif node.tag == "html":
            self.language = fold(get("lang") or get("xml:lang"), MAX_LABEL).lower()
        elif node.tag == "base":
            if self.base is None:
                self.base = get("href")
        elif self.canonical is None and "canonical" in (get("rel") or "").lower().split():
            self.canonical = get("href")


def _is_inside(node: LexborNode, tag: str) -> bool:
    """Tell whether an element stands in another: a title in a drawing names a shape, noscript tells of scripts."""
    above = node.parent
    for _ in range(_DRAWING_DEPTH):
        if above is None or above.tag in {tag, "head"}:
            break
        above = above.parent
    return above is not None and above.tag == tag
