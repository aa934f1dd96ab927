"""Job 3: what one link is worth. Ours comes with its reasons; a peer's is a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import honeyguide
from bench.measure import Contest, Pair, Unit
from bench.peers import offered
from honeyguide.core.rules.facts import Facts
from honeyguide.core.rules.topic import TopicPage, link_score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.sample import Sample
    from honeyguide.core.page.page import Link, Page
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.url import Url

    Task = Callable[[], None]
    Linked = tuple[Link, Page]

_WORDS = ("alarm", "inspection", "maintenance", "installation")
_PATTERN = r"alarms?\b|inspect(ion|ed)|maintenance|install"  # no list of words: needs the regex engine
_CATEGORY, _TOPIC, _REGEX = "`category` card", "topic of words", "topic as a regex"
_AT_HAND = ", facts at hand"
_ON_PAGE = ", on its page"
_INTRINSIC, _COMPOSITE = "Crawl4AI intrinsic score", "Crawl4AI CompositeScorer"
_ABOUT = (
    "score a link: each URL once. Ours starts from a link (anchor, title, context as the page has them) and ends with a score "
    "and its reasons; with *facts at hand* its texts were folded before, by another card or filter; *on its page* all links of a "
    "page are scored at once. Crawl4AI's intrinsic score "
    "reads URL, anchor, title and rel, its CompositeScorer only the URL; its cache is empty at the start of each round."
)
_ABOUT_REPEATS = (
    "score a link, repeats included: the same URL comes again on other pages, as in a crawl, and CompositeScorer answers "
    "from its cache; anchor and context differ, so ours are scored every time."
)


def contests(sample: Sample) -> Iterator[Contest]:
    pages = [honeyguide.parse_page(page.body, page.url) for page in sample.pages]
    linked = [(link, page) for page in pages for link in page.links]
    once = list({link.url: (link, page) for link, page in linked}.values())
    yield _contest("score a link", once, 3.0, [_ABOUT])
    yield _contest("score a link, repeats included", linked, None, [_ABOUT_REPEATS])


def _contest(job: str, linked: Sequence[Linked], goal: float | None, notes: Sequence[str]) -> Contest:
    entrants = {**_ours([link for link, _ in linked]), **_on_page(linked), **_peers(linked)}
    pairs = [Pair(ours + _ON_PAGE, _INTRINSIC, at_least=goal) for ours in (_CATEGORY, _TOPIC, _REGEX)]
    pairs += [
        Pair(_CATEGORY, _INTRINSIC),
        Pair(_TOPIC, _INTRINSIC),
        Pair(_REGEX, _INTRINSIC),
        Pair(_CATEGORY + _AT_HAND, _INTRINSIC),
        Pair(_TOPIC + _AT_HAND, _INTRINSIC),
    ]
    pairs += [Pair(_CATEGORY, _COMPOSITE), Pair(_TOPIC, _COMPOSITE)]
    return Contest(job, Unit("µs", len(linked), 1e6), entrants, pairs, notes)


def _ours(links: Sequence[Link]) -> dict[str, Task]:
    rules = honeyguide.load_profile("fire-protection")
    words = honeyguide.load_profile("docs", topic="|".join(_WORDS))
    regex = honeyguide.load_profile("docs", topic=_PATTERN)

    def category() -> None:
        for link in links:
            rules.score_link("category", link)

    def topic() -> None:
        for link in links:
            link_score(link, words)

    def pattern() -> None:
        for link in links:
            link_score(link, regex)

    tasks = {_CATEGORY: category, _TOPIC: topic, _REGEX: pattern}
    return {
        **tasks,
        _CATEGORY + _AT_HAND: _at_hand(rules, "category", links),
        _TOPIC + _AT_HAND: _at_hand(words, "link", links),
    }


def _at_hand(profile: Profile, card: str, links: Sequence[Link]) -> Task:
    """Score facts that were read before: the first call fills them."""
    facts = [Facts(link) for link in links]

    def score() -> None:
        for row in facts:
            profile.score(card, row)

    score()
    return score


def _on_page(linked: Sequence[Linked]) -> dict[str, Task]:
    """Score all links of a page at once, as a crawl does; the text of each page is folded in the time that is measured."""
    pages: dict[Url, tuple[Page, list[Link]]] = {}
    for link, page in linked:
        pages.setdefault(page.url, (page, []))[1].append(link)
    rules = honeyguide.load_profile("fire-protection")

    def category() -> None:
        for _, links in pages.values():
            rules.score_links("category", links)

    def topic(pattern: str) -> Task:
        profile = honeyguide.load_profile("docs", topic=pattern)

        def score() -> None:
            for page, links in pages.values():
                TopicPage(page, profile).link_scores(links)

        return score

    return {
        _CATEGORY + _ON_PAGE: category,
        _TOPIC + _ON_PAGE: topic("|".join(_WORDS)),
        _REGEX + _ON_PAGE: topic(_PATTERN),
    }


def _peers(linked: Sequence[Linked]) -> dict[str, Task]:
    utils, scorers = offered("crawl4ai.utils"), offered("crawl4ai.deep_crawling.scorers")
    if utils is None or scorers is None:
        return {}
    intrinsic_score = utils.calculate_link_intrinsic_score
    contexts = {
        page.url: utils.extract_page_context(
            page.title, " ".join(page.headings), page.description, page.url.text
        )
        for page in {page.url: page for _, page in linked}.values()
    }
    facts = [
        (link.anchor, link.url.text, link.title, "", link.rel, contexts[page.url]) for link, page in linked
    ]

    def intrinsic() -> None:
        for text, url, title, classes, rel, context in facts:
            intrinsic_score(text, url, title, classes, rel, context)

    def composite() -> None:
        # Made anew: its cache would answer every later round.
        keywords = scorers.KeywordRelevanceScorer(keywords=list(_WORDS), weight=0.7)
        scorer = scorers.CompositeScorer([keywords, scorers.PathDepthScorer(optimal_depth=2, weight=0.3)])
        for _, url, *_rest in facts:
            scorer.score(url)

    return {_INTRINSIC: intrinsic, _COMPOSITE: composite}
