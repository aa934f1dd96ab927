"""What becomes of the file of a store while it is used: deleted, replaced, copied without its log."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from honeyguide.adapters.store.sqlite import store as module
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.errors import StoreError
from honeyguide.testing.contracts import ask, found, spec


def working(path: Path, urls: int = 3) -> SqliteStore:
    """Give a store that a crawl has open, with something in its log."""
    store = SqliteStore(path)
    queue = store.queue(store.runs.begin(spec(), 0.0))
    queue.add([found(f"/{n}") for n in range(urls)])
    store.flush()
    return store


def add(store: SqliteStore, path: str) -> None:
    store.queue(store.runs.begin(spec(), 0.0)).add([found(path)])
    store.flush()


@pytest.mark.parametrize(
    "name", ["file:h.db?mode=memory", ":memory:", "file:h.db?vfs=none", "h.db?mode=ro", "%41.db"]
)
def test_the_name_of_a_store_is_a_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite keeps `file:h.db?mode=memory` in memory, where all would be lost without a word."""
    monkeypatch.chdir(tmp_path)
    SqliteStore(name).close()
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_store_that_is_deleted_while_it_is_used_is_noticed(tmp_path: Path, is_replaced: bool) -> None:
    path = tmp_path / "h.db"
    store = working(path)
    path.unlink()
    if is_replaced:
        working(path).close()
    with pytest.raises(StoreError, match="was deleted or replaced while it was in use"):
        add(store, "/more")
    store.abandon()


@pytest.mark.parametrize("is_read_only", [False, True])
def test_a_store_that_was_copied_without_its_log_is_refused(tmp_path: Path, is_read_only: bool) -> None:
    store, copy = working(tmp_path / "h.db"), tmp_path / "copy.db"
    shutil.copyfile(tmp_path / "h.db", copy)
    before = copy.read_bytes()
    with pytest.raises(StoreError, match="was copied without its log"):
        SqliteStore(copy, read_only=is_read_only)
    assert copy.read_bytes() == before
    store.close()


@pytest.mark.slow
def test_a_log_that_was_moved_over_in_between_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOG_BYTES", 40_000)
    path, copy = tmp_path / "h.db", tmp_path / "copy.db"
    store = working(path)
    sizes = set()
    for n in range(300):
        add(store, f"/more-{n}")
        sizes.add(path.stat().st_size)
        shutil.copyfile(path, copy)
        with pytest.raises(StoreError, match="was copied without its log"):
            SqliteStore(copy)
    assert len(sizes) > 1  # it was moved over
    store.close()


def test_a_store_that_was_closed_is_copied_whole(tmp_path: Path) -> None:
    path, copy = tmp_path / "h.db", tmp_path / "copy.db"
    working(path, urls=3).close()
    shutil.copyfile(path, copy)
    store = SqliteStore(copy)
    (run,) = store.runs.list()
    assert store.ledger(run).counts().states["queued"] == 3
    store.close()


KILLED = """
import os, signal, sys
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.testing.contracts import found, spec
store = SqliteStore(sys.argv[1])
store.queue(store.runs.begin(spec(), 0.0)).add([found("/a"), found("/b")])
store.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("reader", ["nobody", "ours", "another tool"])
def test_a_killed_crawl_resumes_whoever_has_looked_at_its_store(tmp_path: Path, reader: str) -> None:
    path = tmp_path / "h.db"
    killed = subprocess.run([sys.executable, "-c", KILLED, path], check=False)  # noqa: S603 - our own script
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "h.db-wal").stat().st_size > 0
    if reader == "ours":
        SqliteStore(path, read_only=True).close()
    if reader == "another tool":
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("SELECT count(*) FROM links").fetchone() == (2,)
    store = SqliteStore(path)
    assert len(store.queue(store.runs.begin(spec(), 1.0)).claim(ask(limit=5)).leases) == 2
    store.close()
