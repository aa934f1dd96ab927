"""Reading `when` tables into conditions.

Owns: how conditions are written in TOML, `$terms`, and the mistakes one can make. Must not know: files, scoring.
Mistakes are collected, not raised, so that all of a profile's mistakes are told at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from honeyguide.config.files import suggestion
from honeyguide.core.rules.facts import CARD, FIELDS, FactKind
from honeyguide.core.rules.language import ALWAYS, Above, All, AnyOf, Below, Condition, Is, Matches, Not, Text
from honeyguide.core.text.fold import fold_case
from honeyguide.core.text.pattern import compile_pattern
from honeyguide.errors import PatternError, Problem

if TYPE_CHECKING:
    from honeyguide.core.text.pattern import Pattern


RELATED = "related"  # a term that is made of the topic's
MAX_DEPTH = 20
# What a profile may ask for in all. A page of rules has a hundredth of it; a few lines that name a long list of terms
# again and again would come to gigabytes.
MAX_TESTS = 5_000
MAX_WORDS = 100_000  # with the words of `$terms` counted wherever they are named
MAX_PATTERNS = 200
_ENOUGH = 200  # mistakes; whoever made more mends these first
MAX_NUMBER = 1e15  # beyond it, numbers no longer differ by one
_LIMITS = {"tests": MAX_TESTS, "words": MAX_WORDS, "patterns": MAX_PATTERNS}
_FOR_KIND = {
    FactKind.TEXT: ("starts", "ends", "has", "word", "is", "matches"),
    FactKind.TEXTS: ("starts", "ends", "has", "word", "is", "matches"),
    FactKind.NUMBER: ("is", "below", "above"),
    FactKind.FLAG: ("is",),
}
_OF_TEXTS = frozenset(_FOR_KIND[FactKind.TEXT]) - frozenset(_FOR_KIND[FactKind.NUMBER])


@dataclass
class ConditionReader:
    """Reads conditions of one profile; `problems` is what is wrong so far."""

    terms: dict[str, list[str]]
    cards: frozenset[str]
    topic: Pattern | None
    problems: list[Problem] = field(default_factory=list)
    _left: dict[str, int] = field(default_factory=_LIMITS.copy)
    _read_terms: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def condition(self, raw: Any, where: str, depth: int = 0) -> Condition:
        """Read one `when` table; its entries must all hold."""
        if not isinstance(raw, dict):
            return self.wrong(where, 'should be a table such as { path = { has = ["fire"] } }')
        if depth > MAX_DEPTH:
            return self.wrong(where, f"is nested deeper than {MAX_DEPTH}")
        if len(self.problems) >= _ENOUGH:
            return ALWAYS
        parts = tuple(self._entry(key, value, f"{where}.{key}", depth) for key, value in raw.items())
        return parts[0] if len(parts) == 1 else All(parts)

    def _entry(self, key: str, value: Any, where: str, depth: int) -> Condition:
        match key:
            case "all" | "any":
                if not isinstance(value, list) or not value:
                    return self.wrong(where, "should be a list of conditions")
                parts = tuple(
                    self.condition(part, f"{where}[{i}]", depth + 1) for i, part in enumerate(value)
                )
                return All(parts) if key == "all" else AnyOf(parts)
            case "not":
                return Not(self.condition(value, where, depth + 1))
            case _:
                return self._tests(key, value, where)

    def _tests(self, name: str, raw: Any, where: str) -> Condition:
        kind = self.kind(name, where)
        if kind is None:
            self._look_through(name, raw, where)
            return ALWAYS
        if not isinstance(raw, dict) or not raw:
            return self.wrong(where, f"should be a table of tests: {', '.join(_FOR_KIND[kind])}")
        if not self._has("tests", len(raw), where):
            return ALWAYS
        parts = tuple(self._test(name, kind, test, value, f"{where}.{test}") for test, value in raw.items())
        return parts[0] if len(parts) == 1 else All(parts)

    def _look_through(self, name: str, raw: Any, where: str) -> None:
        """Read the tests of a fact that does not exist: a term or a pattern in them may be wrong whatever was meant."""
        if not isinstance(raw, dict) or not self._has("tests", len(raw), where):
            return
        for test, value in raw.items():
            if name.startswith(CARD):
                self._test(name, FactKind.NUMBER, test, value, f"{where}.{test}")
            elif test in _OF_TEXTS and isinstance(value, str | list):
                self._test(name, FactKind.TEXT, test, value, f"{where}.{test}")

    def kind(self, name: str, where: str) -> FactKind | None:
        """Look a fact up in the catalogue; cards are numbers."""
        if name in FIELDS:
            return FIELDS[name].kind
        if name.startswith(CARD):
            card = name.removeprefix(CARD)
            if card in self.cards:
                return FactKind.NUMBER
            self.wrong(where, f"no scorecard is named {card!r}; there are {', '.join(sorted(self.cards))}")
            return None
        self.wrong(where, f"no fact is named {name!r}; {suggestion(name, FIELDS, 'known are')}")
        return None

    def _test(self, name: str, kind: FactKind, test: str, value: Any, where: str) -> Condition:
        if test not in _FOR_KIND[kind]:
            return self.wrong(
                where, f"{name} is a {kind.value}; allowed tests are {', '.join(_FOR_KIND[kind])}"
            )
        match test:
            case "starts" | "ends" | "has" | "word":
                return Text(name, test, self.words(value, where))
            case "is" if kind in (FactKind.TEXT, FactKind.TEXTS):
                return Is(name, self.words(value, where))
            case "is":
                return self._is(name, kind, value, where)
            case "matches":
                pattern = self._pattern(value, where)
                return Matches(name, pattern) if pattern is not None else ALWAYS
            case _:
                number = self._number(value, where)
                return (
                    ALWAYS
                    if number is None
                    else Below(name, number)
                    if test == "below"
                    else Above(name, number)
                )

    def _is(self, name: str, kind: FactKind, value: Any, where: str) -> Condition:
        if kind is FactKind.FLAG:
            return (
                Is(name, (value,))
                if isinstance(value, bool)
                else self.wrong(where, "should be true or false")
            )
        number = self._number(value, where)
        return ALWAYS if number is None else Is(name, (number,))

    def _number(self, value: Any, where: str) -> float | None:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MAX_NUMBER:
            self.wrong(where, f"should be a number up to {MAX_NUMBER:g}")
            return None
        return float(value)

    def _has(self, what: str, count: int, where: str) -> bool:
        """Take from what is allowed in all; says so once where there is not enough left."""
        had = self._left[what]
        self._left[what] = had - count
        if had >= 0 > had - count:
            self.wrong(where, f"is one too many: a profile has at most {_LIMITS[what]:,} {what} in all")
        return had >= count

    def words(self, raw: Any, where: str, seen: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Read a word, a list of words or references to `$terms`; folded, duplicates gone."""
        if self._left["words"] < 0 or len(self.problems) >= _ENOUGH:
            return ()  # that was said
        found: dict[str, None] = {}
        listed = raw if isinstance(raw, list) else [raw]
        for word in listed:
            if not isinstance(word, str):
                self.wrong(where, "should be a word or a list of words")
            elif word.startswith("$"):
                found.update(dict.fromkeys(self._term(word[1:], where, seen)))
            elif not word.strip() or "\x1f" in word:
                self.wrong(where, f"the word {word!r} matches everything or nothing; remove it")
            else:
                found[fold_case(word)] = None
        return tuple(found) if self._has("words", len(found), where) else ()

    def _term(self, name: str, where: str, seen: tuple[str, ...]) -> tuple[str, ...]:
        if name in seen:
            self.wrong(where, f"terms refer to each other in a circle: {' -> '.join([*seen, name])}")
            return ()
        if len(seen) >= MAX_DEPTH:
            self.wrong(where, f"terms refer to each other over more than {MAX_DEPTH} steps")
            return ()
        if name not in self.terms:
            known = (f"${term}" for term in self.terms)
            self.wrong(
                where, f"the term ${name} is not defined; {suggestion(f'${name}', known, 'defined are')}"
            )
            return ()
        if name not in self._read_terms:  # once: terms that name each other twice would double with each step
            written = "topic.related" if name == RELATED else f"terms.{name}"
            self._read_terms[name] = self.words(self.terms[name], written, (*seen, name))
        return self._read_terms[name]

    def _pattern(self, raw: Any, where: str) -> Pattern | None:
        if raw == "$topic":
            return self.topic  # cards that read the topic are left out while there is none
        if not isinstance(raw, str):
            self.wrong(where, "should be a pattern, or $topic")
            return None
        if not self._has("patterns", 1, where):
            return None
        try:
            return compile_pattern(raw)
        except PatternError as error:
            self.problems.append(Problem(where, str(error)))
            return None

    def wrong(self, where: str, what: str) -> Condition:
        """Note a mistake; the condition stands in for what could not be read."""
        self.problems.append(Problem(where, what))
        return ALWAYS
