"""A page's way into the store: read and judged, then recorded, in one transaction.

Owns: what is done with one result, and what is sent along to spare a page from being sent again. Must not know: when it
is its turn (crawl.py), rules (core), SQL. Start reading at `PageIntake.read`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.crawl import machine
from honeyguide.core.crawl.frontier import Done, Dropped, Retry, is_fetch
from honeyguide.core.crawl.judge import Around, candidates_of, judge_page
from honeyguide.core.crawl.sitemap import POSITION, place_external
from honeyguide.core.fetching import retry_after_s
from honeyguide.core.page.likeness import main_digest, page_text, sketch_of
from honeyguide.core.records import Crawled, describe_change, page_record
from honeyguide.core.recrawl.history import Visit, body_digest
from honeyguide.core.recrawl.signals import LinkDensity, kind_of, link_density
from honeyguide.core.recrawl.visits import compare_visit
from honeyguide.core.rules.topic import SCALE
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.errors import AskedToWaitError, FetchError, ForbiddenError, UrlError
from honeyguide.ports.fetch import Validators
from honeyguide.ports.store import Report

if TYPE_CHECKING:
    from honeyguide.core.crawl.frontier import Lease, Outcome, Run
    from honeyguide.core.crawl.judge import CrawlContext, PageJudgement
    from honeyguide.core.page.page import Page
    from honeyguide.core.records import Record
    from honeyguide.core.recrawl.history import HistoryEntry
    from honeyguide.core.recrawl.priors import PageClass
    from honeyguide.ports.fetch import Fetched, PageReader
    from honeyguide.ports.store import Store

_NOT_MODIFIED, _MOVED, _FOUND, _GONE = 304, 301, 302, 404
_UNREAD = LinkDensity()
_ACTIONS = {Done: "unchanged", Retry: "retry", Dropped: "dropped"}  # where nothing was read
_TWINS = 20  # pages that said the same, of which one may still do


@dataclass(frozen=True, slots=True)
class PageAttachments:
    """What came with a page, for outputs that want more than its record; None where there was nothing to read."""

    fetched: Fetched | None = None
    page: Page | None = None


class FetchResult(NamedTuple):
    """A lease and its result, on the way into the store.

    `url` is where redirects led, `known` what history knows of the page there, `is_again` whether this run had it,
    `is_external` whether they led out of the crawl.
    """

    lease: Lease
    outcome: Outcome
    fetched: Fetched | None
    at: float
    url: Url
    known: HistoryEntry | None = None
    is_again: bool = False
    body: int | None = None
    page: Page | None = None
    judged: PageJudgement | None = None
    content: str | None = None
    made: LinkDensity = _UNREAD
    kind: PageClass = "page"
    is_external: bool = False


class Intake(NamedTuple):
    """What a result says: a visit for history, and the page's record for the outputs, unless they do not want it."""

    ended: FetchResult
    visit: Visit
    record: Record | None

    @property
    def arrival(self) -> PageAttachments:
        """What came with the page."""
        return PageAttachments(self.ended.fetched, self.ended.page)


class PageIntake:
    """Reads and stores the pages of one run; `external_pages` of them may be of other sites."""

    def __init__(
        self, reader: PageReader, store: Store, run: Run, ground: CrawlContext, external_pages: int
    ) -> None:
        self._reader = reader
        self._store = store
        self._queue = store.queue(run)
        self._ledger = store.ledger(run)
        self._ground = ground
        self._run = run.id
        self._external_pages = external_pages
        self._sites = self._ledger.sites()
        self._looked: set[str] = set()
        self._is_wider = True

    # --- before a visit ---

    def validators(self, lease: Lease) -> Validators | None:
        """Give what to send along, so that a page that is the same need not be sent: of pages that this run has read."""
        known = self._known(lease.url)
        if known is None or not self._was_read(known) or not (known.etag or known.last_modified):
            return None
        return Validators(known.etag, known.last_modified, Url.parse(known.arrived or known.url))

    def _known(self, url: Url) -> HistoryEntry | None:
        """Give what history knows of a page, where it has moved to."""
        known = self._store.history.get(self._ground.digest(url))
        if known is None or not known.is_moved or known.arrived is None:
            return known
        return self._store.history.get(self._ground.digest(Url.parse(known.arrived)))

    def _was_read(self, known: HistoryEntry | None) -> bool:
        """Tell whether this run has read the page as it was last seen: then its links are in the queue."""
        return known is not None and known.seen_at is not None and known.run == self._run

    # --- after it ---

    def read(self, lease: Lease, outcome: Outcome, result: Fetched | FetchError, at: float) -> Intake:
        """Read and judge a result; what takes most of the time leaves the store to others meanwhile."""
        fetched = None if isinstance(result, FetchError) else result
        ended = self._arrive(FetchResult(lease, outcome, fetched, at, lease.url), fetched)
        if fetched is not None and isinstance(ended.outcome, Done) and fetched.status != _NOT_MODIFIED:
            ended = ended._replace(body=body_digest(fetched.body))
            if not (ended.is_again and ended.known is not None and ended.known.body == ended.body):
                ended = self._read(ended, fetched)
        visit = self._visit(ended)
        return Intake(ended, visit, self._record(ended, compare_visit(ended.known, visit)))

    def finish(self, told: Intake) -> None:
        """Take a result into the store."""
        ended, visit, record = told
        self._queue.finish(ended.lease, ended.outcome, self._report(ended, record))
        if is_fetch(ended.outcome) or self._is_refused(ended):
            self._note(ended, visit)

    def _is_refused(self, ended: FetchResult) -> bool:
        """Tell whether a page that was visited before is refused: that counts as a visit, or it would be planned at once again."""
        is_dropped = isinstance(ended.outcome, Dropped)
        return is_dropped and self._store.history.get(self._ground.digest(ended.lease.url)) is not None

    def _arrive(self, ended: FetchResult, fetched: Fetched | None) -> FetchResult:
        """See where redirects led: a seed takes the crawl with it (URL-10), other pages may not leave it."""
        lease = ended.lease
        self._look_around(lease)
        if lease.is_seed and not isinstance(ended.outcome, Retry):
            self._enter(fetched.url.site if fetched else lease.site)
        if fetched is None or not isinstance(ended.outcome, Done):
            return ended
        site = fetched.url.site
        is_external = site not in (lease.site, *self._sites)
        if is_external and not self._may_leave(lease):
            used = ", and --follow-external is used up" if self._ground.follow_external else ""
            why = Why("redirect-outside", f"leads to {fetched.url.text}{used}")
            return ended._replace(outcome=Dropped(why))
        known = self._store.history.get(self._ground.digest(fetched.url))
        if fetched.status == _NOT_MODIFIED and not self._was_read(known):
            return ended._replace(
                outcome=Dropped(Why("http-304", "answered 304, though nothing was had before"))
            )
        return ended._replace(
            url=fetched.url, known=known, is_again=self._was_read(known), is_external=is_external
        )

    def _may_leave(self, lease: Lease) -> bool:
        """Tell whether a page may be one of another site; one that was to be counts as such already."""
        if not self._ground.follow_external:
            return False
        return lease.is_external or self._queue.external_pages() < self._external_pages

    def _enter(self, site: str) -> None:
        """Make a site part of the crawl: where a seed was found, or where it should have been."""
        if site not in self._sites:
            self._queue.add_site(site)
            self._sites |= {site}
            self._is_wider = True

    def _look_around(self, lease: Lease) -> None:
        """See which sites are part of the crawl by now, where a page shows that another process knows of more."""
        if lease.is_seed or lease.is_external or lease.site in self._sites or lease.site in self._looked:
            return
        self._looked.add(lease.site)
        self._sites = self._ledger.sites()
        self._is_wider = True

    def gather(self) -> None:
        """Place what was met before its site was part of the crawl: so the order of seeds does not matter."""
        if not self._is_wider:
            return
        self._is_wider = False
        queue, ground, found = self._queue, self._ground, []
        told: list[tuple[int, str]] = []
        for digest in queue.now_internal():
            row, seen = self._ledger.find(digest) or (None, ())
            if row is None:
                continue
            sightings = [one for _, one in seen]
            placed = place_external(row, sightings, self._sites, ground)
            if placed is not None:
                found.append(placed)
                told += [(digest, one.anchor) for one in sightings if one.position == POSITION and one.anchor]
        if found:
            queue.requeue(found)
            queue.add((), ground.traps.take_changes())
            self._store.history.note_lastmods(told)

    def _read(self, ended: FetchResult, fetched: Fetched) -> FetchResult:
        """Parse a page and let the core judge it by what the store knows."""
        ground, lease = self._ground, ended.lease
        page = self._reader.page(fetched.body, fetched.url, fetched.headers.content_type)
        said = page_text(page)
        content = main_digest(said.main)
        candidates = candidates_of(page, ground)
        known = self._queue.known([candidate.digest for candidate in candidates])
        made = link_density(page, said.lines, self._sites)
        kind = kind_of(ended.url, made, ended.known.found if ended.known else None, ground.profile)
        around = Around(known, self._sites, self._twin(ended, page, content), kind == "hub")
        judged = judge_page(page, lease, candidates, around, ground)
        if not lease.is_seed and not ended.is_again:
            ground.traps.learn(lease.url, sketch_of(said.text))
        return ended._replace(page=page, judged=judged, content=content, made=made, kind=kind)

    def _twin(self, ended: FetchResult, page: Page, content: str | None) -> str | None:
        """Find a page that says the same; pages that hardly say anything, and a page itself, are no twins."""
        is_again = ended.is_again or ended.lease.is_recrawl
        if content is None or is_again or len(page.text) < self._ground.profile.traps.min_twin_chars:
            return None
        said = self._queue.pages_with_content(content, _TWINS)
        return next((url for url in said if self._says(url, content)), None)

    def _says(self, url: str, content: str) -> bool:
        """Tell whether a page that said something still does, as far as is known."""
        known = self._known(Url.parse(url))
        return known is None or (known.failures == 0 and known.content in (None, content))

    def _report(self, ended: FetchResult, record: Record | None) -> Report:
        digest = self._ground.digest(ended.url)
        arrived = None if digest == self._ground.digest(ended.lease.url) else (digest, ended.url)
        if ended.judged is None:
            return Report(record, arrived=arrived, is_external=ended.is_external)
        families = self._ground.traps.take_changes()
        return Report(record, ended.judged.findings, ended.content, arrived, families, ended.is_external)

    def _record(self, ended: FetchResult, verdict: str | None) -> Record:
        fetched, judged, page, known = ended.fetched, ended.judged, ended.page, ended.known
        action = judged.action if judged else _ACTIONS[type(ended.outcome)]
        why = judged.why if judged else None if isinstance(ended.outcome, Done) else ended.outcome.why
        is_elsewhere = fetched is not None and fetched.url != ended.lease.url
        told = None
        if verdict is not None and known is not None and known.seen_at is not None:
            told = describe_change(verdict, known.seen_at)
        crawled = Crawled(
            ended.at,
            action,
            fetched.status if fetched else None,
            fetched.url.text if fetched and is_elsewhere else None,
            page.title if page else None,
            known.content if action == "unchanged" and known else ended.content,
            fetched.elapsed_s if fetched else None,
            judged.score if judged else None,
            why,
            judged.findings.scored if judged and self._ground.score_all else None,
            told,
        )
        return page_record(ended.lease, crawled)

    # --- history ---

    def _note(self, ended: FetchResult, visit: Visit) -> None:
        """Note the visit; where a redirect led to another page, that one has the history, and the old place says so."""
        history, digest = self._store.history, self._ground.digest(ended.lease.url)
        if visit.digest == digest:
            history.record(visit, self._run)
            return
        lease, is_moved = ended.lease, ended.fetched is not None and ended.fetched.is_moved
        history.record(replace(visit, moved_from=digest if is_moved else None), self._run)
        led_on = Visit(
            lease.url.text, digest, ended.at, _MOVED if is_moved else _FOUND, depth=lease.depth,
            hub_depth=lease.hub_depth, arrived=visit.url, is_moved=is_moved, is_redirect_source=True,
        )  # fmt: skip
        history.record(led_on, self._run)

    def _visit(self, ended: FetchResult) -> Visit:
        lease, fetched, judged, url = ended.lease, ended.fetched, ended.judged, ended.url
        visit = Visit(
            url=url.text,
            digest=self._ground.digest(url),
            at=ended.at,
            status=fetched.status if fetched else None,
            content=ended.content,
            relevance=judged.score.value / SCALE if judged and judged.score else None,
            depth=lease.depth,
            hub_depth=lease.hub_depth,
            kind=ended.kind,
            links=ended.made.links,
            new_links=sum(found.out is None for found in judged.findings.new) if judged else 0,
            etag=fetched.headers.etag if fetched else None,
            last_modified=fetched.headers.last_modified if fetched else None,
            elapsed_s=fetched.elapsed_s if fetched else 0.0,
            body=ended.body,
            link_share=ended.made.link_share,
            arrived=url.as_linked if url.as_linked != url.text else None,
            newborn=_newborn(ended) if ended.is_again else (),
        )
        is_gone = judged is not None and judged.action == "soft-404"  # it says itself that it is not there
        return replace(visit, status=_GONE, content=None, body=None) if is_gone else visit


def _newborn(ended: FetchResult) -> tuple[int, ...]:
    """Give the links into its own site that a hub did not have when it was read before: those pages are new."""
    known, judged = ended.known, ended.judged
    if known is None or judged is None or not known.is_hub:
        return ()
    site = ended.url.site
    return tuple(found.digest for found in judged.findings.new if found.out is None and found.site == site)


def event_of(lease: Lease, result: Fetched | FetchError, at: float) -> machine.Event:
    """Tell the machine how a fetch ended, and whose doing that was."""
    claim = lease.claim
    if not isinstance(result, FetchError):
        rest_s = retry_after_s(result.headers.retry_after, at)
        return machine.Answered(claim, result.status, at, rest_s, result.url.site)
    rest_s, is_refused, there = (
        result.retry_after_s,
        isinstance(result, ForbiddenError),
        _led_to(lease, result),
    )
    # Refused for good by robots.txt, or only until that can be had again: then its origin says when.
    may_pass = rest_s is not None if is_refused else result.retryable
    if there is None:
        is_fetch = not isinstance(result, ForbiddenError | AskedToWaitError)
        return machine.Failed(claim, Why(result.rule, result.why), at, may_pass, is_fetch, rest_s)
    why = Why(result.rule, f"redirects to {there.text}: {result.why}")  # and that redirect was fetched
    return machine.Failed(claim, why, at, may_pass, rest_s=rest_s, site=there.site)


def _led_to(lease: Lease, error: FetchError) -> Url | None:
    """Give where redirects had led when a fetch failed; None where there were none."""
    if error.url == lease.url.as_linked:
        return None
    try:
        return Url.parse(error.url)
    except UrlError:  # a fetcher that is not ours may say anything
        return None
