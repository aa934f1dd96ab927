"""Plans of known URLs that are in a Spark cluster already: columns are scored where they lie, and only the best rows travel.

Owns: `plan`. Must not know: how rules are evaluated (`frames.py`). Spark and pyarrow are an extra, so this module is imported
on demand. No engine has an input order, so ties are ordered by URL.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import polars as pl

from honeyguide.adapters.files.sources import NoColumnError
from honeyguide.bulk.frames import ADDED, scores_of, with_scores
from honeyguide.bulk.signal_columns import columns_of
from honeyguide.config import load_profile
from honeyguide.core.rules.profile import Profile
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BATCHES = 20  # of Spark, of 10,000 rows each unless it is told otherwise, that are scored at once
_SCHEMA = "url string, score double, level string, reasons array<string>"


def plan(known: Any, top: int, *, now: datetime | None = None, profile: Profile | str | Path = "news") -> Any:
    """Give the best `top` rows of a Spark frame of known URLs: `url`, `score`, `level`, `reasons`; ties by URL (PLAN-1, PLAN-2).

    Its columns are those of `plan_file`. Nothing is computed before Spark is asked for the rows.
    """
    columns = columns_of(dict.fromkeys(known.columns, pl.Null()))
    if "url" not in columns:
        raise NoColumnError(known.columns, "the frame", "url")
    if top < 1:
        raise InputError("should be 1 or more", field="top")
    moment = datetime.now(UTC) if now is None else now
    if moment.tzinfo is None:
        raise InputError("has no time zone; pass an aware datetime", field="now")
    chosen = profile if isinstance(profile, Profile) else load_profile(profile)

    def best_of_part(batches: Iterator[Any]) -> Iterator[Any]:
        best = pl.DataFrame()
        while some := list(islice(batches, _BATCHES)):
            frame = pl.concat([pl.DataFrame(batch) for batch in some])
            best = pl.concat(
                [best, frame.with_columns(score=scores_of(frame, moment, chosen))], how="diagonal"
            )
            best = _best(best, top)
        if len(best):
            yield from _as_spark_takes_it(with_scores(best.drop("score"), moment, chosen))

    parts = known.select(*columns.values()).mapInArrow(best_of_part, _SCHEMA)
    return parts.orderBy(parts.score.desc(), parts.url).limit(top)


def _best(rows: pl.DataFrame, top: int) -> pl.DataFrame:
    return rows.sort("score", "url", descending=[True, False]).head(top)


def _as_spark_takes_it(scored: pl.DataFrame) -> Iterator[Any]:
    import pyarrow as pa

    types = (pa.string(), pa.float64(), pa.string(), pa.list_(pa.string()))
    schema = pa.schema(list(zip(("url", *ADDED), types, strict=True)))
    yield from scored.select("url", *ADDED).to_arrow().cast(schema).to_batches()
