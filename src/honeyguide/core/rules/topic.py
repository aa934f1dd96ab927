"""Topic relevance of links and pages (TOPIC-1, TOPIC-2): which facts the topic cards read.

Must not know: the points (profiles have them), the queue (`core.crawl`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.core.rules.facts import Facts
from honeyguide.core.text.fold import fold
from honeyguide.errors import ConfigError, Problem

if TYPE_CHECKING:
    from honeyguide.core.page.page import Link, Page
    from honeyguide.core.rules.language import Score
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.text.pattern import Pattern


CARDS = ("link", "page")  # the cards that score against a topic
SCALE = 10.0  # TOPIC-1, TOPIC-2: the highest score of these cards
MENTIONS_ENOUGH = 1_000  # of a topic on a page: counting further changes no score


def link_score(link: Link, profile: Profile) -> Score:
    """Score a link against the profile's topic, 0 to 10."""
    topic_of(profile)
    return profile.score_link("link", link)


def page_score(page: Page, profile: Profile) -> Score:
    """Score a page against the profile's topic, 0 to 10."""
    topic = topic_of(profile)
    facts = Facts(
        page_title=fold(page.title),
        heading_matches=float(sum(topic.search(fold(heading)) for heading in page.headings)),
        mentions=float(topic.count(fold(page.text), MENTIONS_ENOUGH)),
    )
    return profile.score("page", facts)


def topic_of(profile: Profile) -> Pattern:
    """Return the topic; raises ConfigError if the profile has none."""
    if profile.topic.pattern is None:
        what = "no topic is given; name one, such as fire|alarm"
        raise ConfigError(profile.name, (Problem("topic.pattern", what),))
    return profile.topic.pattern
