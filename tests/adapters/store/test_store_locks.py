"""Several at once: opening a store again leaves the locks of the first alone; what a killed process held is freed."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import open_store
from honeyguide.adapters.store.sqlite.database import SqliteDatabase
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import RunSpec
from honeyguide.errors import StoreBusyError
from honeyguide.testing.contracts import ask, found

if TYPE_CHECKING:
    from collections.abc import Callable
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
from honeyguide.testing.contracts import ask
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


STATEMENTS = 12  # of opening a store, at least


def before_statement(number: int, other: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let another process do something just before a connection of this one runs its n-th statement."""
    run, seen = SqliteDatabase._run, []  # noqa: SLF001 - every statement goes through it

    def interrupted(self: SqliteDatabase, *args: Any) -> Any:
        seen.append(args)
        if len(seen) == number:
            other()
        return run(self, *args)

    monkeypatch.setattr(SqliteDatabase, "_run", interrupted)


@pytest.mark.parametrize("number", range(1, STATEMENTS))
def test_two_processes_may_make_one_store_at_the_same_time(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.db"
    others = []

    def other() -> None:
        with suppress(StoreBusyError):  # we are making the tables: now the other one waits for us
            others.append(SqliteStore(path, busy_s=0.0))
            others[0].runs.begin(spec("other"), 1.0)

    before_statement(number, other, monkeypatch)
    store = open_store(path)
    store.runs.begin(spec("one"), 2.0)
    assert [run.spec.key for run in store.runs.list()][-1] == "one"
    for one in (*others, store):
        one.close()


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize("number", range(1, STATEMENTS))
def test_a_log_that_another_process_makes_and_moves_over_meanwhile_is_not_missing(
    number: int, is_new: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.db"
    if not is_new:
        open_store(path).close()
    others: list[sqlite3.Connection] = []

    def other() -> None:
        with suppress(StoreBusyError, sqlite3.OperationalError):  # there are no tables yet, or we make them
            SqliteStore(path, busy_s=0.0).close()
            others.append(sqlite3.connect(path, isolation_level=None))
            others[0].execute("PRAGMA busy_timeout = 0")
            others[0].execute("UPDATE log SET has_more = 1")

    before_statement(number, other, monkeypatch)
    store = open_store(path)
    assert store.check() == ()
    for one in others:
        one.close()
    store.close()
