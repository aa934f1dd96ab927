"""A store of an older version, made by its own statements: nothing is lost, and it can be gone on with."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from honeyguide.adapters.store.sqlite.database import sql_text, statements
from honeyguide.adapters.store.sqlite.store import APPLICATION_ID, MIGRATIONS, SqliteStore
from honeyguide.core.crawl.frontier import RunSpec, digest_of
from honeyguide.core.recrawl.clocks import SiteClock
from honeyguide.core.recrawl.history import Visit
from honeyguide.core.url.url import Tracking, Url
from honeyguide.errors import InputError
from honeyguide.jobs.request import resumed_request

if TYPE_CHECKING:
    from pathlib import Path

HOME, ABOUT, GONE = (f"https://a.example{path}" for path in ("/", "/about", "/gone"))
DAY_S = 86400.0


def digest(url: str) -> int:
    return digest_of(Url.parse(url), Tracking())


def version_1(path: Path) -> None:
    """Write a store as version 1 did."""
    with closing(sqlite3.connect(path)) as db:
        for statement in statements(sql_text("001_store.sql")):
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("PRAGMA user_version = 1")
        db.execute(
            "INSERT INTO run (key, command, topic, profile, profile_hash, started_at, updated_at, fetched, stopped)"
            " VALUES ('one', 'crawl https://a.example/', 'fire', 'docs', 'hash', 1.0, 2.0, 4, 'complete')"
        )
        db.executemany(
            "INSERT INTO known VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (digest(HOME), HOME, 2, DAY_S, DAY_S, 1, 0, 200, "y", 0.7, 0, 0, 1, 40, 3, '"e"', "m"),
                (digest(ABOUT), ABOUT, 2, 500.0, None, 0, 1, 500, "z", None, 1, 1, 0, 2, 0, None, None),
                (digest(GONE), GONE, 1, 9.0, None, 0, 1, 404, None, None, 1, 1, 0, 0, 0, None, None),
            ],
        )
        db.executemany(
            "INSERT INTO visit (digest, run, at, status, content, elapsed_s) VALUES (?, ?, ?, ?, ?, 0.1)",
            [
                (digest(HOME), 1, 5.0, 200, "x"),
                (digest(HOME), 1, DAY_S, 200, "y"),
                (digest(ABOUT), 1, 6.0, 200, "z"),
                (digest(ABOUT), 1, 500.0, 500, None),
                (digest(GONE), 1, 9.0, 404, None),
            ],
        )
        db.commit()


def version_2(path: Path) -> None:
    """Bring it to version 2 as that did, with what it had learnt."""
    with closing(sqlite3.connect(path)) as db:
        for statement in statements(sql_text("002_history.sql")):
            db.execute(statement)
        db.execute("PRAGMA user_version = 2")
        db.execute("INSERT INTO site_clock VALUES ('a.example', 0, x'0000000000001440', x'0000000000000040')")
        db.commit()


@pytest.fixture(params=[1, 2])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = tmp_path / "old.db"
    version_1(made)
    if request.param == 2:
        version_2(made)
    return made


def test_what_version_2_had_learnt_stays_and_ages_are_learnt_from_then_on(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    version_1(path)
    version_2(path)
    store = SqliteStore(path)
    site = store.history.site("a.example")
    assert (site.clock, site.ages) == (SiteClock(0, (5.0,), (2.0,)), {})
    new = Visit(f"{HOME}new", digest(f"{HOME}new"), 2 * DAY_S, 200, "x", body=1)
    store.history.record(Visit(HOME, digest(HOME), 2 * DAY_S, 200, "z", kind="hub", newborn=(new.digest,)), 1)
    store.history.record(new, 1)
    store.history.record(replace(new, at=3 * DAY_S, content="y", body=2), 1)
    store.close()
    again = SqliteStore(path)
    known = again.history.get(new.digest)
    assert known is not None
    assert known.born_at == 2 * DAY_S
    assert again.history.site("a.example").ages["page"].own.found[0] > 0.0
    again.close()


def test_nothing_is_lost_and_what_can_be_known_is_filled_in(path: Path) -> None:
    store = SqliteStore(path)
    home, about, gone = (store.history.get(digest(url)) for url in (HOME, ABOUT, GONE))
    assert home is not None
    assert about is not None
    assert gone is not None
    assert (home.visits, home.changes, home.content, home.relevance, home.etag) == (2, 1, "y", 0.7, '"e"')
    assert (home.first_seen, home.seen_at, home.run, home.kind, home.is_hub) == (5.0, DAY_S, 1, "hub", True)
    assert (home.rate, home.found, home.body, home.lastmod, home.is_moved) == (None, None, None, None, False)
    assert (about.seen_at, about.visited_at, about.run, about.kind) == (6.0, 500.0, 1, "page")
    assert (gone.seen_at, gone.run, gone.is_gone) == (None, None, True)
    assert len(list(store.history.known())) == 3
    assert [run.stopped for run in store.runs.list()] == ["complete"]
    assert store.check() == ()
    store.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)


def test_it_is_gone_on_with(path: Path) -> None:
    for _ in range(2):  # the second time there is nothing left to bring up to date
        store = SqliteStore(path)
        (run,) = store.runs.list()
        with pytest.raises(InputError, match="another version"):
            resumed_request(run)
        store.close()
    store = SqliteStore(path)
    known = store.history.record(Visit(HOME, digest(HOME), 2 * DAY_S, 304), 1)
    assert (known.visits, known.unchanged, known.exposure_h) == (3, 1, 24.0)
    spec = RunSpec("one", "crawl https://a.example/", "fire", "docs", "hash", '{"traversal": "bfs"}')
    assert store.runs.begin(spec, 3.0).id == 1
    assert resumed_request(store.runs.list()[0]).traversal == "bfs"
    store.close()


def test_a_new_store_has_the_same_tables(path: Path, tmp_path: Path) -> None:
    SqliteStore(path).close()
    SqliteStore(tmp_path / "new.db").close()
    tables = []
    for file in (path, tmp_path / "new.db"):
        with closing(sqlite3.connect(file)) as db:
            tables.append(set(db.execute("SELECT name, sql FROM sqlite_schema")))
    assert tables[0] == tables[1]
