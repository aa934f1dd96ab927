"""`honeyguide diff`: two files of picks or plans, without labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

PLAN = ("plan", "known.csv", "--now")


def changes(result: Result) -> list[tuple[str, str]]:
    assert result.exit_code == 0, result.stderr
    return [(record["change"], record["url"]) for record in map(json.loads, result.stdout.splitlines())]


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
@pytest.mark.parametrize("other", ["jsonl", "csv"])
def test_plans_of_every_format_are_compared(run: Run, ending: str, other: str) -> None:
    run(*PLAN, "2024-06-15T08:00:00Z", "--top", "2", "-o", f"a.{ending}")
    run(*PLAN, "2024-06-15T08:00:00Z", "--top", "2", "-o", f"same.{other}")
    run(*PLAN, "2024-06-16T08:00:00Z", "--top", "1", "-o", f"b.{other}")
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


def test_what_cannot_be_compared_is_one_sentence(run: Run) -> None:
    run(*PLAN, "2024-06-15T08:00:00Z", "-o", "plan.jsonl")
    Path("empty.jsonl").write_text("\n")
    Path("other.jsonl").write_text('{"site": "b.example", "selected": []}\n')
    assert "give two of one kind" in run("diff", "now.jsonl", "plan.jsonl").stderr
    assert "empty.jsonl: is empty" in run("diff", "empty.jsonl", "now.jsonl").stderr
    assert "cannot be read" in run("diff", "gone.jsonl", "now.jsonl").stderr
    assert (
        "only one of the files has b.example, acme.example" in run("diff", "now.jsonl", "other.jsonl").stderr
    )
