"""Compare the rule ids of docs/reference/rules.md with what the tests prove and what the code names.

    python tools/spec_ids.py

A test proves a rule if a row of its data has the id as a value of its own, or if it opens by naming it: in its docstring,
or in the comment that is its first line. What else names an id proves nothing. Prints ids that no test proves, ids that
the code or the tests name and the page does not define, and a count; exits with 1 if there are any.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
_ID = r"(?:URL|PAGE|PICK|TOPIC|PLAN|TRAP)-[0-9]+b?"
ID = re.compile(rf"\b{_ID}\b")
ROW = re.compile(rf"^\| ({_ID}) \|", re.MULTILINE)


def stated() -> list[str]:
    """Read the ids that the reference of rules defines: the first column of its tables."""
    return ROW.findall((ROOT / "docs" / "reference" / "rules.md").read_text("utf-8"))


def proven() -> set[str]:
    """Read the ids that tests say they prove."""
    files = (ROOT / "tests").rglob("test_*.py")
    return {rule for file in files for rule in proven_by(file.read_text("utf-8"))}


def proven_by(source: str) -> Iterator[str]:
    """Find the ids in rows of data, and at the opening of tests."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and ID.fullmatch(node.value):
            yield node.value
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield from ID.findall(ast.get_docstring(node) or "")
            yield from ID.findall(_opening(lines, node))


def _opening(lines: list[str], test: ast.FunctionDef) -> str:
    """Give the comment between the head of a test and its first statement."""
    first = test.body[0].lineno - 1
    comments: list[str] = []
    while lines[first - len(comments) - 1].lstrip().startswith("#"):
        comments.append(lines[first - len(comments) - 1])
    return "\n".join(comments)


def named() -> set[str]:
    """Read every id that the code, its profiles and the tests name."""
    files = [path for part in ("src", "tests") for path in (ROOT / part).rglob("*.*")]
    read = (path.read_text("utf-8") for path in files if path.suffix in {".py", ".sql", ".toml"})
    return {rule for text in read for rule in ID.findall(text)}


def main() -> int:
    """Compare them."""
    ids, shown = stated(), proven()
    unproven = [rule for rule in ids if rule not in shown]
    unknown = sorted(named() - set(ids))
    sys.stdout.writelines(f"{rule} is proven by no test\n" for rule in unproven)
    sys.stdout.writelines(f"{rule} is not in docs/reference/rules.md\n" for rule in unknown)
    sys.stdout.write(f"{len(ids)} rule ids, {len(unproven)} without a test\n")
    return 1 if unproven or unknown or not ids else 0


if __name__ == "__main__":
    sys.exit(main())
