"""Host names to addresses.

Owns: asking the system's resolver, in threads of its own. Must not know: which addresses may be visited (addresses.py
sees each one when it is about to be connected to), HTTP. Start reading at `Names.resolve`.

A lookup cannot be cancelled: a name server that never answers holds its thread long after the request has given up.
So there are more threads than requests, and nobody else's work waits for them.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

Lookup = Callable[..., list[tuple[Any, ...]]]
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
        self._threads = ThreadPoolExecutor(min(_PER_REQUEST * concurrency, _MAX_THREADS), "names")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Give all addresses of a name; raises `OSError` as the system does."""
        ask = partial(self._lookup, host, port, type=socket.SOCK_STREAM, family=family, flags=_FLAGS)
        found = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        return [
            ResolveResult(
                hostname=host,
                host=_numeric(address),
                port=address[1],
                family=kind,
                proto=proto,
                flags=_NUMERIC,
            )
            for kind, _, proto, _, address in found
        ]

    async def close(self) -> None:
        """Wait for no answer any more."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _numeric(address: tuple[Any, ...]) -> str:
    """Write an address with its zone, without which a link-local one leads nowhere."""
    zone = address[3] if len(address) > 3 else 0
    text = str(address[0])
    return f"{text}%{zone}" if zone and "%" not in text else text
