"""A crawl in a process of its own: what it used, by the kernel's account, and what it fetched, by the server's.

Owns: starting and waiting, reading the access log. Must not know: who crawls. Start reading at `run_apart` and `AccessLog`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_REQUEST = re.compile(r'"[A-Z]+ (\S+) HTTP/[\d.]+" (\d{3}) (\d+)')  # of nginx's and Apache's usual formats
_SETTLE_S = 0.3  # a line is written when its answer has been sent, which may be after the client has gone


@dataclass(frozen=True, slots=True)
class Used:
    """What a process and its children used."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def run_apart(command: Sequence[str], folder: str, *, expected: Iterable[int] = (0,)) -> Used:
    """Run a command in a folder that is its home, too; an exit code that is not expected ends it all."""
    env = {**os.environ, "HOME": folder, "CRAWL4_AI_BASE_DIRECTORY": folder, "CRAWLEE_STORAGE_DIR": folder}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (os.getcwd(), os.environ.get("PYTHONPATH"))))  # noqa: PTH109 - a text is wanted, not a Path
    began = time.monotonic()
    with subprocess.Popen(  # noqa: S603 - ourselves
        command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        told = process.stderr.read() if process.stderr else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in expected:
        sys.exit(f"{' '.join(command)}\nended with exit code {process.returncode}:\n{told[-2000:]}")
    cpu_s = usage.ru_utime + usage.ru_stime
    return Used(cpu_s, time.monotonic() - began, usage.ru_maxrss / 1024)


@dataclass(frozen=True, slots=True)
class Request:
    """A line of the access log."""

    target: str
    status: int
    sent_bytes: int


class AccessLog:
    """Reads what a server wrote since the last call."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = path.stat().st_size

    def take(self) -> list[Request]:
        """Give the requests since the last call, in the order in which they were answered; robots.txt is left out."""
        time.sleep(_SETTLE_S)
        with self._path.open("rb") as file:
            file.seek(self._at)
            text = file.read().decode("utf-8", "replace")
            self._at = file.tell()
        found = [Request(target, int(status), int(sent)) for target, status, sent in _REQUEST.findall(text)]
        return [request for request in found if request.target.partition("?")[0] != "/robots.txt"]
