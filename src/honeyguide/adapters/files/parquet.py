"""Parquet: records written batch by batch with the types of their fields, and links read in frames.

Owns: polars, an extra that is imported when a file is read or written. Must not know: any command, how a file replaces
another. Start reading at `write_parquet`.
"""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin, is_typeddict

from honeyguide.adapters.files.links import NAMES
from honeyguide.adapters.files.read import opened
from honeyguide.adapters.files.rows import RawRow
from honeyguide.core.records.fields import fields, known
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from honeyguide.adapters.files.read import Source
    from honeyguide.core.records import Record

    Schema = Mapping[str, pl.DataType]

BATCH_ROWS = 1_000  # in memory at once
BATCH_ENTRIES = 200_000  # of their lists, all together: a page may have many links


def need_parquet(file: str) -> None:
    """Raise an error that names the extra if polars is not installed."""
    try:
        import polars  # noqa: F401, ICN001 - only whether it is there
    except ImportError:
        raise InputError("Parquet needs the extra: pip install 'honeyguide[bulk]'", file=file) from None


def write_parquet(path: Path, rows: Iterable[Record], schema: Schema) -> int:
    """Write rows in batches, join the batches, and return how many rows there are; raises `OSError` if the disk fails."""
    import polars as pl  # a third of a second, and an extra

    count = 0
    try:
        with tempfile.TemporaryDirectory() as folder:
            parts: list[Path] = []
            for batch in _batches(rows):
                count += len(batch)
                parts.append(Path(folder) / f"{len(parts):06}.parquet")
                _frame(batch, schema).write_parquet(parts[-1])
            if len(parts) == 1:
                path.write_bytes(parts[0].read_bytes())
            else:
                pl.scan_parquet(parts).sink_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise OSError(errno.EIO, str(error).partition("\n")[0]) from None
    return count


def _frame(rows: Sequence[Record], schema: Schema) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.DataFrame(rows, schema=schema, strict=False)
    except UnicodeEncodeError:  # rare, and checking first would cost as much as all the rest
        return pl.DataFrame(encodable(rows), schema=schema, strict=False)


def _batches(rows: Iterable[Record]) -> Iterator[Sequence[Record]]:
    """Split rows into batches that fit into memory; there is at least one, which may be empty."""
    batch: list[Record] = []
    entries = given = 0
    for row in rows:
        batch.append(row)
        entries += sum(len(value) for value in row.values() if isinstance(value, list))
        if len(batch) >= BATCH_ROWS or entries >= BATCH_ENTRIES:
            yield batch
            batch, entries, given = [], 0, given + 1
    if batch or not given:
        yield batch


def encodable(value: Any) -> Any:
    r"""Replace halves of letters, which JSON can hold and UTF-8 cannot.

    >>> encodable({"title": ["a\ud800", 1]})
    {'title': ['a?', 1]}
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {name: encodable(item) for name, item in value.items()}
    return [encodable(item) for item in value] if isinstance(value, list) else value


def has_schema(file: str, schema: Schema) -> bool:
    """Tell whether a file is Parquet with exactly these columns and types."""
    import polars as pl

    try:
        return dict(pl.read_parquet_schema(file)) == dict(schema)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return False


def first_rows(file: str, columns: Sequence[str], limit: int) -> list[tuple[Any, ...]]:
    """Read the first rows of some columns; none if the file is no Parquet, or lacks a column."""
    import polars as pl

    try:
        return pl.read_parquet(file, columns=list(columns), n_rows=limit, glob=False).rows()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return []


def parquet_schema(kind: Any, *without: str) -> dict[str, pl.DataType]:
    """Give the columns of a record in Parquet: its fields, always with the same types; times are text."""
    return {name: _type(hint) for name, hint in fields(kind).items() if name not in without}


def _type(hint: Any) -> pl.DataType:
    import polars as pl

    part = known(hint)
    if get_origin(part) is list:
        return pl.List(_type(get_args(part)[0]))
    if get_origin(part) is dict:  # its keys differ by profile, and types must not
        return pl.List(pl.Struct({"name": pl.String(), "value": _type(get_args(part)[1])}))
    if is_typeddict(part):
        return pl.Struct(parquet_schema(part))
    types = {str: pl.String(), int: pl.Int64(), float: pl.Float64(), bool: pl.Boolean()}
    return types[part]


LINK_BATCH_ROWS = 50_000


def link_frames(source: Source, names: Mapping[str, tuple[str, ...]]) -> Iterator[pl.DataFrame]:
    """Read the columns of a Parquet file that say something of links, some rows at a time."""
    import polars as pl  # a third of a second, and an extra

    with opened(source.path):  # what the system has to say about the path
        pass
    try:
        scan = pl.scan_parquet(source.path, glob=False)
        known = scan.collect_schema().names()
        if "url" not in known:
            raise InputError("has no column url; every link needs one", file=source.name, field="url")
        wanted = [column for columns in names.values() for column in columns if column in known]
        yield from scan.select(wanted).collect_batches(
            chunk_size=LINK_BATCH_ROWS, maintain_order=True, engine="streaming"
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise InputError("is not Parquet that can be read; it may be cut off", file=source.name) from None


def raw_of(source: Source, frame: pl.DataFrame, start: int, place: int) -> RawRow:
    """One row of a frame, numbered in its file."""
    return RawRow(start + place + 1, source.name, frame.row(place, named=True))


def parquet_rows(source: Source, names: Mapping[str, tuple[str, ...]] = NAMES) -> Iterator[RawRow]:
    """Read a Parquet file of links row by row."""
    start = 0
    for frame in link_frames(source, names):
        yield from (raw_of(source, frame, start, place) for place in range(frame.height))
        start += frame.height
