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

from honeyguide.adapters.files.parquet import reason_type, write_parquet
from honeyguide.adapters.output.journal import Finished
from honeyguide.adapters.output.write import MAX_LINE_BYTES, replacing
from honeyguide.core.records import ASKED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import polars as pl

    from honeyguide.core.records import Record


_SITE = ("schema", "site", "homepage", "status", "reason", "strategy", "profile", "profile_hash", "title")
_PAGE = ("rank", "url", "category", "bucket", "score", "reasons", "title", "text_chars", "status", "keywords")
_COUNTS = ("links", "candidates", "above_threshold", "selected")
# Everything about a link that was not chosen is left to the formats that can nest.
COLUMNS = (
    *_SITE,
    *(f"selected_{name}" for name in _PAGE),
    *(f"counts_{name}" for name in _COUNTS),
    "requests",
    "elapsed_s",
    *(f"asked_{name}" for name in ASKED),
)
_OLDER = COLUMNS[: -len(ASKED)]  # of files that do not say what was asked for
_OPENING = b'{"schema": 1, "site": '  # how every record begins
_SAID = {"": None, "true": True, "false": False}  # what cells stand for
_NUMBER = re.compile(r"[0-9]{1,9}\Z")
_SETTINGS = ("strategy", "profile_hash")


def page_rows(record: Record) -> Iterator[list[Any]]:
    """Give a row for each chosen page of a site, one without a page if there is none; cells as they are in the record.

    >>> [row[8:11] for row in page_rows({"site": "a.example", "selected": [{"rank": 1, "url": "https://a.example/b"}]})]
    [[None, 1, 'https://a.example/b']]
    """
    counts, asked = record.get("counts") or {}, record.get("asked") or {}
    for page in record.get("selected") or [{}]:
        yield [
            *(record.get(name) for name in _SITE),
            *(page.get(name) for name in _PAGE),
            *(counts.get(name) for name in _COUNTS),
            record.get("requests"),
            record.get("elapsed_s"),
            *(asked.get(name) for name in ASKED),
        ]


def write_table(path: Path, kind: str, records: Iterable[Record], cell: Callable[[Any], str]) -> None:
    """Write a file, `csv` or `parquet`, in one step: a kill leaves the old one or the new one."""
    with replacing(path) as part:
        if kind == "csv":
            _write_csv(part, records, cell)
        else:
            write_parquet(part, map(_parquet_row, records), parquet_schema())


def _write_csv(path: Path, records: Iterable[Record], cell: Callable[[Any], str]) -> None:
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for record in records:
            writer.writerows([cell(value) for value in row] for row in page_rows(record))


# --- Parquet ------------------------------------------------------------------------------------------------------


def parquet_schema() -> dict[str, pl.DataType]:
    """Give the columns of the Parquet file: the names of the record, always with the same types."""
    import polars as pl

    text, whole, real = pl.String(), pl.Int64(), pl.Float64()
    texts = pl.List(text)
    reasons = reason_type()
    evidence = pl.List(pl.Struct({"keyword": text, "text": text}))
    page = pl.Struct({
        "rank": whole, "url": text, "category": text, "bucket": text, "score": real, "reasons": reasons,
        "title": text, "text_chars": whole, "status": whole, "markdown": text, "headings": texts,
        "keywords": texts, "evidence": evidence,
    })  # fmt: skip
    candidate = pl.Struct({
        "url": text, "anchor_text": text, "position": text, "rank": whole, "category": text, "bucket": text,
        "score": real, "intrinsic_score": real, "contextual_score": real, "total_score": real, "matched": texts,
        "selection_reason": text, "reasons": reasons,
        "parts": pl.List(pl.Struct({"name": text, "reasons": reasons})), "out": pl.Struct({"rule": text, "why": text}),
        "unknown": texts, "positions": texts,
    })  # fmt: skip
    asked = pl.Struct(
        {"cap": whole, "query": text, "include": text, "exclude": text, "content": pl.Boolean()}
    )
    return {
        "schema": whole, **dict.fromkeys(_SITE[1:], text), "selected": pl.List(page),
        "candidates": pl.List(candidate), "skipped": pl.List(pl.Struct({"href": text, "rule": text})),
        "counts": pl.List(pl.Struct({"name": text, "count": whole})),  # the rules that count differ by profile
        "replaced": pl.List(pl.Struct({"url": text, "why": text})), "requests": whole, "elapsed_s": real,
        "asked": asked,
    }  # fmt: skip


def _parquet_row(record: Record) -> Record:
    """Turn what is keyed by a profile's names into lists: columns have the same types in every file."""
    counts = [{"name": name, "count": count} for name, count in (record.get("counts") or {}).items()]
    candidates = [{**one, "parts": _parts(one)} for one in record.get("candidates") or []]
    return {**record, "counts": counts, "candidates": candidates}


def _parts(candidate: Record) -> list[Record]:
    return [{"name": name, "reasons": reasons} for name, reasons in (candidate.get("parts") or {}).items()]


# --- reading back -------------------------------------------------------------------------------------------------


def read_back(path: Path, kind: str) -> Finished | None:
    """Say which sites an output holds, as it writes them, and what it tells of the settings; None if it is not ours."""
    reader = {"jsonl": _lines_back, "csv": _csv_back, "parquet": _parquet_back}[kind]
    rows = reader(path)
    if rows is None:
        return None
    told = next((row for row in rows if row["profile_hash"]), None)
    settings = {name: told.get(name) for name in _SETTINGS} if told else {}
    asked: Record = next((row["asked"] for row in rows if isinstance(row.get("asked"), dict)), {})
    return Finished(
        tuple(row["site"] for row in rows),
        {**settings, **{name: asked[name] for name in ASKED if name in asked}},
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

    >>> first_fields('{"schema": 1, "site": "a.example", "profile_hash": "5a", "selected": [{"rank"')
    {'profile_hash': '5a', 'schema': 1, 'site': 'a.example'}
    """
    head, _, rest = line.partition(', "selected": ')
    return {"profile_hash": None, **json.loads(f"{head}}}" if rest else head)}


def _csv_back(path: Path) -> list[Record] | None:
    """Read the first row of each site; the other pages of a site have higher ranks."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) not in (COLUMNS, _OLDER):
                return None
            return [_csv_fields(row) for row in reader if row["selected_rank"] in ("", "1")]
    except (csv.Error, UnicodeDecodeError):
        return None


def _csv_fields(row: dict[str, str]) -> Record:
    """Read what a row says of its site, and what was asked for."""
    cells = {name: row[f"asked_{name}"] for name in ASKED if f"asked_{name}" in row}
    asked = {
        name: _SAID.get(cell, int(cell) if _NUMBER.match(cell) else cell) for name, cell in cells.items()
    }
    return {**{name: row[name] for name in ("site", "status", *_SETTINGS)}, "asked": asked}


def _parquet_back(path: Path) -> list[Record] | None:
    import polars as pl

    try:
        names = list(pl.read_parquet_schema(path))
        ours = list(parquet_schema())
        if names not in (ours, ours[:-1]):  # older files do not say what was asked for
            return None
        return pl.read_parquet(
            path, columns=["site", "status", *_SETTINGS, *names[len(ours) - 1 :]]
        ).to_dicts()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return None
