"""The crawl as a state machine: events in, commands out.

Owns: `step`. It decides when to ask for leases, in which order results are applied, what a failure means, and when to
stop. Must not know: the store, fetching, clocks (`now` comes with the events), what a page says (judge).

The order of a run must not depend on the network. So claiming and applying alternate by one rule: as many leases are
taken as the window allows, and the *oldest* result is applied only when no more can be claimed, whichever result came first.
How many requests are in flight at once is then a matter of speed alone. A link is claimed only if nothing of its site that
came before it is in flight (`is_open`): what is being fetched may lead to a better one (TOPIC-5).

Start reading at `step`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, assert_never

from honeyguide.core.crawl.frontier import Budgets, ClaimRequest, Done, Dropped, Retry
from honeyguide.core.fetching import MAY_PASS, backoff_s
from honeyguide.core.rules.profile import CrawlRules
from honeyguide.core.why import Why
from honeyguide.errors import AskedToWaitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from honeyguide.core.crawl.frontier import Claimed, Lease, NoClaim, Outcome


_UNCHANGED = 304
_MOST_DOUBLED_S = 3600.0


# --- events ---


@dataclass(frozen=True, slots=True)
class Adopted:
    """The crawl begins, with the leases that an earlier process of this run left behind, in claim order."""

    leases: tuple[Lease, ...]
    now: float


@dataclass(frozen=True, slots=True)
class LeasesClaimed:
    """The store answered an `AskForLeases`."""

    granted: Claimed
    now: float


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer came after `tries` requests of this process; `rest_s` is how long its host asked us to stay away.

    `site` is that host, if redirects led to it.
    """

    claim: int
    status: int
    now: float
    rest_s: float | None = None
    site: str | None = None
    tries: int = 1


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer came. `is_fetch`: a request was made. `may_pass`: trying again may help.

    `site` is the one that failed, if redirects led to it.
    """

    claim: int
    why: Why
    now: float
    may_pass: bool = False
    is_fetch: bool = True
    rest_s: float | None = None
    site: str | None = None
    tries: int = 1


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passed; or, after `StopAsked`, nothing is being fetched any more."""

    now: float


@dataclass(frozen=True, slots=True)
class StopAsked:
    """Somebody asks this worker to stop: nothing more is claimed."""

    now: float


Event = Adopted | LeasesClaimed | Answered | Failed | Tick | StopAsked


# --- commands ---


@dataclass(frozen=True, slots=True)
class AskForLeases:
    """Ask the store for leases, and answer with `LeasesClaimed`."""

    ask: ClaimRequest


@dataclass(frozen=True, slots=True)
class Fetch:
    """Start to fetch, and answer with `Answered` or `Failed`."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class Finish:
    """Apply the result of a lease: read the page if there is one, and take it into the store."""

    lease: Lease
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Block:
    """Claim nothing of a site before then."""

    site: str
    until: float


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing can be done before then."""

    until: float


@dataclass(frozen=True, slots=True)
class Stop:
    """The crawl is over; there may be more to do at a time."""

    why: str
    until: float | None = None


Command = AskForLeases | Fetch | Finish | Block | Wait | Stop
Ended = Answered | Failed


class Slot(NamedTuple):
    """A lease in the window, and how it ended if it did."""

    lease: Lease
    ended: Ended | None = None


class CrawlLimits(NamedTuple):
    """What a run may do; `only_due` leaves what is queued alone, and fetches what was scheduled."""

    rules: CrawlRules = CrawlRules()
    budgets: Budgets = Budgets()
    max_time_s: float | None = None
    only_due: bool = False


class CrawlState(NamedTuple):
    """A crawl between two events. The window is in claim order; `failing` counts failures in a row, by site."""

    limits: CrawlLimits
    started_at: float
    window: tuple[Slot, ...] = ()
    failing: Mapping[str, int] = MappingProxyType({})
    closed: frozenset[str] = frozenset()
    stopping: str | None = None
    is_claiming: bool = False
    is_shared: bool = False  # among several workers: then results are applied as they come
    fetched_at: float = 0.0  # the last page that was fetched


def step(state: CrawlState, event: Event) -> tuple[CrawlState, tuple[Command, ...]]:
    """Take in one event; give the next state, and what is to be done, in order.

    >>> state, commands = step(CrawlState(CrawlLimits(), 0.0), Adopted((), 0.0))
    >>> [type(command).__name__ for command in commands]
    ['AskForLeases']
    """
    state = _watch(state, event)
    match event:
        case Adopted(leases, now):
            state, commands = _claim(state._replace(window=tuple(Slot(lease) for lease in leases)), now)
            return state, (*(Fetch(lease) for lease in leases), *commands)
        case LeasesClaimed(granted, now):
            return _take(state, granted, now)
        case Answered(claim) | Failed(claim):
            window = tuple(
                slot._replace(ended=event) if slot.lease.claim == claim else slot for slot in state.window
            )
            return _advance(state._replace(window=window), event.now)
        case Tick(now):
            if state.stopping is not None:
                return _wind_up(state, state.stopping)
            return _advance(state, now) if state.window else _claim(state, now)
        case StopAsked():
            state = state._replace(stopping=state.stopping or "stopped")
            return state, () if state.window else (Stop(state.stopping or ""),)
        case _:
            assert_never(event)


def _watch(state: CrawlState, event: Event) -> CrawlState:
    """Decide to stop when the time is over: from then on nothing is claimed."""
    limit_s = state.limits.max_time_s
    if state.stopping is None and limit_s is not None and event.now - state.started_at >= limit_s:
        return state._replace(stopping="max_time")
    return state


def _wind_up(state: CrawlState, why: str) -> tuple[CrawlState, tuple[Command, ...]]:
    """Apply what has come, in claim order, and stop; what has not is left to whoever resumes.

    Waiting for it could take hours: a site that asks for pauses is fetched from one page after the other.
    """
    commands: tuple[Command, ...] = ()
    for slot in state.window:
        if slot.ended is not None:
            state, more = _end(state, slot)
            commands += more
    return state._replace(window=()), (*commands, Stop(why))


def _take(state: CrawlState, granted: Claimed, now: float) -> tuple[CrawlState, tuple[Command, ...]]:
    """Put leases into the window; without any, apply a result, wait, or stop."""
    slots = tuple(Slot(lease) for lease in granted.leases)
    state = state._replace(
        window=state.window + slots, is_claiming=False, is_shared=state.is_shared or granted.is_shared
    )
    fetches = tuple(Fetch(lease) for lease in granted.leases)
    if state.window:
        state, more = _advance(state, now)
        return state, fetches + more
    rest = granted.rest
    # Pages that fail again and again do not hold the end: patience counts from the last page that was fetched.
    since = max(state.started_at, state.fetched_at) if rest.why == "resting" else now
    is_soon = rest.until is not None and rest.until - since <= state.limits.rules.patience_s
    if state.stopping is None and rest.until is not None and is_soon:
        return state, (Wait(rest.until),)
    return state, (Stop(state.stopping or _why(rest, state.limits), rest.until),)


def _why(rest: NoClaim, limits: CrawlLimits) -> str:
    """Name why nothing is left to do; with `only_due` that says nothing of what is queued."""
    return (
        {"complete": "nothing_due", "resting": "due_later"}.get(rest.why, rest.why)
        if limits.only_due
        else rest.why
    )


def _advance(state: CrawlState, now: float) -> tuple[CrawlState, tuple[Command, ...]]:
    """Apply the oldest result if it is there, then ask for leases before the next one: that is the rule.

    Among several workers no sequence is promised, so a host that is slow does not hold up the others.
    """
    found = state.window if state.is_shared else state.window[:1]
    place = next((at for at, slot in enumerate(found) if slot.ended is not None), None)
    if place is None or state.is_claiming:
        return state, ()
    slot, window = state.window[place], state.window[:place] + state.window[place + 1 :]
    state, commands = _end(state._replace(window=window), slot)
    state, more = _claim(state, now)
    return state, commands + more


def _claim(state: CrawlState, now: float) -> tuple[CrawlState, tuple[Command, ...]]:
    """Ask for as many leases as the window has room for; when stopping, go on without."""
    rules = state.limits.rules
    if state.stopping is not None:
        return _advance(state, now) if state.window else (state, (Stop(state.stopping),))
    in_flight = ranks_by_site(slot.lease for slot in state.window)
    ask = ClaimRequest(
        now, rules.window - len(state.window), now + rules.lease_s, rules.lookahead,
        in_flight, state.closed, state.limits.budgets, state.limits.only_due, waits=True,
    )  # fmt: skip
    return state._replace(is_claiming=True), (AskForLeases(ask),)


def ranks_by_site(leases: Iterable[Lease]) -> dict[str, tuple[int, ...]]:
    """Give the ranks of leases by their site."""
    found: dict[str, tuple[int, ...]] = {}
    for lease in leases:
        found[lease.site] = (*found.get(lease.site, ()), lease.rank)
    return found


def _end(state: CrawlState, slot: Slot) -> tuple[CrawlState, tuple[Command, ...]]:
    """Turn how a lease ended into its outcome, and into what it says of its site."""
    lease, ended = slot.lease, slot.ended
    if ended is None or (isinstance(ended, Answered) and _is_page(ended.status)):
        state = state._replace(fetched_at=ended.now if ended else state.fetched_at)
        return _answered(state, lease.site), (Finish(lease, Done()),)
    if isinstance(ended, Answered):
        why = Why(f"http-{ended.status}", f"answered {ended.status}")
        may_pass, is_fetch = ended.status in MAY_PASS, True  # the fetcher has tried more than once
    else:
        why, may_pass, is_fetch = ended.why, ended.may_pass, ended.is_fetch
    # A failure after a redirect does not count against the redirecting site: it answered.
    is_its_own = may_pass and ended.site in (None, lease.site)
    state = _failed(state, lease.site) if is_its_own else _answered(state, lease.site)
    outcome = _outcome(state, lease, ended, Dropped(why, is_fetch)) if may_pass else Dropped(why, is_fetch)
    finish: tuple[Command, ...] = (Finish(lease, outcome),)
    if not is_its_own or not ended.rest_s:  # what is gone for good has no say in when its site is asked again
        return state, finish
    return state, (*finish, Block(lease.site, ended.now + ended.rest_s))


def _is_page(status: int) -> bool:
    """Tell whether an answer is a page, or says that the page is still the same."""
    return 200 <= status < 300 or status == _UNCHANGED


def _outcome(state: CrawlState, lease: Lease, ended: Ended, dropped: Dropped) -> Outcome:
    rules = state.limits.rules
    was_asked = dropped.is_fetch or dropped.why.rule != AskedToWaitError.rule
    if was_asked and max(lease.attempt, ended.tries) >= rules.max_attempts:
        return dropped
    pause_s = ended.rest_s or backoff_s(lease.attempt, rules.retry_s, _MOST_DOUBLED_S)
    return Retry(ended.now + pause_s, dropped.why, dropped.is_fetch)


def _answered(state: CrawlState, site: str) -> CrawlState:
    if site not in state.failing:
        return state
    return state._replace(failing={name: n for name, n in state.failing.items() if name != site})


def _failed(state: CrawlState, site: str) -> CrawlState:
    """Count a failure; a site that fails again and again is left alone for the rest of this process."""
    failing = {**state.failing, site: state.failing.get(site, 0) + 1}
    gone = failing[site] >= state.limits.rules.max_site_failures
    return state._replace(failing=failing, closed=state.closed | {site} if gone else state.closed)
