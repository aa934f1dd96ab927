"""When the next request to a host may start: arithmetic on a given `now`.

Owns: delay with jitter, blocks after 429 and 503, the backoff schedule, reading Retry-After and the times of headers.
Must not know: clocks, sleeping, requests. Start reading at `Pace`: one host's past, as far as it limits its future.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from hashlib import blake2b
from typing import NamedTuple

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# RFC 9110 5.6.7: the one date format that may be sent today; the two obsolete ones are not worth their code.
_HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT", re.ASCII)
_SECONDS = re.compile(r"0*(\d+)", re.ASCII)
LONGEST_REST_S = (
    86_400.0  # whoever asks for more than a day gets a day: nobody puts a host out of reach for good
)
PUSHED_BACK = frozenset({429, 503})  # the host, not the page, asks for rest
MAY_PASS = PUSHED_BACK | {408, 500, 502, 504, 522, 524}  # worth another try
_LAST_DOUBLING = 30  # beyond this the cap has long been reached; it keeps 2**attempt small


class Pace(NamedTuple):
    """One host: how often it was asked, when it may be asked again, how often in a row it pushed back."""

    starts: int = 0
    ready_at: float = 0.0
    blocked_until: float = 0.0
    strikes: int = 0

    def wait_s(self, now: float) -> float:
        """How long until a request may start.

        >>> Pace(ready_at=10.5, blocked_until=9.0).wait_s(10.0)
        0.5
        """
        return max(0.0, self.ready_at - now, self.blocked_until - now)

    def blocked_s(self, now: float) -> float:
        """How much of the wait the host itself asked for.

        >>> Pace(ready_at=99.0, blocked_until=12.0).blocked_s(10.0)
        2.0
        """
        return max(0.0, self.blocked_until - now)

    def started(self, now: float, gap_s: float) -> Pace:
        """Note that a request starts now; the next may start `gap_s` later.

        >>> Pace().started(10.0, 0.5)
        Pace(starts=1, ready_at=10.5, blocked_until=0.0, strikes=0)
        """
        return self._replace(starts=self.starts + 1, ready_at=now + gap_s)

    def struck(self, until: float) -> Pace:
        """Note that the host pushed back (429, 503): nothing starts before `until`; an earlier, longer block stays.

        >>> Pace(blocked_until=50.0).struck(20.0)
        Pace(starts=0, ready_at=0.0, blocked_until=50.0, strikes=1)
        """
        return self._replace(blocked_until=max(self.blocked_until, until), strikes=self.strikes + 1)

    def answered(self) -> Pace:
        """Note that the host answered as usual: its strikes are forgotten, a block that still runs is not.

        >>> Pace(strikes=3, blocked_until=7.0).answered()
        Pace(starts=0, ready_at=0.0, blocked_until=7.0, strikes=0)
        """
        return self._replace(strikes=0) if self.strikes else self


def spread(host: str, nth: int) -> float:
    """Give a number in 0..1 that is the same in every run, and different for every host and request.

    >>> spread("example.com", 1) == spread("example.com", 1) != spread("example.com", 2)
    True
    """
    digest = blake2b(f"{host} {nth}".encode("utf-8", "backslashreplace"), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**48


def gap_s(host: str, nth: int, delay_s: float, jitter: float) -> float:
    """Give the pause after the host's nth request: the delay, lengthened by at most the jitter's share.

    >>> 0.5 <= gap_s("example.com", 1, 0.5, 0.2) < 0.6
    True
    """
    return delay_s * (1.0 + jitter * spread(host, nth))


def backoff_s(attempt: int, first_s: float, cap_s: float) -> float:
    """Give the pause before try number `attempt` + 1: doubling, up to a cap.

    >>> [backoff_s(n, 1.0, 5.0) for n in (1, 2, 3, 4)]
    [1.0, 2.0, 4.0, 5.0]
    """
    return min(cap_s, first_s * 2.0 ** (min(max(attempt, 1), _LAST_DOUBLING) - 1))


def retry_after_s(text: str | None, now: float) -> float | None:
    """Read a Retry-After header: seconds or a date; None if it says nothing that can be read.

    >>> retry_after_s("31536000000000", 0.0) == LONGEST_REST_S
    True
    >>> retry_after_s("120", 0.0), retry_after_s("Thu, 01 Jan 1970 00:01:00 GMT", 15.0), retry_after_s("soon", 0.0)
    (120.0, 45.0, None)
    """
    value = (text or "").strip()
    if seconds := _SECONDS.fullmatch(value):
        return min(float(seconds[1]), LONGEST_REST_S) if len(seconds[1]) <= 9 else LONGEST_REST_S
    then = http_time(value)
    return None if then is None else min(max(0.0, then - now), LONGEST_REST_S)


def http_time(text: str | None) -> float | None:
    """Read the time of a header, as seconds since 1970; None if it is none.

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
