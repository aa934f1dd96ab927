"""From a plan to the queues: which run fetches which URL again, in the order of the plan.

Owns: `schedule`. Must not know: how a plan is made, how visits are fetched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.frontier import Due, digest_of
from honeyguide.core.url import Url

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.core.frontier import Run
    from honeyguide.core.url import Tracking
    from honeyguide.ports import Frontier, Store

_AT_ONCE = 500  # URLs


class Taker(NamedTuple):
    """A run that may take URLs, and which parameters it ignores when it compares them."""

    run: Run
    tracking: Tracking


@dataclass(frozen=True, slots=True)
class Scheduled:
    """What became of a plan: how many URLs each run will fetch, and which URLs none will."""

    runs: Mapping[int, int]
    left: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many URLs are scheduled."""
        return sum(self.runs.values())


def current(runs: Iterable[Run]) -> list[Run]:
    """Give the runs that a command goes on with, the newest first: of those that were started over, the last."""
    return sorted({run.spec.key: run for run in runs}.values(), key=lambda run: -run.id)


def schedule(store: Store, urls: Sequence[str], at: float, takers: Iterable[Taker]) -> Scheduled:
    """Schedule URLs, the first of them first, each in the first of the runs that can fetch it; all of them, or none.

    A run cannot fetch what it has never met, what its rules put out, and what it is fetching just now. The same plan
    once more changes nothing.
    """
    parsed = [Url.parse(url) for url in urls]
    left = list(range(len(urls)))
    counts: dict[int, int] = {}
    with store.transaction():
        for run, tracking in takers:
            due = [Due(digest_of(parsed[place], tracking), at, place) for place in left]
            left = [one.place for one in _put(store.frontier(run), due)]
            if len(left) < len(due):
                counts[run.id] = len(due) - len(left)
    store.flush()
    return Scheduled(counts, tuple(urls[place] for place in left))


def _put(frontier: Frontier, due: Sequence[Due]) -> list[Due]:
    """Schedule in one run; gives what it cannot fetch."""
    left: list[Due] = []
    for start in range(0, len(due), _AT_ONCE):
        some = due[start : start + _AT_ONCE]
        known = frontier.known([one.digest for one in some])
        met = [one for one in some if one.digest in known]
        left += [one for one in some if one.digest not in known]
        if met and frontier.schedule(met) < len(met):
            left += [one for one in met if not frontier.schedule([one])]  # once more, to see which
    return sorted(left, key=lambda one: one.place)
