"""Ranking Parquet files of any size by the policy that learns: the answers of `core.policy_table.RowTable`.

Owns: what is done with a column of values: the price, levels, ranks. Must not know: formats, the formula
(`rate_columns.py`). Start reading at `LearnedTable._plan`; how files are passed over is `ranker.py`.

One pass gives what every page is worth, eight bytes a row, which stay. Everything else is asked of that, and rows are
read again, with their URLs, only where somebody looks at them.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from honeyguide.bulk.batches import PLACE, ParquetFile
from honeyguide.bulk.ranker import SCORE, ColumnTable
from honeyguide.bulk.signal_columns import DOUBT, FUTURE, HASH, columns_of, fact_columns
from honeyguide.core.recrawl.clocks import HOURS_A_SECOND
from honeyguide.core.recrawl.plan import Count, KnownUrl, Plan, PlanEntry, ScoredUrl, level_of
from honeyguide.core.recrawl.ranking import SHARE, host_of, state_of
from honeyguide.core.recrawl.rate import SURE, log1p_by, score_of, share_by
from honeyguide.core.recrawl.signals import HUB_IMPORTANCE, LEAST_RELEVANCE, UNKNOWN_RELEVANCE
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from honeyguide.adapters.files.rows import RawRow
    from honeyguide.core.recrawl.plan import PlanQuery, UrlSignals
    from honeyguide.core.recrawl.policies import Learned
    from honeyguide.core.recrawl.priors import PageClass, Priors
    from honeyguide.core.rules.profile import Level, Profile

_SOME = 500_000
# What a row says but for its URL is kept for the best rows, as it was read: reading it again costs as much as ranking.
_RAW, _IS_RAW = "raw.", "raw"
_INFINITE = 0x7F800000  # the bits of infinity, in single precision


@dataclass(slots=True)
class _Survey:
    """What all pages are worth, and the price that makes scores of it."""

    now: datetime
    checked: tuple[bool, int]
    values: pl.DataFrame
    kept: dict[int, tuple[ParquetFile, pl.DataFrame]] = field(default_factory=dict)
    future: Count = field(default_factory=Count)
    price: float = 1.0


class _Taken(NamedTuple):
    """Rows that were chosen: the place among those that could be, from 1, the value, what the row says."""

    rank: int
    place: int
    value: float
    signals: UrlSignals


class LearnedTable(ColumnTable):
    """Known URLs in Parquet files that know change rates; what is in doubt is asked row by row."""

    def __init__(
        self,
        files: Sequence[ParquetFile],
        profile: Profile,
        policy: Learned,
        reject: Callable[[str, RawRow, InputError], None] | None = None,
        *,
        check_urls: bool = False,
    ) -> None:
        super().__init__(files, profile, reject, check_urls=check_urls)
        self.policy = policy.name
        self._policy = policy
        self._survey: _Survey | None = None

    def judge(self, row: KnownUrl, now: datetime) -> PlanEntry:
        """Say what a row is worth, by the price of the last plan; its rank is not counted."""
        return self._entry(0, row, self._current(now))

    # --- passes over the files ---

    def _query(self, frame: pl.LazyFrame, now: datetime) -> pl.LazyFrame:
        """From a file's columns to values and doubts."""
        given = [column for name, column in columns_of(frame.collect_schema()).items() if name != "url"]
        raw = [_IS_RAW, *(_RAW + column for column in given)]
        kept = [pl.lit(value=True).alias(_IS_RAW), *(pl.col(column).alias(_RAW + column) for column in given)]
        facts = fact_columns(frame, now, with_url=self._check_urls, also=kept)
        wanted = [DOUBT, FUTURE, *([HASH] if self._check_urls else []), *raw]
        return learned_values(facts, self._policy.priors).select(pl.col(VALUE).alias(SCORE), *wanted)

    def _value(self, signals: UrlSignals, now: datetime) -> float:
        """Give what a row is ranked by, as the column holds it."""
        return self._policy.value(state_of(KnownUrl(0, "", signals)), now.timestamp())

    def _plan(self, asked: PlanQuery, limit: int | None) -> tuple[Plan, bool]:
        survey = self._surveyed(asked.now, limit or 0)
        if asked.top is None and survey.values.height > asked.limit:
            raise asked.too_many(self._files[0].name)
        taken, is_enough = self._taken(asked, survey, survey.values, limit)
        survey.price = _price(survey.values, taken if asked.top or asked.per_host else [])
        counts = self._levels(survey)
        if asked.levels:  # only now that the price is known can a level be told
            wanted = survey.values.filter(self._wanted_levels(asked, survey.price))
            taken, is_enough = self._taken(asked, survey, wanted, limit)
        ranks = (self._rank(one, asked, survey, counts) for one in taken)
        entries = [self._entry(rank, self._row(one), survey) for rank, one in zip(ranks, taken, strict=True)]
        chosen = [entry for entry in entries if asked.wants(entry.scored.score.value, entry.scored.level)]
        return Plan(chosen, counts, survey.future, self._repeated()), is_enough

    def _surveyed(self, now: datetime, keep: int = 0) -> _Survey:
        """Find out what every page is worth, once for a moment, and keep what some of the best rows say."""
        known = self._survey
        checked = self._check_urls, len(self._repeats.superseded)
        if known is not None and (known.now, known.checked) == (now, checked):
            return known
        survey = _Survey(now, checked, pl.DataFrame(schema={PLACE: pl.get_index_type(), SCORE: pl.Float32}))
        parts = []
        for part in self._parts(now):
            self._count_future(survey.future, part, now)
            parts.append(part.scores.select(PLACE, SCORE))
            if keep and isinstance(part.file, ParquetFile):
                _, kept = survey.kept.get(part.first, (None, part.scores.clear()))
                survey.kept[part.first] = part.file, _better(kept, part.scores, keep)
        survey.values = pl.concat([survey.values, *parts])
        self._survey = survey
        return survey

    def _current(self, now: datetime) -> _Survey:
        is_known = self._survey is not None and self._survey.now == now
        survey = self._surveyed(now)
        if not is_known:
            survey.price = _price(survey.values, [])
        return survey

    # --- the winners ---

    def _taken(
        self, asked: PlanQuery, survey: _Survey, values: pl.DataFrame, limit: int | None
    ) -> tuple[list[_Taken], bool]:
        """Choose the best, no more of a host than it may have; with a limit that may be too few."""
        best = _best(values, limit)
        kept = self._kept(survey, best[PLACE])
        taken: list[_Taken] = []
        hosts: Counter[str] = Counter()
        rows = zip(best[PLACE], best[SCORE], self._read(best[PLACE], kept), strict=True)
        for rank, (place, value, signals) in enumerate(rows, 1):
            if asked.per_host is not None:
                host = host_of(signals.url)
                hosts[host] += 1
                if hosts[host] > asked.per_host:
                    continue
            taken.append(_Taken(rank, place, value, signals))
        is_enough = limit is None or len(taken) >= (asked.top or 0) or best.height < limit
        return taken[: asked.top], is_enough

    def _kept(self, survey: _Survey, places: pl.Series) -> dict[int, tuple[ParquetFile, RawRow]]:
        """Complete the rows that were kept by their URLs."""
        rows: dict[int, tuple[ParquetFile, RawRow]] = {}
        for first, (file, best) in survey.kept.items():
            kept = best.filter(_IS_RAW, pl.col(PLACE).is_in(places.implode())).sort(PLACE)
            said = kept.select(pl.col(f"^{_RAW}.+$").name.map(lambda name: name.removeprefix(_RAW)))
            urls = file.take([place - first for place in kept[PLACE]], [columns_of(file.schema)["url"]])
            for raw, more in zip(urls, said.iter_rows(named=True), strict=True):
                url = {} if isinstance(raw.values, InputError) else raw.values
                rows[first + raw.number - 1] = (file, raw._replace(values={**url, **more}))
        return rows

    def _row(self, one: _Taken) -> KnownUrl:
        return KnownUrl(one.place + 1, self._where_of(one.place), one.signals)

    def _entry(self, rank: int, row: KnownUrl, survey: _Survey) -> PlanEntry:
        found = self._policy.judge(state_of(row), survey.now.timestamp(), survey.price)
        scored = ScoredUrl(row.signals, found.score, level_of(found.score.value, self._profile))
        return PlanEntry(rank, scored, found.next_due)

    # --- levels ---

    def _rank(self, one: _Taken, asked: PlanQuery, survey: _Survey, counts: dict[str, int]) -> int:
        """Count every row that is better; levels that were not asked for are better as a whole."""
        rank, own = one.rank, level_of(score_of(one.value, survey.price), self._profile)
        for level in self._profile.levels:
            if level == own:
                break
            rank += counts[level.name] if asked.levels and level.name not in asked.levels else 0
        return rank

    def _levels(self, survey: _Survey) -> dict[str, int]:
        values, counts, so_far = survey.values[SCORE], {}, 0
        for level in self._profile.levels:
            least = self._least(level, survey.price)
            count = len(values) if least is None else int((values >= least).sum())
            counts[level.name], so_far = count - so_far, count
        return counts

    def _least(self, level: Level, price: float) -> float | None:
        """Find the least value that is of a level or better; None for the last level, which takes all."""
        if level is self._profile.levels[-1]:
            return None
        low, high = 0, _INFINITE  # numbers above 0 are in the order of their bits
        while low < high:
            middle = (low + high) // 2
            if score_of(_of_bits(middle), price) >= level.at_least:
                high = middle
            else:
                low = middle + 1
        return _of_bits(high)

    def _wanted_levels(self, asked: PlanQuery, price: float) -> pl.Expr:
        wanted, above = pl.lit(value=False), pl.lit(value=False)
        for level in self._profile.levels:
            least = self._least(level, price)
            reached = pl.lit(value=True) if least is None else pl.col(SCORE) >= least
            if level.name in asked.levels:
                wanted = wanted | (reached & ~above)
            above = reached
        return wanted


def _of_bits(bits: int) -> float:
    return float(struct.unpack("f", struct.pack("I", bits))[0])


def _best(values: pl.DataFrame, limit: int | None) -> pl.DataFrame:
    """Order rows, the best first, the same value in the order of the files."""
    if limit is not None:  # the last of the best of some rows is a bound for all, which leaves few to look at
        values = _not_less(values, values[SCORE].head(_SOME), limit)
        values = _not_less(values, values[SCORE], limit)
    ordered = values.sort([SCORE, PLACE], descending=[True, False])
    return ordered if limit is None else ordered.head(limit)


def _better(kept: pl.DataFrame, new: pl.DataFrame, keep: int) -> pl.DataFrame:
    """Keep the best rows of those before and of new ones."""
    if kept.height >= keep:
        new = new.filter(pl.col(SCORE) > kept[SCORE][-1])
    return _best(pl.concat([kept, new]), keep)


def _not_less(values: pl.DataFrame, some: pl.Series, limit: int) -> pl.DataFrame:
    return values if len(some) <= limit else values.filter(pl.col(SCORE) >= some.top_k(limit).min())


def _price(values: pl.DataFrame, taken: Sequence[_Taken]) -> float:
    """Take the worth of the last page that is paid for; one that is worth nothing is no measure."""
    listed = pl.Series([one.value for one in taken], dtype=pl.Float32)
    if not taken:
        listed = values[SCORE].top_k(-(-values.height // SHARE))
    least = listed.filter(listed > 0.0).min()
    return 1.0 if least is None else float(least)  # type: ignore[arg-type]  # of a column of numbers, a number


VALUE = "value.learned"
_WEIGHT, _STEPS = "step.weight", ("step.a", "step.b", "step.x", "step.log", "step.survival")


class ColumnMaths:
    """The functions of `core.rate.Maths`, for expressions."""

    def log(self, x: pl.Expr, /) -> pl.Expr:
        """Give the natural logarithm."""
        return x.log()

    def exp(self, x: pl.Expr, /) -> pl.Expr:
        """Give e^x."""
        return x.exp()

    def expm1(self, x: pl.Expr, /) -> pl.Expr:
        """Give e^x - 1, by sinh, which loses no digits near 0."""
        half = x * 0.5
        return 2.0 * half.exp() * half.sinh()

    def where(self, test: pl.Expr, yes: Any, no: Any, /) -> pl.Expr:
        """Choose."""
        return pl.when(test).then(yes).otherwise(no)


def learned_values(frame: pl.LazyFrame, priors: Priors) -> pl.LazyFrame:
    """Add the value that `Learned(priors).value` gives, to single precision, as the column `VALUE`.

    Priors of hosts do not count: the rows say nothing of hosts without their URLs. What is read more than once is a step
    of its own; written into one expression, logarithms would be computed again and again.
    """
    known = frame.collect_schema().names()
    maths = ColumnMaths()
    a, b, x, grown, survival = (pl.col(name) for name in _STEPS)
    own_a, own_b = _rate(known, priors)
    frame = frame.with_columns(_weight(known).alias(_WEIGHT), own_a.alias(_STEPS[0]), own_b.alias(_STEPS[1]))
    tau_h = SURE * b / a  # of pages that were never visited, as in `core.worth`
    if "since_visit_s" in known:
        tau_h = pl.coalesce(pl.col("since_visit_s") * HOURS_A_SECOND, tau_h)
    frame = frame.with_columns((tau_h / b).alias(_STEPS[2]))
    frame = frame.with_columns(log1p_by(maths, x).alias(_STEPS[3]))
    frame = frame.with_columns(maths.exp(-a * grown).alias(_STEPS[4]))
    value = pl.col(_WEIGHT) * (b * share_by(maths, a, x, (grown, survival)))
    return frame.with_columns(value.cast(pl.Float32).alias(VALUE)).drop(_WEIGHT, *_STEPS)


def _weight(known: Collection[str]) -> pl.Expr:
    """Weigh as `core.page_state.importance_of` does."""
    relevance = pl.lit(UNKNOWN_RELEVANCE)
    if "relevance" in known:
        relevance = pl.col("relevance").clip(LEAST_RELEVANCE).fill_null(UNKNOWN_RELEVANCE)
    weight = pl.when(_is("hub", known)).then(relevance * HUB_IMPORTANCE).otherwise(relevance)
    return pl.coalesce(pl.col("importance"), weight) if "importance" in known else weight


def _rate(known: Collection[str], priors: Priors) -> tuple[pl.Expr, pl.Expr]:
    """Read what is believed of each page, or its class."""
    a, b = (_prior(known, {name: rate[place] for name, rate in priors.classes.items()}) for place in (0, 1))
    if "rate_a" not in known or "rate_b" not in known:
        return a, b
    return pl.coalesce(pl.col("rate_a"), a), pl.coalesce(pl.col("rate_b"), b)


def _prior(known: Collection[str], numbers: dict[PageClass, float]) -> pl.Expr:
    hub_or_page = pl.when(_is("hub", known)).then(numbers["hub"]).otherwise(numbers["page"])
    if "page_class" not in known:
        return hub_or_page
    return pl.when(_is("article", known)).then(numbers["article"]).otherwise(hub_or_page)


def _is(name: PageClass, known: Collection[str]) -> pl.Expr:
    """Say where a page is of a class; hubs are told by the flag where no class is given."""
    is_hub = pl.col("is_hub").fill_null(value=False) if "is_hub" in known else pl.lit(value=False)
    flagged = is_hub if name == "hub" else pl.lit(value=False)
    if "page_class" not in known:
        return flagged
    given = pl.col("page_class")
    return pl.when(given.is_null()).then(flagged).otherwise(given == name)
