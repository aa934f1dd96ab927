"""Records in files that are written in one step, as JSON lines, CSV or Parquet; columns and types come from the fields.

Owns: writing such a file, whose a file is that is there already, and what an output says of the run that wrote it. Must not
know: where records come from. Start reading at `write_table`. A pick is the one record whose CSV has several rows: one for
each selected page.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from itertools import chain, islice
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.adapters.files.parquet import (
    first_rows,
    has_schema,
    need_parquet,
    parquet_schema,
    write_parquet,
)
from honeyguide.adapters.files.read import kind_of, lines_or_errors, name_of, opened
from honeyguide.adapters.files.rows import csv_rows as read_csv_rows
from honeyguide.adapters.files.rows import parse_object
from honeyguide.adapters.output.write import MAX_LINE_BYTES, check_replaceable, replacing
from honeyguide.core.records import csv_cell, csv_row, json_line
from honeyguide.core.records.fields import (
    SCHEMA,
    PickOptions,
    PickRecord,
    PlanRecord,
    SelectedRecord,
    columns,
    fields,
)
from honeyguide.core.text.printable import tidy
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from honeyguide.core.records import Record

MARKDOWN = "markdown"  # of a page: only in JSON lines
_NESTED = {
    "selected": columns(SelectedRecord, MARKDOWN, "headings", "evidence"),
    "counts": ("links", "candidates", "above_threshold", "selected"),
    "options": tuple(fields(PickOptions)),
}
_LEFT_OUT = ("candidates", "skipped", "replaced")
PICK_COLUMNS = tuple(
    f"{name}_{part}" if part else name
    for name in fields(PickRecord)
    if name not in _LEFT_OUT
    for part in _NESTED.get(name, ("",))
)
_OPENING = b'{"schema": %d, "site": ' % SCHEMA  # how the line of a pick begins
_VALUES = {"": None, "true": True, "false": False}  # what cells stand for
_NUMBER = re.compile(r"[0-9]{1,9}\Z")
_SETTINGS = ("strategy", "profile_hash")
_COMPARED_ROWS = 100  # of a table: if none of them is a page of the crawl, the table is not its own


def column_names(kind: Any) -> tuple[str, ...]:
    """Name the CSV columns of a record."""
    return PICK_COLUMNS if kind is PickRecord else columns(kind, MARKDOWN)


def csv_rows(record: Record, kind: Any) -> Iterator[list[str]]:
    """Write the CSV rows of a record: one, but for a pick one for each selected page, or one if there is none.

    >>> pick = {"site": "a.example", "selected": [{"rank": 1, "url": "https://a.example/b"}]}
    >>> [row[14:16] for row in csv_rows(pick, PickRecord)]
    [['1', 'https://a.example/b']]
    """
    if kind is not PickRecord:
        yield csv_row(record, column_names(kind))
        return
    for page in record.get("selected") or [{}]:
        parts = {**record, "selected": page}
        yield [
            csv_cell((parts.get(name) or {}).get(part) if part else parts.get(name))
            for name in fields(PickRecord)
            if name not in _LEFT_OUT
            for part in _NESTED.get(name, ("",))
        ]


def check_table(path: Path, format_: str, kind: Any) -> None:
    """Reject a file that cannot be written, or that holds something other than these records."""
    if format_ != "parquet":
        check_replaceable(path, lambda head: has_columns(head, column_names(kind)))
        return
    need_parquet(str(path))
    check_replaceable(path, lambda _: has_schema(str(path), parquet_schema(kind, MARKDOWN)))


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
    if format_ != "parquet":
        rows = (row for record in records for row in csv_rows(record, kind))
        return (
            write_lines(path, column_names(kind), rows)
            if format_ == "csv"
            else write_lines(path, None, records)
        )
    is_pick = kind is PickRecord
    with replacing(path) as part:
        plain = map(_without_mappings, records) if is_pick else records
        return write_parquet(part, plain, parquet_schema(kind, *([] if is_pick else [MARKDOWN])))


def write_lines(path: Path, header: Sequence[str] | None, rows: Iterable[Any]) -> int:
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
        for row in read_csv_rows(every, name_of(file), list):
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
