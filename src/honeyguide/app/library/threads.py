"""Coroutines for plain calls: in a thread with an event loop of its own, because a notebook's loop runs already.

Owns: `run` for one result, `iterate` for many. Must not know: what is run. Start reading at `iterate`.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator

Item = TypeVar("Item")


def run(work: Callable[[], Coroutine[Any, Any, Item]]) -> Item:
    """Run a coroutine to its end, and give its result.

    >>> async def answer() -> int:
    ...     return 42
    >>> run(answer)
    42
    """

    async def only() -> AsyncGenerator[Item]:
        yield await work()

    (result,) = iterate(only)
    return result


def iterate(source: Callable[[], AsyncGenerator[Item]]) -> Iterator[Item]:
    """Give the items of an asynchronous iterator, which is asked for an item when the one before is done with.

    Meanwhile its event loop keeps running, so that open connections are served. Leaving the loop early ends the source.
    """
    feed = _Feed(source)
    try:
        while (item := feed.handed.get()) is not feed:
            yield item
            feed.want()
    finally:
        feed.end()
    if feed.error is not None:
        raise feed.error


class _Feed(Generic[Item]):
    """A thread that hands over items one by one, and then itself."""

    def __init__(self, source: Callable[[], AsyncGenerator[Item]]) -> None:
        self.handed: SimpleQueue[Any] = SimpleQueue()
        self.error: BaseException | None = None
        self._source = source
        self._is_ready = threading.Event()
        self._thread = threading.Thread(target=self._work, name="honeyguide", daemon=True)
        self._thread.start()
        self._is_ready.wait()

    def want(self) -> None:
        """Ask for the next item."""
        with suppress(RuntimeError):  # the loop has closed: its last item was handed over
            self._loop.call_soon_threadsafe(self._is_wanted.set)

    def end(self) -> None:
        """Cancel what still works, and wait until it has cleaned up."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()

    def _work(self) -> None:
        try:
            asyncio.run(self._hand_over())
        except asyncio.CancelledError:
            pass  # by `end`
        except BaseException as error:  # noqa: BLE001 - raised again by whoever reads the items
            self.error = error
        self.handed.put(self)

    async def _hand_over(self) -> None:
        self._loop, self._is_wanted = asyncio.get_running_loop(), asyncio.Event()
        self._task: asyncio.Task[Any] | Any = asyncio.current_task()
        self._is_ready.set()
        async with aclosing(self._source()) as items:
            async for item in items:
                self.handed.put(item)
                await self._is_wanted.wait()
                self._is_wanted.clear()
