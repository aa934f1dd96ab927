"""One process working on a crawl: pages to their outputs, progress, and how it ended.

Owns: `Work`. Must not know: options and what they come to (`crawl.py`), how a crawl goes (`app` does), how pages are kept
(`crawled.py`), what is said of it (`ending.py`). Start reading at `Work.run`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from honeyguide import app
from honeyguide.adapters.page_lines import Truth
from honeyguide.cli.crawled import MARKDOWN, Lines, Printed, Table, keeper_of, shaped
from honeyguide.cli.ending import revisit_words, tell_end
from honeyguide.cli.live import watch
from honeyguide.cli.output import note
from honeyguide.core.crawled import verdict_of
from honeyguide.core.frontier import State, digest_of
from honeyguide.core.url import Url
from honeyguide.errors import UrlError
from honeyguide.jobs.harvest import Harvest, is_relevant
from honeyguide.jobs.progress import duration

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from honeyguide.cli.crawled import Keeper, Output
    from honeyguide.core.frontier import Run
    from honeyguide.core.policy import Policy
    from honeyguide.core.profile import Profile
    from honeyguide.core.records import Record
    from honeyguide.jobs.crawl import Arrival, CrawlRequest
    from honeyguide.ports import Frontier, Store

_MOST_NOTES = 5  # of seeds that could not be had


@dataclass(slots=True)
class Work:
    """One process working on a crawl."""

    request: CrawlRequest
    policy: Policy
    profile: Profile
    asked: dict[str, Any]
    harvest: Harvest = field(init=False)
    run_id: int | None = None
    failed: list[str] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    _frontier: Frontier | None = None
    _counted_until: float = 0.0

    def __post_init__(self) -> None:
        self.harvest = Harvest(time.monotonic(), self.request.budgets.max_pages)

    def run(self, destination: Path | None, output: str) -> bool:
        """Crawl, and tell how it went; True if nothing is left to do. Ctrl-C ends it, and what is finished stays."""
        keeper = keeper_of(self.asked, self.policy.agent)
        try:
            out = self._output(destination, output)
            try:
                return self._run(out, keeper)
            finally:
                out.close()
        finally:
            keeper.close()

    def _output(self, destination: Path | None, output: str) -> Output:
        extras = (MARKDOWN,) if self.asked["content"] else ()
        if destination is None:
            return Printed(output, extras)
        if output == "csv":
            return Table(destination)
        return Lines(destination, extras, fresh=self.asked["fresh"])

    def _run(self, out: Output, keeper: Keeper) -> bool:
        quiet, no_color = self.asked["quiet"], "honeyguide.no_color" in click.get_current_context().meta
        with watch(self.harvest, quiet=quiet, no_color=no_color) as watcher:

            def on_page(record: Record, arrival: Arrival) -> None:
                values = keeper.keep(record, arrival)
                (row,) = shaped((record,), links=self.asked["links"])
                with nullcontext() if out.name else watcher.paused():
                    out.add(row, values)
                self._count(record)
                watcher.update()

            stopped = self._crawl(out, on_page)
        if self.run_id is None:  # Ctrl-C before there was a run
            return False
        store = app.open_store(self.asked["store"])
        try:
            run = next(run for run in store.runs() if run.id == self.run_id)
            frontier = store.frontier(run)
            out.end(self._truth(frontier))
            counts = frontier.counts()
        finally:
            store.close()
        for failed in self.failed[:_MOST_NOTES]:
            note(failed)
        if not quiet:
            summary = self._summary()
            where = f"run {self.run_id} of {self.asked['store']}"
            tell_end(f"{out.name}: {summary}" if out.name else summary, stopped, counts, self.profile, where)
        return stopped == "nothing_due" or (stopped == "complete" and counts.states["done"] > 0)

    def _summary(self) -> str:
        now = time.monotonic()
        if not self.request.only_due:
            return self.harvest.summary(now)
        return f"{revisit_words(self.verdicts)}; {duration(now - self.harvest.started)}"

    def _crawl(self, out: Output, on_page: Callable[[Record, Arrival], None]) -> str:
        """Crawl; gives why it stopped."""
        crawling = app.crawl_site(
            self.request,
            self.policy,
            self.profile,
            self.asked["store"],
            on_page,
            sitemaps=self.asked["sitemaps"],
            on_run=partial(self._begin, out),
            on_note=note,
        )
        try:
            return asyncio.run(crawling).stopped
        except KeyboardInterrupt:
            return "interrupted"

    def _begin(self, out: Output, store: Store, run: Run) -> None:
        """Learn which run it is, and bring the output in step with it."""
        self.run_id, self._frontier = run.id, store.frontier(run)
        truth = self._truth(self._frontier)
        if self.request.only_due:
            due = self._frontier.counts().due
            self.harvest.total = min(due, self.harvest.total or due)
            if out.name:
                out.begin(truth)
            return
        out.begin(truth)
        pages = relevant = 0
        for record in truth.pages():
            pages += 1
            relevant += is_relevant(record)
        self.harvest.before = (pages, relevant)

    def _truth(self, frontier: Frontier) -> Truth:
        """Say what the store says, in the form of the output."""

        def are_pending(urls: list[str]) -> bool:
            try:
                digests = [self._digest(url) for url in urls]
            except UrlError:
                return False
            known = frontier.known(digests)
            open_states = (State.QUEUED, State.LEASED)
            return all(digest in known and known[digest].state in open_states for digest in digests)

        links = self.asked["links"]
        return Truth(lambda: shaped((record for _, record in frontier.pages()), links=links), are_pending)

    def _digest(self, url: str) -> int:
        return digest_of(Url.parse(url), self.profile.scope.tracking)

    def _count(self, record: Record) -> None:
        """Count a page; and now and then, what is queued: the longer that takes, the more seldom."""
        self.harvest.add(record)
        if self.request.only_due:
            self.verdicts[verdict_of(record)] += 1
        if record["action"] == "dropped" and record["lane"] == "seed":
            self.failed.append(f"{record['url']}: {record['reasons'][-1]['reason']}")
        now = time.monotonic()
        if self._frontier is not None and not self.asked["quiet"] and now >= self._counted_until:
            self.harvest.lanes = self._frontier.counts().lanes
            spent = time.monotonic() - now
            self._counted_until = now + max(2.0, 50 * spent)
