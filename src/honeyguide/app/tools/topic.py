"""What follows from topic scores: levels, actions, priorities, and links that are skipped (TOPIC-3 to TOPIC-6).

Owns: these library calls. Must not know: how scores are made (`app.tools.pages`), the queue of a crawl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.app.arguments import profile_of, url_of
from honeyguide.core.crawl import placement
from honeyguide.core.page.page import Link
from honeyguide.core.rules.facts import Facts
from honeyguide.core.url.scope import LinkKind, classify_url
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.jobs.request import traversal_of

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide.core.rules.language import Score
    from honeyguide.core.rules.profile import Profile

# What follows for a link, by its lane; what follows for the links of a page is in `app.runs`.
LANE_WORDS = {
    "deep": "explored deeply, depth first",
    "broad": "scanned, breadth first",
    "tail": "added to the tail of the queue",
    "far": "added behind all others",
    "skip": "not followed",
}
_ELSEWHERE = Url.parse("https://page.invalid/")


def relevance_level(score: float, *, profile: Profile | str | Path = "docs") -> str | None:
    """Name the level of a topic score: High, Medium, Low or Irrelevant (TOPIC-3).

    >>> [relevance_level(score) for score in (8, 5, 3, 2)]
    ['High', 'Medium', 'Low', 'Irrelevant']
    """
    return placement.relevance_level(score, profile_of(profile))


def calculate_priority(
    score: float,
    parent: float | None,
    *,
    traversal: str = "hybrid",
    profile: Profile | str | Path = "docs",
) -> Score:
    """Calculate the priority of a link from its score and that of the page it was found on (TOPIC-5).

    A `parent` of None is a page without a score, which gives no bonus.

    >>> calculate_priority(6, 9) == 9, calculate_priority(6, 5) == 7, calculate_priority(6, 4) == 6
    (True, True, True)
    """
    return placement.calculate_priority(score, parent, traversal_of(profile_of(profile), traversal))


def should_skip(
    url: str | Url, *, traversal: str = "hybrid", profile: Profile | str | Path = "docs"
) -> Why | None:
    """Say why a crawl skips a link by its URL alone, if it does: a file, or login, cart and the like (URL-9, TOPIC-6).

    >>> should_skip("https://a.example/mycart.html").rule, should_skip("https://a.example/docs")
    ('TOPIC-6', None)
    """
    chosen = profile_of(profile)
    link = Link(url_of(url))
    verdict = classify_url(link.url, _ELSEWHERE, chosen.scope)
    if verdict.kind is LinkKind.SKIP:
        return Why(verdict.rule, verdict.detail)
    rule = traversal_of(chosen, traversal).skips.first(Facts(link))
    return None if rule is None else Why(rule.id, rule.reason)


def link_action(score: float, profile: Profile) -> str | None:
    """Name what follows from the score of a link in `hybrid`: its lane, or `skip`; None if the profile has no `hybrid`."""
    hybrid = profile.traversals.get("hybrid")
    return None if hybrid is None else placement.band_of(score, hybrid.links).lane


def page_action(score: float, profile: Profile) -> str | None:
    """Name what follows from the score of a page for its links in `hybrid`: `exhaust`, `expand` or `keep`."""
    hybrid = profile.traversals.get("hybrid")
    return None if hybrid is None else placement.branch_action(score, hybrid)
