"""What plans read of a store besides its history: what waits in queues, what is scheduled, the latest visits.

Owns: the reading queries of plans. Must not know: how pages are ranked, how a crawl goes. Start reading at `StoreReader`.

It reads by a connection of its own, a thousand rows at a time, so a crawl may go on meanwhile. Rows are in the order of
identities, and then in the order of discovery: the same store gives the same plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.adapters.store.sqlite.database import Database, checked, moment, queries, reads
from honeyguide.adapters.store.sqlite.history import sane
from honeyguide.core.recrawl.history import site_of
from honeyguide.core.recrawl.priors import Watched
from honeyguide.core.recrawl.rate import Rate
from honeyguide.core.url.url import Url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from honeyguide.core.recrawl.history import HistoryEntry
    from honeyguide.core.recrawl.plan import KnownUrl


_OUT_OF_ORDER_S = 3600.0  # visits are numbered as they are applied, and that is not quite as they were made
_SAMPLE = (
    100_000  # pages that priors are fitted to; identities are at random, so the first are as good as any
)


class QueuedUrl(NamedTuple):
    """A queued URL that was never visited, in its normal form."""

    entry: int
    run: int
    digest: int
    url: str
    score: float | None
    depth: int
    hub_depth: int
    born_at: float | None


class StoreReader:
    """Reads what plans need of a store, besides its history."""

    def __init__(self, path: str) -> None:
        self._db = Database(path, read_only=True)
        self._sql = queries("plan")

    @reads
    def waiting(self) -> Iterator[QueuedUrl]:
        """Give the queued URLs that were never visited, in the order of discovery."""
        last = 0
        while rows := self._db.all(self._sql["waiting"], (last,)):
            yield from map(_waiting, rows)
            last = rows[-1][0]

    @reads
    def waiting_one(self, digest: int) -> QueuedUrl | None:
        """Give one of them."""
        row = self._db.one(self._sql["waiting_one"], (digest,))
        return None if row is None else _waiting(row)

    @reads
    def read(
        self, make: Callable[[int, HistoryEntry], KnownUrl], place: int, known: HistoryEntry
    ) -> KnownUrl:
        """Make a row of what is known; what cannot be one is nothing that we have written."""
        if known.rate is not None:
            sane(known.rate)
        if known.found is not None:
            sane(known.found, may_be_zero=True)
        return make(place, known)

    def scheduled(self) -> set[int]:
        """Give the identities of what a plan has scheduled and nobody has fetched yet."""
        return {digest for (digest,) in self._db.walk(self._sql["scheduled"])}

    def due_runs(self, now: float) -> list[int]:
        """Give the runs that have something scheduled for now, the newest first."""
        return [run for (run,) in self._db.all(self._sql["due_runs"], (now,))]

    @reads
    def latest_visits(self, limit: int, since: float) -> list[float]:
        """Give the times of the latest visits, the last one first, as far as any can be `since` then."""
        found: list[float] = []
        for row in self._db.walk(self._sql["latest_visits"], (limit,)):
            (at,) = checked(row, "f")
            if at < since - _OUT_OF_ORDER_S:
                break
            found.append(at)
        return found

    @reads
    def watched(self, limit: int = _SAMPLE) -> Iterator[Watched]:
        """Give what is believed of the change rates of some pages."""
        for row in self._db.walk(self._sql["rates"], (limit,)):
            url, kind, a, b = checked(row, "ssff")
            yield Watched(site_of(url), kind, sane(Rate(a, b)))

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


def _waiting(row: Sequence[Any]) -> QueuedUrl:
    entry, run, digest, url, score, depth, hub_depth, met_at = checked(row, "iiisFiiF")
    return QueuedUrl(entry, run, digest, Url.parse(url).text, score, depth, hub_depth, moment(met_at))
