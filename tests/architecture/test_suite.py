"""The tests themselves: they pass on any machine, in any order, in several processes."""

import gzip
import re
from collections import Counter
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
IMPATIENT = re.compile(
    r"timeout=\d|timeout\(\d|\.wait\(\d{2,}|deadline=(?!None)|perf_counter\(|process_time\("
)


def test_no_test_waits_only_so_long() -> None:
    """A time limit is HANG_S of tests/shared/patience.py: a machine under load is slower by any factor."""
    files = [file for file in TESTS.rglob("*.py") if file != Path(__file__)]
    assert len(files) > 100
    found = [
        f"{file.relative_to(TESTS)}: {line.strip()}"
        for file in files
        for line in file.read_text("utf-8").splitlines()
        if IMPATIENT.search(line)
    ]
    assert found == []


def test_no_two_files_of_tests_share_a_name() -> None:
    """They are modules without packages, so the second one could not be imported."""
    names = Counter(
        file.name for file in TESTS.rglob("*.py") if file.name not in {"__init__.py", "conftest.py"}
    )
    assert len(names) > 100
    assert [name for name, files in names.items() if files > 1] == []


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (gzip.compress(b"page", mtime=1), "24 bytes"),
        (b"\0", "1 bytes"),
        (b"x" * 61, "61 bytes"),
        (b"<p>", None),
        ("text", None),
        (7, None),
    ],
    ids=str,
)
def test_bytes_that_differ_from_run_to_run_are_in_no_id(
    value: object, name: str | None, pytestconfig: pytest.Config
) -> None:
    made = pytestconfig.hook.pytest_make_parametrize_id(config=pytestconfig, val=value, argname="value")
    assert made == name


def test_the_first_command_of_ci_is_the_test_command_of_the_readme() -> None:
    (command,) = re.findall(r"^python3 .*pytest$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert lines[lines.index(command) + 1].startswith(".venv/bin/python -m pytest -m slow")
