"""Levels relative to a budget: ranks, not scores, for policies whose values have no unit; PLAN-2 stays exact."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from honeyguide import plan_file
from honeyguide.config import load_profile
from honeyguide.core.recrawl.plan import KnownUrl, PlanQuery, UrlSignals, budget_levels, level_at
from honeyguide.core.recrawl.policies import Heuristic, Learned
from honeyguide.core.recrawl.ranking import RowTable
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = datetime(2024, 6, 15, tzinfo=UTC)
BASE = load_profile("base")


def rows(count: int, different: int = 0) -> Iterator[KnownUrl]:
    """Many pages of equal value, as those of a fresh store are; the last ones are worth more."""
    for number in range(1, count + 1):
        importance = 1.0 + max(0, number - count + different)
        signals = UrlSignals(f"https://h{number % 7}.example/{number}", importance=importance)
        yield KnownUrl(number, f"row {number}", signals)


def test_ranges_follow_the_scale_of_scores() -> None:
    ranges = budget_levels(100, BASE)
    assert [one.last for one in ranges[:-1]] == [25, 100, 319, 1294]
    assert [level_at(rank, ranges).name for rank in (25, 26, 100, 101, 2000)] == [
        "very high",
        "high",
        "high",
        "medium",
        "very low",
    ]


def test_a_budget_tells_equal_values_apart() -> None:
    table = RowTable(lambda: rows(1000), Learned(), BASE)
    plain = table.plan(PlanQuery(NOW, top=5))
    assert plain.levels["high"] == 1000  # no help
    found = table.plan(PlanQuery(NOW, top=60, budget=50))
    assert found.levels == {"very high": 13, "high": 37, "medium": 110, "low": 487, "very low": 353}
    assert [entry.scored.level.name for entry in found.entries[11:14]] == ["very high", "very high", "high"]
    assert found.entries[50].scored.level.name == "medium"
    row = table.find(["https://h6.example/20"])["https://h6.example/20"]
    assert table.judge(row, NOW).scored.level.name == "high"


@pytest.mark.parametrize("query", [{}, {"top": 3}, {"per_host": 2}, {"top": 9, "per_host": 2}])
def test_levels_of_a_budget_can_be_chosen(query: dict[str, int]) -> None:
    found = RowTable(lambda: rows(300, different=30), Learned(), BASE).plan(
        PlanQuery(NOW, levels=("high", "medium"), budget=20, **query)
    )
    ranks = [entry.rank for entry in found.entries]
    assert ranks == sorted(ranks)
    assert ranks[0] == 6
    assert max(ranks) <= 64
    assert len(ranks) == {(): 59, ("top",): 3, ("per_host",): 14, ("top", "per_host"): 9}[tuple(query)]


def test_the_price_is_that_of_the_last_page_in_the_budget() -> None:
    found = RowTable(lambda: rows(300, different=30), Learned(), BASE).plan(PlanQuery(NOW, budget=10))
    assert [entry.scored.score.value for entry in found.entries[8:12]] == [60.7, 60.0, 59.2, 58.4]


@pytest.mark.parametrize("levels", [(), ("high",), ("medium", "very low")])
def test_rows_and_columns_agree(tmp_path: Path, levels: tuple[str, ...]) -> None:
    pl = pytest.importorskip("polars", reason="polars is an extra")
    known = [
        {"url": row.signals.url, "importance": row.signals.importance, "rate_a": 1.0, "rate_b": 24.0}
        for row in rows(400, different=30)
    ]
    (tmp_path / "known.jsonl").write_text("".join(json.dumps(one) + "\n" for one in known))
    pl.DataFrame(known).write_parquet(tmp_path / "known.parquet")
    by_rows, by_columns = (
        plan_file(str(tmp_path / name), now=NOW, policy="learned", levels=levels, budget=30)
        for name in ("known.jsonl", "known.parquet")
    )
    assert by_rows.entries == by_columns.entries
    assert by_rows.levels == by_columns.levels


def test_the_heuristic_keeps_its_scores(tmp_path: Path) -> None:
    """PLAN-2 is exact: a budget is refused, and nothing else of the levels moves."""
    (tmp_path / "known.csv").write_text("url\nhttps://a.example/\n")
    with pytest.raises(InputError, match="fixed scores"):
        plan_file(str(tmp_path / "known.csv"), policy="heuristic", budget=5)
    found = RowTable(lambda: rows(10), Heuristic(BASE), BASE).plan(PlanQuery(NOW))
    assert found.levels["medium"] == 10
    assert not found.ranges
