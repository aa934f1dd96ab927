"""What outputs say of the run that wrote them, read back before they are written again.

Must not know: how outputs are written. Start reading at `read_back` for a pick, at `share_pages` for a crawl.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.adapters.output.tables import PICK_COLUMNS, first_rows
from honeyguide.adapters.output.write import MAX_LINE_BYTES
from honeyguide.adapters.output.xlsx import read_xlsx
from honeyguide.core.records.fields import SCHEMA, PickOptions, PickRecord, fields
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from honeyguide.core.records import Record

_OPENING = b'{"schema": %d, "site": ' % SCHEMA  # how the line of a pick begins
_VALUES = {"": None, "true": True, "false": False}  # what cells stand for
_NUMBER = re.compile(r"[0-9]{1,9}\Z")
_SETTINGS = ("strategy", "profile_hash")
_COMPARED_ROWS = 100  # of a table: if none of them is a page of the crawl, the table is not its own


def share_pages(path: Path, format_: str, pages: Iterable[Record]) -> bool:
    """Tell whether a table has a page of this crawl, or none at all."""
    if not path.exists():
        return True
    names = ("url", "fetched_at")
    if format_ == "parquet":
        rows = set(first_rows(str(path), names, _COMPARED_ROWS))
    elif format_ == "xlsx":
        rows = {tuple(map(row.get, names)) for row in islice(read_xlsx(path), _COMPARED_ROWS)}
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
    readers = {"jsonl": _json_back, "csv": _csv_back, "parquet": _parquet_back, "xlsx": _xlsx_back}
    rows = readers[format_](path)
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
            return _first_rows(reader) if set(PICK_COLUMNS) <= set(reader.fieldnames or ()) else None
    except (csv.Error, UnicodeDecodeError):
        return None


def _xlsx_back(path: Path) -> Sequence[Record] | None:
    try:
        return _first_rows(read_xlsx(path))
    except (ValueError, KeyError):
        return None


def _first_rows(rows: Iterable[dict[str, str]]) -> list[Record]:
    return [_csv_fields(row) for row in rows if row["selected_rank"] in ("", "1")]


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
