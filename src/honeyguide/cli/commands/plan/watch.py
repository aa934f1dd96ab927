"""`honeyguide watch`: plan and crawl what a store knows, in a loop, until stopped.

Owns: the command, its options, how far it says it is, and how it ends. Must not know: when to plan and what to fetch
(`jobs.watch`), how pages are kept (`crawled.py`). Start reading at `watch`.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honeyguide import app
from honeyguide.adapters.files.read import STDIN
from honeyguide.adapters.output.page_lines import Truth
from honeyguide.app.plan import LEARNED
from honeyguide.cli.command import MOST, PARTIAL, YEAR_S, Command, Number
from honeyguide.cli.commands.crawl.ending import (
    STOPPED,
    failed_words,
    failure_of,
    is_refused,
    refused_words,
    revisit_words,
)
from honeyguide.cli.commands.crawl.outputs import Lines, PrintedPages, TableOutput, shaped
from honeyguide.cli.commands.crawl.runs import store_option
from honeyguide.cli.commands.plan.plan import policy_option
from honeyguide.cli.files import INTERRUPTED, TOLD, check_distinct, format_of, until_told
from honeyguide.cli.options import all_options, fetch_options, moment, policy_of
from honeyguide.cli.output import is_plain, no_color_option, note
from honeyguide.cli.progress import HEARTBEAT_S, LINE_EVERY_S, duration
from honeyguide.cli.progress import watch as shown
from honeyguide.config import load_profile
from honeyguide.core.records import verdict_of
from honeyguide.core.text.printable import printable
from honeyguide.jobs.watch import WatchBudget

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from honeyguide.cli.commands.crawl.outputs import Output
    from honeyguide.cli.progress import Watch
    from honeyguide.core.records import Record
    from honeyguide.jobs.crawl import PageAttachments
    from honeyguide.jobs.watch import Round
    from honeyguide.ports.store import Store


_STOPPED = {
    "until": "--until has come",
    "rounds": "--rounds are done",
    **{reason: STOPPED[reason] for reason in (INTERRUPTED, TOLD)},
}


def _pace_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add how much may be done, and for how long."""
    options = (
        click.option("--per-hour", type=click.IntRange(1, 10_000_000), required=True, metavar="N", help="Visit at most N pages in any hour."),
        click.option("--cycle", type=Number(1, YEAR_S), default=60.0, show_default=True, metavar="S", help="Seconds from one plan to the next."),
        click.option("--rest", type=Number(0, YEAR_S), default=60.0, show_default=True, metavar="S", help="Visit no page sooner than S seconds after its last visit."),
        click.option("--per-host", type=click.IntRange(1, MOST), metavar="N", help="Plan at most N pages of each host at a time."),
        click.option("--sitemap", "sitemaps", multiple=True, metavar="URL|FILE", help="Read a sitemap or feed again and again, for new pages and changes; auto takes those that robots.txt names. May be repeated."),
        click.option("--listen", type=Number(60, YEAR_S), default=3600.0, show_default=True, metavar="S", help="Seconds from one reading of sitemaps and feeds to the next."),
        click.option("--until", callback=moment, metavar="TIME", help="Stop then; ISO 8601 with a zone."),
        click.option("--rounds", type=click.IntRange(1, MOST), metavar="N", help="Stop after N plans."),
    )  # fmt: skip
    return all_options(options, command)


@click.command(
    cls=Command,
    examples=("honeyguide watch --per-hour 100 --until 2035-01-01T06:00:00Z -o pages.jsonl",),
)
@store_option
@_pace_options
@policy_option(LEARNED, "")
@click.option(
    "--profile",
    default="news",
    show_default=True,
    metavar="NAME",
    help="Whose rules plan, by the policy heuristic.",
)
@click.option(
    "-o", "--output", "file", metavar="FILE", help="Write the records of all visits of the store to a file."
)
@click.option(
    "--format",
    "output",
    type=click.Choice(["table", "jsonl", "csv"]),
    help="How to write; by the name of -o, else a table in a terminal and JSON lines in a pipe.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing about progress.")
@fetch_options("Requests at once.", 32)
@no_color_option
def watch(store: str, **asked: Any) -> None:
    """Visit the pages of a store again, the best first, until stopped.

    The store is one that honeyguide crawl has made. Each cycle ranks what it knows, as honeyguide plan does, and visits
    the best, within a budget. Pages that are the same cost next to nothing, and new links are visited, too.

    The budget counts the visits of the last hour, whoever made them. Ctrl-C, or worse, loses nothing that is finished:
    the same command goes on, keeps the budget, and first visits what was planned. SIGTERM ends it in the same way, with
    exit code 0, as is expected of what runs until it is stopped.
    """
    check_distinct((), (asked["file"], store))
    until = None if asked["until"] is None else asked["until"].timestamp()
    pace = WatchBudget(asked["per_hour"], asked["cycle"], until, asked["rounds"])
    out = _output(asked["file"], asked["output"], is_whole=_has_many_sites(store))
    try:
        stopped = _watch(store, pace, out, asked)
    finally:
        out.close()
    if stopped == INTERRUPTED:
        raise KeyboardInterrupt  # everything is told; what is left is the exit code
    if stopped == "refused":
        click.get_current_context().exit(PARTIAL)


def _has_many_sites(store: str) -> bool:
    """Tell whether pages are to be shown with their hosts; what is wrong with the store is said before there is output."""
    opened = app.open_store(store, create=False)
    try:
        return len({site for run in opened.runs.list() for site in opened.ledger(run).sites()}) > 1
    finally:
        opened.close()


def _output(file: str | None, output: str | None, *, is_whole: bool) -> Output:
    if file in (None, STDIN):
        shape = output or ("table" if sys.stdout.isatty() else "jsonl")
        return PrintedPages(shape, (), whole=is_whole, again=True)
    path = Path(str(file))
    is_table = format_of(str(file), output) == "csv"
    return TableOutput(path, fresh=False) if is_table else Lines(path, (), fresh=False)


def _watch(store: str, pace: WatchBudget, out: Output, asked: dict[str, Any]) -> str:
    """Watch, and tell how it went; gives why it stopped."""
    progress = WatchProgress(pace, time.monotonic())
    with shown(progress, quiet=asked["quiet"], no_color=is_plain()) as watcher:
        request = app.WatchRequest(
            budget=pace,
            profile=load_profile(asked["profile"]),
            policy=asked["policy"],
            rest_s=asked["rest"],
            per_host=asked["per_host"],
            concurrency=asked["concurrency"],
            sitemaps=asked["sitemaps"],
            listen_s=asked["listen"],
            on_page=_pages(out, progress, watcher),
            on_round=_rounds(progress, watcher),
            on_store=lambda opened: out.begin(_truth(opened)) if out.name else None,
            on_note=note,
        )
        watching = app.watch_store(store, request, policy_of(asked))
        stopped = asyncio.run(_until_stopped(watching, watcher))
    if out.name:
        opened = app.open_store(store)
        try:
            out.end(_truth(opened))
        finally:
            opened.close()
    if not asked["quiet"]:
        summary = progress.summary(time.monotonic())
        click.echo(printable(f"{out.name}: {summary}" if out.name else summary), err=True)
        click.echo(printable(f"Stopped: {_STOPPED[stopped]}."), err=True)
    if progress.failures:
        note(failed_words(progress.failures))
    if progress.refused:
        note(refused_words(progress.refused))
    is_barred = progress.refused == progress.done > 0 and stopped != INTERRUPTED
    return "refused" if is_barred else stopped


async def _until_stopped(watching: Awaitable[str], watcher: Watch) -> str:
    """Watch until it is over, or until Ctrl-C or SIGTERM; a log hears that it lives while nothing happens."""
    beating = asyncio.create_task(_beat(watcher))
    try:
        return await until_told(watching)
    finally:
        beating.cancel()


async def _beat(watcher: Watch) -> None:
    while True:
        await asyncio.sleep(LINE_EVERY_S)
        watcher.update()


def _pages(out: Output, progress: WatchProgress, watcher: Watch) -> Callable[[Record, PageAttachments], None]:
    def on_page(record: Record, _: PageAttachments) -> None:
        (row,) = shaped((record,), links=False)
        with nullcontext() if out.name else watcher.paused():
            out.add(row, {})
        progress.add(record)
        watcher.update()

    return on_page


def _rounds(progress: WatchProgress, watcher: Watch) -> Callable[[Round], None]:
    def on_round(done: Round) -> None:
        progress.end(done, time.monotonic() + done.next_at - time.time())
        watcher.update()

    return on_round


def _truth(store: Store) -> Truth:
    """Say what the store says: all visits, run by run. A file that shares no page with it is another store's."""

    def pages() -> Iterator[Record]:
        for run in store.runs.list():
            yield from shaped((record for _, record in store.ledger(run).pages()), links=False)

    return Truth(pages, lambda _: False)


# --- how far it is ---


@dataclass(slots=True)
class WatchProgress:
    """A watch of this process: `verdicts` are of all rounds, `recent` of the one that is under way, or was last.

    Times are those of `time.monotonic`. A log gets a line after a round that visited something, where the hour's visits
    are spent, and after a minute.
    """

    pace: WatchBudget
    started: float
    verdicts: Counter[str] = field(default_factory=Counter)
    recent: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    last: Round | None = None
    next_at: float = 0.0
    total: int | None = None
    _said_at: float = field(init=False)
    _said_round: int = 0
    _is_between: bool = True

    def __post_init__(self) -> None:
        self._said_at = self.started

    def add(self, record: Record) -> None:
        """Count a visit."""
        if self._is_between:
            self.recent, self._is_between = Counter(), False
        verdict = verdict_of(record)
        self.verdicts[verdict] += 1
        self.recent[verdict] += 1
        self.refused += is_refused(record)
        self.failures += failure_of(record)

    def end(self, last: Round, next_at: float) -> None:
        """Hear that a round is over, and when the next one begins."""
        if self._is_between:
            self.recent = Counter()
        self.last, self.next_at, self._is_between = last, next_at, True

    @property
    def done(self) -> int:
        """Pages that were visited."""
        return self.verdicts.total()

    def is_line_due(self, now: float) -> bool:
        """Say whether a log should get a line now; a yes counts as said."""
        last = self.last
        is_over = self._is_between and last is not None and last.number > self._said_round
        is_news = is_over and last is not None and (self.recent.total() > 0 or self._is_spent(last))
        is_due = is_news or now - self._said_at >= HEARTBEAT_S
        if is_due:
            self._said_at, self._said_round = now, last.number if last else 0
        return is_due

    def _is_spent(self, last: Round) -> bool:
        return last.spent >= self.pace.per_hour

    def line(self, now: float) -> str:
        """Say how far it is."""
        number = (self.last.number if self.last else 0) + (not self._is_between)
        start = f"round {number:,}: {revisit_words(self.recent)}" if number else revisit_words(self.recent)
        if self.last is None or not self._is_between:
            return start
        hour = f"{self.last.spent:,} of {self.pace.per_hour:,}"
        if self._is_spent(self.last):
            at = datetime.fromtimestamp(self.last.next_at, UTC)
            return f"{start}; {hour} visits of this hour are spent; next at {at:%H:%M:%SZ}"
        return f"{start}; {hour} in the last hour; next in {duration(max(0.0, self.next_at - now))}"

    def summary(self, now: float) -> str:
        """Say how it ended."""
        number = self.last.number if self.last else 0
        rounds = "1 round" if number == 1 else f"{number:,} rounds"
        return f"{revisit_words(self.verdicts)}; {rounds}, {duration(now - self.started)}"
