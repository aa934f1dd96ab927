"""What a person sees: in a terminal a table, in colour or not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pty = pytest.importorskip("pty")  # only systems with terminals of that kind

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def _in_terminal(folder: Path, *args: str, **env: str) -> str:
    """Run a command whose standard output is a terminal, and give what the terminal received."""
    ours, theirs = pty.openpty()
    settings = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "TERM": "xterm-256color",
        "COLUMNS": "80",
    }
    settings.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "honeyguide", *args]
    with subprocess.Popen(command, cwd=folder, env={**settings, **env}, stdout=theirs) as process:  # noqa: S603 - our own program
        os.close(theirs)
        received = b""
        try:
            while data := os.read(ours, 65_536):
                received += data
        except OSError:  # how a terminal says that the other side is gone
            pass
    os.close(ours)
    assert process.returncode == 0
    return received.decode()


PLAN = ("plan", "known.csv", "--now", "2024-06-15T08:00:00Z")


def test_a_terminal_gets_a_table(folder: Path) -> None:
    shown = _in_terminal(folder, *PLAN)
    assert "+20 Changed in last 24h" in shown
    assert "{" not in shown
    assert max(len(_ESCAPE.sub("", line)) for line in shown.splitlines()) <= 80


@pytest.mark.parametrize("arguments", [(*PLAN, "--no-color"), ("--no-color", *PLAN)])
def test_no_color_by_option(folder: Path, arguments: tuple[str, ...]) -> None:
    assert "\x1b[" not in _in_terminal(folder, *arguments)


def test_no_color_by_environment(folder: Path) -> None:
    assert "\x1b[" not in _in_terminal(folder, *PLAN, NO_COLOR="1")
