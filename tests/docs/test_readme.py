"""The README names every extra, with the libraries that it brings."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import honeyguide

ROOT = Path(__file__).resolve().parents[2]


def test_every_extra_is_in_the_table() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    text = (ROOT / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[a-z\d-]+`(?:, `[a-z\d-]+`)*) \|([^|]*)\|", text, re.MULTILINE)
    named = [(name, brought) for names, brought in rows for name in re.findall(r"[a-z\d-]+", names)]
    assert sorted(name for name, _ in named) == sorted(extras)
    for name, brought in named:
        first = re.split(r"[>=<.;\[]", extras[name][0])[0]
        assert (
            first in brought.lower()
            or name == "dev"
            or (first.startswith(name) and "the framework" in brought)
        )


def test_the_citation_has_the_version() -> None:
    found = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert found
    assert found[1] == honeyguide.__version__


def test_the_skill_is_short() -> None:
    assert len((ROOT / "SKILL.md").read_text("utf-8").splitlines()) <= 40


def test_hints_install_what_a_clone_can_install() -> None:
    """Honeyguide is not on PyPI: a hint names the library, with the version that the extra asks for."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    known = {text.partition(";")[0] for texts in extras.values() for text in texts}
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]
    hints = {hint for file in files for hint in re.findall(r"pip install '([^']+)'", file.read_text("utf-8"))}
    assert len(hints) > 3
    assert {hint for hint in hints if not hint.startswith((".", "aiohttp"))} <= known


def test_ignored_folders_are_no_part_of_the_package() -> None:
    """A wheel lacks what .gitignore names: a name without a slash in front holds in every folder."""
    ignored = {
        line.rstrip("/")
        for line in (ROOT / ".gitignore").read_text("utf-8").splitlines()
        if line.endswith("/")
    }
    folders = {folder.name for folder in (ROOT / "src").rglob("*") if folder.is_dir()}
    assert (ignored & folders) <= {"__pycache__"}
