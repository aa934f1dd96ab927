"""A store ranked as arrays: the same plan, ranks, reasons and counts as row by row (PLAN-3)."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from honeyguide import load_profile
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.app.known_urls import store as known_store
from honeyguide.app.known_urls.store import Excluded, StoreTable
from honeyguide.core.crawl.frontier import Discovered, RunSpec
from honeyguide.core.recrawl.history import HistoryEntry, Visit
from honeyguide.core.recrawl.plan import PlanQuery
from honeyguide.core.url.url import Url

pytest.importorskip("numpy")  # an extra

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from honeyguide.core.recrawl.plan import Plan
    from honeyguide.core.recrawl.priors import PageClass

AT = 1_750_000_000.0
NOW = datetime.fromtimestamp(AT, UTC)
PROFILE = load_profile("news")
DAY_S = 86400.0
QUERIES = (
    PlanQuery(NOW),
    PlanQuery(NOW, top=7),
    PlanQuery(NOW, top=40, per_host=2),
    PlanQuery(NOW, per_host=3),
    PlanQuery(NOW, top=9, levels=("medium", "low")),
    PlanQuery(NOW, min_score=20.0, max_score=61.0),
    PlanQuery(NOW, top=5, budget=30),
)


def entry(chance: random.Random, number: int) -> HistoryEntry:
    kinds: tuple[PageClass, ...] = ("page", "article", "hub")
    kind = chance.choice(kinds)
    path = (
        f"/2025/0{chance.randrange(1, 7)}/{chance.randrange(10, 28)}/{number}"
        if kind == "article"
        else f"/{number}"
    )
    at = AT - chance.choice(
        [0.0, -500.0, 1e-3, chance.expovariate(1 / DAY_S), chance.uniform(0, 300 * DAY_S)]
    )
    is_seen = chance.random() < 0.7
    return HistoryEntry(
        f"https://h{chance.randrange(9)}.example{path}", number * 7919 - 400_000, visits=3, visited_at=at,
        changed_at=chance.choice([None, at - 50.0]), changes=chance.randrange(9), unchanged=2, status=chance.choice([200, 410, 500]),
        failures=chance.choice([0, 0, 0, 0, 1, 2, 5]), relevance=chance.choice([None, 0.0, chance.random()]), is_hub=kind == "hub",
        first_seen=at - chance.uniform(0, 9e6), seen_at=at, kind=kind, is_moved=chance.random() < 0.02,
        rate_a=chance.uniform(0, 9) if is_seen else None, rate_b=chance.choice([0.5, 40.0, 900.0]) if is_seen else None,
        found_a=chance.choice([0.0, 3.5]) if kind == "hub" else None, found_b=200.0 if kind == "hub" else None,
        hours=tuple(chance.random() for _ in range(24)) if kind == "hub" and chance.random() < 0.5 else None,
    )  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(tmp_path / "s.db")
    chance = random.Random(5)  # noqa: S311 - made-up pages
    history = made.history
    for day in range(100, 0, -1):  # days and ages of sites are learned, and an honest sitemap
        at = AT - day * DAY_S
        for page in range(12):
            host, digest = page % 3, 900_000 + page
            if page % 2:
                history.note_lastmods([(digest, datetime.fromtimestamp(at - 50, UTC).isoformat())])
            changed = page % 2 == 1 or chance.random() < 0.2
            content = f"v-{day}" if changed else "v-same"
            newborn = (digest + 500,) if page == 0 and day < 90 else ()
            visit = Visit(
                f"https://h{host}.example/seen-{page}", digest, at + page, 200, content,
                kind="hub" if page == 0 else "page", newborn=newborn,
            )  # fmt: skip
            history.record(visit, 1)
    history.adopt(entry(chance, number) for number in range(900))
    run = made.runs.begin(RunSpec("k", "c", None, "news", PROFILE.hash), AT)
    urls = [
        Url.parse(f"https://{'u@' * (n % 7 == 0)}h{n % 11}.example/{'2025/05/11/' * (n % 2)}queued-{n}")
        for n in range(80)
    ]
    made.queue(run).add(
        [
            Discovered(
                url, 5_000_000 + n, url.site, 5, "broad", 0.0, chance.choice([None, 7.0]), 1, hub_depth=n % 4
            )
            for n, url in enumerate(urls)
        ]
    )
    made.flush()
    yield made
    made.close()


def ranked(store: SqliteStore, query: PlanQuery, excluded: Excluded = known_store.NOTHING_EXCLUDED) -> Plan:
    return StoreTable(store, PROFILE, name="s", excluded=excluded).plan(query)


@pytest.mark.parametrize("query", QUERIES)
def test_arrays_and_rows_give_the_same_plan(
    query: PlanQuery, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_rows = ranked(store, query)
    monkeypatch.setattr(known_store, "ARRAYS_FROM", 0)
    monkeypatch.setattr(StoreTable, "_stored_rows", None)  # no row is made of all
    assert ranked(store, query) == by_rows
    assert by_rows.rows > 500
    assert by_rows.dead.rows
    assert by_rows.future.rows


@pytest.mark.parametrize("unvisited", [False, True])
def test_what_is_excluded_is_no_row_of_the_arrays(
    unvisited: bool, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    excluded = Excluded(
        {5_000_003, 900_001}, {"https://h4.example/queued-4"}, AT - DAY_S, {"hub": AT - 9 * DAY_S}, unvisited
    )
    by_rows = ranked(store, PlanQuery(NOW), excluded)
    monkeypatch.setattr(known_store, "ARRAYS_FROM", 0)
    assert ranked(store, PlanQuery(NOW), excluded) == by_rows
    assert 0 < by_rows.rows < ranked(store, PlanQuery(NOW)).rows
    assert any("/queued-" in entry.scored.url for entry in by_rows.entries) is not unvisited


def test_reading_many_rows_is_reported(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_store, "ARRAYS_FROM", 0)
    table, told = StoreTable(store, PROFILE, name="s"), list[tuple[str, int]]()
    table.on_rows = lambda name, rows: told.append((name, rows))
    rows = table.plan(QUERIES[0]).rows
    assert told[-1][0] == "s"
    assert told[-1][1] >= rows > 0
