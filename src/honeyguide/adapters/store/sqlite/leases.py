"""Leases of one run in the SQLite store: given, taken over, renewed.

Owns: who may fetch which entry until when, and which entry of a site is the best. Must not know: what a page reveals
(frontier.py). Start reading at `SqliteLeases.claim`.
"""

from __future__ import annotations

from functools import lru_cache
from operator import add
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.store.sqlite.counters import CounterStep, SqliteCounters
from honeyguide.adapters.store.sqlite.database import checked, reads
from honeyguide.adapters.store.sqlite.ledger import SqliteLedger
from honeyguide.core.crawl.frontier import (
    Claimed,
    KnownState,
    Lease,
    NoClaim,
    WaitingSite,
    is_open,
    rest_of,
    rest_of_full,
)
from honeyguide.core.url.url import Url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from honeyguide.adapters.store.sqlite.database import Database
    from honeyguide.adapters.store.sqlite.workers import SqliteOwners
    from honeyguide.core.crawl.frontier import ClaimRequest


_PARENTS = 1024  # URLs of pages that gave entries their place: a few of them lead to most others
_ANY_RANK = 1 << 62  # above all ranks


class SqliteLeases(SqliteLedger):
    """The leases of a run, and what of it is kept in memory."""

    def __init__(self, db: Database, run: int, owners: SqliteOwners) -> None:
        super().__init__(db, run)
        self._owners = owners
        self._site_ids: dict[str, int] = {}
        self._standings: dict[int, KnownState] = {}
        self.counters = SqliteCounters(db, run)

    def forget(self) -> None:
        """Forget what is known from memory: what it was learnt from was undone."""
        self._standings.clear()
        self._site_ids.clear()

    def _fetched(self) -> int:
        return super()._fetched() + self.counters.budget()[0]

    @reads
    def claim(self, ask: ClaimRequest) -> Claimed:
        """Lease the best URLs, site first; see `ClaimRequest` for what limits it."""
        self._db.begin_write()
        *kept, is_late = self._db.one(self._sql["budget"], (ask.now, ask.now, self._run))
        if is_late:
            self._sweep(ask.now)
        fetched, leased, claims = map(add, kept, self.counters.budget())
        most = ask.budgets.max_pages
        room = ask.limit if most is None else min(ask.limit, most - fetched - leased)
        leases: list[Lease] = []
        outstanding = dict(ask.outstanding)
        while len(leases) < room:
            site, is_last = self._best_site(ask, outstanding)
            if site is None:
                break
            lease = self._lease(site, claims + len(leases) + 1, ask)
            leases.append(lease)
            outstanding[lease.site] = now_out = outstanding.get(lease.site, 0) + 1
            if is_last and now_out >= ask.per_site:
                break
        if not leases:
            held = self._db.one(self._sql["next_expiry"], (self._run, self._owners.owner()))[0]
            if held is not None and room > 0 and self._free_gone():
                return self.claim(ask)
            return Claimed((), self._rest(ask, held, is_full=room <= 0 < ask.limit))
        self.counters.add(CounterStep(leased=len(leases), claims=len(leases)))
        return Claimed(tuple(leases))

    @reads
    def adopt(self, ask: ClaimRequest) -> tuple[Lease, ...]:
        """Take over what processes left behind that are gone, in claim order; what is over the limit is queued."""
        self._db.begin_write()
        gone = self._owners.gone()
        taken: list[Lease] = []
        for entry, site, owner, until, digest, claim in self._db.all(self._sql["leased"], (self._run,)):
            if owner not in gone and until > ask.now:
                continue
            if len(taken) < ask.limit:
                self._db.write(self._sql["take_over"], (self._owners.owner(), ask.until, entry))
                taken.append(self._read_lease(entry, claim, site, is_new=False))
            else:
                self._give_back(entry, site)
            self._standings.pop(digest, None)
        self._owners.forget(gone)
        return tuple(taken)

    def _free_gone(self) -> bool:
        """Queue again what processes hold that were killed while we worked; tell whether there was any."""
        gone = self._owners.gone()
        left = [row for row in self._db.all(self._sql["leased"], (self._run,)) if row[2] in gone]
        for entry, site, _, _, digest, _ in left:
            self._give_back(entry, site)
            self._standings.pop(digest, None)
        self._owners.forget(gone)
        return bool(left)

    def renew(self, until: float) -> None:
        """Keep all our leases until then."""
        self._db.write(self._sql["renew"], (until, self._run, self._owners.owner()))

    def release(self) -> None:
        """Leave all our leases to whoever comes next."""
        self._db.write(self._sql["release"], (self._run, self._owners.owner()))

    def _best_site(
        self, ask: ClaimRequest, outstanding: Mapping[str, int]
    ) -> tuple[tuple[Any, ...] | None, bool]:
        """Find the site whose best entry is best, among those that may be asked, and tell whether no other is left."""
        external: int | None = None
        rows = self._db.walk(self._sql["sites_by_head"], (self._run, _below(ask)))
        for site in rows:
            _, name, is_external, blocked_until, fetched, leased, _, _ = site
            if is_external and external is None:
                external = self._external()
            spent = external if is_external else None
            if blocked_until <= ask.now and is_open(
                ask, name, fetched + leased, outstanding.get(name, 0), spent
            ):
                return site, next(rows, None) is None
        return None, True

    def _lease(self, site: tuple[Any, ...], claim: int, ask: ClaimRequest) -> Lease:
        number, entry = site[0], site[7]
        self._db.write(self._sql["lease"], (claim, self._owners.owner(), ask.until, entry))
        self._refresh(number, leased=1)
        return self._read_lease(entry, claim, number, is_new=True)

    def _read_lease(self, entry: int, claim: int, site: int, *, is_new: bool) -> Lease:
        row = (claim, *self._db.one(self._sql["entry_to_lease"], (entry,)))
        _, url, digest, name, parent, is_seed, is_external, visits, attempts, *place = checked(
            row, "isisSiiiiisfFii"
        )
        if is_new:
            self._standings.pop(digest, None)
        self._site_ids[name] = site
        depth, lane, priority, score, weak_pages, hub_depth = place
        return Lease(
            entry, claim, Url.parse(url), name, depth, lane, priority, score, weak_pages, hub_depth,
            None if parent is None else _text(parent),
            attempts, bool(is_seed), bool(is_external), visits > 0,
        )  # fmt: skip

    def _sweep(self, now: float) -> None:
        """Queue again what is due, and what others hold for longer than they may."""
        mine = self._owners.owner()
        for entry, site, owner in self._db.all(self._sql["expired"], (self._run, now)):
            if owner != mine:
                self._give_back(entry, site)
        due = self._db.all(self._sql["due"], (self._run, now))
        for entry, _ in due:
            self._db.write(self._sql["make_ready"], (entry,))
        for site in dict.fromkeys(site for _, site in due):
            self._refresh(site)

    def _give_back(self, entry: int, site: int) -> None:
        self._db.write(self._sql["give_back"], (entry,))
        self.counters.add(CounterStep(leased=-1))
        self._refresh(site, leased=-1)

    def _rest(self, ask: ClaimRequest, held: float | None, *, is_full: bool) -> NoClaim:
        """Say why nothing was granted; others hold pages until `held`."""
        if is_full:
            return rest_of_full(ask, held)
        rows = self._db.all(self._sql["sites_by_head"], (self._run, _below(ask)))
        queued = [
            WaitingSite(name, until, fetched + leased, bool(is_external))
            for _, name, is_external, until, fetched, leased, _, _ in rows
        ]
        queued += map(WaitingSite._make, self._db.all(self._sql["next_due"], (self._run, ask.only_due)))
        external = self._external() if any(one.is_external for one in queued) else 0
        return rest_of(ask, queued, external, held)

    def external_pages(self) -> int:
        """Tell how many pages of other sites were had, or are being fetched; that stays so until the next commit."""
        self._db.begin_write()
        return self._external()

    def _external(self) -> int:
        (used,) = self._db.one(self._sql["external_budget"], (self._run,))
        return int(used)

    def holds(self, lease: Lease) -> bool:
        """Tell whether a lease is still ours; if so, it stays ours until the next commit."""
        self._db.begin_write()
        values = (lease.entry, self._owners.owner(), lease.claim)
        return self._db.one(self._sql["holds"], values) is not None

    def _refresh(self, site: int, leased: int = 0) -> None:
        """Find the best entry of a site anew, and count leases."""
        self._db.write(self._sql["refresh"], (leased, 0, site))


@lru_cache(_PARENTS)
def _text(url: str) -> str:
    return Url.parse(url).text


def _below(ask: ClaimRequest) -> int:
    """Give the rank below which a request may be served: what is scheduled has ranks below zero."""
    return 0 if ask.only_due else _ANY_RANK
