"""One connection, guarded against its server.

aiohttp limits lines and bodies. It does not limit endless interim answers, chunk extensions, or compressed blocks that hold
nothing. And it would take what arrives on an idle connection for the answer to the next request. Start reading at
`GuardedConnection.data_received`. Must not know: bodies, compression (client.py), addresses.
"""

from __future__ import annotations

import asyncio
import re
import select
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.helpers import set_exception

from honeyguide.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp.http_parser import RawResponseMessage
    from aiohttp.streams import StreamReader


MAX_LINE_BYTES = 64 * 1024  # per header: security policies can be long; aiohttp's own limit is 8190
MAX_HEADERS = 256  # of one answer
MAX_HEAD_BYTES = 256 * 1024  # all headers, and all interim answers before them: as much as browsers accept
_HEAD_ENDS = re.compile(rb"\n\r?\n")
_MAX_SPLITS = 32  # interim answers that are parsed one by one; real servers send fewer
_SEAM_BYTES = 2  # how much of that end may have come before
_PER_BODY_BYTE = 2  # what may be sent for each byte of the largest body that is allowed: chunks have a frame


class FloodError(aiohttp.ClientPayloadError):
    """More was sent than any answer needs."""


class GuardedConnection(ResponseHandler):
    """A connection that counts bytes, and reads one answer for one request."""

    def __init__(self, loop: asyncio.AbstractEventLoop, max_bytes: int) -> None:
        super().__init__(loop)
        self._max_sent = MAX_HEAD_BYTES + _PER_BODY_BYTE * max_bytes
        self._sent = 0
        self._seam = b""  # the last bytes of a head that has not ended yet
        self._splits = 0
        self._has_head = False
        self._has_more = False

    def set_response_params(self, **params: Any) -> None:
        """Start to wait for an answer."""
        self._sent, self._seam, self._splits, self._has_head = 0, b"", 0, False
        super().set_response_params(**params)

    def is_connected(self) -> bool:
        """Tell whether it can be used; bytes on an idle connection spoil it."""
        return super().is_connected() and not (self._is_answered and self._has_input())

    def data_received(self, data: bytes) -> None:
        """Read what was sent, within the limits."""
        if self._is_answered:
            if data:  # aiohttp passes nothing when it checks for more to decompress
                self.abort()
            return
        self._sent += len(data)
        self._parse(data)
        if self._has_more:
            self.abort()
        elif not self._has_head and self._sent > MAX_HEAD_BYTES:
            self._fail(FloodError("its headers are too long"))
        elif self._sent > self._max_sent:
            self._fail(FloodError(f"more than {self._max_sent} bytes sent"))

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """Pass an answer on; after the final one there is none (RFC 9112 9.3)."""
        if self._has_head:
            self._has_more = True
            return
        self._has_head = not 100 <= data[0].code < 200 or data[0].code == 101
        super().feed_data(data, size)

    def set_exception(self, exc: BaseException, exc_cause: BaseException | None = None) -> None:
        """Keep the cause, which aiohttp drops while no request waits, because it tells most."""
        exc.__cause__ = exc_cause
        super().set_exception(exc)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Treat a reset as an error: a body that ends with the connection does not end with a reset."""
        if exc is not None:
            self._break(aiohttp.ClientPayloadError("reset"), exc)
        super().connection_lost(exc)

    @property
    def _is_answered(self) -> bool:
        return self._has_head and (self._payload is None or self._payload.is_eof())

    def _parse(self, data: bytes) -> None:
        """Parse heads apart from what follows, so that garbage behind an answer spoils the connection, not the answer."""
        while not self._has_head and self._splits < _MAX_SPLITS and self.exception() is None:
            found = _HEAD_ENDS.search(self._seam + data)
            if not found:
                break
            end = found.end() - len(self._seam)
            super().data_received(data[:end])
            self._seam, data = b"", data[end:]
            self._splits += 1
        self._seam = (self._seam + data)[-_SEAM_BYTES:]
        # No data after a head means that there is more to decompress.
        if self.exception() is None and (data or self._has_head):
            super().data_received(data)
        if (error := self.exception()) is not None:
            self._break(aiohttp.ClientPayloadError("broken"), error)

    def _break(self, error: aiohttp.ClientPayloadError, cause: BaseException) -> None:
        """End the body with an error, because aiohttp would let its reader wait."""
        payload = self._payload
        if payload is not None and not payload.is_eof() and payload.exception() is None:
            set_exception(payload, error, cause)

    def _fail(self, error: FloodError) -> None:
        self._break(error, error)
        self.set_exception(error)
        if self.transport is not None:
            self.transport.abort()

    def _has_input(self) -> bool:
        """Tell whether bytes wait that the event loop has not read yet."""
        number = self.transport.get_extra_info("socket").fileno() if self.transport else -1
        if number < 0:
            return True
        if sys.platform == "win32":
            return bool(select.select([number], [], [], 0)[0])
        poll = select.poll()
        poll.register(number, select.POLLIN)
        return bool(poll.poll(0))


class Connector(aiohttp.TCPConnector):
    """Connects as aiohttp does, with `GuardedConnection`."""

    def __init__(self, max_bytes: int, **settings: Any) -> None:
        super().__init__(**settings)
        connection: Callable[..., ResponseHandler] = GuardedConnection
        self._factory = partial(connection, loop=self._loop, max_bytes=max_bytes)


async def check_library() -> None:
    """Refuse an aiohttp whose private names differ, because the limits would silently be off."""
    handler = ResponseHandler(asyncio.get_running_loop())
    async with aiohttp.TCPConnector() as plain:
        is_known = hasattr(plain, "_factory") and hasattr(handler, "_payload")
    if not is_known:
        what = f"version {aiohttp.__version__} cannot be guarded; pip install 'aiohttp~=3.14.1' brings one that can"
        raise ConfigError("aiohttp", (Problem("", what),))
