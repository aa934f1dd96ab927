"""Parquet files ranked by the policy that learns: by columns as row by row."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import load_profile
from honeyguide.adapters.files.rows import Rejected
from honeyguide.adapters.policies import AdaptiveInterval
from honeyguide.app.known_urls import files as known_urls
from honeyguide.app.known_urls.files import known_sources, open_known
from honeyguide.core.recrawl.plan import KnownUrl, PlanQuery, UrlSignals
from honeyguide.core.recrawl.policies import Learned
from honeyguide.core.recrawl.priors import Priors
from honeyguide.core.recrawl.ranking import RowTable
from honeyguide.core.recrawl.signals import PageState
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.ports.store import Ranker


pl = pytest.importorskip("polars")  # an extra

from honeyguide.bulk.batches import ParquetFile, TextFile  # noqa: E402 - needs polars
from honeyguide.bulk.learned_table import _MANY_VISITS, LearnedTable  # noqa: E402 - needs polars

NOW = datetime(2026, 5, 1, 8, tzinfo=UTC)
PROFILE = load_profile("news")


def made_up(count: int) -> list[dict[str, Any]]:
    random = Random(7)  # noqa: S311 - made-up rows
    return [
        {
            "url": f"https://{random.choice('abcde')}.example/{number}",
            "visits": random.randrange(5),
            # Some are as old as others, and never visited ones are worth the same.
            "last_visited": random.choice([None, NOW + timedelta(hours=1), *[NOW - timedelta(hours=random.randrange(300))] * 20]),
            "last_changed": None,
            "topic_relevance": random.choice([0.2, 0.8]),
            "hub_depth": 1,
            "is_hub": random.random() < 0.1,
            "rate_a": random.choice([0.5, 3.0]),
            "rate_b": random.choice([20.0, 400.0]),
        }
        for number in range(count)
    ]  # fmt: skip


def tables(folder: Path, rows: list[dict[str, Any]], files: int = 1) -> tuple[Ranker, Ranker]:
    """Open the same rows twice: by columns, and one by one."""
    frame, size = pl.DataFrame(rows, infer_schema_length=None), -(-len(rows) // files)
    paths = [folder / f"known-{number}.parquet" for number in range(files)]
    for number, path in enumerate(paths):
        frame.slice(number * size, size).write_parquet(path, row_group_size=100)

    def one_by_one() -> Any:
        for number, row in enumerate(rows):
            name = f"{paths[number // size]} row {number % size + 1}" if files > 1 else f"row {number + 1}"
            yield KnownUrl(number + 1, name, UrlSignals(**row))

    return open_known(known_sources([str(path) for path in paths]), PROFILE), RowTable(
        one_by_one, Learned(Priors()), PROFILE
    )


ASKED = [
    PlanQuery(NOW, top=25),
    PlanQuery(NOW, top=400),
    PlanQuery(NOW),
    PlanQuery(NOW, top=30, per_host=4),
    PlanQuery(NOW, top=12, per_host=3),
    PlanQuery(NOW, top=40, levels=("high", "low")),
    PlanQuery(NOW, top=9, levels=("medium",), per_host=2),
    PlanQuery(NOW, top=100, min_score=70.0),
    PlanQuery(NOW, top=20, max_score=50.0),
    PlanQuery(NOW, max_score=65.0, min_score=30.0),
    PlanQuery(NOW, top=40, max_score=70.0, levels=("high", "low"), per_host=3),
    PlanQuery(NOW, levels=("very low",)),
]


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.slow
def test_columns_plan_as_rows_do(tmp_path: Path, asked: PlanQuery, files: int) -> None:
    columns, rows = tables(tmp_path, made_up(600), files)
    found, expected = columns.plan(asked), rows.plan(asked)
    assert type(columns).__name__ == "LearnedTable"
    assert repr(found.entries) == repr(expected.entries)
    assert found.levels == expected.levels
    assert found.future == expected.future
    assert expected.entries


def test_single_rows_stand_where_they_stand(tmp_path: Path) -> None:
    rows = made_up(300)
    columns, plain = tables(tmp_path, rows)
    for asked in (None, PlanQuery(NOW, top=10)):
        if asked is not None:
            columns.plan(asked)
            plain.plan(asked)
        for url in (rows[5]["url"], rows[250]["url"]):
            row = columns.find([url])[url]
            assert columns.rank_of(row, NOW) == plain.rank_of(row, NOW)
            assert repr(columns.judge(row, NOW)) == repr(plain.judge(row, NOW))


def test_wrong_rows_are_put_out(tmp_path: Path) -> None:
    rows = made_up(50)
    rows[7]["rate_b"] = None
    rows[9]["rate_a"] = -1.0
    columns, _ = tables(tmp_path, rows)
    with pytest.raises(InputError, match="row 8, field rate_b: is missing"):
        columns.plan(PlanQuery(NOW, top=5))
    rejected = Rejected()
    try:
        table = open_known(known_sources([str(tmp_path / "known-0.parquet")]), PROFILE, reject=rejected)
        assert table.plan(PlanQuery(NOW, top=5)).rows == 48
    finally:
        rejected.close()
    assert rejected.rows == 2


def test_a_winner_with_a_wrong_url_makes_all_urls_be_read(tmp_path: Path) -> None:
    rows = made_up(80)
    rows[3] |= {"url": "nonsense", "last_visited": None, "topic_relevance": 0.8}
    rows[4] |= {"url": rows[60]["url"]}
    tables(tmp_path, rows)
    rejected = Rejected()
    try:
        table = open_known(known_sources([str(tmp_path / "known-0.parquet")]), PROFILE, reject=rejected)
        plan = table.plan(PlanQuery(NOW, top=20))
    finally:
        rejected.close()
    assert (plan.rows, plan.repeated.rows) == (78, 1)


@pytest.mark.parametrize("policy", ["heuristic", "uniform", "learned"])
def test_wrong_rows_are_rejected_in_the_order_of_the_file(tmp_path: Path, policy: str) -> None:
    rows = made_up(60)
    for number, relevance in ((40, 0.9), (11, 0.1), (25, 0.5)):
        rows[number] |= {"url": f"nonsense {number}", "last_visited": None, "topic_relevance": relevance}
    tables(tmp_path, rows)
    path, rejected = tmp_path / "known-0.parquet", Rejected()
    try:
        table = open_known(known_sources([str(path)]), PROFILE, policy=policy, reject=rejected)
        assert table.plan(PlanQuery(NOW)).rows == 57
    finally:
        rejected.close()
    lines = Path(f"{path}.rejected").read_text("utf-8").splitlines()
    assert [json.loads(line)["row"] for line in lines] == [12, 26, 41]


def test_too_many_rows_are_refused(tmp_path: Path) -> None:
    columns, _ = tables(tmp_path, made_up(60))
    with pytest.raises(InputError, match="more than 50 rows"):
        columns.plan(PlanQuery(NOW, limit=50))


@pytest.mark.parametrize("policy", ["uniform", "proportional", "adaptive-interval", "learned"])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize(
    "query", [PlanQuery(NOW, top=25), PlanQuery(NOW, top=9, levels=("high", "low"), per_host=2)]
)
def test_text_is_ranked_by_columns_as_by_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str, kind: str, query: PlanQuery
) -> None:
    frame = pl.DataFrame(made_up(300), infer_schema_length=None)
    frame = frame.with_columns(pl.col("last_visited").dt.to_string("iso:strict"))
    paths = [tmp_path / f"known-{number}.{kind}" for number in range(2)]
    for number, path in enumerate(paths):
        part = frame.slice(number * 150, 150)
        part.write_csv(path) if kind == "csv" else part.write_ndjson(path)
    found = []
    for is_column in (True, False):
        monkeypatch.setattr(known_urls, "pays_by_columns", lambda _, answer=is_column: answer)
        table = open_known(known_sources([str(path) for path in paths]), PROFILE, policy=policy)
        assert type(table).__name__ == ("LearnedTable" if is_column else "RowTable")
        plan = table.plan(query)
        found.append((repr(plan.entries), plan.levels, plan.future, plan.tied))
    assert found[0] == found[1]


def test_adaptive_intervals_of_many_visits_are_the_longest() -> None:
    policy = AdaptiveInterval()
    assert policy.interval_of(PageState("", visits=_MANY_VISITS)) == policy.most_h


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_several_files_are_not_counted_again_for_each_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    frame = pl.DataFrame(made_up(400), infer_schema_length=None)
    parts = [frame.head(150), frame.slice(150, 0), frame.tail(250)]
    paths = [str(tmp_path / f"known-{number}.{kind}") for number in range(3)]
    for path, part in zip(paths, parts, strict=True):
        part.write_csv(path) if kind == "csv" else part.write_parquet(path)
    monkeypatch.setattr(known_urls, "pays_by_columns", lambda _: True)
    for file in (ParquetFile, TextFile):
        monkeypatch.setattr(file, "count", _few(file.count))
    columns = open_known(known_sources(paths), PROFILE)
    assert isinstance(columns, LearnedTable)
    monkeypatch.setattr(known_urls, "pays_by_columns", lambda _: False)
    expected = open_known(known_sources(paths), PROFILE, policy="learned").plan(PlanQuery(NOW))
    assert repr(columns.plan(PlanQuery(NOW)).entries) == repr(expected.entries)


def _few(method: Callable[..., Any]) -> Callable[..., Any]:
    """Allow few calls of a method for each file."""
    calls: Counter[str] = Counter()

    def call(file: Any, *arguments: Any) -> Any:
        calls[file.name] += 1
        assert calls[file.name] < 5, f"{file.name} is counted again and again"
        return method(file, *arguments)

    return call
