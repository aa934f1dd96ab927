"""`load_profile`: the one way to a profile."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from honeyguide.config.files import bundled_profiles, read_merged

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide.core.profile import Profile


def load_profile(
    source: str | Path = "company", *, topic: str | None = None, related: tuple[str, ...] | None = None
) -> Profile:
    """Load a bundled profile by name, or one of your own by path; `topic` and `related` replace what it says.

    >>> load_profile("fire-protection").name
    'fire-protection'
    """
    if source in bundled_profiles():  # these do not change while we run; a file may
        return _load_bundled(str(source), topic, related)
    return _load(source, topic, related)


@lru_cache(maxsize=64)
def _load_bundled(name: str, topic: str | None, related: tuple[str, ...] | None) -> Profile:
    return _load(name, topic, related)


def _load(source: str | Path, topic: str | None, related: tuple[str, ...] | None) -> Profile:
    from honeyguide.config.build import build  # pydantic costs a tenth of a second
    from honeyguide.config.shape import read_shape

    raw, file = read_merged(source), str(source)
    own = read_shape(raw, file)
    if topic is None and related is None:
        return build(own, file)
    raw["topic"] = {**raw.get("topic", {}), **_given("pattern", topic), **_given("related", related)}
    return build(read_shape(raw, file), file, own)


def _given(key: str, value: str | tuple[str, ...] | None) -> dict[str, str | list[str]]:
    if value is None:
        return {}
    return {key: value if isinstance(value, str) else list(value)}
