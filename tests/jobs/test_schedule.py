"""A plan in the queues: in its order, in the right run, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from honeyguide import load_profile
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import ClaimRequest, Discovered, Run, RunSpec, digest_of
from honeyguide.core.url.url import Tracking, Url
from honeyguide.core.why import Why
from honeyguide.jobs.request import latest_runs
from honeyguide.jobs.watch import schedule
from honeyguide.ports.store import Store
from honeyguide.testing.memory_store import MemoryStore

TRACKING = load_profile("base").scope.tracking
NOW = 1_000.0


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "h.db")
    yield opened
    opened.close()


def url(path: str) -> str:
    return f"https://a.example/{path}"


def begun(store: Store, key: str, queued: str = "", out: str = "") -> Run:
    """Start a run that has met some pages: queued ones, and ones that a rule put out."""
    run = store.runs.begin(RunSpec(key, key, None, "docs", "x"), NOW, restart=True)
    rows = [
        Discovered(parsed, digest_of(parsed, TRACKING), "a.example", 9, "broad", 1.0, 5.0, 1, out=why)
        for paths, why in ((queued, None), (out, Why("irrelevant", "too little")))
        for path in paths
        for parsed in [Url.parse(url(path))]
    ]
    store.queue(run).add(rows)
    store.flush()
    return run


def runs(store: Store) -> list[tuple[Run, Tracking]]:
    return [(run, TRACKING) for run in latest_runs(store.runs.list())]


def claimed(store: Store, run: Run, limit: int = 9) -> list[str]:
    granted = store.queue(run).claim(ClaimRequest(NOW, limit, NOW + 60, only_due=True))
    return [lease.url.text.rpartition("/")[2] for lease in granted.leases]


def test_the_order_is_that_of_the_plan(store: Store) -> None:
    run = begun(store, "k", "abcdef")
    done = schedule(store, [url(path) for path in "dbf"], NOW, runs(store))
    assert (done.runs, done.unfetchable, done.total) == ({run.id: 3}, (), 3)
    assert claimed(store, run) == ["d", "b", "f"]


def test_the_same_plan_once_more_changes_nothing(store: Store) -> None:
    run = begun(store, "k", "abc")
    for _ in range(3):
        assert schedule(store, [url("c"), url("a")], NOW, runs(store)).total == 2
    assert store.ledger(run).counts().due == 2
    assert claimed(store, run) == ["c", "a"]


def test_each_url_goes_to_the_newest_run_that_can_fetch_it(store: Store) -> None:
    old = begun(store, "old", "abc")
    new = begun(store, "new", "cd", out="b")
    done = schedule(store, [url(path) for path in "abcdx"], NOW, runs(store))
    assert done.runs == {new.id: 2, old.id: 2}
    assert done.unfetchable == (url("x"),)
    assert claimed(store, new) == ["c", "d"]
    assert claimed(store, old) == ["a", "b"]


def test_a_run_that_was_started_over_is_left_alone(store: Store) -> None:
    begun(store, "k", "abc")
    again = begun(store, "k", "a")
    assert [run.id for run in latest_runs(store.runs.list())] == [again.id]
    assert schedule(store, [url("a"), url("b")], NOW, runs(store)).unfetchable == (url("b"),)


def test_what_is_being_fetched_is_left_out(store: Store) -> None:
    run = begun(store, "k", "ab")
    schedule(store, [url("a")], NOW, runs(store))
    assert claimed(store, run, 1) == ["a"]
    done = schedule(store, [url("a"), url("b")], NOW, runs(store))
    assert (done.runs, done.unfetchable) == ({run.id: 1}, (url("a"),))


def test_a_large_plan_with_gaps(store: Store) -> None:
    run = begun(store, "k", "")
    names = [f"p{n}" for n in range(1_700)]
    rows = [
        Discovered(parsed, digest_of(parsed, TRACKING), "a.example", 9, "broad", 1.0, 5.0, 1)
        for name in names
        if not name.endswith("7")
        for parsed in [Url.parse(url(name))]
    ]
    store.queue(run).add(rows)
    done = schedule(store, [url(name) for name in names], NOW, runs(store))
    assert done.total == len(rows)
    assert done.unfetchable == tuple(url(name) for name in names if name.endswith("7"))
    assert claimed(store, run, 4) == ["p0", "p1", "p2", "p3"]


class Killed(Exception):  # noqa: N818 - what a kill looks like from inside
    """The process ends here."""


def test_a_kill_in_the_middle_leaves_nothing_scheduled(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "h.db")
    begun(store, "old", "abc")
    new = begun(store, "new", "cd")

    def until_killed() -> Iterator[tuple[Run, Tracking]]:
        yield new, TRACKING
        assert store.queue(new).counts().due == 2
        raise Killed

    with pytest.raises(Killed):
        schedule(store, [url(path) for path in "abcd"], NOW, until_killed())
    store.abandon()
    again = SqliteStore(tmp_path / "h.db")
    assert [again.queue(run).counts().due for run in again.runs.list()] == [0, 0]
    assert again.check() == ()
    again.close()
