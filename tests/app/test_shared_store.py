"""Loops over stores in one event loop: one that was left or cancelled holds up no other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from honeyguide.app.library.shared_store import Reading


async def first() -> int:
    """Read a store as a loop over a crawl does, and leave early; the end of the loop takes a moment."""
    reading = Reading("x.db", "key")

    async def read() -> AsyncGenerator[int, None]:
        await reading.begin()
        try:
            yield 1
            yield 2
        finally:
            await asyncio.sleep(0.02)
            reading.end()

    found = read()
    reading.watch(found)
    async for one in found:
        return one
    return 0


def test_a_loop_that_was_cancelled_while_it_waited_holds_up_no_other() -> None:
    async def main() -> int:
        await first()  # which is left early
        waiting = asyncio.create_task(first())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        del waiting
        return await asyncio.wait_for(first(), 60)

    assert asyncio.run(main()) == 1
