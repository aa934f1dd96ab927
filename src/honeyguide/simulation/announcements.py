"""Announcements: what sitemaps and feeds tell of changes in a simulation, and how far policies may believe them.

Owns: the announcements of a world, and the trust that is learned in each source, as arrays: the formulas are those of
`core.recrawl.history`. Must not know: rates, policies. Start reading at `Announcements`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from honeyguide.core.recrawl.history import is_proved, precision_of, recall_of
from honeyguide.simulation.worlds import CLASSES, NEVER

if TYPE_CHECKING:
    from honeyguide.simulation.worlds import Floats, Ints, World

_ENOUGH = 5  # claims about a kind of page, before its own cases count instead of those of the host


@dataclass(frozen=True, slots=True)
class SignalSettings:
    """How well a source announces: the share of changes it tells, the share of its claims that are true, its delay."""

    recall: float = 0.95
    precision: float = 0.95
    delay: float = 6.0  # hours until an announcement can be read, on average


class Announcements:
    """What one source announces, in the order in which it can be read."""

    def __init__(self, world: World, settings: SignalSettings, seed: int) -> None:
        rng = np.random.Generator(np.random.PCG64([seed, 7]))
        changed = np.repeat(np.arange(world.size), np.diff(world.offsets))
        is_told = rng.random(len(changed)) < settings.recall
        true = int(np.count_nonzero(is_told))
        false = rng.poisson(true * (1.0 - settings.precision) / settings.precision)
        self._pages = np.concatenate([changed[is_told], rng.integers(0, max(world.size, 1), false)])
        self._times = np.concatenate([world.times[is_told], rng.random(false) * world.hours])
        self._seen = self._times + rng.exponential(settings.delay, len(self._times))
        order = np.argsort(self._seen, kind="stable")
        self._pages, self._times, self._seen = self._pages[order], self._times[order], self._seen[order]
        self._next = 0

    def read(self, now: float, latest: Floats) -> None:
        """Read what can be read by now: `latest` has the last change that is claimed of each page."""
        end = int(np.searchsorted(self._seen, now, "right"))
        np.maximum.at(latest, self._pages[self._next : end], self._times[self._next : end])
        self._next = end


class Belief(NamedTuple):
    """What trusted sources say of some pages: whether a change is claimed, how surely, and how many would be claimed."""

    is_claimed: np.ndarray
    precision: Floats
    recall: Floats


class SignalTrust:
    """How far one source can be believed, by host and by class of pages on a host."""

    def __init__(self, group: Ints, hosts: int) -> None:
        self._group = group
        self._cases = np.zeros((3, len(CLASSES) * hosts))  # hits, alarms, misses

    def learn(self, pages: Ints, is_claimed: np.ndarray, is_changed: np.ndarray) -> None:
        """Count whether claims were true."""
        for place, cases in enumerate(
            (is_claimed & is_changed, is_claimed & ~is_changed, ~is_claimed & is_changed)
        ):
            np.add.at(self._cases[place], self._group[pages[cases]], 1.0)

    def of(self, pages: Ints, is_claimed: np.ndarray) -> Belief:
        """Return what is believed of pages."""
        hosts = np.repeat(self._cases.reshape(3, -1, len(CLASSES)).sum(axis=2), len(CLASSES), axis=1)
        hits, alarms, misses = np.where(self._cases[0] + self._cases[1] >= _ENOUGH, self._cases, hosts)
        is_good = is_proved(hits, alarms)[self._group[pages]]
        recall = np.where(is_good, recall_of(hits, misses)[self._group[pages]], 0.0)
        return Belief(is_claimed & is_good, precision_of(hits, alarms)[self._group[pages]], recall)


def believe_all(sources: list[Belief]) -> Belief:
    """Join what several sources say: the surest claim counts, and what none announces is not announced."""
    claimed = np.logical_or.reduce([one.is_claimed for one in sources])
    precision = np.max([np.where(one.is_claimed, one.precision, 0.0) for one in sources], axis=0)
    missed = np.prod([1.0 - one.recall for one in sources], axis=0)
    return Belief(claimed, precision, 1.0 - missed)


def no_claims(size: int) -> Floats:
    """Return the claims of a source that has said nothing yet."""
    return np.full(size, -NEVER)
