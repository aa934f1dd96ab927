"""Priors of classes and hosts for a simulation: the same as `core.priors`, as arrays.

Owns: fitting priors to many posteriors, and moving pages from one prior to the next. Must not know: visits, the world.
Start reading at `refit`. A group is a class of pages on a host: 3 x host + class.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from honeyguide.core.recrawl.priors import LEAST_A, MOST_A, WEIGHT
from honeyguide.core.recrawl.rate import changed_by

if TYPE_CHECKING:
    from honeyguide.simulation.run import Flags
    from honeyguide.simulation.worlds import Floats, Ints


_ENTRIES = 20_000  # of a table that is exact to 7 digits
_STEPS = 6  # after which digamma and trigamma follow their series
CLASS_COUNT = 3


class Rates(NamedTuple):
    """What is believed of many rates: Gamma(a, b) each."""

    a: Floats
    b: Floats

    def at(self, places: Ints) -> Rates:
        """Give some of them."""
        return Rates(self.a[places], self.b[places])

    def put(self, places: Ints, rates: Rates) -> None:
        """Replace some of them."""
        self.a[places], self.b[places] = rates


def updated(rates: Rates, exposure: Floats, is_changed: Flags) -> Rates:
    """Learn from one visit of each page, as `core.learning.after_visit` does."""
    a, b = changed_by(np, rates.a, rates.b, exposure)
    return Rates(np.where(is_changed, a, rates.a), np.where(is_changed, b, rates.b + exposure))


def refit(rates: Rates, groups: Ints, start: Rates, hosts: int) -> Rates:
    """Learn the prior of each group from its pages: hosts shrink towards their class, classes towards the start.

    `start` has one prior for each class; the answer one for each class of each host.
    """
    classes = _shrunk(rates, groups % CLASS_COUNT, start)
    return _shrunk(rates, groups, classes.at(np.arange(CLASS_COUNT * hosts) % CLASS_COUNT))


def rebased(rates: Rates, old: Rates, new: Rates) -> Rates:
    """Give pages that started from the old priors the new ones, with all that their visits taught."""
    a, b = rates.a + new.a - old.a, rates.b + new.b - old.b
    is_sound = (a >= np.minimum(new.a, rates.a)) & (b > 0.0)
    return Rates(np.where(is_sound, a, rates.a), np.where(is_sound, b, rates.b))


def _shrunk(rates: Rates, groups: Ints, parents: Rates) -> Rates:
    """Fit each group, as near to its parent as its pages are few."""
    size = len(parents.a)
    pages = np.bincount(groups, minlength=size)
    fitted = _fitted(rates, groups, np.maximum(pages, 1), size)
    share = pages / (pages + WEIGHT)
    a = _blended(fitted.a, parents.a, share)
    interval = _blended(fitted.b / fitted.a, parents.b / parents.a, share)
    is_empty = pages == 0
    return Rates(np.where(is_empty, parents.a, a), np.where(is_empty, parents.b, a * interval))


def _blended(own: Floats, parent: Floats, share: Floats) -> Floats:
    return np.exp(share * np.log(own) + (1.0 - share) * np.log(parent))


def _fitted(rates: Rates, groups: Ints, pages: Ints, size: int) -> Rates:
    """Match the mean and the variance of the log rates of each group."""
    logs = digamma(rates.a) - np.log(rates.b)
    mean = np.bincount(groups, logs, minlength=size) / pages
    spread = trigamma(rates.a) + (logs - mean[groups]) ** 2
    a = _trigamma_inverse(np.bincount(groups, spread, minlength=size) / pages)
    return Rates(a, np.exp(digamma(a) - mean))


def _trigamma_inverse(variance: Floats) -> Floats:
    """Look a up; trigamma falls."""
    a, values = _table()
    return np.interp(-variance, -values, a)


@cache
def _table() -> tuple[Floats, Floats]:
    a = np.exp(np.linspace(np.log(LEAST_A), np.log(MOST_A), _ENTRIES))
    return a, trigamma(a)


def digamma(x: Floats) -> Floats:
    """Give the derivative of log Gamma."""
    shift = np.zeros(len(x))
    for _ in range(_STEPS):
        shift -= 1.0 / x
        x = x + 1.0
    square = 1.0 / (x * x)
    return shift + np.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square / 252))


def trigamma(x: Floats) -> Floats:
    """Give the second derivative of log Gamma."""
    shift = np.zeros(len(x))
    for _ in range(_STEPS):
        shift += 1.0 / (x * x)
        x = x + 1.0
    square = 1.0 / (x * x)
    return shift + 1.0 / x + square * (0.5 + (1 / 6 - square * (1 / 30 - square / 42)) / x)
