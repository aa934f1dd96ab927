from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from honeyguide.core.text.fold import fold, fold_case

# Letters that change with their neighbours, that become several or none, and those that most text has.
PIECES = ["A", "b", " ", "\n", "’", "—", "É", "e", "\u0301", "İ", "I\u0307", "Σ", "ſ", "K", "ﬁ", "…", "½", "\u00ad", "\u00a0", "¨",
          "ｶ", "ﾞ", "ᄀ", "ᅡ", "가", "\u0915", "\u093c", "\x00", "\ud800"]  # fmt: skip


def in_the_slow_way(text: str) -> str:
    return " ".join(fold_case(text).split())


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join)))
@example("ﾞ")
def test_text_is_folded_alike_whichever_way(text: str) -> None:
    assert fold(text) == in_the_slow_way(text)


@given(st.lists(st.sampled_from(["Fire", "alarm’s", "É", "\n", " "]), min_size=1).map(" ".join))
def test_long_text_too(text: str) -> None:
    assert fold(text * 200) == in_the_slow_way(text * 200)
