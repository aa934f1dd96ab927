"""The generated pages of the reference say what the code says."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

import honeyguide
from honeyguide.adapters.store.sqlite.store import SqliteStore

TOOL = Path(__file__).resolve().parents[2] / "tools" / "make_reference.py"


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_reference", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name",
    [
        "profile-format.md",
        "cli.md",
        "records.md",
        "api.md",
        "__init__.pyi",
        "pick.json",
        "crawl.json",
        "plan.json",
        "signals.json",
    ],
)
def test_generated_pages_are_not_stale(name: str) -> None:
    pages: dict[Path, str] = _tool().pages()
    ((page, text),) = [(page, text) for page, text in pages.items() if page.name == name]
    assert page.read_text("utf-8") == text, "run: python tools/make_reference.py"


def test_what_must_be_awaited_says_so() -> None:
    page = (TOOL.parents[1] / "docs" / "reference" / "api.md").read_text("utf-8")
    functions = {
        name: inspect.unwrap(getattr(honeyguide, name)) for name in honeyguide.__all__ if name.islower()
    }
    marked = {name for name in functions if f"await {name}(" in page}
    assert marked == {name for name, one in functions.items() if inspect.iscoroutinefunction(one)}
    assert "  await .fetch(" in page


def test_the_recipe_names_all_columns_of_the_views_of_a_store(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "h.db").close()
    with closing(sqlite3.connect(tmp_path / "h.db")) as store:
        names = [name for (name,) in store.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")]
        views = {
            name: [column[1] for column in store.execute(f"PRAGMA table_info({name})")] for name in names
        }
    recipe = (TOOL.parents[1] / "docs" / "cookbook" / "sqlite.md").read_text("utf-8")
    rows = (line.split("|")[1:-1] for line in recipe.splitlines() if line.startswith("| `"))
    assert {name.strip(" `"): re.findall(r"`(\w+)`", listed) for name, _, listed in rows} == views
