"""The result of a simulation. Must not know: numpy, because `from honeyguide import *` imports this module everywhere."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a policy, or a bound, achieved in a world with a budget; None is not known, or not measured for bounds.

    The fields are those of `OutcomeRecord` (docs/reference/records.md); `late` is its `freshness_late`.
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
