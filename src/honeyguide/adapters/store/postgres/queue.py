"""The queue of one run in PostgreSQL: what is different where many workers write at once.

Owns: locks and their order while a page is committed. Must not know: psycopg (database.py), claims (claims.py), what a page leaves
behind (common/queue.py). Start reading at `PostgresQueue.commit_page`.

Each page is one short transaction. Locks are taken in one order: sites by their number, entries by their identity. A site belongs to
one worker while that has leases of it; the number of a claim is its fence: whoever was taken over commits nothing any more.
"""

from __future__ import annotations

# ruff: noqa: D102 - ports/store.py says what the methods promise
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.store.postgres.claims import PostgresClaims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from honeyguide.core.crawl.frontier import Discovered, Lease, ScheduledVisit
    from honeyguide.ports.store import Intake, PageView

_LAST = 2**62  # after all ranks


class PostgresQueue(PostgresClaims):
    """A `Queue` whose workers are on any number of machines."""

    # --- pages ---

    def look(self, lease: Lease, digests: Sequence[int] = (), content: str | None = None) -> PageView:
        return self._db.retried(lambda: super(PostgresQueue, self).look(lease, digests, content))

    def commit_page(self, lease: Lease, intake: Intake) -> bool:
        before = self._out.copy()

        def work() -> bool:
            self._out = before.copy()
            self._lock_page(lease, intake)
            return super(PostgresQueue, self).commit_page(lease, intake)

        is_ours = self._db.retried(work)
        self._mine.discard(lease.claim)
        return is_ours

    def _lock_page(self, lease: Lease, intake: Intake) -> None:
        """Lock the sites and entries that a page touches, each in its order."""
        self._db.begin_write()
        names = {lease.site, *(pace.site for pace in intake.paces)}
        digests: set[int] = set()
        if (findings := intake.findings) is not None:
            names.update(one.site for one in (*findings.new, *findings.better) if one.site is not None)
            digests.update((*findings.again, *(digest for digest, _ in findings.sightings)))
            digests.update(one.digest for one in (*findings.new, *findings.better))
        if intake.target is not None:
            names.add(intake.target[1].site)
            digests.add(intake.target[0])
        if intake.add_site is not None:
            names.add(intake.add_site)
        found = self._db.changed(self._sql["lock_sites"], (self._run, sorted(names)))
        self._site_ids.update((name, number) for number, name in found)
        if digests:
            self._db.changed(self._sql["lock_entries"], (self._run, sorted(digests)))

    def _write_new(self, found: Sequence[Discovered], parent: int | None) -> None:
        """Write new links; those that another worker met first are links that were met again."""
        self._db.write_waiting()
        rows = [self._new_row(one, parent) for one in found]
        self.lower_floor(min((one.rank for one in found if one.out is None), default=_LAST))
        written = {digest for (digest,) in self._db.changed_many(self._sql["insert"], rows)}
        lost = [one for one in found if one.digest not in written]
        firsts = [one for one in found if one.digest in written]
        self._note_first_sightings(firsts, parent)
        if not lost:
            return
        for one in lost:
            if one.site is not None:
                self._db.write(self._sql["uncount_urls"], (1, self._site_ids[one.site]))
        if parent is not None:
            known = self.known([one.digest for one in lost])
            self._improve([one for one in lost if not known[one.digest].is_settled], parent)
            settled = [one for one in lost if known[one.digest].is_settled]
            self._write_sightings([(one.digest, one.sighting) for one in settled if one.sighting], parent)
            for one in settled:
                self._db.count(self._sql["seen"], (self._run, one.digest), 1)

    # --- the rest ---

    def add(self, found: Sequence[Discovered]) -> int:
        return self._db.retried(lambda: super(PostgresQueue, self).add(found))

    def requeue(self, found: Sequence[Discovered]) -> None:
        def work() -> None:
            self._lock_everything()
            super(PostgresQueue, self).requeue(found)

        if found:
            self._db.retried(work)

    def schedule(self, visits: Sequence[ScheduledVisit]) -> frozenset[int]:
        def work() -> frozenset[int]:
            self._lock_everything()
            return super(PostgresQueue, self).schedule(visits)

        return self._db.retried(work)

    def _in_bulk(self, name: str, values: tuple[Any, ...]) -> int:
        def work() -> int:
            self._lock_everything()
            return super(PostgresQueue, self)._in_bulk(name, values)

        return self._db.retried(work)

    def _lock_everything(self) -> None:
        self.lower_floor()
        self._db.begin_write()
        self._db.changed(self._sql["lock_all_sites"], (self._run,))

    def block(self, site: str, until: float | None) -> None:
        self.lower_floor()
        self._db.retried(lambda: super(PostgresQueue, self).block(site, until))

    def add_site(self, site: str) -> None:
        self._db.retried(lambda: super(PostgresQueue, self).add_site(site))

    def _improve(self, found: Sequence[Discovered], parent: int) -> None:
        self.lower_floor(min((one.rank for one in found), default=_LAST))
        super()._improve(found, parent)

    def _arrive(self, lease: Lease, intake: Intake) -> int:
        self.lower_floor()
        return super()._arrive(lease, intake)
