"""A store that says which run a crawl works on, as soon as that is settled.

Owns: `Announced`. Outputs that follow the store, and pages that come from elsewhere than links, need the run before
the first page is fetched. Must not know: what is done with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from honeyguide.core.frontier import Run, RunSpec
    from honeyguide.ports import Frontier, History, Store


@dataclass(frozen=True, slots=True)
class Announced:
    """A `Store` that is another one, and calls `on_run` when a run begins or goes on."""

    store: Store
    on_run: Callable[[Run], None]

    @property
    def history(self) -> History:
        """What is remembered across runs."""
        return self.store.history

    def begin(self, spec: RunSpec, now: float, *, fresh: bool = False) -> Run:
        """Begin, and say so."""
        run = self.store.begin(spec, now, fresh=fresh)
        self.on_run(run)
        return run

    def end(self, run: Run, why: str, now: float) -> None:
        """Note why a process stopped working on a run."""
        self.store.end(run, why, now)

    def runs(self) -> list[Run]:
        """Give all runs, oldest first."""
        return self.store.runs()

    def frontier(self, run: Run) -> Frontier:
        """Give the queue of a run."""
        return self.store.frontier(run)

    def transaction(self) -> AbstractContextManager[None]:
        """Do several things as one."""
        return self.store.transaction()

    def flush(self) -> None:
        """Commit."""
        self.store.flush()

    def close(self) -> None:
        """Commit and let go."""
        self.store.close()
