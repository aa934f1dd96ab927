"""`pick --keep` and `pick --replay`: a pick again without a request, equal to the live one; what was not kept is said."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide.demo import serve_demo

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

QUICK = ("--allow-private", "--delay", "0", "--no-timings", "--format", "jsonl", "--quiet")


@pytest.fixture
def kept(run: Run) -> tuple[str, str]:
    """Pick from a site that is gone afterwards; gives its address and the record."""
    with serve_demo() as address:
        result = run("pick", address, *QUICK, "--keep", "kept.db")
    assert result.exit_code == 0, result.stderr
    live = result.stdout
    return address, live


def test_a_replay_equals_the_live_run_and_makes_no_request(run: Run, kept: tuple[str, str]) -> None:
    address, live = kept
    assert json.loads(live)["status"] == "ok"
    assert run("pick", address, *QUICK, "--replay", "kept.db").stdout == live


def test_a_page_that_was_not_kept_is_judged_by_its_link_alone(run: Run, kept: tuple[str, str]) -> None:
    address, live = kept
    more = json.loads(run("pick", address, *QUICK, "--replay", "kept.db", "--cap", "9").stdout)
    known = {page["url"] for page in json.loads(live)["selected"]}
    new = [page for page in more["selected"] if page["url"] not in known]
    assert new
    for page in new:
        assert page["points"][-1] == {
            "rule": "not-kept",
            "points": 0,
            "reason": "not kept: judged by its link alone",
        }
        assert (page["status"], page["title"]) == (None, None)
    arguments = ("pick", address, *QUICK, "--replay", "kept.db", "--cap", "9", "--format", "table")
    shown = run(*arguments, "--report", "report.md").stdout
    for text in (shown, Path("report.md").read_text("utf-8")):
        assert text.count("not kept: judged by its link alone") >= len(new)


@pytest.mark.usefixtures("kept")
def test_a_homepage_that_was_not_kept_is_a_status(run: Run) -> None:
    result = run("pick", "other.example", *QUICK, "--replay", "kept.db")
    record: Any = json.loads(result.stdout)
    assert (record["status"], result.exit_code) == ("not_kept", 3)
    assert "not kept, and a replay makes no request" in record["reason"]


def test_keep_and_replay_together_fetch_only_what_is_missing(run: Run) -> None:
    with serve_demo() as address:
        run("pick", address, *QUICK, "--keep", "kept.db", "--cap", "2")
        live = run("pick", address, *QUICK, "--cap", "6").stdout
        with closing(
            sqlite3.connect("kept.db")
        ) as db:  # the homepage says something else in the file than on the site
            db.execute("UPDATE answer SET outcome = replace(outcome, '200', '201')")
            db.commit()
        run("pick", address, *QUICK, "--keep", "kept.db", "--replay", "kept.db", "--cap", "6")
    record = json.loads(run("pick", address, *QUICK, "--replay", "kept.db", "--cap", "6").stdout)
    statuses = [page["status"] for page in record["selected"]]
    assert sorted(set(statuses)) == [200, 201]
    assert [page["url"] for page in record["selected"]] == [
        page["url"] for page in json.loads(live)["selected"]
    ]


def test_an_address_that_was_refused_is_asked_again_when_that_is_allowed(run: Run) -> None:
    both = ("--keep", "kept.db", "--replay", "kept.db")
    with serve_demo() as address:
        refused = json.loads(run("pick", address, *QUICK[1:], *both).stdout)
        allowed = json.loads(run("pick", address, *QUICK, *both).stdout)
        live = json.loads(run("pick", address, *QUICK).stdout)
    assert refused["status"] == "unreachable"
    assert allowed == live


def test_two_files_are_refused(run: Run) -> None:
    result = run("pick", "a.example", "--keep", "a.db", "--replay", "b.db")
    assert result.exit_code == 2
    assert "name one file" in result.stderr


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE answer SET outcome = '{'", "is damaged"),
        ("UPDATE answer SET outcome = '[1]'", "is damaged"),
        ('UPDATE answer SET outcome = \'{"rule": "unheard-of"}\'', "is damaged"),
        ("UPDATE answer SET size = 1 << 50", "is damaged"),
        ("UPDATE answer SET size = size + 1", "is damaged"),
        ("UPDATE answer SET outcome = printf('%.*c', 300000, '[')", "is damaged"),
        ("DROP TABLE answer", "is not a file of pick --keep"),
        ("CREATE VIEW more AS SELECT 1", "is not a file of pick --keep"),
        ("PRAGMA application_id = 7", "is not a file of pick --keep"),
    ],
)
def test_a_file_of_a_stranger_is_one_sentence(run: Run, kept: tuple[str, str], sql: str, said: str) -> None:
    with closing(sqlite3.connect("kept.db")) as db:
        db.execute(sql)
        db.commit()
    result = run("pick", kept[0], *QUICK, "--replay", "kept.db")
    assert result.exit_code == 1
    assert f"kept.db: {said}" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("content", [b"no database at all", b"SQLite format 3\0" + b"\xff" * 200])
def test_another_file_is_neither_read_nor_overwritten(run: Run, content: bytes) -> None:
    Path("other.db").write_bytes(content)
    for option in ("--replay", "--keep"):
        result = run("pick", "a.example", *QUICK, option, "other.db")
        assert result.exit_code == 1
        assert "other.db" in result.stderr
    assert Path("other.db").read_bytes() == content


def test_a_file_that_is_missing_is_said(run: Run) -> None:
    result = run("pick", "a.example", *QUICK, "--replay", "none.db")
    assert result.exit_code == 1
    assert "none.db: no such file; pick --keep makes one" in result.stderr
    Path("folder").mkdir()
    for option in ("--replay", "--keep"):
        result = run("pick", "a.example", *QUICK, option, "folder")
        assert (result.exit_code, result.stderr) == (1, "Error: folder: is a folder; name a file\n")
