"""What a store offers: `Runs`, the `Queue` and the `Ledger` of a run, and the `History` and `Contents` of all runs.

Owns: these Protocols, `Store`, which holds them, what crosses them (`PageView`, `Intake`), and `Ranker`: known URLs that can be
ranked, wherever they are. Must not know: who implements them. Start reading at `Queue`. Several workers may share a run: limits and counters are added to in the
store, never written back from memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from honeyguide.core.crawl import frontier
    from honeyguide.core.crawl.frontier import Discovered, FrontierRow, KnownState, Lease, Run, Sighting
    from honeyguide.core.crawl.judge import Findings
    from honeyguide.core.crawl.learner import Lesson, Tally
    from honeyguide.core.crawl.traps import ShapeLesson, UrlShape
    from honeyguide.core.records import Record
    from honeyguide.core.recrawl.history import HistoryEntry, SeenContent, Site, Visit
    from honeyguide.core.recrawl.plan import KnownUrl, Plan, PlanEntry, PlanQuery
    from honeyguide.core.recrawl.priors import PageClass, Watched
    from honeyguide.core.recrawl.rate import Rate
    from honeyguide.core.url.url import Url
    from honeyguide.ports.fetch import Clock


class Heartbeat(NamedTuple):
    """The answer to a heartbeat: whether our leases are still ours, and whether somebody asks us to stop."""

    is_held: bool = True
    is_stopping: bool = False


class WorkerState(NamedTuple):
    """A process that works on a run: where it is, when it began, when it was last seen, and how many pages it had fetched by then."""

    id: int
    host: str
    pid: int
    run: int | None
    started_at: float
    seen_at: float
    pages: int
    is_stopping: bool


@dataclass(frozen=True, slots=True)
class PageView:
    """What judging one page asks of the store.

    `is_held` says that the lease is still ours. `known` has the links that the run knows, `copies` the pages that said the
    same when they were read, the first first. `sites` are those of the crawl, `shapes` what was learnt of shapes since the
    last look, with what other workers have learnt; `learnt` is what is known of the links of its site.
    """

    is_held: bool
    known: Mapping[int, KnownState] = field(default_factory=lambda: MappingProxyType({}))
    copies: tuple[str, ...] = ()
    sites: frozenset[str] = frozenset()
    shapes: tuple[UrlShape, ...] = ()
    learnt: Mapping[str, Tally] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Intake:
    """Everything that a page leaves behind.

    `content` is the digest of what the page says, `target` the identity and text of the URL that a redirect led to;
    `is_external` says that this is a page of another site, and counts there. `add_site` makes a site part of the crawl
    (URL-10). `visits` are for the history, `paces` of the sites that were asked, `lessons` for the links of its site.
    """

    outcome: frontier.Outcome
    record: Record | None = None
    findings: Findings | None = None
    content: str | None = None
    target: tuple[int, Url] | None = None
    is_external: bool = False
    add_site: str | None = None
    lesson: ShapeLesson | None = None
    visits: tuple[Visit, ...] = ()
    paces: tuple[frontier.SitePace, ...] = ()
    lessons: tuple[Lesson, ...] = ()


class Ledger(Protocol):
    """What a run has done so far; reading it changes nothing. A lease that was released is queued here."""

    def counts(self) -> frontier.Counts:
        """Count the run."""

    def rows(self, after: int = 0, rule: str | None = None) -> Iterator[FrontierRow]:
        """List all entries in the order of discovery, or those that a rule rejected."""

    def find(self, digest: int) -> tuple[FrontierRow, tuple[tuple[str | None, Sighting], ...]] | None:
        """Find one entry, with the pages that link it."""

    def pages(self, after: int = 0) -> Iterator[tuple[int, Record]]:
        """List the records of pages in claim order, each with its claim number."""

    def sites(self) -> frozenset[str]:
        """List the sites that are part of the crawl."""

    def learnt(self, site: str) -> Mapping[str, Tally]:
        """Tell what was learnt of the links of a site, by name (TOPIC-4c)."""

    def urls_per_host(self) -> Mapping[str, int]:
        """Count the known URLs of each host; those of other sites, which are only counted, are one host."""

    def seeds(self) -> tuple[Url, ...]:
        """List where the run began, in its order."""

    def known(self, digests: Sequence[int]) -> Mapping[int, KnownState]:
        """Tell what is known of URLs; those that are not known are left out."""


class Queue(Ledger, Protocol):
    """The queue of one run: queued -> leased -> done | rejected; back to queued by a retry, an expired lease, a due date.

    Whoever works on a run can read it, too.
    """

    def add(self, found: Sequence[Discovered]) -> int:
        """Queue URLs that are not known yet and that no page links; returns how many were new."""

    def look(self, lease: Lease, digests: Sequence[int] = (), content: str | None = None) -> PageView:
        """Answer everything that judging the page of a lease asks: of its links, and of what it says."""

    def claim(self, request: frontier.ClaimRequest) -> frontier.Claimed:
        """Lease the best URLs, site first: among sites that may be asked, the one whose best URL is best."""

    def commit_page(self, lease: Lease, intake: Intake) -> bool:
        """End a lease and take in what its page left behind; False, and nothing done, if the lease was lost."""

    def adopt(self, request: frontier.ClaimRequest) -> tuple[Lease, ...]:
        """Take over the leases of workers that are gone, in claim order, up to the limit; the rest is queued."""

    def renew(self, now: float, until: float, pages: int = 0) -> Heartbeat:
        """Send a heartbeat: our leases stay ours until then, unless we were taken for gone. We have fetched so many pages.

        With the first one we are a worker of the run, also if we hold no lease.
        """

    def release(self, now: float) -> None:
        """Leave all our leases to whoever comes next."""

    def block(self, site: str, until: float | None) -> None:
        """Grant nothing of a site before then; None ends its pause."""

    def schedule(self, visits: Sequence[frontier.ScheduledVisit]) -> frozenset[int]:
        """Queue known URLs when their time comes, before everything else; returns the identities that were scheduled.

        A URL that is being fetched, or that was rejected before it was ever fetched, is left alone.
        """

    def add_site(self, site: str) -> None:
        """Make a site part of the crawl: its links are inside (URL-10)."""

    def external_pages(self) -> int:
        """Count the pages of other sites that were fetched, or are being fetched."""

    def now_internal(self) -> Sequence[tuple[FrontierRow, tuple[Sighting, ...]]]:
        """List what was rejected as another site's (URL-11) that is part of the crawl by now, as it was discovered."""

    def requeue(self, found: Sequence[Discovered]) -> None:
        """Place again what was rejected, or waits to be tried again, or reject it by another rule; sightings stay."""

    def reopen(self, rule: str, max_depth: int | None = None) -> int:
        """Queue what a rule rejected, up to so many links from a seed; returns how many there were."""

    def drop_deep(self, max_depth: int) -> int:
        """Reject what is queued more links from a seed than that, unless it was scheduled; returns how many."""

    def shapes(self) -> Sequence[UrlShape]:
        """List what is known of shapes of URLs, the oldest first."""


class History(Protocol):
    """What is remembered of URLs across runs, and what plans read."""

    def record(self, visit: Visit, run: int) -> HistoryEntry:
        """Note a visit. One that was only led on to another page is none of its own: it is noted there."""

    def adopt(self, entries: Iterable[HistoryEntry]) -> None:
        """Take over what is known of URLs from elsewhere, in place of what was known; the visits behind it are not listed.

        What sitemaps and hubs say of the URLs stays.
        """

    def get(self, digest: int) -> HistoryEntry | None:
        """Look up what is known of a URL."""

    def known_among(self, digests: Sequence[int]) -> Mapping[int, HistoryEntry]:
        """Look up what is known of many URLs at once, by identity."""

    def known(self, after: int | None = None) -> Iterator[HistoryEntry]:
        """List everything that is known, in the order of identities."""

    def known_columns(
        self, fields: Sequence[str], *, only_unusual: bool = False
    ) -> Iterator[Sequence[Sequence[Any]]]:
        """List some fields of everything that is known, by the names of `HistoryEntry`, in the order of identities.

        Each item has the columns of some rows. It is as exact as `known`, and made for millions of URLs. With `only_unusual`,
        URLs may be left out of which nothing is known but visits without failure, and changes before the last of them.
        """

    def visits(self, digest: int) -> list[tuple[int, float, int | None]]:
        """List the visits of a URL: run, time, status; oldest first."""

    def latest_visits(self, limit: int, since: float) -> Sequence[float]:
        """List the times of the latest visits, the last one first; those long before `since` may be left out."""

    def note_request(self, at: float) -> None:
        """Note that a request is about to be made, for a page or not; it is no visit."""

    def latest_requests(self, limit: int) -> Sequence[float]:
        """List the times of the latest requests that were noted, the last one first."""

    def contents(self) -> Iterator[SeenContent]:
        """List what visits read, page by page, oldest first."""

    def rates(self, limit: int) -> Iterator[Watched]:
        """List what is believed of the change rates of some pages."""

    def unvisited(self) -> Iterator[frontier.QueuedUrl]:
        """List the queued URLs of all runs that were never visited, in the order of discovery."""

    def unvisited_columns(self) -> Iterator[Sequence[Sequence[Any]]]:
        """List the fields of `unvisited`, URLs as linked: each item has the columns of some rows."""

    def find_unvisited(self, digest: int) -> frontier.QueuedUrl | None:
        """Find one of them."""

    def scheduled(self) -> frozenset[int]:
        """List the identities of what a plan has scheduled and nobody has fetched yet."""

    def note_lastmods(self, lastmods: Iterable[tuple[int, str]]) -> None:
        """Note what sitemaps say of pages by their identity, visited or not."""

    def site(self, name: str) -> Site:
        """Look up what is known of a site as a whole."""

    def sites(self, names: Collection[str] | None = None) -> Mapping[str, Site]:
        """Look up all sites of which something was learned, or those with these names; `""` is what holds for any other site."""

    def save_priors(self, name: str, priors: Mapping[PageClass, Rate]) -> None:
        """Save the usual change rate of a site's pages, by kind."""


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page as it was read at `url`. `digest` is of the body, which is None where only the digest is known."""

    url: Url
    content_type: str | None
    digest: int
    body: bytes | None = None


class Contents(Protocol):
    """Pages as they were read, by run and number of the claim; each body is kept once."""

    def keep(self, run: int, claim: int, page: KeptPage, max_bytes: int) -> int:
        """Keep a page within the room for all; returns how many of the oldest bodies were dropped for it.

        A page whose body is neither given nor known, or larger than the room, is not kept.
        """

    def get(self, run: int, claim: int) -> KeptPage | None:
        """Give the page that a visit read, with its body; None if that is not kept."""

    def drop(self, max_bytes: int) -> int:
        """Drop the oldest bodies until at most so many bytes are kept; returns how many were dropped."""


class Runs(Protocol):
    """The runs of a store. A run is one command: giving the same command again resumes it."""

    def begin(self, spec: frontier.RunSpec, now: float, *, restart: bool = False) -> Run:
        """Resume the run of that key, or start one; `restart` always starts one."""

    def end(self, run: Run, why: str, now: float) -> None:
        """Note why a worker stopped working on a run."""

    def due(self, now: float) -> Sequence[int]:
        """List the runs that have something scheduled for now, the newest first."""

    def list(self) -> Sequence[Run]:
        """List all runs, oldest first."""

    def workers(self, now: float) -> Sequence[WorkerState]:
        """List the processes that work on the runs."""

    def stop_workers(self, now: float, run: int | None = None) -> int:
        """Ask the workers of a run, or of all runs, to stop when what they fetch is committed; returns how many there are."""


@runtime_checkable
class Store(Protocol):
    """Runs, queues and history in one place."""

    @property
    def runs(self) -> Runs:
        """All runs."""

    @property
    def history(self) -> History:
        """What is remembered across runs."""

    @property
    def contents(self) -> Contents:
        """Pages as they were read."""

    @property
    def lease_s(self) -> float:
        """Seconds after which others take over the work of a silent worker."""

    @property
    def clock(self) -> Clock | None:
        """The clock of all workers; None: the machine's."""

    def queue(self, run: Run) -> Queue:
        """Open a run, to work on it."""

    def ledger(self, run: Run) -> Ledger:
        """Open a run to read it."""

    def transaction(self) -> AbstractContextManager[None]:
        """Do several things as one: if they fail, everything since the last `flush` is undone."""

    def flush(self) -> None:
        """Commit what was done until now, or nothing of it."""

    def close(self) -> None:
        """Commit and close; closing again does nothing."""


class Ranker(Protocol):
    """Known URLs and the policy that ranks them; `policy` is its name."""

    policy: str

    def plan(self, query: PlanQuery) -> Plan:
        """Rank the rows."""

    def find(self, urls: Collection[str]) -> dict[str, KnownUrl]:
        """Look rows up by their URL, as it is written."""

    def rank_of(self, row: KnownUrl, now: datetime) -> int:
        """Count where a row stands among all."""

    def judge(self, row: KnownUrl, now: datetime) -> PlanEntry:
        """Score one row; its rank is not counted."""
