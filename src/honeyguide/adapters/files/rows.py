"""Rows of tables, CSV and JSON lines, one at a time; and the file for rows that were rejected.

A row that cannot be read comes with its error, and the next one is read; a file that cannot be read raises `InputError`.
Start reading at `raw_rows`. Must not know: what the fields mean.
"""

from __future__ import annotations

import csv
import json
import os
import re
from contextlib import ExitStack, suppress
from functools import partial
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from honeyguide.adapters.files.read import STDIN, lines_or_errors, name_of, plain_name
from honeyguide.adapters.files.signals import field_name, read_signals
from honeyguide.adapters.files.sources import NoColumnError, refuse_sheet
from honeyguide.adapters.output.write import replacing, unwritable
from honeyguide.core.text.printable import is_deeper
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from honeyguide.adapters.files.read import Line
    from honeyguide.adapters.files.sources import Source
    from honeyguide.core.recrawl.plan import UrlSignals

    Record = tuple[
        int, list[str], InputError | None
    ]  # the number of its last line, its cells, or why there are none

MAX_NESTED = 100  # lists and objects inside each other; recursive readers give up at a thousand
MAX_BLANK_LINES = 1_000_000  # in a row
SIGNS = (",", ";", "\t")  # what separates the cells of CSV
_HEAD_BYTES = 1_000
_BEGINNING = re.compile(rb'\{"row": [0-9]+, "field": (?:null|"[^"]{1,200}"), "reason": "')
_NO_FOLDERS = ("/dev/fd/", "/dev/stdin", "/proc/")  # where pipes and open files have their names


class RawRow(NamedTuple):
    """A row as its file has it: its number from 1, its place for people, and its values or the reason for none."""

    number: int
    where: str
    values: dict[str, Any] | InputError

    def known_values(self) -> dict[str, Any]:
        """Return the values, or raise the error in their place."""
        if isinstance(self.values, InputError):
            raise self.values
        return self.values

    def error(self, field: str, what: str) -> InputError:
        """Say what is wrong with a field of the row."""
        return InputError(what, file=self.where, row=self.number, field=field)


def raw_rows(source: Source) -> Iterator[RawRow]:
    """Read the rows of a table in CSV or JSON lines, with the names of fields; a CSV file must have a column url."""
    lines = lines_or_errors(source.path, source.name)
    is_csv = source.kind == "csv"
    rows = (
        csv_rows(lines, source.name, partial(column_fields, source), partial(sign_of_table, source))
        if is_csv
        else _json_rows(lines, source)
    )
    return iter(source.counted(rows))


def signals_of_row(raw: RawRow) -> UrlSignals:
    """Check a row; the error names the row and the field."""
    return read_signals(raw.known_values(), file=raw.where, number=raw.number)


def _json_rows(lines: Iterable[Line], source: Source) -> Iterator[RawRow]:
    number, name, blank = 0, source.name, 0
    for line, text, error in lines:
        if error is None and not text.strip():
            blank = _counted_blank(blank, name, line)
            continue
        number, blank = number + 1, 0
        values: dict[str, Any] | InputError
        try:
            values = error or parse_object(text, name, line)
            if source.fields and isinstance(values, dict):
                values = _renamed(values, source, is_first=number == 1)
        except NoColumnError:
            raise
        except InputError as broken:
            values = broken
        yield RawRow(number, f"{name} line {line}", values)


def _renamed(values: dict[str, Any], source: Source, *, is_first: bool) -> dict[str, Any]:
    """Give the values by the names of their fields; the first row must have all columns that were named."""
    names = source.renamed([*values] if is_first else [*values, *source.fields])
    return {names.get(name, name): value for name, value in values.items()}


def parse_object(text: str, name: str, line: int) -> dict[str, Any]:
    """Read a line that should be one plain JSON object."""
    where = f"{name_of(name)} line {line}"
    value = json_object(text, where)
    if text.count("[") + text.count("{") > MAX_NESTED and is_deeper(value, MAX_NESTED):
        raise InputError(f"is nested deeper than {MAX_NESTED}; write plain values", file=where)
    check_names(list(value), where)
    return value


def json_object(text: str, where: str, *, is_line: bool = True) -> dict[str, Any]:
    """Read a JSON object: one line of a file, or the whole file."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"character {error.pos + 1}" if is_line else f"line {error.lineno} column {error.colno}"
        raise InputError(f"is not JSON: {error.msg} at {place}", file=where) from None
    except (ValueError, RecursionError):
        what = "is not JSON that can be read: a number is too long, or it is nested too deeply"
        raise InputError(what, file=where) from None
    if not isinstance(value, dict):
        advice = "; write one object on each line" if is_line else ""
        raise InputError(f"is not a JSON object{advice}", file=where)
    return value


def _comma(_line: str) -> str:
    return ","


def csv_rows(
    lines: Iterable[Line],
    name: str,
    read_header: Callable[[list[str]], list[str]],
    tell_sign: Callable[[str], str] = _comma,
) -> Iterator[RawRow]:
    """Read CSV; `read_header` makes names of the first row, or raises. A row with a broken line is that line's error."""
    _, records = headed_records(lines, name, tell_sign)
    header = read_first(records, read_header)
    for number, (line, cells, error) in enumerate(records, 1):
        where = f"{name} line {line}"
        yield RawRow(number, where, error or named_cells(cells, header, where))


def headed_records(
    lines: Iterable[Line], name: str, tell_sign: Callable[[str], str]
) -> tuple[str, Iterator[Record]]:
    """Read CSV from its beginning: what separates the cells, which its first line tells, and the records."""
    lines, blank = iter(lines), 0
    for first in lines:
        if first[1].strip():
            refuse_sheet(name, first[1][:4].encode())
            sign = tell_sign(first[1])
            return sign, csv_records(chain([first], lines), name, sign)
        blank = _counted_blank(blank, name, first[0])
    return ",", iter(())


def sign_of(line: str, name: str, is_header: Callable[[list[str]], bool]) -> str:
    """Tell what separates the cells of a file by its first line: what makes a header of it, else what is most frequent."""
    if plain_name(name).lower().endswith(".tsv"):
        return "\t"
    found = next((sign for sign in SIGNS if is_header(cells_of(line, sign))), None)
    is_cut = line.count('"') % 2 == 1  # the header goes on in the next line
    return found or ("," if is_cut else max(SIGNS, key=line.count))


def sign_of_table(source: Source, line: str) -> str:
    """Tell what separates the cells of a table, which has a column for the URL."""
    wanted = next((column for column, field in source.fields.items() if field == "url"), "url")
    return sign_of(line, source.name, lambda cells: wanted in map(str.strip, cells))


def cells_of(line: str, sign: str) -> list[str]:
    """Read the cells of a line; none if it is no CSV."""
    try:
        return next(csv.reader([line], delimiter=sign), [])
    except csv.Error:
        return []


def csv_records(lines: Iterable[Line], name: str, sign: str = ",") -> Iterator[Record]:
    """Read the cells of rows that are not blank, each with its last line and the error of a line that is not UTF-8.

    No line is read before its row is asked for.
    """
    last, unread, blank = 0, None, 0

    def texts() -> Iterator[str]:
        nonlocal last, unread
        for line, text, error in lines:
            last, unread = line, unread or error
            yield text

    try:
        for cells in csv.reader(texts(), delimiter=sign, strict=True):
            error, unread = unread, None
            if error is not None or any(cell.strip() for cell in cells):
                blank = 0
                yield last, cells, error
            else:
                blank = _counted_blank(blank, name, last)
    except csv.Error as error:
        raise unread or InputError(f"is not CSV: {error}", file=f"{name} line {last}") from None


def _counted_blank(blank: int, name: str, line: int) -> int:
    """Count one more blank line; a file of little else is no table, and would be read for minutes."""
    if blank >= MAX_BLANK_LINES:
        raise InputError(f"comes after {blank:,} blank lines; remove them", file=f"{name} line {line}")
    return blank + 1


def read_first(records: Iterator[Record], read_header: Callable[[list[str]], list[str]]) -> list[str]:
    """Read the names of columns; none if there is no row."""
    for _, cells, error in records:
        if error is not None:
            raise error
        return read_header(cells)
    return []


def named_cells(cells: list[str], header: list[str], where: str) -> dict[str, Any] | InputError:
    """Give the cells of a row by the names of their columns."""
    if len(cells) != len(header):
        return InputError(f"has {len(cells)} fields where the header has {len(header)}", file=where)
    return dict(zip(header, cells, strict=True))


def column_fields(source: Source, cells: list[str]) -> list[str]:
    """Give the names of the fields that the columns of a CSV file are; one must be the URL."""
    given = [cell.strip() for cell in cells]
    if len(given) == 1 and "|" in given[0]:
        raise InputError("its columns are separated by bars; save it with commas", file=source.name)
    fields = source.renamed(given)
    names = [fields.get(name, name) for name in given]
    check_names([name for name in names if name], source.name)
    if "url" not in names:
        has = (", ".join(filter(None, given)) or "none")[:500]
        what = f"its first line names no column url, but {has}; --column NAME says which one it is"
        raise InputError(what, file=source.name, field="url")
    return names


def check_names(names: list[str], where: str) -> None:
    """Reject two columns of the same meaning, because either could be the right one."""
    seen: set[str] = set()
    for name in map(field_name, names):
        if name in seen:
            raise InputError("is given twice; keep one of them", file=where, field=shown(name))
        seen.add(name)


class Rejected:
    """Wrong rows with their reasons, in a file beside their table; call `close` at the end, then `clear`."""

    def __init__(self) -> None:
        self.rows = 0
        self.files: dict[str, IO[str]] = {}
        self._expected: set[str] = set()
        self._parts = ExitStack()

    def expect(self, files: Iterable[str], *, whole: bool = True) -> None:
        """Name the tables that will be read; raises `InputError` if a file is in the way."""
        for file in files:
            target = rejected_name(file)
            if not _is_ours(Path(target)):
                what = "exists, and holds no rows that were left out; move it away"
                raise InputError(what, file=target)
            if whole:  # otherwise nobody knows that no wrong row is left
                self._expected.add(target)

    def __call__(self, file: str, raw: RawRow, error: InputError) -> None:
        """Write one row."""
        target = rejected_name(file)
        values = None if isinstance(raw.values, InputError) else _plain(raw.values)
        record = {"row": raw.number, "field": error.field or None, "reason": str(error), "given": values}
        try:
            if target not in self.files:
                part = self._parts.enter_context(replacing(Path(target)))
                self.files[target] = part.open("w", encoding="utf-8")
            self.files[target].write(json.dumps(record, default=str, allow_nan=False) + "\n")
        except OSError as broken:
            raise unwritable(Path(target), broken) from None
        self.rows += 1

    def close(self) -> None:
        """Finish the files."""
        for file in self.files.values():
            file.close()
        self._parts.close()

    def clear(self) -> None:
        """Remove files of earlier runs whose tables are right now."""
        for target in self._expected - set(self.files):
            with suppress(OSError, ValueError):  # it does not exist, or is not ours to remove
                Path(target).unlink()


def no_rows(files: Iterable[str], rejected: Rejected | None) -> InputError:
    """Make the error for tables of which no row can be used."""
    what = "has no rows; give at least one URL"
    if rejected is not None and rejected.rows:
        rows = "its only row is" if rejected.rows == 1 else f"all of its {rejected.rows:,} rows are"
        what = f"{rows} wrong; see {', '.join(rejected.files)}"
    return InputError(what, file=", ".join(files))


def rejected_name(file: str) -> str:
    """Name the file for wrong rows: beside their table, or here if that folder is no place for files.

    >>> rejected_name("/dev/shm/known.csv"), rejected_name("standard input"), rejected_name("/dev/fd/63")
    ('/dev/shm/known.csv.rejected', 'stdin.rejected', '63.rejected')
    """
    if file == name_of(STDIN):
        return "stdin.rejected"
    return f"{Path(file).name if file.startswith(_NO_FOLDERS) else file}.rejected"


def _is_ours(path: Path) -> bool:
    """Tell whether a file may be replaced: it does not exist, is empty, or begins with a rejected row."""
    if not os.path.isfile(path):  # noqa: PTH113 - the path may be hostile; these never raise
        return not os.path.exists(path)  # noqa: PTH110 - in a place that is none, writing will fail
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False
    return not head or _BEGINNING.match(head) is not None


def _plain(value: Any) -> Any:
    """Write infinite numbers as text, because JSON has none."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value
