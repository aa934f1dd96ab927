"""What users say, turned into types: URLs, profiles, patterns, times.

Owns: reading the arguments of library calls, and the sentence where they are wrong. Must not know: what is done with them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from honeyguide.config import load_profile
from honeyguide.core.page import Position
from honeyguide.core.pattern import compile_pattern
from honeyguide.core.plan import Signals, read_signals
from honeyguide.core.profile import Profile
from honeyguide.core.url import Url
from honeyguide.errors import ConfigError, InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from honeyguide.core.pattern import Pattern


def url_of(value: str | Url) -> Url:
    """Read a URL."""
    return value if isinstance(value, Url) else Url.parse(value)


def profile_of(value: Profile | str | Path) -> Profile:
    """Load a profile by its name or path."""
    return value if isinstance(value, Profile) else load_profile(value)


def pattern_of(source: str | None) -> Pattern | None:
    """Compile a pattern, if one is given."""
    return None if source is None else compile_pattern(source)


def check_strategy(profile: Profile, name: str) -> None:
    """Refuse a strategy that the profile does not have."""
    if name not in profile.strategies:
        raise ConfigError(
            profile.name,
            (Problem("strategy", f"has no {name!r}; it has {', '.join(profile.strategies) or 'none'}"),),
        )


def position_of(value: str) -> Position:
    """Read the position of a link on its page."""
    try:
        return Position(value)
    except ValueError:
        allowed = ", ".join(position.value for position in Position)
        raise InputError(f"no position is named {value!r}; there are {allowed}", field="position") from None


def signals_of(value: Mapping[str, Any] | Signals, number: int | None) -> Signals:
    """Read what is known of a URL; an error names the row by its number."""
    return value if isinstance(value, Signals) else read_signals(value, number=number)


def moment_of(now: datetime | None) -> datetime:
    """PLAN-4: the outermost call reads the clock, and only if it was not given the time."""
    if now is None:
        return datetime.now(UTC)
    if now.tzinfo is None:
        raise InputError("has no time zone; pass an aware datetime", field="now")
    return now.astimezone(UTC)
