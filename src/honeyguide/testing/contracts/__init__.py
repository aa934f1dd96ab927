"""Suites of promises that any store can run, public because plug-ins are tested with them; and the builders that they share.

Derive one class from the five suites (`StoreContract` in `store.py`, `HistoryContract` and `ContentsContract` in `history.py`,
`WorkersContract` and `LearningContract` in `workers.py`), and give it `make_store` and `make_workers`; pytest finds the rest.

Owns: `StoreSuite`, from which all suites derive; `found`, `ask`, `spec` and their like. Must not know: any adapter, any job.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from honeyguide.core.crawl.frontier import (
    ClaimRequest,
    Discovered,
    Done,
    Lease,
    RunSpec,
    ScheduledVisit,
    Sighting,
    digest_of,
)
from honeyguide.core.crawl.placement import Placement, rank_of
from honeyguide.core.records import Crawled, page_record
from honeyguide.core.url.url import Tracking, Url
from honeyguide.ports.store import Intake, Queue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from honeyguide.core.records import Record
    from honeyguide.core.why import Why
    from honeyguide.ports.store import Contents, History, Store


SITE = "https://a.example"


class StoreSuite:
    """What a suite is given: `make_store` makes a new, empty store, `make_workers` two stores that share everything."""

    def make_store(self) -> Store:
        """Make an empty store."""
        raise NotImplementedError

    def make_workers(self) -> tuple[Store, Store]:
        """Make two stores on one new, empty place."""
        raise NotImplementedError

    @cached_property
    def store(self) -> Store:
        """The store of a test."""
        return self.make_store()

    @property
    def history(self) -> History:
        """Its history."""
        return self.store.history

    @property
    def contents(self) -> Contents:
        """Its contents."""
        return self.store.contents


def spec(key: str = "one", topic: str | None = "fire") -> RunSpec:
    """Make a run's identity."""
    return RunSpec(key, f"crawl {key}", topic, "docs", "hash")


def found(
    path: str, lane: str = "broad", priority: float = 5.0, wave: int = 0, out: Why | None = None
) -> Discovered:
    """Make a link as a page reveals it; a path may be a whole URL."""
    url = Url.parse(path if "://" in path else SITE + path)
    rank = rank_of(Placement(lane, priority, ()), wave) if out is None else 0
    sighting = Sighting("anchor", "main", priority, "in-main:3", lane)
    site = None if out and out.rule == "other-site" else url.site
    return Discovered(
        url, digest(url.text), site, rank, lane, priority, priority, 1, out=out, sighting=sighting
    )


def page(path: str) -> Record:
    """Make the record of a page that was read."""
    url = Url.parse(path if "://" in path else SITE + path)
    return page_record(Lease(1, 1, url, url.site), Crawled(0.0, 200, action="expand"))


def digest(path: str) -> int:
    """Give a URL's identity."""
    return digest_of(Url.parse(path if "://" in path else SITE + path), Tracking())


def ask(now: float = 0.0, limit: int = 1, **more: object) -> ClaimRequest:
    """Ask for leases that last ten minutes."""
    return ClaimRequest(now, limit, now + 600.0, **more)  # type: ignore[arg-type]  # a test may set any field


def visits(at: float, *paths: str) -> list[ScheduledVisit]:
    """Plan visits in this order, none before that time."""
    return [ScheduledVisit(digest(path), at, place) for place, path in enumerate(paths)]


def paths(leases: Sequence[Lease]) -> list[str]:
    """Name leases by their paths."""
    return [lease.url.path for lease in leases]


def drain(queue: Queue, now: float = 0.0) -> list[str]:
    """Claim and finish one after the other until there is nothing left."""
    order: list[str] = []
    while leases := queue.claim(ask(now)).leases:
        order += paths(leases)
        queue.commit_page(leases[0], Intake(Done()))
    return order
