"""The rule language: conditions, rules, groups, scorecards, and the evaluator that works a row at a time.

Owns: the nodes and what they mean. Must not know: TOML, links, where facts come from.
Start reading at `Scorecard`; `compile_card` turns it into closures once, `CompiledCard.score` runs them per row.
The nodes are plain data: an evaluator over whole columns compiles the same ones.

A condition is True, False or None (a fact is not known); None acts as false for a rule, and `not` of it stays None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, assert_never

from honeyguide.core.facts import FIELDS, JOIN, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from honeyguide.core.facts import Value
    from honeyguide.core.pattern import Pattern

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

    A quiet rule is in the ledger like any other, but not among the words shown to people. Tags make up the short
    `selection_reason` of a pick; a filter may show a fact behind its reason.
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
    """Rules of which the first match pays (`first`) or every match (`all`), together `at_most` so much."""

    name: str
    mode: Literal["first", "all"]
    rules: tuple[Rule, ...]
    at_most: float | None = None


@dataclass(frozen=True, slots=True)
class Scorecard:
    """Base plus groups, kept in range. Each payment is rounded half up to `decimals`, so sums are what they seem."""

    name: str
    groups: tuple[Group, ...]
    base: float = 0.0
    low: float = -math.inf
    high: float = math.inf
    decimals: int = 6


class Reason(NamedTuple):
    """One line of a score's ledger. A named tuple, like `Score`, because they are made by the million."""

    rule: str
    points: float
    text: str
    quiet: bool = False
    tag: str = ""


class Score(NamedTuple):
    """A number that explains itself: the points of its reasons add up to its value."""

    value: float
    reasons: tuple[Reason, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The reasons as people read them."""
        return tuple(reason.text for reason in self.reasons if not reason.quiet)


def half_up(value: float, decimals: int = 0) -> float:
    """Round half up, towards plus infinity on a tie, as JavaScript does.

    >>> half_up(4.5), half_up(-2.5), half_up(0.49999999999999994)
    (5.0, -2.0, 0.0)
    """
    scale = 10.0**decimals
    scaled = value * scale
    if not abs(scaled) < 2.0**52:  # no fraction left to round, or not a number
        return value
    floor = math.floor(scaled)
    return (floor + 1 if scaled - floor >= 0.5 else floor) / scale


def leaves(condition: Condition) -> Iterator[Leaf]:
    """Walk the tests of a condition, whatever they are nested in."""
    match condition:
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from leaves(part)
        case Not(part):
            yield from leaves(part)
        case _:
            yield condition


def fields_read(card: Scorecard) -> tuple[str, ...]:
    """Every fact that the card reads, in the order of its rules."""
    names: dict[str, None] = {}
    for rule in (rule for group in card.groups for rule in group.rules):
        names.update((leaf.field, None) for leaf in leaves(rule.when))
        if rule.per is not None:
            names[rule.per] = None
    return tuple(names)


# --- the row evaluator ------------------------------------------------------------------------------------------

if TYPE_CHECKING:
    Row = Mapping[str, Value]
    Check = Callable[[Row], bool | None]
    Pay = Callable[[Row], "Reason | None"]
    CompiledRule = tuple[Check | None, Pay, "Reason | None"]
    CompiledGroup = tuple["Group", bool, tuple[CompiledRule, ...]]


def compile_condition(condition: Condition) -> Check:
    """Turn a condition into one closure."""
    match condition:
        case Text():
            return _compile_text(condition)
        case Is(field, values):
            return _on_parts(field, lambda value: value in values)
        case Matches(field, pattern):
            return _on_parts(field, lambda value: pattern.search(str(value)))
        case Below(field, bound):
            return lambda row: None if (value := row[field]) is None else value < bound  # type: ignore[operator]
        case Above(field, bound):
            return lambda row: None if (value := row[field]) is None else value > bound  # type: ignore[operator]
        case All(parts):
            return _all([compile_condition(part) for part in parts])
        case AnyOf(parts):
            return _any([compile_condition(part) for part in parts])
        case Not(part):
            check = compile_condition(part)
            return lambda row: None if (value := check(row)) is None else not value
        case _:
            assert_never(condition)


def _compile_text(condition: Text) -> Check:
    field, terms = condition.field, condition.terms
    match condition.test:
        case "has":
            return _has(field, terms)
        case "word":
            return _word(field, terms)
        case "starts":
            return _on_parts(field, lambda value: str(value).startswith(terms))
        case "ends":
            return _on_parts(field, lambda value: str(value).endswith(terms))
        case _:
            assert_never(condition.test)


def _has(field: str, terms: tuple[str, ...]) -> Check:
    """Containment needs no splitting: no term contains the join. Unrolled, because this is the hot loop."""

    def has(row: Row) -> bool | None:
        value = row[field]
        if value is None:
            return None
        for term in terms:  # noqa: SIM110 - any() with a generator costs three times as much
            if term in value:  # type: ignore[operator]
                return True
        return False

    return has


def _word(field: str, terms: tuple[str, ...]) -> Check:
    """Whole words are substrings of the text between spaces."""
    needles = tuple(f" {term[:-1]}" if term.endswith("*") else f" {term} " for term in terms)

    def word(row: Row) -> bool | None:
        value = row[field]
        if value is None:
            return None
        text = f" {str(value).replace(JOIN, ' | ')} "
        return any(needle in text for needle in needles)

    return word


def _on_parts(field: str, test: Callable[[Value], bool]) -> Check:
    """Test a fact; where it holds several texts, any of them may pass."""
    known = FIELDS.get(field)
    if known is None or known.kind is not Kind.TEXTS:
        return lambda row: None if (value := row[field]) is None else test(value)

    def on_parts(row: Row) -> bool | None:
        value = row[field]
        if value is None:
            return None
        text = str(value)
        return any(map(test, text.split(JOIN))) if JOIN in text else test(text)

    return on_parts


def _all(checks: list[Check]) -> Check:
    def every(row: Row) -> bool | None:
        known: bool | None = True
        for check in checks:
            value = check(row)
            if value is False:
                return False
            if value is None:
                known = None
        return known

    return every


def _any(checks: list[Check]) -> Check:
    def some(row: Row) -> bool | None:
        known: bool | None = False
        for check in checks:
            value = check(row)
            if value:
                return True
            if value is None:
                known = None
        return known

    return some


def compile_payment(rule: Rule, decimals: int) -> Pay:
    """Turn what a rule pays by the unit into a closure."""
    per, points, at_most = rule.per or "", rule.points, rule.at_most

    def pay(row: Row) -> Reason | None:
        value = row[per]
        if value is None:
            return None
        amount = points * float(value)
        if at_most is not None and amount > at_most:
            amount = at_most
        return Reason(rule.id, half_up(amount, decimals), rule.reason, rule.quiet, rule.tag)

    return pay


def compile_rule(rule: Rule, decimals: int) -> CompiledRule:
    """Turn a rule into its check (None if it always holds), its payment, and the one `Reason` it pays if that is fixed."""
    check = None if rule.when == ALWAYS else compile_condition(rule.when)
    fixed = None if rule.per else Reason(rule.id, half_up(rule.points, decimals), rule.reason, rule.quiet, rule.tag)
    return check, compile_payment(rule, decimals), fixed


@dataclass(frozen=True, slots=True)
class CompiledCard:
    """A scorecard ready to run on rows."""

    card: Scorecard
    may_be_unknown: tuple[str, ...]
    groups: tuple[CompiledGroup, ...]

    def score(self, row: Row) -> Score:
        """Score one row of facts."""
        card = self.card
        total = card.base
        reasons = [Reason("base", total, "base", quiet=True)] if total else []
        for group, first, rules in self.groups:
            before = total
            for check, pay, fixed in rules:
                if check is not None and not check(row):
                    continue
                reason = fixed or pay(row)
                if reason is not None:
                    reasons.append(reason)
                    total += reason.points
                    if first:
                        break
            if group.at_most is not None and total - before > group.at_most:
                total = _adjust(reasons, f"{group.name}-cap", total, before + group.at_most, card.decimals)
        if card.decimals:  # sums of whole numbers are exact
            total = half_up(total, card.decimals)
        if not card.low <= total <= card.high:
            total = _adjust(reasons, "range", total, min(max(total, card.low), card.high), card.decimals)
        unknown = tuple([name for name in self.may_be_unknown if row[name] is None]) if self.may_be_unknown else ()
        return Score(total, tuple(reasons), unknown)


def _adjust(reasons: list[Reason], rule: str, total: float, limit: float, decimals: int) -> float:
    """Note what a limit took away, so that the points still add up."""
    limit = half_up(limit, decimals)
    reasons.append(Reason(rule, half_up(limit - total, decimals), f"limited to {limit:g}", quiet=True))
    return limit


def compile_card(card: Scorecard) -> CompiledCard:
    """Turn a scorecard into closures, once."""
    groups = tuple(
        (group, group.mode == "first", tuple(compile_rule(rule, card.decimals) for rule in group.rules))
        for group in card.groups
    )
    optional = tuple(name for name in fields_read(card) if name not in FIELDS or FIELDS[name].may_be_unknown)
    return CompiledCard(card, optional, groups)
