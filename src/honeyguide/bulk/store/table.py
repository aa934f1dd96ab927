"""The rows of a store ranked as arrays: the same plan as row by row.

Owns: `StoredTable`. Must not know: how rows are read (columns.py), how they are valued (values.py).
numpy is an extra, so this module is imported on demand.
"""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from honeyguide.bulk.store.values import learned_values
from honeyguide.core.recrawl.plan import future_fields
from honeyguide.core.recrawl.ranking import host_of
from honeyguide.core.recrawl.signals import drop_reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    import numpy.typing as npt

    from honeyguide.bulk.store.columns import StoredColumns
    from honeyguide.core.recrawl.plan import KnownUrl, PlanQuery
    from honeyguide.core.recrawl.policies import Learned
    from honeyguide.core.recrawl.ranking import Survey

    Flags = npt.NDArray[np.bool_]

_SURE_S = 1.0  # so far in the future, a time is there after rounding, too


class StoredTable:
    """The rows of a store as arrays, numbered from 1: known ones, then those that were never visited."""

    def __init__(self, columns: StoredColumns) -> None:
        self.columns = columns
        self._values = np.zeros(0)
        self._numbers = np.zeros(0, dtype=np.int64)

    def survey(
        self, now: datetime, policy: Learned, row: Callable[[int], KnownUrl], found: Survey
    ) -> tuple[array[float], array[int]]:
        """Value all rows that are not dead, in their order; `found` counts dead ones and times in the future."""
        at = now.timestamp()
        valued = learned_values(self.columns, at, policy)
        is_dead = self.columns.is_dead
        for place in np.flatnonzero(valued.is_close & ~is_dead).tolist():
            state = row(place + 1).state
            valued.values[place] = 0.0 if state is None else policy.value(state, at)
        dead = np.flatnonzero(is_dead)
        if len(dead) and (state := row(int(dead[0]) + 1).state) is not None:
            found.dead.add(f"{state.url} ({drop_reason(state)})", len(dead))
        self._count_future(now, row, ~is_dead, found)
        alive = np.flatnonzero(~is_dead)
        self._values, self._numbers = valued.values[alive], alive + 1
        found.ordered = np.sort(self._values).tolist()
        return array("d", self._values.tobytes()), array("q", self._numbers.tobytes())

    def _count_future(
        self, now: datetime, row: Callable[[int], KnownUrl], is_alive: Flags, found: Survey
    ) -> None:
        """Count rows with times in the future; only the first one, and doubtful ones, are made."""
        at, visited = now.timestamp(), self.columns.numbers["visited_at"]
        with np.errstate(invalid="ignore"):
            is_late = ((visited > at) | (self.columns.numbers["changed_at"] > at)) & is_alive
            is_sure = visited > at + _SURE_S
        for place in np.flatnonzero(is_late).tolist():
            if found.future.rows and is_sure[place]:
                found.future.add("")
                continue
            late = row(place + 1)
            if fields := ", ".join(future_fields(late.signals, now)):
                found.future.add(f"{late.where} ({fields})")

    def best(self, query: PlanQuery, wants: Callable[[float], bool] | None) -> list[tuple[float, int]]:
        """Order the rows that are wanted, the best first, each with its value and number; of equals, the first."""
        values, numbers = self._values, self._numbers
        if wants is not None:
            wanted = np.fromiter(map(wants, values.tolist()), np.bool_, len(values))
            values, numbers = values[wanted], numbers[wanted]
        if query.top is not None and query.per_host is None and query.top < len(values):
            least = np.partition(values, -query.top)[-query.top]
            values, numbers = values[values >= least], numbers[values >= least]
        order = np.lexsort((numbers, -values))
        listed: Iterable[tuple[float, int]] = zip(
            values[order].tolist(), numbers[order].tolist(), strict=True
        )
        if query.per_host is not None:
            listed = self._per_host(listed, query.per_host)
        return list(islice(listed, query.top))

    def _per_host(self, listed: Iterable[tuple[float, int]], most: int) -> Iterator[tuple[float, int]]:
        hosts = [host_of(f"https://{site}/") for site in self.columns.hosts]
        counts: Counter[str] = Counter()
        for value, number in listed:
            host = hosts[self.columns.host[number - 1]]
            counts[host] += 1
            if counts[host] <= most:
                yield value, number
