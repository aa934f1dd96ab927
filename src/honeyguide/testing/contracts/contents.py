"""What every `Contents` of a store promises: pages as they were read, each body once, the oldest dropped first."""

from __future__ import annotations

# ruff: noqa: D102, S101 - the names of tests say what is promised
from typing import TYPE_CHECKING

from honeyguide.core.recrawl.history import body_digest
from honeyguide.core.url.url import Url
from honeyguide.ports.store import KeptPage

if TYPE_CHECKING:
    from honeyguide.ports.store import Store

_MUCH = 10**9


def kept(body: bytes, path: str = "/a/") -> KeptPage:
    """Make a page that was read."""
    return KeptPage(
        Url.parse(f"https://a.example{path}"), "text/html; charset=utf-8", body_digest(body), body
    )


def noise(number: int, size: int = 4_000) -> bytes:
    """Make bytes that hardly get smaller, always the same for a number."""
    state, found = number + 1, bytearray()
    while len(found) < size:
        state = state * 6364136223846793005 % 2**64 + 1442695040888963407 % 2**64
        found += (state >> 24).to_bytes(6, "big")[-4:]
    return bytes(found[:size])


class ContentsContract:
    """Inherit, and give stores by `make_store` and two workers on one by `make_workers`."""

    def make_store(self) -> Store:
        raise NotImplementedError

    def make_workers(self) -> tuple[Store, Store]:
        raise NotImplementedError

    def test_a_page_comes_back_as_it_was_read(self) -> None:
        contents = self.make_store().contents
        page = kept(b"<h1>Hi</h1>\xff\x00")
        assert contents.keep(1, 1, page, _MUCH) == 0
        assert contents.get(1, 1) == page
        found = contents.get(1, 1)
        assert found is not None
        assert found.url.as_linked == "https://a.example/a/"
        assert contents.get(1, 2) is contents.get(2, 1) is None

    def test_an_empty_page_is_a_page(self) -> None:
        contents = self.make_store().contents
        contents.keep(1, 1, kept(b""), _MUCH)
        assert contents.get(1, 1) == kept(b"")

    def test_a_body_is_kept_once_and_needs_no_bytes_the_second_time(self) -> None:
        contents = self.make_store().contents
        body = noise(1)
        contents.keep(1, 1, kept(body), 6_000)
        assert contents.keep(1, 2, kept(body, "/b"), 6_000) == 0
        known = KeptPage(Url.parse("https://a.example/c"), None, body_digest(body))
        assert contents.keep(2, 1, known, 6_000) == 0
        assert [found and found.body for found in map(contents.get, (1, 1, 2), (1, 2, 1))] == [body] * 3

    def test_a_page_whose_body_is_unknown_is_not_kept(self) -> None:
        contents = self.make_store().contents
        assert contents.keep(1, 1, KeptPage(Url.parse("https://a.example/"), None, 7), _MUCH) == 0
        assert contents.get(1, 1) is None

    def test_the_oldest_bodies_go_when_there_is_no_room(self) -> None:
        contents = self.make_store().contents
        dropped = [contents.keep(1, number, kept(noise(number)), 13_000) for number in range(1, 6)]
        assert dropped == [0, 0, 0, 1, 1]
        assert [contents.get(1, number) is not None for number in range(1, 6)] == [
            False,
            False,
            True,
            True,
            True,
        ]

    def test_a_body_that_is_larger_than_the_room_drops_nothing(self) -> None:
        contents = self.make_store().contents
        contents.keep(1, 1, kept(b"small"), 5_000)
        assert contents.keep(1, 2, kept(noise(2, 9_000)), 5_000) == 0
        assert contents.get(1, 1) == kept(b"small")
        assert contents.get(1, 2) is None

    def test_what_was_dropped_is_kept_again_when_it_is_read_again(self) -> None:
        contents = self.make_store().contents
        contents.keep(1, 1, kept(noise(1)), _MUCH)
        assert contents.drop(0) == 1
        assert contents.get(1, 1) is None
        contents.keep(1, 2, kept(noise(1)), _MUCH)
        assert contents.get(1, 1) == contents.get(1, 2) == kept(noise(1))

    def test_workers_share_what_is_kept_and_the_room_for_it(self) -> None:
        one, other = self.make_workers()
        one.contents.keep(1, 1, kept(noise(1)), 9_000)
        one.flush()
        assert other.contents.get(1, 1) == kept(noise(1))
        other.contents.keep(1, 2, kept(noise(2)), 9_000)
        other.flush()
        assert one.contents.keep(1, 3, kept(noise(3)), 9_000) == 1
        assert one.contents.get(1, 1) is None
        assert one.contents.get(1, 2) == kept(noise(2))
        one.flush()
