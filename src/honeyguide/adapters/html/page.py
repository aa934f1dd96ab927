"""HTML to plain data: `Page`, `Head`, and where a page sends its readers.

Owns: the metadata of a page, and the way from bytes to its fields. Links are in `links.py`, parsing in `walk.py`, the character
encoding in `charset.py`, limits of markup in `guards.py`. Must not know: HTTP, scores. Start reading at `parse_page`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from honeyguide.adapters.html.charset import to_markup
from honeyguide.adapters.html.guards import bound_markup, is_page, strip_highlighting
from honeyguide.adapters.html.links import Links
from honeyguide.adapters.html.main_text import main_text
from honeyguide.adapters.html.walk import MAX_LABEL, MAX_TEXT, Document, fold
from honeyguide.core.page.page import FRAME, Head, Link, Page
from honeyguide.core.url.scope import not_a_page
from honeyguide.core.url.url import Url
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_DESCRIPTION = 2_000  # characters
METAS = frozenset(
    {"robots", "description", "og:title", "og:description", "content-language"}
)  # all that is read
MAX_FORWARD_BYTES = 65_536  # of a page, where it sends its readers elsewhere
_MAY_REFRESH = re.compile(rb"http-equiv\s{0,9}=\s{0,9}[\"']?\s{0,9}refresh")  # in small letters
# At most ten seconds: later, a page is to be read first, or shows itself again.
_REFRESH = re.compile(
    r"\s*0*(?:\d|10)(?:\.\d*)?\s*[;,\s]\s*(?:url\s*=\s*)?[\"']?([^\"']+?)[\"']?\s*", re.IGNORECASE
)
_MAX_VERSIONS = 300  # of a page in other languages
_TURNS = frozenset({"next", "prev"})
_SURELY_WHOLE = MAX_TEXT // 2  # characters: a text that is shorter was not cut
_MAX_DRAWING_DEPTH = 20  # elements around a title in a drawing


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
    base = base_of(metadata.base, url)
    links, text = Links(document, base), document.text()
    if with_groups:
        links.group(url)
    return Page(
        url=url,
        title=metadata.title,
        description=metadata.metas.get("description", ""),
        canonical=_canonical(metadata.canonical, base),
        language=_language(metadata),
        versions=tuple(filter(None, (_canonical(href, base) for href in metadata.versions))),
        robots=metadata.metas.get("robots", ""),
        h1=tuple(document.headings[1]),
        h2=tuple(document.headings[2]),
        text=text,
        links=links.merged(),
        skipped=links.skipped(unread_bytes),
        main=main_text(document, links, len(text)),
        turns=tuple(
            (rel, there) for rel, href in metadata.turns.items() if (there := _canonical(href, base))
        ),
        unseen=document.blocks.unseen() if len(text) < _SURELY_WHOLE else None,
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
    start = body[:MAX_FORWARD_BYTES]
    small = start.lower()  # ignoring case in a search costs twenty times as much
    may_forward = b"<frameset" in small or _MAY_REFRESH.search(small)
    if "html" not in (content_type or "html").lower() or not may_forward:
        return None
    document, _ = _parse(start, content_type)
    metadata = Metadata(document)
    base, refresh = base_of(metadata.base, url), _REFRESH.fullmatch(metadata.refresh)
    frames = [link.url for link in Links(document, base).merged() if link.rel == FRAME]
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
    return Links(document, base_of(Metadata(document).base, url)).merged()


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


def base_of(href: str | None, url: Url) -> Url:
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
        self.versions: list[str] = []
        self.turns: dict[str, str] = {}
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
        else:
            self._add_link(
                (get("rel") or "").lower().split(), get("href"), is_version="hreflang" in node.attributes
            )

    def _add_link(self, rel: list[str], href: str | None, *, is_version: bool) -> None:
        if self.canonical is None and "canonical" in rel:
            self.canonical = href
        elif href and is_version and "alternate" in rel and len(self.versions) < _MAX_VERSIONS:
            self.versions.append(href)
        elif href and (turn := _TURNS.intersection(rel)):
            self.turns.setdefault(min(turn), href)


def _is_inside(node: LexborNode, tag: str) -> bool:
    """Tell whether an element stands in another: a title in a drawing names a shape, noscript tells of scripts."""
    above = node.parent
    for _ in range(_MAX_DRAWING_DEPTH):
        if above is None or above.tag in {tag, "head"}:
            break
        above = above.parent
    return above is not None and above.tag == tag
