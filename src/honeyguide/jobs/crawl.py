"""Crawl: follow a topic through a site, and survive being killed.

Owns: the loop around `core.crawl.machine`: it fetches, reads pages and commits. Must not know: rules (core), SQL (the
store), HTTP, HTML, robots.txt (the fetcher is polite by itself). Start reading at `Crawler.crawl`; a page's way into the
store is `Session._apply`.

A page is in the store whole or not at all. A few pages that arrive one right after the other share a commit; before the
crawl waits, everything is committed. `on_page` is called before the commit, so a killed process may hand over a page
twice, but never loses one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, assert_never

from honeyguide.core.crawl import machine
from honeyguide.core.crawl.frontier import Claimed, ClaimRequest, Done, Dropped, Retry, too_deep
from honeyguide.core.crawl.judge import CrawlContext, seeds_again, seeds_of
from honeyguide.core.records import is_relevant
from honeyguide.errors import FetchError, InputError, StoreError
from honeyguide.jobs.heartbeat import Presence
from honeyguide.jobs.intake import PageAttachments, PageIntake
from honeyguide.jobs.request import CrawlRequest, budgets_of, context_of, spec_of
from honeyguide.jobs.results import CrawlSummary, Results, event_of, fetch_or_fail
from honeyguide.ports.fetch import PacedFetcher, Trip
from honeyguide.ports.store import Intake

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from honeyguide.core.crawl.frontier import Lease, Outcome, Run
    from honeyguide.core.records import Record
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.url import Url
    from honeyguide.core.why import Why
    from honeyguide.ports.fetch import Clock, Fetched, Fetcher, PageReader, Validators
    from honeyguide.ports.store import Queue, Store


__all__ = ["CrawlRequest", "CrawlSummary", "Crawler", "PageAttachments"]


# What may share a commit: half of what is leased of a site by default, so that the other half is being fetched; and no
# longer than others, who wait for their turn to write, would mind.
_SHARED_PAGES = 4
_SHARED_S = 0.1


@dataclass(frozen=True, slots=True)
class Crawler:
    """Crawls on a fetcher that is polite by itself; the profile carries the topic.

    `pages_before` are those that this process had fetched before, so that its heartbeats count all.
    """

    fetcher: Fetcher
    reader: PageReader
    clock: Clock
    store: Store
    profile: Profile
    pages_before: int = 0

    async def crawl(
        self,
        request: CrawlRequest,
        on_page: Callable[[Record, PageAttachments], None],
        on_run: Callable[[Run], None] | None = None,
    ) -> CrawlSummary:
        """Crawl until a budget or the site is used up.

        `on_run` receives the run before anything is fetched: outputs follow it, and sitemaps are queued in it.
        """
        context = context_of(request, self.profile)
        spec = spec_of(request, self.profile)
        if request.only_due and all(run.spec.key != spec.key for run in self.store.runs.list()):
            raise InputError(
                "the store has no such crawl, so nothing of it is due; honeyguide runs lists what it has"
            )
        run = self.store.runs.begin(spec, self.clock.now(), restart=request.restart)
        session = Session(self, request, context, run, on_page)
        stopped = run.stopped or "interrupted"  # as it was, until something is done
        try:
            if on_run is not None:
                on_run(run)
            stopped = "interrupted"
            stopped = await session.go()
        except StoreError:
            stopped = ""  # nothing more can be written
            raise
        finally:
            await session.cancel_fetches()
            if stopped:
                self.store.queue(run).release(self.clock.now())  # to the next process
                self.store.runs.end(run, stopped, self.clock.now())
        return session.summary(stopped)


class Session:
    """One process working on one run; `granted` leases wait until they are committed, and are fetched then."""

    def __init__(
        self,
        crawler: Crawler,
        request: CrawlRequest,
        context: CrawlContext,
        run: Run,
        on_page: Callable[[Record, PageAttachments], None],
    ) -> None:
        self._crawler = crawler
        self._request = request
        self._context = context
        self.run = run
        self._on_page = on_page
        self._store = crawler.store
        self.clock = crawler.clock
        self._queue: Queue = crawler.store.queue(run)
        self._intake: PageIntake
        rules = crawler.profile.crawl.for_traversal(context.traversal)
        self._rules = replace(rules, lease_s=min(rules.lease_s, crawler.store.lease_s))
        limits = machine.CrawlLimits(
            self._rules, budgets_of(request, run), request.max_time_s, request.only_due
        )
        self._state = machine.CrawlState(limits, crawler.clock.now())
        self._paced = crawler.fetcher if isinstance(crawler.fetcher, PacedFetcher) else None
        self._delay_s = None if self._paced is None else self._paced.delay_s
        self._slots = asyncio.Semaphore(max(1, request.concurrency))
        self.granted: list[tuple[Lease, Validators | None]] = []
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._tries: dict[Url, int] = {}  # requests for pages that are not done
        self.results = Results()
        self._arrived: deque[machine.Event] = deque()
        self._wake = asyncio.Event()
        self._applied = asyncio.Event()
        self._timer: asyncio.Task[None] | None = None
        self._broken: BaseException | None = None  # what ended a fetch that should have had a result
        self._committed_at = crawler.clock.now()
        self._presence = Presence(self._queue, self._committed_at, self._rules.lease_s)
        self._uncommitted = 0
        self._next_at: float | None = None  # when there is more to do, after the end
        self._is_late = False
        self._wait_until: float | None = None
        self.stopped: str | None = None
        self._pages = 0
        self._relevant = self._relevant_before = self._dropped = 0
        self._failure: Why | None = None
        if request.max_relevant is not None:
            self._relevant_before = sum(is_relevant(record) for _, record in self._queue.pages())

    # --- the loop ---

    async def go(self) -> str:
        """Work until the machine says stop; give its reason."""
        adopted = self.begin()
        if self._request.max_time_s is not None:
            self._timer = asyncio.create_task(self._tick_after(self._request.max_time_s))
        if self._has_enough():
            return "max_relevant"
        self.send(machine.Adopted(adopted, self.clock.now()))
        while self.stopped is None:
            if self._broken is not None:
                raise self._broken
            if self._arrived:
                self.send(self._arrived.popleft())
                await asyncio.sleep(0)  # the fetches that this started go out before the next page is read
            elif self._wait_until is not None:
                await self._rest(self._wait_until)
            elif self._is_late or self._is_drained():
                self._is_late = False
                self.send(machine.Tick(self.clock.now()))
            else:
                self._wake.clear()
                self._commit()
                with suppress(TimeoutError):  # no longer than the heartbeat allows, which a commit sends
                    async with asyncio.timeout(self._presence.beat_s):
                        await self._wake.wait()
        return self.stopped

    def _is_drained(self) -> bool:
        """Tell whether a worker that was asked to stop waits for nothing any more."""
        stop_at = self._presence.stop_at
        is_fetching = not self._presence.requested.isdisjoint(self._tasks)
        return stop_at is not None and (not is_fetching or self.clock.now() >= stop_at)

    def begin(self) -> tuple[Lease, ...]:
        """Queue the seeds, take over the leases of dead workers, and restore what traps had learnt."""
        now = self.clock.now()
        request, queue = self._request, self._queue
        with self._store.transaction():
            self._context.traps.restore(queue.shapes())
            seeds = seeds_of(request.seeds, self._context)
            queue.add(seeds)
            if not request.only_due:
                queue.reopen("max-depth", request.max_depth)  # what the limit of another command rejected
                if request.max_depth is not None:
                    queue.drop_deep(request.max_depth)
                again, rested = seeds_again(seeds, queue.known([seed.digest for seed in seeds]))
                queue.requeue(again)
                for site in rested:
                    queue.block(site, None)
            # Of what an earlier process left, what is due is claimed again, and the rest stays queued.
            until = now + self._rules.lease_s
            adopted = queue.adopt(ClaimRequest(now, self._adoptable(), until, delay_s=self._delay_s))
            adopted = self._delayed(self._allowed(adopted, self._too_deep), now)
        self._store.flush()
        external = self._state.limits.budgets.external_pages
        self._intake = PageIntake(self._crawler, self.run, self._context, external)
        return adopted

    def _adoptable(self) -> int:
        """How many leases of a dead worker to take over: no more than the window, and no more than max_pages leaves."""
        most = self._request.budgets.max_pages
        left = self._rules.window if most is None else max(0, most - self.run.fetched)
        return 0 if self._request.only_due else min(self._rules.window, left)

    def _too_deep(self, lease: Lease) -> Why | None:
        """Say why a lease is beyond the depth limit; a page that was fetched before may be fetched again."""
        return None if lease.is_recrawl else too_deep(lease.depth, self._request.max_depth)

    async def _rest(self, until: float) -> None:
        """Wait for a pause to end, or for time to run out."""
        if self._request.max_time_s is not None:
            until = min(until, self._state.started_at + self._request.max_time_s)
        while self.stopped is None:
            self._commit()
            left_s = until - self.clock.now()
            await self.clock.sleep(min(max(0.0, left_s), self._presence.beat_s))
            if left_s <= self._presence.beat_s:
                break
        self._wait_until = None
        self.send(machine.Tick(self.clock.now()))

    async def _tick_after(self, seconds: float) -> None:
        """Wake the loop when so many seconds of the crawl are over, and not a moment before."""
        while (left_s := seconds - (self.clock.now() - self._state.started_at)) > 0:
            await self.clock.sleep(left_s)
        self._is_late = True
        self._wake.set()

    def send(self, event: machine.Event) -> None:
        """Give an event to the machine and do what it says; claims answer at once, so there may be more events.

        Where there is enough, nothing more is done: what would be claimed or applied by then depends on the network.
        """
        events = deque([event])
        while events:
            self._state, commands = machine.step(self._state, events.popleft())
            for command in commands:
                if self.stopped is not None:
                    return
                answer = self._do(command)
                if answer is not None:
                    events.append(answer)

    def _do(self, command: machine.Command) -> machine.Event | None:
        match command:
            case machine.AskForLeases(ask):
                return machine.LeasesClaimed(self._claim(ask), self.clock.now())
            case machine.Fetch(lease):
                self.granted.append((lease, self._intake.validators(lease)))
            case machine.Finish(lease, outcome):
                self._applied.set()
                self._apply(lease, outcome)
            case machine.Block(site, until):
                self._queue.block(site, until)
            case machine.Wait(until):
                self._wait_until = until
            case machine.Stop(why, until):
                self.stopped, self._next_at = why, until
            case _:
                assert_never(command)
        return None

    async def cancel_fetches(self) -> None:
        """Cancel fetches in flight; whoever resumes the run repeats them."""
        waiting = [*self._tasks.values(), *([self._timer] if self._timer else [])]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        self.results.close()

    def summary(self, stopped: str) -> CrawlSummary:
        """Say how it went."""
        elapsed_s = self.clock.now() - self._state.started_at
        counts = self._queue.counts()
        done = (self._pages, self._relevant, elapsed_s, counts, self._dropped, self._failure, self._next_at)
        return CrawlSummary(self.run.id, stopped, *done)

    # --- leases ---

    def _claim(self, ask: ClaimRequest) -> Claimed:
        """Claim leases; URLs of a shape that was closed since they were queued are rejected here."""
        kept: list[Lease] = []
        now = self.clock.now()
        ask = replace(ask, now=now, delay_s=self._delay_s, learner=self._context.traversal.learner)
        with self._store.transaction():
            if not any(slot.lease.is_seed for slot in self._state.window):  # one may yet lead to another site
                self._intake.gather()
            while True:
                granted = self._queue.claim(ask)
                fresh = self._allowed(granted.leases, self._trap)
                kept += fresh
                if len(fresh) == len(granted.leases):
                    break
                window = (slot.lease for slot in self._state.window)
                in_flight = machine.ranks_by_site((*window, *kept))
                ask = replace(ask, limit=ask.limit - len(fresh), in_flight=in_flight)
        return Claimed(self._delayed(kept, now), granted.rest)

    def _allowed(self, leases: Iterable[Lease], why_not: Callable[[Lease], Why | None]) -> list[Lease]:
        """Reject what a rule forbids that was not known when it was queued; gives the other leases."""
        kept = []
        for lease in leases:
            why = why_not(lease)
            if why is None:
                kept.append(lease)
            else:
                self._queue.commit_page(lease, Intake(Dropped(why, is_fetch=False)))
        return kept

    def _delayed(self, leases: Iterable[Lease], asked_at: float) -> tuple[Lease, ...]:
        """Start leases later by as long as the store took: a worker that is gone may have asked their sites meanwhile."""
        late_s = self.clock.now() - asked_at
        return tuple(lease._replace(start_at=lease.start_at + late_s) for lease in leases)

    def _trap(self, lease: Lease) -> Why | None:
        return None if lease.is_seed or lease.is_recrawl else self._context.traps.closed(lease.url)

    async def _fetch(self, lease: Lease, validators: Validators | None) -> None:
        """Fetch one page; whatever happens, its result is there afterwards."""
        got: Fetched | FetchError
        tries = self._tries.get(lease.url, 0)
        fetch: Callable[..., Awaitable[Fetched]] = self._crawler.fetcher.fetch
        if self._paced is not None:
            before = max(tries, lease.attempt - 1)  # also in earlier rounds of a watch
            may_follow = None if lease.is_seed else partial(self._may_follow, lease)
            on_start = partial(self._on_start, lease)
            trip = Trip(max(1, self._rules.max_attempts - before), may_follow, on_start)
            fetch = partial(self._paced.fetch, trip=trip)
        async with self._slots:
            try:
                got = await fetch_or_fail(lease.url, fetch(lease.url, validators=validators))
            except FetchError as error:
                got = error
        self._presence.requested.discard(lease.claim)
        at = self.clock.now()
        self._tries[lease.url] = tries = tries + got.tries
        self.results.put(lease.claim, got, at)
        self._tasks.pop(lease.claim, None)
        self._arrived.append(event_of(lease, got, at, tries))
        self._wake.set()

    async def _may_follow(self, lease: Lease, url: Url) -> bool:
        """Tell whether a redirect may be followed to another site, as soon as the seeds before it have said what is inside."""
        while any(slot.lease.is_seed and slot.lease.claim < lease.claim for slot in self._state.window):
            self._applied.clear()
            await self._applied.wait()
        return self._intake.may_follow(lease, url.site)

    # --- pages ---

    def _apply(self, lease: Lease, outcome: Outcome) -> None:
        """Take a result into the outputs and into the store."""
        result, at = self.results.pop(lease.claim)
        if not isinstance(outcome, Done):
            self._failure = outcome.why
        if not isinstance(outcome, Retry):
            self._tries.pop(lease.url, None)
        self._share_commit()
        with self._store.transaction():
            read = self._intake.read(lease, outcome, result, at)
        if read is None:
            return  # whoever has the page now records it
        intake, attachments = read
        if isinstance(outcome, Retry) and not (self._request.only_due and outcome.is_fetch):
            intake = replace(intake, record=None)  # a crawl tells of a page once; of what is due, each visit
        if intake.record is not None:
            # If that fails, the page was not had: it is fetched again.
            self._on_page(intake.record, attachments)
            self._pages += 1
            self._relevant += is_relevant(intake.record)
        with self._store.transaction():
            if self._queue.commit_page(lease, intake) and intake.record is not None:
                self._dropped += self._intake.keep(lease, attachments, self._request.keep_bytes)
        if self._has_enough():
            self.stopped = "max_relevant"
        if self._pages == 1:
            self._commit()  # at once: an output is known as ours by the first page that it has in common with the store

    def _has_enough(self) -> bool:
        most = self._request.max_relevant
        return most is not None and self._relevant_before + self._relevant >= most

    # --- commits ---

    def _share_commit(self) -> None:
        """Count a page that is about to be applied; those before it are committed now if they are enough."""
        if self._uncommitted >= _SHARED_PAGES or self.clock.now() - self._committed_at >= _SHARED_S:
            self._commit()
        self._uncommitted += 1

    def _commit(self) -> None:
        """Commit, and now and then say that we are still here. Then fetch what was claimed.

        In this order a kill repeats what the store knows as leased, and nothing else.
        """
        now = self.clock.now()
        if self._presence.is_due(now):
            self._beat(now)
        self._store.flush()
        self._committed_at, self._uncommitted = now, 0
        self.start_fetches()

    def _beat(self, now: float) -> None:
        """Send a heartbeat. If the answer is to stop, what was not requested yet is left to others."""
        presence = self._presence
        was_stopping = presence.stop_at is not None
        presence.beat(
            now, self._crawler.pages_before + self._pages, (slot.lease.claim for slot in self._state.window)
        )
        if presence.stop_at is not None and not was_stopping:
            for claim in self._tasks.keys() - presence.requested:
                self._tasks.pop(claim).cancel()
            self.granted.clear()
            self.send(machine.StopAsked(now))
            self._wake.set()

    def _on_start(self, lease: Lease) -> None:
        """Before each request: after a pause of this whole process, ask the store whether the lease is still ours."""
        now = self.clock.now()
        if self._presence.may_be_lost(now):
            with self._store.transaction():
                self._beat(now)
            self._store.flush()
        if not self._presence.start(lease.claim):
            raise asyncio.CancelledError

    def start_fetches(self) -> None:
        """Fetch what was granted."""
        for lease, validators in self.granted:
            if self._paced is not None:
                self._paced.wait_until(lease.site, lease.start_at)
            task = self._tasks[lease.claim] = asyncio.create_task(self._fetch(lease, validators))
            task.add_done_callback(self._note_end)
        self.granted.clear()

    def _note_end(self, fetch: asyncio.Task[None]) -> None:
        """See whether a fetch ended without a result, such as by an error of the store: nobody would come back from it."""
        if not fetch.cancelled() and (error := fetch.exception()) is not None:
            self._broken = error
            self._wake.set()
