"""Rows of known URLs for whoever needs all of them: read by columns, and one by one only where columns leave a doubt.

Owns: `known_rows`. Must not know: what becomes of the rows. polars is an extra, so this module is imported on demand.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.adapters.files.rows import raw_rows
from honeyguide.bulk.batches import ParquetFile
from honeyguide.bulk.csv_blocks import PlainBlock, csv_blocks
from honeyguide.bulk.signal_columns import DOUBT, NUMBER_TYPES, ZONELESS, value_columns, with_utc_times
from honeyguide.core.recrawl.plan import NAMES, UrlSignals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import polars as pl

    from honeyguide.adapters.files.rows import RawRow
    from honeyguide.adapters.files.sources import Source

    Pick = Callable[[Sequence[int]], list[RawRow]]

_SLICE_ROWS = 10_000  # rows that are Python objects at once
_VISITED, _CHANGED = NAMES.index("last_visited"), NAMES.index("last_changed")


class SureRow(NamedTuple):
    """A row that needs no further look: its signals, and the flag beside them."""

    signals: UrlSignals
    flag: bool | None


def known_rows(source: Source, flag: str) -> Iterable[SureRow | RawRow]:
    """Read a table in the order of its rows; `flag` is a column of yes and no. A row in doubt comes as it is."""
    if source.kind == "jsonl":
        return raw_rows(source)
    quiet = replace(source, on_rows=None)  # blocks are large, so rows are reported here
    rows = _of_parquet(quiet, flag) if source.kind == "parquet" else _of_csv(quiet, flag)
    return source.counted(rows)


def _of_parquet(source: Source, flag: str) -> Iterator[SureRow | RawRow]:
    for batch in ParquetFile(source, (flag,)).batches(partial(value_columns, flag=flag)):
        yield from _rows(batch.start, batch.frame, batch.raw)


def _of_csv(source: Source, flag: str) -> Iterator[SureRow | RawRow]:
    for block in csv_blocks(source, NUMBER_TYPES):
        if isinstance(block, PlainBlock):
            read = value_columns(with_utc_times(block.frame).lazy(), flag).collect()
            yield from _rows(block.first, read, block.pick)
        else:
            yield from block.rows


def _rows(start: int, frame: pl.DataFrame, pick: Pick) -> Iterator[SureRow | RawRow]:
    for part in frame.iter_slices(_SLICE_ROWS):
        doubts = part[DOUBT].to_list()
        if (first_bare := part[ZONELESS].index_of(element=True)) is not None:
            doubts[first_bare] = True  # whoever reads it notes the missing zone
        again = iter(pick([start + place for place, is_doubtful in enumerate(doubts) if is_doubtful]))
        for is_doubtful, row in zip(doubts, part.drop(DOUBT, ZONELESS).iter_rows(), strict=True):
            yield next(again) if is_doubtful else _sure(row)
        start += part.height


def _sure(row: tuple[Any, ...]) -> SureRow:
    *values, flag = row
    for place in (_VISITED, _CHANGED):
        if values[place] is not None:
            values[place] = datetime.fromtimestamp(values[place] / 1e6, UTC)
    return SureRow(UrlSignals(*values), flag)
