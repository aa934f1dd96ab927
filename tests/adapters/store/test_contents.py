"""Pages as they were read in a SQLite store: packed by what is installed, and a store that lies about them."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from honeyguide.adapters.store.common import contents
from honeyguide.adapters.store.common.contents import MAX_BYTES, pack, unpack
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.errors import StoreError
from honeyguide.testing.contracts.history import kept, noise

if TYPE_CHECKING:
    from pathlib import Path

HTML = b"<p>Sprinklers and alarms.</p>" * 1_000


@pytest.fixture(params=["zlib", "zstd"])
def codec(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "zlib":
        monkeypatch.setattr(contents, "_zstd", lambda: None)
    return str(request.param)


def test_bodies_are_packed_with_what_is_installed(codec: str) -> None:
    number, data = pack(HTML)
    assert number == {"zlib": 1, "zstd": 2}[codec]
    assert len(data) < len(HTML) / 20
    assert unpack(number, len(HTML), data) == HTML


@pytest.mark.usefixtures("codec")
def test_nothing_is_unpacked_beyond_its_size() -> None:
    number, data = pack(bytes(20_000_000))
    for size in (1_000, 19_999_999, 20_000_001, -1, MAX_BYTES + 1):
        with pytest.raises(ValueError, match=r"^-?[0-9]+$"):
            unpack(number, size, data)


@pytest.mark.parametrize("data", [b"", b"\x78", b"no", bytes(100), zlib.compress(HTML)[:-9]])
def test_what_is_not_packed_is_rejected(codec: str, data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack({"zlib": 1, "zstd": 2}[codec], len(HTML), data)


def test_a_store_whose_bodies_lie_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    store = SqliteStore(path)
    store.contents.keep(1, 1, kept(HTML), 10**9)
    store.close()
    for size, data in ((len(HTML) + 1, pack(HTML)[1]), (len(HTML), b"\0"), (MAX_BYTES, bytes(100))):
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE body SET size = ?, data = ?", (size, data))
        damaged = SqliteStore(path, read_only=True)
        with pytest.raises(StoreError, match="never writes"):
            damaged.contents.get(1, 1)
        damaged.close()


def test_pages_packed_with_zstd_need_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(tmp_path / "s.db")
    store.contents.keep(1, 1, kept(HTML), 10**9)
    monkeypatch.setattr(contents, "_zstd", lambda: None)
    with pytest.raises(StoreError, match=r"backports\.zstd"):
        store.contents.get(1, 1)
    store.contents.keep(1, 2, kept(noise(2)), 10**9)
    assert store.contents.get(1, 2) == kept(noise(2))  # each row by its own codec
    store.close()


def test_what_was_not_committed_is_undone(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    store = SqliteStore(path)
    store.contents.keep(1, 1, kept(HTML), 10**9)
    store.flush()
    store.contents.keep(1, 2, kept(noise(1)), 10**9)
    store.abandon()
    store = SqliteStore(path)
    assert store.contents.get(1, 1) == kept(HTML)
    assert store.contents.get(1, 2) is None
    assert store.contents.drop(0) == 1
    store.close()
