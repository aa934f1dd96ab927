"""Outcome: what a recrawl policy achieved in a simulation.

Owns: the figures of one run, as data. Must not know: how they are measured (`adapters.simulation`), how they look.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a policy, or a bound, achieved in a world with a budget; None is not known, or not said of bounds.

    Freshness is the share of importance whose copy was as the page was, over time; `late` is the second half. Ages and
    delays are in hours. `curve` has the freshness of equal parts of the run, `days` that of the first five days.
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
