"""Plans: what known URLs are worth now, from rows, files and stores; and how a plan gets into the queues.

Owns: the library calls that score, rank and schedule known URLs. Must not know: arguments, terminals.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.files.read import (
    Source,
    pays_by_columns,
    sources_of,
)
from honeyguide.adapters.files.rows import Raw, raw_rows, signals_of_row
from honeyguide.adapters.plugins import load_policy
from honeyguide.app.arguments import count_of, least_of, levels_of, moment_of, profile_of, signals_of
from honeyguide.app.runs import open_store
from honeyguide.core.recrawl import plan, ranking
from honeyguide.core.recrawl.plan import NAMES, field_name
from honeyguide.core.recrawl.policies import Learned
from honeyguide.core.recrawl.priors import Priors
from honeyguide.core.recrawl.ranking import HEURISTIC, KnownUrl, PolicyTable, RowTable
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from honeyguide.adapters.files.rows import Rejected
    from honeyguide.adapters.store.known import StoreReader, StoreTable
    from honeyguide.core.recrawl.plan import ScoredUrl, UrlSignals
    from honeyguide.core.rules.profile import Profile
    from honeyguide.jobs.watch import Scheduled
    from honeyguide.ports.rank import Table
    from honeyguide.ports.store import Store

DEFAULT_POLICY = "learned"


def score_url(
    signals: Mapping[str, Any] | UrlSignals,
    *,
    now: datetime | None = None,
    profile: Profile | str | Path = "news",
) -> ScoredUrl:
    """Score what a known URL is worth now, 0 to 100, with its reasons and level (PLAN-1, PLAN-2)."""
    return plan.score_url(signals_of(signals, None), moment_of(now), profile_of(profile))


def rank_urls(
    rows: Iterable[Mapping[str, Any] | UrlSignals],
    *,
    now: datetime | None = None,
    top: int | None = None,
    profile: Profile | str | Path = "news",
) -> list[ScoredUrl]:
    """Score known URLs and order them, best first, ties in input order (PLAN-3)."""
    signals = (signals_of(row, number) for number, row in enumerate(rows, 1))
    return plan.rank_urls(signals, moment_of(now), profile_of(profile), count_of(top, "top"))


def plan_file(  # noqa: PLR0913 - settings of a library call, all by keyword
    paths: str | Sequence[str],
    *,
    now: datetime | None = None,
    profile: Profile | str | Path = "news",
    policy: str | None = None,
    top: int | None = None,
    min_score: float | None = None,
    levels: str | Sequence[str] = (),
    per_host: int | None = None,
    kind: str | None = None,
    reject: Rejected | None = None,
) -> ranking.Plan:
    """Rank the known URLs of CSV, JSON lines or Parquet files; wrong rows go to `reject`, or stop the run.

    `policy` is a recrawl policy: `learned` for files with change rates, else `heuristic`, the rules of the profile.
    """
    chosen = profile_of(profile)
    asked = _checked(ranking.PlanQuery(moment_of(now), top, min_score, levels_of(levels, chosen), per_host))
    files = [paths] if isinstance(paths, str) else paths
    return open_known(files, chosen, kind=kind, policy=policy, reject=reject).plan(asked)


def _checked(asked: ranking.PlanQuery) -> ranking.PlanQuery:
    """Refuse numbers that would give nothing, and say nothing."""
    count_of(asked.top, "top")
    count_of(asked.per_host, "per_host")
    least_of(asked.min_score, 100.0)  # PLAN-1
    return asked


@contextmanager
def read_store(path: str | Path, *, read_only: bool = False) -> Iterator[tuple[Store, StoreReader]]:
    """Open a store, and what reads in it besides."""
    from honeyguide.adapters.store.known import StoreReader  # sqlite3 is for those who crawl

    store = open_store(path, create=False, read_only=read_only)
    try:
        reader = StoreReader(str(path))
        try:
            yield store, reader
        finally:
            reader.close()
    finally:
        store.close()


@contextmanager
def stored_table(
    path: str | Path,
    profile: Profile | str | Path = "news",
    policy: str = DEFAULT_POLICY,
    *,
    read_only: bool = False,
) -> Iterator[StoreTable]:
    """Open the URLs that a store knows as a table that can be ranked; a crawl may work on the store meanwhile."""
    from honeyguide.adapters.store.known import StoreTable, judging

    with read_store(path, read_only=read_only) as (store, reader):
        judged = judging(policy, profile_of(profile), store, reader)
        yield StoreTable((store, reader), judged, str(path))


def plan_store(  # noqa: PLR0913 - settings of a library call, all by keyword
    path: str | Path,
    *,
    now: datetime | None = None,
    profile: Profile | str | Path = "news",
    policy: str = DEFAULT_POLICY,
    top: int | None = None,
    min_score: float | None = None,
    levels: str | Sequence[str] = (),
    per_host: int | None = None,
) -> ranking.Plan:
    """Rank the URLs that a store knows, visited or not, by a recrawl policy."""
    chosen = profile_of(profile)
    asked = _checked(ranking.PlanQuery(moment_of(now), top, min_score, levels_of(levels, chosen), per_host))
    with stored_table(path, chosen, policy, read_only=True) as table:
        return table.plan(asked)


def enqueue(
    table: StoreTable, urls: Sequence[str], at: float, on_note: Callable[[str], None] | None = None
) -> Scheduled:
    """Schedule URLs of a store in its runs, the first of them first; `crawl --due` and `watch` fetch them.

    `on_note` learns of runs whose profile is gone; without it that is an error.
    """
    from honeyguide.app.runs import profile_of_run  # what a crawl judges by is for those who crawl
    from honeyguide.jobs.watch import Taker, current, schedule

    table.remember()
    runs = current(table.store.runs())
    takers = [Taker(run, profile_of_run(run, on_note).scope.tracking) for run in runs]
    return schedule(table.store, urls, at, takers)


LEARNED = "learned"
_MOST_LOOKED_AT = 100  # columns that might be slips
_NEAR = 0.8  # how like a signal the name of a column is that was probably meant as it


def open_known(  # noqa: PLR0913 - settings of a library call, all by keyword
    paths: Sequence[str],
    profile: Profile,
    *,
    kind: str | None = None,
    policy: str | None = None,
    reject: Rejected | None = None,
    check_urls: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Table:
    """Open files as one table; rows are numbered through. Wrong rows go to `reject`, or stop the run.

    `tell` hears of columns that nobody reads, although their names are nearly those of others that are missing, and of
    times that are taken as UTC.

    Without a `policy`, files that know change rates are ranked by `learned`, others by the rules of the profile.
    """
    sources = sources_of(paths, kind)
    if reject is not None:
        for source in sources:
            reject.expect([source.name], whole=check_urls or source.kind != "parquet")
    names = [_names(source) for source in sources]
    if tell is not None:
        for source, found in zip(sources, names, strict=True):
            for column, meant in _slips(found):
                tell(f"{source.name}: column {shown(column)} is not used; did you mean {meant}?")
        if sentence := _zoneless(sources):
            tell(sentence)
    chosen = policy or (LEARNED if any("rate_a" in found for found in names) else HEURISTIC)
    if chosen == LEARNED and all(source.kind == "parquet" for source in sources):
        return _learned(sources, profile, reject, check_urls=check_urls)
    if not pays_by_columns(sources) or chosen != HEURISTIC:
        name = sources[0].name if len(sources) == 1 else f"{len(sources)} files"
        rows = RowTable(_Rows(sources, reject), profile, name)
        if chosen == HEURISTIC:
            return rows
        return PolicyTable(rows.counted, load_policy(chosen, profile, Priors()), profile, name, rows)
    from honeyguide.bulk.batches import ParquetFile, TextFile  # an extra
    from honeyguide.bulk.ranker import ColumnTable

    files = [
        ParquetFile(source.path, source.name)
        if source.kind == "parquet"
        else TextFile(source.path, source.kind, source.name)
        for source in sources
    ]
    return ColumnTable(files, profile, reject, check_urls=check_urls)


def _learned(
    sources: Sequence[Source], profile: Profile, reject: Rejected | None, *, check_urls: bool
) -> Table:
    from honeyguide.bulk.batches import ParquetFile  # an extra
    from honeyguide.bulk.rate_ranker import LearnedTable

    files = [ParquetFile(source.path, source.name) for source in sources]
    return LearnedTable(files, profile, Learned(Priors()), reject, check_urls=check_urls)


class _Rows:
    """The checked rows of text files, as often as they are asked for."""

    def __init__(self, sources: Sequence[Source], reject: Rejected | None) -> None:
        self._sources = sources
        self._reject = reject
        self._rejected: set[int] = set()

    def __call__(self) -> Iterator[KnownUrl]:
        place = 0
        for source in self._sources:
            for raw in _raws(source):
                place += 1
                number = raw.number
                where = f"row {number}" if len(self._sources) == 1 else f"{source.name} row {number}"
                try:
                    yield KnownUrl(place, where, signals_of_row(raw))
                except InputError as error:
                    self._put_out(place, source, raw, error)

    def _put_out(self, place: int, source: Source, raw: Raw, error: InputError) -> None:
        if self._reject is None:
            raise error
        if place not in self._rejected:
            self._rejected.add(place)
            self._reject(source.name, raw, error)


def _raws(source: Source) -> Iterator[Raw]:
    """Read a file row by row, whatever it is."""
    if source.kind == "parquet":
        from honeyguide.bulk.batches import ParquetFile  # an extra

        yield from ParquetFile(source.path, source.name).rows()
        return
    for number, (line, values) in enumerate(raw_rows(source.path, source.kind, source.name), 1):
        yield Raw(number, f"{source.name} line {line}", values)


def _names(source: Source) -> list[str]:
    """Say which signals a file tells of, by its columns or its first row."""
    if source.kind == "parquet":
        from honeyguide.bulk.batches import ParquetFile  # an extra

        return list(map(field_name, ParquetFile(source.path, source.name).schema))
    first = next(_raws(source), None)
    return list(map(field_name, first.values)) if first and isinstance(first.values, dict) else []


def _zoneless(sources: Sequence[Source]) -> str:
    """Say where timestamps of no zone are taken as UTC: in the first such file, for all."""
    for source in sources:
        if source.kind == "parquet":
            from honeyguide.bulk.batches import ParquetFile  # an extra

            if names := ParquetFile(source.path, source.name).zoneless:
                return f"{source.name}: times without a zone are taken as UTC, in {', '.join(names)}"
    return ""


def _slips(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Find names that are nearly those of signals that are missing.

    >>> list(_slips(["url", "title", "last_vistied"]))
    [('last_vistied', 'last_visited')]
    """
    unread = [name for name in names if name not in NAMES]
    if not unread:
        return
    from difflib import get_close_matches  # not for those whose columns are all read

    missing = [name for name in NAMES if name not in names]
    for name in unread[:_MOST_LOOKED_AT]:
        if near := get_close_matches(name.lower(), missing, 1, _NEAR):
            yield name, near[0]
