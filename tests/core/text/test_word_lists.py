"""Word lists that are searched together agree with lists that are searched one by one."""

from hypothesis import given
from hypothesis import strategies as st

from honeyguide.core.text.word_lists import WordLists

WORDS = st.sampled_from(["fire", "fires", "fir", "about", "us", "about us", "a", "", "über", "x" * 50, "|"])
TERMS = st.sampled_from(
    ["fire", "fir*", "about us", "about u*", "us", "*", "x*", "x" * 50, "a", " a", "a ", "über*"]
)


def has_word(terms: tuple[str, ...], text: str) -> bool:
    """Test a list in the plainest way."""
    words = text.split(" ")
    alone = [term for term in terms if " " not in term]
    return (
        any(term in words for term in alone)
        or any(word.startswith(term[:-1]) for term in alone if term.endswith("*") for word in words)
        or any(
            (f" {term[:-1]}" if term.endswith("*") else f" {term} ") in f" {text} "
            for term in terms
            if " " in term and len(words) > 1
        )
    )


@given(
    st.lists(st.lists(TERMS, max_size=4).map(tuple), max_size=5), st.lists(WORDS, min_size=1).map(" ".join)
)
def test_each_list_has_its_bit(lists: list[tuple[str, ...]], text: str) -> None:
    index = WordLists()
    bits = [index.add(terms) for terms in lists]
    for _ in "new", "remembered":
        found = index.found(text)
        assert [bool(found & bit) for bit in bits] == [has_word(terms, text) for terms in lists]


def test_equal_lists_share_a_bit() -> None:
    index = WordLists()
    assert index.add(("fire",)) == index.add(("fire",)) != index.add(("alarm",))


def test_what_is_remembered_is_bounded() -> None:
    index = WordLists()
    bit = index.add(("word*",))
    for number in range(10_000):
        assert index.found(f"word{number} {'y' * 100}{number}") == bit
    assert len(index.remembered) <= 4_096
    assert max(map(len, index.remembered)) <= 40
    for number in range(2_000):
        assert index.found(f"word{number}") == bit
    assert len(index.texts) <= 1_024


def test_a_repeated_beginning_of_a_phrase_takes_linear_time() -> None:
    """200,000 words that each begin a phrase: the phrase is searched once, not once a word."""
    index = WordLists()
    index.add(tuple(f"about {number}" for number in range(20)))
    assert index.found("about " * 200_000) == 0
