"""Job 3: what one link is worth. Ours comes with its reasons; a peer's is a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import honeyguide
from bench.measure import Contest, Pair, Unit
from bench.peers import offered
from honeyguide.core.facts import link_facts
from honeyguide.core.topic import link_score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.sample import Sample
    from honeyguide.core.page import Link

    Task = Callable[[], None]

_WORDS = ("alarm", "inspection", "maintenance", "installation")
_PATTERN = r"alarms?\b|inspect(ion|ed)|maintenance|install"  # no list of words: needs the regex engine
_CATEGORY, _TOPIC, _REGEX = "`category` card", "topic of words", "topic as a regex"
_INTRINSIC, _COMPOSITE = "Crawl4AI intrinsic score", "Crawl4AI CompositeScorer"


def contests(sample: Sample) -> Iterator[Contest]:
    linked = [link for page in sample.pages for link in honeyguide.extract_links(page.body, page.url)]
    once = list({link.url: link for link in linked}.values())
    yield _contest("score a link", once, 3.0, ["score a link: each URL once, CompositeScorer with an empty cache."])
    yield _contest("score a link, repeats included", linked, None, [_ABOUT_REPEATS])


_ABOUT_REPEATS = (
    "score a link, repeats included: the same URL comes again on other pages, as in a crawl, and CompositeScorer, which "
    "reads nothing but the URL, answers from its cache; anchor and context differ, so ours are scored every time."
)


def _contest(job: str, links: Sequence[Link], goal: float | None, notes: Sequence[str]) -> Contest:
    entrants = {**_ours(links), **_peers(links)}
    pairs = [Pair(ours, _INTRINSIC, at_least=goal) for ours in (_CATEGORY, _TOPIC)]
    pairs += [Pair(_REGEX, _INTRINSIC), Pair(_CATEGORY, _COMPOSITE), Pair(_TOPIC, _COMPOSITE)]
    return Contest(f"{job}", Unit("µs", len(links), 1e6), entrants, pairs, notes)


def _ours(links: Sequence[Link]) -> dict[str, Task]:
    rules = honeyguide.load_profile("fire-protection")
    words = honeyguide.load_profile("docs", topic="|".join(_WORDS))
    regex = honeyguide.load_profile("docs", topic=_PATTERN)

    def category() -> None:
        for link in links:
            rules.score("category", link_facts(link))

    def topic() -> None:
        for link in links:
            link_score(link, words)

    def pattern() -> None:
        for link in links:
            link_score(link, regex)

    return {_CATEGORY: category, _TOPIC: topic, _REGEX: pattern}


def _peers(links: Sequence[Link]) -> dict[str, Task]:
    if not offered("crawl4ai"):
        return {}
    from crawl4ai.deep_crawling.scorers import (  # noqa: PLC0415 - a peer
        CompositeScorer,
        KeywordRelevanceScorer,
        PathDepthScorer,
    )
    from crawl4ai.utils import calculate_link_intrinsic_score, extract_page_context  # noqa: PLC0415 - a peer

    facts = [(link.anchor, link.url.text, link.title, "", link.rel) for link in links]
    context = extract_page_context("Fire alarms and inspections", "Our services", "What we install", links[0].url.text)

    def intrinsic() -> None:
        for text, url, title, classes, rel in facts:
            calculate_link_intrinsic_score(text, url, title, classes, rel, context)

    def composite() -> None:
        # Made anew: its cache would answer every later round.
        keywords = KeywordRelevanceScorer(keywords=list(_WORDS), weight=0.7)
        scorer = CompositeScorer([keywords, PathDepthScorer(optimal_depth=2, weight=0.3)])
        for _, url, _, _, _ in facts:
            scorer.score(url)

    return {_INTRINSIC: intrinsic, _COMPOSITE: composite}
