"""requirements.toml is whole: every number once, every verdict known, every test that it names there."""

from __future__ import annotations

import re

import pytest
import requirements
from requirements import MET, VERDICTS, read_requirements

ROWS = read_requirements()


def test_numbers_have_no_gaps() -> None:
    assert [row.number for row in ROWS] == list(range(1, 209))


def test_every_named_has_test() -> None:
    assert [str(row) for row in ROWS if row.test and not requirements.has_test(row.test)] == []


def test_what_is_met_names_a_test() -> None:
    assert [str(row) for row in ROWS if row.verdict in MET and not row.test] == []


def test_verdicts_are_known_and_say_why() -> None:
    assert {row.verdict for row in ROWS} <= set(VERDICTS)
    assert [str(row) for row in ROWS if bool(row.rule) != (row.verdict == "decision")] == []
    assert [str(row) for row in ROWS if bool(row.why) != (row.verdict != "exact")] == []


def test_every_decision_is_explained_on_the_page_of_the_documents() -> None:
    page = (requirements.ROOT / "docs" / "reference" / "source-documents.md").read_text("utf-8")
    listed = [
        int(number)
        for cell in re.findall(r"^\| ([0-9, ]+) \|", page, re.MULTILINE)
        for number in cell.split(",")
    ]
    decided = {row.number for row in ROWS if row.verdict == "decision"}
    assert sorted(listed) == sorted(set(listed))
    assert sorted(decided - set(listed)) == [], "add a row to a table of decisions"
    assert [row.number for row in ROWS if row.verdict == "exact" and row.number in listed] == [], (
        "remove these"
    )


def test_documents_are_named_by_what_they_are() -> None:
    assert {row.document for row in ROWS} == {
        "link scoring guide", "PRD", "URL normalisation", "relevance scorer", "crawl planning",
    }  # fmt: skip


def test_the_tool_counts_and_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert requirements.main() == 0
    *listed, last = capsys.readouterr().out.splitlines()
    assert len(listed) == sum(not row.test for row in ROWS)
    assert last.startswith("208 requirements: ")


@pytest.mark.parametrize(
    ("node_id", "exists"),
    [
        ("tests/spec/test_requirements.py::test_numbers_have_no_gaps", True),
        ("tests/spec/test_requirements.py::test_numbers", False),
        ("tests/spec/test_requirements.py", False),
        ("tests/spec/test_nothing.py::test_numbers_have_no_gaps", False),
    ],
)
def test_a_test_is_found_by_file_and_function(node_id: str, exists: bool) -> None:
    assert requirements.has_test(node_id) is exists
