"""`plan --store` and `--enqueue`: what crawls have found, ranked, and scheduled in its order."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import load_profile, plan_store
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.policies import POLICIES
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import Budgets
from honeyguide.core.url.url import Url
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

CRAWLED_AT = 1_700_000_000.0
LATER = ("--now", "2023-11-24T00:00:00Z")  # ten days after
ROOT = "https://a.example"


def page(title: str, *links: str) -> bytes:
    listed = "".join(f'<p><a href="{link}">fire {link}</a></p>' for link in links)
    return f"<title>{title}</title><h1>{title}</h1><main><p>{title} fire alarms {title * 9}</p>{listed}</main>".encode()


SITE = {
    f"{ROOT}/": page("home", "/a", "/b", "/c", "/gone"),
    f"{ROOT}/a": page("one", "/d"),
    f"{ROOT}/b": page("two"),
    f"{ROOT}/c": page("three"),
    f"{ROOT}/d": page("four"),
}


def crawl(path: Path, topic: str, max_pages: int | None = None, at: float = CRAWLED_AT) -> None:
    store = SqliteStore(path)
    profile = load_profile("docs", topic=topic)
    crawler = Crawler(FakeFetcher(SITE), HtmlReader(), FrozenClock(at), store, profile)
    request = CrawlRequest((Url.parse(f"{ROOT}/"),), budgets=Budgets(max_pages), command=f"crawl {topic}")
    asyncio.run(crawler.crawl(request, lambda _record, _arrival: None))
    store.close()


@pytest.fixture
def store(folder: Path) -> Path:
    """A store with a crawl that has visited three pages, one of them gone; others wait."""
    crawl(folder / "h.db", "fire", max_pages=4)
    return folder / "h.db"


def records(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def scheduled(path: Path) -> list[tuple[int, str]]:
    """Read run and URL of what is scheduled, in its order, without our own code."""
    with closing(sqlite3.connect(path)) as db:
        return db.execute(
            "SELECT run, url FROM entry WHERE rank < 0 AND due_at IS NOT NULL ORDER BY run, rank"
        ).fetchall()


def test_everything_that_was_visited_and_what_waits_is_ranked(run: Run, store: Path) -> None:
    found = records(run("plan", "--store", "h.db", *LATER, "--top", "6"))
    assert sorted(record["url"] for record in found) == [
        f"{ROOT}{path}" for path in ("/", "/a", "/b", "/c", "/d", "/gone")
    ]
    new = {record["url"] for record in found if "first visit" in record["reasons"]}
    assert len(new) == 2
    assert [record["rank"] for record in found] == [1, 2, 3, 4, 5, 6]
    assert all(record["next_due"] is not None for record in found)
    seed = records(run("plan", "--store", store.name, *LATER, "--policy", "heuristic"))
    assert {record["url"] for record in seed if "Not visited in 7+ days" not in record["reasons"]} == new
    assert all(record["next_due"] is None for record in seed)


@pytest.mark.parametrize("policy", list(POLICIES))
def test_every_policy_ranks_explains_and_compares(run: Run, store: Path, policy: str) -> None:
    base = ("plan", "--store", store.name, *LATER, "--policy", policy)
    whole = records(run(*base))
    assert len(whole) == 6
    assert [one["score"] for one in whole] == sorted((one["score"] for one in whole), reverse=True)
    assert all(0 <= one["score"] <= 100 for one in whole)
    for one in whole:
        assert sum(entry["points"] for entry in one["points"]) == pytest.approx(one["score"], abs=0.05)
        (explained,) = records(run(*base, "--explain", one["url"]))
        assert (explained["rank"], explained["score"]) == (one["rank"], one["score"])
        assert explained["policy"] == policy
    run(*base, "--top", "2", "-o", "plan.jsonl")
    run(*base, "--top", "1", "-o", "later.jsonl")
    after = records(run("diff", "plan.jsonl", "later.jsonl"))
    assert ("left", whole[1]["url"]) in [(one["change"], one["url"]) for one in after]


def test_explain_says_what_a_visit_waits_for(run: Run, store: Path) -> None:
    asked = ("plan", "--store", store.name, *LATER, "--format", "table", "--explain")
    shown = run(*asked, f"{ROOT}/b").stdout
    assert "Relative to all pages, the next visit is due " in shown
    assert "Z: then its value reaches that of the best tenth.\n" in shown
    assert "due" not in run(*asked, f"{ROOT}/b", "--policy", "heuristic").stdout


def test_explain_takes_a_path_and_shows_what_people_read(run: Run, store: Path) -> None:
    with closing(sqlite3.connect(store)) as db:
        db.execute(
            "UPDATE known SET rate_a = 2.4999999826259764, rate_b = 100.0, visited_at = visited_at + 0.1234"
        )
        db.commit()
    asked = ("plan", "--store", store.name, *LATER, "--explain")
    (whole,) = records(run(*asked, f"{ROOT}/b"))
    assert records(run(*asked, "/b")) == [whole]
    believed = whole["signals"]["rate_a"]  # what was seen, and a little of what is usual
    assert 2.4999999826259764 < believed != round(believed, 4)
    shown = run(*asked, " /b", "--format", "table").stdout
    assert re.search(rf"rate_a +{believed:.4g} *\n", shown)
    assert re.search(r"last_visited +....-..-..T..:..:..Z *\n", shown)
    assert not re.search(r":[0-9]{2}\.[0-9]+Z", shown)
    absent = run(*asked, "/nowhere")
    assert (absent.exit_code, "'/nowhere' is not ranked" in absent.stderr) == (1, True)


def test_explain_of_a_page_that_is_not_ranked_says_where_to_ask(run: Run, store: Path) -> None:
    result = run("plan", "--store", store.name, *LATER, "--explain", "https://elsewhere.example/")
    assert (result.exit_code, result.stdout) == (1, "")
    words = "is not ranked: it has no visit and waits in no queue; honeyguide explain says what became of it"
    assert result.stderr == f"Error: {store.name}: 'https://elsewhere.example/' {words}\n"


def test_the_last_of_a_plan_scores_60(run: Run, store: Path) -> None:
    base = ("plan", "--store", store.name, *LATER, "--top")
    assert [records(run(*base, number))[-1]["score"] for number in ("1", "3", "6")] == [60, 60, 60]


def test_dead_pages_are_left_out_and_said(run: Run, store: Path) -> None:
    with closing(sqlite3.connect(store)) as db:
        db.execute("UPDATE known SET failures = 5, status = 404 WHERE url LIKE '%/gone' OR url LIKE '%/a'")
        db.commit()
    result = run("plan", "--store", "h.db", *LATER)
    assert "dropped as dead" in result.stderr
    assert "dropped: no page at 5 visits in a row (last status 404)" in result.stderr
    assert f"{ROOT}/a" not in [record["url"] for record in records(result)]


def test_all_options_of_files_work(run: Run, store: Path) -> None:
    base = ("plan", "--store", store.name, *LATER)
    whole = records(run(*base))
    assert [one["url"] for one in records(run(*base, "--top", "2"))] == [one["url"] for one in whole[:2]]
    assert records(run(*base, "--min-score", "60")) == [one for one in whole if one["score"] >= 60]
    assert records(run(*base, "--max-score", "60")) == [one for one in whole if one["score"] < 60]
    assert records(run(*base, "--level", "high")) == [one for one in whole if one["level"] == "high"]
    assert len(records(run(*base, "--per-host", "1"))) == 1
    assert run(*base, "-o", "plan.jsonl").stdout == ""
    explained = records(run(*base, "--explain", "http://A.example/a/?utm_source=x"))[0]
    assert explained["signals"]["visits"] == 1
    assert explained["rank"] == next(one["rank"] for one in whole if one["url"] == f"{ROOT}/a")
    table = run(*base, "--format", "table").stdout
    assert "6 of 6 URLs" in table


def test_the_same_store_gives_the_same_plan_from_python(run: Run, store: Path) -> None:
    plan = plan_store(store, now=datetime(2023, 11, 24, tzinfo=UTC))
    assert [entry.scored.url for entry in plan.entries] == [
        one["url"] for one in records(run("plan", "--store", store.name, *LATER))
    ]


def test_enqueue_schedules_in_the_order_of_the_plan_and_twice_is_once(run: Run, store: Path) -> None:
    result = run("plan", "--store", "h.db", *LATER, "--top", "3", "--enqueue")
    urls = [record["url"] for record in records(result)]
    assert scheduled(store) == [(1, url) for url in urls]
    assert result.stderr == (
        "Note: 3 URLs are scheduled, 3 in run 1; honeyguide crawl --due --store h.db fetches them, best first\n"
    )
    before = store.read_bytes()
    assert run("plan", "--store", "h.db", *LATER, "--top", "3", "--enqueue").stderr == result.stderr
    assert scheduled(store) == [(1, url) for url in urls]
    assert len(before) == len(store.read_bytes())


def test_the_newest_run_that_can_fetch_a_url_gets_it(run: Run, store: Path) -> None:
    crawl(store, "alarms", max_pages=1, at=CRAWLED_AT + 60)  # knows the homepage and its links
    run("plan", "--store", "h.db", *LATER, "--enqueue")
    found = scheduled(store)
    assert (1, f"{ROOT}/d") in found
    assert sorted(url for number, url in found if number == 2) == [
        f"{ROOT}{path}" for path in ("/", "/a", "/b", "/c", "/gone")
    ]


def test_visited_leaves_out_links_that_were_never_visited(run: Run, store: Path) -> None:
    base = ("plan", "--store", "h.db", *LATER)
    whole = records(run(*base))
    visited = [record["url"] for record in whole if "first visit" not in record["reasons"]]
    assert 0 < len(visited) < len(whole)
    found = records(run(*base, "--visited", "--enqueue"))
    assert [(record["rank"], record["url"]) for record in found] == list(enumerate(visited, 1))
    assert scheduled(store) == [(1, url) for url in visited]
    plan = plan_store(store, now=datetime(2023, 11, 24, tzinfo=UTC), visited=True)
    assert [entry.scored.url for entry in plan.entries] == visited
    (queued, *_) = (record["url"] for record in whole if record["url"] not in visited)
    result = run(*base, "--visited", "--explain", queued)
    assert (result.exit_code, "was never visited, and --visited is set" in result.stderr) == (1, True)


@pytest.mark.usefixtures("store")
def test_visited_is_in_the_report(run: Run) -> None:
    assert run("plan", "--store", "h.db", *LATER, "--visited", "--report", "plan.md").exit_code == 0
    assert "honeyguide plan --store h.db --visited" in Path("plan.md").read_text("utf-8").replace("\\", "")


def test_what_no_run_can_fetch_is_said(run: Run, store: Path) -> None:
    with closing(sqlite3.connect(store)) as db:
        db.execute("DELETE FROM entry WHERE url LIKE '%/a'")
        db.commit()
    result = run("plan", "--store", "h.db", *LATER, "--enqueue")
    assert "5 URLs are scheduled" in result.stderr
    assert (
        f"1 URL is not scheduled, because no run can fetch them now; the first is {ROOT}/a" in result.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Give FILEs, or a store with --store."),
        (("known.csv", "--store", "h.db"), "Give FILEs, or a store with --store, not both."),
        (("known.csv", "--enqueue"), "--enqueue needs a --store"),
        (("known.csv", "--visited"), "--visited is for a --store"),
        (("--store", "h.db", "--on-error", "skip"), "are for files"),
        (("--store", "h.db", "--input-format", "csv"), "are for files"),
        (("--store", "h.db", "--enqueue", "--explain", ROOT), "takes a whole plan"),
    ],
)
def test_what_makes_no_sense_is_refused(run: Run, arguments: tuple[str, ...], words: str) -> None:
    result = run("plan", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert not Path("h.db").exists()


def test_a_store_that_is_not_there_or_knows_nothing_is_said(run: Run, folder: Path) -> None:
    assert "h.db: no such store" in run("plan", "--store", "h.db").stderr
    SqliteStore(folder / "h.db").close()
    result = run("plan", "--store", "h.db")
    assert result.exit_code == 1
    assert result.stderr == "Error: h.db: knows no URL yet; honeyguide crawl or honeyguide import fills it\n"
    unvisited = "has no visited page yet; without --visited, the plan has the queued links"
    assert unvisited in run("plan", "--store", "h.db", "--visited").stderr
    (folder / "x.db").write_text("not a database, but long enough for one" * 9)
    assert "is no Honeyguide store" in run("plan", "--store", "x.db").stderr


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE known SET visited_at = 1e300",
        "UPDATE known SET rate_a = -1.0, rate_b = 9e999",
        "UPDATE known SET url = 'no address'",
        "UPDATE known SET relevance = 'much'",
        "UPDATE entry SET url = 'no address' WHERE state = 0",
        "UPDATE entry SET score = 'much' WHERE state = 0",
        "UPDATE known SET found_a = 0.0, found_b = 0.0",
    ],
)
def test_what_we_never_write_nobody_else_can_write(run: Run, store: Path, damage: str) -> None:
    with closing(sqlite3.connect(store)) as db, pytest.raises(sqlite3.IntegrityError):
        db.execute(damage)  # SQLite itself keeps it out
    result = run("plan", "--store", "h.db", *LATER)
    assert result.exit_code == 0
