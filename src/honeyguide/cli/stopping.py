"""The end of a long run by Ctrl-C or SIGTERM: why it ended, and the exit code. Must not know: any command."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable

INTERRUPTED, TERMINATED = "interrupted", "terminated"
INTERRUPTED_CODE = 128 + 2  # exit code after Ctrl-C, as shells give it
TERMINATED_CODE = 128 + 15  # exit code after SIGTERM, as shells give it


async def until_stopped(work: Awaitable[str]) -> str:
    """Await work, which returns why it ended: `interrupted` after Ctrl-C, `terminated` after SIGTERM."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    reasons = [INTERRUPTED]

    def stop() -> None:
        reasons.append(TERMINATED)
        if task is not None:
            task.cancel()

    # Not `loop.add_signal_handler`, which would take the file of `hard_stop` away. Only the main thread gets signals.
    with suppress(ValueError):
        signal.signal(signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(stop))
    try:
        return await work
    except asyncio.CancelledError:
        return reasons[-1]
    finally:
        with suppress(ValueError):
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
