# ruff: noqa: D102 - ports/store.py says what the methods promise
"""The store in memory: the plain model of what a store promises, but for surviving the process.

Owns: `MemoryStore`. For tests, and for short crawls without a file. Must not know: SQL, jobs. Start reading at
`MemoryQueue.claim`. `MemoryStore(other)` is a second worker on the same data.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, assert_never

from honeyguide.core.crawl import limits
from honeyguide.core.crawl.frontier import (
    Claimed,
    Done,
    Dropped,
    FrontierRow,
    Lease,
    NoClaim,
    Retry,
    Run,
    State,
    WaitingSite,
    is_fetch,
    is_open,
    rest_of,
    rest_of_full,
    start_at,
    too_deep,
)
from honeyguide.core.crawl.learner import UNIT
from honeyguide.core.crawl.placement import rank_again, rank_by_units, rank_due, units_of
from honeyguide.core.crawl.traps import UrlShape
from honeyguide.core.url.scope import OTHER_SITE
from honeyguide.core.why import Why
from honeyguide.ports.store import Heartbeat, PageView, WorkerState
from honeyguide.testing.memory_run import (
    MemoryContents,
    MemoryEntry,
    MemoryHistory,
    MemoryRun,
    MemoryRuns,
    MemorySite,
    state_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from honeyguide.core.crawl.frontier import ClaimRequest, Discovered, Outcome, ScheduledVisit, Sighting
    from honeyguide.core.crawl.judge import Findings
    from honeyguide.core.url.url import Url
    from honeyguide.ports.fetch import Clock
    from honeyguide.ports.store import Intake


class MemoryQueue(MemoryRun):
    """A `Queue` and `Ledger` of one worker on the data of a run."""

    def __init__(self, data: MemoryRun, store: MemoryStore) -> None:
        self.__dict__.update(data.__dict__)  # one run, however many workers: everything in it is shared
        self._worker, self._workers, self._states = store.worker, store.workers, store.runs.states
        self._history, self._data = store.history, data

    def claim(self, request: ClaimRequest) -> Claimed:
        self._sweep(request.now)
        leases: list[Lease] = []
        in_flight = dict(request.in_flight)
        most = request.budgets.max_pages
        leased = sum(site.leased for site in self.sites_.values())
        left = request.limit if most is None else min(request.limit, most - self.totals["fetched"] - leased)
        while len(leases) < left and (entry := self._best(request, in_flight)) is not None:
            self.totals["claims"] += 1
            entry.claim, entry.attempts = self.totals["claims"], entry.attempts + 1
            self.site_of(entry).leased += 1
            self.note_worth(entry, request.learner)
            leases.append(self._take(entry, request))
            in_flight[leases[-1].site] = (*in_flight.get(leases[-1].site, ()), leases[-1].rank)
        if leases or in_flight:
            return Claimed(tuple(leases)) if leases else Claimed((), NoClaim("waiting"))
        others = {e.worker for e in self.by_id if e.state == State.LEASED}.difference([self._worker])
        held = min((self._workers[one] for one in others if one in self._workers), default=None)
        rest = rest_of_full(request, held) if left <= 0 < request.limit else self._rest(request, held)
        return Claimed((), rest)

    def _best(self, request: ClaimRequest, in_flight: Mapping[str, tuple[int, ...]]) -> MemoryEntry | None:
        external = self.external_pages()
        entries = (e for e in self.by_id if e.is_ready and (e.rank < 0 or not request.only_due))
        heads: dict[str, tuple[MemoryEntry, int]] = {}  # the best of each site
        ranked = sorted((self.rank_of(entry, request.learner), entry.id, entry) for entry in entries)
        for rank, _, entry in ranked:
            heads.setdefault(entry.found.site or entry.url.site, (entry, rank))
        for name, (entry, rank) in heads.items():
            site = self.sites_[name]
            spent = external if site.is_external else None
            head = WaitingSite(name, 0.0, site.fetched + site.leased, rank=rank)
            is_free = site.blocked_until <= request.now and self._may_ask(site, request)
            if is_free and is_open(request, head, in_flight.get(name, ()), spent):
                return entry
        return None

    def _may_ask(self, site: MemorySite, request: ClaimRequest) -> bool:
        """Tell whether a site is ours or free; one without a pace is everybody's."""
        is_free = self._workers.get(site.worker or 0, 0.0) <= request.now or site.worker == self._worker
        return is_free or request.delay_s is None or (request.delay_s == 0 and site.delay_s == 0)

    def _take(self, entry: MemoryEntry, request: ClaimRequest) -> Lease:
        """Make an entry ours, and its site."""
        self._register(request.now)
        site, found, me = self.site_of(entry), entry.found, self._worker
        self._workers[me] = max(self._workers.get(me, 0.0), request.until)
        starts = start_at(request, site.next_at, site.delay_s, is_abandoned=site.worker not in (None, me))
        entry.state, entry.worker, site.worker = State.LEASED, me, me
        site.next_at = max(site.next_at, starts)
        site.delay_s = request.delay_s or None if site.delay_s is None else site.delay_s
        parent = None if entry.parent is None else self.by_id[entry.parent - 1].url.text
        group = entry.group
        return Lease(
            entry=entry.id, claim=entry.claim or 0, url=entry.url, site=site.name, depth=found.depth, lane=found.lane,
            priority=found.priority, link_score=found.score, weak_pages=found.weak_pages, hub_depth=found.hub_depth,
            parent=parent, attempt=entry.attempts, is_seed=found.is_seed, is_external=site.is_external,
            is_recrawl=entry.visits > 0, is_known=self._history.get(found.digest) is not None, start_at=starts,
            rank=entry.rank if group is None else rank_by_units(round(found.priority * UNIT)),
            group=group, base=0 if group is None else units_of(entry.rank),
        )  # fmt: skip

    def _left_behind(self, now: float, me: int | None = None) -> list[MemoryEntry]:
        """List the leases of workers that are gone, in claim order."""
        live = {worker for worker, until in self._workers.items() if until > now or worker == me}
        left = [e for e in self.by_id if e.state == State.LEASED and e.worker not in live]
        return sorted(left, key=lambda entry: entry.claim or 0)

    def adopt(self, request: ClaimRequest) -> tuple[Lease, ...]:
        left = self._left_behind(request.now)
        self._register(request.now)
        free = [entry for entry in left if self._may_ask(self.site_of(entry), request)][: request.limit]
        self._give_back([entry for entry in left if entry not in free])
        return tuple(self._take(entry, request) for entry in free)

    def _give_back(self, left: Sequence[MemoryEntry]) -> None:
        for entry in left:
            self.site_of(entry).leased -= 1
            entry.state, entry.worker = State.QUEUED, None

    def _sweep(self, now: float) -> None:
        self._give_back(self._left_behind(now, self._worker))
        for entry in self.by_id:
            if entry.due_at is not None and entry.due_at <= now and entry.state in (State.QUEUED, State.DONE):
                entry.attempts = 0 if entry.state == State.DONE else entry.attempts
                entry.due_at, entry.state = None, State.QUEUED

    def renew(self, now: float, until: float, pages: int = 0) -> Heartbeat:
        is_held = self._workers.get(self._worker, until) > now
        self._workers[self._worker] = max(self._workers.get(self._worker, 0.0), until)
        self._register(now)
        state = self._states[self._worker] = self._states[self._worker]._replace(seen_at=now, pages=pages)
        run = self._data.run
        self._data.run = replace(run, updated_at=max(run.updated_at, now))
        return Heartbeat(is_held, state.is_stopping)

    def _register(self, now: float) -> None:
        state = WorkerState(self._worker, "memory", 0, self.run.id, now, now, 0, is_stopping=False)
        self._states.setdefault(self._worker, state)

    def release(self, now: float) -> None:
        for entry in self.by_id:
            if entry.state == State.LEASED and entry.worker == self._worker:
                entry.worker = None
        for site in self.sites_.values():
            if site.worker == self._worker:
                site.worker, site.next_at = None, max(site.next_at, now + (site.delay_s or 0.0))

    def _rest(self, request: ClaimRequest, held: float | None) -> NoClaim:
        waiting = []
        for entry in self.by_id:
            is_due, is_ready = entry.rank < 0, entry.due_at is None
            is_wanted = is_due == request.only_due or (is_ready and is_due)
            if entry.state == State.QUEUED and is_wanted:
                site = self.site_of(entry)
                until = site.blocked_until if entry.due_at is None else entry.due_at
                waiting.append(WaitingSite(site.name, until, site.fetched + site.leased, site.is_external))
        return rest_of(request, waiting, self.external_pages(), held)

    # --- pages ---

    def look(self, lease: Lease, digests: Sequence[int] = (), content: str | None = None) -> PageView:
        copies = tuple(self.contents.get(content, ())[:20]) if content else ()
        known, shapes = self.known(digests), tuple(self.shapes_.values())
        learnt = {} if lease.group is None else self.learnt_.get(lease.site, {})
        return PageView(self._holds(lease), known, copies, self.sites(), shapes, learnt)

    def _holds(self, lease: Lease) -> bool:
        entry = self.by_id[lease.entry - 1]
        return (entry.state, entry.claim, entry.worker) == (State.LEASED, lease.claim, self._worker)

    def commit_page(self, lease: Lease, intake: Intake) -> bool:
        if not self._holds(lease):
            return False
        entry, fetches = self.by_id[lease.entry - 1], is_fetch(intake.outcome)
        site = counted = self.site_of(entry)
        site.leased -= 1
        self.totals["fetched"] += fetches
        self._end(entry, intake.outcome)
        if intake.add_site is not None:
            self.add_site(intake.add_site)
        if intake.record is not None:
            self.records[lease.claim] = intake.record
            self.contents.setdefault(intake.content or "", []).append(entry.url.as_linked)
        if intake.findings is not None:
            self._take_in(intake.findings, entry.id)
        if intake.target is not None:
            there = self._arrive(entry, *intake.target)
            counted = there if intake.is_external else site
        counted.fetched += fetches
        if intake.lesson is not None:
            self.learn_shape(intake.lesson)
        self.learn(lease.site, intake.lessons)
        for pace in intake.paces:
            known = self.site(pace.site, is_external=True)
            known.next_at, known.delay_s = max(known.next_at, pace.next_at), pace.delay_s
        mine = (e for e in self.by_id if e.state == State.LEASED and e.worker == self._worker)
        if all(self.site_of(e) is not site for e in mine):
            site.worker = None
        for visit in intake.visits:
            self._history.record(visit, self.run.id)
        return True

    def _end(self, entry: MemoryEntry, outcome: Outcome) -> None:
        entry.worker, entry.due_at, entry.why = None, None, None
        match outcome:
            case Done():
                entry.state, entry.visits = State.DONE, entry.visits + 1
            case Retry(at, why):
                entry.state, entry.due_at, entry.why = State.QUEUED, at, why
                entry.rank = rank_again(entry.rank)
            case Dropped(why):
                entry.state, entry.why = State.REJECTED, why
            case _:
                assert_never(outcome)

    def _take_in(self, findings: Findings, parent: int) -> None:
        self._insert(findings.new, parent)
        for found in findings.better:
            self._improve(found, parent)
        for digest, sighting in findings.sightings:
            self.entries[digest].sightings.append((parent, sighting))
        for digest in (*findings.again, *(digest for digest, _ in findings.sightings)):
            self.entries[digest].seen += 1
        self.skipped.update(findings.skipped)

    def _insert(self, found: Sequence[Discovered], parent: int | None) -> None:
        for one in self._within_limits(found):
            if one.digest not in self.entries:
                entry = self._add(one, State.REJECTED if one.out else State.QUEUED, parent, one.out)
                entry.seen = int(parent is not None)

    def _add(self, found: Discovered, state: State, parent: int | None, why: Why | None) -> MemoryEntry:
        entry = MemoryEntry(len(self.by_id) + 1, found, found.url, state, found.rank, parent, why)
        if found.sighting is not None:
            entry.sightings.append((parent, found.sighting))
        self.by_id.append(entry)
        self.entries[found.digest] = entry
        return entry

    def _within_limits(self, found: Sequence[Discovered]) -> list[Discovered]:
        """Leave out what is over a limit of the run."""
        over: dict[str, int] = {}
        external = {one.site for one in found if one.is_external}
        for name, n in limits.urls_by_site(found).items():
            hosts = sum(site.urls > 0 for site in self.sites_.values())
            site = self.site(name, is_external=name in external)
            if not site.urls and name and hosts >= limits.MAX_HOSTS:
                over[name], rule = n, limits.MANY
            else:
                over[name], rule = max(0, site.urls + n - limits.MAX_URLS_PER_HOST), limits.FULL
            site.urls += n - over[name]
            self.skipped.update({rule: over[name]} if over[name] else {})
        kept = limits.without_last(found, over)
        admitted = limits.urls_by_shape(kept)
        for name in admitted:
            admitted[name] += self.shapes_.get(name, UrlShape(name)).admitted
        caps = {limit.name: limit.limit for one in kept for limit in one.limited}
        for name, total in admitted.items():
            shape = self.shapes_.get(name) or UrlShape(name)
            self.shapes_[name] = shape._replace(admitted=min(total, caps[name]))
        return limits.reject_over(kept, admitted)

    def _improve(self, found: Discovered, parent: int) -> None:
        """Better evidence: a queued entry moves up, one that was rejected comes back; https wins (URL-7)."""
        entry = self.entries[found.digest]
        if found.sighting is not None:
            entry.sightings.append((parent, found.sighting))
        if state_of(entry).is_settled:
            return
        if found.site is not None:
            self.site(found.site, is_external=found.is_external)
        depth = min(found.depth, entry.found.depth)
        if entry.state == State.REJECTED or found.rank < entry.rank:
            entry.found, entry.rank, entry.parent = found, found.rank, parent
        entry.found = entry.found._replace(depth=depth)
        if found.url.text.startswith("https:") and entry.url.text.startswith("http:"):
            entry.url = found.url
        entry.seen, entry.why, entry.state = entry.seen + 1, None, State.QUEUED

    def _arrive(self, entry: MemoryEntry, digest: int, url: Url) -> MemorySite:
        """Note that the target of a redirect needs no visit of its own, and none again."""
        why = Why("redirected", f"{entry.url.text} leads here")
        site = self.site(url.site, is_external=True)
        known = self.entries.get(digest)
        if known is None:
            found = entry.found._replace(
                url=url, digest=digest, site=url.site, rank=entry.rank, out=None, sighting=None, is_seed=False
            )
            self._add(found, State.DONE, entry.id, why)
        elif known.state in (State.QUEUED, State.REJECTED):
            known.found, known.state, known.why = known.found._replace(site=url.site), State.DONE, why
            known.due_at = None
        return site

    # --- the rest ---

    def add(self, found: Sequence[Discovered]) -> int:
        new = [one for one in found if one.digest not in self.entries]
        self._insert(new, None)
        return len(new)

    def now_internal(self) -> Sequence[tuple[FrontierRow, tuple[Sighting, ...]]]:
        out = {Why(OTHER_SITE, site) for site in self.sites()}
        rejected = [entry for entry in self.by_id if entry.why in out]
        return [(self._row(entry), tuple(seen for _, seen in entry.sightings)) for entry in rejected]

    def requeue(self, found: Sequence[Discovered]) -> None:
        placed = self._within_limits([one._replace(site=one.url.site) for one in found if not one.is_seed])
        self.site(limits.OUTSIDE).urls -= len(placed)
        for one in (*(one for one in found if one.is_seed), *placed):
            entry = self.entries[one.digest]
            if entry.state == State.REJECTED or (entry.state == State.QUEUED and entry.due_at is not None):
                self._place(entry, one)

    def _place(self, entry: MemoryEntry, found: Discovered) -> None:
        """Give an entry another place in the queue, and its reasons; where it was found stays."""
        old, site = entry.found, self.site(found.url.site)
        entry.found = found._replace(
            site=site.name, depth=old.depth, hub_depth=old.hub_depth, is_seed=old.is_seed
        )
        entry.rank, entry.why, entry.due_at, entry.attempts = found.rank, found.out, None, 0
        entry.url = found.url if found.is_seed else entry.url
        entry.state = State.REJECTED if found.out else State.QUEUED
        if found.sighting and entry.sightings:
            parent, seen = entry.sightings[0]
            entry.sightings[0] = parent, found.sighting._replace(anchor=seen.anchor, position=seen.position)

    def schedule(self, visits: Sequence[ScheduledVisit]) -> frozenset[int]:
        found = set()
        for digest, at, place in visits:
            entry = self.entries.get(digest)
            is_rejected = entry is not None and entry.state == State.REJECTED and entry.claim is None
            if entry is None or entry.state == State.LEASED or is_rejected:
                continue
            entry.state = State.QUEUED if entry.state == State.REJECTED else entry.state
            entry.due_at, entry.rank, entry.attempts, entry.why = at, rank_due(place), 0, None
            found.add(digest)
        return frozenset(found)

    def reopen(self, rule: str, max_depth: int | None = None) -> int:
        rejected = [e for e in self.by_id if e.state == State.REJECTED and e.why and e.why.rule == rule]
        back = [e for e in rejected if max_depth is None or e.found.depth <= max_depth]
        for entry in back:
            entry.state, entry.why, entry.attempts = State.QUEUED, None, 0
        return len(back)

    def drop_deep(self, max_depth: int) -> int:
        queued = (e for e in self.by_id if e.state == State.QUEUED and e.rank >= 0)
        deep = [(entry, why) for entry in queued if (why := too_deep(entry.found.depth, max_depth))]
        for entry, why in deep:
            entry.state, entry.why, entry.due_at = State.REJECTED, why, None
        return len(deep)


class MemoryStore:
    """A `Store` in memory, where nothing is undone; `MemoryStore(other)` is another worker on the data of that store."""

    runs: MemoryRuns
    history: MemoryHistory
    contents: MemoryContents
    worker: int
    lease_s = inf
    clock: Clock | None = None

    def __init__(self, other: MemoryStore | None = None) -> None:
        self.runs = MemoryRuns() if other is None else other.runs
        self.history = MemoryHistory(self.runs) if other is None else other.history
        self.contents = MemoryContents() if other is None else other.contents
        self.workers: dict[int, float] = {} if other is None else other.workers  # when they expire
        self.worker = 1 if other is None else max(self.workers, default=0) + max(other.worker, 1)
        self.workers[self.worker] = 0.0

    def queue(self, run: Run) -> MemoryQueue:
        return MemoryQueue(self.runs.data[run.id], self)

    ledger = queue

    @contextmanager
    def transaction(self) -> Iterator[None]:
        yield

    def flush(self) -> None: ...

    def close(self) -> None:
        self.workers.pop(self.worker, None)
        self.runs.states.pop(self.worker, None)

    abandon = close
