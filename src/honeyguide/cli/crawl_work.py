"""The work on a crawl: pages to their outputs, progress, the words at the end on standard error, and other processes that help.

Must not know: which options go together (`commands/crawl.py`), how a crawl works (`app.crawl`), how files are written
(`app.files`). Start reading at `Work.run`.
"""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from honeyguide.app.crawl import CrawlJob, CrawlSession
from honeyguide.app.files import (
    PageFile,
    PageTable,
    StoredPages,
    store_name,
    with_links,
)
from honeyguide.app.runs import found_records, group_rules, held_back, rule_words, run_record
from honeyguide.app.tools.kept_pages import (
    ContentKeeper,
    ContentWish,
    PageChoice,
    PageExport,
    choose,
    pages_of,
)
from honeyguide.cli import stopping
from honeyguide.cli.crawl_lines import (
    PrintedPages,
    TopPages,
    begin_output,
    failed_words,
    queue_words,
    refused_words,
    revisit_words,
    rule_lines,
    stop_words,
    waiting_words,
)
from honeyguide.cli.options import (
    name_run,
)
from honeyguide.cli.output import line_for_people, note
from honeyguide.cli.progress import Progress, count_of, duration
from honeyguide.cli.stopping import INTERRUPTED, INTERRUPTED_CODE, TERMINATED, TERMINATED_CODE, until_stopped
from honeyguide.core.records import is_relevant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    from honeyguide.app.crawl import CrawlResult, PageAttachments, Run, Store
    from honeyguide.app.files import Folder
    from honeyguide.cli.commands.crawl import OutputOptions
    from honeyguide.cli.crawl_lines import Output
    from honeyguide.core.records import Record

_NOTES = 5  # about seeds that were not fetched
_STEP = 50  # pages between two lines of a log


@dataclass(slots=True)
class Work:
    """One process that works on a crawl; `show_hosts` prints whole URLs, because pages have several hosts."""

    job: CrawlJob
    options: OutputOptions
    show_hosts: bool = False
    progress: Progress = field(init=False)
    session: CrawlSession = field(init=False)
    _folder: Folder | None = None
    _relevant_before: int = 0
    _lanes: Mapping[str, int] = field(default_factory=dict)
    _count_at: float = 0.0
    _dropped: int = 0
    _next_at: float | None = None
    _others: Helpers = field(default_factory=lambda: Helpers(0))

    def __post_init__(self) -> None:
        total = self.job.request.budgets.max_pages
        self.progress = Progress("page", total=total, step=_STEP, details=self._details)

    def run(self, opening: AbstractContextManager[Store]) -> bool:
        """Crawl, and say how it went; True if nothing is left to do. Ctrl-C and SIGTERM are raised at the very end.

        The store is opened when the outputs are: what cannot be written leaves no store behind.
        """
        wish = replace(self._wish(), field=None) if self.options.output == "parquet" else self._wish()
        wish = ContentWish(warc=wish.warc) if self.options.top else wish  # the rest comes from the store
        keeping = closing(ContentKeeper(self.job.policy.agent, wish))
        with keeping as keeper, closing(self._output()) as out, opening as store:
            self.session = CrawlSession(store, self.job)
            self._folder = keeper.folder
            return self._run(out, keeper)

    def _wish(self) -> ContentWish:
        pattern, options = self.job.profile.topic.pattern, self.options
        topic = None if pattern is None else pattern.source
        return ContentWish(options.content, options.markdown, options.warc, topic)

    def _output(self) -> Output:
        options = self.options
        extras = self._wish().extras
        output = options.output or "jsonl"
        if options.top is not None:
            has_topic = self.job.profile.topic.pattern is not None
            return TopPages(options.file, output, extras, show_hosts=self.show_hosts, has_topic=has_topic)
        if options.file is None:
            return PrintedPages(output, extras, show_hosts=self.show_hosts, show_changes=options.due)
        if output != "jsonl":
            return PageTable(Path(options.file), output, restart=options.restart)
        return PageFile(Path(options.file), extras, restart=options.restart)

    def _run(self, out: Output, keeper: ContentKeeper) -> bool:
        self._others = Helpers(self.options.workers - 1)
        shown = self.progress.shown(quiet=self.options.quiet)
        with shown, closing(self._others):
            stopped = self._crawl(out, keeper)
        is_done = False
        if self.session.run is not None:  # else it was stopped before there was a run
            result = self.session.result(stopped)
            is_done = result.is_done
            self.progress.done = result.fetched
            out.end(self._stored_pages())
            if self.options.reports:
                self._write_reports(result)
            self._tell(result, out.name)
        else:
            note("stopped before the crawl began; the store is as it was")
        if stopped == INTERRUPTED:
            raise click.exceptions.Exit(INTERRUPTED_CODE)
        if stopped == TERMINATED:
            raise click.exceptions.Exit(TERMINATED_CODE)
        return is_done

    def _crawl(self, out: Output, keeper: ContentKeeper) -> str:
        admits = self._choice.filter()

        def on_page(record: Record, attachments: PageAttachments) -> None:
            is_wanted = admits(record)
            values = keeper.keep(record, attachments, is_wanted=is_wanted)
            (row,) = with_links((record,), links=self.options.links)
            with nullcontext() if out.name else self.progress.paused():
                if is_wanted:
                    out.append(row, values)
            self._count()
            self.progress.update()

        async def crawled() -> str:
            begin, check = partial(self._begin, out=out), partial(self._check_new, out)
            summary = await self.session.crawl(on_page, begin, self.progress.note, check)
            self._dropped, self._next_at = summary.dropped, summary.next_at
            return summary.stopped

        stopping.limit(self.job.request.max_time_s)
        try:
            return stopping.run(until_stopped(crawled()))
        except KeyboardInterrupt:
            return INTERRUPTED
        finally:
            stopping.release()

    def _check_new(self, out: Output) -> None:
        """Reject an output that holds pages of another crawl before there is a run."""
        if not self.options.restart:
            out.follow(StoredPages(lambda: iter(()), lambda _urls: False))

    def _begin(self, run: Run, out: Output) -> None:
        """Bring the output in step with the run, and count what earlier processes did."""
        session, progress = self.session, self.progress
        begin_output(out, self._stored_pages())
        self._others.start()
        if self.options.due:
            due = session.ledger.counts().due
            progress.total = min(due, progress.total or due)
            return
        if run.fetched and not out.name and session.ledger.counts().states["done"]:
            newest = session.store.runs.list()[-1].id
            command = f"honeyguide export pages{name_run(self.options.store, run.id, newest)}"
            progress.note(f"resumed: earlier pages are in the store, {command} prints them")
        progress.before = run.fetched
        self._relevant_before = sum(map(is_relevant, session.pages())) if run.fetched else 0

    def _stored_pages(self) -> StoredPages:
        session, links, choice = self.session, self.options.links, self._choice
        content = self.options.content if self.options.output == "parquet" else None
        export = PageExport(self._wish() if choice.top else ContentWish(content))
        self._folder = export.folder or self._folder

        def pages() -> Iterator[Record]:
            stored = pages_of(session.store, session.begun)
            return with_links(export.records(choose(stored, choice)), links=links)

        return StoredPages(pages, session.are_pending)

    @property
    def _choice(self) -> PageChoice:
        options = self.options
        least = options.min_score, options.min_relevance
        return PageChoice(*least, language=options.lang, top=options.top, lists=options.lists)

    def _count(self) -> None:
        """Count a page; and now and then, what is queued: the longer that takes, the more seldom."""
        now = time.monotonic()
        if not self.options.quiet and now >= self._count_at:
            counts = self.session.ledger.counts()
            self._lanes = counts.lanes
            self.progress.done = counts.fetched - self.session.begun.fetched
            self._count_at = now + max(2.0, 50 * (time.monotonic() - now))
        self.progress.done += 1  # after what the store says: it does not have the page yet

    # --- in words ---

    def _details(self, _now: float) -> list[str]:
        return [
            *self._relevant(),
            *self._harvest(),
            *([f"queued {queue_words(self._lanes)}"] if self._lanes else []),
        ]

    def _relevant(self) -> list[str]:
        """Say how many pages are relevant; without a topic, nothing."""
        if self.job.profile.topic.pattern is None:
            return []
        relevant = self._relevant_before + self.session.tally.relevant
        return [f"{relevant:,} relevant ({relevant / max(1, self.progress.all_done):.0%})"]

    def _harvest(self) -> list[str]:
        """Say how many of the last pages are relevant, once there are more than these: whether it still pays."""
        latest = self.session.tally.latest
        is_known = self.job.profile.topic.pattern is not None and self.session.tally.fetched > len(latest)
        return [f"{sum(latest)} of the last {len(latest)}"] if is_known else []

    def _summary(self, result: CrawlResult) -> str:
        progress = self.progress
        elapsed = duration(time.monotonic() - progress.started)
        if self.options.due:
            return f"{revisit_words(result.tally.verdicts)}; {elapsed}"
        if result.causes and not result.counts.states["done"]:
            return f"no page could be fetched: {', '.join(result.causes[:_NOTES])}; {elapsed}"
        earlier = [f"{progress.before:,} of them before"] if progress.before else []
        return f"{', '.join([count_of(progress.all_done, 'page'), *earlier, *self._relevant()])}; {elapsed}"

    def _tell(self, result: CrawlResult, output: str) -> None:
        tally, options, counts = result.tally, self.options, result.counts
        notes = [f"{url}: {why.text}" for url, why in tally.failed_seeds]
        if tally.refused and not tally.fetched and not notes:
            notes.append(refused_words(tally.refused))
        for text in [*notes, *map(waiting_words, result.waiting)][:_NOTES]:
            note(text)
        stopped = stop_words(result.stopped, held_back(counts), self._next_at)
        if options.due:
            self._tell_due(result, stopped)
        if self._dropped:
            note(f"the store had no room for {count_of(self._dropped, 'older page')}: see --keep-limit")
        if options.quiet:
            return
        lines = [f"{output}: {self._summary(result)}" if output else self._summary(result)]
        if self._folder is not None:
            lines.append(f"{self._folder.root}: {count_of(self._folder.written, 'page')} as Markdown.")
        lines.append(f"Stopped: {stopped}.")
        if counts.lanes:
            lines.append(f"Queued: {queue_words(counts.lanes)}.")
        if result.learnt:
            lines += ["Learnt:", *(f"  {said}" for said in result.learnt)]
        for title, rules in group_rules(counts).items():
            lines += rule_lines(title, rules, self.job.profile)
        named = name_run(options.store, result.run.id, result.newest_run)
        run = f"This is run {result.run.id} of {store_name(options.store)}"
        lines.append(f"{run}; honeyguide explain URL{named} says what became of a page.")
        click.echo("\n".join(map(line_for_people, lines)), err=True)

    def _tell_due(self, result: CrawlResult, stopped: str) -> None:
        """Say why visits failed, or why there was none, also to those who want no summary."""
        if result.tally.failures:
            note(failed_words(result.tally.failures))
        if self.options.quiet and not result.is_done and not result.tally.verdicts:
            note(f"no page was visited: {stopped}")

    def _write_reports(self, result: CrawlResult) -> None:
        from honeyguide.report import write_sheet  # only for those who want one
        from honeyguide.report.crawl import CrawlReportData, crawl_sheet

        session = self.session
        data = CrawlReportData(
            run_record(result.run),
            stop_words(result.stopped, held_back(result.counts), self._next_at),
            result.counts,
            with_links(session.pages(), links=False),
            found_records("external", session.ledger),
            group_rules(result.counts),
            lambda rule: rule_words(rule, self.job.profile),
        )
        sheet = crawl_sheet(data)
        for file in self.options.reports:
            write_sheet(sheet, Path(file))


# --- other processes on the same crawl ---

# Options of the command that are this process's alone, and whether a value follows.
_OWN = {
    "--workers": True, "-o": True, "--output": True, "--report": True, "--warc": True, "--markdown": True, "--format": True,
    "--top": True, "--content": True, "--lists": False, "--restart": False, "-v": False, "--verbose": False,
}  # fmt: skip
_PATIENCE_S = 30.0  # for a process that applies what it has fetched


class Helpers:
    """Processes that help with a crawl. What they fetch is in the store, where this process's outputs read it at the end."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start them when there is a run that they can join."""
        words = [*without_outputs(sys.argv[1:]), "--quiet", "--format", "jsonl"]
        command = [sys.executable, "-m", "honeyguide", *words]
        for _ in range(self._count - len(self._processes)):
            started = subprocess.Popen(  # noqa: S603 - our own command
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
            self._processes.append(started)

    def close(self) -> None:
        """End them: whoever stops asks the others to stop, too, and they commit what they have fetched."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            with suppress(subprocess.TimeoutExpired):  # it does not end by itself, so it is killed
                process.wait(_PATIENCE_S)
                continue
            process.kill()
            process.wait()


def without_outputs(words: list[str]) -> list[str]:
    """Leave out the options that are one process's alone.

    >>> without_outputs(["crawl", "https://a.example", "-o", "p.jsonl", "--workers=4", "--max-pages", "9", "--restart"])
    ['crawl', 'https://a.example', '--max-pages', '9']
    """
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        name, has_value, _ = word.partition("=")
        if name not in _OWN:
            kept.append(word)
        elif _OWN[name] and not has_value:
            next(rest, None)
    return kept
