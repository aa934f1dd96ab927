"""Killed again and again, a run over many sites ends with the very bytes of one that nobody disturbed."""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from patience import HANG_S, wait_until

from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide.testing.fakes import Script

SITES = 12
CONCURRENCY = 4
PAGES = 4  # of a site
LIVES = 4  # that end by a kill in the middle
PROSE = "We install, inspect and repair what keeps your building safe, every day of the year. " * 12


class Gate:
    """Lets so many requests of all sites through; the others wait, so that a kill comes before the end on any machine."""

    def __init__(self) -> None:
        self.requests = 0
        self.most = math.inf

    def page(self, body: str, turns: int) -> Script:
        """Make a page that is answered after so many turns of the server."""

        async def script(writer: asyncio.StreamWriter) -> None:
            self.requests += 1
            if self.requests > self.most:
                await asyncio.Event().wait()
            for _ in range(turns):
                await asyncio.sleep(0)
            writer.write(response(body.encode()))
            await writer.drain()

        return script


def _site(number: int, gate: Gate) -> LoopbackServer:
    """A small site; some are slow, so that records finish out of order."""
    turns = 2_000 if number % 4 == 0 else 20
    links = "".join(f'<a href="/{name}">{name}</a> ' for name in ("services", "about", "repair", "contact"))
    pages = {"": f"<title>Site {number}</title><nav>{links}</nav><p>{PROSE}</p>"}
    pages |= {
        name: f"<title>{name}</title><h1>{name} {number}</h1><p>{name} {PROSE}</p>"
        for name in ("services", "about", "repair")
    }
    return LoopbackServer({f"/{name}": gate.page(body, turns) for name, body in pages.items()})


def _start(folder: Path, output: str) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    flags = ["--allow-private", "--delay", "0", "--no-timings", "--concurrency", str(CONCURRENCY), "--quiet"]
    command = [sys.executable, "-m", "honeyguide", "pick", "-i", "sites.txt", "-o", output, *flags]
    return subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE)  # noqa: S603 - our own program


def _finish(folder: Path, output: str) -> None:
    with _start(folder, output) as process:
        _, stderr = process.communicate(timeout=HANG_S)
    assert (process.returncode, stderr) == (0, b"")


def _finished(path: Path) -> set[str]:
    """Read what both files hold of whole records, as bytes and without our own code."""
    found = set()
    for file in (path, path.with_name(f"{path.name}.journal")):
        whole, _, _ = (file.read_bytes() if file.exists() else b"").rpartition(b"\n")
        lines = [line.partition(b"\t")[2] or line for line in whole.split(b"\n")]
        found |= {json.loads(line).get("site", "") for line in lines if line}
    return found - {""}


def _killed(folder: Path, servers: list[LoopbackServer], gate: Gate, most: int) -> set[str]:
    """Start the command and kill it when it asks for more than so many pages; give what is finished then."""
    path = folder / "picks.jsonl"
    done = _finished(path)
    asked = {server.root: len(server.requests) for server in servers}
    gate.requests, gate.most = 0, most
    with _start(folder, path.name) as process:
        wait_until(lambda: process.poll() is not None or gate.requests > most)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert done <= _finished(path)
    assert all(len(s.requests) == asked[s.root] for s in servers if f"{s.root}/" in done)
    return _finished(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_loses_and_repeats_nothing(tmp_path: Path) -> None:
    moments = random.Random(20)  # noqa: S311 - the same kills in every run of this test
    gate = Gate()
    servers = [_site(number, gate) for number in range(SITES)]
    with served(*servers):
        sites = [f"{server.root}/" for server in servers]
        (tmp_path / "sites.txt").write_text("\n".join(sites))
        _finish(tmp_path, "calm.jsonl")
        path = tmp_path / "picks.jsonl"
        states = [
            _killed(tmp_path, servers, gate, most)
            for most in (0, CONCURRENCY * PAGES, *(moments.randint(8, 16) for _ in range(LIVES)))
        ]
        assert any(0 < len(done) < SITES for done in states)  # or the kills prove nothing
        gate.most = math.inf
        _finish(tmp_path, path.name)
    assert [json.loads(line)["site"] for line in path.read_text("utf-8").splitlines()] == sites
    assert path.read_bytes() == (tmp_path / "calm.jsonl").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["calm.jsonl", "picks.jsonl", "sites.txt"]
