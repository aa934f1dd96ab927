"""Priors: the change rate that a page starts with before it was visited twice.

Owns: fitting a prior to the rates of other pages, shrinking hosts towards classes. Must not know: visits, files.
Start reading at `Priors.of`, then `refit_priors`. A prior is fitted in logarithms, because rates spread over decades, and
their mean would be that of the few fastest: digamma(a) - log b and trigamma(a) are matched to the log rates of all pages.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from honeyguide.core.recrawl.rate import SCALARS, Rate, believed, prior

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.core.recrawl.rate import Maths

PageClass = Literal["hub", "article", "page"]
CLASSES: tuple[PageClass, ...] = ("hub", "article", "page")
# Hours from change to change before anything is known: a day, three days, thirty days.
FIRST_INTERVAL_H: dict[PageClass, float] = {"hub": 24.0, "article": 72.0, "page": 720.0}

LEAST_A, MOST_A = 0.1, 4.0  # a prior never claims to know more than four changes would tell
WEIGHT = 20.0  # with this many pages, a host or a class weighs as much as its parent
# Each round trusts a page a little less where all are alike. With 5 rounds, a page visited twice a year lost 2 % of freshness.
FIT_ROUNDS = 10
_STEPS = 6  # after which the series of digamma and trigamma are exact to 6 digits; a loop takes twice as long as writing them out
_NEWTON_STEPS = 6  # after which the inverse of trigamma is exact from `LEAST_A` on


@dataclass(frozen=True, slots=True)
class Priors:
    """Priors by class, and by host and class where pages were watched."""

    classes: Mapping[PageClass, Rate] = field(
        default_factory=lambda: {name: prior(hours) for name, hours in FIRST_INTERVAL_H.items()}
    )
    hosts: Mapping[tuple[str, PageClass], Rate] = field(default_factory=dict)

    def of(self, host: str, page_class: PageClass) -> Rate:
        """Return the prior of a page."""
        return self.hosts.get((host, page_class)) or self.classes[page_class]


FIRST_PRIORS = Priors()


class Watched(NamedTuple):
    """What visits saw of one page that was visited at least twice: changes, and the hours that they took."""

    host: str
    page_class: PageClass
    seen: Rate


def refit_priors(pages: Iterable[Watched], start: Priors) -> Priors:
    """Learn the priors from the pages: hosts shrink towards their class, classes towards where they started."""
    by_host: dict[tuple[str, PageClass], list[Rate]] = defaultdict(list)
    for page in pages:
        by_host[page.host, page.page_class].append(page.seen)
    priors = start
    for _ in range(FIT_ROUNDS if by_host else 0):
        logs = {
            key: [log_of(believed(priors.of(*key), seen)) for seen in pages] for key, pages in by_host.items()
        }
        by_class: dict[PageClass, list[LogRate]] = {name: [] for name in CLASSES}
        for (_, name), own in logs.items():
            by_class[name] += own
        classes = {name: shrunk(by_class[name], start.classes[name]) for name in CLASSES}
        priors = Priors(classes, {key: shrunk(own, classes[key[1]]) for key, own in logs.items()})
    return priors


class LogRate(NamedTuple):
    """The mean and the variance of the logarithm of a rate that is Gamma(a, b), and the rate itself."""

    mean: float
    variance: float
    rate: Rate


def log_of(rate: Rate) -> LogRate:
    """Return what is believed of the logarithm of a rate."""
    return LogRate(digamma_by(SCALARS, rate.a) - math.log(rate.b), trigamma_by(rate.a), rate)


def shrunk(logs: Sequence[LogRate], parent: Rate) -> Rate:
    """Fit a prior to some pages; the fewer they are, the nearer it is to the parent's."""
    if not logs:
        return parent
    own, share = refit(logs), len(logs) / (len(logs) + WEIGHT)
    a = parent.a * (own.a / parent.a) ** share
    return Rate(a, a * parent.mean_interval_h * (own.mean_interval_h / parent.mean_interval_h) ** share)


def refit(logs: Sequence[LogRate]) -> Rate:
    """Fit a Gamma to the rates of many pages: the mean and the variance of their logarithms."""
    a = logs[0].rate.a
    if len(logs) == 1 and LEAST_A <= a <= MOST_A:  # of one page alone, as most hosts have, it is this
        return logs[0].rate
    mean = math.fsum([log.mean for log in logs]) / len(logs)
    if len(logs) > 1:
        spread = math.fsum([log.variance + (log.mean - mean) ** 2 for log in logs]) / len(logs)
        a = inverse_trigamma_by(spread)
    a = min(max(a, LEAST_A), MOST_A)
    return Rate(a, math.exp(digamma_by(SCALARS, a) - mean))


def digamma_by(maths: Maths, x: Any) -> Any:
    """Return the derivative of log Gamma, for numbers and arrays: a few steps, then the series.

    >>> round(digamma_by(SCALARS, 1.0), 5), round(digamma_by(SCALARS, 0.5), 5)
    (-0.57722, -1.96351)
    """
    x1 = x + 1.0
    x2 = x1 + 1.0
    x3 = x2 + 1.0
    x4 = x3 + 1.0
    x5 = x4 + 1.0
    shift = -1.0 / x - 1.0 / x1 - 1.0 / x2 - 1.0 / x3 - 1.0 / x4 - 1.0 / x5
    x = x5 + 1.0
    square = 1.0 / (x * x)
    return shift + maths.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square / 252))


def trigamma_by(x: Any) -> Any:
    """Return the second derivative of log Gamma, for numbers and arrays.

    >>> round(trigamma_by(1.0), 5), round(trigamma_by(0.5), 5)
    (1.64493, 4.9348)
    """
    x1 = x + 1.0
    x2 = x1 + 1.0
    x3 = x2 + 1.0
    x4 = x3 + 1.0
    x5 = x4 + 1.0
    shift = (
        1.0 / (x * x)
        + 1.0 / (x1 * x1)
        + 1.0 / (x2 * x2)
        + 1.0 / (x3 * x3)
        + 1.0 / (x4 * x4)
        + 1.0 / (x5 * x5)
    )
    x = x5 + 1.0
    square = 1.0 / (x * x)
    return shift + 1.0 / x + square * (0.5 + (1 / 6 - square * (1 / 30 - square / 42)) / x)


def inverse_trigamma_by(value: Any) -> Any:
    """Return where trigamma has such a value, for numbers and arrays: Newton's method, from a bound on which side it lies.

    >>> round(inverse_trigamma_by(trigamma_by(0.1)), 9), round(inverse_trigamma_by(trigamma_by(4.0)), 9)
    (0.1, 4.0)
    """
    x = 0.5 + 1.0 / value
    for _ in range(_NEWTON_STEPS):
        reached = trigamma_by(x)
        x = x + reached * (1.0 - reached / value) / _tetragamma_by(x)
    return x


def _tetragamma_by(x: Any) -> Any:
    """Return the slope of trigamma."""
    shift = 0.0 * x
    for _ in range(_STEPS):
        shift = shift - 2.0 / (x * x * x)
        x = x + 1.0
    square = 1.0 / (x * x)
    return shift - square * (1.0 + 1.0 / x + square * (0.5 - square * (1 / 6 - square / 6)))
