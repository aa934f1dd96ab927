"""Columns: scorecards evaluated over whole columns, with the values and reasons of the row evaluator.

Owns: the column evaluator, and how tests of text are written for polars. Must not know: TOML, files, which rules exist.
Start reading at `score_columns`, and at `text_test` for texts: patterns that mean the same to both engines run in polars, others
in Python. polars is an extra, so this module is imported on demand. An unknown fact is null, because polars' logic of nulls is
the three-valued logic of the rules. Each rule is one mask, computed once. Sums are made in the order of the rules, because floats
added in another order are other floats. Each rule that paid sets a bit; `read_scores` makes reasons of bits. Numbers are finite.
"""

from __future__ import annotations

import math
import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

import polars as pl

from honeyguide.core.rules import language
from honeyguide.core.rules.facts import CARD, FIELDS, JOIN, FactKind
from honeyguide.core.rules.language import Is, Matches, Text, half_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from honeyguide.core.rules.facts import Value
    from honeyguide.core.rules.language import Condition, Group, Leaf, Rule, Scorecard

    Bounds = Mapping[str, Callable[[float, bool], pl.Expr]]  # where a fact is below a bound, or above it

_BITS = 64  # in one column of the ledger; a card with more rules has more columns
_BEFORE = "sum before the group"
_SMALL_SUM = 30_000.0  # whole numbers below are small integers
_EXACT = 2.0**52  # numbers from here on have no fraction to round
_SMALL = 1e15  # whole numbers that `round` gives exactly after a division


def score_columns(
    frame: pl.LazyFrame, cards: Iterable[Scorecard], *, ledger: bool = True, bounds: Bounds | None = None
) -> pl.LazyFrame:
    """Add `card.x` for each card, in this order; with `ledger`, also which rules paid and which facts are unknown."""
    # Columns of the frame are facts, null where unknown; facts without a column are unknown everywhere.
    known = set(frame.collect_schema().names())
    for card in cards:
        frame = _Card(card, known, bounds or {}).add_to(frame, ledger=ledger)
        known.add(CARD + card.name)
    return frame


def read_scores(frame: pl.DataFrame, card: Scorecard) -> list[language.Score]:
    """Turn the ledger of scored rows into scores with their reasons."""
    units = {rule.per for rule in _rules(card) if rule.per is not None} & set(frame.columns)
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
        values, dtype = [row[name] for row in rows], types.get(_kind(name), pl.String)
        columns.append(pl.Series(name, values, dtype=dtype, strict=False))
    return pl.DataFrame(columns)


class _Card:
    """One card as expressions over the columns that are there."""

    def __init__(self, card: Scorecard, known: set[str], bounds: Bounds) -> None:
        self.card, self.known, self.bounds = card, known, bounds
        self._numbers = {id(rule): place for place, rule in enumerate(_rules(card))}

    def add_to(self, frame: pl.LazyFrame, *, ledger: bool) -> pl.LazyFrame:
        """Add the card's columns: texts as words, then masks, then the value; the steps in between are dropped."""
        tests = [leaf for rule in _rules(self.card) for leaf in language.leaves(rule.when)]
        words = {leaf.field for leaf in tests if isinstance(leaf, Text) and leaf.test == "word"}
        prepared = [words_column(name) for name in sorted(words & self.known)]
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
            case language.Below(field, bound) | language.Above(field, bound):
                is_below = isinstance(condition, language.Below)
                if field in self.bounds:
                    return self.bounds[field](bound, is_below)
                return pl.col(field) < bound if is_below else pl.col(field) > bound
            case Is(field, values) if _kind(field) is FactKind.NUMBER:
                return pl.col(field).is_in([float(one) for one in values if isinstance(one, int | float)])
            case Is(field, values) if _kind(field) is FactKind.FLAG:
                wanted = [flag for flag in (True, False) if flag in values]
                if len(wanted) == 1:
                    return pl.col(field) if wanted[0] else ~pl.col(field)
                return pl.col(field).is_in(wanted)
            case _:
                return text_test(condition)

    # --- what it pays ---

    def _steps(self) -> Iterator[pl.Expr]:
        # A sum that is read more than once is a step of its own; written into one expression it would double each time.
        card, name = self.card, CARD + self.card.name
        total, so_far = pl.lit(float(card.base), dtype=pl.Float64), pl.col(name)
        groups = card.groups
        adds_whole_numbers = _adds_small_whole_numbers(card)
        if adds_whole_numbers:
            total = self._whole_numbers().cast(pl.Float64)
            groups = tuple(group for group in groups if _is_per(group))
        for group in groups:
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
        elif not adds_whole_numbers and any(map(_is_per, groups)):
            # An amount may be rounded to -0.0, and polars leaves out the addition of a literal 0.
            yield pl.when(so_far == 0.0).then(pl.lit(0.0)).otherwise(so_far).alias(name)
        yield from self._limits()

    def _limits(self) -> Iterator[pl.Expr]:
        """Write the range of the card."""
        card, name = self.card, CARD + self.card.name
        so_far, given = pl.col(name), (card.low, card.high)
        bounds = [None if math.isinf(bound) else half_up(bound, card.decimals) for bound in given]
        if all(limit in (None, bound) for limit, bound in zip(bounds, given, strict=True)):
            if bounds != [None, None]:
                yield so_far.clip(*bounds).alias(name)
            return
        # A bound that is rounded is not what a score is compared with.
        for limit, beyond in zip(bounds, (so_far < card.low, so_far > card.high), strict=True):
            if limit is not None:
                yield pl.when(beyond).then(limit).otherwise(so_far).alias(name)

    def _after(self, group: Group, total: pl.Expr, kind: type[pl.DataType] = pl.Float64) -> pl.Expr:
        if group.mode == "first":
            return total + self._first(group, kind)
        for rule in group.rules:
            paid = pl.when(pl.col(self._mask_name(rule))).then(self._payment(rule, kind))
            total = total + paid.otherwise(pl.lit(0, dtype=kind))
        return total

    def _whole_numbers(self) -> pl.Expr:
        """Add what does not depend on facts as small integers, which takes a fraction of the time."""
        total = pl.lit(int(self.card.base), dtype=pl.Int16)
        for group in self.card.groups:
            if not _is_per(group):
                total = self._after(group, total, pl.Int16)
        return total

    def _first(self, group: Group, kind: type[pl.DataType]) -> pl.Expr:
        """Pay the first rule that holds; neighbours that pay the same are one choice."""
        paid = pl.lit(0, dtype=kind)
        alike = groupby(reversed(group.rules), lambda rule: (rule.points, rule.per, rule.at_most))
        for rules in ([*same] for _, same in alike):
            holds = pl.col(self._mask_name(rules[0]))
            for rule in rules[1:]:
                holds = holds | pl.col(self._mask_name(rule))
            paid = pl.when(holds).then(self._payment(rules[0], kind)).otherwise(paid)
        return paid

    def _payment(self, rule: Rule, kind: type[pl.DataType]) -> pl.Expr:
        decimals = self.card.decimals
        if rule.per is None or rule.per not in self.known:
            return pl.lit(half_up(rule.points, decimals), dtype=kind)
        fact = pl.col(rule.per).cast(pl.Float64)
        if rule.at_most is None and not decimals:  # as `_half_up`, in which doubling is exact
            return ((pl.lit(2.0 * rule.points) * fact).floor() * 0.5).ceil()
        amount = pl.lit(rule.points) * fact
        if rule.at_most is not None:
            amount = pl.when(amount > rule.at_most).then(rule.at_most).otherwise(amount)
        return _half_up(amount, decimals)

    # --- who paid ---

    def _ledger(self) -> Iterator[pl.Expr]:
        """Write the bits: which rules paid, and which facts are unknown."""
        name = self.card.name
        paid = [self._has_paid(group, at) for group in self.card.groups for at in range(len(group.rules))]
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


def _is_per(group: Group) -> bool:
    """Tell whether a group pays by a fact."""
    return any(rule.per is not None for rule in group.rules)


def _amounts(group: Group) -> int:
    """Count how many amounts by facts a group pays at once: two may cancel each other out."""
    paid = sum(rule.per is not None for rule in group.rules)
    return min(paid, 1) if group.mode == "first" else paid


def _adds_small_whole_numbers(card: Scorecard) -> bool:
    """Tell whether the order of a card's sums changes no score.

    Sums of whole numbers are exact up to 2^53. Only one amount may be more than that, which leaves the range of the card.
    """
    if card.decimals or math.isinf(card.low) or math.isinf(card.high) or sum(map(_amounts, card.groups)) > 1:
        return False
    rules = [rule for group in card.groups if not _is_per(group) for rule in group.rules]
    most = abs(card.base) + sum(abs(half_up(rule.points)) for rule in rules)
    return (
        card.base == int(card.base)
        and most < _SMALL_SUM
        and all(group.at_most is None for group in card.groups)
    )


def _half_up(value: pl.Expr, decimals: int) -> pl.Expr:
    """Round as `core.rules.language.half_up` does, operation by operation."""
    if not decimals:  # doubling and halving are exact: far faster than comparing the fraction with a half
        return ((value * 2.0).floor() * 0.5).ceil()
    scale = 10.0**decimals
    scaled = value * scale
    floor = scaled.floor()
    rounded = floor + (scaled - floor >= 0.5).cast(pl.Float64)
    # Dividing by a single number, polars multiplies by its reciprocal, which is another float now and then. Its `round` really
    # divides, but is exact only for numbers of this size; beyond it the divisor is a column.
    small, large = (rounded / scale).round(decimals), rounded / (floor * 0.0 + scale)
    exact = pl.when(scaled.abs() < _SMALL).then(small).otherwise(large)
    return pl.when(scaled.abs() < _EXACT).then(exact).otherwise(value)


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


# --- texts ---
# A fact may hold several texts, joined by `core.rules.facts.JOIN`: beginnings, ends and whole texts are searched beside the
# join. No folded text contains a part of the join; a term that does is left to Python.

_WORDS = "words."  # a column with the text between spaces, so that whole words are substrings


def words_column(field: str) -> pl.Expr:
    """Write a text so that each of its words stands between spaces."""
    column = pl.col(field)
    if _has_parts(field):
        column = column.str.replace_all(JOIN, " | ", literal=True)
    return pl.concat_str([pl.lit(" "), column, pl.lit(" ")]).alias(_WORDS + field)


def text_test(leaf: Leaf) -> pl.Expr:
    """Write the test of a text fact; null where it is unknown."""
    column = pl.col(leaf.field)
    several = _has_parts(leaf.field)
    match leaf:
        case Matches(_, pattern):
            if pattern.terms is not None:
                return _contains(column, pattern.terms)
            same = lowered(pattern.source, several=several)
            if same is not None:
                return column.str.contains(same)
            return _by_python(column, pattern.search, several=several)
        case Is(_, values):
            return _equals(column, [value for value in values if isinstance(value, str)], several=several)
        case Text(field, "word", terms):
            needles = [f" {term[:-1]}" if term.endswith("*") else f" {term} " for term in terms]
            return _contains(pl.col(_WORDS + field), needles)
        case Text(_, "has", terms):
            return _contains(column, terms)
        case Text(_, "starts", terms):
            return _at_edge(column, terms, several=several, at_start=True)
        case Text(_, "ends", terms):
            return _at_edge(column, terms, several=several, at_start=False)
        case _:
            raise TypeError(f"{leaf.field} holds no number")


def _has_parts(field: str) -> bool:
    return field in FIELDS and FIELDS[field].kind is FactKind.TEXTS


def _contains(column: pl.Expr, terms: Sequence[str]) -> pl.Expr:
    if not terms or "" in terms:
        return _wherever_known(column, holds=bool(terms))
    if len(terms) == 1:
        return column.str.contains(terms[0], literal=True)
    return column.str.contains_any(list(terms))


def _at_edge(column: pl.Expr, terms: Sequence[str], *, several: bool, at_start: bool) -> pl.Expr:
    if not terms:
        return _wherever_known(column, holds=False)
    if several and _touches_join(terms):
        test, listed = (str.startswith if at_start else str.endswith), tuple(terms)
        return _by_python(column, lambda text: test(text, listed), several=True)
    tests = [column.str.starts_with(term) if at_start else column.str.ends_with(term) for term in terms]
    if several:
        tests.append(_contains(column, [JOIN + term if at_start else term + JOIN for term in terms]))
    return pl.any_horizontal(tests)


def _equals(column: pl.Expr, values: Sequence[str], *, several: bool) -> pl.Expr:
    if not values:
        return _wherever_known(column, holds=False)
    if several and _touches_join(values):
        return _by_python(column, frozenset(values).__contains__, several=True)
    tests = [column.is_in(list(values))]
    if several:
        tests += [column.str.starts_with(value + JOIN) for value in values]
        tests += [column.str.ends_with(JOIN + value) for value in values]
        tests.append(_contains(column, [JOIN + value + JOIN for value in values]))
    return pl.any_horizontal(tests)


def _touches_join(terms: Sequence[str]) -> bool:
    return any(char in term for term in terms for char in set(JOIN))


def _wherever_known(column: pl.Expr, *, holds: bool) -> pl.Expr:
    """Write the same answer for every text, null where there is none."""
    length = column.str.len_bytes()
    return length >= 0 if holds else length < 0


def _by_python(column: pl.Expr, test: Callable[[str], bool], *, several: bool) -> pl.Expr:
    """Test in Python, once for each distinct text."""

    def ask(texts: pl.Series) -> pl.Series:
        answers: dict[str | None, bool | None] = {None: None}
        for text in texts.unique():
            if text is not None:
                answers[text] = any(map(test, text.split(JOIN))) if several else test(text)
        return pl.Series(texts.name, [answers[text] for text in texts], dtype=pl.Boolean)

    return column.map_batches(ask, return_dtype=pl.Boolean, is_elementwise=True)


_TOKEN = re.compile(
    r"(?P<plain>[A-Za-z0-9 _/:,;!@%=<>\"'-]|\.|\||\)|\((?:\?:)?(?!\?)|[*+?])"
    r"|(?P<edge>[\^$])"
    r"|(?P<set>\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[A-Za-z0-9 _])+\])"
    r"|\\(?P<letter>[dwsb])"
    r"|(?P<sign>\\[.+*?()|\[\]^$/-])"
)
_LETTERS = {"d": "[0-9]", "w": "[0-9A-Za-z_]", "s": "[\\t\\n\\f\\r ]", "b": "(?-u:\\b)"}
_EDGES = {"^": "\\A", "$": "\\z"}


def lowered(source: str, *, several: bool) -> str | None:
    """Translate a pattern to polars' engine; None if it might mean something else there."""
    # A pattern for `several` joined texts must have no edge and no space, which the join is made of.
    written, at = "(?i)", 0
    while at < len(source):
        token = _TOKEN.match(source, at)
        if token is None or (several and (token["edge"] or token["letter"] == "s")):
            return None
        at = token.end()
        written += _EDGES.get(token[0]) or _LETTERS.get(token["letter"] or "") or token[0]
    return written
