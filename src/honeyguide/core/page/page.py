"""Links and pages as plain data.

Owns: `Position`, `Occurrence`, `Link`, `Head`, `Main`, `Page`. Must not know: HTML, HTTP, rules.
Start reading at `Link`: one URL as one page shows it, however often it is linked there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from honeyguide.core.url.url import Url


class Position(StrEnum):
    """Where on the page a link stands."""

    MAIN = "main"
    NAVIGATION = "navigation"
    FOOTER = "footer"


# Of several occurrences the best-scoring position stands for the link (TOPIC-1: main 3, navigation 2, footer 0).
BEST_FIRST = (Position.MAIN, Position.NAVIGATION, Position.FOOTER)


class Occurrence(NamedTuple):
    """One anchor element. A page has hundreds, and tuples are made several times as fast as frozen dataclasses."""

    anchor: str = ""
    title: str = ""
    rel: str = ""
    position: Position = Position.MAIN
    context: str = ""


_MOST_JOINED = 20  # occurrences of links with one key


@dataclass(frozen=True, slots=True)
class Link:
    """A URL as seen on a page; its occurrences in document order."""

    url: Url
    occurrences: tuple[Occurrence, ...] = (Occurrence(),)
    order: int = 0

    def joined(self, other: Link) -> Link:
        """Join with another link of the same key: all that their texts say counts, within bounds; https wins (URL-7)."""
        url = other.url if other.url.scheme == "https" != self.url.scheme else self.url
        room = max(0, _MOST_JOINED - len(self.occurrences))
        return replace(self, url=url, occurrences=self.occurrences + other.occurrences[:room])

    @property
    def anchor(self) -> str:
        """The first anchor text that is not empty."""
        return next((o.anchor for o in self.occurrences if o.anchor), "")

    @property
    def title(self) -> str:
        """The first title attribute that is not empty."""
        return next((o.title for o in self.occurrences if o.title), "")

    @property
    def context(self) -> str:
        """The first context that is not empty."""
        return next((o.context for o in self.occurrences if o.context), "")

    @property
    def rel(self) -> str:
        """The first rel attribute that is not empty."""
        return next((o.rel for o in self.occurrences if o.rel), "")

    @property
    def position(self) -> Position:
        """The best-scoring position of all occurrences."""
        seen = {o.position for o in self.occurrences}
        return next(p for p in BEST_FIRST if p in seen)


class Head(NamedTuple):
    """What the head of a link's target says (PICK-11); None where it does not say it."""

    title: str | None = None
    description: str | None = None


class Main(NamedTuple):
    """The text of a page without what its markup calls menu, header, footer or aside.

    `is_marked`: the page says where its main text is, and this is that alone. `is_ended`: it has a footer, or is marked, so
    what comes last in this text is no footer.
    """

    text: str
    is_marked: bool = False
    is_ended: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed document. `skipped` are hrefs that are no pages (URL-9), with the rule that put them out.

    `text` is all that a reader sees; `main` is None where the markup does not tell parts of it apart.
    """

    url: Url
    title: str = ""
    description: str = ""
    canonical: str | None = None
    language: str | None = None
    h1: tuple[str, ...] = ()
    h2: tuple[str, ...] = ()
    text: str = ""
    links: tuple[Link, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    main: Main | None = None

    @property
    def headings(self) -> tuple[str, ...]:
        """H1 and h2 headings together."""
        return self.h1 + self.h2
