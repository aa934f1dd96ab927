"""What every command gives on the demo site is what it gave when tests/golden was written, byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from freezing.comparing import compared, difference_of

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"


def test_every_command_gives_what_it_gave(tmp_path: Path) -> None:
    for extra in ("polars", "numpy", "warcio"):
        pytest.importorskip(extra, reason="frozen outputs hold those of commands that need this extra")
    command = [sys.executable, str(ROOT / "tools" / "golden.py"), "--write", str(tmp_path)]
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)  # noqa: S603 - our own tool
    assert run.returncode == 0, run.stdout + run.stderr
    assert not (told := compared(GOLDEN, tmp_path)), "\n".join(told)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        path.name: path.read_bytes() for path in GOLDEN.iterdir()
    }


# --- how differences are told -----------------------------------------------------------------------------------


def test_a_field_with_another_name_is_told_as_renamed() -> None:
    old = '{"url": "/a", "why": [{"rule": "x", "points": 1}]}\n{"url": "/b", "why": []}\n'
    told = difference_of(old, old.replace('"url"', '"address"').replace('"rule"', '"id"'))
    assert told.lines == ("renamed url -> address", "renamed why[].rule -> why[].id")


def test_what_stands_above_is_named_once() -> None:
    old = '{"why": [{"rule": "x", "points": 1}]}\n'
    assert difference_of(old, old.replace("why", "reasons")).lines == ("renamed why[] -> reasons[]",)


def test_fields_that_came_went_and_changed_are_told() -> None:
    told = difference_of('{"a": 1, "b": 2}\n{"a": 1, "b": 2}\n', '{"a": 1.0, "c": 3}\n{"a": 1, "c": 3}\n')
    assert told.lines == ("gone b", "new c", "changed a in 1 of 2: 1 -> 1.0")
    assert difference_of('{"a": 1, "b": 2}\n', '{"b": 2, "a": 1}\n').lines == (
        "the order of fields, or how they are written",
    )


def test_columns_of_csv_are_fields_and_other_text_is_lines() -> None:
    assert difference_of("url,score\n/a,1\n", "url,value\n/a,1\n").renamed == (("score", "value"),)
    assert difference_of("one\ntwo\n", "one\nthree\n").lines == ("@@ -2 +2 @@", "-two", "+three")


def test_folders_are_compared_case_by_case(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for folder, code, name in ((before, 0, "url"), (after, 1, "address")):
        folder.mkdir()
        text = f'$ honeyguide x\nexit code {code}\n=== stdout\n{{"{name}": 1}}\n=== stderr\n'
        (folder / "x.txt").write_text(text, "utf-8")
    assert compared(before, before) == []
    (after / "y.txt").touch()
    assert compared(before, after) == [
        "x, command and exit code:",
        "  @@ -2 +2 @@",
        "  -exit code 0",
        "  +exit code 1",
        "x, stdout:",
        "  renamed url -> address",
        f"y: only in {after}",
        "Renamed in all:",
        "  url -> address  (x)",
    ]
