"""Times by columns are those that rows give, to the microsecond, or in doubt; forms that tools write are never in doubt."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from honeyguide.adapters.files.signals import read_time

pl = pytest.importorskip("polars")  # an extra
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST_US = 253_370_764_800_000_000  # what lies beyond is seen by whoever reads the column


def by_columns(values: list[Any], dtype: Any) -> list[tuple[int | None, bool]]:
    """What a column of values says, and where that is in doubt."""
    from honeyguide.bulk.signal_columns import moment_of, read_times, with_moments

    frame = with_moments(
        pl.DataFrame({"t": pl.Series(values, dtype=dtype)}).lazy(), ["t"] if dtype == pl.String else []
    )
    moment, doubt = moment_of("t") if dtype == pl.String else read_times(pl.col("t"), dtype)
    doubt = pl.lit(value=False) if doubt is None else doubt.fill_null(value=False)
    found = frame.select(moment.alias("us"), doubt.alias("doubt")).collect()
    return [
        (us, in_doubt or us is None or not 0 <= us < LATEST_US)
        for us, in_doubt in zip(found["us"], found["doubt"], strict=True)
    ]


def by_row(value: Any) -> int | None:
    """Microseconds since 1970, as a row is read; None if it is refused."""
    try:
        moment = read_time(value, zone=UTC)  # as tables are read
    except (ValueError, OverflowError):
        return None
    return None if moment is None else (moment - EPOCH) // timedelta(microseconds=1)


def agree(values: list[Any], dtype: Any) -> None:
    for value, (us, in_doubt) in zip(values, by_columns(values, dtype), strict=True):
        if not in_doubt:
            assert us == by_row(value), value


SECONDS = st.one_of(
    st.floats(0, 4e9),
    st.floats(-10, 3e14),
    st.builds(lambda whole, part: whole + part / 2e6, st.integers(0, 4 * 10**9), st.integers(0, 2 * 10**6)),
    st.builds(lambda whole, part: whole * 1000.0 + part / 7, st.integers(0, 9 * 10**9), st.integers(0, 7000)),
)


@settings(max_examples=300, deadline=None)
@given(values=st.lists(SECONDS, min_size=1, max_size=30))
@example(values=[1.5e-6, 0.5e-6, 2.5e-6, 1718006400.9999998, 0.9999999, 253_370_764_799.9999999])
@pytest.mark.slow
def test_numbers(values: list[float]) -> None:
    agree(values, pl.Float64)
    agree([pl.Series([value], dtype=pl.Float32)[0] for value in values], pl.Float32)
    agree([int(value) for value in values], pl.Int64)
    agree([repr(value) for value in values], pl.String)
    agree([f"{abs(value):.3f}" for value in values], pl.String)


def _number(low: int, high: int) -> st.SearchStrategy[str]:
    return st.integers(low, high).map("{:02}".format)


DATES = st.builds(
    "{}-{}-{}".format,
    st.sampled_from(["1969", "1970", "2023", "2024", "9998", "9999"]),
    _number(0, 13),
    _number(0, 32),
)
CLOCKS = st.builds("{}:{}:{}".format, _number(0, 25), _number(0, 61), _number(0, 61))
FRACTIONS = st.just("") | st.text("0123456789", max_size=12).map(".{}".format) | st.just(",5")
ZONES = st.one_of(
    st.sampled_from(
        ["", "Z", "z", "+00:00", "-00:00", "+0200", "+02", "+24:00", "-23:59", "+01:60", "+02:00:30", " Z"]
    ),
    st.builds("{}{}:{}".format, st.sampled_from("+-"), _number(0, 25), _number(0, 61)),
)
WRITTEN = st.one_of(
    DATES,
    st.builds(
        lambda *parts: "".join(parts),
        DATES,
        st.sampled_from(["T", " ", "t", "_", ""]),
        CLOCKS,
        FRACTIONS,
        ZONES,
    ),
    st.sampled_from(
        ["", " ", "2024-W24-1", "20240610", "2024-06", "now", "1e9", "١٧١٨٠٠٦٤٠٠", "2024-06-10\n"]
    ),
)


@settings(max_examples=500, deadline=None)
@given(values=st.lists(WRITTEN, min_size=1, max_size=30))
@pytest.mark.slow
def test_texts(values: list[str]) -> None:
    agree(values, pl.String)


MOMENTS = st.datetimes(datetime(1971, 1, 1), datetime(9990, 1, 1))  # noqa: DTZ001 - gets its zone below
OFFSETS = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@settings(max_examples=300, deadline=None)
@given(moment=MOMENTS, zone=OFFSETS)
@pytest.mark.slow
def test_forms_that_tools_write_are_read_by_columns(moment: datetime, zone: timezone) -> None:
    here, utc = moment.replace(tzinfo=zone), moment.replace(tzinfo=UTC)
    second = utc.replace(microsecond=0)
    texts = [
        here.isoformat(),
        here.isoformat(" "),
        utc.isoformat(),
        second.isoformat(" "),
        second.isoformat().replace("+00:00", "Z"),
        utc.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        utc.isoformat(timespec="microseconds").replace("+00:00", "000Z"),
        utc.date().isoformat(),
        f"{min(utc.timestamp(), 1e11 - 1):.6f}",
    ]
    found = by_columns(texts, pl.String)
    assert [us for us, _ in found] == [by_row(text) for text in texts]
    assert not any(in_doubt for _, in_doubt in found)
    ((us, in_doubt),) = by_columns([utc.timestamp()], pl.Float64)
    assert (us, in_doubt) == (by_row(utc.timestamp()), False)
