"""What changed since an earlier plan: which URLs entered, left and changed, and which rules caused it.

Owns: the records of changes. Must not know: how URLs are ranked, how plans are written. Start reading at `diff_plan`.
Plans written as CSV name no rules: rules of the new plan are recognised by their sentences, others stay unnamed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.app.plan import plan_record
from honeyguide.core.records import SCHEMA
from honeyguide.core.rules.language import half_up
from honeyguide.core.text.printable import tidy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from honeyguide.app.plan import Plan, PlanEntry, PlanSession
    from honeyguide.core.records import Record


DIFF_COLUMNS = ("schema", "url", "change", "rank", "rank_before", "score", "score_before", "why", "because")
_CSV_STEP = 0.000_6  # CSV has three decimals: a smaller difference is none


def diff_plan(earlier: str, plan: Plan, session: PlanSession, now: datetime) -> list[Record]:
    """List the URLs that entered, left and changed since the plan in the file `earlier`."""
    after = {entry.scored.url: plan_record(entry) for entry in plan.entries}
    before = {record["url"]: record for record in _read_plan(earlier, after.values())}
    gone = [url for url in before if url not in after]
    rows = session.ranker.find(gone) if gone else {}
    kept = (_change("changed", before[url], record) for url, record in after.items() if url in before)
    return [
        *(_entered(record) for url, record in after.items() if url not in before),
        *(_left(before[url], session.ranker.judge(rows[url], now) if url in rows else None) for url in gone),
        *(change for change in kept if change["why"]),
    ]


def _read_plan(file: str, now: Iterable[Record]) -> list[Record]:
    """Read an earlier plan; rules that it does not name are found by the sentences of the new plan."""
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
    """Write the points of a URL that was not in the earlier plan."""
    paid = [entry for entry in after["points"] if entry["points"]]
    because = "was not in the earlier plan"
    return {
        **_change("entered", None, after),
        "why": [{name: entry[name] for name in ("points", "reason", "rule")} for entry in paid],
        "because": f"{because}; these points bring it in now" if paid else because,
    }


def _left(before: Record, entry: PlanEntry | None) -> Record:
    if entry is None:
        return {**_change("left", before, None), "because": "not in the input any more"}
    change = _change("left", before, {**plan_record(entry), "rank": None})
    return change if change["why"] else {**change, "because": "others are better, or it was not asked for"}


def _change(kind: str, before: Record | None, after: Record | None) -> Record:
    """Write a change; `why` lists the rules whose points differ."""
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
    old, new = _by_rule(before), _by_rule(after)
    least = _CSV_STEP if before.get("is_rounded") else 0.0
    return [
        {"points": tidy(half_up(paid, 6)), "reason": entry["reason"], "rule": entry["rule"]}
        for key, entry in {**old, **new}.items()
        if abs(paid := _points(new, key) - _points(old, key)) > least
    ]


def _by_rule(record: Record) -> dict[str, Record]:
    """Map the payments by their rules, or by their sentences where rules are not known."""
    return {entry["rule"] or f"'{entry['reason']}'": entry for entry in record["points"]}


def _points(entries: Mapping[str, Record], key: str) -> float:
    return float(entries[key]["points"]) if key in entries else 0.0
