"""Job 5: what the command line costs before it does anything. Byte code is compiled beforehand, as an installer does."""

from __future__ import annotations

import atexit
import os
import resource
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from typing import TYPE_CHECKING

from bench.measure import Contest, Pair, Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.sample import Sample

OURS = "honeyguide --help"
_COMMANDS = {
    OURS: ("honeyguide", ("-m", "honeyguide", "--help")),
    "scrapy --help": ("scrapy", ("-m", "scrapy", "--help")),
    "crwl --help (Crawl4AI)": ("crawl4ai", ("-c", "from crawl4ai.cli import main; main()", "--help")),
    "python -c pass": ("sys", ("-c", "pass")),
}


def contests(_sample: Sample) -> Iterator[Contest]:
    environment = _environment()
    entrants = {
        name: _runner(args, environment) for name, (needs, args) in _COMMANDS.items() if find_spec(needs)
    }
    yield Contest(
        "command line start",
        Unit("ms", 1, 1e3),
        entrants,
        [Pair(OURS, name, below_s=0.15) for name in entrants if name != OURS],
        [
            "command line start: CPU time of the child process, byte code compiled; `python -c pass` is the floor."
        ],
        clock=_children_seconds,
    )


def _environment() -> dict[str, str]:
    """Keep compiled byte code in a folder of this run: the warm-up fills it, for everybody alike."""
    folder = tempfile.TemporaryDirectory(prefix="bench-bytecode-")
    atexit.register(folder.cleanup)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": folder.name}


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _runner(args: tuple[str, ...], environment: dict[str, str]) -> Callable[[], object]:
    def run() -> None:
        command = [sys.executable, *args]
        subprocess.run(command, env=environment, capture_output=True, check=True)  # noqa: S603 - the commands above

    run()  # compiles
    return run
