"""Keywords and their evidence: case-blind, in the order asked, cut between words, never slow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.core.text.fold import KeywordMatch, find_keywords, fold

TEXT = "We plan, install and look after fire alarm systems and sprinklers for hotels, schools and hospitals in the county."


def _texts(text: str, *keywords: str, width: int = 60) -> list[str]:
    return [found.text for found in find_keywords(text, keywords, width)]


def test_keywords_come_in_the_order_of_the_list_and_as_they_were_given() -> None:
    found = find_keywords(TEXT, ["Hotels", "FIRE  alarm", "foam", "sprinkler"])
    assert [one.keyword for one in found] == ["Hotels", "FIRE  alarm", "sprinkler"]


def test_only_the_first_evidence_counts_and_a_keyword_counts_once() -> None:
    assert _texts("one alarm here. two alarm there.", "alarm", "alarm", width=6) == ["one alarm here. …"]


@pytest.mark.parametrize(
    ("text", "keyword", "width", "shown"),
    [
        ("alarm", "alarm", 60, "alarm"),
        ("the alarm rings", "alarm", 0, "… alarm …"),
        ("the alarm rings", "alarm", 60, "the alarm rings"),
        (TEXT, "fire alarm", 12, "… look after fire alarm systems and …"),
        ("We  install\n\nSprinkler\tsystems", "INSTALL sprinkler", 60, "We install Sprinkler systems"),
        ("new ﬁre‑alarm panels", "fire-alarm", 60, "new fire‐alarm panels"),
        ("İSTANBUL yangın", "istanbul", 60, "İSTANBUL yangın"),
        ("soft\u00adware and fi\u200bre", "fire", 60, "software and fire"),
        ("Brandmeldeanlagen", "melde", 2, "Brandmeldeanlagen"),
    ],
)
def test_evidence(text: str, keyword: str, width: int, shown: str) -> None:
    assert _texts(text, keyword, width=width) == [shown]


def test_text_without_spaces_is_cut_within() -> None:
    (evidence,) = _texts("接口" * 500 + "端点" + "文档" * 500, "端点")
    assert "端点" in evidence
    assert len(evidence) <= 2 + 60 + 2 + 60 + 2


@pytest.mark.parametrize("keyword", ["", "   ", "\u200b", "\u00ad "])
def test_a_keyword_of_nothing_is_nowhere(keyword: str) -> None:
    assert find_keywords(TEXT, [keyword]) == []


def test_hostile_repetition_is_found_in_linear_time() -> None:
    text = "a" * 400_000 + "b"
    assert find_keywords(text, ["a" * 2_000 + "c", "a" * 2_000 + "b"])[0].keyword.endswith("b")


@given(
    st.text(max_size=100),
    st.text(min_size=1, max_size=10).filter(fold),
    st.text(max_size=100),
    st.integers(0, 80),
)
def test_a_word_of_the_text_is_found_and_its_evidence_holds_it(
    before: str, word: str, after: str, width: int
) -> None:
    (found,) = find_keywords(f"{before} {word} {after}", [word], width)
    assert found == KeywordMatch(word, found.text)
    assert fold(word) in fold(found.text)
