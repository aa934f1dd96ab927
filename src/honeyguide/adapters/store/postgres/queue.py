"""The queue of one run in PostgreSQL: what is different where many workers write at once.

Owns: locks and their order, and claims over many hosts. Must not know: psycopg (database.py), what a page leaves behind
(common/queue.py). Start reading at `PostgresQueue.claim`.

Each claim and each page is one short transaction. Locks are taken in one order: the run, sites by their number, entries
by their identity; a claim waits for no site, but steps over those that somebody changes just now. A host belongs to one
worker while that has leases of it; the number of a claim is its fence: whoever was taken over commits nothing any more.
"""

from __future__ import annotations

# ruff: noqa: D102 - ports/store.py says what the methods promise
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.store.common.leases import SiteHead, below
from honeyguide.adapters.store.common.queue import SqlQueue
from honeyguide.core.crawl.frontier import Claimed, NoClaim, WaitingSite, is_open, rest_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from honeyguide.adapters.store.common.leases import LeftLease
    from honeyguide.adapters.store.postgres.database import PostgresDatabase
    from honeyguide.core.crawl.frontier import ClaimRequest, Discovered, Lease, ScheduledVisit
    from honeyguide.core.rules.profile import LearnerRules
    from honeyguide.ports.store import Intake, PageView

_SOME = 128  # hosts that are looked at together
_BEGINNING = (-(2**63), -(2**63))
_AGAIN_S = 0.05  # until another worker has let go of a host


class PostgresQueue(SqlQueue):
    """A `Queue` whose workers are on any number of machines."""

    _db: PostgresDatabase

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._heads: list[tuple[int, int, int, SiteHead]] = []
        self._last: tuple[int, int] | None = None
        self._has_skipped = False
        self._claims: int | None = None  # how many there are, while we number ours
        self._late: bool | None = None  # whether something is to be queued again before anything is claimed
        self._mine: set[int] = set()  # claims that are ours
        self._connections = 0

    # --- claims ---

    def claim(self, request: ClaimRequest) -> Claimed:
        before = self._out.copy()

        def work() -> Claimed:
            self._out = before.copy()
            self._begin_claim(request)
            claimed = super(PostgresQueue, self).claim(request)
            if self._claims is not None:
                self._db.write(self._sql["set_claims"], (self._claims, self._run))
            self._claims = None
            return claimed

        claimed = self._db.retried(work)
        self._mine.update(lease.claim for lease in claimed.leases)
        if not claimed.leases and self._has_skipped and claimed.rest.why != "waiting":
            return Claimed((), NoClaim("shared", request.now + _AGAIN_S))
        return claimed

    def _begin_claim(self, request: ClaimRequest) -> None:
        self._has_skipped = False
        self._claims = self._late = None
        self._forget_heads()
        self._disown()
        self._db.begin_write()
        if request.budgets.max_pages is not None or request.budgets.external_pages:
            self._db.all(self._sql["lock_run"], (self._run,))
        self._db.write(self._sql["wake"], (self._run, request.now))

    def _disown(self) -> None:
        """Leave leases to others whose commit a broken connection never confirmed: nobody fetches them."""
        if self._connections != self._db.reconnects and self._workers.id >= 0:
            self._connections = self._db.reconnects
            self._db.write(self._sql["disown"], (self._run, self._workers.id, sorted(self._mine)))

    def _forget_heads(self) -> None:
        self._heads, self._last = [], _BEGINNING

    def _best_site(
        self, request: ClaimRequest, in_flight: Mapping[str, tuple[int, ...]]
    ) -> tuple[SiteHead | None, bool]:
        if request.learner is not None:
            self._settle(request.learner, request)
        external: int | None = None
        left: list[tuple[int, int, int, SiteHead]] = []
        best = None
        while best is None and self._more_heads(request):
            place = heappop(self._heads)
            head = place[3]
            if head.is_external and external is None:
                external = self._external()
            spent = external if head.is_external else None
            if not is_open(request, head.waiting, in_flight.get(head.name, ()), spent):
                left.append(place)
            elif self._may_ask(head, request):
                best = self._locked(head, request)
        for place in left:  # of what is in flight now, something may end
            heappush(self._heads, place)
        return best, False

    def _settle(self, learner: LearnerRules, request: ClaimRequest) -> None:
        """Find the best entries of sites by their worth; what was read of them before is read again."""
        stale = self._worths.stale
        self._worths.settle(learner)
        for site in sorted(stale) if self._last != _BEGINNING else ():
            self._push(self._now(site, request), request)

    def _more_heads(self, request: ClaimRequest) -> bool:
        """Read the next hosts if none is left; what was read stays in order, because places only follow."""
        if not self._heads and self._last is not None:
            values = (self._run, below(request), request.now, *self._last, _SOME)
            rows = [SiteHead._make(row) for row in self._db.all(self._sql["sites_by_head"], values)]
            self._heads = [(head.rank, head.entry, head.site, head) for head in rows]
            heapify(self._heads)
            self._last = (rows[-1].rank, rows[-1].entry) if len(rows) == _SOME else None
        return bool(self._heads)

    def _now(self, site: int, request: ClaimRequest) -> SiteHead | None:
        """Lock a host and read it again; None while somebody else changes it."""
        is_limited = request.budgets.max_pages is not None
        row = self._db.one(self._sql["site_head"], (site, request.now, is_limited))
        return None if row is None else SiteHead._make(row)

    def _push(self, head: SiteHead | None, request: ClaimRequest) -> None:
        """Put a host where its best entry has its place."""
        if head is not None and head.entry is not None and head.rank < below(request):
            heappush(self._heads, (head.rank, head.entry, head.site, head))

    def _locked(self, head: SiteHead, request: ClaimRequest) -> SiteHead | None:
        """Lock a host; None if somebody changes it just now, or its best entry is another by now."""
        now = self._now(head.site, request)
        if now is None:
            self._has_skipped = True
        elif (now.rank, now.entry) != (head.rank, head.entry):
            self._push(now, request)
        elif now.blocked_until <= request.now and self._may_ask(now, request):
            return now._replace(is_late=self._is_late(request))
        return None

    def _is_late(self, request: ClaimRequest) -> bool:
        if self._late is None:
            values = (self._run, request.now, self._workers.id)
            self._late = bool(self._db.one(self._sql["is_late"], values)[0])
        return self._late

    def _lease(self, head: SiteHead, request: ClaimRequest) -> Lease:
        if self._claims is None:  # from here on, no other claim of the run is numbered
            ((self._claims,),) = self._db.all(self._sql["claims"], (self._run,))
        lease = super()._lease(head._replace(run_claims=self._claims), request)
        self._claims += 1
        return lease

    def _advance(
        self, head: SiteHead, request: ClaimRequest, group: int, following: tuple[int, int] | None
    ) -> None:
        super()._advance(head, request, group, following)
        if request.learner is None and following is not None:  # then there are no groups
            rank, entry = following
            self._push(head._replace(rank=rank, entry=entry, leased=head.leased + 1), request)

    def _rest(self, request: ClaimRequest, held: float | None) -> NoClaim:
        values = (self._run, below(request))
        heads = self._db.all(self._sql["sites_by_head"], (*values, request.now, *_BEGINNING, 10_000))
        queued = [SiteHead._make(row).waiting for row in heads]
        queued += [WaitingSite(*row) for row in self._db.all(self._sql["resting_sites"], values)]
        due = self._db.all(self._sql["next_due"], (self._run, request.only_due))
        queued += [WaitingSite(*row) for row in due]
        external = self._external() if any(one.is_external for one in queued) else 0
        return rest_of(request, queued, external, held)

    def adopt(self, request: ClaimRequest) -> tuple[Lease, ...]:
        leases = self._db.retried(lambda: super(PostgresQueue, self).adopt(request))
        self._mine.update(lease.claim for lease in leases)
        return leases

    def _left_behind(self, now: float, me: int) -> list[LeftLease]:
        self._db.all(self._sql["lock_late"], (self._run, now, me))
        return super()._left_behind(now, me)

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
        found = self._db.all(self._sql["lock_sites"], (self._run, sorted(names)))
        self._site_ids.update((name, number) for number, name in found)
        if digests:
            self._db.all(self._sql["lock_entries"], (self._run, sorted(digests)))

    def _write_new(self, found: Sequence[Discovered], parent: int | None) -> None:
        """Write new links; those that another worker met first are links that were met again."""
        self._db.write_waiting()
        rows = [self._new_row(one, parent) for one in found]
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
        self._db.begin_write()
        self._db.all(self._sql["lock_all_sites"], (self._run,))

    def block(self, site: str, until: float | None) -> None:
        self._db.retried(lambda: super(PostgresQueue, self).block(site, until))

    def add_site(self, site: str) -> None:
        self._db.retried(lambda: super(PostgresQueue, self).add_site(site))

    def renew(self, now: float, until: float) -> None:
        self._db.retried(lambda: super(PostgresQueue, self).renew(now, until))

    def release(self, now: float) -> None:
        self._db.retried(lambda: super(PostgresQueue, self).release(now))
        self._mine.clear()
