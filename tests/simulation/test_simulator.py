"""The simulator: its accounting is exact, its arrays are the policies of the core, and its figures hold."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.adapters import policies as schedules
from honeyguide.config import load_profile
from honeyguide.core.recrawl.clocks import (
    EDGES_H,
    AgeClock,
    AgeProfile,
    DayProfile,
    SiteAges,
    SiteClock,
    first_weights,
)
from honeyguide.core.recrawl.history import Site
from honeyguide.core.recrawl.plan import UrlSignals, score_url
from honeyguide.core.recrawl.policies import Learned as CoreLearned
from honeyguide.core.recrawl.policies import RecrawlPolicy
from honeyguide.core.recrawl.priors import CLASSES, Priors, Watched, refit_priors
from honeyguide.core.recrawl.rate import Rate, believed, chance, changes, prior
from honeyguide.core.recrawl.signals import PageState
from honeyguide.core.recrawl.visits import ChangeObservation, after_visit
from honeyguide.simulation.clocks import Ages, HubDays, SiteClocks
from honeyguide.simulation.generated import generate_world
from honeyguide.simulation.measures import (
    all_knowing,
    discovery_delay,
    fresh_spans,
    freshness,
    mean_age,
    optimal_freshness,
    stale_spans,
)
from honeyguide.simulation.policies import (
    Rates,
    SimulatedAdaptiveInterval,
    SimulatedLearned,
    SimulatedProportional,
    SimulatedUniform,
    card_points,
    refit,
)
from honeyguide.simulation.run import (
    POLICIES,
    Budget,
    FetchLog,
    Sight,
    SimPolicy,
    Visits,
    best_of,
    best_within,
    simulate,
    tick_of,
    try_policies,
)
from honeyguide.simulation.worlds import World

if TYPE_CHECKING:
    from honeyguide.core.recrawl.priors import PageClass
    from honeyguide.simulation.worlds import Floats, Ints

HOUR = 3600.0
NAMES: tuple[PageClass, ...] = ("page", "article")
BLIND = {"heuristic", "uniform", "proportional", "adaptive-interval"}  # neither learn nor know


def world_of(changes: list[list[float]], hours: float, **more: object) -> World:
    size = len(changes)
    world = generate_world(f"poisson:pages={size},days={hours / 24},hosts=1,importance=0", 1)
    offsets = np.cumsum([0, *map(len, changes)])
    times = np.array([time for page in changes for time in page])
    return replace(world, offsets=offsets, times=times, is_steady=False, **more)  # type: ignore[arg-type]  # a test may set any field


def log_of(fetches: list[tuple[int, float]], *, is_copied: bool = True) -> FetchLog:
    pages = np.array([page for page, _ in fetches], np.int64)
    return FetchLog(pages, np.array([at for _, at in fetches]), np.ones(len(pages), np.bool_), is_copied)


# --- accounting -----------------------------------------------------------------------------------------------------


def test_freshness_is_exact_to_the_moment_of_each_change() -> None:
    world = world_of([[3.0, 9.0], []], 24.0)
    log = log_of([(0, 5.0), (0, 6.0)])
    spans = fresh_spans(world, log)
    # Page 0 is fresh from 0 to 3 and from 5 to 9; page 1 all the time.
    assert freshness(world, spans, np.array([0.0, 24.0])).tolist() == [(7.0 + 24.0) / 48.0]
    assert freshness(world, spans, np.array([4.0, 8.0, 12.0])).tolist() == [
        (3.0 + 4.0) / 8.0,
        (1.0 + 4.0) / 8.0,
    ]
    # Out of date: 3 to 5 and 9 to 24.
    assert mean_age(world, stale_spans(world, log), 0.0) == pytest.approx((2.0 + 15.0**2 / 2) / 48.0)
    assert mean_age(world, stale_spans(world, log), 12.0) == pytest.approx((15.0**2 - 3.0**2) / 2 / 24.0)


def test_a_page_counts_from_its_birth_to_its_end_and_has_no_copy_before_its_first_fetch() -> None:
    world = world_of([[10.0], []], 24.0, born=np.array([4.0, 0.0]), gone=np.array([20.0, math.inf]))
    log = log_of([(0, 6.0), (0, 12.0), (0, 22.0)])
    spans = fresh_spans(world, log)
    assert freshness(world, spans, np.array([0.0, 24.0])).tolist() == [(4.0 + 8.0 + 24.0) / (16.0 + 24.0)]
    assert discovery_delay(world, log) == 2.0


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_fresh_and_stale_make_up_the_whole_life(seed: int) -> None:
    world = generate_world("mixed:pages=30,days=10,interval=2", seed)
    rng = np.random.default_rng(seed)
    times = np.sort(rng.random(60) * world.hours)
    pages = rng.integers(0, 30, 60)
    is_there = world.born[pages] <= times
    log = FetchLog(
        pages[is_there], times[is_there], np.ones(int(is_there.sum()), np.bool_), is_copied=bool(seed % 2)
    )
    edges = np.array([0.0, 50.0, 51.0, world.hours])
    total = freshness(world, fresh_spans(world, log), edges) + freshness(
        world, stale_spans(world, log), edges
    )
    assert total == pytest.approx([1.0, 1.0, 1.0])


@pytest.mark.slow
def test_no_policy_passes_the_bound_and_known_rates_reach_the_optimum() -> None:
    world = generate_world("poisson:pages=600,days=40", 4)
    for cycle in (2.0, 10.0):
        budget = Budget("", 600 / cycle)
        edges = np.array([world.hours / 2, world.hours])
        bound = freshness(world, all_knowing(world, budget, tick_of(world, budget), is_copied=True), edges)[0]
        reached = freshness(world, fresh_spans(world, run("known-rates", world, budget)), edges)[0]
        assert reached == pytest.approx(optimal_freshness(world, budget), rel=0.02)
        assert max(outcome.late for outcome in try_policies(world, budget, tuple(POLICIES))) <= bound + 1e-9


def test_the_optimum_of_like_pages_is_round_robin() -> None:
    world = generate_world("poisson:pages=100,spread=0,importance=0,hosts=1", 1)
    changes = 10.0 / 10.0  # in a cycle of ten days
    assert optimal_freshness(world, Budget("", 10.0)) == pytest.approx(
        (1 - math.exp(-changes)) / changes, rel=1e-6
    )
    limited = optimal_freshness(world, Budget("", 10.0, host_per_day=5.0))
    assert limited == pytest.approx((1 - math.exp(-2 * changes)) / (2 * changes), rel=1e-6)


# --- runs -----------------------------------------------------------------------------------------------------------


def run(name: str, world: World, budget: Budget) -> FetchLog:
    return simulate(world, budget, lambda sight: POLICIES[name](sight, world))


def test_budget_and_host_limit_are_kept() -> None:
    world = generate_world("poisson:pages=300,hosts=5,days=20", 1)
    free, limited = Budget("", 60.0), Budget("", 60.0, host_per_day=12.0)
    assert len(run("learned", world, free).pages) == 60 * 20
    log = run("learned", world, limited)
    for day in range(20):
        of_day = world.host[log.pages[(log.times >= 24 * day) & (log.times < 24 * day + 24)]]
        assert np.bincount(of_day, minlength=5).max() <= 13  # one may be left over from the day before
    assert len(log.pages) <= 60 * 20


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_the_same_seed_gives_the_same_fetches(name: str) -> None:
    budget = Budget("", 40.0)
    first, again = (run(name, generate_world("news:articles=20,days=10", 3), budget) for _ in range(2))
    assert first.pages.tobytes() == again.pages.tobytes()
    assert first.times.tobytes() == again.times.tobytes()


def test_a_dead_page_is_fetched_once_more_and_then_left() -> None:
    world = world_of([[], []], 240.0, gone=np.array([100.0, math.inf]))
    for name in POLICIES:
        log = run(name, world, Budget("", 24.0))
        assert np.sum((log.pages == 0) & (log.times >= 100.0)) == 1, name


def test_articles_are_unknown_until_their_hub_is_visited() -> None:
    class Never(SimulatedUniform):
        def scores(self, now: float) -> Floats:
            return np.where(self._sight.kind == 1, -math.inf, super().scores(now))

    world = generate_world("news:articles=20,days=10", 3)
    assert len(simulate(world, Budget("", 40.0), Never).pages) == 0


def chosen(values: list[float], hosts: list[int], budget: int, cap: int) -> list[int]:
    """Take the best one by one, ties in input order, passing over hosts that have had enough."""
    taken: list[int] = []
    for place in sorted(range(len(values)), key=lambda place: -values[place]):
        is_free = sum(hosts[other] == hosts[place] for other in taken) < cap
        if len(taken) < budget and is_free and values[place] > -math.inf:
            taken.append(place)
    return sorted(taken)


@given(
    st.lists(st.sampled_from([-math.inf, 0.0, 1.0, 2.0, 3.5]), min_size=1, max_size=30), st.integers(0, 35)
)
def test_the_best_of_all(values: list[float], budget: int) -> None:
    assert best_of(np.array(values), budget).tolist() == chosen(values, [0] * len(values), budget, budget)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 1.0, 2.0, 3.5]), st.integers(0, 2)), min_size=1, max_size=30),
    st.integers(0, 35),
    st.integers(0, 5),
)
def test_the_best_within_limits_of_hosts(rows: list[tuple[float, int]], budget: int, cap: int) -> None:
    values, hosts = [value for value, _ in rows], [host for _, host in rows]
    mine = best_within(np.array(values), budget, np.array(hosts), np.full(3, cap))
    assert mine.tolist() == chosen(values, hosts, budget, cap)


# --- arrays are the core's policies ---------------------------------------------------------------------------------

seconds = st.one_of(
    st.none(), st.sampled_from([0.0, 3599.0, 3600.0, 86_399.0, 86_400.0, 604_800.0, 604_801.0, 1e9])
)


@given(seconds, seconds, st.floats(0, 1), st.integers(0, 6), st.booleans())
@settings(deadline=None)  # the first reads the profile
def test_the_heuristic_is_the_card_of_the_profile(
    visit: float | None, change: float | None, relevance: float, depth: int, is_hub: bool
) -> None:
    now = datetime(2024, 6, 15, tzinfo=UTC)
    moments = [None if value is None else now - timedelta(seconds=value) for value in (visit, change)]
    signals = UrlSignals("https://a.example/", 3, moments[0], moments[1], relevance, depth, is_hub)
    ages = [math.inf if value is None else value for value in (visit, change)]
    facts = (np.array([value]) for value in (*ages, relevance, float(depth), is_hub))
    assert card_points(*facts).tolist() == [score_url(signals, now, load_profile("base")).score.value]


KINDS = ("page", "hub", "article")


def sight_of(kind: list[int], host: list[int], cycle_days: float = 5.0) -> Sight:
    size = len(kind)
    return Sight(
        kind=np.array(kind),
        host=np.array(host),
        hosts=max(host) + 1,
        weight=np.linspace(0.5, 1.0, size),
        hub=np.full(size, -1),
        is_known=np.ones(size, np.bool_),
        visited=np.zeros(size),
        published=np.full(size, -3.0),
        per_day=size / cycle_days,
    )


def visit(sight: Sight, policies: list[SimPolicy], now: float, pages: Ints, is_changed: list[bool]) -> Visits:
    visits = Visits(
        now,
        pages,
        sight.visited[pages].copy(),
        np.array(is_changed),
        np.zeros(len(pages), np.bool_),
        np.zeros(len(pages), np.int64),
    )
    for policy in policies:
        policy.scores(now)
        policy.learn(visits)
    sight.visited[pages] = now
    return visits


def test_policies_rank_as_the_core_does_page_by_page() -> None:
    """The same visits, in arrays and with the core's own functions: the same values."""
    sight = sight_of([0, 0, 0, 1, 2, 0], [0, 0, 1, 1, 1, 0])
    sight.published[5] = 2.0  # seen to be new
    arrays: list[SimPolicy] = [
        SimulatedLearned(sight, math.inf),
        SimulatedUniform(sight),
        SimulatedProportional(sight),
        SimulatedAdaptiveInterval(sight),
    ]
    start = prior(sight.cycle_h)
    seen, plain = [Rate(0.0, 0.0)] * 6, [start] * 6
    counted = [(1, 0)] * 6  # visits and changes
    sites = {host: SiteClock() for host in ("0", "1")}
    hosts = {name: {host: AgeProfile(first_weights(name)) for host in "01"} for name in NAMES}
    hours = [0.0] * 24
    rng = np.random.default_rng(3)
    for step in range(1, 120):
        rates = [believed(start, one) for one in seen]
        now, page, is_changed = step * 5.0, int(rng.integers(0, 6)), bool(rng.random() < 0.4)
        since = float(sight.visited[page])
        state = state_of(sight, page, rates[page], hours)
        learned = CoreLearned(Priors(), partial(site_of, sites, hosts))
        clock = learned.clock_of(state)
        exposure = clock.exposure_h(since * HOUR, now * HOUR)
        aged_h = clock.aged_h(since * HOUR, now * HOUR) if isinstance(clock, AgeClock) else now - since
        expected = chance(rates[page], aged_h)
        found = changes(rates[page], exposure) if is_changed else 0.0
        before, rates[page] = (
            rates[page],
            after_visit(rates[page], ChangeObservation(exposure, is_changed)),
        )
        seen[page] = Rate(
            seen[page].a + rates[page].a - before.a, max(0.0, seen[page].b + rates[page].b - before.b)
        )
        plain[page] = after_visit(plain[page], ChangeObservation(now - since, is_changed))
        counted[page] = counted[page][0] + 1, counted[page][1] + is_changed
        host = str(sight.host[page])
        if isinstance(clock, AgeClock):
            born, of_class = float(sight.published[page]), hosts[state.page_class]
            of_site = clock.site.exposure_h(since * HOUR, now * HOUR) / (now - since)
            rate, profile = rates[page].a / rates[page].b * of_site, of_class[host]
            counts = profile.counts(max(0.0, since - born), now - born, found=found, rate=rate)
            of_class[host] = profile.with_counts(counts)
            hosts[state.page_class] = related(of_class, state.page_class)
        if sight.kind[page] == 0:
            sites[host] = sites[host].with_visit(
                since * HOUR, now * HOUR, expected=expected, is_changed=is_changed
            )
        if page == 3 and is_changed and now - since < 24.0:
            for tenth in range(int((now - since) * 10)):
                hours[int(since + tenth / 10) % 24] += 0.1 / (now - since)
        visit(sight, arrays, now, np.array([page]), [is_changed])
        # Only the core's own clock knows the last visit's day once time has moved on.
        later = now + 7.0
        learned = CoreLearned(Priors(), partial(site_of, sites, hosts))
        rates = [believed(start, one) for one in seen]
        values = [
            learned.value(state_of(sight, place, rates[place], hours), later * HOUR) for place in range(6)
        ]
        assert arrays[0].scores(later).tolist() == pytest.approx(values, rel=1e-5)
    states = [
        replace(state_of(sight, place, plain[place], hours), visits=visits, changes=changed)
        for place, (visits, changed) in enumerate(counted)
    ]
    adaptive = schedules.AdaptiveInterval(first_h=sight.cycle_h)
    cores: list[RecrawlPolicy] = [schedules.Uniform(), schedules.Proportional(), adaptive]
    for array, core in zip(arrays[1:], cores, strict=True):
        assert array.scores(700.0).tolist() == pytest.approx([core.value(s, 700.0 * HOUR) for s in states])


def site_of(clocks: dict[str, SiteClock], hosts: dict[PageClass, dict[str, AgeProfile]], host: str) -> Site:
    ages = {name: SiteAges(profiles[host], profiles[host]) for name, profiles in hosts.items()}
    return Site(clock=clocks[host], ages=ages)


def related(hosts: dict[str, AgeProfile], page_class: PageClass) -> dict[str, AgeProfile]:
    """Give the profiles of hosts their parent: what all hosts together say of the class."""
    found, expected = (
        tuple(map(math.fsum, zip(*counts, strict=True)))
        for counts in ([host.found for host in hosts.values()], [host.expected for host in hosts.values()])
    )
    parent = AgeProfile(first_weights(page_class), found, expected).weights
    return {name: replace(host, parent=parent) for name, host in hosts.items()}


def state_of(sight: Sight, page: int, rate: Rate, hours: list[float]) -> PageState:
    is_aged = sight.kind[page] == 2 or sight.published[page] > 0.0
    return PageState(
        str(page),
        str(sight.host[page]),
        KINDS[sight.kind[page]],  # type: ignore[arg-type]  # names of classes are plain text in arrays
        visits=2,
        visited_at=float(sight.visited[page]) * HOUR,
        importance=float(sight.weight[page]),
        rate=rate,
        published_at=float(sight.published[page]) * HOUR if is_aged else None,
        day=DayProfile.of_counts(hours) if sight.kind[page] == 1 else None,
    )


@given(
    st.lists(
        st.tuples(st.floats(0.0, 50), st.floats(0.0, 1e5), st.integers(0, 2), st.integers(0, 2)),
        min_size=1,
        max_size=40,
    )
)
@settings(max_examples=50, deadline=None)
def test_priors_are_fitted_as_the_core_does(rows: list[tuple[float, float, int, int]]) -> None:
    seen = Rates(np.array([row[0] for row in rows]), np.array([row[1] for row in rows]))
    groups = np.array([3 * host + kind for _, _, host, kind in rows])
    start = Priors(dict.fromkeys(CLASSES, prior(240.0)))
    mine = refit(seen, groups, Rates(np.full(3, 0.5), np.full(3, 120.0)), 3)
    core = refit_priors(
        [Watched(str(host), KINDS[kind], Rate(a, b)) for a, b, host, kind in rows],  # type: ignore[arg-type]  # names of classes are plain text in arrays
        start,
    )
    for host in range(3):
        for kind in range(3):
            wanted = core.of(str(host), KINDS[kind])  # type: ignore[arg-type]  # names of classes are plain text in arrays
            assert (mine.a[3 * host + kind], mine.b[3 * host + kind]) == pytest.approx(wanted, rel=1e-6)


@given(st.lists(st.tuples(st.floats(0.1, 900), st.floats(0, 1), st.booleans()), min_size=1, max_size=25))
@settings(max_examples=50, deadline=None)
def test_site_clocks_are_the_core_s(visits: list[tuple[float, float, bool]]) -> None:
    clocks, core, now = SiteClocks(2), SiteClock(), 0.0
    for waited, expected, is_changed in visits:
        since, now = now, now + waited
        clocks.move_on(now)
        args = np.array([1]), np.array([since]), now
        clocks.learn(*args, np.array([expected]), np.array([is_changed]))
        core = core.with_visit(since * HOUR, now * HOUR, expected=expected, is_changed=is_changed)
        begin = max(0.0, now - 300.0)
        wanted = core.exposure_h(begin * HOUR, now * HOUR)
        assert clocks.exposure_h(np.array([1]), np.array([begin]), now)[0] == pytest.approx(wanted, rel=1e-6)
        assert clocks.exposure_h(np.array([0]), np.array([begin]), now)[0] == pytest.approx(now - begin)


@given(
    st.lists(
        st.tuples(st.floats(0, 500), st.floats(0.1, 900), st.floats(0, 5), st.floats(1e-4, 2)), max_size=20
    )
)
@settings(max_examples=50, deadline=None)
def test_ages_are_the_core_s_and_so_are_their_ends(visits: list[tuple[float, float, float, float]]) -> None:
    ages = Ages(("page", "article"), 2)
    hosts = {host: AgeProfile(first_weights("article")) for host in "ab"}
    group = np.array([3])  # articles on the second host
    for begin, waited, found, rate in visits:
        span = np.array([begin]), np.array([begin + waited])
        ages.learn(group, span, np.array([found]), np.array([rate]))
        counts = hosts["b"].counts(begin, begin + waited, found=found, rate=rate)
        hosts["b"] = hosts["b"].with_counts(counts)
        hosts = related(hosts, "article")
    for _ in range(10):
        ages.count_lives(group, np.array([40.0]), 8.0)
    ages.count_ends(group, np.array([50.0]))
    ends = tuple(1 / 80 if edge == 32.0 else 0.0 for edge in EDGES_H)
    for place, host in enumerate("ab"):
        clock = AgeClock(0.0, replace(hosts[host], ends=ends))
        own = np.array([1 + 2 * place])
        for begin, end in ((0.0, 3.0), (0.5, 700.0), (40.0, 41.0), (20_000.0, 30_000.0)):
            wanted = clock.aged_h(begin * HOUR, end * HOUR)
            assert ages.exposure_h(own, np.array([begin]), np.array([end]))[0] == pytest.approx(wanted)
            stretch = ages.stretch(own, np.array([begin]), np.array([6.0]), np.array([2.5]))[0]
            assert stretch == pytest.approx(clock.stretch(begin * HOUR, 6.0, 2.5))


def test_the_day_of_a_hub_is_the_core_s() -> None:
    days = HubDays(1)
    days.learn(np.array([0]), np.array([22.5]), 25.0)
    counts = [0.4] + [0.0] * 21 + [0.2, 0.4]
    profile = DayProfile.of_counts(counts)
    for begin, end in ((0.0, 24.0), (22.0, 47.5), (3.2, 3.7)):
        wanted = profile.exposure_h(begin * HOUR, end * HOUR)
        assert days.exposure_h(np.array([0]), np.array([begin]), end)[0] == pytest.approx(wanted)


@pytest.mark.slow
def test_news_without_classes_are_told_by_their_age() -> None:
    """Articles as plain pages, without hubs to find them: nobody says that they calm down, and it is learned."""
    world = generate_world("archive:days=30,hubs=2,articles=40,hosts=1", 1)
    assert not world.kind.any()
    outcomes = {item.policy: item for item in try_policies(world, Budget("60/day", 60.0), tuple(POLICIES))}
    others = [item.late for name, item in outcomes.items() if name in POLICIES and name != "learned"]
    assert outcomes["learned"].late > 1.05 * max(others)


# --- what it shows ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_learned_from_nothing_comes_near_the_optimum_and_starts_well() -> None:
    world = generate_world("poisson:pages=1000,days=50", 1)
    outcomes = {item.policy: item for item in try_policies(world, Budget("5d", 200.0), tuple(POLICIES))}
    learned, uniform = outcomes["learned"], outcomes["uniform"]
    assert learned.of_best is not None
    assert learned.of_best > 0.97
    assert len(learned.days) == 5
    assert learned.days[0] > 0.95 * uniform.days[0]
    assert all(ours > theirs for ours, theirs in zip(learned.days[2:], uniform.days[2:], strict=True))
    blind = [item for item in outcomes.values() if not item.is_reference and item.policy != "learned"]
    assert {item.policy for item in blind} == BLIND
    assert all(learned.late > item.late for item in blind)


@pytest.mark.parametrize("name", ["bursty", "periodic", "seasonal", "mixed"])
@pytest.mark.slow
def test_learned_is_ahead_in_other_worlds(name: str) -> None:
    world = generate_world(f"{name}:pages=500,days=40", 2)
    budget = Budget("5d", world.alive / 5)
    outcomes = {item.policy: item for item in try_policies(world, budget, tuple(POLICIES))}
    blind = [item for item in outcomes.values() if not item.is_reference and item.policy != "learned"]
    assert {item.policy for item in blind} == BLIND
    assert all(outcomes["learned"].late > item.late for item in blind)
