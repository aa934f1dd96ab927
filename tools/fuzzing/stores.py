"""Stores that were changed behind our back: bytes, pages, values, schema.

Owns: how a store file is damaged, and what must hold then: it works, or a `StoreError` says why it does not.
Must not know: how cases are run (`running.py`).
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fuzzing.documents import expect
from fuzzing.files import Files
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import Done, Retry
from honeyguide.core.crawl.judge import Findings
from honeyguide.core.crawl.traps import ShapeLesson
from honeyguide.core.recrawl.history import Visit
from honeyguide.core.why import Why
from honeyguide.errors import StoreError
from honeyguide.ports.store import Intake
from honeyguide.testing.contracts import ask, digest, found, spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

_TABLES = ("run", "owner", "site", "entry", "sighting", "page", "tally", "family", "known", "visit")
_VALUES = (
    "NULL", "''", "'x'", "-1", "0", "9223372036854775807", "-9223372036854775808", "1e308", "9e999", "x'ff'", "x''", "'[1'", "'http://['",
    "cast(x'ff41' AS TEXT)", "zeroblob(100000)", "printf('%.*c', 100000, 'a')", "'https://b.example/'", "4", "0.5", "char(0)", "'{}'",
)  # fmt: skip
_SCHEMA = (
    "DROP TABLE {t}", "DROP TABLE {t}; CREATE TABLE {t} (id, x)", "ALTER TABLE {t} RENAME TO {t}2",
    "ALTER TABLE {t} RENAME TO {t}2; CREATE VIEW {t} AS SELECT * FROM {t}2",
    "DROP TABLE {t}; CREATE VIEW {t} AS SELECT 1 AS id, 2 AS run", "DELETE FROM {t}", "INSERT INTO {t} SELECT * FROM {t}",
    "CREATE TRIGGER z{t} AFTER UPDATE ON {t} BEGIN DELETE FROM {t}; END",
    "CREATE TRIGGER z{t} BEFORE INSERT ON {t} BEGIN SELECT raise(ABORT, 'no'); END",
    "CREATE TRIGGER z{t} BEFORE UPDATE ON {t} BEGIN SELECT raise(ROLLBACK, 'no'); END",
    "CREATE TRIGGER z{t} AFTER INSERT ON {t} BEGIN INSERT INTO {t} SELECT * FROM {t}; END",
    "DROP TABLE {t}; CREATE VIEW {t} AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x AS id, x AS run FROM c",
    "PRAGMA application_id = 7", "PRAGMA application_id = 0", "PRAGMA user_version = 99", "PRAGMA user_version = -5", "PRAGMA user_version = 0",
    "PRAGMA journal_mode = DELETE", "PRAGMA auto_vacuum = 1; VACUUM", "PRAGMA page_size = 512; PRAGMA journal_mode = DELETE; VACUUM",
    "PRAGMA encoding = 'UTF-16'", "DROP INDEX IF EXISTS page_content", "DROP INDEX IF EXISTS entry_identity",
)  # fmt: skip


class Damage(NamedTuple):
    """What is done to a store: SQL, then changes of bytes as (place in millionths, new byte), then a cut in millionths."""

    sql: tuple[str, ...] = ()
    changes: tuple[tuple[int, int], ...] = ()
    cut: int = 0
    data: bytes | None = None


class Stores(Files):
    """Store files: a `StoreError`, or everything works."""

    name = "stores"
    suffix = "db"

    def begin(self, chance: Random, corpus: Sequence[bytes]) -> None:
        """Get ready, with a whole store."""
        super().begin(chance, corpus)
        self.whole = Path(self.folder.name) / "whole.db"
        _fill(self.whole)
        with closing(sqlite3.connect(self.whole)) as db:
            names = {t: [row[1] for row in db.execute(f"PRAGMA table_info({t})")] for t in _TABLES}
        self.columns = [(table, column) for table, columns in names.items() for column in columns]

    def make(self) -> Damage:
        """Think of something."""
        chance, way = self.chance, self.chance.random()
        if way < 0.35:
            place = chance.choice((100, 20_000, 1_000_000))  # the head, the first pages, anywhere
            return Damage(
                changes=tuple(
                    (chance.randrange(place), chance.randrange(256)) for _ in range(chance.randint(1, 30))
                )
            )
        if way < 0.4:
            return Damage(cut=chance.randrange(1_000_000))
        sql = [self._value() for _ in range(chance.randint(0, 4))]
        if way > 0.75:
            sql.insert(0, chance.choice(_SCHEMA).format(t=chance.choice(_TABLES)))
        return Damage(
            tuple(sql),
            ((chance.randrange(1_000_000), chance.randrange(256)),) if chance.random() < 0.1 else (),
        )

    def _value(self) -> str:
        table, column = self.chance.choice(self.columns)
        few = self.chance.choice(("", " WHERE random() % 3 = 0"))
        return f"UPDATE OR IGNORE {table} SET {column} = {self.chance.choice(_VALUES)}{few}"  # noqa: S608 - our own names

    def given(self, document: bytes) -> Iterable[Damage]:
        """Take a file for a store."""
        return (Damage(data=document),)

    def check(self, case: Damage) -> None:
        """Damage a store, open it and do everything with it."""
        for old in self.path.parent.glob("case.db*"):
            old.unlink()
        _damage(self.path, self.whole, case)
        try:
            store = SqliteStore(self.path, busy_s=0.2)
        except StoreError as error:
            expect(0 < len(str(error)) <= 1_000, "out of bounds")
            return
        try:
            _use(store)
        except StoreError as error:
            expect(0 < len(str(error)) <= 1_000, "out of bounds")
            store.abandon()


def _fill(path: Path) -> None:
    """Make a store with something in every table."""
    store = SqliteStore(path)
    run = store.runs.begin(spec(), 0.0)
    frontier = store.queue(run)
    frontier.add([found(f"/{n}", priority=n % 9) for n in range(60)])
    frontier.add(
        [found("https://b.example/", out=Why("other-site", "b.example")), found("https://c.example/x")]
    )
    frontier.add_site("a.example")
    for lease in frontier.claim(ask(limit=6)).leases[:4]:
        findings = Findings(new=[found(f"/new/{lease.claim}")])
        findings.skipped.update(["scheme"])
        lesson = ShapeLesson(f"f{lease.claim}", is_alike=False, recent=((1, 2, 3),))
        outcome = Done() if lease.claim != 2 else Retry(9.0, Why("http-503", "later"))
        frontier.commit_page(
            lease, Intake(outcome, {"url": lease.url.text}, findings, f"c{lease.claim}", lesson=lesson)
        )
        store.history.record(Visit(lease.url.text, digest(lease.url.text), 10.0, 200, "x", etag="e"), run.id)
    store.runs.end(run, "max_pages", 5.0)
    store.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _damage(path: Path, whole: Path, case: Damage) -> None:
    if case.data is not None:
        path.write_bytes(case.data)
        return
    shutil.copyfile(whole, path)
    if case.sql:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            for statement in case.sql:
                try:
                    db.executescript(statement)
                except sqlite3.Error:
                    continue
    if case.changes or case.cut:
        data = bytearray(path.read_bytes())
        for place, byte in case.changes:
            data[place * len(data) // 1_000_000] = byte
        path.write_bytes(data[: case.cut * len(data) // 1_000_000] if case.cut else data)


def _use(store: SqliteStore) -> None:
    """Read everything, and do what a crawl does."""
    runs = store.runs.list()
    run = store.runs.begin(spec(), 100.0)
    frontier = store.queue(run)
    (
        frontier.sites(),
        frontier.shapes(),
        frontier.urls_per_host(),
        frontier.reopen("max-depth"),
        store.check(),
    )
    for rows in (frontier.rows(), frontier.rows(rule="other-site"), frontier.pages(), store.history.known()):
        list(islice(rows, 5_000))
    (
        frontier.find(digest("/1")),
        store.history.visits(digest("/0")),
        frontier.known([digest("/1"), digest("/2")]),
    )
    frontier.add([found("/fresh"), found("https://d.example/")])
    leases = [*frontier.adopt(ask(200.0, limit=3)), *frontier.claim(ask(200.0, limit=5)).leases]
    for lease in leases:
        frontier.commit_page(
            lease, Intake(Done(), {"url": lease.url.text}, Findings(new=[found(f"/later/{lease.claim}")]))
        )
        store.history.record(Visit(lease.url.text, digest(lease.url.text), 200.0, 200, "x"), run.id)
    frontier.block("a.example", 300.0)
    frontier.renew(300.0, 900.0)
    frontier.release(300.0)
    frontier.counts()
    store.runs.end(runs[0] if runs else run, "complete", 300.0)
    store.flush()
    store.close()
