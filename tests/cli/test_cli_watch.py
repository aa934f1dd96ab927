"""`honeyguide watch`: its options, what it says, and what it writes; what it does is in tests/jobs and tests/journeys."""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.cli.commands.watch import WatchTally, round_line
from honeyguide.cli.progress import Progress
from honeyguide.jobs.watch import Round, WatchBudget

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]
    Start = Callable[..., subprocess.Popen[bytes]]

OVER = ("--until", "2025-01-01T06:00:00Z")


def test_a_watch_that_is_over_says_so(run: Run, crawled: Path) -> None:
    result = run("watch", "--per-hour", "10", *OVER)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("0 pages visited; 0 rounds, ")
    assert result.stderr.endswith("Stopped: --until has come.\n")
    assert run("watch", "--per-hour", "10", *OVER, "--quiet").stderr == ""
    assert crawled.exists()


@pytest.mark.parametrize("name", ["p.jsonl", "p.csv"])
def test_the_output_has_all_visits_of_the_store(run: Run, crawled: Path, name: str) -> None:
    for _ in range(2):
        assert run("watch", "--per-hour", "10", *OVER, "-o", name).exit_code == 0
        assert len((crawled / name).read_text("utf-8").splitlines()) == (7 if name == "p.csv" else 6)


def test_a_file_of_another_store_is_left_alone(run: Run, crawled: Path) -> None:
    line = json.dumps({"schema": 2, "url": "https://b.example/", "fetched_at": "2024-01-01T00:00:00.000Z"})
    (crawled / "p.jsonl").write_text(line + "\n", "utf-8")
    result = run("watch", "--per-hour", "10", *OVER, "-o", "p.jsonl")
    assert result.exit_code == 1
    assert "holds pages of another crawl" in result.stderr
    assert (crawled / "p.jsonl").read_text("utf-8") == line + "\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Missing option '--per-hour'"),
        (("--per-hour", "0"), "0 is not in the range"),
        (("--per-hour", "10", "--until", "tomorrow"), "'tomorrow' is not a time"),
        (("--per-hour", "10", "--until", "2025-01-01T08:00"), "has no time zone"),
        (("--per-hour", "10", "--policy", "luck"), "'luck' is not one of"),
        (("--per-hour", "10", "-o", "honeyguide.db"), "named twice"),
        (("--per-hour", "10", *OVER, "-o", "p.docx"), "'p.docx' should end in .jsonl, .ndjson, .csv"),
        (("--per-hour", "10", *OVER, "-o", "p.jsonl", "--format", "table"), "A table is for the terminal"),
    ],
)
def test_what_makes_no_sense_is_refused(
    run: Run, crawled: Path, arguments: tuple[str, ...], words: str
) -> None:
    result = run("watch", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert not (crawled / "p.jsonl").exists()


def test_a_store_without_a_crawl_is_refused_and_no_output_is_left(run: Run, folder: Path) -> None:
    result = run("watch", "--per-hour", "10", "-o", "p.jsonl")
    assert (result.exit_code, "honeyguide.db: no such store" in result.stderr) == (1, True)
    SqliteStore(folder / "honeyguide.db").close()
    result = run("watch", "--per-hour", "10", "-o", "p.jsonl")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: the store has no crawl yet; honeyguide crawl makes one\n",
    )
    assert not (folder / "p.jsonl").exists()


# --- what a log hears ---

SPENT = Round(number=1, at=0.0, allowed=0, planned=0, fetched=0, spent=3, next_at=82_150.0)


@pytest.mark.usefixtures("_progress_lines")
def test_a_log_hears_at_once_that_the_budget_is_spent_and_then_every_minute() -> None:
    tally = WatchTally(WatchBudget(per_hour=3), 100.0)
    progress = Progress(step=inf, started=100.0, details=lambda now: [tally.line(now)])
    assert not progress.is_line_due(101.0)
    assert progress.is_line_due(101.0, is_news=tally.end(SPENT, 160.0))
    assert progress.line(101.0).endswith(
        "and --per-hour is 3; next at 22:49:10Z, or sooner with a larger --per-hour"
    )
    assert [second for second in range(102, 300) if progress.is_line_due(second)] == [161, 221, 281]


def test_a_budget_that_was_spent_before_names_the_visits_that_spent_it() -> None:
    tally = WatchTally(WatchBudget(per_hour=3), 100.0)
    tally.end(replace(SPENT, spent=150), 160.0)
    assert "nothing is left to spend: 150 visits in the last hour, those of other commands too" in tally.line(
        101.0
    )
    tally.end(replace(SPENT, allowed=3, fetched=3), 160.0)
    assert tally.line(101.0).endswith("; 3 of 3 visits of this hour are spent; next at 22:49:10Z")


def test_a_line_of_the_log_always_has_the_same_keys() -> None:
    lines = [round_line(SPENT, Counter()), round_line(SPENT, Counter({"failed": 2, "same-content": 1}))]
    keys = [[word.partition("=")[0] for word in line.split()[1:]] for line in lines]
    assert keys[0] == keys[1]
    assert "same-content=1 gone=0 failed=2 spent=3 next=" in lines[1]


def test_a_round_that_fetched_nothing_is_no_news_while_there_is_room() -> None:
    tally = WatchTally(WatchBudget(per_hour=4), 100.0)
    assert not tally.end(SPENT, 160.0)
    assert tally.line(101.0).endswith("; 3 of 4 in the last hour; next in 59 s")


def test_a_round_is_told_when_it_is_over_and_for_itself() -> None:
    tally = WatchTally(WatchBudget(per_hour=9), 100.0)
    visit = {
        "action": "expand",
        "status": 200,
        "points": [],
        "relevance_score": None,
        "topic_relevance": None,
        "lane": "deep",
    }
    told = []
    for number in (1, 2, 3):
        for _ in range(number - 1):
            tally.add(visit)
        is_news = tally.end(replace(SPENT, number=number), 160.0)
        told += [tally.line(101.0)] * is_news
    assert [line.partition(";")[0] for line in told] == [
        "round 2: 1 page visited, read for the first time",
        "round 3: 2 pages visited, all read for the first time",
    ]
    assert tally.summary(101.0) == "3 pages visited, all read for the first time; 3 rounds, 1 s"


def test_a_watch_that_waits_says_so_in_a_pipe(start: Start, crawled: Path) -> None:
    with closing(sqlite3.connect(crawled / "honeyguide.db")) as db:
        db.execute("UPDATE visit SET at = ?", (time.time(),))
        (visits,) = db.execute("SELECT count(*) FROM visit WHERE digest IS NOT NULL").fetchone()
        db.commit()
    assert visits > 3
    with start("watch", "--per-hour", "3") as process:
        assert process.stderr
        line = process.stderr.readline().decode()
        process.terminate()
    # The visits of the crawl are not those of a watch, so there may be more of them than it may make.
    assert (
        f"nothing is left to spend: {visits} visits in the last hour, those of other commands too, and --per-hour is 3;"
        in line
    )


def test_a_watch_that_was_asked_to_stop_says_so_and_is_not_done(
    run: Run, crawled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def watch_store(*_: object) -> str:
        return "stopped"

    monkeypatch.setattr("honeyguide.cli.commands.watch.watch_store", watch_store)
    result = run("watch", "--per-hour", "10")
    assert (result.exit_code, crawled.exists()) == (3, True)
    assert "Stopped: honeyguide workers stop asked for it, " in result.stderr
