"""How many mistakes are told at once, and how much of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_TOLD = 50  # nobody mends more in one go
_MAX_CHARS = 300


def told(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Keep the first mistakes, and count the others.

    >>> told([Problem("name", "is required")] * 60)[-1].what
    '10 more mistakes; mend these first'
    """
    kept = [Problem(_cut(one.where), _cut(one.what)) for one in problems[:MAX_TOLD]]
    if more := len(problems) - len(kept):
        kept.append(Problem("", f"{more} more mistakes; mend these first"))
    return tuple(kept)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}…"
