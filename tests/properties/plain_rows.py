"""A plain evaluator of scorecards: slow, obvious, three-valued. The compiled one must say the same."""

from __future__ import annotations

from typing import assert_never

from honeyguide.core.rules.facts import FIELDS, JOIN, FactKind, Facts, Value
from honeyguide.core.rules.language import (
    Above,
    All,
    AnyOf,
    Below,
    Condition,
    Is,
    Matches,
    Not,
    Reason,
    Rule,
    Score,
    Scorecard,
    Text,
    fields_read,
    half_up,
)


def value_of(condition: Condition, facts: Facts) -> bool | None:
    match condition:
        case All(parts):
            values = [value_of(part, facts) for part in parts]
            return False if False in values else None if None in values else True
        case AnyOf(parts):
            values = [value_of(part, facts) for part in parts]
            return True if True in values else None if None in values else False
        case Not(part):
            value = value_of(part, facts)
            return None if value is None else not value
        case _:
            known = facts[condition.field]
            return (
                None
                if known is None
                else any(passes(condition, part) for part in parts_of(condition.field, known))
            )


def parts_of(field: str, value: Value) -> list[Value]:
    if field in FIELDS and FIELDS[field].kind is FactKind.TEXTS:
        return list(str(value).split(JOIN))
    return [value]


def passes(leaf: Text | Is | Below | Above | Matches, value: Value) -> bool:
    match leaf:
        case Below(_, bound):
            return isinstance(value, float) and value < bound
        case Above(_, bound):
            return isinstance(value, float) and value > bound
        case Is(_, values):
            return value in values
        case Matches(_, pattern):
            return pattern.search(str(value))
        case Text(_, test, terms):
            return any(text_passes(test, term, str(value)) for term in terms)
        case _:
            assert_never(leaf)


def text_passes(test: str, term: str, text: str) -> bool:
    if test == "starts":
        return text.startswith(term)
    if test == "ends":
        return text.endswith(term)
    if test == "has":
        return term in text
    words = f" {text} "
    return f" {term[:-1]}" in words if term.endswith("*") else f" {term} " in words


def payment(rule: Rule, facts: Facts, decimals: int) -> Reason | None:
    amount = rule.points
    if rule.per is not None:
        unit = facts[rule.per]
        if unit is None:
            return None
        amount *= float(unit)
        amount = amount if rule.at_most is None else min(amount, rule.at_most)
    return Reason(rule.id, half_up(amount, decimals), rule.reason, rule.quiet, rule.tag)


def score(card: Scorecard, facts: Facts) -> Score:
    reasons = [Reason("base", card.base, "base", quiet=True)] if card.base else []
    total = card.base
    for group in card.groups:
        before = total
        paid = [
            reason
            for rule in group.rules
            if value_of(rule.when, facts) and (reason := payment(rule, facts, card.decimals))
        ]
        for reason in paid[:1] if group.mode == "first" else paid:
            reasons.append(reason)
            total += reason.points
        if group.at_most is not None and total - before > group.at_most:
            limit = half_up(before + group.at_most, card.decimals)
            reasons.append(
                Reason(
                    f"{group.name}-cap",
                    half_up(limit - total, card.decimals),
                    f"limited to {limit:g}",
                    quiet=True,
                )
            )
            total = limit
    total = half_up(total, card.decimals)
    inside = min(max(total, card.low), card.high)
    if inside != total:
        reasons.append(
            Reason("range", half_up(inside - total, card.decimals), f"limited to {inside:g}", quiet=True)
        )
    optional = [name for name in fields_read(card) if name not in FIELDS or FIELDS[name].may_be_unknown]
    return Score(inside, tuple(reasons), tuple(name for name in optional if facts[name] is None))
