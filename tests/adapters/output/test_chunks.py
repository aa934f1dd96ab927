"""Pieces of a page: nothing is lost, and listings and tables stay whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from honeyguide.adapters.output.chunks import chunks_of

WORDS = st.lists(st.sampled_from(["alarm", "fire", "a", "sprinkler's"]), min_size=1, max_size=30).map(
    " ".join
)
CODE = st.sampled_from(
    ["```\nx\n\n# no heading\ny\n```", "~~~~py\n```\n\n```\n~~~~", "| a | b |\n|---|---|\n| 1 | 2 |"]
)
HEADING = st.sampled_from(["# One", "## Two", "### Three"])
BLOCKS = st.lists(st.one_of(WORDS, CODE, HEADING), max_size=12)


@given(BLOCKS, st.integers(5, 200))
def test_every_word_is_in_one_piece_and_what_must_not_be_cut_is_whole(blocks: list[str], chars: int) -> None:
    found = list(chunks_of("\n\n".join(blocks), chars))
    said = "\n\n".join(text for _, text in found)
    kept = [block for block in blocks if not block.startswith("# ") and not block.startswith("##")]
    assert said.split() == "\n\n".join(kept).split()
    for block in kept:
        is_whole = block[0] in "`~|"
        assert not is_whole or any(block in text for _, text in found)
    assert all(len(text) <= chars or set(text) & set("`~|") or " " not in text for _, text in found)


def test_the_path_of_headings_is_that_of_the_piece() -> None:
    text = "Before.\n\n# A\n\nOne.\n\n### C\n\nThree.\n\n## B\n\nTwo.\n\n# D\n\nFour."
    assert list(chunks_of(text, 100)) == [
        ((), "Before."),
        (("A",), "One."),
        (("A", "C"), "Three."),
        (("A", "B"), "Two."),
        (("D",), "Four."),
    ]


def test_a_listing_without_end_is_one_piece() -> None:
    assert list(chunks_of("# A\n\n```\nx\n\n# y", 5)) == [(("A",), "```\nx\n\n# y")]
