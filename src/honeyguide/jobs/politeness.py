"""A fetcher that behaves: robots.txt, pace, limits, retries and redirects around one that makes single requests.

Owns: who may be asked, when, how often, and where redirects lead; every hop is checked and paced as its own host's
business. Must not know: HTTP clients, robots.txt syntax, real time. The arithmetic is in core/fetching.py.
Start reading at `PoliteFetcher.fetch`.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from honeyguide.core.fetching import MAY_PASS, PUSHED_BACK, Pace, backoff_s, gap_s, retry_after_s
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
from honeyguide.ports.fetch import Fetched, Part

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

    from honeyguide.core.fetching import FetchPolicy
    from honeyguide.ports.fetch import Clock, Fetcher, Robots, RobotsReader, Validators

_FOR_GOOD = frozenset({301, 308})
_REDIRECTS = _FOR_GOOD | {302, 303, 307}
_ROBOTS_REDIRECTS = 5  # RFC 9309 2.3.1.2
_KEPT_HOSTS = (
    10_000  # what is remembered of hosts at rest; beyond that, those with nothing pending are forgotten
)
_KEPT_ROBOTS = 1_000  # parsed files in memory; those not asked for the longest go first


@dataclass(slots=True)
class _Host:
    """One host: its slots, whose turn it is to start, and its pace."""

    in_flight: asyncio.Semaphore
    delay_s: float
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    pace: Pace = field(default_factory=Pace)
    users: int = 0


class _Standing(NamedTuple):
    """What an origin's robots.txt comes to: its rules; or no rules; or a failure that closes the origin."""

    rules: Robots | None = None
    closed: tuple[type[FetchError], str] | None = None
    fresh_until: float = 0.0


@dataclass(slots=True)
class _Origin:
    """One fetch of robots.txt at a time; the others wait for the lock and find its result."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    standing: _Standing = field(default_factory=_Standing)


@dataclass(slots=True)
class _Trip:
    """The way to one page: how much time its requests may still take, whichever hosts they go to. Waiting is free."""

    left_s: float

    @property
    def is_over(self) -> bool:
        return self.left_s <= 0


class PoliteFetcher:
    """A `Fetcher` that asks robots.txt first, keeps its distance, tries again and follows redirects."""

    def __init__(
        self, fetcher: Fetcher, clock: Clock, read_robots: RobotsReader, policy: FetchPolicy
    ) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._read_robots = read_robots
        self._policy = policy
        self._everywhere = asyncio.Semaphore(policy.concurrency)
        self._hosts: dict[str, _Host] = {}
        self._kept_hosts = _KEPT_HOSTS
        self._origins: dict[str, _Origin] = {}

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        """Get what a URL leads to. Forbidden if a robots.txt or the address policy rules out any hop."""
        here, elapsed_s, is_moved = url, 0.0, True
        trip = _Trip(self._policy.trip_timeout_s)
        way: tuple[str, ...] = ()
        while True:
            await self._obey(here, trip)
            marked = (
                validators and validators.of
            ) or url  # the marks of one answer are no other URL's business
            told = validators if here.as_linked == marked.as_linked else None
            got = await self._persist(here, told, part, trip)
            elapsed_s += got.elapsed_s
            there = _next_hop(url, got)
            if there is None:
                return (
                    replace(got, asked=url, hops=way, elapsed_s=elapsed_s, is_moved=is_moved) if way else got
                )
            way = (*way, here.as_linked)
            is_moved &= got.status in _FOR_GOOD
            self._check_way(url, way, there)
            self._check_time(url, trip)
            here = there

    async def robots(self, url: Url) -> Robots | None:
        """Give the rules of a URL's origin; None where there are none. Raises if the origin is closed."""
        return await self._rules(url, _Trip(self._policy.trip_timeout_s))

    # --- redirects ---

    def _check_way(self, url: Url, way: tuple[str, ...], there: Url) -> None:
        """Give up on redirects that go in a circle, or on for too long."""
        if there.as_linked in way:
            raise _astray(url, "its redirects go in a circle")
        if len(way) > self._policy.max_redirects:
            raise _astray(url, f"more than {self._policy.max_redirects} redirects")

    def _check_time(self, url: Url, trip: _Trip) -> None:
        """Give up on redirects that each take their time."""
        if trip.is_over:
            error = TimedOutError(
                url.as_linked, f"its redirects took more than {self._policy.trip_timeout_s:g} s"
            )
            error.retryable = False
            raise error

    # --- robots.txt ---

    async def _obey(self, url: Url, trip: _Trip) -> None:
        """Refuse what robots.txt disallows, and take over its Crawl-delay."""
        rules = await self._rules(url, trip)
        if rules is None:
            return
        if not rules.allows(url):
            raise ForbiddenError(url.as_linked, "robots.txt disallows it")
        asked_s = min(rules.crawl_delay_s or 0.0, self._policy.max_crawl_delay_s)
        self._host(url.site).delay_s = max(self._policy.delay_s, asked_s)

    async def _rules(self, url: Url, trip: _Trip) -> Robots | None:
        standing = await self._standing(url, trip)
        if standing.closed:
            kind, why = standing.closed
            rest_s = max(0.0, standing.fresh_until - self._clock.now())
            # What is refused for its address is refused for good: coming back would change nothing.
            raise kind(url.as_linked, why, retry_after_s=None if kind is AddressRefusedError else rest_s)
        return standing.rules

    async def _standing(self, url: Url, trip: _Trip) -> _Standing:
        """Say what robots.txt of this origin comes to, from memory while that is fresh."""
        key = f"{url.scheme}://{url.site}"
        origin = self._origins.pop(key, None) or _Origin()
        self._origins[key] = origin  # at the end: what is in use is forgotten last
        if len(self._origins) > _KEPT_ROBOTS:
            at_rest = (name for name, one in self._origins.items() if name != key and not one.lock.locked())
            self._origins.pop(next(at_rest, ""), None)
        if self._clock.now() >= origin.standing.fresh_until:
            async with origin.lock:
                if self._clock.now() >= origin.standing.fresh_until:
                    origin.standing = await self._ask_robots(Url.parse(f"{key}/robots.txt"), trip)
        return origin.standing

    async def _ask_robots(self, url: Url, trip: _Trip) -> _Standing:
        """RFC 9309 2.3.1: 2xx is read, 3xx without end and 4xx mean no rules, 5xx and silence close the origin."""
        policy = self._policy
        try:
            got = await self._walk_to_robots(url, trip)
        except FetchError as error:
            # Then it is the site that cannot be had; where robots.txt leads to is another matter.
            is_itself = (
                isinstance(error, AddressRefusedError | NameNotFoundError) and error.url == url.as_linked
            )
            closed = (type(error), error.why if is_itself else f"robots.txt could not be had: {error.why}")
            return _Standing(closed=closed, fresh_until=self._clock.now() + policy.robots_retry_s)
        now = self._clock.now()
        # 429 is a 4xx, but it says "not now" and not "no rules": reading on would be rude.
        if got.status >= 500 or got.status == 429:
            closed = (ForbiddenError, f"robots.txt answered {got.status}, which closes the site for now")
            return _Standing(closed=closed, fresh_until=now + policy.robots_retry_s)
        rules = self._read_robots(got.body) if got.status < 300 else None
        return _Standing(rules=rules, fresh_until=now + policy.robots_ttl_s)

    async def _walk_to_robots(self, url: Url, trip: _Trip) -> Fetched:
        """Follow its redirects, to other hosts too; a last 3xx is the answer if they do not end."""
        here = url
        for _ in range(_ROBOTS_REDIRECTS):
            got = await self._persist(here, None, Part.START, trip)
            try:
                there = _next_hop(here, got)
            except UnreachableError:  # a Location that leads nowhere
                return got
            if there is None:
                return got
            self._check_time(url, trip)
            here = there
        return await self._persist(here, None, Part.START, trip)

    # --- retries ---

    async def _persist(self, url: Url, validators: Validators | None, part: Part, trip: _Trip) -> Fetched:
        """Try again after failures that may pass. The pause holds no slot; after 429 and 503 the host's block is it."""
        attempt = 0
        while True:
            attempt += 1
            try:
                got = await self._once(url, validators, part, trip)
            except FetchError as error:
                if not error.retryable or self._is_last(url, attempt, part, trip):
                    raise
            else:
                if got.status not in MAY_PASS or self._is_last(url, attempt, part, trip):
                    return got
                if got.status in PUSHED_BACK:
                    continue
            await self._clock.sleep(backoff_s(attempt, self._policy.backoff_s, self._policy.max_backoff_s))

    def _is_last(self, url: Url, attempt: int, part: Part, trip: _Trip) -> bool:
        """Tell whether there is no further try: enough of them, no time left, or a host that wants long rest.

        A head is only a hint (PICK-11): it gets its few seconds once.
        """
        is_blocked = self._blocked_s(url) > self._policy.max_wait_s
        return part is Part.HEAD or attempt > self._policy.retries or trip.is_over or is_blocked

    async def _once(self, url: Url, validators: Validators | None, part: Part, trip: _Trip) -> Fetched:
        """One request in its slot, and what its answer means for the host."""
        async with self._slot(url) as host:
            started = self._clock.now()
            try:
                got = await self._fetcher.fetch(url, validators=validators, part=part)
            finally:
                trip.left_s -= self._clock.now() - started
            if got.status in PUSHED_BACK:  # on record before the slot is free: who gets it must know
                host.pace = host.pace.struck(self._clock.now() + self._rest_s(host, got))
            else:
                host.pace = host.pace.answered()
        return got

    def _rest_s(self, host: _Host, got: Fetched) -> float:
        """How long a host rests that pushed back: what it asks for, within bounds, or longer each time."""
        policy = self._policy
        asked_s = retry_after_s(got.headers.retry_after, self._clock.now())
        if asked_s is None:
            return backoff_s(host.pace.strikes + 1, policy.backoff_s, policy.max_backoff_s)
        return min(asked_s, policy.max_block_s)

    # --- slots ---

    @asynccontextmanager
    async def _slot(self, url: Url) -> AsyncIterator[_Host]:
        """Hold one of the host's slots and one of all; cancelled or not, both come back."""
        host = self._host(url.site)
        host.users += 1
        try:
            async with host.in_flight:
                async with host.turn:
                    await self._start(url, host)
                try:
                    yield host
                finally:
                    self._everywhere.release()
        finally:
            host.users -= 1

    async def _start(self, url: Url, host: _Host) -> None:
        """Wait until the host may be asked and a slot is free: returns with the slot held and the start on record."""
        while True:
            while (wait_s := host.pace.wait_s(self._clock.now())) > 0:
                self._check_patience(url)
                await self._clock.sleep(wait_s)
            await self._everywhere.acquire()
            now = self._clock.now()
            if host.pace.wait_s(now) <= 0:  # the host may have pushed back while we stood in line
                gap = gap_s(url.site, host.pace.starts, host.delay_s, self._policy.jitter)
                host.pace = host.pace.started(now, gap)
                return
            self._everywhere.release()

    def _check_patience(self, url: Url) -> None:
        blocked_s = self._blocked_s(url)
        if blocked_s > self._policy.max_wait_s:
            why = f"its host asked us to come back in {blocked_s:.0f} s"
            raise AskedToWaitError(url.as_linked, why, retry_after_s=blocked_s)

    def _blocked_s(self, url: Url) -> float:
        return self._host(url.site).pace.blocked_s(self._clock.now())

    def _host(self, site: str) -> _Host:
        """Give what is known of a host; those with nothing pending are forgotten when they become too many."""
        if site not in self._hosts and len(self._hosts) >= self._kept_hosts:
            now = self._clock.now()
            self._hosts = {s: h for s, h in self._hosts.items() if h.users or h.pace.wait_s(now) > 0}
            # Many that must be remembered are not looked through again for each new one.
            self._kept_hosts = max(_KEPT_HOSTS, 2 * len(self._hosts))
        if site not in self._hosts:
            self._hosts[site] = _Host(asyncio.Semaphore(self._policy.per_host), self._policy.delay_s)
        return self._hosts[site]


def _next_hop(url: Url, got: Fetched) -> Url | None:
    """Where an answer redirects to; None if it does not (a 3xx without a Location is an answer like any other)."""
    location = got.headers.location
    if got.status not in _REDIRECTS or not location:
        return None
    try:
        return Url.parse(location, got.url)
    except UrlError as error:
        raise _astray(url, f"it redirects to {shown(location)}: {error.why}") from error


def _astray(url: Url, why: str) -> UnreachableError:
    """Make the error for a URL that leads nowhere: asking again at once would not help."""
    error = UnreachableError(url.as_linked, why)
    error.retryable = False
    return error


Had = TypeVar("Had")


async def fetch_or_fail(url: Url, work: Awaitable[Had]) -> Had:
    """Wait for what a fetcher does: a bug of it costs a page or a site, not the run."""
    try:
        return await work
    except FetchError:
        raise
    except Exception as error:  # fetchers and what they use may be anybody's code
        raise FetchError(url.as_linked, f"unexpected {type(error).__name__}: {shown(str(error))}") from error
