"""How a plan looks: its entries, its levels, one URL of it, and what changed since an earlier one.

Owns: records and tables of plans. Must not know: how URLs are ranked. Start reading at `show_plan`.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.whole import check_replaceable, replacing
from honeyguide.cli.output import (
    Column,
    number,
    points,
    print_table,
    reason_lines,
    say,
    write_records,
)
from honeyguide.cli.written import check_output, write_file
from honeyguide.core.crawled import iso
from honeyguide.core.plan import NAMES
from honeyguide.core.ranking import HEURISTIC
from honeyguide.core.records import SCHEMA, reason_records, tidy
from honeyguide.core.rules import half_up
from honeyguide.core.url import display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from honeyguide.adapters.rows.known import Table
    from honeyguide.cli.output import Format
    from honeyguide.core.plan import Scored
    from honeyguide.core.profile import Profile
    from honeyguide.core.ranking import Entry, Plan, Row
    from honeyguide.core.records import Record

COLUMNS = ("schema", "rank", "url", "score", "level", "reasons", "next_due", "points")
DIFF_COLUMNS = ("schema", "url", "change", "rank", "rank_before", "score", "score_before", "why", "because")
# What the rules of profiles read (PLAN-1).
CARD_NAMES = frozenset({"visits", "last_visited", "last_changed", "topic_relevance", "hub_depth", "is_hub"})
_NEVER = 253_370_764_800.0  # the year 9999
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


def _row(entry: Entry) -> list[str]:
    item = entry.scored
    lines = [display(item.url), *(f"  {line}" for line in reason_lines(item.score))]
    return [str(entry.rank), number(item.score.value), item.level.name, "\n".join(lines)]


def plan_record(entry: Entry) -> Record:
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
    from honeyguide.adapters.rows.plan_tables import has_plan_columns  # an extra

    check_replaceable(Path(file), lambda _: has_plan_columns(file))


def write_plan(file: str, kind: str, plan: Plan) -> None:
    """Write the entries to a file, in one step."""
    records = [plan_record(entry) for entry in plan.entries]
    if kind != "parquet":
        write_file(file, kind, records, COLUMNS)
        return
    from honeyguide.adapters.rows.plan_tables import write_plan_parquet  # an extra

    with replacing(Path(file)) as part:
        write_plan_parquet(part, records)


# --- one URL ------------------------------------------------------------------------------------------------------


def show_explained(output: Format, table: Table, found: Row, now: datetime, profile: Profile) -> None:
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


def _rules(item: Scored, profile: Profile) -> list[Record]:
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
    if value is None:
        return "-"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _say_explained(record: Record) -> None:
    say(display(record["url"]))
    say(f"Rank {record['rank']:,}, score {record['score']}, {record['level']}: {record['advice']}.")
    if record["next_due"] is not None:
        say(
            f"The next visit is due {record['next_due']}: as soon as it is worth as much as those of the best tenth."
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


# --- since an earlier plan ------------------------------------------------------------------------------------------


def show_diff(output: Format, earlier: str, plan: Plan, table: Table, now: datetime) -> None:
    """Print what entered, left and changed since an earlier plan, and which rules did it."""
    before = {record["url"]: record for record in _read_plan(earlier)}
    after = {entry.scored.url: plan_record(entry) for entry in plan.entries}
    gone = [url for url in before if url not in after]
    rows = table.find(gone) if gone else {}
    changes = [
        *(_change("entered", None, record) for url, record in after.items() if url not in before),
        *(_left(before[url], table.judge(rows[url], now) if url in rows else None) for url in gone),
        *(
            _change("changed", before[url], record)
            for url, record in after.items()
            if url in before and before[url]["points"] != record["points"]
        ),
    ]
    if output != "table":
        write_records(output, changes, DIFF_COLUMNS)
        return
    _say_diff(changes, len(after))


def _read_plan(file: str) -> list[Record]:
    """Read a plan that was written as JSON lines or Parquet."""
    from honeyguide.adapters.rows.plan_tables import read_plan  # may need an extra

    return read_plan(file)


def _left(before: Record, judged: Entry | None) -> Record:
    if judged is None:
        return {**_change("left", before, None), "because": "not in the input any more"}
    change = _change("left", before, {**plan_record(judged), "rank": None})
    return change if change["why"] else {**change, "because": "others are better, or it was not asked for"}


def _change(kind: str, before: Record | None, after: Record | None) -> Record:
    """Write a change: rules whose points differ are why."""
    known = after or before or {}
    old = {} if before is None else {entry["rule"]: entry for entry in before["points"]}
    new = {} if after is None else {entry["rule"]: entry for entry in after["points"]}
    why = [
        {
            "points": tidy(half_up(_points(new, rule) - _points(old, rule), 6)),
            "reason": entry["reason"],
            "rule": rule,
        }
        for rule, entry in {**old, **new}.items()
        if before is not None and after is not None and _points(new, rule) != _points(old, rule)
    ]
    return {
        "schema": SCHEMA,
        "url": known["url"],
        "change": kind,
        "rank": after["rank"] if after else None,
        "rank_before": before["rank"] if before else None,
        "score": after["score"] if after else None,
        "score_before": before["score"] if before else None,
        "why": why,
        "because": "was not in the earlier plan" if before is None else None,
    }


def _points(entries: dict[str, Record], rule: str) -> float:
    return float(entries[rule]["points"]) if rule in entries else 0.0


def _say_diff(changes: Sequence[Record], total: int) -> None:
    rows = [
        [
            change["change"],
            f"{number(change['score_before'])} to {number(change['score'])}",
            "\n".join([display(change["url"]), *_why(change)]),
        ]
        for change in changes
    ]
    print_table((Column("Change", keep=True), Column("Score", keep=True), Column("URL and why")), rows)
    say()
    counts = [
        f"{sum(change['change'] == kind for change in changes):,} {kind}"
        for kind in ("entered", "left", "changed")
    ]
    say(f"{', '.join(counts)}, of {total:,} URLs in the plan")


def _why(change: Record) -> list[str]:
    lines = [f"  {points(entry['points'])} {entry['reason']}" for entry in change["why"]]
    return [*lines, f"  {change['because']}"] if change["because"] else lines
