"""How we behave towards other people's servers: the policy, the pace of requests, the addresses of a site.

Owns: `FetchPolicy` with the reason for each default; how long to pause between requests and after failures; the URLs that a
bare site name may mean, and which failure to report. Must not know: clocks, sleeping, HTTP clients.
Start reading at the fields of `FetchPolicy`.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from honeyguide import __version__
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.errors import (
    AddressRefusedError,
    ConfigError,
    FetchError,
    ForbiddenError,
    NameNotFoundError,
    NotKeptError,
    NotTextError,
    Problem,
    TimedOutError,
    TooLargeError,
    UrlError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_TOKEN = re.compile(r"[A-Za-z_-]+")  # RFC 9309 2.2.1: what a product token may consist of


# Headers that are ours to send or that end at the next server (RFC 9110 7.6.1).
_RESERVED = frozenset({
    "accept-encoding", "connection", "content-length", "expect", "host", "if-modified-since", "if-none-match",
    "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "range", "te", "trailer",
    "transfer-encoding", "upgrade", "user-agent",
})  # fmt: skip
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")  # RFC 9110 5.6.2: what a name may consist of
MAX_HEADERS = 50  # besides our own
MAX_HEADER_CHARS = 8_000  # of one value: servers accept no more


@dataclass(frozen=True, slots=True)
class Access:
    """Headers and logins (host, user, password), which are sent to `origins` only, and a proxy.

    Messages and `repr` show no value of it.
    """

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    logins: tuple[tuple[str, str, str], ...] = field(default=(), repr=False)
    proxy: str | None = field(default=None, repr=False)
    origins: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        problems = [*_header_problems(self.headers), *_proxy_problems(self.proxy)]
        if not _are_texts(self.logins, 3):
            problems.append(Problem("logins", "must be tuples of three texts: host, user and password"))
        if problems:
            raise ConfigError("access", tuple(problems))

    def limited_to(self, urls: Iterable[Url]) -> Access:
        """Send it to the origins of these URLs only; an http origin includes https.

        >>> sorted(Access(headers=(("X-Key", "1"),)).limited_to([Url.parse("http://a.example/x")]).origins)
        ['http://a.example', 'https://a.example']
        """
        if not self.headers and not self.logins:
            return self
        origins = {f"{scheme}://{url.site}" for url in urls for scheme in {url.scheme, "https"}}
        return replace(self, origins=frozenset(origins))

    def headers_for(self, url: Url) -> dict[str, str]:
        """Return what a request carries besides our own headers: nothing for other origins."""
        if f"{url.scheme}://{url.site}" not in self.origins:
            return {}
        found = dict(self.headers)
        login = next((login for login in self.logins if login[0] == url.host), None)
        if login is not None and "authorization" not in map(str.lower, found):
            found["Authorization"] = f"Basic {b64encode(':'.join(login[1:]).encode()).decode()}"
        return found


def _are_texts(values: object, size: int) -> bool:
    """Tell whether values are tuples of so many texts."""
    return isinstance(values, (tuple, list)) and all(
        isinstance(one, (tuple, list)) and len(one) == size and all(isinstance(text, str) for text in one)
        for one in values
    )


def _header_problems(headers: Sequence[tuple[str, str]]) -> list[Problem]:
    if not _are_texts(headers, 2):
        return [Problem("headers", 'must be pairs of texts, such as (("X-Key", "1"),)')]
    if len(headers) > MAX_HEADERS:
        return [Problem("header", f"{len(headers)} are too many; {MAX_HEADERS} are allowed")]
    found = []
    for number, (name, value) in enumerate(headers, 1):
        if not _HEADER.fullmatch(name):  # it may be a part of the value
            found.append(Problem("header", f"number {number} has no usable name; write NAME=VALUE"))
        elif name.lower() in _RESERVED:
            found.append(
                Problem("header", f"{name} is not yours to set: the connection or another option needs it")
            )
        elif not (value.isascii() and value.isprintable() and value.strip()) or len(value) > MAX_HEADER_CHARS:
            what = f"printable ASCII, not empty, and at most {MAX_HEADER_CHARS:,} characters"
            found.append(Problem("header", f"the value of {name} must be {what}"))
    return found


def _proxy_problems(proxy: str | None) -> list[Problem]:
    """Check a proxy; the value stays out of the message, because it may have a password."""
    try:
        parts = urlsplit(proxy or "http://unused")
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_usable = False
    is_plain = proxy is None or (proxy.isascii() and proxy.isprintable() and " " not in proxy)
    what = "must be http://HOST:PORT or https://HOST:PORT; SOCKS is not supported"
    return [] if is_usable and is_plain else [Problem("proxy", what)]


NEVER = "never"
RENDER_MODES = (NEVER, "auto", "always")  # whether scripts of pages are run


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """Pace, limits and identity of one run.

    >>> FetchPolicy(contact="mailto:crawl@example.com").agent.partition(" ")[2]
    '(+mailto:crawl@example.com)'
    >>> FetchPolicy().robots_token
    'honeyguide'
    """

    # --- pace ---
    delay_s: float = 0.5  # between two request starts on one host: two a second, whatever the host could bear
    jitter: float = 0.2  # largest share added to the delay, so that many runs do not beat in step
    per_host: int = 5  # requests in flight on one host: slow answers must not pile up there (PICK-11)
    concurrency: int = 32  # requests in flight over all hosts: bounds memory and sockets
    max_crawl_delay_s: float = 30.0  # a longer Crawl-delay counts as this: an hour would mean "never"
    # --- patience ---
    connect_timeout_s: float = 5.0  # name, TCP and TLS together: each try of a dead host costs this
    read_timeout_s: float = 10.0  # silence between two pieces of an answer
    total_timeout_s: float = 30.0  # one request as a whole: a byte a second never trips the read timeout
    trip_timeout_s: float = 90.0  # all requests for one page: its redirects, retries and robots.txt
    # One site of a pick, from its address to its record: a slow one must not hold a slot.
    site_timeout_s: float = 300.0
    head_timeout_s: float = 5.0  # one head as a whole (PICK-11): it is only a hint, and there are many
    retries: int = 2  # further tries after a failure that may pass
    backoff_s: float = 1.0  # pause before the first retry; it doubles with each one
    max_backoff_s: float = 30.0  # where the doubling ends
    max_wait_s: float = 60.0  # a host that asks for a longer pause is reported at once instead of waited for
    max_block_s: float = 3600.0  # a longer Retry-After counts as this: no host is blocked for good
    # --- size ---
    max_bytes: int = 5 * 2**20  # as sent: any page made for people is smaller; more is a file
    max_decoded_bytes: int = 10 * 2**20  # after decompression: what a bomb may cost
    max_redirects: int = 10  # half of what browsers follow; robots.txt has its own limit (RFC 9309)
    # --- robots.txt ---
    robots_ttl_s: float = 86_400.0  # RFC 9309 2.4: no cached copy is used for more than 24 hours
    robots_retry_s: float = 600.0  # a robots.txt that failed closes its site for this long
    # --- identity ---
    user_agent: str | None = None  # the whole header; None builds one from name, version and contact
    contact: str | None = None  # where a site's owner reaches whoever runs this
    # --- safety ---
    allow_private: bool = False  # loopback and private addresses: no page may send us behind a firewall
    # --- what opens doors ---
    access: Access = Access()  # headers, logins and a proxy; nothing of it is written or printed

    def __post_init__(self) -> None:
        problems = tuple(_problems(self))
        if problems:
            raise ConfigError("policy", problems)

    @property
    def agent(self) -> str:
        """The User-Agent header."""
        if self.user_agent is not None:
            return self.user_agent
        return f"honeyguide/{__version__} ({f'+{self.contact}' if self.contact else 'no contact given'})"

    @property
    def robots_token(self) -> str:
        """The product token that robots.txt groups are matched against."""
        found = _TOKEN.match(self.agent)
        return found.group().lower() if found else "honeyguide"


def _problems(policy: FetchPolicy) -> list[Problem]:
    """List all mistakes: numbers out of range, and text that is not valid in a header."""
    found = []
    for one in fields(policy):
        value = getattr(policy, one.name)
        if isinstance(value, (int, float)) and not 0 <= value < float("inf"):
            found.append(Problem(one.name, f"must be a finite number, 0 or more, not {value}"))
        if isinstance(value, str) and not (value.isascii() and value.isprintable() and value.strip()):
            found.append(Problem(one.name, "must be printable ASCII, and not empty"))
    found += [
        Problem(name, "must be at least 1")
        for name in ("per_host", "concurrency", "max_bytes", "max_decoded_bytes")
        if getattr(policy, name) == 0
    ]
    return found


# --- pace -----------------------------------------------------------------------------------------------------

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# RFC 9110 5.6.7: the one date format that may be sent today; the two obsolete ones are not worth their code.
_HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT", re.ASCII)
_SECONDS = re.compile(r"0*(\d+)", re.ASCII)
MAX_REST_S = 86_400.0  # a longer Retry-After counts as a day: no host is blocked for good
PUSHED_BACK = frozenset({429, 503})  # the host, not the page, asks for a pause
MAY_PASS = PUSHED_BACK | {408, 500, 502, 504, 522, 524}  # worth another try
_LAST_DOUBLING = 30  # keeps 2**attempt small; every cap is reached before


def gap_s(host: str, nth: int, delay_s: float, jitter: float) -> float:
    """Return the pause after the host's nth request: the delay and a share of the jitter, the same each time."""
    digest = blake2b(f"{host} {nth}".encode("utf-8", "backslashreplace"), digest_size=6).digest()
    return delay_s * (1.0 + jitter * int.from_bytes(digest, "big") / 2**48)


def backoff_s(attempt: int, first_s: float, cap_s: float) -> float:
    """Return the pause before try number `attempt` + 1: doubling, up to a cap."""
    return min(cap_s, first_s * 2.0 ** (min(max(attempt, 1), _LAST_DOUBLING) - 1))


def retry_after_s(text: str | None, now: float) -> float | None:
    """Read a Retry-After header, seconds or a date; None if it is neither.

    >>> retry_after_s("31536000000000", 0.0) == MAX_REST_S
    True
    >>> retry_after_s("120", 0.0), retry_after_s("Thu, 01 Jan 1970 00:01:00 GMT", 15.0), retry_after_s("soon", 0.0)
    (120.0, 45.0, None)
    """
    value = (text or "").strip()
    if seconds := _SECONDS.fullmatch(value):
        return min(float(seconds[1]), MAX_REST_S) if len(seconds[1]) <= 9 else MAX_REST_S
    then = http_time(value)
    return None if then is None else min(max(0.0, then - now), MAX_REST_S)


def http_time(text: str | None) -> float | None:
    """Read the date of a header as seconds since 1970; None if it is not one.

    >>> http_time("Thu, 01 Jan 1970 00:01:00 GMT"), http_time("yesterday")
    (60.0, None)
    """
    found = _HTTP_DATE.fullmatch((text or "").strip())
    if not found or found[2] not in _MONTHS:
        return None
    day, year, hour, minute, second = (int(found[n]) for n in (1, 3, 4, 5, 6))
    try:
        then = datetime(year, _MONTHS.index(found[2]) + 1, day, hour, minute, min(second, 59), tzinfo=UTC)
    except ValueError:  # the 31st of February
        return None
    return then.timestamp()


# --- sites ----------------------------------------------------------------------------------------------------


# With a scheme or two slashes, everything before the last @ of the host; else a password, because a@b.example is e-mail.
_LOGIN = re.compile(
    r"(\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?[/\\]{2,})[^/?#\\]*@|(?!(?i:mailto:))[^/?#\\@]*:[^/?#\\]*@"
)
HAS_LOGIN = "has a user or a password in it, which records would keep: leave it out, and give it by --netrc"


def without_login(address: str) -> str:
    """Take the user and the password out of an address.

    >>> without_login("https://anna:secret@acme.com/a@b"), without_login("https://acme.com/a@b")
    ('https://acme.com/a@b', 'https://acme.com/a@b')
    """
    login = _LOGIN.match(address)
    return address if login is None else (login[1] or "") + address[login.end() :]


def addresses_of(site: str) -> list[Url]:
    """List the URLs that a site name may mean, in the order to try; a path or a word is no name.

    >>> [str(url) for url in addresses_of("acme.com")]
    ['https://acme.com/', 'https://www.acme.com/', 'http://acme.com/']
    >>> [str(url) for url in addresses_of("http://acme.com/en")]
    ['http://acme.com/en']
    >>> addresses_of("//acme.com") == addresses_of("acme.com")
    True
    """
    text = site.strip().removeprefix("//")
    if not text:
        raise UrlError(site, "is empty")
    if "://" in text:
        return [Url.parse(text)]
    bare = Url.parse(f"https://{text}")
    if is_word(bare):
        raise UrlError(site, NO_DOT)
    return [bare, *_with_www(bare.host, text), Url.parse(f"http://{text}")]


NO_DOT = "a name without a dot"


def is_word(url: Url) -> bool:
    """Tell whether the host is one word, as of `/library/x.html` with https:// in front; `localhost` and hosts with a port are addresses."""
    return not {".", ":"} & set(url.site) and url.host != "localhost"


def _with_www(host: str, text: str) -> list[Url]:
    """Return the URL with www. in front, if there may be one: not of IP addresses and localhost."""
    is_name = "." in host and host.rpartition(".")[2].isalpha()
    try:
        return [Url.parse(f"https://www.{text}")] if is_name and not host.startswith("www.") else []
    except UrlError:  # too long with www.
        return []


_STATUS: tuple[tuple[type[FetchError], str], ...] = (
    (NameNotFoundError, "dns_failed"),
    (TimedOutError, "timeout"),
    (AddressRefusedError, "unreachable"),
    (ForbiddenError, "robots_disallowed"),
    (NotTextError, "empty"),
    (TooLargeError, "empty"),
    (NotKeptError, "not_kept"),
)
# Of several failures the one that got furthest says most.
_FURTHEST = ("robots_disallowed", "http_error", "empty", "timeout", "unreachable", "dns_failed", "not_kept")


def failure_of(error: FetchError) -> Why:
    """Say why a site cannot be picked from; the rule is the status of its record."""
    return Why(next((name for kind, name in _STATUS if isinstance(error, kind)), "unreachable"), str(error))


def failure_of_answer(status: int) -> Why:
    """Say why an answer is not a homepage."""
    if status >= 300:
        return Why("http_error", f"the homepage answered {status}")
    return Why("empty", "the homepage is empty")


def most_telling(failures: Sequence[Why]) -> Why:
    """Return the failure that got furthest, the first of its kind."""
    return min(failures, key=lambda failure: _FURTHEST.index(failure.rule))
