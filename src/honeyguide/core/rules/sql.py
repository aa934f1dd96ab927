"""A plan card as SQL text, for those whose known URLs are in a database: the same scores, levels and reasons (PLAN-1, PLAN-2).

Owns: how rules are written in SQL, and what differs between DuckDB, PostgreSQL and Spark. Must not know: files, polars.
Start reading at `plan_sql`. An unknown fact is NULL, and SQL's logic of NULL is that of the rules; `greatest` is not used,
because greatest(0, NULL) ignores the NULL in all three. Each sum is a step of its own, in the order of the rules, because
floats added in another order are other floats. A query cannot reject a row, so a value that no file may have (NaN, a count that is
negative or no whole number, an infinite time) is NULL.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from honeyguide.core.rules import language
from honeyguide.core.rules.facts import CARD
from honeyguide.core.rules.language import half_up
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from honeyguide.core.rules.language import Condition, Group, Rule, Scorecard
    from honeyguide.core.rules.profile import Profile

_EXACT = "4503599627370496"  # 2^52: numbers from here on have no fraction to round


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What a database calls things: doubles, texts, the microseconds of a time since 1970, how texts are quoted and URLs compared."""

    double: str
    string: str
    micros: str
    escapes: Mapping[str, str]
    url: str = "url"
    fence: str = ""  # at the end of a step: without it PostgreSQL writes steps into each other, and each doubles the work


# Times without a zone are UTC everywhere; Spark would read them in the zone of the session, so they are given one.
_IN_UTC = (
    "CASE WHEN typeof({0}) IN ('timestamp_ntz', 'date') THEN CAST(concat(CAST(CAST({0} AS TIMESTAMP_NTZ) AS STRING), 'Z') AS TIMESTAMP)"
    " ELSE {0} END"
)
_TWICE = {"'": "''"}
_DIALECTS = {
    "duckdb": _Dialect("DOUBLE", "VARCHAR", "CASE WHEN isfinite({0}) THEN epoch_us({0}) END", _TWICE),
    "postgres": _Dialect(
        "DOUBLE PRECISION", "TEXT", "CASE WHEN isfinite({0}) THEN CAST(EXTRACT(EPOCH FROM {0}) * 1000000 AS BIGINT) END", _TWICE, 'url COLLATE "C"', " OFFSET 0",
    ),
    # A dollar sign would begin a variable.
    "spark": _Dialect("DOUBLE", "STRING", f"unix_micros({_IN_UTC})", {"\\": "\\\\", "'": "\\'", "$": "\\u0024"}),
}  # fmt: skip
DIALECTS = tuple(_DIALECTS)
# Facts of a plan, by the columns they are made of, with their largest value; times are in `_SINCE`.
_COLUMNS = {
    "relevance": ("topic_relevance", 1.0),
    "visits": ("visits", 1e19),
    "hub_depth": ("hub_depth", 1e19),
}
_WHOLE = ("visits", "hub_depth")
_READ = ("url", "is_hub", *(column for column, _ in _COLUMNS.values()))
_SINCE = {"since_visit_s": "last_visited", "since_change_s": "last_changed"}
_LATEST = 253_370_764_800_000_000  # microseconds until the year 9999


def plan_sql(profile: Profile, now: datetime, dialect: str) -> str:
    """Write the query that scores a table `known` with the columns of a plan, the best first, ties by URL."""
    if dialect not in _DIALECTS:
        raise InputError(f"there is no dialect {shown(dialect)}; there are {', '.join(DIALECTS)}")
    words = _DIALECTS[dialect]
    writer, fence = _Writer(words), words.fence
    cards = [profile.cards[name].card for name in profile.chains["plan"]]
    at = now.isoformat(timespec="microseconds")
    lines = [
        f"-- The plan of profile {' '.join(profile.name.split())} in {dialect}: change the time here to score as of another.",
        f"WITH moment AS (SELECT TIMESTAMP '{at}' AS moment_at),"
        if dialect == "spark"
        else f"WITH moment AS (SELECT CAST('{at}' AS TIMESTAMP WITH TIME ZONE) AS moment_at),",
        f"timed AS (SELECT {', '.join([*_READ, *writer.times()])} FROM known CROSS JOIN moment{fence}),",  # noqa: S608 - of quoted parts
        f"step_0 AS (SELECT url, {', '.join(writer.facts())} FROM timed{fence})",  # noqa: S608 - as above
    ]
    step = 0
    for card in cards:
        for columns in writer.steps(card):
            step += 1
            lines[-1] += ","
            lines.append(f"step_{step} AS (SELECT *, {', '.join(columns)} FROM step_{step - 1}{fence})")  # noqa: S608 - as above
    score = _name(CARD + cards[-1].name)
    levels = [
        f"WHEN {score} >= {writer.number(level.at_least)} THEN {writer.text(level.name)}"
        for level in profile.levels[:-1]
    ]
    level = " ".join(["CASE", *levels, "ELSE", writer.text(profile.levels[-1].name), "END"])
    chosen = f"SELECT url, {score} AS score, {level if levels else writer.text(profile.levels[-1].name)} AS level, reasons"
    return "\n".join([*lines, f"{chosen} FROM step_{step} ORDER BY score DESC, {words.url}", ""])


def _name(fact: str) -> str:
    return fact.replace(".", "_").replace("-", "_")


class _Writer:
    """Writes facts, conditions and payments in one dialect."""

    def __init__(self, dialect: _Dialect) -> None:
        self._dialect = dialect
        self._known = {*_COLUMNS, *_SINCE, "is_hub"}

    def number(self, value: float) -> str:
        """Write a number, always as a double: a decimal would be added up otherwise."""
        return f"CAST({value!r} AS {self._dialect.double})"

    def text(self, text: str) -> str:
        """Quote a text."""
        plain = " ".join(text.split())
        return f"'{''.join(self._dialect.escapes.get(sign, sign) for sign in plain)}'"

    def times(self) -> Iterator[str]:
        """Read times as microseconds since 1970."""
        for column, name in (("moment_at", "moment_us"), *((one, f"{one}_us") for one in _SINCE.values())):
            yield f"{self._dialect.micros.format(column)} AS {name}"

    def facts(self) -> Iterator[str]:
        """Read the columns as facts; a time in the future counts as just now."""
        double = self._dialect.double
        for fact, column in _SINCE.items():
            moment, passed = f"{column}_us", f"(moment_us - {column}_us)"
            since = f"CASE WHEN {moment} NOT BETWEEN 0 AND {_LATEST - 1} THEN NULL WHEN {passed} < 0 THEN 0 ELSE {passed} END"
            yield f"CAST({since} AS {double}) / {self.number(1e6)} AS {fact}"
        for fact, (column, most) in _COLUMNS.items():
            value = f"CAST({column} AS {double})"
            valid = f"{value} BETWEEN {self.number(0.0)} AND {self.number(most)}"
            valid += f" AND {value} = floor({value})" if column in _WHOLE else ""
            yield f"CASE WHEN {valid} THEN {value} END AS {fact}"
        yield "is_hub"

    def steps(self, card: Scorecard) -> Iterator[list[str]]:
        """Write a card: which rules hold, the sum group by group, its limits, and the reasons."""
        rules = [rule for group in card.groups for rule in group.rules]
        mask = {id(rule): f"{_name(card.name)}_rule_{place}" for place, rule in enumerate(rules)}
        yield [f"{self._holds(rule)} AS {mask[id(rule)]}" for rule in rules] or ["1 AS no_rule"]
        total = self.number(card.base)
        for place, group in enumerate(card.groups):
            name = f"{_name(card.name)}_sum_{place}"
            yield [f"{self._after(group, total, card.decimals, mask)} AS {name}"]
            if group.at_most is not None:
                limit = f"({total} + {self.number(group.at_most)})"
                capped = self._rounded(limit, card.decimals)
                yield [
                    f"CASE WHEN {name} - {total} > {self.number(group.at_most)} THEN {capped} ELSE {name} END AS {name}_capped"
                ]
                name += "_capped"
            total = name
        if card.decimals:
            yield [f"{self._rounded(total, card.decimals)} AS {_name(card.name)}_rounded"]
            total = f"{_name(card.name)}_rounded"
        limits = [(card.low, "<"), (card.high, ">")]
        bounds = [
            f"WHEN {total} {sign} {self.number(bound)} THEN {self.number(half_up(bound, card.decimals))}"
            for bound, sign in limits if not math.isinf(bound)
        ]  # fmt: skip
        inside = f"CASE {' '.join(bounds)} ELSE {total} END" if bounds else total
        yield [f"{inside} AS {_name(CARD + card.name)}"]
        self._known.add(CARD + card.name)
        if card.name == "plan":
            yield [f"{self._reasons(card.groups, mask)} AS reasons"]

    def _holds(self, rule: Rule) -> str:
        holds = self._condition(rule.when)
        if rule.per is None:
            return holds
        return f"({holds} AND {_name(rule.per)} IS NOT NULL)" if rule.per in self._known else "FALSE"

    def _condition(self, condition: Condition) -> str:
        match condition:
            case language.All(parts):
                return f"({' AND '.join(map(self._condition, parts))})" if parts else "TRUE"
            case language.AnyOf(parts):
                return f"({' OR '.join(map(self._condition, parts))})" if parts else "FALSE"
            case language.Not(part):
                return f"(NOT {self._condition(part)})"
            case _ if condition.field not in self._known:
                return "CAST(NULL AS BOOLEAN)"
            case language.Below(field, bound):
                return f"({_name(field)} < {self.number(bound)})"
            case language.Above(field, bound):
                return f"({_name(field)} > {self.number(bound)})"
            case language.Is("is_hub", values):
                flags = [text for flag, text in ((True, "TRUE"), (False, "FALSE")) if flag in values]
                return f"(is_hub IN ({', '.join(flags)}))"
            case language.Is(field, values):
                numbers = [self.number(float(one)) for one in values if isinstance(one, int | float)]
                return f"({_name(field)} IN ({', '.join(numbers)}))"
            case _:
                raise InputError(
                    f"the plan card tests the text {shown(condition.field)}, which SQL cannot do here"
                )

    def _after(self, group: Group, total: str, decimals: int, mask: Mapping[int, str]) -> str:
        cases = [f"WHEN {mask[id(rule)]} THEN {self._payment(rule, decimals)}" for rule in group.rules]
        none = self.number(0.0)
        if group.mode == "first":
            return f"{total} + CASE {' '.join(cases)} ELSE {none} END" if cases else total
        for case in cases:
            total = f"({total} + CASE {case} ELSE {none} END)"
        return total

    def _payment(self, rule: Rule, decimals: int) -> str:
        if rule.per is None or rule.per not in self._known:
            return self.number(half_up(rule.points, decimals))
        fact = _name(rule.per) if rule.per != "is_hub" else "CASE WHEN is_hub THEN 1 ELSE 0 END"
        amount = f"({self.number(rule.points)} * {fact})"
        if rule.at_most is not None:
            most = self.number(rule.at_most)
            amount = f"CASE WHEN {amount} > {most} THEN {most} ELSE {amount} END"
        return self._rounded(amount, decimals)

    def _rounded(self, value: str, decimals: int) -> str:
        """Round half up as `half_up` does, operation by operation."""
        scale = self.number(10.0**decimals)
        scaled = f"({value}) * {scale}"
        up = f"CASE WHEN {scaled} - floor({scaled}) >= {self.number(0.5)} THEN 1 ELSE 0 END"
        rounded = f"(floor({scaled}) + {up}) / {scale}"
        return f"CASE WHEN abs({scaled}) < {_EXACT} THEN {rounded} ELSE {value} END"

    def _reasons(self, groups: Sequence[Group], mask: Mapping[int, str]) -> str:
        """Join the sentences of the rules that paid; NULL, of those that did not, is left out."""

        def said(rule: Rule) -> str:
            text = f"CAST(NULL AS {self._dialect.string})" if rule.quiet else self.text(rule.reason)
            return f"WHEN {mask[id(rule)]} THEN {text}"

        parts: list[str] = []
        for group in groups:
            if group.mode == "first":
                parts.append(f"CASE {' '.join(map(said, group.rules))} END")
            else:
                parts += [f"CASE {said(rule)} END" for rule in group.rules]
        return f"concat_ws('; ', {', '.join(parts)})" if parts else "''"
