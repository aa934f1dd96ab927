"""What a report tells of a plan: levels, the best URLs with their reasons, hosts.

Owns: reading the records of a plan; their URLs are not trusted. Must not know: how a plan is made, HTML, Markdown.
Start reading at `plan_sheet`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from honeyguide.core.url.url import Url
from honeyguide.errors import UrlError
from honeyguide.report import sheet
from honeyguide.report.sheet import (
    HEADINGS,
    MAX_URL,
    CountList,
    Line,
    Pages,
    Sheet,
    clean,
    counted,
    facts_of,
    read_row,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from honeyguide.core.records import Record
    from honeyguide.report.sheet import ReportRow


_NONE = "no host"


@dataclass(frozen=True, slots=True)
class PlanReportData:
    """A plan: its first entries as records, and the URLs of all; how many URLs each level has, and what it advises.

    `facts` is what else is known of it.
    """

    entries: Sequence[Record]
    urls: Sequence[str]
    levels: Mapping[str, tuple[int, str]]
    facts: Sequence[tuple[str, object]]


def plan_sheet(data: PlanReportData) -> Sheet:
    """Tell of a plan."""
    total = len(data.urls)
    ranked = sum(count for count, _ in data.levels.values())
    hosts = Counter(map(_host, data.urls))
    levels = (Line(clean(name), count, clean(advice)) for name, (count, advice) in data.levels.items())
    rows = tuple(map(_row, data.entries[: sheet.MAX_PAGES]))
    figures = (
        (f"{total:,}", "URL in the plan" if total == 1 else "URLs in the plan"),
        (f"{ranked:,}", "ranked"),
        (f"{len(hosts):,}", "host" if len(hosts) == 1 else "hosts"),
    )
    parts = (
        CountList("All URLs, by level", tuple(levels)),
        Pages("Best first", rows, total - len(rows), "Level"),
        counted("Hosts, by URLs in the plan", hosts),
    )
    return Sheet(
        HEADINGS["plan"],
        "Known URLs, by what a visit to each is worth.",
        figures,
        facts_of(data.facts, MAX_URL),
        parts,
    )


def _host(url: str) -> str:
    try:
        return Url.parse(url).site
    except UrlError:
        return _NONE


def _row(entry: Record) -> ReportRow:
    row = read_row(entry, clean(entry.get("level")))
    due = clean(entry.get("next_due"), 40)
    return replace(row, facts=(f"due {due}",) if due else ())
