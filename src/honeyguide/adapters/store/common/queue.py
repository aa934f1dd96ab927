"""The queue of one run: what becomes of pages, and what they leave behind.

Owns: the writing queries of a run, but for leases (leases.py). Must not know: why links are placed as they are (core),
when to commit (the job). Start reading at `SqlQueue.commit_page`.
"""

from __future__ import annotations

# ruff: noqa: D102 - ports/store.py says what the methods promise
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, assert_never

from honeyguide.adapters.store.common.database import reads
from honeyguide.adapters.store.common.history import NO_PAGE
from honeyguide.adapters.store.common.leases import SqlLeases
from honeyguide.adapters.store.common.ledger import pack, shape_of
from honeyguide.core.crawl import limits
from honeyguide.core.crawl.frontier import TOO_DEEP, Done, Dropped, KnownState, Retry, State, is_fetch
from honeyguide.core.crawl.placement import rank_due
from honeyguide.core.crawl.traps import MAX_FAMILIES
from honeyguide.ports.store import PageView

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from honeyguide.adapters.store.common.database import Database
    from honeyguide.adapters.store.common.history import SqlHistory
    from honeyguide.adapters.store.common.workers import SqlWorkers
    from honeyguide.core.crawl.frontier import (
        Discovered,
        FrontierRow,
        Lease,
        Outcome,
        ScheduledVisit,
        Sighting,
    )
    from honeyguide.core.crawl.judge import Findings
    from honeyguide.core.crawl.traps import ShapeLesson, UrlShape
    from honeyguide.ports.store import Intake


_CACHED = 40_000  # URLs whose state is kept in memory: menus are met on every page
_MAX_COPIES = 20  # pages that said the same, of which one may still do
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_LINK, _COPY, _VERSION = 0, 1, 3  # kinds of rows of the query `look`; 2 is the lease


class SqlQueue(SqlLeases):
    """A `Queue` in the tables of its store."""

    def __init__(self, db: Database, run: int, workers: SqlWorkers, history: SqlHistory) -> None:
        super().__init__(db, run, workers)
        self._history = history
        self._sites: frozenset[str] | None = None
        self._looked: set[str] = set()
        self._held = (-1, -1)  # the last lease that was ours, and the turn
        self._shapes: dict[str, UrlShape] = {}
        self._in_step: set[str] = set()  # shapes that nobody has written to since we did
        self._in_step_at = -1
        self._unmet = 0  # how many more may be met of which the store surely has nothing

    def forget(self) -> None:
        """Forget what is known from memory: what it was learnt from was undone."""
        super().forget()
        self._sites = None
        self._shapes.clear()
        self._in_step_at = -1

    # --- looking ---

    @reads
    def look(self, lease: Lease, digests: Sequence[int] = (), content: str | None = None) -> PageView:
        self._db.begin_write()  # from here to the commit nobody else writes
        if content is not None and self._history.is_waiting(content):
            self._db.write_waiting()  # a page of this turn says the same
        cache = self._states
        known = {digest: state for digest in digests if (state := cache.get(digest)) is not None}
        missing = [digest for digest in digests if digest not in known]
        held = (lease.entry, self._workers.id, lease.claim)
        copies, is_held = [], False
        for kind, *row in self._db.all(
            self._sql["look"], (self._run, str(missing), content, _MAX_COPIES, *held)
        ):
            if kind == _LINK:
                digest, state, rank, seen, rule, is_https, depth = row
                seen += self._db.counted(self._sql["seen"], (self._run, digest))
                known[digest] = KnownState(state, rank, seen, rule, bool(is_https), depth)
            elif kind == _COPY:
                copies.append(row[4])
            elif kind == _VERSION:
                self._db.note_version(row[0])
            else:
                is_held, self._held = True, (self._db.turn, lease.claim)
                if not row[5]:
                    self._history.note_unvisited(row[0])
        self._remember((digest, known[digest]) for digest in missing if digest in known)
        shapes, self._shapes = tuple(self._shapes.values()), {}
        learnt = {} if lease.group is None else self._worths.learnt(self._site_of(lease))
        return PageView(is_held, known, tuple(copies), self._sites_now(lease), shapes, learnt)

    def _site_of(self, lease: Lease) -> int:
        return self._add_sites([(lease.site, lease.is_external)])[0]

    def _sites_now(self, lease: Lease) -> frozenset[str]:
        """Give the sites of the crawl; a page of another one shows that another worker knows of more."""
        is_strange = not (lease.is_seed or lease.is_external or lease.site in self._looked)
        if self._sites is None or (is_strange and lease.site not in self._sites):
            self._looked.add(lease.site)
            self._sites = self.sites()
        return self._sites

    def external_pages(self) -> int:
        self._db.begin_write()
        self._db.write_waiting()
        return self._external()

    def _remember(self, states: Iterable[tuple[int, KnownState]]) -> None:
        if len(self._states) >= _CACHED:
            self._states.clear()
        for digest, state in states:
            if state.state != State.LEASED:  # what becomes of that is not told by its digest
                self._states[digest] = state

    # --- pages ---

    @reads
    def commit_page(self, lease: Lease, intake: Intake) -> bool:
        self._db.begin_write()
        outcome = intake.outcome
        held = (lease.entry, self._workers.id, lease.claim)
        values = (*_ending(outcome), isinstance(outcome, Done), is_fetch(outcome), *held)
        if self._may_wait(lease, intake):
            self._db.later(self._sql["finish"], values)
        elif not self._db.write(self._sql["finish"], values).rowcount:
            return False
        self._note_end(lease, outcome)
        site = self._site_of(lease)
        if intake.add_site is not None:
            self.add_site(intake.add_site)
        if intake.findings is not None:
            self._take_in(intake.findings, lease.entry)
        if intake.target is not None:
            self._only = None
            there = self._arrive(lease, intake)
            if intake.is_external and there != site and is_fetch(outcome):
                self._db.write(self._sql["move_fetch"], (there, site))
        if intake.lesson is not None:
            self._learn_shape(intake.lesson)
        if intake.lessons:
            self._worths.learn(site, intake.lessons)
        self._keep_paces(lease, site, intake.paces)
        self._keep_page(lease, intake)
        return True

    def _may_wait(self, lease: Lease, intake: Intake) -> bool:
        """Tell whether a page may end with the commit: its lease is surely ours, and its site is claimed from memory until then."""
        is_ours = self._held == (self._db.turn, lease.claim) and intake.target is None
        is_only = self._only is not None and self._only.name == lease.site
        return is_ours and is_only and isinstance(intake.outcome, Done)

    @reads
    def shapes(self) -> Sequence[UrlShape]:
        self._in_step_at = self._db.version()  # before they are read: who writes in between is noticed
        found = super().shapes()
        self._in_step, self._unmet = {shape.name for shape in found}, MAX_FAMILIES - len(found)
        return found

    def _learn_shape(self, lesson: ShapeLesson) -> None:
        """Add to what traps have learnt; a shape that others may have written to is read again, for the next page."""
        values = (self._run, lesson.name, lesson.is_alike, pack(lesson.recent))
        if self._in_step_at != self._db.version() or len(self._in_step) >= MAX_FAMILIES:
            self._in_step, self._in_step_at, self._unmet = set(), self._db.version(), 0
        if lesson.name not in self._in_step:
            self._in_step.add(lesson.name)
            self._unmet -= 1
            if self._unmet < 0:
                self._shapes[lesson.name] = shape_of(self._db.changed(self._sql["learn_shape"], values)[0])
                return
        self._db.later(self._sql["learn_shape"], values)

    def _keep_page(self, lease: Lease, intake: Intake) -> None:
        """Keep the record of a page with the visit that read it."""
        page = NO_PAGE if intake.record is None else (lease.claim, lease.entry, _JSON.encode(intake.record))
        for visit in intake.visits:
            self._history.record(visit, self._run, page)
        if not intake.visits and intake.record is not None:
            self._history.keep_page(self._run, intake.content, page)

    def _take_in(self, findings: Findings, parent: int) -> None:
        """Write what a page revealed."""
        skipped = findings.skipped
        if findings.new:
            skipped = skipped + self._insert(findings.new, parent)
        if findings.better:
            self._improve(findings.better, parent)
        self._write_sightings(findings.sightings, parent)
        run, seen = self._run, self._sql["seen"]
        for digest in findings.again:
            self._db.count(seen, (run, digest), 1)
        for digest, _ in findings.sightings:
            self._db.count(seen, (run, digest), 1)
            if (state := self._states.get(digest)) is not None:
                self._states[digest] = state._replace(seen=state.seen + 1)
        for rule, n in skipped.items():
            self._db.count(self._sql["tally"], (run, rule), n)

    def _insert(self, found: Sequence[Discovered], parent: int | None) -> Counter[str]:
        """Write new links, as far as the limits of the run allow; returns how many were left out, by rule."""
        kept, skipped = self._within_limits(found)
        self._write_new(kept, parent)
        self._remember(
            (
                one.digest,
                KnownState(
                    State.REJECTED if one.out else State.QUEUED, one.rank, int(parent is not None),
                    one.out.rule if one.out else None, one.url.text.startswith("https:"), one.depth,
                ),
            )
            for one in kept
        )  # fmt: skip
        self._refresh({self._site_ids[one.site] for one in kept if one.site is not None}, is_noted=True)
        return skipped

    def _write_new(self, found: Sequence[Discovered], parent: int | None) -> None:
        self._db.write_many(self._sql["insert"], [self._new_row(one, parent) for one in found])
        self._note_first_sightings(found, parent)

    def _note_first_sightings(self, found: Iterable[Discovered], parent: int | None) -> None:
        rows = [
            (self._run, one.digest, parent, *one.sighting, 1) for one in found if one.sighting is not None
        ]
        self._db.later(self._sql["sighting"], *rows)

    def _within_limits(self, found: Sequence[Discovered]) -> tuple[Sequence[Discovered], Counter[str]]:
        """Count URLs by site and by shape; take back what is over a limit, whoever has counted besides."""
        skipped: Counter[str] = Counter()
        urls = limits.urls_by_site(found)
        external = {one.site for one in found if one.is_external}
        rows = json.dumps([(name, name in external, n) for name, n in urls.items()])
        over: dict[str, int] = {}
        for number, name, total in self._db.changed(self._sql["count_urls"], (self._run, rows)):
            self._site_ids[name] = number
            if total == urls[name] and not self._admits_host(name):
                over[name] = total
                skipped[limits.MANY] += total
            elif total > limits.MAX_URLS_PER_HOST:
                over[name] = min(urls[name], total - limits.MAX_URLS_PER_HOST)
                skipped[limits.FULL] += over[name]
            if over.get(name):
                self._db.write(self._sql["uncount_urls"], (over[name], number))
        kept = limits.without_last(found, over) if over else found
        shapes = limits.urls_by_shape(kept)
        if shapes:
            self._db.write_waiting()  # shapes are numbered in the order in which they were met
            admitted = dict(self._db.changed(self._sql["admit"], (self._run, json.dumps(shapes))))
            kept = limits.reject_over(kept, admitted)
            caps = {
                limit.name: limit.limit
                for one in kept
                for limit in one.limited
                if admitted[limit.name] > limit.limit
            }
            self._db.write_many(
                self._sql["cap_shape"], [(most, self._run, name) for name, most in caps.items()]
            )
        return kept, skipped

    def _admits_host(self, name: str) -> bool:
        """Count a host of which nothing was known; False, and not counted, if there are too many."""
        ((hosts,),) = self._db.changed(self._sql["count_hosts"], (1, self._run))
        if hosts <= limits.MAX_HOSTS or not name:
            return True
        self._db.changed(self._sql["count_hosts"], (-1, self._run))
        return False

    def _new_row(self, found: Discovered, parent: int | None) -> tuple[Any, ...]:
        site = None if found.site is None else self._site_ids[found.site]
        state, rule, why = (State.REJECTED, *found.out) if found.out else (State.QUEUED, None, None)
        return (
            self._run, found.digest, site, found.url.as_linked, state, found.rank, found.lane, found.priority,
            found.score, found.depth, found.weak_pages, found.hub_depth, parent, found.is_seed, rule, why,
            int(parent is not None), self._worths.group(site, found.group),
        )  # fmt: skip

    def _improve(self, found: Sequence[Discovered], parent: int) -> None:
        names = {one.site: one.is_external for one in found if one.site is not None}
        self._add_sites(list(names.items()))
        self._worths.touch_groups_of([one.digest for one in found if one.group is not None])
        rows = []
        for one in found:
            site = None if one.site is None else self._site_ids[one.site]
            rows.append((
                one.rank, one.lane, one.priority, one.score, one.depth, one.weak_pages, one.hub_depth, parent,
                site, one.url.as_linked, self._worths.group(site, one.group), self._run, one.digest,
            ))  # fmt: skip
        self._db.write_many(self._sql["improve"], rows)
        self._write_sightings([(one.digest, one.sighting) for one in found if one.sighting], parent)
        for one in found:
            self._states.pop(one.digest, None)
        self._refresh((self._site_ids[name] for name in names), is_noted=True)

    def _write_sightings(self, sightings: Iterable[tuple[int, Sighting]], parent: int) -> None:
        run = self._run
        rows = [(run, digest, parent, *sighting, None) for digest, sighting in sightings]
        if rows:
            self._db.later(self._sql["sighting"], *rows)

    def _arrive(self, lease: Lease, intake: Intake) -> int:
        """Note where a redirect led; one that is part of the crawl is known as such."""
        self._db.write_waiting()  # of what ended in this turn, too
        digest, url = intake.target or (0, lease.url)
        (site,) = self._add_sites([(url.site, True)])
        why = f"{lease.url.text} leads here"
        self._db.write(self._sql["arrive"], (digest, site, url.as_linked, why, lease.entry))
        self._refresh([site])
        self._states.pop(digest, None)
        return site

    # --- the rest ---

    @reads
    def add(self, found: Sequence[Discovered]) -> int:
        known = self.known([one.digest for one in found])
        new = [one for one in found if one.digest not in known]
        if new:
            for rule, n in self._insert(new, None).items():
                self._db.count(self._sql["tally"], (self._run, rule), n)
        return len(new)

    @reads
    def now_internal(self) -> Sequence[tuple[FrontierRow, tuple[Sighting, ...]]]:
        found = (self.find(digest) for (digest,) in self._all("now_internal"))
        return [(row, tuple(sighting for _, sighting in seen)) for row, seen in filter(None, found)]

    @reads
    def requeue(self, found: Sequence[Discovered]) -> None:
        self._db.begin_write()
        self._db.write_waiting()
        placed, _ = self._within_limits([one._replace(site=one.url.site) for one in found if not one.is_seed])
        outside = json.dumps([(limits.OUTSIDE, 0, -len(placed))])
        self._db.changed(self._sql["count_urls"], (self._run, outside))
        found = [*(one for one in found if one.is_seed), *placed]
        sites = self._add_sites([(one.url.site, False) for one in found])
        rows = []
        for one, site in zip(found, sites, strict=True):
            state, rule, why = (State.REJECTED, *one.out) if one.out else (State.QUEUED, None, None)
            place = (one.rank, one.lane, one.priority, one.score, one.weak_pages)
            url = one.url.as_linked if one.is_seed else None
            group = self._worths.group(site, one.group)
            rows.append((state, site, *place, rule, why, url, group, self._run, one.digest))
            self._states.pop(one.digest, None)
        self._db.write_many(self._sql["requeue"], rows)
        scored = [(*one.sighting[2:], self._run, one.digest) for one in found if one.sighting]
        self._db.write_many(self._sql["rescore"], scored)
        self._refresh(sites)

    def block(self, site: str, until: float | None) -> None:
        self._only = None
        self._db.write(self._sql["block"], (until, self._run, site))

    def add_site(self, site: str) -> None:
        self._db.write(self._sql["add_site"], (self._add_sites([(site, False)])[0],))
        self._sites = None

    def schedule(self, visits: Sequence[ScheduledVisit]) -> frozenset[int]:
        self._db.begin_write()
        self._db.write_waiting()
        found: dict[int, int] = {}
        for digest, at, place in visits:
            self._states.pop(digest, None)
            values = (at, rank_due(place), self._run, digest)
            found.update((digest, site) for (site,) in self._db.changed(self._sql["schedule"], values))
        self._refresh(found.values())
        return frozenset(found)

    def reopen(self, rule: str, max_depth: int | None = None) -> int:
        return self._in_bulk("reopen", (self._run, rule, 2**62 if max_depth is None else max_depth))

    def drop_deep(self, max_depth: int) -> int:
        return self._in_bulk("drop_deep", (TOO_DEEP, max_depth, self._run, max_depth))

    def _in_bulk(self, name: str, values: tuple[Any, ...]) -> int:
        """Change many entries of any sites."""
        self._db.begin_write()
        self._db.write_waiting()
        changed = self._db.write(self._sql[name], values).rowcount
        if changed:
            self._states.clear()
            self._refresh(number for (number,) in self._all("all_sites"))
        return changed

    def _add_sites(self, sites: Sequence[tuple[str, bool]]) -> list[int]:
        """Give the numbers of sites; one gets its number when it is first met."""
        missing = {name: is_external for name, is_external in sites if name not in self._site_ids}
        if missing:
            if len(self._site_ids) >= _CACHED:
                self._site_ids.clear()
                missing = dict(sites)
            rows = json.dumps([(name, is_external, 0) for name, is_external in missing.items()])
            found = self._db.changed(self._sql["count_urls"], (self._run, rows))
            self._site_ids.update((name, number) for number, name, _ in found)
        return [self._site_ids[name] for name, _ in sites]


def _ending(outcome: Outcome) -> tuple[Any, ...]:
    """Give state, whether it goes to the end of the queue, due date, rule and reason of an ended lease."""
    match outcome:
        case Done():
            return State.DONE, False, None, None, None
        case Retry(at, why):
            return State.QUEUED, True, at, *why
        case Dropped(why):
            return State.REJECTED, False, None, *why
        case _:
            assert_never(outcome)
