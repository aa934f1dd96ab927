"""The command killed, interrupted and run twice at once: the output file ends whole, with every page once."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from patience import HANG_S

from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from honeyguide.testing.fakes import Script

PAGES = 150
KILLS = 5
WINDOW = 80  # what a process may have in flight or uncommitted when it is killed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such signals there")


def _late(body: str, seconds: float) -> Script:
    async def script(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        writer.write(response(body.encode()))
        await writer.drain()

    return script


def _site() -> LoopbackServer:
    """A tree of pages, flat enough for `focused` to reach all; every fifth is about fire, and some are slow."""
    pages = {}
    for number in range(PAGES):
        links = "".join(
            f'<p><a href="/{child}">{"fire" if child % 5 == 0 else "page"} {child}</a></p>'
            for child in (*range(12 * number + 1, 12 * number + 13), number // 12)
            if child < PAGES
        )
        title = f"Fire {number}" if number % 5 == 0 else f"Page {number}"
        words = " ".join(f"word{number}x{n}" for n in range(80))
        body = f"<title>{title}</title><main><p>{title} {words}</p>{links}</main>"
        pages[f"/{number}"] = _late(body, 0.02 if number % 7 == 0 else 0.002)
    return LoopbackServer(pages)


def _start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    flags = ["--topic", "fire", "--allow-private", "--delay", "0", "--quiet"]
    command = [sys.executable, "-m", "honeyguide", "crawl", *arguments, *flags]
    return subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE)  # noqa: S603 - our own program


@pytest.fixture
def _heard() -> Iterator[None]:
    """Let children hear Ctrl-C, also where whoever started the tests ignores it: that is handed down."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _finish(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    with process:
        _, stderr = process.communicate(timeout=HANG_S)
    return process.returncode, stderr


def _stop(process: subprocess.Popen[bytes], server: LoopbackServer, after: int, number: int) -> int:
    """Send a signal when the process has made so many requests; gives its exit code."""
    asked = len(server.requests)
    with process:
        while process.poll() is None and len(server.requests) < asked + after:
            threading.Event().wait(0.002)
        process.send_signal(number)
        process.communicate(timeout=HANG_S)
    return process.returncode


def _lines(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def _urls(path: Path) -> list[str]:
    return [record["url"] for record in _lines(path)]


def _stored(folder: Path) -> list[str]:
    """Read the pages of the store without our own code."""
    with closing(sqlite3.connect(folder / "honeyguide.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = db.execute("SELECT record FROM visit WHERE record IS NOT NULL ORDER BY run, claim").fetchall()
    return [json.loads(record)["url"] for (record,) in rows]


@pytest.mark.slow
def test_a_crawl_that_is_killed_again_and_again_writes_every_page_once(tmp_path: Path) -> None:
    moments = random.Random(7)  # noqa: S311 - the same kills in every run of this test
    server = _site()
    calm, wild = tmp_path / "calm", tmp_path / "wild"
    calm.mkdir()
    wild.mkdir()
    with served(server) as (root,):
        home = f"{root}0"
        assert _finish(_start(calm, home, "-o", "p.jsonl")) == (0, b"")
        undisturbed = _urls(calm / "p.jsonl")
        asked = len(server.requests)
        seen = []
        for after in (1, *(moments.randint(10, 30) for _ in range(KILLS - 1))):
            _stop(_start(wild, home, "-o", "p.jsonl"), server, after, signal.SIGKILL)
            seen.append(len((wild / "p.jsonl").read_bytes().splitlines()))
        assert 0 < seen[-1] < PAGES  # or the kills prove nothing
        assert _finish(_start(wild, home, "-o", "p.jsonl")) == (0, b"")
        assert len(server.requests) - asked <= PAGES + KILLS * WINDOW
    assert len(undisturbed) == PAGES
    assert sorted(_urls(wild / "p.jsonl")) == sorted(undisturbed)
    assert _urls(wild / "p.jsonl") == _stored(wild)
    assert sorted(file.name for file in wild.iterdir()) == ["honeyguide.db", "p.jsonl"]


@pytest.mark.usefixtures("_heard")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.slow
def test_ctrl_c_and_sigterm_end_with_a_file_that_says_what_the_store_says(
    tmp_path: Path, number: int, code: int
) -> None:
    server = _site()
    with served(server) as (root,):
        home = f"{root}0"
        assert _stop(_start(tmp_path, home, "-o", "p.jsonl"), server, 40, number) == code
        with closing(sqlite3.connect(tmp_path / "honeyguide.db")) as db:
            assert db.execute("SELECT stopped FROM run").fetchall() == [("interrupted",)]
        assert 0 < len(_lines(tmp_path / "p.jsonl")) < PAGES
        assert _urls(tmp_path / "p.jsonl") == _stored(tmp_path)
        assert _finish(_start(tmp_path, home, "-o", "p.jsonl")) == (0, b"")
    assert len(set(_urls(tmp_path / "p.jsonl"))) == len(_lines(tmp_path / "p.jsonl")) == PAGES


@pytest.mark.usefixtures("_heard")
@pytest.mark.slow
def test_parquet_and_a_report_tell_of_the_whole_run_however_it_was_stopped(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")  # an extra
    server, outputs = _site(), ("-o", "p.parquet", "--report", "r.md")

    def told() -> list[str]:
        assert f"{len(_stored(tmp_path)):,} pages fetched" in (tmp_path / "r.md").read_text("utf-8")
        return list(pl.read_parquet(tmp_path / "p.parquet")["url"])

    with served(server) as (root,):
        home = f"{root}0"
        assert _stop(_start(tmp_path, home, *outputs), server, 40, signal.SIGKILL) == -signal.SIGKILL
        assert not list(tmp_path.glob("p.*"))  # written in one step, when a crawl stops
        assert _stop(_start(tmp_path, home, *outputs), server, 40, signal.SIGINT) == 130
        assert told() == _stored(tmp_path)
        assert 0 < len(told()) < PAGES
        assert _finish(_start(tmp_path, home, *outputs)) == (0, b"")
    assert told() == _stored(tmp_path)
    assert len(set(told())) == PAGES


@pytest.mark.slow
def test_two_processes_on_one_store_share_the_pages_and_both_files_have_all(tmp_path: Path) -> None:
    server = _site()
    with served(server) as (root,):
        home = f"{root}0"
        processes = [_start(tmp_path, home, "-o", f"{name}.jsonl") for name in ("a", "b")]
        ends = [_finish(process) for process in processes]
        assert ends == [(0, b""), (0, b"")]
    paths = [path for path in server.paths if path != "/robots.txt"]
    assert len(paths) == len(set(paths)) == PAGES
    assert _urls(tmp_path / "a.jsonl") == _urls(tmp_path / "b.jsonl") == _stored(tmp_path)


@pytest.mark.parametrize("budget", [1, 57])
def test_the_budget_of_pages_is_exact(tmp_path: Path, budget: int) -> None:
    server = _site()
    with served(server) as (root,):
        home = f"{root}0"
        code, _ = _finish(_start(tmp_path, home, "-o", "p.jsonl", "--max-pages", str(budget)))
    assert code == 3
    assert len(server.requests) == budget + 1  # robots.txt
    assert len(_lines(tmp_path / "p.jsonl")) == budget
