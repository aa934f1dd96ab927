"""How long work is stopped from outside: by Ctrl-C, or by SIGTERM, as whoever runs it in the background does.

Owns: hearing of it. Must not know: what is stopped, or what is said of it. Start reading at `until_told`.
"""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable

INTERRUPTED, TOLD = "interrupted", "told"
TOLD_CODE = 128 + 15  # exit code of what SIGTERM has ended, as shells give it


async def until_told(work: Awaitable[str]) -> str:
    """Wait for work, which says why it ended; or give `interrupted` after Ctrl-C, and `told` after SIGTERM."""
    task = asyncio.current_task()
    reasons = [INTERRUPTED]

    def told() -> None:
        reasons.append(TOLD)
        if task is not None:
            task.cancel()

    # Not on Windows, nor outside the main thread.
    with suppress(NotImplementedError, RuntimeError, ValueError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told)
    try:
        return await work
    except asyncio.CancelledError:
        return reasons[-1]
