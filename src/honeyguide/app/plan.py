"""Plans: what a visit to known URLs is worth now, from rows, files and stores; and how a plan gets into the queues.

Owns: the library calls that score, rank and schedule known URLs, and their records. Must not know: arguments, terminals.
Start reading at `PlanRequest` and `open_plan`. The rankers are in `known_urls`: `files.py` and `store.py`.
"""

from __future__ import annotations

import heapq
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.files.read import name_of
from honeyguide.adapters.files.rows import rejected_name
from honeyguide.adapters.files.sources import expanded, need_parquet
from honeyguide.adapters.policies import POLICIES, policy_names
from honeyguide.app import arguments
from honeyguide.app.arguments import levels_of, moment_of, profile_of
from honeyguide.app.files import store_name
from honeyguide.app.known_urls.files import known_sources, open_known
from honeyguide.app.known_urls.store import Excluded, StoreTable
from honeyguide.app.runs import opened_store, profile_of_run
from honeyguide.core.records import SCHEMA, iso, point_records
from honeyguide.core.recrawl import plan
from honeyguide.core.recrawl.plan import NAMES, KnownUrl, Plan, PlanEntry, PlanQuery
from honeyguide.core.recrawl.policies import HEURISTIC, LEARNED
from honeyguide.core.text.printable import tidy
from honeyguide.errors import AddressRefusedError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from honeyguide.adapters.files.rows import Rejected
    from honeyguide.adapters.files.sources import OnRows
    from honeyguide.core.records import Record
    from honeyguide.core.records.fields import PlanRecord
    from honeyguide.core.recrawl.plan import ScoredUrl, UrlSignals
    from honeyguide.core.rules.profile import Profile
    from honeyguide.jobs.watch import Scheduled
    from honeyguide.ports.store import Ranker, Store

__all__ = [
    "LEARNED", "OWN_POLICIES", "SIGNALS", "KnownUrl", "Plan", "PlanEntry", "PlanQuery", "PlanRequest",
    "PlanSession", "check_budget", "input_files", "open_plan", "plan_file", "plan_record", "plan_sql",
    "plan_store", "policy_names", "rank_urls", "score_frame", "score_url",
]  # fmt: skip

OWN_POLICIES = tuple(POLICIES)
SIGNALS = NAMES  # fields of a file of known URLs
_NEVER = 253_370_764_800.0  # the year 9999


def score_url(
    signals: Mapping[str, Any] | UrlSignals,
    *,
    now: datetime | None = None,
    profile: Profile | str | Path = "news",
) -> ScoredUrl:
    """Score what a known URL is worth now, 0 to 100, with its reasons and level (PLAN-1, PLAN-2)."""
    return plan.score_url(arguments.signals_of(signals, None), moment_of(now), profile_of(profile))


def rank_urls(
    rows: Iterable[Mapping[str, Any] | UrlSignals],
    *,
    now: datetime | None = None,
    top: int | None = None,
    profile: Profile | str | Path = "news",
) -> list[ScoredUrl]:
    """Score known URLs and order them, best first, ties in input order (PLAN-3)."""
    moment, chosen, most = moment_of(now), profile_of(profile), arguments.count_of(top, "top")
    signals = (arguments.signals_of(row, number) for number, row in enumerate(rows, 1))
    scored = (plan.score_url(one, moment, chosen) for one in signals)
    if most is None:
        return sorted(scored, key=lambda item: -item.score.value)
    return heapq.nlargest(most, scored, key=lambda item: item.score.value)


def score_frame(frame: Any, *, now: datetime | None = None, profile: Profile | str | Path = "news") -> Any:
    """Score a frame of known URLs: the same rows with the columns `score`, `level` and `reasons` (PLAN-1, PLAN-2).

    The frame is of polars, pandas or pyarrow, and so is the result. Its columns are those of `plan_file`.
    """
    library = type(frame).__module__.partition(".")[0]
    if library not in ("polars", "pandas", "pyarrow"):
        raise InputError(
            f"should be a frame of polars, pandas or pyarrow, not {type(frame).__name__}", field="frame"
        )
    need_parquet("the frame")
    import polars as pl  # an extra

    from honeyguide.bulk.frames import ADDED, with_scores

    given = (
        pl.from_pandas(frame)
        if library == "pandas"
        else pl.DataFrame(getattr(frame, "collect", lambda: frame)())
    )
    scored = with_scores(given, moment_of(now), profile_of(profile))
    if library == "pandas":
        return frame.assign(**{name: scored[name].to_list() for name in ADDED})
    return scored.to_arrow() if library == "pyarrow" else scored


def plan_sql(dialect: str, *, now: datetime | None = None, profile: Profile | str | Path = "news") -> str:
    """Write the plan card of a profile as SQL for `duckdb`, `postgres` or `spark`: the scores of a table `known`."""
    from honeyguide.core.rules.sql import plan_sql as write  # for those who have a database

    return write(profile_of(profile), moment_of(now), dialect)


def plan_file(  # noqa: PLR0913 - settings of a library call, all by keyword
    paths: str | Path | Sequence[str | Path],
    *,
    now: datetime | None = None,
    profile: Profile | str | Path = "news",
    policy: str | None = None,
    top: int | None = None,
    min_score: float | None = None,
    max_score: float | None = None,
    levels: str | Sequence[str] = (),
    per_host: int | None = None,
    budget: int | None = None,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    reject: Rejected | None = None,
) -> Plan:
    """Rank the known URLs of CSV, JSON lines or Parquet files.

    `policy` is a recrawl policy; None: `learned` for files with change rates, else `heuristic`, the rules of the profile.
    With a `budget` of visits, `high` and better are the pages within it; not for `heuristic` (PLAN-2).
    """
    chosen = profile_of(profile)
    query = _checked(
        PlanQuery(
            moment_of(now), top, min_score, max_score, levels_of(levels, chosen), per_host, budget=budget
        )
    )
    arguments.check_tables(paths, kind)
    sources = known_sources(paths, kind, columns)
    ranker = open_known(sources, chosen, policy=policy, reject=reject)
    check_budget(ranker, query)
    return ranker.plan(query)


def plan_store(  # noqa: PLR0913 - settings of a library call, all by keyword
    path: Store | str | Path,
    *,
    now: datetime | None = None,
    profile: Profile | str | Path = "news",
    policy: str = LEARNED,
    top: int | None = None,
    min_score: float | None = None,
    max_score: float | None = None,
    levels: str | Sequence[str] = (),
    per_host: int | None = None,
    budget: int | None = None,
    visited: bool = False,
) -> Plan:
    """Rank the URLs that a store knows by a recrawl policy; `budget` as in `plan_file`.

    If `visited`, links that were never visited are no part of it.
    """
    chosen = profile_of(profile)
    query = _checked(
        PlanQuery(
            moment_of(now), top, min_score, max_score, levels_of(levels, chosen), per_host, budget=budget
        )
    )
    with opened_store(path, read_only=True) as store:
        ranker = StoreTable(store, chosen, policy, store_name(path), Excluded(unvisited=visited))
        check_budget(ranker, query)
        return ranker.plan(query)


def check_budget(ranker: Ranker, query: PlanQuery) -> None:
    """Refuse a budget where levels are fixed scores."""
    if query.budget is not None and ranker.policy == HEURISTIC:
        what = "levels of the policy heuristic are fixed scores (PLAN-2); take the policy learned, or top"
        raise InputError(what, field="budget")


def _checked(query: PlanQuery) -> PlanQuery:
    """Reject numbers that would silently give an empty plan."""
    arguments.count_of(query.top, "top")
    arguments.count_of(query.per_host, "per_host")
    arguments.count_of(query.budget, "budget")
    least = arguments.score_of(query.min_score, 100.0)  # PLAN-1
    bound = arguments.score_of(query.max_score, 100.0, "max_score")
    if bound is not None and bound <= (least or 0.0):
        raise InputError(f"no score is below {bound:g} and at least {least or 0.0:g}", field="max_score")
    return query


# --- a plan and what can be asked of it ---


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What to rank, and by which policy: files, or a store, into whose queues a plan may be put if `can_enqueue`.

    If `visited`, links of the store that were never visited are no part of it.
    """

    profile: Profile
    files: tuple[str, ...] = ()
    store: str | None = None
    visited: bool = False
    input_format: str | None = None
    policy: str | None = None
    columns: Mapping[str, str] | None = None
    check_urls: bool = False
    can_enqueue: bool = False


@contextmanager
def open_plan(
    request: PlanRequest,
    *,
    reject: Rejected | None = None,
    on_note: Callable[[str], None] | None = None,
    on_rows: OnRows | None = None,
) -> Iterator[PlanSession]:
    """Open files or a store for ranking. Wrong rows go to `reject`, or stop the run; `on_note` receives warnings.

    `on_rows` hears of the rows that are read: the name of the file or store, and how many.
    """
    profile, policy = request.profile, request.policy
    if request.store is not None:
        with opened_store(request.store, create=False, read_only=not request.can_enqueue) as store:
            name = store_name(request.store)
            excluded = Excluded(unvisited=request.visited)
            stored = StoreTable(store, profile, policy or LEARNED, name, excluded)
            stored.on_rows = on_rows
            yield PlanSession(stored, profile, name, stored)
        return
    ranker = open_known(
        known_sources(request.files, request.input_format, request.columns, on_rows),
        profile,
        policy=policy,
        reject=reject,
        check_urls=request.check_urls,
        on_note=on_note,
    )
    yield PlanSession(ranker, profile, ", ".join(map(name_of, request.files)))


@dataclass(frozen=True, slots=True)
class PlanSession:
    """Known URLs that are open for ranking; `name` is their file or store, for people."""

    ranker: Ranker
    profile: Profile
    name: str
    stored: StoreTable | None = None

    @property
    def refused(self) -> int:
        """Count the URLs of a store that its runs may not visit for their addresses."""
        if self.stored is None:
            return 0
        store = self.stored.store
        ledgers = map(store.ledger, store.runs.list())
        return len({row.url for one in ledgers for row in one.rows(rule=AddressRefusedError.rule)})

    def find(self, text: str) -> KnownUrl | None:
        """Find a row by its URL; in a store also by its path, on the sites of the newest crawl first."""
        texts = [text]
        if self.stored is not None and arguments.is_path(text):
            store = self.stored.store
            runs = (store.ledger(run).sites() for run in reversed(store.runs.list()))
            texts = [url for sites in runs for url in arguments.on_sites(text, sites)]
        rows = self.ranker.find(texts)
        return next((rows[one] for one in texts if one in rows), None)

    def explain(self, row: KnownUrl, now: datetime) -> Record:
        """Write the rank of one URL, its signals, and what every rule paid."""
        entry = self.ranker.judge(row, now)
        scored, level = entry.scored, entry.scored.level
        is_card = self.ranker.policy == HEURISTIC
        return {
            "schema": SCHEMA,
            "rank": self.ranker.rank_of(row, now),
            "url": scored.url,
            "policy": self.ranker.policy,
            "score": tidy(scored.score.value),
            "level": level.name,
            "advice": level.advice,
            "reasons": list(scored.score.words),
            "points": point_records(scored.score.reasons),
            "next_due": _due(entry.next_due),
            "where": row.where,
            "signals": {
                name: value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value
                for name, value in ((name, getattr(row.signals, name)) for name in NAMES[1:])
            },
            "rules": _rules(scored, self.profile) if is_card else point_records(scored.score.reasons),
            "unknown": list(scored.score.unknown),
        }

    def enqueue(
        self, urls: Sequence[str], now: datetime, on_note: Callable[[str], None] | None = None
    ) -> Scheduled:
        """Schedule URLs of a store in its runs, in this order; `on_note` receives runs whose profile is gone."""
        from honeyguide.jobs.request import latest_runs
        from honeyguide.jobs.watch import schedule

        if self.stored is None:
            raise InputError("only a store has queues", file=self.name)
        self.stored.save_priors()
        store = self.stored.store
        latest = latest_runs(store.runs.list())
        runs = [(run, profile_of_run(run, on_note).scope.tracking) for run in latest]
        return schedule(store, urls, now.timestamp(), runs)


def input_files(files: Sequence[str], *, is_skipping: bool) -> list[str]:
    """List the files that patterns name, and those that wrong rows would be written to if they are skipped."""
    inputs = [path for pattern in files for path in expanded(pattern)]
    return [*inputs, *(rejected_name(name_of(path)) for path in inputs if is_skipping)]


def plan_record(entry: PlanEntry) -> PlanRecord:
    """Write an entry as data."""
    scored = entry.scored
    return {
        "schema": SCHEMA,
        "rank": entry.rank,
        "url": scored.url,
        "score": tidy(scored.score.value),
        "level": scored.level.name,
        "reasons": list(scored.score.words),
        "points": point_records(scored.score.reasons),
        "next_due": _due(entry.next_due),
    }


def _due(moment: float | None) -> str | None:
    """Write when a visit is due; a time beyond the calendar is never."""
    return None if moment is None or moment >= _NEVER else iso(moment)


def _rules(scored: ScoredUrl, profile: Profile) -> list[Record]:
    paid = {reason.rule: reason for reason in scored.score.reasons}
    listed = {rule.id: rule.reason for group in profile.cards["plan"].card.groups for rule in group.rules}
    others = {rule: reason.text for rule, reason in paid.items() if rule not in listed}
    texts = {**{rule: others[rule] for rule in others if rule == "base"}, **listed, **others}
    return [
        {"rule": rule, "points": tidy(paid[rule].points) if rule in paid else None, "reason": text}
        for rule, text in texts.items()
    ]
