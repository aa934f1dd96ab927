"""Pick records as tables: CSV with a row for each chosen page, Parquet with a row for each site.

Owns: columns and their types, writing a file in one step, and reading back which sites an output holds.
Must not know: how cells are made harmless for spreadsheets (the caller says), or where the records come from.
Start reading at `write_table`; how Parquet is written is in `parquet.py`.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.files.parquet import parquet_schema, write_parquet
from honeyguide.adapters.output.journal import Finished
from honeyguide.adapters.output.write import MAX_LINE_BYTES, replacing
from honeyguide.core.records.fields import (
    SCHEMA,
    PickOptions,
    PickRecord,
    SelectedRecord,
    columns,
    fields,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from honeyguide.core.records import Record


_CONTENT = ("markdown", "headings", "evidence")  # of a selected page: left to the formats that can nest
_COUNTS = ("links", "candidates", "above_threshold", "selected")
_NESTED = {
    "selected": columns(SelectedRecord, *_CONTENT),
    "counts": _COUNTS,
    "options": tuple(fields(PickOptions)),
}
_LEFT_OUT = ("candidates", "skipped", "replaced")
COLUMNS = tuple(
    f"{name}_{part}" if part else name
    for name in fields(PickRecord)
    if name not in _LEFT_OUT
    for part in _NESTED.get(name, ("",))
)
_OPENING = b'{"schema": %d, "site": ' % SCHEMA  # how every record begins
_VALUES = {"": None, "true": True, "false": False}  # what cells stand for
_NUMBER = re.compile(r"[0-9]{1,9}\Z")
_SETTINGS = ("strategy", "profile_hash")


def page_rows(record: Record) -> Iterator[list[Any]]:
    """Give a row for each selected page of a site, one without a page if there is none; cells as they are in the record.

    >>> [row[14:16] for row in page_rows({"site": "a.example", "selected": [{"rank": 1, "url": "https://a.example/b"}]})]
    [[1, 'https://a.example/b']]
    """
    for page in record.get("selected") or [{}]:
        row: list[Any] = []
        for name in fields(PickRecord):
            if name in _NESTED:
                nested = page if name == "selected" else record.get(name) or {}
                row += [nested.get(part) for part in _NESTED[name]]
            elif name not in _LEFT_OUT:
                row.append(record.get(name))
        yield row


def write_table(path: Path, kind: str, records: Iterable[Record], cell: Callable[[Any], str]) -> None:
    """Write a file, `csv` or `parquet`, in one step: a kill leaves the old one or the new one."""
    with replacing(path) as part:
        if kind == "csv":
            _write_csv(part, records, cell)
        else:
            write_parquet(part, map(_parquet_row, records), parquet_schema(PickRecord))


def _write_csv(path: Path, records: Iterable[Record], cell: Callable[[Any], str]) -> None:
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for record in records:
            writer.writerows([cell(value) for value in row] for row in page_rows(record))


# --- Parquet ------------------------------------------------------------------------------------------------------


def _parquet_row(record: Record) -> Record:
    """Turn mappings into lists of names and values."""
    candidates = [{**one, "parts": _listed(one.get("parts") or {})} for one in record.get("candidates") or []]
    return {**record, "counts": _listed(record.get("counts") or {}), "candidates": candidates}


def _listed(values: Record) -> list[Record]:
    return [{"name": name, "value": value} for name, value in values.items()]


# --- reading back -------------------------------------------------------------------------------------------------


def read_back(path: Path, kind: str) -> Finished | None:
    """Say which sites an output holds, as it writes them, and what it tells of the settings; None if it is not ours."""
    reader = {"jsonl": _lines_back, "csv": _csv_back, "parquet": _parquet_back}[kind]
    rows = reader(path)
    if rows is None:
        return None
    known_row = next((row for row in rows if row["profile_hash"]), None)
    settings = {name: known_row.get(name) for name in _SETTINGS} if known_row else {}
    options: Record = next((row["options"] for row in rows if isinstance(row.get("options"), dict)), {})
    return Finished(
        tuple(row["site"] for row in rows),
        {**settings, **{name: options[name] for name in fields(PickOptions) if name in options}},
        Counter(str(row.get("status")) for row in rows),
    )


def _lines_back(path: Path) -> list[Record] | None:
    """Read the first fields of each whole line; a last one that was torn off does not count."""
    rows = []
    with path.open("rb") as file:
        while line := file.readline(MAX_LINE_BYTES + 1):
            if not line.startswith(_OPENING[: len(line)]) or len(line) > MAX_LINE_BYTES:
                return None
            try:
                rows += [first_fields(line.decode("utf-8", "replace"))] if line.endswith(b"\n") else []
            except (ValueError, RecursionError):
                return None
    return rows


def first_fields(line: str) -> Record:
    """Read the values before the first that nests: what follows may be megabytes.

    >>> first_fields('{"schema": 2, "site": "a.example", "profile_hash": "5a", "selected": [{"rank"')
    {'profile_hash': '5a', 'schema': 2, 'site': 'a.example'}
    """
    head, _, rest = line.partition(', "selected": ')
    return {"profile_hash": None, **json.loads(f"{head}}}" if rest else head)}


def _csv_back(path: Path) -> list[Record] | None:
    """Read the first row of each site; the other pages of a site have higher ranks."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) != COLUMNS:
                return None
            return [_csv_fields(row) for row in reader if row["selected_rank"] in ("", "1")]
    except (csv.Error, UnicodeDecodeError):
        return None


def _csv_fields(row: dict[str, str]) -> Record:
    """Read what a row says of its site, and its options."""
    cells = {name: row[f"options_{name}"] for name in fields(PickOptions)}
    options = {
        name: _VALUES.get(cell, int(cell) if _NUMBER.match(cell) else cell) for name, cell in cells.items()
    }
    return {**{name: row[name] for name in ("site", "status", *_SETTINGS)}, "options": options}


def _parquet_back(path: Path) -> Sequence[Record] | None:
    import polars as pl

    try:
        if list(pl.read_parquet_schema(path)) != list(fields(PickRecord)):
            return None
        return pl.read_parquet(path, columns=["site", "status", *_SETTINGS, "options"]).to_dicts()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return None
