"""The column evaluator says what the row evaluator and the plain one say: value, reasons and what was not known."""

from __future__ import annotations

from dataclasses import replace

import plain_rows
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_scoring_properties import CARDS, FACTS

from honeyguide import load_profile
from honeyguide.bulk.columns import fact_frame, lowered, read_scores, score_columns
from honeyguide.config import bundled_profiles
from honeyguide.core.rules.compile import CompiledCard
from honeyguide.core.rules.facts import FIELDS, Facts, Value
from honeyguide.core.rules.language import (
    Condition,
    Group,
    Is,
    Matches,
    Not,
    Rule,
    Score,
    Scorecard,
    Text,
    fields_read,
    half_up,
)
from honeyguide.core.text.pattern import compile_pattern
from honeyguide.errors import PatternError

pl = pytest.importorskip("polars")  # an extra
MANY = st.lists(FACTS, min_size=1, max_size=12)


def by_columns(cards: list[Scorecard], rows: list[dict[str, Value]]) -> list[list[Score]]:
    names = dict.fromkeys(name for card in cards for name in fields_read(card) if name in FIELDS)
    frame = score_columns(fact_frame(rows, names or ["visits"]).lazy(), cards).collect()
    return [read_scores(frame, card) for card in cards]


@settings(max_examples=80, deadline=None)
@given(card=CARDS, rows=MANY)
@pytest.mark.slow
def test_columns_rows_and_plain_rows_agree(card: Scorecard, rows: list[dict[str, Value]]) -> None:
    card = replace(card, base=half_up(card.base, card.decimals))
    compiled = CompiledCard(card)
    expected = [compiled.score(Facts(None, None, **row)) for row in rows]
    assert repr(by_columns([card], rows)) == repr([expected])
    assert repr([plain_rows.score(card, Facts(None, None, **row)) for row in rows]) == repr(expected)


@pytest.mark.parametrize("name", bundled_profiles())
@settings(max_examples=8, deadline=None)
@given(rows=MANY)
def test_every_card_of_every_profile(name: str, rows: list[dict[str, Value]]) -> None:
    profile = load_profile(name, topic="topic|fi.e")
    for chain in profile.chains.values():
        scored = by_columns([profile.cards[card].card for card in chain], rows)
        for place, row in enumerate(rows):
            expected = profile.scores(chain, Facts(None, None, **row))
            assert repr([scores[place] for scores in scored]) == repr([expected[card] for card in chain])


LETTERS = st.text(st.sampled_from("aßİıkKſ Ü/-.\n0é接"), max_size=6)
TERMS = st.lists(st.text(st.sampled_from("aßkſ /-.\n0é接*"), min_size=1, max_size=3), max_size=3).map(tuple)
TESTS: st.SearchStrategy[Condition] = st.one_of(
    st.builds(
        Text, st.sampled_from(["path", "anchor"]), st.sampled_from(["starts", "ends", "has", "word"]), TERMS
    ),
    st.builds(Is, st.sampled_from(["path", "anchor"]), TERMS),
    st.builds(
        Matches,
        st.sampled_from(["path", "anchor"]),
        st.sampled_from(
            [
                "a$",
                "^a",
                "k.",
                r"\bk",
                r"a\b",
                r"\w0",
                r"\s",
                r"é|\d",
                "[a-k]+0",
                "a/?k",
                "(?:a|é)+k",
                "[^a]k",
            ]
        ).map(compile_pattern),
    ),
)
SEVERAL = st.lists(LETTERS.map(str.strip), min_size=1, max_size=3).map("\n\x1f\n".join)


@settings(max_examples=80, deadline=None)
@given(
    test=TESTS, texts=st.lists(st.tuples(st.none() | LETTERS, st.none() | SEVERAL), min_size=1, max_size=5)
)
def test_texts_of_all_letters(test: Condition, texts: list[tuple[str | None, str | None]]) -> None:
    rules = (Rule("yes", "r", 1.0, test), Rule("no", "r", 2.0, Not(test)))
    card = Scorecard("card", (Group("g", "all", rules),))
    rows: list[dict[str, Value]] = [
        {**dict.fromkeys(FIELDS), "path": path, "anchor": anchor} for path, anchor in texts
    ]
    expected = [CompiledCard(card).score(Facts(None, None, **row)) for row in rows]
    assert repr(by_columns([card], rows)) == repr([expected])


TOKENS = st.sampled_from(
    ["a", "K", "s", "0", " ", "_", "-", "/", ".", "|", "(", ")", "(?:", "*", "+", "?", "^", "$", "[a-k]", "[A-S0-9]",
     "[s_]", r"\d", r"\w", r"\s", r"\b", r"\.", r"\$", r"\(", "<", "'"]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    source=st.lists(TOKENS, min_size=1, max_size=7).map("".join),
    texts=st.lists(
        st.text(st.sampled_from("aAkK\u212asſS0 _-/.\n\v\t\x1fé'<$("), max_size=8), min_size=1, max_size=8
    ),
)
def test_lowered_patterns_find_what_the_engine_finds(source: str, texts: list[str]) -> None:
    written = lowered(source, several=False)
    try:
        pattern = compile_pattern(source)
    except PatternError:
        return
    if written is not None and pattern.terms is None:  # plain words never reach an engine
        assert pl.Series(texts).str.contains(written).to_list() == [pattern.search(text) for text in texts]
