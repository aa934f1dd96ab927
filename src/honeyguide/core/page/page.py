"""Links and pages as plain data.

Owns: `Position`, `Occurrence`, `Link`, `Head`, `Main`, `Page`. Must not know: HTML, HTTP, rules.
Start reading at `Link`: one URL with all its occurrences on one page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from honeyguide.core.url.url import Url

    Seen = tuple[str, "Position"]  # the anchor text and the position of an occurrence
    Describe = Callable[[], tuple["Occurrence", ...]]


class Position(StrEnum):
    """Where on its page a link is."""

    MAIN = "main"
    NAVIGATION = "navigation"
    FOOTER = "footer"
    SITEMAP = "sitemap"  # not on the page: only the sitemap of the site lists it


# A link counts by the best-scoring position of its occurrences (TOPIC-1: main 3, navigation 2, footer 0).
BEST_FIRST = (Position.MAIN, Position.NAVIGATION, Position.FOOTER, Position.SITEMAP)


FRAME = "frame"  # the rel of a link that is a frame of its page


class Occurrence(NamedTuple):
    """One anchor element."""

    # A tuple, because a page has hundreds, and tuples are several times as fast to make.

    anchor: str = ""
    title: str = ""
    rel: str = ""
    position: Position = Position.MAIN
    context: str = ""
    menu: str = ""  # the label of its submenu
    heading: str = ""  # of the group of cards that it is in


_MAX_JOINED = 20  # occurrences of links with one key
_ONCE = (Occurrence(),)


class Link:
    """A URL as seen on a page, with its occurrences in document order.

    `anchor`, `title`, `context` and `rel` are the first that are not empty. `seen` has the anchor text and the position of each
    occurrence.
    """

    # `occurrences` may be a function, which is called when somebody first asks for them: a crawl meets most links again and
    # again, and needs no more of them than `seen`.

    __slots__ = ("_occurrences", "order", "seen", "url")

    def __init__(
        self,
        url: Url,
        occurrences: tuple[Occurrence, ...] | Describe = _ONCE,
        order: int = 0,
        seen: Sequence[Seen] | None = None,
    ) -> None:
        self.url = url
        self.order = order
        self._occurrences = occurrences
        self.seen = [(one.anchor, one.position) for one in self.occurrences] if seen is None else seen

    @property
    def occurrences(self) -> tuple[Occurrence, ...]:
        """All occurrences."""
        if not isinstance(self._occurrences, tuple):
            self._occurrences = self._occurrences()
        return self._occurrences

    def __eq__(self, other: object) -> bool:
        return self._fields() == other._fields() if isinstance(other, Link) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        return f"Link(url={self.url!r}, occurrences={self.occurrences!r}, order={self.order!r})"

    def __reduce__(self) -> tuple[type[Link], tuple[Url, tuple[Occurrence, ...], int]]:
        return Link, self._fields()

    def _fields(self) -> tuple[Url, tuple[Occurrence, ...], int]:
        return self.url, self.occurrences, self.order

    def joined(self, other: Link) -> Link:
        """Join with another link of the same key: https wins (URL-7), then the shorter URL."""
        url = min(self.url, other.url, key=lambda url: (url.scheme != "https", len(url.text)))
        free = max(0, _MAX_JOINED - len(self.seen))
        return Link(url, self.occurrences + other.occurrences[:free], self.order)

    @property
    def anchor(self) -> str:
        """The first anchor text."""
        return next((anchor for anchor, _ in self.seen if anchor), "")

    @property
    def title(self) -> str:
        """The first title attribute."""
        return next((o.title for o in self.occurrences if o.title), "")

    @property
    def context(self) -> str:
        """The first context."""
        return next((o.context for o in self.occurrences if o.context), "")

    @property
    def rel(self) -> str:
        """The first rel attribute."""
        return next((o.rel for o in self.occurrences if o.rel), "")

    @property
    def position(self) -> Position:
        """The best-scoring position of all occurrences."""
        seen = {position for _, position in self.seen}
        return next(p for p in BEST_FIRST if p in seen)


class Head(NamedTuple):
    """Title and description of a linked page (PICK-11); None where they are not known."""

    title: str | None = None
    description: str | None = None


class Main(NamedTuple):
    """The text of a page without what its markup calls menu, header, footer or aside."""

    text: str
    is_marked: bool = False  # the markup names the main text, and this is that alone
    is_ended: bool = False  # marked, or the page has a footer of its own, so that none is at the end here


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed document. `skipped` lists hrefs that lead to no page (URL-9), each with the rule that rejected it."""

    url: Url
    title: str = ""
    description: str = ""
    canonical: str | None = None
    language: str | None = None
    versions: tuple[str, ...] = ()  # URLs that it names as itself in other languages (hreflang)
    robots: str = ""  # the meta element of that name, as written
    h1: tuple[str, ...] = ()
    h2: tuple[str, ...] = ()
    text: str = ""  # everything that a reader sees
    links: tuple[Link, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    main: Main | None = None  # None where the markup does not separate its parts
    turns: tuple[tuple[str, str], ...] = ()  # `next` and `prev` of its head, each with the URL
    # Text around links that nobody sees: `text` and this have all contexts, and `text` all of `main`. None: that is not known.
    unseen: str | None = field(default=None, compare=False, repr=False)

    @property
    def headings(self) -> tuple[str, ...]:
        """H1 and h2 headings together."""
        return self.h1 + self.h2
