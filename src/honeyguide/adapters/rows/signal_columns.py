"""Columns of signals read as facts: what is surely right by columns, the rest in doubt.

Owns: how each type of column is read as each signal, in polars; times are in `time_columns.py`. Must not know: files, scores.
Start reading at `fact_columns`. A row in doubt is not wrong: it is read again by `core.plan.read_signals`, which alone
decides, and which writes the sentence if it is. So both ways of reading accept the same, and say the same.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import polars as pl

from honeyguide.adapters.rows.time_columns import moment_of, read_times, unreadable, with_moments
from honeyguide.core.plan import LEAST_POSITIVE, MOST_POSITIVE, NAMES, field_name
from honeyguide.core.priors import CLASSES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from honeyguide.adapters.rows.time_columns import Reading

TIMES = {
    "last_visited": "since_visit_s",
    "last_changed": "since_change_s",
}  # and the facts that are made of them
_NUMBERS = {"topic_relevance": "relevance"}
DOUBT, FUTURE, HASH = "in doubt", "in the future", "hash of the url"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_US = (datetime(9999, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1) - 1
_EXACT = 2**53
_TRUE, _FALSE = ("true", "True", "TRUE", "1", "yes"), ("false", "False", "FALSE", "0", "no")
_DECIMAL = r"^[0-9]{1,9}(?:\.[0-9]{1,20})?$"
_SHARE = r"^(?:[01]|[01]?\.[0-9]{1,30})$"
# URLs that need no look: host names of plain labels, paths of plain characters.
_URL = r"^https?://(?:[a-z0-9](?:-?[a-z0-9]){0,20}\.){1,4}[a-z]{2,20}(?:/[A-Za-z0-9/_~.?=&-]{0,500})?$"


def columns_of(schema: Mapping[str, pl.DataType]) -> dict[str, str]:
    """Say under which name the file has each signal."""
    found = {field_name(column): column for column in schema}
    return {name: found[name] for name in NAMES if name in found}


def fact_columns(
    frame: pl.LazyFrame, now: datetime, *, with_url: bool, also: Sequence[pl.Expr] = ()
) -> pl.LazyFrame:
    """Read signals as facts at `now`, with the rows that are in doubt and those that lie in the future, and what is `also` wanted."""
    schema = frame.collect_schema()
    named = columns_of(schema)
    texts = [named[name] for name in TIMES if name in named and schema[named[name]] == pl.String]
    return with_moments(frame, texts).select(*_facts(schema, named, now, with_url=with_url), *also)


def _facts(
    schema: Mapping[str, pl.DataType], named: Mapping[str, str], now: datetime, *, with_url: bool
) -> list[pl.Expr]:
    now_us = (now - _EPOCH) // timedelta(microseconds=1)
    facts: list[pl.Expr] = []
    doubts: list[pl.Expr] = []
    future: list[pl.Expr] = []
    rates: list[pl.Expr] = []
    for name, column in named.items():
        if name == "url":
            continue
        is_written = name in TIMES and schema[column] == pl.String
        value, doubt = moment_of(column) if is_written else _READERS[name](pl.col(column), schema[column])
        if name in TIMES:
            future.append(value > now_us)
            # Times so long ago that a double does not hold the microseconds since then are in doubt, too.
            doubts += [value < max(0, now_us - _EXACT), value > _LATEST_US]
            value = _since(value, now_us)
        rates += [value] if name in ("rate_a", "rate_b") else []
        facts.append(value.alias(TIMES.get(name) or _NUMBERS.get(name, name)))
        doubts += [] if doubt is None else [doubt]
    doubts += _half_a_rate(rates)
    if with_url:
        doubts.append(_doubtful_url(pl.col(named["url"]), schema[named["url"]]))
        facts.append(hashed(pl.col(named["url"])).alias(HASH))
    if DOUBT in schema:  # rows that were in doubt before their columns were read
        doubts.append(pl.col(DOUBT))
    return [*facts, _any(doubts).alias(DOUBT), _any(future).alias(FUTURE)]


def _half_a_rate(rates: list[pl.Expr]) -> list[pl.Expr]:
    """Say where one of the two numbers is there without the other."""
    if len(rates) < 2:
        return [rate.is_not_null() for rate in rates]
    return [rates[0].is_null() != rates[1].is_null()]


def hashes_of(urls: list[str]) -> pl.Series:
    """Hash URLs as the column is hashed."""
    return pl.select(hashed(pl.lit(pl.Series(urls, dtype=pl.String)))).to_series()


def hashed(url: pl.Expr) -> pl.Expr:
    """Give 64 bits of each URL, by which rows are compared."""
    return url.hash(seed=1)


def _any(tests: list[pl.Expr]) -> pl.Expr:
    """Say where any test is true; elsewhere it is false or null."""
    return reduce(or_, tests) if tests else pl.lit(value=False)


def _since(moment_us: pl.Expr, now_us: int) -> pl.Expr:
    """Seconds since then, none for the future.

    Twice the time is divided by twice a million, because x + |x| is none for the future, and faster than a choice.
    A column is divided by a column: by a single number, polars multiplies by its reciprocal, which is not the same.
    """
    passed = now_us - moment_us
    twice = (passed + passed.abs()).cast(pl.Float64)
    return twice / (twice * 0.0 + 2e6)


def _whole(column: pl.Expr, dtype: pl.DataType) -> Reading:
    number = column.cast(pl.Float64, strict=False)
    if dtype.is_integer():
        return number, None if dtype.is_unsigned_integer() else column < 0
    if dtype.is_float():
        return number, ~column.is_between(0, 1e15) | (column != column.floor())
    if dtype == pl.String:
        return number, ~(column.str.contains(r"^[0-9]{1,15}$") | (column == ""))
    return unreadable(column, pl.Float64())


def _share(column: pl.Expr, dtype: pl.DataType) -> Reading:
    number = column.cast(pl.Float64, strict=False)
    if dtype.is_integer() or dtype.is_float():
        return number, ~number.is_between(0, 1)
    if dtype == pl.String:
        looks_right = column.str.contains(_SHARE) & number.is_between(0, 1)
        return number, ~(looks_right | (column == ""))
    return unreadable(column, pl.Float64())


def _positive(column: pl.Expr, dtype: pl.DataType) -> Reading:
    number = column.cast(pl.Float64, strict=False)
    if dtype.is_integer() or dtype.is_float():
        return number, ~number.is_between(LEAST_POSITIVE, MOST_POSITIVE)
    if dtype == pl.String:
        looks_right = column.str.contains(_DECIMAL) & number.is_between(LEAST_POSITIVE, MOST_POSITIVE)
        return number, ~(looks_right | (column == ""))
    return unreadable(column, pl.Float64())


def _class(column: pl.Expr, dtype: pl.DataType) -> Reading:
    if dtype != pl.String:
        return unreadable(column, pl.String())
    return pl.when(column != "").then(column), ~column.is_in([*CLASSES, ""])


def _flag(column: pl.Expr, dtype: pl.DataType) -> Reading:
    if dtype == pl.Boolean:
        return column, None
    if dtype.is_integer():
        return column == 1, ~column.is_in([0, 1])
    if dtype == pl.String:
        flag = (
            pl.when(column.is_in(_TRUE)).then(statement=True).when(column.is_in(_FALSE)).then(statement=False)
        )
        return flag, ~column.is_in([*_TRUE, *_FALSE, ""])
    return unreadable(column, pl.Boolean())


def _doubtful_url(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    if dtype != pl.String:
        return pl.lit(value=True)
    return ~column.str.contains(_URL).fill_null(value=False)


_READERS = {
    "visits": _whole,
    "last_visited": read_times,
    "last_changed": read_times,
    "topic_relevance": _share,
    "hub_depth": _whole,
    "is_hub": _flag,
    "rate_a": _positive,
    "rate_b": _positive,
    "page_class": _class,
    "importance": _positive,
}
