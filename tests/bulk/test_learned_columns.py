"""The learned value by columns is that of rows, to the last bit that is ranked."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide.adapters.files.signals import read_signals
from honeyguide.core.recrawl.plan import UrlSignals
from honeyguide.core.recrawl.policies import Learned
from honeyguide.core.recrawl.priors import Priors
from honeyguide.core.recrawl.rate import Rate
from honeyguide.core.recrawl.signals import page_of
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

pl = pytest.importorskip("polars")  # an extra

NOW = datetime(2026, 5, 1, 8, tzinfo=UTC)
ROWS = 200_000
COLUMNS = (
    "visits",
    "last_visited",
    "topic_relevance",
    "is_hub",
    "rate_a",
    "rate_b",
    "page_class",
    "importance",
)


def made_up(random: Random) -> tuple[Any, ...]:
    """Give a row in which anything may be unknown; times from a microsecond to fifty years ago, or ahead."""
    passed = timedelta(microseconds=round(10 ** random.uniform(0, 15.2)))
    a, b = (
        (10 ** random.uniform(-1.3, 4), 10 ** random.uniform(-3, 7))
        if random.random() < 0.9
        else (None, None)
    )
    return (
        random.randrange(9),
        random.choice([NOW - passed] * 18 + [None, NOW + passed]),
        random.choice([random.random()] * 9 + [None]),
        random.choice([True, False, False, None]),
        random.choice([a, None if a is None else 1.0]),
        b,
        random.choice(["hub", "article", "page", None]),
        random.choice([None, None, None, 10 ** random.uniform(-3, 3)]),
    )


@pytest.mark.slow
def test_rows_and_columns_give_the_same_value() -> None:
    from honeyguide.bulk.learned_table import VALUE, learned_values
    from honeyguide.bulk.signal_columns import DOUBT, fact_columns

    random = Random(20)  # noqa: S311 - made-up rows
    rows = [made_up(random) for _ in range(ROWS)]
    frame = pl.DataFrame(rows, schema=dict(zip(COLUMNS, TYPES, strict=True)), orient="row").lazy()
    facts = fact_columns(frame, NOW, with_url=False)
    policy = Learned(
        Priors(classes={"hub": Rate(0.7, 5.0), "article": Rate(1.0, 30.0), "page": Rate(0.5, 300.0)})
    )
    found = learned_values(facts, policy.priors).select(VALUE, DOUBT).collect()
    assert not found[DOUBT].any()
    now = NOW.timestamp()
    expected = [
        policy.value(page_of(UrlSignals("u", **dict(zip(COLUMNS, row, strict=True)))), now) for row in rows
    ]
    assert found[VALUE].to_list() == expected


TYPES = (
    pl.Int64,
    pl.Datetime("us", "UTC"),
    pl.Float64,
    pl.Boolean,
    pl.Float64,
    pl.Float64,
    pl.String,
    pl.Float64,
)


@pytest.mark.parametrize(
    "missing", ["rate", "page_class", "importance", "topic_relevance", "is_hub", "last_visited"]
)
def test_columns_that_are_not_there_are_not_known(missing: str) -> None:
    from honeyguide.bulk.learned_table import VALUE, learned_values
    from honeyguide.bulk.signal_columns import fact_columns

    row: dict[str, Any] = {"visits": 1, "last_visited": NOW - timedelta(days=3), "topic_relevance": 0.7, "is_hub": True, "rate_a": 2.0, "rate_b": 9.0, "page_class": "article", "importance": 3.0}  # fmt: skip
    kept = {name: value for name, value in row.items() if not name.startswith(missing)}
    frame = pl.DataFrame([kept]).lazy()
    facts = fact_columns(frame, NOW, with_url=False)
    found = learned_values(facts, Priors()).select(VALUE).collect()[VALUE].to_list()
    assert found == [Learned().value(page_of(UrlSignals("u", **kept)), NOW.timestamp())]


def plain(**more: Any) -> dict[str, Any]:
    return {
        "url": "https://a.example/",
        "visits": 1,
        "topic_relevance": 0.5,
        "hub_depth": 1,
        "is_hub": "no",
        **more,
    }


def test_signals_of_the_policy_are_read() -> None:
    read = read_signals(plain(rateA="2.5", rate_b=102, pageClass="article", importance=""))
    assert (read.rate_a, read.rate_b, read.page_class, read.importance) == (2.5, 102.0, "article", None)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"rate_a": 1.0}, "field rate_b: is missing; a rate is two numbers, rate_a and rate_b"),
        ({"rate_b": 1.0, "rate_a": ""}, "field rate_a: is missing"),
        ({"rate_a": 0, "rate_b": 1}, "field rate_a: '0' should lie between 1e-06 and 1e+09"),
        ({"rate_a": "nan", "rate_b": 1}, "should be a finite number"),
        ({"page_class": "Hub"}, "should be one of hub, article, page"),
        ({"importance": -1}, "field importance: '-1' should lie between"),
    ],
)
def test_wrong_signals_are_named(more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_signals(plain(**more))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "rates", [("", "5"), ("5", ""), ("0", "5"), ("1e3", "5"), ("5", "5"), ("", ""), ("x", "5")]
)
@pytest.mark.parametrize("kind", ["hub", "Hub", ""])
def test_texts_in_columns_are_doubted_where_rows_refuse_them(rates: tuple[str, str], kind: str) -> None:
    from honeyguide.bulk.signal_columns import DOUBT, fact_columns

    row = plain(rate_a=rates[0], rate_b=rates[1], page_class=kind)
    frame = pl.DataFrame([{name: str(value) for name, value in row.items()}]).lazy()
    facts = fact_columns(frame, NOW, with_url=True).collect()
    try:
        read = read_signals(row)
    except InputError:
        assert facts[DOUBT].item() is True
        return
    if not facts[DOUBT].item():
        assert (facts["rate_a"].item(), facts["page_class"].item()) == (read.rate_a, read.page_class)


def test_a_file_with_rates_is_planned_as_ever(tmp_path: Path) -> None:
    from honeyguide import plan_file

    path = tmp_path / "known.csv"
    rows = [plain(url=f"https://a.example/{n}", rate_a=1 + n, rate_b=5, page_class="page") for n in range(3)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert len(plan_file(str(path), now=NOW).entries) == 3
