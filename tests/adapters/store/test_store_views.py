"""The views for people who open a store with other SQLite tools."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import Done
from honeyguide.core.crawl.judge import Findings
from honeyguide.core.why import Why
from honeyguide.ports.store import Intake
from honeyguide.testing.contracts import SITE, ask, found, page, spec

if TYPE_CHECKING:
    from pathlib import Path


def test_runs_pages_and_links_can_be_read_by_anybody(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "h.db")
    run = store.runs.begin(spec(), 86_400.0)
    queue = store.queue(run)
    queue.add([found("/a")])
    (lease,) = queue.claim(ask()).leases
    new = [found("/b"), found("/c", out=Why("pruned", "weak"))]
    queue.commit_page(lease, Intake(Done(), page("/a"), Findings(new=new)))
    store.runs.end(run, "complete", 90_000.0)
    store.close()
    with closing(sqlite3.connect(tmp_path / "h.db")) as db:
        db.row_factory = sqlite3.Row
        runs, pages, links = (
            list(map(dict, db.execute(sql)))
            for sql in ("SELECT * FROM runs", "SELECT * FROM pages", "SELECT * FROM links")
        )
    assert (runs[0]["run"], runs[0]["pages"], runs[0]["started_at"]) == (1, 1, "1970-01-02T00:00:00Z")
    assert (pages[0]["url"], pages[0]["status"], pages[0]["fetched_at"]) == (
        f"{SITE}/a",
        200,
        "1970-01-01T00:00:00.000Z",
    )
    told = [(link["url"], link["state"], link["found_on"], link["reason"]) for link in links]
    assert told == [
        (f"{SITE}/a", "done", None, None),
        (f"{SITE}/b", "queued", f"{SITE}/a", None),
        (f"{SITE}/c", "rejected", f"{SITE}/a", "weak"),
    ]
