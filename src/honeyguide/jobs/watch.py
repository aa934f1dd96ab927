"""Watch: plan and crawl in a loop, within a budget, until stopped. Start reading at `WatchSession.watch`.

The budget is a sliding hour, counted from the visits in the history, whichever process made them, and from all requests of
watches, robots.txt and redirects included, which are noted before they are made. So a watch that was killed and started again
keeps it. Scheduled visits stay scheduled: the next round, or the next process, fetches them
in the order of the plan before it plans again. Must not know: how URLs are ranked, HTTP, SQL.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING

from honeyguide.core.crawl.frontier import ScheduledVisit, digest_of
from honeyguide.core.recrawl.priors import CLASSES
from honeyguide.core.url.url import Url
from honeyguide.errors import AskedToWaitError, FetchError, InputError, check_least
from honeyguide.jobs.heartbeat import BEAT_S
from honeyguide.jobs.request import KEEP_BYTES, context_of, latest_runs
from honeyguide.jobs.sitemaps import Listing, queue_listed
from honeyguide.ports.fetch import Part

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
    from pathlib import Path

    from honeyguide.core.crawl.frontier import Run
    from honeyguide.core.records import Record
    from honeyguide.core.recrawl.priors import PageClass
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.url import Tracking
    from honeyguide.jobs.crawl import Crawler, PageAttachments
    from honeyguide.jobs.request import CrawlRequest
    from honeyguide.ports.fetch import Clock, Fetched, Fetcher, Validators
    from honeyguide.ports.store import History, Store

    Resumable = Mapping[int, tuple[CrawlRequest, Profile]]  # by the number of the run

HOUR_S = 3600.0
STOPPED = "stopped"  # why a crawl or a watch ended that was asked to stop
_LEAST = {"rest_s": 0, "per_host": 1, "concurrency": 1, "keep_bytes": 0, "listen_s": 0}
# A round plans at most so often: again after fetching, if that left visits. Each of these plans asks for the best URLs at most
# so often: again if no run can fetch some of them.
_PLANS_A_ROUND, _LISTS_A_PLAN = 3, 5
_LATE = 0.05  # of a visit: nobody wakes up on time
_REST_PER_PLAN = 9.0  # a round rests nine times as long as its plan took: planning stays a tenth of the work
_MIN_ROUND_S = 120.0  # what a page may take with all its tries (trip_timeout_s, and the last of them)
_COUNTED = 100_000  # visits of an hour that are counted for people, where they are more than the budget


@dataclass(frozen=True, slots=True)
class WatchBudget:
    """How much a watch may do: `per_hour` visits and requests in any hour, one round per cycle, until a time or for some rounds."""

    per_hour: int
    cycle_s: float = 60.0
    until: float | None = None
    rounds: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("per_hour", 1), ("cycle_s", 0), ("until", 0), ("rounds", 1)):
            check_least(name, getattr(self, name), least)

    def remaining(self, latest: Sequence[float], now: float) -> int:
        """Return how many visits are left after those of the hour before `now`."""
        return max(0, self.per_hour - sum(at > now - HOUR_S for at in latest))

    def free_at(self, latest: Iterable[float], now: float) -> float:
        """Return the next allowed time."""
        recent = sorted((at for at in latest if at > now - HOUR_S), reverse=True)
        return now if len(recent) < self.per_hour else recent[self.per_hour - 1] + HOUR_S

    def share(self, passed_s: float) -> int:
        """Return how many visits are due after `passed_s`, at an even pace."""
        visits = self.per_hour * max(self.cycle_s, passed_s) / HOUR_S
        return max(1, ceil(visits - _LATE))

    def is_over(self, now: float, rounds: int) -> bool:
        """Tell whether it has ended."""
        return rounds == self.rounds or (self.until is not None and now >= self.until)


@dataclass(frozen=True, slots=True)
class Round:
    """One round: how many visits were allowed, planned and made; `spent` counts those of the hour before its end, by any command."""

    number: int
    at: float
    allowed: int
    planned: int
    fetched: int
    spent: int
    next_at: float


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """How a store is watched: its budget, the rules and the recrawl policy that rank URLs, and who receives what.

    The other fields mean what the options of `honeyguide watch` mean; intervals are by class of pages.
    """

    budget: WatchBudget
    profile: Profile | str | Path
    policy: str = "learned"
    rest_s: float = 60.0
    min_interval_s: Mapping[PageClass, float] = field(default_factory=dict)
    max_interval_s: Mapping[PageClass, float] = field(default_factory=dict)
    per_host: int | None = None
    visited: bool = False
    concurrency: int = 32
    keep_bytes: int = KEEP_BYTES
    sitemaps: tuple[str, ...] = ()
    listen_s: float = 3600.0
    on_page: Callable[[Record, PageAttachments], None] = lambda _record, _attachments: None
    on_round: Callable[[Round], None] = lambda _round: None
    on_note: Callable[[str], None] = lambda _note: None

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            check_least(name, getattr(self, name), least)
        for field_name in ("min_interval_s", "max_interval_s"):
            intervals = getattr(self, field_name)
            for kind, seconds in intervals.items() if isinstance(intervals, Mapping) else ():
                if kind not in CLASSES:
                    raise InputError(
                        f"{kind!r} is no class; there are {', '.join(CLASSES)}", field=field_name
                    )
                check_least(f"{field_name}[{kind!r}]", seconds, 0)


class CountedFetcher:
    """A fetcher whose requests are noted before they are made; when those of an hour are spent, it makes none."""

    def __init__(
        self,
        fetcher: Fetcher,
        clock: Clock,
        *,
        history: History,
        flush: Callable[[], None],
        budget: WatchBudget,
    ) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._history = history
        self._flush = flush
        self._budget = budget
        self._latest = deque(reversed(history.latest_requests(budget.per_hour)), budget.per_hour)

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        """Make one request, if the budget allows it."""
        now = self._clock.now()
        free_at = self._budget.free_at(self._latest, now)
        if free_at > now:
            what = f"the {self._budget.per_hour:,} requests of this hour are spent"
            raise AskedToWaitError(url.as_linked, what, retry_after_s=free_at - now)
        self._latest.append(now)
        self._history.note_request(now)
        self._flush()
        return await self._fetcher.fetch(url, validators=validators, part=part)


@dataclass
class WatchSession:
    """One process that watches a store whose `runs` can be resumed.

    `best_urls` ranks what is not scheduled yet and not among the given URLs; `list_sitemap` reads one sitemap, with
    the seeds whose robots.txt may name it.
    """

    request: WatchRequest
    store: Store
    clock: Clock
    runs: Resumable
    crawler: Callable[[CrawlRequest, Profile], Crawler]
    best_urls: Callable[[int, float, Collection[str]], Sequence[str]]
    list_sitemap: Callable[[str, tuple[Url, ...]], Awaitable[Listing]]
    _unfetchable: set[str] = field(default_factory=set)
    _forget_at: float = 0.0
    _listen_at: float = 0.0
    _patience_s: dict[int, float] = field(default_factory=dict)
    _fetched: int = 0
    _is_stopping: bool = False  # because somebody asked for it

    async def watch(self) -> str:
        """Work round by round; gives why it ended. Cancelling it loses nothing: the store has what is done."""
        budget, clock = self.request.budget, self.clock
        rounds, begun = 0, clock.now() - budget.cycle_s
        while not budget.is_over(clock.now(), rounds):
            self._check_in()
            await self.listen(clock.now())
            if self._is_stopping:
                return STOPPED
            now = clock.now()
            latest = self._latest(now)
            allowed = min(budget.remaining(latest, now), budget.share(now - begun))
            planned, fetched, planning_s = await self._round(allowed, now + budget.cycle_s)
            rounds += 1
            begun, ended = now, clock.now()
            latest = self._latest(ended)
            rest_s = _REST_PER_PLAN * planning_s
            next_at = max(begun + budget.cycle_s, ended + rest_s, budget.free_at(latest, ended))
            self.request.on_round(
                Round(
                    number=rounds,
                    at=now,
                    allowed=allowed,
                    planned=planned,
                    fetched=fetched,
                    spent=self._count_spent(ended),
                    next_at=next_at,
                )
            )
            if not budget.is_over(ended, rounds):
                await self._rest(next_at if budget.until is None else min(next_at, budget.until))
            if self._is_stopping:
                return STOPPED
        return "until" if budget.until is not None and clock.now() >= budget.until else "rounds"

    async def _rest(self, until: float) -> None:
        """Wait, and now and then say that we are still here, until somebody asks us to stop."""
        while not self._is_stopping and (left_s := until - self.clock.now()) > 0:
            await self.clock.sleep(min(left_s, BEAT_S))
            self._check_in()

    def _check_in(self) -> None:
        """Say that we are here, whether we fetch or not; learn whether we are to stop."""
        self._is_stopping = self._is_stopping or self.beat(self.clock.now())

    def beat(self, now: float) -> bool:
        """Send a heartbeat, as a worker of the newest run; tells whether somebody asks us to stop."""
        run = [run for run in self.store.runs.list() if run.id in self.runs][-1]
        lease_s = min(self.runs[run.id][1].crawl.lease_s, self.store.lease_s)
        with self.store.transaction():
            answer = self.store.queue(run).renew(now, now + lease_s, self._fetched)
        self.store.flush()
        return answer.is_stopping

    def _count_spent(self, now: float) -> int:
        """Count the visits or requests of the hour before `now`; other commands may have made more than the budget allows."""
        per_hour = self.request.budget.per_hour
        spent = per_hour - self.request.budget.remaining(self._latest(now), now)
        if spent < per_hour:
            return spent
        return sum(at > now - HOUR_S for at in self._latest(now, max(per_hour, _COUNTED)))

    def _latest(self, now: float, most: int | None = None) -> Sequence[float]:
        """List the latest visits, or the latest requests of watches if those are more."""
        history, most = self.store.history, most or self.request.budget.per_hour
        listed = history.latest_visits(most, now - HOUR_S), history.latest_requests(most)
        return max(listed, key=lambda times: sum(at > now - HOUR_S for at in times))

    async def _round(self, allowed: int, until: float) -> tuple[int, int, float]:
        """Fetch what is left of an earlier plan; while visits are allowed and time is left, plan and fetch.

        Gives the numbers of planned and fetched pages, and the seconds of planning. A planned page may have to wait,
        because its site asks for a pause: then the next best are planned.
        """
        clock = self.clock
        is_due = allowed > 0 and not self.runs.keys().isdisjoint(self.store.runs.due(clock.now()))
        fetched = await self.fetch(allowed) if is_due else 0
        planned, planning_s = 0, 0.0
        for turn in range(_PLANS_A_ROUND):
            if self._is_stopping or fetched >= allowed or (turn and clock.now() >= until):
                break
            began = clock.now()
            more = self.plan(allowed - fetched, began)
            planning_s += clock.now() - began
            if not more:
                break
            planned += more
            fetched += await self.fetch(allowed - fetched)
        return planned, fetched, planning_s

    async def listen(self, now: float) -> None:
        """Read sitemaps and feeds again, if it is time to; what cannot be read is no reason to stop."""
        if not self.request.sitemaps or now < self._listen_at:
            return
        runs = [run for run in self.store.runs.list() if run.id in self.runs]
        seeds = dict.fromkeys(seed for run in runs for seed in self.store.ledger(run).seeds())
        for sitemap in self.request.sitemaps:
            try:
                listing = await self.list_sitemap(sitemap, tuple(seeds))
            except (FetchError, InputError) as error:
                listing = Listing(problems=[str(error)])
            for problem in listing.problems:
                self.request.on_note(problem)
            for run in runs:
                self._queue(run, listing)
            self.store.flush()
            self._check_in()
            if self._is_stopping:
                return
        self._listen_at = now + self.request.listen_s

    def _queue(self, run: Run, listing: Listing) -> None:
        """Queue the listed pages that a run may fetch and does not know yet, and note their lastmod."""
        ledger = self.store.ledger(run)
        sites, seeds = ledger.sites(), ledger.seeds()
        context = context_of(*self.runs[run.id])
        area = context.profile.scope.area
        own = Listing({url: lastmod for url, lastmod in listing.pages.items() if area(url.site) in sites})
        if own.pages and seeds:
            with self.store.transaction():
                queue = self.store.queue(run)
                self.store.history.note_lastmods(queue_listed(queue, own, seeds, sites, context))

    def plan(self, count: int, now: float) -> int:
        """Schedule the best URLs that are not scheduled already and that some run can fetch; gives how many."""
        latest = [run for run in latest_runs(self.store.runs.list()) if run.id in self.runs]
        runs = [(run, self.runs[run.id][1].scope.tracking) for run in latest]
        if now >= self._forget_at:
            self._unfetchable.clear()  # another process may have been fetching it
            self._forget_at = now + HOUR_S
        found = 0
        for _ in range(_LISTS_A_PLAN):
            urls = self.best_urls(count - found, now, self._unfetchable)
            scheduled = schedule(self.store, urls, now, runs)
            found += scheduled.total
            self._unfetchable.update(scheduled.unfetchable)
            if found >= count or not scheduled.unfetchable:
                break
        return found

    async def fetch(self, count: int) -> int:
        """Fetch what is scheduled, at most `count` pages, the newest run first; gives how many were fetched."""
        left = count
        # How long a site that asks for pauses may hold up the others: a cycle, or what a page with its tries takes.
        round_s = max(self.request.budget.cycle_s, _MIN_ROUND_S)
        for number in self.store.runs.due(self.clock.now()):
            self._check_in()
            if self._is_stopping:
                break
            if left <= 0 or number not in self.runs:
                continue
            request, profile = self.runs[number]
            limit_s = self._patience_s.get(number, round_s)
            request = replace(request, budgets=replace(request.budgets, max_pages=left), max_time_s=limit_s)
            before = next(run.fetched for run in self.store.runs.list() if run.id == number)
            crawler = replace(self.crawler(request, profile), pages_before=self._fetched)
            summary = await crawler.crawl(request, self.request.on_page)
            fetched = summary.counts.fetched - before
            self._fetched += summary.pages
            self._is_stopping = summary.stopped == STOPPED
            # A page that takes longer than a round would be begun again in each: the next round is longer.
            is_vain = summary.stopped == "max_time" and not fetched
            self._patience_s[number] = 2 * limit_s if is_vain else round_s
            left -= fetched
        return count - left


# --- a plan in the queues ---


@dataclass(frozen=True, slots=True)
class Scheduled:
    """How many URLs each run will fetch, and which URLs none can."""

    runs: Mapping[int, int]
    unfetchable: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many URLs are scheduled."""
        return sum(self.runs.values())


def schedule(store: Store, urls: Sequence[str], at: float, runs: Iterable[tuple[Run, Tracking]]) -> Scheduled:
    """Schedule URLs in their order, each in the first run that can fetch it, in one transaction.

    A run cannot fetch a URL that it never met, that its rules rejected, or that is being fetched just now. Scheduling
    the same plan again changes nothing. `Tracking` has the parameters that a run ignores when it compares URLs.
    """
    parsed = [Url.parse(url) for url in urls]
    left = list(range(len(urls)))
    counts: dict[int, int] = {}
    with store.transaction():
        for run, tracking in runs:
            due = [ScheduledVisit(digest_of(parsed[place], tracking), at, place) for place in left]
            scheduled = store.queue(run).schedule(due)
            left = [visit.place for visit in due if visit.digest not in scheduled]
            if len(left) < len(due):
                counts[run.id] = len(due) - len(left)
    store.flush()
    return Scheduled(counts, tuple(urls[place] for place in left))
