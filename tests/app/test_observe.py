"""Known URLs and visits of other programs in a store: plans and policies learn from them (PLAN-1 to PLAN-4)."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import (
    FetchPolicy,
    HoneyguideError,
    InputError,
    Rejected,
    Url,
    crawl,
    explain_url,
    export_pages,
    import_known,
    load_profile,
    observe,
    open_store,
    plan_file,
    plan_store,
)
from honeyguide.adapters.files import sources
from honeyguide.app.runs import find_run
from honeyguide.core.crawl.frontier import digest_of
from honeyguide.jobs.request import newest_first
from honeyguide.testing.fakes import FakeFetcher
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide.core.recrawl.history import HistoryEntry
    from honeyguide.ports.store import Store

NOW = datetime(2024, 6, 15, 8, 0, tzinfo=UTC)
PAGE = "https://a.example/page"
HOUR = timedelta(hours=1)


def known(store: Store, url: str = PAGE) -> HistoryEntry:
    entry = store.history.get(digest_of(Url.parse(url), load_profile("news").scope.tracking))
    assert entry is not None
    return entry


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows), "utf-8")
    return str(path)


ROWS = [
    {
        "url": PAGE,
        "visits": 8,
        "last_visited": NOW - 9 * HOUR,
        "last_changed": NOW - 30 * HOUR,
        "topic_relevance": 0.9,
    },
    {
        "url": "https://a.example/list",
        "visits": 2,
        "last_visited": NOW - 90 * HOUR,
        "is_hub": True,
        "hub_depth": 0,
    },
    {"url": "https://b.example/", "hub_depth": 2},
    {"url": "https://b.example/fast", "last_visited": NOW - HOUR, "rate_a": 5.0, "rate_b": 10.0},
]


def test_the_relevance_of_urls_that_were_never_visited_ranks_them(tmp_path: Path) -> None:
    rows = [
        {"url": f"https://a.example/{name}", "topic_relevance": value}
        for name, value in (("lo", 0.1), ("hi", 0.9))
    ]
    file, store = (
        write(tmp_path / "known.jsonl", [*rows, {"url": "https://a.example/none"}]),
        tmp_path / "s.db",
    )
    import_known(file, store)
    found = [plan_store(store, now=NOW), plan_file(file, now=NOW, policy="learned")]
    stored, by_file = ([(one.scored.url, one.scored.score) for one in plan.entries] for plan in found)
    assert stored == by_file
    assert [url.rpartition("/")[2] for url, _ in stored] == ["hi", "none", "lo"]


def test_an_import_names_columns_that_are_probably_misspelt(tmp_path: Path) -> None:
    notes: list[str] = []
    file = write(tmp_path / "known.jsonl", [{"url": PAGE, "Last visit": "2024-01-01", "chnged": "yes"}])
    import_known(file, tmp_path / "s.db", on_note=notes.append)
    assert [note.partition("column ")[2] for note in notes] == [
        "'Last visit' is not used; did you mean last_visited?",
        "'chnged' is not used; did you mean changed?",
    ]


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_what_an_import_cannot_use_is_said(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pl = pytest.importorskip("polars", reason="polars is an extra")
    rows = [
        {"url": PAGE, "importance": 3.0, "changed": True},
        {"url": PAGE + "2", "importance": None, "changed": None},
        {"url": PAGE + "3", "importance": None, "changed": False},
    ]
    file = tmp_path / f"known.{kind}"
    getattr(pl.DataFrame(rows), {"jsonl": "write_ndjson"}.get(kind, f"write_{kind}"))(file)
    for small in (0, 10**9):
        monkeypatch.setattr(sources, "SMALL_BYTES", small)
        notes: list[str] = []
        import_known(str(file), MemoryStore(), on_note=notes.append)
        assert notes == [
            "2 rows have changed without last_visited, so no visit is known: that needs both",
            "1 row has an importance, which is not imported: a store weighs pages by topic_relevance",
        ]
    with pytest.raises(InputError, match="'importance' is no field"):
        import_known(str(file), MemoryStore(), columns={"importance": "importance"})


def test_an_import_of_nothing_leaves_no_store_behind(tmp_path: Path) -> None:
    store, file = tmp_path / "s.db", tmp_path / "known.csv"
    for text, error in (
        ("url\n", "has no rows; give at least one URL"),
        ("url,visits\nhttps://a.example/,1\nhttps://a.example/b,x\n", "visits: 'x' should be"),
    ):
        file.write_text(text, "utf-8")
        with pytest.raises(InputError, match=error):
            import_known(str(file), store)
    rejected = Rejected()
    file.write_text("url\nnonsense\n", "utf-8")
    with pytest.raises(InputError, match="its only row is wrong; see "):
        import_known(str(file), store, reject=rejected)
    rejected.close()
    assert not store.exists()


def test_a_visit_in_the_future_counts_as_now_so_that_later_ones_count(tmp_path: Path) -> None:
    future, store = datetime(2090, 1, 1, tzinfo=UTC), tmp_path / "s.db"
    assert observe(store, PAGE, future)
    file = write(tmp_path / "known.jsonl", [{"url": "https://a.example/list", "last_visited": future}])
    notes: list[str] = []
    import_known(file, store, on_note=notes.append)
    assert notes == ["1 row has a time in the future, counted as just now"]
    assert [import_known(file, store).learned for _ in range(2)] == [0, 0]  # the same file again
    for url in (PAGE, "https://a.example/list"):
        with closing(open_store(store, read_only=True)) as opened:
            assert known(opened, url).visited_at < future.timestamp()
        assert observe(store, url)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"status": 10**30}, "field status: must be from 100 to 999"),
        ({"status": 0}, "field status: must be from 100 to 999"),
        ({"profile": "nobody"}, "no profile is named"),
        ({"at": NOW.replace(tzinfo=None)}, "field at: has no time zone"),
        (
            {"at": datetime.min.replace(tzinfo=timezone(14 * HOUR))},
            "field at: lies outside of the years 1 to 9999",
        ),
    ],
)
def test_a_mistake_leaves_no_store_behind(tmp_path: Path, settings: Any, words: str) -> None:
    with pytest.raises(HoneyguideError, match=words):
        observe(tmp_path / "s.db", PAGE, **settings)
    assert not (tmp_path / "s.db").exists()


def test_a_visit_before_a_known_one_is_not_taken(tmp_path: Path) -> None:
    assert [observe(tmp_path / "s.db", PAGE, at) for at in (NOW, NOW - HOUR, NOW, NOW + HOUR)] == [
        True,
        False,
        False,
        True,
    ]


def test_a_file_becomes_a_store_that_plans_alike_by_the_rules(tmp_path: Path) -> None:
    file, store = write(tmp_path / "known.jsonl", ROWS), tmp_path / "s.db"
    found = import_known(file, store)
    assert (found.rows, found.new, found.learned) == (4, 4, 3)
    stored = plan_store(store, now=NOW, policy="heuristic")
    by_file = plan_file(file, now=NOW, policy="heuristic")
    scores = {entry.scored.url: entry.scored.score.value for entry in stored.entries}
    given = {entry.scored.url: entry.scored.score.value for entry in by_file.entries}
    assert scores.keys() == given.keys()
    assert {url: scores[url] for url in (PAGE, "https://a.example/list")} == {
        url: given[url] for url in (PAGE, "https://a.example/list")
    }
    with closing(open_store(store)) as opened:
        # Faster than the prior ever was: nothing is taken off.
        assert (known(opened, "https://b.example/fast").rate_a, known(opened).visits) == (5.0, 8)
        assert known(opened).seen == (1.0, 21.0)  # one change, and quiet since
        assert opened.history.latest_visits(9, 0.0) == []  # no budget counts them
        (run,) = opened.runs.list()
        assert (run.spec.command, run.stopped) == ("honeyguide import", "complete")
        assert opened.ledger(run).sites() == {"a.example", "b.example"}
        assert [seed.text for seed in opened.ledger(run).seeds()] == [PAGE, "https://b.example/"]


def test_the_same_file_again_changes_nothing_and_a_newer_one_is_a_visit(tmp_path: Path) -> None:
    store = MemoryStore()
    file = write(tmp_path / "known.jsonl", ROWS)
    import_known(file, store)
    before = known(store)
    again = import_known(file, store)
    assert (again.new, again.learned, again.ignored, known(store)) == (0, 0, 3, before)
    newer = {**ROWS[0], "last_visited": NOW, "last_changed": NOW - HOUR}
    assert import_known(write(tmp_path / "newer.jsonl", [newer]), store).learned == 1
    after = known(store)
    assert (after.visits, after.changes, after.visited_at) == (9, 2, NOW.timestamp())


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_a_file_of_visits_teaches_the_rate(kind: str, tmp_path: Path) -> None:
    pl = pytest.importorskip("polars", reason="polars is an extra")
    rows = [
        {"url": PAGE, "last_visited": (NOW - (9 - n) * 24 * HOUR).isoformat(), "changed": n in (3, 6)}
        for n in range(9)
    ]
    file = tmp_path / f"visits.{kind}"
    getattr(pl.DataFrame(rows), {"jsonl": "write_ndjson"}.get(kind, f"write_{kind}"))(file)
    by_file, by_calls = MemoryStore(), MemoryStore()
    import_known(str(file), by_file)
    for row in rows:
        observe(
            by_calls, PAGE, datetime.fromisoformat(str(row["last_visited"])), changed=bool(row["changed"])
        )
    seen = known(by_file)
    assert seen._replace(run=None) == known(by_calls)._replace(run=None)
    assert (seen.visits, seen.changes, seen.unchanged) == (9, 2, 6)
    assert seen.rate_a is not None


def test_a_visit_that_a_program_reports_does_not_hide_the_crawl(tmp_path: Path) -> None:
    store, fetcher = str(tmp_path / "s.db"), FakeFetcher({PAGE: b"<p>Fire alarms, and how to test them."})
    pages = list(crawl(PAGE, topic="fire", store=store, policy=FetchPolicy(delay_s=0), fetcher=fetcher))
    assert [page.url for page in pages] == [PAGE]
    observe(store, PAGE, NOW)
    observe(store, "https://b.example/x", NOW)
    assert [page.url for page in export_pages(store)] == [PAGE]
    assert explain_url(store, PAGE)["run"] == 1
    with closing(open_store(store)) as opened:
        assert [run.id for run in newest_first(opened.runs.list())] == [1, 2]
        assert find_run(opened, 2).id == 2


def test_what_was_only_imported_says_so(tmp_path: Path) -> None:
    store = str(tmp_path / "s.db")
    import_known(write(tmp_path / "known.jsonl", ROWS), store)
    assert (
        "It was imported, or reported by a program."
        in explain_url(store, "https://a.example/list")["sentences"]
    )
    import_known(write(tmp_path / "new.jsonl", [{"url": PAGE + "2", "topic_relevance": 0.7}]), store)
    said = " ".join(explain_url(store, PAGE + "2")["sentences"])
    assert (
        "reported by a program, with topic_relevance 0.7. It is queued, and no crawl of this store has"
        in said
    )


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(InputError, match="field at: has no time zone"):
        observe(MemoryStore(), PAGE, datetime(2024, 6, 1))  # noqa: DTZ001 - without a zone
    with pytest.raises(InputError, match="field relevance: should lie between 0 and 1, not 3"):
        observe(MemoryStore(), PAGE, NOW, relevance=3)


def test_observed_visits_have_no_content_that_ours_could_be_compared_with() -> None:
    store = MemoryStore()
    observe(store, PAGE, NOW)
    observe(store, PAGE, NOW + HOUR)  # whether it changed is not known
    assert (known(store).visits, known(store).changes, known(store).unchanged) == (2, 0, 0)
    observe(store, PAGE, NOW + 2 * HOUR, changed=True)
    observe(store, PAGE, NOW + 3 * HOUR, changed=False)
    observe(store, PAGE, NOW + 4 * HOUR, status=404)
    seen = known(store)
    assert (seen.changes, seen.unchanged, seen.failures, seen.visits) == (1, 1, 1, 5)
    observe(store, PAGE, NOW, changed=True)  # too late to be of use
    assert known(store) == seen


def test_wrong_rows_stop_the_import_or_are_rejected(tmp_path: Path) -> None:
    file = write(tmp_path / "visits.jsonl", [{**ROWS[0], "changed": "perhaps"}, ROWS[1]])
    with pytest.raises(InputError, match="changed"):
        import_known(file, MemoryStore())
    rejected = Rejected()
    assert import_known(file, MemoryStore(), reject=rejected).rows == 1
    rejected.close()
    assert rejected.rows == 1
