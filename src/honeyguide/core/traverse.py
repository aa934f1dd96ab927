"""Where a link goes in the queue: lanes, parent bonus, pruning, tunnelling (TOPIC-3 to TOPIC-5).

Owns: `place`. Must not know: the queue itself, fetching, how scores were made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.rules import Reason

if TYPE_CHECKING:
    from honeyguide.core.profile import Band, Traversal


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

    >>> from honeyguide.core.profile import Band, Traversal
    >>> hybrid = Traversal("hybrid", (Band(8, "deep"), Band(0, "skip")), (Band(8, "deep", 3), Band(0, "skip")))
    >>> place(8, 9, hybrid).priority
    11
    """
    reasons = [Reason("link-score", link_score, "link score")]
    if parent_score is None:
        return _placed(link_score, traversal, reasons, 0)
    page = band_of(parent_score, traversal.pages)
    if page is not traversal.pages[-1]:
        if page.bonus:
            reasons.append(
                Reason("parent-bonus", page.bonus, f"found on a page that scores {parent_score:g}")
            )
        return _placed(link_score, traversal, reasons, 0)
    weak = weak_pages + 1
    if page.lane == "skip":
        return _skipped(
            reasons,
            "pruned",
            f"found on a page that scores {parent_score:g}: its links are not followed",
            weak,
        )
    if weak >= traversal.tunnel:
        return _skipped(reasons, "tunnel-end", f"{weak} weak pages in a row lead here", weak)
    return _placed(link_score, traversal, reasons, weak)


def _placed(link_score: float, traversal: Traversal, reasons: list[Reason], weak_pages: int) -> Placement:
    lane = band_of(link_score, traversal.links).lane
    if lane == "skip":
        return _skipped(reasons, "irrelevant", f"link score {link_score:g} is too low to follow", weak_pages)
    return Placement(lane, sum(reason.points for reason in reasons), tuple(reasons), weak_pages)


def _skipped(reasons: list[Reason], rule: str, text: str, weak_pages: int) -> Placement:
    return Placement("skip", 0, (*reasons, Reason(rule, 0, text)), weak_pages)


def band_of(score: float, bands: tuple[Band, ...]) -> Band:
    """Find the band a score falls into; bands are ordered from the top."""
    return next((band for band in bands if score >= band.at_least), bands[-1])
