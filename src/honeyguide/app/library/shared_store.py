"""Crawls of one program on one store: each event loop opens it once, and a crawl that was left ends before the next begins.

Owns: which stores the event loops of this process have open, which loops over pages have not ended. Must not know: crawling.
Start reading at `store_of_loop`.
"""

from __future__ import annotations

import asyncio
import weakref
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from honeyguide.app.runs import opened_store
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from honeyguide.ports.store import Store


@dataclass
class _OpenStore:
    store: Store
    closing: ExitStack
    users: int = 0


@dataclass(eq=False)
class Reading:
    """An `async for` over the pages of a crawl. After `break`, its event loop ends the crawl a moment later.

    The next one on the same store waits for that moment: otherwise it would miss the pages that the first one still commits.
    """

    store: str | Path | Store | None
    run_key: str
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    _pages: weakref.ref[Any] | None = None
    _place: tuple[asyncio.AbstractEventLoop, object] | None = None

    @property
    def was_left(self) -> bool:
        """Whether nobody can ask for another page."""
        return self._pages is not None and self._pages() is None

    @property
    def place(self) -> object:
        """What two loops have in common that must not overlap: the event loop and the store; None without a store."""
        return self._place

    def watch(self, pages: AsyncGenerator[Any]) -> None:
        """Notice when nobody reads the pages any more."""
        self._pages = weakref.ref(pages)

    async def begin(self) -> None:
        """Wait until those on the same store that were left early have ended."""
        if self.store is not None:
            self._place = asyncio.get_running_loop(), _name_of(self.store)
        others = [one for one in _READINGS if one.place == self.place is not None]
        if any(one.run_key == self.run_key and not one.was_left for one in others):
            raise InputError("this program is reading the pages of this crawl already: read them in one loop")
        _READINGS.append(self)
        try:
            for one in others:
                if one.was_left:
                    await one.ended.wait()
        except BaseException:  # cancelled: the next ones would wait for this one for ever
            self.end()
            raise

    def end(self) -> None:
        """Let the next one begin."""
        _READINGS.remove(self)
        self.ended.set()


_READINGS: list[Reading] = []  # that have begun and not ended
_OPEN: dict[tuple[asyncio.AbstractEventLoop, object], _OpenStore] = {}


@contextmanager
def store_of_loop(path: str | Path) -> Iterator[Store]:
    """Open a store, once for each event loop: two connections of one thread would wait for each other."""
    key = asyncio.get_running_loop(), _name_of(path)
    if key not in _OPEN:
        closing = ExitStack()
        _OPEN[key] = _OpenStore(closing.enter_context(opened_store(path)), closing)
    shared = _OPEN[key]
    shared.users += 1
    try:
        yield shared.store
    finally:
        shared.users -= 1
        if not shared.users:
            del _OPEN[key]
            shared.closing.close()


def _name_of(store: str | Path | Store) -> object:
    if isinstance(store, str) and "://" in store:
        return store
    return Path(store).resolve() if isinstance(store, (str, Path)) else store
