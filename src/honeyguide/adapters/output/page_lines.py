"""A file with one line for each page of a run, which says what the store says.

Owns: bringing the file in step with the store, whatever an earlier process left in it, and refusing files that are not
ours. Must not know: what a record holds, which pages there are. Start reading at `PageLines.follow`.

The store is the truth. A page's line is written before its commit, so after a kill the file may have lines more than
the store has pages, and a torn one at its end: those go, and their pages are fetched again. It never has fewer, unless
another process worked on the run, or the file was named later: the missing lines are written from the store.
Fields that the store does not keep (`extras`, such as the Markdown) stay where a line has them.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from honeyguide.adapters.files.parquet import first_rows
from honeyguide.adapters.output.write import PART, LineFile, check_regular, target_of, unwritable
from honeyguide.core.records.fields import SCHEMA
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from honeyguide.core.records import Record


OPENING = b'{"schema": %d, "url": ' % SCHEMA  # how every line begins
_TELLING = len(b'{"sc')  # fewer letters of it may be anybody's
_TOLD = 100  # rows of a table: if none of them is the run's, the table is not


@dataclass(frozen=True, slots=True)
class Form:
    """How a record becomes a line: `dump` writes JSON on one line; `extras` are names that are added at its end."""

    dump: Callable[[Record], str]
    extras: tuple[str, ...] = ()

    def line(self, record: Record, values: Record) -> bytes:
        """Write a record with its extras; what is not known is null."""
        return _bytes(self.dump({**record, **{name: values.get(name) for name in self.extras}}))

    def fits(self, line: bytes, record: Record) -> bool:
        """Tell whether a line is this record, whatever its extras say."""
        head = _bytes(self.dump(record))[:-1]
        rest = line[len(head) :]
        after = f', "{self.extras[0]}": '.encode() if self.extras else b"}"
        return line.startswith(head) and rest.startswith(after) and line.endswith(b"}")


@dataclass(frozen=True, slots=True)
class Truth:
    """What the store says: its pages in order, as often as asked; and which URLs were being fetched, and may be gone."""

    pages: Callable[[], Iterator[Record]]
    are_pending: Callable[[list[str]], bool]


class PageLines:
    """An open output file, held by this process."""

    def __init__(self, file: LineFile, form: Form, *, fresh: bool = False) -> None:
        self._file = file
        self._form = form
        self._is_fresh = fresh

    @classmethod
    def open(cls, path: Path, form: Form, *, fresh: bool = False) -> Self:
        """Open or make the file, which must be ours; nothing is changed before `follow`, which a `fresh` one begins anew."""
        try:
            check_regular(path)
            file = LineFile.locked(target_of(path), _refusal(path))
        except (OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise unwritable(path, error) from None
        try:
            _check_ours(file)
            file.pass_torn()
        except BaseException:  # put in order whatever it is, and raised again
            file.close()
            raise
        return cls(file, form, fresh=fresh)

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._file.path

    def follow(self, truth: Truth) -> int:
        """Make the file say what the store says; gives how many lines lack extras that the store cannot give."""
        if self._is_fresh:
            self._file.cut(0)
            self._is_fresh = False
        lines, end, lacking, is_over = self._file.lines(), 0, 0, False
        for record in truth.pages():
            start, line = (0, b"") if is_over else next(lines, (-1, b""))
            is_over = is_over or start < 0
            if is_over:
                self.append(record, {})
                lacking += bool(self._form.extras)
            elif self._form.fits(line, record):
                end = start + len(line) + 1
            else:
                return self._merge(truth)
        if not is_over and end < self._file.end:
            if not end:
                self._check_pending([line for _, line in lines], truth)
            self._file.cut(end)
        self._file.cut_passed()
        return lacking

    def append(self, record: Record, values: Record) -> None:
        """Write the line of a page, at once."""
        self._file.append(self._form.line(record, values))

    def close(self) -> None:
        """Let go; where nothing was written, leave nothing."""
        self._file.remove() if self._file.is_empty else self._file.close()

    def _merge(self, truth: Truth) -> int:
        """Write the file anew, in the order of the store, with what the old lines know; it is replaced in one step."""
        old = {_identity(_read(line)): start for start, line in self._file.lines()}
        met = len(old)
        new = LineFile.anew(self.path.with_name(f"{self.path.name}{PART}"))
        lacking = 0
        try:
            new.lock(_refusal(self.path))
            new.cut(0)
            for record in truth.pages():
                start = old.pop(_identity(record), None)
                line = None if start is None else self._file.line_at(start)
                if line is None or not self._form.fits(line, record):
                    values = {} if line is None else _read(line)
                    lacking += any(name not in values for name in self._form.extras)
                    line = self._form.line(record, values)
                new.append(line)
            if len(old) == met:
                self._check_pending([self._file.line_at(start) for start in old.values()], truth)
            new.sync()
            new.replace(self.path)
        except BaseException:  # put in order whatever it is, and raised again
            new.remove()
            raise
        self._file.close()
        self._file = new
        return lacking

    def _check_pending(self, lines: Iterable[bytes], truth: Truth) -> None:
        """Refuse a file of which the store knows no line, unless a kill came before the first commit.

        A file that shares a line with the store belongs to it; what else it has was never committed.
        """
        urls = [str(_read(line).get("url")) for line in lines]
        if urls and not truth.are_pending(urls):
            raise _of_another_crawl(self.path)


def check_table(path: Path, truth: Truth, kind: str) -> None:
    """Refuse a table whose pages the store does not know; it is written from the store alone, so one page tells."""
    if not path.exists():
        return
    names = ("url", "fetched_at")
    rows = set(first_rows(str(path), names, _TOLD) if kind == "parquet" else _first_csv_rows(path, names))
    pages = ((record.get("url"), record.get("fetched_at") or "") for record in truth.pages())
    if rows and not any(page in rows for page in pages):
        raise _of_another_crawl(path)


def _first_csv_rows(path: Path, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    try:
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            return [tuple(row.get(name) for name in names) for row in islice(csv.DictReader(file), _TOLD)]
    except csv.Error:
        raise _of_another_crawl(path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=str(path)) from None


def _of_another_crawl(path: Path) -> InputError:
    return InputError("holds pages of another crawl; choose another -o, or remove it", file=str(path))


def _check_ours(file: LineFile) -> None:
    first = file.line_at(0)
    is_torn = len(first) == file.end  # the only line, without its end
    if file.end and not (first.startswith(OPENING) or (is_torn and _is_beginning(first))):
        raise InputError("exists and is no output of this command; choose another -o", file=str(file.path))


def _is_beginning(line: bytes) -> bool:
    """Tell whether a line was torn in what all of ours begin with; what anybody may have written is no such line."""
    return len(line) >= _TELLING and OPENING.startswith(line)


def _refusal(path: Path) -> str:
    return f"{path}: another process is writing it; wait until that has ended, or choose another -o"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _read(line: bytes) -> dict[str, Any]:
    """Read a line; one that is broken is nobody's."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _identity(record: Record) -> tuple[Any, Any]:
    return record.get("url"), record.get("fetched_at")
