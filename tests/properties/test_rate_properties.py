"""What must hold of learned rates and of what a visit is worth, for any page and any history."""

from __future__ import annotations

import math
from collections import Counter
from random import Random
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.core.recrawl.clocks import ArticleClock, ChangeClock, DayProfile, SiteClock, WallClock
from honeyguide.core.recrawl.priors import log_of, refit
from honeyguide.core.recrawl.ranking import Best
from honeyguide.core.recrawl.rate import (
    Rate,
    after_change,
    after_no_change,
    after_timed_change,
    chance,
    hours_until,
    index,
    prior,
    score_of,
)
from honeyguide.core.recrawl.visits import ChangeObservation, after_visit

SECOND, YEAR = 1 / 3600, 8760.0
HOURS = st.floats(math.log(SECOND), math.log(50 * YEAR)).map(math.exp)  # 1 s to 50 years, evenly by size
RATES = st.builds(Rate, st.floats(0.05, 1000.0), HOURS)
WEIGHTS = st.floats(0.01, 100.0)
UPDATES = st.sampled_from([after_no_change, after_change, after_timed_change])


@given(rate=RATES, tau=HOURS, more=st.floats(1.0001, 1000.0), weight=WEIGHTS)
def test_the_index_grows_with_time_and_importance(rate: Rate, tau: float, more: float, weight: float) -> None:
    now = index(rate, tau, weight)
    assert now > 0.0
    assert index(rate, tau * more, weight) >= now * (1 - 1e-9)
    assert index(rate, tau, weight * more) > now
    assert now <= weight * tau * chance(rate, tau) * (1 + 1e-9)  # no more is won than was lost


@given(start=RATES, story=st.lists(st.tuples(UPDATES, HOURS), max_size=60))
def test_posteriors_stay_finite_and_positive(start: Rate, story: list[tuple[object, float]]) -> None:
    rate = start
    for update, exposure in story:
        rate = update(rate, exposure)  # type: ignore[operator]  # drawn from functions of one shape
        assert 0.0 < rate.a < math.inf
        assert 0.0 < rate.b < math.inf
        assert 0.0 <= chance(rate, exposure) <= 1.0
        assert 0.0 < index(rate, exposure) < math.inf


@given(rate=RATES, exposure=HOURS)
def test_a_change_raises_the_rate_and_none_lowers_it(rate: Rate, exposure: float) -> None:
    mean = rate.a / rate.b
    assert after_no_change(rate, exposure).mean_interval_h >= rate.mean_interval_h
    after = after_change(rate, exposure)
    assert after.a / after.b >= mean * (1 - 1e-9)
    assert rate.a * (1 - 1e-9) <= after.a <= rate.a + 1 + 1e-6


@given(rate=RATES, tau=HOURS, weight=WEIGHTS)
def test_the_due_time_inverts_the_index(rate: Rate, tau: float, weight: float) -> None:
    price = index(rate, tau, weight)
    due = hours_until(lambda hours: index(rate, hours, weight), price)
    assert due == math.inf or index(rate, due, weight) == pytest.approx(price, rel=1e-6)
    # Where a visit surely finds a change, waiting wins nothing: many times have the same worth.
    assert due == pytest.approx(tau, rel=1e-4) or chance(rate, tau) > 0.99


@given(one=st.floats(1e-9, 1e9), other=st.floats(1e-9, 1e9), price=st.floats(1e-6, 1e6))
def test_scores_are_in_the_order_of_worth(one: float, other: float, price: float) -> None:
    first, second = score_of(one, price), score_of(other, price)
    assert 0.0 <= first <= 100.0
    assert (one <= other) <= (first <= second)


def visits(lam: float, interval_h: float, count: int, seed: int) -> list[tuple[bool, float]]:
    """Whether a page changed, and how long the last change was ago, at each of many visits."""
    random = Random(seed)  # noqa: S311 - made-up rows
    found = []
    for _ in range(count):
        last = random.expovariate(lam)  # looking back from the visit, time is as random as forward
        found.append((last < interval_h, last))
    return found


@pytest.mark.parametrize("times", [0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("lam", [1 / 3, 1 / 24, 1 / 720])
def test_many_visits_recover_the_rate(lam: float, times: float) -> None:
    interval = times / lam
    learned = []
    for seed in range(7):
        rate = prior(200.0)
        for is_changed, _ in visits(lam, interval, 3000, seed):
            rate = after_visit(rate, ChangeObservation(interval, is_changed))
        learned.append(rate.a / rate.b)
    assert median(learned) == pytest.approx(
        lam, rel=0.08
    )  # 200 h is far from 3 h; it weighs like 100 h of watching


@pytest.mark.parametrize("times", [0.1, 1.0, 24.0])
def test_exact_times_recover_even_rates_far_above_that_of_the_visits(times: float) -> None:
    lam = 1 / 24
    rate = prior(200.0)
    for is_changed, ago in visits(lam, times / lam, 2000, seed=5):
        rate = after_visit(
            rate, ChangeObservation(times / lam, is_changed, quiet_h=ago if is_changed else None)
        )
    assert rate.a / rate.b == pytest.approx(lam, rel=0.1)


def test_a_prior_is_recovered_from_the_pages_it_made() -> None:
    random = Random(3)  # noqa: S311 - made-up rows
    true, fitted = Rate(0.8, 50.0), prior(1000.0)
    lams = [random.gammavariate(true.a, 1 / true.b) for _ in range(300)]
    for _ in range(8):  # refitted now and then
        pages = []
        for number, lam in enumerate(lams):
            rate = fitted
            for is_changed, _ in visits(lam, 60.0, 40, number):
                rate = after_visit(rate, ChangeObservation(60.0, is_changed))
            pages.append(rate)
        fitted = refit([log_of(page) for page in pages])
    assert fitted.mean_interval_h == pytest.approx(true.mean_interval_h, rel=0.3)
    assert fitted.a == pytest.approx(true.a, rel=0.3)


MOMENTS = st.floats(0.0, 4e9)
CLOCKS = st.one_of(
    st.just(WallClock()),
    st.builds(ArticleClock, MOMENTS),
    st.lists(st.floats(0.0, 1e6), min_size=24, max_size=24).map(DayProfile.of_counts),
    st.builds(
        lambda day, story: SiteClock(day, tuple(f for f, _ in story), tuple(x for _, x in story)),
        st.integers(0, 40_000),
        st.lists(st.tuples(st.floats(0.0, 100.0), st.floats(0.0, 100.0)), max_size=120),
    ),
)


@settings(deadline=None)
@given(clock=CLOCKS, moments=st.tuples(MOMENTS, MOMENTS, MOMENTS).map(sorted))
def test_clocks_run_forward_and_add_up(clock: ChangeClock, moments: list[float]) -> None:
    first, second, third = moments
    whole = clock.exposure_h(first, third)
    parts = clock.exposure_h(first, second) + clock.exposure_h(second, third)
    assert whole >= 0.0
    assert whole == pytest.approx(parts, rel=1e-6, abs=1e-6)
    assert clock.exposure_h(third, first) == 0.0 or third == first


@given(
    rows=st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc")), max_size=40),
    top=st.none() | st.integers(1, 12),
    limit=st.integers(1, 5),
)
def test_the_best_that_limits_of_hosts_allow(
    rows: list[tuple[int, str]], top: int | None, limit: int
) -> None:
    best: Best[str] = Best(top, limit)
    for number, (value, host) in enumerate(rows):
        best.add(float(value), number, f"https://{host}.example/", host)
    taken, used = [], Counter[str]()
    for number, (value, host) in sorted(enumerate(rows), key=lambda row: -row[1][0]):
        if used[host] < limit:
            used[host] += 1
            taken.append((float(value), number, host))
    assert best.found() == taken[:top]
