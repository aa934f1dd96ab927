"""Scorecards and rule lists compiled to Python functions, which evaluate one row of facts at a time.

Must not know: TOML, which rules exist. Start reading at `CompiledCard`.
Each card becomes one generated function, because a closure per condition costs three times as much; property tests compare
it with a plain evaluator. The generated text contains only numbers and quoted words of a profile: other values are bound
to names, so that a profile cannot run code.

A test of an unknown fact is neither true nor false. So every condition is written twice, as "known to hold"
(`_Writer.holds`) and as "known not to hold" (`_Writer.fails`); `not` swaps the two.
"""

from __future__ import annotations

import math
from functools import cached_property
from operator import methodcaller
from typing import TYPE_CHECKING, Any, assert_never

from honeyguide.core.rules.facts import FIELDS, FILL, JOIN, MEASURED, FactKind
from honeyguide.core.rules.language import (
    Above,
    All,
    AnyOf,
    Below,
    Is,
    Matches,
    Not,
    Reason,
    Score,
    Text,
    fields_read,
    half_up,
    leaves,
)
from honeyguide.core.rules.together import Together, answer_name
from honeyguide.core.text.word_lists import WordLists

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from honeyguide.core.page.page import Head, Link
    from honeyguide.core.rules.facts import Value
    from honeyguide.core.rules.language import Condition, Group, Leaf, Rule, Scorecard

    Row = Mapping[str, Value]


_UNROLLED = 24  # terms of a `has` that are written out; longer lists are looped over
_OUTCOMES = 4_096  # of a card that are remembered


class CompiledCard:
    """A scorecard, compiled on first use because no command uses all cards of a profile."""

    def __init__(self, card: Scorecard) -> None:
        self.card = card

    @cached_property
    def score(self) -> Callable[[Row], Score]:
        """Score a row of facts."""
        scored: Callable[[Row], Score] = _compile(self.card, "row")
        return scored

    @cached_property
    def score_link(self) -> Callable[[Link, Head | None], Score]:
        """Score a link directly, without a row of facts."""
        scored: Callable[[Link, Head | None], Score] = _compile(self.card, "link")
        return scored

    def score_links(self, links: Sequence[Link], texts: Mapping[str, str]) -> list[Score]:
        """Score many links at once; `texts` contains the folded text of every fact of every link."""
        return self._together.scores(links, texts)

    @cached_property
    def _together(self) -> Together:
        return Together(self.card, self.score_link)

    @cached_property
    def fields(self) -> frozenset[str]:
        """The facts that the card reads."""
        return frozenset(fields_read(self.card))

    @cached_property
    def categories(self) -> frozenset[str]:
        """The ids of the rules of its first group, if that gives the category (PICK-3)."""
        first = self.card.groups[0]
        return frozenset(rule.id for rule in first.rules if first.name == "category")

    @cached_property
    def telling(self) -> frozenset[str]:
        """The ids of the rules whose reasons say what they found."""
        return frozenset(self.shown) | frozenset(self.searches)

    @cached_property
    def shown(self) -> Mapping[str, str]:
        """The facts that reasons end with, by the id of their rule."""
        rules = (rule for group in self.card.groups for rule in group.rules)
        return {rule.id: rule.show for rule in rules if rule.show is not None}

    @cached_property
    def searches(self) -> Mapping[str, Condition]:
        """The conditions that look for words in a text, by the id of their rule."""
        rules = (rule for group in self.card.groups for rule in group.rules)
        return {
            rule.id: rule.when
            for rule in rules
            if any(isinstance(leaf, Text) and leaf.test == "has" for leaf in leaves(rule.when))
        }


class RuleList:
    """Rules of which the first match decides: filters, buckets, drops. Compiled on first use."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules = tuple(rules)

    @cached_property
    def fields(self) -> frozenset[str]:
        """The facts that the rules read."""
        return frozenset(leaf.field for rule in self.rules for leaf in leaves(rule.when))

    @cached_property
    def patterns(self) -> tuple[Matches, ...]:
        """The tests that need the engine for patterns."""
        tests = (leaf for rule in self.rules for leaf in leaves(rule.when))
        return tuple(leaf for leaf in tests if isinstance(leaf, Matches) and leaf.pattern.terms is None)

    @cached_property
    def first(self) -> Callable[[Row], Rule | None]:
        """Return the rule that decides about a row of facts, if one does."""
        writer = _Writer("row", is_eager=True)
        lines = [f"    if {writer.holds(rule.when)}: return {writer.bind(rule)}" for rule in self.rules]
        decide: Callable[[Row], Rule | None] = writer.function("decide(row)", [*lines, "    return None"])
        return decide


def _compile(card: Scorecard, source: str) -> Any:
    """Compile a card; where no rule pays by a number, links for which the same rules pay share one `Score`."""
    whole = _compile_whole(card, _Writer(source))
    rules = [rule for group in card.groups for rule in group.rules]
    if any(rule.per is not None for rule in rules):
        return whole
    writer = _Writer(source)
    lines, bit = ["    paid = 0"], 1
    for group in card.groups:
        word = "if"
        for rule in group.rules:
            lines.append(f"    {word} {writer.holds(rule.when)}: paid |= {bit}")
            word, bit = "elif" if group.mode == "first" else "if", 2 * bit
    for name in _unknowable(card):
        lines.append(f"    if {writer.read(name)} is None: paid |= {bit}")
        bit *= 2
    known: dict[int, Score] = {}
    given = "row" if source == "row" else "link, head"
    lines += [
        f"    score = {writer.bind(known)}.get(paid)",
        f"    return score if score is not None else {writer.bind(_remember)}({writer.bind(known)}, paid, {writer.bind(whole)}({given}))",
    ]
    return writer.function(_HEADS[source], lines)


_HEADS = {"row": "score(row)", "link": "score(link, head=None)"}


def _remember(known: dict[int, Score], paid: int, score: Score) -> Score:
    if len(known) >= _OUTCOMES:
        known.clear()
    known[paid] = score
    return score


def _unknowable(card: Scorecard) -> list[str]:
    """Return the facts that the card reads and that may be unknown: the score names them."""
    return [name for name in fields_read(card) if name not in FIELDS or FIELDS[name].may_be_unknown]


def _compile_whole(card: Scorecard, writer: _Writer) -> Any:
    lines = [f"    total = {card.base!r}", "    out = []", "    pays = out.append", "    unknown = ()"]
    if card.base:
        lines.append(f"    pays({writer.bind(Reason('base', card.base, 'base', quiet=True))})")
    for group in card.groups:
        lines += _group(group, writer, card.decimals)
    if card.decimals:  # sums of whole numbers are exact
        lines.append(f"    total = half_up(total, {card.decimals})")
    low, high = writer.bind(card.low), writer.bind(card.high)
    if not (math.isinf(card.low) and math.isinf(card.high)):
        lines.append(
            f"    if not {low} <= total <= {high}: total = adjust(out, 'range', total, min(max(total, {low}), {high}), {card.decimals})"
        )
    for name in _unknowable(card):
        lines.append(f"    if {writer.read(name)} is None: unknown += ({name!r},)")
    # Without `Score.__new__`, whose call would cost more than the object.
    lines += [
        "    score = new(Score, total)",
        "    score.reasons = tuple(out)",
        "    score.unknown = unknown",
        "    return score",
    ]
    return writer.function(_HEADS[writer.source], lines)


def _group(group: Group, writer: _Writer, decimals: int) -> list[str]:
    """Write a group: `first` is a chain of if and elif, `all` is an if for each rule."""
    lines = ["    before = total"] if group.at_most is not None else []
    word = "if"
    for rule in group.rules:
        reason = Reason(rule.id, half_up(rule.points, decimals), rule.reason, rule.quiet, rule.tag)
        if rule.per is None:
            lines.append(f"    {word} {writer.holds(rule.when)}:")
            lines.append(f"        total += {reason.points!r}; pays({writer.bind(reason)})")
        else:
            paid = f"pay({writer.bind(rule)}, {decimals}, {writer.name(rule.per)})"
            lines.append(f"    {word} {writer.holds(rule.when)} and {writer.read(rule.per)} is not None:")
            lines.append(f"        reason = {paid}; total += reason.points; pays(reason)")
        word = "elif" if group.mode == "first" else "if"
    if group.at_most is not None:
        cap = writer.bind(group.at_most)
        lines.append(
            f"    if total - before > {cap}: total = adjust(out, {group.name + '-cap'!r}, total, before + {cap}, {decimals})"
        )
    return lines


class _Writer:
    """Writes one function, which reads each fact once: when it is first needed, or at the start, except those of plug-ins."""

    def __init__(self, source: str, *, is_eager: bool = False) -> None:
        self.source = source
        self._is_eager = is_eager
        self._eager: dict[str, str] = {}  # variables, and what they are at the start
        self._bound: dict[str, Any] = {
            "Score": Score,
            "half_up": half_up,
            "adjust": _adjust,
            "pay": _pay,
            "new": float.__new__,
            "JOIN": JOIN,
            "_": object(),
        }
        self._fields: dict[str, str] = {}
        self._lists: dict[str, WordLists] = {}

    def bind(self, value: object) -> str:
        """Bind a value to a new name that the function can use."""
        name = f"k{len(self._bound)}"
        self._bound[name] = value
        return name

    def name(self, field: str) -> str:
        """Name the variable that holds a fact."""
        return self._fields.setdefault(field, f"f{len(self._fields)}")

    def read(self, field: str) -> str:
        """Write an expression that reads a fact into its variable on first use."""
        name = self.name(field)
        if self._is_early(field):
            self._eager.setdefault(name, f"row[{field!r}]")
            return name
        if self.source == "row":
            fresh = f"row[{field!r}]"
        else:
            fresh = f"{self.bind(FILL[field])}(link, head)" if field in FILL else "None"
        return f"({name} if {name} is not _ else ({name} := {fresh}))"

    def _is_early(self, field: str) -> bool:
        """Tell whether a fact is read at the start: the tests are shorter then, but a plug-in may take long to measure it."""
        return self._is_eager and field not in MEASURED

    def function(self, head: str, lines: list[str]) -> Any:
        """Compile the lines of the function."""
        late = [name for name in self._fields.values() if name not in self._eager]
        start = [f"    {' = '.join(late)} = _"] if late else []
        start += [f"    {name} = {value}" for name, value in self._eager.items()]
        text = "\n".join([f"def {head}:", *start, *lines])
        exec(compile(text, f"<compiled {head}>", "exec"), self._bound)  # noqa: S102 - our own text; words are quoted, values bound
        return self._bound[head.partition("(")[0]]

    def holds(self, condition: Condition) -> str:
        """Write an expression for: the condition is known to hold."""
        match condition:
            case All(parts):
                return _joined("and", map(self.holds, parts), "True")
            case AnyOf(parts):
                return _joined("or", map(self.holds, parts), "False")
            case Not(part):
                return self.fails(part)
            case Text(field=field, test="word") if self._is_early(field):
                return self._test(condition)  # no word is found in an unknown fact
            case _:
                return self._known_and(condition.field, self._test(condition))

    def fails(self, condition: Condition) -> str:
        """Write an expression for: the condition is known not to hold."""
        match condition:
            case All(parts):
                return _joined("or", map(self.fails, parts), "False")
            case AnyOf(parts):
                return _joined("and", map(self.fails, parts), "True")
            case Not(part):
                return self.holds(part)
            case _:
                return self._known_and(condition.field, f"not {self._test(condition)}")

    def _known_and(self, field: str, test: str) -> str:
        """Write that a fact is known and passes a test of its variable."""
        if test == "False":
            return test
        return f"({self.read(field)} is not None and {test})"

    def _test(self, leaf: Leaf) -> str:
        """Write the test of a fact that is known and in its variable."""
        value = self.name(leaf.field)
        match leaf:
            case Below(_, bound):
                return f"{value} < {self.bind(bound)}"
            case Above(_, bound):
                return f"{value} > {self.bind(bound)}"
            case Is(field, values):
                known = self.bind(frozenset(values))
                one = f"{value} in {known}"
                if not _has_parts(field):
                    return one
                return f"({one} or (JOIN in {value} and not {known}.isdisjoint({value}.split(JOIN))))"
            case Text():
                return self._text(leaf, value)
            case Matches(field, pattern):
                if pattern.terms is not None:
                    return self._contains(value, pattern.terms)
                search = self._on_parts(field, value, pattern.search)
                if self.source != "row":
                    return search
                answer = self.name(f"answer to {field}")
                return f"({answer} if ({answer} := row.get({answer_name(leaf)!r})) is not None else {search})"
            case _:
                assert_never(leaf)

    def _text(self, leaf: Text, value: str) -> str:
        terms = leaf.terms
        match leaf.test:
            case "has":
                return self._contains(value, terms)
            case "word":
                return self._has_word(leaf.field, value, terms)
            case "starts" | "ends":
                method = f"{leaf.test}with"  # of a text
                short = f"{value}.{method}({self.bind(terms)})"
                return self._on_parts(leaf.field, value, methodcaller(method, terms), short)
            case _:
                assert_never(leaf.test)

    def _has_word(self, field: str, value: str, terms: tuple[str, ...]) -> str:
        """Write a test for words: all lists that rules look for in a fact are searched once, each is a bit of the answer."""
        lists = self._lists.setdefault(field, WordLists())
        bits = self.name(f"words of {field}")
        found = f"{self.bind(lists.found)}({value}.replace(JOIN, ' | '))"
        if self._is_early(field):
            self.read(field)
            self._eager.setdefault(bits, f"{found} if {value} is not None else 0")
            return f"{bits} & {lists.add(terms)}"
        return f"({bits} if {bits} is not _ else ({bits} := {found})) & {lists.add(terms)}"

    def _contains(self, value: str, terms: tuple[str, ...]) -> str:
        """Write a containment test, which needs no splitting because no term contains `JOIN`."""
        if len(terms) > _UNROLLED:
            return f"any([term in {value} for term in {self.bind(terms)}])"
        return _joined("or", (f"{term!r} in {value}" for term in terms), "False")

    def _on_parts(self, field: str, value: str, test: Callable[[str], bool], short: str | None = None) -> str:
        """Write a test that passes if any of the texts of a fact passes it."""
        whole = short or f"{self.bind(test)}({value})"
        if not _has_parts(field):
            return whole
        return f"({whole} if JOIN not in {value} else any(map({self.bind(test)}, {value}.split(JOIN))))"


def _joined(word: str, parts: Iterable[str], empty: str) -> str:
    listed = list(parts)
    return f"({f' {word} '.join(listed)})" if listed else empty


def _has_parts(field: str) -> bool:
    return field in FIELDS and FIELDS[field].kind is FactKind.TEXTS


def _pay(rule: Rule, decimals: int, value: float) -> Reason:
    """Pay points per unit of a fact, up to `at_most`."""
    amount = rule.points * float(value)
    if rule.at_most is not None and amount > rule.at_most:
        amount = rule.at_most
    return Reason(rule.id, half_up(amount, decimals), rule.reason, rule.quiet, rule.tag)


def _adjust(reasons: list[Reason], rule: str, total: float, limit: float, decimals: int) -> float:
    """Add a reason for what a limit cuts off, so that the points still add up."""
    limit = half_up(limit, decimals)
    reasons.append(Reason(rule, half_up(limit - total, decimals), f"limited to {limit:g}", quiet=True))
    return limit
