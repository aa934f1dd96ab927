"""The event loop of a command, and its end by Ctrl-C, SIGTERM or `--max-time`: why it ended, the exit code, and a last resort.

The last resort is a second process that ends this one if it does not answer. Python runs its signal handlers between two
instructions of its own, and none runs while a library works on a stranger's text. What does run at once is the handler in C,
which writes the number of the signal to the file of `signal.set_wakeup_fd`. A child process reads that file: if this process
still works on pages after `GRACE_S`, the child says so and kills it. Nothing is lost, because the store has every page that was finished; reading a page costs nothing more.
Start reading at `run`, `until_stopped` and `guard`. Must not know: commands. Without `os.fork`, as on Windows, there is no last resort.
"""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Awaitable, Callable, Coroutine
    from typing import Any, TypeVar

    Result = TypeVar("Result")

INTERRUPTED, TERMINATED = "interrupted", "terminated"
INTERRUPTED_CODE = 128 + 2  # exit code after Ctrl-C, as shells give it
TERMINATED_CODE = 128 + 15  # exit code after SIGTERM, as shells give it
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
_AWAKE_S = 0.2  # between two looks of uvloop for signals


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run work in the loop of uvloop, if that is installed, else in Python's own; the results are the same."""
    import asyncio  # `honeyguide --help` needs none

    make_loop: Callable[[], AbstractEventLoop] | None = None
    with suppress(ImportError):  # an extra; asyncio has a loop of its own
        import uvloop

        make_loop = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=make_loop) as runner:
        return runner.run(work if make_loop is None else _awake(work))


async def _awake(work: Coroutine[Any, Any, Result]) -> Result:
    """Await work in a loop that has taken the file of `guard` for itself; without it, signals wait for the loop to wake up."""
    import asyncio

    async def tick() -> None:
        while True:  # noqa: ASYNC110 - no event says that a signal came
            await asyncio.sleep(_AWAKE_S)

    ticking = asyncio.create_task(tick())
    if _files:
        signal.set_wakeup_fd(_files[0], warn_on_full_buffer=False)
    try:
        return await work
    finally:
        ticking.cancel()


async def until_stopped(work: Awaitable[str]) -> str:
    """Await work, which returns why it ended: `interrupted` after Ctrl-C, `terminated` after SIGTERM."""
    import asyncio  # `honeyguide --help` needs none

    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    reasons = [INTERRUPTED]

    def stop() -> None:
        reasons.append(TERMINATED)
        if task is not None:
            task.cancel()

    # Not `loop.add_signal_handler`, which would take the file of `guard` away. Only the main thread gets signals.
    with suppress(ValueError):
        signal.signal(signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(stop))
    try:
        return await work
    except asyncio.CancelledError:
        return reasons[-1]
    finally:
        with suppress(ValueError):
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


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
    # A pipe that this process keeps open never ends.
    for first, last in ((0, 2), (3, reading), (reading + 1, 1 << 16)):
        os.closerange(first, last)
    while (sent := os.read(reading, 1)) and sent[0] not in STOPPING:
        pass
    start, used_s = time.monotonic(), _cpu_s(parent)
    while sent:
        waited_s = time.monotonic() - start
        # On a machine that is busy with others, a process gets more time to end by itself.
        if waited_s >= GRACE_S and (_cpu_s(parent) - used_s >= GRACE_S / 2 or waited_s >= _MOST_S):
            break
        if select.select([reading], [], [], _STEP_S)[0] and not os.read(reading, 64):
            return
    if sent and os.getppid() == parent:
        sentence = _SENTENCE.format(cause=STOPPING[sent[0]])
        os.kill(parent, signal.SIGKILL)
        os.write(2, (f"\n{sentence}" if os.isatty(2) else sentence).encode())


def _cpu_s(process: int) -> float:
    """Read the seconds of CPU that a process has used; where the system has no such file, time itself counts."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return time.monotonic()
