"""uvloop and the event loop of Python: the same records, and the same end by a signal (`cli/stopping.py`)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from threading import Event
from typing import TYPE_CHECKING

import pytest
from patience import HANG_S

from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from pathlib import Path

_MAIN = "from honeyguide.__main__ import main; main()"
_SAYS = "import atexit, sys; atexit.register(lambda: print('uvloop' in sys.modules and bool(sys.modules['uvloop'])));"
SCRIPTS = {
    "uvloop": _SAYS + _MAIN,
    "asyncio": "import sys; sys.modules['uvloop'] = None;" + _SAYS + _MAIN,  # as if it were not installed
}
LOOPS = [
    pytest.param(
        "uvloop",
        marks=pytest.mark.skipif(find_spec("uvloop") is None, reason="needs pip install 'honeyguide[speed]'"),
    ),
    "asyncio",
]
OPTIONS = ("--topic", "alarm", "--allow-private", "--delay", "0", "--quiet", "-o", "pages.jsonl")


def start(folder: Path, loop: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a command in a process of its own, which says in the end whether it had uvloop."""
    command = [sys.executable, "-c", SCRIPTS[loop], *arguments]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=env, stdout=pipe, stderr=pipe, text=True)  # noqa: S603 - our own program


def crawled(folder: Path, loop: str, home: str) -> list[dict[str, object]]:
    folder.mkdir()
    with start(folder, loop, "crawl", home, *OPTIONS) as process:
        said, errors = process.communicate(timeout=HANG_S)
    assert (said, errors, process.returncode) == (f"{loop == 'uvloop'}\n", "", 0)
    lines = (folder / "pages.jsonl").read_text("utf-8").splitlines()
    records: list[dict[str, object]] = [json.loads(line) for line in lines]
    return [{**record, "fetched_at": None, "elapsed_s": None} for record in records]


@pytest.mark.skipif(find_spec("uvloop") is None, reason="needs pip install 'honeyguide[speed]'")
def test_both_loops_give_the_same_records(tmp_path: Path) -> None:
    links = "".join(f"<li><a href='/{n}'>Alarm {n}</a>" for n in range(12))
    pages = {
        f"/{n}": response(f"<title>{n}</title><p>Alarm {n} rings.<ul>{links}</ul>".encode()) for n in range(9)
    }
    pages["/9"] = response(b"", status="503 Busy")
    pages["/10"] = b"no HTTP\r\n\r\n"
    with served(LoopbackServer({"/": response(f"<ul>{links}</ul>".encode()), **pages})) as (home,):
        first, second = (crawled(tmp_path / loop, loop, home) for loop in ("uvloop", "asyncio"))
    assert len(first) > len(pages)
    assert first == second


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be sent these signals there")
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_crawl_that_waits_for_an_answer_ends_by_itself(
    tmp_path: Path, loop: str, number: int, code: int
) -> None:
    is_asked = Event()

    async def say_nothing(*_: object) -> None:
        is_asked.set()
        await asyncio.Event().wait()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a child inherits that it is ignored
    try:
        with (
            served(LoopbackServer({"/": say_nothing})) as (home,),
            start(tmp_path, loop, "crawl", home, *OPTIONS) as process,
        ):
            assert is_asked.wait(HANG_S)
            process.send_signal(number)
            said, errors = process.communicate(timeout=HANG_S)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (said, errors, process.returncode) == (f"{loop == 'uvloop'}\n", "", code)
