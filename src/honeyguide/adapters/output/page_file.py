"""The file of a crawl: JSON lines that follow the store, or a table that is written from it at the end.

Owns: which lines belong there. Must not know: what a record holds, which pages there are. Start reading at `PageFile.follow`.

The store is the truth. A page's line is written before its commit, so after a kill the file may have lines more than the
store has pages: they are cut, and their pages are fetched again. It has fewer only if another process worked on the run, or
the file was named later: missing lines are written from the store. Fields that the store does not keep (`extras`, such as
the Markdown) stay where a line has them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.output.record_file import RecordFile
from honeyguide.adapters.output.tables import check_table, share_pages, write_table
from honeyguide.core.records.fields import SCHEMA, PageRecord
from honeyguide.core.records.text import json_line
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from honeyguide.core.records import Record


OPENING = b'{"schema": %d, "url": ' % SCHEMA  # how every line begins
_TELLING = len(b'{"sc')  # fewer characters of it may be anybody's


@dataclass(frozen=True, slots=True)
class StoredPages:
    """The pages of a store, in order, as often as needed; `are_pending` tells whether URLs are still to be fetched."""

    pages: Callable[[], Iterator[Record]]
    are_pending: Callable[[list[str]], bool]


class PageFile:
    """JSON lines of a crawl; nothing is changed before `follow`, and with `restart` the file is emptied then."""

    def __init__(self, path: Path, extras: tuple[str, ...] = (), *, restart: bool = False) -> None:
        self.name = str(path)
        self._extras = extras
        self._restart = restart
        self._file = RecordFile.held(
            path, f"{path}: another process is writing it; wait until that has ended, or choose another -o"
        )
        try:
            _check_ours(self._file)
            self._file.pass_torn()
        except BaseException:  # the file is closed whatever it is, and it is raised again
            self._file.close()
            raise

    def follow(self, store: StoredPages) -> int:
        """Make the file hold the pages of the store; gives how many lines lack extras that the store cannot give."""
        if self._restart:
            self._file.cut(0)
            self._restart = False
        lines, end, lacking, is_over = self._file.lines(), 0, 0, False
        for record in store.pages():
            start, line = (0, b"") if is_over else next(lines, (-1, b""))
            is_over = is_over or start < 0
            if is_over:
                self.append(record, {})
                lacking += bool(self._extras)
            elif self._fits(line, record):
                end = start + len(line) + 1
            else:
                return self._merge(store)
        if not is_over and end < self._file.end:
            if not end:
                self._check_pending((line for _, line in lines), store)
            self._file.cut(end)
        self._file.cut_passed()
        return lacking

    def append(self, record: Record, values: Record) -> None:
        """Write the line of a page at once; `values` has the extras."""
        self._file.append(_bytes(with_extras(record, values, self._extras)))

    def end(self, store: StoredPages) -> None:
        """Add what other processes of the run have fetched in the meantime."""
        self.follow(store)

    def close(self) -> None:
        """Close the file; an empty one is removed."""
        self._file.remove() if self._file.is_empty else self._file.close()

    def _fits(self, line: bytes, record: Record) -> bool:
        """Tell whether a line is this record, whatever its extras are."""
        head = _bytes(record)[:-1]
        after = f', "{self._extras[0]}": '.encode() if self._extras else b"}"
        return line.startswith(head) and line[len(head) :].startswith(after) and line.endswith(b"}")

    def _merge(self, store: StoredPages) -> int:
        """Write the file again in the order of the store, with the extras of the old lines."""
        old = {_identity(_read(line)): start for start, line in self._file.lines()}
        count, lacking = len(old), 0

        def lines() -> Iterator[bytes]:
            nonlocal lacking
            for record in store.pages():
                start = old.pop(_identity(record), None)
                line = None if start is None else self._file.line_at(start)
                if line is None or not self._fits(line, record):
                    values = {} if line is None else _read(line)
                    lacking += any(name not in values for name in self._extras)
                    line = _bytes(with_extras(record, values, self._extras))
                yield line
            if len(old) == count:
                self._check_pending(map(self._file.line_at, old.values()), store)

        self._file.rewrite(lines())
        return lacking

    def _check_pending(self, lines: Iterable[bytes], store: StoredPages) -> None:
        """Reject a file that shares no line with the store, unless a kill came before the first commit."""
        urls = [str(_read(line).get("url")) for line in lines]
        if urls and not store.are_pending(urls):
            raise _of_another_crawl(self._file.path)


class PageTable:
    """A CSV or Parquet file of a crawl, which is written from the store in one step, when the crawl stops."""

    def __init__(self, path: Path, kind: str, *, restart: bool = False) -> None:
        self.name = str(path)
        self._path, self._kind, self._restart = path, kind, restart
        check_table(path, kind, PageRecord)

    def follow(self, store: StoredPages) -> int:
        """Reject a file whose pages are not those of the store, unless it is to be written again."""
        if not self._restart and not share_pages(self._path, self._kind, store.pages()):
            raise _of_another_crawl(self._path)
        return 0

    def append(self, record: Record, values: Record) -> None:
        """Leave the page to the store."""

    def end(self, store: StoredPages) -> None:
        """Write all pages of the store."""
        write_table(self._path, self._kind, store.pages(), PageRecord)

    def close(self) -> None:
        """Everything is written."""


def _of_another_crawl(path: Path) -> InputError:
    return InputError("holds pages of another crawl; choose another -o, or remove it", file=str(path))


def with_extras(record: Record, values: Record, extras: tuple[str, ...]) -> Record:
    """Add the fields that the store does not keep."""
    return {**record, **{name: values.get(name) for name in extras}}


def _check_ours(file: RecordFile) -> None:
    first = file.line_at(0)
    is_torn = len(first) == file.end  # the only line, without its end
    is_beginning = is_torn and len(first) >= _TELLING and OPENING.startswith(first)
    if file.end and not (first.startswith(OPENING) or is_beginning):
        raise InputError("exists and is no output of this command; choose another -o", file=str(file.path))


def _bytes(record: Record) -> bytes:
    return json_line(record).encode("utf-8", "backslashreplace")


def _read(line: bytes) -> dict[str, Any]:
    """Read a line; a broken one has no fields."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _identity(record: Record) -> tuple[Any, Any]:
    return record.get("url"), record.get("fetched_at")
