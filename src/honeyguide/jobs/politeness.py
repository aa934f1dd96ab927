"""A polite fetcher: robots.txt, pace, limits, retries and redirects around a fetcher that makes single requests.

Each hop of a redirect obeys the robots.txt and the pace of its own host; a page that sends its readers elsewhere, by a meta
refresh or a single frame, redirects, too. Retries are seconds apart and belong to one fetch; a crawl queues a page that still
fails again, minutes later (core/crawl/machine.py). Must not know: HTTP clients, robots.txt syntax, real time. Start reading at
`PoliteFetcher.fetch`.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from honeyguide.core.crawl.frontier import SitePace
from honeyguide.core.fetching import MAY_PASS, PUSHED_BACK, backoff_s, gap_s, retry_after_s
from honeyguide.core.url.url import Url
from honeyguide.errors import (
    AddressRefusedError,
    AskedToWaitError,
    FetchError,
    ForbiddenError,
    NameNotFoundError,
    TimedOutError,
    UnreachableError,
    UrlError,
    shown,
)
from honeyguide.ports.fetch import ANYWHERE, Fetched, Part

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from honeyguide.core.fetching import FetchPolicy
    from honeyguide.ports.fetch import Clock, Fetcher, ForwardReader, Robots, RobotsReader, Trip, Validators

_PERMANENT = frozenset({301, 308})
_REDIRECTS = _PERMANENT | {302, 303, 307}
_MAX_ROBOTS_REDIRECTS = 5  # RFC 9309 2.3.1.2
_MAX_HOSTS = 1_000  # beyond that, hosts without pending requests are forgotten
_MAX_ROBOTS = 1_000  # files in memory; the least recently used is forgotten first
# Of all of them; the largest is forgotten first, so that no site displaces many others.
_MAX_ROBOTS_BYTES = 32 * 2**20


@dataclass(slots=True)
class _Host:
    """One host: its slots, the lock for starting a request, and when the next may start.

    `strikes` counts how often in a row it asked for a pause (429, 503), `rested_s` how long such pauses were in all.
    """

    in_flight: asyncio.Semaphore
    delay_s: float
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    starts: int = 0
    ready_at: float = 0.0
    blocked_until: float = 0.0
    strikes: int = 0
    rested_s: float = 0.0
    users: int = 0

    def wait_s(self, now: float) -> float:
        """Return the seconds until a request may start."""
        return max(0.0, self.ready_at - now, self.blocked_until - now)


@dataclass(slots=True)
class _Origin:
    """The robots.txt of an origin: its rules, or no rules, or a failure that closes the origin.

    It is fetched by one request at a time: others wait for the lock and find the result.
    """

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    rules: Robots | None = None
    closed: tuple[type[FetchError], str] | None = None
    fresh_until: float = 0.0
    size_bytes: int = 0


@dataclass(slots=True)
class _Allowance:
    """The time that the requests for one page may still take, on all hosts together, and how often a URL may be tried.

    Waiting for our own delay does not count; a pause that a host asks for does, or it could hold us for hours.
    """

    seconds: float
    tries: int
    on_start: Callable[[], None] | None = None


class PoliteFetcher:
    """A `Fetcher` that obeys robots.txt, paces requests, retries, and follows redirects."""

    def __init__(
        self,
        fetcher: Fetcher,
        clock: Clock,
        read_robots: RobotsReader,
        policy: FetchPolicy,
        forward_of: ForwardReader | None = None,
    ) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._read_robots = read_robots
        self._policy = policy
        self._forward_of = forward_of
        self._everywhere = asyncio.Semaphore(policy.concurrency)
        self._hosts: dict[str, _Host] = {}
        self._kept_hosts = _MAX_HOSTS
        self._origins: dict[str, _Origin] = {}
        self.hold: Callable[[], Awaitable[object]] | None = None  # awaited before a page is requested

    async def fetch(
        self,
        url: Url,
        *,
        validators: Validators | None = None,
        part: Part = Part.PAGE,
        trip: Trip = ANYWHERE,
    ) -> Fetched:
        """Fetch a URL and follow its redirects; a hop that robots.txt or its address rules out is a `ForbiddenError`.

        No page is requested more often than the trip and the policy allow, and no site that the trip may not lead to.
        """
        if self.hold is not None and part is Part.PAGE:
            await self.hold()
        here, elapsed_s, is_moved = url, 0.0, True
        tries = min(self._policy.retries + 1, trip.tries or self._policy.retries + 1)
        left = _Allowance(self._policy.trip_timeout_s, tries, trip.on_start)
        hops: tuple[str, ...] = ()
        owner = (validators and validators.of) or url  # validators belong to one URL and are sent to no other
        while True:
            await self._obey(here, left)
            own = validators if here.as_linked == owner.as_linked else None
            got = await self._fetch_with_retries(here, own, part, left)
            elapsed_s += got.elapsed_s
            there = _next_hop(url, got) or self._forward(got, (*hops, here.as_linked), part)
            if there is None and hops:
                return replace(got, request_url=url, hops=hops, elapsed_s=elapsed_s, is_moved=is_moved)
            if there is None:
                return got
            hops = (*hops, here.as_linked)
            is_moved &= got.status in _PERMANENT
            if there.as_linked in hops:
                raise _dead_end(url, "its redirects go in a circle")
            if len(hops) > self._policy.max_redirects:
                raise _dead_end(url, f"more than {self._policy.max_redirects} redirects")
            self._check_time(url, left)
            if trip.may_follow is not None and there.site != here.site and not await trip.may_follow(there):
                return replace(
                    got, url=there, request_url=url, hops=hops, elapsed_s=elapsed_s, is_outside=True
                )
            here = there

    def _forward(self, got: Fetched, hops: tuple[str, ...], part: Part) -> Url | None:
        """Give the URL that a page itself sends its readers to; where that leads in a circle, the page is the answer."""
        if self._forward_of is None or got.status != 200 or part not in (Part.PAGE, Part.HEAD):
            return None
        there = self._forward_of(got.body, got.url, got.headers.content_type)
        is_end = there is None or there.as_linked in hops or len(hops) > self._policy.max_redirects
        return None if is_end else there

    async def robots(self, url: Url) -> Robots | None:
        """Give the rules of a URL's origin; None where there are none. Raises if the origin is closed."""
        return await self._rules(url, _Allowance(self._policy.trip_timeout_s, self._policy.retries + 1))

    @property
    def delay_s(self) -> float:
        """The pause that every site gets."""
        return self._policy.delay_s

    def wait_until(self, site: str, until: float) -> None:
        """Ask a site nothing before then, because another worker has asked it."""
        host = self._host(site)
        host.ready_at = max(host.ready_at, until)

    def pace_of(self, site: str) -> SitePace:
        """Say when a site may be asked again: other processes keep to it, too."""
        host = self._host(site)
        return SitePace(site, host.ready_at, host.delay_s)

    def _check_time(self, url: Url, left: _Allowance) -> None:
        if left.seconds <= 0:
            why = f"its redirects took more than {self._policy.trip_timeout_s:g} s"
            raise _dead_end(url, why, TimedOutError)

    # --- robots.txt ---

    async def _obey(self, url: Url, left: _Allowance) -> None:
        """Reject what robots.txt disallows, and apply its Crawl-delay."""
        rules = await self._rules(url, left)
        if rules is None:
            return
        if not rules.allows(url):
            raise ForbiddenError(url.as_linked, "robots.txt disallows it")
        asked_s = min(rules.crawl_delay_s or 0.0, self._policy.max_crawl_delay_s)
        self._host(url.site).delay_s = max(self._policy.delay_s, asked_s)

    async def _rules(self, url: Url, left: _Allowance) -> Robots | None:
        """Give the rules of an origin, from memory while they are fresh."""
        key = f"{url.scheme}://{url.site}"
        origin = self._origins.pop(key, None) or _Origin()
        self._origins[key] = origin  # moved to the end: the least recently used is first
        if self._clock.now() >= origin.fresh_until:
            async with origin.lock:
                if self._clock.now() >= origin.fresh_until:
                    await self._fetch_robots(origin, Url.parse(f"{key}/robots.txt"), left)
            self._forget_robots(key)
        if origin.closed:
            kind, why = origin.closed
            rest_s = max(0.0, origin.fresh_until - self._clock.now())
            # A refused address stays refused, so there is no time to come back.
            raise kind(url.as_linked, why, retry_after_s=None if kind is AddressRefusedError else rest_s)
        return origin.rules

    def _forget_robots(self, key: str) -> None:
        """Forget files beyond the limits, but not the one of `key`, nor one that is being fetched."""
        at_rest = [name for name, one in self._origins.items() if name != key and not one.lock.locked()]
        if len(self._origins) > _MAX_ROBOTS and at_rest:
            del self._origins[at_rest.pop(0)]
        excess = sum(one.size_bytes for one in self._origins.values()) - _MAX_ROBOTS_BYTES
        if excess <= 0:
            return
        for name in sorted(at_rest, key=lambda name: -self._origins[name].size_bytes):
            if excess > 0:
                excess -= self._origins.pop(name).size_bytes

    async def _fetch_robots(self, origin: _Origin, url: Url, left: _Allowance) -> None:
        """RFC 9309 2.3.1: 2xx is read, endless 3xx and 4xx mean no rules, 5xx and no answer close the origin."""
        rules, closed, lasts_s = None, None, self._policy.robots_retry_s
        origin.size_bytes = 0
        try:
            got = await self._follow_robots(url, left)
        except FetchError as error:
            # Of the site itself the error says enough; of where robots.txt redirects to, it does not.
            is_site = (
                isinstance(error, AddressRefusedError | NameNotFoundError) and error.url == url.as_linked
            )
            closed = (type(error), error.why if is_site else f"robots.txt could not be fetched: {error.why}")
        else:
            # 429 is a 4xx, but it means "not now" and not "no rules".
            if got.status >= 500 or got.status == 429:
                closed = (ForbiddenError, f"robots.txt answered {got.status}, which closes the site for now")
            else:
                rules = self._read_robots(got.body) if got.status < 300 else None
                origin.size_bytes = len(got.body)  # its rules take about as much
                lasts_s = self._policy.robots_ttl_s
        origin.rules, origin.closed, origin.fresh_until = rules, closed, self._clock.now() + lasts_s

    async def _follow_robots(self, url: Url, left: _Allowance) -> Fetched:
        """Fetch robots.txt and follow its redirects, to other hosts too; if they do not end, the last 3xx is the answer."""
        got = await self._fetch_with_retries(url, None, Part.START, left)
        for _ in range(_MAX_ROBOTS_REDIRECTS):
            try:
                there = _next_hop(got.url, got)
            except UnreachableError:  # a Location that leads nowhere
                break
            if there is None:
                break
            self._check_time(url, left)
            got = await self._fetch_with_retries(there, None, Part.START, left)
        return got

    # --- retries ---

    async def _fetch_with_retries(
        self, url: Url, validators: Validators | None, part: Part, left: _Allowance
    ) -> Fetched:
        """Retry after failures that may pass. The pause holds no slot; after 429 and 503 the host is blocked anyway."""
        attempt = 0
        while True:
            attempt += 1
            try:
                got = await self._fetch_once(url, validators, part, left)
            except FetchError as error:
                if not error.retryable or self._is_last(url, attempt, part, left):
                    error.tries = attempt - isinstance(error, AskedToWaitError)
                    raise
            else:
                if got.status not in MAY_PASS or self._is_last(url, attempt, part, left):
                    return got if attempt == 1 else replace(got, tries=attempt)
                if got.status in PUSHED_BACK:
                    continue
            await self._clock.sleep(backoff_s(attempt, self._policy.backoff_s, self._policy.max_backoff_s))

    def _is_last(self, url: Url, attempt: int, part: Part, left: _Allowance) -> bool:
        """Tell whether this try is the last: by number, by time, or because the host asks for a long pause.

        A head is only a hint (PICK-11): it is tried once.
        """
        is_blocked = self._blocked_s(url) > min(self._policy.max_wait_s, left.seconds)
        most = left.tries if part is Part.PAGE else self._policy.retries + 1
        return part is Part.HEAD or attempt >= most or left.seconds <= 0 or is_blocked

    async def _fetch_once(
        self, url: Url, validators: Validators | None, part: Part, left: _Allowance
    ) -> Fetched:
        """Make one request in a slot, and pace the host by the answer."""
        async with self._slot(url, left) as host:
            started = self._clock.now()
            try:
                got = await self._fetcher.fetch(url, validators=validators, part=part)
            finally:
                left.seconds -= self._clock.now() - started
            if got.status in PUSHED_BACK:  # before the slot is free: the next request must know
                now, policy = self._clock.now(), self._policy
                rest_s = retry_after_s(got.headers.retry_after, now)
                if rest_s is None:  # longer each time
                    rest_s = backoff_s(host.strikes + 1, policy.backoff_s, policy.max_backoff_s)
                else:
                    rest_s = min(rest_s, policy.max_block_s)
                host.blocked_until = max(host.blocked_until, now + rest_s)
                host.strikes += 1
            else:  # a running block stays
                host.strikes = 0
        return got

    # --- slots ---

    @asynccontextmanager
    async def _slot(self, url: Url, left: _Allowance) -> AsyncIterator[_Host]:
        """Hold one slot of the host and one of all; both are released, even if cancelled."""
        host = self._host(url.site)
        host.users += 1
        rested_s = host.rested_s
        try:
            async with host.in_flight:
                async with host.turn:
                    await self._start(url, host, left, rested_s)
                left.seconds -= host.rested_s - rested_s
                try:
                    yield host
                finally:
                    self._everywhere.release()
        finally:
            host.users -= 1

    async def _start(self, url: Url, host: _Host, left: _Allowance, rested_s: float) -> None:
        """Wait until the host may be requested and a slot is free; returns with the slot held and the start recorded.

        All pauses of the host since `rested_s` together may be as long as is left: also those before requests that were queued
        before ours.
        """
        most_rested_s = left.seconds + rested_s
        while True:
            while (wait_s := host.wait_s(self._clock.now())) > 0:
                blocked_s = self._blocked_s(url)
                if blocked_s > min(self._policy.max_wait_s, most_rested_s - host.rested_s):
                    why = f"its host asked us to come back in {blocked_s:.0f} s"
                    raise AskedToWaitError(url.as_linked, why, retry_after_s=blocked_s)
                host.rested_s += blocked_s
                await self._clock.sleep(wait_s)
            await self._everywhere.acquire()
            if self._begin(url, host, left):
                return
            self._everywhere.release()

    def _begin(self, url: Url, host: _Host, left: _Allowance) -> bool:
        """Record the start of a request; False if another answer has blocked the host while we waited for the slot."""
        try:
            if left.on_start is not None:
                left.on_start()
        except BaseException:  # clean up after any exception, then re-raise it
            self._everywhere.release()
            raise
        now = self._clock.now()
        if host.wait_s(now) > 0:
            return False
        gap = gap_s(url.site, host.starts, host.delay_s, self._policy.jitter)
        host.starts, host.ready_at = host.starts + 1, now + gap
        return True

    def _blocked_s(self, url: Url) -> float:
        """Return how many seconds of the wait the host itself asked for."""
        return max(0.0, self._host(url.site).blocked_until - self._clock.now())

    def _host(self, site: str) -> _Host:
        """Give the state of a host; hosts without pending requests are forgotten when there are too many."""
        if site not in self._hosts and len(self._hosts) >= self._kept_hosts:
            now = self._clock.now()
            self._hosts = {s: h for s, h in self._hosts.items() if h.users or h.wait_s(now) > 0}
            # If many are still pending, they are not looked through again for each new host.
            self._kept_hosts = max(_MAX_HOSTS, 2 * len(self._hosts))
        if site not in self._hosts:
            self._hosts[site] = _Host(asyncio.Semaphore(self._policy.per_host), self._policy.delay_s)
        return self._hosts[site]


def _next_hop(url: Url, got: Fetched) -> Url | None:
    """Give the URL that an answer redirects to; a 3xx without a Location is an answer like any other."""
    location = got.headers.location
    if got.status not in _REDIRECTS or not location:
        return None
    try:
        return Url.parse(location, got.url)
    except UrlError as error:
        raise _dead_end(url, f"it redirects to {shown(location)}: {error.why}") from error


def _dead_end(url: Url, why: str, kind: type[FetchError] = UnreachableError) -> FetchError:
    """Make the error for a URL that leads nowhere; it is not retried."""
    error = kind(url.as_linked, why)
    error.retryable = False
    return error
