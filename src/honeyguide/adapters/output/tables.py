"""Records in files that are written in one step, as JSON lines, CSV or Parquet; columns and types come from the fields.

Owns: writing such a file, whose a file is that is there already, and what an output says of the run that wrote it. Must not
know: where records come from. Start reading at `write_table`. A pick is the one record whose CSV has several rows: one for
each selected page.
"""

from __future__ import annotations

import csv
import errno
import json
import re
import tempfile
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin, is_typeddict

from honeyguide.adapters.files.read import need_parquet
from honeyguide.adapters.output.write import MAX_LINE_BYTES, check_replaceable, replacing
from honeyguide.core.records import csv_cell, csv_row, json_line
from honeyguide.core.records.fields import (
    SCHEMA,
    PickOptions,
    PickRecord,
    SelectedRecord,
    columns,
    fields,
    known,
)
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from honeyguide.core.records import Record

    Schema = Mapping[str, pl.DataType]

MARKDOWN = "markdown"
IS_CUT = "is_cut"
CONTENT = (MARKDOWN, "text", IS_CUT)  # fields of a page that are only in JSON lines
_NO_CELLS = (*CONTENT, "curve", "hosts")  # too long for a cell
PICK_COUNTS = (
    "links", "filtered", "candidates", "above_threshold", "selected", "rejected_service_area", "rejected_blog",
    "rejected_blog_quota",
)  # fmt: skip
_NESTED = {
    "selected": columns(SelectedRecord, MARKDOWN, IS_CUT, "headings", "evidence"),
    "counts": PICK_COUNTS,
    "options": tuple(fields(PickOptions)),
}
_PICK_CELLS = [
    (name, part)
    for name in fields(PickRecord)
    if name not in ("candidates", "skipped", "replaced")
    for part in _NESTED.get(name, ("",))
]
PICK_COLUMNS = tuple(f"{name}_{part}" if part else name for name, part in _PICK_CELLS)
_OPENING = b'{"schema": %d, "site": ' % SCHEMA  # how the line of a pick begins
_VALUES = {"": None, "true": True, "false": False}  # what cells stand for
_NUMBER = re.compile(r"[0-9]{1,9}\Z")
_SETTINGS = ("strategy", "profile_hash")
_COMPARED_ROWS = 100  # of a table: if none of them is a page of the crawl, the table is not its own


def column_names(kind: Any) -> tuple[str, ...]:
    """Name the CSV columns of a record."""
    return PICK_COLUMNS if kind is PickRecord else columns(kind, *_NO_CELLS)


def csv_rows(record: Record, kind: Any) -> Iterator[list[str]]:
    """Write the CSV rows of a record: one, but for a pick one for each selected page, or one if there is none.

    >>> pick = {"site": "a.example", "selected": [{"rank": 1, "url": "https://a.example/b"}]}
    >>> [row[17:19] for row in csv_rows(pick, PickRecord)]
    [['1', 'https://a.example/b']]
    """
    if kind is not PickRecord:
        yield csv_row(record, column_names(kind))
        return
    for page in record.get("selected") or [{}]:
        parts = {**record, "selected": page}
        cells = ((parts.get(name) or {}).get(part) if part else parts.get(name) for name, part in _PICK_CELLS)
        yield list(map(csv_cell, cells))


def check_table(path: Path, format_: str, kind: Any) -> None:
    """Reject a file that cannot be written, or that holds something other than these records."""
    if format_ != "parquet":
        check_replaceable(path, lambda head: has_columns(head, column_names(kind)))
        return
    need_parquet(str(path))
    check_replaceable(path, lambda _: has_schema(str(path), parquet_schema(kind, *CONTENT)))


def has_columns(head: bytes, names: Sequence[str]) -> bool:
    """Tell whether a file begins as records with these columns do, as CSV or as JSON lines; more may follow.

    >>> has_columns(b'{"schema": 2, "rank": 1, "url": "https://a.example/"}', ("schema", "rank")), has_columns(b"rank", ("schema",))
    (True, False)
    """
    line = head.split(b"\n", 1)[0]
    if line.strip() == ",".join(names).encode():
        return True
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and tuple(record)[: len(names)] == tuple(names)


def write_table(path: Path, format_: str, records: Iterable[Record], kind: Any) -> int:
    """Write records in one step: a kill leaves the old file or the new one. Gives how many there are."""
    if format_ == "jsonl":
        return _write_lines(path, None, records)
    if format_ == "csv":
        rows = (row for record in records for row in csv_rows(record, kind))
        return _write_lines(path, column_names(kind), rows)
    with replacing(path) as part:
        if kind is PickRecord:
            return write_parquet(part, map(_without_mappings, records), parquet_schema(kind))
        return write_parquet(part, records, parquet_schema(kind, *CONTENT))


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
    return {**record, "counts": _listed(record.get("counts") or {}), "candidates": candidates}


def _listed(values: Record) -> list[Record]:
    return [{"name": name, "value": value} for name, value in values.items()]


# --- Parquet ------------------------------------------------------------------------------------------------------

BATCH_ROWS = 1_000  # in memory at once
BATCH_ENTRIES = 200_000  # of their lists, all together: a page may have many links


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
        entries += sum(len(value) for value in row.values() if isinstance(value, list))
        if len(batch) >= BATCH_ROWS or entries >= BATCH_ENTRIES:
            yield batch
            batch, entries, given = [], 0, given + 1
    if batch or not given:
        yield batch


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


def has_schema(file: str, schema: Schema) -> bool:
    """Tell whether a file is Parquet with exactly these columns and types."""
    import polars as pl

    try:
        return dict(pl.read_parquet_schema(file)) == dict(schema)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return False


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


# --- reading back -------------------------------------------------------------------------------------------------


def share_pages(path: Path, format_: str, pages: Iterable[Record]) -> bool:
    """Tell whether a table has a page of this crawl, or none at all."""
    if not path.exists():
        return True
    names = ("url", "fetched_at")
    if format_ == "parquet":
        rows = set(first_rows(str(path), names, _COMPARED_ROWS))
    else:
        try:
            with path.open(encoding="utf-8", errors="replace", newline="") as file:
                rows = {tuple(map(row.get, names)) for row in islice(csv.DictReader(file), _COMPARED_ROWS)}
        except csv.Error:
            return False
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", file=str(path)) from None
    return not rows or any((page.get("url"), page.get("fetched_at") or "") in rows for page in pages)


class FinishedSites(NamedTuple):
    """What the output of a pick says of its run: its sites, some of the settings, how often each status."""

    sites: tuple[str, ...]
    settings: Record
    statuses: Counter[str]


def read_back(path: Path, format_: str) -> FinishedSites | None:
    """Read what the output of a pick says of its run; None if it is no such output."""
    rows = {"jsonl": _json_back, "csv": _csv_back, "parquet": _parquet_back}[format_](path)
    if rows is None:
        return None
    first = next((row for row in rows if row["profile_hash"]), None)
    settings = {name: first.get(name) for name in _SETTINGS} if first else {}
    options: Record = next((row["options"] for row in rows if isinstance(row.get("options"), dict)), {})
    return FinishedSites(
        tuple(row["site"] for row in rows),
        {**settings, **{name: options[name] for name in fields(PickOptions) if name in options}},
        Counter(str(row.get("status")) for row in rows),
    )


def _json_back(path: Path) -> Sequence[Record] | None:
    """Read the first fields of each line; a torn last one does not count."""
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
    """Read the fields before `selected`: what follows may be megabytes.

    >>> first_fields('{"schema": 2, "site": "a.example", "profile_hash": "5a", "selected": [{"rank"')
    {'profile_hash': '5a', 'schema': 2, 'site': 'a.example'}
    """
    head, _, rest = line.partition(', "selected": ')
    return {"profile_hash": None, **json.loads(f"{head}}}" if rest else head)}


def _csv_back(path: Path) -> Sequence[Record] | None:
    """Read the first row of each site; the other pages of a site have higher ranks."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) != PICK_COLUMNS:
                return None
            return [_csv_fields(row) for row in reader if row["selected_rank"] in ("", "1")]
    except (csv.Error, UnicodeDecodeError):
        return None


def _csv_fields(row: dict[str, str]) -> Record:
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
