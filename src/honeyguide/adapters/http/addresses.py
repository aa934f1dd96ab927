"""Which network addresses may be visited, and the resolver of host names.

`guarded_socket` gets the address of the connection itself, after DNS, so that a name that resolves to another address the
second time (rebinding) gains nothing. Behind a proxy it gets only the proxy's address: `refused_host` then refuses what the
name alone tells; what else the proxy lets through is the proxy's business. Must not know: HTTP, URLs.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

from aiohttp.abc import AbstractResolver, ResolveResult

if TYPE_CHECKING:
    from collections.abc import Sequence

# The IANA special-purpose registries, spelled out: `ipaddress.is_global` differs between Python's own releases.
# The networks of a name are separated by spaces.
_V4_NAMES = {
    "this network": "0.0.0.0/8",
    "private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16",
    "carrier-grade NAT": "100.64.0.0/10",
    "loopback": "127.0.0.0/8",
    "cloud metadata": "168.63.129.16/32",  # one cloud's own services, on an address that looks public
    "link-local or cloud metadata": "169.254.0.0/16",
    "documentation": "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24",
    "benchmarking": "198.18.0.0/15",
    "multicast": "224.0.0.0/4",
    "reserved": "192.0.0.0/24 192.88.99.0/24 240.0.0.0/4",
}
_V6_NAMES = {
    "unspecified": "::/128",
    "loopback": "::1/128",
    "private": "fc00::/7 fec0::/10",
    "link-local": "fe80::/10",
    "multicast": "ff00::/8",
    "reserved": "2001::/23",  # Teredo, benchmarking, ORCHID: tunnels and tests, no web servers
    "documentation": "2001:db8::/32 3fff::/20",
}
_V4 = [(ipaddress.IPv4Network(one), name) for name, text in _V4_NAMES.items() for one in text.split()]
_V6 = [(ipaddress.IPv6Network(one), name) for name, text in _V6_NAMES.items() for one in text.split()]
_V6_PUBLIC = ipaddress.IPv6Network("2000::/3")  # all that has ever been handed out; the rest is reserved
# IPv6 addresses that carry an IPv4 address, and its distance from the right: they are judged by what they carry.
_CARRIERS = (
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),  # IPv4-mapped
    (ipaddress.IPv6Network("::/96"), 0),  # IPv4-compatible, obsolete
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),  # NAT64: how IPv6-only networks reach the IPv4 web
    (ipaddress.IPv6Network("2002::/16"), 80),  # 6to4
)
# Names that never leave the machine or the local network (RFC 6761, 6762, 8375, and the reserved .internal).
_LOCAL_NAMES = ("localhost", "local", "internal", "home.arpa")
# The WHATWG's port blocking: services that would take a request line for a command of their own.
_PORTS = {
    port: name
    for ports, name in (
        ((1, 7, 9, 11, 13, 15, 17, 19, 37, 42, 53, 69, 79, 111, 113, 123, 135, 161), "system services"),
        ((137, 139, 427, 513, 514, 515, 526, 530, 531, 532, 540, 548, 556, 3659), "system services"),
        ((20, 21, 22, 23, 77, 87, 115, 512, 989, 990, 2049, 4045), "files and remote login"),
        ((25, 109, 110, 143, 465, 587, 993, 995, 4190), "mail"),
        ((43, 95, 101, 102, 103, 104, 117, 119, 179, 389, 563, 601, 636), "directories, news and routing"),
        ((554, 1719, 1720, 1723, 5060, 5061, 6000, 6566, 10080), "calls, screens and devices"),
        ((6665, 6666, 6667, 6668, 6669, 6679, 6697), "chat"),
        ((0,), "reserved"),
    )
    for port in ports
}


class RefusedAddressError(OSError):
    """An address that may not be visited; no packet was sent. It is an `OSError`, so that connecting fails as usual."""


def refusal(address: str) -> str | None:
    """Return the reason why an address may not be visited; None if it may."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "not an IP address"
    return _refusal_v4(ip) if isinstance(ip, ipaddress.IPv4Address) else _refusal_v6(ip)


def _refusal_v4(ip: ipaddress.IPv4Address) -> str | None:
    return next((name for network, name in _V4 if ip in network), None)


def _refusal_v6(ip: ipaddress.IPv6Address) -> str | None:
    named = next((name for network, name in _V6 if ip in network), None)
    if named:
        return named
    for network, shift in _CARRIERS:
        if ip in network:
            return _refusal_v4(ipaddress.IPv4Address((int(ip) >> shift) & 0xFFFFFFFF))
    return None if ip in _V6_PUBLIC else "reserved"


def refused_host(host: str) -> str | None:
    """Return the reason why a host may not be visited if its name alone tells one.

    >>> refused_host("[::1]"), refused_host("0x7f.1"), refused_host("db.internal."), refused_host("example.com")
    ('loopback', 'loopback', 'local name', None)
    """
    name = host.strip("[]").rstrip(".").lower()
    if ":" in name:
        return refusal(name)
    if any(name == local or name.endswith(f".{local}") for local in _LOCAL_NAMES):
        return "local name"
    try:
        packed = socket.inet_aton(name)  # also reads 127.1, 0x7f.1 and 2130706433, as a resolver would
    except (OSError, ValueError):
        return None
    return refusal(str(ipaddress.IPv4Address(packed)))


def refused_port(port: int | None) -> str | None:
    """Return what a port is used for if it is not for the web; None if it may be visited."""
    return None if port is None else _PORTS.get(port)


def guarded_socket(addr_info: Sequence[Any]) -> socket.socket:
    """Open the socket for one resolved address, or refuse it: the hook between DNS and connecting."""
    family, kind, proto, _, address = addr_info
    if why := refusal(str(address[0])):
        raise RefusedAddressError(errno.EACCES, not_public(why))
    return socket.socket(family, kind, proto)


def not_public(why: str) -> str:
    """Return the sentence of a refusal; it does not name the address, so that several of one host read as one error."""
    return f"its address is not on the public web ({why}); --allow-private visits it"


Addresses = list[tuple[Any, ...]]
Lookup = Callable[..., Addresses]
"""Answers like `socket.getaddrinfo`."""

_PER_REQUEST = 4  # the system waits for a silent name server about four times as long as a request of ours
_MAX_THREADS = 256
# Only addresses of a family that this machine has; without a network, Windows would not even know localhost.
_FLAGS = 0 if sys.platform == "win32" else socket.AI_ADDRCONFIG
_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class Resolver(AbstractResolver):
    """Resolves host names in threads of its own, so that slow answers delay nothing else."""

    def __init__(self, concurrency: int, lookup: Lookup | None = None) -> None:
        self._lookup: Lookup = lookup or socket.getaddrinfo
        self._threads = asyncio.Semaphore(min(_PER_REQUEST * concurrency, _MAX_THREADS))

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return all addresses of a name; raises `OSError` as the system does."""
        lookup = partial(self._lookup, host, port, type=socket.SOCK_STREAM, family=family, flags=_FLAGS)
        return [
            ResolveResult(
                hostname=host,
                host=_numeric(address),
                port=address[1],
                family=kind,
                proto=proto,
                flags=_NUMERIC,
            )
            for kind, _, proto, _, address in await self._run(lookup)
        ]

    async def close(self) -> None:
        """Do nothing: Python does not wait for daemon threads."""

    async def _run(self, lookup: Callable[[], Addresses]) -> Addresses:
        """Run a lookup in a thread; the thread counts until it ends, whether or not the answer is still awaited."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Addresses] = loop.create_future()

        def settle(found: Addresses | Exception) -> None:
            self._threads.release()
            if answer.done():  # the request was given up
                return
            if isinstance(found, Exception):
                answer.set_exception(found)
            else:
                answer.set_result(found)

        def work() -> None:
            found: Addresses | Exception
            try:
                found = lookup()
            except Exception as error:  # noqa: BLE001 - raised again where it is awaited
                found = error
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(settle, found)

        await self._threads.acquire()
        try:
            Thread(target=work, name="names", daemon=True).start()
        except RuntimeError as error:  # the system has no more threads
            self._threads.release()
            raise OSError(str(error)) from error
        return await answer


def _numeric(address: tuple[Any, ...]) -> str:
    """Write an address with its zone, because a link-local one needs it."""
    zone = address[3] if len(address) > 3 else 0
    text = str(address[0])
    return f"{text}%{zone}" if zone and "%" not in text else text
