"""The generated pages of the reference say what the code says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

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
