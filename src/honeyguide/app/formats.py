"""How values are written for people; records are written by `core.records.text`.

Owns: what a value looks like in every output. Must not know: where it goes, any command. Start reading at `reason_lines`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.core.text.printable import number, points, printable, tidy

if TYPE_CHECKING:
    from honeyguide.core.rules.language import Score

__all__ = ["number", "points", "printable", "tidy"]  # front ends import them from here


def rounded(value: float | None) -> float | None:
    """Keep four decimals of a share in a record: what follows them is the processor's.

    >>> rounded(2 / 3), rounded(None)
    (0.6667, None)
    """
    return None if value is None else round(value, 4)


def reason_lines(score: Score | None) -> list[str]:
    """Write a score's reasons for people, `+80 services hub`; those that paid nothing only if none did."""
    reasons = () if score is None else score.reasons
    paid = [reason for reason in reasons if reason.points]
    return [
        f"{number(reason.points) if reason.rule == 'base' else points(reason.points)} {reason.text}"
        for reason in paid or [reason for reason in reasons if not reason.quiet]
    ]
