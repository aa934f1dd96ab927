from __future__ import annotations

import copy
import json
import math
import pickle

import pytest

from honeyguide.core.rules.compile import CompiledCard, RuleList
from honeyguide.core.rules.facts import JOIN, Facts, Value
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
    Reason,
    Rule,
    Score,
    Scorecard,
    Text,
    fields_read,
    half_up,
)
from honeyguide.core.text.pattern import compile_pattern

UNKNOWN = Text("head_title", "has", ("x",))
YES = Is("is_hub", (True,))
NO = Is("is_hub", (False,))


@pytest.mark.parametrize(
    ("condition", "facts", "result"),
    [
        (Text("path", "starts", ("/a", "/b")), {"path": "/bc"}, True),
        (Text("path", "ends", (".php",)), {"path": "/x.php"}, True),
        (Text("path", "has", ("install",)), {"path": "/x/installation"}, True),
        (Text("path", "has", ("install",)), {"path": "/x"}, False),
        (Text("path", "has", ("install",)), {"path": None}, None),
        (Text("anchor", "starts", ("b",)), {"anchor": f"a{JOIN}b"}, True),
        (Is("anchor", ("b",)), {"anchor": f"a{JOIN}b"}, True),
        (Is("anchor", ("a b",)), {"anchor": f"a{JOIN}b"}, False),
        (Matches("anchor", compile_pattern("^b")), {"anchor": f"a{JOIN}b"}, True),
        (Matches("anchor", compile_pattern(r"a\s+b")), {"anchor": f"a{JOIN}b"}, False),
        (Below("visits", 3), {"visits": 3.0}, False),
        (Below("visits", 3), {"visits": 2.0}, True),
        (Above("visits", 3), {"visits": 3.0}, False),
        (Above("visits", 3), {"visits": None}, None),
        (Is("visits", (3.0,)), {"visits": 3.0}, True),
        (All(), {}, True),
        (All((YES, UNKNOWN)), {"is_hub": True}, None),
        (All((NO, UNKNOWN)), {"is_hub": True}, False),
        (AnyOf((YES, UNKNOWN)), {"is_hub": True}, True),
        (AnyOf((NO, UNKNOWN)), {"is_hub": True}, None),
        (Not(YES), {"is_hub": True}, False),
        (Not(UNKNOWN), {}, None),
    ],
)
def test_conditions_have_three_values(
    condition: Condition, facts: dict[str, Value], result: bool | None
) -> None:
    for tried, holds in ((condition, result is True), (Not(condition), result is False)):
        assert (RuleList([Rule("x", "", when=tried)]).first(Facts(None, None, **facts)) is not None) is holds


def card(*groups: Group, **settings: float) -> Scorecard:
    return Scorecard("test", groups, **settings)  # type: ignore[arg-type]  # decimals is the only int


def test_first_pays_once_and_all_adds_up() -> None:
    rules = (Rule("a", "A", 1), Rule("b", "B", 2))
    scored = CompiledCard(
        card(Group("one", "first", rules), Group("two", "all", (Rule("c", "C", 3), Rule("d", "D", 4))))
    ).score(Facts())
    assert scored.value == 8
    assert [(r.rule, r.points) for r in scored.reasons] == [("a", 1), ("c", 3), ("d", 4)]


def test_caps_and_range_are_in_the_ledger() -> None:
    rules = (Rule("a", "A", 5), Rule("b", "B", 5))
    scored = CompiledCard(card(Group("boosts", "all", rules, at_most=7), base=1, low=0, high=6)).score(
        Facts()
    )
    assert scored.value == 6
    assert [(r.rule, r.points) for r in scored.reasons] == [
        ("base", 1),
        ("a", 5),
        ("b", 5),
        ("boosts-cap", -3),
        ("range", -2),
    ]
    assert scored.words == ("A", "B")


def test_per_pays_by_the_unit_at_most_so_much() -> None:
    rule = Rule("h", "headings", 2, per="heading_matches", at_most=4)
    compiled = CompiledCard(card(Group("g", "all", (rule,))))
    assert [compiled.score(Facts(heading_matches=n)).value for n in (0.0, 1.0, 2.0, 9.0)] == [0, 2, 4, 4]
    unknown = compiled.score(Facts())
    assert (unknown.value, unknown.reasons, unknown.unknown) == (0, (), ("heading_matches",))


def test_an_unknown_fact_never_pays_even_through_not() -> None:
    rule = Rule("n", "no x in title", 5, Not(UNKNOWN))
    scored = CompiledCard(card(Group("g", "all", (rule,)))).score(Facts())
    assert (scored.value, scored.unknown) == (0, ("head_title",))


@pytest.mark.parametrize(
    ("value", "decimals", "rounded"),
    [
        (4.5, 0, 5),
        (2.5, 0, 3),
        (-2.5, 0, -2),
        (-2.6, 0, -3),
        (0.49999999999999994, 0, 0),
        (0.125, 2, 0.13),
        (1e300, 6, 1e300),
    ],
)
def test_half_up(value: float, decimals: int, rounded: float) -> None:
    assert half_up(value, decimals) == rounded


def test_fields_read() -> None:
    rule = Rule("a", "A", 1, All((YES, Not(UNKNOWN))), per="card.x")
    assert fields_read(card(Group("g", "all", (rule,)))) == ("is_hub", "head_title", "card.x")


# --- scores ---

PAID = (Reason("a", 0.1, "first"), Reason("b", 0.2, "second", quiet=True))


@pytest.mark.parametrize(
    ("value", "text", "fixed"),
    [(94.0, "94", "94.00"), (0.74821, "0.74821", "0.75"), (-5.0, "-5", "-5.00"), (0.0, "0", "0.00")],
)
def test_a_score_is_written_as_its_number(value: float, text: str, fixed: str) -> None:
    score = Score(value, PAID)
    assert (f"{score}", str(score), f"{score:.2f}") == (text, text, fixed)
    assert f"{score:>9}" == f"{text:>9}"
    assert json.loads(json.dumps([score])) == [value]


def test_scores_and_numbers_have_one_order() -> None:
    scores = [Score(3.0, PAID), Score(1.5), Score(2.0, (), ("visits",))]
    assert sorted([*scores, 1.75, 10]) == [1.5, 1.75, 2.0, 3.0, 10]
    assert max(scores) is scores[0]
    assert Score(2.0) < 3 <= Score(3.0, PAID) < Score(3.5)
    assert not Score(2.0) < 2


def test_scores_are_equal_as_their_numbers_are_and_so_are_their_hashes() -> None:
    one, other = Score(70.0, PAID), Score(70.0)
    assert one == other == 70.0 == one
    assert hash(one) == hash(other) == hash(70)
    assert len({one, other, 70}) == 1
    assert one != Score(70.000001, PAID)
    assert repr(one) != repr(other)  # reasons are compared by what they are, not as numbers


def test_a_score_computes_as_a_number_exactly() -> None:
    score = Score(0.1 + 0.2, PAID)
    assert type(score.value) is float
    assert score.value.hex() == (0.1 + 0.2).hex()
    assert (score + 1, -score, score / 3, round(score, 1)) == (
        0.1 + 0.2 + 1,
        -(0.1 + 0.2),
        (0.1 + 0.2) / 3,
        0.3,
    )
    assert math.fsum([score, score]) == math.fsum([0.1 + 0.2] * 2)
    assert not Score(0.0, PAID)


def test_copies_of_a_score_keep_its_reasons() -> None:
    score = Score(0.3, PAID, ("visits",))
    for copied in (copy.copy(score), copy.deepcopy(score), pickle.loads(pickle.dumps(score))):  # noqa: S301 - our own
        assert repr(copied) == repr(score)
        assert copied.words == ("first",)


def test_a_compiled_card_gives_a_whole_score() -> None:
    card = Scorecard("card", (Group("g", "all", (Rule("a", "first", 2.5), Rule("b", "none", 1.0, UNKNOWN))),))
    score = CompiledCard(card).score({"head_title": None})
    assert repr(score) == repr(Score(2.5, (Reason("a", 2.5, "first"),), ("head_title",)))
