"""Stores that are only read: beside a writer, where nothing can be written, and under names that have to be quoted."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from honeyguide import observe, open_store, plan_store
from honeyguide.adapters.store.common.database import named_queries
from honeyguide.adapters.store.sqlite.database import SqliteDatabase
from honeyguide.adapters.store.sqlite.files import has_log
from honeyguide.adapters.store.sqlite.store import APPLICATION_ID, VERSION, SqliteStore
from honeyguide.core.recrawl.history import Visit
from honeyguide.errors import SchemaMismatchError, StoreError
from honeyguide.testing.contracts import found, spec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ODD = ("a b.db", "50%.db", "a%41.db", "what?mode=rwc.db", "a#b.db", "a&b=c.db", "ä€.db", ":x:.db")


def filled(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    store.queue(store.runs.begin(spec(), 0.0)).add([found(f"/{n}") for n in range(100)])
    store.flush()
    return store


def links(store: SqliteStore) -> int:
    return len(list(store.queue(store.runs.list()[0]).rows()))


def read(path: Path) -> int:
    """Count the links of a store that is only read, and rank them, which takes a second connection."""
    store = SqliteStore(path, read_only=True)
    try:
        count = links(store)
    finally:
        store.close()
    assert len(plan_store(path).entries) == count
    return count


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Give what is in a folder, and when it was written."""
    return {
        file.name: (file.stat().st_mtime_ns, file.read_bytes()) for file in folder.iterdir() if file.is_file()
    }


def killed(path: Path) -> None:
    """Write a store whose crawl was killed before its log was moved over to the file."""
    alive = path.with_name("alive.db")
    store = filled(alive)
    for end in ("", "-wal", "-shm"):
        shutil.copy(f"{alive}{end}", f"{path}{end}")
    store.close()
    alive.unlink()


def without_shared_memory(path: Path) -> None:
    """Let nobody make the -shm that SQLite needs, on machines where permissions do not bind, too."""
    path.with_name(f"{path.name}-shm").symlink_to("missing/folder")


# --- where writing is possible ---


def test_nothing_is_changed_and_nothing_is_left(tmp_path: Path) -> None:
    filled(tmp_path / "h.db").close()
    before = state(tmp_path)
    assert read(tmp_path / "h.db") == 100
    assert state(tmp_path) == before
    assert list(before) == ["h.db"]


def test_a_store_that_is_only_read_cannot_be_written(tmp_path: Path) -> None:
    filled(tmp_path / "h.db").close()
    before = state(tmp_path)
    store = open_store(tmp_path / "h.db", read_only=True)
    with pytest.raises(StoreError, match=r"was opened with read_only=True"):
        store.runs.begin(spec("two"), 0.0)
    store.close()
    assert state(tmp_path) == before


def test_a_reader_beside_a_writer_sees_what_is_committed_and_leaves_the_rest_alone(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    writer = filled(path)
    reader = SqliteStore(path, read_only=True)
    assert links(reader) == 100
    frontier = writer.queue(writer.runs.list()[0])
    frontier.add([found("/more")])
    assert links(reader) == 100
    writer.flush()
    assert links(reader) == 101
    reader.close()
    assert {file.name for file in tmp_path.iterdir()} == {"h.db", "h.db-shm", "h.db-wal"}
    frontier.add([found("/even-more")])
    writer.close()
    assert {file.name for file in tmp_path.iterdir()} == {"h.db"}
    assert read(path) == 102


def test_a_reader_that_stays_longer_than_the_writer_clears_up(tmp_path: Path) -> None:
    writer = filled(tmp_path / "h.db")
    reader = SqliteStore(tmp_path / "h.db", read_only=True)
    writer.close()
    assert links(reader) == 100
    reader.close()
    assert [file.name for file in tmp_path.iterdir()] == ["h.db"]
    assert read(tmp_path / "h.db") == 100


def test_what_a_killed_crawl_has_committed_is_read(tmp_path: Path) -> None:
    killed(tmp_path / "h.db")
    assert has_log(str(tmp_path / "h.db"))
    assert read(tmp_path / "h.db") == 100


def test_a_link_to_a_store_leads_to_its_log(tmp_path: Path) -> None:
    killed(tmp_path / "h.db")
    (tmp_path / "sub").mkdir()
    link = tmp_path / "sub" / "link.db"
    link.symlink_to(tmp_path / "h.db")
    assert has_log(str(link))
    assert read(link) == 100


# --- where it is not ---


def test_a_file_alone_is_read_without_files_beside_it(tmp_path: Path) -> None:
    filled(tmp_path / "h.db").close()
    without_shared_memory(tmp_path / "h.db")
    before = state(tmp_path)["h.db"]
    assert read(tmp_path / "h.db") == 100
    assert state(tmp_path)["h.db"] == before
    with pytest.raises(StoreError):
        SqliteStore(tmp_path / "h.db")


def test_a_log_that_cannot_be_read_is_said_and_not_passed_over(tmp_path: Path) -> None:
    killed(tmp_path / "h.db")
    (tmp_path / "h.db-shm").unlink()
    without_shared_memory(tmp_path / "h.db")
    before = state(tmp_path)
    with pytest.raises(StoreError, match=r"h\.db: has a log beside it .* copy both files to a folder"):
        read(tmp_path / "h.db")
    assert state(tmp_path) == before


def test_a_journal_is_a_log_too(tmp_path: Path) -> None:
    assert not has_log(str(tmp_path / "h.db"))
    (tmp_path / "h.db-wal").touch()
    assert not has_log(str(tmp_path / "h.db"))
    (tmp_path / "h.db-journal").write_bytes(b"x")
    assert has_log(str(tmp_path / "h.db"))


def test_a_file_that_changes_while_it_is_read_without_locks_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    filled(path).close()
    without_shared_memory(path)
    reader = SqliteStore(path, read_only=True)
    assert links(reader) == 100
    (tmp_path / "h.db-shm").unlink()
    writer = SqliteStore(path)
    writer.runs.begin(spec("two"), 0.0)
    writer.close()
    with pytest.raises(StoreError, match="was written by another process while it was read"):
        reader.close()


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    """A folder in which nothing can be written once `lock` was called."""
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    is_bound = not os.access(folder, os.W_OK)
    folder.chmod(0o755)
    if not is_bound:
        pytest.skip("permissions do not bind this user")
    yield folder
    folder.chmod(0o755)


def lock(folder: Path) -> dict[str, tuple[int, bytes]]:
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    return state(folder)


@pytest.mark.parametrize("mode", [0o555, 0o755])
def test_a_file_that_may_not_be_written(locked: Path, mode: int) -> None:
    filled(locked / "h.db").close()
    before = lock(locked)
    locked.chmod(mode)
    assert read(locked / "h.db") == 100
    assert state(locked) == before


def test_a_folder_that_may_not_be_written(locked: Path) -> None:
    filled(locked / "h.db").close()
    before = lock(locked)
    (locked / "h.db").chmod(0o644)
    assert read(locked / "h.db") == 100
    assert state(locked) == before


def test_a_killed_crawl_in_a_folder_that_may_not_be_written(locked: Path) -> None:
    killed(locked / "h.db")
    before = lock(locked)
    assert read(locked / "h.db") == 100
    assert state(locked) == before
    locked.chmod(0o755)
    (locked / "h.db-shm").unlink()
    before = lock(locked)
    with pytest.raises(StoreError, match="has a log beside it"):
        read(locked / "h.db")
    assert state(locked) == before


def test_a_crawl_goes_on_in_a_folder_that_may_not_be_written(locked: Path) -> None:
    writer = filled(locked / "h.db")
    lock(locked)
    reader = SqliteStore(locked / "h.db", read_only=True)
    assert links(reader) == 100
    writer.queue(writer.runs.list()[0]).add([found("/more")])
    writer.flush()
    assert links(reader) == 101
    reader.close()
    writer.close()


# --- names ---


@pytest.mark.skipif(sys.platform == "win32", reason="such names are not allowed there")
@pytest.mark.parametrize("is_alone", [False, True])
@pytest.mark.parametrize("name", ODD)
def test_names_with_odd_characters(tmp_path: Path, name: str, *, is_alone: bool) -> None:
    filled(tmp_path / name).close()
    if is_alone:
        without_shared_memory(tmp_path / name)
    files = set(state(tmp_path))
    assert read(tmp_path / name) == 100
    assert set(state(tmp_path)) - files <= {
        f"{name}-wal"
    }  # SQLite's, empty, where it could not make the other


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes there, and not everywhere")
@pytest.mark.parametrize("is_alone", [False, True])
def test_names_that_are_no_text(tmp_path: Path, *, is_alone: bool) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9?.db")
    filled(path).close()
    if is_alone:
        without_shared_memory(path)
    assert read(path) == 100


def test_a_name_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    filled(tmp_path / "h.db").close()
    store = open_store("h.db", read_only=True)
    assert isinstance(store, SqliteStore)
    assert links(store) == 100
    store.close()


# --- what is no store, or an old one ---


def test_a_store_that_is_closed_or_opened_to_read_says_so(tmp_path: Path) -> None:
    store = open_store(tmp_path / "h.db")
    store.close()
    with pytest.raises(StoreError, match=r"h\.db: is closed"):
        store.runs.list()
    with pytest.raises(StoreError, match=r"h\.db: is closed"):
        observe(store, "https://a.example/")
    reader = open_store(tmp_path / "h.db", read_only=True)
    with pytest.raises(StoreError, match=r"h\.db: was opened with read_only=True"):
        observe(reader, "https://a.example/")
    reader.close()


@pytest.mark.parametrize("version", range(1, 10))
@pytest.mark.parametrize("read_only", [False, True])
def test_a_store_of_an_older_version_is_refused(tmp_path: Path, version: int, read_only: bool) -> None:
    path = tmp_path / "h.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {version}")
    before = state(tmp_path)
    with pytest.raises(SchemaMismatchError, match=rf"older Honeyguide \(version {version} of the store\)"):
        SqliteStore(path, read_only=read_only)
    assert state(tmp_path) == before


def older(path: Path) -> Path:
    """Write a store of version 10, with a page that was visited twice."""
    store = filled(path)
    for at in (0.0, 9000.0):
        store.history.record(Visit("https://a.example/", 7, at, 200, f"{at}", body=int(at)), 1)
    store.close()
    with closing(sqlite3.connect(path)) as db:
        db.executescript(named_queries("sqlite", "migrations")["from_11"] + "PRAGMA user_version = 10")
    return path


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def test_a_store_of_version_10_is_brought_up_to_date(tmp_path: Path) -> None:
    path = older(tmp_path / "h.db")
    before = state(tmp_path)
    with pytest.raises(
        SchemaMismatchError, match=r"older Honeyguide \(version 10 of the store\); let a command"
    ):
        SqliteStore(path, read_only=True)
    assert state(tmp_path) == before
    with closing(SqliteStore(path)) as store:
        known = store.history.get(7)
        assert known is not None
        assert (known.changes, known.latest, known.doubt, known.forgot_at) == (1, (0.0, 0.0), 0.0, None)
    assert (version_of(path), len(plan_store(path).entries)) == (VERSION, 101)


def test_a_kill_while_a_store_is_brought_up_to_date_leaves_the_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = older(tmp_path / "h.db")
    with monkeypatch.context() as patched:
        patched.setattr(SqliteDatabase, "flush", SqliteDatabase.close)  # gone before the commit
        with pytest.raises(StoreError):
            SqliteStore(path)
    assert version_of(path) == 10
    SqliteStore(path).close()
    assert version_of(path) == VERSION


def test_an_older_store_with_other_tables_is_refused(tmp_path: Path) -> None:
    path = older(tmp_path / "h.db")
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TRIGGER mine AFTER INSERT ON known BEGIN DELETE FROM visit; END")
    before = state(tmp_path)
    with pytest.raises(SchemaMismatchError, match="has other tables"):
        SqliteStore(path)
    assert state(tmp_path) == before


def test_what_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with closing(sqlite3.connect(tmp_path / "bare.db")) as db:
        db.execute("VACUUM")
        db.execute("PRAGMA user_version = 0")
        db.execute("PRAGMA journal_mode = WAL")
    (tmp_path / "text.db").write_text("dear diary " * 100)
    before = state(tmp_path)
    assert before["bare.db"][1] != b""
    for name in before:
        with pytest.raises(SchemaMismatchError, match="is no Honeyguide store"):
            SqliteStore(tmp_path / name, read_only=True)
    assert state(tmp_path) == before


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such store"):
        open_store(tmp_path / "h.db", read_only=True)
    with pytest.raises(StoreError, match="cannot be opened"):
        SqliteStore(tmp_path / "h.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_the_seeds_of_a_large_run_are_found_by_an_index(tmp_path: Path) -> None:
    filled(tmp_path / "h.db").close()
    with closing(sqlite3.connect(tmp_path / "h.db")) as db:
        asked = "SELECT url FROM entry WHERE run = ? AND is_seed = 1 ORDER BY id"
        ((*_, how),) = db.execute(f"EXPLAIN QUERY PLAN {asked}", (1,))
    assert how == "SEARCH entry USING INDEX entry_seed (run=?)"
