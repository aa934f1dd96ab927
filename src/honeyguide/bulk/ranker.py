"""Ranking whole files by columns: the answers of `core.ranking.RowTable`, for files of any size.

Owns: the passes over the files. Must not know: formats (`bulk.py`), how columns are scored (`columns.py`).
Start reading at `ColumnTable.plan`.

Scores are made from the columns of numbers alone. Rows are read again, with their URLs, only where somebody looks at
them: the winners, and rows in doubt. So the URL of a Parquet row that nobody sees is not checked, unless `check_urls`;
those of the winners are looked up in the whole files, because a later row of the same URL counts instead.
Between batches only the best so far are kept; a later row with the same score as the last of them loses the tie.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from honeyguide.adapters.files.rows import signals_of_row
from honeyguide.bulk.batches import PLACE, ParquetFile, Repeats, TextFile
from honeyguide.bulk.columns import fact_frame, read_scores, score_columns
from honeyguide.bulk.signal_columns import DOUBT, FUTURE, HASH, fact_columns, hashes_of
from honeyguide.core.recrawl.plan import (
    Count,
    KnownUrl,
    Plan,
    PlanEntry,
    ScoredUrl,
    future_fields,
    level_of,
    plan_facts,
    score_url,
)
from honeyguide.core.recrawl.policies import HEURISTIC
from honeyguide.core.recrawl.ranking import host_of
from honeyguide.core.rules.facts import CARD
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from honeyguide.adapters.files.rows import RawRow
    from honeyguide.bulk.batches import Batch
    from honeyguide.core.recrawl.plan import PlanQuery, UrlSignals
    from honeyguide.core.rules.profile import Profile

    File = ParquetFile | TextFile
    Reject = Callable[[str, RawRow, InputError], None]


SCORE = CARD + "plan"
# Rows of Parquet files in which printed URLs are always looked up. Reading the URLs of more would cost as much as all the
# rest; there they are looked up once two printed rows have the same one.
MAX_LOOKED_UP = 5_000_000
_MORE = 8  # how many times as many rows are looked at when a host has too many of the best


class _BadUrl(Exception):  # noqa: N818 - never leaves this module
    """Rows are to be skipped, and one of the best has a wrong URL: now all URLs have to be read."""


class _Repeated(Exception):  # noqa: N818 - never leaves this module
    """One of the best has a URL that comes again: without those that do not count, others are the best."""


class _Part(NamedTuple):
    """A batch whose doubts are settled: the place of each row among all, from 0, and its score."""

    file: File
    first: int
    batch: Batch
    scores: pl.DataFrame


class ColumnTable:
    """Known URLs in files; what is in doubt is asked row by row, and wrong rows go to `reject`, or stop the run."""

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
        self._profile = profile
        self._cards = [profile.cards[name].card for name in profile.chains["plan"]]
        self._reject = reject
        self._rejected: set[tuple[str, int]] = set()
        self._check_urls = check_urls or any(isinstance(file, TextFile) for file in files)
        self._repeats = Repeats()
        self._is_compared = False

    def plan(self, asked: PlanQuery) -> Plan:
        """Rank the rows."""
        limit = asked.top if asked.per_host is None or asked.top is None else asked.top * _MORE
        while True:
            try:
                self._compare_urls(asked.now)
                plan, is_enough = self._plan(asked, limit)
            except _BadUrl:
                self._check_urls, self._repeats = True, Repeats()
                continue
            except _Repeated:
                is_enough = False
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
                signals = self._signals(file, raw)
                if signals is not None:
                    found[signals.url] = KnownUrl(
                        first + raw.number, self._where(file, raw.number - 1), signals
                    )
            first += file.count() if len(self._files) > 1 else 0
        return found

    def rank_of(self, row: KnownUrl, now: datetime) -> int:
        """Say where a row stands among all."""
        self._compare_urls(now)
        self._look_up([row.signals.url])
        value = self._value(row.signals, now)
        score = pl.col(SCORE)
        better = (score > value) | ((score == value) & (pl.col(PLACE) < row.number - 1))
        return 1 + sum(int(part.scores.select(better.sum()).item()) for part in self._parts(now))

    def judge(self, row: KnownUrl, now: datetime) -> PlanEntry:
        """Say what a row is worth; its rank is not counted."""
        return PlanEntry(0, score_url(row.signals, now, self._profile))

    # --- passes over the files ---

    def _plan(self, asked: PlanQuery, limit: int | None) -> tuple[Plan, bool]:
        plan = Plan([], dict.fromkeys((lv.name for lv in self._profile.levels), 0), Count(), self._repeated())
        best = _Best(self._wanted(asked), limit)
        for part in self._parts(asked.now):
            self._count_levels(plan, part.scores)
            self._count_future(plan.future, part, asked.now)
            best.add(part)
            if asked.top is None and best.frame.height > asked.limit:
                raise asked.too_many(self._files[0].name)
        entries = self._entries(asked, best, plan)
        plan.entries = entries[: asked.top]
        return plan, len(plan.entries) == asked.top or limit is None or best.frame.height < limit

    def _parts(self, now: datetime) -> Iterator[_Part]:
        """Score all rows, batch by batch, in their order, less those whose URL comes again."""
        first = 0
        for file in self._files:
            rows = 0
            for batch in file.batches(partial(self._query, now=now)):
                scores = self._settled(file, first, batch, now)
                if len(self._repeats.superseded):
                    scores = scores.filter(~pl.col(PLACE).is_in(self._repeats.superseded.implode()))
                yield _Part(file, first, batch, scores)
                rows = batch.start + batch.frame.height
            first += rows

    def _query(self, frame: pl.LazyFrame, now: datetime) -> pl.LazyFrame:
        """From a file's columns to scores and doubts."""
        facts = fact_columns(frame, now, with_url=self._check_urls)
        wanted = [SCORE, DOUBT, FUTURE, *([HASH] if self._check_urls else [])]
        return score_columns(facts, self._cards, ledger=False).select(wanted)

    def _settled(self, file: File, first: int, batch: Batch, now: datetime) -> pl.DataFrame:
        """Give each row its place, and read those in doubt again, one by one; what is wrong is out."""
        frame = batch.frame.with_row_index(PLACE, offset=first + batch.start)
        if not frame[DOUBT].any():
            return frame
        places = frame.filter(DOUBT)[PLACE].to_list()
        read = zip(places, batch.raw([place - first for place in places]), strict=True)
        good = [(place, signals) for place, raw in read if (signals := self._signals(file, raw)) is not None]
        settled = {
            PLACE: [place for place, _ in good],
            SCORE: [self._value(signals, now) for _, signals in good],
            DOUBT: [False] * len(good),
            FUTURE: [any(future_fields(signals, now)) for _, signals in good],
            HASH: hashes_of([signals.url for _, signals in good]),
        }
        known = {name: settled.get(name, [None] * len(good)) for name in frame.columns}
        return pl.concat(
            [frame.filter(~pl.col(DOUBT).fill_null(value=False)), pl.DataFrame(known, schema=frame.schema)]
        )

    def _value(self, signals: UrlSignals, now: datetime) -> float:
        """Give what a row is ranked by, as the column holds it."""
        return score_url(signals, now, self._profile).score.value

    def _signals(self, file: File, raw: RawRow) -> UrlSignals | None:
        """Read a row, or hand it over as wrong, once."""
        try:
            return signals_of_row(raw)
        except InputError as error:
            if self._reject is None:
                raise
            if (file.name, raw.number) not in self._rejected:
                self._rejected.add((file.name, raw.number))
                self._reject(file.name, raw, error)
            return None

    # --- URLs that come again ---

    def _compare_urls(self, now: datetime) -> None:
        """Find all rows whose URL comes again later, if all URLs are read, once."""
        if not self._check_urls or self._is_compared:
            return
        none = pl.DataFrame(schema={PLACE: pl.get_index_type(), HASH: pl.UInt64})
        self._repeats.compare(
            pl.concat([none, *(part.scores.select(PLACE, HASH) for part in self._parts(now))])
        )
        self._is_compared = True

    def _look_up(self, urls: Iterable[str]) -> bool:
        """Find the rows of some URLs that come again, unless all are known; says whether there are new ones."""
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

    # --- counting ---

    def _count_levels(self, plan: Plan, scores: pl.DataFrame) -> None:
        values, so_far = scores[SCORE], 0
        for level in self._profile.levels:
            is_last = level is self._profile.levels[-1]
            count = scores.height if is_last else int((values >= level.at_least).sum())
            plan.levels[level.name] += count - so_far
            so_far = count

    def _count_future(self, future: Count, part: _Part, now: datetime) -> None:
        if not part.scores[FUTURE].any():
            return
        places = part.scores.filter(FUTURE)[PLACE].to_list()
        where = ""
        if not future.rows:
            number = min(places) - part.first
            signals = self._signals(part.file, part.batch.raw([number])[0])
            fields = ", ".join(future_fields(signals, now)) if signals is not None else ""
            where = f"{self._where(part.file, number)} ({fields})"
        future.add(where, len(places))

    def _where(self, file: File, number: int) -> str:
        return f"row {number + 1}" if len(self._files) == 1 else f"{file.name} row {number + 1}"

    def _where_of(self, place: int) -> str:
        file, first = self._file_of(place)
        return self._where(file, place - first)

    def _file_of(self, place: int) -> tuple[File, int]:
        first = 0
        for file in self._files[:-1]:
            rows = file.count()
            if place < first + rows:
                return file, first
            first += rows
        return self._files[-1], first

    def _wanted(self, asked: PlanQuery) -> pl.Expr:
        """Write which scores are asked for."""
        score, levels = pl.col(SCORE), self._profile.levels
        wanted = pl.lit(not asked.levels)
        for place, level in enumerate(levels):
            if level.name in asked.levels:
                low = score >= level.at_least if level is not levels[-1] else pl.lit(value=True)
                high = score < levels[place - 1].at_least if place else pl.lit(value=True)
                wanted = wanted | (low & high)
        return wanted if asked.min_score is None else wanted & (score >= asked.min_score)

    # --- the winners ---

    def _entries(self, asked: PlanQuery, best: _Best, plan: Plan) -> list[PlanEntry]:
        """Read the winners, and turn bits into reasons."""
        chosen: list[tuple[int, UrlSignals]] = []
        hosts: Counter[str] = Counter()
        for rank, signals in zip(
            self._ranks(asked, best, plan), self._read(best.frame[PLACE], best.rows), strict=True
        ):
            if asked.per_host is not None:
                host = host_of(signals.url)
                hosts[host] += 1
                if hosts[host] > asked.per_host:
                    continue
            chosen.append((rank, signals))
        facts = [plan_facts(signals, asked.now) for _, signals in chosen]
        frame = score_columns(
            fact_frame(facts, list(facts[0]) if facts else []).lazy(), self._cards
        ).collect()
        scores = read_scores(frame, self._cards[-1])
        return [
            PlanEntry(rank, ScoredUrl(signals, score, level_of(score.value, self._profile)))
            for (rank, signals), score in zip(chosen, scores, strict=True)
        ]

    def _ranks(self, asked: PlanQuery, best: _Best, plan: Plan) -> Iterator[int]:
        """Count every row that is better; levels that were not asked for are better as a whole."""
        unwanted = 0
        levels = iter(self._profile.levels)
        level = next(levels)
        for place, value in enumerate(best.frame[SCORE], 1):
            while level != level_of(value, self._profile):
                unwanted += plan.levels[level.name] if asked.levels and level.name not in asked.levels else 0
                level = next(levels)
            yield place + unwanted

    def _read(self, best: pl.Series, kept: Mapping[int, tuple[File, RawRow]]) -> list[UrlSignals]:
        """Read the rows at some places, except those that were kept; a URL that comes again is not taken as it is."""
        places, rows = best.to_list(), dict(kept)
        waiting: dict[int, tuple[ParquetFile, list[int]]] = {}
        for place in places:
            file, first = (None, 0) if place in rows else self._file_of(place)
            if isinstance(file, ParquetFile):
                waiting.setdefault(first, (file, []))[1].append(place - first)
        for first, (file, numbers) in waiting.items():
            for raw in file.take(numbers):
                rows[first + raw.number - 1] = (file, raw)
        read = [signals for place in places if (signals := self._signals(*rows[place])) is not None]
        if len(read) < len(places):
            raise _BadUrl
        if self._look_up(signals.url for signals in read):
            raise _Repeated
        return read


class _Best:
    """The best rows so far, best first; text is kept as it was read, because it cannot be read again by its number."""

    def __init__(self, wanted: pl.Expr, limit: int | None) -> None:
        self.frame = pl.DataFrame(schema={PLACE: pl.get_index_type(), SCORE: pl.Float64})
        self.rows: dict[int, tuple[File, RawRow]] = {}
        self._wanted = wanted
        self._limit = limit

    def add(self, part: _Part) -> None:
        """Let the rows of a batch in that are better than the last."""
        wanted = self._wanted
        if self._limit is not None and self.frame.height >= self._limit:
            least, most = self.frame[SCORE][-1], part.scores[SCORE].max()
            if most is None or most <= least:  # as in most batches
                return
            wanted = wanted & (pl.col(SCORE) > least)
        new = part.scores.select(PLACE, SCORE).filter(wanted)
        if not new.height:
            return
        if self._limit is not None and new.height > self._limit:
            last = new[SCORE].top_k(self._limit).min()
            new = new.filter(pl.col(SCORE) >= last)
        best = pl.concat([self.frame, new]).sort([SCORE, PLACE], descending=[True, False])
        self.frame = best if self._limit is None else best.head(self._limit)
        if isinstance(part.file, TextFile):
            self._keep_rows(part)

    def _keep_rows(self, part: _Part) -> None:
        kept = self.frame[PLACE].to_list()
        start = part.first + part.batch.start
        fresh = [place - part.first for place in kept if place >= start]
        self.rows = {place: self.rows[place] for place in kept if place in self.rows}
        for raw in part.batch.raw(fresh):
            self.rows[part.first + raw.number - 1] = (part.file, raw)
