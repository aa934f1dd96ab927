"""How far a crawl is: pages, pace, how many of them are about the topic, what is queued.

Owns: the arithmetic and the words. Must not know: terminals, the store, or the time; `now` is an argument, in seconds.
Start reading at `Harvest.add`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from honeyguide.core.crawled import is_relevant
from honeyguide.core.ranks import LANES
from honeyguide.jobs.progress import HEARTBEAT_S, LINE_EVERY_S, duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from honeyguide.core.records import Record

LINE_EVERY_PAGES = 50


@dataclass(slots=True)
class Harvest:
    """A crawl of this process: `before` is what earlier ones had, pages and relevant ones; `total` the page budget.

    Pages are fetches, as budgets count them. Without a topic nothing is said of relevance.

    >>> crawl = Harvest(started=100.0, total=10)
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
