"""Records as text: JSON lines and CSV cells that do no harm where they are read.

Owns: how a value is written. Must not know: files, terminals, which fields a record has. Start reading at `json_line`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from honeyguide.core.text.printable import escaped, points, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from honeyguide.core.records.fields import Record

# How a spreadsheet recognises a formula; it skips leading space, and knows wide forms of the signs.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def json_line(record: Record) -> str:
    """Write a record as one line of JSON whose control characters are escaped."""
    return escaped(json.dumps(record, ensure_ascii=False, allow_nan=False))


def csv_row(record: Record, columns: Sequence[str]) -> list[str]:
    """Write the named columns of a record as cells; `rejected.rule` is a field of a nested record."""
    return [csv_cell(_at(record, column)) for column in columns]


def _at(record: Record, column: str) -> Any:
    value: Any = record
    for name in column.split("."):
        value = None if value is None else value.get(name)
    return value


def csv_cell(value: Any) -> str:
    """Write a cell: null is empty, numbers are numbers, and a text that a spreadsheet would execute gets an apostrophe.

    >>> csv_cell("=1+1"), csv_cell(-5), csv_cell(None), csv_cell([{"points": 80, "reason": "services hub"}])
    ("'=1+1", '-5', '', 'services hub (+80)')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, dict):
        value = [f"{name}: {_part(part)}" for name, part in value.items() if part is not None]
    text = printable(_join(value) if isinstance(value, list) else str(value))
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def _join(values: list[Any]) -> str:
    return "; ".join(map(_item, values))


def _part(value: Any) -> str:
    """Write the value of a mapping: a list, or one value, which looks as in a cell of its own."""
    if isinstance(value, list):
        return _join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _item(value: Any) -> str:
    """Write an entry of a list; of a point, the reason and what was paid, or a dash if nothing was."""
    if not isinstance(value, dict):
        return str(value)
    if "points" in value:
        paid = value["points"]
        return f"{value['reason']} ({'-' if paid is None else points(paid)})"
    return " ".join(map(str, value.values()))
