"""URLs that come again in Parquet files: which rows do not count, because a later one has the same URL.

Owns: what is known of that so far. Must not know: scores, formats. Start reading at `Repeats.look_up`.
The URLs of all rows are not compared unless somebody asks for it; those of rows that somebody sees are always looked up,
in one pass over that column. What is kept is a place for each row that has such a URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from honeyguide.adapters.rows.signal_columns import HASH

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from honeyguide.adapters.rows.bulk import ParquetFile

PLACE = "place"


class Repeats:
    """Rows whose URL comes again: `superseded` are all but the last of each, `again` all but the first, by their places."""

    def __init__(self) -> None:
        self.superseded = pl.Series(PLACE, [], dtype=pl.get_index_type())
        self.again = self.superseded
        self._known: set[str] = set()

    def compare(self, rows: pl.DataFrame) -> None:
        """Take all rows, by place and by the hash of their URL; whatever was known before is in them."""
        self.superseded, self.again = _repeated(rows)

    def look_up(
        self, urls: Iterable[str], files: Sequence[ParquetFile], rejected: Collection[tuple[str, int]]
    ) -> bool:
        """Look for all rows that have one of the URLs; says whether any of them does not count.

        Wrong rows stand for nothing: `rejected` has them by the name of their file and their number, from 1.
        """
        new = [url for url in dict.fromkeys(urls) if url not in self._known]
        if not new:
            return False
        self._known.update(new)
        first, frames, out = 0, [], []
        for file in files:
            frames.append(file.places(new).with_columns(pl.col(PLACE) + first))
            out += [first + number - 1 for name, number in rejected if name == file.name]
            first += file.count() if file is not files[-1] else 0
        rows = pl.concat(frames)
        if rows.height == len(new):  # each comes once
            return False
        superseded, again = _repeated(rows.filter(~pl.col(PLACE).is_in(out)))
        self.superseded = pl.concat([self.superseded, superseded])
        self.again = pl.concat([self.again, again])
        return bool(len(superseded))


def _repeated(rows: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Give the rows whose URL comes again later, and those whose URL came before, by hashes of 64 bits."""
    rows = rows.sort(PLACE)
    return (
        rows.filter(~pl.col(HASH).is_last_distinct())[PLACE],
        rows.filter(~pl.col(HASH).is_first_distinct())[PLACE],
    )
