"""Private addresses in every disguise: no packet goes there unless --allow-private says so.

Shown twice: by listening sockets that stay silent, and by Python's own report of every connect of this process.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from patience import HANG_S
from servers import Silent, Site, Talker, kept, read_head

from honeyguide.adapters.http import addresses
from honeyguide.adapters.http.client import HttpFetcher
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.errors import AddressRefusedError, FetchError, UrlError

# Each of these is this machine, a neighbour or nobody, as a URL may spell it.
SPELLED = """
    127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0X7F.1 017700000001 0177.0.0.1 127.0.0.0x1 127.0.0.1. 127.0.0.1..
    127。0。0。1 ①②⑦.⓪.⓪.① 127.0.0.1%2e user:secret@127.0.0.1 127.255.255.254 0.0.0.0 0 0x0 0.1.2.3
    localhost LOCALHOST. ⓛocalhost a.localhost
    [::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b:1::1]
    [2002:7f00:1::] [2001:0:1:1::1] [fe80::1] [fe80::1%25lo] [::1%25lo] [fc00::1] [fd00:ec2::254] [fec0::1] [ff02::1]
    10.0.0.1 172.16.0.1 192.168.1.1 100.64.0.1 169.254.169.254 0xa9fea9fe 168.63.129.16 192.0.0.192 198.18.0.1
    224.0.0.1 255.255.255.255 4294967295 240.0.0.1 metadata.google.internal
    name.example several.example six.example mapped.example zone.example shy.example metadata.example rebound.example
"""
SPELLINGS = SPELLED.split()

PUBLIC = FetchPolicy(connect_timeout_s=HANG_S, read_timeout_s=5.0)  # what gets through meets a silent server
NAMES = {
    "name.example": ["127.0.0.1"],
    "several.example": ["10.0.0.1", "127.0.0.1", "192.168.0.1"],
    "six.example": ["::1", "fd00::1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "zone.example": ["fe80::1"],
    "shy.example": ["0.0.0.0"],  # noqa: S104 - looked up, not bound
    "metadata.example": ["169.254.169.254"],
    "rebound.example": ["127.0.0.1"],
    "localhost": ["127.0.0.1", "::1"],
    "localhost.": ["127.0.0.1"],
    "a.localhost": ["127.0.0.1"],
    "127.0.0.1..": ["127.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
}


def answers(found: Sequence[str], port: int) -> list[tuple[Any, ...]]:
    """Answer as `socket.getaddrinfo` does."""
    return [
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (one, port, 0, 3 if one.startswith("fe80") else 0))
        if ":" in one
        else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port))
        for one in found
    ]


def lookup(host: str, port: int, **_: object) -> list[tuple[Any, ...]]:
    if host not in NAMES:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")
    return answers(NAMES[host], port)


_watching: list[list[object]] = []


def _hook(event: str, args: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.sendto"):
        for seen in _watching:
            seen.append(args[1])


@contextmanager
def connects() -> Iterator[list[object]]:
    """List every address that this process connects to while the block runs."""
    if not getattr(_hook, "is_set", False):  # hooks cannot be taken away again
        sys.addaudithook(_hook)
        _hook.is_set = True  # type: ignore[attr-defined]  # once is enough
    seen: list[object] = []
    _watching.append(seen)
    try:
        yield seen
    finally:
        _watching.remove(seen)


def attack(policy: FetchPolicy, urls: Sequence[str]) -> list[str]:
    """Fetch everything; gives how each ended."""

    async def one(fetcher: HttpFetcher, url: str) -> str:
        try:
            return str((await fetcher.fetch(Url.parse(url))).status)
        except (FetchError, UrlError) as error:
            return type(error).__name__

    async def run() -> list[str]:
        async with HttpFetcher(policy, proxies={}, lookup=lookup) as fetcher:
            return [await one(fetcher, url) for url in urls]

    return asyncio.run(run())


def test_no_spelling_of_a_private_address_is_connected_to() -> None:
    with Silent() as silent, connects() as seen:
        ports = f":{silent.port}"
        urls = [f"{scheme}://{host}{ports}/x" for host in SPELLINGS for scheme in ("http", "https")]
        ended = dict(zip(urls, attack(PUBLIC, urls), strict=True))
    assert {url: how for url, how in ended.items() if how not in ("AddressRefusedError", "UrlError")} == {}
    assert [url for url, how in ended.items() if how == "UrlError"] == [
        f"{scheme}://{host}{ports}/x"
        for host in ("[fe80::1%25lo]", "[::1%25lo]")
        for scheme in ("http", "https")
    ]
    assert seen == []
    assert silent.knocks == []


def test_the_listening_socket_hears_whoever_knocks() -> None:
    """Or its silence would prove nothing."""
    policy = FetchPolicy(allow_private=True, retries=0, read_timeout_s=0.1)
    with Silent() as silent, connects() as seen:
        assert attack(policy, [f"http://127.1:{silent.port}/"]) == ["TimedOutError"]
    assert seen == [("127.0.0.1", silent.port)]
    assert len(silent.knocks) == 1


# --- names whose answer is partly, or later, another ---

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only there is 127.0.0.2 a machine")


def fetch_named(found: Callable[[], Sequence[str]], times: int = 1) -> tuple[list[str], list[object], int]:
    """Fetch from a name that resolves like that, each time anew; gives how it ended, connects, and lookups."""
    asked = 0

    def look(_: str, port: int, **__: object) -> list[tuple[Any, ...]]:
        nonlocal asked
        asked += 1
        return answers(found(), port)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(kept(b"public"))
        await writer.drain()

    async def run() -> list[str]:
        ended = []
        async with Talker(talk, "127.0.0.2") as server:
            for _ in range(times):
                async with HttpFetcher(FetchPolicy(), proxies={}, lookup=look) as fetcher:
                    try:
                        got = await fetcher.fetch(Url.parse(f"http://name.example:{server.port}/"))
                        ended.append(got.body.decode())
                    except FetchError as error:
                        ended.append(type(error).__name__)
        return ended

    with connects() as seen:
        ended = asyncio.run(run())
    return ended, [address[0] for address in seen if isinstance(address, tuple)], asked


@linux
@pytest.mark.usefixtures("public_2")
@pytest.mark.parametrize(
    "found",
    [["127.0.0.2"], ["127.0.0.1", "127.0.0.2"], ["127.0.0.2", "10.0.0.1"], ["::1", "127.0.0.2", "10.0.0.1"]],
)
def test_of_several_addresses_only_public_ones_are_connected_to(found: list[str]) -> None:
    assert fetch_named(lambda: found) == (["public"], ["127.0.0.2"], 1)


@linux
@pytest.mark.usefixtures("public_2")
def test_a_name_is_asked_for_once_and_its_answer_is_what_is_judged_and_connected_to() -> None:
    turns = iter(["127.0.0.2", "127.0.0.1", "127.0.0.2"])
    ended, seen, asked = fetch_named(lambda: [next(turns)], times=3)
    assert ended == ["public", AddressRefusedError.__name__, "public"]
    assert seen == ["127.0.0.2", "127.0.0.2"]
    assert asked == 3


# --- pages, redirects, robots.txt and sitemaps that point inwards ---


def inward_site(port: int) -> dict[str, bytes]:
    """A public site that does what it can to send us to a port of this machine."""
    inner = [f"http://{host}:{port}" for host in SPELLINGS if ".example" not in host]
    links = "".join(f'<a href="{url}/link{n}">services {n}</a> ' for n, url in enumerate(inner))
    hops = "".join(f'<a href="/hop{n}">about us {n}</a> ' for n in range(len(inner)))
    home = f'<base href="/"><title>Home</title><link rel=canonical href="{inner[0]}/c"><p>{"Welcome to our services. " * 20}{links}{hops}'
    listed = "".join(f"<url><loc>{url}/map</loc></url>" for url in inner)
    more = "".join(f"<sitemap><loc>{url}/more.xml</loc></sitemap>" for url in inner[:10])
    robots = "User-agent: *\nDisallow:\nSitemap: /map.xml\n" + "".join(
        f"Sitemap: {url}/s.xml\n" for url in inner[:10]
    )
    return {
        "/": kept(home.encode()),
        "/robots.txt": kept(robots.encode()),
        "/map.xml": kept(f"<urlset>{listed}</urlset>{more}".encode()),
        **{
            f"/hop{n}": kept(b"", f"Location: {url}/hop").replace(b"200 OK", b"302 Found")
            for n, url in enumerate(inner)
            if url.isascii()
        },
    }


@linux
@pytest.mark.usefixtures("public_2")
def test_a_public_site_that_points_inwards_gets_nobody_there(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    with Silent() as silent:
        site = Site(inward_site(silent.port), host="127.0.0.2")
        with site.served() as home, connects() as seen:
            manners = ("--delay", "0", "--retries", "0", "--quiet")
            reach = ("--traversal", "bfs", "--sitemap", "auto", "--follow-external", "500")
            crawled = run("crawl", f"{home}/", *reach, *manners, "-o", "pages.jsonl")
            picked = run("pick", f"{home}/", *manners, "--cap", "20", "-o", "picks.jsonl")
            seeded = run(
                "crawl",
                f"http://127.1:{silent.port}/",
                "--traversal",
                "bfs",
                *manners,
                "--store",
                "b.db",
                "-o",
                "b.jsonl",
            )
    assert (crawled.exit_code, picked.exit_code, seeded.exit_code) == (0, 0, 3), (
        crawled.output + picked.output
    )
    assert {address[0] for address in seen if isinstance(address, tuple)} == {"127.0.0.2"}
    assert silent.knocks == []
    pages = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    refused = [
        page["url"] for page in pages if page["points"] and page["points"][-1]["rule"] == "address-refused"
    ]
    assert len([url for url in refused if "/link" in url]) >= 15  # spellings of one address are one link
    assert len([url for url in refused if "/hop" in url]) >= 20
    assert len([url for url in refused if "/map" in url]) >= 15
    notes = [line for line in crawled.output.splitlines() if "is not on the public web" in line]
    assert len(notes) == 2  # of sitemaps: ten spellings are one address
    assert "is not on the public web (loopback)" in seeded.output


# --- ports ---


def test_every_port_that_browsers_refuse_is_refused_and_no_other() -> None:
    refused = [port for port in range(65_536) if addresses.refused_port(port)]
    assert len(refused) == 83
    assert not {80, 81, 443, 591, 2052, 3000, 5000, 8000, 8008, 8080, 8443, 8888, 9000, 9443} & set(refused)


def test_an_odd_port_is_refused_for_its_number_before_its_name_is_looked_up() -> None:
    def never(*_: object, **__: object) -> list[tuple[Any, ...]]:
        pytest.fail("looked up")

    async def fetch(policy: FetchPolicy, proxies: dict[str, str]) -> str:
        async with HttpFetcher(policy, proxies=proxies, lookup=never) as fetcher:
            with pytest.raises(FetchError) as caught:
                await fetcher.fetch(Url.parse("http://some.example:25/"))
            return caught.value.why

    assert asyncio.run(fetch(FetchPolicy(), {})) == "its port is not one of the web (mail)"
    assert (
        asyncio.run(fetch(FetchPolicy(), {"http": "http://127.0.0.1:9"}))
        == "its port is not one of the web (mail)"
    )


# --- proxies ---


def proxied(url: str, policy: FetchPolicy, **environment: str) -> tuple[str, list[str]]:
    """Fetch with a proxy in the environment; gives how it ended, and what the proxy was asked for."""
    heads: list[str] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await read_head(reader)).split("\r\n")[0])
        writer.write(kept(b"by proxy"))
        await writer.drain()

    async def run() -> str:
        async with Talker(talk) as proxy:
            with pytest.MonkeyPatch.context() as patch:
                for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
                    patch.delenv(name, raising=False)
                    patch.delenv(name.upper(), raising=False)
                for name, value in environment.items():
                    patch.setenv(name, value.format(proxy.root))
                fetcher = HttpFetcher(policy, lookup=lookup)
            async with fetcher:
                try:
                    return (await fetcher.fetch(Url.parse(url))).body.decode()
                except FetchError as error:
                    return type(error).__name__

    return asyncio.run(run()), heads


def test_a_proxy_of_the_environment_is_used() -> None:
    line = "GET http://site.example/a HTTP/1.1"
    assert proxied("http://site.example/a", FetchPolicy(), HTTP_PROXY="{}") == ("by proxy", [line])
    assert proxied("http://site.example/a", FetchPolicy(), http_proxy="{}") == ("by proxy", [line])


@pytest.mark.parametrize(
    "environment",
    [
        {"ALL_PROXY": "{}"},  # for protocols that we do not speak
        {"HTTPS_PROXY": "{}"},
        {"HTTP_PROXY": "{}", "NO_PROXY": "site.example"},
        {"HTTP_PROXY": "{}", "NO_PROXY": "*"},
        {
            "HTTP_PROXY": "{}",
            "REQUEST_METHOD": "GET",
        },  # a CGI script: the client's header, not our environment
    ],
)
def test_a_proxy_that_is_not_for_us_is_not_used(environment: dict[str, str]) -> None:
    assert proxied("http://site.example/a", FetchPolicy(), **environment) == ("NameNotFoundError", [])


@pytest.mark.parametrize("host", [host for host in SPELLINGS if ".example" not in host and "%25" not in host])
def test_behind_a_proxy_private_addresses_are_refused_by_their_spelling(host: str) -> None:
    assert proxied(f"http://{host}/", FetchPolicy(), HTTP_PROXY="{}") == ("AddressRefusedError", [])


def test_a_name_that_leads_inside_is_the_proxys_to_refuse() -> None:
    """Stated, not wished for: whoever sets a proxy has the proxy resolve names."""
    ended, heads = proxied("http://name.example/", FetchPolicy(), HTTP_PROXY="{}")
    assert (ended, len(heads)) == ("by proxy", 1)
    ended, heads = proxied("http://name.example/", FetchPolicy(), HTTP_PROXY="{}", NO_PROXY="name.example")
    assert (ended, heads) == ("AddressRefusedError", [])
