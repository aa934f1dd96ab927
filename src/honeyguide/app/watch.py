"""Watching: a store, a planner and a crawler, put together for `jobs.watch`.

Owns: what a watch is made of. Must not know: arguments, terminals. Start reading at `watch_store`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from honeyguide.app.crawl import asked_of, reopen_refused
from honeyguide.app.known import Excluded, StoreTable, read_store
from honeyguide.app.runs import resume_request
from honeyguide.core.recrawl.plan import PlanQuery
from honeyguide.core.recrawl.policies import LEARNED
from honeyguide.errors import FetchError, HoneyguideError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from honeyguide.adapters.store.known import StoreReader
    from honeyguide.core.crawl.frontier import Run
    from honeyguide.core.fetching import FetchPolicy
    from honeyguide.core.records import Record
    from honeyguide.core.rules.profile import Profile
    from honeyguide.jobs.crawl import CrawlRequest, PageAttachments
    from honeyguide.jobs.sitemaps import Listing, RobotsFetcher
    from honeyguide.jobs.watch import Round, WatchBudget
    from honeyguide.ports.fetch import Clock
    from honeyguide.ports.store import Store

    Runs = Mapping[int, tuple[CrawlRequest, Profile]]

_REFIT_S = 3600.0  # how often siblings are asked where new pages start
_LEAST_ROUND_S = 120.0  # what a page may take with all its tries (trip_timeout_s, and the last of them)
_TRIES = 5  # plans in one round, where no run can fetch what the first one chose


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """How a store is watched: at which pace, by which rules and recrawl policy, and who is told what.

    No page is visited sooner than `rest_s` after its last visit. `sitemaps`, which may be feeds, are read again every
    `listen_s` seconds: addresses, files, or `auto` for those that robots.txt names. `on_store` learns the store before anything is fetched,
    `on_note` which runs cannot be gone on with, and which sitemaps cannot be read.
    """

    pace: WatchBudget
    profile: Profile
    recrawl: str = LEARNED
    rest_s: float = 60.0
    per_host: int | None = None
    concurrency: int = 32
    sitemaps: tuple[str, ...] = ()
    listen_s: float = 3600.0
    on_page: Callable[[Record, PageAttachments], None] = lambda _record, _arrival: None
    on_round: Callable[[Round], None] = lambda _round: None
    on_store: Callable[[Store], None] = lambda _store: None
    on_note: Callable[[str], None] = lambda _note: None


async def watch_store(path: str | Path, request: WatchRequest, policy: FetchPolicy) -> str:
    """Plan and crawl what a store knows, in a loop, until the pace says that it is over; gives why it ended."""
    from honeyguide.adapters.clock import SystemClock  # see pick_sites
    from honeyguide.adapters.http.client import HttpFetcher
    from honeyguide.adapters.http.robots import read_robots
    from honeyguide.jobs.politeness import PoliteFetcher
    from honeyguide.jobs.watch import watch

    clock = SystemClock()
    with read_store(path) as (store, reader):
        request.on_store(store)
        if policy.allow_private:
            reopen_refused(store, store.runs.list())
        async with HttpFetcher(policy) as http:
            polite = PoliteFetcher(http, clock, partial(read_robots, token=policy.robots_token), policy)
            ground = StoreGround(store, reader, request, polite, clock)
            return await watch(ground, clock, request.pace, request.on_round)


@dataclass(slots=True)
class StoreGround:
    """What `jobs.watch` works on: a store whose runs can be gone on with."""

    store: Store
    reader: StoreReader
    request: WatchRequest
    fetcher: RobotsFetcher
    clock: Clock
    _runs: dict[int, tuple[CrawlRequest, Profile]] = field(init=False)
    _unfetchable: set[str] = field(default_factory=set)
    _refit_at: float = 0.0
    _listen_at: float = 0.0
    _patience_s: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._runs = self._resumable()

    def latest(self, limit: int, since: float) -> list[float]:
        """Give the times of the latest visits, the last one first."""
        return self.reader.latest_visits(limit, since)

    async def listen(self, now: float) -> None:
        """Read sitemaps and feeds again, if it is time to."""
        if not self.request.sitemaps or now < self._listen_at:
            return
        for problem in await take_announced(self.store, self._runs, self.request.sitemaps, self.fetcher):
            self.request.on_note(problem)
        self._listen_at = now + self.request.listen_s

    def is_due(self, now: float) -> bool:
        """Tell whether something is scheduled that may be fetched."""
        return any(run in self._runs for run in self.reader.due_runs(now))

    def plan(self, count: int, now: float) -> int:
        """Schedule the best URLs that are not scheduled already, and that some run can fetch."""
        from honeyguide.jobs.watch import Taker, current, schedule

        takers = [
            Taker(run, self._runs[run.id][1].scope.tracking)
            for run in current(self.store.runs.list())
            if run.id in self._runs
        ]
        found = 0
        for _ in range(_TRIES):
            urls = self._best(count - found, now)
            scheduled = schedule(self.store, urls, now, takers)
            found += scheduled.total
            self._unfetchable.update(scheduled.left)
            if found >= count or not scheduled.left:
                break
        return found

    async def fetch(self, count: int) -> int:
        """Fetch what is scheduled, run by run, the newest first."""
        from honeyguide.adapters.html.content import Documents
        from honeyguide.jobs.crawl import Crawler

        left = count
        for number in self.reader.due_runs(self.clock.now()):
            if left <= 0 or number not in self._runs:
                continue
            again, profile = self._runs[number]
            patience_s = self._patience_s.get(number, self._round_s)
            asked = replace(again, budgets=replace(again.budgets, max_pages=left), max_time_s=patience_s)
            before = self._run(number).fetched
            crawler = Crawler(self.fetcher, Documents(), self.clock, self.store, profile)
            summary = await crawler.crawl(asked, self.request.on_page)
            fetched = summary.counts.fetched - before
            # What takes longer than a round would be begun again in each of them: the next one is longer.
            is_vain = summary.stopped == "max_time" and not fetched
            self._patience_s[number] = 2 * patience_s if is_vain else self._round_s
            left -= fetched
        return count - left

    @property
    def _round_s(self) -> float:
        """How long a site that asks for pauses holds up the others: a cycle, or what a page with its tries takes."""
        return max(self.request.pace.cycle_s, _LEAST_ROUND_S)

    def _best(self, count: int, now: float) -> list[str]:
        excluded = Excluded(self.reader.scheduled(), self._unfetchable, now - self.request.rest_s)
        source = self.store, self.reader
        table = StoreTable(source, self.request.profile, self.request.recrawl, excluded=excluded)
        if now >= self._refit_at:
            table.save_priors()
            self._unfetchable.clear()  # what another process was fetching, it is done with
            self._refit_at = now + _REFIT_S
        asked = PlanQuery(datetime.fromtimestamp(now, UTC), top=count, per_host=self.request.per_host)
        return [entry.scored.url for entry in table.plan(asked).entries]

    def _run(self, number: int) -> Run:
        return next(run for run in self.store.runs.list() if run.id == number)

    def _resumable(self) -> dict[int, tuple[CrawlRequest, Profile]]:
        """Make requests of the runs that can be gone on with; the others are named."""
        from honeyguide.jobs.watch import current

        found: dict[int, tuple[CrawlRequest, Profile]] = {}
        problems = []
        for run in current(self.store.runs.list()):
            try:
                again, profile = resume_request(run)
            except HoneyguideError as error:
                problems.append(str(error))
            else:
                found[run.id] = replace(again, concurrency=self.request.concurrency), profile
        if not found:
            raise InputError(
                problems[0] if problems else "the store has no crawl yet; honeyguide crawl makes one"
            )
        for problem in problems:
            self.request.on_note(problem)
        return found


async def take_announced(
    store: Store, runs: Runs, sitemaps: Sequence[str], source: RobotsFetcher
) -> list[str]:
    """Read sitemaps and feeds for all runs of a store; gives what could not be read, which is no reason to stop."""
    from honeyguide.adapters.html.sitemaps import read_sitemap  # see pick_sites
    from honeyguide.jobs.sitemaps import list_pages

    taking = [run for run in store.runs.list() if run.id in runs]
    seeds = dict.fromkeys(seed for run in taking for seed in store.ledger(run).seeds())
    problems: list[str] = []
    for sitemap in sitemaps:
        try:
            listing = await list_pages(asked_of((sitemap,), tuple(seeds)), source, read_sitemap)
        except (FetchError, InputError) as error:
            problems.append(str(error))
        else:
            problems += listing.problems
            for run in taking:
                _take(store, run, listing, *runs[run.id])
            store.flush()
    return problems


def _take(store: Store, run: Run, listing: Listing, request: CrawlRequest, profile: Profile) -> None:
    """Queue what a run may fetch and does not know yet, and note when the listed pages say that they changed."""
    from honeyguide.jobs.request import context_of
    from honeyguide.jobs.sitemaps import Listing, queue_listed

    queue, ledger = store.queue(run), store.ledger(run)
    sites, seeds = ledger.sites(), ledger.seeds()
    own = Listing({url: lastmod for url, lastmod in listing.pages.items() if url.site in sites})
    if own.pages and seeds:
        with store.transaction():
            store.history.note_lastmods(queue_listed(queue, own, seeds, sites, context_of(request, profile)))
