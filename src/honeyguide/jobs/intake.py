"""A page's way into the store: read and judged, and handed over as one `Intake`.

Owns: what is done with one result, and the validators (ETag, Last-Modified) that let a server answer 304. Must not know: when it
is its turn (crawl.py), rules (core), SQL. Start reading at `PageIntake.read`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from honeyguide.core.crawl.frontier import Done, Dropped, Retry, is_fetch
from honeyguide.core.crawl.judge import Around, candidates_of, judge_page, robots_tags
from honeyguide.core.crawl.learner import Learner
from honeyguide.core.crawl.placement import units_of
from honeyguide.core.crawl.sitemap import POSITION, place_external
from honeyguide.core.page.likeness import main_digest, page_text, sketch_of
from honeyguide.core.records import Crawled, describe_change, page_record
from honeyguide.core.recrawl.history import Visit, body_digest
from honeyguide.core.recrawl.signals import LinkDensity, describe_list, kind_of, link_density
from honeyguide.core.recrawl.visits import compare_visit
from honeyguide.core.rules.topic import RELEVANT
from honeyguide.core.url.scope import HOST
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.errors import FetchError
from honeyguide.ports.fetch import PacedFetcher, Validators
from honeyguide.ports.store import Intake, KeptPage, PageView

if TYPE_CHECKING:
    from honeyguide.core.crawl.frontier import Lease, Outcome, Run, SitePace
    from honeyguide.core.crawl.judge import CrawlContext, PageJudgement
    from honeyguide.core.crawl.learner import Lesson
    from honeyguide.core.crawl.traps import ShapeLesson
    from honeyguide.core.page.page import Page
    from honeyguide.core.records import Record
    from honeyguide.core.recrawl.history import HistoryEntry
    from honeyguide.core.recrawl.priors import PageClass
    from honeyguide.jobs.crawl import Crawler
    from honeyguide.ports.fetch import Fetched

_NOT_MODIFIED, _MOVED, _FOUND, _GONE = 304, 301, 302, 404
_UNREAD = LinkDensity()
_UNSEEN = PageView(is_held=False)
_ACTIONS = {Done: "unchanged", Retry: "retry", Dropped: "dropped"}  # where nothing was read


@dataclass(frozen=True, slots=True)
class PageAttachments:
    """What a page had besides its record; None if nothing was read.

    `body` is the digest of the page's bytes, also if they were not sent because nothing changed.
    """

    fetched: Fetched | None = None
    page: Page | None = None
    body: int | None = None


class PageIntake:
    """Reads the pages of one run; `external_pages` of them may be of other sites."""

    def __init__(self, crawler: Crawler, run: Run, context: CrawlContext, external_pages: int) -> None:
        self.reader = crawler.reader
        self.history = crawler.store.history
        self.queue = crawler.store.queue(run)
        self.context = context
        self.run = run.id
        self._contents = crawler.store.contents
        self._fetcher = crawler.fetcher if isinstance(crawler.fetcher, PacedFetcher) else None
        self._external_pages = external_pages
        self.sites = self.queue.sites()
        self._is_wider = True

    # --- before a visit ---

    def validators(self, lease: Lease) -> Validators | None:
        """Give what to send along, so that a page that is the same need not be sent: of pages that this run has read."""
        known = self.known(lease.url) if lease.is_known else None
        if known is None or not self.was_read(known) or not (known.etag or known.last_modified):
            return None
        return Validators(known.etag, known.last_modified, Url.parse(known.arrived or known.url))

    def known(self, url: Url) -> HistoryEntry | None:
        """Look up what history knows of a page, where it has moved to."""
        known = self.history.get(self.context.digest(url))
        if known is None or not known.is_moved or known.arrived is None:
            return known
        return self.history.get(self.context.digest(Url.parse(known.arrived)))

    def was_read(self, known: HistoryEntry | None) -> bool:
        """Tell whether this run has read the page as it was last seen: then its links are in the queue."""
        return known is not None and known.seen_at is not None and known.run == self.run

    # --- after it ---

    def read(
        self, lease: Lease, outcome: Outcome, result: Fetched | FetchError, at: float
    ) -> tuple[Intake, PageAttachments] | None:
        """Read and judge a result; None if another worker has the page by now."""
        fetched = None if isinstance(result, FetchError) else result
        page = _PageReading(self, lease, outcome, fetched, at)
        intake = page.take()
        return None if intake is None else (intake, PageAttachments(fetched, page.crawled.page, page.body))

    def keep(self, lease: Lease, attachments: PageAttachments, max_bytes: int) -> int:
        """Keep a page as it was read; returns how many older bodies were dropped to make room."""
        fetched, digest = attachments.fetched, attachments.body
        if fetched is None or digest is None or not max_bytes:
            return 0
        body = None if fetched.status == _NOT_MODIFIED else fetched.body
        page = KeptPage(fetched.url, fetched.headers.content_type, digest, body)
        return self._contents.keep(self.run, lease.claim, page, max_bytes)

    def may_follow(self, lease: Lease, site: str) -> bool:
        """Tell whether a redirect may be followed to a site: where other sites are followed, their budget decides afterwards."""
        is_inside = site == lease.site or self.context.profile.scope.area(site) in self.sites
        return is_inside or self.context.follow_external

    def may_leave(self, lease: Lease, site: str) -> bool | None:
        """Tell whether a redirect may lead to a site: None if it is part of the crawl, else whether the budget allows it."""
        area = self.context.profile.scope.area(site)
        if site == lease.site or area in self.sites:
            return None
        self.widen(self.queue.sites())
        if area in self.sites:
            return None
        if not self.context.follow_external:
            return False
        return lease.is_external or self.queue.external_pages() < self._external_pages

    def widen(self, sites: frozenset[str]) -> None:
        """Take over the sites that are part of the crawl by now."""
        self._is_wider |= not sites <= self.sites
        self.sites |= sites

    def paces(self, *sites: str) -> tuple[SitePace, ...]:
        """Say when sites may be asked again, as far as the fetcher keeps a pace."""
        return () if self._fetcher is None else tuple(map(self._fetcher.pace_of, dict.fromkeys(sites)))

    def gather(self) -> None:
        """Place what was met before its site was part of the crawl: so the order of seeds does not matter."""
        if not self._is_wider:
            return
        self._is_wider = False
        found, lastmods = [], []
        for row, sightings in self.queue.now_internal():
            placed = place_external(row, sightings, self.sites, self.context)
            if placed is not None:
                found.append(placed)
                lastmods += [
                    (placed.digest, one.anchor)
                    for one in sightings
                    if one.position == POSITION and one.anchor
                ]
        if found:
            self.queue.requeue(found)
            self.history.note_lastmods(lastmods)


class _PageReading:
    """One result on its way: where redirects led, what history knows of the page there, and what reading it gave.

    `crawled`, which the record is made of, is filled in on the way.
    """

    def __init__(
        self, run: PageIntake, lease: Lease, outcome: Outcome, fetched: Fetched | None, at: float
    ) -> None:
        self._run = run
        self._context = run.context
        self._lease = lease
        self._outcome = outcome
        self._fetched = fetched
        self.crawled = Crawled(at)
        if fetched is not None:
            final_url = None if fetched.url == lease.url else fetched.url.text
            self.crawled = Crawled(at, fetched.status, final_url, fetched.elapsed_s, fetched.headers.robots)
            self.crawled.rendered = fetched.rendered and fetched.rendered.why
        self._url = lease.url
        self._known: HistoryEntry | None = None
        self._is_again = self._is_external = self._is_hidden = False
        self._body: int | None = None
        self._judged: PageJudgement | None = None
        self._density = _UNREAD
        self._kind: PageClass = "page"
        self._lesson: ShapeLesson | None = None
        self._view = _UNSEEN

    @property
    def body(self) -> int | None:
        """The digest of the page's bytes; of a page that was not sent again, those of the last visit."""
        if self._body is not None or not isinstance(self._outcome, Done) or self._known is None:
            return self._body
        return self._known.body

    def take(self) -> Intake | None:
        """Read and judge the result; None if another worker has the page by now."""
        lease, fetched = self._lease, self._fetched
        entered = None
        # Where a seed was found, or should have been (URL-10).
        if lease.is_seed and not isinstance(self._outcome, Retry):
            entered = self._context.profile.scope.area(fetched.url.site if fetched else lease.site)
            self._run.widen(frozenset([entered]))
        self._arrive()
        if fetched is not None and isinstance(self._outcome, Done) and fetched.status != _NOT_MODIFIED:
            self._body = body_digest(fetched.body)
            is_same = self._is_again and self._known is not None and self._known.body == self._body
            if is_same:
                self._view = self._run.queue.look(lease)
            else:
                self._read(fetched)
        else:
            self._view = self._run.queue.look(lease)
        if not self._view.is_held:
            return None
        visit = self._visit()
        digest = self._context.digest(self._url)
        is_elsewhere = digest != self._context.digest(lease.url)
        return Intake(
            outcome=self._outcome,
            record=None if self._is_hidden else self._record(compare_visit(self._known, visit)),
            findings=self._judged.findings if self._judged else None,
            content=self.crawled.content,
            target=(digest, self._url) if is_elsewhere else None,
            is_external=self._is_external,
            add_site=entered,
            lesson=self._lesson,
            visits=self._visits(visit) if self._counts_as_visit() else (),
            paces=self._run.paces(lease.site, self._url.site),
            lessons=self._lessons(),
        )

    def _lessons(self) -> tuple[Lesson, ...]:
        """Say what the page teaches of links like the one that led to it (TOPIC-4c); what is tried again teaches nothing yet."""
        lease, rules, judged = self._lease, self._context.traversal.learner, self._judged
        is_over = is_fetch(self._outcome) and not isinstance(self._outcome, Retry)
        if rules is None or lease.group is None or not is_over or self._is_again or lease.is_recrawl:
            return ()
        learner = Learner(rules, self._view.learnt)
        if judged is None or judged.why is not None:  # not found, or a copy
            return learner.lessons(lease.base, lease.group, None, is_relevant=False)
        new = (one for one in judged.findings.new if one.out is None and one.site == lease.site)
        chances = [learner.chance(units_of(one.rank), one.group) for one in new if one.group]
        is_relevant = self.crawled.relevance is not None and self.crawled.relevance >= RELEVANT
        return learner.lessons(lease.base, lease.group, chances, is_relevant=is_relevant)

    def _counts_as_visit(self) -> bool:
        """Count a page that is refused and was visited before, too, or it would be planned at once again."""
        if is_fetch(self._outcome):
            return True
        lease = self._lease
        return (
            isinstance(self._outcome, Dropped)
            and self._run.history.get(self._context.digest(lease.url)) is not None
        )

    def _arrive(self) -> None:
        """See where redirects led: a seed takes the crawl with it (URL-10), other pages may not leave it."""
        lease, fetched = self._lease, self._fetched
        if fetched is None or not (isinstance(self._outcome, Done) or fetched.is_outside):
            return
        may_leave = self._run.may_leave(lease, fetched.url.site)
        if fetched.is_outside and may_leave is None:  # another worker has made it part of the crawl meanwhile
            self._outcome = Retry(self.crawled.at, Why("redirect-outside", f"leads to {fetched.url.text}"))
            return
        if may_leave is False:
            used = ", and --follow-external is used up" if self._context.follow_external else ""
            self._outcome = Dropped(Why("redirect-outside", f"leads to {fetched.url.text}{used}"))
            return
        is_new = not lease.is_known and fetched.url == lease.url
        known = None if is_new else self._run.history.get(self._context.digest(fetched.url))
        if fetched.status == _NOT_MODIFIED and not self._run.was_read(known):
            self._outcome = Dropped(Why("http-304", "answered 304, but the page was never fetched"))
            return
        self._url, self._known = fetched.url, known
        self._is_again, self._is_external = self._run.was_read(known), may_leave is not None

    def _read(self, fetched: Fetched) -> None:
        """Parse a page and let the core judge it by what the store knows, unless the lease was lost."""
        context, lease, crawled = self._context, self._lease, self.crawled
        page = crawled.page = self._run.reader.page(fetched.body, fetched.url, fetched.headers.content_type)
        said = page_text(page)
        content = main_digest(said.main)
        candidates = candidates_of(page, context)
        is_first = not (self._is_again or lease.is_recrawl)
        may_be_copy = is_first and len(page.text) >= context.profile.traps.min_twin_chars
        view = self._view = self._run.queue.look(lease, list(candidates), content if may_be_copy else None)
        if not view.is_held:
            return
        self._run.widen(view.sites)
        context.traps.restore(view.shapes)
        own = frozenset() if context.profile.scope.reach == HOST else {self._url.site}
        crawled.content, self._density = content, link_density(page, said.lines, self._run.sites | own)
        found = self._known.found if self._known else None
        self._kind = kind_of(self._url, self._density, found, context.profile)
        if self._kind == "hub":
            crawled.listing = describe_list(self._url, self._density, context.profile)
        crawled.copy_of = self._copy_of(view)
        tags = robots_tags(page, fetched.headers.robots) if context.respects_robots_tags else frozenset()
        self._is_hidden = "noindex" in tags
        around = Around(
            view.known, self._run.sites, crawled.copy_of, self._kind == "hub", is_nofollow="nofollow" in tags
        )
        self._judged = judge_page(page, lease, candidates, around, context)
        if self._judged.topic is not None:
            is_list = crawled.listing is not None
            crawled.relevance = self._judged.topic.relevance(said.main.decode(), is_list=is_list)
        if self._is_hidden:
            self._judged.findings.skipped["noindex"] += 1
        if not lease.is_seed and not self._is_again:
            self._lesson = context.traps.learn(lease.url, sketch_of(said.text))

    def _copy_of(self, view: PageView) -> str | None:
        """Find a page that said the same and still does, as far as is known."""
        for url in view.copies:
            known = self._run.known(Url.parse(url))
            if known is None or (known.failures == 0 and known.content in (None, self.crawled.content)):
                return url
        return None

    def _record(self, verdict: str | None) -> Record:
        crawled, judged, known, outcome = self.crawled, self._judged, self._known, self._outcome
        if judged is not None:
            crawled.action, crawled.why, crawled.score = judged.action, judged.why, judged.score
            crawled.links = judged.findings.scored if self._context.score_all else None
        else:
            crawled.action = _ACTIONS[type(outcome)]
            crawled.why = None if isinstance(outcome, Done) else outcome.why
        if verdict is not None and known is not None and known.seen_at is not None:
            crawled.change = describe_change(verdict, known.seen_at)
        content = known.content if crawled.action == "unchanged" and known else crawled.content
        return page_record(self._lease, replace(crawled, content=content), self._context)

    # --- history ---

    def _visits(self, visit: Visit) -> tuple[Visit, ...]:
        """Where a redirect led to another page, that one has the history, and the old place says so."""
        lease, digest = self._lease, self._context.digest(self._lease.url)
        if visit.digest == digest:
            return (visit,)
        is_moved = self._fetched is not None and self._fetched.is_moved
        led_on = Visit(
            lease.url.text, digest, self.crawled.at, _MOVED if is_moved else _FOUND, depth=lease.depth,
            hub_depth=lease.hub_depth, arrived=visit.url, is_moved=is_moved, is_redirect_source=True,
        )  # fmt: skip
        return replace(visit, moved_from=digest if is_moved else None), led_on

    def _visit(self) -> Visit:
        lease, fetched, judged, url = self._lease, self._fetched, self._judged, self._url
        visit = Visit(
            url=url.text,
            digest=self._context.digest(url),
            at=self.crawled.at,
            status=fetched.status if fetched else None,
            content=self.crawled.content,
            relevance=None if self.crawled.relevance is None else self.crawled.relevance.value,
            depth=lease.depth,
            hub_depth=lease.hub_depth,
            kind=self._kind,
            links=self._density.links,
            new_links=sum(found.out is None for found in judged.findings.new) if judged else 0,
            etag=fetched.headers.etag if fetched else None,
            last_modified=fetched.headers.last_modified if fetched else None,
            body=self._body,
            link_share=self._density.link_share,
            arrived=url.as_linked if url.as_linked != url.text else None,
            newborn=self._newborn() if self._is_again else (),
            is_refused=not is_fetch(self._outcome),
        )
        is_gone = judged is not None and judged.action == "soft-404"  # it says itself that it is not there
        return replace(visit, status=_GONE, content=None, body=None) if is_gone else visit

    def _newborn(self) -> tuple[int, ...]:
        """Give the links into its own site that a hub did not have when it was read before: those pages are new."""
        known, judged, site = self._known, self._judged, self._url.site
        if known is None or judged is None or not known.is_hub:
            return ()
        return tuple(one.digest for one in judged.findings.new if one.out is None and one.site == site)
