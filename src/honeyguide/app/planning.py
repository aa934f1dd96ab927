"""Plans: what known URLs are worth now, from rows, files and stores; and how a plan gets into the queues.

Owns: the library calls that score, rank and schedule known URLs. Must not know: arguments, terminals.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from honeyguide.app.crawling import open_store
from honeyguide.app.given import moment_of, profile_of, signals_of
from honeyguide.config import load_profile
from honeyguide.core import plan, ranking
from honeyguide.errors import HoneyguideError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from honeyguide.adapters.stored import Reader, StoreTable
    from honeyguide.core.frontier import Run
    from honeyguide.core.plan import Scored, Signals
    from honeyguide.core.profile import Profile
    from honeyguide.core.url import Tracking
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
    return plan.rank_urls(signals, moment_of(now), profile_of(profile), top)


def plan_file(
    paths: str | Sequence[str],
    *,
    now: datetime | None = None,
    profile: Profile | str | Path = "news",
    **asked: Any,
) -> ranking.Plan:
    """Rank the known URLs of CSV, JSON lines or Parquet files; `asked` are `top`, `min_score`, `levels`, `per_host`."""
    from honeyguide.adapters.known import open_known  # files are for those who plan from files

    table = open_known([paths] if isinstance(paths, str) else paths, profile_of(profile))
    return table.plan(ranking.Asked(moment_of(now), **asked))


@contextmanager
def read_store(path: str | Path) -> Iterator[tuple[Store, Reader]]:
    """Open a store, and what reads in it besides."""
    from honeyguide.adapters.stored import Reader  # sqlite3 is for those who crawl

    store = open_store(path, create=False)
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
    path: str | Path, profile: Profile | str | Path = "news", policy: str = DEFAULT_POLICY
) -> Iterator[StoreTable]:
    """Open the URLs that a store knows as a table that can be ranked; a crawl may work on the store meanwhile."""
    from honeyguide.adapters.stored import StoreTable, judging

    with read_store(path) as (store, reader):
        judged = judging(policy, profile_of(profile), store, reader)
        yield StoreTable((store, reader), judged, str(path))


def plan_store(
    path: str | Path,
    *,
    now: datetime | None = None,
    profile: Profile | str | Path = "news",
    policy: str = DEFAULT_POLICY,
    **asked: Any,
) -> ranking.Plan:
    """Rank the URLs that a store knows; `asked` is as in `plan_file`."""
    with stored_table(path, profile, policy) as table:
        return table.plan(ranking.Asked(moment_of(now), **asked))


def enqueue(table: StoreTable, urls: Sequence[str], at: float) -> Scheduled:
    """Schedule URLs of a store in its runs, the first of them first; `crawl --due` and `watch` fetch them."""
    from honeyguide.jobs.schedule import Taker, current, schedule

    table.remember()
    takers = [Taker(run, _tracking(run)) for run in current(table.store.runs())]
    return schedule(table.store, urls, at, takers)


def _tracking(run: Run) -> Tracking:
    """Say which parameters a run ignores; where its profile is gone, it is taken for one of ours."""
    try:
        return load_profile(run.spec.profile).scope.tracking
    except HoneyguideError:
        return load_profile("base").scope.tracking
