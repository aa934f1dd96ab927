"""Ranking files of any size by a policy other than `heuristic`: the same answers as `core.recrawl.ranking.RowTable`.

Owns: the column of values, and how the price, levels and ranks follow from it. Must not know: formats. Start reading at
`LearnedTable._plan`; the passes over the files are in `file_table.py`. One pass computes the values of all pages, eight bytes
a row, which are kept; everything else follows from them, and rows are read again, with their URLs, only if they win.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from honeyguide.adapters.policies import (
    NEVER_H,
    AdaptiveInterval,
    FormulaPolicy,
    IntervalPolicy,
    PageColumns,
    Proportional,
)
from honeyguide.bulk.batches import PLACE, SCORE, ParquetFile, best_rows, better_rows
from honeyguide.bulk.file_table import ColumnTable
from honeyguide.bulk.signal_columns import DOUBT, FUTURE, HASH, ZONELESS, columns_of, fact_columns
from honeyguide.core.recrawl.clocks import HOURS_A_SECOND
from honeyguide.core.recrawl.plan import (
    Count,
    KnownUrl,
    LevelRange,
    Plan,
    PlanEntry,
    ScoredUrl,
    budget_levels,
    count_ranges,
    level_at,
    level_of,
)
from honeyguide.core.recrawl.ranking import SHARE, host_of, state_of
from honeyguide.core.recrawl.rate import SURE, log1p_by, score_of, share_by
from honeyguide.core.recrawl.signals import HUB_IMPORTANCE, LEAST_RELEVANCE, UNKNOWN_RELEVANCE, PageState
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from honeyguide.adapters.files.rows import RawRow
    from honeyguide.bulk.file_table import File, Reject, Winner
    from honeyguide.core.recrawl.plan import PlanQuery, UrlSignals
    from honeyguide.core.recrawl.policies import Learned
    from honeyguide.core.recrawl.priors import PageClass, Priors
    from honeyguide.core.rules.profile import Level, Profile

# The best rows are kept without their URLs as they were read, because reading them again costs as much as ranking.
_RAW, _IS_RAW = "raw.", "raw"
_INFINITE = 0x7F800000  # the bits of infinity, in single precision


@dataclass(slots=True)
class _Survey:
    """The values of all pages, and the price that turns them into scores."""

    now: datetime
    checked: tuple[bool, int]
    values: pl.DataFrame
    kept: dict[int, tuple[ParquetFile, pl.DataFrame]] = field(default_factory=dict)
    future: Count = field(default_factory=Count)


class LearnedTable(ColumnTable):
    """Known URLs in files, ranked by a policy over columns; doubtful rows are read one by one."""

    def __init__(
        self,
        files: Sequence[File],
        profile: Profile,
        policy: Learned | FormulaPolicy | IntervalPolicy,
        reject: Reject | None = None,
        *,
        check_urls: bool = False,
    ) -> None:
        super().__init__(files, profile, reject, check_urls=check_urls)
        self.policy = policy.name
        self._policy = policy
        self._survey: _Survey | None = None
        self._price = 1.0

    def judge(self, row: KnownUrl, now: datetime) -> PlanEntry:
        """Score one row by the price of the last plan; its rank is not counted."""
        is_known = self._survey is not None and self._survey.now == now
        survey = self._surveyed(now)
        if not is_known:
            self._price = _price(survey.values, [])
        return self._entry(0, row, now)

    def _plan(self, query: PlanQuery, limit: int | None) -> tuple[Plan, bool]:
        asked, ranges = query, self._ranges(query)
        if query.budget is not None:
            query = query.before_levels(ranges)
            limit = query.top if asked.levels else limit
        survey = self._surveyed(query.now, limit or 0)
        if query.top is None and survey.values.height > query.limit:
            raise query.too_many(self._files[0].name)
        winners, is_enough = self._best(query, survey, survey.values, limit)
        taken = winners if (query.top or query.per_host) and query.budget is None else []
        self._price = _price(survey.values, taken, query.budget)
        levels = self._no_levels()
        self._count_levels(levels, survey.values[SCORE])
        ahead = self._count_ahead(query, survey.values)
        if query.levels or query.max_score is not None:  # scores depend on the price
            criterion = self._wanted(replace(query, min_score=None))
            wanted = survey.values if criterion is None else survey.values.filter(criterion)
            winners, is_enough = self._best(query, survey, wanted, limit)
        entries = []
        for one in winners:
            row = KnownUrl(one.place + 1, self._where_of(one.place), one.signals)
            entry = self._entry(ahead + self._rank(one, query, levels), row, query.now, ranges)
            if query.wants(entry.scored.score.value, entry.scored.level):
                entries.append(entry)
        if ranges:
            levels = count_ranges(survey.values.height, ranges)
            entries = asked.after_levels(entries, host_of) if asked.levels else entries
        found = Plan(entries, levels, survey.future, self._repeated(), ranges)
        if query.is_top and winners:
            same = int((survey.values[SCORE] == winners[-1].value).sum())
            found.tied = same - sum(one.value == winners[-1].value for one in winners)
        return found, is_enough

    def _ranges(self, query: PlanQuery) -> Sequence[LevelRange]:
        return () if query.budget is None else budget_levels(query.budget, self._profile)

    def _query(self, frame: pl.LazyFrame, now: datetime) -> pl.LazyFrame:
        columns = [column for name, column in columns_of(frame.collect_schema()).items() if name != "url"]
        raw = [_IS_RAW, *(_RAW + column for column in columns)]
        kept = [pl.lit(value=True).alias(_IS_RAW), *(pl.col(name).alias(_RAW + name) for name in columns)]
        facts = fact_columns(frame, now, with_url=self._check_urls, also=kept)
        wanted = [DOUBT, FUTURE, ZONELESS, *([HASH] if self._check_urls else []), *raw]
        return policy_values(facts, self._policy).select(pl.col(VALUE).alias(SCORE), *wanted)

    def _value(self, signals: UrlSignals, now: datetime) -> float:
        return self._policy.value(state_of(KnownUrl(0, "", signals)), now.timestamp())

    def _surveyed(self, now: datetime, keep: int = 0) -> _Survey:
        """Value every page, once for a moment, and keep the best rows as they were read."""
        known = self._survey
        checked = self._check_urls, len(self._repeats.superseded)
        if known is not None and (known.now, known.checked) == (now, checked):
            return known
        survey = _Survey(now, checked, pl.DataFrame(schema={PLACE: pl.get_index_type(), SCORE: pl.Float32}))
        parts = []
        for part in self._parts(now):
            self._count_future(survey.future, part, now)
            parts.append(part.scores.select(PLACE, SCORE))
            if not part.scores[SCORE].is_finite().all():
                raise InputError(f"the policy {shown(self.policy)} gives no number for some rows")
            if keep and isinstance(part.file, ParquetFile):
                _, kept = survey.kept.get(part.first, (None, part.scores.clear()))
                survey.kept[part.first] = part.file, better_rows(kept, part.scores, keep)
        survey.values = pl.concat([survey.values, *parts])
        self._survey = survey
        return survey

    def _best(
        self, query: PlanQuery, survey: _Survey, values: pl.DataFrame, limit: int | None
    ) -> tuple[list[Winner], bool]:
        best = best_rows(values, limit)
        return self._winners(query, best, _with_urls(survey, best[PLACE]), limit)

    def _entry(self, rank: int, row: KnownUrl, now: datetime, ranges: Sequence[LevelRange] = ()) -> PlanEntry:
        visit = self._policy.judge(state_of(row), now.timestamp(), self._price)
        level = level_at(rank, ranges) if ranges else level_of(visit.score.value, self._profile)
        scored = ScoredUrl(row.signals, visit.score, level)
        return PlanEntry(rank, scored, visit.next_due)

    def _level(self, value: float) -> Level:
        return level_of(score_of(value, self._price), self._profile)

    def _least(self, score: float) -> float:
        """Find the least value of such a score, by halving bits: floats above 0 are in their order."""
        low, high = 0, _INFINITE
        while low < high:
            middle = (low + high) // 2
            if score_of(_of_bits(middle), self._price) >= score:
                high = middle
            else:
                low = middle + 1
        return _of_bits(high)


def _of_bits(bits: int) -> float:
    return float(struct.unpack("f", struct.pack("I", bits))[0])


def _with_urls(survey: _Survey, places: pl.Series) -> dict[int, tuple[ParquetFile, RawRow]]:
    rows: dict[int, tuple[ParquetFile, RawRow]] = {}
    for first, (file, best) in survey.kept.items():
        kept = best.filter(_IS_RAW, pl.col(PLACE).is_in(places.implode())).sort(PLACE)
        others = kept.select(pl.col(f"^{_RAW}.+$").name.map(lambda name: name.removeprefix(_RAW)))
        urls = file.take([place - first for place in kept[PLACE]], [columns_of(file.schema)["url"]])
        for raw, other in zip(urls, others.iter_rows(named=True), strict=True):
            url = {} if isinstance(raw.values, InputError) else raw.values
            rows[first + raw.number - 1] = (file, raw._replace(values={**url, **other}))
    return rows


def _price(values: pl.DataFrame, winners: Sequence[Winner], budget: int | None = None) -> float:
    """Return the least value within the budget that is above 0."""
    listed = pl.Series([one.value for one in winners], dtype=pl.Float32)
    if not winners:
        listed = values[SCORE].top_k(budget or -(-values.height // SHARE))
    least = listed.filter(listed > 0.0).min()
    return 1.0 if least is None else float(least)  # type: ignore[arg-type]  # of a column of numbers, a number


VALUE = "value.learned"
_MANY_VISITS = 20  # after which `AdaptiveInterval` does not grow any more
_WEIGHT, _STEPS = "step.weight", ("step.a", "step.b", "step.x", "step.log", "step.survival")


class _ColumnMaths:
    """The functions of `core.recrawl.rate.Maths`, for expressions."""

    log, exp = staticmethod(pl.Expr.log), staticmethod(pl.Expr.exp)

    @staticmethod
    def expm1(x: pl.Expr, /) -> pl.Expr:
        half = x.clip(-700.0, 700.0) * 0.5  # sinh loses no digits near 0, and beyond it would be infinite
        return 2.0 * half.exp() * half.sinh()

    @staticmethod
    def where(test: pl.Expr, yes: Any, no: Any, /) -> pl.Expr:
        return pl.when(test).then(yes).otherwise(no)


def policy_values(frame: pl.LazyFrame, policy: Learned | FormulaPolicy | IntervalPolicy) -> pl.LazyFrame:
    """Add `VALUE`, what `policy.value` gives to single precision, but for priors of hosts: no URL is read."""
    if isinstance(policy, FormulaPolicy):
        return formula_values(frame, policy)
    return (
        interval_values(frame, policy)
        if isinstance(policy, IntervalPolicy)
        else learned_values(frame, policy.priors)
    )


def interval_values(frame: pl.LazyFrame, policy: IntervalPolicy) -> pl.LazyFrame:
    """Add `VALUE` for a schedule: the intervals that have passed since the last visit."""
    known = frame.collect_schema().names()
    interval = pl.lit(1.0)
    if isinstance(policy, Proportional):
        a, b = _rate(known, policy.priors)
        interval = b / a
    elif isinstance(policy, AdaptiveInterval):
        # A row tells visits, but not changes, so there are few intervals, and the last holds for all further visits.
        visits = pl.col("visits").fill_null(0) if "visits" in known else pl.lit(0)
        interval = pl.lit(policy.most_h)
        for number in range(_MANY_VISITS, 0, -1):
            own = policy.interval_of(PageState("", visits=number))
            interval = pl.when(visits <= number).then(own).otherwise(interval)
    never = pl.lit(NEVER_H)
    waited = (
        pl.coalesce(pl.col("since_visit_s") * HOURS_A_SECOND, never) if "since_visit_s" in known else never
    )
    return frame.with_columns((waited / interval).cast(pl.Float32).alias(VALUE))


def formula_values(frame: pl.LazyFrame, policy: FormulaPolicy) -> pl.LazyFrame:
    """Add `VALUE`, what `policy.value` gives to single precision, but for priors of hosts: no URL is read."""
    known = frame.collect_schema().names()
    own_a, own_b = _rate(known, policy.priors)
    a, b = pl.col(_STEPS[0]), pl.col(_STEPS[1])
    frame = frame.with_columns(
        _importance(known).alias(_WEIGHT), own_a.alias(_STEPS[0]), own_b.alias(_STEPS[1])
    )
    frame = frame.with_columns(_waited_h(known, a, b).alias(_STEPS[2]))
    pages = PageColumns(pl.col(_STEPS[2]), a, b, pl.col(_WEIGHT))
    value = policy.value_by(_ColumnMaths(), pages)
    if not isinstance(value, pl.Expr):
        value = pl.lit(value)
    return frame.with_columns(value.cast(pl.Float32).alias(VALUE))


def _waited_h(known: Collection[str], a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Return the hours since the last visit; of pages that were never visited, as in `first_visit_by`."""
    never = SURE * b / a
    return pl.coalesce(pl.col("since_visit_s") * HOURS_A_SECOND, never) if "since_visit_s" in known else never


def learned_values(frame: pl.LazyFrame, priors: Priors) -> pl.LazyFrame:
    """Add `VALUE`, what `Learned(priors).value` gives to single precision, but for priors of hosts: no URL is read."""
    # An expression that is used more than once is a column, or logarithms would be computed again and again.
    known = frame.collect_schema().names()
    maths = _ColumnMaths()
    a, b, x, grown, survival = (pl.col(name) for name in _STEPS)
    own_a, own_b = _rate(known, priors)
    frame = frame.with_columns(
        _importance(known).alias(_WEIGHT), own_a.alias(_STEPS[0]), own_b.alias(_STEPS[1])
    )
    frame = frame.with_columns((_waited_h(known, a, b) / b).alias(_STEPS[2]))
    frame = frame.with_columns(log1p_by(maths, x).alias(_STEPS[3]))
    frame = frame.with_columns(maths.exp(-a * grown).alias(_STEPS[4]))
    value = pl.col(_WEIGHT) * (b * share_by(maths, a, x, (grown, survival)))
    return frame.with_columns(value.cast(pl.Float32).alias(VALUE)).drop(_WEIGHT, *_STEPS)


def _importance(known: Collection[str]) -> pl.Expr:
    """Weigh pages as `core.recrawl.signals.importance_of` does."""
    relevance = pl.lit(UNKNOWN_RELEVANCE)
    if "relevance" in known:
        relevance = pl.col("relevance").clip(LEAST_RELEVANCE).fill_null(UNKNOWN_RELEVANCE)
    weight = pl.when(_is("hub", known)).then(relevance * HUB_IMPORTANCE).otherwise(relevance)
    return pl.coalesce(pl.col("importance"), weight) if "importance" in known else weight


def _rate(known: Collection[str], priors: Priors) -> tuple[pl.Expr, pl.Expr]:
    a, b = (_prior(known, {name: rate[place] for name, rate in priors.classes.items()}) for place in (0, 1))
    if not {"rate_a", "rate_b"}.issubset(known):
        return a, b
    return pl.coalesce(pl.col("rate_a"), a), pl.coalesce(pl.col("rate_b"), b)


def _prior(known: Collection[str], numbers: dict[PageClass, float]) -> pl.Expr:
    hub_or_page = pl.when(_is("hub", known)).then(numbers["hub"]).otherwise(numbers["page"])
    if "page_class" not in known:
        return hub_or_page
    return pl.when(_is("article", known)).then(numbers["article"]).otherwise(hub_or_page)


def _is(name: PageClass, known: Collection[str]) -> pl.Expr:
    """Write which pages are of a class; without a class, `is_hub` tells hubs from pages."""
    is_hub = pl.col("is_hub").fill_null(value=False) if "is_hub" in known else pl.lit(value=False)
    flagged = is_hub if name == "hub" else pl.lit(value=False)
    if "page_class" not in known:
        return flagged
    given = pl.col("page_class")
    return pl.when(given.is_null()).then(flagged).otherwise(given == name)
