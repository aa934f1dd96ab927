"""What a frontier in memory is made of: its URLs and its sites, as plain records.

Owns: `MemoryEntry`, `MemorySite`. Must not know: the order of the queue, who claims (`memory_frontier.py`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING, assert_never

from honeyguide.core.crawl.frontier import (
    Claimed,
    Counts,
    Done,
    Dropped,
    FrontierRow,
    KnownState,
    Lease,
    NoClaim,
    Retry,
    State,
    WaitingSite,
    is_fetch,
    is_open,
    rest_of,
    too_deep,
)
from honeyguide.core.crawl.placement import rank_again, rank_due
from honeyguide.core.url.scope import OTHER_SITE
from honeyguide.core.why import Why
from honeyguide.errors import AddressRefusedError, LeaseLostError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from honeyguide.core.crawl.frontier import ClaimRequest, Discovered, Outcome, ScheduledVisit, Sighting
    from honeyguide.core.crawl.judge import Findings
    from honeyguide.core.crawl.traps import UrlShape
    from honeyguide.core.records import Record
    from honeyguide.core.url.url import Url
    from honeyguide.ports.store import Report


@dataclass(slots=True)
class MemoryEntry:
    """One URL of a run; `found` is the evidence that gave it its place."""

    id: int
    found: Discovered
    url: Url
    state: State
    rank: int
    parent: int | None
    why: Why | None = None
    seen: int = 1
    attempts: int = 0
    visits: int = 0
    claim: int | None = None
    due_at: float | None = None
    sightings: list[tuple[int | None, Sighting]] = field(default_factory=list)

    def place(self, found: Discovered) -> None:
        """Take over another place in the queue, and its reasons; where it was found stays."""
        old = self.found
        self.found = found._replace(
            site=found.url.site, depth=old.depth, hub_depth=old.hub_depth, is_seed=old.is_seed
        )
        self.rank, self.why, self.due_at, self.attempts = found.rank, found.out, None, 0
        if found.sighting and self.sightings:
            parent, seen = self.sightings[0]
            self.sightings[0] = parent, found.sighting._replace(anchor=seen.anchor, position=seen.position)


@dataclass(slots=True)
class MemorySite:
    """One site of a run: its queue as a heap that may hold entries which have moved on."""

    name: str
    is_external: bool = False
    is_inside: bool = False
    blocked_until: float = 0.0
    fetched: int = 0
    leased: int = 0
    heap: list[tuple[int, int]] = field(default_factory=list)


def is_due(entry: MemoryEntry) -> bool:
    """Tell whether an entry was scheduled and has not been had since; what was refused for its address may yet be."""
    is_open = entry.state in (State.QUEUED, State.LEASED)
    is_refused = (
        entry.state == State.DROPPED and entry.why is not None and entry.why.rule == AddressRefusedError.rule
    )
    is_waiting = entry.state == State.DONE and entry.due_at is not None
    return entry.rank < 0 and (is_open or is_waiting or is_refused)


class MemoryLedger:
    """The reading half of a frontier."""

    def __init__(self) -> None:
        self._entries: dict[int, MemoryEntry] = {}  # by digest
        self._by_id: list[MemoryEntry] = []
        self._sites: dict[str, MemorySite] = {}
        self._records: dict[int, Record] = {}
        self._contents: dict[str, list[str]] = {}
        self._families: dict[str, UrlShape] = {}
        self._skipped: Counter[str] = Counter()
        self._waiting: dict[int, MemoryEntry] = {}
        self.claims = 0
        self.fetched = 0

    def seeds(self) -> tuple[Url, ...]:
        """Give where the run began."""
        return tuple(entry.url for entry in self._by_id if entry.found.is_seed)

    def sites(self) -> frozenset[str]:
        """Give the sites that are part of the crawl."""
        return frozenset(site.name for site in self._sites.values() if site.is_inside)

    def external_pages(self) -> int:
        """Tell how many pages of other sites were had, or are being fetched."""
        return sum(site.fetched + site.leased for site in self._sites.values() if site.is_external)

    def urls_per_host(self) -> dict[str, int]:
        """Tell how many URLs of each host are known."""
        return dict(Counter(entry.found.site or "" for entry in self._by_id))

    def pages_with_content(self, content: str, limit: int) -> list[str]:
        """Give pages of this run that said so when they were read, the first first."""
        return self._contents.get(content, [])[:limit]

    def now_internal(self) -> list[int]:
        """Give what was put out as another site's that is part of the crawl by now."""
        out = {Why(OTHER_SITE, site) for site in self.sites()}
        return [entry.found.digest for entry in self._by_id if entry.why in out]

    def known(self, digests: Sequence[int]) -> Mapping[int, KnownState]:
        """Tell what is known of URLs; those that are not known are left out."""
        return {
            digest: KnownState(
                entry.state, entry.rank, entry.seen, entry.why.rule if entry.why else None,
                entry.url.text.startswith("https:"),
            )
            for digest in digests
            if (entry := self._entries.get(digest)) is not None
        }  # fmt: skip

    def counts(self) -> Counts:
        """Give the run in numbers."""
        states = Counter(entry.state for entry in self._by_id)
        out = Counter(e.why.rule for e in self._by_id if e.state == State.DROPPED and e.why is not None)
        return Counts(
            {state.name.lower(): states[state] for state in State},
            Counter(entry.found.lane for entry in self._by_id if entry.state == State.QUEUED),
            out,
            dict(self._skipped),
            self.fetched,
            out[OTHER_SITE],
            sum(is_due(entry) for entry in self._by_id),
        )

    def rows(self, after: int = 0, rule: str | None = None) -> Iterator[FrontierRow]:
        """Give all entries in the order of discovery, or those that a rule put out."""
        for entry in self._by_id[after:]:
            if rule is None or (entry.why is not None and entry.why.rule == rule):
                yield self._row(entry)

    def _row(self, entry: MemoryEntry) -> FrontierRow:
        parent = None if entry.parent is None else self._by_id[entry.parent - 1].url.as_linked
        found = entry.found
        place = (found.lane, found.priority, found.score, found.depth, parent)
        rest = (entry.seen, entry.attempts, entry.claim, entry.due_at, entry.why)
        return FrontierRow(entry.id, entry.url.as_linked, entry.state, *place, *rest)

    def find(self, digest: int) -> tuple[FrontierRow, tuple[tuple[str | None, Sighting], ...]] | None:
        """Give one entry, with the pages that link it."""
        entry = self._entries.get(digest)
        if entry is None:
            return None
        parents = [
            None if number is None else self._by_id[number - 1].url.as_linked for number, _ in entry.sightings
        ]
        return self._row(entry), tuple(zip(parents, (s for _, s in entry.sightings), strict=True))

    def pages(self, after: int = 0) -> Iterator[tuple[int, Record]]:
        """Give the records of pages in claim order, each with its claim number."""
        return ((claim, self._records[claim]) for claim in sorted(self._records) if claim > after)

    def shapes(self) -> list[UrlShape]:
        """Give what traps have learnt, in their order."""
        return list(self._families.values())

    def _site(self, entry: MemoryEntry) -> MemorySite:
        return self._sites[entry.found.site or entry.url.site]


_NOWHERE = "memory"


class MemoryFrontier(MemoryLedger):
    """A `Frontier` in memory; there is only one process, so nobody else holds leases."""

    # --- leases ---

    def claim(self, ask: ClaimRequest) -> Claimed:
        """Lease the best URLs, site first."""
        self._sweep(ask.now)
        leased = sum(site.leased for site in self._sites.values())
        most = ask.budgets.max_pages
        room = ask.limit if most is None else min(ask.limit, most - self.fetched - leased)
        outstanding = Counter(ask.outstanding)
        leases: list[Lease] = []
        while len(leases) < room and (entry := self._best(ask, outstanding)) is not None:
            leases.append(self._lease(entry))
            outstanding[leases[-1].site] += 1
        if leases:
            return Claimed(tuple(leases))
        return Claimed((), NoClaim("max_pages") if room <= 0 < ask.limit else self._rest(ask))

    def adopt(self, ask: ClaimRequest) -> tuple[Lease, ...]:
        """Take over what an earlier crawl in this process did not finish."""
        left = sorted((e for e in self._by_id if e.state == State.LEASED), key=lambda e: e.claim or 0)
        for entry in left[ask.limit :]:
            self._site(entry).leased -= 1
            self._queue(entry)
        return tuple(self._as_lease(entry) for entry in left[: ask.limit])

    def renew(self, until: float) -> None:
        """Nobody else could take them."""

    def release(self) -> None:
        """Whoever comes next takes them anyway."""

    def _best(self, ask: ClaimRequest, outstanding: Mapping[str, int]) -> MemoryEntry | None:
        external = self.external_pages()
        heads = []
        for site in self._sites.values():
            spent = external if site.is_external else None
            used = site.fetched + site.leased
            is_ready = site.blocked_until <= ask.now and is_open(
                ask, site.name, used, outstanding[site.name], spent
            )
            if is_ready and (head := self._head(site, ask)) is not None:
                heads.append((head.rank, head.id, head))
        return min(heads)[2] if heads else None

    def _head(self, site: MemorySite, ask: ClaimRequest) -> MemoryEntry | None:
        """Give the best queued entry of a site; what has moved on leaves the heap here."""
        while site.heap:
            rank, number = site.heap[0]
            entry = self._by_id[number - 1]
            if entry.state == State.QUEUED and entry.due_at is None and entry.rank == rank:
                return entry if rank < 0 or not ask.only_due else None
            heappop(site.heap)
        return None

    def _lease(self, entry: MemoryEntry) -> Lease:
        self.claims += 1
        entry.state, entry.claim, entry.attempts = State.LEASED, self.claims, entry.attempts + 1
        self._site(entry).leased += 1
        return self._as_lease(entry)

    def _as_lease(self, entry: MemoryEntry) -> Lease:
        found, site = entry.found, self._site(entry)
        parent = None if entry.parent is None else self._by_id[entry.parent - 1].url.text
        return Lease(
            entry.id, entry.claim or 0, entry.url, site.name, found.depth, found.lane, found.priority, found.score,
            found.weak_pages, found.hub_depth, parent, entry.attempts, found.is_seed, site.is_external, entry.visits > 0,
        )  # fmt: skip

    def _sweep(self, now: float) -> None:
        for number, entry in list(self._waiting.items()):
            if entry.due_at is not None and entry.due_at <= now:
                del self._waiting[number]
                entry.attempts = 0 if entry.state == State.DONE else entry.attempts
                entry.due_at = None
                self._queue(entry)

    def _rest(self, ask: ClaimRequest) -> NoClaim:
        queued = [(s, s.blocked_until) for s in self._sites.values() if self._head(s, ask) is not None]
        queued += [
            (self._site(e), e.due_at or 0.0)
            for e in self._waiting.values()
            if e.state == State.QUEUED and (e.rank < 0) == ask.only_due
        ]
        waiting = [WaitingSite(s.name, until, s.fetched + s.leased, s.is_external) for s, until in queued]
        return rest_of(ask, waiting, self.external_pages(), None)

    # --- ends ---

    def holds(self, lease: Lease) -> bool:
        """Tell whether a lease is still out."""
        entry = self._by_id[lease.entry - 1]
        return entry.state == State.LEASED and entry.claim == lease.claim

    def finish(self, lease: Lease, outcome: Outcome, report: Report) -> None:
        """End a lease and take in what its page revealed; raises `LeaseLostError` if it is no longer out."""
        if not self.holds(lease):
            raise LeaseLostError(_NOWHERE, f"{lease.url} was given to another process in the meantime")
        entry, fetches = self._by_id[lease.entry - 1], is_fetch(outcome)
        self._site(entry).leased -= 1
        self.fetched += fetches
        entry.visits += isinstance(outcome, Done)
        self._end(entry, outcome)
        if report.record is not None:
            self._records[lease.claim] = report.record
            if report.content is not None:
                self._contents.setdefault(report.content, []).append(entry.url.as_linked)
        if report.findings is not None:
            self._take_in(report.findings, entry.id)
        counted = self._site(entry)
        if report.arrived is not None:
            there = self._arrive(entry, *report.arrived)
            counted = there if report.is_external else counted
        counted.fetched += fetches
        self._keep_families(report.families)

    def _keep_families(self, changes: Iterable[tuple[str, UrlShape | None]]) -> None:
        for name, family in changes:
            if family is None:
                self._families.pop(name, None)
            else:
                self._families[name] = family

    def _end(self, entry: MemoryEntry, outcome: Outcome) -> None:
        match outcome:
            case Done():
                entry.state, entry.due_at, entry.why = State.DONE, None, None
            case Retry(at, why):
                entry.state, entry.due_at, entry.why = State.QUEUED, at, why
                entry.rank = rank_again(entry.rank)
            case Dropped(why):
                entry.state, entry.due_at, entry.why = State.DROPPED, None, why
            case _:
                assert_never(outcome)
        if entry.due_at is not None:
            self._waiting[entry.id] = entry

    def _take_in(self, findings: Findings, parent: int) -> None:
        for found in findings.new:
            self._insert(found, parent)
        for found in findings.better:
            self._improve(found, parent)
        for digest, sighting in findings.sightings:
            self._entries[digest].seen += 1
            self._entries[digest].sightings.append((parent, sighting))
        for digest in findings.again:
            self._entries[digest].seen += 1
        self._skipped.update(findings.skipped)

    def _insert(self, found: Discovered, parent: int | None) -> None:
        if found.digest in self._entries:
            return
        state = State.DROPPED if found.out else State.QUEUED
        seen = int(parent is not None)
        entry = MemoryEntry(
            len(self._by_id) + 1, found, found.url, state, found.rank, parent, found.out, seen
        )
        if found.sighting is not None:
            entry.sightings.append((parent, found.sighting))
        self._by_id.append(entry)
        self._entries[found.digest] = entry
        if found.site is not None:
            self._sites.setdefault(found.site, MemorySite(found.site, found.is_external))
        if state == State.QUEUED:
            self._queue(entry)

    def _improve(self, found: Discovered, parent: int) -> None:
        """Better evidence: a queued entry moves up, one that was put out comes back; https wins (URL-7)."""
        entry = self._entries[found.digest]
        if self.known([found.digest])[found.digest].is_settled:
            return
        if found.site is not None:
            self._sites.setdefault(found.site, MemorySite(found.site, found.is_external))
        if entry.state == State.DROPPED or found.rank < entry.rank:
            entry.found, entry.rank, entry.parent = found, found.rank, parent
        if found.url.text.startswith("https:") and entry.url.text.startswith("http:"):
            entry.url = found.url
        if found.sighting is not None:
            entry.sightings.append((parent, found.sighting))
        entry.seen, entry.why = entry.seen + 1, None
        self._queue(entry)

    def _queue(self, entry: MemoryEntry) -> None:
        entry.state = State.QUEUED
        if entry.due_at is None:
            heappush(self._site(entry).heap, (entry.rank, entry.id))

    def _arrive(self, entry: MemoryEntry, digest: int, url: Url) -> MemorySite:
        """Note that the target of a redirect needs no visit of its own, and none again."""
        why = Why("redirected", f"{entry.url.text} leads here")
        known = self._entries.get(digest)
        site = self._sites.setdefault(url.site, MemorySite(url.site, is_external=True))
        if known is None:
            found = entry.found._replace(
                url=url, digest=digest, site=url.site, out=None, sighting=None, is_seed=False
            )
            made = MemoryEntry(
                len(self._by_id) + 1, found, url, State.DONE, entry.rank, entry.id, why, seen=0
            )
            self._by_id.append(made)
            self._entries[digest] = made
        elif known.state in (State.QUEUED, State.DROPPED):
            known.found, known.state, known.why = known.found._replace(site=url.site), State.DONE, why
            known.due_at = None
            self._waiting.pop(known.id, None)
        return site

    # --- the rest ---

    def add(self, found: Sequence[Discovered], families: Iterable[tuple[str, UrlShape | None]] = ()) -> int:
        """Queue URLs that are not known yet; gives how many were not."""
        before = len(self._by_id)
        for one in found:
            self._insert(one, None)
        self._keep_families(families)
        return len(self._by_id) - before

    def requeue(self, found: Sequence[Discovered]) -> None:
        """Place again what was put out, or waits to be tried again; who has seen it stays as it is."""
        for one in found:
            entry = self._entries[one.digest]
            if entry.state == State.DROPPED or (entry.state == State.QUEUED and entry.id in self._waiting):
                self._waiting.pop(entry.id, None)
                entry.place(one)
                if one.is_seed:
                    entry.url = one.url
                if one.out is None:
                    self._queue(entry)

    def block(self, site: str, until: float | None) -> None:
        """Grant nothing of a site before then; None ends its pause."""
        self._sites[site].blocked_until = max(self._sites[site].blocked_until, until) if until else 0.0

    def add_site(self, site: str) -> None:
        """Make a site part of the crawl."""
        known = self._sites.setdefault(site, MemorySite(site))
        known.is_inside, known.is_external = True, False

    def schedule(self, due: Sequence[ScheduledVisit]) -> int:
        """Queue known URLs when their time comes, before everything else."""
        return sum(self._schedule(one) for one in due)

    def _schedule(self, due: ScheduledVisit) -> bool:
        entry = self._entries.get(due.digest)
        if entry is None or entry.state == State.LEASED:
            return False
        if entry.state == State.DROPPED:
            if entry.claim is None:
                return False
            entry.state = State.QUEUED
        entry.due_at, entry.rank, entry.attempts, entry.why = due.at, rank_due(due.place), 0, None
        self._waiting[entry.id] = entry
        return True

    def reopen(self, rule: str, max_depth: int | None = None) -> int:
        """Queue what a rule put out, up to so many links from a seed; gives how many there were."""
        back = [
            entry
            for entry in self._by_id
            if entry.state == State.DROPPED and entry.why is not None and entry.why.rule == rule
            and (max_depth is None or entry.found.depth <= max_depth)
        ]  # fmt: skip
        for entry in back:
            entry.why, entry.attempts = None, 0
            self._queue(entry)
        return len(back)

    def drop_deep(self, max_depth: int) -> int:
        """Put out what is queued more links from a seed than that, unless it was scheduled; gives how many there were."""
        out = [
            (entry, why)
            for entry in self._by_id
            if entry.state == State.QUEUED
            and entry.rank >= 0
            and (why := too_deep(entry.found.depth, max_depth))
        ]
        for entry, why in out:
            entry.state, entry.why, entry.due_at = State.DROPPED, why, None
            self._waiting.pop(entry.id, None)
        return len(out)
