"""The column evaluator: what is easily got wrong, one by one. That it agrees with rows is a property."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from honeyguide.core.rules.compile import CompiledCard
from honeyguide.core.rules.facts import FIELDS, JOIN, Facts, Value
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
    Rule,
    Score,
    Scorecard,
    Text,
)
from honeyguide.core.text.pattern import compile_pattern

pytest.importorskip("polars")  # an extra

import polars as pl

from honeyguide.bulk.columns import fact_frame, lowered, read_scores, score_columns
from honeyguide.bulk.signal_columns import fact_columns, since_bounds


def scored(card: Scorecard, *rows: dict[str, Value]) -> list[Score]:
    """Score by columns, and compare with rows."""
    full = [{**dict.fromkeys(FIELDS), **row} for row in rows]
    names = sorted({name for row in rows for name in row})
    frame = score_columns(fact_frame(full, names).lazy(), [card]).collect()
    found = read_scores(frame, card)
    expected = [CompiledCard(card).score(Facts(None, None, **row)) for row in full]
    assert repr(found) == repr(expected)  # with their reasons: as numbers they may be equal for other ones
    return found


def card_of(*rules: Rule, mode: str = "all", **settings: float) -> Scorecard:
    group = Group("g", "first" if mode == "first" else "all", rules)
    return Scorecard("card", (group,), **settings)  # type: ignore[arg-type]  # decimals is the only int


@pytest.mark.parametrize("relevance", [0.1, 0.3, 0.5, 0.7, 0.9, 0.49999999999999994, 1.0])
def test_rounding_is_half_up_in_both(relevance: float) -> None:
    rule = Rule("r", "r", 15.0, per="relevance")
    for decimals in (0, 1, 6):
        scored(card_of(rule, decimals=decimals), {"relevance": relevance})


def test_thousandths_are_divided_and_not_multiplied_by_a_reciprocal() -> None:
    rows: list[dict[str, Value]] = [{"relevance": number / 1000} for number in range(5000)]
    scored(card_of(Rule("r", "r", 1.0, per="relevance"), decimals=3), *rows)


@pytest.mark.parametrize("points", [0.35, 0.07, 0.29, 123456.35])
def test_a_score_that_no_column_decides_is_divided_too(points: float) -> None:
    """Polars knows a column of one value three times as a single number, and would multiply by the reciprocal."""
    card = card_of(Rule("always", "", points), decimals=2)
    rows: list[dict[str, Value]] = [{"visits": float(number)} for number in range(3)]
    by_row = CompiledCard(card).score(Facts(None, None))
    assert [score.value for score in scored(card, *rows)] == [by_row.value] * 3


def test_the_first_that_holds_pays_and_what_is_not_known_does_not_take_its_place() -> None:
    card = card_of(
        Rule("a", "a", 1.0, Above("visits", 5)), Rule("b", "b", 2.0, Below("hub_depth", 3)), mode="first"
    )
    found = scored(
        card,
        {"visits": 9.0, "hub_depth": 1.0},
        {"visits": None, "hub_depth": 1.0},
        {"visits": 1.0, "hub_depth": None},
    )
    assert [score.value for score in found] == [1.0, 2.0, 0.0]
    assert [score.unknown for score in found] == [(), ("visits",), ("hub_depth",)]


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        (Not(Above("visits", 5)), [0.0, 1.0, 0.0]),
        (AnyOf((Above("visits", 5), Is("is_hub", (True,)))), [1.0, 1.0, 1.0]),
        (All((Above("visits", 5), Is("is_hub", (True,)))), [1.0, 0.0, 0.0]),
        (Not(All((Above("visits", 5), Is("is_hub", (True,))))), [0.0, 1.0, 0.0]),
        (All(()), [1.0, 1.0, 1.0]),
        (AnyOf(()), [0.0, 0.0, 0.0]),
        (Not(AnyOf(())), [1.0, 1.0, 1.0]),
    ],
)
def test_what_is_not_known_is_neither_true_nor_false(condition: Condition, values: list[float]) -> None:
    rows: tuple[dict[str, Value], ...] = (
        {"visits": 9.0, "is_hub": True},
        {"visits": 1.0, "is_hub": True},
        {"visits": None, "is_hub": True},
    )
    assert [score.value for score in scored(card_of(Rule("r", "r", 1.0, condition)), *rows)] == values


@pytest.mark.parametrize(
    ("condition", "texts", "expected"),
    [
        (Text("anchor", "starts", ("fire",)), ["a fire" + JOIN + "fire", "a" + JOIN + "a fire"], [1.0, 0.0]),
        (Text("anchor", "ends", ("fire",)), ["fire" + JOIN + "a", "fire a"], [1.0, 0.0]),
        (Is("anchor", ("fire",)), ["a" + JOIN + "fire" + JOIN + "b", "fire a" + JOIN + "b"], [1.0, 0.0]),
        (Text("anchor", "word", ("fire",)), ["a" + JOIN + "fire", "fires" + JOIN + "a"], [1.0, 0.0]),
        (Text("anchor", "word", ("fi*",)), ["a fire", "a-fire"], [1.0, 0.0]),
        (Text("anchor", "starts", ("a\n",)), ["a" + JOIN + "b", "a\nb"], [0.0, 1.0]),
        (Text("anchor", "has", ("",)), ["", "x"], [1.0, 1.0]),
        (Matches("anchor", compile_pattern(r"\s.\s")), ["a" + JOIN + "b", "a b c"], [0.0, 1.0]),
        (Matches("anchor", compile_pattern("^b$")), ["a" + JOIN + "b", "ab"], [1.0, 0.0]),
        (Matches("path", compile_pattern("a$")), ["a\n", "ba"], [0.0, 1.0]),
        (Matches("path", compile_pattern(r"\w{2}")), ["ä", "ab"], [0.0, 1.0]),
        (Matches("path", compile_pattern(r"\w0")), ["ſ0", "é0"], [1.0, 0.0]),  # case-blind, RE2 takes ſ for s
    ],
)
def test_texts(condition: Text | Is | Matches, texts: list[str], expected: list[float]) -> None:
    card = card_of(Rule("r", "r", 1.0, condition))
    rows: list[dict[str, Value]] = [{condition.field: text} for text in texts]
    assert [score.value for score in scored(card, *rows)] == expected


def test_limits_are_in_the_ledger() -> None:
    rules = (Rule("a", "a", 30.0), Rule("b", "b", 2.5, per="visits", at_most=20.0))
    card = Scorecard("card", (Group("g", "all", rules, 25.0),), 1.5, 0.0, 10.0, 2)
    (score,) = scored(card, {"visits": 100.0})
    assert [(reason.rule, reason.points) for reason in score.reasons] == [
        ("base", 1.5),
        ("a", 30.0),
        ("b", 20.0),
        ("g-cap", -25.0),
        ("range", -16.5),
    ]
    assert score.value == 10.0


def test_more_rules_than_bits() -> None:
    rules = tuple(Rule(f"r{i}", "r", 1.0, Above("visits", i)) for i in range(150))
    found = scored(card_of(*rules), {"visits": 70.5}, {"visits": 149.5}, {"visits": None})
    assert [score.value for score in found] == [71.0, 150.0, 0.0]


def test_a_card_reads_another_card() -> None:
    first = Scorecard("first", (Group("g", "all", (Rule("a", "a", 0.1, per="visits"),)),))
    second = Scorecard("second", (Group("g", "all", (Rule("b", "b", 0.6, per="card.first"),)),))
    frame = score_columns(fact_frame([{"visits": 3.0}], ["visits"]).lazy(), [first, second]).collect()
    assert read_scores(frame, second)[0].value == 0.18


def test_facts_without_a_column_are_not_known() -> None:
    card = card_of(Rule("a", "a", 1.0, Not(Above("visits", 1))), Rule("b", "b", 1.0, per="hub_depth"))
    frame = score_columns(fact_frame([{"relevance": 0.5}], ["relevance"]).lazy(), [card]).collect()
    assert repr(read_scores(frame, card)) == repr([Score(0.0, (), ("visits", "hub_depth"))])


@pytest.mark.parametrize(
    ("source", "several", "is_sure"),
    [
        ("fire.?alarm", True, True),
        ("^fire", True, False),
        (r"a\sb", True, False),
        (r"a\sb", False, True),
        ("[^a]", False, False),
        ("(?i)a", False, False),
        ("a{2}", False, False),
        (r"\pL", False, False),
        ("接口?", False, False),
    ],
)
def test_only_what_both_engines_read_alike_is_lowered(source: str, several: bool, is_sure: bool) -> None:
    assert (lowered(source, several=several) is not None) is is_sure


@pytest.mark.parametrize("bound", [-1.0, 0.0, 1e-7, 1e-6, 0.3, 3600.0, 86400.5, 1e9 / 3, 1.7e9, 1e300])
def test_times_are_compared_with_a_bound_as_their_seconds_are(bound: float) -> None:
    now = datetime(2024, 6, 15, 8, 0, tzinfo=UTC)
    around = round(min(max(bound, 0.0), 1.7e9) * 1e6)
    passed = [timedelta(microseconds=around + more) for more in range(-3, 4)]
    moments = [
        None,
        now,
        now + timedelta(days=1),
        now - timedelta(days=19_000),
        *(now - one for one in passed),
    ]
    frame = pl.LazyFrame({"url": ["u"] * len(moments), "last_visited": moments})
    facts = fact_columns(frame, now, with_url=False)
    seconds, compare = pl.col("since_visit_s"), since_bounds(now)["since_visit_s"]
    found = facts.select((seconds < bound).alias("below"), (seconds > bound).alias("above")).collect()
    assert (
        facts.select(compare(bound, True).alias("below"), compare(bound, False).alias("above"))
        .collect()
        .equals(found)
    )
    assert found.null_count().row(0) == (1, 1)


@pytest.mark.parametrize("order", [(1e9, -1e9), (-1e9, 1e9)])
def test_amounts_that_cancel_each_other_out(order: tuple[float, float]) -> None:
    visited = Above("visits", -1.0)
    amounts = tuple(Rule(f"r{n}", "r", points, visited, per="visits") for n, points in enumerate(order))
    groups = (Group("amounts", "all", amounts), Group("own", "all", (Rule("own", "o", 10.0, visited),)))
    card = Scorecard("plan", groups, low=0.0, high=100.0, decimals=0)
    scored(card, {"visits": 3.0}, {"visits": 1e12})


@pytest.mark.parametrize("base", [0.0, 0.5])
def test_an_amount_that_is_rounded_to_zero_is_not_below_it(base: float) -> None:
    rule = Rule("r", "r", -0.25, Above("visits", -1.0), per="visits")
    card = Scorecard("card", (Group("g", "all", (rule,)),), base, decimals=0)
    scored(card, {"visits": 1.0}, {"visits": 2.0}, {"visits": 3.0})


@pytest.mark.parametrize("bounds", [(0.5, 100.0), (-100.0, 0.5), (0.25, 0.75)])
def test_a_score_is_compared_with_a_bound_before_that_is_rounded(bounds: tuple[float, float]) -> None:
    rule = Rule("r", "r", 1.0, Above("visits", 0.0))
    card = Scorecard("card", (Group("g", "all", (rule,)),), 0.5, *bounds, 0)
    scored(card, {"visits": 0.0}, {"visits": 1.0})
