"""What holds for every card, pattern and selection, whatever the facts."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import plain_rows
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide import load_profile, select_links
from honeyguide.config import bundled_profiles
from honeyguide.core.page.page import Link, Occurrence, Position
from honeyguide.core.rules.compile import CompiledCard, RuleList
from honeyguide.core.rules.facts import FIELDS, JOIN, FactKind, Facts, Value, plain
from honeyguide.core.rules.language import (
    Above,
    All,
    AnyOf,
    Below,
    Condition,
    Group,
    Is,
    Matches,
    Not,
    Rule,
    Scorecard,
    Text,
    half_up,
)
from honeyguide.core.text.fold import ascii_words, fold, fold_case, raw_words
from honeyguide.core.text.pattern import compile_pattern
from honeyguide.core.url.url import Url
from honeyguide.errors import PatternError

WORDS = [
    "services",
    "/services",
    "install",
    "fire",
    "about",
    "blog",
    "x",
    "topic",
    "main",
    "navigation",
    "/",
    "",
]
TEXT = st.lists(st.sampled_from(WORDS), max_size=3).map("".join)
VALUES: dict[FactKind, st.SearchStrategy[Value]] = {
    FactKind.TEXT: TEXT,
    FactKind.TEXTS: st.lists(TEXT, max_size=3).map(JOIN.join),
    FactKind.NUMBER: st.floats(0, 1e6),
    FactKind.FLAG: st.booleans(),
}
FACTS = st.fixed_dictionaries({name: st.none() | VALUES[field.kind] for name, field in FIELDS.items()})


@pytest.mark.parametrize("name", bundled_profiles())
@settings(max_examples=60, deadline=None)
@given(facts=FACTS)
def test_reasons_add_up_in_every_card_of_every_profile(name: str, facts: dict[str, Value]) -> None:
    profile = load_profile(name, topic="topic|fi.e")
    for card_name, compiled in profile.cards.items():
        card = compiled.card
        score = profile.score(card_name, Facts(None, None, **facts))
        assert sum(reason.points for reason in score.reasons) == pytest.approx(
            score.value, abs=10**-card.decimals
        )
        assert card.low <= score.value <= card.high
        assert repr(profile.score(card_name, Facts(None, None, **facts))) == repr(score)
        row = Facts(None, None, **facts)
        for chained in profile.chains[card_name]:
            row[f"card.{chained}"] = plain_rows.score(profile.cards[chained].card, row).value
        assert repr(plain_rows.score(card, row)) == repr(score)


NUMBERS = ("visits", "hub_depth", "relevance")
WORD_LISTS = st.lists(
    st.sampled_from(["fire", "install", "x", "fi*", "services", "/", "fire x", "x in*"]),
    min_size=1,
    max_size=3,
).map(tuple)
TEXTS = ("path", "anchor", "head_title", "slug", "label")
LEAVES: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Text, st.sampled_from(TEXTS), st.sampled_from(["starts", "ends", "has", "word"]), WORD_LISTS),
    st.builds(Is, st.sampled_from(TEXTS), WORD_LISTS),
    st.builds(Is, st.just("is_hub"), st.sampled_from([(True,), (False,)])),
    st.builds(Below, st.sampled_from(NUMBERS), st.floats(0, 10)),
    st.builds(Above, st.sampled_from(NUMBERS), st.floats(0, 10)),
    st.builds(
        Matches, st.sampled_from(TEXTS), st.sampled_from(["fire|x", "fi.e$", "^x"]).map(compile_pattern)
    ),
)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(All, st.lists(inner, max_size=3).map(tuple)),
        st.builds(AnyOf, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Not, inner),
    ),
    max_leaves=6,
)
POINTS = st.integers(-50, 50).map(lambda n: n / 4)
RULES = st.builds(
    Rule,
    st.sampled_from("abcdef"),
    st.just("r"),
    POINTS,
    CONDITIONS,
    st.none() | st.sampled_from(NUMBERS),
    st.none() | st.floats(0.5, 20),
)
GROUPS = st.builds(
    Group,
    st.sampled_from(["g", "h"]),
    st.sampled_from(["first", "all"]),
    st.lists(RULES, max_size=4).map(tuple),
    st.none() | st.floats(0.5, 30),
)
CARDS = st.builds(
    Scorecard,
    st.just("card"),
    st.lists(GROUPS, max_size=3).map(tuple),
    POINTS,
    st.sampled_from([-math.inf, 0.0]),
    st.sampled_from([math.inf, 10.0]),
    st.sampled_from([0, 2, 6]),
)


@settings(max_examples=300, deadline=None)
@given(card=CARDS, facts=FACTS)
@pytest.mark.slow
def test_compiled_cards_say_what_plain_ones_say(card: Scorecard, facts: dict[str, Value]) -> None:
    card = replace(card, base=half_up(card.base, card.decimals))
    expected = plain_rows.score(card, Facts(None, None, **facts))
    assert repr(CompiledCard(card).score(Facts(None, None, **facts))) == repr(expected)


@settings(max_examples=300, deadline=None)
@given(condition=CONDITIONS, facts=FACTS)
@pytest.mark.slow
def test_compiled_conditions_know_what_is_not_known(condition: Condition, facts: dict[str, Value]) -> None:
    value = plain_rows.value_of(condition, Facts(None, None, **facts))
    for tried, holds in ((condition, value is True), (Not(condition), value is False)):
        assert (RuleList([Rule("x", "", when=tried)]).first(Facts(None, None, **facts)) is not None) is holds


LITERALS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4), min_size=1, max_size=4
)


@settings(deadline=None)
@given(words=LITERALS, text=st.text(max_size=30))
def test_a_literal_means_the_same_in_both_engines(words: list[str], text: str) -> None:
    plain_words = [
        word
        for word in words
        if fold_case(word).strip() and not set(fold_case(word)) & set("\\.^$*+?()[]{}|")
    ]
    if not plain_words:
        return
    try:
        literal = compile_pattern("|".join(plain_words))
        engine = compile_pattern("(?:" + "|".join(plain_words) + ")")
    except PatternError:
        return
    folded = fold_case(text + plain_words[0])
    assert literal.terms is not None
    assert engine.terms is None
    for sample in (folded, folded[:-1], fold_case(plain_words[-1]), fold_case(plain_words[0].upper())):
        assert literal.search(sample) == engine.search(sample)
        assert literal.count(sample) == engine.count(sample)


@given(
    terms=st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=5),
    text=st.text("abc", max_size=25),
)
def test_terms_that_share_letters_are_counted_once(terms: list[str], text: str) -> None:
    assert compile_pattern("|".join(terms)).count(text) == len(re.findall("|".join(terms), text))


@given(text=st.text(max_size=50))
def test_folding_is_stable(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert plain(plain(text)) is not None


@given(text=st.text(st.characters(max_codepoint=127), max_size=60))
def test_ascii_is_cut_into_the_same_words(text: str) -> None:
    assert [word.decode() for word in ascii_words(text)] == raw_words(fold(text))


HREFS = st.lists(
    st.sampled_from(
        ["services", "fire", "about", "blog", "inspection", "x", "locations", "a.pdf", "index.html"]
    ),
    min_size=1,
    max_size=3,
).map(lambda parts: "/" + "/".join(parts))
LINKS = st.lists(
    st.tuples(
        HREFS,
        st.sampled_from(["", "Services", "Service area", "Fire alarm"]),
        st.sampled_from(list(Position)),
    ),
    max_size=12,
)


@pytest.mark.parametrize("strategy", ["rules", "blend"])
@settings(max_examples=60, deadline=None)
@given(rows=LINKS, shuffle=st.randoms(use_true_random=False))
def test_selection_ignores_input_order(
    strategy: str, rows: list[tuple[str, str, Position]], shuffle: object
) -> None:
    home = "https://acme.example/"
    links = [
        Link(Url.parse(href, home), (Occurrence(anchor, position=place),), i)
        for i, (href, anchor, place) in enumerate(rows)
    ]
    mixed = list(links)
    shuffle.shuffle(mixed)  # type: ignore[attr-defined]  # hypothesis types its Random as object here
    first, second = (select_links(order, home, strategy=strategy) for order in (links, mixed))
    assert first == second
    assert len(first.candidates) == len(links)
    assert len(first.selected) <= 4
    assert all((candidate.rejected is None) == (candidate.rank is not None) for candidate in first.candidates)
    for candidate in first.selected:
        assert not re.match(r"/locations\b", candidate.url.path)
        assert "Service area" not in [o.anchor for o in candidate.link.occurrences]
