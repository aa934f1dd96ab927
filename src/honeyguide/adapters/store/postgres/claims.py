"""Claims in PostgreSQL: sites are chosen from one look at their heads, and leased by one statement.

Owns: which sites a worker takes when there are others, and in which order rows are locked. Must not know: psycopg (database.py),
what a page leaves behind (queue.py). Start reading at `PostgresClaims.claim`.

A claim is one short transaction. It waits for no site: those that somebody changes just now are stepped over. A worker belongs to a
run while it has a row in `worker`; whoever takes over what it held deletes that row first, so it cannot come back by a late heartbeat.
"""

from __future__ import annotations

# ruff: noqa: D102 - ports/store.py says what the methods promise
from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.adapters.store.common.database import reads
from honeyguide.adapters.store.common.leases import LeftLease, below
from honeyguide.adapters.store.common.queue import SqlQueue
from honeyguide.core.crawl.frontier import Claimed, NoClaim, WaitingSite, is_open, rest_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from honeyguide.adapters.store.postgres.database import PostgresDatabase
    from honeyguide.core.crawl.frontier import ClaimRequest, Lease
    from honeyguide.ports.store import Heartbeat

_PAGE = 64  # sites that are looked at together
_BEGINNING = (-(2**63), -(2**63))
_AGAIN_S = 0.05  # until another worker has let go of a site
_LOOK_S = 1.0  # between two looks at what other workers do
_AHEAD = 2  # leases of one site while others want sites, too: one is fetched, one waits for its pause
_NOBODY = -1  # no worker's number


class PostgresSiteHead(NamedTuple):
    """A row of PostgreSQL's `sites_by_head`; `following` are its best entries, as rank and number."""

    site: int
    name: str
    is_external: bool
    blocked_until: float
    fetched: int
    leased: int
    entry: int
    worker: int | None
    is_alive: bool
    next_at: float
    delay_s: float | None
    rank: int
    is_ready: bool
    following: list[list[int]] | None

    @property
    def waiting(self) -> WaitingSite:
        used = self.fetched + self.leased
        return WaitingSite(self.name, self.blocked_until, used, self.is_external, self.rank)


class Choice(NamedTuple):
    """An entry to lease, and its site as it was looked at."""

    head: PostgresSiteHead
    entry: int
    rank: int


class Heads:
    """Sites with something queued, the best first; more are read when they run out."""

    def __init__(self, queue: PostgresClaims, request: ClaimRequest, following: int) -> None:
        self._queue, self._request, self._following = queue, request, following
        self._heap: list[tuple[int, int, int, Choice]] = []
        self._next: tuple[int, int] | None = queue.floor(request)

    def pop(self) -> Choice | None:
        while not self._heap and self._next is not None:
            rows = self._queue.read_heads(self._request, self._next, self._following)
            ready = [head for head in rows if head.is_ready]
            for head in rows:
                self.push(Choice(head, head.entry, head.rank))
            self._next = (ready[-1].rank, ready[-1].entry + 1) if len(ready) == _PAGE else None
        return heappop(self._heap)[3] if self._heap else None

    def push(self, choice: Choice) -> None:
        heappush(self._heap, (choice.rank, choice.entry, choice.head.site, choice))

    def push_next(self, choice: Choice) -> None:
        """Put a site where its next entry has its place, after one was chosen."""
        following = choice.head.following or []
        place = [choice.rank, choice.entry]
        index = following.index(place) + 1 if place in following else len(following)
        if index < len(following) and following[index][0] < below(self._request):
            rank, entry = following[index]
            head = choice.head._replace(leased=choice.head.leased + 1)
            self.push(Choice(head, entry, rank))


class PostgresClaims(SqlQueue):
    """The leases of a run whose workers are on any number of machines."""

    _db: PostgresDatabase

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._floor = _BEGINNING  # no site has a better head than this
        self._looked_at = self._swept_at = -inf  # when we looked at all heads; at what others left
        self._share: int | None = None  # how many sites are ours while there are other workers
        self._shared_at = -inf
        self._has_skipped = False
        self._mine: set[int] = set()  # claims that are ours
        self._connections = 0

    def claim(self, request: ClaimRequest) -> Claimed:
        before = self._out.copy()

        def work() -> Claimed:
            self._out = before.copy()
            return self._claim(request)

        claimed = self._db.retried(work)
        self._mine.update(lease.claim for lease in claimed.leases)
        if not claimed.leases and self._has_skipped and claimed.rest.why != "waiting":
            claimed = Claimed((), NoClaim("shared", request.now + _AGAIN_S))
        return claimed._replace(is_shared=self._share is not None)

    @reads
    def _claim(self, request: ClaimRequest) -> Claimed:
        self._has_skipped = False
        self._is_paced = request.delay_s is not None
        self._begin_claim(request)
        if self._workers.is_lost:
            return Claimed((), NoClaim("shared", request.now + _AGAIN_S))
        leases: list[Lease] = []
        in_flight = dict(request.in_flight)
        left = self._pages_left(request)
        chosen: list[Choice] = []
        while (wanted := min(request.limit - len(leases), left - len(leases))) > 0:
            chosen = self._choose(request, in_flight, 1 if request.learner else wanted)
            if not chosen or (not leases and self._is_late(request)):
                break
            granted = self._grant(chosen, request)
            self._has_skipped |= len(granted) < len(chosen)
            for lease in granted:
                in_flight[lease.site] = (*in_flight.get(lease.site, ()), lease.rank)
            leases += granted
            if not granted or (not request.learner and len(chosen) < wanted):
                break
        if leases:
            return Claimed(tuple(leases))
        # The machine applies a waiting result before it uses the reason.
        if not chosen and in_flight and left > 0:
            return Claimed((), NoClaim("waiting"))
        return self._claim_nothing(request)

    def _begin_claim(self, request: ClaimRequest) -> None:
        self._db.begin_write()
        self._disown()
        if request.now - self._shared_at >= _LOOK_S or request.now < self._shared_at:
            self._shared_at = request.now
            values = (self._run, request.now, self._workers.id, _PAGE)
            others, sites, is_known = self._db.one(self._sql["crowd"], values)
            if not is_known:
                self._workers.lose()
            is_paced = bool(request.delay_s)
            self._share = max(1, -(-sites // (others + 1))) if others and is_paced else None

    def _pages_left(self, request: ClaimRequest) -> int:
        """Count what is left of the budget of pages; budgets are kept by one claim at a time."""
        most = request.budgets.max_pages
        if most is not None or request.budgets.external_pages:
            self._db.changed(self._sql["lock_run"], (self._run,))
        if most is None:
            return request.limit
        fetched, leased = self._db.one(self._sql["used"], (self._run,))
        return most - int(fetched) - int(leased)

    def _disown(self) -> None:
        """Leave leases to others whose commit a broken connection never confirmed: nobody fetches them."""
        if self._connections != self._db.reconnects and self._workers.id >= 0:
            self._connections = self._db.reconnects
            self._db.write(self._sql["disown"], (self._run, self._workers.id, sorted(self._mine)))

    # --- choosing ---

    def _choose(
        self, request: ClaimRequest, in_flight: Mapping[str, tuple[int, ...]], wanted: int
    ) -> list[Choice]:
        """Choose the best entries of sites that may be asked."""
        if request.learner is not None:
            self._worths.settle(request.learner)
            self.lower_floor()
        most, per_site = self._limits(request)
        heads = Heads(self, request, min(wanted, per_site) if wanted > 1 else 0)
        flying = {site: list(ranks) for site, ranks in in_flight.items()}
        external: int | None = None
        chosen: list[Choice] = []
        while len(chosen) < wanted and (choice := heads.pop()) is not None:
            head = choice.head._replace(rank=choice.rank)
            ranks = flying.get(head.name, [])
            if head.is_external and external is None:
                external = self._external()
            spent = external if head.is_external else None
            is_new = not ranks and most is not None and len(flying) >= most
            is_awake = head.blocked_until <= request.now
            if is_new or len(ranks) >= per_site or not (is_awake and self._may_ask(head, request)):
                continue
            if is_open(request, head.waiting, ranks, spent):  # what is closed now stays so: more is in flight
                chosen.append(choice)
                flying.setdefault(head.name, []).append(choice.rank)
                external = None if external is None else external + head.is_external
                heads.push_next(choice)
        return chosen

    def _limits(self, request: ClaimRequest) -> tuple[int | None, int]:
        """Say how many sites we may have, and how many leases of one: while there are other workers, each has its share."""
        if self._share is None:
            return None, request.per_site
        window = request.limit + sum(map(len, request.in_flight.values()))
        return self._share, min(request.per_site, max(_AHEAD, window // self._share))

    def floor(self, request: ClaimRequest) -> tuple[int, int]:
        """Say from where on to read heads: earlier index entries are of deleted rows that an open snapshot still keeps.

        What we write ourselves lowers the floor; what others write is found within a second.
        """
        if not 0 <= request.now - self._looked_at < _LOOK_S:
            self._looked_at, self._floor = request.now, _BEGINNING
        return self._floor

    def lower_floor(self, rank: int | None = None) -> None:
        """Look for heads from this rank on, or from the beginning."""
        self._floor = _BEGINNING if rank is None else min(self._floor, (rank, _BEGINNING[1]))

    def read_heads(
        self, request: ClaimRequest, place: tuple[int, int], following: int
    ) -> list[PostgresSiteHead]:
        """Read sites from a place on; sites whose rest is over are among the first, and are woken."""
        values = (self._run, below(request), request.now, *place, _PAGE, following, place == self._floor)
        rows = [PostgresSiteHead._make(row) for row in self._db.all(self._sql["sites_by_head"], values)]
        if any(not head.is_ready for head in rows):
            self._db.write(self._sql["wake"], (self._run, request.now))
            self.lower_floor(min(head.rank for head in rows))
        elif place == self._floor and rows and below(request) > 0:
            self._floor = (rows[0].rank, rows[0].entry)
        return rows

    # --- leasing ---

    def _grant(self, chosen: Sequence[Choice], request: ClaimRequest) -> list[Lease]:
        """Lease what was chosen, but for sites that others have changed since."""
        me = self._workers.register(request.now, request.until, self._run)
        worths = [
            self._worths.note(choice.head.site, choice.entry, request.learner) if request.learner else None
            for choice in chosen
        ]
        values = (
            [choice.head.site for choice in chosen], [choice.entry for choice in chosen],
            [choice.head.entry for choice in chosen], [_NOBODY if choice.head.worker is None else choice.head.worker for choice in chosen],
            worths, f"honeyguide.claim_{self._run}", me, request.learner is not None,
        )  # fmt: skip
        leases, held = [], []
        for place, claim, *row, group, rank, entry in sorted(self._db.changed(self._sql["lease"], values)):
            choice = chosen[place - 1]
            if request.learner:
                self._worths.advance(choice.head.site, group, None if entry is None else (rank, entry))
            starts = self._start_at(request, choice.head)
            if starts > choice.head.next_at or (choice.head.delay_s is None and request.delay_s):
                held.append((starts, request.delay_s, choice.head.site))
            self._site_ids[choice.head.name] = choice.head.site
            at = choice.head._replace(entry=choice.entry)
            leases.append(self._read_lease(row, at, claim, starts))
        if held:
            self._db.write(self._sql["hold_sites"], tuple(map(list, zip(*dict.fromkeys(held), strict=True))))
        return leases

    # --- what others left ---

    def _is_late(self, request: ClaimRequest) -> bool:
        """Tell whether something is to be queued again: what is due; and now and then, what workers held that are gone."""
        is_time = not 0 <= request.now - self._swept_at < _LOOK_S
        self._swept_at = request.now if is_time else self._swept_at
        values = (self._run, request.now, self._workers.id, is_time)
        return bool(self._db.one(self._sql["is_late"], values)[0])

    def _left_behind(self, now: float, me: int) -> list[LeftLease]:
        self.lower_floor()
        self._workers.expire(now, me)
        self._db.changed(self._sql["lock_late"], (self._run, now))
        return list(map(LeftLease._make, self._db.changed(self._sql["leased"], (self._run,))))

    def adopt(self, request: ClaimRequest) -> tuple[Lease, ...]:
        leases = self._db.retried(lambda: super(PostgresClaims, self).adopt(request))
        self._mine.update(lease.claim for lease in leases)
        return leases

    def _rest(self, request: ClaimRequest, held: float | None) -> NoClaim:
        values = (self._run, below(request))
        heads = self._db.all(self._sql["waiting_sites"], values)
        due = self._db.all(self._sql["next_due"], (self._run, request.only_due))
        queued = [WaitingSite(*row) for row in (*heads, *due)]
        external = self._external() if any(one.is_external for one in queued) else 0
        return rest_of(request, queued, external, held)

    def renew(self, now: float, until: float, pages: int = 0) -> Heartbeat:
        return self._db.retried(lambda: super(PostgresClaims, self).renew(now, until, pages))

    def release(self, now: float) -> None:
        self._db.retried(lambda: super(PostgresClaims, self).release(now))
        self._mine.clear()
