"""HTML to plain data: the links of a page, and what it says about itself.

Owns: links, merged by the identity of their URL, and the fields of `Page` and `Head`. How a document is parsed and
read is in `dom.py`, what it says about itself in `about.py`, how its bytes are read in `charset.py`, and what is not
parsed at all in `tame.py`.
Must not know: HTTP, scores, where the bytes came from. Start reading at `parse_page`.

What counts as a link: `a` and `area` with an href, also in svg. Inside `noscript` and elements with the `hidden`
attribute links count, because readers without scripts follow them, but their text is not visible text. The content of
`template` is no part of the page. Nothing is left out silently: see `Page.skipped`, rule `limit`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.adapters.html import walk
from honeyguide.adapters.html.charset import to_utf8
from honeyguide.adapters.html.dom import Document
from honeyguide.adapters.html.guards import is_page, tamed, uncoloured
from honeyguide.adapters.html.walk import fold
from honeyguide.core.page.page import Head, Link, Occurrence, Page
from honeyguide.core.url.scope import not_a_page
from honeyguide.core.url.steps import MAX_CHARS
from honeyguide.core.url.url import Url
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode


MAX_LINKS = 20_000  # distinct URLs of a page; real index pages stay under 10,000
MAX_OCCURRENCES = 20  # kept of one link: what a link can say, it has said by then
MAX_SKIPPED = 1_000  # hrefs that are no pages; what is over is counted in a last entry
MAX_SKIPPED_HREF = 200  # characters
LIMIT = "limit"  # the rule that puts out what is over one of these


_ABSOLUTE = ("http://", "https://")
_SURELY_A_PAGE = ("/", *_ABSOLUTE)
_FRAGMENT_ONLY = "fragment-only"  # what `not_a_page` says of most hrefs that are none


# What hrefs came to, by the folder of the page: the pages of a folder repeat their menu, and link each other.
_KNOWN: dict[tuple[str, str], Url] = {}
_MOST_KNOWN = 20_000


def parse_page(data: bytes | str, url: Url, content_type: str | None = None) -> Page:
    """Read a document: its links, and what it says about itself.

    >>> page = parse_page("<title>Acme</title><nav><a href=about/>About us</a></nav>", Url.parse("https://a.example/"))
    >>> page.title, page.links[0].url.as_linked, page.links[0].anchor, page.links[0].position.value
    ('Acme', 'https://a.example/about/', 'About us', 'navigation')
    """
    document, left_out = _parse(data, content_type)
    about = About(document)
    base = _base(about.base, url)
    links, text = _Links(document, base), document.text()
    return Page(
        url=url,
        title=about.title,
        description=about.metas.get("description", ""),
        canonical=_canonical(about.canonical, base),
        language=_language(about),
        h1=tuple(document.headings[1]),
        h2=tuple(document.headings[2]),
        text=text,
        links=links.merged(),
        skipped=links.skipped(left_out),
        main=document.main(text),
    )


def parse_head(data: bytes | str, content_type: str | None = None) -> Head:
    """Read only what a head says (PICK-11), cut off as it may be.

    >>> parse_head('<title>Fire &amp; Safety</title><meta property="og:description" content="Alarms"><meta name="desc')
    Head(title='Fire & Safety', description='Alarms')
    """
    about = About(_parse(data, content_type)[0])
    title = about.title or about.metas.get("og:title")
    return Head(title, about.metas.get("description") or about.metas.get("og:description"))


def extract_links(html: bytes | str, url: Url) -> tuple[Link, ...]:
    """Give the links that `parse_page` finds, without the price of the text.

    >>> [link.anchor for link in extract_links("<a href=a><img alt=Logo></a>", Url.parse("https://a.example/"))]
    ['Logo']
    """
    document, _ = _parse(html, None)
    return _Links(document, _base(About(document).base, url)).merged()


def _parse(data: bytes | str, content_type: str | None) -> tuple[Document, int]:
    """Parse a document; also tell how many bytes of it were left out."""
    markup = (
        data.removeprefix("\ufeff").encode("utf-8", "replace")
        if isinstance(data, str)
        else to_utf8(data, content_type)
    )
    if not is_page(markup):
        return Document(b""), 0
    markup, left_out = tamed(uncoloured(markup))
    return Document(markup), left_out


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


def _language(about: About) -> str | None:
    """Give the language: of the html element, else the first that a meta element names."""
    return about.language or about.metas.get("content-language", "").partition(",")[0].strip().lower() or None


class _Links:
    """The links of a page, merged as they come."""

    def __init__(self, document: Document, base: Url) -> None:
        self._base = base
        self._folder = base.as_linked.partition("?")[0].rpartition("/")[0]
        self._by_href: dict[str, list[Occurrence] | None] = {}  # None: no link
        self._by_stem: dict[str, list[Occurrence]] = {}  # by what is before the fragment
        self._by_url: dict[str, tuple[Url, int, list[Occurrence]]] = {}
        self._skipped: list[tuple[str, str]] = []
        by_href, by_stem, order = self._by_href, self._by_stem, 0
        for number, node, attributes in document.anchors():
            href = attributes.get("href") or attributes.get("xlink:href") or ""
            stem = href.partition("#")[0]
            occurrences = by_stem.get(stem)
            if occurrences is None or len(href) > MAX_CHARS:
                occurrences = by_href[href] if href in by_href else self._meet(href, stem, order)
            if occurrences is not None:
                order += 1
                if len(occurrences) < MAX_OCCURRENCES:
                    occurrences.append(document.occurrence(number, node, attributes))

    def merged(self) -> tuple[Link, ...]:
        """Give the links in the order of their first occurrences."""
        return tuple(
            Link(url, tuple(occurrences), order) for url, order, occurrences in self._by_url.values()
        )

    def skipped(self, left_out: int) -> tuple[tuple[str, str], ...]:
        """Give the hrefs that are no links, each with the rule that put it out, and what went over a limit."""
        skipped = self._skipped[:MAX_SKIPPED]
        if more := len(self._skipped) - len(skipped):
            skipped.append((f"{more} more", LIMIT))
        if left_out:
            skipped.append((f"{left_out} bytes of markup", LIMIT))
        return tuple(skipped)

    def _meet(self, href: str, stem: str, order: int) -> list[Occurrence] | None:
        """Find the link that a new href belongs to, or skip the href."""
        found = _FRAGMENT_ONLY if href[:1] == "#" else self._place(href, stem, order)
        occurrences = None if isinstance(found, str) else found
        if isinstance(found, str):
            self._skipped.append((href[:MAX_SKIPPED_HREF], found))
        self._by_href[href] = occurrences
        return occurrences

    def _place(self, href: str, stem: str, order: int) -> list[Occurrence] | str:
        """Find the occurrences of a link, or the rule that puts the href out (URL-9)."""
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
        """Resolve an href, from memory if that is possible, or give the rule that puts it out."""
        url = _KNOWN.get((self._folder, stem))
        if url is not None and len(href) <= MAX_CHARS:
            return url
        # Most hrefs show at once that they are neither empty nor a fragment nor of another scheme.
        if not href.startswith(_SURELY_A_PAGE) and (verdict := not_a_page(href)):
            return verdict.rule
        try:
            url = Url.parse(href, self._base)
        except UrlError:
            return "unparsable"
        if _needs_only_folder(stem):
            if len(_KNOWN) >= _MOST_KNOWN:
                _KNOWN.clear()
            _KNOWN[self._folder, stem] = url
        return url


def _needs_only_folder(stem: str) -> bool:
    """Tell whether an href comes to the same on all pages of a folder: it has a path, and says no scheme, or all."""
    is_path = stem[:1].isalnum() or stem[:1] in ("/", ".")
    return is_path and stem[-1] > " " and (":" not in stem or stem.startswith(_ABSOLUTE))


MAX_DESCRIPTION = 2_000  # characters
_DRAWING_DEPTH = 20  # elements around a title in a drawing


METAS = frozenset({"description", "og:title", "og:description", "content-language"})  # all that is read


class About:
    """What a document says about itself; the first of each counts.

    >>> from honeyguide.adapters.html.dom import Document
    >>> about = About(Document(b"<html lang=en><title>Acme</title><link rel=canonical href=/a>"))
    >>> about.language, about.title, about.canonical
    ('en', 'Acme', '/a')
    """

    def __init__(self, document: Document) -> None:
        self.language = ""
        self.base: str | None = None
        self.canonical: str | None = None
        self.metas: dict[str, str] = {}
        self.title = ""
        for node in document.told():
            self._add(node)

    def _add(self, node: LexborNode) -> None:
        """Read an html, title, meta, link or base element."""
        attributes = node.attributes
        if node.tag == "title":
            if not self.title and not _is_drawn(node):
                self.title = fold(node.text(), walk.MAX_LABEL)
        elif node.tag == "meta":
            name = (
                (attributes.get("name") or attributes.get("property") or attributes.get("http-equiv") or "")
                .strip()
                .lower()
            )
            if name in METAS and (value := fold(attributes.get("content"), MAX_DESCRIPTION)):
                self.metas.setdefault(name, value)
        elif node.tag == "html":
            self.language = fold(attributes.get("lang") or attributes.get("xml:lang"), walk.MAX_LABEL).lower()
        elif node.tag == "base":
            if self.base is None:
                self.base = attributes.get("href")
        elif self.canonical is None and "canonical" in (attributes.get("rel") or "").lower().split():
            self.canonical = attributes.get("href")


def _is_drawn(node: LexborNode) -> bool:
    """Tell whether a title is one in a drawing, where it names a shape."""
    above = node.parent
    for _ in range(_DRAWING_DEPTH):
        if above is None or above.tag in {"svg", "head"}:
            break
        above = above.parent
    return above is not None and above.tag == "svg"
