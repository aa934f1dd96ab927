"""Files with one record in each line or row: CSV and JSON lines, read as they are, a row at a time.

Owns: the two formats, and the sentence when a row cannot be read. Must not know: what the fields mean. Start reading at `raw_rows`.
A row that cannot be read is handed over as its error, and the next one is read; a file that cannot be read ends.
"""

from __future__ import annotations

import csv
import json
import re
from contextlib import ExitStack, suppress
from math import isfinite
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from honeyguide.adapters.files.read import STDIN, lines_or_errors, name_of
from honeyguide.adapters.output.write import replacing, unwritable
from honeyguide.core.recrawl.plan import REQUIRED, field_name, read_signals
from honeyguide.core.text.printable import is_deeper
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from honeyguide.core.recrawl.plan import UrlSignals

    RawRow = tuple[int, dict[str, Any] | InputError]
    Line = tuple[int, str, InputError | None]

_SIGNS = {";": "semicolons", "\t": "tabs", "|": "bars"}  # what some write instead of commas
MAX_NESTED = 100  # lists and objects inside each other; what follows them by recursion gives up at a thousand


class Raw(NamedTuple):
    """A row as it is in the file: its number from 1, where that is for people, and its values or why it has none."""

    number: int
    where: str
    values: dict[str, Any] | InputError


def raw_rows(path: str, kind: str, name: str = "", required: Sequence[str] = REQUIRED) -> Iterator[RawRow]:
    """Read the rows of a file, `csv` or `jsonl`, each with its line; `name` is what messages call the file.

    A CSV file must name the `required` columns; of JSON lines, whoever reads the row sees what is missing.
    """
    named = name or name_of(path)
    if kind != "csv":
        return _json_rows(path, named)
    return csv_rows(path, named, lambda cells: _header(cells, named, required))


def signals_of_row(raw: Raw) -> UrlSignals:
    """Check a row; the error names the row and the field."""
    if isinstance(raw.values, InputError):
        raise raw.values
    return read_signals(raw.values, file=raw.where, number=raw.number)


def _json_rows(path: str, name: str) -> Iterator[RawRow]:
    for line, text, unread in lines_or_errors(path, name):
        if unread is not None:
            yield line, unread
        elif text.strip():
            try:
                yield line, parse_object(text, name, line)
            except InputError as error:
                yield line, error


def parse_object(text: str, name: str, line: int) -> dict[str, Any]:
    """Read a line that should be one plain JSON object."""
    where = f"{name_of(name)} line {line}"
    value = json_object(text, where)
    if text.count("[") + text.count("{") > MAX_NESTED and is_deeper(value, MAX_NESTED):
        raise InputError(f"is nested deeper than {MAX_NESTED}; write plain values", file=where)
    check_names(list(value), where)
    return value


def json_object(text: str, where: str, *, is_line: bool = True) -> dict[str, Any]:
    """Read a JSON object, a line of a file or the whole of it."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"character {error.pos + 1}" if is_line else f"line {error.lineno} column {error.colno}"
        raise InputError(f"is not JSON: {error.msg} at {place}", file=where) from None
    except (ValueError, RecursionError):
        raise InputError(
            "is not JSON that can be read: a number is too long, or it is nested too deeply", file=where
        ) from None
    if not isinstance(value, dict):
        advice = "; write one object on each line" if is_line else ""
        raise InputError(f"is not a JSON object{advice}", file=where)
    return value


def csv_rows(path: str, name: str, read_header: Callable[[list[str]], list[str]]) -> Iterator[RawRow]:
    """Read the rows of a CSV file, each with its line; `read_header` makes names of the first one, or refuses it."""
    return rows_of_lines(lines_or_errors(path, name), name, read_header)


def rows_of_lines(
    lines: Iterable[Line], name: str, read_header: Callable[[list[str]], list[str]]
) -> Iterator[RawRow]:
    """Read CSV from lines; a row of which a line cannot be read is that line's error."""
    last, unread = 0, None

    def texts() -> Iterator[str]:
        nonlocal last, unread
        for number, text, error in lines:
            last, unread = number, unread or error
            yield text

    header: list[str] | None = None
    try:
        for cells in csv.reader(texts(), strict=True):
            error, unread = unread, None
            if header is None:
                if error is not None:
                    raise error
                header = read_header(cells) if any(cell.strip() for cell in cells) else None
            elif error is not None:
                yield last, error
            elif any(cell.strip() for cell in cells):
                yield last, _row(cells, header, f"{name} line {last}")
    except csv.Error as error:
        raise unread or InputError(f"is not CSV: {error}", file=f"{name} line {last}") from None


def _row(cells: list[str], header: list[str], where: str) -> dict[str, Any] | InputError:
    if len(cells) != len(header):
        return InputError(f"has {len(cells)} fields where the header has {len(header)}", file=where)
    return dict(zip(header, cells, strict=True))


def _header(cells: list[str], name: str, required: Sequence[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    check_names([cell for cell in names if cell], name)
    missing = [wanted for wanted in required if wanted not in map(field_name, names)]
    if missing:
        sign = next((sign for sign in _SIGNS if len(names) == 1 and sign in names[0]), None)
        if sign is not None:
            raise InputError(f"its columns are separated by {_SIGNS[sign]}; save it with commas", file=name)
        what = f"its first line names no column {', '.join(missing)}"
        needed = f"; needed are {', '.join(required)}" if len(required) > 1 else ""
        raise InputError(f"{what}{needed}", file=name, field=missing[0])
    return names


def check_names(names: list[str], where: str) -> None:
    """Refuse two columns that mean the same: either could be the right one."""
    seen: set[str] = set()
    for name in map(field_name, names):
        if name in seen:
            raise InputError("is given twice; keep one of them", file=where, field=shown(name))
        seen.add(name)


_HEAD_BYTES = 1_000
_BEGINNING = re.compile(rb'\{"row": [0-9]+, "field": (?:null|"[^"]{1,200}"), "reason": "')
_NO_FOLDERS = ("/dev/fd/", "/dev/stdin", "/proc/")  # where pipes and open files have their names


class Rejected:
    """Wrong rows, each with its reason, in a file beside the one they are from.

    Close it when all is read. `clear` then removes what earlier runs have left of files that are all right now.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.files: dict[str, IO[str]] = {}
        self._expected: set[str] = set()
        self._parts = ExitStack()

    def expect(self, files: Iterable[str], *, whole: bool = True) -> None:
        """Hear which files will be read; where something else stands in the place of their wrong rows, that is said now.

        Of a file that is not checked as a whole nobody can say that it has no wrong rows any more.
        """
        for file in files:
            target = rejected_name(file)
            if not _is_ours(Path(target)):
                what = "exists, and holds no rows that were left out; move it away"
                raise InputError(what, file=target)
            if whole:
                self._expected.add(target)

    def __call__(self, file: str, raw: Raw, error: InputError) -> None:
        """Write a row down."""
        target = rejected_name(file)
        given = None if isinstance(raw.values, InputError) else raw.values
        record = {
            "row": raw.number,
            "field": error.field or None,
            "reason": str(error),
            "given": _plain(given),
        }
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
        """Remove files of wrong rows that earlier runs have left, where there are none now."""
        for target in self._expected - set(self.files):
            with suppress(OSError, ValueError):  # what is not there, or not to be removed by us
                Path(target).unlink()


def rejected_name(file: str) -> str:
    """Name the file for wrong rows: beside the one they are from, or here if that is no place for files.

    >>> rejected_name("/dev/shm/known.csv"), rejected_name("standard input"), rejected_name("/dev/fd/63")
    ('/dev/shm/known.csv.rejected', 'stdin.rejected', '63.rejected')
    """
    if file == name_of(STDIN):
        return "stdin.rejected"
    return f"{Path(file).name if file.startswith(_NO_FOLDERS) else file}.rejected"


def _is_ours(path: Path) -> bool:
    """Tell whether nothing is lost with a file: it is not there, or empty, or begins with a row that was left out."""
    try:
        if not path.exists():
            return True
    except (OSError, ValueError):  # no such place, which whoever writes there will say
        return True
    try:
        head = b"?" if not path.is_file() else _head(path)
    except OSError:
        return False
    return not head or _BEGINNING.match(head) is not None


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD_BYTES)


def _plain(value: Any) -> Any:
    """Write numbers that JSON does not have as the text that Python reads them from."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value
