"""Where a link goes in the queue: lanes, parent bonus, branches, pruning, tunnelling (TOPIC-3 to TOPIC-5).

Owns: `place`, `calculate_priority`. Must not know: the queue itself, fetching, how scores were made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.rules.language import Reason, Score

if TYPE_CHECKING:
    from honeyguide.core.rules.profile import Band, Profile, Traversal


class Placement(NamedTuple):
    """A lane and a priority, and the points that made it. `weak_pages` in a row lead here; lane `skip` is not followed."""

    lane: str
    priority: float
    reasons: tuple[Reason, ...]
    weak_pages: int = 0

    @property
    def is_followed(self) -> bool:
        """Say whether the link is queued at all."""
        return self.lane != "skip"


def place(
    link_score: float, parent_score: float | None, traversal: Traversal, weak_pages: int = 0
) -> Placement:
    """Place a link by its score and that of the page it was found on; None is a seed page, which always expands.

    `weak_pages` is how many pages below the lowest useful score lead to the parent, in a row.

    >>> from honeyguide.core.rules.profile import Band, Traversal
    >>> hybrid = Traversal("hybrid", (Band(8, "deep"), Band(0, "skip")), (Band(8, "deep", 3), Band(0, "skip")))
    >>> place(8, 9, hybrid).priority
    11.0
    """
    priority = calculate_priority(link_score, parent_score, traversal)
    page = traversal.pages[0] if parent_score is None else band_of(parent_score, traversal.pages)
    weak = 0 if parent_score is None or page is not traversal.pages[-1] else weak_pages + 1
    lane = band_of(link_score, traversal.links).lane
    if weak and page.lane == "skip":
        text = f"found on a page that scores {parent_score:g}: its links are not followed"
        return _skipped(priority, Reason("pruned", 0, text), weak)
    if weak and weak >= traversal.tunnel:
        return _skipped(priority, Reason("tunnel-end", 0, f"{weak} weak pages in a row lead here"), weak)
    if lane == "skip":
        text = f"link score {link_score:g} is too low to follow"
        return _skipped(priority, Reason("irrelevant", 0, text), weak)
    if parent_score is not None and page.lane == "branch":
        lane = "branch"  # TOPIC-4: all links of the page, before any link found elsewhere
    return Placement(lane, priority.value, priority.reasons, weak)


def calculate_priority(link_score: float, parent_score: float | None, traversal: Traversal) -> Score:
    """Add the bonus of the page that a link was found on to the link's score (TOPIC-5).

    >>> from honeyguide.core.rules.profile import Band, Traversal
    >>> hybrid = Traversal("hybrid", (), (Band(8, "branch", 3), Band(5, "broad", 1), Band(0, "skip")))
    >>> [calculate_priority(6, parent, hybrid).value for parent in (8, 5, 4, None)]
    [9.0, 7.0, 6.0, 6.0]
    """
    reasons = [Reason("link-score", link_score, "link score")]
    bonus = 0 if parent_score is None else band_of(parent_score, traversal.pages).bonus
    if bonus:
        reasons.append(Reason("parent-bonus", bonus, f"found on a page that scores {parent_score:g}"))
    return Score(link_score + bonus, tuple(reasons))


def _skipped(priority: Score, why: Reason, weak_pages: int) -> Placement:
    return Placement("skip", 0, (*priority.reasons, why), weak_pages)


def relevance_level(score: float, profile: Profile) -> str | None:
    """Name the level of a score, as the link bands of `hybrid` do (TOPIC-3); None if the profile has no names."""
    hybrid = profile.traversals.get("hybrid")
    return None if hybrid is None else band_of(score, hybrid.links).level


def branch_action(page_score: float, traversal: Traversal, weak_pages: int = 0) -> str:
    """Name what happens to the links of a page by its score (TOPIC-4, TOPIC-4b)."""
    band = band_of(page_score, traversal.pages)
    if traversal.learner is not None:
        return "expand"
    if band is not traversal.pages[-1]:
        return "exhaust" if band.lane in _WAVE_LANES and band.bonus else "expand"
    if band.lane == "skip":
        return "keep"
    return "tunnel" if weak_pages + 1 < traversal.tunnel else "tunnel-end"


def band_of(score: float, bands: tuple[Band, ...]) -> Band:
    """Find the band a score falls into; bands are ordered from the top."""
    return next((band for band in bands if score >= band.at_least), bands[-1])


# Lanes from the first to the last; what is tried again comes after everything else, so that when a pause ends does not
# change the order of the rest.
LANES = ("seed", "branch", "deep", "broad", "worth", "tail", "far", "again")
# `branch` follows the seeds within lane 0: a seed has wave 0, a branch the distance of its wave from the last.
# A traversal has lanes, or it goes by worth.
_LANE_NUMBER = {"seed": 0, "branch": 0, "deep": 1, "broad": 2, "worth": 2, "tail": 3, "far": 4, "again": 5}
_WAVE_LANES = ("branch", "deep")
_LANE_BITS, _WAVE_BITS, _STEP_BITS = 52, 40, 12
_MIDDLE = (_LANE_NUMBER["worth"] << _LANE_BITS) + (1 << 40)
_LAST_WAVE = (1 << _WAVE_BITS) - 1
_LAST_STEP = (1 << _STEP_BITS) - 1
_STEPS_PER_POINT = 100  # priorities are told apart to the hundredth of a point
# What is scheduled comes before all lanes, in the order of the plan: its ranks are negative. What of it is tried again
# follows in the second half of them.
_DUE, _DUE_AGAIN = -(1 << 62), -(1 << 61)
_LAST_PLACE = (1 << _LANE_BITS) - 1


def rank_of(placement: Placement, wave: int, order: str = "score") -> int:
    """Give the place in the queue as one number, lowest first; ties are first discovered first (TOPIC-5).

    `branch` and `deep` are newest wave first, so that a branch is exhausted before older ones; the others are best first.
    `order` may be `breadth` or `depth` instead: then scores do not count.

    >>> from honeyguide.core.crawl.placement import Placement
    >>> old, new = Placement("deep", 13, ()), Placement("deep", 8, ())
    >>> rank_of(new, 7) < rank_of(old, 3) < rank_of(Placement("broad", 10, ()), 9)
    True
    """
    step = (
        0
        if order != "score"
        else _LAST_STEP - max(0, min(_LAST_STEP, round(placement.priority * _STEPS_PER_POINT)))
    )
    is_wave = placement.lane in _WAVE_LANES if order == "score" else order == "depth"
    waves = (_LAST_WAVE - min(wave, _LAST_WAVE)) << _STEP_BITS if is_wave else 0
    return (_LANE_NUMBER[placement.lane] << _LANE_BITS) + waves + step


def rank_by_units(units: int) -> int:
    """Give the place of a link among those of its group, by its base, or of the best link of a site, by its worth (TOPIC-4c).

    >>> rank_by_units(20_000) < rank_by_units(-5) and units_of(rank_by_units(-5))
    -5
    """
    return _MIDDLE - units


def units_of(rank: int) -> int:
    """Give the base or the worth that a rank was made of."""
    return _MIDDLE - rank


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
    """Give the rank of what is scheduled: before everything that is not, in the order of the plan."""
    return _DUE + max(0, min(place, _LAST_PLACE))


def is_better(rank: int, than: int, traversal: Traversal) -> bool:
    """Tell whether a link met again moves up: by a better lane or more points, or, depth first, by being newer.

    A link of two branches belongs to the newer one.
    """
    if traversal.order == "breadth" or not traversal.moves_up:
        return False
    if traversal.order == "depth" or traversal.learner is not None or rank >> _LANE_BITS == 0:
        return rank < than
    return _evidence(rank) < _evidence(than)


def _evidence(rank: int) -> tuple[int, int]:
    return rank >> _LANE_BITS, rank & _LAST_STEP
