"""Opening a store a second time in one process leaves the locks of the first alone."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from honeyguide import open_store
from honeyguide.core.frontier import RunSpec

if TYPE_CHECKING:
    from pathlib import Path

OTHER = """
import sys
from honeyguide import open_store
from honeyguide.core.frontier import RunSpec
store = open_store(sys.argv[1])
for key in sys.argv[2:]:
    store.begin(RunSpec(key, "c", None, "p", "h"), 1.0)
store.close()
"""


def spec(key: str) -> RunSpec:
    return RunSpec(key, "c", None, "p", "h")


def elsewhere(path: Path, *keys: str) -> None:
    subprocess.run([sys.executable, "-c", OTHER, str(path), *keys], check=True)  # noqa: S603 - our own script


def test_what_two_processes_commit_stays_although_one_looks_into_its_own_store(tmp_path: Path) -> None:
    path, link = tmp_path / "s.db", tmp_path / "link.db"
    store = open_store(path)
    store.begin(spec("one"), 1.0)
    link.symlink_to(path)
    for name in (path, link):
        looking = open_store(name, read_only=True)
        assert looking.runs()
        looking.close()
    elsewhere(path, "two")  # believed to be the last user, and took the log away
    store.begin(spec("three"), 2.0)
    elsewhere(path, "four", "five")
    store.begin(spec("six"), 3.0)
    store.close()
    later = open_store(path)
    assert [run.spec.key for run in later.runs()] == ["one", "two", "three", "four", "five", "six"]
    assert later.check() == ()
    later.close()
