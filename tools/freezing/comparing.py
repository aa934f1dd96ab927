"""Say how two sets of frozen output differ, as a person would list it: fields by name, other text by line.

Owns: finding fields that have another name, and writing the list. Must not know: how output is frozen.
Start reading at `compared`.
"""

from __future__ import annotations

import csv
import difflib
import io
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from freezing.running import SECTION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    Fields = dict[str, list[Any]]  # the values of a field in a record, by its path; a list gives several

_LINES = 24  # of a difference that are shown
_CHARS = 160  # of a line that are shown
_HEADER = "command and exit code"


class Difference(NamedTuple):
    """How a section differs: fields that have another name, and the lines that tell everything."""

    renamed: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]


def compared(before: Path, after: Path, *, whole: bool = False) -> list[str]:
    """List the differences of two folders, case by case, and what was renamed in all of them; nothing if equal."""
    names = sorted({path.name for folder in (before, after) for path in folder.glob("*.txt")})
    told: list[str] = []
    renamed: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for name in names:
        case = name.removesuffix(".txt")
        old, new = (_read(folder / name) for folder in (before, after))
        if old is None or new is None:
            told.append(f"{case}: only in {after if old is None else before}")
        elif old != new:
            for section, difference in _differences(old, new):
                told.append(f"{case}, {section}:")
                told += [f"  {line}" for line in _cut(difference.lines, whole=whole)]
                for pair in difference.renamed:
                    renamed[pair].append(case)
    if renamed:
        told.append("Renamed in all:")
        told += [
            f"  {old} -> {new}  ({', '.join(sorted(set(cases)))})" for (old, new), cases in renamed.items()
        ]
    return told


def _read(path: Path) -> str | None:
    return path.read_bytes().decode("utf-8") if path.exists() else None


def _cut(lines: tuple[str, ...], *, whole: bool) -> Iterator[str]:
    shown = lines if whole else lines[:_LINES]
    yield from (line if whole or len(line) <= _CHARS else f"{line[:_CHARS]}…" for line in shown)
    if len(lines) > len(shown):
        yield f"… and {len(lines) - len(shown)} more lines"


def _differences(old: str, new: str) -> Iterator[tuple[str, Difference]]:
    mine, other = _sections(old), _sections(new)
    for section in dict.fromkeys((*mine, *other)):
        if section not in mine or section not in other:
            words = "is new" if section in other else "is gone"
            yield section, Difference((), (words,))
        elif mine[section] != other[section]:
            yield section, difference_of(mine[section], other[section])


def _sections(text: str) -> dict[str, str]:
    found: dict[str, str] = {_HEADER: ""}
    name = _HEADER
    for line in text.splitlines(keepends=True):
        if line.startswith(SECTION):
            name = line.removeprefix(SECTION).rstrip("\n")
            found[name] = ""
        else:
            found[name] += line
    return found


# --- one section ------------------------------------------------------------------------------------------------


def difference_of(old: str, new: str) -> Difference:
    """Compare two texts: by fields if both are records, and as many; else by lines."""
    mine, other = _records(old), _records(new)
    if mine is None or other is None or len(mine) != len(other):
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
        return Difference((), tuple(line for line in lines if not line.startswith(("---", "+++"))))
    return _by_fields([_flat(record) for record in mine], [_flat(record) for record in other])


def _by_fields(mine: list[Fields], other: list[Fields]) -> Difference:
    gone, come = _only(mine, other), _only(other, mine)
    pairs: dict[str, str] = {}
    for old in gone:
        values = _values(mine, old)
        same = [new for new in come if new not in pairs.values() and _values(other, new) == values]
        if same:
            pairs[old] = max(same, key=lambda new: difflib.SequenceMatcher(None, old, new).ratio())
    renamed = tuple(dict.fromkeys(_short(*pair) for pair in pairs.items()))
    lines = [f"renamed {old} -> {new}" for old, new in renamed]
    lines += [f"gone {path}" for path in gone if path not in pairs]
    lines += [f"new {path}" for path in come if path not in pairs.values()]
    lines += _changed(mine, other)
    return Difference(renamed, tuple(lines) or ("the order of fields, or how they are written",))


def _changed(mine: list[Fields], other: list[Fields]) -> Iterator[str]:
    """Name the fields whose values are others, with the first of them."""
    for path in dict.fromkeys(path for fields in mine for path in fields):
        pairs = [
            (old[path], new[path])
            for old, new in zip(mine, other, strict=True)
            if path in old and path in new and _exact(old[path]) != _exact(new[path])
        ]
        if pairs:
            first, second = (json.dumps(value, ensure_ascii=False)[1:-1] for value in pairs[0])
            yield f"changed {path} in {len(pairs)} of {len(mine)}: {first} -> {second}"


def _exact(value: Any) -> str:
    """Write a value so that 1, 1.0 and true are different."""
    return json.dumps(value, sort_keys=True)


def _only(mine: list[Fields], other: list[Fields]) -> list[str]:
    theirs = {path for fields in other for path in fields}
    return list(dict.fromkeys(path for fields in mine for path in fields if path not in theirs))


def _values(records: list[Fields], path: str) -> str:
    return _exact([fields.get(path) for fields in records])


def _short(old: str, new: str) -> tuple[str, str]:
    """Leave out the end that two paths share: what was renamed is above it.

    >>> _short("page.reasons[].rule", "page.why[].rule")
    ('page.reasons[]', 'page.why[]')
    """
    first, second = old.split("."), new.split(".")
    while len(first) > 1 and len(second) > 1 and first[-1] == second[-1]:
        first.pop()
        second.pop()
    return ".".join(first), ".".join(second)


def _records(text: str) -> list[dict[str, Any]] | None:
    """Read JSON lines or CSV; None if it is neither."""
    try:
        rows = [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return _csv_records(text)
    return rows if rows and all(isinstance(row, dict) for row in rows) else None


def _csv_records(text: str) -> list[dict[str, Any]] | None:
    """Read CSV: a line of plain names, and as many cells in every row."""
    header, *rows = list(csv.reader(io.StringIO(text, newline=""))) or [[]]
    is_table = len(header) > 1 and all(name.isidentifier() for name in header)
    if not is_table or any(len(row) != len(header) for row in rows):
        return None
    return [dict(zip(header, row, strict=True)) for row in rows] or [dict.fromkeys(header, "")]


def _flat(record: dict[str, Any]) -> Fields:
    fields: Fields = {}
    for path, value in _leaves(record, ""):
        fields.setdefault(path, []).append(value)
    return fields


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Give all that a value holds, each with the names that lead to it; what is empty stands for itself."""
    entries: Iterable[tuple[str, Any]]
    if isinstance(value, dict) and value:
        entries = ((f"{path}.{name}" if path else name, entry) for name, entry in value.items())
    elif isinstance(value, list) and value:
        entries = ((f"{path}[]", entry) for entry in value)
    else:
        yield path, value
        return
    for name, entry in entries:
        yield from _leaves(entry, name)
