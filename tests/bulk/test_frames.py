"""Frames in memory are scored as rows are (PLAN-1, PLAN-2)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from honeyguide import InputError, score_frame, score_url

pl = pytest.importorskip("polars")  # an extra

NOW = datetime(2024, 6, 15, 8, 0, tzinfo=UTC)
ROWS: list[dict[str, Any]] = [
    {"url": "https://a.example/", "visits": 3, "last_visited": NOW - timedelta(days=9), "is_hub": True},
    {"url": "https://a.example/b", "visits": None, "last_visited": None, "is_hub": None},
    {
        "url": "https://a.example/c d",
        "visits": 1,
        "last_visited": NOW - timedelta(minutes=5),
        "is_hub": False,
    },
]


def test_a_frame_gets_scores_levels_and_reasons_in_its_order() -> None:
    found = score_frame(pl.DataFrame(ROWS), now=NOW)
    expected = [score_url(row, now=NOW) for row in ROWS]
    assert found.drop("score", "level", "reasons").equals(pl.DataFrame(ROWS))
    assert found["score"].to_list() == [one.score.value for one in expected]
    assert found["level"].to_list() == [one.level.name for one in expected]
    assert found["reasons"].to_list() == [list(one.reasons) for one in expected]
    assert score_frame(pl.LazyFrame(ROWS), now=NOW).equals(found)


def test_times_without_a_zone_are_utc_and_wrong_values_name_their_row() -> None:
    bare = pl.DataFrame(ROWS).with_columns(pl.col("last_visited").dt.replace_time_zone(None))
    assert score_frame(bare, now=NOW)["score"].equals(score_frame(pl.DataFrame(ROWS), now=NOW)["score"])
    wrong = pl.DataFrame({"url": ["https://a.example/", "no address"], "visits": [1, 2]})
    with pytest.raises(InputError, match="row 2"):
        score_frame(wrong, now=NOW)
    with pytest.raises(InputError, match="no column url"):
        score_frame(wrong.drop("url"), now=NOW)
    with pytest.raises(InputError, match="polars, pandas or pyarrow"):
        score_frame(ROWS, now=NOW)


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_other_libraries_get_their_own_frames_back(library: str) -> None:
    pytest.importorskip(library, reason=f"{library} is no part of [dev]")
    pytest.importorskip("pyarrow", reason="polars reads pandas by pyarrow, which is no part of [dev]")
    frame = pl.DataFrame(ROWS)
    given = frame.to_pandas() if library == "pandas" else frame.to_arrow()
    found = score_frame(given, now=NOW)
    assert type(found) is type(given)
    assert list(found["score"].to_pylist() if library == "pyarrow" else found["score"]) == [
        score_url(row, now=NOW).score.value for row in ROWS
    ]
