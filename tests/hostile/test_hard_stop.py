"""Ctrl-C, SIGTERM and `--max-time` end a command that no longer runs an instruction of Python.

The page of these tests is read by a stand-in that holds the interpreter for good, as a library does on a text that
somebody made for it; without the last resort, each test runs into its time limit. The stand-in waits for a lock that it
has itself, because that takes no CPU time; so a process that computes nothing is not given its twenty seconds here. One
test has a stand-in that computes.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from patience import HANG_S

from honeyguide.testing.fakes import LoopbackServer, response, served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no last resort without it"),
]

BUSY = """
import ctypes, signal
from honeyguide.adapters.html import page

def busy(*_):
    if signal.getitimer(signal.ITIMER_REAL)[0]:  # --max-time is counted: its last seconds are left out
        signal.setitimer(signal.ITIMER_REAL, 0.5)
    while True:
        try:  # a signal may come before the call; it is not what ends this process
            print("busy", flush=True)
            system, lock = ctypes.PyDLL(None), ctypes.create_string_buffer(256)
            system.pthread_mutex_init(lock, None)
            system.pthread_mutex_lock(lock)
            system.pthread_mutex_lock(lock)
        except KeyboardInterrupt:
            pass

page.is_page = busy
from honeyguide.cli import main, stopping
stopping._MOST_S = stopping.GRACE_S
main.main()
"""
COMPUTING = """
from honeyguide.adapters.html import page

def busy(*_):
    while True:
        try:  # as above
            print("busy", flush=True)
            sum(range(10**15))  # runs no instruction of Python for days
        except KeyboardInterrupt:
            pass

page.is_page = busy
from honeyguide.cli import main
main.main()
"""


@pytest.fixture(autouse=True)
def _heard() -> Iterator[None]:
    """Let children hear Ctrl-C, also where whoever started the tests ignores it: that is handed down."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def start(folder: Path, *arguments: str, script: tuple[str, ...] = ("-c", BUSY)) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, *script, *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=env, stdout=pipe, stderr=pipe, text=True)  # noqa: S603 - our own program


def end(process: subprocess.Popen[str], number: int | None = None) -> str:
    """Send a signal when the process is busy, and return what it says in the end."""
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "busy\n"
        if number is not None:
            process.send_signal(number)
        try:
            return process.communicate(timeout=HANG_S)[1]
        finally:
            process.kill()


CRAWL = ("crawl", "--traversal", "bfs", "--allow-private", "--delay", "0", "--quiet", "-o", "pages.jsonl")


@pytest.mark.parametrize(
    ("number", "extra", "cause"),
    [
        (signal.SIGINT, (), "Ctrl-C"),
        (signal.SIGTERM, (), "SIGTERM"),
        (None, ("--max-time", "3600"), "--max-time"),
    ],
)
def test_a_crawl_whose_page_holds_the_interpreter_is_ended_and_can_be_resumed(
    tmp_path: Path, number: int | None, extra: tuple[str, ...], cause: str
) -> None:
    page = response(b"<title>Acme</title><p>We test alarms.")
    with served(LoopbackServer({"/": page})) as (home,):
        process = start(tmp_path, *CRAWL, home, *extra)
        assert f"file after {cause}, so the process was killed" in end(process, number)
        assert process.returncode == -signal.SIGKILL
        again = start(tmp_path, *CRAWL, home, script=("-m", "honeyguide"))
        with again:
            assert again.communicate(timeout=HANG_S)[1] == ""
    (line,) = (tmp_path / "pages.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["title"] == "Acme"


@pytest.mark.parametrize(
    "command",
    [
        ("links", "page.html", "--base", "https://a.example/"),
        ("select", "page.html", "--base", "https://a.example/"),
        ("score", "page", "page.html", "--topic", "fire"),
    ],
)
def test_ctrl_c_ends_a_command_that_reads_a_file(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "page.html").write_text("<p>hi")
    process = start(tmp_path, *command)
    assert "file after Ctrl-C, so the process was killed" in end(process, signal.SIGINT)
    assert process.returncode == -signal.SIGKILL


def test_ctrl_c_ends_a_pick(tmp_path: Path) -> None:
    with served(LoopbackServer({"/": response(b"<title>Acme</title>")})) as (home,):
        process = start(tmp_path, "pick", home, "--allow-private", "--quiet")
        assert "file after Ctrl-C, so the process was killed" in end(process, signal.SIGINT)


def test_a_command_that_computes_is_ended(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>hi")
    process = start(tmp_path, "links", "page.html", script=("-c", COMPUTING))
    assert "file after Ctrl-C, so the process was killed" in end(process, signal.SIGINT)
    assert process.returncode == -signal.SIGKILL


def test_sigterm_ends_a_watch_and_its_store_has_what_was_finished(tmp_path: Path) -> None:
    real = ("-m", "honeyguide")
    server = LoopbackServer({"/": response(b"<title>Acme</title><p>We test alarms.")})
    with served(server) as (home,):
        with start(tmp_path, *CRAWL, home, script=real) as crawl:
            assert crawl.communicate(timeout=HANG_S)[1] == ""
        with closing(sqlite3.connect(tmp_path / "honeyguide.db")) as store, store:
            store.execute("UPDATE known SET visited_at = visited_at - 86400")  # so that it is due
        server.answers["/"] = response(b"<title>Acme</title><p>We test fire alarms.")
        process = start(tmp_path, "watch", "--per-hour", "3600", "--allow-private", "--delay", "0", "--quiet")
        assert "file after SIGTERM, so the process was killed" in end(process, signal.SIGTERM)
        assert process.returncode == -signal.SIGKILL
    with start(tmp_path, "export", "pages", "-o", "again.jsonl", "--quiet", script=real) as export:
        assert export.communicate(timeout=HANG_S)[1] == ""
    (line,) = (tmp_path / "again.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["title"] == "Acme"


def test_what_watches_over_a_process_ends_with_it(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>hi")
    # The output ends when nobody has it open: a process that is left would keep this waiting.
    assert end(start(tmp_path, "links", "page.html"), signal.SIGKILL) == ""
