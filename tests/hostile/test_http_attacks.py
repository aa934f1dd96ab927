"""Answers that attack: each ends as one of our errors or as an answer, in time, in little memory, and alone.

Alone: what a server sends beyond one answer is never taken for the answer to another request.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
import sys
import threading
import zlib
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from patience import HANG_S
from servers import CHUNKED, HEAD, Talk, Talker, cut, hold, kept, pieces, pour, read_head

from honeyguide.adapters.http.client import HttpFetcher
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.errors import FetchError, NotTextError, TimedOutError, TooLargeError, UnreachableError
from honeyguide.ports.fetch import Fetched, Part
from honeyguide.testing.fakes import LoopbackServer, Script, drip, response

# A limit must end it, and not the clock; or the one clock that is meant, and not the other.
PATIENT = FetchPolicy(
    allow_private=True,
    max_bytes=200_000,
    max_decoded_bytes=400_000,
    connect_timeout_s=HANG_S,
    read_timeout_s=HANG_S,
    total_timeout_s=HANG_S,
)
WIRE = f"more than {256 * 1024 + 2 * 500 * 1024} bytes sent"  # head, body, and as much again for its frame
BACKSTOP_S = (
    HANG_S / 2
)  # sooner than the patient clocks, so that none of them can replace the limit that is meant
T = TypeVar("T")
CLOCKS = {
    "silent": replace(PATIENT, read_timeout_s=0.1),
    "not finished": replace(PATIENT, total_timeout_s=0.3),
}
PAGE = b"<title>t</title><p>hello world</p>"
PACKED = gzip.compress(PAGE, mtime=0)
EMPTY_BLOCK = b"\x00\x00\x00\xff\xff"  # deflate: stored, nothing in it, not the last
ENCODED = HEAD + b"Content-Encoding: gzip\r\n\r\n"
MANY = b"".join(b"X-%d: y\r\n" % n for n in range(100_000))


def finish(work: Coroutine[Any, Any, T]) -> T:
    """Run something that a limit must end; without the limit it fails here, and does not hang."""
    return asyncio.run(asyncio.wait_for(work, BACKSTOP_S))


def get(answer: bytes | Script, policy: FetchPolicy = PATIENT, part: Part = Part.PAGE) -> Fetched:
    """Fetch /page of a server that has one answer."""

    async def run() -> Fetched:
        async with LoopbackServer({"/page": answer}) as server, HttpFetcher(policy, proxies={}) as fetcher:
            return await fetcher.fetch(Url.parse(f"{server.root}/page"), part=part)

    return finish(run())


def labelled(encoding: str, body: bytes) -> bytes:
    return response(body, f"Content-Encoding: {encoding}")


def status(line: str) -> bytes:
    return f"HTTP/1.1 {line}\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello".encode()


def length(*values: str) -> bytes:
    return HEAD + "".join(f"Content-Length: {value}\r\n" for value in values).encode() + b"\r\nhello"


# --- each ends as one of our errors ---

REFUSED: list[tuple[str, bytes | Script, type[FetchError], str]] = [
    # what is no HTTP
    ("HTTP/0.9", PAGE, UnreachableError, "not HTTP"),
    ("a status of letters", status("abc OK"), UnreachableError, "not HTTP"),
    ("a status of two digits", status("42 OK"), UnreachableError, "not HTTP"),
    ("a status of four digits", status("1000 OK"), UnreachableError, "not HTTP"),
    ("a negative status", status("-1 OK"), UnreachableError, "not HTTP"),
    ("status 000", status("000 OK"), UnreachableError, "not HTTP: status 0"),
    ("another protocol from here on", status("101 Switching"), UnreachableError, "not HTTP: status 101"),
    ("an interim answer and no other", b"HTTP/1.1 102 Processing\r\n\r\n", UnreachableError, "without an answer"),
    ("TLS on an http port", b"\x15\x03\x01\x00\x02\x02\x28", UnreachableError, "not HTTP"),
    ("HTTP/2 frames", b"\x00\x00\x12\x04\x00\x00\x00\x00\x00", UnreachableError, "not HTTP"),
    ("a zero byte in a header", HEAD + b"X: a\0b\r\n\r\n", UnreachableError, "not HTTP"),
    ("a header without a colon", HEAD + b"garbage\r\n\r\n", UnreachableError, "not HTTP"),
    # heads without end
    ("a header of 10 MB", HEAD + b"X: " + b"a" * 10**7 + b"\r\n\r\n", TooLargeError, "header line"),
    ("a header name of 10 MB", HEAD + b"a" * 10**7 + b": x\r\n\r\n", TooLargeError, "header line"),
    ("a reason of 1 MB", b"HTTP/1.1 200 " + b"a" * 10**6 + b"\r\n\r\n", TooLargeError, "header line"),
    ("a Location of 1 MB", b"HTTP/1.1 301 M\r\nLocation: /" + b"a" * 10**6, TooLargeError, "header line"),
    ("100,000 headers", HEAD + MANY + b"\r\n", TooLargeError, "more than 256 headers"),
    ("headers of 60 KB each", pour(HEAD, b"X: " + b"y" * 60_000 + b"\r\n"), TooLargeError, "headers are too long"),
    ("interim answers without end", pour(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 99), TooLargeError, "headers"),
    ("early hints without end", pour(b"", b"HTTP/1.1 103 E\r\nLink: <x>\r\n\r\n" * 99), TooLargeError, "headers"),
    ("empty lines without end", pour(b"", b"\r\n" * 10_000), TooLargeError, "headers are too long"),
    ("a folded header without end", pour(HEAD + b"X: a\r\n", b" b\r\n" * 999), TooLargeError, "header"),
    # lengths that lie
    ("a length too long", length("500"), UnreachableError, "broke off"),
    ("a length too long, and silence", hold(length("500")), TimedOutError, "silent"),
    ("a negative length", length("-5"), UnreachableError, "not HTTP"),
    ("a length in hex", length("0x5"), UnreachableError, "not HTTP"),
    ("two lengths", length("5", "6"), UnreachableError, "not HTTP"),
    ("a list of lengths", length("5, 5"), UnreachableError, "not HTTP"),
    ("a length of 26 digits", length("9" * 26), UnreachableError, "not HTTP"),
    ("a length of 2^64 - 1", length(str(2**64 - 1)), TooLargeError, "announced"),
    ("a length and chunks", length("5").replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n"), UnreachableError, "not HTTP"),
    # chunks
    ("a negative chunk", CHUNKED + b"-1\r\nx\r\n0\r\n\r\n", UnreachableError, "broke off"),
    ("a chunk size of 72 bits", CHUNKED + b"f" * 18 + b"\r\nx\r\n0\r\n\r\n", UnreachableError, "broke off"),
    ("a chunk that is too long", CHUNKED + b"1\r\nxyz\r\n0\r\n\r\n", UnreachableError, "broke off"),
    ("garbage after a chunk", pieces(CHUNKED + b"5\r\nhello\r\n", b"zz\r\n"), UnreachableError, "broke off"),
    ("a huge chunk, and silence", hold(CHUNKED + b"7fffffffffffffff\r\nx"), TimedOutError, "silent"),
    ("a chunk size without end", pour(CHUNKED, b"0" * 999), TooLargeError, WIRE),
    ("a chunk extension without end", pour(CHUNKED + b"2;a=", b"b" * 65_536), TooLargeError, WIRE),
    ("fat extensions of thin chunks", pour(CHUNKED, b"1;" + b"a" * 60_000 + b"\r\nx\r\n"), TooLargeError, WIRE),
    ("a trailer without end", pour(CHUNKED + b"0\r\nX: ", b"y" * 65_536), TooLargeError, "header line"),
    ("100,000 trailers", CHUNKED + b"0\r\n" + MANY + b"\r\n", UnreachableError, "broke off"),
    ("no end after the last chunk", hold(CHUNKED + b"2\r\nok\r\n0\r\n"), TimedOutError, "silent"),
    ("a coding that nobody asked for", HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", NotTextError, "gzip, chunked"),
    ("chunked twice", HEAD + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n0\r\n\r\n", NotTextError, "chunked, chunked"),
    # bodies without end, or with the wrong one
    ("a body without end", pour(HEAD + b"\r\n", b"x" * 65_536), TooLargeError, "more than 200000 bytes sent"),
    ("chunks without end", pour(CHUNKED, b"10000\r\n" + b"x" * 65_536 + b"\r\n"), TooLargeError, "more than 200000 bytes sent"),
    ("a byte at a time", drip(HEAD + b"\r\n", b"x", every_s=0.05), TimedOutError, "not finished"),
    ("a chunk at a time", drip(CHUNKED, b"1\r\nx\r\n", every_s=0.05), TimedOutError, "not finished"),
    ("a trailer at a time", drip(CHUNKED + b"0\r\n", b"X: y\r\n", every_s=0.05), TimedOutError, "not finished"),
    ("a header at a time", drip(HEAD, b"X: y\r\n", every_s=0.05), TimedOutError, "not finished"),
    ("reset in a body", cut(length("500")), UnreachableError, "broke off"),
    ("reset in a chunk", cut(CHUNKED + b"50\r\nhello"), UnreachableError, "broke off"),
    ("reset where the end was to be", cut(HEAD + b"\r\nhello"), UnreachableError, "broke off"),
    # compression
    ("no gzip at all", labelled("gzip", PAGE), NotTextError, "compression is broken"),
    ("a gzip with a wrong sum", labelled("gzip", PACKED[:-8] + bytes(8)), NotTextError, "compression is broken"),
    ("a gzip and more", labelled("gzip", PACKED + b"more"), NotTextError, "compression is broken"),
    ("100,000 gzips in one", labelled("gzip", gzip.compress(b"") * 9_000), NotTextError, "compression is broken"),
    ("a deflate that ends too soon", labelled("deflate", zlib.compress(PAGE)[:-6]), NotTextError, "broken"),
    ("gzip called br", labelled("br", PACKED), NotTextError, "compression"),
    ("gzip called zstd", labelled("zstd", PACKED), NotTextError, "compression"),
    ("gzip in gzip", labelled("gzip, gzip", gzip.compress(PACKED)), NotTextError, "gzip, gzip"),
    ("gzip in gzip, in two lines", response(PACKED, *["Content-Encoding: gzip"] * 2), NotTextError, "gzip, gzip"),
    ("a compression with no name", labelled("\\x1b[31m", PACKED), NotTextError, "which was not asked for"),
    ("a gzip bomb", labelled("gzip", gzip.compress(bytes(10**7))), TooLargeError, "after decompression"),
    ("a deflate bomb", labelled("deflate", zlib.compress(bytes(10**7))), TooLargeError, "after decompression"),
    ("many small bombs", labelled("gzip", gzip.compress(bytes(10**5)) * 50), TooLargeError, "after decompression"),
    ("a gzip of empty blocks", pour(ENCODED + PACKED[:10], EMPTY_BLOCK * 9_999), TooLargeError, WIRE),
    ("a gzip with an endless name", pour(ENCODED + b"\x1f\x8b\x08\x08" + bytes(6), b"x" * 65_536), TooLargeError, WIRE),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "kind", "why"), [pytest.param(*row[1:], id=row[0]) for row in REFUSED])
def test_refused(answer: bytes | Script, kind: type[FetchError], why: str) -> None:
    with pytest.raises(FetchError) as caught:
        get(answer, CLOCKS.get(why, PATIENT))
    assert type(caught.value) is kind
    assert why in caught.value.why
    assert caught.value.why.isprintable()


@pytest.mark.parametrize(
    ("name", "module"),
    [("br", "brotli"), ("zstd", "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")],
)
def test_bombs_of_the_optional_kinds(name: str, module: str) -> None:
    packer = pytest.importorskip(module)  # an extra
    with pytest.raises(TooLargeError, match="after decompression"):
        get(labelled(name, packer.compress(bytes(10**6))))
    with pytest.raises(NotTextError, match="compression is broken"):
        get(labelled(name, b"\xff\xff\xff" + packer.compress(PAGE)))


# --- or as an answer ---

HARMLESS: list[tuple[str, bytes | Script, int, bytes]] = [
    ("no reason", status("200"), 200, b"hello"),
    ("a status that is nobody's", status("999 Denied"), 999, b""),
    ("bare line feeds", status("200 OK").replace(b"\r\n", b"\n"), 200, b"hello"),
    ("a few interim answers", b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\nLink: x\r\n\r\n" + response(PAGE), 200, PAGE),
    ("empty lines before", b"\r\n" * 9 + response(PAGE), 200, PAGE),
    ("256 headers", HEAD + b"X: y\r\n" * 254 + b"Content-Length: 5\r\n\r\nhello", 200, b"hello"),
    ("200 cookies", HEAD + b'Set-Cookie: a="=;,\\\r\n' * 200 + b"Content-Length: 5\r\n\r\nhello", 200, b"hello"),
    ("chunks of one byte", CHUNKED + b"1\r\nx\r\n" * 999 + b"0\r\n\r\n", 200, b"x" * 999),
    ("chunk extensions", CHUNKED + b"2;a=b;c\r\nok\r\n0;d\r\n\r\n", 200, b"ok"),
    ("trailers", CHUNKED + b"2\r\nok\r\n0\r\nX: y\r\nSet-Cookie: a=b\r\n\r\n", 200, b"ok"),
    ("a length too short", length("2"), 200, b"he"),
    ("a length too short, later", pieces(length("5"), b" world"), 200, b"hello"),
    ("a length too short, at the seam", pieces(length("2")[:-7], length("2")[-7:]), 200, b"he"),
    ("204 with a body", status("204 None"), 204, b""),
    ("205 with a body", status("205 Reset"), 205, b"hello"),
    ("304 with a body", status("304 Same"), 304, b""),
    ("304 with chunks", b"HTTP/1.1 304 S\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 304, b""),
    ("404 without end", pour(b"HTTP/1.1 404 No\r\n\r\n", b"x" * 65_536), 404, b""),
    ("a redirect without end", pour(b"HTTP/1.1 301 M\r\nLocation: /x\r\n\r\n", b"x" * 65_536), 301, b""),
    ("two answers at once", kept(b"first") + kept(b"second"), 200, b"first"),
    ("answers without end", pour(b"", kept(b"first") * 99), 200, b"first"),
    ("two gzips in one", labelled("gzip", PACKED + PACKED), 200, PAGE + PAGE),
    ("a gzip that ends too soon", labelled("gzip", PACKED[:-12]), 200, PAGE[:-4]),  # as browsers show it
    ("a deflate without its head", labelled("deflate", zlib.compress(PAGE)[2:-4]), 200, PAGE),
    ("an empty gzip", labelled("gzip", b""), 200, b""),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "code", "body"), [pytest.param(*row[1:], id=row[0]) for row in HARMLESS])
def test_harmless(answer: bytes | Script, code: int, body: bytes) -> None:
    got = get(answer)
    assert (got.status, got.body) == (code, body)


def test_a_tls_server_on_an_http_port_and_the_reverse() -> None:
    async def run() -> list[str]:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"\x16\x03\x01" + bytes(500))
            await writer.drain()

        said = []
        async with Talker(answer) as server, HttpFetcher(PATIENT, proxies={}) as fetcher:
            for scheme in ("http", "https"):
                with pytest.raises(UnreachableError) as caught:
                    await fetcher.fetch(Url.parse(f"{scheme}://127.0.0.1:{server.port}/"))
                assert not caught.value.retryable
                said.append(caught.value.why.partition(":")[0])
        return said

    assert finish(run()) == ["its answer is not HTTP", "no secure connection"]


def test_a_handshake_that_never_ends_is_no_connection() -> None:
    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc"
        )  # a greeting of 16 KB, of which a byte comes now and then
        while True:
            writer.write(b"\0")
            await writer.drain()
            await asyncio.sleep(0.02)

    async def run() -> None:
        policy = replace(PATIENT, connect_timeout_s=0.3)
        async with Talker(talk) as server, HttpFetcher(policy, proxies={}) as fetcher:
            await fetcher.fetch(Url.parse(f"https://127.0.0.1:{server.port}/"))

    with pytest.raises(TimedOutError, match="no connection in time"):
        finish(run())


# --- one request, one answer ---


def conversation(talk: Talk) -> tuple[list[bytes], int]:
    """Fetch three pages from a server that answers as told; gives the bodies and how many connections it took."""

    async def run() -> tuple[list[bytes], int]:
        bodies = []
        async with Talker(talk) as server, HttpFetcher(PATIENT, proxies={}) as fetcher:
            for path in "abc":
                try:
                    bodies.append((await fetcher.fetch(Url.parse(f"{server.root}/{path}"))).body)
                except FetchError as error:
                    bodies.append(error.why.encode())
                await asyncio.sleep(0.05)
            return bodies, server.connections

    return finish(run())


def answering(*after: bytes, pause_s: float = 0.0) -> Talk:
    """Answer each request with its own path, and then with what nobody asked for."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            path = (await read_head(reader)).split(" ", 2)[1].encode()
            writer.write(kept(path))
            for extra in after:
                if pause_s:
                    await writer.drain()
                    await asyncio.sleep(pause_s)
                writer.write(extra)
            await writer.drain()

    return talk


def test_a_connection_that_behaves_is_used_again() -> None:
    assert conversation(answering()) == ([b"/a", b"/b", b"/c"], 1)


@pytest.mark.parametrize("pause_s", [0.0, 0.02])
@pytest.mark.parametrize("extra", [kept(b"evil"), b"garbage", b"HTTP/1.1 100 Continue\r\n\r\n", b"\0"])
def test_what_nobody_asked_for_is_nobodys_answer(extra: bytes, pause_s: float) -> None:
    assert conversation(answering(extra, pause_s=pause_s)) == ([b"/a", b"/b", b"/c"], 3)


@pytest.mark.parametrize("extra", [kept(b"evil")[:40], kept(b"evil")[:-1], b"\r\n"])
def test_nor_is_the_beginning_of_something(extra: bytes) -> None:
    bodies, _ = conversation(answering(extra))
    assert bodies == [b"/a", b"/b", b"/c"]


def test_an_answer_that_waits_in_the_socket_is_not_taken_either() -> None:
    """Nothing runs between the two requests here: the extra answer is in the kernel, and nowhere else."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(kept(b"first"))
        await writer.drain()
        await go.wait()
        writer.write(kept(b"evil"))

    async def run() -> tuple[bytes, int]:
        async with Talker(talk) as server, HttpFetcher(PATIENT, proxies={}) as fetcher:
            await fetcher.fetch(Url.parse(f"{server.root}/a"))
            go.set()
            await asyncio.sleep(0)  # the server writes; the client's socket is not looked at yet
            return (await fetcher.fetch(Url.parse(f"{server.root}/b"))).body, server.connections

    go = asyncio.Event()
    assert finish(run()) == (b"first", 2)


def test_a_resting_connection_is_no_place_to_store_things() -> None:
    """A server that pours answers into a connection at rest is cut off at once."""

    async def run() -> bool:
        gone = asyncio.Event()

        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_head(reader)
            writer.write(kept(b"first"))
            await writer.drain()
            await asyncio.sleep(0.05)
            try:
                while True:
                    writer.write(kept(b"evil") * 999)
                    await writer.drain()
            except OSError:
                gone.set()

        async with Talker(talk) as server, HttpFetcher(PATIENT, proxies={}) as fetcher:
            await fetcher.fetch(Url.parse(f"{server.root}/a"))
            return await gone.wait()

    assert finish(run())


# --- names ---


def test_names_that_take_for_ever_do_not_hold_up_others() -> None:
    free = threading.Event()

    def lookup(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        if host.startswith("slow"):
            free.wait()
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    async def run() -> bytes:
        policy = replace(PATIENT, connect_timeout_s=3.0)
        async with (
            LoopbackServer({"/": response(PAGE)}) as server,
            HttpFetcher(policy, proxies={}, lookup=lookup) as fetcher,
        ):
            slow = [fetcher.fetch(Url.parse(f"http://slow{n}.example:{server.port}/")) for n in range(40)]
            for failed in await asyncio.gather(*slow, return_exceptions=True):
                assert isinstance(failed, TimedOutError)
            return (await fetcher.fetch(Url.parse(f"http://fast.example:{server.port}/"))).body

    try:
        assert finish(run()) == PAGE
    finally:
        free.set()
