"""The real clock.

Owns: reading the system's time, and sleeping. Must not know: who waits. Start reading at `SystemClock`.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class SystemClock:
    """The time of day at its creation plus a monotonic clock, so that setting the system's time moves no pause.

    The monotonic clock is one that counts while the machine sleeps, if the system has one, as Linux does.
    """

    def __init__(self) -> None:
        self._passed_s = _monotonic_clock()
        self._epoch = time.time() - self._passed_s()

    def now(self) -> float:
        """Seconds since 1970 UTC; never runs backwards."""
        return self._epoch + self._passed_s()

    async def sleep(self, seconds: float) -> None:
        """Let the other tasks run for so long."""
        await asyncio.sleep(seconds)


def _monotonic_clock() -> Callable[[], float]:
    """Return the clock that counts seconds, also while the machine sleeps if possible."""
    number = getattr(time, "CLOCK_BOOTTIME", None)
    if number is None:
        return time.monotonic
    try:
        time.clock_gettime(number)
    except OSError:  # the kernel does not have it
        return time.monotonic
    return partial(time.clock_gettime, number)
