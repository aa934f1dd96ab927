"""Servers on 127.0.0.1 that attack, and one that keeps a log; real sockets, raw bytes.

Owns: `Talker` (a connection is a conversation that a script holds), `Site` (pages by path, in a thread of its own, with
an access log as tools/check_polite.py reads it), `Silent` (a socket that notes whoever knocks), and the answers that
attacks are made of. Must not know: what is attacked. `honeyguide.testing.LoopbackServer` serves single answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from patience import HANG_S

from honeyguide.testing.fakes import Script, drip, response

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Page = bytes | list[bytes] | Script


def pour(head: bytes, piece: bytes) -> Script:
    """Send a head, then the same piece for ever, as fast as it is taken."""
    return drip(head, piece, every_s=0)


def pieces(*parts: bytes, every_s: float = 0.02) -> Script:
    """Send parts one after the other, each in a packet of its own."""

    async def script(writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(every_s)

    return script


def hold(data: bytes) -> Script:
    """Send something, and never anything more."""

    async def script(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        await asyncio.Event().wait()

    return script


def cut(data: bytes) -> Script:
    """Send something, then reset the connection."""

    async def script(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(0.02)
        raw: socket.socket = writer.transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return script


def kept(body: bytes, *headers: str) -> bytes:
    """Write an answer after which the connection stays open."""
    return response(body, *headers).replace(b"Connection: close\r\n", b"")


async def read_head(reader: asyncio.StreamReader) -> str:
    """Read one request's head; raises `IncompleteReadError` when there is none any more."""
    return (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")


class Talker:
    """A server whose every connection is held by one script; `connections` counts them."""

    def __init__(self, talk: Talk, host: str = "127.0.0.1", **listening: Any) -> None:
        self._talk = talk
        self._host = host
        self._listening = listening
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections = 0
        self.port = 0

    @property
    def root(self) -> str:
        return f"http://{self._host}:{self.port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, self._host, 0, **self._listening)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        if task:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        # A client may go away, and a test may end, at any moment.
        with contextlib.suppress(OSError, EOFError, asyncio.CancelledError):
            await self._talk(reader, writer)
        writer.close()


class Site:
    """Pages by path, kept-alive or not, and a line in the log for each request. Runs in a thread: commands block.

    A page is the raw bytes of an answer, a list of them for one request each (the last for all others), or a script;
    other paths are 404.
    """

    def __init__(self, pages: Mapping[str, Page], log: Path | None = None, host: str = "127.0.0.1") -> None:
        self.pages = dict(pages)
        self.host = host
        self.lines: list[dict[str, Any]] = []
        self.port = 0
        self._log = log

    @property
    def root(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [line["path"] for line in self.lines]

    @contextmanager
    def served(self) -> Iterator[str]:
        """Serve while the block runs; the log is written when it ends."""
        started, stop = threading.Event(), asyncio.Event()
        loop = asyncio.new_event_loop()

        async def serve() -> None:
            async with Talker(self._talk, self.host, limit=2**20) as talker:
                self.port = talker.port
                started.set()
                await stop.wait()

        thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
        thread.start()
        try:
            assert started.wait(HANG_S)
            yield self.root
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join()
            loop.close()
            if self._log is not None:
                self._log.write_text("".join(f"{json.dumps(line)}\n" for line in self.lines), "utf-8")

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await read_head(reader)
            line = _line(head, time.time())
            self.lines.append(line)
            try:
                is_kept = await self._answer(line, writer)
            finally:
                line["end"] = time.time()
            if not is_kept:
                return

    async def _answer(self, line: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        """Send what there is; True if the connection may go on."""
        page = self.pages.get(line["path"], kept(b"").replace(b"200 OK", b"404 Not Found"))
        if isinstance(page, list):
            page = page.pop(0) if len(page) > 1 else page[0]
        if not isinstance(page, bytes):
            line["status"] = 200
            await page(writer)
            return False
        line["status"] = int(page[9:12])
        if rest := re.search(rb"\r\nRetry-After: (\d+)\r\n", page[:500]):
            line["retry_after"] = int(rest[1])
        writer.write(page)
        await writer.drain()
        return b"\r\nConnection: close\r\n" not in page[:200]


def _line(head: str, start: float) -> dict[str, Any]:
    """Begin a line of the log."""
    first, *rest = head.split("\r\n")
    fields = dict(line.split(": ", 1) for line in rest if ": " in line)
    return {
        "start": start,
        "end": start,
        "host": fields.get("Host", ""),
        "path": first.split(" ", 2)[1],
        "status": 0,
        "agent": fields.get("User-Agent", ""),
    }


class Silent:
    """Listening sockets on loopback, IPv4 and, where there is one, IPv6; `knocks` lists who came."""

    def __init__(self) -> None:
        self.knocks: list[object] = []
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Self:
        four = socket.create_server(("127.0.0.1", 0))
        self.port: int = four.getsockname()[1]
        self._sockets.append(four)
        with contextlib.suppress(OSError):  # no IPv6 here, or its port is taken
            self._sockets.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        return self

    def __exit__(self, *_: object) -> None:
        for listening in self._sockets:
            listening.setblocking(False)
            with contextlib.suppress(BlockingIOError):  # nobody knocked
                connection, who = listening.accept()
                connection.close()
                self.knocks.append(who)
            listening.close()
