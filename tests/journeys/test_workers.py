"""`workers`, `workers stop` and `runs` while processes crawl: in a file and in a database."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from patience import HANG_S
from postgres_server import server

from honeyguide.cli.main import root as cli
from honeyguide.core.records.fields import WorkerRecord, fields
from honeyguide.demo import serve_demo


def run(*words: str) -> str:
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    return done.output


def workers(store: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in run("workers", "--store", store, "--format", "jsonl").splitlines()]


@pytest.mark.parametrize("place", ["file", "database"])
def test_workers_are_listed_and_stop_when_they_are_asked_to(tmp_path: Path, place: str) -> None:
    store = str(tmp_path / "h.db") if place == "file" else server().new_database()
    with serve_demo() as root:
        command = [
            sys.executable,
            "-m",
            "honeyguide",
            "crawl",
            root,
            "--allow-private",
            "--delay",
            "60",
            "--traversal",
            "bfs",
            "--store",
            store,
        ]
        crawl = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603 - our own command
        ends_at = time.monotonic() + HANG_S
        while (
            time.monotonic() < ends_at
            and crawl.poll() is None
            and not (Path(store).exists() or place == "database")
        ):
            time.sleep(0.05)
        listed: list[dict[str, object]] = []
        while time.monotonic() < ends_at and crawl.poll() is None and not listed:
            done = CliRunner().invoke(cli, ["workers", "--store", store, "--format", "jsonl"])
            listed = [json.loads(line) for line in done.output.splitlines()] if not done.exit_code else []
        assert [(one["run"], one["pid"], one["stopping"]) for one in listed] == [(1, crawl.pid, False)]
        assert [tuple(one) for one in listed] == [tuple(fields(WorkerRecord))]
        (record,) = map(json.loads, run("runs", "--store", store, "--format", "jsonl").splitlines())
        assert (record["workers"], record["seen_at"] is not None) == (1, True)
        assert "1 worker, " in run("runs", "--store", store, "--format", "table")
        wrong = CliRunner().invoke(cli, ["workers", "stop", "7", "--store", store])
        assert (wrong.exit_code, "no run 7" in wrong.output) == (2, True), wrong.output
        assert "1 worker of " in run("workers", "stop", "1", "--store", store)
        assert all(one["stopping"] for one in workers(store))
        _, said = crawl.communicate(timeout=HANG_S)
    assert crawl.returncode == 3, said
    assert "honeyguide workers stop asked for it" in said
    assert "Traceback" not in said
    assert workers(store) == []
    assert "nobody works on" in run("workers", "stop", "--store", store)
    (record,) = map(json.loads, run("runs", "--store", store, "--format", "jsonl").splitlines())
    assert (record["stopped"], record["workers"]) == ("stopped", 0)
