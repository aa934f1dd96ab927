"""`load_profile`: the one way to a profile."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from honeyguide.config.files import bundled_profiles, read_chain, read_merged

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from honeyguide.core.rules.profile import Profile


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

    file = str(source)
    given = {**_given("pattern", topic), **_given("related", related)}
    if not is_ours or not _is_plain(topic, related):
        return _load_checked(source, given)
    from honeyguide.config.shapes import ProfileShape

    raw = read_merged(source)
    own = ProfileShape.read(raw)
    return build(ProfileShape.read(_with_topic(raw, given)), file, own) if given else build(own, file)


def _load_checked(source: str | Path, given: dict[str, Any]) -> Profile:
    """Load what may be wrong; it is checked by a library that costs a tenth of a second."""
    from honeyguide.config.build import build
    from honeyguide.config.check import check_shape

    file = str(source)
    raw, broken = read_chain(source)
    own = check_shape(raw, file, broken)
    if not given:
        return build(own.shape, file, said=own)
    whole = check_shape(_with_topic(raw, given), file, broken)
    problems = tuple(dict.fromkeys([*own.problems, *whole.problems]))
    return build(whole.shape, file, own.shape, replace(whole, problems=problems))


def _with_topic(raw: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Replace what a table says of the topic; if that is no table, it was told."""
    own = raw.get("topic", {})
    return {**raw, "topic": {**(own if isinstance(own, dict) else {}), **given}}


def _is_plain(topic: str | None, related: tuple[str, ...] | None) -> bool:
    """Tell whether nothing can be wrong with what was given: texts, of words none too long and none with half letters."""
    from honeyguide.config.shapes import WORD_CHARS

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
