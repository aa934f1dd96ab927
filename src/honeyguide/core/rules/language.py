"""The rule language: conditions, rules, groups, scorecards, and scores, as plain data. Start reading at `Scorecard`.

Must not know: TOML, links, where facts come from. `compile.py` compiles the nodes for one row at a time, `bulk` for whole
columns. A condition on an unknown fact is neither true nor false: a rule does not pay for it, nor for its `not`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

from honeyguide.core.text.printable import html_table, points, tidy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from honeyguide.core.rules.facts import Value
    from honeyguide.core.text.pattern import Pattern


TextTest = Literal["starts", "ends", "has", "word"]


@dataclass(frozen=True, slots=True)
class Text:
    """A text fact starts with, ends with or contains any of the terms; `word` means whole words, `repair*` beginnings."""

    field: str
    test: TextTest
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Is:
    """A fact equals one of the values."""

    field: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Below:
    """A number is strictly below the bound."""

    field: str
    bound: float


@dataclass(frozen=True, slots=True)
class Above:
    """A number is strictly above the bound."""

    field: str
    bound: float


@dataclass(frozen=True, slots=True)
class Matches:
    """A text fact matches a topic pattern."""

    field: str
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds; with no parts, always."""

    parts: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part is known not to hold."""

    part: Condition


Leaf = Text | Is | Below | Above | Matches
Condition = Leaf | All | AnyOf | Not
ALWAYS = All()


@dataclass(frozen=True, slots=True)
class Rule:
    """Pays `points`, or `points` for each unit of the fact `per`, when its condition holds.

    A quiet rule pays like any other, but is not among the reasons shown to people. Tags make up the short
    `selection_reason` of a pick; a filter may `show` a fact after its reason.
    """

    id: str
    reason: str
    points: float = 0.0
    when: Condition = ALWAYS
    per: str | None = None
    at_most: float | None = None
    quiet: bool = False
    tag: str = ""
    show: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Rules of which the first match pays (`first`) or every match (`all`), together at most `at_most`."""

    name: str
    mode: Literal["first", "all"]
    rules: tuple[Rule, ...]
    at_most: float | None = None


@dataclass(frozen=True, slots=True)
class Scorecard:
    """Base plus groups, kept in range. Each payment is rounded half up to `decimals`, so that points add up."""

    name: str
    groups: tuple[Group, ...]
    base: float = 0.0
    low: float = -math.inf
    high: float = math.inf
    decimals: int = 6


class Reason(NamedTuple):
    """What one rule paid."""

    # A named tuple, because millions of them are created.

    rule: str
    points: float
    text: str
    quiet: bool = False
    tag: str = ""


class Score(float):
    """A number that explains itself: the points of its reasons add up to it. It compares and computes as a number.

    >>> score = Score(94.0, (Reason("hub", 94.0, "Is a hub page"),))
    >>> score >= 70, f"{score} {score:.1f}", score.words
    (True, '94 94.0', ('Is a hub page',))
    """

    __slots__ = ("reasons", "unknown")
    reasons: tuple[Reason, ...]
    unknown: tuple[str, ...]  # facts that a rule needs and that are not known

    def __new__(cls, value: float, reasons: tuple[Reason, ...] = (), unknown: tuple[str, ...] = ()) -> Self:
        """Make a number with its reasons."""
        score = super().__new__(cls, value)
        score.reasons, score.unknown = reasons, unknown
        return score

    def __repr__(self) -> str:
        return f"Score({self.value!r}, {self.reasons!r}, {self.unknown!r})"

    def __str__(self) -> str:
        return str(tidy(self.value))

    def _repr_html_(self) -> str:
        rows = [(reason.rule, points(reason.points), reason.text) for reason in self.reasons]
        return html_table(("Rule", "Points", "Reason"), rows, f"Score {self}")

    def __format__(self, spec: str) -> str:
        return format(tidy(self.value), spec)

    @property
    def value(self) -> float:
        """The number alone."""
        return self.real

    @property
    def words(self) -> tuple[str, ...]:
        """The reasons for people."""
        return tuple(reason.text for reason in self.reasons if not reason.quiet)


_NO_FRACTION = 2.0**52


def half_up(value: float, decimals: int = 0) -> float:
    """Round half up, towards plus infinity on a tie, as JavaScript does.

    >>> half_up(4.5), half_up(-2.5), half_up(0.49999999999999994)
    (5.0, -2.0, 0.0)
    """
    scale = 10.0**decimals
    scaled = value * scale
    if not -_NO_FRACTION < scaled < _NO_FRACTION:  # nothing left to round, or not a number
        return value
    floor = math.floor(scaled)
    return (floor + 1 if scaled - floor >= 0.5 else floor) / scale


def leaves(condition: Condition) -> Iterator[Leaf]:
    """Walk the tests of a condition, at any depth."""
    match condition:
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from leaves(part)
        case Not(part):
            yield from leaves(part)
        case _:
            yield condition


_MAX_WORDS = 20  # that are compared with each other


def words_found(condition: Condition, facts: Mapping[str, Value]) -> list[str]:
    """Return the words of `has` tests that the facts contain, without those that are part of another."""
    match condition:
        case All(parts) | AnyOf(parts):
            found = [word for part in parts for word in words_found(part, facts)]
        case Text(field, "has", terms) if isinstance(text := facts[field], str):
            found = [term for term in terms if term in text]
        case _:
            found = []
    found = list(dict.fromkeys(found))[:_MAX_WORDS]
    return [word for word in found if not any(word != other and word in other for other in found)]


def fields_read(card: Scorecard) -> tuple[str, ...]:
    """Return every fact that the card reads, in the order of its rules."""
    names: dict[str, None] = {}
    for rule in (rule for group in card.groups for rule in group.rules):
        names.update((leaf.field, None) for leaf in leaves(rule.when))
        if rule.per is not None:
            names[rule.per] = None
    return tuple(names)
