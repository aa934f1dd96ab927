"""URLs that come again in Parquet files: of those that somebody sees, the last row counts, as in every other file."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import load_profile
from honeyguide.adapters.files.rows import Rejected
from honeyguide.app.known_urls.files import known_sources, open_known
from honeyguide.bulk import file_table
from honeyguide.core.recrawl.plan import PlanQuery

if TYPE_CHECKING:
    from pathlib import Path

pl = pytest.importorskip("polars")  # an extra

NOW = datetime(2024, 6, 15, 8, 0, tzinfo=UTC)
PROFILE = load_profile("news")
GOOD = {"url": "https://a.example/", "visits": 1, "topic_relevance": 0.5, "hub_depth": 1, "is_hub": True}


def made(count: int, urls: int, *, rated: bool = False) -> list[dict[str, Any]]:
    """Rows of which many have the same URL, and hardly two the same score."""
    rng = random.Random(count)  # noqa: S311 - made-up rows
    return [
        {
            **GOOD,
            "url": f"https://h{rng.randrange(3)}.example/{rng.randrange(urls)}",
            "topic_relevance": rng.random(),
            "is_hub": rng.random() < 0.2,
            **({"rate_a": 1 + rng.random(), "rate_b": 50 + rng.random()} if rated else {}),
        }
        for _ in range(count)
    ]


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    if path.suffix == ".parquet":
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(path, row_group_size=100)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


@pytest.mark.parametrize("policy", ["heuristic", "learned"])
@pytest.mark.parametrize("urls", [3, 40, 5000])
@pytest.mark.parametrize(
    "asked",
    [
        PlanQuery(NOW),
        PlanQuery(NOW, top=1),
        PlanQuery(NOW, top=7),
        PlanQuery(NOW, top=500),
        PlanQuery(NOW, per_host=2, top=5),
    ],
)
def test_what_is_printed_of_parquet_is_what_is_printed_of_json_lines(
    policy: str, urls: int, asked: PlanQuery, tmp_path: Path
) -> None:
    rows = made(600, urls, rated=policy == "learned")
    expected = open_known(
        known_sources([write(tmp_path / "known.jsonl", rows)]), PROFILE, policy=policy
    ).plan(asked)
    found = open_known(known_sources([write(tmp_path / "known.parquet", rows)]), PROFILE, policy=policy).plan(
        asked
    )
    if policy == "heuristic":
        assert repr(found.entries) == repr(expected.entries)
    else:  # scores hang on a price, which is that of all rows where nobody says how many
        assert [entry.scored.url for entry in found.entries] == [
            entry.scored.url for entry in expected.entries
        ]
    if asked.top in (None, 500):
        assert (found.levels, found.repeated) == (expected.levels, expected.repeated)


def test_rows_of_several_files_are_compared(tmp_path: Path) -> None:
    rows = [{**GOOD, "visits": number} for number in range(4)]
    files = [write(tmp_path / "a.parquet", rows[:1]), write(tmp_path / "b.parquet", rows[1:])]
    plan = open_known(known_sources(files), PROFILE).plan(PlanQuery(NOW, top=1))
    assert [entry.scored.signals.visits for entry in plan.entries] == [3]
    assert (plan.rows, plan.repeated.rows, plan.repeated.first) == (1, 3, f"{files[1]} row 1")


def test_a_wrong_row_stands_for_nothing(tmp_path: Path) -> None:
    rows = [{**GOOD, "visits": number} for number in (1, 2, -3)]
    rejected = Rejected()
    table = open_known(known_sources([write(tmp_path / "known.parquet", rows)]), PROFILE, reject=rejected)
    plan = table.plan(PlanQuery(NOW, top=1))
    rejected.close()
    assert [entry.scored.signals.visits for entry in plan.entries] == [2]


def test_the_rank_of_a_url_does_not_count_its_own_earlier_rows(tmp_path: Path) -> None:
    rows = [GOOD, {**GOOD, "is_hub": False}]
    table = open_known(known_sources([write(tmp_path / "known.parquet", rows)]), PROFILE)
    url = str(GOOD["url"])
    row = table.find([url])[url]
    assert (row.signals.is_hub, table.rank_of(row, NOW)) == (False, 1)


def test_urls_that_nobody_sees_are_compared_where_that_is_asked_for(tmp_path: Path) -> None:
    rows = [{**GOOD, "url": "https://b.example/"}, *({**GOOD, "is_hub": False} for _ in range(3))]
    path = write(tmp_path / "known.parquet", rows)
    assert open_known(known_sources([path]), PROFILE).plan(PlanQuery(NOW, top=1)).rows == 4
    assert open_known(known_sources([path]), PROFILE, check_urls=True).plan(PlanQuery(NOW, top=1)).rows == 2


def test_urls_may_be_categories(tmp_path: Path) -> None:
    frame = pl.DataFrame([{**GOOD, "visits": number} for number in range(3)])
    frame.with_columns(pl.col("url").cast(pl.Categorical)).write_parquet(tmp_path / "known.parquet")
    plan = open_known(known_sources([str(tmp_path / "known.parquet")]), PROFILE).plan(PlanQuery(NOW, top=2))
    assert [entry.scored.signals.visits for entry in plan.entries] == [2]


def test_in_very_large_files_only_printed_repeats_are_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_table, "MAX_LOOKED_UP", 2)
    rows = [{**GOOD, "url": f"https://a.example/{name}", "topic_relevance": worth} for name, worth in
            (("a", 0.9), ("b", 0.8), ("b", 0.7), ("a", 0.1))]  # fmt: skip
    file = write(tmp_path / "known.parquet", rows)
    two = open_known(known_sources([file]), PROFILE).plan(PlanQuery(NOW, top=2))
    assert [entry.scored.url[-1] for entry in two.entries] == ["a", "b"]
    assert two.repeated.rows == 0
    three = open_known(known_sources([file]), PROFILE).plan(
        PlanQuery(NOW, top=3)
    )  # two of them are b: all are looked up
    assert [entry.scored.signals.topic_relevance for entry in three.entries] == [0.7, 0.1]
    assert three.repeated.rows == 2
