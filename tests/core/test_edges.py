"""Edges that nothing else in these tests would miss: found by changing the core in one place at a time (tools/mutate.py)."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest

from honeyguide.adapters.files.signals import read_signals
from honeyguide.config import load_profile
from honeyguide.core.crawl.learner import MAX_GROUPS
from honeyguide.core.crawl.placement import place
from honeyguide.core.fetching import FetchPolicy, most_telling
from honeyguide.core.pick.location_pages import _name_after_preposition, _without_state
from honeyguide.core.pick.select import path_from_home
from honeyguide.core.recrawl.policies import RETURN_H
from honeyguide.core.recrawl.signals import LinkDensity, describe_list, page_of
from honeyguide.core.rules.profile import Band, Traversal
from honeyguide.core.text.printable import escaped, rounded
from honeyguide.core.url.url import Tracking, Url
from honeyguide.core.why import Why
from honeyguide.errors import InputError

URL = Url.parse("https://a.example/a")


def test_of_several_failures_the_one_that_got_furthest_is_said() -> None:
    order = ["robots_disallowed", "http_error", "empty", "timeout", "unreachable", "dns_failed", "not_kept"]
    for first, second in pairwise(order):
        assert most_telling([Why(second, "b"), Why(first, "a")]) == Why(first, "a")


def test_what_is_skipped_is_paid_nothing_for_it() -> None:
    rules = Traversal(
        "x", (Band(5, "deep"), Band(0, "skip")), (Band(5, "deep", 3), Band(0, "wide")), tunnel=2
    )
    pruned = rules._replace(pages=(Band(5, "deep", 3), Band(0, "skip")))
    for placement, rule in (
        (place(9, 1, rules, weak_pages=1), "tunnel-end"),
        (place(1, 9, rules), "irrelevant"),
        (place(9, 1, pruned), "pruned"),
    ):
        assert [(reason.rule, reason.points) for reason in placement.reasons if reason.rule == rule] == [
            (rule, 0)
        ]


@pytest.mark.parametrize(
    ("home", "path", "expected"),
    [
        ("/en", "/en/a", "/a"),
        ("/en", "/de", "/de"),
        ("/en", "/en", "/"),
        ("/en", "/end", "/end"),
        ("/", "/de", "/de"),
    ],
)
def test_only_paths_below_the_homepage_are_cut(home: str, path: str, expected: str) -> None:
    page, start = (Url.parse(f"https://a.example{one}") for one in (path, home))
    assert path_from_home(page, start, Tracking()) == expected


def test_a_state_alone_is_a_name_and_a_preposition_needs_words_before_it() -> None:
    known = load_profile("company").families
    words = known._replace(states=frozenset({"texas"}), before_names=frozenset({"in"}))
    assert _without_state("texas", words) == "texas"
    assert _without_state("dallas texas", words) == "dallas"
    assert not _name_after_preposition("in dallas texas", words)
    assert _name_after_preposition("alarms in dallas", words) == "dallas"


@pytest.mark.parametrize(
    ("text", "expected"), [("false", False), ("0", False), ("no", False), ("yes", True), ("1", True)]
)
def test_flags_of_rows(text: str, expected: bool) -> None:
    assert read_signals({"url": URL.text, "is_hub": text}).is_hub is expected


@pytest.mark.parametrize("visits", ["-1", "1.5", "-1.5"])
def test_counts_of_rows_are_whole_and_not_negative(visits: str) -> None:
    with pytest.raises(InputError, match="whole number, 0 or more"):
        read_signals({"url": URL.text, "visits": visits})


def test_a_row_that_does_not_say_how_often_was_never_visited() -> None:
    assert page_of(read_signals({"url": URL.text})).visits == 0


def test_a_profile_without_a_card_for_lists_knows_none() -> None:
    profile = load_profile("docs", topic="fire")
    dense = LinkDensity(500, 1.0)
    assert describe_list(URL, dense, profile) is not None
    cards = {name: card for name, card in profile.cards.items() if name != "hub"}
    assert describe_list(URL, dense, replace(profile, cards=cards)) is None


def test_characters_beyond_two_bytes_are_read_back_as_they_are() -> None:
    text = json.dumps("\U000e0001\U000e0002", ensure_ascii=False)
    assert escaped(text).isascii()
    assert json.loads(escaped(text)) == json.loads(text)


def test_ascii_is_written_as_it_is_except_the_character_that_deletes() -> None:
    assert escaped('"a~"') == '"a~"'
    assert escaped('"a\x7f"') == '"a\\u007f"'


def test_shares_have_four_decimals() -> None:
    assert rounded(0.123456789) == 0.1235


def test_numbers_that_the_documents_name() -> None:
    assert (FetchPolicy().max_backoff_s, RETURN_H, MAX_GROUPS) == (30.0, 720.0, 300)
