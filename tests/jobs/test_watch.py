"""Watch: budgets by the sliding hour, what was scheduled first, on frozen time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from math import inf
from types import SimpleNamespace
from typing import cast

import pytest

from honeyguide.config import load_profile
from honeyguide.jobs.request import CrawlRequest
from honeyguide.jobs.watch import HOUR_S, Round, WatchBudget, WatchRequest, WatchSession
from honeyguide.ports.store import Store
from honeyguide.testing.fakes import FrozenClock

PROFILE = load_profile("news")


class Killed(Exception):  # noqa: N818 - what a kill looks like from inside
    """The process ends here."""


class Working(FrozenClock):
    """A clock that also moves when somebody works."""

    def work(self, seconds: float) -> None:
        self._now += seconds


class Pages(WatchSession):
    """A session in memory: pages are planned by who was not visited for the longest time, and fetched in a second each."""

    clock: Working

    def __init__(self, clock: Working, pages: int, planning_s: float = 0.0) -> None:
        self.clock = clock
        self.runs = {1: (CrawlRequest(()), PROFILE)}
        history = SimpleNamespace(latest_visits=self.latest, latest_requests=lambda _limit: [])
        self.store = cast("Store", SimpleNamespace(history=history, runs=SimpleNamespace(due=self.runs_due)))
        self.visits: list[tuple[float, int]] = []
        self.due: list[int] = []
        self.plans: list[list[int]] = []
        self.planning_s = planning_s
        self.killed_after = -1
        self.beats: list[float] = []
        self.asked_at = inf
        self.last = dict.fromkeys(range(pages), 0.0)

    def latest(self, limit: int, since: float) -> Sequence[float]:
        return [at for at, _ in reversed(self.visits) if at >= since][:limit]

    async def listen(self, now: float) -> None:
        assert now == self.clock.now()

    def runs_due(self, now: float) -> Sequence[int]:
        assert now == self.clock.now()
        return [1] if self.due else []

    def plan(self, count: int, now: float) -> int:
        assert now == self.clock.now()
        self.due = sorted(self.last, key=lambda page: (self.last[page], page))[:count]
        self.plans.append(list(self.due))
        self.clock.work(self.planning_s)
        return len(self.due)

    def beat(self, now: float) -> bool:
        self.beats.append(now)
        return now >= self.asked_at

    async def fetch(self, count: int) -> int:
        fetched = 0
        while self.due and fetched < count:
            await self.clock.sleep(1.0)
            page = self.due.pop(0)
            self.last[page] = self.clock.now()
            self.visits.append((self.clock.now(), page))
            fetched += 1
            if len(self.visits) == self.killed_after:
                raise Killed
        return fetched

    @property
    def order(self) -> list[int]:
        return [page for _, page in self.visits]

    def most_in_an_hour(self) -> int:
        times = [at for at, _ in self.visits]
        return max(sum(start <= at < start + HOUR_S for at in times) for start in times)


def go(session: Pages, pace: WatchBudget) -> tuple[str, list[Round]]:
    rounds: list[Round] = []
    session.request = WatchRequest(pace, PROFILE, on_round=rounds.append)
    return asyncio.run(session.watch()), rounds


def test_a_day_keeps_the_budget_of_every_hour_and_an_even_pace() -> None:
    clock = Working()
    session = Pages(clock, 500)
    ended, rounds = go(session, WatchBudget(per_hour=100, cycle_s=60.0, until=clock.now() + 24 * HOUR_S))
    assert ended == "until"
    assert session.most_in_an_hour() == 100
    assert 24 * 95 <= len(session.visits) <= 24 * 100
    assert sum(one.fetched for one in rounds) == len(session.visits)
    assert all(one.fetched <= 2 for one in rounds)  # 100 an hour are 1.7 a minute
    assert session.order[:1000] == [*range(500), *range(500)]


def test_rounds_end_it() -> None:
    session = Pages(Working(), 50)
    ended, rounds = go(session, WatchBudget(per_hour=60, cycle_s=600.0, rounds=3))
    assert (ended, [(one.number, one.allowed, one.planned, one.fetched) for one in rounds]) == (
        "rounds",
        [(1, 10, 10, 10), (2, 10, 10, 10), (3, 10, 10, 10)],
    )
    assert [later.at - earlier.at for earlier, later in pairwise(rounds)] == [
        600.0,
        600.0,
    ]


def test_visits_of_before_count_and_it_rests_until_the_first_of_them_is_an_hour_old() -> None:
    clock = Working()
    session = Pages(clock, 50)
    session.visits = [(clock.now() - 3000.0 + n, n) for n in range(20)]
    _, rounds = go(session, WatchBudget(per_hour=20, cycle_s=60.0, rounds=2))
    assert [(one.allowed, one.fetched) for one in rounds] == [(0, 0), (1, 1)]
    assert rounds[1].at == pytest.approx(rounds[0].at + 600.0)
    assert session.plans == [[0]]  # without visits that are allowed there is nothing to plan


@pytest.mark.parametrize("after", [1, 7, 19])
def test_what_was_scheduled_is_fetched_first_after_an_end_in_the_middle(after: int) -> None:
    pace = WatchBudget(per_hour=20, cycle_s=HOUR_S, rounds=1)
    calm = Pages(Working(), 50)
    go(calm, pace)

    wild = Pages(Working(), 50)
    wild.killed_after = after
    with pytest.raises(Killed):
        go(wild, pace)
    assert len(wild.visits) == after
    go(wild, pace)
    assert wild.order == calm.order
    assert len(wild.plans) == 1
    assert wild.most_in_an_hour() == 20


def test_the_rest_of_the_room_is_planned_when_what_was_left_is_fetched() -> None:
    session = Pages(Working(), 50)
    session.due = [48, 49]
    go(session, WatchBudget(per_hour=5, cycle_s=HOUR_S, rounds=1))
    assert session.order == [48, 49, 0, 1, 2]


def test_planning_is_a_tenth_of_the_time_at_most() -> None:
    session = Pages(Working(), 50, planning_s=30.0)
    _, rounds = go(session, WatchBudget(per_hour=3600, cycle_s=10.0, rounds=3))
    waited = [later.at - earlier.at for earlier, later in pairwise(rounds)]
    assert min(waited) >= 300.0
    assert rounds[1].allowed > rounds[0].allowed  # and the pace is kept


def test_with_nothing_to_plan_it_waits() -> None:
    session = Pages(Working(), 0)
    _, rounds = go(session, WatchBudget(per_hour=60, cycle_s=60.0, rounds=3))
    assert [(one.planned, one.fetched) for one in rounds] == [(0, 0)] * 3


def test_the_end_comes_in_the_middle_of_a_rest() -> None:
    clock = Working()
    end = clock.now() + 90.0
    ended, rounds = go(Pages(clock, 5), WatchBudget(per_hour=3, cycle_s=60.0, until=end))
    assert (ended, clock.now()) == ("until", end)
    assert rounds[-1].next_at > end


def test_a_watch_that_rests_is_seen_and_stops_within_seconds_of_being_asked() -> None:
    session = Pages(Working(), 50)
    started = session.clock.now()
    session.asked_at = started + 1000.0
    ended, rounds = go(session, WatchBudget(per_hour=2, cycle_s=HOUR_S, rounds=9))
    assert (ended, [one.number for one in rounds]) == ("stopped", [1])
    assert max(later - earlier for earlier, later in pairwise(session.beats[2:])) <= 5.0
    assert session.clock.now() <= session.asked_at + 5.0
