"""How far a long run is, while it runs: a live line in a terminal, a few plain lines in a log.

Owns: drawing it on standard error, and getting out of the way of what is printed. Must not know: what is counted
(`cli/progress.py` and `cli/progress.py` do). Start reading at `watch`.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import click

from honeyguide.cli.output import line_for_people
from honeyguide.core.crawl.placement import LANES
from honeyguide.core.records import is_relevant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from rich.console import RenderableType

    from honeyguide.core.records import Record

_BAR_WIDTH = 24


class ProgressReport(Protocol):
    """How far a run is, in numbers and words; `total` is None where nobody knows it."""

    @property
    def total(self) -> int | None:
        """How much there is to do."""

    @property
    def done(self) -> int:
        """How much of it is done."""

    def line(self, now: float) -> str:
        """Say how far it is."""

    def is_line_due(self, now: float) -> bool:
        """Say whether a log should get a line now."""


class Watch(Protocol):
    """Somebody who wants to know how far it is."""

    def update(self) -> None:
        """Hear that something is finished."""

    def paused(self) -> AbstractContextManager[None]:
        """Leave the terminal to what is printed meanwhile."""


@contextmanager
def watch(progress: ProgressReport, *, quiet: bool, no_color: bool) -> Iterator[Watch]:
    """Show the progress on standard error while the block runs, as whoever reads it likes it best."""
    if quiet:
        yield _Nobody()
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        line = _LiveLine(progress, no_color=no_color)
        try:
            line.start()
            yield line
        finally:
            line.stop()
    else:
        yield ProgressLog(progress, time.monotonic)


class _Nobody:
    """Nobody wants to know."""

    def update(self) -> None:
        """Say nothing."""

    def paused(self) -> AbstractContextManager[None]:
        """Nothing is drawn."""
        return nullcontext()


class ProgressLog:
    """Plain lines, a few: no carriage returns, nothing a file could not hold."""

    def __init__(self, progress: ProgressReport, now: Callable[[], float]) -> None:
        self._progress = progress
        self._now = now

    def update(self) -> None:
        """Write a line if one is due."""
        now = self._now()
        if self._progress.is_line_due(now):
            click.echo(line_for_people(self._progress.line(now)), err=True)

    def paused(self) -> AbstractContextManager[None]:
        """Whole lines get in nobody's way."""
        return nullcontext()


class _LiveLine:
    """A bar and a line that are drawn again and again, and gone when the run is over."""

    def __init__(self, progress: ProgressReport, *, no_color: bool) -> None:
        from rich.console import Console  # rich costs more than a pipe should pay
        from rich.live import Live

        self._progress = progress
        self._live = Live(
            console=Console(file=sys.stderr, no_color=no_color or None, highlight=False),
            get_renderable=self._render,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def start(self) -> None:
        """Begin to draw."""
        self._live.start()

    def stop(self) -> None:
        """Wipe it away."""
        self._live.stop()

    def update(self) -> None:
        """Do nothing: it is drawn anew four times a second."""

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Wipe the line away, and draw it again below what is printed; a pipe does not see it."""
        if not sys.stdout.isatty():
            yield
            return
        self._live.stop()
        try:
            yield
        finally:
            sys.stdout.flush()
            self._live.start()

    def _render(self) -> RenderableType:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        grid = Table.grid(padding=(0, 1))
        total = self._progress.total
        text = Text(line_for_people(self._progress.line(time.monotonic())))
        if total is None:
            grid.add_row(text)
        else:
            grid.add_row(
                ProgressBar(total=max(1, total), completed=self._progress.done, width=_BAR_WIDTH), text
            )
        return grid


LINE_EVERY_S = 5.0  # between two lines of a log, at the least
LINE_EVERY_SHARE = 0.05  # of all sites: twenty lines tell a long run
HEARTBEAT_S = 60.0  # a run that is slower than that still says that it lives
_OK = "ok"


@dataclass(slots=True)
class SitesProgress:
    """A run of `total` sites; `earlier` are the statuses of those that another one finished before.

    >>> run = SitesProgress(total=10, started=100.0, earlier=Counter(ok=2))
    >>> run.finish("ok"); run.finish("timeout")
    >>> run.line(104.0)
    '4 of 10 sites, 0.5 a second, 1 not ok (1 timeout), about 12 s left'
    """

    total: int
    started: float
    earlier: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    _said_at: float = field(init=False)
    _said_done: int = field(init=False)

    def __post_init__(self) -> None:
        self._said_at, self._said_done = self.started, self.before

    def finish(self, status: str) -> None:
        """Count a site."""
        self.statuses[status] += 1

    @property
    def before(self) -> int:
        """Sites that were finished before."""
        return self.earlier.total()

    @property
    def all_statuses(self) -> Counter[str]:
        """How sites ended, by this run or before."""
        return self.earlier + self.statuses

    @property
    def done(self) -> int:
        """Sites that are finished, by this run or before."""
        return self.before + self.statuses.total()

    @property
    def not_ok(self) -> int:
        """Sites that did not end well."""
        return self.done - self.all_statuses[_OK]

    def rate(self, now: float) -> float:
        """Sites a second, over this run."""
        return self.statuses.total() / (now - self.started) if now > self.started else 0.0

    def left_s(self, now: float) -> float | None:
        """Seconds until all are done at this pace; None while there is none to tell."""
        rate = self.rate(now)
        return (self.total - self.done) / rate if rate else None

    def is_line_due(self, now: float) -> bool:
        """Say whether a log should get a line now; a yes counts as said."""
        waited, more = now - self._said_at, self.done - self._said_done
        is_due = waited >= LINE_EVERY_S and (more >= self.total * LINE_EVERY_SHARE or waited >= HEARTBEAT_S)
        if is_due:
            self._said_at, self._said_done = now, self.done
        return is_due

    def line(self, now: float) -> str:
        """Say how far it is."""
        parts = [f"{self.done:,} of {self.total:,} {_sites(self.total)}"]
        if rate := self.rate(now):
            parts.append(f"{rate:.1f} a second" if rate >= 0.1 else f"{rate * 60:.1f} a minute")
        if self.not_ok:
            parts.append(f"{self.not_ok:,} not ok ({kinds_of(self.all_statuses)})")
        left = self.left_s(now)
        if left:
            parts.append(f"about {duration(left)} left")
        return ", ".join(parts)

    def summary(self, now: float) -> str:
        """Say how it ended."""
        parts = [f"{self.done:,} of {self.total:,} {_sites(self.total)}"] if self.done < self.total else []
        parts = parts or [f"{self.total:,} {_sites(self.total)}"]
        if self.before:
            parts.append(f"{self.before:,} of them done before")
        parts.append(f"{self.all_statuses[_OK]:,} ok")
        if self.not_ok:
            parts.append(f"{self.not_ok:,} not ok ({kinds_of(self.all_statuses)})")
        return f"{', '.join(parts)}; {duration(now - self.started)}"


def kinds_of(statuses: Counter[str]) -> str:
    """List what did not end well by kind, the most frequent first.

    >>> kinds_of(Counter(ok=5, timeout=1, dns_failed=2))
    '2 dns_failed, 1 timeout'
    """
    kinds = sorted((-count, status) for status, count in statuses.items() if status != _OK and count)
    return ", ".join(f"{-count:,} {status}" for count, status in kinds)


def duration(seconds: float) -> str:
    """Write a time span as one would say it.

    >>> duration(0.25), duration(42.4), duration(61), duration(7322), duration(200_000)
    ('0.2 s', '42 s', '1 min 1 s', '2 h 2 min', '2 d 7 h')
    """
    if seconds < 10:
        return f"{max(0.0, seconds):.1f}".rstrip("0").rstrip(".") + " s"
    whole = round(seconds)
    for size, unit, part, name in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit}" + (f" {rest} {name}" if rest else "")
    return f"{whole} s"


def _sites(count: int) -> str:
    return "site" if count == 1 else "sites"


LINE_EVERY_PAGES = 50


@dataclass(slots=True)
class CrawlProgress:
    """A crawl of this process: `before` is what earlier ones had, pages and relevant ones; `total` the page budget.

    Pages are fetches, as budgets count them. Without a topic nothing is said of relevance.

    >>> crawl = CrawlProgress(started=100.0, total=10)
    >>> for score in (8, 0, 5, None): crawl.add({"relevance_score": score})
    >>> crawl.lanes = {"far": 7, "deep": 2}
    >>> crawl.line(102.0)
    '4 of 10 pages, 2.0 a second, 2 relevant (50%), queued 2 deep, 7 far'
    """

    started: float
    total: int | None = None
    before: tuple[int, int] = (0, 0)
    has_topic: bool = True
    pages: int = 0
    relevant: int = 0
    lanes: Mapping[str, int] = field(default_factory=dict)
    _said_at: float = field(init=False)
    _said_pages: int = 0

    def __post_init__(self) -> None:
        self._said_at = self.started

    def add(self, record: Record) -> None:
        """Count a page."""
        self.pages += 1
        self.relevant += is_relevant(record)

    def settle(self, fetched: int) -> None:
        """Hear how many pages were fetched: with those that are tried again, without those that were never asked for."""
        self.pages = fetched

    @property
    def done(self) -> int:
        """Pages of the run, by this process or before."""
        return self.before[0] + self.pages

    def is_line_due(self, now: float) -> bool:
        """Say whether a log should get a line now; a yes counts as said."""
        waited, more = now - self._said_at, self.pages - self._said_pages
        is_due = waited >= LINE_EVERY_S and (more >= LINE_EVERY_PAGES or waited >= HEARTBEAT_S)
        if is_due:
            self._said_at, self._said_pages = now, self.pages
        return is_due

    def line(self, now: float) -> str:
        """Say how far it is."""
        parts = [self._pages() if self.total is None else f"{self.done:,} of {self.total:,} pages"]
        if now > self.started and self.pages:
            rate = self.pages / (now - self.started)
            parts.append(f"{rate:.1f} a second" if rate >= 0.1 else f"{rate * 60:.1f} a minute")
        parts += self._share()
        if self.lanes:
            parts.append(f"queued {queue_words(self.lanes)}")
        return ", ".join(parts)

    def summary(self, now: float) -> str:
        """Say how it ended."""
        earlier = [f"{self.before[0]:,} of them before"] if self.before[0] else []
        return f"{', '.join([self._pages(), *earlier, *self._share()])}; {duration(now - self.started)}"

    def _pages(self) -> str:
        return "1 page" if self.done == 1 else f"{self.done:,} pages"

    def _share(self) -> list[str]:
        relevant = self.before[1] + self.relevant
        return [f"{relevant:,} relevant ({relevant / max(1, self.done):.0%})"] if self.has_topic else []


def queue_words(lanes: Mapping[str, int]) -> str:
    """List what is queued, the first lane first.

    >>> queue_words({"far": 1200, "seed": 1})
    '1 seed, 1,200 far'
    """
    known = sorted(lanes, key=lambda lane: LANES.index(lane) if lane in LANES else len(LANES))
    return ", ".join(f"{lanes[lane]:,} {lane}" for lane in known if lanes[lane]) or "nothing"
