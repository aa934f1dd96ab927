"""How we behave towards other people's servers, as plain numbers.

Owns: `FetchPolicy`, its defaults and the reason for each. Must not know: HTTP, robots.txt syntax, where the numbers were
read from. Start reading at the fields of `FetchPolicy`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from honeyguide.errors import ConfigError, Problem
from honeyguide.version import __version__

_TOKEN = re.compile(r"[A-Za-z_-]+")  # RFC 9309 2.2.1: what a product token may consist of


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """Pace, limits and identity of one run.

    >>> FetchPolicy(contact="mailto:crawl@example.com").agent.partition(" ")[2]
    '(+mailto:crawl@example.com)'
    >>> FetchPolicy().robots_token
    'honeyguide'
    """

    # --- pace ---
    delay_s: float = (
        0.5  # between two request starts on one host: two a second at most, whatever the host could bear
    )
    jitter: float = (
        0.2  # share added to the delay, at most, so that many runs do not beat in step; it never shortens
    )
    per_host: int = (
        5  # requests in flight on one host: slow answers must not pile up there (PICK-11: 5 at a time)
    )
    concurrency: int = (
        32  # requests in flight over all hosts: bounds memory (times max_decoded_bytes) and sockets
    )
    max_crawl_delay_s: float = (
        30.0  # a longer Crawl-delay counts as this: an hour would mean "never" for any run
    )
    # --- patience ---
    connect_timeout_s: float = (
        5.0  # name, TCP and TLS together: dead hosts are common, and each try costs this
    )
    read_timeout_s: float = 10.0  # silence between two pieces of an answer
    total_timeout_s: float = 30.0  # one request as a whole: a byte a second never trips the read timeout
    trip_timeout_s: float = 90.0  # all requests for one page, its redirects, tries and robots.txt: beyond that no further one is made
    head_timeout_s: float = 5.0  # one head as a whole (PICK-11): it is only a hint, and there are many
    retries: int = 2  # further tries after a failure that may pass
    backoff_s: float = 1.0  # pause before the first further try; it doubles with each one
    max_backoff_s: float = 30.0  # where the doubling ends
    max_wait_s: float = (
        60.0  # a host that wants more rest than this is reported at once instead of waited for
    )
    max_block_s: float = (
        3600.0  # a longer Retry-After counts as this: nobody puts a host out of reach for good
    )
    # --- size ---
    max_bytes: int = 5 * 2**20  # as sent: room for any page made for people; more is a file
    max_decoded_bytes: int = 10 * 2**20  # after decompression: what a bomb may cost
    max_redirects: int = 10  # half of what browsers follow; robots.txt has its own limit (RFC 9309)
    # --- robots.txt ---
    robots_ttl_s: float = 86_400.0  # RFC 9309 2.4: no cached copy is used for more than 24 hours
    robots_retry_s: float = (
        600.0  # one that could not be had closes the site for this long, then is asked for again
    )
    # --- identity ---
    user_agent: str | None = (
        None  # the whole header; None builds an honest one from name, version and contact
    )
    contact: str | None = (
        None  # where a site's owner reaches whoever runs this: nobody can know that but them
    )
    # --- safety ---
    allow_private: bool = (
        False  # loopback, private and metadata addresses: a page must not send us behind a firewall
    )

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
    """All mistakes at once: numbers out of range, and text that cannot stand in a header."""
    found = []
    for field in fields(policy):
        value = getattr(policy, field.name)
        if isinstance(value, (int, float)) and not 0 <= value < float("inf"):
            found.append(Problem(field.name, f"must be a finite number, 0 or more, not {value}"))
        if isinstance(value, str) and not (value.isascii() and value.isprintable() and value.strip()):
            found.append(Problem(field.name, "must be printable ASCII, and not empty"))
    found += [
        Problem(name, "must be at least 1")
        for name in ("per_host", "concurrency", "max_bytes", "max_decoded_bytes")
        if getattr(policy, name) == 0
    ]
    return found
