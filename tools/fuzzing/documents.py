"""Formats whose documents are bytes: what all of them share.

Owns: `Documents`, which the targets are, and `expect`. Must not know: any one format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fuzzing.making import Maker

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random


def expect(holds: object, what: str) -> None:
    """Raise where a promise is broken; `what` says how."""
    if not holds:
        raise AssertionError(what)


class Documents:
    """A format whose documents are bytes; `check` is left to each."""

    name = ""
    pieces: Sequence[bytes] = ()
    seeds: Sequence[bytes] = ()
    most = 25

    def begin(self, chance: Random, corpus: Sequence[bytes]) -> None:
        """Get ready."""
        self.chance = chance
        self.maker = Maker(chance, self.pieces, [*self.seeds, *corpus], self.most)

    def make(self) -> Any:
        """Make the next document."""
        return self.maker.document()

    def given(self, document: bytes) -> Iterable[Any]:
        """Take a document as it is."""
        return (document,)

    def end(self) -> None:
        """Nothing is left behind."""


def text_of(document: bytes) -> str:
    """Read bytes as text; broken ones become half characters, which are hostile, too."""
    return document.decode("utf-8", "surrogateescape")


def pieces_of(*groups: str) -> tuple[bytes, ...]:
    """Cut lines into pieces at spaces; `␣` stands for a space."""
    return tuple(
        piece.replace("␣", " ").encode("utf-8", "surrogatepass")
        for group in groups
        for piece in group.split()
    )
