"""In which order URLs come: the queue's places as numbers.

Owns: lanes and ranks. Must not know: why a link is placed where it is (traverse, judge), who keeps the queue (adapters).
Start reading at `rank_of`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from honeyguide.core.profile import Traversal
    from honeyguide.core.traverse import Placement

# Lanes from the first to the last; what is tried again comes after everything else, so that when a pause ends does not
# change the order of the rest.
LANES = ("seed", "deep", "broad", "tail", "far", "again")
_LANE_NUMBER = {name: number for number, name in enumerate(LANES)}
_LANE_BITS, _WAVE_BITS, _STEP_BITS = 52, 40, 12
_LAST_WAVE = (1 << _WAVE_BITS) - 1
_LAST_STEP = (1 << _STEP_BITS) - 1
_STEPS_PER_POINT = 100  # priorities are told apart to the hundredth of a point
# What is scheduled comes before all lanes, in the order of the plan: its ranks are negative. What of it is tried again
# follows in the second half of them.
_DUE, _DUE_AGAIN = -(1 << 62), -(1 << 61)
_LAST_PLACE = (1 << _LANE_BITS) - 1


def rank_of(placement: Placement, wave: int, order: str = "score") -> int:
    """Give the place in the queue as one number, lowest first; ties are first discovered first (TOPIC-5).

    `deep` is newest wave first, so that a good branch is exhausted before its siblings; the others are best first.
    `order` may be `breadth` or `depth` instead: then scores do not count.

    >>> from honeyguide.core.traverse import Placement
    >>> old, new = Placement("deep", 13, ()), Placement("deep", 8, ())
    >>> rank_of(new, 7) < rank_of(old, 3) < rank_of(Placement("broad", 10, ()), 9)
    True
    """
    step = (
        0
        if order != "score"
        else _LAST_STEP - max(0, min(_LAST_STEP, round(placement.priority * _STEPS_PER_POINT)))
    )
    is_wave = placement.lane == "deep" if order == "score" else order == "depth"
    waves = (_LAST_WAVE - min(wave, _LAST_WAVE)) << _STEP_BITS if is_wave else 0
    return (_LANE_NUMBER[placement.lane] << _LANE_BITS) + waves + step


def rank_again(rank: int) -> int:
    """Give the place of what is tried again: after everything else, in its old order there.

    >>> rank_again(rank_again(5)) == rank_again(5)
    True
    >>> rank_due(1) < rank_due(2) < rank_again(rank_due(1)) < 0
    True
    """
    if rank < 0:
        return _DUE_AGAIN + (rank & _LAST_PLACE)
    return (_LANE_NUMBER["again"] << _LANE_BITS) + (rank & ((1 << _LANE_BITS) - 1))


def rank_due(place: int) -> int:
    """Give the rank of what is scheduled: before everything that is not, in the order of the plan.

    >>> rank_due(0) < rank_due(1) < 0
    True
    """
    return _DUE + max(0, min(place, _LAST_PLACE))


def is_better(rank: int, than: int, traversal: Traversal) -> bool:
    """Tell whether a link met again moves up: by a better lane or more points, or, depth first, by being newer."""
    if traversal.order == "breadth" or not traversal.moves_up:
        return False
    if traversal.order == "depth":
        return rank < than
    return _evidence(rank) < _evidence(than)


def _evidence(rank: int) -> tuple[int, int]:
    return rank >> _LANE_BITS, rank & _LAST_STEP
