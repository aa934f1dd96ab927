"""A worker as the store sees it: its heartbeats, which of its leases are still its own, and whether somebody asks it to stop.

Owns: when a heartbeat is due, and what may be requested after this process was silent for too long. Must not know: the crawl machine,
fetching. Start reading at `Presence`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from honeyguide.ports.store import Heartbeat, Queue

BEAT_S = 5.0  # between two heartbeats at most: others see from them that we are there, and ask us to stop by the answer
_STOP_S = 30.0  # that a worker waits for what is being fetched, after it was asked to stop


class LeaseLostError(Exception):
    """Nothing is requested: this process was silent for so long that another one has the lease."""


class Presence:
    """One process on a run. `requested` are the claims of which something was requested, `stop_at` is when it stops waiting for them."""

    def __init__(self, queue: Queue, now: float, lease_s: float) -> None:
        self._queue = queue
        self._lease_s = lease_s
        self.beat_s = min(BEAT_S, lease_s / 4)
        self._renewed_at, self._held_until = now, now + lease_s
        self._lost = 0  # claims up to this number are others' by now
        self.requested: set[int] = set()
        self.stop_at: float | None = None

    def is_due(self, now: float) -> bool:
        """Tell whether it is time for a heartbeat."""
        return now - self._renewed_at >= self.beat_s

    def may_be_lost(self, now: float) -> bool:
        """Tell whether others may have taken our leases, because we were silent for too long."""
        return now >= self._held_until - min(1.0, self._lease_s / 10)

    def beat(self, now: float, pages: int, claims: Iterable[int]) -> Heartbeat:
        """Say that we are still here, with so many pages and these claims; learn whether they are ours, and whether we are to stop."""
        until = now + self._lease_s
        answer = self._queue.renew(now, until, pages)
        self._renewed_at, self._held_until = now, until
        if not answer.is_held:
            self._lost = max(claims, default=self._lost)
        if answer.is_stopping and self.stop_at is None:
            self.stop_at = now + _STOP_S
        return answer

    def start(self, claim: int) -> bool:
        """Note that something is about to be requested; False if it may not be, because we are to stop."""
        if claim <= self._lost:
            raise LeaseLostError
        if self.stop_at is not None and claim not in self.requested:
            return False
        self.requested.add(claim)
        return True
