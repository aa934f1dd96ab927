"""Reading `when` tables and `$terms` into conditions. Start reading at `ConditionReader.condition`.

Must not know: files, scoring. Mistakes are collected, not raised, because all of a profile's are reported at once; what
is returned in place of a mistake is never used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from honeyguide.config.files import suggestion
from honeyguide.config.plugins import load_facts
from honeyguide.core.rules.facts import CARD, FIELDS, FactKind
from honeyguide.core.rules.language import ALWAYS, Above, All, AnyOf, Below, Condition, Is, Matches, Not, Text
from honeyguide.core.text.fold import fold_case
from honeyguide.core.text.pattern import compile_pattern
from honeyguide.errors import PatternError, Problem

if TYPE_CHECKING:
    from honeyguide.core.text.pattern import Pattern


RELATED = "related"  # a term with the related terms of the topic
MAX_DEPTH = 20
# Limits of a whole profile. Ordinary ones have a hundredth of it, but a few lines that name a long list of terms again
# and again would need gigabytes.
MAX_TESTS = 5_000
MAX_WORDS = 100_000  # with the words of `$terms` counted wherever they are named
MAX_PATTERNS = 200
_ENOUGH = 200  # mistakes
MAX_NUMBER = 1e15  # beyond it, numbers no longer differ by one
_LIMITS = {"tests": MAX_TESTS, "words": MAX_WORDS, "patterns": MAX_PATTERNS}
_FOR_KIND = {
    FactKind.TEXT: ("starts", "ends", "has", "word", "is", "matches"),
    FactKind.TEXTS: ("starts", "ends", "has", "word", "is", "matches"),
    FactKind.NUMBER: ("is", "below", "above"),
    FactKind.FLAG: ("is",),
}


@dataclass
class ConditionReader:
    """Reads the conditions of one profile; `problems` are the mistakes so far."""

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
                parts = [self.condition(part, f"{where}[{i}]", depth + 1) for i, part in enumerate(value)]
                return All(tuple(parts)) if key == "all" else AnyOf(tuple(parts))
            case "not":
                return Not(self.condition(value, where, depth + 1))
            case _:
                return self._tests(key, value, where)

    def _tests(self, name: str, raw: Any, where: str) -> Condition:
        kind = self.kind(name, where)
        if kind is None:
            return ALWAYS
        if not isinstance(raw, dict) or not raw:
            return self.wrong(where, f"should be a table of tests: {', '.join(_FOR_KIND[kind])}")
        if not self._allows("tests", len(raw), where):
            return ALWAYS
        parts = tuple(self._test(name, kind, test, value, f"{where}.{test}") for test, value in raw.items())
        return parts[0] if len(parts) == 1 else All(parts)

    def kind(self, name: str, where: str) -> FactKind | None:
        """Look a fact up in the catalogue, then among those of plug-ins; cards are numbers."""
        if name not in FIELDS and not name.startswith(CARD):
            load_facts()
        if name in FIELDS:
            return FIELDS[name].kind
        card = name.removeprefix(CARD)
        if card == name:
            self.wrong(where, f"no fact is named {name!r}; {suggestion(name, FIELDS, 'known are')}")
        elif card in self.cards:
            return FactKind.NUMBER
        else:
            self.wrong(where, f"no scorecard is named {card!r}; there are {', '.join(sorted(self.cards))}")
        return None

    def _test(self, name: str, kind: FactKind, test: str, value: Any, where: str) -> Condition:
        if test not in _FOR_KIND[kind]:
            allowed = ", ".join(_FOR_KIND[kind])
            return self.wrong(where, f"{name} is a {kind.value}; allowed tests are {allowed}")
        match test, kind:
            case (("starts" | "ends" | "has" | "word"), _):
                return Text(name, test, self.words(value, where))
            case "matches", _:
                pattern = self._pattern(value, where)
                return ALWAYS if pattern is None else Matches(name, pattern)
            case "is", FactKind.FLAG:
                is_flag = isinstance(value, bool)
                return Is(name, (value,)) if is_flag else self.wrong(where, "should be true or false")
            case "is", FactKind.NUMBER:
                return Is(name, (self._number(value, where),))
            case "is", _:
                return Is(name, self.words(value, where))
            case _:
                return (Below if test == "below" else Above)(name, self._number(value, where))

    def _number(self, value: Any, where: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MAX_NUMBER:
            self.wrong(where, f"should be a number up to {MAX_NUMBER:g}")
            return 0.0
        return float(value)

    def _allows(self, what: str, count: int, where: str) -> bool:
        """Count tests, words or patterns against the limit of the whole profile; exceeding it is reported once."""
        left = self._left[what]
        self._left[what] = left - count
        if left >= 0 > left - count:
            self.wrong(where, f"is one too many: a profile has at most {_LIMITS[what]:,} {what} in all")
        return left >= count

    def words(self, raw: Any, where: str, seen: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Read a word, a list of words or references to `$terms`; folded, without duplicates."""
        if self._left["words"] < 0 or len(self.problems) >= _ENOUGH:
            return ()  # reported already
        found: dict[str, None] = {}
        for word in raw if isinstance(raw, list) else [raw]:
            if not isinstance(word, str):
                self.wrong(where, "should be a word or a list of words")
            elif word.startswith("$"):
                found.update(dict.fromkeys(self._term(word[1:], where, seen)))
            elif not word.strip() or "\x1f" in word:
                self.wrong(where, f"the word {word!r} matches everything or nothing; remove it")
            else:
                found[fold_case(word)] = None
        return tuple(found) if self._allows("words", len(found), where) else ()

    def _term(self, name: str, where: str, seen: tuple[str, ...]) -> tuple[str, ...]:
        mistake = ""
        if name in seen:
            mistake = f"terms refer to each other in a circle: {' -> '.join([*seen, name])}"
        elif len(seen) >= MAX_DEPTH:
            mistake = f"terms refer to each other over more than {MAX_DEPTH} steps"
        elif name not in self.terms:
            near = suggestion(f"${name}", (f"${term}" for term in self.terms), "defined are")
            mistake = f"the term ${name} is not defined; {near}"
        if mistake:
            self.wrong(where, mistake)
            return ()
        # Each term is read once, because terms that name another twice would double the work with each step.
        if name not in self._read_terms:
            written = "topic.related" if name == RELATED else f"terms.{name}"
            self._read_terms[name] = self.words(self.terms[name], written, (*seen, name))
        return self._read_terms[name]

    def _pattern(self, raw: Any, where: str) -> Pattern | None:
        if raw == "$topic":
            return self.topic  # None without a topic, when cards that read it are not used
        if not isinstance(raw, str):
            self.wrong(where, "should be a pattern, or $topic")
            return None
        if not self._allows("patterns", 1, where):
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
