"""Several at once: opening a store again leaves the locks of the first alone; what a killed process held is freed."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from honeyguide import open_store
from honeyguide.core.crawl.frontier import RunSpec
from honeyguide.testing.contracts.builders import ask, found

if TYPE_CHECKING:
    from pathlib import Path

OTHER = """
import sys
from honeyguide import open_store
from honeyguide.core.crawl.frontier import RunSpec
store = open_store(sys.argv[1])
for key in sys.argv[2:]:
    store.runs.begin(RunSpec(key, "c", None, "p", "h"), 1.0)
store.close()
"""


def spec(key: str) -> RunSpec:
    return RunSpec(key, "c", None, "p", "h")


def elsewhere(path: Path, *keys: str) -> None:
    subprocess.run([sys.executable, "-c", OTHER, str(path), *keys], check=True)  # noqa: S603 - our own script


def test_what_two_processes_commit_stays_although_one_looks_into_its_own_store(tmp_path: Path) -> None:
    path, link = tmp_path / "s.db", tmp_path / "link.db"
    store = open_store(path)
    store.runs.begin(spec("one"), 1.0)
    link.symlink_to(path)
    for name in (path, link):
        looking = open_store(name, read_only=True)
        assert looking.runs.list()
        looking.close()
    elsewhere(path, "two")  # believed to be the last user, and took the log away
    store.runs.begin(spec("three"), 2.0)
    elsewhere(path, "four", "five")
    store.runs.begin(spec("six"), 3.0)
    store.close()
    later = open_store(path)
    assert [run.spec.key for run in later.runs.list()] == ["one", "two", "three", "four", "five", "six"]
    assert later.check() == ()
    later.close()


KILLED = """
import os, sys
from honeyguide import open_store
from honeyguide.testing.contracts.builders import ask
store = open_store(sys.argv[1])
granted = store.queue(store.runs.list()[0]).claim(ask(limit=2))
store.flush()
os._exit(40 + len(granted.leases))
"""


def test_what_a_killed_process_held_goes_to_those_that_work(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    store = open_store(path)
    frontier = store.queue(store.runs.begin(spec("one"), 1.0))
    frontier.add([found("/a"), found("/b")])
    store.flush()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)  # noqa: S603 - our own script
    assert killed.returncode == 42
    assert [lease.url.path for lease in frontier.claim(ask(limit=2)).leases] == ["/a", "/b"]
    store.close()
