"""What every `Store` promises, for those we have; and what only a file can get wrong."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import Budgets, Done, NoClaim, Retry
from honeyguide.core.crawl.judge import Findings
from honeyguide.core.why import Why
from honeyguide.errors import SchemaMismatchError, StoreBusyError, StoreError
from honeyguide.ports.store import Intake
from honeyguide.testing.contracts import SITE, ask, found, page, paths, spec
from honeyguide.testing.contracts.history import ContentsContract, HistoryContract
from honeyguide.testing.contracts.store import StoreContract
from honeyguide.testing.contracts.workers import LearningContract, WorkersContract
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from honeyguide.ports.store import Store


class TestMemoryStore(ContentsContract, StoreContract, HistoryContract, WorkersContract, LearningContract):
    def make_store(self) -> Store:
        return MemoryStore()

    def make_workers(self) -> tuple[Store, Store]:
        store = MemoryStore()
        return store, MemoryStore(store)


class TestSqliteStore(ContentsContract, StoreContract, HistoryContract, WorkersContract, LearningContract):
    @pytest.fixture(autouse=True)
    def folder(self) -> Iterator[None]:
        with TemporaryDirectory() as folder:
            self.path = Path(folder)
            self.stores: list[SqliteStore] = []
            yield
            for store in self.stores:
                with suppress(StoreError):  # closed already
                    store.close()
            for path in self.path.glob("*.db"):
                again = SqliteStore(path)
                assert again.check() == ()
                again.close()

    def make_store(self) -> Store:
        self.stores.append(SqliteStore(self.path / f"{len(self.stores)}.db"))
        return self.stores[-1]

    def make_workers(self) -> tuple[Store, Store]:
        self.stores += [SqliteStore(self.path / "0.db", busy_s=1.0) for _ in range(2)]
        return self.stores[0], self.stores[1]


@pytest.mark.parametrize("make", [lambda _: MemoryStore(), lambda path: SqliteStore(path / "h.db")])
def test_what_waits_to_be_tried_again_is_brought_back_and_a_pause_ends(
    make: Callable[[Path], Store], tmp_path: Path
) -> None:
    store = make(tmp_path)
    frontier = store.queue(store.runs.begin(spec(), 0.0))
    frontier.add([found("/a")])
    (lease,) = frontier.claim(ask()).leases
    frontier.commit_page(lease, Intake(Retry(600.0, Why("unreachable", "no connection"))))
    frontier.block("a.example", 900.0)
    frontier.requeue([found("/a")])
    assert frontier.claim(ask(1.0)).rest == NoClaim("resting", 900.0)
    frontier.block("a.example", None)
    (again,) = frontier.claim(ask(1.0)).leases
    assert (again.url, again.attempt, again.lane) == (lease.url, 1, lease.lane)
    frontier.commit_page(again, Intake(Done()))
    frontier.requeue([found("/a")])  # it is had
    assert frontier.claim(ask(1.0)).rest == NoClaim("complete")
    store.close()


def filled(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    store.queue(store.runs.begin(spec(), 0.0)).add([found(f"/{n}") for n in range(100)])
    store.flush()
    return store


def test_what_was_flushed_survives_and_the_rest_does_not(tmp_path: Path) -> None:
    store = filled(tmp_path / "h.db")
    frontier = store.queue(store.runs.begin(spec(), 0.0))
    first, second = frontier.claim(ask(limit=2)).leases
    frontier.commit_page(first, Intake(Done(), page("/first")))
    store.flush()
    frontier.commit_page(second, Intake(Done(), page("/second")))
    store.abandon()
    again = SqliteStore(tmp_path / "h.db")
    run = again.runs.begin(spec(), 1.0)
    frontier = again.queue(run)
    assert [record["url"] for _, record in frontier.pages()] == [f"{SITE}/first"]
    assert paths(frontier.adopt(ask(1.0, limit=9))) == ["/1"]  # at once: its process is gone
    assert again.check() == ()
    again.close()


def test_a_failed_transaction_leaves_no_trace(tmp_path: Path) -> None:
    store = filled(tmp_path / "h.db")
    frontier = store.queue(store.runs.begin(spec(), 0.0))
    (lease,) = frontier.claim(ask()).leases
    store.flush()

    def fail() -> None:
        with store.transaction():
            frontier.commit_page(lease, Intake(Done(), page("/x")))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert list(frontier.pages()) == []
    frontier.commit_page(lease, Intake(Done(), page("/x")))
    assert len(list(frontier.pages())) == 1
    store.close()


def seen(store: SqliteStore) -> tuple[int, int]:
    """Give how many pages link `/9`, and how many hrefs were skipped, as the file says."""
    digest = found("/9").digest
    (row,) = store._db.all("SELECT seen FROM entry WHERE digest = ?", (digest,))  # noqa: SLF001 - as it lies there
    (tally,) = store._db.all("SELECT coalesce(sum(n), 0) FROM tally")  # noqa: SLF001 - as it lies there
    return row[0], tally[0]


def test_what_pages_count_waits_for_the_commit_and_a_failed_page_does_not_count(tmp_path: Path) -> None:
    store = filled(tmp_path / "h.db")
    frontier = store.queue(store.runs.begin(spec(), 0.0))
    digest = found("/9").digest
    met = Intake(Done(), findings=Findings(again=[digest], skipped=Counter({"mailto": 2})))
    leases = frontier.claim(ask(limit=3)).leases
    frontier.commit_page(leases[0], met)
    store.flush()

    def fail() -> None:
        with store.transaction():
            frontier.commit_page(leases[1], met)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    frontier.commit_page(leases[2], met)
    assert seen(store) == (1, 2)
    assert frontier.look(leases[1], [digest]).known[digest].seen == 2  # what waits is known already
    store.flush()
    assert seen(store) == (2, 4)
    store.flush()
    assert seen(store) == (2, 4)
    store.close()


def test_what_the_disk_took_back_does_not_count(tmp_path: Path) -> None:
    store = filled(tmp_path / "h.db")
    frontier = store.queue(store.runs.begin(spec(), 0.0))
    met = Intake(Done(), findings=Findings(again=[found("/9").digest], skipped=Counter({"mailto": 2})))
    frontier.commit_page(frontier.claim(ask()).leases[0], met)
    store._db.undo()  # noqa: SLF001 - as a full disk does, in the middle of any statement
    store.flush()
    assert seen(store) == (0, 0)
    frontier.commit_page(frontier.claim(ask()).leases[0], met)
    store.flush()
    assert seen(store) == (1, 2)
    store.close()


def test_a_commit_that_fails_is_undone(tmp_path: Path) -> None:
    store = filled(tmp_path / "h.db")
    frontier = store.queue(store.runs.begin(spec(), 0.0))
    (lease,) = frontier.claim(ask()).leases
    store.flush()
    frontier.commit_page(lease, Intake(Done(), page("/x"), Findings(again=[found("/9").digest])))
    fault = "CREATE TEMP TRIGGER t BEFORE UPDATE OF seen ON entry BEGIN SELECT raise(ABORT, 'no'); END"
    store._db.write(fault)  # noqa: SLF001 - a disk that fails at the worst moment
    with pytest.raises(StoreError, match="cannot be used: 'no'"):
        store.flush()
    assert list(frontier.pages()) == []
    frontier.commit_page(lease, Intake(Done(), page("/x"), Findings(again=[found("/9").digest])))
    store.flush()
    assert seen(store) == (1, 0)
    store.close()


def test_two_stores_on_one_file_never_lease_the_same(tmp_path: Path) -> None:
    one, other = filled(tmp_path / "h.db"), SqliteStore(tmp_path / "h.db")
    run = one.runs.begin(spec(), 0.0)
    fronts = [(store, store.queue(run)) for store in (one, other)]
    taken: list[str] = []
    for turn in range(20):
        store, frontier = fronts[turn % 2]
        taken += paths(frontier.claim(ask(limit=5)).leases)
        store.flush()
    assert sorted(taken) == sorted(f"/{n}" for n in range(100))
    assert fronts[0][1].adopt(ask(1.0, limit=99)) == ()  # both are alive
    assert fronts[0][1].claim(ask(1.0)).rest.why == "shared"
    one.close()
    other.close()


def test_a_lease_that_ran_out_goes_to_another(tmp_path: Path) -> None:
    one, other = filled(tmp_path / "h.db"), SqliteStore(tmp_path / "h.db")
    run = one.runs.begin(spec(), 0.0)
    mine, theirs = one.queue(run), other.queue(run)
    (lease,) = mine.claim(ask(0.0)).leases
    one.flush()
    assert "/0" not in paths(theirs.claim(ask(500.0, limit=1)).leases)
    mine_until = 700.0
    other.flush()
    mine.renew(600.0, mine_until)
    one.flush()
    assert "/0" not in paths(theirs.claim(ask(650.0, limit=1)).leases)
    assert "/0" in paths(theirs.claim(ask(mine_until, limit=1)).leases)
    other.flush()
    assert not mine.commit_page(lease, Intake(Done()))
    one.close()
    other.close()


def test_another_writer_is_waited_for_and_then_named(tmp_path: Path) -> None:
    store = filled(tmp_path / "h.db")
    store.queue(store.runs.begin(spec(), 0.0)).add([found("/more")])
    other = SqliteStore(tmp_path / "h.db", busy_s=0.01)
    with pytest.raises(StoreBusyError, match="another process"):
        other.runs.begin(spec("two"), 0.0)
    store.close()
    other.runs.begin(spec("two"), 0.0)
    other.close()


def test_leases_of_others_are_waited_for_before_the_budget_is_said_to_be_spent(tmp_path: Path) -> None:
    one, other = filled(tmp_path / "h.db"), SqliteStore(tmp_path / "h.db")
    run = one.runs.begin(spec(), 0.0)
    budgets = Budgets(max_pages=2)
    leases = one.queue(run).claim(ask(limit=9, budgets=budgets)).leases
    one.flush()
    rest = other.queue(run).claim(ask(1.0, budgets=budgets)).rest
    assert (rest.why, rest.until) == ("shared", 1.25)
    other.flush()
    for lease in leases:
        one.queue(run).commit_page(lease, Intake(Done()))
    one.flush()
    assert other.queue(run).claim(ask(2.0, budgets=budgets)).rest.why == "max_pages"
    other.close()
    one.close()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only /proc tells who is a zombie")
def test_a_process_that_ended_and_that_nobody_has_asked_how_is_gone(tmp_path: Path) -> None:
    store = filled(tmp_path / "h.db")
    run = store.runs.begin(spec(), 0.0)
    store.queue(run).claim(ask(limit=2))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        store._db.write("UPDATE worker SET pid = ?", (child.pid,))  # noqa: SLF001 - as if it were that process
        store.flush()
        store.abandon()
        again = SqliteStore(tmp_path / "h.db")
        assert again.queue(run).adopt(ask(1.0, limit=9)) == ()  # it lives
        assert child.stdin is not None
        child.stdin.close()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert paths(again.queue(run).adopt(ask(1.0, limit=9))) == ["/0", "/1"]
        again.close()


# --- files that are not what they should be ---


def refused(path: Path) -> StoreError:
    with pytest.raises(StoreError) as caught:
        SqliteStore(path)
    assert str(path) in str(caught.value)
    return caught.value


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary " * 100)
    assert isinstance(refused(path), SchemaMismatchError)
    path.write_bytes(b"SQLite")
    assert isinstance(refused(path), SchemaMismatchError)
    assert path.read_bytes() == b"SQLite"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
@pytest.mark.parametrize("read_only", [False, True])
def test_a_pipe_is_not_waited_for(tmp_path: Path, read_only: bool) -> None:
    os.mkfifo(tmp_path / "h.db")
    with pytest.raises(SchemaMismatchError, match="is no Honeyguide store"):
        SqliteStore(tmp_path / "h.db", read_only=read_only)


def test_a_database_of_somebody_else(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE letters (text)")
    other.close()
    before = path.read_bytes()
    assert isinstance(refused(path), SchemaMismatchError)
    assert path.read_bytes() == before


def test_a_store_from_the_future(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    filled(path).close()
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 99")
    other.close()
    assert "newer" in refused(path).why


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_store_that_was_cut_off(tmp_path: Path, share: float) -> None:
    path = tmp_path / "h.db"
    filled(path).close()
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    assert "cut off" in refused(path).why


def test_a_store_that_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    filled(path).close()
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)

    def use() -> None:
        store = SqliteStore(path)
        try:
            store.queue(store.runs.begin(spec(), 0.0)).claim(ask())
        finally:
            store.abandon()

    with pytest.raises(StoreError, match="damaged"):
        use()


def test_a_folder_that_is_not_there_and_a_folder_in_its_place(tmp_path: Path) -> None:
    assert "folder" in refused(tmp_path / "missing" / "h.db").why
    refused(tmp_path)


def test_a_store_that_may_not_be_written(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    store = filled(path)
    store._db.one("PRAGMA query_only = ON")  # noqa: SLF001 - permissions do not bind every user who runs tests
    with pytest.raises(StoreError, match="cannot be written"):
        store.runs.begin(spec("two"), 0.0)
    store.abandon()


def test_a_full_disk_is_said_and_loses_nothing_that_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    store = filled(path)
    run = store.runs.begin(spec(), 0.0)
    pages = store._db.one("PRAGMA page_count")[0]  # noqa: SLF001 - no other way to a disk that is full on every machine
    store._db.one(f"PRAGMA max_page_count = {pages + 4}")  # noqa: SLF001 - a full disk, made small
    frontier = store.queue(run)

    def fill() -> None:
        for round_ in range(100):
            with store.transaction():
                frontier.add([found(f"/{round_}/{n}/{'x' * 200}") for n in range(100)])

    with pytest.raises(StoreError, match="disk is full"):
        fill()
    store.abandon()
    again = SqliteStore(path)
    assert again.check() == ()
    assert len(list(again.queue(run).rows())) == 100
    again.close()


def test_a_clock_that_runs_backwards_is_harmless(tmp_path: Path) -> None:
    store = filled(tmp_path / "h.db")
    run = store.runs.begin(spec(), 1e9)
    frontier = store.queue(run)
    (lease,) = frontier.claim(ask(1e9)).leases
    frontier.commit_page(lease, Intake(Done()))
    store.runs.end(run, "complete", 1e8)
    assert store.runs.list()[0].updated_at == 1e9
    assert len(frontier.claim(ask(1e7, limit=9)).leases) == 9
    store.close()
