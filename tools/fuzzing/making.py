"""Documents out of pieces and seeds, the same ones for the same seed.

Owns: assembling, mutating, splicing and pumping bytes. Must not know: any format; pieces and seeds come from targets.
Start reading at `Maker.document`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

MAX_SEED_BYTES = 4_000  # a larger seed is cut into a window of this size, so that most documents stay small
PUMPED = 0.004  # how many documents are one unit repeated
MAX_PUMPED_BYTES = 120_000
_ODD = (0, 1, 9, 10, 13, 32, 34, 39, 44, 58, 60, 62, 91, 92, 93, 123, 125, 127, 128, 192, 239, 254, 255)


@dataclass(slots=True)
class Maker:
    """Makes documents of one format."""

    chance: Random
    pieces: Sequence[bytes]
    seeds: list[bytes]
    most: int = 25  # pieces of one document
    pumped: float = PUMPED
    _ways: tuple[Callable[[bytes], bytes], ...] = field(init=False)

    def __post_init__(self) -> None:
        self._ways = (self._flip, self._cut, self._repeat, self._insert, self._splice, self._swap)

    def document(self) -> bytes:
        """Make the next document."""
        way = self.chance.random()
        if way < self.pumped:
            return self._pump()
        if way < 0.45 or not self.seeds:
            return self.assembled()
        document = self._window(self.chance.choice(self.seeds))
        for _ in range(self.chance.randint(1, 5)):
            document = self.chance.choice(self._ways)(document)
        return document

    def assembled(self) -> bytes:
        """Put pieces together, as they come."""
        return b"".join(self.chance.choices(self.pieces, k=self.chance.randint(1, self.most)))

    def _window(self, seed: bytes) -> bytes:
        if len(seed) <= MAX_SEED_BYTES:
            return seed
        start = self.chance.randrange(len(seed) - MAX_SEED_BYTES)
        return seed[start : start + MAX_SEED_BYTES]

    def _span(self, document: bytes, most: int = 64) -> tuple[int, int]:
        start = self.chance.randrange(len(document) + 1)
        return start, min(len(document), start + self.chance.randint(1, most))

    def _flip(self, document: bytes) -> bytes:
        """Change a few bytes: one bit, or to one that means something somewhere."""
        changed = bytearray(document)
        for _ in range(self.chance.randint(1, 4)):
            if changed:
                at = self.chance.randrange(len(changed))
                bit = changed[at] ^ (1 << self.chance.randrange(8))
                changed[at] = self.chance.choice((bit, self.chance.choice(_ODD)))
        return bytes(changed)

    def _cut(self, document: bytes) -> bytes:
        start, end = self._span(document)
        return document[:start] if self.chance.random() < 0.2 else document[:start] + document[end:]

    def _repeat(self, document: bytes) -> bytes:
        start, end = self._span(document)
        return document[:start] + document[start:end] * self.chance.randint(2, 6) + document[end:]

    def _insert(self, document: bytes) -> bytes:
        at = self.chance.randrange(len(document) + 1)
        return document[:at] + b"".join(self.chance.choices(self.pieces, k=2)) + document[at:]

    def _splice(self, document: bytes) -> bytes:
        """Go on with the rest of another seed."""
        other = self._window(self.chance.choice(self.seeds))
        start, _ = self._span(document)
        return document[:start] + other[self._span(other)[0] :]

    def _swap(self, document: bytes) -> bytes:
        """Let two parts change places."""
        (first, end), (start, last) = sorted((self._span(document), self._span(document)))
        if start < end:
            return document[::-1]
        return (
            document[:first]
            + document[start:last]
            + document[end:start]
            + document[first:end]
            + document[last:]
        )

    def _pump(self) -> bytes:
        """Repeat one or two units very often: what is not linear shows itself."""
        before, unit, between, second, after = (
            b"".join(self.chance.choices(self.pieces, k=self.chance.randint(low, 3)))
            for low in (0, 1, 0, 0, 0)
        )
        if self.chance.random() < 0.3:
            unit = bytes((self.chance.choice(unit or b"a"),))
        size = int(1_000 * (MAX_PUMPED_BYTES / 1_000) ** self.chance.random())
        times = size // max(len(unit) + len(second), 1)
        return before + unit * times + between + second * times + after
