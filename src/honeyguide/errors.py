"""Every exception that Honeyguide raises on purpose; its message says what is wrong, where, and what to do.

Also `check_least`, because classes of all layers have numbers. Must not know: the rest of the package. Expected results are values,
not errors: a skipped link is a `Verdict`.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

LARGEST = 2**53  # of whole numbers that are given: what databases and floats hold


class HoneyguideError(Exception):
    """Any error that Honeyguide raises on purpose; its message is printable."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(map(_visible, lines)))


class UrlError(HoneyguideError, ValueError):
    """A text that is not an http(s) URL."""

    def __init__(self, text: str, why: str) -> None:
        self.text = text
        self.why = why
        super().__init__(f"not an http(s) URL: {shown(text)}: {why}")


class Problem(NamedTuple):
    """One mistake in a file: its place, and what is wrong or would be allowed there."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


class ConfigError(HoneyguideError, ValueError):
    """A profile that cannot be used, with all its mistakes of one kind."""

    def __init__(self, file: str, problems: tuple[Problem, ...]) -> None:
        self.file = file
        self.problems = problems
        super().__init__(*(f"{file}: {problem}" for problem in problems))


class PatternError(ConfigError):
    """A topic pattern that is refused: position, reason, and what to write instead."""

    def __init__(self, pattern: str, why: str, *, position: int | None = None, hint: str = "") -> None:
        self.pattern = pattern
        self.why = why
        self.position = position
        self.hint = hint
        at = "" if position is None else f" at character {position + 1}"
        advice = f"; {hint}" if hint else ""
        super().__init__(f"pattern {shown(pattern)}", (Problem("", f"{why}{at}{advice}"),))


class InputError(HoneyguideError, ValueError):
    """An argument, row or file that is wrong; the message names it."""

    def __init__(self, what: str, *, file: str = "", row: int | None = None, field: str = "") -> None:
        self.what = what
        self.file = file
        self.row = row
        self.field = field
        places = file, "" if row is None else f"row {row}", f"field {field}" if field else ""
        where = ", ".join(filter(None, places))
        super().__init__(f"{where}: {what}" if where else what)


class FetchError(HoneyguideError):
    """A page that could not be fetched; `rule` is its name in records, `tries` counts failed requests."""

    rule = "fetch-error"
    retryable = False
    tries = 1

    def __init_subclass__(cls, rule: str, *, retryable: bool = False) -> None:
        cls.rule = rule
        cls.retryable = retryable

    def __init__(self, url: str, why: str, *, retry_after_s: float | None = None) -> None:
        self.url = url
        self.why = why
        self.retry_after_s = retry_after_s
        super().__init__(f"{shown(url)}: {why}")


class UnreachableError(FetchError, rule="unreachable", retryable=True):
    """No connection: refused, reset, TLS."""


class NameNotFoundError(UnreachableError, rule="name-not-found"):
    """The host name does not resolve."""


class AskedToWaitError(UnreachableError, rule="asked-to-wait", retryable=True):
    """Not requested, because its host demands a longer pause than we wait."""


class TimedOutError(FetchError, rule="timed-out", retryable=True):
    """Too slow: in connecting, between bytes, or in all."""


class TooLargeError(FetchError, rule="too-large"):
    """More bytes than allowed, before or after decompression."""


class NotTextError(FetchError, rule="not-text"):
    """A body that is not a page: another type, or an unknown compression."""


class ForbiddenError(FetchError, rule="forbidden"):
    """Not requested, because robots.txt forbids it."""


class AddressRefusedError(ForbiddenError, rule="address-refused"):
    """Not requested, because its address is private, loopback or of a metadata service."""


class DeclinedError(ForbiddenError, rule="declined"):
    """Not requested, because the program that fetches pages declined it."""


class NotKeptError(FetchError, rule="not-kept"):
    """Not requested, because a replay makes no request."""


class StoreError(HoneyguideError):
    """A store that cannot be used; the message says why, and what to do."""

    def __init__(self, file: str, why: str) -> None:
        self.file = file
        self.why = why
        super().__init__(f"{file}: {why}")


class SchemaMismatchError(StoreError):
    """A store of another program, or of a newer version of this one."""


class StoreBusyError(StoreError):
    """Another process has been writing to the store for too long."""


def _visible(line: str) -> str:
    """Escape characters that end a line, steer a terminal or hide: names of files and texts of servers are not ours."""
    if line.isprintable():
        return line
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)


def check_least(field: str, value: float | None, least: float) -> None:
    """Reject a number below `least`, one that is infinite, and one that is none (NaN); None is no limit.

    >>> check_least("cap", 4, 1)
    >>> check_least("cap", 0, 1)
    Traceback (most recent call last):
    honeyguide.errors.InputError: field cap: must be 1 or more, not 0
    """
    if isinstance(value, int) and abs(value) > LARGEST:
        raise InputError(f"must be {least:g} or more, and at most {LARGEST:,}", field=field)
    if isinstance(value, (int, float)) and not least <= value < inf:  # another type is said elsewhere
        raise InputError(f"must be {least:g} or more, not {value:g}", field=field)


def shown(text: str, limit: int = 80) -> str:
    r"""Quote text from strangers for a message: printable, and cut to `limit` characters.

    >>> shown("a\x00b")
    "'a\\x00b'"
    """
    quoted = ascii(text[: limit + 1])
    return quoted if len(text) <= limit else f"{text[:limit]!a}… ({len(text)} characters)"
