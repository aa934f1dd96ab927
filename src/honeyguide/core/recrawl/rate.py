"""Rate: how often a page changes, learned from its visits, and the value of a visit now.

Owns: the posterior of a change rate, its updates, the index, its inverse, the score. Must not know: pages, hosts, clocks:
times are hours that passed. Start reading at `index`. The rate is Gamma(a, b): roughly a changes were seen in b hours. So the
time to the next change has a Lomax distribution, whose survival is r^a with r = b / (b + tau). Formulas that end in `_by` are
written once for numbers, arrays and columns, and take the functions that differ as `Maths`: `SCALARS`, the module `numpy`, or
an adapter for columns. They agree with exact arithmetic to 9 digits for 0.05 <= a <= 1e6, from seconds to decades.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from honeyguide.core.rules.language import half_up

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST_A = 0.5  # what a prior weighs when nothing is known: half a change seen
SURPRISES = 4.0  # with more changes than this, a prior that did not foresee them weighs less
# The earlier visits of a page are forgotten where the latest ones are e^4 = 55 times as likely without them. A single visit counts
# e^3 at most, so it is never enough. By chance alone, one page in 55 reaches this doubt.
SURE_DOUBT, MOST_DOUBT = 4.0, 3.0
SCORE_DECIMALS = 1

# Below, two nearly equal numbers would be subtracted; two terms of the series are exact to 10 digits there.
_SERIES_BELOW = 1e-5
_FLAT_BELOW = 1e-2  # below, (e^y - 1) / y is its series
_AT_ONCE = 1e-12  # exposures are at least this share of b: a change that is found at once adds one to a
_LEAST_PRIOR_H = 1e-3  # no page is believed to change every few seconds because a clock stood still
_SHORTEST_H, _LONGEST_H = 1e-6, 1e9  # `hours_until` looks from 4 milliseconds to a hundred thousand years
_MOST = 3e38  # the largest value that single precision holds


class Rate(NamedTuple):
    """A change rate with its uncertainty: Gamma(a, b), in changes per hour."""

    a: float
    b: float

    @property
    def mean_interval_h(self) -> float:
        """The hours from change to change at the mean rate."""
        return self.b / self.a


class Maths(Protocol):
    """The functions that numbers, arrays and columns do not share. `where` always computes both branches."""

    def log(self, x: Any, /) -> Any:
        """Return the natural logarithm."""

    def exp(self, x: Any, /) -> Any:
        """Return e^x."""

    def expm1(self, x: Any, /) -> Any:
        """Return e^x - 1."""

    def where(self, test: Any, yes: Any, no: Any, /) -> Any:
        """Choose."""


class _Scalars:
    log, exp, expm1 = staticmethod(math.log), staticmethod(math.exp), staticmethod(math.expm1)

    @staticmethod
    def where(test: bool, yes: float, no: float, /) -> float:
        return yes if test else no


SCALARS: Maths = _Scalars()


def prior(mean_interval_h: float, a: float = FIRST_A) -> Rate:
    """Make a rate of a mean interval, as firm as `a` changes would make it."""
    return Rate(a, a * mean_interval_h)


def believed(prior: Rate, seen: Rate) -> Rate:
    """Add what visits saw of a page to its prior."""
    return Rate(*believed_by(SCALARS, prior, seen))


def believed_by(maths: Maths, prior: tuple[Any, Any], seen: tuple[Any, Any]) -> tuple[Any, Any]:
    """Add the changes and hours that visits saw to a prior, which may turn out to be too slow for a page.

    A prior of 30 days is right for most pages, and 360 hours without a change would have to be outweighed by a page that
    changes every hour. So its hours are uncertain themselves: their density is b^(SURPRISES - 1) up to those of the prior,
    and the most likely of them count. Few changes, or changes in many hours, leave the prior as it is.

    >>> believed(Rate(0.5, 360.0), Rate(8.0, 4.0)), believed(Rate(0.5, 360.0), Rate(4.0, 2.0))
    (Rate(a=8.5, b=8.5), Rate(a=4.5, b=362.0))
    """
    (a, b), (changes, hours) = prior, seen
    more = changes - SURPRISES
    fitting = (a + SURPRISES) * hours / maths.where(more > 0.0, more, 1.0)
    fitting = maths.where(fitting > _LEAST_PRIOR_H, fitting, _LEAST_PRIOR_H)
    return a + changes, hours + maths.where((more > 0.0) & (fitting < b), fitting, b)


def after_no_change(rate: Rate, exposure_h: float) -> Rate:
    """Update after a time without a change; exact."""
    return Rate(rate.a, rate.b + max(exposure_h, 0.0))


def after_change(rate: Rate, exposure_h: float) -> Rate:
    """Update after a time with at least one change: the Gamma with the moments of the posterior."""
    return Rate(*changed_by(SCALARS, rate.a, rate.b, exposure_h))


def after_timed_change(rate: Rate, exposure_h: float) -> Rate:
    """Update after one change at a known time, or one that was announced; exact."""
    return Rate(rate.a + 1.0, rate.b + max(exposure_h, 0.0))


def changed_by(maths: Maths, a: Any, b: Any, exposure_h: Any) -> tuple[Any, Any]:
    """Update a and b after a change at an unknown time."""
    # With q_k = 1 - r^(a+k), the moments hold q1/q0 and q2/q0, which are 1 + more and 1 + more (1 + r); written with
    # `more`, the variance is a sum that loses no digits.
    x = exposure_h / b
    x = maths.where(x > _AT_ONCE, x, _AT_ONCE)
    moved = x / (1.0 + x)  # 1 - r
    power = -a * log1p_by(maths, x)
    more = maths.exp(power) * moved / -maths.expm1(power)
    spread = 1.0 + more * (2.0 - moved) - a * more * (moved + more)  # variance b^2 / a
    return a * (1.0 + more) * (1.0 + more) / spread, b * (1.0 + more) / spread


class Forgetting(NamedTuple):
    """What is remembered after a visit, for numbers and arrays; `is_sure` where the earlier visits are forgotten."""

    seen: tuple[Any, Any]
    latest: tuple[Any, Any]
    doubt: Any
    is_sure: Any


def doubt_by(
    maths: Maths, doubt: Any, rates: tuple[tuple[Any, Any], tuple[Any, Any]], visit: tuple[Any, Any]
) -> Any:
    """Add a visit to the doubt that the earlier ones still hold: a sum of log likelihood ratios, never below 0 (CUSUM).

    `rates` are believed by the latest visits alone, and by all; `visit` is the exposure, and whether the page has changed.

    >>> rates = Rate(0.5, 900.0), Rate(9.0, 90.0)  # a page that was fast, and now seems to sleep
    >>> round(doubt_by(SCALARS, 1.0, rates, (10.0, False)), 2), doubt_by(SCALARS, 0.5, rates, (10.0, True))
    (1.94, 0.0)
    """
    latest, every = (_log_likelihood_by(maths, rate, *visit) for rate in rates)
    ratio = latest - every
    ratio = maths.where(ratio < MOST_DOUBT, ratio, MOST_DOUBT)
    total = doubt + maths.where(ratio > -MOST_DOUBT, ratio, -MOST_DOUBT)
    return maths.where(total > 0.0, total, 0.0)


def forget_by(maths: Maths, doubt: Any, seen: tuple[Any, Any], latest: tuple[Any, Any]) -> Forgetting:
    """Forget the earlier visits where the doubt is sure; without any doubt, the latest visits begin anew.

    >>> forget_by(SCALARS, 4.5, (9.0, 50.0), (0.0, 40.0))
    Forgetting(seen=(0.0, 40.0), latest=(0.0, 0.0), doubt=0.0, is_sure=True)
    """
    is_sure = doubt > SURE_DOUBT
    is_open = (doubt > 0.0) & (doubt <= SURE_DOUBT)
    return Forgetting(
        (maths.where(is_sure, latest[0], seen[0]), maths.where(is_sure, latest[1], seen[1])),
        (maths.where(is_open, latest[0], 0.0), maths.where(is_open, latest[1], 0.0)),
        maths.where(is_sure, 0.0, doubt),
        is_sure,
    )


def _log_likelihood_by(maths: Maths, rate: tuple[Any, Any], exposure_h: Any, is_changed: Any) -> Any:
    """Return the logarithm of the probability that a visit finds what it found."""
    a, b = rate
    x = exposure_h / b
    quiet = -a * log1p_by(maths, maths.where(x > _AT_ONCE, x, _AT_ONCE))
    return maths.where(is_changed, maths.log(-maths.expm1(quiet)), quiet)


def changes(rate: Rate, exposure_h: float) -> float:
    """Return the expected number of changes in that time, given at least one."""
    return float(changes_by(SCALARS, rate.a, rate.b, exposure_h))


def changes_by(maths: Maths, a: Any, b: Any, exposure_h: Any) -> Any:
    """Divide the expected changes by the chance of any."""
    x = exposure_h / b
    x = maths.where(x > _AT_ONCE, x, _AT_ONCE)
    return a * x / -maths.expm1(-a * log1p_by(maths, x))


# --- the value of a visit ---


def index(rate: Rate, tau_h: float, importance: float = 1.0) -> float:
    """Return the value of a visit `tau_h` after the last one; the highest is fetched first."""
    return importance * float(index_by(SCALARS, rate.a, rate.b, max(tau_h, 0.0)))


def index_by(maths: Maths, a: Any, b: Any, tau_h: Any) -> Any:
    """V(tau) for importance 1: b/(a-1) [1 - r^(a-1)] - tau r^a, which is a/b times the integral of s r(s)^(a+1)."""
    x = tau_h / b
    grown = log1p_by(maths, x)
    return b * share_by(maths, a, x, (grown, maths.exp(-a * grown)))


def share_by(maths: Maths, a: Any, x: Any, logs: tuple[Any, Any]) -> Any:
    """V / b, from x = tau / b, L = -log r = log(1 + x) and r^a = e^(-a L)."""
    grown, survival = logs
    # The first term is L (e^y - 1)/y with y = (1-a) L, which knows no exception at a = 1.
    y = (1.0 - a) * grown
    is_flat = abs(y) < _FLAT_BELOW
    steep = (survival * (1.0 + x) - 1.0) / maths.where(is_flat, 1.0, y)
    flat = 1.0 + y * (0.5 + y * (1 / 6 + y * (1 / 24 + y * (1 / 120))))
    exact = grown * maths.where(is_flat, flat, steep) - x * survival
    small = (a + 1.0) * x
    series = a * x * x * (0.5 - small * (1 / 3))
    return maths.where(small < _SERIES_BELOW, series, exact)


def log1p_by(maths: Maths, x: Any) -> Any:
    """Return log(1 + x), corrected for the rounding of 1 + x; over columns much faster than the library function."""
    more = 1.0 + x
    return maths.log(more) + (x - (more - 1.0)) / more


def known_index_by(maths: Maths, lam: Any, tau_h: Any) -> Any:
    """V(tau) at a known rate, for importance 1: (1 - (1 + lam tau) e^(-lam tau)) / lam."""
    z = lam * tau_h
    is_small = z < _SERIES_BELOW
    exact = (-maths.expm1(-z) - z * maths.exp(-z)) / maths.where(is_small, 1.0, lam)
    return maths.where(is_small, tau_h * z * (0.5 - z * (1 / 3)), exact)


def chance(rate: Rate, tau_h: float) -> float:
    """Return the probability that the page has changed since the last visit."""
    return float(chance_by(SCALARS, rate.a, rate.b, max(tau_h, 0.0)))


def chance_by(maths: Maths, a: Any, b: Any, tau_h: Any) -> Any:
    """1 - r^a."""
    return -maths.expm1(-a * log1p_by(maths, tau_h / b))


def hours_until(value: Callable[[float], float], price: float) -> float:
    """Return after how many hours a growing value reaches the price; infinite if not in a hundred thousand years."""
    if value(_SHORTEST_H) >= price:
        return 0.0
    if value(_LONGEST_H) < price:
        return math.inf
    return first_above(lambda hours: value(hours) >= price, _SHORTEST_H, _LONGEST_H, 60)


def first_above(test: Callable[[float], bool], low: float, high: float, halvings: int) -> float:
    """Return the least number between two bounds that passes a test, by halving the logarithm."""
    low, high = math.log(low), math.log(high)
    for _ in range(halvings):
        middle = (low + high) / 2
        if test(math.exp(middle)):
            high = middle
        else:
            low = middle
    return math.exp(high)


def score_of(value: float, price: float) -> float:
    """Turn a value into a score of 0 to 100, rounded half up to one digit; a value equal to the price scores 60."""
    if not value > 0.0:
        return 0.0
    return half_up(100.0 / (1.0 + (2.0 / 3.0) * (price / value) ** 0.7), SCORE_DECIMALS)


def cut_share(score: float) -> float:
    """Return the price in shares of the value that has such a score: the inverse of `score_of`.

    >>> cut_share(60.0), round(cut_share(80.0), 3), round(cut_share(20.0), 1)
    (1.0, 0.246, 12.9)
    """
    return float((1.5 * (100.0 - score) / score) ** (1 / 0.7))


def single(value: float) -> float:
    """Round to single precision, 7 digits, so that rows and columns rank alike."""
    return float(struct.unpack("f", struct.pack("f", min(value, _MOST)))[0])


SURE = 20.0  # mean intervals after which a page has surely changed


def first_visit_by(maths: Maths, a: Any, b: Any) -> Any:
    """Value the first visit of a page, at importance 1: as much as a visit to a page that surely has changed.

    A page without a copy is as bad as one with an outdated copy, and its first copy lasts as long as any other: a year on
    a page that hardly changes, an hour on one that changes all the time. So a constant would be wrong at both ends: a
    small budget would go to new articles while they are still being edited, and nothing would be left to come back.

    >>> round(first_visit_by(SCALARS, 0.5, 360.0)), round(first_visit_by(SCALARS, 3.0, 6.0), 1)
    (1641, 2.9)
    """
    return index_by(maths, a, b, SURE * b / a)
