"""What is only counted, until the next commit: leases, fetches, and links that are met again.

Owns: the counters of the tables `run`, `entry` (`seen`) and `tally`. Must not know: when a commit comes (the store does).
Start reading at `SqliteCounters.write`.

Many pages meet the same links, and every page counts in its run, so what waits is written once for all of them. A step
that is undone must not count, and those before it must: the steps are kept until then.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.adapters.store.sqlite.database import queries

if TYPE_CHECKING:
    from honeyguide.adapters.store.sqlite.database import Database
    from honeyguide.core.crawl.judge import Findings


class CounterStep(NamedTuple):
    """What one step counts: fetches, leases that are out, leases that were given; and what a page met."""

    fetched: int = 0
    leased: int = 0
    claims: int = 0
    findings: Findings | None = None


class SqliteCounters:
    """The counters of one run that wait for a commit; `again` tells them by the identity of links."""

    def __init__(self, db: Database, run: int) -> None:
        self._db = db
        self._run = run
        self._turn = db.turn
        self._sql = queries("frontier")
        self._steps: list[CounterStep] = []
        self._fetched = self._leased = self._claims = 0
        self._skipped: Counter[str] = Counter()
        self.again: Counter[int] = Counter()

    def __len__(self) -> int:
        """Give the number of steps that wait."""
        return len(self._steps)

    def add(self, step: CounterStep) -> None:
        """Count a step."""
        self._check_turn()
        self._steps.append(step)
        fetched, leased, claims, findings = step
        self._fetched += fetched
        self._leased += leased
        self._claims += claims
        if findings is not None:
            self._skipped.update(findings.skipped)
            self.again.update(findings.again + [digest for digest, _ in findings.sightings])

    def budget(self) -> tuple[int, int, int]:
        """Give what waits of the run: fetches, leases that are out, leases that were given."""
        self._check_turn()
        return self._fetched, self._leased, self._claims

    def keep(self, steps: int) -> None:
        """Let only the first so many steps have counted."""
        kept = self._steps[:steps]
        self._fetched = self._leased = self._claims = 0
        for waiting in (self._steps, self._skipped, self.again):
            waiting.clear()
        for step in kept:
            self.add(step)

    def write(self) -> None:
        """Write what waits."""
        self._check_turn()
        if self._steps and self._db.is_open:
            run = self._run
            self._db.write(self._sql["count"], (self._fetched, self._leased, self._claims, run))
            self._db.write_many(self._sql["seen"], [(n, run, digest) for digest, n in self.again.items()])
            self._db.write_many(self._sql["tally"], [(run, rule, n) for rule, n in self._skipped.items()])
            self.keep(0)

    def _check_turn(self) -> None:
        """Forget everything if it was undone: a full disk may take back a whole turn at writing, whoever finds out."""
        if self._turn != self._db.turn:
            self._turn = self._db.turn
            self.keep(0)
