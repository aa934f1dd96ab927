"""One request over real HTTP on loopback: what is sent, what is read, and what every misbehaviour becomes."""

from __future__ import annotations

import asyncio
import gzip
import importlib.util
import socket
import subprocess
import sys
import time
import tomllib
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import pytest
from aiohttp.client_proto import ResponseHandler
from patience import HANG_S

from honeyguide.adapters.http.addresses import Resolver
from honeyguide.adapters.http.client import HttpFetcher
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.errors import (
    AddressRefusedError,
    ConfigError,
    FetchError,
    NameNotFoundError,
    NotTextError,
    TimedOutError,
    TooLargeError,
    UnreachableError,
)
from honeyguide.ports.fetch import Fetched, Part, Validators
from honeyguide.testing.fakes import LoopbackServer, Script, drip, reset, response, silence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HERE = FetchPolicy(
    allow_private=True,
    max_bytes=200_000,
    max_decoded_bytes=400_000,
    connect_timeout_s=HANG_S,
    read_timeout_s=HANG_S,
    total_timeout_s=HANG_S,
)
HASTY = {"silent": replace(HERE, read_timeout_s=0.2), "not finished": replace(HERE, total_timeout_s=0.3)}
PAGE = b"<html><head><title>Hi</title></head><body>There</body></html>"


def get(answer: bytes | Script, policy: FetchPolicy = HERE, part: Part = Part.PAGE) -> Fetched:
    """Fetch /page of a server that has one answer."""

    async def run() -> Fetched:
        async with LoopbackServer({"/page": answer}) as server, HttpFetcher(policy, proxies={}) as fetcher:
            return await fetcher.fetch(Url.parse(f"{server.root}/page"), part=part)

    return asyncio.run(run())


def test_the_pin_of_aiohttp_ends_after_the_minor_version_that_these_tests_ran_with() -> None:
    """RELEASING.md says how to widen it: the guards know private names, so only a tested version may be installed."""
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    (pin,) = [one for one in project["dependencies"] if one.startswith("aiohttp")]
    major, minor = (int(part) for part in aiohttp.__version__.split(".")[:2])
    assert pin.endswith(f",<{major}.{minor + 1}")


@pytest.mark.parametrize("name", ["_factory", "_payload"])
def test_a_library_that_cannot_be_guarded_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = {"_factory": aiohttp.TCPConnector, "_payload": ResponseHandler}[name]
    monkeypatch.setattr(owner, "__getattribute__", _without(name))
    with pytest.raises(ConfigError, match=r"aiohttp: version .* pip install"):
        get(response(PAGE))


def _without(hidden: str) -> Callable[[object, str], object]:
    """Look names up as always, but for one: as if it were called otherwise."""

    def look(self: object, name: str) -> object:
        if name == hidden:
            raise AttributeError(name)
        return object.__getattribute__(self, name)

    return look


def test_a_name_server_that_is_silent_does_not_hold_the_end() -> None:
    code = """
import asyncio, threading
from honeyguide.adapters.http.addresses import Resolver

async def run():
    names = Resolver(1, lambda *_, **__: threading.Event().wait())
    asking = asyncio.create_task(names.resolve("a.example"))
    await asyncio.sleep(0.1)
    asking.cancel()
    await names.close()

asyncio.run(run())
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=HANG_S)  # noqa: S603 - our own interpreter


def test_names_are_looked_up_in_so_many_threads_and_errors_come_back() -> None:
    running, most = 0, 0

    def lookup(host: str, *_: object, **__: object) -> list[tuple[object, ...]]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        time.sleep(0.01)
        running -= 1
        if host == "none.example":
            raise socket.gaierror(socket.EAI_NONAME, "none")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 80))]

    async def run() -> list[object]:
        names = Resolver(1, lookup)
        hosts = [*(f"h{n}.example" for n in range(9)), "none.example"]
        return list(await asyncio.gather(*map(names.resolve, hosts), return_exceptions=True))

    *found, failed = asyncio.run(run())
    assert all(isinstance(one, list) and one[0]["host"] == "192.0.2.1" for one in found)
    assert isinstance(failed, socket.gaierror)
    assert 1 < most <= 4


def sent(url_path: str = "/page", policy: FetchPolicy = HERE, validators: Validators | None = None) -> str:
    """Give the head of the request that a fetch sends."""

    async def run() -> str:
        async with LoopbackServer({}) as server, HttpFetcher(policy, proxies={}) as fetcher:
            url = Url.parse(server.root.replace("//", "//user:secret@") + url_path)
            await fetcher.fetch(url, validators=validators)
            return server.requests[0]

    return asyncio.run(run())


# --- what is sent ---


def test_the_request_says_who_asks_and_carries_no_secrets() -> None:
    head = sent(policy=replace(HERE, contact="https://owner.example/bot"))
    assert "User-Agent: honeyguide/" in head
    assert "(+https://owner.example/bot)" in head
    assert "cookie" not in head.lower()
    assert "authorization" not in head.lower()


def test_only_what_can_be_decoded_is_asked_for() -> None:
    accepted = next(line for line in sent().splitlines() if line.startswith("Accept-Encoding:"))
    assert "gzip" in accepted
    assert ("br" in accepted) == bool(
        importlib.util.find_spec("brotli") or importlib.util.find_spec("brotlicffi")
    )


@pytest.mark.parametrize("path", ["/a%7Eb/c%2Fd", "/x/?a=b%20c&d=%C3%A9", "/a//b/"])
def test_the_url_is_requested_as_linked(path: str) -> None:
    assert sent(path).splitlines()[0] == f"GET {path} HTTP/1.1"


def test_validators_are_sent_back_and_304_is_an_answer() -> None:
    head = sent(validators=Validators('W/"x"', "Thu, 01 Jan 1970 00:00:00 GMT"))
    assert 'If-None-Match: W/"x"' in head
    assert "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT" in head
    assert get(response(b"", status="304 Not Modified")).status == 304


def test_validators_that_cannot_stand_in_a_header_are_left_out() -> None:
    assert "If-None-Match" not in sent(validators=Validators('"\udce9"', "a\r\nCookie: b"))
    got = get(response(PAGE, 'ETag: "\xe9"', f"Last-Modified: {'x' * 2000}"))
    assert (got.headers.etag, got.headers.last_modified) == (None, None)


# --- what is read ---


def test_headers_that_we_use() -> None:
    got = get(
        response(PAGE, 'ETag: "v1"', "Last-Modified: now", "Retry-After: 7", kind="text/html; charset=utf-8")
    )
    assert (got.headers.etag, got.headers.last_modified) == ('"v1"', "now")
    assert (got.headers.retry_after, got.headers.content_type) == ("7", "text/html; charset=utf-8")


def test_a_location_in_raw_bytes_becomes_the_url_it_means() -> None:
    assert get(response(b"", "Location: /caf\xe9", status="301 Moved")).headers.location == "/caf%E9"


@pytest.mark.parametrize(
    ("name", "packed"),
    [("gzip", gzip.compress(PAGE)), ("deflate", zlib.compress(PAGE))],
    ids=["gzip", "deflate"],  # the bytes hold the time of day
)
def test_compressed_bodies_are_decoded(name: str, packed: bytes) -> None:
    assert get(response(packed, f"Content-Encoding: {name}")).body == PAGE


def test_brotli_is_decoded_where_installed() -> None:
    brotli = pytest.importorskip("brotli")  # an extra
    assert get(response(brotli.compress(PAGE), "Content-Encoding: br")).body == PAGE


def test_zstd_is_decoded_where_installed() -> None:
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    zstd = pytest.importorskip(name)  # an extra
    assert get(response(zstd.compress(PAGE), "Content-Encoding: zstd")).body == PAGE


def test_a_head_is_read_to_its_end_and_no_further() -> None:
    endless = drip(
        response(b"", kind="text/html").replace(b"Content-Length: 0\r\n", b"") + PAGE, b" " * 500, every_s=0
    )
    got = get(endless, part=Part.HEAD)
    assert got.truncated
    assert b"<title>Hi</title>" in got.body
    assert len(got.body) <= 64 * 1024


def test_a_head_without_end_is_cut_at_64_kib() -> None:
    got = get(response(b"<head>" + b"x" * 150_000), part=Part.HEAD)
    assert (len(got.body), got.truncated) == (64 * 1024, True)


def test_a_mark_split_between_two_pieces_still_ends_the_head() -> None:
    async def halves(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>a</title></he")
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(b"ad>")
        await silence(writer)

    assert get(halves, part=Part.HEAD).truncated


def test_a_start_is_of_any_type_and_cut_at_500_kib() -> None:
    policy = replace(HERE, max_bytes=10**6, max_decoded_bytes=10**6)
    got = get(response(b"x" * 600_000, kind="application/octet-stream"), policy, Part.START)
    assert (len(got.body), got.truncated) == (500 * 1024, True)


def test_a_file_is_of_any_type_and_whole() -> None:
    assert get(response(b"\0\1", kind="application/gzip"), part=Part.FILE).body == b"\0\1"


@pytest.mark.parametrize(
    "kind", ["TEXT/HTML;charset=x", "application/xhtml+xml", "text/plain", "application/rss+xml", ""]
)
def test_text_types_are_pages(kind: str) -> None:
    assert get(response(PAGE, kind=kind)).body == PAGE


# --- misbehaviour ---


@pytest.mark.parametrize("packing", ["", "gzip"])
def test_a_file_may_be_larger_than_a_page(packing: str) -> None:
    body = b"".join(b"<loc>https://a.example/%d</loc>" % n for n in range(100_000))
    sent = gzip.compress(body) if packing else body
    answer = response(sent, *([f"Content-Encoding: {packing}"] if packing else []), kind="application/xml")
    assert get(answer, part=Part.FILE).body == body
    with pytest.raises(TooLargeError):
        get(answer)


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
OPEN_ENDED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "kind", "why"),
    [
        pytest.param(reset, UnreachableError, "", id="connection cut"),
        pytest.param(b"", UnreachableError, "closed without an answer", id="closed without a word"),
        pytest.param(b"SSH-2.0-OpenSSH_9\r\n\r\n", UnreachableError, "not HTTP", id="another protocol"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nA: " + b"x" * 200_000 + b"\r\n\r\n",
            TooLargeError,
            "header",
            id="header bomb",
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 5000 + b"\r\n",
            TooLargeError,
            "256 headers",
            id="5000 headers",
        ),
        pytest.param(CHUNKED + b"zz\r\nhello", UnreachableError, "", id="bad chunk size"),
        pytest.param(CHUNKED + b"5\r\nhel", UnreachableError, "broke off", id="chunk cut short"),
        pytest.param(response(PAGE)[:-5], UnreachableError, "broke off", id="body cut short"),
        pytest.param(response(b"x" * 300_000), TooLargeError, "announced", id="announced too large"),
        pytest.param(
            drip(OPEN_ENDED, b"x" * 4096, every_s=0), TooLargeError, "bytes sent", id="body without end"
        ),
        pytest.param(
            drip(OPEN_ENDED, b"x", every_s=0.05), TimedOutError, "not finished", id="a byte at a time"
        ),
        pytest.param(
            drip(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n", every_s=0.05),
            TimedOutError,
            "not finished",
            id="headers drip",
        ),
        pytest.param(
            drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n", every_s=0.05),
            TimedOutError,
            "not finished",
            id="100 for ever",
        ),
        pytest.param(silence, TimedOutError, "silent", id="silence"),
        pytest.param(
            response(b"not gzip", "Content-Encoding: gzip"), NotTextError, "compression", id="broken gzip"
        ),
        pytest.param(
            response(b"x", "Content-Encoding: snappy"), NotTextError, "snappy", id="unknown compression"
        ),
        pytest.param(
            response(b"x", "Content-Encoding: gzip, gzip"), NotTextError, "gzip, gzip", id="packed twice"
        ),
        pytest.param(
            response(gzip.compress(bytes(10**6)), "Content-Encoding: gzip"), TooLargeError, "after", id="bomb"
        ),
        pytest.param(
            response(b"%PDF-1.7", kind="application/pdf"), NotTextError, "application/pdf", id="a PDF"
        ),
        pytest.param(response(b"\x89PNG\r\n\x1a\n\0", kind=""), NotTextError, "bytes", id="an untyped image"),
        pytest.param(response(b"%PDF-1.7\nabc", kind=""), NotTextError, "bytes", id="an untyped PDF"),
    ],
)
def test_misbehaviour(answer: bytes | Script, kind: type[FetchError], why: str) -> None:
    with pytest.raises(FetchError) as caught:
        get(answer, HASTY.get(why, HERE))
    assert type(caught.value) is kind
    assert why in caught.value.why


def test_a_binary_type_is_refused_without_waiting_for_its_body() -> None:
    with pytest.raises(NotTextError):
        get(response(b"", kind="image/png").replace(b"Length: 0", b"Length: 99999"))


def test_a_head_has_less_time_than_a_page() -> None:
    # PICK-11: five seconds by default; here a tenth of one, and a page may take as long as it likes.
    assert FetchPolicy().head_timeout_s == 5.0
    policy = FetchPolicy(allow_private=True, head_timeout_s=0.1, total_timeout_s=60.0)
    with pytest.raises(TimedOutError, match="not finished in time"):
        get(silence, policy, Part.HEAD)


def fail(url: str, policy: FetchPolicy = HERE, proxies: Mapping[str, str] | None = None) -> FetchError:
    async def run() -> None:
        async with HttpFetcher(policy, proxies=proxies or {}) as fetcher:
            await fetcher.fetch(Url.parse(url))

    with pytest.raises(FetchError) as caught:
        asyncio.run(run())
    return caught.value


def test_a_closed_port_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    assert isinstance(fail(f"http://127.0.0.1:{port}/"), UnreachableError)


def test_a_plain_server_under_https_is_no_secure_connection() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, HttpFetcher(HERE, proxies={}) as fetcher:
            await fetcher.fetch(Url.parse(f"https://127.0.0.1:{port}/"))

    with pytest.raises(UnreachableError, match="no secure connection") as caught:
        asyncio.run(run())
    assert not caught.value.retryable


def name_error(code: int) -> FetchError:
    """Fetch with a resolver that fails like the system's."""

    def lookup(*_: object, **__: object) -> list[tuple[object, ...]]:
        raise socket.gaierror(code, "no such name")

    async def run() -> None:
        async with HttpFetcher(HERE, proxies={}, lookup=lookup) as fetcher:
            await fetcher.fetch(Url.parse("http://nowhere.example/"))

    with pytest.raises(FetchError) as caught:
        asyncio.run(run())
    return caught.value


def test_a_missing_name_is_told_from_a_failing_lookup() -> None:
    assert type(name_error(socket.EAI_NONAME)) is NameNotFoundError
    temporary = name_error(socket.EAI_AGAIN)
    assert type(temporary) is UnreachableError
    assert temporary.retryable


# --- addresses ---


def test_a_loopback_address_gets_no_packet() -> None:
    async def run() -> int:
        async with LoopbackServer({}) as server, HttpFetcher(FetchPolicy(), proxies={}) as fetcher:
            for host in ("127.0.0.1", "[::ffff:127.0.0.1]"):
                with pytest.raises(AddressRefusedError, match="loopback"):
                    await fetcher.fetch(Url.parse(f"http://{host}:{server.port}/"))
            return server.connections

    assert asyncio.run(run()) == 0


def test_a_name_is_judged_by_the_address_that_is_connected_to() -> None:
    """The resolver answers with a public address first and loopback later: the later one gets no packet."""

    def rebind(_: str, port: int, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    async def run() -> int:
        async with (
            LoopbackServer({}) as server,
            HttpFetcher(FetchPolicy(), proxies={}, lookup=rebind) as fetcher,
        ):
            with pytest.raises(AddressRefusedError, match="loopback"):
                await fetcher.fetch(Url.parse(f"http://innocent.example:{server.port}/"))
            return server.connections

    assert asyncio.run(run()) == 0


@pytest.mark.parametrize("host", ["169.254.169.254", "10.0.0.1", "[fd00:ec2::254]", "0.0.0.0"])  # noqa: S104 - refused
def test_private_and_metadata_addresses_are_forbidden(host: str) -> None:
    assert type(fail(f"http://{host}/", FetchPolicy())) is AddressRefusedError


# --- proxy ---


def test_a_proxy_gets_the_whole_url_and_may_itself_be_private() -> None:
    async def run() -> tuple[int, str]:
        async with LoopbackServer({"http://site.example/a": response(PAGE)}) as proxy:
            async with HttpFetcher(FetchPolicy(), proxies={"http": proxy.root}) as fetcher:
                got = await fetcher.fetch(Url.parse("http://site.example/a"))
            return got.status, proxy.requests[0].splitlines()[0]

    assert asyncio.run(run()) == (200, "GET http://site.example/a HTTP/1.1")


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://169.254.169.254/", "http://metadata.google.internal/"]
)
def test_behind_a_proxy_what_the_name_tells_is_still_refused(url: str) -> None:
    assert type(fail(url, FetchPolicy(), {"http": "http://127.0.0.1:9"})) is AddressRefusedError


def test_no_proxy_is_honoured() -> None:
    async def run() -> int:
        async with LoopbackServer({}) as server:
            proxies = {"http": "http://127.0.0.1:9", "no": "x.example, 127.0.0.1"}
            async with HttpFetcher(HERE, proxies=proxies) as fetcher:
                return (await fetcher.fetch(Url.parse(server.root))).status

    assert asyncio.run(run()) == 404


def test_proxies_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:9")
    with pytest.raises(ConfigError, match="http_proxy: must start with"):
        HttpFetcher(HERE)


# --- memory ---

PEAK = """
import asyncio, re, sys
from honeyguide.adapters.http.client import HttpFetcher
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.errors import TooLargeError

def kib(name):
    return int(re.search(name + r":\\s+(\\d+) kB", open("/proc/self/status").read())[1])

async def main():
    async with HttpFetcher(FetchPolicy(allow_private=True), proxies={}) as fetcher:
        await fetcher.fetch(Url.parse(sys.argv[1] + "/small"))
        before = kib("VmRSS")
        try:
            await fetcher.fetch(Url.parse(sys.argv[1] + "/bomb"))
        except TooLargeError:
            sys.stdout.write(str(kib("VmHWM") - before))

asyncio.run(main())
"""


def gzip_of_zeros(mebibytes: int) -> bytes:
    """Pack zeros: one flushed block, again and again, so that a gigabyte takes no time to make."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + block * mebibytes + b"\x03\0" + bytes(8)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_gigabyte_in_a_megabyte_costs_less_than_50_mb() -> None:
    bomb = gzip_of_zeros(1024)
    assert len(bomb) < 2 * 2**20

    async def run() -> tuple[bytes, bytes]:
        answers = {"/small": response(PAGE), "/bomb": response(bomb, "Content-Encoding: gzip")}
        async with LoopbackServer(answers) as server:
            command = (sys.executable, "-c", PEAK, server.root)
            child = await asyncio.create_subprocess_exec(*command, stdout=-1, stderr=-1)
            return await child.communicate()

    out, err = asyncio.run(run())
    assert err == b""
    assert int(out) < 50 * 1024
