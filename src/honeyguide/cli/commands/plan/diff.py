"""What changed since an earlier plan: which URLs entered, left and changed, and which rules did it.

Owns: records and tables of changes. Must not know: how URLs are ranked, how plans are written. Start reading at `show_diff`.
Plans that were written as CSV name no rules: those that pay now are known by their sentences, others stay without a name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.cli.commands.plan.view import plan_record
from honeyguide.cli.output import Column, number, points, print_table, say, write_records
from honeyguide.core.records import SCHEMA
from honeyguide.core.rules.language import half_up
from honeyguide.core.text.printable import tidy
from honeyguide.core.url.url import display

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from honeyguide.cli.output import Format
    from honeyguide.core.records import Record
    from honeyguide.core.recrawl.ranking import Plan, PlanEntry
    from honeyguide.ports.rank import Table


DIFF_COLUMNS = ("schema", "url", "change", "rank", "rank_before", "score", "score_before", "why", "because")
_CSV_STEP = 0.000_6  # CSV has three decimals: what differs by less is the same


def show_diff(output: Format, earlier: str, plan: Plan, table: Table, now: datetime) -> None:
    """Print what entered, left and changed since an earlier plan, and which rules did it."""
    after = {entry.scored.url: plan_record(entry) for entry in plan.entries}
    before = {record["url"]: record for record in _read_plan(earlier, after.values())}
    gone = [url for url in before if url not in after]
    rows = table.find(gone) if gone else {}
    kept = (_change("changed", before[url], record) for url, record in after.items() if url in before)
    changes = [
        *(_entered(record) for url, record in after.items() if url not in before),
        *(_left(before[url], table.judge(rows[url], now) if url in rows else None) for url in gone),
        *(change for change in kept if change["why"]),
    ]
    if output != "table":
        write_records(output, changes, DIFF_COLUMNS)
        return
    _say_diff(changes, len(after))


def _read_plan(file: str, now: Iterable[Record]) -> list[Record]:
    """Read an earlier plan; rules that it does not name are found by the sentences of the plan of now."""
    from honeyguide.adapters.output.plan_tables import read_plan  # may need an extra

    records = read_plan(file)
    if any(entry["rule"] is None for record in records for entry in record["points"]):
        rules = {entry["reason"]: entry["rule"] for record in now for entry in record["points"]}
        for record in records:
            record["is_rounded"] = True
            for entry in record["points"]:
                entry["rule"] = rules.get(entry["reason"])
    return records


def _entered(after: Record) -> Record:
    """Say what brings a URL in; how it stood before is not known."""
    paid = [entry for entry in after["points"] if entry["points"]]
    because = "was not in the earlier plan"
    return {
        **_change("entered", None, after),
        "why": [{name: entry[name] for name in ("points", "reason", "rule")} for entry in paid],
        "because": f"{because}; these points bring it in now" if paid else because,
    }


def _left(before: Record, judged: PlanEntry | None) -> Record:
    if judged is None:
        return {**_change("left", before, None), "because": "not in the input any more"}
    change = _change("left", before, {**plan_record(judged), "rank": None})
    return change if change["why"] else {**change, "because": "others are better, or it was not asked for"}


def _change(kind: str, before: Record | None, after: Record | None) -> Record:
    """Write a change: rules whose points differ are why."""
    known = after or before or {}
    return {
        "schema": SCHEMA,
        "url": known["url"],
        "change": kind,
        "rank": after["rank"] if after else None,
        "rank_before": before["rank"] if before else None,
        "score": after["score"] if after else None,
        "score_before": before["score"] if before else None,
        "why": _differences(before, after) if before and after else [],
        "because": None,
    }


def _differences(before: Record, after: Record) -> list[Record]:
    """List the rules that pay something else than before."""
    old, new = _ledger(before), _ledger(after)
    least = _CSV_STEP if before.get("is_rounded") else 0.0
    return [
        {"points": tidy(half_up(paid, 6)), "reason": entry["reason"], "rule": entry["rule"]}
        for key, entry in {**old, **new}.items()
        if abs(paid := _points(new, key) - _points(old, key)) > least
    ]


def _ledger(record: Record) -> dict[str, Record]:
    """Give the payments by their rules, or by their sentences where those are not known."""
    return {entry["rule"] or f"'{entry['reason']}'": entry for entry in record["points"]}


def _points(entries: Mapping[str, Record], key: str) -> float:
    return float(entries[key]["points"]) if key in entries else 0.0


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
