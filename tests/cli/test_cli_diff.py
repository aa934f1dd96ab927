"""`honeyguide diff`: two files of picks or plans, without labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

PLAN = ("plan", "known.csv", "--now")
TODAY, TOMORROW = "2024-06-15T08:00:00Z", "2024-06-16T08:00:00Z"
HEADER = "url,visits,last_visited,last_changed,topic_relevance,hub_depth,is_hub\n"


def records(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def changes(result: Result) -> list[tuple[str, str]]:
    return [(record["change"], record["url"]) for record in records(result)]


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
@pytest.mark.parametrize("other", ["jsonl", "csv"])
def test_plans_of_every_format_are_compared(run: Run, ending: str, other: str) -> None:
    run(*PLAN, TODAY, "--top", "2", "-o", f"a.{ending}")
    run(*PLAN, TODAY, "--top", "2", "-o", f"same.{other}")
    run(*PLAN, TOMORROW, "--top", "1", "-o", f"b.{other}")
    assert changes(run("diff", f"a.{ending}", f"same.{other}")) == []
    assert changes(run("diff", f"a.{ending}", f"b.{other}")) == [
        ("left", "https://news.example/new"),
        ("changed", "https://news.example/world"),
    ]
    assert ("entered", "https://news.example/new") in changes(run("diff", f"b.{other}", f"a.{ending}"))


def test_picks_are_compared_without_labels(run: Run) -> None:
    assert changes(run("diff", "before.jsonl", "now.jsonl")) == [
        ("entered", "https://acme.example/inspection")
    ]
    assert changes(run("diff", "now.jsonl", "before.jsonl")) == [("left", "https://acme.example/inspection")]
    shown = run("diff", "before.jsonl", "now.jsonl", "--format", "table").stdout
    assert "entered" in shown
    assert "not linked" in shown
    assert run("diff", "now.jsonl", "now.jsonl", "--format", "table").stdout == "Nothing changed.\n"


def test_sites_in_folders_of_one_host_are_compared_apart(run: Run) -> None:
    def record(site: str, *pages: str) -> str:
        selected = [{"url": f"https://host.example{page}", "rank": n} for n, page in enumerate(pages, 1)]
        return json.dumps({"site": site, "selected": selected, "candidates": []})

    roots = ("host.example", "https://host.example/tea/", "host.example/fire")
    before = [record(root, "/a") for root in roots]
    now = [*before[:2], record(roots[2], "/b")]
    Path("a.jsonl").write_text("\n".join(before), "utf-8")
    Path("b.jsonl").write_text("\n".join(now), "utf-8")
    found = records(run("diff", "a.jsonl", "b.jsonl"))
    assert {(one["site"], one["change"], one["url"]) for one in found} == {
        ("host.example/fire", "entered", "https://host.example/b"),
        ("host.example/fire", "left", "https://host.example/a"),
    }


def test_what_cannot_be_compared_is_one_sentence(run: Run) -> None:
    run(*PLAN, TODAY, "-o", "plan.jsonl")
    Path("empty.jsonl").write_text("\n")
    Path("other.jsonl").write_text('{"site": "b.example", "selected": []}\n')
    Path("both.jsonl").write_text(
        f"{Path('now.jsonl').read_text('utf-8')}\n{Path('other.jsonl').read_text('utf-8')}"
    )
    assert "give two of one kind" in run("diff", "now.jsonl", "plan.jsonl").stderr
    assert "Error: empty.jsonl: has no record" in run("diff", "empty.jsonl", "now.jsonl").stderr
    assert run("diff", "empty.jsonl", "empty.jsonl", "--format", "table").stdout == "Nothing changed.\n"
    assert "cannot be read" in run("diff", "gone.jsonl", "now.jsonl").stderr
    assert "only one of the files has b.example" in run("diff", "now.jsonl", "both.jsonl").stderr
    assert "has no site of now.jsonl" in run("diff", "now.jsonl", "other.jsonl").stderr
    for files in (("gold.jsonl", "now.jsonl"), ("now.jsonl", "gold.jsonl"), ("gold.jsonl", "gold.jsonl")):
        refused = run("diff", *files)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "gold.jsonl line 1: is no record of Honeyguide" in refused.stderr


# --- plans: why ---


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_changed_url_names_the_rules_whose_points_differ(run: Run, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("polars")  # an extra
    run(*PLAN, TODAY, "--top", "2", "-o", f"a.{ending}")
    run(*PLAN, TOMORROW, "-o", "b.jsonl")
    result = run("diff", f"a.{ending}", "b.jsonl")
    found = {record["url"]: record for record in records(result)}
    assert '"score_before": 94, ' in result.stdout  # whole numbers have no fraction
    changed = found["https://news.example/world"]
    assert (changed["change"], changed["rank_before"], changed["score"]) == ("changed", 1, 74)
    rule = None if ending == "csv" else "changed-24h"  # CSV names no rules
    assert changed["points"] == [{"points": -20, "reason": "Changed in last 24h", "rule": rule}]
    assert found["https://news.example/a/b/c"]["rank_before"] is None
    assert "https://news.example/new" not in found


def test_plans_for_people_show_scores_and_points(run: Run) -> None:
    run(*PLAN, TODAY, "--top", "2", "-o", "a.jsonl")
    run(*PLAN, TOMORROW, "-o", "b.jsonl")
    shown = run("diff", "a.jsonl", "b.jsonl", "--format", "table").stdout
    assert "changed   94 to 74" in shown
    assert "-20 Changed in last 24h" in shown
    assert shown.endswith("1 entered, 1 changed\n")


def test_what_entered_says_which_points_bring_it_in(run: Run) -> None:
    run(*PLAN, TODAY, "--min-score", "95", "-o", "a.jsonl")
    run(*PLAN, TODAY, "--top", "1", "-o", "b.jsonl")
    (entered,) = records(run("diff", "a.jsonl", "b.jsonl"))
    assert [(entry["points"], entry["rule"]) for entry in entered["points"]] == [
        (50, "base"),
        (20, "changed-24h"),
        (14, "relevance-high"),
        (10, "hub"),
    ]
    assert entered["reasons"][0] == "was not in the earlier plan; these points bring it in now"


def test_points_of_csv_are_rounded_and_that_is_no_change(run: Run) -> None:
    Path("odd.csv").write_text(HEADER + "https://a.example/,1,,,0.123456789,1,no\n", "utf-8")
    run("plan", "odd.csv", "--now", TODAY, "-o", "a.csv")
    run("plan", "odd.csv", "--now", TODAY, "-o", "b.jsonl")
    assert changes(run("diff", "a.csv", "b.jsonl")) == []


@pytest.mark.parametrize(
    "row", ["1,x,https://a.example/,50,low,,,", "1,1,https://a.example/,nan,low,,,", "1,1,u,5,l,,,x", "1,1"]
)
def test_csv_that_is_no_plan_is_one_sentence(run: Run, row: str) -> None:
    run(*PLAN, TODAY, "-o", "b.jsonl")
    Path("plan.csv").write_text(f"schema,rank,url,score,level,reasons,next_due,points\n{row}\n", "utf-8")
    result = run("diff", "plan.csv", "b.jsonl")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: plan.csv")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "content", ["{}", "[1]", '{"rank": 1, "url": "x", "score": 1, "points": [1]}', "\x00"]
)
def test_what_is_no_plan_is_one_sentence(run: Run, content: str) -> None:
    run(*PLAN, TODAY, "-o", "b.jsonl")
    Path("plan.jsonl").write_text(content, "utf-8")
    result = run("diff", "plan.jsonl", "b.jsonl")
    assert (result.exit_code, result.stdout) == (1, "")
    assert len(result.stderr.splitlines()) == 1


def test_a_plan_in_which_nothing_was_wanted_is_compared_too(run: Run) -> None:
    run(*PLAN, TODAY, "--min-score", "95", "-o", "a.jsonl")
    assert Path("a.jsonl").read_text("utf-8") == ""
    run(*PLAN, TODAY, "--top", "1", "-o", "b.jsonl")
    assert changes(run("diff", "a.jsonl", "b.jsonl")) == [("entered", "https://news.example/world")]
