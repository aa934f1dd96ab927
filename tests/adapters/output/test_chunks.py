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


DEFINITION = "- `run(main)`\n\n  Runs the program.\n\n  ```python3\n  run(\n      main())\n  ```"


def test_a_definition_that_fits_is_not_cut() -> None:
    before = "Before it, a few more words."
    found = [text for _, text in chunks_of(f"{before}\n\n{DEFINITION}\n\nAfter it.", 100)]
    assert found == [before, f"{DEFINITION}\n\nAfter it."]


def test_a_definition_that_is_too_long_keeps_its_head_with_its_text_and_the_rest_is_at_the_left() -> None:
    before, more = "Words and words, and words.", "More words, and more of them, about a task of a program."
    inner = "  - `result()`\n\n    Gives it.\n\n    Or raises."
    text = f"# A\n\n{before}\n\n- `class Task`\n\n  {more}\n\n{inner}\n\n- `other`"
    assert [text for _, text in chunks_of(text, 80)] == [
        before,
        f"- `class Task`\n\n  {more}",
        "- `result()`\n\n  Gives it.\n\n  Or raises.\n\n- `other`",
    ]


def test_the_rest_of_a_long_item_is_as_far_from_the_left_as_its_text() -> None:
    found = [text for _, text in chunks_of(f"- {'word ' * 30}\n\n  ```\n  x\n  ```", 100)]
    assert found[1].endswith("word\n\n```\nx\n```")


def test_no_piece_is_tiny_if_its_neighbour_can_help() -> None:
    units = ["a" * 40, "b" * 30, "c" * 20, "d" * 5]
    assert [text for _, text in chunks_of("\n\n".join(units), 94)] == [
        "\n\n".join(units[:2]),
        "\n\n".join(units[2:]),
    ]
    listing = f"```\n{'x' * 200}\n```"
    assert [text for _, text in chunks_of(f"Like this:\n\n{listing}", 100)] == [f"Like this:\n\n{listing}"]


ITEM = st.tuples(st.integers(0, 3), st.one_of(WORDS, CODE)).map(
    lambda item: (
        "\n".join(f"{'  ' * item[0]}{line}" for line in f"- {item[1]}".split("\n"))
        if "\n" not in item[1]
        else "\n".join(f"{'  ' * item[0]}{line}".rstrip() for line in item[1].split("\n"))
    )
)


@given(st.lists(ITEM, max_size=12), st.integers(5, 200))
def test_no_piece_of_a_list_begins_with_a_space_and_no_word_is_lost(blocks: list[str], chars: int) -> None:
    text = "\n\n".join(blocks)
    found = [text for _, text in chunks_of(text, chars)]
    assert " ".join(found).split() == text.split()
    assert not any(text.startswith((" ", "\n")) or not text.strip() for text in found)


def test_dashes_in_a_paragraph_are_no_items_of_items() -> None:
    text = "word " + "- " * 3_000 + "end"
    assert len(list(chunks_of(text, 100))) < 100  # not one for each dash, behind ever more spaces
