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

# Times differ, and what depends on the sequence of pages, which several workers do not share.
DIFFERENT = {"fetched_at", "elapsed_s", "depth", "parent"}


def honeyguide(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "honeyguide", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_S)  # noqa: S603 - our own command


def records_of(file: Path) -> list[dict[str, object]]:
    records = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    kept = [{name: value for name, value in one.items() if name not in DIFFERENT} for one in records]
    return sorted(kept, key=lambda one: str(one["url"]))


@pytest.mark.parametrize(("place", "workers"), [("file", "2"), ("database", "3")])
def test_any_number_of_workers_gives_the_same_set_of_records(
    tmp_path: Path, place: str, workers: str
) -> None:
    store = str(tmp_path / "h.db") if place == "file" else server().new_database()
    one, several, exported = (tmp_path / f"{name}.jsonl" for name in ("one", "several", "exported"))
    with serve_demo() as root:
        seed = [
            "crawl",
            root,
            "--allow-private",
            "--delay",
            "0",
            "--topic",
            "fire|alarm",
            "--traversal",
            "bfs",
        ]
        alone = honeyguide(*seed, "--store", str(tmp_path / "one.db"), "-o", str(one))
        assert alone.returncode == 0, alone.stderr
        together = honeyguide(*seed, "--store", store, "-o", str(several), "--workers", workers)
        assert together.returncode == 0, together.stderr
    assert "Traceback" not in together.stderr
    assert honeyguide("export", "pages", "--store", store, "-o", str(exported)).returncode == 0
    assert len(records_of(one)) > 10
    assert records_of(several) == records_of(exported) == records_of(one)
