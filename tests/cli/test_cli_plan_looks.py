"""Ways to look at a plan: one URL of it as CSV, and what changed since an earlier one, whatever that was written as."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import load_profile
from honeyguide.adapters.files import read
from honeyguide.app import known

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

pytest.importorskip("polars")  # an extra
NOW = ("--now", "2024-06-15T08:00:00Z")
HEADER = "url,visits,last_visited,last_changed,topic_relevance,hub_depth,is_hub\n"


def records(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_one_url_is_one_row_of_csv(run: Run) -> None:
    result = run("plan", "known.csv", *NOW, "--explain", "https://news.example/world", "--format", "csv")
    assert result.exit_code == 0, result.stderr
    (row,) = csv.DictReader(io.StringIO(result.stdout))
    assert (row["rank"], row["score"], row["level"]) == ("1", "94", "very high")
    assert row["signals"].startswith("visits: 150; last_visited: 2024-06-10T08:00:00Z; last_changed: ")
    assert row["signals"].endswith("hub_depth: 1; is_hub: true")
    assert "Is a hub page (+10)" in row["rules"]
    assert "Not visited in 7+ days (-)" in row["rules"]


# --- what changed ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("earlier", ["plan.jsonl", "plan.csv", "plan.parquet"])
def test_a_plan_is_compared_with_whatever_an_earlier_one_was_written_as(run: Run, earlier: str) -> None:
    assert run("plan", "known.csv", *NOW, "-o", earlier).exit_code == 0
    assert run("plan", "known.csv", *NOW, "--diff", earlier).stdout == ""
    result = run("plan", "known.csv", "--now", "2024-06-16T08:00:00Z", "--diff", earlier)
    found = {record["url"]: record for record in records(result)}
    changed = found["https://news.example/world"]
    assert '"score_before": 94, ' in result.stdout  # whole numbers have no fraction
    assert (changed["change"], changed["rank_before"], changed["score"]) == ("changed", 1, 74)
    rule = None if earlier.endswith("csv") else "changed-24h"  # CSV names no rules, and none pays this now
    assert changed["points"] == [{"points": -20, "reason": "Changed in last 24h", "rule": rule}]


def test_csv_on_standard_input_is_a_plan_too(run: Run) -> None:
    earlier = run("plan", "known.csv", *NOW, "--format", "csv").stdout
    result = run("plan", "known.csv", *NOW, "--min-score", "90", "--diff", "-", input=earlier)
    assert [record["change"] for record in records(result)] == ["left", "left"]


def test_points_of_csv_are_rounded_and_that_is_no_change(run: Run) -> None:
    Path("odd.csv").write_text(HEADER + "https://a.example/,1,,,0.123456789,1,no\n", "utf-8")
    assert run("plan", "odd.csv", *NOW, "-o", "plan.csv").exit_code == 0
    assert run("plan", "odd.csv", *NOW, "--diff", "plan.csv").stdout == ""


@pytest.mark.parametrize(
    "row", ["1,x,https://a.example/,50,low,,,", "1,1,https://a.example/,nan,low,,,", "1,1,u,5,l,,,x", "1,1"]
)
def test_csv_that_is_no_plan_is_one_sentence(run: Run, row: str) -> None:
    Path("plan.csv").write_text(f"schema,rank,url,score,level,reasons,next_due,points\n{row}\n", "utf-8")
    result = run("plan", "known.csv", "--diff", "plan.csv")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: plan.csv")
    assert len(result.stderr.splitlines()) == 1


def test_what_entered_says_which_points_bring_it_in(run: Run) -> None:
    run("plan", "known.csv", *NOW, "--min-score", "95", "-o", "plan.jsonl")
    (entered,) = records(run("plan", "known.csv", *NOW, "--top", "1", "--diff", "plan.jsonl"))
    assert [(entry["points"], entry["reason"], entry["rule"]) for entry in entered["points"]] == [
        (50, "base", "base"),
        (20, "Changed in last 24h", "changed-24h"),
        (14, "High topic relevance", "relevance-high"),
        (10, "Is a hub page", "hub"),
    ]
    assert entered["reasons"][0] == "was not in the earlier plan; these points bring it in now"
    shown = run("plan", "known.csv", *NOW, "--top", "1", "--diff", "plan.jsonl", "--format", "table").stdout
    assert "+20 Changed in last 24h" in shown


class _Listed(list[str]):
    """URLs that are not to be searched one by one, for each row anew."""

    def __contains__(self, _: object) -> bool:
        raise AssertionError


@pytest.mark.parametrize("policy", ["heuristic", "learned"])
@pytest.mark.parametrize("small", [0, 10**9])
@pytest.mark.usefixtures("run")  # makes the files
def test_many_urls_are_looked_up_at_once(monkeypatch: pytest.MonkeyPatch, small: int, policy: str) -> None:
    monkeypatch.setattr(read, "SMALL_BYTES", small)
    table = known.open_known(["known.csv"], load_profile("news"), policy=policy)
    assert len(table.find(_Listed(["https://news.example/new", "https://news.example/world"]))) == 2
