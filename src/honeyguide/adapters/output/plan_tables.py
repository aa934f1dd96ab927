"""Plans in files: written as Parquet, read back from JSON lines, CSV or Parquet.

Owns: the columns of a plan. Must not know: how a plan is made. Start reading at `read_plan`.
CSV is for people: it has the reasons of a score, with three decimals, but not the rules. Their `rule` is null.
"""

from __future__ import annotations

import re
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from honeyguide.adapters.files.parquet import has_schema, need_parquet, parquet_schema, write_parquet
from honeyguide.adapters.files.read import kind_of, lines_or_errors, name_of, opened
from honeyguide.adapters.files.rows import csv_rows, parse_object
from honeyguide.adapters.output.write import check_replaceable, replacing
from honeyguide.core.records.fields import PlanRecord
from honeyguide.core.text.printable import tidy
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from honeyguide.core.records import Record


_MOST = 1e15  # of a score, or of points
_MAX_ENTRIES = 1_000_000
_NEEDED = ("rank", "url", "score", "points")
_CSV_HEAD = "schema,rank,url,"  # how a plan begins that was written as CSV
_PAID = re.compile(r" \(([+-][0-9]{1,20}(?:\.[0-9]{1,20})?)\)(?:; |$)")


def write_plan_parquet(file: str, records: Sequence[Record]) -> None:
    """Write a plan as Parquet in one step, always with the same types."""
    need_parquet(file)
    with replacing(Path(file)) as part:
        write_parquet(part, records, parquet_schema(PlanRecord))


def check_plan_parquet(file: str) -> None:
    """Reject a file that cannot be written, or that is no earlier plan."""
    need_parquet(file)
    check_replaceable(Path(file), lambda _: has_schema(file, parquet_schema(PlanRecord)))


def read_plan(file: str) -> list[Record]:
    """Read an earlier plan; raises `InputError` if the file is not one."""
    records: list[Record] = []
    rows = _parquet(file) if kind_of(file) == "parquet" else _text(file)
    for place, record in enumerate(rows, 1):
        if place > _MAX_ENTRIES:
            raise InputError(f"has more than {_MAX_ENTRIES:,} entries", file=file)
        if record is None or not _is_entry(record):
            raise InputError(
                "is no entry of a plan; give what `plan --format jsonl` or `-o` wrote", file=file, row=place
            )
        records.append({**record, "score": tidy(record["score"])})
    return records


def _text(file: str) -> Iterator[Record | None]:
    """Read CSV or JSON lines, whichever the first line is."""
    lines = lines_or_errors(file)
    first = next(lines, None)
    if first is None:
        return
    every = chain([first], lines)
    if first[1].startswith(_CSV_HEAD):
        for row in csv_rows(every, name_of(file), list):
            yield _of_cells(row.known_values())
        return
    for line, text, error in every:
        if error is not None:
            raise error
        if text.strip():
            yield parse_object(text, name_of(file), line)


def _of_cells(row: Record) -> Record | None:
    """Read an entry as CSV has it; None if it cannot be one."""
    try:
        rank, score = int(row["rank"]), float(row["score"])
    except (KeyError, ValueError):
        return None
    ledger = _ledger(row.get("points", ""))
    is_read = ledger is not None and isfinite(score)
    return {"rank": rank, "url": row.get("url"), "score": score, "points": ledger} if is_read else None


def _ledger(cell: str) -> list[Record] | None:
    """Read reasons as CSV has them, `base (+50); Is a hub page (+10)`.

    >>> _ledger("base (+50); Is a hub page (+10)")[1]
    {'rule': None, 'points': 10.0, 'reason': 'Is a hub page'}
    """
    found: list[Record] = []
    at = 0
    for paid in _PAID.finditer(cell):
        found.append({"rule": None, "points": float(paid[1]), "reason": cell[at : paid.start()]})
        at = paid.end()
    return found if at == len(cell) else None


def _parquet(file: str) -> Iterator[Record]:
    need_parquet(file)
    import polars as pl

    with opened(file):
        pass
    try:
        yield from pl.scan_parquet(file, glob=False).head(_MAX_ENTRIES + 1).collect().iter_rows(named=True)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise InputError("is not Parquet that can be read", file=file) from None


def _is_entry(record: Record) -> bool:
    if not all(name in record for name in _NEEDED) or not isinstance(record["url"], str):
        return False
    ledger = record["points"]
    return (
        _is_number(record["score"])
        and isinstance(ledger, list)
        and all(
            isinstance(entry, dict)
            and isinstance(entry.get("rule"), str | None)
            and isinstance(entry.get("reason"), str)
            and _is_number(entry.get("points"))
            for entry in ledger
        )
    )


def _is_number(value: object) -> bool:
    """Tell numbers that a plan may have from others that JSON allows: infinite ones, ones of 400 digits."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST
