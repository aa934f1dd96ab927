"""How a plan looks: its entries, its levels, and one URL of it.

Owns: records and tables of plans. Must not know: how URLs are ranked. Start reading at `show_plan`. What changed since an
earlier plan is in `plan_diff.py`.
"""

from __future__ import annotations

import re
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.output.write import check_replaceable, replacing
from honeyguide.cli.files import check_output, write_file
from honeyguide.cli.output import Column, number, points, print_table, reason_lines, say, write_records
from honeyguide.core.records import SCHEMA, iso, reason_records
from honeyguide.core.recrawl.plan import NAMES
from honeyguide.core.recrawl.ranking import HEURISTIC
from honeyguide.core.text.printable import tidy
from honeyguide.core.url.url import display

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from honeyguide.cli.output import Format
    from honeyguide.core.records import Record
    from honeyguide.core.recrawl.plan import ScoredUrl
    from honeyguide.core.recrawl.ranking import KnownUrl, Plan, PlanEntry, PlanQuery
    from honeyguide.core.rules.profile import Profile
    from honeyguide.ports.rank import Table

COLUMNS = ("schema", "rank", "url", "score", "level", "reasons", "next_due", "points")
# What the rules of profiles read (PLAN-1).
CARD_NAMES = frozenset({"visits", "last_visited", "last_changed", "topic_relevance", "hub_depth", "is_hub"})
_NEVER = 253_370_764_800.0  # the year 9999
_WHOLE_FROM = 1_000.0  # numbers that people read without a fraction
_FRACTION = re.compile(r"(T[0-9]{2}:[0-9]{2}:[0-9]{2})\.[0-9]+")
_BAR = 40  # characters of the longest bar


def show_plan(output: Format, plan: Plan) -> None:
    """Print the entries, and for people also how many URLs each level has."""
    if output != "table":
        write_records(output, map(plan_record, plan.entries), COLUMNS)
        return
    columns = (
        Column("#", right=True, keep=True),
        Column("Score", right=True, keep=True),
        Column("Level", keep=True),
    )
    print_table((*columns, Column("URL and why")), map(_row, plan.entries))
    say()
    say(f"{len(plan.entries):,} of {plan.rows:,} URLs")
    say()
    _say_levels(plan)


def _say_levels(plan: Plan) -> None:
    most = max(plan.levels.values())
    wide = max(map(len, plan.levels))
    for name, count in plan.levels.items():
        bar = "#" * -(-count * _BAR // most)  # rounded up: what is there is seen
        say(f"{name:<{wide}}  {count:>{len(f'{most:,}')},}  {bar}".rstrip())


def _row(entry: PlanEntry) -> list[str]:
    item = entry.scored
    lines = [display(item.url), *(f"  {line}" for line in reason_lines(item.score))]
    return [str(entry.rank), number(item.score.value), item.level.name, "\n".join(lines)]


def plan_record(entry: PlanEntry) -> Record:
    """Write an entry as data."""
    item = entry.scored
    return {
        "schema": SCHEMA,
        "rank": entry.rank,
        "url": item.url,
        "score": tidy(item.score.value),
        "level": item.level.name,
        "reasons": list(item.score.words),
        "next_due": _due(entry.next_due),
        "points": reason_records(item.score.reasons),
    }


def _due(moment: float | None) -> str | None:
    """Write when a visit is due; what lies beyond the calendar is never."""
    return None if moment is None or moment >= _NEVER else iso(moment)


def check_plan_file(file: str, kind: str) -> None:
    """Refuse a file that cannot be written, or that is no earlier plan."""
    if kind != "parquet":
        check_output(file, COLUMNS)
        return
    from honeyguide.adapters.output.plan_tables import has_plan_columns  # an extra

    check_replaceable(Path(file), lambda _: has_plan_columns(file))


def write_plan(file: str, kind: str, plan: Plan) -> None:
    """Write the entries to a file, in one step."""
    records = [plan_record(entry) for entry in plan.entries]
    if kind != "parquet":
        write_file(file, kind, records, COLUMNS)
        return
    from honeyguide.adapters.output.plan_tables import write_plan_parquet  # an extra

    with replacing(Path(file)) as part:
        write_plan_parquet(part, records)


# --- one URL ------------------------------------------------------------------------------------------------------


def show_explained(output: Format, table: Table, found: KnownUrl, now: datetime, profile: Profile) -> None:
    """Say where one URL stands, what is known of it, and what every rule of the card says to it."""
    judged = table.judge(found, now)
    item = judged.scored
    record: Record = {
        "schema": SCHEMA,
        "rank": table.rank_of(found, now),
        "url": item.url,
        "policy": table.policy,
        "score": tidy(item.score.value),
        "level": item.level.name,
        "advice": item.level.advice,
        "next_due": _due(judged.next_due),
        "where": found.where,
        "signals": {name: _value(getattr(found.signals, name)) for name in NAMES[1:]},
        "rules": _rules(item, profile) if table.policy == HEURISTIC else reason_records(item.score.reasons),
        "unknown": list(item.score.unknown),
    }
    if output == "table":
        _say_explained(record)
    else:
        write_records(output, [record], tuple(record))


def _rules(item: ScoredUrl, profile: Profile) -> list[Record]:
    """Write every rule of the card, with what it paid; None is nothing."""
    paid = {reason.rule: reason for reason in item.score.reasons}
    listed = {rule.id: rule.reason for group in profile.cards["plan"].card.groups for rule in group.rules}
    others = {rule: reason.text for rule, reason in paid.items() if rule not in listed}
    texts = {**{rule: others[rule] for rule in others if rule == "base"}, **listed, **others}
    return [
        {"rule": rule, "points": tidy(paid[rule].points) if rule in paid else None, "reason": text}
        for rule, text in texts.items()
    ]


def _value(value: Any) -> Any:
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value


def _shown(value: Any) -> str:
    """Write a value for people: numbers to four digits, times to the second; records have all of it.

    >>> _shown(2.4999999826259764), _shown(123456.0), _shown("2026-11-16T06:24:53.123456Z"), _shown(True)
    ('2.5', '123456', '2026-11-16T06:24:53Z', 'true')
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= _WHOLE_FROM else f"{value:.4g}"
    return _FRACTION.sub(r"\1", str(value))


def _say_explained(record: Record) -> None:
    say(display(record["url"]))
    say(f"Rank {record['rank']:,}, score {record['score']}, {record['level']}: {record['advice']}.")
    if record["next_due"] is not None:
        say(
            f"The next visit is due {_shown(record['next_due'])}: as soon as it is worth as much as those of the best tenth."
        )
    say()
    signals = [
        [name, _shown(value)]
        for name, value in record["signals"].items()
        if value is not None or name in CARD_NAMES
    ]
    print_table((Column("Signal"), Column("Value")), signals)
    say()
    rules = [
        ["-" if rule["points"] is None else points(rule["points"]), rule["rule"], rule["reason"]]
        for rule in record["rules"]
    ]
    print_table((Column("Points", right=True), Column("Rule", keep=True), Column("Reason")), rules)
    if record["unknown"]:
        say()
        say(f"Not known: {', '.join(record['unknown'])}")


def write_plan_reports(
    files: Sequence[str], plan: Plan, source: tuple[str, str], asked: PlanQuery, profile: Profile
) -> None:
    """Write a report for people into each file; `source` is the name of what was ranked, and the policy."""
    if not files:
        return
    from honeyguide.report import write_sheet  # only for those who want one
    from honeyguide.report.plan import PlanReportData, plan_sheet
    from honeyguide.report.sheet import MAX_PAGES

    advice = {level.name: level.advice for level in profile.levels}
    told = PlanReportData(
        [plan_record(entry) for entry in islice(plan.entries, MAX_PAGES)],
        [entry.scored.url for entry in plan.entries],
        {name: (count, advice[name]) for name, count in plan.levels.items()},
        list(_facts(plan, source, asked, profile)),
    )
    sheet = plan_sheet(told)
    for file in files:
        write_sheet(sheet, Path(file))


def _facts(
    plan: Plan, source: tuple[str, str], asked: PlanQuery, profile: Profile
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


def _asked(asked: PlanQuery) -> Iterator[str]:
    """Say what the plan was limited to, in words."""
    if asked.top is not None:
        yield f"the best {asked.top:,}"
    if asked.levels:
        yield f"level {', '.join(asked.levels)}"
    if asked.min_score is not None:
        yield f"scores of {number(asked.min_score)} and more"
    if asked.per_host is not None:
        yield f"at most {asked.per_host:,} of each host"
