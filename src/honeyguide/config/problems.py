"""How many mistakes are told at once, how much of each, and what may have been meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


def proposal(name: str, known: Iterable[str], otherwise: str) -> str:
    """Say which of the known names may have been meant; if none is near, say which there are.

    >>> proposal("absolut", ["absolute", "tier1"], "defined are")
    'did you mean absolute?'
    >>> proposal("zebra", ["absolute", "tier1"], "defined are")
    'defined are absolute, tier1'
    """
    names = list(known)
    near = nearest(name, names)
    return f"{otherwise} {', '.join(names) or 'none'}" if near is None else f"did you mean {near}?"


def nearest(name: str, known: Sequence[str]) -> str | None:
    """Find the known name that may have been meant.

    >>> nearest("term", ["topic", "terms"]), nearest("colour", ["topic", "terms"])
    ('terms', None)
    """
    from difflib import get_close_matches  # for mistakes only

    return next(iter(get_close_matches(name[:_MAX_CHARS], known, 1)), None)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}…"
