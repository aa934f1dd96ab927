"""Ranking by a policy: the same as sorting everything, whatever is asked for."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from honeyguide import load_profile
from honeyguide.adapters.policies import POLICIES
from honeyguide.core.recrawl.plan import KnownUrl, PlanQuery, UrlSignals
from honeyguide.core.recrawl.policies import RecrawlPolicy
from honeyguide.core.recrawl.priors import Priors
from honeyguide.core.recrawl.ranking import RowTable, host_of, state_of
from honeyguide.errors import InputError

NOW = datetime(2026, 5, 1, tzinfo=UTC)
PROFILE = load_profile("news")


def rows_of(count: int, seed: int) -> list[KnownUrl]:
    rng = random.Random(seed)  # noqa: S311 - made-up pages

    def signals(number: int) -> UrlSignals:
        is_new = rng.random() < 0.2
        ago = timedelta(hours=rng.choice([0.5, 5, 30, 300, 300]))
        rate = (
            (None, None)
            if is_new or rng.random() < 0.5
            else (rng.choice([0.5, 2.0]), rng.choice([10.0, 400.0]))
        )
        return UrlSignals(
            f"https://host-{rng.randrange(4)}.example/{number}", 0 if is_new else rng.randrange(1, 9),
            None if is_new else NOW - ago, None if rng.random() < 0.7 else NOW - ago,
            rng.choice([None, 0.1, 0.9]), 1, rng.random() < 0.1, *rate,
        )  # fmt: skip

    return [KnownUrl(number, f"row {number}", signals(number)) for number in range(1, count + 1)]


def table_of(rows: list[KnownUrl], policy: str) -> tuple[RowTable, RecrawlPolicy]:
    made = POLICIES[policy](PROFILE, Priors())
    return RowTable(lambda: iter(rows), made, PROFILE), made


@pytest.mark.parametrize("policy", list(POLICIES))
def test_it_is_the_order_of_values_and_of_rows_where_they_are_equal(policy: str) -> None:
    rows = rows_of(300, 1)
    table, made = table_of(rows, policy)
    moment = NOW.timestamp()
    expected = sorted(rows, key=lambda row: -made.value(state_of(row), moment))
    plan = table.plan(PlanQuery(NOW))
    assert [entry.scored.url for entry in plan.entries] == [row.signals.url for row in expected]
    assert [entry.rank for entry in plan.entries] == list(range(1, 301))
    assert plan.rows == 300
    scores = [entry.scored.score.value for entry in plan.entries]
    assert scores == sorted(scores, reverse=True)
    for rank in (1, 7, 150, 300):
        assert table.rank_of(expected[rank - 1], NOW) == rank
    counted = {level.name: 0 for level in PROFILE.levels}
    for entry in plan.entries:
        counted[entry.scored.level.name] += 1
    assert plan.levels == counted


@pytest.mark.parametrize("policy", list(POLICIES))
@pytest.mark.parametrize("top", [1, 10, 299])
def test_top_is_the_beginning_of_it(policy: str, top: int) -> None:
    table, _ = table_of(rows_of(300, 2), policy)
    whole = [(entry.rank, entry.scored.url) for entry in table.plan(PlanQuery(NOW)).entries]
    plan = table.plan(PlanQuery(NOW, top=top))
    assert [(entry.rank, entry.scored.url) for entry in plan.entries] == whole[:top]
    if policy != "heuristic":
        assert plan.entries[-1].scored.score.value == 60.0


@pytest.mark.parametrize("policy", ["learned", "heuristic"])
def test_hosts_are_limited_and_the_others_move_up(policy: str) -> None:
    table, _ = table_of(rows_of(300, 3), policy)
    whole = [(entry.rank, entry.scored.url) for entry in table.plan(PlanQuery(NOW)).entries]
    expected: list[tuple[int, str]] = []
    for rank, url in whole:
        if sum(host_of(other) == host_of(url) for _, other in expected) < 3:
            expected.append((rank, url))
    plan = table.plan(PlanQuery(NOW, top=10, per_host=3))
    assert [(entry.rank, entry.scored.url) for entry in plan.entries] == expected[:10]


@pytest.mark.parametrize("policy", ["learned", "heuristic"])
def test_levels_and_scores_filter_and_keep_the_rank(policy: str) -> None:
    table, _ = table_of(rows_of(300, 4), policy)
    whole = table.plan(PlanQuery(NOW)).entries
    for level in PROFILE.levels:
        expected = [(entry.rank, entry.scored.url) for entry in whole if entry.scored.level == level]
        found = table.plan(PlanQuery(NOW, levels=(level.name,))).entries
        assert [(entry.rank, entry.scored.url) for entry in found] == expected
    least = table.plan(PlanQuery(NOW, min_score=50.0)).entries
    assert [entry.rank for entry in least] == [e.rank for e in whole if e.scored.score.value >= 50]


def test_nothing_and_too_much() -> None:
    table, _ = table_of([], "learned")
    assert table.plan(PlanQuery(NOW)).rows == 0
    table, _ = table_of(rows_of(5, 5), "learned")
    with pytest.raises(InputError, match="more than 4 rows"):
        table.plan(PlanQuery(NOW, limit=4))
    assert len(table.plan(PlanQuery(NOW, top=9, limit=4)).entries) == 5


def test_times_in_the_future_are_counted() -> None:
    rows = [
        KnownUrl(
            1, "row 1", UrlSignals("https://a.example/", 1, NOW + timedelta(days=1), None, 0.5, 1, False)
        )
    ]
    table, _ = table_of(rows, "learned")
    plan = table.plan(PlanQuery(NOW))
    assert (plan.future.rows, plan.future.first) == (1, "row 1 (last_visited)")
    assert plan.entries[0].scored.score.value >= 0
