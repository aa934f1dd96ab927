"""Signals of known URLs in rows of tables and in mappings: their columns, and how each value is read and checked.

Owns: the columns of a plan's input. Must not know: formats of files (`rows.py`), what signals are worth (`core.recrawl`).
Start reading at `read_signals`.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from datetime import UTC, date, datetime, tzinfo
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from honeyguide.core.recrawl.plan import UrlSignals
from honeyguide.core.recrawl.priors import CLASSES
from honeyguide.core.text.fold import HALF
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from honeyguide.core.recrawl.priors import PageClass

# The range of rates and importances: within it, the index of a page is neither 0 nor infinite.
LEAST_POSITIVE, MOST_POSITIVE = 1e-6, 1e9
# Epoch numbers from here on are milliseconds: as seconds they would lie beyond the year 5138. Greater ones are no time, beyond the year 9999.
MILLISECONDS_FROM, EPOCHS_BELOW = 10**11, 2.6e14
# Numbers that are no seconds since 1970 but days since 1900, as spreadsheets count them: those of the years 1927 to 2173.
DAYS_FROM, DAYS_BELOW = 10_000, 100_000
_DATE_CHARS = 10  # a longer text has a time
_COMMA = re.compile(r"[+-]?[0-9.]*,[0-9.,]*")
# What begins with a host that has a dot in its name; the group is its last part.
_HOST = re.compile(r"(?:[\w-]+\.)+([^\W\d_]{2,}|xn--[\w-]+)(?::[0-9]{1,5})?(?=[/?#]|$)")
_HOST_CHARS = 260  # of a host and its port
# Endings of files, which are relative addresses.
_FILES = frozenset(
    {"html", "htm", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "pdf", "xml", "txt", "json"}
)
_SHOWN_CHARS = 80  # as many as `shown` shows
_NO_COMMA = " without a comma; decimals have a point, as in 0.9"
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)
_AFTER_DAYS = datetime.fromtimestamp(DAYS_BELOW, UTC)
_CAMEL = {
    "lastVisited": "last_visited", "lastChanged": "last_changed", "topicRelevance": "topic_relevance",
    "hubDepth": "hub_depth", "isHub": "is_hub", "rateA": "rate_a", "rateB": "rate_b", "pageClass": "page_class",
}  # fmt: skip


def field_name(column: str) -> str:
    """Translate the seed's camelCase names."""
    return _CAMEL.get(column, column)


def read_signals(row: Mapping[str, Any], *, file: str = "", number: int | None = None) -> UrlSignals:
    """Check one row of a file or a mapping; the error names the row and the field."""
    columns = _columns(tuple(row))
    if "url" not in columns:
        raise InputError("is missing; every row needs one", file=file, row=number, field="url")
    values: dict[str, Any] = {}
    for name, column in columns.items():
        value = row[column]
        try:
            if name == "url" or not _is_empty(value):
                values[name] = _READERS[name](value)
        except (ValueError, OverflowError) as error:
            text = value.isoformat() if isinstance(value, date) else value
            text = shown(text if isinstance(text, str) else repr(text))
            raise InputError(f"{text} {error}", file=file, row=number, field=name) from None
    if ("rate_a" in values) != ("rate_b" in values):
        name = "rate_b" if "rate_a" in values else "rate_a"
        what = "is missing; a rate is two numbers, rate_a and rate_b"
        raise InputError(what, file=file, row=number, field=name)
    return UrlSignals(**values)


@lru_cache(100)  # all rows of a file have the same columns
def _columns(names: tuple[str, ...]) -> dict[str, str]:
    """Find the columns of fields, in the order in which they are read."""
    columns = {field_name(name): name for name in names if name is not None}
    return {name: columns[name] for name in _READERS if name in columns}


def zoneless_fields(row: Mapping[str, Any]) -> Iterator[str]:
    """Name the times of a row that have no zone, for a warning."""
    for key, value in row.items():
        if field_name(key) in ("last_visited", "last_changed") and not _is_empty(value):
            with suppress(ValueError, OverflowError):  # a time that is wrong is said elsewhere
                moment = value if isinstance(value, date) else _parse_time(value)
                if isinstance(moment, datetime) and moment.tzinfo is None:
                    yield field_name(key)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _url(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("should be an http(s) URL")
    if not value.isascii() and HALF.search(value):
        raise ValueError("has half a character in it, which no file can hold")
    try:
        Url.parse(value)
    except UrlError as error:
        raise ValueError(without_scheme(value) or f"is not an http(s) URL: {error.why}") from None
    return value


def without_scheme(text: str) -> str | None:
    """Say what an address lacks that begins with its host; None for a text that is something else.

    >>> without_scheme("www.a.example/x"), without_scheme("/x"), without_scheme("index.html")
    ('has no scheme; write https://www.a.example/x', None, None)
    """
    bare = text.strip().removeprefix("//")
    host = _HOST.match(bare[:_HOST_CHARS])
    if host is None or host[1].lower() in _FILES:
        return None
    try:
        Url.parse(f"https://{bare}")
    except UrlError:
        return None
    return f"has no scheme; write https://{bare if len(bare) <= _SHOWN_CHARS else ' in front'}"


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise ValueError("should be a number")  # noqa: TRY004 - one kind of error for all bad values
    try:
        number = float(value)
    except (TypeError, ValueError):
        has_comma = isinstance(value, str) and _COMMA.fullmatch(value.strip()) is not None
        raise ValueError(f"should be a number{_NO_COMMA if has_comma else ''}") from None
    if not math.isfinite(number):
        raise ValueError("should be a finite number")
    return number


def _whole(value: Any) -> int:
    number = _number(value)
    if number < 0 or number != int(number):
        raise ValueError("should be a whole number, 0 or more")
    return int(number)


def _bounded(value: Any, low: float, high: float) -> float:
    number = _number(value)
    if not low <= number <= high:
        raise ValueError(f"should lie between {low:g} and {high:g}")
    return number


def _class(value: Any) -> PageClass:
    for name in CLASSES:
        if value == name:
            return name
    raise ValueError(f"should be one of {', '.join(CLASSES)}")


_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def read_flag(value: Any) -> bool | None:
    """Read yes or no; None if there is no value."""
    return None if _is_empty(value) else _flag(value)


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    flag = _FLAGS.get(str(value).strip().lower())
    if flag is None:
        raise ValueError("should be true or false")
    return flag


def read_time(value: Any, *, zone: tzinfo | None = None) -> datetime | None:
    """Read ISO 8601, epoch seconds or milliseconds, or a date object; a date is its midnight in UTC.

    `zone` is that of times that name none; without it, they are wrong.
    """
    if _is_empty(value):
        return None
    moment = value if isinstance(value, date) else _parse_time(value)
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    if moment.tzinfo is None and zone is None:
        raise ValueError("has no time zone; write it like 2024-06-10T08:00:00Z")
    moment = (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    if not _EARLIEST <= moment < _LATEST:
        raise ValueError("should lie between the years 1970 and 9998")
    return moment


def _known_time(value: Any) -> datetime | None:
    """Read when a URL was visited or changed."""
    moment = read_time(value, zone=UTC)
    if moment is not None and moment < _AFTER_DAYS:
        number = _epoch_of(value)
        if number is not None and number >= DAYS_FROM:
            raise ValueError("is a day as spreadsheets count them; write it like 2024-06-10 08:00:00")
    return moment


def _epoch_of(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool | date) else float(value)
    except (TypeError, ValueError):
        return None


def _parse_time(value: Any) -> date:
    number = _epoch_of(value)
    if number is not None:
        if not 0 <= number < EPOCHS_BELOW:
            raise ValueError("should be an epoch time in seconds or milliseconds")
        return datetime.fromtimestamp(number / 1000 if number >= MILLISECONDS_FROM else number, UTC)
    text = str(value).strip()
    try:
        return (date if len(text) <= _DATE_CHARS else datetime).fromisoformat(text)
    except ValueError:
        raise ValueError("is not a time; write it like 2024-06-10T08:00:00Z") from None


_positive = partial(_bounded, low=LEAST_POSITIVE, high=MOST_POSITIVE)
_READERS: dict[str, Any] = {
    "url": _url,
    "visits": _whole,
    "last_visited": _known_time,
    "last_changed": _known_time,
    "topic_relevance": partial(_bounded, low=0.0, high=1.0),
    "hub_depth": _whole,
    "is_hub": _flag,
    "rate_a": _positive,
    "rate_b": _positive,
    "page_class": _class,
    "importance": _positive,
}
