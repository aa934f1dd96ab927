"""TOML to profiles: finding, joining, checking, hashing.

Owns: where profiles come from and how their mistakes are reported. Must not know: what the rules mean (core does).
Start reading at `load_profile`. `files` reads TOML, `extend` joins a profile with its parent, `shapes` has the allowed
keys, `check` finds mistakes of structure, `conditions` reads `when`, `build` puts the profile together.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from honeyguide.config.files import bundled_profiles, profile_source

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from honeyguide.core.rules.profile import Profile

__all__ = ["bundled_profiles", "load_profile", "profile_source"]


def load_profile(
    source: str | Path = "company", *, topic: str | None = None, related: tuple[str, ...] | None = None
) -> Profile:
    """Load a bundled profile by name, or one of your own by path; `topic` and `related` replace what it says.

    >>> load_profile("fire-protection").name
    'fire-protection'
    """
    if source in bundled_profiles():  # these do not change while we run; a file may
        return _load_bundled(str(source), topic, related)
    return _load(source, topic, related, is_checked=False)


@lru_cache(maxsize=64)
def _load_bundled(name: str, topic: str | None, related: tuple[str, ...] | None) -> Profile:
    return _load(name, topic, related, is_checked=_is_plain(topic, related))


def _load(
    source: str | Path, topic: str | None, related: tuple[str, ...] | None, *, is_checked: bool
) -> Profile:
    from honeyguide.config.build import build  # here, because not every command needs a profile
    from honeyguide.config.extend import read_profile
    from honeyguide.config.shapes import ProfileShape

    file = str(source)
    own = read_profile(source).table
    given: dict[str, Any] = {} if topic is None else {"pattern": topic}
    if related is not None:
        given["related"] = list(related) if isinstance(related, tuple) else related
    if not is_checked:
        from honeyguide.config.check import check_shape  # imports pydantic, which takes a tenth of a second

        check_shape(own, file)
        check_shape(_with_topic(own, given), file)
    shape = ProfileShape.read(_with_topic(own, given))
    return build(shape, file, ProfileShape.read(own) if given else None)


def _with_topic(table: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    return {**table, "topic": {**table.get("topic", {}), **given}}


def _is_plain(topic: str | None, related: tuple[str, ...] | None) -> bool:
    """Return whether a topic and related terms need no check: texts, none of them too long or with half letters."""
    from honeyguide.config.shapes import WORD_CHARS

    return (
        isinstance(topic, str | None)
        and isinstance(related, tuple | None)
        and all(
            isinstance(word, str) and 0 < len(word) <= WORD_CHARS and word.isprintable()
            for word in related or ()
        )
    )
