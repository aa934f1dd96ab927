"""Turns at writing: what waits for a commit, what is undone, and what others may have changed meanwhile."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING

import pytest
from patience import HANG_S

from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import Budgets, Done
from honeyguide.core.recrawl.history import Visit
from honeyguide.errors import StoreBusyError, StoreError
from honeyguide.ports.store import Intake
from honeyguide.testing.contracts import ask, found, page, paths, spec

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide.adapters.store.common.queue import SqlQueue
    from honeyguide.core.crawl.frontier import Lease, Run

URL = "https://a.example/"


def filled(path: Path) -> tuple[SqliteStore, Run]:
    store = SqliteStore(path)
    run = store.runs.begin(spec(), 0.0)
    store.queue(run).add([found(f"/{n}") for n in range(9)])
    store.flush()
    return store, run


def budget(store: SqliteStore) -> tuple[int, ...]:
    """Give fetches, leases and claims, as the file says."""
    (row,) = store._db.all("SELECT fetched, leased, claims FROM run")  # noqa: SLF001 - as it lies there
    return tuple(row)


def finish(frontier: SqlQueue, lease: Lease) -> None:
    frontier.commit_page(lease, Intake(Done(), page(lease.url.text)))


def test_the_budget_counts_at_once_and_is_written_with_the_commit(tmp_path: Path) -> None:
    store, run = filled(tmp_path / "h.db")
    frontier = store.queue(run)
    two = Budgets(max_pages=2)
    first, second = frontier.claim(ask(limit=9, budgets=two)).leases
    finish(frontier, first)
    assert frontier.claim(ask(limit=9, budgets=two)).rest.why == "max_pages"
    assert [one.fetched for one in store.runs.list()] == [1]
    store.flush()
    assert (budget(store), frontier.counts().fetched) == ((1, 1, 2), 1)
    assert [one.fetched for one in store.runs.list()] == [1]
    finish(frontier, second)
    assert store.runs.begin(spec(), 1.0).fetched == 2
    assert budget(store) == (2, 0, 2)
    store.close()


def test_a_claim_that_is_undone_gives_its_numbers_back(tmp_path: Path) -> None:
    store, run = filled(tmp_path / "h.db")
    frontier = store.queue(run)
    (first,) = frontier.claim(ask()).leases
    store.flush()

    def fail() -> None:
        with store.transaction():
            frontier.claim(ask(limit=3))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    (second,) = frontier.claim(ask()).leases
    assert ([first.claim, second.claim], paths((first, second))) == ([1, 2], ["/0", "/1"])
    store.flush()
    assert budget(store) == (0, 2, 2)
    store.close()


def test_transaction_undoes_everything_since_the_commit(tmp_path: Path) -> None:
    store, run = filled(tmp_path / "h.db")
    frontier = store.queue(run)
    first, second = frontier.claim(ask(limit=2)).leases
    store.flush()
    store.history.record(Visit(URL, 7, 10.0, 200, "x"), run.id)
    finish(frontier, first)

    def fail() -> None:
        with store.transaction():
            finish(frontier, second)
            frontier.claim(ask())
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert (list(frontier.pages()), store.history.get(7), frontier.counts().fetched) == ([], None, 0)
    assert frontier.look(first).is_held
    assert frontier.look(second).is_held
    with store.transaction():
        finish(frontier, first)
        finish(frontier, second)
    store.flush()
    assert (budget(store), len(list(frontier.pages()))) == ((2, 0, 2), 2)
    store.close()


def test_a_lease_that_another_took_over_is_not_held(tmp_path: Path) -> None:
    (one, run), other = filled(tmp_path / "h.db"), SqliteStore(tmp_path / "h.db")
    mine, theirs = one.queue(run), other.queue(run)
    (lease,) = mine.claim(ask(0.0)).leases
    one.flush()
    assert paths(theirs.claim(ask(9999.0)).leases) == ["/0"]
    other.flush()
    assert not mine.look(lease).is_held
    one.close()
    other.close()


def test_two_that_enter_a_site_at_the_same_time_enter_the_same(tmp_path: Path) -> None:
    path, name = tmp_path / "h.db", "b.example"
    one, run = filled(path)
    one.queue(run).add_site(name)
    is_waiting, failed = threading.Event(), []

    def enter() -> None:
        other = SqliteStore(path)

        def look(statement: str) -> None:
            if statement.startswith("BEGIN"):
                is_waiting.set()

        other._db._connection.set_trace_callback(look)  # noqa: SLF001 - when it waits for its turn
        try:
            other.queue(run).add_site(name)
        except StoreError as error:
            failed.append(error)
        other.close()

    thread = threading.Thread(target=enter)
    thread.start()
    assert is_waiting.wait(HANG_S)
    one.flush()
    thread.join()
    assert not failed
    assert list(one.queue(run).sites()) == [name]
    one.close()


def test_what_another_has_noted_is_seen_in_the_next_turn(tmp_path: Path) -> None:
    (one, _), other = filled(tmp_path / "h.db"), SqliteStore(tmp_path / "h.db")
    one.history.record(Visit(URL, 1, 10.0, 200, "x"), 1)
    assert one.history.get(7) is None
    one.flush()
    other.history.record(Visit(URL, 7, 20.0, 200, "y"), 1)
    other.flush()
    one.history.record(Visit(URL, 2, 30.0, 200, "x"), 1)
    assert one.history.get(7) is not None
    one.close()
    other.close()


def test_a_visit_that_is_undone_is_not_remembered(tmp_path: Path) -> None:
    store, _ = filled(tmp_path / "h.db")
    store.history.record(Visit(URL, 7, 10.0, 200, "x"), 1)
    store.flush()

    def fail() -> None:
        with store.transaction():
            store.history.record(Visit(URL, 7, 20.0, 200, "y"), 1)
            assert store.history.get(7) is not None
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    known = store.history.get(7)
    assert known is not None
    assert (known.visits, known.content) == (1, "x")
    store.close()


def test_who_shuts_out_readers_is_waited_for_and_then_named(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    filled(path)[0].close()
    other = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusyError, match="another process"):
        SqliteStore(path, busy_s=0.01)
    leaving = threading.Thread(target=other.close)
    leaving.start()
    SqliteStore(path).close()
    leaving.join()


def test_a_holder_whose_first_claim_was_undone_does_not_take_the_leases_of_another(tmp_path: Path) -> None:
    one, run = filled(tmp_path / "h.db")
    other = SqliteStore(tmp_path / "h.db")

    def fail() -> None:
        with one.transaction():
            one.queue(run).claim(ask())
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    (lease,) = other.queue(run).claim(ask()).leases
    assert other.queue(run).look(lease).is_held
    other.flush()
    assert not one.queue(run).look(lease).is_held
    one.close()
    other.close()
