"""Reports of plans for people: what a plan says, as HTML or Markdown; `report` draws it. Start reading at `write_plan_reports`."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from honeyguide.app.plan import plan_record
from honeyguide.cli.output import number
from honeyguide.core.records import iso

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from honeyguide.app.plan import Plan, PlanQuery, PlanSession


def write_plan_reports(files: Sequence[str], plan: Plan, session: PlanSession, query: PlanQuery) -> None:
    """Write a report for people into each file."""
    if not files:
        return
    from honeyguide.report import write_sheet  # only for those who want one
    from honeyguide.report.plan import PlanReportData, plan_sheet
    from honeyguide.report.sheet import MAX_PAGES

    advice = {level.name: level.advice for level in session.profile.levels}
    data = PlanReportData(
        [plan_record(entry) for entry in islice(plan.entries, MAX_PAGES)],
        [entry.scored.url for entry in plan.entries],
        {name: (count, advice[name]) for name, count in plan.levels.items()},
        list(_facts(plan, session, query)),
    )
    for file in files:
        write_sheet(plan_sheet(data), Path(file))


def _facts(plan: Plan, session: PlanSession, query: PlanQuery) -> Iterator[tuple[str, str | None]]:
    known = session.name if session.stored is None else f"--store {session.name}"
    yield "Command", f"honeyguide plan {known}"
    yield "As of", iso(query.now.timestamp())
    yield "Policy", session.ranker.policy
    yield "Profile", f"{session.profile.name}, {session.profile.hash}"
    yield "Asked for", "; ".join(_limits(query))
    counts = {"Times in the future": plan.future, "Repeated": plan.repeated, "Dropped as dead": plan.dead}
    for what, count in counts.items():
        yield what, f"{count.rows:,}; the first is {count.first}" if count.rows else None


def _limits(query: PlanQuery) -> Iterator[str]:
    if query.top is not None:
        yield f"the best {query.top:,}"
    if query.levels:
        yield f"level {', '.join(query.levels)}"
    if query.min_score is not None:
        yield f"scores of {number(query.min_score)} and more"
    if query.max_score is not None:
        yield f"scores below {number(query.max_score)}"
    if query.per_host is not None:
        yield f"at most {query.per_host:,} of each host"
    if query.budget is not None:
        yield f"levels relative to a budget of {query.budget:,} visits"
