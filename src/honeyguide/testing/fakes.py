"""Fakes of the ports, and a loopback server that misbehaves on request; public, for the tests of plug-ins.

Owns: `FakeFetcher`, `FrozenClock`, `LoopbackServer` and its answers. Must not know: any adapter, any job.
Start reading at `FakeFetcher`.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from honeyguide.ports.fetch import Fetched, Headers, Part, Validators

if TYPE_CHECKING:
    from honeyguide.core.url.url import Url
    from honeyguide.errors import FetchError

Answer = Fetched | bytes | int | type["FetchError"]
"""The answer of a fake for a URL: a `Fetched`, the body of an HTML page, a bare status, or an error to raise."""

_SETTLED_TURNS = 20  # turns of the event loop without a new sleeper, after which frozen time moves on


class FakeFetcher:
    """A `Fetcher` whose web is a mapping from URL texts to answers; other URLs are 404.

    A sequence of answers is returned one by one, its last one for ever. `requests` lists the URLs in order.
    """

    def __init__(self, pages: Mapping[str, Answer | Sequence[Answer]]) -> None:
        self._pages = dict(pages)
        self.requests: list[str] = []

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        """Answer from the mapping."""
        del validators, part
        answer = self._pages.get(url.as_linked, 404)
        if isinstance(answer, Sequence) and not isinstance(answer, bytes):
            answer = answer[min(self.requests.count(url.as_linked), len(answer) - 1)]
        self.requests.append(url.as_linked)
        await asyncio.sleep(0)
        if isinstance(answer, Fetched):
            return answer
        if isinstance(answer, bytes):
            return Fetched(url, url, 200, Headers(content_type="text/html"), answer)
        if isinstance(answer, int):
            return Fetched(url, url, answer)
        raise answer(url.as_linked, "as told")


class FrozenClock:
    """A `Clock` that moves only when every task sleeps, and then to the earliest wake-up: hours pass in no time."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self._now = now
        self._sleepers: list[tuple[float, int]] = []
        self._count = 0

    def now(self) -> float:
        """Return the frozen time."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until every other task sleeps too, and this is the first to wake."""
        self._count += 1
        mine = (self._now + seconds, self._count)
        heapq.heappush(self._sleepers, mine)
        try:
            await self._until_first(mine)
        finally:
            self._sleepers.remove(mine)
            heapq.heapify(self._sleepers)
        self._now = max(self._now, mine[0])

    async def _until_first(self, mine: tuple[float, int]) -> None:
        quiet, seen = 0, self._count
        while quiet < _SETTLED_TURNS:
            await asyncio.sleep(0)
            quiet = quiet + 1 if self._sleepers[0] == mine and seen == self._count else 0
            seen = self._count


Script = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Writes an answer in its own time; the connection is closed when it returns."""


class LoopbackServer:
    """A server on 127.0.0.1 whose answers are raw bytes or scripts, by path; other paths are 404.

    `requests` lists the heads of all requests, as text; `connections` counts all accepted connections.
    """

    def __init__(self, answers: Mapping[str, bytes | Script]) -> None:
        self.answers = dict(answers)
        self.requests: list[str] = []
        self.connections = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.port = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def root(self) -> str:
        """The address, without a slash at its end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        """The requested paths, in order."""
        return [head.split(" ", 2)[1] for head in self.requests]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if task := asyncio.current_task():
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        try:
            # A client may disconnect, and a test may end, at any moment.
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._answer(reader, writer)
        finally:
            writer.transport.abort() if writer.transport.is_closing() else writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request; a connection has no second one."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        self.requests.append(head)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            answer = self.answers.get(head.split(" ", 2)[1], response(b"", status="404 Not Found"))
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(writer)
        finally:
            self.in_flight -= 1


def response(body: bytes, *headers: str, status: str = "200 OK", kind: str = "text/html") -> bytes:
    r"""Write an ordinary answer.

    >>> response(b"hi", "ETag: x")
    b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\nContent-Type: text/html\r\nETag: x\r\n\r\nhi'
    """
    typed = [f"Content-Type: {kind}"] if kind else []
    lines = [f"HTTP/1.1 {status}", "Connection: close", f"Content-Length: {len(body)}", *typed, *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def drip(head: bytes, piece: bytes, *, every_s: float) -> Script:
    """Send a head, then one piece after another, for ever."""

    async def script(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(every_s)

    return script


async def silence(_: asyncio.StreamWriter) -> None:
    """Accept the request and never say a word."""
    await asyncio.Event().wait()


async def reset(writer: asyncio.StreamWriter) -> None:
    """Cut the connection."""
    writer.transport.abort()


@contextlib.contextmanager
def served(*servers: LoopbackServer) -> Iterator[list[str]]:
    """Run servers in a thread, beside a test that blocks; yields their addresses."""
    loop = asyncio.new_event_loop()
    started, stop = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with contextlib.AsyncExitStack() as stack:
            for server in servers:
                await stack.enter_async_context(server)
            started.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        if not started.wait(600):
            raise TimeoutError("the servers did not start")
        yield [f"{server.root}/" for server in servers]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
