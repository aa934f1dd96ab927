"""A report as a tree: figures, facts, counts, pages, groups, tables and charts; plain, harmless and bounded.

Owns: the nodes of a report, and reading text, numbers and pages from records, which come from pages, so nothing in them is
trusted. Must not know: HTML, Markdown, files, any command. Start reading at `Sheet`; `pick.py`, `crawl.py` and `plan.py`
build sheets, `html.py` and `markdown.py` only render them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from honeyguide.core.text.printable import legible, tidy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from honeyguide.core.records import Record


MAX_TEXT = 200  # characters of a title, an anchor, a sentence
MAX_URL = 500  # characters; a longer one is shown cut, and is no link
MAX_LISTED = 12  # pages of a group, reasons of a score, evidence
MAX_PAGES = 200  # in a list of pages
MAX_LINES = 50  # counts under one heading
# The first heading of the reports of each command, no two of which are the same.
HEADINGS = {
    "pick": "Pages worth a visit",
    "crawl": "What a crawl found",
    "plan": "What to visit next",
    "simulate": "What recrawl policies are worth",
}


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A page. `points` are what rules paid and their sentences; `rejected` is a rule and its sentence; `words` stand beside."""

    url: str
    link: str | None
    text: str = ""
    rank: int | None = None
    label: str = ""
    score: float | int | None = None
    points: tuple[tuple[str, str], ...] = ()
    rejected: tuple[str, str] | None = None
    facts: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    words: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A count: of what, how many, what else there is to say, and in a funnel how many were lost on the way to it."""

    name: str
    count: int
    words: str = ""
    lost: int = 0


@dataclass(frozen=True, slots=True)
class CountList:
    """Counts under a heading; bars are shares of `whole`, or of the largest count. `more` are not listed."""

    heading: str
    lines: tuple[Line, ...]
    whole: int = 0
    more: int = 0

    @property
    def full(self) -> int:
        """The count whose bar has the full length."""
        return self.whole or max((line.count for line in self.lines), default=0)


@dataclass(frozen=True, slots=True)
class Pages:
    """Pages under a heading, the best first; `label` names what their labels are, and `more` are not listed."""

    heading: str
    rows: tuple[ReportRow, ...]
    more: int = 0
    label: str = "Bucket"
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class PageGroup:
    """Pages, or sites, with one thing in common: its name, how many there are, the sentence for all, the first few."""

    name: str
    count: int
    rows: tuple[ReportRow, ...]
    words: str = ""


@dataclass(frozen=True, slots=True)
class PageGroups:
    """Groups of pages under a heading."""

    heading: str
    groups: tuple[PageGroup, ...]
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class Curve:
    """A line of a chart: shares, at equal distances."""

    name: str
    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells below curves, if there are any; a row that is no policy is grey."""

    heading: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    curves: tuple[Curve, ...] = ()
    grey: frozenset[int] = frozenset()


Part = CountList | Pages | PageGroups | Table


@dataclass(frozen=True, slots=True)
class Section:
    """A site of a pick: `number` is its place in the report, `numbers` is a sentence, `notes` are sentences below all."""

    number: int
    name: str
    status: str
    reason: str
    title: str
    homepage: ReportRow
    numbers: str
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """A report: `heading` is one of `HEADINGS`; `figures` are numbers with what they count; `title` is for the tab of a browser, `sections` the heading of what follows."""

    heading: str
    below: str
    figures: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]
    title: str = ""
    sections: str = ""
    last: str = "Scores are the sums of the points shown beside them."


def clean(value: Any, limit: int | None = None) -> str:
    r"""Make text harmless for a reader: one line, bounded, nothing that turns, hides or breaks letters.

    >>> clean("  a\n\u202eb\x00 "), clean(None), clean("x" * 9, limit=4)
    ('a b', '', 'xxxx…')
    """
    if not isinstance(value, str):
        return ""
    limit = MAX_TEXT if limit is None else limit
    text = " ".join(legible(value[: 4 * limit]).split())
    return text if len(text) <= limit and len(value) <= 4 * limit else f"{text[:limit].rstrip()}…"


def figure(value: Any) -> float | int | None:
    """Read a number that can be shown; anything else is None."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12
    return tidy(round(value, 3)) if is_number and math.isfinite(value) else None


def objects(record: Record, name: str) -> Iterator[Record]:
    """Read a list of objects; whatever else is there is none."""
    values = record.get(name)
    return (value for value in values if isinstance(value, dict)) if isinstance(values, list) else iter(())


def link_of(url: Any) -> str | None:
    """Return a URL that may be followed: http or https, short, and without anything that a browser would mend."""
    if not isinstance(url, str) or len(url) > MAX_URL or not url.startswith(("http://", "https://")):
        return None
    return url if url.isascii() and url.isprintable() and not set(url) & set(" \"'<>\\`{}|^") else None


def read_row(page: Record, label: str = "") -> ReportRow:
    """Read a page of any record; without a label it is the category and the bucket."""
    url, rank, rejected = page.get("url"), figure(page.get("rank")), page.get("rejected")
    category, bucket = (clean(page.get(name), 40) for name in ("category", "bucket"))
    return ReportRow(
        url=clean(url, MAX_URL),
        link=link_of(url),
        text=clean(page.get("title")) or clean(page.get("anchor_text")),
        rank=None if rank is None else int(rank),
        label=clean(label, 40) or (bucket if bucket.startswith(category) else f"{category} {bucket}".strip()),
        score=figure(page.get("score")),
        points=tuple(islice(_points(page), MAX_LISTED)),
        rejected=(clean(rejected.get("rule"), 60), clean(rejected.get("reason")))
        if isinstance(rejected, dict)
        else None,
        evidence=tuple(clean(one.get("text")) for one in islice(objects(page, "evidence"), MAX_LISTED)),
    )


def _points(page: Record) -> Iterator[tuple[str, str]]:
    """Give what was paid or taken; of a picked page also what paid nothing, such as that it was not kept."""
    told = page.get("reasons") if "bucket" in page else None
    reasons = told if isinstance(told, list) else []
    for point in objects(page, "points"):
        paid = figure(point.get("points"))
        if paid or (paid is not None and point.get("reason") in reasons):
            sign = "" if paid < 0 or point.get("rule") == "base" else "+"
            yield f"{sign}{paid}", clean(point.get("reason")) or clean(point.get("rule"))


def counted(heading: str, counts: Mapping[str, int], words: Callable[[str], str] | None = None) -> CountList:
    """Make a list of counts, most first; the names may come from a stranger.

    >>> [(line.name, line.count) for line in counted("Hosts", {"a.example": 1, "b.example": 2}).lines]
    [('b.example', 2), ('a.example', 1)]
    """
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    lines = (
        Line(clean(name) or "?", count, clean(words(name)) if words else "")
        for name, count in ordered[:MAX_LINES]
    )
    return CountList(heading, tuple(lines), more=max(0, len(ordered) - MAX_LINES))


def facts_of(pairs: Iterable[tuple[str, object]], limit: int | None = None) -> tuple[tuple[str, str], ...]:
    """Name what is known of a run; unknown values are left out.

    >>> facts_of([("Topic", None), ("Run", 2), ("Profile", "docs")])
    (('Run', '2'), ('Profile', 'docs'))
    """
    return tuple((name, clean(str(value), limit)) for name, value in pairs if value not in (None, ""))


def noun(count: int, word: str) -> str:
    """Count something: `1 site`, `2 sites`."""
    return " ".join(figure_of(count, word))


def figure_of(count: int, word: str, rest: str = "") -> tuple[str, str]:
    """Make a figure of a count.

    >>> figure_of(2000, "page", " fetched")
    ('2,000', 'pages fetched')
    """
    return f"{count:,}", f"{word if count == 1 else word + 's'}{rest}"
