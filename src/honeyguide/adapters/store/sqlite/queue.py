"""The frontier of one run in the SQLite store: what becomes of pages, and what they reveal.

Owns: the writing queries of the tables `entry`, `site`, `sighting`, `page` and `family`, but for leases (leases.py).
Must not know: why links are placed as they are (core), when to commit (the job). Start reading at
`SqliteFrontier.finish`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, assert_never

from honeyguide.adapters.store.sqlite.counters import CounterStep
from honeyguide.adapters.store.sqlite.database import reads
from honeyguide.adapters.store.sqlite.leases import SqliteLeases
from honeyguide.adapters.store.sqlite.ledger import pack
from honeyguide.core.crawl.frontier import TOO_DEEP, Done, Dropped, KnownState, Retry, State, is_fetch
from honeyguide.core.crawl.placement import rank_due
from honeyguide.errors import LeaseLostError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.core.crawl.frontier import Discovered, Lease, Outcome, ScheduledVisit, Sighting
    from honeyguide.core.crawl.judge import Findings
    from honeyguide.core.crawl.traps import UrlShape
    from honeyguide.core.url.url import Url
    from honeyguide.ports.store import Report


_CACHED = 60_000  # URLs whose standing is kept in memory: menus are met on every page
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class SqliteFrontier(SqliteLeases):
    """A `Frontier` in the file of its store."""

    @reads
    def finish(self, lease: Lease, outcome: Outcome, report: Report) -> None:
        """End a lease and take in what its page revealed; raises `LeaseLostError` if it is no longer ours."""
        fetches = is_fetch(outcome)
        values = (
            *self._ending(outcome),
            isinstance(outcome, Done),
            lease.entry,
            self._owners.owner(),
            lease.claim,
        )
        if self._db.write(self._sql["finish"], values).rowcount != 1:
            raise LeaseLostError(self._db.path, f"{lease.url} was given to another process in the meantime")
        site = self._site(lease.site, is_external=lease.is_external)
        self.counters.add(CounterStep(fetches, -1, findings=report.findings))
        if report.record is not None:
            record = _JSON.encode(report.record)
            self._db.write(self._sql["page"], (self._run, lease.claim, lease.entry, report.content, record))
        touched: set[int] = set()
        counted = site
        if report.findings is not None:
            touched |= self._take_in(report.findings, lease.entry)
        if report.arrived is not None:
            there = self._arrive(lease, *report.arrived)
            touched.add(there)
            counted = there if report.is_external else site
        self._write_families(report.families)
        for number in touched - {site}:
            self._db.write(self._sql["refresh"], (0, fetches and number == counted, number))
        # What ends was not queued: where nothing came in, the best entry is still the best.
        name = "refresh" if site in touched else "count_site"
        self._db.write(self._sql[name], (-1, fetches and site == counted, site))

    @staticmethod
    def _ending(outcome: Outcome) -> tuple[Any, ...]:
        """Give state, whether it goes to the end of the queue, due date, rule and reason of an ended lease."""
        match outcome:
            case Done():
                return State.DONE, False, None, None, None
            case Retry(at, why):
                return State.QUEUED, True, at, *why
            case Dropped(why):
                return State.DROPPED, False, None, *why
            case _:
                assert_never(outcome)

    def _take_in(self, findings: Findings, parent: int) -> set[int]:
        """Write what a page revealed; gives the sites whose queue may have changed."""
        if findings.new:
            self._insert(findings.new, parent)
        if findings.better:
            self._improve(findings.better, parent)
        self._write_sightings(findings.sightings, parent)
        for digest, _ in findings.sightings:
            standing = self._standings.get(digest)
            if standing is not None:
                state, rank, seen, rule, is_https = standing
                self._standings[digest] = KnownState(state, rank, seen + 1, rule, is_https)
        names = {found.site for group in (findings.new, findings.better) for found in group}
        return {self._site_ids[name] for name in names if name is not None and name in self._site_ids}

    def _insert(self, found: Sequence[Discovered], parent: int | None) -> None:
        rows = [self._new_row(one, parent) for one in found]
        self._db.write_many(self._sql["insert"], rows)
        firsts = [(self._run, one.digest, parent, *one.sighting) for one in found if one.sighting is not None]
        self._db.write_many(self._sql["first_sighting"], firsts)
        self._make_room()
        for one in found:
            rule = one.out.rule if one.out else None
            state = State.DROPPED if one.out else State.QUEUED
            self._standings[one.digest] = KnownState(
                state, one.rank, int(parent is not None), rule, one.url.text.startswith("https:")
            )

    def _new_row(self, found: Discovered, parent: int | None) -> tuple[Any, ...]:
        site = None if found.site is None else self._site(found.site, is_external=found.is_external)
        state, rule, why = (State.DROPPED, *found.out) if found.out else (State.QUEUED, None, None)
        return (
            self._run, found.digest, site, found.url.as_linked, state, found.rank, found.lane, found.priority,
            found.score, found.depth, found.weak_pages, found.hub_depth, parent, found.is_seed, rule, why,
            int(parent is not None),
        )  # fmt: skip

    def _improve(self, found: Sequence[Discovered], parent: int) -> None:
        rows = [
            (
                one.rank, one.lane, one.priority, one.score, one.depth, one.weak_pages, one.hub_depth, parent,
                None if one.site is None else self._site(one.site, is_external=one.is_external),
                one.url.as_linked, self._run, one.digest,
            )
            for one in found
        ]  # fmt: skip
        self._db.write_many(self._sql["improve"], rows)
        self._write_sightings([(one.digest, one.sighting) for one in found if one.sighting], parent)
        for one in found:
            self._standings.pop(one.digest, None)

    def _write_sightings(self, sightings: Iterable[tuple[int, Sighting]], parent: int) -> None:
        run = self._run
        rows = [(run, digest, parent, *sighting, run, digest) for digest, sighting in sightings]
        self._db.write_many(self._sql["sighting"], rows)

    def _arrive(self, lease: Lease, digest: int, url: Url) -> int:
        why = f"{lease.url.text} leads here"
        site = self._site(url.site, is_external=True)  # one that is part of the crawl is known
        self._db.write(self._sql["arrive"], (digest, site, url.as_linked, why, lease.entry))
        self._standings.pop(digest, None)
        return site

    def _write_families(self, changes: Iterable[tuple[str, UrlShape | None]]) -> None:
        for name, family in changes:
            if family is None:
                self._db.write(self._sql["drop_family"], (self._run, name))
            else:
                values = (self._run, name, family.admitted, family.alike, pack(family.recent))
                self._db.write(self._sql["put_family"], values)

    # --- the rest ---

    @reads
    def add(self, found: Sequence[Discovered], families: Iterable[tuple[str, UrlShape | None]] = ()) -> int:
        """Queue URLs that are not known yet; gives how many were not."""
        known = self.known([one.digest for one in found])
        new = [one for one in found if one.digest not in known]
        self._insert(new, None)
        for name in dict.fromkeys(one.site for one in new if one.site is not None):
            self._refresh(self._site(name))
        self._write_families(families)
        return len(new)

    @reads
    def requeue(self, found: Sequence[Discovered]) -> None:
        """Place again what was put out, or waits to be tried again; who has seen it stays as it is."""
        rows, sites = [], {}
        for one in found:
            site = self._site(one.url.site)
            state, rule, why = (State.DROPPED, *one.out) if one.out else (State.QUEUED, None, None)
            place = (one.rank, one.lane, one.priority, one.score, one.weak_pages)
            url = one.url.as_linked if one.is_seed else None
            rows.append((state, site, *place, rule, why, url, self._run, one.digest))
            sites[site] = self._standings.pop(one.digest, None)
        self._db.write_many(self._sql["bring_back"], rows)
        scored = [(*one.sighting[2:], self._run, one.digest) for one in found if one.sighting]
        self._db.write_many(self._sql["rescore"], scored)
        for number in sites:
            self._refresh(number)

    @reads
    def known(self, digests: Sequence[int]) -> Mapping[int, KnownState]:
        """Tell what is known of URLs; those that are not known are left out."""
        cache = self._standings
        found = {digest: standing for digest in digests if (standing := cache.get(digest)) is not None}
        missing = [digest for digest in digests if digest not in found]
        if missing:
            self._make_room()
            for digest, *rest in self._db.all(self._sql["known"], (str(missing), self._run)):
                state, rank, seen, rule, is_https = rest
                seen += self.counters.again[digest]
                found[digest] = standing = KnownState(state, rank, seen, rule, bool(is_https))
                if state != State.LEASED:  # what becomes of that is not told by its digest
                    cache[digest] = standing
        return found

    def block(self, site: str, until: float | None) -> None:
        """Grant nothing of a site before then; None ends its pause."""
        self._db.write(self._sql["block"], (until, self._run, site))

    def add_site(self, site: str) -> None:
        """Make a site part of the crawl."""
        self._db.write(self._sql["enter"], (self._site(site),))

    def schedule(self, due: Sequence[ScheduledVisit]) -> int:
        """Queue known URLs when their time comes, before everything else."""
        self._db.begin_write()
        found = []
        for digest, at, place in due:
            self._standings.pop(digest, None)
            found += self._db.all(self._sql["schedule"], (at, rank_due(place), self._run, digest))
        for (site,) in dict.fromkeys(found):
            self._refresh(site)
        return len(found)

    def reopen(self, rule: str, max_depth: int | None = None) -> int:
        """Queue what a rule put out, up to so many links from a seed; gives how many there were."""
        limit = 2**62 if max_depth is None else max_depth
        return self._in_bulk("reopen", (self._run, rule, limit))

    def drop_deep(self, max_depth: int) -> int:
        """Put out what is queued more links from a seed than that, unless it was scheduled; gives how many there were."""
        return self._in_bulk("put_out_deep", (TOO_DEEP, max_depth, self._run, max_depth))

    def _in_bulk(self, name: str, values: tuple[Any, ...]) -> int:
        """Change many entries of any sites."""
        changed = self._db.write(self._sql[name], values).rowcount
        if changed:
            self._standings.clear()
            for (number,) in self._db.all(self._sql["all_sites"], (self._run,)):
                self._refresh(number)
        return changed

    def _site(self, name: str, *, is_external: bool = False) -> int:
        """Give the number of a site; it gets one when it is first met."""
        number = self._site_ids.get(name)
        if number is None:
            self._db.begin_write()  # or another process may add it between our look and our insert
            row = self._db.one(self._sql["site"], (self._run, name))
            number = (
                row[0]
                if row
                else self._db.write(self._sql["add_site"], (self._run, name, is_external)).lastrowid or 0
            )
            if len(self._site_ids) >= _CACHED:
                self._site_ids.clear()
            self._site_ids[name] = number
        return number

    def _make_room(self) -> None:
        if len(self._standings) >= _CACHED:
            self._standings.clear()
