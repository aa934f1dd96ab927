"""The real clock.

Owns: reading the system's time, and sleeping. Must not know: who waits, or for what.
"""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """The time of day when it was made, carried on by the monotonic clock: setting the system's clock moves no pause."""

    def __init__(self) -> None:
        self._epoch = time.time() - time.monotonic()

    def now(self) -> float:
        """Seconds since 1970 UTC; never runs backwards."""
        return self._epoch + time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Let the other tasks run for so long."""
        await asyncio.sleep(seconds)
