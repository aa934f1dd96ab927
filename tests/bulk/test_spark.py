"""A plan in Spark is the plan of the same rows sorted by URL (PLAN-1, PLAN-2, PLAN-3). tools/check_spark.py runs it."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from spark_session import session

from honeyguide import InputError, plan_file

pl = pytest.importorskip("polars", reason="polars is an extra")
pytest.importorskip("pyspark", reason="Spark is no part of [dev]: tools/check_spark.py runs it")

NOW = datetime(2024, 6, 15, 8, 0, tzinfo=UTC)
TOP = 300


def rows(count: int) -> Any:
    """Few values, so that many rows tie; the URLs are in no order, and some need a second look."""
    chance = random.Random(5)  # noqa: S311 - made-up rows
    numbers = list(range(count))
    chance.shuffle(numbers)
    ago = [None, *(timedelta(days=days) for days in (0, 1, 7, 30, 90))]
    times = [chance.choice([None if one is None else NOW - one for one in ago]) for _ in numbers]
    return pl.DataFrame(
        {
            "url": [
                f"https://a.example/{chance.choice(['a', 'B', '%C3%A4', 'ä'])}-{number}" for number in numbers
            ],
            "visits": [chance.choice([None, 0, 3]) for _ in numbers],
            "lastVisited": times,
            "topic_relevance": [chance.choice([None, 0.2, 0.8]) for _ in numbers],
            "is_hub": [chance.choice([None, True, False]) for _ in numbers],
        },
        schema_overrides={"lastVisited": pl.Datetime("us", "UTC")},
    )


def test_the_best_of_all_parts_are_those_of_the_plan_and_ties_are_in_the_order_of_urls(
    tmp_path: Path,
) -> None:
    from honeyguide.bulk.spark import plan

    known = rows(20_000)
    known.sort("url").write_parquet(tmp_path / "sorted.parquet")
    expected = [
        (one.scored.url, one.scored.score.value, one.scored.level.name, list(one.scored.reasons))
        for one in plan_file(str(tmp_path / "sorted.parquet"), now=NOW, top=TOP).entries
    ]
    known.write_parquet(tmp_path / "known.parquet")
    frame = session().read.parquet(str(tmp_path / "known.parquet"))
    for parts in (1, 7):
        found = plan(frame.repartition(parts), TOP, now=NOW).collect()
        assert [tuple(row) for row in found] == expected
    ties = [score for _, score, *_ in expected]
    assert len(set(ties)) < TOP / 10


def test_mistakes_are_said_before_spark_begins() -> None:
    from honeyguide.bulk.spark import plan

    frame = session().createDataFrame([("https://a.example/", 1)], "url string, visits int")
    with pytest.raises(InputError, match="no column url"):
        plan(frame.drop("url"), 1)
    with pytest.raises(InputError, match="1 or more"):
        plan(frame, 0)
    with pytest.raises(InputError, match="no time zone"):
        plan(frame, 1, now=datetime(2024, 6, 15))  # noqa: DTZ001 - the mistake


def test_a_frame_without_rows_has_an_empty_plan() -> None:
    from honeyguide.bulk.spark import plan

    assert plan(session().createDataFrame([], "url string, visits int"), 10, now=NOW).collect() == []
