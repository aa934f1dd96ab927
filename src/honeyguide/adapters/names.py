"""Host names to addresses.

Owns: asking the system's resolver, in threads of its own. Must not know: which addresses may be visited (addresses.py
sees each one when it is about to be connected to), HTTP. Start reading at `Names.resolve`.

A lookup cannot be cancelled: a name server that never answers holds its thread long after the request has given up.
So there are more threads than requests, nobody else's work waits for them, and neither does the end of the program.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

Found = list[tuple[Any, ...]]
Lookup = Callable[..., Found]
"""Answers like `socket.getaddrinfo`."""

_PER_REQUEST = 4  # a silent name server takes the system's resolver about four times our patience
_MAX_THREADS = 256
# Only addresses of a family that this machine has; without a network, Windows would not even know localhost.
_FLAGS = 0 if sys.platform == "win32" else socket.AI_ADDRCONFIG
_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class Names(AbstractResolver):
    """A resolver whose slow answers hold up nothing else."""

    def __init__(self, concurrency: int, lookup: Lookup | None = None) -> None:
        self._lookup: Lookup = lookup or socket.getaddrinfo
        self._room = asyncio.Semaphore(min(_PER_REQUEST * concurrency, _MAX_THREADS))

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Give all addresses of a name; raises `OSError` as the system does."""
        ask = partial(self._lookup, host, port, type=socket.SOCK_STREAM, family=family, flags=_FLAGS)
        return [
            ResolveResult(
                hostname=host,
                host=_numeric(address),
                port=address[1],
                family=kind,
                proto=proto,
                flags=_NUMERIC,
            )
            for kind, _, proto, _, address in await self._ask(ask)
        ]

    async def close(self) -> None:
        """Wait for no answer any more: the threads are none that Python waits for."""

    async def _ask(self, ask: Callable[[], Found]) -> Found:
        """Ask in a thread; its place is free again when it ends, whether or not anybody still waits."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Found] = loop.create_future()

        def settle(found: Found | Exception) -> None:
            self._room.release()
            if answer.done():  # given up
                return
            if isinstance(found, Exception):
                answer.set_exception(found)
            else:
                answer.set_result(found)

        def work() -> None:
            found: Found | Exception
            try:
                found = ask()
            except Exception as error:  # noqa: BLE001 - it is raised again where it is waited for
                found = error
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(settle, found)

        await self._room.acquire()
        try:
            Thread(target=work, name="names", daemon=True).start()
        except RuntimeError as error:  # the system has no more threads
            self._room.release()
            raise OSError(str(error)) from error
        return await answer


def _numeric(address: tuple[Any, ...]) -> str:
    """Write an address with its zone, without which a link-local one leads nowhere."""
    zone = address[3] if len(address) > 3 else 0
    text = str(address[0])
    return f"{text}%{zone}" if zone and "%" not in text else text
