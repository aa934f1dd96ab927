"""Plans: what known URLs are worth now, from rows, files and stores; and how a plan gets into the queues.

Owns: the library calls that score, rank and schedule known URLs. Must not know: arguments, terminals.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from honeyguide.app.crawling import open_store
from honeyguide.app.given import count_of, least_of, levels_of, moment_of, profile_of, signals_of
from honeyguide.core import plan, ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from honeyguide.adapters.rows.rejected import Rejected
    from honeyguide.adapters.store.stored import Reader, StoreTable
    from honeyguide.core.plan import Scored, Signals
    from honeyguide.core.profile import Profile
    from honeyguide.jobs.schedule import Scheduled
    from honeyguide.ports import Store

DEFAULT_POLICY = "learned"


def score_url(
    signals: Mapping[str, Any] | Signals,
    *,
    now: datetime | None = None,
    profile: Profile | str | Path = "news",
) -> Scored:
    """Score what a known URL is worth now, 0 to 100, with its reasons and level (PLAN-1, PLAN-2)."""
    return plan.score_url(signals_of(signals, None), moment_of(now), profile_of(profile))


def rank_urls(
    rows: Iterable[Mapping[str, Any] | Signals],
    *,
    now: datetime | None = None,
    top: int | None = None,
    profile: Profile | str | Path = "news",
) -> list[Scored]:
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
    from honeyguide.adapters.rows.known import open_known  # files are for those who plan from files

    chosen = profile_of(profile)
    asked = _checked(ranking.Asked(moment_of(now), top, min_score, levels_of(levels, chosen), per_host))
    files = [paths] if isinstance(paths, str) else paths
    return open_known(files, chosen, kind=kind, policy=policy, reject=reject).plan(asked)


def _checked(asked: ranking.Asked) -> ranking.Asked:
    """Refuse numbers that would give nothing, and say nothing."""
    count_of(asked.top, "top")
    count_of(asked.per_host, "per_host")
    least_of(asked.min_score, 100.0)  # PLAN-1
    return asked


@contextmanager
def read_store(path: str | Path, *, read_only: bool = False) -> Iterator[tuple[Store, Reader]]:
    """Open a store, and what reads in it besides."""
    from honeyguide.adapters.store.stored import Reader  # sqlite3 is for those who crawl

    store = open_store(path, create=False, read_only=read_only)
    try:
        reader = Reader(str(path))
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
    from honeyguide.adapters.store.stored import StoreTable, judging

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
    asked = _checked(ranking.Asked(moment_of(now), top, min_score, levels_of(levels, chosen), per_host))
    with stored_table(path, chosen, policy, read_only=True) as table:
        return table.plan(asked)


def enqueue(
    table: StoreTable, urls: Sequence[str], at: float, on_note: Callable[[str], None] | None = None
) -> Scheduled:
    """Schedule URLs of a store in its runs, the first of them first; `crawl --due` and `watch` fetch them.

    `on_note` learns of runs whose profile is gone; without it that is an error.
    """
    from honeyguide.app.again import profile_of_run  # what a crawl judges by is for those who crawl
    from honeyguide.jobs.schedule import Taker, current, schedule

    table.remember()
    runs = current(table.store.runs())
    takers = [Taker(run, profile_of_run(run, on_note).scope.tracking) for run in runs]
    return schedule(table.store, urls, at, takers)
