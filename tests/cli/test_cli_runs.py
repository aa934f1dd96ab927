"""`honeyguide runs delete` and `runs compact`: what is gone, what stays, and when a store is left alone."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]

QUICK = ("--allow-private", "--delay", "0", "--retries", "0", "-q")
PERSON = "jane-roe-of-larkspur"


def site() -> LoopbackServer:
    words = ("fire in words of its own, " * 30).encode()
    pages = {f"/{PERSON}": response(b"<title>Jane</title><p>one " + words + b"</p>")}
    home = f'<title>Fire</title><p>two </p><a href="/{PERSON}">fire</a> <a href="/both">fire</a>'.encode()
    return LoopbackServer(
        {"/": response(home + words), "/both": response(b"<p>three " + words + b"</p>"), **pages}
    )


def numbers(run: Run) -> list[int]:
    return [json.loads(line)["run"] for line in run("runs").stdout.splitlines()]


def tables(file: Path) -> dict[str, int]:
    with closing(sqlite3.connect(file)) as db:
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}  # noqa: S608 - names of our own schema


def test_a_deleted_run_leaves_nothing_of_its_own_behind(run: Run, folder: Path) -> None:
    file = folder / "honeyguide.db"
    with served(site()) as (home,):
        run("crawl", home, "--topic", "fire", *QUICK)
        run("crawl", f"{home}both", "--topic", "fire", "--include", "both", *QUICK)
    assert PERSON.encode() in file.read_bytes()
    assert tables(file)["body"] == 3
    result = run("runs", "delete", "1")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "Note: run 1 is deleted: 3 pages, 3 URLs\n"
    assert numbers(run) == [2]
    assert PERSON.encode() not in file.read_bytes()
    assert not (folder / "honeyguide.db-wal").exists()
    left = tables(file)
    assert (left["body"], left["reading"]) == (1, 1)  # of the page that the other run has, too
    assert (left["run"], left["entry"], left["visit"], left["known"]) == (1, 1, 1, 1)
    assert len(run("export", "pages").stdout.splitlines()) == 1
    assert run("plan", "--store", "honeyguide.db").exit_code == 0
    run("runs", "delete", "2")
    kept = {"log", "kept", "worker", "sqlite_sequence", "trust", "prior", "site_clock", "age"}
    assert {name for name, rows in tables(file).items() if rows} <= kept


def test_compact_gives_room_back_and_loses_nothing(run: Run, folder: Path) -> None:
    file = folder / "honeyguide.db"
    with served(site()) as (home,):
        for n in range(4):
            run("crawl", home, "--topic", f"fire|alarm{n}", *QUICK)
    pages = run("export", "pages").stdout
    for n in (1, 2, 3):
        run("runs", "--store", "honeyguide.db", "delete", str(n))
    before = file.stat().st_size
    result = run("runs", "compact")
    assert (result.exit_code, result.stdout) == (0, "")
    assert file.stat().st_size < before
    assert run("export", "pages").stdout == pages
    store = SqliteStore(file)
    assert store.check() == ()
    store.close()


def test_a_store_on_which_a_crawl_works_is_left_alone(run: Run, folder: Path) -> None:
    with served(site()) as (home,):
        run("crawl", home, "--topic", "fire", *QUICK)
    file = folder / "honeyguide.db"
    with closing(sqlite3.connect(file)) as db, db:
        now = time.time()
        values = ("elsewhere", os.getpid(), "token", now, now, now + 60)
        names = "host, pid, token, started_at, seen_at, expires_at"
        db.execute(f"INSERT INTO worker ({names}) VALUES (?, ?, ?, ?, ?, ?)", values)  # noqa: S608 - our own names
    for words in (("delete", "1"), ("compact",)):
        result = run("runs", *words)
        assert result.exit_code == 1
        assert result.stderr == (
            "Error: honeyguide.db: a crawl works on it; stop that first, or wait until it has ended\n"
        )
    assert numbers(run) == [1]


def test_wrong_numbers_and_stores_are_named(run: Run, crawled: Path) -> None:
    before = (crawled / "honeyguide.db").read_bytes()
    result = run("runs", "delete", "7")
    assert (result.exit_code, (crawled / "honeyguide.db").read_bytes()) == (2, before)
    assert "there is no run 7; there are 1 to 1" in result.stderr
    for words in (("delete", "1"), ("compact",)):
        assert "no such store" in run("runs", *words, "--store", "none.db").stderr
        assert "no such store" in run("runs", "--store", "none.db", *words).stderr
    assert numbers(run) == [1]


def test_a_topic_in_other_letters_is_the_same_crawl(run: Run) -> None:
    with served(site()) as (home,):
        for topic in ("fire|Event Loop", "Fire|event loop", "FIRE|EVENT LOOP"):
            run("crawl", home, "--topic", topic, *QUICK)
        assert numbers(run) == [1]
        for topic in (r"fire\w+", r"fire\W+"):  # these differ
            run("crawl", home, "--topic", topic, *QUICK)
    assert numbers(run) == [1, 2, 3]


def test_a_store_in_a_folder_that_may_not_be_read_is_not_called_missing(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del folder
    look = os.stat

    def stat(path: Any, *more: Any, **named: Any) -> os.stat_result:
        if str(path).startswith("noread"):  # root, as in a container, may look into any folder
            raise PermissionError(13, "Permission denied", str(path))
        return look(path, *more, **named)

    monkeypatch.setattr(os, "stat", stat)
    refused = run("runs", "--store", "noread/x.db")
    assert refused.exit_code == 1
    assert refused.stderr.startswith(
        "Error: noread/x.db: cannot be read: this user may not look into its folder; "
    )
