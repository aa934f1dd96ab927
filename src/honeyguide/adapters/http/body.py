"""The body of an answer, within the limits.

Owns: how much of a body is read, what its first bytes must not be, and how much of all bodies may be in memory while they
are read. Must not know: requests, headers of other use (client.py), connections. Start reading at `BodyReader.whole`.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from honeyguide.core.page.media import SNIFFED_BYTES, why_wrong_bytes
from honeyguide.errors import NotTextError, TooLargeError, shown
from honeyguide.ports.fetch import TEXT_PARTS, Part

if TYPE_CHECKING:
    import aiohttp

    from honeyguide.core.fetching import FetchPolicy

CUTS = {
    Part.HEAD: 64 * 1024,
    Part.START: 500 * 1024,
}  # PICK-11; RFC 9309 2.5. Reading ends there, without error
MAX_FILE_BYTES = 50 * 2**20  # sitemaps.org: a sitemap is no page, and may be that large, packed or not
_HEAD_ENDS = re.compile(rb"</head|<body", re.IGNORECASE)
_HEAD_END_BYTES = 6  # the length of either mark: how far back to search when the next piece arrives
MAX_READING_BYTES = 16 * 2**20  # of all bodies together: 32 honest pages are smaller than that


class Room:
    """The memory for bodies that are being read.

    If all take more than `MAX_READING_BYTES`, those that take more than their share wait, and their servers with them. The
    oldest never waits, so one always ends.
    """

    def __init__(self) -> None:
        self._sizes: dict[object, int] = {}  # by reader, the oldest first
        self._total = 0
        self._freed = asyncio.Event()

    async def take(self, reader: object, size: int) -> None:
        """Note how large a body is by now, and wait while it may not grow."""
        self._total += size - self._sizes.get(reader, 0)
        self._sizes[reader] = size
        while self._total > MAX_READING_BYTES and not self._may_grow(reader, size):
            self._freed.clear()
            await self._freed.wait()

    def _may_grow(self, reader: object, size: int) -> bool:
        return size * len(self._sizes) <= MAX_READING_BYTES or next(iter(self._sizes)) is reader

    def leave(self, reader: object) -> None:
        """Free what a body took."""
        self._total -= self._sizes.pop(reader, 0)
        self._freed.set()


class BodyReader:
    """Reads one body piece by piece within the limits; no piece is larger than aiohttp's buffer."""

    def __init__(
        self, url: str, response: aiohttp.ClientResponse, policy: FetchPolicy, part: Part, room: Room
    ) -> None:
        self._url = url
        self._response = response
        self._room = room
        self._part = part
        self._cut = CUTS.get(part)
        is_file = part is Part.FILE
        self._most_sent = MAX_FILE_BYTES if is_file else policy.max_bytes
        self._most = MAX_FILE_BYTES if is_file else policy.max_decoded_bytes
        self._body = bytearray()

    async def whole(self) -> tuple[bytes, bool]:
        """Read the body, and whether it was cut on purpose."""
        self._check_announced()
        try:
            return await self._read()
        finally:
            self._room.leave(self)
            self._body = bytearray()  # or an error would keep it, with its traceback

    async def _read(self) -> tuple[bytes, bool]:
        async for piece in self._response.content.iter_any():
            seen = len(self._body)
            self._body += piece
            self._check_size()
            await self._room.take(self, len(self._body))
            if seen < SNIFFED_BYTES <= len(self._body):
                self._check_bytes()
            if self._is_enough(seen):
                self._check_bytes()
                return bytes(self._body[: self._cut]), True
        self._check_bytes()
        return bytes(self._body), False

    def _check_announced(self) -> None:
        encoding, transfer = (
            ", ".join(self._response.headers.getall(name, ())).strip().lower()
            for name in ("Content-Encoding", "Transfer-Encoding")
        )
        if transfer not in ("", "identity", "chunked"):
            what = f"its transfer encoding is {shown(transfer)}, which was not asked for"
            raise NotTextError(self._url, what)
        if encoding not in ("", "identity"):
            accepted = self._response.request_info.headers.get("Accept-Encoding", "")
            if encoding not in re.split(r"\s*,\s*", accepted):
                what = f"its compression is {shown(encoding)}, which was not asked for"
                raise NotTextError(self._url, what)
        announced = self._response.content_length or 0
        if self._cut is None and announced > self._most_sent:
            raise TooLargeError(self._url, f"{announced} bytes announced, {self._most_sent} allowed")

    def _check_size(self) -> None:
        """Check the size so far; if reading is cut anyway, the cut is the limit."""
        if self._cut is not None:
            return
        if self._response.content.total_raw_bytes > self._most_sent:
            raise TooLargeError(self._url, f"more than {self._most_sent} bytes sent")
        if len(self._body) > self._most:
            raise TooLargeError(self._url, f"more than {self._most} bytes after decompression")

    def _check_bytes(self) -> None:
        """Check the first bytes if the type is missing."""
        if self._part not in TEXT_PARTS:
            return
        start = bytes(self._body[:SNIFFED_BYTES])
        if why := why_wrong_bytes(self._response.headers.get("Content-Type"), start):
            raise NotTextError(self._url, why)

    def _is_enough(self, seen: int) -> bool:
        if self._cut is None:
            return False
        past_head = self._part is Part.HEAD and _HEAD_ENDS.search(self._body, max(0, seen - _HEAD_END_BYTES))
        return bool(past_head) or len(self._body) > self._cut
