"""Choice: the best pages within a budget and the limits of hosts, and the price at which the budget ends.

Owns: `choose`, the smoothed price. Must not know: how values are made, what a page is. Start reading at `choose`.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.rules import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHARE = 0.1  # of the newest cut in the price

HOST_LIMIT = Reason("host-limit", 0.0, "host limit: others of the same host are worth more")


class Choice(NamedTuple):
    """Which places are taken, best first, which only the limit of their host kept out, and the value at the cut."""

    taken: list[int]
    held: list[int]
    cut: float


def choose(
    values: Sequence[float],
    hosts: Sequence[str],
    budget: int,
    limits: int | Mapping[str, int] | None = None,
) -> Choice:
    """Take the best by value, in input order where they are equal, dropping what exceeds its host's limit.

    `limits` is one number for every host, or a number for some. The cut is 0 where the budget is not used up.

    >>> choose([5.0, 9.0, 7.0, 1.0], ["a", "a", "a", "b"], budget=3, limits=2)
    Choice(taken=[1, 2, 3], held=[0], cut=1.0)
    """
    taken: list[int] = []
    held: list[int] = []
    used: Counter[str] = Counter()
    for place in sorted(range(len(values)), key=lambda place: -values[place]):
        if len(taken) >= budget:
            break
        host = hosts[place]
        if used[host] >= _limit_of(host, limits):
            held.append(place)
            continue
        used[host] += 1
        taken.append(place)
    is_used_up = len(taken) >= budget and bool(taken)
    return Choice(taken, held, values[taken[-1]] if is_used_up else 0.0)


def _limit_of(host: str, limits: int | Mapping[str, int] | None) -> float:
    if limits is None:
        return math.inf
    return limits if isinstance(limits, int) else limits.get(host, math.inf)


def smoothed(price: float, cut: float, share: float = _SHARE) -> float:
    """Follow the cut slowly, by the same factor up and down; the first cut is the price.

    >>> smoothed(0.0, 8.0), smoothed(2.0, 8.0, share=0.5)
    (8.0, 4.0)
    """
    if price <= 0.0 or cut <= 0.0:
        return max(price, cut)
    return price * math.pow(cut / price, share)
