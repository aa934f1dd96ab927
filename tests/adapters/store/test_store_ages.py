"""Ages in a store: what they cost, that they are written whole or not at all, and what plans make of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from math import inf, nan
from random import Random
from struct import pack
from typing import TYPE_CHECKING

import pytest

from honeyguide import plan_store
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import digest_of
from honeyguide.core.recrawl.clocks import EDGES_H
from honeyguide.core.recrawl.history import Visit, body_digest
from honeyguide.core.url.url import Tracking, Url
from honeyguide.errors import StoreError
from honeyguide.testing.contracts import found, spec
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from honeyguide.ports.store import History

HOUR_S, DAY_S = 3600.0, 86_400.0
START = 1_750_000_000.0
HUB = Visit("https://a.example/", 1, START, 200, "x", kind="hub", body=1)


def page(digest: int, at: float, content: str = "x", host: str = "a") -> Visit:
    body = body_digest(content.encode())
    return Visit(f"https://{host}.example/{digest}", digest, at, 200, content, relevance=0.5, body=body)


def story(seed: int = 1, pages: int = 12) -> Iterator[Visit]:
    """Visits to pages of two hosts, the even ones seen to be new, that change while they are young."""
    random = Random(seed)  # noqa: S311 - a made-up history
    yield replace(HUB, newborn=tuple(range(10, 10 + pages, 2)))
    edits = dict.fromkeys(range(10, 10 + pages), 0)
    for step in range(40):
        at = START + step * step * HOUR_S / 4
        for digest in edits:
            if random.random() < 0.5:
                edits[digest] += random.random() < 3.0 / (step + 3.0)
                yield page(digest, at, str(edits[digest]), "ab"[digest % 3 == 0])


def learn(history: History, visits: Iterator[Visit]) -> None:
    for visit in visits:
        history.record(visit, 1)


def counters(path: Path) -> list[tuple[object, ...]]:
    """Read the tables without our own code."""
    with closing(sqlite3.connect(path)) as db:
        ages = db.execute("SELECT * FROM age ORDER BY site, kind").fetchall()
        return [*ages, *db.execute("SELECT * FROM born ORDER BY digest")]


def test_both_stores_learn_the_same_and_the_same_visits_give_the_same_bytes(tmp_path: Path) -> None:
    first, store = SqliteStore(tmp_path / "one.db"), SqliteStore(tmp_path / "other.db")
    for one in (first, store):
        learn(one.history, story())
        one.flush()
    kept = [counters(tmp_path / name) for name in ("one.db", "other.db")]
    first.close()
    memory = MemoryStore()
    learn(memory.history, story())
    for site in ("a.example", "b.example", "c.example"):
        assert store.history.site(site) == memory.history.site(site)
    assert list(store.history.known()) == list(memory.history.known())
    assert kept[0] == kept[1]
    assert [row[:2] for row in kept[0][:3]] == [("", "page"), ("a.example", "page"), ("b.example", "page")]
    assert len(kept[0]) == 3 + 6
    store.close()


def test_what_is_not_committed_or_undone_was_not_learnt(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    store = SqliteStore(path)
    learn(store.history, story())
    store.flush()
    before, site = counters(path), store.history.site("a.example")
    later = replace(HUB, at=START + 90 * DAY_S, content="y", newborn=(99,))

    def fail() -> None:
        with store.transaction():
            learn(store.history, iter([later, page(10, later.at, "new")]))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert store.history.site("a.example") == site
    store.flush()
    assert counters(path) == before
    learn(store.history, iter([later, page(10, later.at, "new")]))
    assert store.history.site("a.example") != site
    store.abandon()  # as a kill does
    assert counters(path) == before


def statements(store: SqliteStore, visit: Visit) -> int:
    told: list[str] = []
    store._db.begin_write()  # noqa: SLF001 - one begin for many pages
    connection = store._db._connection  # noqa: SLF001 - what reaches SQLite
    connection.set_trace_callback(told.append)
    store.history.get(visit.digest)
    store.history.record(visit, 1)
    connection.set_trace_callback(None)
    return len(told)


def test_a_first_visit_costs_nothing_for_ages_and_others_a_few_statements(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "h.db")
    learn(store.history, iter([replace(HUB, newborn=(10,))]))
    for digest, more in ((10, 3), (11, 1)):  # of pages that were seen to be new one to read, two to write
        assert statements(store, page(digest, START + HOUR_S)) == 1
        store.flush()
        assert statements(store, page(digest, START + DAY_S, "y")) == 5 + more
    store.close()


# --- plans ---


def url_of(path: str) -> tuple[str, int]:
    url = f"https://a.example{path}"
    return url, digest_of(Url.parse(url), Tracking())


def test_plans_go_by_what_the_store_has_learnt_of_ages(tmp_path: Path) -> None:
    """Pages change in their first hours, then no more: one of unknown age may, one that was seen to be new hardly."""
    path, paths = tmp_path / "h.db", [f"/{n}" for n in range(60)]
    store = SqliteStore(path)
    frontier = store.queue(store.runs.begin(spec(), START))
    born = [url_of(name) for name in paths[1:]]
    waiting = [url_of(name)[1] for name in ("/old", "/new")]
    hub = Visit(*url_of("/"), START, 200, "x", kind="hub", body=1)
    store.history.record(replace(hub, newborn=(*(digest for _, digest in born), waiting[0])), 1)
    for hours, content in ((0, "a"), (1, "b"), (2, "c"), (4, "d"), (8, "e"), (50, "e"), (100, "e")):
        for name in paths:
            one = Visit(
                *url_of(name),
                START + hours * HOUR_S,
                200,
                content,
                relevance=0.5,
                body=hours if hours < 9 else 8,
            )
            store.history.record(one, 1)
    store.history.record(replace(hub, at=START + 100 * HOUR_S, content="y", body=2, newborn=(waiting[1],)), 1)
    frontier.add([found("/old"), found("/new"), found("/unknown")])
    store.flush()
    now = START + 100.5 * HOUR_S
    plan = plan_store(path, now=datetime.fromtimestamp(now + DAY_S, UTC))
    told = {entry.scored.url: entry.scored.score for entry in plan.entries}
    aged, unknown = told["https://a.example/1"], told["https://a.example/0"]
    assert "at its age of 5.2 days" in aged.words[0]
    assert "at its age" not in unknown.words[0]
    assert aged.value < unknown.value
    plan = plan_store(path, now=datetime.fromtimestamp(now, UTC))
    first = {
        entry.scored.url: entry.rank for entry in plan.entries if "first visit" in entry.scored.score.words
    }
    # One that is calm by now lasts; one that is still being edited can wait.
    assert [url.rpartition("/")[2] for url in sorted(first, key=first.__getitem__)] == [
        "old",
        "unknown",
        "new",
    ]
    store.close()


def every_age(number: float) -> bytes:
    return pack(f"<{len(EDGES_H)}d", *[number] * len(EDGES_H))


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("UPDATE born SET at = ?", inf),
        ("UPDATE born SET at = ?", "soon"),
        ("UPDATE age SET found = ?", b"x"),
        ("UPDATE age SET found = ?", bytes(8)),
        ("UPDATE age SET found = ?", 7),
        ("UPDATE age SET expected = ?", every_age(nan)),
        ("UPDATE age SET expected = ?", every_age(-1.0)),
        ("UPDATE age SET expected = ?", every_age(inf)),
    ],
)
def test_what_we_never_write_is_damage(statement: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    store = SqliteStore(path)
    learn(store.history, story())
    store.close()
    now = datetime.fromtimestamp(START + DAY_S, UTC)
    plan_store(path, now=now)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        try:
            db.execute(statement, (value,))
        except sqlite3.IntegrityError:
            return  # SQLite itself keeps it out
    with pytest.raises(StoreError, match="restore it from a copy"):
        plan_store(path, now=now)
