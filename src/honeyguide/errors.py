"""The whole error tree, on one screen.

Owns: every exception that Honeyguide raises on purpose. Each one is a sentence for a person: what is wrong, where,
and what to do. Expected results are values, not errors: a skipped link is a `Verdict`, a 404 a status.
Must not know: anything else of the package.
"""

from __future__ import annotations

from typing import NamedTuple


class HoneyguideError(Exception):
    """Anything that Honeyguide raises on purpose: one line, or several, and nothing but text in them."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(map(_visible, lines)))


class UrlError(HoneyguideError, ValueError):
    """A text that is not an http(s) URL."""

    def __init__(self, text: str, why: str) -> None:
        self.text = text
        self.why = why
        super().__init__(f"not an http(s) URL: {shown(text)}: {why}")


class Problem(NamedTuple):
    """One mistake in a file: where it is and what would be allowed there."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


class ConfigError(HoneyguideError, ValueError):
    """A profile or configuration that cannot be used, with all its mistakes at once."""

    def __init__(self, file: str, problems: tuple[Problem, ...]) -> None:
        self.file = file
        self.problems = problems
        super().__init__(*(f"{file}: {problem}" for problem in problems))


class PatternError(ConfigError):
    """A topic pattern that is refused: where in the pattern, why, and what to write instead."""

    def __init__(self, pattern: str, why: str, *, position: int | None = None, hint: str = "") -> None:
        self.pattern = pattern
        self.why = why
        self.position = position
        self.hint = hint
        at = "" if position is None else f" at character {position + 1}"
        advice = f"; {hint}" if hint else ""
        super().__init__(f"pattern {shown(pattern)}", (Problem("", f"{why}{at}{advice}"),))


class InputError(HoneyguideError, ValueError):
    """A row or file of the user's that cannot be read: names the file, the row and the field."""

    def __init__(self, what: str, *, file: str = "", row: int | None = None, field: str = "") -> None:
        self.what = what
        self.file = file
        self.row = row
        self.field = field
        where = ", ".join(
            part
            for part in (file, f"row {row}" if row is not None else "", f"field {field}" if field else "")
            if part
        )
        super().__init__(f"{where}: {what}" if where else what)


class FetchError(HoneyguideError):
    """A page that could not be had. `rule` is what stores and records call it."""

    rule = "fetch-error"
    retryable = False

    def __init__(self, url: str, why: str, *, retry_after_s: float | None = None) -> None:
        self.url = url
        self.why = why
        self.retry_after_s = retry_after_s
        super().__init__(f"{shown(url)}: {why}")


class UnreachableError(FetchError):
    """No connection: refused, reset, TLS."""

    rule = "unreachable"
    retryable = True


class NameNotFoundError(UnreachableError):
    """The host name does not resolve."""

    rule = "name-not-found"
    retryable = False


class AskedToWaitError(UnreachableError):
    """Not asked at all: its host wants a pause that is longer than we wait."""

    rule = "asked-to-wait"


class TimedOutError(FetchError):
    """Too slow: connecting, between bytes, or as a whole."""

    rule = "timed-out"
    retryable = True


class TooLargeError(FetchError):
    """More bytes than allowed, before or after decompression."""

    rule = "too-large"


class NotTextError(FetchError):
    """A body that is not a page: wrong type, or undecodable compression."""

    rule = "not-text"


class ForbiddenError(FetchError):
    """Ruled out before a packet was sent, by robots.txt."""

    rule = "forbidden"


class AddressRefusedError(ForbiddenError):
    """Ruled out before a packet was sent: a private, loopback or metadata address."""

    rule = "address-refused"


_FETCH_ERRORS = (
    FetchError,
    UnreachableError,
    NameNotFoundError,
    AskedToWaitError,
    TimedOutError,
    TooLargeError,
    NotTextError,
    ForbiddenError,
    AddressRefusedError,
)
_SPELT_BEFORE = {kind.rule.replace("-", ""): kind.rule for kind in _FETCH_ERRORS}


def rule_now(stored: str) -> str:
    """Give the rule that a store or record names; older versions wrote those of fetch errors without hyphens.

    >>> rule_now("addressrefused"), rule_now("other-site")
    ('address-refused', 'other-site')
    """
    return _SPELT_BEFORE.get(stored, stored)


def spellings(rule: str) -> tuple[str, str]:
    """Give the two ways in which a rule may stand in a store.

    >>> spellings("address-refused"), spellings("other-site")
    (('address-refused', 'addressrefused'), ('other-site', 'other-site'))
    """
    before = rule.replace("-", "")
    return rule, before if _SPELT_BEFORE.get(before) == rule else rule


class StoreError(HoneyguideError):
    """A store that cannot be used: which file, why, and what to do."""

    def __init__(self, file: str, why: str) -> None:
        self.file = file
        self.why = why
        super().__init__(f"{file}: {why}")


class SchemaMismatchError(StoreError):
    """A store of another program, or of a newer version of this one."""


class StoreBusyError(StoreError):
    """Another process has been writing for too long."""


class LeaseLostError(StoreError):
    """A page was given to another process in the meantime; what we know of it no longer counts."""


def _visible(line: str) -> str:
    """Escape what would end a line, steer a terminal or hide: names of files and words of servers come from anywhere."""
    if line.isprintable():
        return line
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)


def shown(text: str, limit: int = 80) -> str:
    r"""Quote hostile text for a message: printable, and never longer than `limit`.

    >>> shown("a\x00b")
    "'a\\x00b'"
    """
    quoted = ascii(text[: limit + 1])
    return quoted if len(text) <= limit else f"{text[:limit]!a}… ({len(text)} characters)"
