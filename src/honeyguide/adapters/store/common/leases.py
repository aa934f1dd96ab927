"""Leases of one run: given, taken over, released.

Owns: who may fetch which entry, who may ask which site, and which entry of a site is the best. Must not know: what a
page leaves behind (queue.py). Start reading at `SqlLeases.claim`.

While a site has a pace to keep, one worker has it, and keeps the pace; another may have it when no lease of it is out,
and asks it when `next_at` has come. So two workers together are as polite as one.
"""

from __future__ import annotations

# ruff: noqa: D102 - ports/store.py says what the methods promise
from collections import Counter
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from honeyguide.adapters.store.common.database import reads
from honeyguide.adapters.store.common.ledger import SqlLedger
from honeyguide.adapters.store.common.worths import SqlWorths
from honeyguide.core.crawl.frontier import (
    Claimed,
    Lease,
    NoClaim,
    Retry,
    WaitingSite,
    is_fetch,
    is_open,
    rest_of,
    rest_of_full,
    start_at,
)
from honeyguide.core.crawl.learner import UNIT, LinkGroup
from honeyguide.core.crawl.placement import rank_by_units, units_of
from honeyguide.core.url.url import Url

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.adapters.store.common.database import Database
    from honeyguide.adapters.store.common.workers import SqlWorkers
    from honeyguide.core.crawl.frontier import ClaimRequest, KnownState, Outcome, SitePace
    from honeyguide.ports.store import Heartbeat


_PARENTS = 1024  # URLs of pages that gave entries their place: a few of them lead to most others
_ANY_RANK = 1 << 62  # above all ranks
_NOBODY = -1  # no worker's number


class SiteHead(NamedTuple):
    """A row of `sites_by_head`."""

    site: int
    name: str
    is_external: int
    blocked_until: float
    fetched: int
    leased: int
    entry: int
    worker: int | None
    is_alive: int
    next_at: float
    delay_s: float | None
    run_fetched: int
    run_leased: int
    run_claims: int
    is_late: int
    rank: int

    @property
    def waiting(self) -> WaitingSite:
        used = self.fetched + self.leased
        return WaitingSite(self.name, self.blocked_until, used, bool(self.is_external), self.rank)


class LeftLease(NamedTuple):
    """A row of `leased`: a lease that a worker left behind."""

    entry: int
    site: int
    digest: int
    claim: int
    name: str
    is_external: int
    worker: int | None  # who has the site by now
    is_alive: int
    next_at: float
    delay_s: float | None
    rank: int


class HeldSite(Protocol):
    """What a row says of its site: who has it, and when it may be asked."""

    @property
    def worker(self) -> int | None: ...
    @property
    def is_alive(self) -> int: ...
    @property
    def next_at(self) -> float: ...
    @property
    def delay_s(self) -> float | None: ...


class SqlLeases(SqlLedger):
    """The leases of a run, and what of it is kept in memory."""

    def __init__(self, db: Database, run: int, workers: SqlWorkers) -> None:
        super().__init__(db, run)
        self._workers = workers
        self._worths = SqlWorths(db, run)
        self._site_ids: dict[str, int] = {}
        self._states: dict[int, KnownState] = {}
        self._out: Counter[int] = Counter()  # our leases by site
        self._delays: dict[int, float] = {}
        self._is_paced = False
        self._only: SiteHead | None = (
            None  # the one site with something queued, as it is after our last lease or page
        )
        self._is_only = False  # whether the last site that was found was the only one
        self._only_until = 0.0  # when something else may be queued again
        self._only_version = -1

    def forget(self) -> None:
        """Forget what is known from memory: what it was learnt from was undone."""
        self._states.clear()
        self._site_ids.clear()
        self._delays.clear()
        self._worths.forget()
        self._only = None

    # --- claims ---

    @reads
    def claim(self, request: ClaimRequest) -> Claimed:
        """Lease the best URLs, site first; see `ClaimRequest` for what limits it."""
        self._db.begin_write()
        self._is_paced = request.delay_s is not None
        leases: list[Lease] = []
        in_flight = dict(request.in_flight)
        head: SiteHead | None = None
        while len(leases) < request.limit:
            head, is_last = self._best_head(request, in_flight)
            if head is None or (head.is_late and not leases):
                break
            if _pages_left(request, head.run_fetched, head.run_leased) <= 0:
                break
            lease = self._lease(head, request)
            leases.append(lease)
            self._note_only(head, request)
            in_flight[lease.site] = ranks = (*in_flight.get(lease.site, ()), lease.rank)
            if is_last and len(ranks) >= request.per_site:
                break
        if leases:
            return Claimed(tuple(leases))
        # The machine applies a waiting result before it uses the reason.
        if head is None and in_flight:
            return Claimed((), NoClaim("waiting"))
        return self._claim_nothing(request)

    def _claim_nothing(self, request: ClaimRequest) -> Claimed:
        """Queue again what is due or was left behind, and claim once more; or say why there is nothing."""
        self._only = None
        self._db.write_waiting()
        me = self._workers.id
        fetched, leased, is_late = self._db.one(self._sql["budget"], (self._run, request.now, me))
        if is_late:
            self._sweep(request.now)
            return self.claim(request)
        is_full = _pages_left(request, fetched, leased) <= 0 < request.limit
        held = self._db.one(self._sql["next_expiry"], (self._run, me))[0]
        if held is not None and not is_full and self._workers.dismiss_gone():
            return self.claim(request)
        return Claimed((), rest_of_full(request, held) if is_full else self._rest(request, held))

    def _best_site(
        self, request: ClaimRequest, in_flight: Mapping[str, tuple[int, ...]]
    ) -> tuple[SiteHead | None, bool]:
        """Find the site whose best entry is best, among those that may be asked, and tell whether no other is left."""
        external: int | None = None
        if request.learner is not None:
            self._worths.settle(request.learner)
        values = (self._run, below(request), request.now, self._workers.id)
        rows = map(SiteHead._make, self._db.walk(self._sql["sites_by_head"], values))
        for place, head in enumerate(rows):
            if head.is_external and external is None:
                external = self._external()
            spent = external if head.is_external else None
            if (
                head.blocked_until <= request.now
                and self._may_ask(head, request)
                and is_open(request, head.waiting, in_flight.get(head.name, ()), spent)
            ):
                is_last = next(rows, None) is None
                self._is_only = is_last and place == 0
                return head, is_last
        return None, True

    def _best_head(
        self, request: ClaimRequest, in_flight: Mapping[str, tuple[int, ...]]
    ) -> tuple[SiteHead | None, bool]:
        """Find the best site as `_best_site` does; from memory while one site alone has something queued, and nobody else writes."""
        only = self._only
        if only is not None and request.learner is not None and self._is_as_noted(only, request):
            best = self._worths.best(only.site, request.learner)
            if best is not None and best[0] < below(request):
                head = only._replace(rank=best[0], entry=best[1])
                if is_open(request, head.waiting, in_flight.get(head.name, ()), None):
                    return head, True
            if in_flight:
                return None, True
        self._only = None
        if self._db.is_waiting(self._sql["finish"]):
            self._db.write_waiting()  # their site and the run have not counted these pages yet
        return self._best_site(request, in_flight)

    def _is_as_noted(self, only: SiteHead, request: ClaimRequest) -> bool:
        is_ours = (
            only.worker in (None, self._workers.id) and only.blocked_until <= request.now < self._only_until
        )
        return is_ours and self._worths.stale <= {only.site} and self._db.version() == self._only_version

    def _note_only(self, head: SiteHead, request: ClaimRequest) -> None:
        """Remember the site of a lease if no other has something queued."""
        if not self._is_only or head.is_external or request.learner is None:
            self._only = None
            return
        me = self._workers.id
        if self._only is None:
            ((until,),) = self._db.all(self._sql["late_at"], (self._run, me))
            self._only_until, self._only_version = inf if until is None else until, self._db.version()
        self._only = head._replace(
            worker=me, leased=head.leased + 1, run_leased=head.run_leased + 1, run_claims=head.run_claims + 1
        )

    def _note_end(self, lease: Lease, outcome: Outcome) -> None:
        """Count the end of a lease where its site is remembered; a page to try again is due some day."""
        if (only := self._only) is None:
            return
        if isinstance(outcome, Retry) or lease.site != only.name:
            self._only = None
            return
        n = int(is_fetch(outcome))
        self._only = only._replace(
            leased=only.leased - 1, run_leased=only.run_leased - 1, fetched=only.fetched + n, run_fetched=only.run_fetched + n
        )  # fmt: skip

    def _may_ask(self, site: HeldSite, request: ClaimRequest) -> bool:
        """Tell whether a site is ours or free; one without a pace is everybody's."""
        if not site.is_alive or site.worker == self._workers.id or request.delay_s is None:
            return True
        return request.delay_s == 0 and site.delay_s == 0

    def _lease(self, head: SiteHead, request: ClaimRequest) -> Lease:
        me = self._workers.register(request.now, request.until, self._run)
        claim = head.run_claims + 1
        worth = self._worths.note(head.site, head.entry, request.learner) if request.learner else None
        *row, group, rank, entry = self._db.changed(self._sql["lease"], (claim, me, worth, head.entry))[0]
        self._advance(head, request, group, None if entry is None else (rank, entry))
        starts = self._start_at(request, head)
        if head.worker != me:
            self._db.write(self._sql["hold_site"], (starts, request.delay_s, me, head.site))
        self._site_ids[head.name] = head.site
        return self._read_lease(row, head, claim, starts)

    def _advance(
        self, head: SiteHead, request: ClaimRequest, group: int, following: tuple[int, int] | None
    ) -> None:
        """Note the entry that follows a lease in its group."""
        if request.learner:
            self._worths.advance(head.site, group, following)

    def _start_at(self, request: ClaimRequest, site: HeldSite) -> float:
        is_abandoned = site.worker not in (None, self._workers.id)
        return start_at(request, site.next_at, site.delay_s, is_abandoned=is_abandoned)

    def _read_lease(self, row: Sequence[Any], at: SiteHead | LeftLease, claim: int, starts: float) -> Lease:
        (
            url, digest, is_seed, visits, attempts, depth, lane, priority, score, weak_pages, hub_depth, parent, known, rank, group,
        ) = row  # fmt: skip
        self._states.pop(digest, None)
        self._out[at.site] += 1
        return Lease(
            entry=at.entry, claim=claim, url=Url.parse(url), site=at.name, depth=depth, lane=lane, priority=priority,
            link_score=score, weak_pages=weak_pages, hub_depth=hub_depth, parent=None if parent is None else _text(parent),
            attempt=attempts, is_seed=bool(is_seed), is_external=bool(at.is_external), is_recrawl=visits > 0,
            is_known=bool(known), start_at=starts, rank=rank_by_units(round(priority * UNIT)) if group else rank,
            group=LinkGroup(*group.split(" ", 2)) if group else None, base=units_of(rank) if group else 0,
        )  # fmt: skip

    # --- what others left ---

    @reads
    def adopt(self, request: ClaimRequest) -> tuple[Lease, ...]:
        self._db.begin_write()
        self._db.write_waiting()
        self._only = None
        self._workers.dismiss_gone()
        left = self._left_behind(request.now, _NOBODY)  # ours, too, if our heartbeat has expired
        taken: list[Lease] = []
        me = self._workers.register(request.now, request.until, self._run)
        if left:
            self._workers.beat(request.now, request.until, self._run)
            # A site that another worker has taken meanwhile is asked by that worker alone.
            free = [one for one in left if self._may_ask(one, request)][: request.limit]
            for one in free:
                row = self._db.changed(self._sql["take_over"], (me, one.entry))[0]
                starts = self._start_at(request, one)
                self._db.write(self._sql["hold_site"], (starts, request.delay_s, me, one.site))
                taken.append(self._read_lease(row, one, one.claim, starts))
            adopted = {one.entry for one in free}
            self._give_back([one for one in left if one.entry not in adopted])
        return tuple(taken)

    def _left_behind(self, now: float, me: int) -> list[LeftLease]:
        """List the leases of workers that are gone; one whose heartbeat has expired cannot come back by a late one."""
        self._workers.expire(now, me)
        return list(map(LeftLease._make, self._db.all(self._sql["leased"], (self._run, now, me))))

    def _sweep(self, now: float) -> None:
        """Queue again what is due, and what workers held that are gone."""
        self._give_back(self._left_behind(now, self._workers.id))
        self._refresh(site for (site,) in self._db.changed(self._sql["due"], (self._run, now)))

    def _give_back(self, left: Sequence[LeftLease]) -> None:
        for one in left:
            self._db.write(self._sql["give_back"], (one.entry,))
            self._states.pop(one.digest, None)
        self._refresh(one.site for one in left)

    def renew(self, now: float, until: float, pages: int = 0) -> Heartbeat:
        return self._workers.beat(now, until, self._run, pages)

    def release(self, now: float) -> None:
        self._db.begin_write()
        self._db.write_waiting()
        self._only = None
        self._db.write(self._sql["release"], (self._run, self._workers.id))
        self._db.write(self._sql["release_sites"], (now, self._run, self._workers.id))
        self._out.clear()

    def _rest(self, request: ClaimRequest, held: float | None) -> NoClaim:
        """Say why nothing was granted; others hold pages until `held`."""
        values = (self._run, below(request), request.now, self._workers.id)
        heads = map(SiteHead._make, self._db.all(self._sql["sites_by_head"], values))
        queued = [head.waiting for head in heads]
        due = self._db.all(self._sql["next_due"], (self._run, request.only_due))
        queued += [WaitingSite(*row) for row in due]
        external = self._external() if any(one.is_external for one in queued) else 0
        return rest_of(request, queued, external, held)

    def _external(self) -> int:
        """Count pages of other sites that were fetched, or are being fetched."""
        (used,) = self._db.one(self._sql["external_pages"], (self._run,))
        return int(used)

    # --- sites ---

    def _keep_paces(self, lease: Lease, site: int, paces: Iterable[SitePace]) -> None:
        """Write when sites may be asked next: where a delay is new, of a site that is free now, and of other sites."""
        self._out[site] -= 1
        is_free = self._is_paced and self._out[site] <= 0
        for pace in paces:
            number = site if pace.site == lease.site else self._site_ids.get(pace.site)
            is_due = number != site or (is_free or self._delays.get(site) != pace.delay_s)
            if number is not None and is_due:
                self._delays[number] = pace.delay_s
                leaves = self._workers.id if is_free and number == site else None
                if (only := self._only) is not None and only.site == number:
                    worker = only.worker if leaves is None else None
                    next_at = max(only.next_at, pace.next_at)
                    self._only = only._replace(next_at=next_at, delay_s=pace.delay_s, worker=worker)
                self._db.write(self._sql["pace"], (pace.next_at, pace.delay_s, leaves, number))
        if is_free:
            del self._out[site]

    def _refresh(self, sites: Iterable[int | None], *, is_noted: bool = False) -> None:
        """Find the best entry of sites again; `is_noted` says that the link groups that changed are noted."""
        found = [(site,) for site in dict.fromkeys(sites) if site is not None]
        if not is_noted:
            self._only = None
            for (site,) in found:
                self._worths.touch(site)
        self._db.write_many(self._sql["refresh"], found)


@lru_cache(_PARENTS)
def _text(url: str) -> str:
    return Url.parse(url).text


def _pages_left(request: ClaimRequest, fetched: int, leased: int) -> int:
    most = request.budgets.max_pages
    return request.limit if most is None else most - fetched - leased


def below(request: ClaimRequest) -> int:
    """Give the rank below which a request may be served: what is scheduled has ranks below zero."""
    return 0 if request.only_due else _ANY_RANK
