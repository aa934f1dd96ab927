"""Files of records: which may be replaced, and how they are written.

Owns: the names under which front ends reach the files of users. Must not know: options, any command's records.
Start reading at `write_file`.
"""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from honeyguide.adapters.files.read import STDIN, kind_of, name_of, opened, read_lines
from honeyguide.adapters.files.rows import Rejected
from honeyguide.adapters.files.sites import NoColumnError, SiteRow, check_sites, read_sites, unique
from honeyguide.adapters.output.write import check_replaceable, replacing
from honeyguide.app.formats import csv_row, json_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from honeyguide.core.records import Record

__all__ = [
    "STDIN", "NoColumnError", "Rejected", "SiteRow", "check_replaceable", "kind_of", "name_of", "opened", "read_lines",
]  # fmt: skip


def named_rows(
    texts: Sequence[str], files: Sequence[str], column: str | None = None
) -> tuple[list[SiteRow], list[SiteRow]]:
    """Read the sites of arguments and files, each once, and those that are repeated; `-` is standard input."""
    rows = [_located(row, "argument") for row in check_sites(text for text in texts if text != STDIN)]
    for file in [*files, *([STDIN] if STDIN in texts else [])]:
        rows += [_located(row, f"{name_of(file)} line") for row in read_sites(file, column)]
    return unique(rows)


def _located(row: SiteRow, where: str) -> SiteRow:
    return replace(row, problem=f"{where} {row.line}: {row.problem}") if row.problem else row


def check_output(file: str, columns: Sequence[str]) -> None:
    """Reject a file that cannot be written, or that is not an earlier output with these columns."""
    check_replaceable(Path(file), lambda head: has_columns(head, columns))


def has_columns(head: bytes, columns: Sequence[str]) -> bool:
    """Tell whether a file begins with these columns, as CSV or as JSON lines; more may follow.

    >>> has_columns(b'{"schema": 2, "rank": 1, "url": "https://a.example/"}', ("schema", "rank")), has_columns(b"rank", ("schema",))
    (True, False)
    """
    line = head.split(b"\n", 1)[0]
    if line.strip() == ",".join(columns).encode():
        return True
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and tuple(record)[: len(columns)] == tuple(columns)


def write_file(file: str | Path, kind: str, records: Iterable[Record], columns: Sequence[str]) -> int:
    """Write records to a file, `jsonl` or `csv`, in one step; returns how many."""
    count = 0
    with (
        replacing(Path(file)) as part,
        part.open("w", encoding="utf-8", errors="backslashreplace", newline="") as target,
    ):
        writer = csv.writer(target, lineterminator="\n")
        if kind == "csv":
            writer.writerow(columns)
        for count, record in enumerate(records, 1):  # noqa: B007 - the last one is how many there are
            if kind == "csv":
                writer.writerow(csv_row(record, columns))
            else:
                target.write(json_line(record) + "\n")
    return count
