"""What a person sees: in a terminal a table, in colour or not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from pathlib import Path

pty = pytest.importorskip("pty")  # only systems with terminals of that kind

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def _in_terminal(folder: Path, *args: str, with_stderr: bool = False, **env: str) -> str:
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
    stderr = theirs if with_stderr else None
    with subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=folder, env={**settings, **env}, stdout=theirs, stderr=stderr
    ) as process:
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


@pytest.mark.parametrize("columns", [80, 40, 20])
@pytest.mark.slow
def test_pages_of_a_crawl_are_one_row_each_and_stay_on_the_screen(folder: Path, columns: int) -> None:
    """The progress line is one row, too: rich clears as many rows as it drew last, and pages stand above it."""
    many = "".join(f'<a href="/fire-{n}-{"long" * 9}">Fire {n}</a>' for n in range(12))
    pages = {"/": response(f"<title>Fire {'and more ' * 20}</title><p>fire</p>{many}".encode())}
    for n in range(12):
        words = f"Fire {n}, in words of its own: {'fire ' * n}".encode()
        pages[f"/fire-{n}-{'long' * 9}"] = response(b"<title>" + words + b"</title><p>" + words + b"</p>")
    with served(LoopbackServer(pages)) as (home,):
        shown = _in_terminal(
            folder, "crawl", home, "--topic", "fire", "--allow-private", "--delay", "0",
            "--no-color", with_stderr=True, COLUMNS=str(columns), TERM="xterm",
        )  # fmt: skip
    rows = screen(shown, columns)
    assert rows[0].startswith("Score  Action"[:columns])
    listed = [row for row in rows if re.match(r" +[0-9]+  (seed|tunnel|expand)", row)]
    assert len(listed) == 13
    assert all(len(row) <= columns for row in listed)


def screen(text: str, columns: int) -> list[str]:
    """Show what a terminal shows: carriage returns, line feeds, cursor up, erased lines, wrapping."""
    rows, row, column = [""], 0, 0
    for control, sign in re.findall(r"\x1b\[([0-9;?]*[A-Za-z])|([^\x1b])", text):
        if control.endswith("A"):
            row = max(0, row - int(control[:-1] or 1))
        elif control == "2K":
            rows[row] = ""
        elif sign == "\r":
            column = 0
        elif sign == "\n":
            row, column = row + 1, 0
        elif sign:
            if column == columns:
                row, column = row + 1, 0
            rows += [""] * (row + 1 - len(rows))
            rows[row] = f"{rows[row]:<{column}}"[:column] + sign + rows[row][column + 1 :]
            column += 1
        rows += [""] * (row + 1 - len(rows))
    return rows
