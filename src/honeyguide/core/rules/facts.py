"""The facts that rules may read: their names, their kinds, and how a link provides them. Start reading at `FIELDS`.

A new fact is a line in `_CATALOGUE`; if a link alone determines it, also a function in `FILL`. Other facts are filled by
whoever knows them (selection, topic, plan), or measured by plug-ins (`register`).
Must not know: which rules exist. A fact is computed when a rule first reads it, because most cards read few. An unknown
fact is None: conditions on it are neither true nor false, and the score names it.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from honeyguide.core.text.fold import fold, fold_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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
    ("path", FactKind.TEXT, "path of the normalised URL, folded, escapes kept"),
    ("target", FactKind.TEXT, "path and query of the normalised URL, folded, escapes kept"),
    ("plain_path", FactKind.TEXT, "path as a reader sees it: escapes decoded, - _ + . as spaces"),
    ("segment", FactKind.TEXT, "first path segment, decoded, without extension"),
    ("folders", FactKind.TEXTS, "path segments before the last, decoded"),
    ("slug", FactKind.TEXT, "last path segment, decoded, without extension; its folder for an index file"),
    ("home_path", FactKind.TEXT, "path and query below the homepage's folder, without tracking parameters"),
    ("path_length", FactKind.NUMBER, "number of non-empty path segments"),
    ("has_query", FactKind.FLAG, "the URL has a query"),
    ("anchor", FactKind.TEXTS, "anchor texts of all occurrences"),
    ("label", FactKind.TEXTS, "short anchor texts, words only"),
    ("menu", FactKind.TEXTS, "labels of the submenus that list it, words only"),
    ("heading", FactKind.TEXTS, "headings of the groups of cards that list it, words only"),
    ("listed", FactKind.TEXTS, "kinds of these labels and headings, by the rules of the strategy"),
    ("under", FactKind.TEXT, "the label or heading that lists it, as written; unknown if there is none"),
    (
        "leads",
        FactKind.FLAG,
        "it labels the largest submenu, or a heading of cards names it; no page is a hub by its words",
    ),
    ("in_largest_menu", FactKind.FLAG, "the largest submenu of the page lists it"),
    ("ends_menu", FactKind.FLAG, "it is the last entry of the menu of the page"),
    (
        "group_share",
        FactKind.NUMBER,
        "share of services among the pages that a label or heading lists, 0 to 1",
    ),
    ("heading_words", FactKind.NUMBER, "words of a label or heading, for rules about headings"),
    ("owner", FactKind.TEXT, "bucket of the menu's entry with that label, for rules about headings"),
    ("is_menu", FactKind.FLAG, "it is the label of a submenu, for rules about headings"),
    ("text_chars", FactKind.NUMBER, "characters of the fetched page's main text"),
    ("page_chars", FactKind.NUMBER, "characters of all text of a page as it was sent"),
    ("page_links", FactKind.NUMBER, "links of a page as it was sent"),
    ("scripts", FactKind.NUMBER, "script elements of a page as it was sent"),
    ("script_files", FactKind.NUMBER, "those of them that name a file"),
    ("has_empty_mount", FactKind.FLAG, "the page has the empty element that scripts of frameworks fill"),
    ("asks_for_scripts", FactKind.FLAG, "the page asks those who run no scripts for JavaScript"),
    ("rendering_helps", FactKind.FLAG, "rendering helped on its site; unknown before it was tried"),
    ("legal_words", FactKind.NUMBER, "different legal words in that text"),
    ("legal_density", FactKind.NUMBER, "legal words in 1,000 characters of that text"),
    ("clauses", FactKind.NUMBER, "lines of that text that begin with the number of a clause"),
    (
        "name_twin",
        FactKind.TEXT,
        "path of a fetched page that differs only in a name; unknown if there is none",
    ),
    ("same_text", FactKind.TEXT, "path of a better page with the same text; unknown if there is none"),
    ("slug_words", FactKind.NUMBER, "words in the last path segment"),
    ("anchor_words", FactKind.NUMBER, "the most words in an anchor text"),
    ("title", FactKind.TEXTS, "title attributes of all occurrences"),
    ("context", FactKind.TEXTS, "text around the link, of all occurrences"),
    ("position", FactKind.TEXTS, "navigation, main, footer, sitemap: of all occurrences"),
    ("rel", FactKind.TEXTS, "rel attributes of all occurrences"),
    ("occurrences", FactKind.NUMBER, "how often the page links it"),
    ("order", FactKind.NUMBER, "place in document order, from 0"),
    ("head_title", FactKind.TEXT, "title of the linked page, where its head was read"),
    ("head_description", FactKind.TEXT, "meta description of the linked page, where its head was read"),
    ("family", FactKind.TEXT, "its family of pages that differ only in a name; unknown if it has none"),
    ("is_duplicate", FactKind.FLAG, "another link of the page has the same key"),
    ("contextual", FactKind.NUMBER, "BM25 of the query against title, description, anchor and URL, 0 to 1"),
    ("bucket", FactKind.TEXT, "what kind of page it is: services, about, blog, ..."),
    ("page_title", FactKind.TEXT, "title of the page itself"),
    ("heading_matches", FactKind.NUMBER, "h1 and h2 headings that match the topic"),
    ("mentions", FactKind.NUMBER, "occurrences of the topic in the page's text"),
    ("heading_share", FactKind.NUMBER, "share of the h1 and h2 headings that match the topic, 0 to 1"),
    (
        "topic_density",
        FactKind.NUMBER,
        "occurrences of the topic in 1,000 characters of the page's main text",
    ),
    (
        "topic_spread",
        FactKind.NUMBER,
        "share of ten equal parts of the main text that have the topic, 0 to 1",
    ),
    ("in_opening", FactKind.FLAG, "the first 500 characters of the main text have the topic"),
    ("main_links", FactKind.NUMBER, "pages of its site that the main part of the page links"),
    ("link_share", FactKind.NUMBER, "share of the main text that is the text of such links, 0 to 1"),
    ("daily_finds", FactKind.NUMBER, "new links that visits find a day, the first visit aside"),
    ("since_visit_s", FactKind.NUMBER, "seconds since the last visit; unknown if never visited"),
    ("since_change_s", FactKind.NUMBER, "seconds since the last change; unknown if none was seen"),
    ("relevance", FactKind.NUMBER, "topic relevance of a known URL, 0 to 1"),
    ("visits", FactKind.NUMBER, "visits so far"),
    ("hub_depth", FactKind.NUMBER, "links away from the nearest hub"),
    ("is_hub", FactKind.FLAG, "the page is a hub"),
)
BUILT_IN = frozenset(name for name, _, _ in _CATALOGUE)
FIELDS = {name: Field(name, kind, about) for name, kind, about in _CATALOGUE}
_UNKNOWN = {"head_title", "head_description", "position"}  # among those that links provide
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


_SPACES = str.maketrans("-_+.", "    ")
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
    return fold(fold(escaped).translate(_SPACES))


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


def _label(anchor: str) -> str:
    words = words_only(anchor)
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
    "label": lambda link, _: JOIN.join(dict.fromkeys([_label(anchor) for anchor, _ in link.seen])),
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


class Lines(NamedTuple):
    """The texts of one fact of many links, a line each; `owners` gives the place of the link that each belongs to."""

    text: str
    owners: Callable[[], Sequence[int]]


def lines_of(field: str, links: Sequence[Link]) -> Lines:
    """Return the texts of a fact of many links, heads aside; what every card reads is made for all links at once.

    A text may come twice or be empty, which the fact itself leaves out: no test tells the difference.
    """
    if field in _LINES:
        return _LINES[field](links)
    fill = FILL[field]
    parts = [str(fill(link, None)).split(JOIN) for link in links]
    return Lines("\n".join(map("\n".join, parts)), partial(_owners, parts))


def _owners(texts: Iterable[Sequence[object]]) -> list[int]:
    return [place for place, one in enumerate(texts) for _ in one]


def _url_lines(links: Sequence[Link]) -> Lines:
    text = "\n".join([link.url.text for link in links])
    text = "\n".join([str(_url(link, None)) for link in links]) if "%" in text else text.lower()
    return Lines(text, partial(range, len(links)))


def _target_lines(links: Sequence[Link]) -> Lines:
    text = "\n".join([(text := link.url.text)[text.index("/", 8) :] for link in links])
    return Lines(text.lower(), partial(range, len(links)))


def _path_lines(links: Sequence[Link]) -> Lines:
    text, owners = _target_lines(links)
    if "?" in text:
        text = "\n".join([target.partition("?")[0] for target in text.split("\n")])
    return Lines(text, owners)


def _anchor_lines(links: Sequence[Link]) -> Lines:
    seen = [link.seen for link in links]
    return Lines(fold_lines([anchor for one in seen for anchor, _ in one]), partial(_owners, seen))


def _title_lines(links: Sequence[Link]) -> Lines:
    seen = [link.occurrences for link in links]
    return Lines(fold_lines([occurrence.title for one in seen for occurrence in one]), partial(_owners, seen))


def _context_lines(links: Sequence[Link]) -> Lines:
    seen = [link.occurrences for link in links]
    return Lines(
        fold_lines([occurrence.context for one in seen for occurrence in one]), partial(_owners, seen)
    )


_LINES: dict[str, Callable[[Sequence[Link]], Lines]] = {
    "url": _url_lines,
    "path": _path_lines,
    "target": _target_lines,
    "anchor": _anchor_lines,
    "title": _title_lines,
    "context": _context_lines,
}
