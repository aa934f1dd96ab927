"""Ranking whole files by columns: the same answers as `core.recrawl.ranking.RowTable`, for files of any size.

Owns: the passes over the files, and the ranking by the rules of a profile. Must not know: formats (`batches.py`), how
columns are scored (`columns.py`). Start reading at `ColumnTable.plan`; the policy `learned` is in `learned_table.py`.
Scores are made from the columns of numbers alone; rows are read again, with their URLs, only if they win or are in doubt. So
other URLs of Parquet files are not checked, unless `check_urls`; those of the winners are looked up in the whole files, because
a later row of the same URL counts instead. Between batches only the best rows so far are kept.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from honeyguide.adapters.files.rows import signals_of_row
from honeyguide.bulk.batches import (
    PLACE,
    SCORE,
    ParquetFile,
    Repeats,
    TextFile,
    better_rows,
    same_as_last,
    same_score,
)
from honeyguide.bulk.columns import fact_frame, read_scores, score_columns
from honeyguide.bulk.signal_columns import (
    DOUBT,
    FUTURE,
    HASH,
    ZONELESS,
    fact_columns,
    hashes_of,
    since_bounds,
)
from honeyguide.core.recrawl import plan
from honeyguide.core.recrawl.plan import Count, KnownUrl, Plan, PlanEntry, level_of, score_url
from honeyguide.core.recrawl.policies import HEURISTIC
from honeyguide.core.recrawl.ranking import host_of
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from honeyguide.adapters.files.rows import RawRow
    from honeyguide.bulk.batches import Batch
    from honeyguide.core.recrawl.plan import PlanQuery, UrlSignals
    from honeyguide.core.rules.profile import Level, Profile

    File = ParquetFile | TextFile
    Reject = Callable[[str, RawRow, InputError], None]
    KnownRows = Mapping[int, tuple[File, RawRow]]

# Rows of Parquet files in which printed URLs are always looked up. Reading the URLs of more would cost as much as all the
# rest; there they are looked up only if two printed rows have the same URL.
MAX_LOOKED_UP = 5_000_000
_MORE = 8  # how many times as many rows are looked at when a host has too many of the best


_NO_HASHES = pl.DataFrame(schema={PLACE: pl.get_index_type(), HASH: pl.UInt64})


class _BadUrlError(Exception):
    """Rows are to be skipped, and one of the best has a wrong URL: now all URLs have to be read."""


class _RepeatedError(Exception):
    """One of the best has a URL that comes again: without the rows that do not count, others are the best."""


class ScoredBatch(NamedTuple):
    """A batch whose doubts are settled: the place of each row among all, from 0, and its score."""

    file: File
    first: int
    batch: Batch
    scores: pl.DataFrame


class Winner(NamedTuple):
    """A row that was chosen: its place among the candidates, from 1, its place among all rows, its value and signals."""

    rank: int
    place: int
    value: float
    signals: UrlSignals


class ColumnTable:
    """Known URLs in files; doubtful rows are read one by one, and wrong rows go to `reject`, or stop the run."""

    def __init__(
        self,
        files: Sequence[File],
        profile: Profile,
        reject: Reject | None = None,
        *,
        check_urls: bool = False,
    ) -> None:
        self.policy = HEURISTIC
        self._files = files
        self._firsts: list[int] = []  # the place of the first row of each file, as far as they were read
        self._profile = profile
        self._cards = [profile.cards[name].card for name in profile.chains["plan"]]
        self._reject = reject
        self._rejected: set[tuple[str, int]] = set()
        self._check_urls = check_urls or any(isinstance(file, TextFile) for file in files)
        self._repeats = Repeats()
        self._is_compared = False
        # Hears of rows whose times may have no zone.
        self.on_zoneless: Callable[[str, RawRow], None] | None = None

    def plan(self, query: PlanQuery) -> Plan:
        """Rank the rows."""
        limit = query.top if query.per_host is None or query.top is None else query.top * _MORE
        while True:
            try:
                plan, is_enough = self._plan(query, limit)
            except _BadUrlError:
                if self._check_urls:
                    raise  # rows and columns disagree, and would do so for ever
                self._check_urls, self._repeats = True, Repeats()
                continue
            except _RepeatedError:
                pass
            else:
                if is_enough or limit is None:
                    return plan
            limit = None if limit is None else limit * _MORE

    def find(self, urls: Collection[str]) -> dict[str, KnownUrl]:
        """Look rows up by their URL, as it is written."""
        found: dict[str, KnownUrl] = {}
        first = 0
        for file in self._files:
            for raw in file.find(urls):
                if (signals := self._signals(file, raw)) is not None:
                    where = self._where(file, raw.number - 1)
                    found[signals.url] = KnownUrl(first + raw.number, where, signals)
            first += file.count() if len(self._files) > 1 else 0
        return found

    def rank_of(self, row: KnownUrl, now: datetime) -> int:
        """Count where a row stands among all."""
        self._compare_urls(now)
        self._look_up([row.signals.url])
        value = self._value(row.signals, now)
        score = pl.col(SCORE)
        better = (score > value) | ((score == value) & (pl.col(PLACE) < row.number - 1))
        return 1 + sum(int(part.scores.select(better.sum()).item()) for part in self._parts(now))

    def judge(self, row: KnownUrl, now: datetime) -> PlanEntry:
        """Score one row; its rank is not counted."""
        return PlanEntry(0, score_url(row.signals, now, self._profile))

    def _plan(self, query: PlanQuery, limit: int | None) -> tuple[Plan, bool]:
        levels, future, ahead = self._no_levels(), Count(), 0
        best = pl.DataFrame(schema={PLACE: pl.get_index_type(), SCORE: pl.Float64})
        texts: KnownRows = {}
        wanted, same = self._wanted(query), 0
        for part in self._parts(query.now):
            self._count_levels(levels, part.scores[SCORE])
            self._count_future(future, part, query.now)
            ahead += self._count_ahead(query, part.scores)
            scores = part.scores[[PLACE, SCORE]]
            before, best = best, better_rows(best, scores if wanted is None else scores.filter(wanted), limit)
            same = same_as_last(before, best, part.scores[SCORE], same)
            if best is not before and isinstance(part.file, TextFile):
                texts = _kept_texts(texts, part, best[PLACE].to_list())
            if query.top is None and best.height > query.limit:
                raise query.too_many(self._files[0].name)
        winners, is_enough = self._winners(query, best, texts, limit)
        ranks = [ahead + self._rank(one, query, levels) for one in winners]
        found = Plan(self._entries(winners, ranks, query.now), levels, future, self._repeated())
        found.tied = same - same_score(best[SCORE], best) if query.is_top else 0
        return found, is_enough

    def _query(self, frame: pl.LazyFrame, now: datetime) -> pl.LazyFrame:
        facts = fact_columns(frame, now, with_url=self._check_urls)
        wanted = [SCORE, DOUBT, FUTURE, ZONELESS, *([HASH] if self._check_urls else [])]
        scored = score_columns(facts, self._cards, ledger=False, bounds=since_bounds(now))
        return scored.select(wanted)

    def _value(self, signals: UrlSignals, now: datetime) -> float:
        return score_url(signals, now, self._profile).score.value

    def _entries(self, winners: Sequence[Winner], ranks: Sequence[int], now: datetime) -> list[PlanEntry]:
        facts = [plan.plan_facts(one.signals, now) for one in winners]
        frame = fact_frame(facts, list(facts[0]) if facts else []).lazy()
        scores = read_scores(score_columns(frame, self._cards).collect(), self._cards[-1])
        return [
            PlanEntry(rank, plan.ScoredUrl(one.signals, score, level_of(score.value, self._profile)))
            for rank, one, score in zip(ranks, winners, scores, strict=True)
        ]

    def _parts(self, now: datetime) -> Iterator[ScoredBatch]:
        """Score all rows, batch by batch, in their order, without rows whose URL comes again.

        The first pass over all URLs compares them, and starts the plan again if a later row counts instead.
        """
        first, hashes = 0, [_NO_HASHES]
        is_comparing = self._check_urls and not self._is_compared
        for number, file in enumerate(self._files):
            if number == len(self._firsts):
                self._firsts.append(first)
            rows = 0
            for batch in file.batches(partial(self._query, now=now)):
                scores = self._settled(file, first, batch, now)
                if len(self._repeats.superseded):
                    scores = scores.filter(~pl.col(PLACE).is_in(self._repeats.superseded.implode()))
                if is_comparing:
                    hashes.append(scores.select(PLACE, HASH))
                yield ScoredBatch(file, first, batch, scores)
                rows = batch.start + batch.frame.height
            first += rows
        if is_comparing:
            self._repeats.compare(pl.concat(hashes))
            self._is_compared = True
            if len(self._repeats.superseded):
                raise _RepeatedError

    def _settled(self, file: File, first: int, batch: Batch, now: datetime) -> pl.DataFrame:
        """Give each row its place, and read doubtful rows again, one by one; wrong ones are left out."""
        frame = batch.frame.with_row_index(PLACE, offset=first + batch.start)
        places = _places(frame, DOUBT)
        again = batch.raw([place - first for place in places]) if places else []
        read = list(zip(places, again, strict=True))
        if self.on_zoneless is not None:
            sure = _places(frame, ZONELESS)[:1]
            first_bare = list(zip(sure, batch.raw([place - first for place in sure]), strict=True))
            for _, raw in sorted([*read, *first_bare], key=lambda one: one[0]):
                self.on_zoneless(file.name, raw)
        if not places:
            return frame
        good = [(place, signals) for place, raw in read if (signals := self._signals(file, raw)) is not None]
        settled = {
            PLACE: [place for place, _ in good],
            SCORE: [self._value(signals, now) for _, signals in good],
            DOUBT: [False] * len(good),
            FUTURE: [any(plan.future_fields(signals, now)) for _, signals in good],
            HASH: hashes_of([signals.url for _, signals in good]),
        }
        values = {name: settled.get(name, [None] * len(good)) for name in frame.columns}
        certain = frame.filter(~pl.col(DOUBT).fill_null(value=False))
        return pl.concat([certain, pl.DataFrame(values, schema=frame.schema)])

    def _signals(self, file: File, raw: RawRow) -> UrlSignals | None:
        try:
            return signals_of_row(raw)
        except InputError as error:
            if self._reject is None:
                raise
            if (file.name, raw.number) not in self._rejected:
                self._rejected.add((file.name, raw.number))
                self._reject(file.name, raw, error)
            return None

    def _checked(self, raw: RawRow) -> UrlSignals:
        """Read one of the best rows; if it is wrong and to be skipped, a pass over all rows rejects it in its turn."""
        try:
            return signals_of_row(raw)
        except InputError:
            if self._reject is None:
                raise
            raise _BadUrlError from None

    def _compare_urls(self, now: datetime) -> None:
        """Find all rows whose URL comes again later, if all URLs are read, once."""
        if self._check_urls and not self._is_compared:
            with suppress(_RepeatedError):
                deque(self._parts(now), maxlen=0)

    def _look_up(self, urls: Iterable[str]) -> bool:
        """Find the rows of some URLs that come again, unless all are known; tells whether there are new ones."""
        if self._check_urls:
            return False
        files, seen = [file for file in self._files if isinstance(file, ParquetFile)], list(urls)
        is_large = sum(file.count() for file in files) > MAX_LOOKED_UP
        if is_large and len(set(seen)) == len(seen):
            return False
        return self._repeats.look_up(seen, files, self._rejected)

    def _repeated(self) -> Count:
        again = self._repeats.again
        return Count(len(again), self._where_of(again.sort()[0]) if len(again) else "")

    def _count_future(self, future: Count, part: ScoredBatch, now: datetime) -> None:
        places = _places(part.scores, FUTURE)
        if not places:
            return
        where = ""
        if not future.rows:
            number = min(places) - part.first
            signals = self._signals(part.file, part.batch.raw([number])[0])
            fields = ", ".join(plan.future_fields(signals, now)) if signals is not None else ""
            where = f"{self._where(part.file, number)} ({fields})"
        future.add(where, len(places))

    def _where(self, file: File, number: int) -> str:
        return f"row {number + 1}" if len(self._files) == 1 else f"{file.name} row {number + 1}"

    def _where_of(self, place: int) -> str:
        file, first = self._file_of(place)
        return self._where(file, place - first)

    def _file_of(self, place: int) -> tuple[File, int]:
        """Return the file of a row that was read, and the place of its first row."""
        number = bisect_right(self._firsts, place) - 1
        return self._files[number], self._firsts[number]

    def _least(self, score: float) -> float:
        """Return the least value of such a score."""
        return score

    def _level(self, value: float) -> Level:
        return level_of(value, self._profile)

    def _no_levels(self) -> dict[str, int]:
        return dict.fromkeys((level.name for level in self._profile.levels), 0)

    def _count_levels(self, levels: dict[str, int], values: pl.Series) -> None:
        above = 0
        for level in self._profile.levels:
            is_last = level is self._profile.levels[-1]
            count = len(values) if is_last else int((values >= self._least(level.at_least)).sum())
            levels[level.name] += count - above
            above = count

    def _count_ahead(self, query: PlanQuery, scores: pl.DataFrame) -> int:
        """Count the rows whose score alone is too high for a query: they have a rank, too."""
        if query.max_score is None:
            return 0
        wanted = self._of_levels(query) & (pl.col(SCORE) >= self._least(query.max_score))
        return int(scores.select(wanted.sum()).item())

    def _wanted(self, query: PlanQuery) -> pl.Expr | None:
        """Write which rows a query asks for; None for all."""
        if not query.levels and query.min_score is None and query.max_score is None:
            return None
        score, wanted = pl.col(SCORE), self._of_levels(query)
        if query.min_score is not None:
            wanted = wanted & (score >= query.min_score)
        return wanted if query.max_score is None else wanted & (score < self._least(query.max_score))

    def _of_levels(self, query: PlanQuery) -> pl.Expr:
        score = pl.col(SCORE)
        wanted, above = pl.lit(value=not query.levels), pl.lit(value=False)
        for level in self._profile.levels:
            is_last = level is self._profile.levels[-1]
            reached = pl.lit(value=True) if is_last else score >= self._least(level.at_least)
            if level.name in query.levels:
                wanted = wanted | (reached & ~above)
            above = reached
        return wanted

    def _rank(self, one: Winner, query: PlanQuery, levels: Mapping[str, int]) -> int:
        """Count every row that is better; levels that were not asked for are better as a whole."""
        rank, own = one.rank, self._level(one.value)
        for level in self._profile.levels:
            if level == own:
                break
            rank += levels[level.name] if query.levels and level.name not in query.levels else 0
        return rank

    def _winners(
        self, query: PlanQuery, best: pl.DataFrame, known: KnownRows, limit: int | None
    ) -> tuple[list[Winner], bool]:
        """Read the best rows, at most `per_host` of each host; tells whether the limit left enough of them."""
        winners: list[Winner] = []
        hosts: Counter[str] = Counter()
        rows = zip(best[PLACE], best[SCORE], self._read(best[PLACE], known), strict=True)
        for rank, (place, value, signals) in enumerate(rows, 1):
            if query.per_host is not None:
                host = host_of(signals.url)
                hosts[host] += 1
                if hosts[host] > query.per_host:
                    continue
            winners.append(Winner(rank, place, value, signals))
        is_enough = limit is None or len(winners) >= (query.top or 0) or best.height < limit
        return winners[: query.top], is_enough

    def _read(self, best: pl.Series, known: KnownRows) -> list[UrlSignals]:
        """Read the rows at some places, except those that are known; a repeated URL starts the plan again."""
        places, rows = best.to_list(), dict(known)
        waiting: dict[int, tuple[File, list[int]]] = {}
        for place in places:
            if place not in rows:
                file, first = self._file_of(place)
                waiting.setdefault(first, (file, []))[1].append(place - first)
        for first, (file, numbers) in waiting.items():
            for raw in file.take(numbers):
                rows[first + raw.number - 1] = (file, raw)
        read = [self._checked(rows[place][1]) for place in places]
        if self._look_up(signals.url for signals in read):
            raise _RepeatedError
        return read


def _places(frame: pl.DataFrame, flag: str) -> list[int]:
    """List the rows with a flag, which are few: of most batches there are none, and a filter would copy all columns."""
    return frame[PLACE].filter(frame[flag]).to_list() if frame[flag].any() else []


def _kept_texts(texts: KnownRows, part: ScoredBatch, kept: Sequence[int]) -> KnownRows:
    """Keep the best rows of text files as they were read, because they cannot be read again by their number."""
    start = part.first + part.batch.start
    fresh = part.batch.raw([place - part.first for place in kept if place >= start])
    return {
        **{place: texts[place] for place in kept if place in texts},
        **{part.first + raw.number - 1: (part.file, raw) for raw in fresh},
    }
