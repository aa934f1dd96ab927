"""`honeyguide.read`: records of every format that is written come back with their types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import honeyguide
from honeyguide.adapters.output.tables import PICK_COLUMNS, write_table
from honeyguide.core.records.fields import PageRecord, PlanRecord
from honeyguide.errors import InputError
from honeyguide.testing.contracts import page

if TYPE_CHECKING:
    from pathlib import Path

PAGE = {
    **page("/a"),
    "reasons": ["topic in title", "2 to 4 mentions"],
    "points": [
        {"rule": "in-title", "points": 3, "reason": "topic in title"},
        {"rule": "some", "points": 1.5, "reason": "2 to 4 mentions"},
    ],
    "relevance_score": 4.5,
    "topic_relevance": 0.65,
    "topic_points": [{"rule": "title-about", "points": 0.4, "reason": "topic in title"}],
    "language_group": "0011223344556677",
    "title": "=A",
}


@pytest.mark.parametrize("name", ["p.jsonl", "p.parquet"])
def test_a_page_comes_back_whole(tmp_path: Path, name: str) -> None:
    write_table(tmp_path / name, name.partition(".")[2], [PAGE, PAGE], PageRecord)
    assert list(honeyguide.read(tmp_path / name)) == [PAGE, PAGE]


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_cells_have_the_types_of_their_fields(tmp_path: Path, kind: str) -> None:
    write_table(tmp_path / f"p.{kind}", kind, [PAGE], PageRecord)
    (found,) = honeyguide.read(tmp_path / f"p.{kind}")
    same = (
        "schema",
        "url",
        "status",
        "depth",
        "parent",
        "relevance_score",
        "topic_relevance",
        "language_group",
        "reasons",
        "title",
        "digest",
        "language",
    )
    assert {name: found[name] for name in same} == {name: PAGE[name] for name in same}
    assert [point["points"] for point in found["points"]] == [3, 1.5]
    assert [(point["points"], point["reason"]) for point in found["topic_points"]] == [
        (0.4, "topic in title")
    ]
    assert type(found["depth"]) is int


def test_a_plan_comes_back(tmp_path: Path) -> None:
    plan = {
        "schema": 2, "rank": 1, "url": "https://a.example/", "score": 60, "level": "high", "reasons": ["hub"],
        "points": [{"rule": "hub", "points": 10, "reason": "hub"}], "next_due": None,
    }  # fmt: skip
    for name in ("p.jsonl", "p.parquet"):
        write_table(tmp_path / name, name.partition(".")[2], [plan], PlanRecord)
        assert list(honeyguide.read(tmp_path / name)) == [plan]


@pytest.mark.parametrize("text", ['{"schema": 2}\n', '{"schema": 2, "url": 7}\n', "[]\n", "x\n"])
def test_what_is_no_record_is_rejected_with_its_place(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.jsonl").write_text(text)
    with pytest.raises(InputError, match="line 1"):
        list(honeyguide.read(tmp_path / "p.jsonl"))
    (tmp_path / "p.xlsx").write_text(text)
    with pytest.raises(InputError, match="no record of Honeyguide"):
        list(honeyguide.read(tmp_path / "p.xlsx"))
    (tmp_path / "p.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="no record of Honeyguide"):
        list(honeyguide.read(tmp_path / "p.csv"))


def test_cells_of_nested_records_have_their_types(tmp_path: Path) -> None:
    cells = {
        "site": "a.example",
        "selected_rank": "1",
        "selected_score": "94.5",
        "counts_links": "12",
        "options_cap": "4",
    }
    header = [*PICK_COLUMNS, "customer"]
    row = [{**cells, "customer": "007"}.get(name.replace(".", "_"), "") for name in header]
    lines = [",".join(name.replace(".", "_") for name in header), ",".join(row)]
    (tmp_path / "picks.csv").write_text("\n".join(lines) + "\n")
    (record,) = honeyguide.read(tmp_path / "picks.csv")
    found = {name: record[name] for name in (*cells, "customer")}
    assert found == {
        "site": "a.example", "selected_rank": 1, "selected_score": 94.5, "counts_links": 12, "options_cap": 4,
        "customer": "007",
    }  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_an_apostrophe_of_a_text_is_kept_and_that_before_a_formula_is_not(
    tmp_path: Path, ending: str
) -> None:
    path, titles = tmp_path / f"pages.{ending}", ["'Acme' is closed", "=1+1", "'=1+1", "''a"]
    write_table(path, ending, [{**PAGE, "title": title} for title in titles], PageRecord)
    assert [record["title"] for record in honeyguide.read(path)] == titles
