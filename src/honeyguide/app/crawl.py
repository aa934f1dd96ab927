"""Crawling: the network, the reader, the store and sitemaps, put together for `jobs.crawl`; the result is data.

Start reading at `crawl_site` for a library call, at `CrawlSession` for a front end that shows what happens.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.app.arguments import check_no_login, profile_of, url_of
from honeyguide.app.library.own_fetcher import OwnFetcher
from honeyguide.app.library.rendering import Rendering, opened_rendering, rendered_sites
from honeyguide.app.runs import opened_store, reopen_refused, rule_words
from honeyguide.config import load_profile
from honeyguide.core.crawl.frontier import Budgets, Counts, Run, State, digest_of
from honeyguide.core.crawl.learner import Learner
from honeyguide.core.crawl.placement import LANES
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.records import is_relevant, verdict_of
from honeyguide.core.recrawl.history import UNCHANGED
from honeyguide.core.rules.profile import Profile
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.errors import AddressRefusedError, AskedToWaitError, ForbiddenError, InputError, UrlError
from honeyguide.jobs.crawl import PageAttachments
from honeyguide.jobs.request import CrawlRequest, traversal_of
from honeyguide.ports.store import Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from honeyguide.core.records import Record
    from honeyguide.jobs.crawl import CrawlSummary
    from honeyguide.jobs.politeness import PoliteFetcher
    from honeyguide.jobs.sitemaps import SitemapRequest
    from honeyguide.ports.fetch import Clock, Fetcher
    from honeyguide.ports.store import Ledger

    OnPage = Callable[[Record, PageAttachments], None]
    Note = Callable[[str], None]
    Network = Callable[[FetchPolicy, Iterable[Url]], AbstractAsyncContextManager[tuple[PoliteFetcher, Clock]]]

# Front ends import these from here.
__all__ = [
    "LANES", "UNCHANGED", "Budgets", "Counts", "CrawlRequest", "FetchPolicy", "PageAttachments", "Profile", "Run",
    "Store", "load_profile",
]  # fmt: skip

_LOG = logging.getLogger("honeyguide.crawl")
_PAUSES = frozenset({"http-429", "http-503", AskedToWaitError.rule})
_SITES_TOLD = 3  # of which a summary says what was learnt
_SEEDS_LOOKED_UP = 1_000  # whose state is looked up at the end


async def crawl_site(  # noqa: PLR0913 - settings of a library call
    request: CrawlRequest | str | Url,
    policy: FetchPolicy,
    profile: Profile | str | Path,
    store_path: str | Path,
    on_page: OnPage,
    *,
    sitemaps: Sequence[str] = (),
    on_run: Callable[[Store, Run], None] | None = None,
    on_note: Note | None = None,
) -> CrawlSummary:
    """Crawl, or resume the same crawl; `on_page` receives each page when it is finished.

    `request` may be the seed alone. `sitemaps` are addresses, files, or `auto`: those that robots.txt names. `on_run` receives the run before the first page is fetched.
    """
    if not isinstance(request, CrawlRequest):
        request = CrawlRequest((url_of(request),))
    job = CrawlJob(request, policy, profile_of(profile), tuple(sitemaps))
    with opened_store(store_path) as store:
        session = CrawlSession(store, job)
        return await session.crawl(on_page, lambda run: on_run and on_run(store, run), on_note)


MAX_WAIT_S = 10.0  # a site that asks a crawl for a longer pause is closed in the queue, because others can be fetched meanwhile


@asynccontextmanager
async def opened_fetcher(
    policy: FetchPolicy,
    named: Iterable[Url] = (),
    fetcher: Fetcher | None = None,
    clock: Clock | None = None,
    counted: Callable[[Fetcher, Clock], Fetcher] = lambda fetcher, _: fetcher,
) -> AsyncIterator[tuple[PoliteFetcher, Clock]]:
    """Open a polite fetcher of the web, with the clock that it goes by; headers and logins go to `named` URLs alone.

    `fetcher` makes the requests instead of our own; robots.txt, pauses, redirects and retries are the same. `counted` may
    stand between them: it sees every single request.
    """
    from honeyguide.adapters.clock import SystemClock  # costs a third of a second
    from honeyguide.adapters.html.page import forward_of
    from honeyguide.adapters.http.client import HttpFetcher
    from honeyguide.adapters.http.robots import read_robots
    from honeyguide.jobs.politeness import PoliteFetcher

    clock = clock or SystemClock()
    access = policy.access.limited_to(named)
    policy = replace(policy, max_wait_s=min(policy.max_wait_s, MAX_WAIT_S), access=access)
    robots = partial(read_robots, token=policy.robots_token)
    if fetcher is not None:
        own = OwnFetcher(fetcher)
        yield PoliteFetcher(counted(own, clock), clock, robots, policy, forward_of), clock
        return
    async with HttpFetcher(policy) as http:
        yield PoliteFetcher(counted(http, clock), clock, robots, policy, forward_of), clock


# --- the request ---


def sitemap_request(sitemaps: Sequence[str], seeds: tuple[Url, ...]) -> SitemapRequest:
    """Tell addresses, files and `auto` apart."""
    from honeyguide.adapters.html.sitemaps import read_file
    from honeyguide.jobs.sitemaps import SitemapRequest

    named = [text for text in sitemaps if text != "auto"]
    is_auto = len(named) < len(sitemaps)
    urls = [Url.parse(text) for text in named if text.lower().startswith(("http://", "https://"))]
    files = [text for text in named if not text.lower().startswith(("http://", "https://"))]
    return SitemapRequest(urls, [read_file(file) for file in files], seeds if is_auto else ())


# --- what visits came to ---


_LATEST = 50  # pages whose share of relevant ones shows whether a crawl still pays


@dataclass(slots=True)
class CrawlTally:
    """What the visits of this process came to; `refused` were not made because of their address."""

    fetched: int = 0
    refused: int = 0
    relevant: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    failed_seeds: list[tuple[str, Why]] = field(default_factory=list)
    latest: deque[bool] = field(default_factory=lambda: deque(maxlen=_LATEST))  # were the last ones relevant

    def add(self, record: Record) -> None:
        """Count a visit."""
        last = record["points"][-1] if record["points"] else None  # of a failed visit it says why
        verdict, why = verdict_of(record), None if last is None else Why(last["rule"], last["reason"])
        is_refused = why is not None and why.rule == AddressRefusedError.rule
        self.refused += is_refused
        self.fetched += not is_refused
        self.relevant += is_relevant(record)
        self.latest.append(is_relevant(record))
        self.verdicts[verdict] += 1
        if why is not None and verdict == "failed" and not is_refused:
            self.failures[cause_of(why)] += 1
        if why is not None and record["action"] == "dropped" and record["lane"] == "seed":
            self.failed_seeds.append((record["url"], why))


def cause_of(why: Why) -> str:
    """Say in a few words why a page was not fetched; for robots.txt, the reason itself."""
    return why.text if why.rule == ForbiddenError.rule else rule_words(why.rule) or why.rule


class WaitingSeed(NamedTuple):
    """A seed that was not fetched yet: why it failed, if it was tried, and when its host allows another try."""

    url: str
    why: Why | None = None
    retry_at: float | None = None


@dataclass(frozen=True, slots=True)
class CrawlResult:
    """How a crawl ended: the `run`, its `counts`, what this process did, and which seeds wait."""

    run: Run
    newest_run: int
    stopped: str
    counts: Counts
    tally: CrawlTally
    fetched: int
    waiting: tuple[WaitingSeed, ...] = ()
    learnt: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do; something is if no page at all could be fetched, or all were refused."""
        tally = self.tally
        if tally.refused and not tally.fetched:
            return False
        if self.stopped == "nothing_due":
            return tally.verdicts["failed"] < max(1, tally.verdicts.total())
        return self.stopped in ("complete", "max_relevant") and self.counts.states["done"] > 0

    @property
    def causes(self) -> list[str]:
        """Why seeds failed, in a few words, each cause once."""
        failed = [*(why for _, why in self.tally.failed_seeds), *(seed.why for seed in self.waiting)]
        return list(dict.fromkeys(cause_of(why) for why in failed if why is not None))


# --- one process that works on a run ---


@dataclass(frozen=True, slots=True)
class CrawlJob:
    """Everything that a crawl needs besides a store."""

    request: CrawlRequest
    policy: FetchPolicy
    profile: Profile
    sitemaps: tuple[str, ...] = ()
    alternatives: Mapping[Url, Sequence[Url]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_no_login([*map(str, self.request.seeds), *self.sitemaps])


@dataclass(slots=True)
class CrawlSession:
    """One process that works on a run of an open store. `run` is known when the crawl has begun."""

    store: Store
    job: CrawlJob
    tally: CrawlTally = field(default_factory=CrawlTally)
    run: Run | None = None
    network: Network | None = None

    @property
    def begun(self) -> Run:
        """The run as it was when this process began to work on it."""
        if self.run is None:
            raise InputError("the crawl has not begun")
        return self.run

    @property
    def ledger(self) -> Ledger:
        """What the run has done so far."""
        return self.store.ledger(self.begun)

    def pages(self) -> Iterator[Record]:
        """Give the records of all pages of the run, whichever process fetched them."""
        return (record for _, record in self.ledger.pages())

    def are_pending(self, urls: list[str]) -> bool:
        """Tell whether all of these URLs are queued or being fetched."""
        try:
            digests = [digest_of(Url.parse(url), self.job.profile.scope.tracking) for url in urls]
        except UrlError:
            return False
        known = self.ledger.known(digests)
        pending = (State.QUEUED, State.LEASED)
        return all(digest in known and known[digest].state in pending for digest in digests)

    async def crawl(
        self,
        on_page: OnPage,
        on_run: Callable[[Run], object] | None = None,
        on_note: Note | None = None,
        on_new: Callable[[], object] | None = None,
    ) -> CrawlSummary:
        """Crawl; visits are counted in `tally` after `on_page`.

        `on_new` is called before a run is made: what it raises leaves no run behind.
        """
        from honeyguide.adapters.html.content import HtmlReader  # costs a third of a second
        from honeyguide.jobs.crawl import Crawler
        from honeyguide.jobs.request import spec_of

        network = self.network or partial(opened_fetcher, clock=self.store.clock)
        job = self.job
        helped: dict[str, bool] = {}
        how = Rendering(job.request.render, job.policy, job.profile, self._named(), helped)
        async with (
            network(job.policy, self._named()) as (polite, clock),
            opened_rendering(polite, how) as fetcher,
        ):
            started_at = clock.now()
            request, queue = await self._prepare(polite, on_note)
            key = spec_of(request, self.job.profile).key
            if on_new is not None and all(run.spec.key != key for run in self.store.runs.list()):
                on_new()
            if request.max_time_s is not None:  # at least half of it is left for pages
                left_s = request.max_time_s - (clock.now() - started_at)
                request = replace(request, max_time_s=max(request.max_time_s / 2, left_s))

            def begin(run: Run) -> None:
                self.run = run
                if job.request.render == "auto":
                    helped.update(rendered_sites(self.pages()))
                if self.job.policy.allow_private:
                    reopen_refused(self.store, [run])
                queue(run)
                if on_run is not None:
                    on_run(run)

            def take(record: Record, attachments: PageAttachments) -> None:
                on_page(record, attachments)
                self.tally.add(record)
                told = (record[name] for name in ("url", "action", "status", "relevance_score"))
                _LOG.info("%s: %s, status %s, relevance %s", *told)

            crawler = Crawler(fetcher, HtmlReader(), clock, self.store, self.job.profile)
            return await crawler.crawl(request, take, begin)

    def _named(self) -> Iterator[Url]:
        """Give the addresses that the command names, or that a resumed run began with; not http for a bare name."""
        job, spec = self.job, self.job.request.spec
        yield from job.request.seeds
        yield from (url for urls in job.alternatives.values() for url in urls if url.scheme == "https")
        yield from (Url.parse(text) for text in job.sitemaps if "://" in text)
        for run in self.store.runs.list() if spec is not None else ():
            yield from self.store.ledger(run).seeds() if run.spec == spec else ()

    async def _prepare(
        self, fetcher: PoliteFetcher, on_note: Note | None
    ) -> tuple[CrawlRequest, Callable[[Run], None]]:
        """Find out which addresses answer, and read sitemaps; gives the request, and what queues listed pages.

        If there are no seeds, the homepages of the listed pages are the seeds.
        """
        from honeyguide.adapters.html.sitemaps import read_sitemap
        from honeyguide.jobs.request import context_of, resolve_seeds, setup_time_s
        from honeyguide.jobs.sitemaps import list_pages, queue_listed

        request, store, profile = self.job.request, self.store, self.job.profile
        if self.job.alternatives:
            request = await resolve_seeds(request, self.job.alternatives, profile, store, fetcher)
        if not self.job.sitemaps:
            return request, lambda _run: None
        sources = sitemap_request(self.job.sitemaps, request.seeds)
        listing = await list_pages(sources, fetcher, read_sitemap, setup_time_s(request.max_time_s))
        if on_note is not None:
            for problem in listing.problems:
                on_note(problem)
        roots: dict[str, Url] = {}  # the homepage of each site
        for url in () if request.seeds else listing.pages:
            roots.setdefault(url.site, Url.parse("/", url))
        seeds = request.seeds or tuple(roots.values())
        request = replace(request, seeds=seeds)
        context = context_of(request, profile)
        # The sites of the crawl, not those that host the sitemap.
        sites = frozenset(context.profile.scope.area(seed.site) for seed in seeds)

        def queue(run: Run) -> None:
            if listing.pages:
                lastmods = queue_listed(store.queue(run), listing, seeds, sites, context)
                store.history.note_lastmods(lastmods)
                store.flush()

        return request, queue

    def result(self, stopped: str) -> CrawlResult:
        """Sum up what the run is like now that it `stopped`."""
        runs = self.store.runs.list()
        counts, only_due = self.ledger.counts(), self.job.request.only_due
        if only_due and not self.job.policy.allow_private and counts.due:
            self.tally.refused = counts.out.get(AddressRefusedError.rule, 0)  # by an earlier command, too
        return CrawlResult(
            run=next(run for run in runs if run.id == self.begun.id),
            newest_run=runs[-1].id,
            stopped=stopped,
            counts=counts,
            tally=self.tally,
            fetched=counts.fetched - self.begun.fetched,
            waiting=() if only_due else tuple(self._waiting(stopped)),
            learnt=tuple(self._learnt()),
        )

    def _learnt(self) -> Iterator[str]:
        """Say what was learnt on the sites of the crawl, as far as there are few (TOPIC-4c)."""
        rules, sites = traversal_of(self.job.profile, self.job.request.traversal).learner, self.ledger.sites()
        if rules is None or self.job.request.only_due or len(sites) > _SITES_TOLD:
            return
        for site in sorted(sites):
            said = Learner(rules, self.ledger.learnt(site)).summary()
            yield from said if len(sites) == 1 else (f"{site}: {one}" for one in said)

    def _waiting(self, stopped: str) -> Iterator[WaitingSeed]:
        """Find seeds that failed, or were not tried because their host asked for a pause."""
        for seed in self.ledger.seeds()[:_SEEDS_LOOKED_UP]:
            row, _ = self.ledger.find(digest_of(seed, self.job.profile.scope.tracking)) or (None, ())
            if row is None or row.state is not State.QUEUED:
                continue
            if row.due_at is not None and row.why is not None:
                yield WaitingSeed(seed.text, row.why, row.due_at if row.why.rule in _PAUSES else None)
            elif row.claim is not None and not row.attempts and stopped != "max_pages":
                yield WaitingSeed(seed.text)
