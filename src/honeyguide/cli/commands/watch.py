"""`honeyguide watch` and `import`: visit what a store knows again and again, and bring known URLs into it.

Must not know: when and what is visited (`jobs.watch`), how files are read and kept (`app`). Start reading at `watch`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honeyguide.app.crawl import CrawlTally, load_profile
from honeyguide.app.files import PageFile, PageTable, StoredPages, store_name, with_links
from honeyguide.app.library.observe import FIELDS, import_known
from honeyguide.app.plan import LEARNED
from honeyguide.app.runs import all_pages, opened_store, sites_of
from honeyguide.app.watch import CLASSES, WatchBudget, WatchRequest, watch_store
from honeyguide.cli import stopping
from honeyguide.cli.command import COUNT, PARTIAL, YEAR_S, Command, Number, option, shared_fields, takes
from honeyguide.cli.commands.plan import policy_option
from honeyguide.cli.crawl_lines import (
    STOPPED,
    PrintedPages,
    begin_output,
    failed_words,
    refused_words,
    revisit_words,
)
from honeyguide.cli.options import (
    FetchOptions,
    KeepOptions,
    check_distinct,
    check_kinds,
    column_option,
    destination,
    format_option,
    input_format_option,
    moment,
    on_error_option,
    quiet_option,
    reading_rows,
    store_option,
)
from honeyguide.cli.output import (
    line_for_people,
    no_color_option,
    note,
    usual_format,
    verbose_option,
)
from honeyguide.cli.progress import LINE_EVERY_S, Progress, count_of, duration
from honeyguide.cli.stopping import INTERRUPTED, INTERRUPTED_CODE, TERMINATED, until_stopped
from honeyguide.core.records import VERDICTS, iso, verdict_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from honeyguide.app.crawl import PageAttachments, Store
    from honeyguide.app.watch import PageClass, Round
    from honeyguide.cli.crawl_lines import Output
    from honeyguide.core.records import Record

_STOPPED = {
    "until": "--until has come",
    "rounds": "--rounds are done",
    **{reason: STOPPED[reason] for reason in (INTERRUPTED, TERMINATED, "stopped")},
}


def _intervals(
    _ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> dict[PageClass, float]:
    """Read seconds by class of pages; without a class they are those of all."""
    found: dict[PageClass, float] = {}
    for text in texts:
        name, is_named, given = text.rpartition("=")
        seconds = Number(0, YEAR_S).convert(given, _option, _ctx)
        classes = [one for one in CLASSES if one == name] if is_named else CLASSES
        if not classes:
            raise click.BadParameter(f"{name!r} is none of {', '.join(CLASSES)}.")
        found.update(dict.fromkeys(classes, seconds))
    return found


def _interval_option(names: str, about: str) -> Any:
    return option(names, about, multiple=True, callback=_intervals)


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What is visited again, how often, and where visits go."""

    store: str = store_option()
    per_hour: int = option(
        "--per-hour N",
        "Make at most N visits and N requests in any hour; robots.txt and redirects count, too.",
        type=click.IntRange(1, 10_000_000),
        required=True,
    )
    cycle_s: float = option("--cycle S", "Seconds between two plans.", type=Number(1, YEAR_S), default=60.0)
    rest_s: float = option(
        "--rest S",
        "Visit no page sooner than S seconds after its last visit.",
        type=Number(0, YEAR_S),
        default=60.0,
    )
    min_interval_s: Mapping[PageClass, float] = _interval_option(
        "--min-interval [CLASS=]S",
        "The same for pages of a class (hub, article, page); without a class, for all; may be repeated.",
    )
    max_interval_s: Mapping[PageClass, float] = _interval_option(
        "--max-interval [CLASS=]S",
        "Visit pages of a class first if their last visit is longer ago than S seconds; may be repeated.",
    )
    log: str | None = option("--log FILE", "Append a line for each round.")
    per_host: int | None = option("--per-host N", "Plan at most N pages of each host.", type=COUNT)
    visited: bool = option("--visited", "Only pages that were visited before, no new links.")
    sitemaps: tuple[str, ...] = option(
        "--sitemap URL|FILE",
        "Look for new pages and changes in a sitemap or feed; auto: in those that robots.txt names; may be repeated.",
    )
    listen_s: float = option(
        "--listen S",
        "Seconds between two readings of sitemaps and feeds.",
        type=Number(60, YEAR_S),
        default=3600.0,
    )
    until: datetime | None = option(
        "--until TIME", "Stop at this time: ISO 8601 with a zone.", callback=moment
    )
    rounds: int | None = option("--rounds N", "Stop after N plans.", type=COUNT)
    policy: str = policy_option(LEARNED)
    profile: str = option("--profile NAME", "The profile of the policy heuristic.", default="news")
    file: str | None = option("-o --output FILE", "Write all visits of the store to a file.")
    output: str | None = format_option()
    quiet: bool = option("-q --quiet", "Print no progress and no summary.")


@click.command(
    cls=Command,
    examples=("honeyguide watch --per-hour 100 --until 2035-01-01T06:00:00Z -o pages.jsonl",),
)
@takes(options=WatchOptions, keeping=KeepOptions, fetching=FetchOptions)
@verbose_option
@no_color_option
def watch(options: WatchOptions, keeping: KeepOptions, fetching: FetchOptions) -> None:
    """Visit the pages of a store again, the best first, until stopped.

    Each cycle ranks all URLs of the store, new links and imported URLs included, as honeyguide plan does, and visits the
    best within the budget.

    The budget counts all visits of the last hour, by any process. If interrupted, run the same command again: it keeps the
    budget, and first visits what was planned. SIGTERM also ends it, with exit code 0.
    """
    check_distinct((), (options.file, options.store, options.log))
    file, output = destination(options.file, options.output, usual=usual_format())
    until = None if options.until is None else options.until.timestamp()
    tally = WatchTally(WatchBudget(options.per_hour, options.cycle_s, until, options.rounds))
    with opened_store(options.store, create=False) as store:
        show_hosts = len(sites_of(store, store.runs.list())) > 1
        out: Output = PrintedPages(output, (), show_hosts=show_hosts, show_changes=True)
        if file is not None:
            out = PageTable(Path(file), "csv") if output == "csv" else PageFile(Path(file))
        with closing(out):
            begin_output(out, _stored_pages(store))
            work = _Work(tally, out, options.log)
            named = {**shared_fields(options, WatchRequest), "profile": load_profile(options.profile)}
            request = WatchRequest(
                **named,
                budget=tally.budget,
                concurrency=fetching.concurrency,
                keep_bytes=keeping.keep_bytes,
                on_page=work.take_page,
                on_round=work.end_round,
                on_note=note,
            )
            with work.progress.shown(quiet=options.quiet):
                stopped = stopping.run(work.run(watch_store(store, request, fetching.policy)))
            stopping.release()
            out.end(_stored_pages(store))
    visits = tally.visits
    if not options.quiet:
        summary = tally.summary(time.monotonic())
        click.echo(line_for_people(f"{out.name}: {summary}" if out.name else summary), err=True)
        click.echo(line_for_people(f"Stopped: {_STOPPED[stopped]}."), err=True)
    if visits.failures:
        note(failed_words(visits.failures))
    if visits.refused:
        note(refused_words(visits.refused))
    if stopped == INTERRUPTED:
        raise click.exceptions.Exit(INTERRUPTED_CODE)
    if stopped == "stopped" or visits.refused == visits.verdicts.total() > 0:
        click.get_current_context().exit(PARTIAL)


def _stored_pages(store: Store) -> StoredPages:
    """Say what the store says: all visits, run by run. A file that shares no page with it is another store's."""
    return StoredPages(lambda: with_links(all_pages(store), links=False), lambda _: False)


@dataclass(slots=True)
class _Work:
    """One process that watches: visits to the output, rounds to the progress."""

    tally: WatchTally
    out: Output
    log: str | None = None
    progress: Progress = field(init=False)

    def __post_init__(self) -> None:
        self.progress = Progress(step=inf, details=lambda now: [self.tally.line(now)])

    async def run(self, watching: Awaitable[str]) -> str:
        """Watch until it is over, or until Ctrl-C or SIGTERM; gives why it stopped."""
        beating = asyncio.create_task(self._beat())
        try:
            return await until_stopped(watching)
        finally:
            beating.cancel()

    async def _beat(self) -> None:
        while True:  # a log gets its line even while nothing happens
            await asyncio.sleep(LINE_EVERY_S)
            self.progress.update()

    def take_page(self, record: Record, _: PageAttachments) -> None:
        """Write a visit, and count it."""
        (row,) = with_links((record,), links=False)
        with nullcontext() if self.out.name else self.progress.paused():
            self.out.append(row, {})
        self.tally.add(record)
        self.progress.update()

    def end_round(self, last: Round) -> None:
        """Say that a round is over, if that is news."""
        is_news = self.tally.end(last, time.monotonic() + last.next_at - time.time())
        self.progress.update(is_news=is_news)
        if self.log is not None:
            with Path(self.log).open("a", encoding="utf-8") as file:
                file.write(f"{round_line(last, self.tally.recent)}\n")


def round_line(last: Round, verdicts: Counter[str]) -> str:
    """Write a round for a log, always with the same keys: what was allowed, planned, fetched and spent, how the visits ended."""
    numbers = {
        "round": last.number,
        "allowed": last.allowed,
        "planned": last.planned,
        "fetched": last.fetched,
    }
    counts = {**numbers, **{name: verdicts[name] for name in VERDICTS}, "spent": last.spent}
    words = " ".join(f"{name}={count}" for name, count in counts.items())
    return f"{iso(last.at)} {words} next={iso(last.next_at)}"


@dataclass(slots=True)
class WatchTally:
    """What a watch did: `visits` in all, and `recent` verdicts of the round that is under way or was last.

    Times are those of `time.monotonic`.
    """

    budget: WatchBudget
    started: float = field(default_factory=time.monotonic)
    visits: CrawlTally = field(default_factory=CrawlTally)
    recent: Counter[str] = field(default_factory=Counter)
    last: Round | None = None
    next_at: float = 0.0
    _is_between: bool = True

    def add(self, record: Record) -> None:
        """Count a visit."""
        if self._is_between:
            self.recent, self._is_between = Counter(), False
        self.visits.add(record)
        self.recent[verdict_of(record)] += 1

    def end(self, last: Round, next_at: float) -> bool:
        """End a round; gives whether that is news: it visited something, or the hour's visits are spent."""
        if self._is_between:
            self.recent = Counter()
        self.last, self.next_at, self._is_between = last, next_at, True
        return self.recent.total() > 0 or last.spent >= self.budget.per_hour

    def line(self, now: float) -> str:
        """Say how far it is."""
        number = (self.last.number if self.last else 0) + (not self._is_between)
        start = f"round {number:,}: {revisit_words(self.recent)}" if number else revisit_words(self.recent)
        if self.last is None or not self._is_between:
            return start
        spent, budget = f"{self.last.spent:,}", f"{self.budget.per_hour:,}"
        at = datetime.fromtimestamp(self.last.next_at, UTC)
        if self.last.spent < self.budget.per_hour:
            wait_s = max(0.0, self.next_at - now)
            return f"{start}; {spent} of {budget} in the last hour; next in {duration(wait_s)}"
        if self.last.allowed:
            return f"{start}; {spent} of {budget} visits of this hour are spent; next at {at:%H:%M:%SZ}"
        made = f"{spent} visits in the last hour, those of other commands too, and --per-hour is {budget}"
        return f"{start}; nothing is left to spend: {made}; next at {at:%H:%M:%SZ}, or sooner with a larger --per-hour"

    def summary(self, now: float) -> str:
        """Say how it ended."""
        rounds = count_of(self.last.number if self.last else 0, "round")
        return f"{revisit_words(self.visits.verdicts)}; {rounds}, {duration(now - self.started)}"


# --- import ---


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Which columns are read, and where they go."""

    store: str = store_option()
    kind: str | None = input_format_option()
    columns: Mapping[str, str] = column_option(*FIELDS)
    on_error: str = on_error_option()
    profile: str = option("--profile NAME", "The profile with the scope of the URLs.", default="news")
    quiet: bool = quiet_option()


@click.command(
    "import",
    cls=Command,
    examples=(
        "honeyguide import known.csv --store known.db",
        "honeyguide import visits.csv --store known.db --column address --column last_visited=crawled",
    ),
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@takes(options=ImportOptions)
@verbose_option
def import_(files: tuple[str, ...], options: ImportOptions) -> None:
    """Bring known URLs and their visits from files into a store, for plan --store and watch.

    FILE is CSV, JSON lines or Parquet with the columns of honeyguide plan, except importance: a row says what is known of a
    URL. With changed, true or false, a row is one visit at last_visited, and rows must be in the order of time.

    The store is created if there is none. The same file may be imported again. Imported visits do not use up the budget
    of honeyguide watch.
    """
    check_kinds(files, options.kind)
    with reading_rows(options.on_error, quiet=options.quiet) as (rejected, progress):
        found = import_known(
            files,
            options.store,
            profile=options.profile,
            kind=options.kind,
            columns=options.columns,
            reject=rejected,
            on_rows=progress.read,
            on_note=progress.note,
        )
        progress.stop()
        if not options.quiet:
            visits = f"{count_of(found.learned, 'row')} with a visit"
            late = (
                f"; the visits of {count_of(found.ignored, 'row')} are not later than known ones, and ignored"
            )
            said = f"{count_of(found.rows, 'row')} imported: {count_of(found.new, 'new URL')}, {visits}"
            note(f"{store_name(options.store)}: {said}{late if found.ignored else ''}")
