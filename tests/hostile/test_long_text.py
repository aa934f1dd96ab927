"""Text from strangers costs no more than its length: what libraries are given is bounded before they see it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Literal

import pytest

import honeyguide
from honeyguide.adapters.html.page import parse_page
from honeyguide.core.pick.location_pages import ascii_form
from honeyguide.core.text import fold as folding
from honeyguide.core.text.fold import MAX_RUN, compose, find_keywords, find_phrase, fold, fold_case
from honeyguide.core.text.pattern import Pattern, compile_pattern
from honeyguide.core.url.url import Url

MARKS = 5_000


class Unicode:
    """The module `unicodedata`, but it notes the longest run of marks that it must sort."""

    def __init__(self) -> None:
        self.longest = 0

    def normalize(self, form: str, text: str) -> str:
        spelling: Literal["NFD", "NFKD"] = "NFKD" if "K" in form else "NFD"
        spelled = (part for char in text for part in unicodedata.normalize(spelling, char))
        marks = groupby(spelled, lambda char: unicodedata.combining(char) > 0)
        self.longest = max(self.longest, 0, *(len(list(run)) for is_mark, run in marks if is_mark))
        return unicodedata.normalize("NFC", text[:10])

    def __getattr__(self, name: str) -> object:
        return getattr(unicodedata, name)


@pytest.mark.parametrize(
    "read",
    [
        fold,
        fold_case,
        ascii_form,
        lambda text: find_keywords(text, ["fire"]),
        lambda text: find_phrase(["fire"], text),
    ],
)
@pytest.mark.parametrize("marks", ["\u0301\u0323", "\uff9e\u0301", "\u0f73\u0344", "\u0301\U0001d165"])
def test_no_library_sorts_a_long_run_of_marks(
    read: Callable[[str], object], marks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unicode = Unicode()
    # What is learnt from the stand-in is not remembered.
    monkeypatch.setattr(folding, "_ALONE", type(vars(folding)["_ALONE"])())
    for name, value in list(vars(folding).items()):
        if value is unicodedata:
            monkeypatch.setattr(folding, name, unicode)
    read(f"fire alarm a{marks * (MARKS // 2)}")
    assert unicode.longest <= 3 * MAX_RUN


def test_nothing_else_normalises_text() -> None:
    source = Path(honeyguide.__file__).parent
    callers = {
        path.name for path in source.rglob("*.py") if "unicodedata.normalize(" in path.read_text("utf-8")
    }
    assert callers == {"fold.py"}


@pytest.mark.parametrize(
    "text", ["q\u0301\u0323", "ｶﾞﾊﾟ", "─" * 100, "e\u0301" * 100, "a" + "\u0301" * MAX_RUN, "接" * 99]
)
def test_real_text_is_normalised_as_it_is(text: str) -> None:
    assert compose(text) == unicodedata.normalize("NFKC", text)


def test_each_character_is_replaced_once_however_many_there_are() -> None:
    letters = [chr(code) for code in range(0x400, 0x430)] + [chr(code) for code in range(0x10A0, 0x10C6)]
    text = f"x{''.join(letters)}x"
    assert fold(text) == " ".join(fold_case(text).split())
    assert folding._fold_ordinary(text) is None  # noqa: SLF001 - one pass for each letter would be quadratic
    assert folding._fold_ordinary(f"x{''.join(letters[:48])}x") == fold(text[:49]) + "x"  # noqa: SLF001 - as above


def test_a_page_of_international_hosts_stops_being_read() -> None:
    hosts = "".join(f"<a href=//{chr(0x4E00 + n)}{chr(0x5000 + n)}.example/>x</a>" for n in range(1_200))
    page = parse_page(
        hosts + "<a href=/a>home</a>" + "<a href=//%E4%B8%80.example/>x</a>", Url.parse("https://b.example/")
    )
    assert len(page.links) == 1_001
    assert {rule for _, rule in page.skipped} == {"limit"}


def test_the_site_itself_may_be_international() -> None:
    links = "".join(f"<a href=https://пример.example/{n}>x</a>" for n in range(1_200))
    assert len(parse_page(links, Url.parse("https://пример.example/")).links) == 1_200


def test_a_list_of_words_that_share_their_letters_is_not_tried_word_by_word() -> None:
    words = "|".join(f"{'a' * 99}{letter}" for letter in "bcdefghijklmnopqrstuvwxyzb0123456789"[:35])
    pattern: Pattern = compile_pattern(words)
    assert type(pattern.engine).__module__ != "re"
    assert pattern.count("a" * 99 + "z") == 1
