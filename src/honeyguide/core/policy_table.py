"""Ranking by a recrawl policy: known pages, the best first, row by row.

Owns: the price that makes a score of a worth, ranks, what is dead. Must not know: files, stores, the clock, and what any
policy ranks by. Start reading at `PolicyTable.plan`; a plan by the rules of a profile alone is `core.ranking.RowTable`.

A worth is a number without a scale. The price gives it one: it is the worth of the last page that the budget pays for,
and scores 60. Without a number of pages to choose, the best tenth is taken for the budget.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from honeyguide.core.history import site_of
from honeyguide.core.page_state import drop_reason, page_of
from honeyguide.core.plan import Scored, future_fields, level_of
from honeyguide.core.ranking import Asked, Best, Count, Entry, Plan
from honeyguide.core.rate import score_of
from honeyguide.core.schedules import Heuristic
from honeyguide.core.url import Url

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from datetime import datetime

    from honeyguide.core.page_state import PageState
    from honeyguide.core.profile import Profile
    from honeyguide.core.ranking import Row, RowTable
    from honeyguide.core.recrawl import RecrawlPolicy

SHARE = 10  # one of so many pages is in the budget, where nobody says how many


@dataclass(slots=True)
class _Survey:
    """What all pages are worth, in the order of their rows; row `numbers[n]` is worth `values[n]`."""

    now: float
    values: array[float] = field(default_factory=lambda: array("d"))
    numbers: array[int] = field(default_factory=lambda: array("q"))
    ordered: list[float] = field(default_factory=list)
    price: float = 0.0
    future: Count = field(default_factory=Count)
    dead: Count = field(default_factory=Count)


class PolicyTable:
    """Known pages, a row at a time; `rows` starts over whenever it is called, and a URL comes once.

    `checked` is the table that has sorted out URLs that came again, if there is one.
    """

    def __init__(
        self,
        rows: Callable[[], Iterator[Row]],
        policy: RecrawlPolicy,
        profile: Profile,
        name: str = "",
        checked: RowTable | None = None,
    ) -> None:
        self.policy = policy.name
        self._rows = rows
        self._policy = policy
        self._profile = profile
        self._name = name
        self._checked = checked
        self._survey: _Survey | None = None

    def plan(self, asked: Asked) -> Plan:
        """Rank the rows."""
        best: Best[Row] = Best(asked.top, asked.per_host)
        survey = self._surveyed(asked, best)
        found = best.found()
        self._set_price(survey, found if asked.top or asked.per_host else ())
        if asked.levels:  # only now that the price is known can a level be told
            found = self._of_levels(asked, survey)
        ranks = _ranks(survey, [(value, number) for value, number, _ in found])
        entries = (self._entry(rank, row, survey) for rank, (_, _, row) in zip(ranks, found, strict=True))
        plan = Plan([entry for entry in entries if asked.wants(entry.scored)])
        plan.levels = self._levels(survey)
        plan.future, plan.dead = survey.future, survey.dead
        if self._checked is not None:
            _, plan.repeated, plan.unremembered = self._checked.repeated()
        return plan

    def find(self, urls: Collection[str]) -> dict[str, Row]:
        """Look rows up by their URL, as it is written."""
        wanted = frozenset(urls)
        return {row.signals.url: row for row in self._rows() if row.signals.url in wanted}

    def rank_of(self, row: Row, now: datetime) -> int:
        """Say where a row stands among all."""
        survey = self._current(now)
        value = self._policy.value(state_of(row), survey.now)
        return next(_ranks(survey, [(value, row.number)]))

    def judge(self, row: Row, now: datetime) -> Entry:
        """Say what a row is worth, by the price of the last plan; its rank is not counted."""
        return self._entry(0, row, self._current(now))

    # --- passes over the rows ---

    def _surveyed(self, asked: Asked, best: Best[Row] | None = None) -> _Survey:
        """Find out what every page is worth, and keep the best."""
        survey = self._survey = _Survey(asked.now.timestamp())
        for row, value in self._valued(survey, asked.now):
            survey.values.append(value)
            survey.numbers.append(row.number)
            if best is not None:
                if asked.top is None and asked.per_host is None and len(survey.values) > asked.limit:
                    raise asked.too_many(self._name)
                best.add(value, row.number, row.signals.url, row)
        survey.ordered = sorted(survey.values)
        return survey

    def _valued(self, survey: _Survey, now: datetime) -> Iterator[tuple[Row, float]]:
        for row in self._rows():
            state = state_of(row)
            if (why := drop_reason(state)) is not None:
                survey.dead.add(f"{row.where} ({why})")
                continue
            if max(state.visited_at or 0.0, state.changed_at or 0.0) > survey.now:
                fields = ", ".join(future_fields(row.signals, now))
                survey.future.add(f"{row.where} ({fields})")
            yield row, self._policy.value(state, survey.now)

    def _of_levels(self, asked: Asked, survey: _Survey) -> list[tuple[float, int, Row]]:
        best: Best[Row] = Best(asked.top, asked.per_host)
        for row, value in self._valued(_Survey(survey.now), asked.now):
            if level_of(self._score(value, survey), self._profile).name in asked.levels:
                best.add(value, row.number, row.signals.url, row)
        return best.found()

    def _current(self, now: datetime) -> _Survey:
        survey = self._survey
        if survey is None or survey.now != now.timestamp():
            survey = self._surveyed(Asked(now))
            self._set_price(survey, ())
        return survey

    # --- from worth to score ---

    @staticmethod
    def _set_price(survey: _Survey, taken: Iterable[tuple[float, int, Row]]) -> None:
        """Take the worth of the last page that is paid for; one that is worth nothing is no measure."""
        listed = [value for value, _, _ in taken]
        if not listed:
            count = -(-len(survey.ordered) // SHARE)
            listed = survey.ordered[-count:] if count else []
        survey.price = min((value for value in listed if value > 0.0), default=1.0)

    def _score(self, value: float, survey: _Survey) -> float:
        return value if isinstance(self._policy, Heuristic) else score_of(value, survey.price)

    def _levels(self, survey: _Survey) -> dict[str, int]:
        counts = dict.fromkeys((level.name for level in self._profile.levels), 0)
        for value in survey.values:
            counts[level_of(self._score(value, survey), self._profile).name] += 1
        return counts

    def _entry(self, rank: int, row: Row, survey: _Survey) -> Entry:
        found = self._policy.judge(state_of(row), survey.now, survey.price)
        scored = Scored(row.signals, found.score, level_of(found.score.value, self._profile))
        return Entry(rank, scored, found.next_due)


def _ranks(survey: _Survey, found: Collection[tuple[float, int]]) -> Iterator[int]:
    """Count what is worth more than each, and what is worth the same and comes before it."""
    ordered = survey.ordered
    same = {value for value, _ in found if bisect_right(ordered, value) - bisect_left(ordered, value) > 1}
    before: dict[tuple[float, int], int] = {}
    if same:
        wanted, met = set(found), dict.fromkeys(same, 0)
        for value, number in zip(survey.values, survey.numbers, strict=True):
            if value in same:
                if (value, number) in wanted:
                    before[value, number] = met[value]
                met[value] += 1
    for value, number in found:
        yield 1 + len(ordered) - bisect_right(ordered, value) + before.get((value, number), 0)


def state_of(row: Row) -> PageState:
    """Give what a policy may know of a row; signals alone say nothing of its change rate.

    >>> from honeyguide.core.plan import Signals
    >>> from honeyguide.core.ranking import Row
    >>> state_of(Row(1, "row 1", Signals("https://a.example/", visits=3, is_hub=True))).page_class
    'hub'
    """
    return (
        row.state if row.state is not None else page_of(row.signals, site_of(Url.parse(row.signals.url).text))
    )
