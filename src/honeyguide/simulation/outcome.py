"""The result of a simulation. Must not know: numpy, because `from honeyguide import *` imports this module everywhere."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a policy, or a bound, achieved in a world with a budget; None is not known, or not measured for bounds.

    Freshness: the share of pages, weighted by importance, whose stored copy matches the live page; `late` is that of the
    second half. Ages and delays are in hours. `curve` has the freshness of equal parts of the run, `days` that of the
    first five days.
    """

    world: str
    budget: str
    policy: str
    is_reference: bool
    freshness: float
    late: float
    of_best: float | None = None
    of_all_knowing: float | None = None
    mean_age_h: float | None = None
    nothing_share: float | None = None
    discovery_h: float | None = None
    fetches: int | None = None
    hosts: tuple[tuple[str, int], ...] = ()
    days: tuple[float, ...] = ()
    curve: tuple[float, ...] = ()
