"""`crawl --workers N`: several processes on one store, one whole output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from patience import HANG_S
from postgres_server import server

from honeyguide.demo import serve_demo


def crawl(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "honeyguide", "crawl", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_S)  # noqa: S603 - our own command


def urls_of(file: Path) -> list[str]:
    return sorted(json.loads(line)["url"] for line in file.read_text("utf-8").splitlines())


@pytest.mark.parametrize("place", ["file", "database"])
def test_two_workers_fetch_each_page_once_and_the_output_has_all(tmp_path: Path, place: str) -> None:
    store = str(tmp_path / "h.db") if place == "file" else server().new_database()
    with serve_demo() as root:
        seed = [root, "--allow-private", "--delay", "0", "--topic", "fire|alarm", "--traversal", "bfs"]
        alone = crawl(*seed, "--store", str(tmp_path / "one.db"), "-o", str(tmp_path / "one.jsonl"))
        assert alone.returncode == 0, alone.stderr
        both = crawl(*seed, "--store", store, "-o", str(tmp_path / "two.jsonl"), "--workers", "2")
        assert both.returncode == 0, both.stderr
    assert urls_of(tmp_path / "two.jsonl") == urls_of(tmp_path / "one.jsonl")
    assert "Traceback" not in both.stderr
