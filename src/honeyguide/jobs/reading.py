"""A page's way into the store: read, judged, recorded, in one transaction.

Owns: what is done with one result. Must not know: when it is its turn (crawl.py), rules (core), SQL.
Start reading at `Reading.finish`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from honeyguide.core.crawled import Crawled, page_record
from honeyguide.core.frontier import Done, Dropped, Retry, Why, is_fetch
from honeyguide.core.history import Visit
from honeyguide.core.judge import Around, candidates_of, judge_page
from honeyguide.core.likeness import main_digest, main_lines, sketch_of
from honeyguide.errors import FetchError
from honeyguide.ports import Report

if TYPE_CHECKING:
    from honeyguide.core.frontier import Lease, Outcome
    from honeyguide.core.judge import Ground, Judged
    from honeyguide.core.page import Page
    from honeyguide.core.records import Record
    from honeyguide.core.url import Url
    from honeyguide.ports import Fetched, Frontier, PageReader, Store


@dataclass(frozen=True, slots=True)
class Arrival:
    """What came with a page, for outputs that want more than its record; None where there was nothing to read."""

    fetched: Fetched | None = None
    page: Page | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A lease and its result, on the way into the store."""

    lease: Lease
    outcome: Outcome
    fetched: Fetched | None
    at: float
    page: Page | None = None
    judged: Judged | None = None
    content: str | None = None


class Reading:
    """Reads and stores the pages of one run."""

    def __init__(
        self, reader: PageReader, store: Store, frontier: Frontier, ground: Ground, run: int
    ) -> None:
        self._reader = reader
        self._store = store
        self._frontier = frontier
        self._ground = ground
        self._run = run
        self._sites = frontier.sites()

    def finish(
        self, lease: Lease, outcome: Outcome, result: Fetched | FetchError, at: float
    ) -> tuple[Record | None, Arrival]:
        """Take a result into the store; gives the page's record, unless it is tried again."""
        fetched = None if isinstance(result, FetchError) else result
        ended = Ended(lease, self._arrive(lease, outcome, fetched), fetched, at)
        if fetched is not None and isinstance(ended.outcome, Done) and 200 <= fetched.status < 300:
            ended = self._read(ended, fetched)
        record = None if isinstance(ended.outcome, Retry) else self._record(ended)
        report = Report(record)
        if ended.judged is not None:
            arrived = self._arrived_at(lease, fetched)
            families = self._ground.traps.take_changes()
            report = Report(record, ended.judged.findings, ended.content, arrived, families)
        self._frontier.finish(lease, ended.outcome, report)
        if is_fetch(ended.outcome):
            self._store.history.record(self._visit(ended), self._run)
        return record, Arrival(fetched, ended.page)

    def _arrive(self, lease: Lease, outcome: Outcome, fetched: Fetched | None) -> Outcome:
        """See where redirects led: a seed takes the crawl with it (URL-10), other pages may not leave it."""
        if fetched is None or not isinstance(outcome, Done) or fetched.url.site == lease.site:
            return outcome
        site = fetched.url.site
        if lease.is_seed:
            self._frontier.enter(site, instead_of=lease.site)
            self._sites = self._frontier.sites()
            return outcome
        if site in self._sites or self._ground.follow_external:
            return outcome
        return Dropped(Why("redirect-outside", f"leads to {fetched.url.text}"))

    def _read(self, ended: Ended, fetched: Fetched) -> Ended:
        """Parse a page and let the core judge it by what the store knows."""
        ground, lease = self._ground, ended.lease
        page = self._reader.page(fetched.body, fetched.url, fetched.headers.content_type)
        lines = main_lines(page)
        content = main_digest(lines)
        candidates = candidates_of(page, ground)
        known = self._frontier.known([candidate.digest for candidate in candidates])
        around = Around(known, self._sites, self._twin(lease, page, content))
        judged = judge_page(page, lease, candidates, around, ground)
        if not lease.is_seed:
            ground.traps.learn(lease.url, sketch_of(lines))
        return Ended(lease, ended.outcome, fetched, ended.at, page, judged, content)

    def _twin(self, lease: Lease, page: Page, content: str | None) -> str | None:
        """Find a page that says the same; pages that hardly say anything, and a page itself, are no twins."""
        if content is None or lease.is_recrawl or len(page.text) < self._ground.profile.traps.min_twin_chars:
            return None
        return self._frontier.twin(content)

    def _arrived_at(self, lease: Lease, fetched: Fetched | None) -> tuple[int, Url] | None:
        if fetched is None or fetched.url == lease.url:
            return None
        digest = self._ground.digest(fetched.url)
        return None if digest == self._ground.digest(lease.url) else (digest, fetched.url)

    def _record(self, ended: Ended) -> Record:
        fetched, judged, page = ended.fetched, ended.judged, ended.page
        why = ended.outcome.why if isinstance(ended.outcome, Dropped) else judged.why if judged else None
        is_elsewhere = fetched is not None and fetched.url != ended.lease.url
        crawled = Crawled(
            ended.at,
            judged.action if judged else "dropped" if isinstance(ended.outcome, Dropped) else "unchanged",
            fetched.status if fetched else None,
            fetched.url.text if fetched and is_elsewhere else None,
            page.title if page else None,
            ended.content,
            fetched.elapsed_s if fetched else None,
            judged.score if judged else None,
            why,
            judged.findings.scored if judged and self._ground.score_all else None,
        )
        return page_record(ended.lease, crawled)

    def _visit(self, ended: Ended) -> Visit:
        lease, fetched, judged = ended.lease, ended.fetched, ended.judged
        inside = judged.findings.inside if judged else 0
        is_hub = inside >= self._ground.profile.crawl.hub_links
        return Visit(
            lease.url.text,
            self._ground.digest(lease.url),
            ended.at,
            fetched.status if fetched else None,
            ended.content,
            judged.score.value / 10 if judged and judged.score else None,
            lease.depth,
            0 if is_hub else lease.hub_depth,
            is_hub,
            inside,
            sum(found.out is None for found in judged.findings.new) if judged else 0,
            fetched.headers.etag if fetched else None,
            fetched.headers.last_modified if fetched else None,
            fetched.elapsed_s if fetched else 0.0,
        )
