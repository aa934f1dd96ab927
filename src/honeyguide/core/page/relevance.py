"""How a topic stands in a page: in its headings, at its beginning, how densely, and how evenly (TOPIC-7).

Owns: `measure_topic`. Must not know: the points for it; the card `relevance` of the profiles has them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.text.fold import fold

if TYPE_CHECKING:
    from honeyguide.core.page.page import Page
    from honeyguide.core.text.pattern import Pattern

_OPENING = 500  # characters of the main text
_SHORT = 1_000  # characters: in a shorter text, one mention would be dense
_PARTS, _PART = 10, 200  # parts of the main text at most, and the characters of one at least
_MENTIONS_ENOUGH = 10_000


class TopicMeasures(NamedTuple):
    """What the main text and the headings of a page have of a topic; the fields of `FIELDS` with these names."""

    heading_share: float
    topic_density: float
    topic_spread: float
    in_opening: bool


def measure_topic(page: Page, main: str, topic: Pattern) -> TopicMeasures:
    """Measure how a topic stands in the headings and in the main text of a page."""
    text = fold(main)
    headings = [topic.search(fold(heading)) for heading in page.headings]
    share = sum(headings) / len(headings) if headings else 0.0
    mentions = topic.count(text, _MENTIONS_ENOUGH)
    if not mentions:
        return TopicMeasures(share, 0.0, 0.0, in_opening=False)
    density = 1_000 * mentions / max(_SHORT, len(text))
    return TopicMeasures(share, density, _spread(text, topic), topic.search(text[:_OPENING]))


def _spread(text: str, topic: Pattern) -> float:
    count = max(1, min(_PARTS, len(text) // _PART))
    ends = [len(text) * n // count for n in range(count + 1)]
    return sum(topic.search(text[first:last]) for first, last in pairwise(ends)) / count
