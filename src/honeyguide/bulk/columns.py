"""Columns: scorecards evaluated over whole columns, with the values and reasons of the row evaluator.

Owns: the column evaluator. Must not know: TOML, files, which rules exist. Start reading at `score_columns`. polars is an
extra, so this module is imported on demand. An unknown fact is null, and polars' logic of nulls is the three-valued logic of
the rules. Each rule is one mask, computed once. Sums are made in the order of the rules, because floats added in another
order are other floats. Each rule that paid sets one bit; `read_scores` turns bits into reasons. Numbers must be finite.
"""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

import polars as pl

from honeyguide.bulk.text_tests import text_test, words_column
from honeyguide.core.rules import language
from honeyguide.core.rules.facts import CARD, FIELDS, FactKind
from honeyguide.core.rules.language import half_up

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from honeyguide.core.rules.facts import Value
    from honeyguide.core.rules.language import Condition, Group, Rule, Scorecard

_BITS = 64  # in one column of the ledger; a card with more rules has more columns
_BEFORE = "sum before the group"
_EXACT = 2.0**52  # numbers from here on have no fraction to round


def score_columns(frame: pl.LazyFrame, cards: Iterable[Scorecard], *, ledger: bool = True) -> pl.LazyFrame:
    """Add `card.x` for each card, in this order; with `ledger`, also which rules paid and which facts are unknown."""
    # Columns of the frame are facts, null where unknown; facts without a column are unknown everywhere.
    known = set(frame.collect_schema().names())
    for card in cards:
        frame = _Card(card, known).add_to(frame, ledger=ledger)
        known.add(CARD + card.name)
    return frame


def read_scores(frame: pl.DataFrame, card: Scorecard) -> list[language.Score]:
    """Turn the ledger of scored rows into scores with their reasons."""
    units = {rule.per for rule in _rules(card) if rule.per is not None}
    units &= set(frame.columns)
    optional = _optional(card)
    paid = _joined(frame, f"paid.{card.name}.")
    unknown = _joined(frame, f"unknown.{card.name}.")
    facts = frame.select(sorted(units)).iter_rows(named=True) if units else iter([{}] * frame.height)
    values = frame[CARD + card.name].to_list()
    return [
        language.Score(
            value,
            tuple(_reasons(card, bits, row)),
            tuple(name for place, name in enumerate(optional) if missing >> place & 1),
        )
        for value, bits, missing, row in zip(values, paid, unknown, facts, strict=True)
    ]


def fact_frame(rows: Sequence[Mapping[str, Value]], names: Iterable[str]) -> pl.DataFrame:
    """Make columns of rows of facts, each with the type of its kind."""
    types: dict[FactKind, type[pl.DataType]] = {FactKind.NUMBER: pl.Float64, FactKind.FLAG: pl.Boolean}
    columns = []
    for name in names:
        dtype = types.get(_kind(name), pl.String)
        columns.append(pl.Series(name, [row[name] for row in rows], dtype=dtype, strict=False))
    return pl.DataFrame(columns)


class _Card:
    """One card as expressions over the columns that are there."""

    def __init__(self, card: Scorecard, known: Collection[str]) -> None:
        self.card = card
        self.known = known
        self._numbers = {id(rule): place for place, rule in enumerate(_rules(card))}

    def add_to(self, frame: pl.LazyFrame, *, ledger: bool) -> pl.LazyFrame:
        """Add the card's columns: texts as words, then masks, then the value; the steps in between are dropped."""
        tests = [
            leaf
            for rule in _rules(self.card)
            for leaf in language.leaves(rule.when)
            if leaf.field in self.known
        ]
        words = {leaf.field for leaf in tests if isinstance(leaf, language.Text) and leaf.test == "word"}
        prepared = [words_column(name) for name in sorted(words)]
        masks = [self._mask(rule).alias(self._mask_name(rule)) for rule in _rules(self.card)]
        frame = frame.with_columns(prepared).with_columns(masks)
        for step in self._steps():
            frame = frame.with_columns(step)
        if ledger:
            frame = frame.with_columns(list(self._ledger()))
        spent = [column.meta.output_name() for column in (*prepared, *masks)]
        return frame.drop([*spent, _BEFORE], strict=False)

    def _mask_name(self, rule: Rule) -> str:
        return f"mask.{self._numbers[id(rule)]}"

    def _mask(self, rule: Rule) -> pl.Expr:
        """Write where a rule holds and the fact it pays by is known; null pays as little as false."""
        holds = self._condition(rule.when)
        if rule.per is None:
            return holds
        return holds & (pl.col(rule.per).is_not_null() if rule.per in self.known else pl.lit(value=False))

    def _condition(self, condition: Condition) -> pl.Expr:
        """Write a condition: true, false, or null where it depends on an unknown fact."""
        match condition:
            case language.All(parts):
                return pl.all_horizontal([pl.lit(value=True), *map(self._condition, parts)])
            case language.AnyOf(parts):
                return pl.any_horizontal([pl.lit(value=False), *map(self._condition, parts)])
            case language.Not(part):
                return ~self._condition(part)
            case _ if condition.field not in self.known:
                return pl.lit(None, dtype=pl.Boolean)
            case language.Below(field, bound):
                return pl.col(field) < bound
            case language.Above(field, bound):
                return pl.col(field) > bound
            case language.Is(field, values) if _kind(field) is FactKind.NUMBER:
                return pl.col(field).is_in([float(one) for one in values if isinstance(one, int | float)])
            case language.Is(field, values) if _kind(field) is FactKind.FLAG:
                return pl.col(field).is_in([flag for flag in (True, False) if flag in values])
            case _:
                return text_test(condition)

    # --- what it pays ---

    def _steps(self) -> Iterator[pl.Expr]:
        # A sum that is read more than once is a step of its own; written into one expression it would double each time.
        card, name = self.card, CARD + self.card.name
        total, so_far = pl.lit(float(card.base), dtype=pl.Float64), pl.col(name)
        for group in card.groups:
            if group.at_most is None:
                total = self._after(group, total)
                continue
            yield total.alias(_BEFORE)
            yield self._after(group, pl.col(_BEFORE)).alias(name)
            capped = _half_up(pl.col(_BEFORE) + group.at_most, card.decimals)
            yield pl.when(so_far - pl.col(_BEFORE) > group.at_most).then(capped).otherwise(so_far).alias(name)
            total = so_far
        yield total.alias(name)
        if card.decimals:  # sums of whole numbers are exact
            yield _half_up(pl.col(name), card.decimals).alias(name)
        for bound, is_beyond in ((card.low, so_far < card.low), (card.high, so_far > card.high)):
            if not math.isinf(bound):
                limit = half_up(bound, card.decimals)
                yield pl.when(is_beyond).then(limit).otherwise(so_far).alias(name)

    def _after(self, group: Group, total: pl.Expr) -> pl.Expr:
        if group.mode == "first":
            return total + self._first(group)
        for rule in group.rules:
            paid = pl.when(pl.col(self._mask_name(rule))).then(self._payment(rule)).otherwise(0.0)
            total = total + paid
        return total

    def _first(self, group: Group) -> pl.Expr:
        """Pay the first rule that holds; neighbours that pay the same are one choice."""
        paid = pl.lit(0.0)
        alike = groupby(reversed(group.rules), lambda rule: (rule.points, rule.per, rule.at_most))
        for rules in ([*same] for _, same in alike):
            holds = pl.col(self._mask_name(rules[0]))
            for rule in rules[1:]:
                holds = holds | pl.col(self._mask_name(rule))
            paid = pl.when(holds).then(self._payment(rules[0])).otherwise(paid)
        return paid

    def _payment(self, rule: Rule) -> pl.Expr:
        decimals = self.card.decimals
        if rule.per is None or rule.per not in self.known:
            return pl.lit(half_up(rule.points, decimals))
        amount = pl.lit(rule.points) * pl.col(rule.per).cast(pl.Float64)
        if rule.at_most is not None:
            amount = pl.when(amount > rule.at_most).then(rule.at_most).otherwise(amount)
        return _half_up(amount, decimals)

    # --- who paid ---

    def _ledger(self) -> Iterator[pl.Expr]:
        """Write the bits: which rules paid, and which facts are unknown."""
        name = self.card.name
        paid = [
            self._has_paid(group, place) for group in self.card.groups for place in range(len(group.rules))
        ]
        facts = _optional(self.card)
        missing = [pl.col(fact).is_null() if fact in self.known else pl.lit(value=True) for fact in facts]
        for label, bits in (("paid", paid), ("unknown", missing)):
            for word in range(max(1, math.ceil(len(bits) / _BITS))):
                packed = none = pl.lit(0, dtype=pl.UInt64)
                for bit, mask in enumerate(bits[word * _BITS : (word + 1) * _BITS]):
                    packed = packed | pl.when(mask).then(pl.lit(1 << bit, pl.UInt64)).otherwise(none)
                yield packed.alias(f"{label}.{name}.{word}")

    def _has_paid(self, group: Group, place: int) -> pl.Expr:
        """Write where a rule paid: its mask, in a `first` group without the rows of earlier rules."""
        masks = [pl.col(self._mask_name(rule)) for rule in group.rules[: place + 1]]
        if group.mode == "all" or place == 0:
            return masks[-1]
        return masks[-1] & ~pl.any_horizontal([mask.fill_null(value=False) for mask in masks[:-1]])


def _half_up(value: pl.Expr, decimals: int) -> pl.Expr:
    """Round as `core.rules.half_up` does, operation by operation."""
    scale = 10.0**decimals
    scaled = value * scale if decimals else value
    floor = scaled.floor()
    rounded = floor + (scaled - floor >= 0.5).cast(pl.Float64)
    if not decimals:  # numbers too large for a fraction come out as they are
        return rounded
    # Dividing by a single number, polars multiplies by its reciprocal, which is another float now and then.
    rounded = rounded / (floor * 0.0 + scale)
    return pl.when(scaled.abs() < _EXACT).then(rounded).otherwise(value)


def _rules(card: Scorecard) -> list[Rule]:
    return [rule for group in card.groups for rule in group.rules]


def _optional(card: Scorecard) -> list[str]:
    return [name for name in language.fields_read(card) if name not in FIELDS or FIELDS[name].may_be_unknown]


def _kind(field: str) -> FactKind:
    return FIELDS[field].kind if field in FIELDS else FactKind.NUMBER


def _joined(frame: pl.DataFrame, prefix: str) -> list[int]:
    """Read the words of the ledger as one number for each row."""
    bits = [0] * frame.height
    for word, name in enumerate(name for name in frame.columns if name.startswith(prefix)):
        bits = [low | high << (word * _BITS) for low, high in zip(bits, frame[name], strict=True)]
    return bits


def _reasons(card: Scorecard, bits: int, facts: Mapping[str, Any]) -> Iterator[language.Reason]:
    """Write the ledger as the row evaluator does, limits included."""
    total = card.base
    if card.base:
        yield language.Reason("base", card.base, "base", quiet=True)
    place = 0
    for group in card.groups:
        before = total
        for rule in group.rules:
            if bits >> place & 1:
                reason = _paid(rule, card.decimals, facts)
                total += reason.points
                yield reason
            place += 1
        if group.at_most is not None and total - before > group.at_most:
            limit = half_up(before + group.at_most, card.decimals)
            yield _limited(f"{group.name}-cap", total, limit, card.decimals)
            total = limit
    total = half_up(total, card.decimals) if card.decimals else total
    inside = min(max(total, card.low), card.high)
    if inside != total:
        yield _limited("range", total, half_up(inside, card.decimals), card.decimals)


def _paid(rule: Rule, decimals: int, facts: Mapping[str, Any]) -> language.Reason:
    amount = rule.points
    if rule.per is not None:
        amount = rule.points * float(facts[rule.per])
        if rule.at_most is not None and amount > rule.at_most:
            amount = rule.at_most
    return language.Reason(rule.id, half_up(amount, decimals), rule.reason, rule.quiet, rule.tag)


def _limited(rule: str, total: float, limit: float, decimals: int) -> language.Reason:
    return language.Reason(rule, half_up(limit - total, decimals), f"limited to {limit:g}", quiet=True)
