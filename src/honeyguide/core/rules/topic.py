"""Topic relevance of links and pages (TOPIC-1, TOPIC-2, TOPIC-7): which facts the topic cards read.

Must not know: the points (profiles have them), the queue (`core.crawl`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.core.page.page import Link
from honeyguide.core.page.relevance import measure_topic
from honeyguide.core.rules.facts import PAGE_FILL, Facts
from honeyguide.core.rules.language import Score
from honeyguide.core.text.fold import fold
from honeyguide.core.text.pattern import may_occur
from honeyguide.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from honeyguide.core.page.page import Page
    from honeyguide.core.rules.facts import Value
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.text.pattern import Pattern


SCALES = {"link": 10.0, "page": 10.0, "relevance": 1.0}  # the highest scores of the cards that read a topic
RELEVANT = 0.5  # TOPIC-7: from here on a page is about the topic
MENTIONS_ENOUGH = 1_000  # of a topic on a page: counting further changes no score


class TopicPage:
    """A page that is read for the topic of a profile; its text is folded once, for all scores."""

    def __init__(self, page: Page, profile: Profile) -> None:
        self._page = page
        self._profile = profile
        self._topic = topic_of(profile)
        self._text = fold(page.text)
        terms = self._topic.terms
        self._may_mention = terms is None or page.unseen is None or may_occur(terms, self._text)

    def score(self) -> Score:
        """Score the page, 0 to 10 (TOPIC-2)."""
        page, topic = self._page, self._topic
        facts = Facts(
            page_title=fold(page.title),
            heading_matches=float(sum(topic.search(fold(heading)) for heading in page.headings)),
            mentions=float(topic.count(self._text, MENTIONS_ENOUGH) if self._may_mention else 0),
        )
        facts.update(_measured(page))
        return self._profile.score("page", facts)

    def relevance(self, main: str, *, is_list: bool) -> Score | None:
        """Score whether the page with this main text is about the topic, 0 to 1; None if the profile has no card for it (TOPIC-7)."""
        page, profile = self._page, self._profile
        if "relevance" not in profile.cards:
            return None
        measures = measure_topic(page, main if self._may_mention else "", self._topic)
        facts = Facts(Link(page.url), page_title=fold(page.title), is_hub=is_list, **measures._asdict())
        facts.update(_measured(page))
        score = profile.score("relevance", facts)
        return Score(round(score.value, 2), score.reasons)

    def link_scores(self, links: Sequence[Link]) -> list[Score]:
        """Score links of the page (TOPIC-1), all at once; contexts are not read if the page does not mention the topic."""
        profile, page = self._profile, self._page
        texts = {} if page.unseen is None else {"context": f"{self._text} {fold(page.unseen)}"}
        return profile.score_links("link", links, texts)


def link_score(link: Link, profile: Profile) -> Score:
    """Score a link against the profile's topic, 0 to 10."""
    topic_of(profile)
    return profile.score_link("link", link)


def page_score(page: Page, profile: Profile) -> Score:
    """Score a page against the profile's topic, 0 to 10."""
    return TopicPage(page, profile).score()


def page_relevance(page: Page, main: str, profile: Profile, *, is_list: bool) -> Score | None:
    """Score whether a page with this main text is about the topic, 0 to 1; None if the profile has no card for it (TOPIC-7)."""
    return TopicPage(page, profile).relevance(main, is_list=is_list)


def _measured(page: Page) -> dict[str, Value]:
    """Give the facts of a page that plug-ins measure."""
    return {name: measure(page) for name, measure in PAGE_FILL.items()}


def topic_of(profile: Profile) -> Pattern:
    """Return the topic; raises ConfigError if the profile has none."""
    if profile.topic.pattern is None:
        what = "no topic is given; name one, such as fire|alarm"
        raise ConfigError(profile.name, (Problem("topic.pattern", what),))
    return profile.topic.pattern
