"""Finding and reading profile files, and joining a profile with what it extends.

Owns: names, paths, TOML syntax, `extends`. Must not know: which keys exist.
"""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from honeyguide.core.text.printable import is_deeper
from honeyguide.errors import ConfigError, Problem, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_BUNDLED = Path(__file__).parents[1] / "profiles"
MAX_PROFILE_BYTES = 1 << 18  # seven times the largest shipped profile
MAX_EXTENDS = 8
MAX_DEPTH = 80  # of tables and lists; twenty nested conditions need no more
_TOO_DEEP = f"is nested too deeply; {MAX_DEPTH} tables and lists inside each other are enough"
_MAX_DOTS = (
    100  # in the keys of one line: reading a dotted key takes time that grows with the square of its parts
)
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'[^']*+'")
_REFERENCE = re.compile(r"\"\$([^\"]+)\"")


Raw = dict[str, Any]


@cache
def bundled_profiles() -> tuple[str, ...]:
    """Name the profiles that come with Honeyguide."""
    return tuple(sorted(file.stem for file in _BUNDLED.iterdir() if file.suffix == ".toml"))


def profile_source(source: str | Path) -> str:
    """Return the TOML text of a bundled profile or of a file."""
    return _text(source, str(source))


def read_merged(source: str | Path) -> Raw:
    """Read a profile and what it extends into one table; the profile's own keys win.

    Tables merge key by key; lists and scorecards replace what they extend as a whole.
    """
    merged, broken = read_chain(source)
    if broken is not None:
        raise broken
    return merged


def read_chain(source: str | Path) -> tuple[Raw, ConfigError | None]:
    """Read a profile and what it extends as far as that can be read, and say what is wrong with the next one.

    A profile that cannot be read itself is an error.
    """
    chain: dict[str, Raw] = {}
    current: str | Path | None = source
    broken: ConfigError | None = None
    try:
        while current is not None:
            name = str(current)
            chain[name] = raw = _parse(_next_text(current, str(source), [*chain, name]), name)
            current = _parent(raw, current, name)
    except ConfigError as error:
        if not chain:
            raise
        broken = error
    merged: Raw = {}
    for raw in reversed(chain.values()):
        merged = _merge(merged, raw)
    return merged, broken


def _next_text(source: str | Path, asked: str, story: list[str]) -> str:
    """Read the next file of a chain, unless it was read before or is one too many."""
    if story[-1] in story[:-1] or len(story) > MAX_EXTENDS:
        what = f"goes in a circle or too deep: {' -> '.join(story)}; end the chain"
        raise ConfigError(asked, (Problem("extends", what),))
    return _text(source, asked)


def unused_terms(source: str | Path) -> tuple[Problem, ...]:
    """Tell the terms of a profile's own file that nothing refers to: the slip of a name does nothing, in silence."""
    own = _parse(_text(source, str(source)), str(source)).get("terms")
    merged = json.dumps(read_merged(source), default=str, ensure_ascii=False)
    used = dict.fromkeys(_REFERENCE.findall(merged))
    return told(
        [
            Problem(f"terms.{name}", f"no rule uses it; {proposal(name, used, 'used are')}")
            for name in (own if isinstance(own, dict) else ())
            if name not in used
        ]
    )


def _parent(raw: Raw, child: str | Path, file: str) -> str | Path | None:
    parent = raw.get("extends")
    if parent is None:
        return None
    if not isinstance(parent, str):
        raise ConfigError(file, (Problem("extends", "should be the name of a profile or a path to one"),))
    if not _is_path(parent):
        return parent
    path = (
        Path(child).parent / parent if _is_path(str(child)) else Path(parent)
    )  # relative to the file that names it
    if _is_no_file(path):
        raise ConfigError(file, (Problem("extends", f"{shown(parent)} is not a file"),))
    return path


def _is_no_file(path: Path) -> bool:
    """Tell whether something is there that is no file; what is not there is complained about when it is opened."""
    try:
        return not S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def _is_path(source: str) -> bool:
    return source.endswith(".toml") or "/" in source or "\\" in source


def _text(source: str | Path, asked: str) -> str:
    if isinstance(source, str) and not _is_path(source):
        if source not in bundled_profiles():
            near = proposal(source, bundled_profiles(), "known are")
            path = "" if near.endswith("?") else ", or give a path to a .toml file"
            raise ConfigError(asked, (Problem("", f"no profile is named {shown(source)}; {near}{path}"),))
        return (_BUNDLED / f"{source}.toml").read_text("utf-8")
    if _is_no_file(Path(source)):  # a pipe would be waited for without end
        raise ConfigError(asked, (Problem("", f"cannot read {source}: it is not a file; check the path"),))
    try:
        with Path(source).open("rb") as file:
            data = file.read(MAX_PROFILE_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a usable path"
        raise ConfigError(asked, (Problem("", f"cannot read {source}: {why}; check the path"),)) from None
    if len(data) > MAX_PROFILE_BYTES:
        raise ConfigError(
            asked, (Problem("", f"larger than {MAX_PROFILE_BYTES} bytes; a profile is a page of rules"),)
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(
            asked, (Problem("", f"is not UTF-8 (byte {error.start}); save it as UTF-8"),)
        ) from None


def _parse(text: str, file: str) -> Raw:
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _MAX_DOTS and _QUOTED.sub("", line).partition("#")[0].count(".") > _MAX_DOTS:
            raise ConfigError(
                file, (Problem(f"line {number}", f"has more than {_MAX_DOTS} dots; nest less deeply"),)
            )
    try:
        raw = tomllib.loads(text)
    except ValueError as error:  # TOML's own errors are; numbers with thousands of digits raise a plain one
        why = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "a number is too long"
        raise ConfigError(file, (Problem("", f"is not TOML: {why}"),)) from None
    except RecursionError:
        raise ConfigError(file, (Problem("", _TOO_DEEP),)) from None
    if is_deeper(raw, MAX_DEPTH):
        raise ConfigError(file, (Problem("", _TOO_DEEP),))
    return raw


# Below these keys a profile replaces an entry as a whole: half of a scorecard is a mistake waiting to happen.
_WHOLE = {"scorecard", "strategy", "traversal", "terms"}


def is_joined(location: tuple[str | int, ...]) -> bool:
    """Tell whether a key may come from what a profile extends.

    >>> is_joined(("query", "text")), is_joined(("scorecard", "link", "group")), is_joined(("filter", 0, "id"))
    (True, False, False)
    """
    is_of_whole = location[0] in _WHOLE and len(location) > len(("scorecard", "link"))
    return not is_of_whole and not any(isinstance(part, int) for part in location)


def _merge(below: Raw, above: Raw, *, whole: bool = False) -> Raw:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if not whole and isinstance(old, dict) and isinstance(value, dict):
            merged[key] = _merge(old, value, whole=key in _WHOLE)
        else:
            merged[key] = value
    return merged


MAX_TOLD = 50  # nobody mends more in one go
_MAX_CHARS = 300


def told(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Keep the first mistakes, and count the others.

    >>> told([Problem("name", "is required")] * 60)[-1].what
    '10 more mistakes; mend these first'
    """
    kept = [Problem(_cut(one.where), _cut(one.what)) for one in problems[:MAX_TOLD]]
    if more := len(problems) - len(kept):
        kept.append(Problem("", f"{more} more mistakes; mend these first"))
    return tuple(kept)


def proposal(name: str, known: Iterable[str], otherwise: str) -> str:
    """Say which of the known names may have been meant; if none is near, say which there are.

    >>> proposal("absolut", ["absolute", "tier1"], "defined are")
    'did you mean absolute?'
    >>> proposal("zebra", ["absolute", "tier1"], "defined are")
    'defined are absolute, tier1'
    """
    names = list(known)
    near = nearest(name, names)
    return f"{otherwise} {', '.join(names) or 'none'}" if near is None else f"did you mean {near}?"


def nearest(name: str, known: Sequence[str]) -> str | None:
    """Find the known name that may have been meant.

    >>> nearest("term", ["topic", "terms"]), nearest("colour", ["topic", "terms"])
    ('terms', None)
    """
    from difflib import get_close_matches  # for mistakes only

    return next(iter(get_close_matches(name[:_MAX_CHARS], known, 1)), None)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}…"
