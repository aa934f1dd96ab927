"""Joining a profile with what it extends: what `add`, `remove`, `before` and `replace` mean.

Must not know: the types of keys, what they are for. Start reading at `read_profile`. Tables join key by key, lists of
named entries (rules, groups, buckets, levels) entry by entry, lists of words by `add` and `remove`. Any other value takes
the place of the inherited one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.config.files import (
    MAX_PROBLEMS,
    limit_problems,
    name_source,
    parent_of,
    parse,
    profile_source,
    read_given,
    suggestion,
)
from honeyguide.config.shapes import MAX_CAP
from honeyguide.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

MAX_EXTENDS = 8
_REFERENCE = re.compile(r"\"\$([^\"]+)\"")

# Lists of named entries: the key that holds the name, and a key that an entry needs if it is not inherited.
_NAMED = {
    **dict.fromkeys(("filter", "skip", "drop", "look", "rules"), ("id", "reason")),
    "group": ("name", "mode"),
    "bucket": ("name", "priority"),
    "heading": ("name", "when"),
    "levels": ("name", "advice"),
}
_EDITS = ("add", "remove")
Table = dict[str, Any]


class Extended(NamedTuple):
    """A profile joined with its parents, and the cards and lists that its own file replaces as a whole."""

    table: Table
    own: Table
    replaced: tuple[str, ...] = ()
    name: str = ""


def read_profile(
    source: str | Path | Mapping[str, Any], changes: Mapping[str, Any] | None = None
) -> Extended:
    """Read a profile and what it extends, and join them; `changes` are values by their place, and come last."""
    chain: dict[str, Table] = {}
    first = name_source(source)
    current: str | Path | None = first
    while current is not None:
        file = str(current)
        if file in chain or len(chain) == MAX_EXTENDS:
            what = f"goes in a circle or too deep: {' -> '.join([*chain, file])}; end the chain"
            raise ConfigError(str(first), (Problem("extends", what),))
        is_given = first is not source and not chain
        chain[file] = read_given(source) if is_given else parse(profile_source(current, str(first)), file)
        current = parent_of(chain[file], current, file)
    extended = Extended({}, {})
    for file, own in reversed(chain.items()):
        extended = extend(extended.table, own, file)
    if changes:
        extended = extend(extended.table, _nested(changes), "changes")
    return extended._replace(name=str(first))


def _nested(changes: Mapping[str, Any]) -> Table:
    """Make tables of values by their place: `strategy.portfolio.cap`."""
    table: Table = {}
    for place, value in read_given(changes).items():
        inner = table
        *outer, last = place.split(".")
        for key in outer:
            inner = inner.setdefault(key, {})
            if not isinstance(inner, dict):
                raise ConfigError("changes", (Problem(place, "is inside of another change"),))
        inner[last] = value
    return table


def unused_terms(profile: Extended) -> tuple[Problem, ...]:
    """Report the terms of a profile's own file that no rule uses: a misspelt name has no effect."""
    used = dict.fromkeys(_REFERENCE.findall(json.dumps(profile.table, default=str, ensure_ascii=False)))
    unused = [name for name in profile.own.get("terms", {}) if name not in used]
    near = {name: suggestion(name, used, "used are") for name in unused}
    return limit_problems([Problem(f"terms.{name}", f"no rule uses it; {near[name]}") for name in unused])


def extend(parent: Table, own: Table, file: str) -> Extended:
    """Apply a profile's own table to its parent's; raises all mistakes in what it changes at once."""
    paths = own.get("replace", [])
    join = _Join(paths if isinstance(paths, list) else [])
    if join.paths is not paths:
        join.wrong("replace", "should be a list of key paths")
    own = join.without_short_keys(parent, own)
    table = join.tables(parent, {key: value for key, value in own.items() if key != "replace"}, "")
    for path in join.paths:
        if path not in join.replaced:
            join.wrong("replace", f"{path} is not a key that this file has and also inherits")
    if join.problems:
        raise ConfigError(file, limit_problems(join.problems))
    return Extended(table, own, tuple(join.replaced))


@dataclass
class _Join:
    """Joins the tables of one file with those of its parent; `paths` are the keys that the file says it replaces."""

    paths: list[Any]
    replaced: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def wrong(self, where: str, what: str) -> None:
        self.problems.append(Problem(where, what))

    def without_short_keys(self, parent: Table, own: Table) -> Table:
        """Write `page_cap` and `disallowed_paths`, the settings of the link scoring guide, as the keys that they stand for."""
        own = dict(own)
        terms, strategies = own.get("terms", {}), own.get("strategy", {})
        inherited = parent.get("strategy")
        if "disallowed_paths" in own and isinstance(terms, dict):
            paths = own.pop("disallowed_paths")
            if not isinstance(paths, dict | list):
                self.wrong(
                    "disallowed_paths", 'should be a list of beginnings of paths, such as ["/privacy"]'
                )
            elif "disallowed_paths" in terms:
                self.wrong("disallowed_paths", "is the same as terms.disallowed_paths; leave one of them out")
            else:
                own["terms"] = {**terms, "disallowed_paths": paths}
        if "page_cap" in own and isinstance(strategies, dict):
            own["strategy"] = self._with_cap(
                own.pop("page_cap"), inherited if isinstance(inherited, dict) else {}, strategies
            )
        return own

    def _with_cap(self, cap: Any, parent: Table, own: Table) -> Table:
        """Give every strategy the cap."""
        tables = {name: own.get(name, {}) for name in (*parent, *own)}
        nested = [name for name, table in own.items() if isinstance(table, dict) and "cap" in table]
        if nested:
            self.wrong("page_cap", f"is the cap of every strategy; leave it out, or strategy.{nested[0]}.cap")
        elif type(cap) is not int or not 1 <= cap <= MAX_CAP:
            self.wrong("page_cap", f"should be a whole number from 1 to {MAX_CAP}")
        elif not tables:
            self.wrong("page_cap", "no strategy is inherited; extend a profile that has one, such as company")
        else:
            return {
                n: {**table, "cap": cap} if isinstance(table, dict) else table for n, table in tables.items()
            }
        return own

    def tables(self, parent: Table, own: Table, path: str) -> Table:
        joined = dict(parent)
        for key, value in own.items():
            joined[key] = self._values(parent.get(key), value, f"{path}.{key}" if path else key)
        return joined

    def _values(self, parent: Any, own: Any, path: str) -> Any:
        if parent is not None and path in self.paths:
            self.replaced.append(path)
            parent = None
        if isinstance(own, dict):
            if isinstance(parent, list | str) or (path.startswith("terms.") and parent is None):
                return self._words([parent] if isinstance(parent, str) else parent, own, path)
            return self.tables(parent if isinstance(parent, dict) else {}, own, path)
        is_named = path.rpartition(".")[2] in _NAMED
        if is_named and isinstance(own, list) and any(isinstance(entry, dict) for entry in own):
            return self._entries(parent if isinstance(parent, list) else [], own, path)
        if isinstance(parent, list) and parent and isinstance(parent[0], str | dict) and own != parent:
            self.replaced.append(path)
        return own

    def _words(self, parent: list[str] | None, own: Table, path: str) -> list[str]:
        """Add words to an inherited list, and remove words from it."""
        for key, value in own.items():
            if key not in _EDITS or not isinstance(value, list) or not all(isinstance(w, str) for w in value):
                self.wrong(f"{path}.{key}", "allowed are add and remove, each with a list of words")
                return []
        if parent is None:
            self.wrong(path, f"is not inherited, so it has no words to change; write {path} = [...]")
            return []
        words = dict.fromkeys(word for word in parent if isinstance(word, str))
        for word in own.get("remove", []):
            if word not in words:
                self._unknown(f"{path}.remove", f"{word!r} is not inherited", word, words)
            words.pop(word, None)
        return list(words | dict.fromkeys(own.get("add", [])))

    def _entries(self, parent: list[Any], own: list[Any], path: str) -> list[Any]:
        """Change, add, move and remove entries of an inherited list by their names."""
        key, needed = _NAMED[path.rpartition(".")[2]]
        joined = _Entries(list(parent), [_name(entry, key) for entry in parent])
        inherited = Counter(joined.names)
        seen = set()
        for index, entry in enumerate(own):
            name = _name(entry, key)
            where = f"{path}[{name}]"
            if name is None and parent:
                self.wrong(f"{path}[{index}].{key}", "is required: it says which inherited entry changes")
            elif name is None:  # a mistake of structure
                joined.put(len(joined.names), entry, None)
            elif name in seen and key == "id":
                self.wrong(where, "is there twice; ids are unique within a list")
            elif not inherited[name] and ("remove" in entry or (parent and needed not in entry)):
                self._unknown(where, "is not inherited", name, inherited)
            elif inherited[name] > 1 and "remove" not in entry:
                self.wrong(where, f"is inherited several times; to write all entries anew, replace {path!r}")
            elif "remove" in entry and entry["remove"] is not True:
                self.wrong(f"{where}.remove", "should be true, or be left out")
            elif "remove" in entry:
                for _ in range(inherited.pop(name)):
                    joined.take(name)
            else:
                self._change(joined, name, entry, where, is_new=not inherited[name])
            seen.add(name)
        return joined.entries

    def _change(self, joined: _Entries, name: str, own: Table, where: str, *, is_new: bool) -> None:
        """Change an inherited entry in its place or append a new one; `before` moves it in front of another."""
        place, parent = (len(joined.names), {}) if is_new else joined.take(name)
        before = own.get("before")
        if before in joined.names and before is not None:
            place = joined.names.index(before)
        elif before is not None:
            self._unknown(f"{where}.before", f"no other entry is named {before!r}", before, joined.names)
        if parent and where in self.paths:
            self.replaced.append(where)
            parent = {}
        entry = {key: value for key, value in {**parent, **own}.items() if key != "before"}
        if "rules" in own:  # of a group; other keys are not joined: half a condition has no meaning
            entry["rules"] = self._values(parent.get("rules"), own["rules"], f"{where}.rules")
        joined.put(place, entry, name)

    def _unknown(self, where: str, what: str, name: object, known: Iterable[str | None]) -> None:
        """Note that a name is not known, with a suggestion unless nobody would read it: those take long."""
        if len(self.problems) < MAX_PROBLEMS:
            what = f"{what}; {suggestion(str(name), filter(None, known), 'there are')}"
        self.wrong(where, what)


class _Entries(NamedTuple):
    """The entries of a list beside their names."""

    entries: list[Any]
    names: list[str | None]

    def take(self, name: str) -> tuple[int, Table]:
        place = self.names.index(name)
        del self.names[place]
        return place, self.entries.pop(place)

    def put(self, place: int, entry: Any, name: str | None) -> None:
        self.entries.insert(place, entry)
        self.names.insert(place, name)


def _name(entry: object, key: str) -> str | None:
    name = entry.get(key) if isinstance(entry, dict) else None
    return name if isinstance(name, str) else None
