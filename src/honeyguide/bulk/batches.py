"""Files of known URLs, batch by batch: Parquet of any size, CSV and JSON lines.

Owns: reading files into batches of columns, and reading single rows again. Must not know: scores, ranks.
Start reading at `ParquetFile.batches`. polars is an extra, so this module is imported on demand.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from honeyguide.adapters.files.read import opened
from honeyguide.adapters.files.rows import RawRow, check_names, raw_rows
from honeyguide.adapters.files.signals import field_name
from honeyguide.adapters.files.sources import CUT_OFF, NoColumnError, Source, is_remote, reading_parquet
from honeyguide.bulk.csv_blocks import PlainBlock, RowBlock, csv_blocks
from honeyguide.bulk.signal_columns import (
    DOUBT,
    HASH,
    NUMBER_TYPES,
    TIMES,
    columns_of,
    hashed,
    with_utc_times,
)
from honeyguide.core.recrawl.plan import NAMES
from honeyguide.core.rules.facts import CARD
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    Query = Callable[[pl.LazyFrame], pl.LazyFrame]

_BATCH_ROWS = 50_000  # rows of text in memory at once
_CHUNK_ROWS = 500_000  # rows of Parquet
_FAR = 500_000  # rows further apart are read separately: the rows between them would cost more to read
_INDEX = "place of the row"


class Batch(NamedTuple):
    """Some rows of a file, from row `start` on, counted from 0; `raw` reads some of them again unchanged."""

    start: int
    frame: pl.DataFrame
    raw: Callable[[Sequence[int]], list[RawRow]]


class ParquetFile:
    """A Parquet file, of which only the needed columns and rows are read."""

    def __init__(self, source: Source, also: Sequence[str] = ()) -> None:
        self.name = source.name
        self._also = also
        self._source = source
        with (
            nullcontext() if is_remote(source.path) else opened(source.path),
            reading_parquet(self.name, CUT_OFF),
        ):  # a path that cannot be opened comes first
            self._whole = source.scanned()
            self.schema = dict(self._whole.collect_schema())
        check_names(list(self.schema), self.name)
        if "url" not in self.schema:
            raise NoColumnError(list(self.schema), self.name, "url")

    @property
    def zoneless(self) -> list[str]:
        """Signals that are timestamps without a zone, which are read as UTC."""
        columns = columns_of(self.schema)
        types = {name: self.schema[columns[name]] for name in TIMES if name in columns}
        return [
            name for name, kind in types.items() if isinstance(kind, pl.Datetime) and kind.time_zone is None
        ]

    def batches(self, query: Query) -> Iterator[Batch]:
        """Run a query over the file, some rows at a time and in their order."""
        start = 0
        with reading_parquet(self.name, CUT_OFF):
            rows = query(self._scan())
            for frame in rows.collect_batches(
                chunk_size=_CHUNK_ROWS, maintain_order=True, engine="streaming"
            ):
                yield Batch(start, frame, self.take)
                start += frame.height
                if self._source.on_rows is not None:
                    self._source.on_rows(self.name, start)

    def rows(self) -> Iterator[RawRow]:
        """Read all rows unchanged, one by one."""
        for batch in self.batches(lambda frame: frame):
            for number, row in enumerate(batch.frame.iter_rows(named=True), batch.start + 1):
                yield RawRow(number, self.name, row)

    def count(self) -> int:
        """Count the rows, from the metadata of the file."""
        with reading_parquet(self.name, CUT_OFF):
            return int(self._scan().select(pl.len()).collect().item())

    def take(self, numbers: Sequence[int], columns: Sequence[str] | None = None) -> list[RawRow]:
        """Read rows by their number, from 0; whole, or some columns of them."""
        found: list[RawRow] = []
        scan = self._scan() if columns is None else self._scan().select(columns)
        with reading_parquet(self.name, CUT_OFF):
            for near in _clusters(sorted(numbers)):
                part = scan.slice(near[0], near[-1] - near[0] + 1).collect()
                wanted = part[[number - near[0] for number in near]]
                rows = zip(near, _rows_of(wanted), strict=True)
                found += [RawRow(number + 1, self.name, row) for number, row in rows]
        return found

    def find(self, urls: Collection[str]) -> list[RawRow]:
        """Read the rows that have one of the URLs."""
        return self.take(self.places(urls)[PLACE].to_list())

    def places(self, urls: Collection[str]) -> pl.DataFrame:
        """Find the rows that have one of the URLs, by their number from 0, each with the hash of its URL."""
        url = pl.col(columns_of(self.schema)["url"]).cast(pl.String, strict=False)
        with reading_parquet(self.name, CUT_OFF):
            rows = (
                self._source.scanned(_INDEX)
                .filter(url.is_in(list(urls)))
                .select(pl.col(_INDEX).alias(PLACE), hashed(url).alias(HASH))
            )
            return rows.collect(engine="streaming")

    def _scan(self) -> pl.LazyFrame:
        columns = columns_of(self.schema)
        also = [name for name in self._also if name in self.schema]
        scan = self._whole.select([*columns.values(), *also])
        zoneless = [columns[name] for name in self.zoneless]
        return scan.with_columns(pl.col(zoneless).dt.replace_time_zone("UTC")) if zoneless else scan


@dataclass(frozen=True, slots=True)
class TextFile(Source):
    """A CSV file or JSON lines; Python reads the rows where quotes, lines and types would not be exact otherwise."""

    def batches(self, query: Query) -> Iterator[Batch]:
        """Run a query over the file, some rows at a time."""
        start = 0
        for part in csv_blocks(self, NUMBER_TYPES) if self.kind == "csv" else _row_blocks(raw_rows(self)):
            if isinstance(part, PlainBlock):
                frame = with_utc_times(part.frame).lazy()
                yield Batch(start, query(frame).collect(), part.pick)
                start += part.frame.height
                continue
            for at in range(0, len(part.rows), _BATCH_ROWS):
                listed = part.rows[at : at + _BATCH_ROWS]
                yield Batch(start, query(_columns(listed).lazy()).collect(), partial(_pick, listed, start))
                start += len(listed)

    def count(self) -> int:
        """Count the rows by reading them."""
        return sum(1 for _ in raw_rows(self))

    def take(self, numbers: Collection[int]) -> list[RawRow]:
        """Read rows by their number, from 0; the file is read again, up to the last of them."""
        left, found, start = sorted(numbers), list[RawRow](), 0
        for part in csv_blocks(self) if self.kind == "csv" else _row_blocks(raw_rows(self)):
            end = start + (part.frame.height if isinstance(part, PlainBlock) else len(part.rows))
            here = [number for number in left if number < end]
            found += part.pick(here) if isinstance(part, PlainBlock) else _pick(part.rows, start, here)
            left, start = left[len(here) :], end
            if not left:
                break
        return found

    def find(self, urls: Collection[str]) -> list[RawRow]:
        """Read the rows that have one of the URLs."""
        wanted = frozenset(urls)
        found = ((raw, raw.values) for raw in raw_rows(self) if isinstance(raw.values, dict))
        return [raw for raw, row in found if isinstance(row.get("url"), str) and row["url"] in wanted]


def _row_blocks(rows: Iterator[RawRow]) -> Iterator[RowBlock]:
    while listed := list(islice(rows, _BATCH_ROWS)):
        yield RowBlock(listed)


def _rows_of(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Convert rows to Python values; times beyond Python's calendar stay numbers, which no reader accepts."""
    try:
        return list(frame.iter_rows(named=True))
    except (OverflowError, pl.exceptions.PanicException):
        if frame.height > 1:
            return [row for at in range(frame.height) for row in _rows_of(frame[at : at + 1])]
        moments = [name for name, kind in frame.schema.items() if kind.is_temporal()]
        return list(frame.with_columns(pl.col(moments).cast(pl.Int64)).iter_rows(named=True))


def _clusters(numbers: Iterable[int]) -> Iterator[list[int]]:
    """Group numbers that are read together."""
    near: list[int] = []
    for number in numbers:
        if near and number - near[0] > _FAR:
            yield near
            near = []
        near.append(number)
    if near:
        yield near


def _pick(rows: Sequence[RawRow], start: int, numbers: Sequence[int]) -> list[RawRow]:
    return [rows[number - start] for number in numbers]


def _columns(rows: Sequence[RawRow]) -> pl.DataFrame:
    """Make columns of rows; a row without the needed values is in doubt, and so is a column of mixed types."""
    listed = [{} if isinstance(values, InputError) else values for _, _, values in rows]
    keys = [tuple(row) for row in listed]
    lacking = {names: "url" not in names for names in dict.fromkeys(keys)}
    doubt = [lacking[names] for names in keys]
    columns: list[pl.Series] = []
    is_mixed = False
    named = dict.fromkeys(column for names in lacking for column in names if field_name(column) in NAMES)
    if "url" not in map(field_name, named):
        named["url"] = None  # no row has a URL: all are in doubt, but they count as rows
    for name in named:
        series = _series(name, [row.get(name) for row in listed])
        is_mixed = is_mixed or series is None
        columns.append(pl.Series(name, [None] * len(listed), dtype=pl.Null) if series is None else series)
    doubtful = pl.Series(DOUBT, [True] * len(doubt) if is_mixed else doubt)
    return _one_name_each(pl.DataFrame([*columns, doubtful]))


def _one_name_each(frame: pl.DataFrame) -> pl.DataFrame:
    """Put rows in doubt where a signal has two names: one in some rows, another in others."""
    names = [field_name(name) for name in frame.columns]
    if len(set(names)) == len(names):
        return frame
    first = [name for place, name in enumerate(frame.columns) if names.index(field_name(name)) == place]
    return frame.select(first).with_columns(pl.lit(value=True).alias(DOUBT))


def _series(name: str, values: list[Any]) -> pl.Series | None:
    types: set[type] = set(map(type, values)) - {type(None)}
    kinds: Mapping[frozenset[type], Any] = {
        frozenset(): pl.Null, frozenset({str}): pl.String, frozenset({bool}): pl.Boolean,
        frozenset({int}): pl.Int64, frozenset({float}): pl.Float64, frozenset({int, float}): pl.Float64,
    }  # fmt: skip
    kind = kinds.get(frozenset(types))
    if kind is None:
        return None
    try:
        if kind == pl.Float64:
            values = [None if value is None else float(value) for value in values]
        return pl.Series(name, values, dtype=kind)
    except (OverflowError, TypeError, UnicodeEncodeError, pl.exceptions.PolarsError):
        return None


PLACE = "place"


class Repeats:
    """Rows whose URL comes again: `superseded` are all but the last of each, `again` all but the first, by their places."""

    def __init__(self) -> None:
        self.superseded = pl.Series(PLACE, [], dtype=pl.get_index_type())
        self.again = self.superseded
        self._known: set[str] = set()

    def compare(self, rows: pl.DataFrame) -> None:
        """Compare all rows, by place and by the hash of their URL."""
        self.superseded, self.again = _repeated(rows)

    def look_up(
        self, urls: Iterable[str], files: Sequence[ParquetFile], rejected: Collection[tuple[str, int]]
    ) -> bool:
        """Find all rows that have one of the URLs, except `rejected` ones; returns whether any is superseded."""
        new = [url for url in dict.fromkeys(urls) if url not in self._known]
        if not new:
            return False
        self._known.update(new)
        first, frames, wrong = 0, [], []
        for file in files:
            frames.append(file.places(new).with_columns(pl.col(PLACE) + first))
            wrong += [first + number - 1 for name, number in rejected if name == file.name]
            first += file.count() if file is not files[-1] else 0
        rows = pl.concat(frames)
        if rows.height == len(new):  # each comes once
            return False
        superseded, again = _repeated(rows.filter(~pl.col(PLACE).is_in(wrong)))
        self.superseded = pl.concat([self.superseded, superseded])
        self.again = pl.concat([self.again, again])
        return bool(len(superseded))


def _repeated(rows: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Return the rows whose URL comes again later, and those whose URL came before, by hashes of 64 bits."""
    if rows[HASH].n_unique() == rows.height:  # which is known much sooner than which rows are the same
        return rows[PLACE].clear(), rows[PLACE].clear()
    rows = rows.sort(PLACE)
    return (
        rows.filter(~pl.col(HASH).is_last_distinct())[PLACE],
        rows.filter(~pl.col(HASH).is_first_distinct())[PLACE],
    )


# --- the best rows, by their scores ---

SCORE = CARD + "plan"
_SOME = 500_000


def best_rows(values: pl.DataFrame, limit: int | None) -> pl.DataFrame:
    """Order rows, the best first, the same value in the order of the files."""
    if limit is not None:  # the last of the best of some rows is a bound for all, which leaves few to sort
        values = _not_less(values, values[SCORE].head(_SOME), limit)
        values = _not_less(values, values[SCORE], limit)
    ordered = values.sort([SCORE, PLACE], descending=[True, False])
    return ordered if limit is None else ordered.head(limit)


def better_rows(kept: pl.DataFrame, new: pl.DataFrame, limit: int | None) -> pl.DataFrame:
    """Keep the best of the rows so far and of new ones; `kept` itself if no new row is better."""
    if limit is not None and kept.height >= limit:
        is_better = new[SCORE] > kept[SCORE][-1]
        if not is_better.any():
            return kept
        new = new.filter(is_better)
    return best_rows(pl.concat([kept, new]), limit) if new.height else kept


def same_as_last(before: pl.DataFrame, best: pl.DataFrame, new: pl.Series, so_far: int) -> int:
    """Count the rows so far that score as the last of the best; those that were not kept score no more than the last then."""
    if not best.height:
        return 0
    is_as_before = before.height > 0 and before[SCORE][-1] == best[SCORE][-1]
    return same_score(new, best) + (so_far if is_as_before else same_score(before[SCORE], best))


def same_score(scores: pl.Series, best: pl.DataFrame) -> int:
    """Count the scores that are that of the last of the best."""
    return int((scores == best[SCORE][-1]).sum()) if best.height else 0


def _not_less(values: pl.DataFrame, some: pl.Series, limit: int) -> pl.DataFrame:
    return values if len(some) <= limit else values.filter(pl.col(SCORE) >= some.top_k(limit).min())
