"""A plan card as SQL gives the scores, levels and reasons of the rows (PLAN-1, PLAN-2). DuckDB is no part of [dev]."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from honeyguide import InputError, UrlSignals, load_profile, plan_sql, score_url
from honeyguide.cli.main import root

NOW = datetime(2024, 6, 15, 8, 0, tzinfo=UTC)
ROWS = 200_000
OWN = r"""
extends = "news"
name = "own"
[scorecard.plan]
base = 10.25
range = [0, 15.5]
decimals = 2
[[scorecard.plan.group]]
name = "capped"
mode = "all"
at_most = 7.25
rules = [
  { id = "per", reason = "it's a \\ sign", points = 9.705, per = "relevance", at_most = 8.1 },
  { id = "not", reason = "no hub", points = 1.005, when = { not = { is_hub = { is = true } } } },
]
[[scorecard.plan.group]]
name = "depth"
mode = "first"
rules = [
  { id = "flat", reason = "flat", points = 0.115, when = { any = [{ hub_depth = { is = [0, 1] } }, { visits = { above = 50 } }] } },
  { id = "other", reason = "other", points = -20, per = "visits", when = { hub_depth = { above = 2 } } },
]
"""


def moment(chance: random.Random) -> datetime | None:
    edges = (3600, 86400, 604800, 2592000)
    ago = chance.choice([*edges, chance.choice(edges) - 1, chance.uniform(-1e5, 1e7)])
    return chance.choice([None, NOW - timedelta(seconds=ago)])


def signals(chance: random.Random, number: int) -> UrlSignals:
    return UrlSignals(
        f"https://a.example/{number:06}",
        visits=chance.choice([None, 0, 1, chance.randrange(200)]),
        last_visited=moment(chance),
        last_changed=moment(chance),
        topic_relevance=chance.choice([None, 0.0, 0.3, 0.5, 0.7, 1.0, chance.random()]),
        hub_depth=chance.choice([None, 0, 1, 2, 3, 9]),
        is_hub=chance.choice([None, True, False]),
    )


@pytest.mark.parametrize(("given", "count"), [("news", ROWS), (OWN, 20_000)])
def test_duckdb_scores_as_rows_do(given: str, count: int, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is no part of [dev]: pip install duckdb")
    pl = pytest.importorskip("polars")
    chance = random.Random(22)  # noqa: S311 - made-up rows
    rows = [signals(chance, number) for number in range(count)]
    names = ("url", "visits", "last_visited", "last_changed", "topic_relevance", "hub_depth", "is_hub")
    known = pl.DataFrame({name: [getattr(row, name) for row in rows] for name in names}, strict=False)
    file, profile = tmp_path / "known.parquet", load_profile(given)
    known.write_parquet(file)
    with duckdb.connect() as database:
        database.execute(f"CREATE VIEW known AS SELECT * FROM '{file}'")  # noqa: S608 - a path of ours
        query = plan_sql("duckdb", now=NOW, profile=profile)
        found = {url: rest for url, *rest in database.execute(query).fetchall()}
    for row in rows:
        expected = score_url(row, now=NOW, profile=profile)
        assert found[row.url] == [expected.score.value, expected.level.name, "; ".join(expected.reasons)], row


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_the_text_has_every_rule_and_no_greatest(dialect: str) -> None:
    text = plan_sql(dialect, now=NOW)
    rules = [rule for group in load_profile("news").cards["plan"].card.groups for rule in group.rules]
    assert all(f"'{rule.reason}'" in text for rule in rules if not rule.quiet)
    assert "greatest" not in text.lower()
    assert "2024-06-15T08:00:00.000000+00:00" in text
    told = CliRunner().invoke(
        root, ["plan", "--sql", dialect, "--now", "2024-06-15T08:00:00Z"], prog_name="honeyguide"
    )
    assert (told.exit_code, told.stdout) == (0, text)


def test_files_are_not_ranked_by_sql_and_dialects_are_known() -> None:
    told = CliRunner().invoke(root, ["plan", "known.csv", "--sql", "duckdb"], prog_name="honeyguide")
    assert told.exit_code == 2
    assert "--sql ranks nothing" in told.stderr
    with pytest.raises(InputError, match="no dialect"):
        plan_sql("oracle")
