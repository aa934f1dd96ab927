"""Visits of known pages as people and programs see them: what changed, what failed, and why."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from recrawling import QUICK, make_due, page

from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

NAMES = ("/a", "/b", "/c", "/d")


@pytest.fixture
def server() -> LoopbackServer:
    return LoopbackServer({"/": page("fire", *NAMES)} | {name: page(f"fire {name}") for name in NAMES})


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def crawled(run: Run, home: str) -> None:
    assert run("crawl", home, "--topic", "fire", *QUICK).exit_code == 0


# --- what changed ---


def test_lines_and_records_say_what_changed(run: Run, server: LoopbackServer) -> None:
    with served(server) as (home,):
        crawled(run, home)
        first = records(run("export", "pages").stdout)
        assert {record["change"] for record in first} == {"new"}
        server.answers["/a"] = page("fire and water", "/e")
        server.answers["/e"] = page("fire /e")
        server.answers["/c"] = response(b"", status="404 Not Found")
        make_due(home, "/a", "/b", "/c")
        shown = run("crawl", "--due", *QUICK, "--format", "table").stdout
        make_due(home, "/e", "/d")
        later = records(run("crawl", "--due", *QUICK).stdout)
        exported = records(run("export", "pages").stdout)
        table = run("export", "pages", "--format", "csv").stdout
        fresh = records(run("export", "pages", "--changed").stdout)
        assert run("export", "links", "--changed").exit_code == 2
    lines = dict(zip(("/a", "/b", "/c"), shown.splitlines()[1:], strict=True))
    assert lines["/a"].split()[1:4] == ["changed", "expand", "/a"]
    assert lines["/b"].split()[:3] == ["-", "unchanged", "/b"]
    assert lines["/c"].split()[1:5] == ["-", "dropped", "404", "/c"]
    assert len({line.index("/") for line in lines.values()}) == 1
    assert [record["change"] for record in later] == ["new", "unchanged"]
    assert [record["change"] for record in exported[5:]] == ["changed", "unchanged", None, "new", "unchanged"]
    assert fresh == [record for record in exported if record["change"] in ("new", "changed")]
    column = table.splitlines()[0].split(",").index("change")
    assert table.splitlines()[1].split(",")[column] == "new"


# --- what failed ---


def test_a_visit_that_is_tried_again_later_is_shown_counted_and_kept(
    run: Run, server: LoopbackServer
) -> None:
    with served(server) as (home,):
        crawled(run, home)
        server.answers["/a"] = response(b"", status="500 Internal Server Error")
        make_due(home, "/a", "/b")
        result = run("crawl", "--due", *QUICK, "--max-time", "4", "-o", "pages.jsonl")
        kept = records(run("export", "pages").stdout)[5:]
        told = records(run("explain", f"{home}a", "--format", "jsonl").stdout)[0]
    assert "2 pages visited: 1 unchanged, 1 failed; " in result.stderr
    assert "Note: 1 visit failed: answered 500\n" in result.stderr
    assert [(one["action"], one["status"], one["change"]) for one in kept] == [
        ("retry", 500, None),
        ("unchanged", 200, "unchanged"),
    ]
    assert records(Path("pages.jsonl").read_text("utf-8"))[5:] == kept
    assert told["read"]["title"] == "fire /a"
    assert any(line.endswith(": answered 500.") for line in told["sentences"])


def age(seconds: float) -> None:
    """Make all visits of the store older than they are."""
    with closing(sqlite3.connect("honeyguide.db")) as db:
        db.execute("UPDATE known SET visited_at = visited_at - ?, seen_at = seen_at - ?", (seconds, seconds))
        db.execute("UPDATE visit SET at = at - ?", (seconds,))
        db.commit()


def test_a_watch_says_of_each_round_what_it_did_and_in_the_end_why_visits_failed(
    run: Run, server: LoopbackServer
) -> None:
    with served(server) as (home,):
        crawled(run, home)
        age(86_400)
        server.answers["/robots.txt"] = response(b"User-agent: *\nDisallow: /a", kind="text/plain")
        server.answers["/b"] = response(b"", status="403 Forbidden")
        server.answers["/c"] = page("water")
        watch = ("watch", "--per-hour", "36000", "--cycle", "1", "--rounds", "2", "--rest", "3600", *QUICK)
        result = run(*watch, "--format", "table")
    said = result.stderr.splitlines()
    assert said[0].startswith("round 1: 5 pages visited: 1 changed, 2 unchanged, 2 failed; ")
    assert said[1].startswith("5 pages visited: 1 changed, 2 unchanged, 2 failed; 2 rounds, ")
    assert said[3] == "Note: 2 visits failed: answered 403 (1), robots.txt disallows it (1)"
    rows = (line.partition("/") for line in result.stdout.splitlines())
    shown = {rest.partition(" ")[0]: words.split() for words, _, rest in rows}
    assert shown["a"] == ["-", "-", "dropped"]
    assert shown["b"] == ["-", "-", "dropped", "403"]


def test_a_watch_that_lacked_leave_for_private_addresses_loses_no_page(
    run: Run, server: LoopbackServer
) -> None:
    watch = (
        "watch",
        "--per-hour",
        "36000",
        "--cycle",
        "1",
        "--rounds",
        "1",
        "--delay",
        "0",
        "--retries",
        "0",
    )
    with served(server) as (home,):
        crawled(run, home)
        age(86_400)
        refused = run(*watch)
        assert refused.exit_code == 3
        assert "5 pages visited: 5 failed; 1 round, " in refused.stderr
        assert "Note: 5 pages were refused for their addresses, " in refused.stderr
        with closing(sqlite3.connect("honeyguide.db")) as db:
            assert db.execute("SELECT DISTINCT failures FROM known").fetchall() == [(1,)]
            db.execute("UPDATE known SET failures = 5")  # as if it had gone on for days
            db.commit()
        allowed = run(*watch, "--allow-private")
    assert "5 pages visited again: 5 unchanged; 1 round, " in allowed.stderr
