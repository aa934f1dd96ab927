"""List the rule ids of docs/reference/rules.md that no golden row in tests/spec names.

    python tools/spec_ids.py

Prints the ids without a test, one per line, and a count; exits with 1 if there are any.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ID = re.compile(r"\b(?:URL|PAGE|PICK|TOPIC|PLAN)-[0-9]+b?\b")


def stated() -> list[str]:
    """Read the ids that the reference of rules defines: the first column of its tables."""
    text = (ROOT / "docs" / "reference" / "rules.md").read_text("utf-8")
    return re.findall(r"^\| ((?:URL|PAGE|PICK|TOPIC|PLAN)-[0-9]+b?) \|", text, re.MULTILINE)


def proven() -> set[str]:
    """Read the ids that golden rows name."""
    return {
        found
        for file in (ROOT / "tests" / "spec").glob("*.py")
        for found in ID.findall(file.read_text("utf-8"))
    }


def main() -> int:
    """Compare the two."""
    ids = stated()
    missing = [rule for rule in ids if rule not in proven()]
    sys.stdout.writelines(f"{rule}\n" for rule in missing)
    sys.stdout.write(f"{len(ids)} rule ids, {len(missing)} without a test\n")
    return 1 if missing or not ids else 0


if __name__ == "__main__":
    sys.exit(main())
