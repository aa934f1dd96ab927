"""Rows of known URLs from CSV and JSON lines.

Owns: the two formats, and naming file, line, row and field of every mistake. Must not know: what the fields mean
(`core.plan` reads and checks them). Start reading at `read_rows`.
"""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

from honeyguide.cli.files import name_of, read_lines
from honeyguide.core.plan import REQUIRED, field_name, read_signals
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.core.plan import Signals


def read_rows(file: str, kind: str) -> Iterator[Signals]:
    """Read and check the rows of a file; `kind` is csv or jsonl. Rows count from 1, a header is none."""
    rows = _csv_rows(file) if kind == "csv" else _json_rows(file)
    for number, (line, row) in enumerate(rows, 1):
        yield read_signals(row, file=f"{name_of(file)} line {line}", number=number)


def _json_rows(file: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, text in read_lines(file):
        if text.strip():
            yield line, parse_object(text, file, line)


def parse_object(text: str, file: str, line: int) -> dict[str, Any]:
    """Read a line that should be one JSON object."""
    where = f"{name_of(file)} line {line}"
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg} at character {error.pos + 1}", file=where) from None
    except (ValueError, RecursionError):
        raise InputError(
            "is not JSON that can be read: a number is too long, or it is nested too deeply", file=where
        ) from None
    if not isinstance(value, dict):
        raise InputError("is not a JSON object; write one object on each line", file=where)
    _check_names(list(value), where)
    return value


def _csv_rows(file: str) -> Iterator[tuple[int, dict[str, Any]]]:
    lines = read_lines(file)
    last = 0

    def texts() -> Iterator[str]:
        nonlocal last
        for number, text in lines:
            last = number
            yield text

    reader = csv.reader(texts(), strict=True)
    header: list[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = _header(cells, file)
                continue
            yield last, _row(header, cells, f"{name_of(file)} line {last}")
    except csv.Error as error:
        raise InputError(f"is not CSV: {error}", file=f"{name_of(file)} line {last}") from None


def _header(cells: list[str], file: str) -> list[str]:
    names = [cell.strip() for cell in cells]
    _check_names([name for name in names if name], name_of(file))
    missing = [name for name in REQUIRED if name not in map(field_name, names)]
    if missing:
        raise InputError(
            f"its first line names no column {', '.join(missing)}", file=name_of(file), field=missing[0]
        )
    return names


def _check_names(names: list[str], where: str) -> None:
    """Refuse two columns that mean the same: either could be the right one."""
    seen: set[str] = set()
    for name in map(field_name, names):
        if name in seen:
            raise InputError("is given twice; keep one of them", file=where, field=shown(name))
        seen.add(name)


def _row(header: list[str], cells: list[str], where: str) -> dict[str, Any]:
    if len(cells) != len(header):
        raise InputError(f"has {len(cells)} fields where the header has {len(header)}", file=where)
    return dict(zip(header, cells, strict=True))
