"""What people see of a store is the same in a file and in a database: pages, tree, counts, live figures, plan and summary."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from bench.large_store import make

from honeyguide.adapters.store.common import browse as common
from honeyguide.adapters.store.common.browse import FILTERS, SORTS, PageQuery
from honeyguide.app.explain import explain_url
from honeyguide.app.plan import plan_store
from honeyguide.app.runs import export_run, list_runs
from honeyguide.app.views import stores
from honeyguide.app.views.stores import browse, list_branches, read_plan, read_summary
from honeyguide.errors import InputError, StoreError

PAGES, QUEUED, HOSTS = 300, 60, 7


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The same store in a file and in a database."""
    from postgres_server import server

    found = str(tmp_path_factory.mktemp("browse") / "store.db"), server().new_database()
    for store in found:
        make(store, PAGES, QUEUED, HOSTS)
    return found


@pytest.mark.parametrize("drawn", [5_000, 40], ids=["small", "large"])
def test_a_database_shows_what_a_file_shows(
    pair: tuple[str, str], drawn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a large run both draw the same URLs, because identities are the same."""
    monkeypatch.setattr(common, "DRAWN", drawn)
    queries = [
        PageQuery(1, search, chosen, sort, offset, 20)
        for search in ("", "PAGE-1", "alarms", "100%", "_")
        for chosen in FILTERS
        for sort in SORTS
        for offset in (0, 15)
    ]
    with browse(pair[0]) as file, browse(pair[1]) as database:
        for query in queries:
            assert database.pages(query) == file.pages(query), query
        for prefix in ("", "www.host-3.example/", "www.host-3.example/section-1/", "no.example/"):
            assert database.branches(1, prefix) == file.branches(1, prefix)
        assert repr(database.live(1)) == repr(file.live(1))  # whole numbers, not PostgreSQL's decimals
        assert repr(database.counts(1)) == repr(file.counts(1))
        assert sorted(database.standing(1).worths) == sorted(file.standing(1).worths)
        assert database.standing(1)[1:] == file.standing(1)[1:]
        assert database.visits(1, 250) == file.visits(1, 250)
        assert database.queued(0) == file.queued(0) != []
        assert database.urls() == file.urls() == PAGES + QUEUED + PAGES // 10


def test_views_and_commands_read_a_database_as_a_file(
    pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "_LARGE", 1)
    monkeypatch.setattr(stores, "MAX_RANKED", 100)
    now = datetime(2026, 11, 1, tzinfo=UTC)
    url = "https://www.host-3.example/section-2/topic-2/page-2"

    def exported(store: str, what: str) -> list[object]:
        with export_run(store, what) as records:
            return list(records)

    def seen(store: str) -> list[object]:
        summary = read_summary(store, 1)._replace(words=str)
        plan = [one.scored.url for one in read_plan(store, 50).plan.entries]
        explained = {name: value for name, value in explain_url(store, url).items() if name != "sentences"}
        whole = [
            (one.scored.url, one.scored.score.value) for one in plan_store(store, top=50, now=now).entries
        ]
        records = [exported(store, what) for what in ("pages", "links", "out")]
        return [summary, plan, whole, explained, list_runs(store), records]

    for database, file in zip(seen(pair[1]), seen(pair[0]), strict=True):
        assert database == file


@pytest.mark.parametrize("place", [0, 1], ids=["file", "database"])
def test_a_statement_that_takes_too_long_is_one_sentence(
    pair: tuple[str, str], place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("sqlite", "postgres"):
        monkeypatch.setattr(f"honeyguide.adapters.store.{module}.browse.LIMIT_S", 0.001)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with browse(pair[place]) as browser, pytest.raises(InputError, match="takes longer"):
        browser._all(endless)  # noqa: SLF001 - no query of ours is so slow here


def test_nothing_is_written(pair: tuple[str, str]) -> None:
    with browse(pair[1]) as browser, pytest.raises(StoreError, match="read_only=True"):
        browser._all("DELETE FROM honeyguide.visit")  # noqa: SLF001 - as above
    assert list_branches(pair[1], 1, "")[1]
    assert Path(pair[0]).exists()
