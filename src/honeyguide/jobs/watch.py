"""Watch: plan and crawl in a loop, within a budget, until stopped.

Owns: when to plan, how many pages a round may fetch, how long to rest. Must not know: how a plan is made, how pages are
fetched, where visits are kept: `WatchGround` does. Start reading at `watch`.

The budget is a sliding hour, counted from the visits that history has recorded, whoever made them. So a watch that was
killed and started again keeps it. What a round has scheduled stays scheduled: the next one, or the next process, first
fetches what is left, in the order of the plan, before it plans anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, NamedTuple, Protocol

from honeyguide.core.crawl.frontier import ScheduledVisit, digest_of
from honeyguide.core.url.url import Url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from honeyguide.core.crawl.frontier import Run
    from honeyguide.core.url.url import Tracking
    from honeyguide.ports.fetch import Clock
    from honeyguide.ports.store import Queue, Store

HOUR_S = 3600.0
_PLANS = 3  # in one round, at most
_LATE = 0.05  # of a visit: nobody wakes up on time
_REST_PER_PLAN = (
    9.0  # a round rests at least so many times as long as its plan took: planning stays a tenth of the work
)


class WatchGround(Protocol):
    """What a watch works on: a store, a planner and a crawler."""

    def latest(self, limit: int, since: float) -> Sequence[float]:
        """Give the times of the latest visits, the last one first; nobody asks for those before `since`."""
        ...

    async def listen(self, now: float) -> None:
        """Take in what sites announce, if it is time to."""
        ...

    def is_due(self, now: float) -> bool:
        """Tell whether something is scheduled."""
        ...

    def plan(self, count: int, now: float) -> int:
        """Schedule the best URLs, at most `count` of them; gives how many there were."""
        ...

    async def fetch(self, count: int) -> int:
        """Fetch what is scheduled, at most `count` pages; gives how many were fetched."""
        ...


@dataclass(frozen=True, slots=True)
class WatchBudget:
    """How much a watch may do: so many visits in any hour, a round in each cycle, until a time or for some rounds."""

    per_hour: int
    cycle_s: float = 60.0
    until: float | None = None
    rounds: int | None = None

    def room(self, latest: Sequence[float], now: float) -> int:
        """Say how many visits the hour before `now` leaves.

        >>> WatchBudget(per_hour=3).room([5000.0, 4000.0, 1000.0], 5000.0)
        1
        """
        return max(0, self.per_hour - sum(at > now - HOUR_S for at in latest))

    def free_at(self, latest: Sequence[float], now: float) -> float:
        """Say when there is room again.

        >>> WatchBudget(per_hour=2).free_at([5000.0, 4000.0, 3900.0], 5000.0)
        7600.0
        """
        recent = sorted((at for at in latest if at > now - HOUR_S), reverse=True)
        return now if len(recent) < self.per_hour else recent[self.per_hour - 1] + HOUR_S

    def share(self, passed_s: float) -> int:
        """Say how many visits are due after so many seconds, at an even pace.

        >>> WatchBudget(per_hour=100).share(60.0)
        2
        """
        visits = self.per_hour * max(self.cycle_s, passed_s) / HOUR_S
        return max(1, ceil(visits - _LATE))

    def is_over(self, now: float, rounds: int) -> bool:
        """Tell whether the time has come, or the rounds are done."""
        return (self.until is not None and now >= self.until) or (
            self.rounds is not None and rounds >= self.rounds
        )


@dataclass(frozen=True, slots=True)
class Round:
    """One round: how many visits there was room for, how many URLs were planned and pages fetched, when the next is.

    `spent` is how many visits the hour before its end has seen.
    """

    number: int
    at: float
    room: int
    planned: int
    fetched: int
    spent: int
    next_at: float


async def watch(
    ground: WatchGround, clock: Clock, pace: WatchBudget, on_round: Callable[[Round], None]
) -> str:
    """Go round and round; gives why it ended. Whoever cancels it loses nothing: the store has what is done."""
    rounds, begun = 0, clock.now() - pace.cycle_s
    while not pace.is_over(clock.now(), rounds):
        await ground.listen(clock.now())
        now = clock.now()
        latest = ground.latest(pace.per_hour, now - HOUR_S)
        room = min(pace.room(latest, now), pace.share(now - begun))
        planned, fetched, planning_s = await _round(ground, clock, room, now + pace.cycle_s)
        rounds += 1
        begun, ended = now, clock.now()
        latest = ground.latest(pace.per_hour, ended - HOUR_S)
        spent = pace.per_hour - pace.room(latest, ended)
        next_at = max(begun + pace.cycle_s, ended + _REST_PER_PLAN * planning_s, pace.free_at(latest, ended))
        on_round(Round(rounds, now, room, planned, fetched, spent, next_at))
        if not pace.is_over(ended, rounds):
            await clock.sleep(max(0.0, (next_at if pace.until is None else min(next_at, pace.until)) - ended))
    return "until" if pace.until is not None and clock.now() >= pace.until else "rounds"


async def _round(ground: WatchGround, clock: Clock, room: int, until: float) -> tuple[int, int, float]:
    """Fetch what is left of an earlier plan; while there is room and time, plan and fetch. Gives planned, fetched, seconds.

    What was planned may have to wait, because its site asks for a pause: then the next best have their turn.
    """
    fetched = await ground.fetch(room) if room > 0 and ground.is_due(clock.now()) else 0
    planned, planning_s = 0, 0.0
    for turn in range(_PLANS):
        if fetched >= room or (turn and clock.now() >= until):
            break
        began = clock.now()
        more = ground.plan(room - fetched, began)
        planning_s += clock.now() - began
        if not more:
            break
        planned += more
        fetched += await ground.fetch(room - fetched)
    return planned, fetched, planning_s


_AT_ONCE = 500  # URLs


class Taker(NamedTuple):
    """A run that may take URLs, and which parameters it ignores when it compares them."""

    run: Run
    tracking: Tracking


@dataclass(frozen=True, slots=True)
class Scheduled:
    """What became of a plan: how many URLs each run will fetch, and which URLs none will."""

    runs: Mapping[int, int]
    left: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many URLs are scheduled."""
        return sum(self.runs.values())


def current(runs: Iterable[Run]) -> list[Run]:
    """Give the runs that a command goes on with, the newest first: of those that were started over, the last."""
    return sorted({run.spec.key: run for run in runs}.values(), key=lambda run: -run.id)


def schedule(store: Store, urls: Sequence[str], at: float, takers: Iterable[Taker]) -> Scheduled:
    """Schedule URLs, the first of them first, each in the first of the runs that can fetch it; all of them, or none.

    A run cannot fetch what it has never met, what its rules put out, and what it is fetching just now. The same plan
    once more changes nothing.
    """
    parsed = [Url.parse(url) for url in urls]
    left = list(range(len(urls)))
    counts: dict[int, int] = {}
    with store.transaction():
        for run, tracking in takers:
            due = [ScheduledVisit(digest_of(parsed[place], tracking), at, place) for place in left]
            left = [one.place for one in _put(store.queue(run), due)]
            if len(left) < len(due):
                counts[run.id] = len(due) - len(left)
    store.flush()
    return Scheduled(counts, tuple(urls[place] for place in left))


def _put(queue: Queue, due: Sequence[ScheduledVisit]) -> list[ScheduledVisit]:
    """Schedule in one run; gives what it cannot fetch."""
    left: list[ScheduledVisit] = []
    for start in range(0, len(due), _AT_ONCE):
        some = due[start : start + _AT_ONCE]
        known = queue.known([one.digest for one in some])
        met = [one for one in some if one.digest in known]
        left += [one for one in some if one.digest not in known]
        if met and queue.schedule(met) < len(met):
            left += [one for one in met if not queue.schedule([one])]  # once more, to see which
    return sorted(left, key=lambda one: one.place)
