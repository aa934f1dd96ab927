"""What is done for many links at once gives the same as for each alone: folding, patterns, scores, answers."""

from __future__ import annotations

import math
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from honeyguide.config import load_profile
from honeyguide.core.page.page import Link, Occurrence, Position
from honeyguide.core.rules.compile import CompiledCard, RuleList
from honeyguide.core.rules.facts import FILL, Facts, words_only
from honeyguide.core.rules.language import Above, AnyOf, Group, Is, Matches, Not, Rule, Scorecard, Text
from honeyguide.core.rules.lines import describe_links
from honeyguide.core.rules.profile import Profile
from honeyguide.core.rules.together import answer_together
from honeyguide.core.text.fold import fold, fold_lines
from honeyguide.core.text.pattern import compile_pattern
from honeyguide.core.url.url import Url

texts = st.one_of(
    st.text(max_size=12),
    st.lists(
        st.sampled_from(["fire", "Fire", "alarm", "é", "-", "ﬁ", "İ", "\u00a0", "\n", "e\u0301", "x", ""]), max_size=5
    ).map(" ".join),
)  # fmt: skip
PATTERNS = (
    "^fire", "alarm$", r"\bfire\b", "fire.*alarm", r"fire\s+alarm", "[^x]fire", "^(fire|x)$", r"\Afire", r"fire\z",
    "(?i)fire$", "(?s)fire.x", "fire[^a]*alarm", r"\Bire", "fire|alarm", "(?:fire|x) a",
)  # fmt: skip


@given(st.lists(texts, max_size=8))
@example(["", ""])
@example(["a", " b"])
@example(["a\nb", ""])
def test_lines_fold_as_single_texts_do(texts: list[str]) -> None:
    assert fold_lines(texts) == "\n".join(map(fold, texts))


@pytest.mark.parametrize("source", PATTERNS)
@given(texts=st.lists(texts.map(fold), min_size=1, max_size=8))
def test_a_pattern_finds_the_lines_that_it_finds_alone(source: str, texts: list[str]) -> None:
    pattern = compile_pattern(source)
    alone = [number for number, text in enumerate(texts) if pattern.search(text)]
    assert sorted(pattern.which("\n".join(texts))) == alone


paths = st.sampled_from(
    [
        "/",
        "/fire",
        "/Fire-Alarm?x=alarm",
        "/a%20fire/",
        "/x;y/fire.html",
        "/services/fire/index.html",
        "//alarm",
    ]
)
occurrences = st.lists(
    st.builds(Occurrence, anchor=texts, title=texts, rel=texts, position=st.sampled_from(Position), context=texts),
    min_size=1,
    max_size=3,
).map(tuple)  # fmt: skip
links = st.lists(
    st.builds(lambda path, seen: Link(Url.parse(f"https://a.example{path}"), seen), paths, occurrences),
    max_size=6,
)
FIELDS = (
    "url",
    "path",
    "target",
    "plain_path",
    "slug",
    "folders",
    "anchor",
    "label",
    "title",
    "context",
    "rel",
)
leaves = st.one_of(
    st.builds(
        Text,
        st.sampled_from(FIELDS),
        st.sampled_from(["starts", "ends", "has", "word"]),
        st.lists(st.sampled_from(["fire", "alarm", "/fire", "fire alarm", "é", "x"]), min_size=1, max_size=3).map(tuple),
    ),
    st.builds(Matches, st.sampled_from(FIELDS), st.sampled_from(PATTERNS).map(compile_pattern)),
    st.builds(Is, st.just("position"), st.sampled_from(list(Position)).map(lambda one: (one.value,))),
    st.builds(Is, st.sampled_from(FIELDS), st.just(("fire", ""))),
    st.builds(Above, st.just("path_length"), st.sampled_from([0.0, 1.0])),
    st.builds(Is, st.just("head_title"), st.just(("fire",))),
)  # fmt: skip
conditions = st.one_of(
    leaves, leaves.map(Not), st.lists(leaves, min_size=1, max_size=3).map(tuple).map(AnyOf)
)
groups = st.builds(
    lambda mode, tests, cap: Group(
        "g", mode, tuple(Rule(f"r{at}", "r", at + 1.5, test) for at, test in enumerate(tests)), cap
    ),
    st.sampled_from(["first", "all"]),
    st.lists(conditions, max_size=4),
    st.sampled_from([None, 2.0]),
)


@given(
    groups=st.lists(groups, max_size=3), links=links, high=st.sampled_from([math.inf, 4.0]), per=st.booleans()
)
def test_a_card_scores_many_links_as_it_scores_each(
    groups: list[Group], links: list[Link], high: float, per: bool
) -> None:
    paid = [Group("per", "all", (Rule("per", "per", 1.0, per="path_length"),))] if per else []
    card = Scorecard("card", (*groups, *paid), high=high)
    alone = [repr(CompiledCard(card).score(Facts(link))) for link in links]
    compiled = CompiledCard(card)
    for _ in range(2):  # the second time, from what is remembered
        assert list(map(repr, compiled.score_links(links, {}))) == alone
        assert [repr(compiled.score_link(link, None)) for link in links] == alone


@given(tests=st.lists(conditions, max_size=5), links=links)
def test_answers_given_together_change_no_decision(tests: list[object], links: list[Link]) -> None:
    rules = RuleList(Rule(f"r{at}", "r", when=test) for at, test in enumerate(tests))  # type: ignore[arg-type]  # conditions that hypothesis made
    rows = [Facts(link) for link in links]
    answer_together(rows, (rules,))
    assert [rules.first(row) for row in rows] == [rules.first(Facts(link)) for link in links]


addresses = st.lists(
    st.sampled_from(["/", "-", "_", ".", "%41", ";", "//", "index", "Fire", "html", "?", "+x"]), max_size=7
)


@given(links=links, paths=st.lists(addresses.map("".join), max_size=4))
def test_links_described_together_have_the_facts_that_each_has_alone(
    links: list[Link], paths: list[str]
) -> None:
    links = [*links, *[Link(Url.parse(f"https://a.example/{path}")) for path in paths]]
    rows, words = describe_links(links)
    for link, row in zip(links, rows, strict=True):
        assert dict(row) == {name: FILL[name](link, None) for name in row}
    assert words == {text: words_only(text) for text in words}


@cache
def _profile(name: str) -> Profile:
    return load_profile(name)


@given(links=links)
def test_links_score_together_as_alone_by_a_card_that_reads_others(links: list[Link]) -> None:
    profile = _profile("company")
    for card in ("category", "total"):
        alone = [repr(profile.score_link(card, link)) for link in links]
        assert list(map(repr, profile.score_links(card, links))) == alone
