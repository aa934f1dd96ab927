"""Finding and reading profile files; wording and limiting mistakes in them. Must not know: which keys exist."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
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
MAX_DEPTH = 80  # of tables and lists; twenty nested conditions need no more
MAX_PROBLEMS = 50  # nobody corrects more in one go
_MAX_CHARS = 300
_MAX_DOTS = 100  # in the keys of one line: parsing a dotted key takes time that is quadratic in its parts
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'[^']*+'")


@cache
def bundled_profiles() -> tuple[str, ...]:
    """Name the profiles that come with Honeyguide."""
    return tuple(sorted(file.stem for file in _BUNDLED.iterdir() if file.suffix == ".toml"))


@cache
def public_suffixes() -> frozenset[str]:
    """Read the rules of the bundled Public Suffix List that have several labels."""
    lines = Path(__file__).with_name("public_suffixes.txt").read_text("ascii").splitlines()
    return frozenset(rule for line in lines if not line.startswith("//") for rule in line.split())


def name_source(source: str | Path | Mapping[str, Any]) -> str | Path:
    """Name a profile: its name or path; one that is given as text or as a mapping has the name `given`."""
    is_text = isinstance(source, str) and ("\n" in source or "=" in source)
    return "given" if is_text or isinstance(source, Mapping) else source


def read_given(source: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """Read a profile that is given as TOML or as a mapping, as carefully as one of a file."""
    if not isinstance(source, Mapping):
        text = str(source)
        if len(text) > MAX_PROFILE_BYTES:
            raise _error("given", f"larger than {MAX_PROFILE_BYTES} characters; a profile is a page of rules")
        return parse(text, "given")
    if is_deeper(source, MAX_DEPTH):
        raise _error(
            "given", f"is nested too deeply; {MAX_DEPTH} tables and lists inside each other are enough"
        )
    try:
        text = json.dumps(source, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise _error("given", f"is no profile: {error}; give tables, lists, texts and numbers") from None
    return parse(text, "given.json")


def profile_source(source: str | Path, error_file: str = "") -> str:
    """Return the text of a bundled profile or of a file; errors name `error_file`, if given."""
    named = error_file or str(source) or "profile"
    if isinstance(source, str) and not _is_path(source):
        if source not in bundled_profiles():
            near = suggestion(source, bundled_profiles(), "known are")
            path = "" if near.endswith("?") else ", or give a path to a .toml or .json file"
            raise _error(named, f"no profile is named {shown(source)}; {near}{path}")
        return (_BUNDLED / f"{source}.toml").read_text("utf-8")
    unread = "cannot be read" if named == str(source) else f"cannot read {source}"
    if _is_no_file(Path(source)):  # opening a pipe would wait forever
        raise _error(named, f"{unread}: it is not a file; check the path")
    try:
        with Path(source).open("rb") as file:
            data = file.read(MAX_PROFILE_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a usable path"
        raise _error(named, f"{unread}: {why}; check the path") from None
    if len(data) > MAX_PROFILE_BYTES:
        raise _error(named, f"larger than {MAX_PROFILE_BYTES} bytes; a profile is a page of rules")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _error(named, f"is not UTF-8 (byte {error.start}); save it as UTF-8") from None


def parse(text: str, file: str) -> dict[str, Any]:
    """Parse TOML, or JSON by the name of the file; both may be hostile."""
    too_deep = f"is nested too deeply; {MAX_DEPTH} tables and lists inside each other are enough"
    try:
        raw = _parse_json(text, file) if file.endswith(".json") else _parse_toml(text, file)
    except RecursionError:
        raise _error(file, too_deep) from None
    if is_deeper(raw, MAX_DEPTH):
        raise _error(file, too_deep)
    return raw


def _parse_json(text: str, file: str) -> dict[str, Any]:
    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(key for key, _ in pairs)
        if len(counts) < len(pairs):
            twice = max(counts, key=lambda key: counts[key])
            raise _error(file, f"the key {shown(twice)} is there twice in one object; remove one")
        return dict(pairs)

    try:
        raw = json.loads(text, object_pairs_hook=table)
        json.dumps(raw, ensure_ascii=False).encode()
    except ConfigError:
        raise
    except UnicodeEncodeError:
        raise _error(file, "has half a letter, an escape such as \\ud800; remove it") from None
    except ValueError as error:  # JSONDecodeError, or a plain one for a number with thousands of digits
        why = str(error) if isinstance(error, json.JSONDecodeError) else "a number is too long"
        raise _error(file, f"is not JSON: {why}") from None
    if not isinstance(raw, dict):
        raise _error(file, 'should be an object such as {"extends": "company", "page_cap": 4}')
    return raw


def _parse_toml(text: str, file: str) -> dict[str, Any]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _MAX_DOTS and _QUOTED.sub("", line).partition("#")[0].count(".") > _MAX_DOTS:
            raise _error(file, f"has more than {_MAX_DOTS} dots; nest less deeply", f"line {number}")
    try:
        return tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, or a plain one for a number with thousands of digits
        why = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "a number is too long"
        raise _error(file, f"is not TOML: {why}") from None


def parent_of(raw: dict[str, Any], child: str | Path, file: str) -> str | Path | None:
    """Return the name or path that a profile extends; a path is relative to the file that names it."""
    parent = raw.get("extends")
    if parent is None:
        return None
    if not isinstance(parent, str):
        raise _error(file, "should be the name of a profile or a path to one", "extends")
    if not _is_path(parent):
        return parent
    path = Path(child).parent / parent if _is_path(str(child)) else Path(parent)
    if _is_no_file(path):
        raise _error(file, f"{shown(parent)} is not a file", "extends")
    return path


def limit_problems(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Keep the first mistakes, and count the others."""
    kept = [Problem(_cut(one.where), _cut(one.what)) for one in problems[:MAX_PROBLEMS]]
    if more := len(problems) - len(kept):
        kept.append(Problem("", f"{more} more mistakes; correct these first"))
    return tuple(kept)


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """Suggest the known name that is nearest; if none is near, list the known names after `otherwise`."""
    from difflib import get_close_matches  # for mistakes only

    names = list(known)
    near = get_close_matches(name[:_MAX_CHARS], names, 1)
    return f"did you mean {near[0]}?" if near else f"{otherwise} {', '.join(names) or 'none'}"


def _error(file: str, what: str, where: str = "") -> ConfigError:
    return ConfigError(file, (Problem(where, what),))


def _is_no_file(path: Path) -> bool:
    """Return whether something other than a file is there; opening a path where nothing is fails with a clear error."""
    try:
        return not S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def _is_path(source: str) -> bool:
    return source.endswith((".toml", ".json")) or "/" in source or "\\" in source


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}…"
