"""CSV in blocks of whole lines: plain blocks are read by polars, others row by row, with the same rows either way.

Owns: which blocks are plain. Must not know: what the columns mean, scores. Start reading at `csv_blocks`. A block is plain if
both readers must agree on it: UTF-8, quotes only around whole cells and without line breaks in them, the same number of cells
in each line, no line without a URL. polars is an extra, so this module is imported on demand.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from functools import cached_property, partial
from io import BytesIO
from typing import IO, TYPE_CHECKING, NamedTuple

import polars as pl

from honeyguide.adapters.files.read import numbered_lines, opened
from honeyguide.adapters.files.rows import (
    SIGNS,
    RawRow,
    column_fields,
    csv_records,
    headed_records,
    named_cells,
    read_first,
    sign_of_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from honeyguide.adapters.files.read import Line
    from honeyguide.adapters.files.sources import Source

    Types = Mapping[str, pl.DataType]

BLOCK_BYTES = 1 << 24
_LONG_LINE = 1 << 16  # bytes without the end of a line: a cell may be longer than rows allow
_QUOTED = {
    sign: re.compile(
        rb'(?:(?<=[%b\n])|\A)"[^"\r\n]*(?:""[^"\r\n]*)*"(?=[%b\n]|\r\n|\Z)' % ((sign.encode(),) * 2)
    )
    for sign in SIGNS
}
NO_TYPES: Mapping[str, pl.DataType] = {}
_BLANK = r"^[\s\x00-\x20]*$"


class RowBlock(NamedTuple):
    """Rows of a block that is not plain."""

    rows: list[RawRow]


@dataclass(frozen=True)  # without slots: these leave no place for cached properties
class PlainBlock:
    """A block as columns; `first` is the number of its first row, from 0, `line` that of the line before it."""

    name: str
    names: list[str]
    sign: str
    data: bytes
    frame: pl.DataFrame
    first: int
    line: int

    def pick(self, numbers: Sequence[int]) -> list[RawRow]:
        """Read rows by their number, from 0."""
        return [self._row(number - self.first) for number in numbers]

    def _row(self, place: int) -> RawRow:
        where = f"{self.name} line {self.line + place + 1}"
        cells = next(csv.reader([self._lines[place].decode()], delimiter=self.sign, strict=True))
        return RawRow(self.first + place + 1, where, named_cells(cells, self.names, where))

    @cached_property
    def _lines(self) -> list[bytes]:
        return self.data.split(b"\n")


def csv_blocks(source: Source, types: Types = NO_TYPES) -> Iterator[PlainBlock | RowBlock]:
    """Read a table in CSV, block by block; where all cells of a block allow it, columns have the types that are named."""
    with opened(source.path) as file:
        reader = _Reader(file, source.name)
        reader.sign, records = headed_records(reader.lines(), source.name, partial(sign_of_table, source))
        names = read_first(records, partial(column_fields, source))
        rows = 0
        while data := reader.block():
            frame = _plain(data, names, types, reader.sign)
            if frame is None:
                block = RowBlock([*_rows(reader, data, names, rows)])
                rows += len(block.rows)
                yield block
            else:
                yield PlainBlock(source.name, names, reader.sign, data, frame, rows, reader.line)
                reader.line += frame.height
                rows += frame.height
            if source.on_rows is not None:
                source.on_rows(source.name, rows)


@dataclass
class _Reader:
    """An open file, and the number of lines that were read; `ahead` is a block of it that is read by lines.

    `sign` separates its cells.
    """

    file: IO[bytes]
    name: str
    sign: str = ","
    line: int = 0
    ahead: BytesIO = field(default_factory=BytesIO)

    def block(self) -> bytes:
        """Read some whole lines."""
        data = self.file.read(BLOCK_BYTES)
        return data if data.endswith(b"\n") else data + self.file.readline()

    def lines(self) -> Iterator[Line]:
        """Read lines one by one: those of `ahead`, then the file's."""
        for source in (self.ahead, self.file):
            for line in numbered_lines(source, self.name, before=self.line):
                self.line = line[0]
                yield line

    @property
    def is_block_read(self) -> bool:
        """Whether no line of `ahead` is left."""
        return self.ahead.tell() >= self.ahead.getbuffer().nbytes


def _rows(reader: _Reader, data: bytes, names: list[str], before: int) -> Iterator[RawRow]:
    """Read the rows of a block one by one; the last one may end in the lines after it."""
    reader.ahead = BytesIO(data)
    records = csv_records(reader.lines(), reader.name, reader.sign)
    for number, (line, cells, error) in enumerate(records, before + 1):
        where = f"{reader.name} line {line}"
        yield RawRow(number, where, error or named_cells(cells, names, where))
        if reader.is_block_read:
            break


def _plain(data: bytes, names: list[str], types: Types, sign: str) -> pl.DataFrame | None:
    """Read a block as columns; None if it is not plain."""
    if not data.endswith(b"\n"):
        data += b"\n"  # polars ignores a sign too many at the end of an open line
    unquoted = _QUOTED[sign].sub(b"", data) if b'"' in data else data
    if not _is_plain(data, unquoted):
        return None
    lines = unquoted.count(b"\n")
    quote = None if unquoted is data else '"'
    frame = _frame(data, [types.get(name, pl.String()) for name in names], quote, sign)
    if frame is None:  # a cell is no number
        frame = _frame(data, [pl.String()] * len(names), quote, sign)
    if frame is None:  # a line has too many cells
        return None
    # The last cell of a line with too few is null. Where none is null, the signs need not be counted, which takes half as long as
    # reading them.
    is_short = frame.to_series(len(names) - 1).null_count() > 0
    if is_short and unquoted.count(sign.encode()) != lines * (len(names) - 1):
        return None
    named = {str(place): name for place, name in enumerate(names) if name}
    frame = frame.select([*named]).rename(named)
    if frame.height != lines or frame["url"].str.contains(_BLANK).fill_null(value=True).any():
        return None
    return frame


def _frame(data: bytes, types: Sequence[pl.DataType], quote: str | None, sign: str) -> pl.DataFrame | None:
    schema = {str(place): kind for place, kind in enumerate(types)}
    try:
        return pl.read_csv(data, has_header=False, schema=schema, quote_char=quote, separator=sign)
    except pl.exceptions.PolarsError:
        return None


def _is_plain(data: bytes, unquoted: bytes) -> bool:
    if b'"' in unquoted or b"\0" in data or not _is_utf8(data):
        return False
    if b"\r" in unquoted and unquoted.count(b"\r") != unquoted.count(b"\r\n"):
        return False
    starts = range(0, len(data) - _LONG_LINE, _LONG_LINE)
    return all(data.find(b"\n", start, start + _LONG_LINE) >= 0 for start in starts)


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
