"""How values and records are written: numbers, JSON lines, CSV cells, and text that cannot do harm where it is read.

Owns: what a value looks like in every output. Must not know: where it goes, any command. Start reading at `csv_cell`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from honeyguide.core.text.printable import escaped, number, points, printable, tidy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from honeyguide.core.records import Record
    from honeyguide.core.rules.language import Score

__all__ = ["number", "points", "printable", "tidy"]  # front ends import them from here

# How a spreadsheet recognises something to execute; it passes over leading space, and knows wide forms of the signs.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def rounded(value: float | None) -> float | None:
    """Keep four decimals of a share in a record: what follows them is the processor's.

    >>> rounded(2 / 3), rounded(None)
    (0.6667, None)
    """
    return None if value is None else round(value, 4)


def reason_lines(score: Score | None) -> list[str]:
    """Write a score's reasons for people, `+80 services hub`; those that paid nothing only if none did."""
    reasons = () if score is None else score.reasons
    paid = [reason for reason in reasons if reason.points]
    return [
        f"{number(reason.points) if reason.rule == 'base' else points(reason.points)} {reason.text}"
        for reason in paid or [reason for reason in reasons if not reason.quiet]
    ]


def json_line(record: Record) -> str:
    """Write one record as JSON that is safe to look at, too; files are UTF-8, whatever the terminal is."""
    return escaped(json.dumps(record, ensure_ascii=False, allow_nan=False))


def csv_cell(value: Any) -> str:
    """Write a cell: what is not known is empty, numbers are numbers, and text is never a formula.

    What a spreadsheet would execute gets an apostrophe, after everything invisible is gone; JSON lines have the text
    as it is.

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
    """Write what a name stands for: a list, or one value, which looks as in a cell of its own."""
    if isinstance(value, list):
        return _join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _item(value: Any) -> str:
    """Write an entry of a list; the rule's id of a reason is left to JSON, and a dash is a rule that paid nothing."""
    if not isinstance(value, dict):
        return str(value)
    if "points" in value:
        paid = value["points"]
        return f"{value['reason']} ({'-' if paid is None else points(paid)})"
    return " ".join(map(str, value.values()))


def csv_row(record: Record, columns: Sequence[str]) -> list[str]:
    """Write a record as cells; `rejected.rule` is a part of the value `rejected`."""
    return [csv_cell(_at(record, column)) for column in columns]


def _at(record: Record, column: str) -> Any:
    value: Any = record
    for name in column.split("."):
        value = None if value is None else value.get(name)
    return value
