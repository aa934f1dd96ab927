"""Made-up known URLs, the same on every machine, as Parquet.

Owns: `generate`. Must not know: how they are ranked. Numbers come from mixing the row's number, so any part of a file
can be made without the parts before it.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2024, 6, 15, 8, 0, tzinfo=UTC)
PART = 2_000_000  # rows made at once
GROUP = 250_000  # rows of a row group
_DAY_US = 86_400_000_000


def _random(salt: int, below: int) -> pl.Expr:
    """Mix the row's number with a salt, evenly, into 0 to below - 1."""

    def big(number: int) -> pl.Expr:
        return pl.lit(number % 2**64, dtype=pl.UInt64)

    mixed = pl.col("row") + big(salt * 0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed // 2**30)) * big(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed // 2**27)) * big(0x94D049BB133111EB)
    return ((mixed ^ (mixed // 2**31)) % below).cast(pl.Int64)


def _ago(salt: int, days: int, known: int) -> pl.Expr:
    """A time within so many days, known for so many rows of a hundred."""
    now = pl.lit(int(NOW.timestamp()) * 1_000_000)
    moment = (now - _random(salt, days * _DAY_US)).cast(pl.Datetime("us", "UTC"))
    return pl.when(_random(salt + 100, 100) < known).then(moment)


def _rate(salt: int, low: float, high: float) -> pl.Expr:
    """A number evenly spread in logarithms."""
    return (math.log(low) + _random(salt, 2**40) * (math.log(high / low) / 2**40)).exp()


def _part(start: int, rows: int, *, with_rates: bool) -> pl.DataFrame:
    numbers = pl.LazyFrame({"row": pl.int_range(start, start + rows, dtype=pl.UInt64, eager=True)})
    site, page = _random(1, 50_000), _random(2, 1_000_000)
    return numbers.select(
        pl.format("https://site-{}.example/section/{}/page-{}", site, page, "row").alias("url"),
        _random(3, 500).cast(pl.Int32).alias("visits"),
        _ago(4, 30, 95).alias("last_visited"),
        _ago(5, 60, 60).alias("last_changed"),
        (_random(6, 10_001) / 10_000).alias("topic_relevance"),
        _random(7, 8).cast(pl.Int16).alias("hub_depth"),
        (_random(8, 20) == 0).alias("is_hub"),
        *([_rate(9, 0.5, 50).alias("rate_a"), _rate(10, 1, 10_000).alias("rate_b")] if with_rates else []),
    ).collect()


def generate(path: Path, rows: int, *, with_rates: bool = False) -> None:
    """Write a file of made-up rows, unless it is there; with rates, each page has a change rate that was learned."""
    if path.exists():
        return
    folder = path.with_suffix(".parts")
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for start in range(0, rows, PART):
        parts.append(folder / f"{start:012}.parquet")
        _part(start, min(PART, rows - start), with_rates=with_rates).write_parquet(
            parts[-1], row_group_size=GROUP
        )
    unfinished = path.with_suffix(".tmp")
    pl.scan_parquet(parts).sink_parquet(unfinished, row_group_size=GROUP)
    for part in parts:
        part.unlink()
    folder.rmdir()
    unfinished.rename(path)
