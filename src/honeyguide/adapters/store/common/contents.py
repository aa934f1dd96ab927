"""Pages as they were read: packed, equal bodies once, the oldest dropped when there are too many bytes.

Owns: packing and unpacking. Must not know: what a page is. Start reading at `SqlContents.keep`. A store may be a
stranger's: nothing is unpacked beyond the size that its row names, and no row may name more than `MAX_BYTES`.
"""

from __future__ import annotations

# ruff: noqa: D102 - ports/store.py says what the methods promise
import zlib
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.store.common.database import reads
from honeyguide.core.url.url import Url
from honeyguide.errors import StoreError
from honeyguide.ports.store import KeptPage

if TYPE_CHECKING:
    from honeyguide.adapters.store.common.database import Database

MAX_BYTES = 64 * 2**20  # of a body; what is fetched is smaller, unless a library call allows more
_ZLIB, _ZSTD = 1, 2  # the column `codec`
_ZSTD_WINDOW = 23  # at most 2**23 bytes of memory to unpack: level 3 uses 2**21
_NO_ZSTD = "keeps pages that were packed with zstd; pip install 'backports.zstd>=1.0' to read them"


class SqlContents:
    """The `Contents` of a store."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._sql = db.queries("contents")

    @reads
    def keep(self, run: int, claim: int, page: KeptPage, max_bytes: int) -> int:
        """Keep the page of a visit; returns how many of the oldest bodies were dropped to make room."""
        kept, is_known = self._db.one(self._sql["look"], (page.digest,))
        values = (run, claim, page.digest, page.url.as_linked, page.content_type)
        if is_known:
            self._db.later(self._sql["add_reading"], values)
            return 0
        if page.body is None or len(page.body) > min(max_bytes, MAX_BYTES):
            return 0
        codec, data = pack(page.body)
        self._db.write(self._sql["add_body"], (page.digest, codec, len(page.body), data))
        self._db.later(self._sql["add_reading"], values)
        return self.drop(max_bytes) if kept + len(data) > max_bytes else 0

    @reads
    def get(self, run: int, claim: int) -> KeptPage | None:
        self._db.write_waiting()
        row = self._db.one(self._sql["get"], (run, claim))
        if row is None:
            return None
        digest, url, content_type, codec, size, data = row
        return KeptPage(Url.parse(url), content_type, digest, self._unpacked(codec, size, data))

    @reads
    def drop(self, max_bytes: int) -> int:
        dropped = 0
        while self._db.one(self._sql["kept"])[0] > max_bytes:
            if not self._db.write(self._sql["drop_oldest"]).rowcount:
                break
            dropped += 1
        return dropped

    def _unpacked(self, codec: int, size: int, data: bytes) -> bytes:
        if codec == _ZSTD and _zstd() is None:
            raise StoreError(self._db.path, _NO_ZSTD)
        return unpack(codec, size, data)


@cache
def _zstd() -> Any:
    """Find zstd: a part of Python 3.14, and an extra before."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    return None


def pack(body: bytes) -> tuple[int, bytes]:
    """Pack a body with the best that is installed; also gives which that was."""
    zstd = _zstd()
    return (_ZLIB, zlib.compress(body, 1)) if zstd is None else (_ZSTD, zstd.compress(body, 3))


def unpack(codec: int, size: int, data: bytes) -> bytes:
    """Unpack a body of `size` bytes; raises `ValueError` if it is not that, and never makes more.

    >>> unpack(*(lambda codec, data: (codec, 5, data))(*pack(b"Hello")))
    b'Hello'
    """
    if not 0 <= size <= MAX_BYTES:
        raise ValueError(size)
    if codec == _ZSTD:
        zstd = _zstd()
        unpacker = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW})
        errors: Any = zstd.ZstdError
    else:
        unpacker, errors = zlib.decompressobj(), zlib.error
    try:
        body: bytes = unpacker.decompress(data, size + 1)
    except errors as error:
        raise ValueError(str(error)) from None
    if len(body) != size:
        raise ValueError(size)
    return body
