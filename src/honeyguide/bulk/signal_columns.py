"""Columns of signals, read as facts: the forms of times, numbers and flags that columns read exactly as rows do.

Owns: which forms these are, in polars. Must not know: files, scores. Start reading at `fact_columns`. Every other form is
in doubt, and read row by row (adapters/files/signals.py). Texts of times are read in steps, `with_moments`, each a column of its
own: written into one expression, the same text would be taken apart again and again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from datetime import UTC, datetime, timedelta
from functools import partial, reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from honeyguide.adapters.files.signals import (
    DAYS_BELOW,
    DAYS_FROM,
    EPOCHS_BELOW,
    LEAST_POSITIVE,
    MILLISECONDS_FROM,
    MOST_POSITIVE,
    field_name,
)
from honeyguide.core.recrawl.plan import NAMES
from honeyguide.core.recrawl.priors import CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Reading = tuple[pl.Expr, pl.Expr | None]

_DAY_US = 86_400_000_000
# Up to here (2096) a double holds milliseconds as seconds well enough for microseconds to come out exact.
_SURE_EPOCH = 4 * 10**12
_DATE = r"(?:19[7-9][0-9]|[2-9][0-9]{3})-[0-9]{2}-[0-9]{2}"
_ISO = (
    rf"^{_DATE}(?:[T ][0-9]{{2}}:[0-9]{{2}}:[0-5][0-9](?:\.[0-9]{{1,9}})?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])?)?$"
)

_UTC = rf"^{_DATE}[T ][0-9]{{2}}:[0-9]{{2}}:[0-5][0-9](?:\.[0-9]{{6}})?(?:Z|\+00:?00)$"
_WHOLE, _DECIMAL_TIME = r"^[0-9]{1,13}$", r"^[0-9]{1,12}\.[0-9]{1,20}$"


def read_times(column: pl.Expr, dtype: pl.DataType) -> Reading:
    """Read times as microseconds since 1970; their range is checked later."""
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        return column.dt.epoch("us"), None
    if dtype == pl.Date:
        return column.cast(pl.Int32).cast(pl.Int64) * _DAY_US, None
    if dtype.is_integer():
        return _from_whole(column.cast(pl.Int64, strict=False)), ~column.is_between(0, _SURE_EPOCH)
    if dtype.is_float():
        return _from_float(column), ~column.is_between(0, EPOCHS_BELOW, closed="left")
    return unreadable(column, pl.Int64())


def unreadable(column: pl.Expr, kind: pl.DataType) -> Reading:
    """Leave a column of an unexpected type to be read row by row, unless all of it is null."""
    return pl.lit(None, dtype=kind), column.is_not_null()


def _from_whole(number: pl.Expr) -> pl.Expr:
    """Read an epoch time: large numbers are milliseconds."""
    return pl.when(number >= MILLISECONDS_FROM).then(number * 1_000).otherwise(number * 1_000_000)


def _from_float(column: pl.Expr) -> pl.Expr:
    """Read an epoch time as `datetime.fromtimestamp` does: the fraction apart, and half a microsecond to the even one."""
    # A column is divided by a column: by a single number, polars multiplies by its reciprocal, which is not the same.
    number = column.cast(pl.Float64)
    seconds = pl.when(number >= MILLISECONDS_FROM).then(number / (number * 0.0 + 1000.0)).otherwise(number)
    whole = seconds.floor()
    fraction = ((seconds - whole) * 1e6).round(mode="half_to_even")
    return whole.cast(pl.Int64, strict=False) * 1_000_000 + fraction.cast(pl.Int64, strict=False)


def with_moments(frame: pl.LazyFrame, names: Iterable[str]) -> pl.LazyFrame:
    """Read columns of texts, each as two more: microseconds since 1970, and where that is in doubt (`moment_of`)."""
    for name in names:
        column = pl.col(name)
        whole, decimal, iso, zone = (f"{step} of {name}" for step in ("whole", "decimal", "iso", "zone"))
        frame = frame.with_columns(
            pl.when(column.str.contains(_WHOLE)).then(column).cast(pl.Int64, strict=False).alias(whole),
            pl.when(column.str.contains(_DECIMAL_TIME))
            .then(column)
            .cast(pl.Float64, strict=False)
            .alias(decimal),
            pl.when(column.str.contains(_ISO)).then(column).alias(iso),
        )
        frame = frame.with_columns(_zone(pl.col(iso)).alias(zone))
        moment, doubt = moment_of(name)
        number, written = pl.col(whole), _from_iso(pl.col(iso), pl.col(zone))
        read = pl.coalesce(_from_whole(number), written, _from_float(pl.col(decimal)))
        is_sure = moment.is_not_null() & (number <= _SURE_EPOCH).fill_null(value=True)
        frame = frame.with_columns(read.alias(moment.meta.output_name()))
        bare = (pl.col(zone) == "").alias(zoneless_of(name).meta.output_name())
        frame = frame.with_columns(((column != "") & ~is_sure).alias(doubt.meta.output_name()), bare)
    return frame


def with_utc_times(frame: pl.DataFrame) -> pl.DataFrame:
    """Read columns of texts as times where all of a column are in UTC and of one form: as usual, and many times faster."""
    named = columns_of(frame.schema)
    for column in (named[name] for name in TIMES if name in named and frame.schema[named[name]] == pl.String):
        first = frame[column].drop_nulls().head(1).to_list()
        if not first or not frame[column].str.contains(_UTC).all():
            continue
        text, fraction = first[0], ".%6f" if "." in first[0] else ""
        form = f"%Y-%m-%d{text[10]}%H:%M:%S{fraction}{text[26 if fraction else 19 :]}"
        read = _read_as(pl.col(column), form).cast(pl.Datetime("us", "UTC"))
        moments = frame.select(read).to_series()
        if (
            moments.null_count() == frame[column].null_count()
        ):  # else one of them is no date, or of another form
            frame = frame.with_columns(moments)
    return frame


def moment_of(name: str) -> tuple[pl.Expr, pl.Expr]:
    """Return the columns that a column of texts was read into."""
    return pl.col(f"moment of {name}"), pl.col(f"doubt of {name}")


def zoneless_of(name: str) -> pl.Expr:
    """Return the column that says where a text names no zone."""
    return pl.col(f"zoneless of {name}")


def _zone(iso: pl.Expr) -> pl.Expr:
    """Cut off the offset of a time, +01:00 or +0100; null for UTC and dates, empty where there is none."""
    utc = [iso.str.ends_with(end) for end in ("Z", "+0000", "+00:00")]
    other = pl.when((iso.str.len_bytes() > 10) & ~reduce(or_, utc)).then(iso)
    long, short = other.str.tail(6), other.str.tail(5)
    zone = pl.when(_is_signed(long)).then(long).when(_is_signed(short)).then(short)
    return pl.coalesce(zone, other.str.slice(0, 0))


def _is_signed(text: pl.Expr) -> pl.Expr:
    return text.str.starts_with("+") | text.str.starts_with("-")


def _from_iso(iso: pl.Expr, zone: pl.Expr) -> pl.Expr:
    """Read a date, with or without a time and its offset; anything else is null."""
    clock = pl.when(iso.str.len_bytes() > 10).then(iso)
    seconds = clock.str.slice(0, 19)
    written = _read_as(seconds, "%Y-%m-%dT%H:%M:%S")
    spaced = _read_as(pl.when(written.is_null()).then(seconds), "%Y-%m-%d %H:%M:%S")
    moment = pl.coalesce(written, spaced) + _fraction(clock) - _offset(zone) * 60_000_000
    return pl.coalesce(moment, _read_as(pl.when(clock.is_null()).then(iso), "%Y-%m-%d"))


def _read_as(text: pl.Expr, form: str) -> pl.Expr:
    if len(form) == 8:
        return text.str.to_date(form, strict=False, cache=False).cast(pl.Int32).cast(pl.Int64) * _DAY_US
    return text.str.to_datetime(form, time_unit="us", strict=False, cache=False).cast(pl.Int64)


def _fraction(clock: pl.Expr) -> pl.Expr:
    """Read the microseconds: six digits are cut out, and searched for only where there are fewer."""
    six = clock.str.slice(20, 6)
    whole = pl.when(six.str.len_bytes() == 6).then(six).cast(pl.Int64, strict=False)
    other = pl.when(whole.is_null() & (clock.str.slice(19, 1) == ".")).then(clock)
    padded = other.str.extract(r"\.([0-9]{1,6})").str.pad_end(6, "0").cast(pl.Int64, strict=False)
    return pl.coalesce(whole, padded).fill_null(0)


def _offset(zone: pl.Expr) -> pl.Expr:
    """Read an offset as minutes."""
    minutes = _digits(zone, 1) * 60 + zone.str.tail(2).cast(pl.Int64, strict=False)
    return pl.when(zone.str.starts_with("-")).then(-minutes).otherwise(minutes).fill_null(0)


def _digits(text: pl.Expr, start: int) -> pl.Expr:
    return text.str.slice(start, 2).cast(pl.Int64, strict=False)


TIMES = {"last_visited": "since_visit_s", "last_changed": "since_change_s"}  # and the facts made of them
_NUMBERS = {"topic_relevance": "relevance"}
_COUNTS = ("visits", "hub_depth")
DOUBT, FUTURE, HASH = "in doubt", "in the future", "hash of the url"
ZONELESS = "without a zone"
_MOMENT = "moment of "  # before the name of a fact
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_US = (datetime(9999, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1) - 1
_EXACT = 2**53
_TRUE, _FALSE = ("true", "True", "TRUE", "1", "yes"), ("false", "False", "FALSE", "0", "no")
_DECIMAL = r"^[0-9]{1,9}(?:\.[0-9]{1,20})?$"
_SHARE = r"^(?:[01]|[01]?\.[0-9]{1,30})$"
# URLs that need no look: host names of plain labels, paths of plain characters.
_URL = r"^https?://(?:[a-z0-9](?:-?[a-z0-9]){0,20}\.){1,4}[a-z]{2,20}(?:/[A-Za-z0-9/_~.?=&-]{0,500})?$"


def columns_of(schema: Mapping[str, pl.DataType]) -> dict[str, str]:
    """Map each signal to its column in the file."""
    found = {field_name(column): column for column in schema}
    return {name: found[name] for name in NAMES if name in found}


def fact_columns(
    frame: pl.LazyFrame, now: datetime, *, with_url: bool, also: Sequence[pl.Expr] = ()
) -> pl.LazyFrame:
    """Read signals as facts at `now`, and mark rows that are in doubt or in the future; `also` adds columns."""
    schema = frame.collect_schema()
    named = columns_of(schema)
    texts = [named[name] for name in TIMES if name in named and schema[named[name]] == pl.String]
    return with_moments(frame, texts).select(*_facts(schema, named, now, with_url=with_url), *also)


def value_columns(frame: pl.LazyFrame, flag: str) -> pl.LazyFrame:
    """Read signals as values in the order of `NAMES`, times as microseconds since 1970, and mark rows that are in doubt.

    `flag` is one more column, of yes and no. What the file does not have is null.
    """
    schema = frame.collect_schema()
    named = columns_of(schema)
    texts = [named[name] for name in TIMES if name in named and schema[named[name]] == pl.String]
    read = _read(schema, named, with_url=True)
    doubts = [*read.doubts]
    values = [pl.col(named["url"]).cast(pl.String, strict=False).alias("url")]
    for name in NAMES[1:]:
        value = read.values.get(name, pl.lit(None))
        if name in _COUNTS:
            doubts.append(value > _EXACT)
            value = value.cast(pl.Int64, strict=False)
        values.append(value.alias(name))
    value, doubt = _flag(pl.col(flag), schema[flag]) if flag in schema else (pl.lit(None), None)
    doubts += [] if doubt is None else [doubt]
    doubtful = _any(doubts).fill_null(value=False).alias(DOUBT)
    return with_moments(frame, texts).select(
        *values, value.alias(flag), doubtful, _any(read.bare).fill_null(value=False).alias(ZONELESS)
    )


class _Read(NamedTuple):
    """Signals by name, where rows are in doubt, and where times have no zone."""

    values: dict[str, pl.Expr]
    doubts: list[pl.Expr]
    bare: list[pl.Expr]


def _read(schema: Mapping[str, pl.DataType], named: Mapping[str, str], *, with_url: bool) -> _Read:
    values: dict[str, pl.Expr] = {}
    doubts: list[pl.Expr] = []
    bare: list[pl.Expr] = []
    for name, column in named.items():
        if name == "url":
            continue
        is_written = name in TIMES and schema[column] == pl.String
        value, doubt = moment_of(column) if is_written else _READERS[name](pl.col(column), schema[column])
        bare += [zoneless_of(column)] if is_written else []
        values[name] = value
        doubts += [_beyond(value), _may_be_days(value)] if name in TIMES else []
        doubts += [] if doubt is None else [doubt]
    rates = [values[name] for name in ("rate_a", "rate_b") if name in values]
    if len(rates) == 2:  # where one of the two numbers is missing
        doubts.append(rates[0].is_null() != rates[1].is_null())
    else:
        doubts += [rate.is_not_null() for rate in rates]
    if with_url:
        url, is_text = pl.col(named["url"]), schema[named["url"]] == pl.String
        doubts.append(~url.str.contains(_URL).fill_null(value=False) if is_text else pl.lit(value=True))
    if DOUBT in schema:  # from reading the file
        doubts.append(pl.col(DOUBT))
    return _Read(values, doubts, bare)


def _beyond(moment: pl.Expr) -> pl.Expr:
    """Tell which moments are before 1970 or after the latest one, by one comparison: a negative number is a large one without its sign."""
    return moment.reinterpret(signed=False) > _LATEST_US


def _may_be_days(moment: pl.Expr) -> pl.Expr:
    """Tell which moments may be days of a spreadsheet, read as seconds."""
    return moment.is_between(DAYS_FROM * 1_000_000, DAYS_BELOW * 1_000_000, closed="left")


def _facts(
    schema: Mapping[str, pl.DataType], named: Mapping[str, str], now: datetime, *, with_url: bool
) -> list[pl.Expr]:
    now_us = _micros(now)
    read = _read(schema, named, with_url=with_url)
    facts: list[pl.Expr] = []
    doubts, future = [*read.doubts], list[pl.Expr]()
    for name, value in read.values.items():
        if name in TIMES:
            future.append(value > now_us)
            # Times so long ago that a double does not hold the microseconds since then are in doubt, too.
            doubts += [value < now_us - _EXACT] if now_us > _EXACT else []
        fact = _since(value, now_us) if name in TIMES else value
        facts.append(fact.alias(TIMES.get(name) or _NUMBERS.get(name, name)))
        facts += [value.alias(_MOMENT + TIMES[name])] if name in TIMES else []
    if with_url:
        facts.append(hashed(pl.col(named["url"])).alias(HASH))
    if not facts:  # of constants alone, there would be one row
        doubts.append(pl.col(named["url"]).is_null())
    return [*facts, _any(doubts).alias(DOUBT), _any(future).alias(FUTURE), _any(read.bare).alias(ZONELESS)]


def _micros(now: datetime) -> int:
    return (now - _EPOCH) // timedelta(microseconds=1)


def hashes_of(urls: list[str]) -> pl.Series:
    """Hash URLs as the column is hashed."""
    return pl.select(hashed(pl.lit(pl.Series(urls, dtype=pl.String)))).to_series()


def hashed(url: pl.Expr) -> pl.Expr:
    """Hash each URL to 64 bits, by which rows are compared."""
    return url.hash(seed=1)


def _any(tests: list[pl.Expr]) -> pl.Expr:
    """Write where any test is true; elsewhere it is false or null."""
    return reduce(or_, tests) if tests else pl.lit(value=False)


def _since(moment_us: pl.Expr, now_us: int) -> pl.Expr:
    """Write the seconds since a moment, 0 for the future."""
    # Twice the time is divided by twice a million, because x + |x| is 0 for the future, and faster than a choice; and by a
    # column, as in `_from_float`.
    passed = now_us - moment_us
    twice = (passed + passed.abs()).cast(pl.Float64)
    return twice / (twice * 0.0 + 2e6)


def since_bounds(now: datetime) -> dict[str, Callable[[float, bool], pl.Expr]]:
    """Compare the seconds since a moment with bounds by the moment itself, which makes no seconds: for `score_columns`."""
    return {fact: partial(_since_bound, _MOMENT + fact, _micros(now)) for fact in TIMES.values()}


def _since_bound(moment: str, now_us: int, bound: float, is_below: bool) -> pl.Expr:
    find = bisect_left if is_below else bisect_right
    # The first time, in microseconds, that is not below the bound, or that is above it.
    passed = find(range(_EXACT + 1), bound, key=lambda micros: micros / 1_000_000)
    # No time is less than 0 seconds ago, and one in the future is 0 seconds ago: for a bound below that, all moments are alike.
    last = now_us - passed if passed else _LATEST_US
    return pl.col(moment) > last if is_below else pl.col(moment) <= last


def _whole(column: pl.Expr, dtype: pl.DataType) -> Reading:
    number = column.cast(pl.Float64, strict=False)
    if dtype.is_integer():
        return number, None if dtype.is_unsigned_integer() else column < 0
    if dtype.is_float():
        return number, ~column.is_between(0, 1e15) | (column != column.floor())
    if dtype == pl.String:
        return number, ~(column.str.contains(r"^[0-9]{1,15}$") | (column == ""))
    return unreadable(column, pl.Float64())


def _bounded(column: pl.Expr, dtype: pl.DataType, low: float, high: float, form: str) -> Reading:
    """Read numbers between two bounds; texts must have this form."""
    number = column.cast(pl.Float64, strict=False)
    if dtype.is_integer() or dtype.is_float():
        return number, ~number.is_between(low, high)
    if dtype == pl.String:
        looks_right = column.str.contains(form) & number.is_between(low, high)
        return number, ~(looks_right | (column == ""))
    return unreadable(column, pl.Float64())


_share = partial(_bounded, low=0.0, high=1.0, form=_SHARE)
_positive = partial(_bounded, low=LEAST_POSITIVE, high=MOST_POSITIVE, form=_DECIMAL)


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


# Columns of text that may be read as numbers at once, by both names of each.
NUMBER_TYPES: Mapping[str, pl.DataType] = {
    name: kind
    for kind, names in (
        (pl.Int64(), ("visits", "hub_depth", "hubDepth")),
        (
            pl.Float64(),
            ("topic_relevance", "topicRelevance", "rate_a", "rateA", "rate_b", "rateB", "importance"),
        ),
    )
    for name in names
}

_READERS: Mapping[str, Callable[[pl.Expr, pl.DataType], Reading]] = {
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
