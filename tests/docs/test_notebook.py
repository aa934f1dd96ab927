"""The notebook of the guides: its cells are run as Jupyter runs them, inside an event loop."""

from __future__ import annotations

import ast
import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "guides" / "best-pages.ipynb"


def cells() -> list[str]:
    book = json.loads(NOTEBOOK.read_text("utf-8"))
    return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]


def run_cell(code: str, names: dict[str, Any]) -> Any:
    """Run a cell; its value is that of its last line, if that is an expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(NOTEBOOK), "exec"), names)  # noqa: S102 - our own notebook
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)  # noqa: S307 - as above


def test_the_notebook_gives_the_best_pages_as_markdown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    async def run() -> list[Any]:
        names: dict[str, Any] = {}
        return [run_cell(code, names) for code in cells()]

    _, counted, best, _, files = asyncio.run(run())
    assert "pages are about alarm|sprinkler" in counted
    assert best.is_relevant
    assert best._repr_html_().startswith("<table>")
    assert files[0] == "01.md"
    assert (tmp_path / "best-pages" / "01.md").read_text("utf-8").startswith("# ")


def test_the_notebook_is_short() -> None:
    assert sum(len(code.splitlines()) for code in cells()) <= 30


def test_jupyter_runs_the_notebook(tmp_path: Path) -> None:
    reason = "Jupyter is in the environment of tools/check_plugins.py"
    nbclient = pytest.importorskip("nbclient", reason=reason)
    nbformat = pytest.importorskip("nbformat", reason=reason)
    book = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(book, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert (tmp_path / "best-pages" / "01.md").exists()
