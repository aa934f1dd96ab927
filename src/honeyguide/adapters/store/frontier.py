"""The frontier of one run in the SQLite store: leases given and ended.

Owns: the writing queries of the tables `entry`, `site`, `sighting`, `page` and `family`, and what of them is kept in
memory. Must not know: why links are placed as they are (core), when to commit (the job).
Start reading at `SqliteFrontier.claim` and `SqliteFrontier.finish`.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, assert_never

from honeyguide.adapters.store.counters import SqliteCounters
from honeyguide.adapters.store.ledger import Ledger, pack
from honeyguide.adapters.store.queries import checked, reads
from honeyguide.core.frontier import (
    Done,
    Dropped,
    Granted,
    Lease,
    Rest,
    Retry,
    Standing,
    State,
    is_fetch,
    is_open,
    rank_due,
    rest_of,
    rest_of_full,
)
from honeyguide.core.url import Url
from honeyguide.errors import LeaseLost, rule_now, spellings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.adapters.store.owners import SqliteOwners
    from honeyguide.adapters.store.queries import Database
    from honeyguide.core.frontier import Ask, Discovered, Due, Outcome, Sighting
    from honeyguide.core.judge import Findings
    from honeyguide.core.traps import Family
    from honeyguide.ports import Report

_CACHED = 60_000  # URLs whose standing is kept in memory: menus are met on every page
_ANY_RANK = 1 << 62  # above all ranks
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class SqliteFrontier(Ledger):
    """A `Frontier` in the file of its store."""

    def __init__(self, db: Database, run: int, owners: SqliteOwners) -> None:
        super().__init__(db, run)
        self._owners = owners
        self._site_ids: dict[str, int] = {}
        self._standings: dict[int, Standing] = {}
        self.counters = SqliteCounters(db, run)

    def forget(self) -> None:
        """Forget what is known from memory: what it was learnt from was undone."""
        self._standings.clear()
        self._site_ids.clear()

    # --- leases ---

    @reads
    def claim(self, ask: Ask) -> Granted:
        """Lease the best URLs, site first; see `Ask` for what limits it."""
        self._db.begin_write()
        self._sweep(ask.now)
        fetched, leased, claims = self._db.one(self._sql["budget"], (self._run,))
        most = ask.budgets.max_pages
        room = ask.limit if most is None else min(ask.limit, most - fetched - leased)
        leases: list[Lease] = []
        outstanding = Counter(ask.outstanding)
        while len(leases) < room:
            site = self._best_site(ask, outstanding)
            if site is None:
                break
            lease = self._lease(site, claims + len(leases) + 1, ask)
            outstanding[lease.site] += 1
            leases.append(lease)
        if not leases:
            return Granted((), self._rest(ask, is_full=room <= 0 < ask.limit))
        self._db.write(self._sql["count"], (len(leases), len(leases), 0, self._run))
        return Granted(tuple(leases))

    @reads
    def adopt(self, ask: Ask) -> tuple[Lease, ...]:
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

    def renew(self, until: float) -> None:
        """Keep all our leases until then."""
        self._db.write(self._sql["renew"], (until, self._run, self._owners.owner()))

    def release(self) -> None:
        """Leave all our leases to whoever comes next."""
        self._db.write(self._sql["release"], (self._run, self._owners.owner()))

    def _best_site(self, ask: Ask, outstanding: Mapping[str, int]) -> tuple[Any, ...] | None:
        """Find the site whose best entry is best, among those that may be asked."""
        external: int | None = None
        for row in self._db.walk(self._sql["sites_by_head"], (self._run, _below(ask))):
            site: tuple[Any, ...] = row
            _, name, is_external, blocked_until, fetched, leased, _, _ = site
            if is_external and external is None:
                external = self._db.one(self._sql["external_budget"], (self._run,))[0]
            spent = external if is_external else None
            if blocked_until <= ask.now and is_open(ask, name, fetched + leased, outstanding[name], spent):
                return site
        return None

    def _lease(self, site: tuple[Any, ...], claim: int, ask: Ask) -> Lease:
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
            None if parent is None else Url.parse(parent).text,
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
        self._db.write(self._sql["count"], (0, -1, 0, self._run))
        self._refresh(site, leased=-1)

    def _rest(self, ask: Ask, *, is_full: bool) -> Rest:
        """Say why nothing was granted."""
        held = self._db.one(self._sql["next_expiry"], (self._run, self._owners.owner()))[0]
        if is_full:
            return rest_of_full(ask, held)
        rows = self._db.all(self._sql["sites_by_head"], (self._run, _below(ask)))
        sites = [(name, blocked, fetched + leased) for _, name, _, blocked, fetched, leased, _, _ in rows]
        values = (self._run, json.dumps(sorted(ask.closed)), ask.only_due)
        due = self._db.one(self._sql["next_due"], values)[0]
        return rest_of(ask, sites, due, held)

    # --- ends ---

    @reads
    def finish(self, lease: Lease, outcome: Outcome, report: Report) -> None:
        """End a lease and take in what its page revealed; raises `LeaseLost` if it is no longer ours."""
        fetches = is_fetch(outcome)
        values = (
            *self._ending(outcome),
            isinstance(outcome, Done),
            lease.entry,
            self._owners.owner(),
            lease.claim,
        )
        if self._db.write(self._sql["finish"], values).rowcount != 1:
            raise LeaseLost(self._db.path, f"{lease.url} was given to another process in the meantime")
        site = self._site(lease.site, is_external=lease.is_external)
        self._db.write(self._sql["count"], (0, -1, fetches, self._run))
        if report.record is not None:
            record = _JSON.encode(report.record)
            self._db.write(self._sql["page"], (self._run, lease.claim, lease.entry, report.content, record))
        touched: set[int] = set()
        if report.findings is not None:
            touched |= self._take_in(report.findings, lease.entry)
        if report.arrived is not None:
            touched.add(self._arrive(lease, *report.arrived))
        self._write_families(report.families)
        for number in touched - {site}:
            self._refresh(number)
        self._refresh(site, leased=-1, fetched=fetches)

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
        self._insert(findings.new, parent)
        if findings.better:
            self._improve(findings.better, parent)
        self._write_sightings(findings.sightings, parent)
        for digest, _ in findings.sightings:
            standing = self._standings.get(digest)
            if standing is not None:
                self._standings[digest] = standing._replace(seen=standing.seen + 1)
        self.counters.add(findings)
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
            self._standings[one.digest] = Standing(
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
        self._db.write(self._sql["arrive"], (lease.entry, digest, site, url.as_linked, why))
        self._standings.pop(digest, None)
        return site

    def _write_families(self, changes: Iterable[tuple[str, Family | None]]) -> None:
        for name, family in changes:
            if family is None:
                self._db.write(self._sql["drop_family"], (self._run, name))
            else:
                values = (self._run, name, family.admitted, family.alike, pack(family.recent))
                self._db.write(self._sql["put_family"], values)

    # --- the rest ---

    @reads
    def add(self, found: Sequence[Discovered], families: Iterable[tuple[str, Family | None]] = ()) -> int:
        """Queue URLs that are not known yet; gives how many were not."""
        known = self.known([one.digest for one in found])
        new = [one for one in found if one.digest not in known]
        self._insert(new, None)
        for name in dict.fromkeys(one.site for one in new if one.site is not None):
            self._refresh(self._site(name))
        self._write_families(families)
        return len(new)

    @reads
    def bring_back(self, found: Sequence[Discovered]) -> None:
        """Place again what was put out; who has seen it stays as it is."""
        rows, sites = [], {}
        for one in found:
            site = self._site(one.url.site)
            state, rule, why = (State.DROPPED, *one.out) if one.out else (State.QUEUED, None, None)
            place = (one.rank, one.lane, one.priority, one.score, one.weak_pages)
            rows.append((state, site, *place, rule, why, self._run, one.digest))
            sites[site] = self._standings.pop(one.digest, None)
        self._db.write_many(self._sql["bring_back"], rows)
        scored = [(*one.sighting[2:], self._run, one.digest) for one in found if one.sighting]
        self._db.write_many(self._sql["rescore"], scored)
        for number in sites:
            self._refresh(number)

    @reads
    def known(self, digests: Sequence[int]) -> Mapping[int, Standing]:
        """Tell what is known of URLs; those that are not known are left out."""
        cache = self._standings
        found = {digest: standing for digest in digests if (standing := cache.get(digest)) is not None}
        missing = [digest for digest in digests if digest not in found]
        if missing:
            self._make_room()
            for digest, *rest in self._db.all(self._sql["known"], (json.dumps(missing), self._run)):
                state, rank, seen, rule, is_https = rest
                seen += self.counters.again[digest]
                rule = None if rule is None else rule_now(rule)
                found[digest] = cache[digest] = Standing(state, rank, seen, rule, bool(is_https))
        return found

    def block(self, site: str, until: float) -> None:
        """Grant nothing of a site before then."""
        self._db.write(self._sql["block"], (until, self._run, site))

    def enter(self, site: str) -> None:
        """Make a site part of the crawl."""
        self._db.write(self._sql["enter"], (self._site(site),))

    def schedule(self, due: Sequence[Due]) -> int:
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
        changed = self._db.write(self._sql["reopen"], (self._run, *spellings(rule), limit)).rowcount
        if changed:
            self._standings.clear()
            for (number,) in self._db.all(self._sql["all_sites"], (self._run,)):
                self._refresh(number)
        return changed

    def _site(self, name: str, *, is_external: bool = False) -> int:
        """Give the number of a site; it gets one when it is first met."""
        number = self._site_ids.get(name)
        if number is None:
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

    def _refresh(self, site: int, leased: int = 0, fetched: int = 0) -> None:
        """Find the best entry of a site anew, and count what became of others."""
        self._db.write(self._sql["refresh"], (site, leased, fetched))

    def _make_room(self) -> None:
        if len(self._standings) >= _CACHED:
            self._standings.clear()


def _below(ask: Ask) -> int:
    """Give the rank below which a request may be served: what is scheduled has ranks below zero."""
    return 0 if ask.only_due else _ANY_RANK
