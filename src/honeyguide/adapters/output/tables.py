"""Records in files that are written in one step, as JSON lines, CSV or Parquet; columns and types come from the fields.

Owns: writing such a file, whose a file is that is there already, and what an output says of the run that wrote it. Must not
know: where records come from. Start reading at `write_table`. A pick is the one record whose CSV has several rows: one for
each selected page.
"""

from __future__ import annotations

import csv
import errno
import json
import tempfile
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin, is_typeddict

from honeyguide.adapters.files.sources import need_parquet
from honeyguide.adapters.output.write import check_replaceable, replacing
from honeyguide.adapters.output.xlsx import TooManyRowsError, read_xlsx, write_xlsx
from honeyguide.core.records import csv_cell, json_line, value_at
from honeyguide.core.records.fields import (
    PageRecord,
    PickOptions,
    PickRecord,
    SelectedRecord,
    columns,
    fields,
    known,
    needed_fields,
)
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from honeyguide.core.records import Record

    Schema = Mapping[str, pl.DataType]

MARKDOWN = "markdown"
IS_CUT = "is_cut"
CONTENT = (MARKDOWN, "text", IS_CUT)  # fields of a page that CSV and xlsx do not have
_NO_CELLS = (*CONTENT, "curve", "hosts")  # too long for a cell
PICK_COUNTS = (
    "links", "filtered", "candidates", "above_threshold", "selected", "rejected_service_area", "rejected_blog",
    "rejected_blog_quota",
)  # fmt: skip
_NESTED = {
    "selected": columns(SelectedRecord, *CONTENT, "headings", "keywords", "evidence"),
    "counts": PICK_COUNTS,
    "options": tuple(fields(PickOptions)),
}
# What a reader looks for comes first, and settings last.
_FIRST = {
    PickRecord: ("site", "status", "reason", "homepage", "title", "selected"),
    PageRecord: ("url", "title", "relevance_score", "status", "change", "action"),
}
_LAST = ("strategy", "profile", "profile_hash", "options", "schema")
_NO_PICK_CELLS = ("candidates", "skipped", "replaced", "input")


def _ordered(names: Iterable[str], kind: Any) -> list[str]:
    listed, first = list(names), _FIRST.get(kind, ())
    middle = [name for name in listed if name not in (*first, *_LAST)]
    return [*first, *middle, *(name for name in _LAST if name in listed)]


_PICK_CELLS = [
    (name, part)
    for name in _ordered((name for name in fields(PickRecord) if name not in _NO_PICK_CELLS), PickRecord)
    for part in _NESTED.get(name, ("",))
]
PICK_COLUMNS = tuple(f"{name}_{part}" if part else name for name, part in _PICK_CELLS)


def column_names(kind: Any, own: Sequence[str] = ()) -> tuple[str, ...]:
    """Name the columns of a record; `own` are those of the input, which follow the site of a pick.

    >>> column_names(PickRecord, ("name", "status"))[:4]
    ('site', 'name', 'input_status', 'status')
    """
    if kind is not PickRecord:
        return tuple(_ordered(columns(kind, *_NO_CELLS), kind))
    first, *rest = PICK_COLUMNS
    named: list[str] = []
    for name in own:
        while name in PICK_COLUMNS or name in named:
            name = f"input_{name}"  # noqa: PLW2901 - until no other column has it
        named.append(name)
    return (first, *named, *rest)


def csv_rows(record: Record, kind: Any, own: Sequence[str] = ()) -> Iterator[list[str]]:
    """Write the CSV rows of a record: one, but for a pick one for each selected page, or one if there is none.

    >>> pick = {"site": "a.example", "selected": [{"rank": 1, "url": "https://a.example/b"}]}
    >>> [row[5:7] for row in csv_rows(pick, PickRecord)]
    [['1', 'https://a.example/b']]
    """
    return (list(map(csv_cell, row)) for row in _value_rows(record, kind, own))


def _value_rows(record: Record, kind: Any, own: Sequence[str]) -> Iterator[list[Any]]:
    if kind is not PickRecord:
        yield [value_at(record, column) for column in column_names(kind)]
        return
    given = record.get("input") or {}
    for page in record.get("selected") or [{}]:
        parts = {**record, "selected": page}
        cells = ((parts.get(name) or {}).get(part) if part else parts.get(name) for name, part in _PICK_CELLS)
        yield [next(cells), *map(given.get, own), *cells]


def check_table(path: Path, format_: str, kind: Any) -> None:
    """Reject a file that cannot be written, or that holds something other than these records."""
    if format_ == "parquet":
        need_parquet(str(path))
        check_replaceable(path, lambda _: has_schema(str(path), kind))
    elif format_ == "xlsx":
        check_replaceable(path, lambda _: _has_sheet(path, kind))
    else:
        check_replaceable(path, lambda head: _begins_as(kind, head))


def _has_sheet(path: Path, kind: Any) -> bool:
    """Tell whether a file is a spreadsheet with the columns of a record, or with none."""
    try:
        first = next(read_xlsx(path), None)
    except ValueError:
        return False
    return first is None or are_names(first, column_names(kind), needed_columns(kind))


def _begins_as(kind: Any, head: bytes) -> bool:
    """Tell whether a file begins as these records do, as CSV or as JSON lines.

    >>> from honeyguide.core.records.fields import ReplacedPage
    >>> [_begins_as(ReplacedPage, head) for head in (b'{"url": "x", "reason": "y", "by": null}', b'url,reason', b'url,reason,by')]
    [True, False, True]
    """
    line = head.split(b"\n", 1)[0]
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        header = line.decode("utf-8", "replace").strip().split(",")
        return are_names(header, column_names(kind), needed_columns(kind))
    return isinstance(record, dict) and are_names(record, fields(kind), needed_fields(kind))


def are_names(found: Iterable[str], names: Iterable[str], needed: Collection[str]) -> bool:
    """Tell whether a file has these names in order, of which an earlier version may lack all that are not `needed`.

    >>> [are_names(found, ["url", "new", "status"], {"url", "status"}) for found in (["url", "status"], ["url", "new"])]
    [True, False]
    """
    there = list(found)
    return there == [name for name in names if name in there or name in needed]


def needed_columns(kind: Any) -> frozenset[str]:
    """Name the columns that every version writes: what a version adds is `NotRequired`.

    >>> {*PICK_COLUMNS} - needed_columns(PickRecord)
    {'elapsed_s'}
    """
    needed = needed_fields(kind)
    if kind is not PickRecord:
        return frozenset(column for column in column_names(kind) if column.partition(".")[0] in needed)
    parts = {"selected": needed_fields(SelectedRecord), "options": needed_fields(PickOptions)}
    cells = zip(PICK_COLUMNS, _PICK_CELLS, strict=True)
    return frozenset(
        column for column, (name, part) in cells if name in needed and part in parts.get(name, (part,))
    )


def write_table(
    path: Path, format_: str, records: Iterable[Record], kind: Any, own: Sequence[str] = ()
) -> int:
    """Write records in one step: a kill leaves the old file or the new one. Gives how many there are."""
    if format_ == "jsonl":
        return _write_lines(path, None, records)
    if format_ == "csv":
        rows = (row for record in records for row in csv_rows(record, kind, own))
        return _write_lines(path, column_names(kind, own), rows)
    with replacing(path) as part:
        if format_ == "xlsx":
            values = (row for record in records for row in _value_rows(record, kind, own))
            try:
                return write_xlsx(part, column_names(kind, own), values)
            except TooManyRowsError as error:
                raise InputError(str(error), file=str(path)) from None
        if kind is PickRecord:
            return write_parquet(part, map(_without_mappings, records), parquet_schema(kind))
        later = iter(records)
        first = list(islice(later, 1))
        missing = [name for name in CONTENT if not first or name not in first[0]]
        return write_parquet(part, chain(first, later), parquet_schema(kind, *missing))


def _write_lines(path: Path, header: Sequence[str] | None, rows: Iterable[Any]) -> int:
    """Write rows of CSV below a header, or records as JSON lines without one, in one step; gives how many."""
    count = 0
    with (
        replacing(path) as part,
        part.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        if header is not None:
            writer.writerow(header)
        for count, row in enumerate(rows, 1):  # noqa: B007 - the last one is how many there are
            writer.writerow(row) if header is not None else file.write(json_line(row) + "\n")
    return count


def _without_mappings(record: Record) -> Record:
    """Turn the mappings of a pick, whose names differ by profile, into lists: Parquet has the same types in every file."""
    candidates = [{**one, "parts": _listed(one.get("parts") or {})} for one in record.get("candidates") or []]
    given = _listed(record.get("input") or {})
    return {**record, "counts": _listed(record.get("counts") or {}), "candidates": candidates, "input": given}


def _listed(values: Record) -> list[Record]:
    return [{"name": name, "value": value} for name, value in values.items()]


# --- Parquet ------------------------------------------------------------------------------------------------------

BATCH_ROWS = 1_000  # in memory at once
BATCH_ENTRIES = 200_000  # of their lists, all together: a page may have many links
_ENTRY_CHARS = 500  # of a long text count as an entry


def write_parquet(path: Path, rows: Iterable[Record], schema: Schema) -> int:
    """Write rows in batches, join the batches, and return how many rows there are; raises `OSError` if the disk fails."""
    import polars as pl  # a third of a second, and an extra

    count = 0
    try:
        with tempfile.TemporaryDirectory() as folder:
            parts: list[Path] = []
            for batch in _batches(rows):
                count += len(batch)
                parts.append(Path(folder) / f"{len(parts):06}.parquet")
                _frame(batch, schema).write_parquet(parts[-1])
            if len(parts) == 1:
                path.write_bytes(parts[0].read_bytes())
            else:
                pl.scan_parquet(parts).sink_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise OSError(errno.EIO, str(error).partition("\n")[0]) from None
    return count


def _frame(rows: Sequence[Record], schema: Schema) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.DataFrame(rows, schema=schema, strict=False)
    except UnicodeEncodeError:  # rare, and checking first would cost as much as all the rest
        return pl.DataFrame(encodable(rows), schema=schema, strict=False)


def _batches(rows: Iterable[Record]) -> Iterator[Sequence[Record]]:
    """Split rows into batches that fit into memory; there is at least one, which may be empty."""
    batch: list[Record] = []
    entries = given = 0
    for row in rows:
        batch.append(row)
        entries += sum(map(_entries, row.values()))
        if len(batch) >= BATCH_ROWS or entries >= BATCH_ENTRIES:
            yield batch
            batch, entries, given = [], 0, given + 1
    if batch or not given:
        yield batch


def _entries(value: Any) -> int:
    if isinstance(value, list):
        return len(value)
    return len(value) // _ENTRY_CHARS if isinstance(value, str) else 0


def encodable(value: Any) -> Any:
    r"""Replace halves of letters, which JSON can hold and UTF-8 cannot.

    >>> encodable({"title": ["a\ud800", 1]})
    {'title': ['a?', 1]}
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {name: encodable(item) for name, item in value.items()}
    return [encodable(item) for item in value] if isinstance(value, list) else value


def has_schema(file: str, kind: Any) -> bool:
    """Tell whether a file is Parquet with the columns and types of a record; fields that are `NotRequired` may be missing."""
    import polars as pl

    try:
        return _are_fields(pl.read_parquet_schema(file), kind)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return False


def _are_fields(found: Mapping[str, Any], kind: Any) -> bool:
    hints = fields(kind)
    return are_names(found, hints, needed_fields(kind)) and all(
        _has_type(found[name], hints[name]) for name in found
    )


def _has_type(found: Any, hint: Any) -> bool:
    import polars as pl

    part = known(hint)
    if get_origin(part) is list:
        return isinstance(found, pl.List) and _has_type(found.inner, get_args(part)[0])
    if is_typeddict(part):
        inner = {one.name: one.dtype for one in found.fields} if isinstance(found, pl.Struct) else {}
        return _are_fields(inner, part)
    return bool(found == _type(hint))


def first_rows(file: str, columns: Sequence[str], limit: int) -> list[tuple[Any, ...]]:
    """Read the first rows of some columns; none if the file is no Parquet, or lacks a column."""
    import polars as pl

    try:
        return pl.read_parquet(file, columns=list(columns), n_rows=limit, glob=False).rows()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return []


def parquet_schema(kind: Any, *without: str) -> dict[str, pl.DataType]:
    """Give the columns of a record in Parquet: its fields, always with the same types; times are text."""
    return {name: _type(hint) for name, hint in fields(kind).items() if name not in without}


def _type(hint: Any) -> pl.DataType:
    import polars as pl

    part = known(hint)
    if get_origin(part) is list:
        return pl.List(_type(get_args(part)[0]))
    if get_origin(part) is dict:  # its keys differ by profile, and types must not
        return pl.List(pl.Struct({"name": pl.String(), "value": _type(get_args(part)[1])}))
    if is_typeddict(part):
        return pl.Struct(parquet_schema(part))
    types = {str: pl.String(), int: pl.Int64(), float: pl.Float64(), bool: pl.Boolean()}
    return types[part]
