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
from honeyguide.adapters.output.page_lines import Truth
from honeyguide.cli.commands.crawl.ending import (
    cause_of,
    failed_words,
    failure_of,
    is_refused,
    refused_words,
    revisit_words,
    tell_end,
    write_crawl_reports,
)
from honeyguide.cli.commands.crawl.outputs import (
    MARKDOWN,
    Lines,
    PrintedPages,
    TableOutput,
    keeper_of,
    shaped,
)
from honeyguide.cli.commands.crawl.runs import name_run
from honeyguide.cli.files import INTERRUPTED, TOLD, TOLD_CODE, until_told
from honeyguide.cli.output import is_plain, note
from honeyguide.cli.progress import CrawlProgress, duration, watch
from honeyguide.core.crawl.frontier import State, digest_of
from honeyguide.core.records import is_relevant, iso, verdict_of
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.errors import AddressRefusedError, AskedToWaitError, UrlError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from honeyguide.cli.commands.crawl.outputs import Keeper, Output
    from honeyguide.core.crawl.frontier import Counts, Run
    from honeyguide.core.fetching import FetchPolicy
    from honeyguide.core.records import Record
    from honeyguide.core.rules.profile import Profile
    from honeyguide.jobs.crawl import CrawlRequest, PageAttachments
    from honeyguide.ports.store import Ledger, Store


_PAUSES = frozenset({"http-429", "http-503", AskedToWaitError.rule})
_MOST_NOTES = 5  # of seeds that could not be had
_MOST_SEEDS = 1_000  # that are asked what became of them


@dataclass(slots=True)
class Work:
    """One process working on a crawl."""

    request: CrawlRequest
    policy: FetchPolicy
    profile: Profile
    asked: dict[str, Any]
    is_whole: bool = False  # whether pages are shown with their hosts
    harvest: CrawlProgress = field(init=False)
    run_id: int | None = None
    failed: list[str] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    had: int = 0
    causes: dict[str, None] = field(default_factory=dict)
    _frontier: Ledger | None = None
    _fetched_before: int = 0
    _counted_until: float = 0.0

    def __post_init__(self) -> None:
        has_topic = self.profile.topic.pattern is not None
        self.harvest = CrawlProgress(time.monotonic(), self.request.budgets.max_pages, has_topic=has_topic)

    def run(self, destination: Path | None, output: str) -> bool:
        """Crawl, and tell how it went; True if nothing is left to do. After Ctrl-C or SIGTERM everything is told before it is raised."""
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
            return PrintedPages(output, extras, whole=self.is_whole, again=self.request.only_due)
        if output != "jsonl":
            return TableOutput(destination, output, fresh=self.asked["restart"])
        return Lines(destination, extras, fresh=self.asked["restart"])

    def _run(self, out: Output, keeper: Keeper) -> bool:
        quiet = self.asked["quiet"]
        with watch(self.harvest, quiet=quiet, no_color=is_plain()) as watcher:

            def on_page(record: Record, arrival: PageAttachments) -> None:
                values = keeper.keep(record, arrival)
                (row,) = shaped((record,), links=self.asked["links"])
                with nullcontext() if out.name else watcher.paused():
                    out.add(row, values)
                self._count(record)
                watcher.update()

            stopped = self._crawl(out, on_page)
        if self.run_id is None:  # stopped before there was a run
            raise _ending(stopped)
        store = app.open_store(self.asked["store"])
        try:
            runs = store.runs.list()
            run = next(run for run in runs if run.id == self.run_id)
            frontier = store.ledger(run)
            out.end(self._truth(frontier))
            write_crawl_reports(self.asked["reports"], frontier, run, stopped, self.profile)
            counts = frontier.counts()
            waiting = [] if self.request.only_due else self._waiting(frontier, stopped)
        finally:
            store.close()
        self.harvest.settle(counts.fetched - self._fetched_before)
        if self.request.only_due and not self.policy.allow_private and counts.due:
            self.refused = counts.out.get(AddressRefusedError.rule, 0)  # by an earlier command, too
        if self.refused and not self.had and not self.failed:
            self.failed.append(refused_words(self.refused))
        for told in (*self.failed, *waiting)[:_MOST_NOTES]:
            note(told)
        if self.failures:
            note(failed_words(self.failures))
        if not quiet:
            summary = f"{out.name}: {self._summary(counts)}" if out.name else self._summary(counts)
            explain = f"honeyguide explain URL{name_run(self.asked['store'], run.id, runs[-1].id)} says what became of a page"
            last = f"This is run {self.run_id} of {self.asked['store']}; {explain}."
            tell_end(summary, stopped, counts, self.profile, last)
        if stopped in (INTERRUPTED, TOLD):
            raise _ending(stopped)  # everything is told; what is left is the exit code
        return self._is_done(stopped, counts)

    def _is_done(self, stopped: str, counts: Counts) -> bool:
        """Tell whether nothing is left to do; where no page could be had at all, or addresses were refused alone, something is."""
        if self.refused and not self.had:
            return False
        if stopped == "nothing_due":
            return self.verdicts["failed"] < max(1, self.verdicts.total())
        return stopped == "complete" and counts.states["done"] > 0

    def _waiting(self, frontier: Ledger, stopped: str) -> list[str]:
        """Say of seeds that failed what their failure was, and when they are tried again: at once, unless their host asks for a pause."""
        told = []
        for seed in frontier.seeds()[:_MOST_SEEDS]:
            row, _ = frontier.find(digest_of(seed, self.profile.scope.tracking)) or (None, ())
            if row is None or row.state is not State.QUEUED:
                continue
            if row.due_at is not None and row.why is not None:
                why = row.why.text or app.rule_words(row.why.rule)
                self.causes[cause_of(row.why)] = None
                when = f" from {iso(row.due_at)} on" if row.why.rule in _PAUSES else ""
                told.append(f"{seed.text}: {why}; the same command tries it again{when}")
            elif row.claim is not None and not row.attempts and stopped != "max_pages":
                told.append(f"{seed.text}: not tried, because its host asked for a pause, which is not over")
        return told

    def _summary(self, counts: Counts) -> str:
        now = time.monotonic()
        if self.request.only_due:
            return f"{revisit_words(self.verdicts)}; {duration(now - self.harvest.started)}"
        if self.causes and not counts.states["done"]:
            causes = ", ".join([*self.causes][:_MOST_NOTES])
            return f"no page could be fetched: {causes}; {duration(now - self.harvest.started)}"
        return self.harvest.summary(now)

    def _crawl(self, out: Output, on_page: Callable[[Record, PageAttachments], None]) -> str:
        """Crawl; gives why it stopped."""
        crawling = app.crawl_site(
            self.request,
            self.policy,
            self.profile,
            self.asked["store"],
            on_page,
            sitemaps=self.asked["sitemaps"],
            otherwise=self.asked.get("otherwise"),
            on_run=partial(self._begin, out),
            on_note=note,
        )

        async def stopped() -> str:
            return (await crawling).stopped

        try:
            return asyncio.run(until_told(stopped()))
        except KeyboardInterrupt:
            return INTERRUPTED

    def _begin(self, out: Output, store: Store, run: Run) -> None:
        """Learn which run it is, and bring the output in step with it."""
        self.run_id, self._frontier = run.id, store.ledger(run)
        self._fetched_before = run.fetched
        truth = self._truth(self._frontier)
        if self.request.only_due:
            due = self._frontier.counts().due
            self.harvest.total = min(due, self.harvest.total or due)
            if out.name:
                out.begin(truth)
            return
        out.begin(truth)
        if run.fetched and not out.name and self._frontier.counts().states["done"]:
            command = (
                f"honeyguide export pages{name_run(self.asked['store'], run.id, store.runs.list()[-1].id)}"
            )
            note(f"going on: pages of before are in the store, {command} prints them")
        self.harvest.before = (run.fetched, sum(map(is_relevant, truth.pages())))

    def _truth(self, frontier: Ledger) -> Truth:
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
        if self.request.only_due:
            self.verdicts[verdict_of(record)] += 1
            self.failures += failure_of(record)
        self.refused += is_refused(record)
        self.had += not is_refused(record)
        if record["action"] == "dropped" and record["lane"] == "seed":
            why = Why(record["points"][-1]["rule"], record["points"][-1]["reason"])
            self.failed.append(f"{record['url']}: {why.text}")
            self.causes[cause_of(why)] = None
        now = time.monotonic()
        if self._frontier is not None and not self.asked["quiet"] and now >= self._counted_until:
            counts = self._frontier.counts()
            self.harvest.lanes = counts.lanes
            self.harvest.settle(counts.fetched - self._fetched_before)
            spent = time.monotonic() - now
            self._counted_until = now + max(2.0, 50 * spent)
        self.harvest.add(record)  # after what the store says: it does not have the page yet


def _ending(stopped: str) -> BaseException:
    """Give what ends the command with the exit code of Ctrl-C, or of SIGTERM."""
    return click.exceptions.Exit(TOLD_CODE) if stopped == TOLD else KeyboardInterrupt()
