"""What is only counted of links that are met again, until the next commit.

Owns: the counters `seen` of the table `entry`, and the table `tally`. Must not know: when a commit comes (the store does).
Start reading at `SqliteCounters.write`.

Many pages meet the same links, so what waits is written once for all of them. A page that is undone must not count, and
those before it must: the pages are kept until then.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from honeyguide.adapters.store.queries import queries

if TYPE_CHECKING:
    from honeyguide.adapters.store.queries import Database
    from honeyguide.core.judge import Findings


class SqliteCounters:
    """The counters of one run that wait for a commit; `again` tells them by the identity of links."""

    def __init__(self, db: Database, run: int) -> None:
        self._db = db
        self._run = run
        self._turn = db.turn
        self._sql = queries("frontier")
        self._pages: list[Findings] = []
        self._skipped: Counter[str] = Counter()
        self.again: Counter[int] = Counter()

    def __len__(self) -> int:
        """Give the number of pages that wait."""
        return len(self._pages)

    def add(self, findings: Findings) -> None:
        """Count what a page met."""
        self._check_turn()
        self._pages.append(findings)
        self._skipped.update(findings.skipped)
        self.again.update(findings.again)
        self.again.update([digest for digest, _ in findings.sightings])

    def keep(self, pages: int) -> None:
        """Let only the first so many pages have counted."""
        kept = self._pages[:pages]
        for waiting in (self._pages, self._skipped, self.again):
            waiting.clear()
        for findings in kept:
            self.add(findings)

    def write(self) -> None:
        """Write what waits."""
        self._check_turn()
        if self._pages and self._db.is_open:
            run = self._run
            self._db.write_many(self._sql["seen"], [(n, run, digest) for digest, n in self.again.items()])
            self._db.write_many(self._sql["tally"], [(run, rule, n) for rule, n in self._skipped.items()])
            self.keep(0)

    def _check_turn(self) -> None:
        """Forget everything if it was undone: a full disk may take back a whole turn at writing, whoever finds out."""
        if self._turn != self._db.turn:
            self._turn = self._db.turn
            self.keep(0)
