"""The real clock.

Owns: reading the system's time, and sleeping. Must not know: who waits, or for what.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class SystemClock:
    """The time of day when it was made, carried on by a clock that nobody sets: setting the system's moves no pause.

    Where the system has one that goes on while the machine sleeps, as Linux does, that is the one.
    """

    def __init__(self) -> None:
        self._passed_s = _ticking()
        self._epoch = time.time() - self._passed_s()

    def now(self) -> float:
        """Seconds since 1970 UTC; never runs backwards."""
        return self._epoch + self._passed_s()

    async def sleep(self, seconds: float) -> None:
        """Let the other tasks run for so long."""
        await asyncio.sleep(seconds)


def _ticking() -> Callable[[], float]:
    """Give what counts the seconds, sleep included if possible: otherwise all times after one would be off."""
    number = getattr(time, "CLOCK_BOOTTIME", None)
    if number is None:
        return time.monotonic
    try:
        time.clock_gettime(number)
    except OSError:  # the kernel does not have it
        return time.monotonic
    return partial(time.clock_gettime, number)
