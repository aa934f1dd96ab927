"""What a report tells of a plan (levels, the best URLs, hosts) and of a simulation (freshness over time, a table).

Owns: reading the records of a plan, whose URLs are not trusted, and which figures of an outcome are shown. Must not know:
how plans and outcomes come about, HTML, Markdown. Start reading at `plan_sheet` and `curves_sheet`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from honeyguide.core.url.url import Url
from honeyguide.errors import UrlError
from honeyguide.report import sheet
from honeyguide.report.sheet import CountList, Curve, Line, Pages, Sheet, Table, clean, counted, figure_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from honeyguide.core.records import Record
    from honeyguide.report.sheet import ReportRow
    from honeyguide.simulation.outcome import Outcome

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
        figure_of(total, "URL", " in the plan"),
        (f"{ranked:,}", "ranked"),
        figure_of(len(hosts), "host"),
    )
    parts = (
        Pages("Best first", rows, total - len(rows), "Level"),
        CountList("All URLs, by level", tuple(levels)),
        counted("Hosts, by URLs in the plan", hosts),
    )
    below, facts = "Known URLs, by what a visit to each is worth.", sheet.facts_of(data.facts, sheet.MAX_URL)
    return Sheet(sheet.HEADINGS["plan"], below, figures, facts, parts)


def _host(url: str) -> str:
    try:
        return Url.parse(url).site
    except UrlError:
        return _NONE


def _row(entry: Record) -> ReportRow:
    row = sheet.read_row(entry, clean(entry.get("level")))
    due = clean(entry.get("next_due"), 40)
    return replace(row, facts=(f"due {due}",) if due else ())


# --- simulations ---

# The words of the columns, in lines for a terminal.
LEGEND = (
    "Fresh: share of pages, weighted by importance, whose copy matched the live page;",
    "Late: the same in the second half. Best: Late in percent of optimum, or of",
    "known-rates where there is no optimum. Age: how long copies were out of date, on",
    "average. Idle: percent of fetches that found nothing new. New: time until a new",
    "page is fetched. Day 1, Day 3: Fresh on that day. known-rates: knows how often",
    "each page changes. optimum: the best fixed rates in the long run; short runs,",
    "which begin with fresh copies, and pages that change in bursts can pass it.",
    "all-knowing: knows every change; no policy passes it.",
)
_CURVES_HEAD = ("Policy", "Fresh", "Late", "Best", "Bound", "Age", "Idle", "New", "Day 1", "Day 3", "Fetches")
_HOSTS = 20  # the largest
_ABOUT = "Freshness: the share of pages, weighted by importance, whose stored copy matches the live page."
_LAST = f"{' '.join(LEGEND)} Bound: Late in percent of all-knowing. What is no policy is grey."


def curves_sheet(outcomes: Sequence[Outcome]) -> Sheet:
    """Make the sheet of a simulation."""
    groups = groupby(outcomes, lambda outcome: (outcome.world, outcome.budget))
    parts = (part for (world, budget), group in groups for part in _curve_parts(world, budget, list(group)))
    return Sheet(sheet.HEADINGS["simulate"], _ABOUT, (), (), tuple(parts), last=_LAST)


def _curve_parts(world: str, budget: str, outcomes: list[Outcome]) -> Iterator[Table]:
    curves = tuple(Curve(outcome.policy, tuple(outcome.curve)) for outcome in outcomes if outcome.curve)
    grey = frozenset(place for place, outcome in enumerate(outcomes) if outcome.is_reference)
    yield Table(f"{world}, budget {budget}", _CURVES_HEAD, tuple(map(_outcome_row, outcomes)), curves, grey)
    listed = [outcome for outcome in outcomes if len(outcome.hosts) > 1]
    if listed:
        largest = sorted(listed[0].hosts, key=lambda item: (-item[1], item[0]))[:_HOSTS]
        counts = [dict(outcome.hosts) for outcome in listed]
        rows = tuple((host, *(f"{count[host]:,}" for count in counts)) for host, _ in largest)
        yield Table("Fetches of each host", ("Host", *(outcome.policy for outcome in listed)), rows)


def _outcome_row(outcome: Outcome) -> tuple[str, ...]:
    day_1, _, day_3, *_ = (*outcome.days, None, None, None)
    return (
        outcome.policy,
        _cell(outcome.freshness, ".4f"),
        _cell(outcome.late, ".4f"),
        _percent(outcome.of_best),
        _percent(outcome.of_all_knowing),
        _cell(outcome.mean_age_h, ",.1f", " h"),
        _percent(outcome.nothing_share),
        _cell(outcome.discovery_h, ",.1f", " h"),
        _cell(day_1, ".4f"),
        _cell(day_3, ".4f"),
        _cell(outcome.fetches, ","),
    )


def _cell(value: float | None, form: str, unit: str = "") -> str:
    return "–" if value is None else f"{value:{form}}{unit}"


def _percent(share: float | None) -> str:
    return _cell(None if share is None else 100 * share, ".1f", " %")
