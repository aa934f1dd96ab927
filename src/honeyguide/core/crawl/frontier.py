"""The frontier as plain data: what is queued, what is leased, and how a lease ends.

Owns: `Lease`, the outcomes, `Discovered`, `KnownState`, `ClaimRequest` and `Claimed`, identity in 64 bits.
Must not know: where any of it is kept (adapters), why a link is placed where it is (judge.py), in which order
URLs come (placement.py). Start reading at `Lease`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.why import Why
from honeyguide.errors import check_least

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.core.crawl.learner import LinkGroup
    from honeyguide.core.crawl.traps import ShapeLimit
    from honeyguide.core.rules.profile import LearnerRules
    from honeyguide.core.url.url import Tracking, Url

# Rules that reject a link for lack of evidence; better evidence queues it.
PASSING_RULES = frozenset({"irrelevant", "pruned", "tunnel-end", "max-depth"})


class State(IntEnum):
    """Where an entry is on its way."""

    QUEUED = 0
    LEASED = 1
    DONE = 2
    REJECTED = 3


# As plain numbers: every link of every page is compared with them.
_TAKEN = (int(State.LEASED), int(State.DONE))
_REJECTED = int(State.REJECTED)

TOO_DEEP = "%d links from a seed; the limit is %d"


def too_deep(depth: int, limit: int | None) -> Why | None:
    """Say why a link is too far from the seeds, if it is.

    >>> too_deep(3, 2), too_deep(2, 2), too_deep(9, None)
    (Why(rule='max-depth', text='3 links from a seed; the limit is 2'), None, None)
    """
    return None if limit is None or depth <= limit else Why("max-depth", TOO_DEEP % (depth, limit))


class Lease(NamedTuple):
    """Permission to fetch one URL; `claim` is its number in the run, and the order of results.

    `is_known`: some run has visited it. Nothing is requested before `start_at`, because another worker has asked the site lately.
    """

    entry: int
    claim: int
    url: Url
    site: str
    depth: int = 0
    lane: str = "seed"
    priority: float = 0.0
    link_score: float | None = None
    weak_pages: int = 0
    hub_depth: int = 0
    parent: str | None = None
    attempt: int = 1
    is_seed: bool = False
    is_external: bool = False
    is_recrawl: bool = False
    is_known: bool = True
    start_at: float = 0.0
    rank: int = 0
    group: LinkGroup | None = None
    base: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """The page was fetched, or is known to be unchanged."""


@dataclass(frozen=True, slots=True)
class Retry:
    """The URL is tried again, not before `at`. `is_fetch` is false if only robots.txt was requested, and failed."""

    at: float
    why: Why
    is_fetch: bool = True


@dataclass(frozen=True, slots=True)
class Dropped:
    """The URL is not tried again. `is_fetch` is false if nothing was requested, because robots.txt forbids it."""

    why: Why
    is_fetch: bool = True


Outcome = Done | Retry | Dropped


def is_fetch(outcome: Outcome) -> bool:
    """Tell whether a page was requested, and so counts."""
    return isinstance(outcome, Done) or outcome.is_fetch


class Sighting(NamedTuple):
    """One page that links a URL: how, and what the link scored there. `points` are `rule:points`, comma-separated."""

    anchor: str
    position: str
    score: float | None
    points: str
    lane: str


class Discovered(NamedTuple):
    """A link as the queue takes it in: queued by `rank`, or rejected by `out`. A site of None is not crawled.

    `limited` names the shapes with a limit that it counts in; the store counts, because other workers do, too.
    """

    url: Url
    digest: int
    site: str | None
    rank: int
    lane: str
    priority: float
    score: float | None
    depth: int
    weak_pages: int = 0
    hub_depth: int = 0
    out: Why | None = None
    sighting: Sighting | None = None
    is_seed: bool = False
    is_external: bool = False
    limited: tuple[ShapeLimit, ...] = ()
    group: LinkGroup | None = None

    def rejected(self, why: Why) -> Discovered:
        """Reject the link: it keeps its place in the site and loses its place in the queue."""
        seen = self.sighting and self.sighting._replace(score=None, points="", lane="")
        return self._replace(rank=0, lane="", priority=0.0, score=None, weak_pages=0, out=why, sighting=seen)


class ScheduledVisit(NamedTuple):
    """A visit that a plan wants: not before `at`, in the order of `place`, lowest first."""

    digest: int
    at: float
    place: int


class QueuedUrl(NamedTuple):
    """A queued URL that was never visited, in its normal form; `born_at` is when a hub showed it as new."""

    digest: int
    url: str
    score: float | None
    hub_depth: int
    born_at: float | None


class KnownState(NamedTuple):
    """What the frontier holds of a URL already: enough to tell whether new evidence could matter."""

    state: int
    rank: int
    seen: int
    rule: str | None
    is_https: bool
    depth: int  # links from a seed, by the shortest way that is known

    @property
    def is_settled(self) -> bool:
        """Whether no evidence changes what becomes of it."""
        state = self.state
        # One with a rule that is not rejected waits to be tried again, behind all others: no link brings it forward.
        return state in _TAKEN or (
            self.rule is not None and (state != _REJECTED or self.rule not in PASSING_RULES)
        )


@dataclass(frozen=True, slots=True)
class Budgets:
    """How many pages a run may fetch: in all, of one host, and of other sites. None is without limit."""

    max_pages: int | None = None
    max_pages_per_host: int | None = None
    external_pages: int = 0

    def __post_init__(self) -> None:
        check_least("max_pages", self.max_pages, 1)
        check_least("max_pages_per_host", self.max_pages_per_host, 1)
        check_least("external_pages", self.external_pages, 0)


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """A request for leases: at most `limit`, at most `per_site` in flight of one site, none of closed sites.

    `in_flight` has the ranks of the leases of each site. With `waits`, a URL is granted only if none of its site with a better rank is
    in flight, because that one may lead to something better. `only_due` asks for what was scheduled alone. While `delay_s`, the pause
    between two requests to a site, is not zero, one worker at a time has a site; None: the fetcher keeps no pace. `learner` values
    links that are in groups (TOPIC-4c).
    """

    now: float
    limit: int
    until: float
    per_site: int = 1_000_000
    in_flight: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))
    closed: frozenset[str] = frozenset()
    budgets: Budgets = field(default_factory=Budgets)
    only_due: bool = False
    delay_s: float | None = None
    waits: bool = False
    learner: LearnerRules | None = None


class SitePace(NamedTuple):
    """When a site may be asked next, and the pause between two requests to it, with what robots.txt asks for."""

    site: str
    next_at: float
    delay_s: float


class NoClaim(NamedTuple):
    """Why nothing was granted, and when to ask again; without a time, asking again is no use."""

    why: str
    until: float | None = None


class Claimed(NamedTuple):
    """Leases in claim order; `rest` says what stands in the way where there are none.

    `is_shared` says that the hosts are divided among several workers: then the sequence of pages is not promised.
    """

    leases: tuple[Lease, ...] = ()
    rest: NoClaim = NoClaim("complete")
    is_shared: bool = False


def digest_of(url: Url, tracking: Tracking) -> int:
    """Give the identity of a URL's key (URL-7) as a signed 64-bit number that is the same in every process.

    >>> from honeyguide.core.url.url import Tracking, Url
    >>> digest_of(Url.parse("http://a.example/b"), Tracking()) == digest_of(Url.parse("https://a.example/b/"), Tracking())
    True
    """
    key = url.key(tracking).encode("utf-8", "backslashreplace")
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big", signed=True)


# --- who may be asked, and why nobody may ---

_SHARED_S = 0.25  # how long to wait for another process that holds the last leases


def is_open(ask: ClaimRequest, site: WaitingSite, in_flight: Sequence[int], external: int | None) -> bool:
    """Tell whether a site may be asked: not closed, not at its limits, and nothing better of it is in flight.

    `external` is what other sites used up already. What is scheduled has ranks below 0 and waits for nothing, because no
    page changes its order.

    >>> [is_open(ClaimRequest(0.0, 1, 9.0, waits=True), WaitingSite("a.example", 0.0, 10, rank=rank), (5,), None) for rank in (4, 5, 6, -6)]
    [True, True, False, True]
    """
    most = ask.budgets.max_pages_per_host
    if site.site in ask.closed or len(in_flight) >= ask.per_site or (most is not None and site.used >= most):
        return False
    if ask.waits and site.rank >= 0 and in_flight and site.rank > min(in_flight):
        return False
    return external is None or external < ask.budgets.external_pages


def start_at(request: ClaimRequest, next_at: float, delay_s: float | None, *, is_abandoned: bool) -> float:
    """Say when a site may be asked that other workers asked; a clock that was ahead delays nobody for long.

    >>> request = ClaimRequest(10.0, 1, 99.0, delay_s=5.0)
    >>> [start_at(request, at, None, is_abandoned=gone) for at, gone in ((12.0, False), (1e9, False), (12.0, True))]
    [12.0, 20.0, 15.0]
    """
    if request.delay_s is None:
        return 0.0
    pause_s = max(request.delay_s, delay_s or 0.0)
    return request.now + pause_s if is_abandoned else min(next_at, request.now + 2 * pause_s)


class WaitingSite(NamedTuple):
    """A site with queued URLs: when the first may be fetched, its rank, and how many pages of the budget are used."""

    site: str
    until: float
    used: int
    is_external: bool = False
    rank: int = 0


def rest_of(
    ask: ClaimRequest, queued: Iterable[WaitingSite], external: int, held_until: float | None
) -> NoClaim:
    """Say why nothing was granted, and when to ask again; `external` is what other sites used up already.

    A site that may not be asked any more is not waited for.

    >>> asked = ClaimRequest(5.0, 1, 9.0, budgets=Budgets(max_pages_per_host=2))
    >>> rest_of(asked, [WaitingSite("a.example", 8.0, 1)], 0, None), rest_of(asked, [WaitingSite("a.example", 8.0, 2)], 0, None)
    (NoClaim(why='resting', until=8.0), NoClaim(why='max_pages_per_host', until=None))
    """
    listed = [one for one in queued if one.site not in ask.closed]
    times = [
        one.until
        for one in listed
        if one.until > ask.now and is_open(ask, one, (), external if one.is_external else None)
    ]
    if times:
        return NoClaim("resting", min(times))
    if held_until is not None:
        return _shared(ask, held_until)
    if listed:
        most = ask.budgets.max_pages_per_host
        is_capped = most is not None and any(one.used >= most for one in listed)
        return NoClaim("max_pages_per_host" if is_capped else "external_pages")
    return NoClaim("site_failing" if ask.closed else "complete")


def rest_of_full(ask: ClaimRequest, held_until: float | None) -> NoClaim:
    """Why nothing was claimed although pages are queued: `max_pages` are fetched or leased, and a lease may yet be returned."""
    return NoClaim("max_pages") if held_until is None else _shared(ask, held_until)


def _shared(ask: ClaimRequest, held_until: float) -> NoClaim:
    return NoClaim("shared", min(held_until, ask.now + _SHARED_S))


# --- runs ---


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What makes a run the same run: `key` covers all but budgets; `request` is how it was last requested (jobs/request.py)."""

    key: str
    command: str
    topic: str | None
    profile: str
    profile_hash: str
    request: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One run in a store."""

    id: int
    spec: RunSpec
    started_at: float
    updated_at: float
    fetched: int = 0
    stopped: str | None = None


class FrontierRow(NamedTuple):
    """Everything the frontier knows of one URL of a run."""

    entry: int
    url: str
    state: State
    lane: str
    priority: float
    score: float | None
    depth: int
    parent: str | None
    seen: int
    attempts: int
    claim: int | None
    due_at: float | None
    why: Why | None
    worth: str | None = None  # what made its worth when it was claimed


class Counts(NamedTuple):
    """A run in numbers; `skipped` counts what never was an entry, by rule, `due` what was scheduled and not fetched since."""

    states: Mapping[str, int]
    lanes: Mapping[str, int]
    out: Mapping[str, int]
    skipped: Mapping[str, int]
    fetched: int
    external_links: int
    due: int = 0
