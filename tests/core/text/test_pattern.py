from __future__ import annotations

import pytest

from honeyguide.core.text.fold import fold
from honeyguide.core.text.pattern import MAX_PATTERN_CHARS, compile_pattern
from honeyguide.errors import PatternError


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("API|REST", "the rest api", True),
        ("API|接口|端点", "查看接口文档", True),
        ("API", "rapid", True),
        (r"\bapi\b", "rapid", False),
        (r"v[0-9]+\.api", "V2.API", True),
        ("straße", "STRASSE", False),
        ("STRAẞE", "straße", True),
        ("ΟΔΟΣ", "οδος", True),
        ("İ.mir", "izmir", True),
        ("(a+)+$", "a" * 30 + "b", False),
        ("event loop", "Event\u00a0Loop", True),
        ("ＡＰＩ", "api", True),
    ],
)
def test_search(pattern: str, text: str, found: bool) -> None:
    assert compile_pattern(pattern).search(fold(text)) is found


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"\<API\>", "The API.", True),
        (r"\<API\>", "rapid apis", False),
        (r"\<api", "apis", True),
        (r"api\>", "apis", False),
        (r"[\<x]y", "<y", True),  # in a class it is the character
        (r"\\<b", "\\<b", True),  # after an escaped backslash, too
    ],
)
def test_word_boundaries_of_grep(pattern: str, text: str, found: bool) -> None:
    # SPEC 5: the syntax of `grep -E`, as far as it is linear.
    assert compile_pattern(pattern).search(fold(text)) is found


def test_count_does_not_overlap() -> None:
    assert compile_pattern("fire|fire alarm").count("fire alarm fire") == 2
    assert compile_pattern("fire|fire alarm").count("fire, Fire, fire") == 2
    assert compile_pattern("fire|era|alarm").count("firera era alarm") == 3
    assert compile_pattern("fi.e").count("fire fire fine") == 3
    assert compile_pattern("a").count("a" * 50, limit=10) == 10


@pytest.mark.parametrize(
    ("pattern", "why", "position"),
    [
        ("", "empty", None),
        ("  ", "empty", None),
        ("a||b", "an empty alternative matches everything", 1),
        ("a|", "an empty alternative matches everything", 1),
        ("|a", "an empty alternative matches everything", 0),
        (".*", "matches everything", None),
        ("x*", "matches everything", None),
        ("(?s).", "matches everything", None),
        (r"\w", "matches everything", None),
        (r"\b", "matches everything", None),
        (r"\S+", "matches everything", None),
        (r"\<", "matches everything", None),
        (r"\<接口", r"\< beside 接 never matches, because words end at letters outside ASCII", 0),
        (r"api|端点\>", r"\> beside 点 never matches, because words end at letters outside ASCII", 6),
        ("[a-z]", "matches everything", None),
        ("[а-я]+", "matches everything", None),
        ("fire(?=alarm)", "invalid perl operator", 4),
        (r"(a)\1", "invalid escape sequence", 3),
        ("(fire", "missing )", 0),
        (r"(a)|[(]\(fire(alarm", "missing )", 13),
        (r"fire\|alarm", r"\| is the character |, not 'or'", 4),
        ("fire[a", "missing ]", 4),
        ("*fire", "no argument for repetition operator", 0),
        ("a{5000}", "invalid repetition size", 1),
        ("a" * (MAX_PATTERN_CHARS + 1), f"longer than {MAX_PATTERN_CHARS} characters", None),
        (r"\pL{900}", "pattern too large - compile failed", None),
        ("a.\ud800", "contains half a character", None),
        ("a|\ud800", "contains half a character", None),
    ],
)
def test_refused(pattern: str, why: str, position: int | None) -> None:
    with pytest.raises(PatternError) as error:
        compile_pattern(pattern)
    assert (error.value.why, error.value.position) == (why, position)
    assert error.value.hint
    assert "\n" not in str(error.value)


def test_the_advice_fits_what_is_wrong_and_not_what_is_escaped() -> None:
    with pytest.raises(PatternError, match=r"missing \) at character 4; close the group with \)$"):
        compile_pattern(r"\(a(b")
