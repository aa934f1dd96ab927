"""Ranking: the best of many known URLs, row by row, and where a single one stands (PLAN-3).

Owns: what may be asked of a plan, what a plan says, and the ranking of rows. Must not know: files, the clock.
Start reading at `RowTable.plan`. A table of columns elsewhere answers the same three questions with the same answers.

Scores descend; the same score keeps the order of the input. A rank counts every URL, also those that were not asked for.
Of rows with the same URL, the last one counts.
"""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from honeyguide.core.recrawl.history import site_of
from honeyguide.core.recrawl.plan import ScoredUrl, future_fields, level_of, score_url
from honeyguide.core.recrawl.policies import Heuristic
from honeyguide.core.recrawl.rate import score_of
from honeyguide.core.recrawl.signals import drop_reason, page_of
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from datetime import datetime

    from honeyguide.core.recrawl.plan import UrlSignals
    from honeyguide.core.recrawl.policies import RecrawlPolicy
    from honeyguide.core.recrawl.signals import PageState
    from honeyguide.core.rules.profile import Profile

HEURISTIC = "heuristic"  # the policy of a profile's own rules (PLAN-1)
MAX_REMEMBERED = 1_000_000  # URLs that rows are compared with; columns remember more in less


@dataclass(frozen=True, slots=True)
class PlanQuery:
    """What of a plan is wanted; `per_host` is how many URLs of one host, at most.

    Without `top`, no more than `limit` entries are made: each costs about a kilobyte.
    """

    now: datetime
    top: int | None = None
    min_score: float | None = None
    levels: tuple[str, ...] = ()
    per_host: int | None = None
    limit: int = 1_000_000

    def too_many(self, file: str) -> InputError:
        """Say that all rows together do not fit."""
        return InputError(
            f"has more than {self.limit:,} rows; ask for the best of them with --top", file=file
        )

    def wants(self, item: ScoredUrl) -> bool:
        """Say whether level and score are asked for."""
        return (not self.levels or item.level.name in self.levels) and (
            self.min_score is None or item.score.value >= self.min_score
        )


class KnownUrl(NamedTuple):
    """A row of the input: its place among all rows, from 1, where that is for people, and what it says.

    `state` is what a recrawl policy may know of the page, where there is more than the signals tell.
    """

    number: int
    where: str
    signals: UrlSignals
    state: PageState | None = None


class PlanEntry(NamedTuple):
    """One line of a plan; `next_due` is when a visit is due, in seconds since 1970, where a policy can tell."""

    rank: int
    scored: ScoredUrl
    next_due: float | None = None


@dataclass(slots=True)
class Count:
    """How many rows something is true of, and which is the first."""

    rows: int = 0
    first: str = ""

    def add(self, where: str, rows: int = 1) -> None:
        """Count rows."""
        self.first = self.first or where
        self.rows += rows


@dataclass(slots=True)
class Plan:
    """The entries that were asked for, the best first, and what there was besides."""

    entries: list[PlanEntry] = field(default_factory=list)
    levels: dict[str, int] = field(default_factory=dict)
    future: Count = field(default_factory=Count)
    repeated: Count = field(default_factory=Count)
    unremembered: bool = False
    dead: Count = field(default_factory=Count)

    @property
    def rows(self) -> int:
        """How many URLs were ranked."""
        return sum(self.levels.values())


class RowTable:
    """Known URLs, a row at a time; `rows` starts over whenever it is called. A URL comes once, unless it `may_repeat`."""

    def __init__(
        self,
        rows: Callable[[], Iterator[KnownUrl]],
        profile: Profile,
        name: str = "",
        *,
        may_repeat: bool = True,
    ) -> None:
        self.policy = HEURISTIC
        self._rows = rows
        self._name = name
        self._profile = profile
        self._remembered: tuple[set[int], Count, bool] | None = (
            None if may_repeat else (set(), Count(), False)
        )

    def plan(self, asked: PlanQuery) -> Plan:
        """Rank the rows."""
        _, repeated, is_cut = self.repeated()
        plan = Plan([], dict.fromkeys((lv.name for lv in self._profile.levels), 0), Count(), repeated, is_cut)
        scores: Counter[float] = Counter()
        best: Best[tuple[int, ScoredUrl]] = Best(asked.top, asked.per_host)
        for row in self.counted():
            if fields := ", ".join(future_fields(row.signals, asked.now)):
                plan.future.add(f"{row.where} ({fields})")
            item = score_url(row.signals, asked.now, self._profile)
            plan.levels[item.level.name] += 1
            if asked.wants(item):
                if asked.top is None and asked.per_host is None and plan.rows > asked.limit:
                    raise asked.too_many(self._name)
                best.add(item.score.value, row.number, item.url, (scores[item.score.value], item))
            scores[item.score.value] += 1
        plan.entries = list(_ranked(best.found(), scores))
        return plan

    def find(self, urls: Collection[str]) -> dict[str, KnownUrl]:
        """Look rows up by their URL, as it is written."""
        wanted = frozenset(urls)
        return {row.signals.url: row for row in self._rows() if row.signals.url in wanted}

    def rank_of(self, row: KnownUrl, now: datetime) -> int:
        """Say where a row stands among all."""
        value = score_url(row.signals, now, self._profile).score.value
        better = 1
        for other in self.counted():
            score = score_url(other.signals, now, self._profile).score.value
            better += score > value or (score == value and other.number < row.number)
        return better

    def judge(self, row: KnownUrl, now: datetime) -> PlanEntry:
        """Say what a row is worth; its rank is not counted."""
        return PlanEntry(0, score_url(row.signals, now, self._profile))

    def counted(self) -> Iterator[KnownUrl]:
        """Give the rows that count: of those with the same URL, the last."""
        superseded = self.repeated()[0]
        return (row for row in self._rows() if row.number not in superseded)

    def repeated(self) -> tuple[set[int], Count, bool]:
        """Find the rows whose URL comes again later, as far as URLs can be remembered; `True` if that is not all."""
        if self._remembered is None:
            last: dict[str, int] = {}
            superseded: set[int] = set()
            repeated, is_cut = Count(), False
            for row in self._rows():
                url = row.signals.url
                if url in last:
                    superseded.add(last[url])
                    repeated.add(row.where)
                elif len(last) >= MAX_REMEMBERED:
                    is_cut = True
                    continue
                last[url] = row.number
            self._remembered = superseded, repeated, is_cut
        return self._remembered


_T = TypeVar("_T")


class Best(Generic[_T]):
    """Keeps only what may be among the best: `top` of all, or `per_host` of each host; the same value, the first."""

    def __init__(self, top: int | None, per_host: int | None) -> None:
        self._top = top
        self._per_host = per_host
        self._heaps: dict[str, list[tuple[float, int, _T]]] = {}

    def add(self, value: float, number: int, url: str, item: _T) -> None:
        """Take an item; no other has its number."""
        heap = self._heaps.setdefault(host_of(url) if self._per_host else "", [])
        entry = (value, -number, item)
        size = self._per_host or self._top
        if size is None or len(heap) < size:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)

    def found(self) -> list[tuple[float, int, _T]]:
        """Give what was kept, the best first, each with its value and its number."""
        kept = sorted((entry for heap in self._heaps.values() for entry in heap), reverse=True)
        return [(value, -number, item) for value, number, item in kept[: self._top]]


def _ranked(
    found: Iterable[tuple[float, int, tuple[int, ScoredUrl]]], scores: Counter[float]
) -> Iterator[PlanEntry]:
    """Count what is better than each."""
    values = sorted(scores, reverse=True)
    place, better = 0, 0
    for value, _, (ties, item) in found:
        while values[place] > value:
            better += scores[values[place]]
            place += 1
        yield PlanEntry(better + ties + 1, item)


def host_of(url: str) -> str:
    """Name the host that a checked URL is fetched from."""
    return Url.parse(url).host


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
        rows: Callable[[], Iterator[KnownUrl]],
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

    def plan(self, asked: PlanQuery) -> Plan:
        """Rank the rows."""
        best: Best[KnownUrl] = Best(asked.top, asked.per_host)
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

    def find(self, urls: Collection[str]) -> dict[str, KnownUrl]:
        """Look rows up by their URL, as it is written."""
        wanted = frozenset(urls)
        return {row.signals.url: row for row in self._rows() if row.signals.url in wanted}

    def rank_of(self, row: KnownUrl, now: datetime) -> int:
        """Say where a row stands among all."""
        survey = self._current(now)
        value = self._policy.value(state_of(row), survey.now)
        return next(_ranks(survey, [(value, row.number)]))

    def judge(self, row: KnownUrl, now: datetime) -> PlanEntry:
        """Say what a row is worth, by the price of the last plan; its rank is not counted."""
        return self._entry(0, row, self._current(now))

    # --- passes over the rows ---

    def _surveyed(self, asked: PlanQuery, best: Best[KnownUrl] | None = None) -> _Survey:
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

    def _valued(self, survey: _Survey, now: datetime) -> Iterator[tuple[KnownUrl, float]]:
        for row in self._rows():
            state = state_of(row)
            if (why := drop_reason(state)) is not None:
                survey.dead.add(f"{row.where} ({why})")
                continue
            if max(state.visited_at or 0.0, state.changed_at or 0.0) > survey.now:
                fields = ", ".join(future_fields(row.signals, now))
                survey.future.add(f"{row.where} ({fields})")
            yield row, self._policy.value(state, survey.now)

    def _of_levels(self, asked: PlanQuery, survey: _Survey) -> list[tuple[float, int, KnownUrl]]:
        best: Best[KnownUrl] = Best(asked.top, asked.per_host)
        for row, value in self._valued(_Survey(survey.now), asked.now):
            if level_of(self._score(value, survey), self._profile).name in asked.levels:
                best.add(value, row.number, row.signals.url, row)
        return best.found()

    def _current(self, now: datetime) -> _Survey:
        survey = self._survey
        if survey is None or survey.now != now.timestamp():
            survey = self._surveyed(PlanQuery(now))
            self._set_price(survey, ())
        return survey

    # --- from worth to score ---

    @staticmethod
    def _set_price(survey: _Survey, taken: Iterable[tuple[float, int, KnownUrl]]) -> None:
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

    def _entry(self, rank: int, row: KnownUrl, survey: _Survey) -> PlanEntry:
        found = self._policy.judge(state_of(row), survey.now, survey.price)
        scored = ScoredUrl(row.signals, found.score, level_of(found.score.value, self._profile))
        return PlanEntry(rank, scored, found.next_due)


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


def state_of(row: KnownUrl) -> PageState:
    """Give what a policy may know of a row; signals alone say nothing of its change rate.

    >>> from honeyguide.core.recrawl.plan import UrlSignals
    >>> from honeyguide.core.recrawl.ranking import KnownUrl
    >>> state_of(KnownUrl(1, "row 1", UrlSignals("https://a.example/", visits=3, is_hub=True))).page_class
    'hub'
    """
    return (
        row.state if row.state is not None else page_of(row.signals, site_of(Url.parse(row.signals.url).text))
    )
