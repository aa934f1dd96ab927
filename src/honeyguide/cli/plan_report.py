"""The report of a plan, from files or from a store.

Owns: bringing the plan together with what was asked for. Must not know: how URLs are ranked, how a report looks (`report`
does).
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from honeyguide.cli.output import number
from honeyguide.cli.planned import plan_record
from honeyguide.core.crawled import iso

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from honeyguide.core.profile import Profile
    from honeyguide.core.ranking import Asked, Plan


def write_plan_reports(
    files: Sequence[str], plan: Plan, source: tuple[str, str], asked: Asked, profile: Profile
) -> None:
    """Write a report for people into each file; `source` is the name of what was ranked, and the policy."""
    if not files:
        return
    from honeyguide.report import write_sheet  # only for those who want one
    from honeyguide.report.plan import PlanTold, plan_sheet
    from honeyguide.report.sheet import MAX_PAGES

    advice = {level.name: level.advice for level in profile.levels}
    told = PlanTold(
        [plan_record(entry) for entry in islice(plan.entries, MAX_PAGES)],
        [entry.scored.url for entry in plan.entries],
        {name: (count, advice[name]) for name, count in plan.levels.items()},
        list(_facts(plan, source, asked, profile)),
    )
    sheet = plan_sheet(told)
    for file in files:
        write_sheet(sheet, Path(file))


def _facts(
    plan: Plan, source: tuple[str, str], asked: Asked, profile: Profile
) -> Iterator[tuple[str, str | None]]:
    name, policy = source
    yield "Ranked", name
    yield "As of", iso(asked.now.timestamp())
    yield "Policy", policy
    yield "Profile", f"{profile.name}, {profile.hash}"
    yield "Asked for", "; ".join(_asked(asked))
    for what, count in (
        ("Times in the future", plan.future),
        ("Repeated", plan.repeated),
        ("Left out as dead", plan.dead),
    ):
        yield what, f"{count.rows:,}; the first is {count.first}" if count.rows else None


def _asked(asked: Asked) -> Iterator[str]:
    """Say what the plan was limited to, in words."""
    if asked.top is not None:
        yield f"the best {asked.top:,}"
    if asked.levels:
        yield f"level {', '.join(asked.levels)}"
    if asked.min_score is not None:
        yield f"scores of {number(asked.min_score)} and more"
    if asked.per_host is not None:
        yield f"at most {asked.per_host:,} of each host"
