"""The links of a page score alike one by one and on their page, where words that no link can have are searched for once."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.adapters.html.page import parse_page
from honeyguide.config import load_profile
from honeyguide.core.page.likeness import page_text
from honeyguide.core.rules.profile import Profile
from honeyguide.core.rules.topic import TopicPage, link_score, page_relevance
from honeyguide.core.url.url import Url

URL = Url.parse("https://a.example/guide/")
WORDS = (
    "Event",
    "loop",
    "event loop",
    "asyncio",
    "Docs",
    "é",
    "text",
    "<br>",
    "</p><p>",
    "<noscript>",
    "</noscript>",
    "<p hidden>",
)
HREFS = ("/api/x", "/asyncio", "/%61syncio", "event-loop.html", "?q=event loop", "http://b.example/docs")
pieces = st.lists(
    st.one_of(
        st.sampled_from(WORDS),
        st.tuples(st.sampled_from(HREFS), st.sampled_from(WORDS[:7])).map(lambda link: f'<a href="{link[0]}">{link[1]}</a>'),
        st.sampled_from(HREFS).map(lambda href: f'<nav><a href="{href}"><img alt="event loop"></a> event</nav>'),
    ),
    max_size=25,
)  # fmt: skip


@cache
def _profile(topic: str) -> Profile:
    return load_profile("docs", topic=topic, related=("docs",))


@pytest.mark.parametrize("topic", ["asyncio|event loop", "loop", r"\bevent\s+loop\b"])
@given(pieces=pieces)
def test_a_link_scores_the_same_on_its_page(topic: str, pieces: list[str]) -> None:
    profile = _profile(topic)
    page = parse_page(" ".join(pieces), URL)
    assert list(map(repr, TopicPage(page, profile).link_scores(page.links))) == [
        repr(link_score(link, profile)) for link in page.links
    ]


@given(pieces=pieces)
def test_a_page_is_as_relevant_with_and_without_the_search_of_its_text(pieces: list[str]) -> None:
    profile = _profile("asyncio|event loop")
    page = parse_page(" ".join(pieces), URL)
    main = page_text(page).main.decode()
    searched = page_relevance(page, main, profile, is_list=False)
    assert repr(searched) == repr(page_relevance(replace(page, unseen=None), main, profile, is_list=False))
