"""Pages as they were read, in memory: a part of `MemoryStore`."""

from __future__ import annotations

# ruff: noqa: D102 - ports/store.py says what the methods promise
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from honeyguide.ports.store import KeptPage


class MemoryContents:
    """A `Contents` in memory; bodies are not packed."""

    def __init__(self) -> None:
        self._bodies: dict[int, bytes] = {}
        self._readings: dict[tuple[int, int], KeptPage] = {}

    def keep(self, run: int, claim: int, page: KeptPage, max_bytes: int) -> int:
        if page.digest not in self._bodies:
            if page.body is None or len(page.body) > max_bytes:
                return 0
            self._bodies[page.digest] = page.body
        self._readings[run, claim] = replace(page, body=None)
        return self.drop(max_bytes)

    def get(self, run: int, claim: int) -> KeptPage | None:
        page = self._readings.get((run, claim))
        if page is None or page.digest not in self._bodies:
            return None
        return replace(page, body=self._bodies[page.digest])

    def drop(self, max_bytes: int) -> int:
        dropped = 0
        while self._bodies and sum(map(len, self._bodies.values())) > max_bytes:
            del self._bodies[next(iter(self._bodies))]
            dropped += 1
        return dropped
