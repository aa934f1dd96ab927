"""Worth: what a visit wins that no earlier visit can be compared with.

Owns: the worth of a first visit. Must not know: pages, clocks. Start reading at `first_visit_by`. Like the formulas of
`core.rate`, it is written for numbers, arrays and columns alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from honeyguide.core.rate import index_by

if TYPE_CHECKING:
    from honeyguide.core.rate import Maths

SURE = 20.0  # mean intervals after which a page has surely changed


def first_visit_by(maths: Maths, a: Any, b: Any) -> Any:
    """Say what the first visit of a page is worth, at importance 1: as much as one of a page that surely has changed.

    A page without a copy is as bad as one whose copy is out of date, and its first copy lasts as long as any other: a
    year on a page that hardly changes, an hour on one that changes all the time. So a constant is wrong at both ends.
    With one, a small budget goes to new articles while they are still being edited, and nothing is left to come back.

    >>> from honeyguide.core.rate import SCALARS
    >>> round(first_visit_by(SCALARS, 0.5, 360.0)), round(first_visit_by(SCALARS, 3.0, 6.0), 1)
    (1641, 2.9)
    """
    return index_by(maths, a, b, SURE * b / a)
