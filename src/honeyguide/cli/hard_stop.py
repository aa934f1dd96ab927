"""The last resort of Ctrl-C, SIGTERM and `--max-time`: a second process that ends this one if it does not answer.

Python runs its signal handlers between two instructions of its own, and none runs while a library works on a stranger's
text. What does run at once is the handler in C, which writes the number of the signal to the file of
`signal.set_wakeup_fd`. A child process reads that file: if this process still works on pages after `GRACE_S`, the child
says so and kills it. Nothing is lost, because the store has every page that was finished; reading a page costs nothing more.
Start reading at `guard`. Must not know: commands. Without `os.fork`, as on Windows, there is no last resort.
"""

from __future__ import annotations

import os
import select
import signal
import time
from pathlib import Path

GRACE_S = 1.7  # with the time it takes to notice, a stop takes two seconds at most
_MOST_S = 20.0  # for a process that waits and computes nothing
_STEP_S = 0.1
STOPPING = {int(signal.SIGINT): "Ctrl-C", int(signal.SIGTERM): "SIGTERM"}
if hasattr(signal, "SIGALRM"):
    STOPPING[int(signal.SIGALRM)] = "--max-time"
_SENTENCE = (
    "Error: still busy with a page or a file after {cause}, so the process was killed; "
    "what was finished is safe: run the same command again\n"
)
_files: list[int] = []  # the end of the pipe to the child, while there is one


def guard() -> None:
    """Start the child process; call this before there are threads, which do not survive a fork."""
    if not hasattr(os, "fork"):
        return
    import fcntl  # not on Windows

    pipe = os.pipe()
    # Above the three standard files, one of which may be closed.
    reading, writing = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 3) for end in pipe)
    for end in pipe:
        os.close(end)
    os.set_blocking(writing, False)
    parent = os.getpid()
    if os.fork() == 0:
        try:
            os.close(writing)
            _stand_by(parent, reading)
        finally:
            os._exit(0)
    os.close(reading)
    _files.append(writing)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)


def release() -> None:
    """End the child process: pages are over, and what is left to write is ours, however long it takes."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    if _files:
        signal.set_wakeup_fd(-1)
        os.close(_files.pop())


def limit(seconds: float | None) -> None:
    """Count the seconds of `--max-time` from now on; the crawl ends by itself in time, unless a page holds it."""
    if seconds is not None and _files:
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _stand_by(parent: int, reading: int) -> None:
    """Wait for a signal of the parent, or for its end, which closes the pipe."""
    os.setsid()  # Ctrl-C in a terminal is for the parent
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for first, last in (
        (0, 2),
        (3, reading),
        (reading + 1, 1 << 16),
    ):  # a pipe that this process keeps open never ends
        os.closerange(first, last)
    while (sent := os.read(reading, 1)) and sent[0] not in STOPPING:
        pass
    start, used_s = time.monotonic(), _cpu_s(parent)
    while sent and not _is_over(time.monotonic() - start, _cpu_s(parent) - used_s):
        if select.select([reading], [], [], _STEP_S)[0] and not os.read(reading, 64):
            return
    if sent and os.getppid() == parent:
        sentence = _SENTENCE.format(cause=STOPPING[sent[0]])
        os.kill(parent, signal.SIGKILL)
        os.write(2, (f"\n{sentence}" if os.isatty(2) else sentence).encode())


def _is_over(waited_s: float, used_s: float) -> bool:
    """Tell whether the time is over; on a machine that is busy with others, a process gets more of it to end by itself."""
    return waited_s >= GRACE_S and (used_s >= GRACE_S / 2 or waited_s >= _MOST_S)


def _cpu_s(process: int) -> float:
    """Read the seconds of CPU that a process has used; where the system has no such file, time itself counts."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return time.monotonic()
