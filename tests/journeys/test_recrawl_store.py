"""The loop closed: crawl, plan, visit again; and a watch that is killed keeps its budget and its order."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from patience import HANG_S

if TYPE_CHECKING:
    from collections.abc import Iterator

FLAGS = ("--allow-private", "--delay", "0", "--quiet")
PAGES = 40
BUDGET = 20


class Site:
    """A site whose pages can change; each has an ETag, and every request is noted with its answer."""

    def __init__(self, pages: int, pause_s: float = 0.0) -> None:
        self.texts = {f"/{n}": f"words of its own, number {n}" for n in range(1, pages)}
        self.dates = dict.fromkeys(self.texts, "2024-06-15")
        self.pause_s = pause_s
        self.log: list[tuple[str, int]] = []
        self.root = ""

    def body(self, path: str) -> bytes | None:
        if path == "/":
            links = "".join(f'<p><a href="{name}">fire {name}</a></p>' for name in self.texts)
            return f"<title>Fire</title><h1>Fire</h1><main><p>All about fire.</p>{links}</main>".encode()
        if path not in self.texts:
            return None
        number = int(path[1:])
        topic = "fire alarms" if number <= 4 else "other things"
        text = "".join(f"<p>{topic}, part {part}: {self.texts[path]}</p>" for part in "abcdefgh")
        title = f"<title>{topic} {number}</title><h1>{topic}</h1>"
        return f"{title}<main>{text}</main><footer>Updated {self.dates[path]}</footer>".encode()

    def answer(self, path: str, etag: str | None) -> tuple[int, bytes, str]:
        body = self.body(path)
        if body is None:
            return 404, b"", ""
        mark = f'"{blake2b(body, digest_size=8).hexdigest()}"'
        return (304, b"", mark) if etag == mark else (200, body, mark)

    @property
    def asked(self) -> list[str]:
        return [path for path, _ in self.log if path != "/robots.txt"]


@contextmanager
def served(site: Site) -> Iterator[Site]:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            time.sleep(site.pause_s)
            status, body, mark = site.answer(self.path, self.headers["If-None-Match"])
            site.log.append((self.path, status))
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            if mark:
                self.send_header("ETag", mark)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    site.root = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "honeyguide", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=env, stdout=pipe, stderr=pipe)  # noqa: S603 - our own program


def run(folder: Path, *arguments: str) -> tuple[list[dict[str, Any]], str]:
    """Run a command to its end; gives its records and what it says besides."""
    with start(folder, *arguments) as process:
        stdout, stderr = process.communicate(timeout=HANG_S)
    assert process.returncode == 0, stderr.decode()
    return [json.loads(line) for line in stdout.splitlines()], stderr.decode()


@pytest.mark.slow
def test_what_is_due_is_visited_again_and_what_changed_is_found(tmp_path: Path) -> None:
    with served(Site(10)) as site:
        run(tmp_path, "crawl", f"{site.root}/", "--topic", "fire", *FLAGS)
        assert sorted(set(site.asked)) == sorted(["/", *site.texts])
        site.texts["/1"] += ", and more of them"
        site.texts["/2"] += ", and more of them"
        site.dates["/3"] = "2024-06-16"  # in its footer: no change

        planned, said = run(tmp_path, "plan", "--store", "honeyguide.db", "--top", "6", "--enqueue")
        paths = [record["url"].removeprefix(site.root) for record in planned]
        assert len(paths) == 6
        assert {"/1", "/2", "/3", "/4"} < set(paths)  # they are about the topic
        assert "6 URLs are scheduled, 6 in run 1" in said

        site.log.clear()
        records, _ = run(tmp_path, "crawl", "--due", *FLAGS, "--concurrency", "1")
        assert site.asked == paths  # these, in this order, and no others
        statuses = dict(site.log)
        assert {path for path in paths if statuses[path] == 200} == {"/1", "/2", "/3"}
        assert [record["status"] for record in records] == [statuses[path] for path in paths]

        assert run(tmp_path, "crawl", "--due", *FLAGS)[0] == []
        assert len(site.asked) == 6

        after, _ = run(tmp_path, "plan", "--store", "honeyguide.db", "--policy", "heuristic")
        changed = [record["url"] for record in after if "Changed in last 24h" in record["reasons"]]
        assert sorted(changed) == [f"{site.root}/1", f"{site.root}/2"]


WATCH = ("watch", "--per-hour", str(BUDGET), "--cycle", "3600", "--rounds", "1", "--concurrency", "1", *FLAGS)


def age(store: Path, days: int) -> None:
    """Let a crawl have been some days ago, each page at another hour: what is worth the same may change places."""
    with closing(sqlite3.connect(store)) as db:
        db.execute("UPDATE visit SET at = at - ?", (days * 86_400,))
        for hours, (digest,) in enumerate(db.execute("SELECT digest FROM known ORDER BY url").fetchall()):
            ago = days * 86_400 + hours * 3600
            db.execute(
                "UPDATE known SET visited_at = visited_at - :1, seen_at = seen_at - :1, "
                "first_seen = first_seen - :1 WHERE digest = :2",
                {"1": ago, "2": digest},
            )
        db.commit()


def visits_of_this_hour(store: Path) -> int:
    with closing(sqlite3.connect(store)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        # A row without a digest is a request.
        asked = "SELECT count(*) FROM visit WHERE at > ? AND digest IS NOT NULL"
        (count,) = db.execute(asked, (time.time() - 3600,)).fetchone()
    return int(count)


def once_each(paths: list[str]) -> list[str]:
    return list(dict.fromkeys(paths))


@pytest.fixture
def grown(tmp_path: Path) -> Iterator[tuple[Site, Path]]:
    """A site, and the store of a crawl of it, two days ago."""
    with served(Site(PAGES, pause_s=0.005)) as site:
        run(tmp_path, "crawl", f"{site.root}/", "--topic", "fire", *FLAGS)
        age(tmp_path / "honeyguide.db", days=2)
        site.log.clear()
        yield site, tmp_path / "honeyguide.db"


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
@pytest.mark.slow
def test_a_watch_that_is_killed_keeps_its_budget_and_order(grown: tuple[Site, Path], tmp_path: Path) -> None:
    site, store = grown
    calm, wild = tmp_path / "calm", tmp_path / "wild"
    for folder in (calm, wild):
        folder.mkdir()
        shutil.copy(store, folder / "honeyguide.db")
    records, _ = run(calm, *WATCH)
    undisturbed = site.asked
    assert len(site.log) == BUDGET  # robots.txt is a request, too
    assert len(undisturbed) == len(records) == BUDGET - 1

    site.log.clear()
    kills = 0
    for after in (3, 5, 4):
        asked = len(site.asked)
        with start(wild, *WATCH) as process:
            while process.poll() is None and len(site.asked) < asked + after:
                threading.Event().wait(0.002)
            kills += process.poll() is None
            process.kill()
            process.communicate()
    assert kills == 3  # or they prove nothing
    assert 0 < visits_of_this_hour(wild / "honeyguide.db") < BUDGET
    run(wild, *WATCH)
    visited = once_each(site.asked)
    assert visited == undisturbed[: len(visited)]
    # Each kill costs robots.txt once more, the page that was in flight, and a request that was noted and not made.
    assert len(visited) >= BUDGET - 1 - 3 * kills
    assert len(site.log) <= BUDGET
    assert visits_of_this_hour(wild / "honeyguide.db") == len(visited)

    site.log.clear()
    run(wild, *WATCH)
    assert site.asked == []  # the hour is not over


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals there")
@pytest.mark.parametrize(
    ("number", "code", "why"),
    [(signal.SIGINT, 130, b"interrupted"), (signal.SIGTERM, 0, b"stopped by SIGTERM")],
)
@pytest.mark.slow
def test_a_watch_ends_cleanly_when_it_is_told_to(
    grown: tuple[Site, Path], number: int, code: int, why: bytes
) -> None:
    site, store = grown
    with start(
        store.parent, "watch", "--per-hour", "60", "--allow-private", "--delay", "0", "-o", "p.jsonl"
    ) as process:
        while process.poll() is None and not site.asked:
            threading.Event().wait(0.01)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=HANG_S)
    assert process.returncode == code, stderr
    assert b"Stopped: %b; run the same command again to resume." % why in stderr
    lines = [json.loads(line) for line in (store.parent / "p.jsonl").read_bytes().splitlines()]
    assert len(lines) == PAGES + visits_of_this_hour(store)
