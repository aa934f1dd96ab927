"""TOML or JSON to profiles: `files` reads them, `extend` joins a profile with its parent, `shapes` has the allowed keys.

`shapes` also finds mistakes of structure, `conditions` reads `when`, `build` puts the profile together. Must not know: what the
rules mean (core does). Start reading at `load_profile`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from honeyguide.config.files import bundled_profiles, profile_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from honeyguide.config.shapes import ProfileShape
    from honeyguide.core.rules.profile import Profile

__all__ = ["bundled_profiles", "load_profile", "profile_source"]


def load_profile(
    source: str | Path | Mapping[str, Any] = "company",
    *,
    topic: str | None = None,
    related: str | Sequence[str] | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Profile:
    """Load a bundled profile by name, or one of your own: a path, TOML as text, or its tables as a mapping.

    `topic` and `related` replace those of the profile; `changes` are values by their place in it.

    >>> load_profile("company", changes={"strategy.portfolio.cap": 2}).strategies["portfolio"].cap
    2
    """
    terms = (related,) if isinstance(related, str) else related if related is None else tuple(related)
    if isinstance(source, str) and source in bundled_profiles() and not changes:
        return _load_bundled(source, topic, terms)  # these do not change while we run; a file may
    return _load(source, topic, terms, changes or {})


@lru_cache(maxsize=64)
def _load_bundled(name: str, topic: str | None, related: tuple[str, ...] | None) -> Profile:
    return _load(name, topic, related, {}, is_checked=_is_plain(topic, related))


def _load(
    source: str | Path | Mapping[str, Any],
    topic: str | None,
    related: tuple[str, ...] | None,
    changes: Mapping[str, Any],
    *,
    is_checked: bool = False,
) -> Profile:
    from honeyguide.config.build import build  # here, because not every command needs a profile
    from honeyguide.config.extend import read_profile

    profile = read_profile(source, changes)
    file, table = profile.name, profile.table
    own = _shape_of(table, file, is_checked=is_checked)
    terms = list(related) if isinstance(related, tuple) else related
    new = {key: value for key, value in (("pattern", topic), ("related", terms)) if value is not None}
    if not new:
        return build(own, file)
    table = {**table, "topic": {**table.get("topic", {}), **new}}
    return build(_shape_of(table, file, is_checked=is_checked), file, own)


def _shape_of(table: dict[str, Any], file: str, *, is_checked: bool) -> ProfileShape:
    from honeyguide.config.shapes import ProfileShape, check_shape

    if not is_checked:
        check_shape(table, file)  # imports pydantic, which takes a tenth of a second
    return ProfileShape.read(table)


def _is_plain(topic: str | None, related: tuple[str, ...] | None) -> bool:
    """Return whether a topic and related terms need no check: texts, none of them too long or with half letters."""
    from honeyguide.config.shapes import WORD_CHARS

    if not isinstance(topic, str | None) or not isinstance(related, tuple | None):
        return False
    words = related or ()
    return all(isinstance(w, str) and 0 < len(w) <= WORD_CHARS and w.isprintable() for w in words)
