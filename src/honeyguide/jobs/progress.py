"""How far a run over many sites is: counts, pace, time left.

Owns: the arithmetic and the words. Must not know: terminals, or the time; `now` is an argument, in seconds.
Start reading at `Progress.finish`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

LINE_EVERY_S = 5.0  # between two lines of a log, at the least
LINE_EVERY_SHARE = 0.05  # of all sites: twenty lines tell a long run
HEARTBEAT_S = 60.0  # a run that is slower than that still says that it lives
_OK = "ok"


@dataclass(slots=True)
class Progress:
    """A run of `total` sites; `earlier` are the statuses of those that another one finished before.

    >>> run = Progress(total=10, started=100.0, earlier=Counter(ok=2))
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
