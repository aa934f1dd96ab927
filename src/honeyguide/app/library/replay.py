"""What another traversal or topic would have found: crawls of the pages that a store keeps. Nothing is fetched.

Owns: `replay_crawl`. The replay is the code of `honeyguide crawl`, whose fetcher answers from the store. Must not know: options.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from honeyguide.adapters.clock import SystemClock
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.app.runs import find_run, opened_store
from honeyguide.app.tools.kept import pages_of
from honeyguide.core.crawl.frontier import Budgets, digest_of
from honeyguide.core.records import SCHEMA, is_relevant
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError
from honeyguide.jobs.crawl import Crawler
from honeyguide.jobs.request import CrawlRequest
from honeyguide.ports.fetch import Fetched, Headers, Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from honeyguide.app.tools.kept import StoredPage
    from honeyguide.core.crawl.frontier import Run
    from honeyguide.core.records import Record
    from honeyguide.core.records.answers import ReplayRecord
    from honeyguide.core.rules.profile import Profile
    from honeyguide.ports.fetch import Validators
    from honeyguide.ports.store import Store

_GONE = 404
_MARKS = (100, 300)  # fetches after which relevant pages are counted


@dataclass
class _KeptFetcher:
    """Answers with pages that a run keeps; others are not there, and are counted."""

    pages: dict[int, StoredPage]
    profile: Profile
    missing: int = 0
    hits: list[bool] = field(default_factory=list)

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        """Answer from the store."""
        del validators, part
        page = self.pages.get(digest_of(url, self.profile.scope.tracking))
        kept = page.kept() if page else None
        if kept is None or kept.body is None:
            self.missing += 1
            return Fetched(url, url, _GONE)
        return Fetched(kept.url, url, 200, Headers(kept.content_type), kept.body)

    def take(self, record: Record, _: object) -> None:
        """Count a page; a copy of another finds nothing."""
        self.hits.append(is_relevant(record) and record["action"] != "duplicate")


def replay_crawl(
    path: str | Path,
    profile: Profile,
    traversals: Sequence[str],
    *,
    number: int | None = None,
    max_pages: int | None = None,
) -> list[ReplayRecord]:
    """Crawl the pages that a run of a store keeps, once by each traversal, from the seeds of that run."""
    with opened_store(path, read_only=True) as store:
        run = find_run(store, number)
        return [_replay(store, run, profile, traversal, max_pages) for traversal in traversals]


def _replay(store: Store, run: Run, profile: Profile, traversal: str, most: int | None) -> ReplayRecord:
    tracking = profile.scope.tracking
    pages = {digest_of(Url.parse(page.record["url"]), tracking): page for page in pages_of(store, run)}
    seeds = tuple(Url.parse(row.url) for row in store.ledger(run).rows() if row.depth == 0)
    fetcher = _KeptFetcher(pages, profile)
    request = CrawlRequest(seeds, traversal, Budgets(most), keep_bytes=0)
    with TemporaryDirectory(prefix="honeyguide-") as folder, opened_store(Path(folder) / "h.db") as place:
        crawler = Crawler(fetcher, HtmlReader(), SystemClock(), place, profile)
        asyncio.run(crawler.crawl(request, fetcher.take))
    if fetcher.missing == len(fetcher.hits):
        raise InputError(
            f"run {run.id} keeps no page that can be read again; crawl without --keep 0, or choose another with --run"
        )
    found = [sum(fetcher.hits[:mark]) for mark in _MARKS]
    topic = profile.topic.pattern.source if profile.topic.pattern else None
    return {
        "schema": SCHEMA, "traversal": traversal, "topic": topic, "fetched": len(fetcher.hits), "relevant": sum(fetcher.hits),
        "relevant_100": found[0], "relevant_300": found[1], "missing": fetcher.missing,
    }  # fmt: skip
