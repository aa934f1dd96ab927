"""The simulator: policies spend a budget of fetches in a world, tick by tick, and are measured beside the bounds.

Owns: runs, what a policy may see of the world, budgets and host limits, the names of simulated policies. Must not know:
formats, how worlds are generated. Start reading at `try_policies`, then `simulate`.
A policy learns of a change only by a visit. Fetches happen at the beginning of a tick, changes at any time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from honeyguide.adapters.policies import FormulaPolicy
from honeyguide.errors import InputError, shown
from honeyguide.simulation import measures, policies
from honeyguide.simulation.announcements import Announcements, SignalSettings, no_claims
from honeyguide.simulation.measures import freshness
from honeyguide.simulation.outcome import Outcome
from honeyguide.simulation.worlds import HUB, NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from honeyguide.core.recrawl.policies import RecrawlPolicy
    from honeyguide.simulation.measures import Spans
    from honeyguide.simulation.worlds import Floats, Ints, World

    Flags = NDArray[np.bool_]
    PolicyMaker = Callable[["Sight", World], "SimPolicy"]

MAX_FETCHES = 50_000_000
MAX_VALUES = 20_000_000  # pages that a policy without a formula values, one by one
_TICKS_H = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 24.0)
_MOST_TICKS = 20_000  # a longer run takes longer ticks
_DAY_H = 24.0


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be fetched: in a day, and of one host in a day; `name` is its text.

    A visit that finds nothing new costs `unchanged_cost` of one that does: 304 is a short answer.
    """

    name: str
    per_day: float
    host_per_day: float | None = None
    unchanged_cost: float = 1.0


@dataclass(frozen=True, slots=True)
class Setting:
    """What a run starts with: copies of all pages or none, and what the world announces, by source."""

    is_copied: bool = True
    signals: tuple[SignalSettings, ...] = ()
    seed: int = 1


DEFAULT = Setting()


@dataclass(frozen=True, slots=True)
class Sight:
    """What a policy can see: facts about the pages, never their changes; the simulator updates two of them."""

    kind: Ints
    host: Ints
    hosts: int
    weight: Floats
    hub: Ints
    is_known: Flags  # updated
    visited: Floats  # updated; -infinity before the first visit
    published: Floats  # the birth of each page, which counts only once the page is known
    per_day: float
    announced: tuple[Floats, ...] = ()  # updated: by source, the last change of each page that it claims
    unchanged_cost: float = 1.0  # of a visit that finds nothing new, in visits

    @property
    def cycle_h(self) -> float:
        """How long the budget takes to fetch every known page once."""
        return _DAY_H * max(int(np.count_nonzero(self.is_known)), 1) / self.per_day


@dataclass(frozen=True, slots=True)
class Visits:
    """What the fetches of one tick found."""

    now: float
    pages: Ints
    since: Floats  # when each page was visited before; -infinity if never
    is_changed: Flags
    is_gone: Flags
    discovered: Ints  # how many pages that nobody knew before

    @property
    def is_first(self) -> Flags:
        """Which pages had never been visited."""
        return ~np.isfinite(self.since)


class SimPolicy(Protocol):
    """Decides what to fetch: the highest scores first, ties by the number of the page."""

    def scores(self, now: float) -> Floats:
        """Return the value of a visit to each page now."""

    def learn(self, visits: Visits) -> None:
        """Learn from the results of visits."""


@dataclass(frozen=True, slots=True)
class FetchLog:
    """Every fetch of a run, in order: its page, its time, and whether it found something new."""

    pages: Ints
    times: Floats
    is_news: Flags
    is_copied: bool


def tick_of(world: World, budget: Budget) -> float:
    """Choose how long a tick is: an hour, or longer so that each has a fetch and there are not too many."""
    least = max(_DAY_H / budget.per_day, world.hours / _MOST_TICKS)
    return next((tick for tick in _TICKS_H if tick >= least), _TICKS_H[-1])


def simulate(
    world: World, budget: Budget, policy_of: Callable[[Sight], SimPolicy], setting: Setting = DEFAULT
) -> FetchLog:
    """Let a policy spend its budget."""
    if budget.per_day / _DAY_H * world.hours > MAX_FETCHES:
        raise InputError(f"budget {budget.name} is more than {MAX_FETCHES:,} fetches; take less of it")
    run = _Run(world, budget, setting)
    policy = policy_of(run.sight)
    tick = tick_of(world, budget)
    for number in range(int(np.ceil(world.hours / tick))):
        run.tick(number * tick, tick, policy)
    return run.log(is_copied=setting.is_copied)


class _Run:
    """The state of a run."""

    def __init__(self, world: World, budget: Budget, setting: Setting) -> None:
        self._world = world
        self._unchanged_cost = budget.unchanged_cost
        self._sources = [
            Announcements(world, one, setting.seed + place) for place, one in enumerate(setting.signals)
        ]
        self._per_tick = budget.per_day / _DAY_H
        self._host_limit = None if budget.host_per_day is None else budget.host_per_day / _DAY_H
        self._allowed = 0.0
        self._host_allowed = np.zeros(len(world.hosts))
        listed = np.flatnonzero(world.hub < 0)
        self._births = listed[np.argsort(world.born[listed], kind="stable")]
        self._born = world.born[self._births]
        hubs = np.unique(world.hub[world.hub >= 0])
        self._waiting = {int(hub): np.flatnonzero(world.hub == hub) for hub in hubs}
        is_there = (world.born <= 0.0) & (world.hub < 0)
        self.sight = Sight(
            kind=world.kind,
            host=world.host,
            hosts=len(world.hosts),
            weight=world.weight,
            hub=world.hub,
            is_known=is_there.copy(),
            visited=np.where(is_there & setting.is_copied, 0.0, -NEVER),
            published=world.born,
            per_day=budget.per_day,
            announced=tuple(no_claims(world.size) for _ in self._sources),
            unchanged_cost=budget.unchanged_cost,
        )
        self._next_birth = int(np.searchsorted(self._born, 0.0, "right"))
        self._fetched: list[tuple[Ints, float, Flags]] = []

    def tick(self, now: float, tick: float, policy: SimPolicy) -> None:
        """Discover new pages, choose, fetch, learn."""
        self._update_known(now)
        for source, latest in zip(self._sources, self.sight.announced, strict=True):
            source.read(now, latest)
        self._allowed += self._per_tick * tick
        if self._host_limit is not None:
            more = self._host_limit * tick
            self._host_allowed = np.minimum(self._host_allowed + more, more + 1.0)
        count = int(self._allowed + 1e-9)
        if count == 0:
            return
        scores = np.where(self.sight.is_known, policy.scores(now), -NEVER)
        pages = self._choose(scores, count)
        self._allowed = min(self._allowed - len(pages), self._per_tick * tick + 1.0)
        if len(pages):
            visits = self._fetch(pages, now)
            is_same = ~visits.is_changed & ~visits.is_first
            # What short answers left of the budget is spent at the next tick.
            self._allowed += (1.0 - self._unchanged_cost) * int(np.count_nonzero(is_same))
            policy.learn(visits)

    def log(self, *, is_copied: bool) -> FetchLog:
        """Return all fetches."""
        pages = [part[0] for part in self._fetched] or [np.zeros(0, np.int64)]
        times = [np.full(len(part[0]), part[1]) for part in self._fetched] or [np.zeros(0)]
        news = [part[2] for part in self._fetched] or [np.zeros(0, np.bool_)]
        return FetchLog(np.concatenate(pages), np.concatenate(times), np.concatenate(news), is_copied)

    def _update_known(self, now: float) -> None:
        """Add new pages that need no hub, and remove those whose end is known."""
        end = int(np.searchsorted(self._born, now, "right"))
        self.sight.is_known[self._births[self._next_birth : end]] = True
        self._next_birth = end
        if self._world.is_end_known:
            self.sight.is_known[self._world.gone <= now] = False

    def _choose(self, scores: Floats, count: int) -> Ints:
        if self._host_limit is None:
            return best_of(scores, count)
        caps = np.floor(self._host_allowed + 1e-9).astype(np.int64)
        pages = best_within(scores, count, self._world.host, caps)
        self._host_allowed -= np.bincount(self._world.host[pages], minlength=len(caps))
        return pages

    def _fetch(self, pages: Ints, now: float) -> Visits:
        world, sight = self._world, self.sight
        since = sight.visited[pages].copy()
        is_gone = world.gone[pages] <= now
        is_changed = (world.next_change(pages, since) <= now) & np.isfinite(since) & ~is_gone
        is_news = (is_changed | ~np.isfinite(since)) & ~is_gone
        sight.visited[pages] = now
        sight.is_known[pages[is_gone]] = False
        discovered = np.zeros(len(pages), np.int64)
        for place in np.flatnonzero(world.kind[pages] == HUB):
            discovered[place] = self._discover(int(pages[place]), now)
        self._fetched.append((pages, now, is_news))
        return Visits(now, pages, since, is_changed=is_changed, is_gone=is_gone, discovered=discovered)

    def _discover(self, hub: int, now: float) -> int:
        waiting = self._waiting.get(hub)
        if waiting is None:
            return 0
        is_out = self._world.born[waiting] <= now
        found = waiting[is_out]
        self._waiting[hub] = waiting[~is_out]
        self.sight.is_known[found] = True
        return len(found)


def best_of(scores: Floats, count: int) -> Ints:
    """Choose the highest scores, ties by page; pages without a score are never chosen."""
    count = min(count, int(np.count_nonzero(scores > -NEVER)))
    if count <= 0:
        return np.zeros(0, np.int64)
    cut = np.partition(scores, len(scores) - count)[len(scores) - count]
    above = np.flatnonzero(scores > cut)
    level = np.flatnonzero(scores == cut)[: count - len(above)]
    return np.sort(np.concatenate([above, level]))


def best_within(scores: Floats, count: int, host: Ints, caps: Ints) -> Ints:
    """Choose the highest scores, at most `caps` of each host."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > -NEVER]
    by_host = np.argsort(host[order], kind="stable")
    sizes = np.bincount(host[order], minlength=len(caps))
    place = np.empty(len(order), np.int64)
    place[by_host] = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = order[place < caps[host[order]]][:count]
    return np.sort(kept)


POLICIES: dict[str, PolicyMaker] = {
    "learned": lambda sight, _: policies.SimulatedLearned(sight),
    "heuristic": lambda sight, _: policies.SimulatedHeuristic(sight),
    "uniform": lambda sight, _: policies.SimulatedUniform(sight),
    "proportional": lambda sight, _: policies.SimulatedProportional(sight),
    "adaptive-interval": lambda sight, _: policies.SimulatedAdaptiveInterval(sight),
    "known-rates": lambda sight, world: policies.SimulatedKnownRates(sight, world.rates),
}
REFERENCE = "known-rates"  # knows every change rate
OPTIMUM, ALL_KNOWING = "optimum", "all-knowing"  # bounds: no policy, only a freshness
_POINTS = 120  # of a curve, at most


def try_policies(
    world: World,
    budget: Budget,
    chosen: Sequence[str | RecrawlPolicy],
    setting: Setting = DEFAULT,
    *,
    on_policy: Callable[[str], None] = lambda _: None,
) -> list[Outcome]:
    """Run each policy and the reference, and compare them with the bounds; `on_policy` hears of each before it runs."""
    outcomes = []
    for policy in (*(one for one in chosen if one != REFERENCE), REFERENCE):
        on_policy(policy if isinstance(policy, str) else policy.name)
        outcomes.append(_run(world, budget, policy, setting))
    best = outcomes[-1]  # the best possible is what the reference achieves, or the optimum in a steady world
    if world.is_steady:
        value = measures.optimal_freshness(world, budget)
        best = Outcome(world.name, budget.name, OPTIMUM, is_reference=True, freshness=value, late=value)
        outcomes.append(best)
    spans = measures.all_knowing(world, budget, tick_of(world, budget), setting.is_copied)
    top = _measured(world, budget, ALL_KNOWING, spans)
    return [
        replace(item, of_best=_share(item.late, best.late), of_all_knowing=_share(item.late, top.late))
        for item in (*outcomes, top)
    ]


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None


def simulated(policy: str | RecrawlPolicy, world: World, budget: Budget) -> Callable[[Sight], SimPolicy]:
    """Make a policy for a simulation: one of our own by its name, or one of another package."""
    if isinstance(policy, str):
        return lambda sight: POLICIES[policy](sight, world)
    if isinstance(policy, FormulaPolicy):
        return lambda sight: policies.SimulatedFormula(sight, policy)
    if world.size * world.hours / tick_of(world, budget) > MAX_VALUES:
        what = f"the policy {shown(policy.name)} would value more than {MAX_VALUES:,} pages one by one"
        raise InputError(f"{what}; take fewer pages or days, or make it a FormulaPolicy")
    return lambda sight: policies.SimulatedRows(sight, policy, world.pages)


def _run(world: World, budget: Budget, policy: str | RecrawlPolicy, setting: Setting) -> Outcome:
    name = policy if isinstance(policy, str) else policy.name
    log = simulate(world, budget, simulated(policy, world, budget), setting)
    fetched = np.bincount(world.host[log.pages], minlength=len(world.hosts))
    return replace(
        _measured(world, budget, name, measures.fresh_spans(world, log)),
        is_reference=name == REFERENCE,
        mean_age_h=measures.mean_age(world, measures.stale_spans(world, log), 0.0),
        nothing_share=float(1.0 - np.mean(log.is_news)) if len(log.pages) else None,
        discovery_h=measures.discovery_delay(world, log),
        fetches=len(log.pages),
        hosts=tuple((host, int(count)) for host, count in zip(world.hosts, fetched, strict=True)),
    )


def _measured(world: World, budget: Budget, name: str, spans: Spans) -> Outcome:
    """Measure freshness: whole, in the second half, day by day at first, and as a curve."""
    parts = max(2, min(_POINTS, round(world.hours / _DAY_H)))
    curve = freshness(world, spans, np.linspace(0.0, world.hours, parts + 1))
    halves = freshness(world, spans, np.array([world.hours / 2, world.hours]))
    days = np.arange(0.0, min(5.0, world.hours // _DAY_H) + 1.0) * _DAY_H
    whole = freshness(world, spans, np.array([0.0, world.hours]))
    return Outcome(
        world=world.name,
        budget=budget.name,
        policy=name,
        is_reference=True,
        freshness=float(whole[0]),
        late=float(halves[0]),
        days=tuple(map(float, freshness(world, spans, days))),
        curve=tuple(map(float, curve)),
    )
