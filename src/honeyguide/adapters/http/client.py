"""Fetching over HTTP.

Owns: one request and its answer, through aiohttp, and the translation of every failure into our own errors. Must not know:
robots.txt, pace, retries, redirects (jobs/politeness.py follows them, because each hop has its own host and robots.txt).
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import ssl
from typing import TYPE_CHECKING, Any, Self
from urllib.request import getproxies_environment

import aiohttp
from aiohttp import http_exceptions
from yarl import URL

from honeyguide.adapters.http import addresses
from honeyguide.adapters.http.addresses import RefusedAddressError, Resolver
from honeyguide.adapters.http.body import CUTS, MAX_FILE_BYTES, BodyReader, Room
from honeyguide.adapters.http.connection import (
    MAX_HEADERS,
    MAX_LINE_BYTES,
    Connector,
    FloodError,
    check_library,
)
from honeyguide.core.page.media import why_wrong_type
from honeyguide.errors import (
    AddressRefusedError,
    ConfigError,
    FetchError,
    NameNotFoundError,
    NotTextError,
    Problem,
    TimedOutError,
    TooLargeError,
    UnreachableError,
    shown,
)
from honeyguide.ports.fetch import TEXT_PARTS, Fetched, Headers, Part, Validators, is_plain, plain_headers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractAsyncContextManager

    from honeyguide.adapters.http.addresses import Lookup
    from honeyguide.core.fetching import FetchPolicy
    from honeyguide.core.url.url import Url

_LOG = logging.getLogger("honeyguide.http")
_KEPT_HEADERS = (
    "Content-Type", "ETag", "Last-Modified", "Retry-After", "X-Robots-Tag", "Access-Control-Allow-Origin",
    "Location",
)  # fmt: skip
_MAX_CAUSES = 8  # aiohttp nests three deep
_NO_SUCH_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


class HttpFetcher:
    """A `Fetcher` for http and https. Use it as an async context manager, or call `aclose`.

    `proxies` default to the one of the policy, else to HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Behind a proxy only literal addresses and local names are
    refused here, because the proxy resolves names. `lookup` answers like `socket.getaddrinfo`.
    """

    def __init__(
        self, policy: FetchPolicy, *, proxies: Mapping[str, str] | None = None, lookup: Lookup | None = None
    ) -> None:
        self._policy = policy
        self._lookup = lookup
        self._resolver: Resolver | None = None
        self._room = Room()
        if policy.access.proxy is not None:
            proxies = dict.fromkeys(("http", "https"), policy.access.proxy)
        self._proxies = dict(getproxies_environment() if proxies is None else proxies)
        names = (name.strip().lstrip(".").lower() for name in self._proxies.get("no", "").split(","))
        self._unproxied = [name for name in names if name]
        self._sessions: dict[tuple[bool, bool], aiohttp.ClientSession] = {}
        problems = tuple(
            # The value stays out of the message: proxies are often given with a password.
            Problem(f"{scheme}_proxy", "must start with http:// or https://")
            for scheme in ("http", "https")
            if not self._proxies.get(scheme, "http://").startswith(("http://", "https://"))
        )
        if problems:
            raise ConfigError("environment", problems)

    async def __aenter__(self) -> Self:
        await check_library()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections; the fetcher may be used again."""
        sessions, self._sessions = list(self._sessions.values()), {}
        self._room = Room()
        for session in sessions:
            await session.close()
        if self._resolver is not None:
            await self._resolver.close()
            self._resolver = None

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        """Make one request; a redirect is an answer like any other."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        timeout_s = self._policy.head_timeout_s if part is Part.HEAD else self._policy.total_timeout_s
        try:
            async with asyncio.timeout(timeout_s), self._request(url, validators, part) as response:
                headers, (body, truncated) = await self._answer(url, response, part)
        except FetchError:
            raise
        except (aiohttp.ClientError, http_exceptions.HttpProcessingError, OSError, ValueError) as error:
            raise _translated(url.as_linked, error) from error
        _LOG.debug("GET %s: %s, %s bytes", url, response.status, len(body))
        return Fetched(
            url=url,
            request_url=url,
            status=response.status,
            headers=headers,
            body=body,
            truncated=truncated,
            elapsed_s=loop.time() - started,
        )

    async def _answer(
        self, url: Url, response: aiohttp.ClientResponse, part: Part
    ) -> tuple[Headers, tuple[bytes, bool]]:
        """Read headers, and the body of a page with whether it was cut on purpose; other answers need no body."""
        if response.status < 200:  # 101 answers no request of ours, and 000 is no status
            raise _final(UnreachableError(url.as_linked, f"its answer is not HTTP: status {response.status}"))
        headers = _headers(response)
        if response.status >= 300:
            return headers, (b"", False)
        if part in TEXT_PARTS and (why := why_wrong_type(headers.content_type)):
            raise NotTextError(url.as_linked, why)
        return headers, await BodyReader(url.as_linked, response, self._policy, part, self._room).whole()

    def _request(
        self, url: Url, validators: Validators | None, part: Part
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Prepare the request, through the proxy of its URL; it is sent when the context is entered."""
        target = URL(url.as_linked, encoded=True)
        if "@" in url.as_linked:
            target = target.with_user(None)  # a link's password is not ours to send
        proxy = self._proxy(url)
        if not self._policy.allow_private:
            if why := addresses.refused_port(target.port):
                raise AddressRefusedError(url.as_linked, f"its port is not one of the web ({why})")
            if proxy and (why := addresses.refused_host(url.host)):
                raise AddressRefusedError(url.as_linked, addresses.not_public(why))
        session = self._session(part, guarded=not proxy and not self._policy.allow_private)
        headers = self._policy.access.headers_for(url)
        if validators is not None:
            named = {"If-None-Match": validators.etag, "If-Modified-Since": validators.last_modified}
            headers.update((name, value) for name, value in named.items() if value and is_plain(value))
        return session.get(target, headers=headers, proxy=proxy, allow_redirects=False)

    def _proxy(self, url: Url) -> str | None:
        if any(name in ("*", url.host) or url.host.endswith(f".{name}") for name in self._unproxied):
            return None
        return self._proxies.get(url.scheme)

    def _session(self, part: Part, *, guarded: bool) -> aiohttp.ClientSession:
        """Keep separate sessions for checked and unchecked addresses, and for files, because these may be larger."""
        if self._resolver is None:
            self._resolver = Resolver(self._policy.concurrency, self._lookup)
        kind = guarded, part is Part.FILE
        if kind not in self._sessions:
            most = MAX_FILE_BYTES if part is Part.FILE else max(self._policy.max_bytes, *CUTS.values())
            self._sessions[kind] = _open_session(self._policy, self._resolver, most, guarded=guarded)
        return self._sessions[kind]


def _open_session(
    policy: FetchPolicy, resolver: Resolver, max_bytes: int, *, guarded: bool
) -> aiohttp.ClientSession:
    connector = Connector(
        max_bytes,
        limit=policy.concurrency,
        limit_per_host=policy.per_host,
        resolver=resolver,
        socket_factory=addresses.guarded_socket if guarded else None,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        # Accept-Encoding is aiohttp's: it names exactly what the installed libraries can decode.
        headers={
            "User-Agent": policy.agent,
            "Accept": "text/html,application/xhtml+xml,text/plain,*/*;q=0.5",
        },
        # trust_env stays off, because it would send passwords from ~/.netrc to sites.
        trust_env=False,
        max_line_size=MAX_LINE_BYTES,
        max_field_size=MAX_LINE_BYTES,
        max_headers=MAX_HEADERS,
        timeout=aiohttp.ClientTimeout(
            total=None,  # `fetch` has the timeout of the whole
            connect=policy.connect_timeout_s,
            sock_read=policy.read_timeout_s,
        ),
    )


def _headers(response: aiohttp.ClientResponse) -> Headers:
    """Read the headers we use."""
    content_type, etag, last_modified, retry_after, robots, allow_origin, location = map(
        response.headers.get, _KEPT_HEADERS
    )
    if (
        location
    ):  # a byte that is no UTF-8 arrives as a lone surrogate; escaped, it is the URL that the server meant
        location = re.sub("[\udc80-\udcff]", lambda m: f"%{ord(m[0]) - 0xDC00:02X}", location)
    location = location or None
    sent = Headers(content_type, etag, last_modified, retry_after, location, robots, allow_origin)
    return plain_headers(sent)


def _translated(url: str, error: Exception) -> FetchError:
    causes = tuple(_causes(error))[::-1]  # the first cause tells most
    for kind, translate in _MEANINGS:
        for found in causes:
            if isinstance(found, kind):
                return translate(url, found)
    why = getattr(causes[0], "strerror", None) or type(causes[0]).__name__
    return UnreachableError(url, f"no connection: {shown(str(why))}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(_MAX_CAUSES):
        if error is None:
            return
        yield error
        error = getattr(error, "os_error", None) or error.__cause__


def _final(error: UnreachableError) -> UnreachableError:
    error.retryable = False
    return error


def _no_name(url: str, error: socket.gaierror) -> FetchError:
    if error.errno in _NO_SUCH_NAME:
        return NameNotFoundError(url, "its host name does not exist")
    return UnreachableError(url, "its host name could not be looked up for now")


def _insecure(url: str, error: ssl.SSLError) -> FetchError:
    why = shown(getattr(error, "reason", None) or type(error).__name__)
    return _final(UnreachableError(url, f"no secure connection: {why}"))


def _not_http(url: str, error: aiohttp.ClientResponseError) -> FetchError:
    if "too many headers" in error.message.lower():
        return TooLargeError(url, f"more than {MAX_HEADERS} headers")
    return _final(UnreachableError(url, "its answer is not HTTP"))


# Our error for each failure; the first that fits the error or its cause counts, so the special ones come first.
_MEANINGS: tuple[tuple[type[BaseException], Callable[[str, Any], FetchError]], ...] = (
    (RefusedAddressError, lambda url, error: AddressRefusedError(url, error.strerror)),
    (socket.gaierror, _no_name),
    (aiohttp.ConnectionTimeoutError, lambda url, _: TimedOutError(url, "no connection in time")),
    (aiohttp.SocketTimeoutError, lambda url, _: TimedOutError(url, "silent for too long")),
    (TimeoutError, lambda url, _: TimedOutError(url, "not finished in time")),
    (ssl.SSLError, _insecure),
    (FloodError, lambda url, error: TooLargeError(url, str(error))),
    (http_exceptions.LineTooLong, lambda url, _: TooLargeError(url, "a header line is too long")),
    (http_exceptions.ContentEncodingError, lambda url, _: NotTextError(url, "its compression is broken")),
    (UnicodeError, lambda url, _: NameNotFoundError(url, "its host is no name that can be looked up")),
    (
        ValueError,
        lambda url, _: AddressRefusedError(url, "its host or port is malformed"),
    ),  # it was never sent
    (
        aiohttp.ClientHttpProxyError,
        lambda url, error: UnreachableError(url, f"the proxy answered {error.status}"),
    ),
    (aiohttp.ClientResponseError, _not_http),
    (aiohttp.ServerDisconnectedError, lambda url, _: UnreachableError(url, "closed without an answer")),
    (aiohttp.ClientPayloadError, lambda url, _: UnreachableError(url, "broke off before its end")),
)
