"""The facts that rules may read: their names, their kinds, and how a link provides them. Start reading at `FIELDS`.

A new fact is a line in `_CATALOGUE`; if a link alone determines it, also a function in `FILL`. Other facts are filled by
whoever knows them (selection, topic, plan), or measured by plug-ins (`register`).
Must not know: which rules exist. A fact is computed when a rule first reads it, because most cards read few. An unknown
fact is None: conditions on it are neither true nor false, and the score names it.
"""

from __future__ import annotations

import re
from enum import StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from honeyguide.core.text.fold import fold

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.core.page.page import Head, Link, Page

    Fill = Callable[[Link, Head | None], "Value"]


Value = str | float | bool | None

# Separates the texts of one fact (the anchors of all occurrences). Neither `.` nor `\s` of a pattern matches all of it,
# so that nothing matches across two texts.
JOIN = "\n\x1f\n"


class FactKind(StrEnum):
    """What a fact holds."""

    TEXT = "text"
    TEXTS = "texts"
    NUMBER = "number"
    FLAG = "flag"


class Field(NamedTuple):
    """One name that rules may read."""

    name: str
    kind: FactKind
    about: str

    @property
    def may_be_unknown(self) -> bool:
        """Whether the fact can be unknown; all others are known for every link."""
        return self.name not in FILL or self.name in _UNKNOWN


_CATALOGUE = (
    ("url", FactKind.TEXT, "the normalised URL, escapes decoded, folded"),
    ("path", FactKind.TEXT, "path, folded, escapes kept"),
    ("target", FactKind.TEXT, "path and query, folded, escapes kept"),
    ("plain_path", FactKind.TEXT, "path with escapes decoded, - _ + . as spaces"),
    ("segment", FactKind.TEXT, "first path segment, decoded, without extension"),
    ("folders", FactKind.TEXTS, "path segments before the last, decoded"),
    ("slug", FactKind.TEXT, "last path segment, or the folder of an index file, decoded, without extension"),
    ("home_path", FactKind.TEXT, "target below the homepage's folder, without tracking parameters"),
    ("path_length", FactKind.NUMBER, "non-empty path segments"),
    ("has_query", FactKind.FLAG, "the URL has a query"),
    ("anchor", FactKind.TEXTS, "anchor texts"),
    ("label", FactKind.TEXTS, "short anchor texts, words only"),
    ("menu", FactKind.TEXTS, "labels of the submenus that list it"),
    ("heading", FactKind.TEXTS, "headings of the groups of cards that list it"),
    ("listed", FactKind.TEXTS, "kinds of these labels and headings"),
    ("under", FactKind.TEXT, "the label or heading that lists it, as written"),
    (
        "leads",
        FactKind.FLAG,
        "it labels the largest submenu, or a heading of cards names it; no page is a hub by its words",
    ),
    ("in_largest_menu", FactKind.FLAG, "the largest submenu of the page lists it"),
    ("ends_menu", FactKind.FLAG, "it is the last entry of the menu"),
    (
        "group_share",
        FactKind.NUMBER,
        "share of services among the pages of a label or heading, 0 to 1",
    ),
    ("heading_words", FactKind.NUMBER, "for rules about headings: words of the label or heading"),
    ("owner", FactKind.TEXT, "for rules about headings: bucket of the entry with that label"),
    ("is_menu", FactKind.FLAG, "for rules about headings: it is the label of a submenu"),
    ("text_chars", FactKind.NUMBER, "characters of main text of the fetched page"),
    ("page_chars", FactKind.NUMBER, "characters of all text of the page as sent"),
    ("page_links", FactKind.NUMBER, "links of the page as sent"),
    ("scripts", FactKind.NUMBER, "script elements of the page as sent"),
    ("script_files", FactKind.NUMBER, "script elements that name a file"),
    ("has_empty_mount", FactKind.FLAG, "the page has an empty element that scripts of frameworks fill"),
    ("asks_for_scripts", FactKind.FLAG, "the page asks for JavaScript"),
    ("rendering_helps", FactKind.FLAG, "rendering helped on its site; unknown before it was tried"),
    ("legal_words", FactKind.NUMBER, "different legal words in the main text"),
    ("legal_density", FactKind.NUMBER, "legal words in 1,000 characters of main text"),
    ("clauses", FactKind.NUMBER, "lines of main text that begin with the number of a clause"),
    (
        "name_twin",
        FactKind.TEXT,
        "path of a fetched page that differs only in a name",
    ),
    ("same_text", FactKind.TEXT, "path of a better page with the same text"),
    ("slug_words", FactKind.NUMBER, "words in the last path segment"),
    ("anchor_words", FactKind.NUMBER, "the most words in an anchor text"),
    ("title", FactKind.TEXTS, "title attributes"),
    ("context", FactKind.TEXTS, "text around the link"),
    ("position", FactKind.TEXTS, "navigation, main, footer or sitemap"),
    ("rel", FactKind.TEXTS, "rel attributes"),
    ("occurrences", FactKind.NUMBER, "how often the page links it"),
    ("order", FactKind.NUMBER, "place in document order, from 0"),
    ("head_title", FactKind.TEXT, "title of the linked page"),
    ("head_description", FactKind.TEXT, "meta description of the linked page"),
    ("family", FactKind.TEXT, "its family of pages that differ only in a name"),
    ("is_duplicate", FactKind.FLAG, "another link of the page has the same key"),
    ("contextual", FactKind.NUMBER, "BM25 of the query, 0 to 1 (PICK-13)"),
    ("bucket", FactKind.TEXT, "kind of page: services, about, blog, …"),
    ("page_title", FactKind.TEXT, "title of the page itself"),
    ("heading_matches", FactKind.NUMBER, "h1 and h2 headings that match the topic"),
    ("mentions", FactKind.NUMBER, "occurrences of the topic in the page's text"),
    ("heading_share", FactKind.NUMBER, "share of h1 and h2 headings that match the topic, 0 to 1"),
    (
        "topic_density",
        FactKind.NUMBER,
        "mentions in 1,000 characters of main text",
    ),
    (
        "topic_spread",
        FactKind.NUMBER,
        "share of ten parts of main text that have the topic, 0 to 1",
    ),
    ("in_opening", FactKind.FLAG, "the first 500 characters of main text have the topic"),
    ("main_links", FactKind.NUMBER, "links of the main part to pages of its site"),
    ("link_share", FactKind.NUMBER, "share of the main text that is text of such links, 0 to 1"),
    ("daily_finds", FactKind.NUMBER, "new links that visits find a day, without the first visit"),
    ("since_visit_s", FactKind.NUMBER, "seconds since the last visit"),
    ("since_change_s", FactKind.NUMBER, "seconds since the last change"),
    ("relevance", FactKind.NUMBER, "topic relevance of a known URL, 0 to 1"),
    ("visits", FactKind.NUMBER, "visits so far"),
    ("hub_depth", FactKind.NUMBER, "links away from the nearest hub"),
    ("is_hub", FactKind.FLAG, "the page is a hub"),
)
BUILT_IN = frozenset(name for name, _, _ in _CATALOGUE)
FIELDS = {name: Field(name, kind, about) for name, kind, about in _CATALOGUE}
_UNKNOWN = {"head_title", "head_description", "position"}  # among those that links provide
MEASURED: set[str] = set()  # facts that plug-ins measure, which may take long
PAGE_FILL: dict[str, Callable[[Page], Value]] = {}  # facts about a fetched page that plug-ins measure
CARD = "card."  # the fact card.x is the value of scorecard x


class Facts(dict[str, Value]):
    """The facts of one row; those of a link, and of its target's head if that is known, are computed on first use."""

    __slots__ = ("head", "link")

    def __init__(self, link: Link | None = None, head: Head | None = None, **known: Value) -> None:
        if known:
            self.update(known)
        self.link = link
        self.head = head

    def __missing__(self, name: str) -> Value:
        fill = None if self.link is None else FILL.get(name)
        self[name] = value = None if fill is None else fill(self.link, self.head)  # type: ignore[arg-type] # a link, or no fill
        return value


def register(
    field: Field, of_link: Fill | None = None, of_page: Callable[[Page], Value] | None = None
) -> None:
    """Add a fact that a plug-in measures; it may be unknown."""
    FIELDS[field.name] = field
    MEASURED.add(field.name)
    if of_link is not None:
        FILL[field.name] = of_link
        _UNKNOWN.add(field.name)
    if of_page is not None:
        PAGE_FILL[field.name] = of_page


def join(texts: list[str]) -> str:
    """Join texts to one fact, folded, without duplicates and empty ones."""
    folded = dict.fromkeys(map(fold, dict.fromkeys(texts)))  # menus repeat the same text
    folded.pop("", None)
    return JOIN.join(folded)


SPACES = str.maketrans("-_+.", "    ")
_SHORT = 200  # characters; what is longer is rare, and would fill memory
_REMEMBERED = 4_096  # texts
_WORD = re.compile(r"[^\W_]+")


def plain(escaped: str) -> str:
    """Return path text as a reader sees it; nested escapes are decoded, too, because they could hide words.

    >>> plain("/Service%252DAreas/")
    '/service areas/'
    """
    return _PLAIN[escaped]


class _Plain(dict[str, str]):
    """The plain forms of short texts met lately: several facts are made of one segment, and menus repeat on each page."""

    def __missing__(self, escaped: str) -> str:
        text = _decoded(escaped) if "%" in escaped or not escaped.isascii() else _spaced(escaped)
        return _kept(self, escaped, text)


def _kept(known: dict[str, str], text: str, value: str) -> str:
    if len(text) <= _SHORT:
        if len(known) >= _REMEMBERED:
            known.clear()
        known[text] = value
    return value


def _spaced(escaped: str) -> str:
    """Fold plain ASCII, as nearly all paths are, without the tables for other letters."""
    spaced = escaped.lower().replace("-", " ").replace("_", " ").replace("+", " ").replace(".", " ")
    return " ".join(spaced.split())


def _decoded(escaped: str) -> str:
    for _ in range(4):
        decoded = unquote(escaped) if "%" in escaped else escaped
        if decoded == escaped:
            break
        escaped = decoded
    return fold(fold(escaped).translate(SPACES))


_PLAIN = _Plain()


def stem_of(segment: str) -> str:
    """Return a segment as a reader sees it, without its file extension."""
    if "." not in segment and ";" not in segment:
        return _PLAIN[segment]
    segment = segment.partition(";")[0] or segment  # drop path parameters
    name, dot, extension = segment.rpartition(".")
    return plain(name if dot and name and 1 < len(extension) <= 5 and extension.isalnum() else segment)


def slug_of(segments: tuple[str, ...]) -> str:
    """Name a page by its last path segment, or an index file by its folder; at the root it has no name."""
    if not segments:
        return ""
    slug = stem_of(segments[-1])
    return slug if slug != "index" else stem_of(segments[-2]) if len(segments) > 1 else ""


def _folders(link: Link, _head: Head | None) -> str:
    segments = link.url.segments
    is_named = len(segments) > 1 and stem_of(segments[-1]) == "index"  # an index file is named by its folder
    return JOIN.join([plain(segment.partition(";")[0]) for segment in segments[: -2 if is_named else -1]])


_LABEL_WORDS = 6  # a longer anchor text is a sentence or a teaser, which may mention anything


def words_only(text: str) -> str:
    """Return the words of a text, folded, without punctuation.

    >>> words_only("Our Services: A–Z")
    'our services a z'
    """
    return _WORDS[text]


class _Words(dict[str, str]):
    """The words of short texts met lately."""

    def __missing__(self, text: str) -> str:
        return _kept(self, text, " ".join(_WORD.findall(plain(text))))


_WORDS = _Words()


def label_of(words: str) -> str:
    """Return the words of an anchor text if they are few enough to be a label."""
    return words if words.count(" ") < _LABEL_WORDS else ""


def _groups(name: str) -> Fill:
    """Return a function that joins the words of the labels or headings of all occurrences."""
    read = attrgetter(name)
    return lambda link, _: JOIN.join(
        dict.fromkeys([words_only(text) for occurrence in link.occurrences if (text := read(occurrence))])
    )


def _every(name: str) -> Fill:
    """Return a function that joins one attribute of all occurrences; nearly every link has just one."""
    read = attrgetter(name)

    def fill(link: Link, _head: Head | None) -> str:
        occurrences = link.occurrences
        if len(occurrences) == 1:
            text = read(occurrences[0])
            return fold(text) if text else ""
        return join([read(occurrence) for occurrence in occurrences])

    return fill


def _anchor(link: Link, _head: Head | None) -> str:
    seen = link.seen
    return fold(seen[0][0]) if len(seen) == 1 else join([anchor for anchor, _ in seen])


def _url(link: Link, _head: Head | None) -> str:
    text = link.url.text
    return fold(unquote(text)) if "%" in text else text.lower()


def _target(link: Link, _head: Head | None) -> str:
    text = link.url.text  # read directly, because that is faster than `Url.target`
    return text[text.index("/", 8) :].lower()


def _path(link: Link, _head: Head | None) -> str:
    text = link.url.text
    return text[text.index("/", 8) :].partition("?")[0].lower()


def _positions(link: Link, _head: Head | None) -> str:
    seen = link.seen
    return seen[0][1] if len(seen) == 1 else JOIN.join(dict.fromkeys([position for _, position in seen]))


FILL: dict[str, Fill] = {
    "url": _url,
    "path": _path,
    "target": _target,
    "plain_path": lambda link, _: plain(link.url.path),
    "segment": lambda link, _: stem_of(segments[0]) if (segments := link.url.segments) else "",
    "folders": _folders,
    "slug": lambda link, _: slug_of(link.url.segments),
    "path_length": lambda link, _: float(len(link.url.segments)),
    "has_query": lambda link, _: bool(link.url.query),
    "anchor": _anchor,
    "label": lambda link, _: JOIN.join(
        dict.fromkeys([label_of(words_only(anchor)) for anchor, _ in link.seen])
    ),
    "menu": _groups("menu"),
    "heading": _groups("heading"),
    "slug_words": lambda link, _: float(len(slug_of(link.url.segments).split())),
    "anchor_words": lambda link, _: float(max([len(anchor.split()) for anchor, _ in link.seen])),
    "title": _every("title"),
    "context": _every("context"),
    "position": _positions,
    "rel": _every("rel"),
    "occurrences": lambda link, _: float(len(link.seen)),
    "order": lambda link, _: float(link.order),
    "head_title": lambda _, head: None if head is None or head.title is None else fold(head.title),
    "head_description": lambda _, head: (
        None if head is None or head.description is None else fold(head.description)
    ),
}
