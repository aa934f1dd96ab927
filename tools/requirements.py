"""Compare tests/spec/requirements.toml, the requirements of the source documents, with the tests that it names.

    python tools/requirements.py

Prints the requirements that name no test, the requirements whose test does not exist, and how many have which verdict;
exits with 1 if a test does not exist, or if a requirement that is met names none.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MET = ("exact", "decision")
VERDICTS = (*MET, "different", "missing", "not applicable")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One sentence of a document, whether it is met, and the test that proves it."""

    number: int
    document: str
    section: str
    requirement: str
    verdict: str
    rule: str = ""
    test: str = ""
    why: str = ""

    def __str__(self) -> str:
        return f"{self.number} ({self.document}, {self.section}; {self.verdict}): {self.requirement}"


def read_requirements() -> list[Requirement]:
    """Read the table; a key that it does not know is an error."""
    text = (ROOT / "tests" / "spec" / "requirements.toml").read_text("utf-8")
    return [Requirement(**row) for row in tomllib.loads(text)["requirement"]]


@cache
def tests_of(file: str) -> frozenset[str]:
    """Collect the names of the test functions of a file; a file that does not exist has none."""
    path = ROOT / file
    tree = ast.parse(path.read_text("utf-8") if path.is_file() else "")
    functions = (node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(name for name in functions if name.startswith("test_"))


def has_test(node_id: str) -> bool:
    """Say whether a test is there, by its `file::function`."""
    file, _, name = node_id.partition("::")
    return name in tests_of(file)


def main() -> int:
    """Print what is open."""
    rows = read_requirements()
    untested = [row for row in rows if not row.test]
    lost = [row for row in rows if row.test and not has_test(row.test)]
    sys.stdout.writelines(f"no test: {row}\n" for row in untested)
    sys.stdout.writelines(f"test does not exist: {row}: {row.test}\n" for row in lost)
    counts = Counter(row.verdict for row in rows)
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    sys.stdout.write(f"{len(rows)} requirements: {verdicts}; {len(untested)} without a test\n")
    return 1 if lost or any(row.verdict in MET for row in untested) else 0


if __name__ == "__main__":
    sys.exit(main())
