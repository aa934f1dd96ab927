"""A report as data: figures, facts, counts under headings, and lists of pages; plain, harmless and bounded.

Owns: what a report of a crawl or a plan is made of, however it is written. Must not know: HTML, Markdown, files, records
of any command. Start reading at `Sheet`; `crawl.py` and `plan.py` make sheets, `html.py` and `markdown.py` write them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from honeyguide.report.pick import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from honeyguide.report.pick import ReportRow


MAX_PAGES = 200  # in a list of pages
MAX_LINES = 50  # counts under one heading


@dataclass(frozen=True, slots=True)
class Line:
    """A count: of what, how many, and what else there is to say."""

    name: str
    count: int
    words: str = ""


@dataclass(frozen=True, slots=True)
class CountList:
    """Counts under a heading; bars are shares of `whole`, or of the largest count. `more` are not listed."""

    heading: str
    lines: tuple[Line, ...]
    whole: int = 0
    more: int = 0

    @property
    def full(self) -> int:
        """The count whose bar is as long as bars are."""
        return self.whole or max((line.count for line in self.lines), default=0)


@dataclass(frozen=True, slots=True)
class Pages:
    """Pages under a heading, the best first; `more` are not listed."""

    heading: str
    rows: tuple[ReportRow, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class Sheet:
    """A report: `heading` is the same for all reports of a command; `figures` are numbers with what they count."""

    heading: str
    below: str
    figures: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    parts: tuple[CountList | Pages, ...]


def counted(heading: str, counts: Mapping[str, int], words: Callable[[str], str] | None = None) -> CountList:
    """Make a tally of counts, most first; what is counted may be named by a stranger.

    >>> counted("Hosts", {"a.example": 1, "b.example": 2}).lines
    (Line(name='b.example', count=2, words=''), Line(name='a.example', count=1, words=''))
    """
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    lines = (
        Line(clean(name) or "?", count, clean(words(name)) if words else "")
        for name, count in ordered[:MAX_LINES]
    )
    return CountList(heading, tuple(lines), more=max(0, len(ordered) - MAX_LINES))


def facts_of(pairs: Iterable[tuple[str, object]], limit: int | None = None) -> tuple[tuple[str, str], ...]:
    """Give what is known of a run, each with its name; what is not known is left out.

    >>> facts_of([("Topic", None), ("Run", 2), ("Profile", "docs")])
    (('Run', '2'), ('Profile', 'docs'))
    """
    return tuple((name, clean(str(value), limit)) for name, value in pairs if value not in (None, ""))
