"""The formulas of the learned policy: golden rows, and exact arithmetic with 60 digits beside them."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import pytest

from honeyguide.core.recrawl import rate as rates
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
    single,
)

SECOND, YEAR = 1 / 3600, 8760.0


def known_index(lam: float, tau: float) -> float:
    return float(rates.known_index_by(rates.SCALARS, lam, tau))


def exact_index(a: float, b: float, tau: float) -> float:
    """V(tau) as it stands in the books."""
    with localcontext() as context:
        context.prec = 60
        da, db, dt = Decimal(a), Decimal(b), Decimal(tau)
        r = db / (db + dt)
        if a == 1:
            return float(db * (1 + dt / db).ln() - dt * r)
        return float(db / (da - 1) * (1 - ((da - 1) * r.ln()).exp()) - dt * (da * r.ln()).exp())


def exact_changed(a: float, b: float, tau: float) -> tuple[float, float]:
    """The moments of the posterior, as they stand in the books."""
    with localcontext() as context:
        context.prec = 60
        da, db = Decimal(a), Decimal(b)
        log_r = (db / (db + Decimal(tau))).ln()
        q0, q1, q2 = (1 - ((da + k) * log_r).exp() for k in range(3))
        m1, m2 = da / db * q1 / q0, da * (da + 1) / db**2 * q2 / q0
        spread = m2 - m1 * m1
        return float(m1 * m1 / spread), float(m1 / spread)


def test_golden_rows() -> None:
    assert after_change(Rate(0.5, 100.0), 50.0) == pytest.approx((1.450944, 116.862536), abs=5e-7)
    assert index(Rate(0.5, 100.0), 50.0, 1.0) == pytest.approx(4.124145, abs=5e-7)
    assert known_index(0.05, 24.0) == pytest.approx(6.747455, abs=5e-7)
    assert after_no_change(Rate(0.5, 100.0), 50.0) == (0.5, 150.0)
    assert after_timed_change(Rate(0.5, 100.0), 50.0) == (1.5, 150.0)
    assert prior(60 * 24.0) == (0.5, 720.0)


@pytest.mark.parametrize("a", [0.05, 0.3, 0.5, 0.999, 1.0, 1.0 + 1e-9, 1.5, 7.0, 300.0, 1e5])
@pytest.mark.parametrize("b", [0.01, 1.0, 100.0, 1e5, 1e7])
@pytest.mark.parametrize("tau", [SECOND, 0.01, 1.0, 50.0, 1000.0, YEAR, 50 * YEAR])
def test_the_index_is_exact_from_seconds_to_decades(a: float, b: float, tau: float) -> None:
    assert index(Rate(a, b), tau) == pytest.approx(exact_index(a, b, tau), rel=1e-9)


@pytest.mark.parametrize("a", [0.05, 0.5, 1.0, 3.0, 300.0, 1e5])
@pytest.mark.parametrize("b", [0.01, 1.0, 100.0, 1e6])
@pytest.mark.parametrize("tau", [SECOND, 1.0, 50.0, YEAR, 50 * YEAR])
def test_a_change_moves_the_moments_exactly(a: float, b: float, tau: float) -> None:
    assert after_change(Rate(a, b), tau) == pytest.approx(exact_changed(a, b, tau), rel=1e-12)


def test_a_change_found_at_once_adds_one() -> None:
    assert after_change(Rate(0.5, 100.0), 0.0) == pytest.approx((1.5, 100.0))
    assert after_change(Rate(0.5, 100.0), -3.0) == pytest.approx((1.5, 100.0))  # the clock ran backwards


def test_a_page_that_surely_changed_teaches_nothing() -> None:
    assert after_change(Rate(200.0, 1.0), 50 * YEAR) == pytest.approx((200.0, 1.0))


def test_a_firm_belief_is_a_known_rate() -> None:
    for tau in (SECOND, 1.0, 24.0, YEAR):
        assert index(Rate(1e6, 1e6 / 0.05), tau) == pytest.approx(known_index(0.05, tau), rel=1e-4)


@pytest.mark.parametrize(("lam", "tau"), [(0.0, 5.0), (1e-9, 1.0), (1e-5, 0.9), (1e-5, 1.1), (3.0, 1000.0)])
def test_the_known_index_is_stable(lam: float, tau: float) -> None:
    with localcontext() as context:
        context.prec = 60
        dl, dt = Decimal(lam), Decimal(tau)
        exact = float((1 - (1 + dl * dt) * (-dl * dt).exp()) / dl) if lam else 0.0
    assert known_index(lam, tau) == pytest.approx(exact, rel=1e-9)


def test_nothing_is_won_at_once_or_in_the_future() -> None:
    assert index(Rate(0.5, 100.0), 0.0) == index(Rate(0.5, 100.0), -1.0) == 0.0
    assert chance(Rate(0.5, 100.0), -1.0) == 0.0
    assert known_index(0.5, 0.0) == 0.0


def test_the_chance_of_change() -> None:
    assert chance(Rate(1.0, 10.0), 10.0) == pytest.approx(0.5)
    assert chance(Rate(0.5, 1e6), SECOND) == pytest.approx(0.5 * SECOND / 1e6, rel=1e-9)


def test_when_the_next_visit_is_worth_its_price() -> None:
    slow, sure = Rate(0.5, 100.0), Rate(3.0, 10.0)
    assert hours_until(lambda tau: index(slow, tau, 0.3), index(slow, 72.0, 0.3)) == pytest.approx(72.0)
    assert hours_until(lambda tau: index(sure, tau), 4.999) < math.inf  # V is less than b / (a - 1) = 5
    assert hours_until(lambda tau: index(sure, tau), 5.001) == math.inf
    assert hours_until(lambda tau: index(slow, tau), 0.0) == 0.0


@pytest.mark.parametrize(
    ("value", "price", "score"), [(1.0, 1.0, 60.0), (4.0, 1.0, 79.8), (0.25, 1.0, 36.2), (0.0, 1.0, 0.0), (1.0, 0.0, 100.0), (1e-300, 1e300, 0.0)]
)  # fmt: skip
def test_scores(value: float, price: float, score: float) -> None:
    assert score_of(value, price) == score


def test_what_is_ranked_has_seven_digits() -> None:
    assert single(1.00000001) == 1.0
    assert single(1e300) == single(3e38)  # more than that is not told apart


def test_arrays_give_what_numbers_give() -> None:
    numpy = pytest.importorskip("numpy")  # an extra
    rows = [(a, b, t) for a in (0.2, 1.0, 30.0) for b in (0.5, 400.0) for t in (SECOND, 7.0, YEAR)]
    a, b, tau = (numpy.array(column) for column in zip(*rows, strict=True))
    assert rates.index_by(numpy, a, b, tau) == pytest.approx([index(Rate(x, y), t) for x, y, t in rows])
    assert rates.chance_by(numpy, a, b, tau) == pytest.approx([chance(Rate(x, y), t) for x, y, t in rows])
    new_a, new_b = rates.changed_by(numpy, a, b, tau)
    after = [after_change(Rate(x, y), t) for x, y, t in rows]
    assert (new_a, new_b) == (pytest.approx([x.a for x in after]), pytest.approx([x.b for x in after]))
    assert rates.known_index_by(numpy, a, tau) == pytest.approx([known_index(x, t) for x, _, t in rows])
