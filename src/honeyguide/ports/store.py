"""What a store offers: `Runs`, the `Queue` of a run, its `Ledger`, and the `History` of all runs.

Owns: these four Protocols and `Store`, which holds them. Must not know: who implements them. Start reading at `Store`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from honeyguide.core.crawl.frontier import (
        Claimed,
        ClaimRequest,
        Counts,
        Discovered,
        FrontierRow,
        KnownState,
        Lease,
        Outcome,
        Run,
        RunSpec,
        ScheduledVisit,
        Sighting,
    )
    from honeyguide.core.crawl.judge import Findings
    from honeyguide.core.crawl.traps import UrlShape
    from honeyguide.core.records import Record
    from honeyguide.core.recrawl.history import HistoryEntry, Site, Visit
    from honeyguide.core.recrawl.priors import PageClass
    from honeyguide.core.recrawl.rate import Rate
    from honeyguide.core.url.url import Url

# --- the store ---


@dataclass(frozen=True, slots=True)
class Report:
    """What finishing a page leaves behind: its record, what it revealed, what traps learnt from it.

    `content` is the digest of what the page says, `arrived` the identity and text of the URL that a redirect led to.
    `is_external` says that this is a page of another site, and counts there.
    """

    record: Record | None = None
    findings: Findings | None = None
    content: str | None = None
    arrived: tuple[int, Url] | None = None
    families: Sequence[tuple[str, UrlShape | None]] = ()
    is_external: bool = False


class Queue(Protocol):
    """The queue of one run: queued -> leased -> done or dropped; back to queued by a retry, a lost lease, a due date."""

    def add(self, found: Sequence[Discovered], families: Iterable[tuple[str, UrlShape | None]] = ()) -> int:
        """Queue URLs that are not known yet and that no page links; gives how many were not. Traps may have learnt from them."""
        ...

    def adopt(self, ask: ClaimRequest) -> tuple[Lease, ...]:
        """Take over what processes left behind that are gone, in claim order, up to the limit; the rest is queued."""
        ...

    def claim(self, ask: ClaimRequest) -> Claimed:
        """Lease the best URLs, site first: among sites that may be asked, the one whose best URL is best."""
        ...

    def holds(self, lease: Lease) -> bool:
        """Tell whether a lease is still ours; if so, it stays ours until the next commit."""
        ...

    def finish(self, lease: Lease, outcome: Outcome, report: Report) -> None:
        """End a lease and take in what its page revealed; raises `LeaseLost` if it is no longer ours."""
        ...

    def renew(self, until: float) -> None:
        """Keep all our leases until then."""
        ...

    def release(self) -> None:
        """Leave all our leases to whoever comes next."""
        ...

    def block(self, site: str, until: float | None) -> None:
        """Grant nothing of a site before then; None ends its pause."""
        ...

    def add_site(self, site: str) -> None:
        """Make a site part of the crawl: its links are inside (URL-10)."""
        ...

    def now_internal(self) -> list[int]:
        """Give what was put out as another site's (URL-11) that is part of the crawl by now, in the order of discovery."""
        ...

    def requeue(self, found: Sequence[Discovered]) -> None:
        """Place again what was put out, or waits to be tried again, or put it out by another rule.

        Who has seen it, and where, stays as it is.
        """
        ...

    def external_pages(self) -> int:
        """Tell how many pages of other sites were had, or are being fetched; that stays so until the next commit."""
        ...

    def urls_per_host(self) -> Mapping[str, int]:
        """Tell how many URLs of each host are known; those of other sites, which are only counted, are one host."""
        ...

    def known(self, digests: Sequence[int]) -> Mapping[int, KnownState]:
        """Tell what is known of URLs; those that are not known are left out."""
        ...

    def pages_with_content(self, content: str, limit: int) -> list[str]:
        """Give pages of this run that said so when they were read, the first first."""
        ...

    def schedule(self, due: Sequence[ScheduledVisit]) -> int:
        """Queue known URLs when their time comes, before everything else; gives how many of them there were.

        A URL that is being fetched, or that was put out before it was ever fetched, is left alone.
        """
        ...

    def reopen(self, rule: str, max_depth: int | None = None) -> int:
        """Queue what a rule put out, up to so many links from a seed; gives how many there were."""
        ...

    def drop_deep(self, max_depth: int) -> int:
        """Put out what is queued more links from a seed than that, unless it was scheduled; gives how many there were."""
        ...

    def shapes(self) -> list[UrlShape]:
        """Give what traps have learnt, in their order."""
        ...


class Ledger(Protocol):
    """What a run has done so far; reading it changes nothing."""

    def counts(self) -> Counts:
        """Give the run in numbers."""
        ...

    def rows(self, after: int = 0, rule: str | None = None) -> Iterator[FrontierRow]:
        """Give all entries in the order of discovery, or those that a rule put out."""
        ...

    def find(self, digest: int) -> tuple[FrontierRow, tuple[tuple[str | None, Sighting], ...]] | None:
        """Give one entry, with the pages that link it."""
        ...

    def pages(self, after: int = 0) -> Iterator[tuple[int, Record]]:
        """Give the records of pages in claim order, each with its claim number."""
        ...

    def sites(self) -> frozenset[str]:
        """Give the sites that are part of the crawl."""
        ...

    def seeds(self) -> tuple[Url, ...]:
        """Give where the run began, in its order."""
        ...

    def known(self, digests: Sequence[int]) -> Mapping[int, KnownState]:
        """Tell what is known of URLs; those that are not known are left out."""
        ...


class History(Protocol):
    """What is remembered of URLs across runs."""

    def record(self, visit: Visit, run: int) -> HistoryEntry:
        """Note a visit. One that was only led on to another page is none of its own: it is noted there."""
        ...

    def get(self, digest: int) -> HistoryEntry | None:
        """Give what is known of a URL."""
        ...

    def known(self, after: int | None = None) -> Iterator[HistoryEntry]:
        """Give everything that is known, in the order of identities."""
        ...

    def visits(self, digest: int) -> list[tuple[int, float, int | None]]:
        """Give the visits of a URL: run, time, status; oldest first."""
        ...

    def note_lastmods(self, lastmods: Iterable[tuple[int, str]]) -> None:
        """Note what sitemaps say of pages by their identity, visited or not."""
        ...

    def site(self, name: str) -> Site:
        """Give what is known of a site as a whole."""
        ...

    def save_priors(self, name: str, priors: Mapping[PageClass, Rate]) -> None:
        """Note the usual change rate of a site's pages, by kind."""
        ...


class Runs(Protocol):
    """The runs of a store. A run is one command: giving the same command again resumes it."""

    def begin(self, spec: RunSpec, now: float, *, fresh: bool = False) -> Run:
        """Resume the run of that key, or start one; `fresh` always starts one."""
        ...

    def end(self, run: Run, why: str, now: float) -> None:
        """Note why a process stopped working on a run."""
        ...

    def list(self) -> Sequence[Run]:
        """List all runs, oldest first."""
        ...


class Store(Protocol):
    """Runs, queues and history in one place. What happens in a `transaction` happens whole or not at all."""

    @property
    def runs(self) -> Runs:
        """All runs."""
        ...

    @property
    def history(self) -> History:
        """What is remembered across runs."""
        ...

    def queue(self, run: Run) -> Queue:
        """Open the queue of a run, to work on it."""
        ...

    def ledger(self, run: Run) -> Ledger:
        """Open a run to read it."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Do several things as one. Many transactions may share one commit: see `flush`."""
        ...

    def all_or_nothing(self) -> AbstractContextManager[None]:
        """Do several things as one, for less: if they fail, everything since the last commit is undone, as by a kill."""
        ...

    def flush(self) -> None:
        """Commit: what was done until now survives the process. If that fails, none of it was done."""
        ...

    def close(self) -> None:
        """Commit and let go."""
        ...
