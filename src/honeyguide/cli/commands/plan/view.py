"""How a plan looks: its entries, its levels, one URL of it, and what changed since an earlier plan.

Owns: the tables of plans. Must not know: how URLs are ranked, how records are made. Start reading at `show_plan`.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from honeyguide.app.plan import DIFF_COLUMNS, PLAN_COLUMNS, plan_record
from honeyguide.cli.output import Column, emit, number, point_lines, points, print_table, say
from honeyguide.core.records import iso
from honeyguide.core.url.url import display

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from honeyguide.app.plan import Plan, PlanQuery, PlanSession
    from honeyguide.core.records import Record

# What the rules of profiles read (PLAN-1).
CARD_NAMES = frozenset({"visits", "last_visited", "last_changed", "topic_relevance", "hub_depth", "is_hub"})
_WHOLE_FROM = 1_000.0  # numbers that people read without a fraction
_FRACTION = re.compile(r"(T[0-9]{2}:[0-9]{2}:[0-9]{2})\.[0-9]+")
_BAR = 40  # characters of the longest bar


def show_plan(plan: Plan) -> None:
    """Print the entries, and for people also how many URLs each level has."""
    records: Iterator[Record] = ({**plan_record(entry)} for entry in plan.entries)
    emit(records, PLAN_COLUMNS, lambda records: _show_plan(records, plan))


def _show_plan(records: Iterable[Record], plan: Plan) -> None:
    numbers = Column("#", right=True, keep=True), Column("Score", right=True, keep=True)
    print_table((*numbers, Column("Level", keep=True), Column("URL and why")), map(_row, records))
    say()
    say(f"{len(plan.entries):,} of {plan.rows:,} URLs")
    say()
    most, wide = max(plan.levels.values()), max(map(len, plan.levels))
    for name, count in plan.levels.items():
        bar = "#" * -(-count * _BAR // most)  # rounded up, so that one URL is seen, too
        say(f"{name:<{wide}}  {count:>{len(f'{most:,}')},}  {bar}".rstrip())


def _row(record: Record) -> list[str]:
    lines = [display(record["url"]), *(f"  {line}" for line in point_lines(record))]
    return [str(record["rank"]), number(record["score"]), record["level"], "\n".join(lines)]


def show_explained(record: Record) -> None:
    """Print the rank of one URL, its signals, and what every rule of the card pays it."""
    emit([record], tuple(record), _show_explained)


def _show_explained(records: Iterable[Record]) -> None:
    (record,) = records
    say(display(record["url"]))
    say(f"Rank {record['rank']:,}, score {record['score']}, {record['level']}: {record['advice']}.")
    if record["next_due"] is not None:
        due = _shown(record["next_due"])
        say(f"The next visit is due {due}, when its value reaches that of the best tenth of all pages.")
    say()
    known = {
        name: value for name, value in record["signals"].items() if value is not None or name in CARD_NAMES
    }
    signals = [[name, _shown(value)] for name, value in known.items()]
    print_table((Column("Signal"), Column("Value")), signals)
    say()
    paid = ("-" if rule["points"] is None else points(rule["points"]) for rule in record["rules"])
    rules = [[one, rule["rule"], rule["reason"]] for one, rule in zip(paid, record["rules"], strict=True)]
    print_table((Column("Points", right=True), Column("Rule", keep=True), Column("Reason")), rules)
    if record["unknown"]:
        say()
        say(f"Not known: {', '.join(record['unknown'])}")


def _shown(value: Any) -> str:
    """Write a value for people: numbers to four digits, times to the second."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= _WHOLE_FROM else f"{value:.4g}"
    return _FRACTION.sub(r"\1", str(value))


def show_diff(changes: Sequence[Record], total: int) -> None:
    """Print what entered, left and changed since an earlier plan, and which rules caused it."""
    emit(changes, DIFF_COLUMNS, lambda _: _show_diff(changes, total))


def _show_diff(changes: Sequence[Record], total: int) -> None:
    rows = []
    for change in changes:
        scores = f"{number(change['score_before'])} to {number(change['score'])}"
        rows.append([change["change"], scores, "\n".join([display(change["url"]), *_causes(change)])])
    print_table((Column("Change", keep=True), Column("Score", keep=True), Column("URL and why")), rows)
    say()
    kinds = Counter(change["change"] for change in changes)
    counts = [f"{kinds[kind]:,} {kind}" for kind in ("entered", "left", "changed")]
    say(f"{', '.join(counts)}, of {total:,} URLs in the plan")


def _causes(change: Record) -> list[str]:
    lines = [f"  {points(entry['points'])} {entry['reason']}" for entry in change["points"]]
    sentences = change["reasons"][: len(change["reasons"]) - len(lines)]
    return [*lines, *(f"  {sentence}" for sentence in sentences)]


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
    yield "Ranked", session.name
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
    if query.per_host is not None:
        yield f"at most {query.per_host:,} of each host"
