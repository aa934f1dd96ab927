"""Columns of times: those that are read by columns exactly as `core.plan.read_time` reads each of them.

Owns: which forms of times that are, in polars. Must not know: files, what the times mean. Start reading at `read_times`.
Everything else is in doubt, and read row by row. Texts are read in steps, `with_moments`, each a column of its own: written
into one expression, the same text would be taken apart again and again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable

    # What a column says, and where that is in doubt; None is nowhere.
    Reading = tuple[pl.Expr, pl.Expr | None]

_DAY_US = 86_400_000_000
_MILLISECONDS_FROM = 10**11  # as in core.plan
_EPOCHS_BELOW = 2.6e14  # as in core.plan
# Up to here (2096) a double holds milliseconds as seconds well enough for microseconds to come out exact.
_SURE_EPOCH = 4 * 10**12
_DATE = r"(?:19[7-9][0-9]|[2-9][0-9]{3})-[0-9]{2}-[0-9]{2}"
_ISO = (
    rf"^{_DATE}(?:[T ][0-9]{{2}}:[0-9]{{2}}:[0-5][0-9](?:\.[0-9]{{1,9}})?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]))?$"
)
_WHOLE, _DECIMAL = r"^[0-9]{1,13}$", r"^[0-9]{1,12}\.[0-9]{1,20}$"


def read_times(column: pl.Expr, dtype: pl.DataType) -> Reading:
    """Read times as microseconds since 1970; whether they lie in range is seen later."""
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        return column.dt.epoch("us"), None
    if dtype == pl.Date:
        return column.cast(pl.Int32).cast(pl.Int64) * _DAY_US, None
    if dtype.is_integer():
        return _from_whole(column.cast(pl.Int64, strict=False)), ~column.is_between(0, _SURE_EPOCH)
    if dtype.is_float():
        return _from_float(column), ~column.is_between(0, _EPOCHS_BELOW, closed="left")
    return unreadable(column, pl.Int64())


def unreadable(column: pl.Expr, kind: pl.DataType) -> Reading:
    """Leave a column of an unexpected type to be read row by row; one of nothing but nulls is not known."""
    return pl.lit(None, dtype=kind), column.is_not_null()


def _from_whole(number: pl.Expr) -> pl.Expr:
    """Read an epoch time: large numbers are milliseconds."""
    return pl.when(number >= _MILLISECONDS_FROM).then(number * 1_000).otherwise(number * 1_000_000)


def _from_float(column: pl.Expr) -> pl.Expr:
    """Read an epoch time as `datetime.fromtimestamp` does: the fraction apart, and half a microsecond to the even one.

    A column is divided by a column: by a single number, polars multiplies by its reciprocal, which is not the same.
    """
    number = column.cast(pl.Float64)
    seconds = pl.when(number >= _MILLISECONDS_FROM).then(number / (number * 0.0 + 1000.0)).otherwise(number)
    whole = seconds.floor()
    fraction = ((seconds - whole) * 1e6).round(mode="half_to_even")
    return whole.cast(pl.Int64, strict=False) * 1_000_000 + fraction.cast(pl.Int64, strict=False)


def with_moments(frame: pl.LazyFrame, names: Iterable[str]) -> pl.LazyFrame:
    """Read columns of texts, each as two more: microseconds since 1970, and where that is in doubt (`moment_of`)."""
    for name in names:
        column = pl.col(name)
        whole, decimal, iso = (f"{step} of {name}" for step in ("whole", "decimal", "iso"))
        frame = frame.with_columns(
            pl.when(column.str.contains(_WHOLE)).then(column).cast(pl.Int64, strict=False).alias(whole),
            pl.when(column.str.contains(_DECIMAL)).then(column).cast(pl.Float64, strict=False).alias(decimal),
            pl.when(column.str.contains(_ISO)).then(column).alias(iso),
        )
        moment, doubt = moment_of(name)
        number, written = pl.col(whole), _from_iso(pl.col(iso))
        read = pl.coalesce(_from_whole(number), written, _from_float(pl.col(decimal)))
        is_sure = moment.is_not_null() & (number <= _SURE_EPOCH).fill_null(value=True)
        frame = frame.with_columns(read.alias(moment.meta.output_name()))
        frame = frame.with_columns(((column != "") & ~is_sure).alias(doubt.meta.output_name()))
    return frame


def moment_of(name: str) -> tuple[pl.Expr, pl.Expr]:
    """Name what a column of texts was read as."""
    return pl.col(f"moment of {name}"), pl.col(f"doubt of {name}")


def _from_iso(iso: pl.Expr) -> pl.Expr:
    """Read a date, with a time and its offset or without; what is no date, or no time of a day, is null."""
    day = iso.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32).cast(pl.Int64) * _DAY_US
    clock = pl.when(iso.str.len_bytes() > 10).then(iso)
    hours, minutes = _digits(clock, 11), _digits(clock, 14)
    seconds = (hours * 60 + minutes) * 60 + _digits(clock, 17)
    fraction = clock.str.extract(r"\.([0-9]{1,6})").str.pad_end(6, "0").cast(pl.Int64, strict=False)
    since_midnight = seconds * 1_000_000 + fraction.fill_null(0) - _offset(clock) * 60_000_000
    is_time = clock.is_null() | ((hours < 24) & (minutes < 60))
    return pl.when(is_time).then(day + since_midnight.fill_null(0))


def _offset(clock: pl.Expr) -> pl.Expr:
    """Read how many minutes a zone is ahead; none if it is Z."""
    zone = pl.when(~clock.str.ends_with("Z")).then(clock.str.tail(6))
    minutes = _digits(zone, 1) * 60 + _digits(zone, 4)
    return pl.when(zone.str.starts_with("-")).then(-minutes).otherwise(minutes).fill_null(0)


def _digits(text: pl.Expr, start: int) -> pl.Expr:
    return text.str.slice(start, 2).cast(pl.Int64, strict=False)
