"""The data of runs and their history in memory, and what can be read of it: a part of `MemoryStore`.

Owns: `MemoryEntry`, `MemorySite`, `MemoryRun`, `MemoryRuns`, `MemoryHistory`, `MemoryContents`. Must not know: leases, workers.
"""

from __future__ import annotations

# ruff: noqa: D102 - ports/store.py says what the methods promise
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from honeyguide.core.crawl.frontier import Counts, FrontierRow, KnownState, QueuedUrl, Run, State
from honeyguide.core.crawl.learner import UNIT, Learner, Tally
from honeyguide.core.crawl.placement import rank_by_units, units_of
from honeyguide.core.crawl.traps import UrlShape
from honeyguide.core.recrawl.clocks import SiteAges
from honeyguide.core.recrawl.history import UNKNOWN_SITE, SeenContent, site_of
from honeyguide.core.recrawl.priors import Watched
from honeyguide.core.recrawl.visits import births_of, heir_of, next_known, next_site
from honeyguide.core.url.scope import OTHER_SITE
from honeyguide.errors import AddressRefusedError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from honeyguide.core.crawl.frontier import Discovered, RunSpec, Sighting
    from honeyguide.core.crawl.learner import Lesson, LinkGroup
    from honeyguide.core.crawl.traps import ShapeLesson
    from honeyguide.core.records import Record
    from honeyguide.core.recrawl.clocks import AgeProfile
    from honeyguide.core.recrawl.history import HistoryEntry, Site, Visit
    from honeyguide.core.recrawl.priors import PageClass
    from honeyguide.core.recrawl.rate import Rate
    from honeyguide.core.rules.profile import LearnerRules
    from honeyguide.core.url.url import Url
    from honeyguide.core.why import Why
    from honeyguide.ports.store import KeptPage, WorkerState


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
    seen: int = 0
    attempts: int = 0
    visits: int = 0
    claim: int | None = None
    worker: int | None = None
    due_at: float | None = None
    worth: str | None = None
    sightings: list[tuple[int | None, Sighting]] = field(default_factory=list)

    @property
    def shown(self) -> State:
        """Its state as a ledger tells it: a lease that nobody has is queued."""
        return State.QUEUED if self.state == State.LEASED and self.worker is None else self.state

    @property
    def is_ready(self) -> bool:
        """Whether it may be claimed now."""
        return self.state == State.QUEUED and self.due_at is None

    @property
    def group(self) -> LinkGroup | None:
        """The link group that it is in; what is tried again, or was scheduled, is in none."""
        return self.found.group if self.rank == self.found.rank else None

    @property
    def is_due(self) -> bool:
        """Whether it was scheduled and not fetched since; what was refused for its address may yet be."""
        is_refused = self.why is not None and self.why.rule == AddressRefusedError.rule
        is_open = self.state < State.DONE or (self.state == State.DONE and self.due_at is not None)
        return self.rank < 0 and (is_open or (self.state == State.REJECTED and is_refused))


@dataclass(slots=True)
class MemorySite:
    """One site of a run, its counters and its pace."""

    name: str
    is_external: bool = False
    is_inside: bool = False
    urls: int = 0
    fetched: int = 0
    leased: int = 0
    blocked_until: float = 0.0
    worker: int | None = None
    next_at: float = 0.0
    delay_s: float | None = None


class MemoryRun:
    """The data of one run, and what can be read of it: a `Ledger`."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.entries: dict[int, MemoryEntry] = {}  # by digest
        self.by_id: list[MemoryEntry] = []
        self.sites_: dict[str, MemorySite] = {}
        self.records: dict[int, Record] = {}
        self.contents: dict[str, list[str]] = {}
        self.shapes_: dict[str, UrlShape] = {}
        self.learnt_: dict[str, dict[str, Tally]] = {}
        self.skipped: Counter[str] = Counter()
        self.totals: Counter[str] = Counter()

    def counts(self) -> Counts:
        states = Counter(entry.shown for entry in self.by_id)
        out = Counter(e.why.rule for e in self.by_id if e.state == State.REJECTED and e.why is not None)
        return Counts(
            states={state.name.lower(): states[state] for state in State},
            lanes=Counter(entry.found.lane for entry in self.by_id if entry.shown == State.QUEUED),
            out=out,
            skipped=dict(self.skipped),
            fetched=self.totals["fetched"],
            external_links=out[OTHER_SITE],
            due=sum(entry.is_due for entry in self.by_id),
        )

    def rows(self, after: int = 0, rule: str | None = None) -> Iterator[FrontierRow]:
        for entry in self.by_id[after:]:
            if rule is None or (entry.why is not None and entry.why.rule == rule):
                yield self._row(entry)

    def _row(self, entry: MemoryEntry) -> FrontierRow:
        found = entry.found
        return FrontierRow(
            entry=entry.id, url=entry.url.as_linked, state=entry.shown, lane=found.lane, priority=found.priority,
            score=found.score, depth=found.depth, parent=self.url_of(entry.parent), seen=entry.seen,
            attempts=entry.attempts, claim=entry.claim, due_at=entry.due_at, why=entry.why, worth=entry.worth,
        )  # fmt: skip

    def url_of(self, number: int | None) -> str | None:
        """Give the URL of an entry by its number."""
        return None if number is None else self.by_id[number - 1].url.as_linked

    def find(self, digest: int) -> tuple[FrontierRow, tuple[tuple[str | None, Sighting], ...]] | None:
        entry = self.entries.get(digest)
        if entry is None:
            return None
        return self._row(entry), tuple((self.url_of(number), seen) for number, seen in entry.sightings)

    def pages(self, after: int = 0) -> Iterator[tuple[int, Record]]:
        return ((claim, self.records[claim]) for claim in sorted(self.records) if claim > after)

    def sites(self) -> frozenset[str]:
        return frozenset(site.name for site in self.sites_.values() if site.is_inside)

    def learnt(self, site: str) -> Mapping[str, Tally]:
        return dict(sorted(self.learnt_.get(site, {}).items()))

    def urls_per_host(self) -> Mapping[str, int]:
        return {site.name: site.urls for site in self.sites_.values() if site.urls}

    def seeds(self) -> tuple[Url, ...]:
        return tuple(entry.url for entry in self.by_id if entry.found.is_seed)

    def known(self, digests: Sequence[int]) -> Mapping[int, KnownState]:
        found = ((digest, self.entries.get(digest)) for digest in digests)
        return {digest: state_of(entry) for digest, entry in found if entry is not None}

    def shapes(self) -> Sequence[UrlShape]:
        return list(self.shapes_.values())

    def site(self, name: str, *, is_external: bool = False) -> MemorySite:
        return self.sites_.setdefault(name, MemorySite(name, is_external))

    def external_pages(self) -> int:
        return sum(site.fetched + site.leased for site in self.sites_.values() if site.is_external)

    def block(self, site: str, until: float | None) -> None:
        self.sites_[site].blocked_until = max(self.sites_[site].blocked_until, until) if until else 0.0

    def add_site(self, site: str) -> None:
        known = self.site(site)
        known.is_inside, known.is_external = True, False

    def learn(self, site: str, lessons: Iterable[Lesson]) -> None:
        """Add what a page teaches of the links of a site."""
        learnt = self.learnt_.setdefault(site, {})
        for lesson in lessons:
            learnt[lesson.name] = learnt.get(lesson.name, Tally()).plus(lesson)

    def learn_shape(self, lesson: ShapeLesson) -> None:
        """Add what a page teaches of its shape."""
        shape = self.shapes_.get(lesson.name) or UrlShape(lesson.name)
        alike = shape.alike + 1 if lesson.is_alike else 0
        self.shapes_[shape.name] = shape._replace(alike=alike, recent=lesson.recent)

    def rank_of(self, entry: MemoryEntry, rules: LearnerRules | None) -> int:
        """Rank an entry, by its worth if it is in a group."""
        if rules is None or entry.group is None:
            return entry.rank
        learner = Learner(rules, self.learnt(self.site_of(entry).name))
        return rank_by_units(learner.worth(units_of(entry.rank), entry.group))

    def note_worth(self, entry: MemoryEntry, rules: LearnerRules | None) -> None:
        """Note what makes the worth of an entry that is being claimed."""
        entry.worth = None
        if rules is not None and entry.group is not None:
            learner = Learner(rules, self.learnt(self.site_of(entry).name))
            entry.worth = "; ".join(learner.sentences(units_of(entry.rank), entry.group))
            worth = units_of(self.rank_of(entry, rules))
            entry.found = entry.found._replace(priority=worth / UNIT)

    def site_of(self, entry: MemoryEntry) -> MemorySite:
        """Give the site of an entry."""
        return self.site(entry.found.site or entry.url.site)


def state_of(entry: MemoryEntry) -> KnownState:
    """Give what of an entry the judge needs."""
    rule = entry.why.rule if entry.why else None
    return KnownState(
        entry.state, entry.rank, entry.seen, rule, entry.url.text.startswith("https:"), entry.found.depth
    )


class MemoryRuns:
    """The `Runs` of a store in memory."""

    def __init__(self) -> None:
        self.data: dict[int, MemoryRun] = {}
        self.states: dict[int, WorkerState] = {}  # of the workers of all runs

    def begin(self, spec: RunSpec, now: float, *, restart: bool = False) -> Run:
        found = [run for run in self.list() if run.spec.key == spec.key]
        if found and not restart:
            return found[-1]
        run = Run(len(self.data) + 1, spec, now, now)
        self.data[run.id] = MemoryRun(run)
        return run

    def end(self, run: Run, why: str, now: float) -> None:
        old = self.data[run.id].run
        self.data[run.id].run = replace(old, stopped=why, updated_at=max(old.updated_at, now))

    def due(self, now: float) -> Sequence[int]:
        runs = reversed(self.data.values())
        return [one.run.id for one in runs if any(e.is_due and (e.due_at or 0.0) <= now for e in one.by_id)]

    def list(self) -> Sequence[Run]:
        runs = self.data.values()
        return [replace(one.run, fetched=one.totals["fetched"]) for one in runs]

    def workers(self, now: float) -> Sequence[WorkerState]:  # noqa: ARG002 - whoever is gone has no state
        return list(self.states.values())

    def stop_workers(self, now: float, run: int | None = None) -> int:
        found = [one for one in self.workers(now) if run in (None, one.run)]
        self.states.update((one.id, one._replace(is_stopping=True)) for one in found)
        return len(found)


class MemoryHistory:
    """A `History` in memory."""

    def __init__(self, runs: MemoryRuns) -> None:
        self._runs = runs
        self._known: dict[int, HistoryEntry] = {}
        self._visits: list[tuple[int, Visit]] = []
        self._requests: list[float] = []
        self._lastmods: dict[int, str] = {}
        self._born: dict[int, float] = {}
        self._sites: dict[str, Site] = {}
        self._every: dict[PageClass, AgeProfile] = {}

    def record(self, visit: Visit, run: int) -> HistoryEntry:
        old = self.get(visit.digest)
        if old is None and visit.moved_from is not None:
            old = heir_of(self.get(visit.moved_from), visit)
        name = site_of(visit.url)
        site = self.site(name)
        known = self._known[visit.digest] = next_known(old, visit, site, run)
        if not visit.is_redirect_source:
            self._visits.append((run, visit))
        learned = next_site(site, old, visit)
        if learned is not site:
            self._sites[name] = learned
            self._every.update((kind, ages.every) for kind, ages in learned.ages.items())
        for digest, at in births_of(old, visit):
            self._born.setdefault(digest, at)
        return known

    def adopt(self, entries: Iterable[HistoryEntry]) -> None:
        self._known.update((known.digest, known) for known in entries)

    def get(self, digest: int) -> HistoryEntry | None:
        known = self._known.get(digest)
        if known is None:
            return None
        return known._replace(lastmod=self._lastmods.get(digest), born_at=self._born.get(digest))

    def known_among(self, digests: Sequence[int]) -> dict[int, HistoryEntry]:
        return {digest: known for digest in digests if (known := self.get(digest)) is not None}

    def known(self, after: int | None = None) -> Iterator[HistoryEntry]:
        for digest in sorted(self._known):
            if (after is None or digest > after) and (known := self.get(digest)) is not None:
                yield known

    def known_columns(
        self, fields: Sequence[str], *, only_unusual: bool = False
    ) -> Iterator[Sequence[Sequence[Any]]]:
        del only_unusual  # reading all is no slower
        rows = list(self.known())
        return iter([[[getattr(known, name) for known in rows] for name in fields]] if rows else [])

    def visits(self, digest: int) -> list[tuple[int, float, int | None]]:
        return [(run, visit.at, visit.status) for run, visit in self._visits if visit.digest == digest]

    def note_request(self, at: float) -> None:
        self._requests.append(at)

    def latest_requests(self, limit: int) -> Sequence[float]:
        return self._requests[::-1][:limit]

    def latest_visits(self, limit: int, since: float) -> Sequence[float]:
        del since
        return [visit.at for _, visit in islice(reversed(self._visits), limit)]

    def contents(self) -> Iterator[SeenContent]:
        for visit in sorted((visit for _, visit in self._visits), key=lambda visit: visit.digest):
            known = self._known[visit.digest]
            if visit.content is not None:
                yield SeenContent(known.url, known.relevance, known.kind, visit.at, visit.content)

    def rates(self, limit: int) -> Iterator[Watched]:
        rated = (
            Watched(known.site, known.kind, known.seen) for known in self.known() if known.seen is not None
        )
        return islice(rated, limit)

    def unvisited(self) -> Iterator[QueuedUrl]:
        queued = [
            (run, e)
            for run, data in self._runs.data.items()
            for e in data.by_id
            if e.state == State.QUEUED and e.found.site is not None
        ]
        newest = {e.found.digest: run for run, e in queued}
        for run, entry in queued:
            digest, found = entry.found.digest, entry.found
            if newest[digest] == run and digest not in self._known:
                yield QueuedUrl(digest, entry.url.text, found.score, found.hub_depth, self._born.get(digest))

    def unvisited_columns(self) -> Iterator[Sequence[Sequence[Any]]]:
        rows = list(self.unvisited())
        return iter([list(zip(*rows, strict=True))] if rows else [])

    def find_unvisited(self, digest: int) -> QueuedUrl | None:
        return next((one for one in self.unvisited() if one.digest == digest), None)

    def scheduled(self) -> frozenset[int]:
        entries = (entry for data in self._runs.data.values() for entry in data.by_id)
        return frozenset(e.found.digest for e in entries if e.is_due and e.state != State.REJECTED)

    def note_lastmods(self, lastmods: Iterable[tuple[int, str]]) -> None:
        self._lastmods.update(lastmods)

    def site(self, name: str) -> Site:
        site = self._sites.get(name, UNKNOWN_SITE)
        if not self._every:
            return site
        ages: dict[PageClass, SiteAges] = {}
        for kind, every in self._every.items():
            own = site.aged(kind).own
            ages[kind] = SiteAges.of(kind, (own.found, own.expected), (every.found, every.expected))
        return replace(site, ages=ages)

    def sites(self, names: Collection[str] | None = None) -> dict[str, Site]:
        wanted = self._sites if names is None else self._sites.keys() & set(names)
        return {name: self.site(name) for name in ("", *wanted)}

    def save_priors(self, name: str, priors: Mapping[PageClass, Rate]) -> None:
        site = self.site(name)
        self._sites[name] = replace(site, priors={**site.priors, **priors})


class MemoryContents:
    """A `Contents` in memory; bodies are not packed."""

    def __init__(self) -> None:
        self._bodies: dict[int, bytes] = {}
        self._readings: dict[tuple[int, int], KeptPage] = {}

    def keep(self, run: int, claim: int, page: KeptPage, max_bytes: int) -> int:
        if page.digest not in self._bodies:
            if page.body is None or len(page.body) > max_bytes:
                return 0
            self._bodies[page.digest] = page.body
        self._readings[run, claim] = replace(page, body=None)
        return self.drop(max_bytes)

    def get(self, run: int, claim: int) -> KeptPage | None:
        page = self._readings.get((run, claim))
        if page is None or page.digest not in self._bodies:
            return None
        return replace(page, body=self._bodies[page.digest])

    def drop(self, max_bytes: int) -> int:
        dropped = 0
        while self._bodies and sum(map(len, self._bodies.values())) > max_bytes:
            del self._bodies[next(iter(self._bodies))]
            dropped += 1
        return dropped
