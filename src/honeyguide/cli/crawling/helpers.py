"""Other processes on the same crawl: `--workers N`.

Owns: starting them with the command of this process, without its outputs, and ending them. Must not know: what they do, because
the store shares the work. Start reading at `Helpers`.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress

# Options of the command that are this process's alone, and whether a value follows.
_OWN = {
    "--workers": True, "-o": True, "--output": True, "--report": True, "--warc": True, "--markdown": True, "--format": True,
    "--top": True, "--content": True, "--lists": False, "--restart": False, "-v": False, "--verbose": False,
}  # fmt: skip
_PATIENCE_S = 30.0  # for a process that applies what it has fetched


class Helpers:
    """Processes that help with a crawl. What they fetch is in the store, where this process's outputs read it at the end."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start them when there is a run that they can join."""
        command = [
            sys.executable,
            "-m",
            "honeyguide",
            *without_outputs(sys.argv[1:]),
            "--quiet",
            "--format",
            "jsonl",
        ]
        for _ in range(self._count - len(self._processes)):
            started = subprocess.Popen(  # noqa: S603 - our own command
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
            self._processes.append(started)

    def close(self) -> None:
        """End them: whoever stops asks the others to stop, too, and they commit what they have fetched."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_PATIENCE_S)
                continue
            process.kill()
            process.wait()


def without_outputs(words: list[str]) -> list[str]:
    """Leave out the options that are one process's alone.

    >>> without_outputs(["crawl", "https://a.example", "-o", "p.jsonl", "--workers=4", "--max-pages", "9", "--restart"])
    ['crawl', 'https://a.example', '--max-pages', '9']
    """
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        name, has_value, _ = word.partition("=")
        if name not in _OWN:
            kept.append(word)
        elif _OWN[name] and not has_value:
            next(rest, None)
    return kept
