"""What a frontier in memory is made of: its URLs and its sites, as plain records.

Owns: `Entry`, `Site`. Must not know: the order of the queue, who claims (`memory_frontier.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from honeyguide.core.frontier import State
from honeyguide.errors import AddressRefused

if TYPE_CHECKING:
    from honeyguide.core.frontier import Discovered, Sighting, Why
    from honeyguide.core.url import Url


@dataclass(slots=True)
class Entry:
    """One URL of a run; `found` is the evidence that gave it its place."""

    id: int
    found: Discovered
    url: Url
    state: State
    rank: int
    parent: int | None
    why: Why | None = None
    seen: int = 1
    attempts: int = 0
    visits: int = 0
    claim: int | None = None
    due_at: float | None = None
    sightings: list[tuple[int | None, Sighting]] = field(default_factory=list)

    def place(self, found: Discovered) -> None:
        """Take over another place in the queue, and its reasons; where it was found stays."""
        old = self.found
        self.found = found._replace(
            site=found.url.site, depth=old.depth, hub_depth=old.hub_depth, is_seed=old.is_seed
        )
        self.rank, self.why, self.due_at, self.attempts = found.rank, found.out, None, 0
        if found.sighting and self.sightings:
            parent, seen = self.sightings[0]
            self.sightings[0] = parent, found.sighting._replace(anchor=seen.anchor, position=seen.position)


@dataclass(slots=True)
class Site:
    """One site of a run: its queue as a heap that may hold entries which have moved on."""

    name: str
    is_external: bool = False
    is_inside: bool = False
    blocked_until: float = 0.0
    fetched: int = 0
    leased: int = 0
    heap: list[tuple[int, int]] = field(default_factory=list)


def is_due(entry: Entry) -> bool:
    """Tell whether an entry was scheduled and has not been had since; what was refused for its address may yet be."""
    is_open = entry.state in (State.QUEUED, State.LEASED)
    is_refused = (
        entry.state == State.DROPPED and entry.why is not None and entry.why.rule == AddressRefused.rule
    )
    is_waiting = entry.state == State.DONE and entry.due_at is not None
    return entry.rank < 0 and (is_open or is_waiting or is_refused)
