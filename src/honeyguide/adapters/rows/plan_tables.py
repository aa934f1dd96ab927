"""Plans in files: written as Parquet, read back from JSON lines or Parquet.

Owns: the columns of a plan. Must not know: how a plan is made. Start reading at `read_plan`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.adapters.files import name_of, opened, read_lines
from honeyguide.adapters.rows.known import kind_of
from honeyguide.adapters.rows.rowfiles import parse_object
from honeyguide.adapters.tables import need_parquet
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from honeyguide.core.records import Record

_MAX_ENTRIES = 1_000_000
_NEEDED = ("rank", "url", "score", "points")


def write_plan_parquet(path: Path, records: Sequence[Record]) -> None:
    """Write a plan as Parquet, always with the same types."""
    need_parquet(str(path))
    import polars as pl  # a third of a second, and an extra

    pl.DataFrame(list(records), schema=_schema(), strict=False).write_parquet(path)


def has_plan_columns(file: str) -> bool:
    """Tell whether a file is a plan that was written as Parquet."""
    need_parquet(file)
    import polars as pl

    try:
        return dict(pl.read_parquet_schema(file)) == _schema()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return False


def _schema() -> dict[str, pl.DataType]:
    import polars as pl

    text, number = pl.String(), pl.Float64()
    return {
        "schema": pl.Int64(), "rank": pl.Int64(), "url": text, "score": number, "level": text,
        "reasons": pl.List(text),
        "next_due": text,
        "points": pl.List(pl.Struct({"rule": text, "points": number, "reason": text})),
    }  # fmt: skip


def read_plan(file: str) -> list[Record]:
    """Read an earlier plan; what is not one is refused."""
    records = []
    rows = _parquet(file) if kind_of(file) == "parquet" else _json(file)
    for place, record in enumerate(rows, 1):
        if place > _MAX_ENTRIES:
            raise InputError(f"has more than {_MAX_ENTRIES:,} entries", file=file)
        if not _is_entry(record):
            raise InputError(
                "is no entry of a plan; give what `plan --format jsonl` or `-o` wrote", file=file, row=place
            )
        records.append(record)
    return records


def _json(file: str) -> Iterator[Record]:
    for line, text in read_lines(file):
        if text.strip():
            yield parse_object(text, name_of(file), line)


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
        isinstance(record["score"], int | float)
        and isinstance(ledger, list)
        and all(
            isinstance(entry, dict)
            and isinstance(entry.get("rule"), str)
            and isinstance(entry.get("reason"), str)
            and isinstance(entry.get("points"), int | float)
            for entry in ledger
        )
    )
