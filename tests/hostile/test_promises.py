"""Every test that SECURITY.md and the page on durability name exists: a promise without its test is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["SECURITY.md", "docs/concepts/durability.md", "docs/reference/limits.md"]


@pytest.mark.parametrize("page", PAGES)
def test_the_tests_that_are_named_exist(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    files = set(re.findall(r"`(tests/[\w/.]+)`", text))
    assert files
    assert [file for file in files if not (ROOT / file).exists()] == []
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "tests" / "hostile").glob("test_*.py"))
    names = re.findall(r"`(test_\w+)`", text)
    assert [name for name in names if f"def {name}(" not in sources] == []


def test_the_pages_that_are_linked_exist() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "SECURITY.md").read_text("utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_every_promise_names_its_tests() -> None:
    rows = re.findall(r"^\| \*\*.*\|$", (ROOT / "SECURITY.md").read_text("utf-8"), re.MULTILINE)
    assert len(rows) > 10
    assert [row for row in rows if "`tests/" not in row] == []
