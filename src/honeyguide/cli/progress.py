"""How far a long run is, while it runs: a live line in a terminal, a few plain lines in a log, on standard error.

Must not know: what a command counts; it sets `done` and gives further words by `details`.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import click

from honeyguide.cli.output import is_plain, is_verbose, line_for_people, note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from rich.console import RenderableType
    from rich.live import Live

LINE_EVERY_S = 5.0  # between two lines of a log, at the least
LINE_EVERY_SHARE = 0.05  # of all sites: twenty lines tell a long run
HEARTBEAT_S = 60.0  # a run that is slower than that still says that it lives
ROWS_AFTER_S = 1.0  # a line about rows begins after so long
_BAR_WIDTH = 24
_OK = "ok"
_Item = TypeVar("_Item")


@dataclass(slots=True)
class Progress:
    """How far a run is: `done` items by this process and `before` by earlier ones, of `total` if that is known.

    Without a `unit` the line consists of `details` alone. A log gets a line after `step` more items. With `after_s`, a terminal
    gets its line after so many seconds, and a log none.
    """

    unit: str = ""
    total: int | None = None
    before: int = 0
    done: int = 0
    step: float = 0.0
    after_s: float = 0.0
    details: Callable[[float], Iterable[str]] = lambda _now: ()
    started: float = field(default_factory=time.monotonic)
    clock: Callable[[], float] = time.monotonic
    _is_log: bool = False
    _live: Live | None = None
    _logged_at: float = field(init=False)
    _logged_done: int = 0

    def __post_init__(self) -> None:
        self._logged_at = self.started

    # --- in words ---

    @property
    def all_done(self) -> int:
        """Items that are done, by this process or before."""
        return self.before + self.done

    def count(self) -> str:
        """Write how many items are done, and of how many: `0 of 3 pages`."""
        if self.total is None:
            return count_of(self.all_done, self.unit)
        return f"{self.all_done:,} of {count_of(self.total, self.unit)}"

    def line(self, now: float) -> str:
        """Say how far the run is."""
        if not self.unit:
            return ", ".join(self.details(now))
        rate = self.done / (now - self.started) if now > self.started else 0.0
        speed = [f"{rate:.1f} a second" if rate >= 0.1 else f"{rate * 60:.1f} a minute"] if rate else []
        left_s = (self.total - self.all_done) / rate if rate and self.total is not None else 0.0
        left = [f"about {duration(left_s)} left"] if left_s > 0 else []
        return ", ".join([self.count(), *speed, *self.details(now), *left])

    # --- on standard error ---

    @contextmanager
    def shown(self, *, quiet: bool) -> Iterator[None]:
        """Show the progress while the block runs: live in a terminal, as lines in a log, or not at all."""
        if quiet or is_verbose():
            yield
        elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            from rich.console import Console  # rich costs more than a pipe should pay
            from rich.live import Live

            console = Console(file=sys.stderr, no_color=is_plain() or None, highlight=False)
            self._live = Live(
                console=console,
                get_renderable=self._render,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            try:
                if not self.after_s:
                    self._live.start()
                yield
            finally:
                self.stop()
        elif self.after_s:
            yield
        else:
            self._is_log = True
            yield
            self._is_log = False

    def update(self, *, is_news: bool = False) -> None:
        """Write a line to a log if one is due, or if there is news; a live line begins when its time has come."""
        if (
            self._live is not None
            and not self._live.is_started
            and self.clock() - self.started >= self.after_s
        ):
            self._live.start()
        if self._is_log:
            now = self.clock()
            if self.is_line_due(now, is_news=is_news):
                click.echo(line_for_people(self.line(now)), err=True)

    def stop(self) -> None:
        """Take a live line away for good."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def is_line_due(self, now: float, *, is_news: bool = False) -> bool:
        """Tell whether a log gets a line now; a yes counts as written."""
        waited, more = now - self._logged_at, self.done - self._logged_done
        is_due = waited >= LINE_EVERY_S and (more >= self.step or waited >= HEARTBEAT_S)
        if is_due or is_news:
            self._logged_at, self._logged_done = now, self.done
        return is_due or is_news

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Wipe a live line away while something is printed, and draw it again below; a pipe does not see it."""
        with self._wiped() if sys.stdout.isatty() else nullcontext():
            yield

    def note(self, line: str) -> None:
        """Print a note on standard error, above a live line."""
        with self._wiped():
            note(line)

    @contextmanager
    def _wiped(self) -> Iterator[None]:
        if self._live is None or not self._live.is_started:
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

        # One row, cut where the terminal ends: rich clears as many rows as it drew last, whatever was printed since.
        text = Text(line_for_people(self.line(self.clock())), no_wrap=True, overflow="ellipsis")
        if self.total is None:
            return text
        grid = Table.grid(padding=(0, 1))
        grid.add_row(ProgressBar(total=max(1, self.total), completed=self.all_done, width=_BAR_WIDTH), text)
        return grid


class RowProgress(Progress):
    """How many rows of which file are read: a live line, if that takes longer than a second."""

    def __init__(self) -> None:
        super().__init__(details=self._words, after_s=ROWS_AFTER_S)
        self._file, self._rows = "", 0

    def read(self, file: str, rows: int) -> None:
        """Hear of rows that were read."""
        self._file, self._rows = file, rows
        self.update()

    def until_read(self, items: Iterable[_Item]) -> Iterator[_Item]:
        """Give items, and take the line away before the last of them is printed."""
        yield from items
        self.stop()

    def _words(self, _now: float) -> list[str]:
        return [f"reading {self._file}, {count_of(self._rows, 'row')}"]


# --- words ---


def count_of(count: int, one: str, many: str = "") -> str:
    """Count things: `1 page`, `1,200 pages`; `many` is for words that do not end in s."""
    return f"{count:,} {one}" if count == 1 else f"{count:,} {many or f'{one}s'}"


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


def most_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Order counts, the largest first."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def not_ok_words(statuses: Mapping[str, int]) -> list[str]:
    """Say how many sites did not end well, by status; nothing if all did."""
    failed = {status: count for status, count in statuses.items() if status != _OK and count}
    kinds = ", ".join(f"{count:,} {status}" for status, count in most_first(failed))
    return [f"{sum(failed.values()):,} not ok ({kinds})"] if failed else []


def sites_summary(progress: Progress, statuses: Mapping[str, int], now: float) -> str:
    """Say how a run of sites ended; `statuses` are those of all sites, also of earlier processes."""
    is_partial = progress.total is not None and progress.all_done < progress.total
    parts = [progress.count() if is_partial else count_of(progress.all_done, progress.unit)]
    if progress.before:
        parts.append(f"{progress.before:,} of them done before")
    parts += [f"{statuses.get(_OK, 0):,} ok", *not_ok_words(statuses)]
    return f"{', '.join(parts)}; {duration(now - progress.started)}"
