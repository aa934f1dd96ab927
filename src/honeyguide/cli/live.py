"""How far a long run is, while it runs: a live line in a terminal, a few plain lines in a log.

Owns: drawing it on standard error, and getting out of the way of what is printed. Must not know: what is counted
(`jobs/progress.py` and `jobs/harvest.py` do). Start reading at `watch`.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol

import click

from honeyguide.cli.output import line_for_people

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from rich.console import RenderableType

_BAR_WIDTH = 24


class Told(Protocol):
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
def watch(progress: Told, *, quiet: bool, no_color: bool) -> Iterator[Watch]:
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
        yield Log(progress, time.monotonic)


class _Nobody:
    """Nobody wants to know."""

    def update(self) -> None:
        """Say nothing."""

    def paused(self) -> AbstractContextManager[None]:
        """Nothing is drawn."""
        return nullcontext()


class Log:
    """Plain lines, a few: no carriage returns, nothing a file could not hold."""

    def __init__(self, progress: Told, now: Callable[[], float]) -> None:
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

    def __init__(self, progress: Told, *, no_color: bool) -> None:
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
