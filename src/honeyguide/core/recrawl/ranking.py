"""Ranking: the best of many known URLs, row by row, and where a single one stands (PLAN-3).

Owns: the ranking of rows. Must not know: files, stores, the clock. Start reading at `RowTable.plan`. Tables of columns
(`bulk`) give the same answers for large files. Scores descend; the same score keeps the order of the input. A rank counts
every URL, also those that a query leaves out. Policy values are scaled by a price: that of the last page in the budget is 60.
"""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from honeyguide.core.recrawl import plan
from honeyguide.core.recrawl.history import site_of
from honeyguide.core.recrawl.plan import (
    Count,
    KnownUrl,
    Plan,
    PlanEntry,
    PlanQuery,
    budget_levels,
    level_at,
    level_of,
)
from honeyguide.core.recrawl.policies import Heuristic
from honeyguide.core.recrawl.rate import score_of
from honeyguide.core.recrawl.signals import drop_reason, page_of
from honeyguide.core.url.url import Url

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from datetime import datetime

    from honeyguide.core.recrawl.plan import LevelRange
    from honeyguide.core.recrawl.policies import RecrawlPolicy
    from honeyguide.core.recrawl.signals import PageState
    from honeyguide.core.rules.profile import Profile

MAX_REMEMBERED = 1_000_000  # URLs that rows are compared with; columns remember more in less memory
SHARE = 10  # one page in so many is within the budget, where no budget is named

_T = TypeVar("_T")


class Best(Generic[_T]):
    """Keeps only what may be among the best: `top` of all, or `per_host` of each host; of equals, the first."""

    def __init__(self, top: int | None, per_host: int | None) -> None:
        self._top = top
        self._per_host = per_host
        self._heaps: dict[str, list[tuple[float, int, _T]]] = {}

    def add(self, value: float, number: int, url: str, item: _T) -> None:
        """Take an item; no other has its number."""
        heap = self._heaps.setdefault(host_of(url) if self._per_host else "", [])
        size = self._per_host or self._top
        add = heapq.heappush if size is None or len(heap) < size else heapq.heappushpop
        add(heap, (value, -number, item))

    def found(self) -> list[tuple[float, int, _T]]:
        """Return the items that were kept, the best first, each with its value and its number."""
        kept = sorted((entry for heap in self._heaps.values() for entry in heap), reverse=True)
        return [(value, -number, item) for value, number, item in kept[: self._top]]


def host_of(url: str) -> str:
    """Return the host of a checked URL."""
    return Url.parse(url).host


@dataclass(slots=True)
class Survey:
    """The values of all pages in the order of their rows; row `numbers[n]` has `values[n]`."""

    now: datetime
    values: array[float] = field(default_factory=lambda: array("d"))
    numbers: array[int] = field(default_factory=lambda: array("q"))
    ordered: list[float] = field(default_factory=list)
    price: float = 0.0
    future: Count = field(default_factory=Count)
    dead: Count = field(default_factory=Count)
    ranges: Sequence[LevelRange] = ()  # of levels that are relative to a budget


class RowTable:
    """Known URLs, read anew by each call of `rows`, ranked by a policy; if a URL `may_repeat`, its last row counts."""

    def __init__(
        self,
        rows: Callable[[], Iterator[KnownUrl]],
        policy: RecrawlPolicy,
        profile: Profile,
        name: str = "",
        *,
        may_repeat: bool = False,
    ) -> None:
        self.policy = policy.name
        self._rows = rows
        self._policy = policy
        self._has_scores = isinstance(policy, Heuristic)  # its values are scores already
        self._profile = profile
        self._name = name
        self._superseded: set[int] | None = None if may_repeat else set()
        self._repeated = Count()
        self._is_cut = False  # too many URLs to compare them all
        self._survey: Survey | None = None

    def plan(self, query: PlanQuery) -> Plan:
        """Rank the rows."""
        survey = self._survey = Survey(query.now)
        asked = query
        if query.budget is not None:
            survey.ranges = budget_levels(query.budget, self._profile)
            query = query.before_levels(survey.ranges)
        found = self._best(query, survey, lambda value: not self._has_scores or self._wants(query, value))
        self._set_price(survey, found if query.top or query.per_host else (), query.budget)
        # Scores depend on the price.
        if (query.levels or query.max_score is not None) and not self._has_scores:
            band, again = replace(query, min_score=None), Survey(query.now)
            found = self._best(query, again, lambda value: self._wants(band, self._score(value, survey)))
        ranks = _ranks(survey, [(value, number) for value, number, _ in found])
        entries = (self._entry(rank, row, survey) for rank, (_, _, row) in zip(ranks, found, strict=True))
        wanted = [entry for entry in entries if self._wants(query, entry.scored.score.value)]
        return Plan(
            entries=asked.after_levels(wanted, host_of) if asked.levels != query.levels else wanted,
            levels=self._count_levels(survey),
            ranges=survey.ranges,
            future=survey.future,
            repeated=self._repeated,
            tied=_tied(survey, [value for value, _, _ in found]) if asked.is_top else 0,
            unremembered=self._is_cut,
            dead=survey.dead,
        )

    def _count_levels(self, survey: Survey) -> dict[str, int]:
        if survey.ranges:
            return plan.count_ranges(len(survey.values), survey.ranges)
        ordered, levels, above = survey.ordered, dict[str, int](), 0
        for level in self._profile.levels:  # scores grow with values
            is_last = level is self._profile.levels[-1]
            below = (
                0
                if is_last
                else bisect_left(ordered, level.at_least, key=lambda value: self._score(value, survey))
            )
            levels[level.name] = len(ordered) - below - above
            above += levels[level.name]
        return levels

    def find(self, urls: Collection[str]) -> dict[str, KnownUrl]:
        """Look rows up by their URL, as it is written."""
        wanted = frozenset(urls)
        return {row.signals.url: row for row in self._rows() if row.signals.url in wanted}

    def rank_of(self, row: KnownUrl, now: datetime) -> int:
        """Count where a row stands among all."""
        return next(_ranks(self._current(now), [(self._value(row, now), row.number)]))

    def judge(self, row: KnownUrl, now: datetime) -> PlanEntry:
        """Score one row by the price of the last plan; its rank is not counted."""
        return self._entry(0, row, self._current(now))

    def _best(
        self, query: PlanQuery, survey: Survey, wants: Callable[[float], bool]
    ) -> list[tuple[float, int, KnownUrl]]:
        best: Best[KnownUrl] = Best(query.top, query.per_host)
        wanted = ((row, value) for row, value in self._valued(survey) if wants(value))
        for kept, (row, value) in enumerate(wanted, 1):
            if query.top is None and query.per_host is None and kept > query.limit:
                raise query.too_many(self._name)
            best.add(value, row.number, row.signals.url, row)
        return best.found()

    def _valued(self, survey: Survey) -> Iterator[tuple[KnownUrl, float]]:
        superseded = self._find_repeats()
        for row in self._rows():
            if row.number in superseded:
                continue
            if row.state is not None and (reason := drop_reason(row.state)) is not None:
                survey.dead.add(f"{row.where} ({reason})")
                continue
            state, fields = row.state, ""
            # What a sitemap announces is no time in the future.
            if (
                state is None
                or max(state.visited_at or 0.0, state.changed_at or 0.0) > survey.now.timestamp()
            ):
                fields = ", ".join(plan.future_fields(row.signals, survey.now))
            if fields:
                survey.future.add(f"{row.where} ({fields})")
            value = self._value(row, survey.now)
            survey.values.append(value)
            survey.numbers.append(row.number)
            yield row, value

    def _current(self, now: datetime) -> Survey:
        survey = self._survey
        if survey is None or survey.now != now:
            survey = self._survey = Survey(now)
            self._best(PlanQuery(now, top=1), survey, lambda _: True)
            self._set_price(survey, ())
        return survey

    def _find_repeats(self) -> set[int]:
        """Find the rows whose URL comes again later, as far as URLs can be remembered."""
        if self._superseded is None:
            self._superseded, last = set(), dict[str, int]()
            for row in self._rows():
                url = row.signals.url
                if url in last:
                    self._superseded.add(last[url])
                    self._repeated.add(row.where)
                elif len(last) >= MAX_REMEMBERED:
                    self._is_cut = True
                    continue
                last[url] = row.number
        return self._superseded

    def _value(self, row: KnownUrl, now: datetime) -> float:
        if row.state is None and self._has_scores:  # rules read the signals themselves, unknown ones included
            return plan.score_url(row.signals, now, self._profile).score.value
        return self._policy.value(state_of(row), now.timestamp())

    def _entry(self, rank: int, row: KnownUrl, survey: Survey) -> PlanEntry:
        if row.state is None and self._has_scores:
            return PlanEntry(rank, plan.score_url(row.signals, survey.now, self._profile))
        visit = self._policy.judge(state_of(row), survey.now.timestamp(), survey.price)
        level = level_of(visit.score.value, self._profile)
        if survey.ranges:
            level = level_at(rank or self.rank_of(row, survey.now), survey.ranges)
        scored = plan.ScoredUrl(row.signals, visit.score, level)
        return PlanEntry(rank, scored, visit.next_due)

    @staticmethod
    def _set_price(
        survey: Survey, taken: Iterable[tuple[float, int, KnownUrl]], budget: int | None = None
    ) -> None:
        """Set the price: the least value within the budget that is above 0."""
        survey.ordered = survey.ordered or sorted(survey.values)
        listed = [] if budget else [value for value, _, _ in taken]
        if not listed:
            count = budget or -(-len(survey.ordered) // SHARE)
            listed = survey.ordered[-count:] if count else []
        survey.price = min((value for value in listed if value > 0.0), default=1.0)

    def _wants(self, query: PlanQuery, score: float) -> bool:
        return query.wants(score, level_of(score, self._profile))

    def _score(self, value: float, survey: Survey) -> float:
        return value if self._has_scores else score_of(value, survey.price)


def _tied(survey: Survey, values: Sequence[float]) -> int:
    """Count the rows that are worth as much as the last one that was found."""
    if not values:
        return 0
    last = values[-1]
    return bisect_right(survey.ordered, last) - bisect_left(survey.ordered, last) - values.count(last)


def _ranks(survey: Survey, found: Collection[tuple[float, int]]) -> Iterator[int]:
    """Count the rows with a higher value than each, and those with the same value that come before it."""
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


def state_of(row: KnownUrl) -> PageState:
    """Return the state of a page; signals alone give one without a change rate."""
    return row.state or page_of(row.signals, site_of(Url.parse(row.signals.url).text))
