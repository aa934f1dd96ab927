"""What changed from one file of picks or plans to another, as records.

Must not know: arguments, terminals. Start reading at `compare_picks` and `compare_plans`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.adapters.files.read import kind_of, read_lines
from honeyguide.adapters.files.results import MAX_RECORD_BYTES, read_picks
from honeyguide.adapters.files.rows import json_object
from honeyguide.app.tools.results import NoRecordError, read
from honeyguide.core.pick.evaluate import compare_sites
from honeyguide.core.records import SCHEMA
from honeyguide.core.rules.language import half_up
from honeyguide.core.text.printable import tidy
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from honeyguide.core.records import Record

MAX_ENTRIES = 1_000_000  # of a plan
_NEEDED = {"rank", "url", "score", "points"}  # what an entry has in every format
_NO_ENTRY = "is no entry of a plan; give what `plan --format jsonl` or `-o` wrote"
_CSV_STEP = 0.000_6  # CSV has three decimals: a smaller difference is none


def is_pick_file(file: str) -> bool | None:
    """Tell whether the first record of a file is that of a pick: it has a site; None if the file has no record."""
    if kind_of(file) == "parquet":
        return False
    is_sheet = file.lower().endswith(".xlsx")
    first = (
        "site,"
        if is_sheet
        else next((text for _, text in read_lines(file, limit=MAX_RECORD_BYTES) if text.strip()), "")
    )
    if first.startswith("site,"):
        raise InputError(
            "is a table, which lacks the rejected links; give JSON lines that pick wrote", file=file
        )
    return None if not first else first.startswith("{") and "site" in json_object(first, file)


def compare_picks(earlier: str, later: str) -> tuple[list[Record], list[str]]:
    """List the pages that entered, left or moved from one file of picks to another, and the sites that only one has."""
    before, now = (read_picks(file, keep_others=True) for file in (earlier, later))
    changes: list[Record] = [
        {"schema": SCHEMA, "site": site, "url": one.url, "change": one.kind, "reason": one.why}
        for site, picked in now.items()
        if site in before
        for one in compare_sites(picked, before[site])
    ]
    return changes, [site for site in {**now, **before} if site not in now or site not in before]


def compare_plans(earlier: str, later: str) -> list[Record]:
    """List the URLs that entered, left and changed from one plan in a file to another."""
    plans = [{record["url"]: record for record in read_plan(file)} for file in (earlier, later)]
    entries = [entry for plan in plans for record in plan.values() for entry in record["points"]]
    if any(entry.get("rule") is None for entry in entries):  # CSV names no rules: sentences are compared
        for entry in entries:
            entry["rule"] = None
        plans[0] = {url: {**record, "is_rounded": True} for url, record in plans[0].items()}
    before, after = plans
    kept = (_change("changed", before[url], record) for url, record in after.items() if url in before)
    return [
        *(_entered(record) for url, record in after.items() if url not in before),
        *(
            _change("left", before[url], None, "is not in the later plan")
            for url in before
            if url not in after
        ),
        *(change for change in kept if change["points"]),
    ]


def read_plan(file: str) -> Iterator[Record]:
    """Read an earlier plan; raises `InputError` if the file is not one."""
    try:
        for place, record in enumerate(read(file), 1):
            if place > MAX_ENTRIES:
                raise InputError(f"has more than {MAX_ENTRIES:,} entries", file=file)
            if not record.keys() >= _NEEDED or None in map(record.get, _NEEDED):
                raise InputError(_NO_ENTRY, file=file, row=place)
            yield {**record, "score": tidy(record["score"])}
    except NoRecordError as error:
        raise InputError(_NO_ENTRY, file=error.file) from None


def _entered(after: Record) -> Record:
    paid = [entry for entry in after["points"] if entry["points"]]
    more = "; these points bring it in now" if paid else ""
    return _change("entered", None, after, f"was not in the earlier plan{more}", paid)


def _change(
    kind: str, before: Record | None, after: Record | None, sentence: str = "", paid: Sequence[Record] = ()
) -> Record:
    """Write a change; `points` lists the rules whose points differ, `reasons` begins with the sentence."""
    known = after or before or {}
    points = _differences(before, after) if before and after else list(paid)
    return {
        "schema": SCHEMA,
        "url": known["url"],
        "change": kind,
        "rank": after["rank"] if after else None,
        "rank_before": before["rank"] if before else None,
        "score": after["score"] if after else None,
        "score_before": before["score"] if before else None,
        "reasons": [*([sentence] if sentence else []), *(entry["reason"] for entry in points)],
        "points": points,
    }


def _differences(before: Record, after: Record) -> list[Record]:
    old, new = _by_rule(before), _by_rule(after)
    least = _CSV_STEP if before.get("is_rounded") else 0.0
    return [
        {"rule": entry["rule"], "points": tidy(half_up(paid, 6)), "reason": entry["reason"]}
        for key, entry in {**old, **new}.items()
        if abs(paid := _points(new, key) - _points(old, key)) > least
    ]


def _by_rule(record: Record) -> dict[str, Record]:
    """Map the payments by their rules, or by their sentences where rules are not known."""
    return {entry["rule"] or f"'{entry['reason']}'": entry for entry in record["points"]}


def _points(entries: Mapping[str, Record], key: str) -> float:
    return float(entries[key]["points"]) if key in entries else 0.0
