"""The field catalogue: every name a rule may read, its kind, and how a link fills it.

Owns: `FIELDS`, `Facts`, `link_facts`. Must not know: which rules exist.
Facts are filled when a rule first reads them, so a card pays only for what it asks. A fact that is not known is None:
conditions on it are neither true nor false, and the score says what was not known.
"""

from __future__ import annotations

from enum import StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from honeyguide.core.text.fold import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from honeyguide.core.page.page import Head, Link

    Fill = Callable[[Link, Head | None], "Value"]


Value = str | float | bool | None


# Several texts in one fact (the anchors of all occurrences). Neither `.` nor `\s` of a pattern matches all of it, so
# nothing matches across two texts.
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
        """Say whether the fact can be missing; the others are there for every link."""
        return self.name not in FILL or self.name in ("head_title", "head_description", "position")


def _catalogue(*rows: tuple[str, FactKind, str]) -> dict[str, Field]:
    return {name: Field(name, kind, about) for name, kind, about in rows}


FIELDS: Mapping[str, Field] = _catalogue(
    ("url", FactKind.TEXT, "the normalised URL, escapes decoded, folded"),
    ("path", FactKind.TEXT, "path of the normalised URL, folded, escapes kept"),
    ("target", FactKind.TEXT, "path and query of the normalised URL, folded, escapes kept"),
    ("plain_path", FactKind.TEXT, "path as a reader sees it: escapes decoded, - _ + . as spaces"),
    ("segment", FactKind.TEXT, "first path segment, escapes decoded, file extension gone"),
    ("folders", FactKind.TEXTS, "path segments before the last, escapes decoded"),
    (
        "slug",
        FactKind.TEXT,
        "last path segment, escapes decoded, file extension gone; its folder for an index file",
    ),
    (
        "home_path",
        FactKind.TEXT,
        "path and query as seen from the homepage's folder, folded, tracking parameters gone",
    ),
    ("path_length", FactKind.NUMBER, "number of non-empty path segments"),
    ("has_query", FactKind.FLAG, "the URL has a query"),
    ("anchor", FactKind.TEXTS, "anchor texts of all occurrences"),
    ("label", FactKind.TEXTS, "short anchor texts, words only"),
    ("slug_words", FactKind.NUMBER, "words in the last path segment"),
    ("anchor_words", FactKind.NUMBER, "words in the longest anchor text"),
    ("title", FactKind.TEXTS, "title attributes of all occurrences"),
    ("context", FactKind.TEXTS, "text around the link, of all occurrences"),
    ("position", FactKind.TEXTS, "navigation, main, footer: of all occurrences"),
    ("rel", FactKind.TEXTS, "rel attributes of all occurrences"),
    ("occurrences", FactKind.NUMBER, "how often the page links it"),
    ("order", FactKind.NUMBER, "place in document order, from 0"),
    ("head_title", FactKind.TEXT, "title of the linked page, where its head was read"),
    ("head_description", FactKind.TEXT, "meta description of the linked page, where its head was read"),
    (
        "family",
        FactKind.TEXT,
        "the family of pages it belongs to that differ only in a name; unknown if to none",
    ),
    ("is_duplicate", FactKind.FLAG, "another link of the page has the same key"),
    ("contextual", FactKind.NUMBER, "BM25 of the query against title, description, anchor and URL, 0 to 1"),
    ("bucket", FactKind.TEXT, "what kind of page it is: services, about, blog, ..."),
    ("page_title", FactKind.TEXT, "title of the page itself"),
    ("heading_matches", FactKind.NUMBER, "h1 and h2 headings that match the topic"),
    ("mentions", FactKind.NUMBER, "occurrences of the topic in the page's text"),
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


CARD = "card."  # a fact named card.x is the value of scorecard x


class Facts(dict[str, Value]):
    """The flat record rules read; names that were not given are filled when first read.

    Facts of a link are read from the link, and from its target's head where that is known.
    """

    __slots__ = ("head", "link")

    def __init__(self, link: Link | None = None, head: Head | None = None, **known: Value) -> None:
        if known:
            self.update(known)
        self.link = link
        self.head = head

    def __missing__(self, name: str) -> Value:
        value = None if self.link is None or name not in FILL else FILL[name](self.link, self.head)
        self[name] = value
        return value


def join(texts: list[str]) -> str:
    """Many texts as one fact, folded, duplicates and empty ones gone.

    >>> join(["Fire  Alarms", "", "fire alarms", "CCTV"]).split(JOIN)
    ['fire alarms', 'cctv']
    """
    folded = dict.fromkeys(map(fold, dict.fromkeys(texts)))  # a menu repeats itself word for word
    folded.pop("", None)
    return JOIN.join(folded)


_SPACES = str.maketrans("-_+.", "    ")


def plain(escaped: str) -> str:
    """Path text as a reader sees it; escapes are decoded until nothing changes, so hiding in them is no use.

    >>> plain("/Service%252DAreas/")
    '/service areas/'
    """
    for _ in range(4):
        decoded = unquote(escaped) if "%" in escaped else escaped
        if decoded == escaped:
            break
        escaped = decoded
    return fold(fold(escaped).translate(_SPACES))


def stem_of(segment: str) -> str:
    """Segment without its file extension, as a reader sees it.

    >>> stem_of("Fire-Alarms.html")
    'fire alarms'
    """
    segment = segment.partition(";")[0] or segment  # parameters of a path are no part of a name
    name, dot, extension = segment.rpartition(".")
    return plain(name if dot and name and 1 < len(extension) <= 5 and extension.isalnum() else segment)


def slug_of(segments: tuple[str, ...]) -> str:
    """Name a page by its last path segment; an index file is named by its folder.

    At the root an index file has no name: what it shows is in the query.

    >>> slug_of(("services", "index.html")), slug_of(("index.php",))
    ('services', '')
    """
    if not segments:
        return ""
    slug = stem_of(segments[-1])
    return slug if slug != "index" else stem_of(segments[-2]) if len(segments) > 1 else ""


def _folders(segments: tuple[str, ...]) -> tuple[str, ...]:
    """Give the folders a page lies in; of an index file not the one that names it."""
    is_index = len(segments) > 1 and stem_of(segments[-1]) == "index"
    return segments[: -2 if is_index else -1]


def _first_segment(link: Link, _head: Head | None) -> str:
    segments = link.url.segments
    return stem_of(segments[0]) if segments else ""


_LABEL_WORDS = 6  # a longer anchor text is a sentence or a whole card, and mentions anything


def _label(anchor: str) -> str:
    words = "".join(c if c.isalnum() else " " for c in plain(anchor)).split()
    return " ".join(words) if len(words) <= _LABEL_WORDS else ""


def _every(name: str) -> Fill:
    """Join one attribute of all occurrences; nearly every link has just one."""
    read = attrgetter(name)

    def fill(link: Link, _head: Head | None) -> str:
        occurrences = link.occurrences
        if len(occurrences) == 1:
            text = read(occurrences[0])
            return fold(text) if text else ""
        return join([read(occurrence) for occurrence in occurrences])

    return fill


def _url(link: Link, _head: Head | None) -> str:
    text = link.url.text
    return fold(unquote(text)) if "%" in text else text.lower()


def _target(link: Link, _head: Head | None) -> str:
    text = link.url.text
    return text[
        text.index("/", 8) :
    ].lower()  # past "http://" and one character of a host; cheaper than `Url.target`


def _path(link: Link, _head: Head | None) -> str:
    text = link.url.text
    return text[text.index("/", 8) :].partition("?")[0].lower()


def _positions(link: Link, _head: Head | None) -> str:
    occurrences = link.occurrences
    if len(occurrences) == 1:
        return occurrences[0].position
    return JOIN.join(dict.fromkeys(occurrence.position for occurrence in occurrences))


FILL: Mapping[str, Fill] = {
    "url": _url,
    "path": _path,
    "target": _target,
    "plain_path": lambda link, _: plain(link.url.path),
    "segment": _first_segment,
    "folders": lambda link, _: JOIN.join(
        [plain(segment.partition(";")[0]) for segment in _folders(link.url.segments)]
    ),
    "slug": lambda link, _: slug_of(link.url.segments),
    "path_length": lambda link, _: float(len(link.url.segments)),
    "has_query": lambda link, _: bool(link.url.query),
    "anchor": _every("anchor"),
    "label": lambda link, _: JOIN.join(dict.fromkeys(_label(o.anchor) for o in link.occurrences)),
    "slug_words": lambda link, _: float(len(slug_of(link.url.segments).split())),
    "anchor_words": lambda link, _: float(max(len(o.anchor.split()) for o in link.occurrences)),
    "title": _every("title"),
    "context": _every("context"),
    "position": _positions,
    "rel": _every("rel"),
    "occurrences": lambda link, _: float(len(link.occurrences)),
    "order": lambda link, _: float(link.order),
    "head_title": lambda _, head: None if head is None or head.title is None else fold(head.title),
    "head_description": lambda _, head: (
        None if head is None or head.description is None else fold(head.description)
    ),
}
