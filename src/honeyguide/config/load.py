"""`load_profile`: the one way to a profile."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from honeyguide.config.files import bundled_profiles, read_merged

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from honeyguide.config.shape import ProfileShape
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
    return _load(name, topic, related, is_ours=True)


def _load(
    source: str | Path, topic: str | None, related: tuple[str, ...] | None, *, is_ours: bool = False
) -> Profile:
    from honeyguide.config.build import build  # here, since not every command has a profile

    raw, file = read_merged(source), str(source)
    own = _shape(raw, file, is_right=is_ours)
    if topic is None and related is None:
        return build(own, file)
    raw["topic"] = {**raw.get("topic", {}), **_given("pattern", topic), **_given("related", related)}
    return build(_shape(raw, file, is_right=is_ours and _is_plain(topic, related)), file, own)


def _shape(raw: dict[str, Any], file: str, *, is_right: bool) -> ProfileShape:
    """Read a table; what may be wrong is checked, by a library that costs a tenth of a second."""
    if is_right:
        from honeyguide.config.shape import ProfileShape

        return ProfileShape.read(raw)
    from honeyguide.config.check import check_shape

    return check_shape(raw, file)


def _is_plain(topic: str | None, related: tuple[str, ...] | None) -> bool:
    """Tell whether nothing can be wrong with what was given: texts, of words none too long and none with half letters."""
    from honeyguide.config.shape import WORD_CHARS

    return (
        isinstance(topic, str | None)
        and isinstance(related, tuple | None)
        and all(
            isinstance(word, str) and 0 < len(word) <= WORD_CHARS and word.isprintable()
            for word in related or ()
        )
    )


def _given(key: str, value: str | tuple[str, ...] | None) -> dict[str, str | list[str]]:
    if value is None:
        return {}
    return {key: value if isinstance(value, str) else list(value)}
