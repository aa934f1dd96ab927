"""A store as a person looks at it: pages, tree and summary of a run, how often pages change, and how fresh visits keep copies.

Owns: the names under which front ends reach these views, and the curve of `simulate`'s optimum over budgets. Must not know: web
pages, SQL (`adapters.store.common.browse`), how rates are learned. Start reading at `read_summary` and `read_freshness`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice, takewhile
from math import expm1
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.adapters.store.common.browse import DRAWN, FILTERS, SORTS, PageQuery
from honeyguide.app.files import is_database, store_name, with_links
from honeyguide.app.known_urls.store import known_row, queued_row
from honeyguide.app.plan import PlanQuery, plan_store
from honeyguide.app.runs import (
    find_run,
    found_records,
    group_rules,
    opened_store,
    profile_of_run,
    resume_request,
    rule_words,
    run_record,
)
from honeyguide.config import load_profile
from honeyguide.core.crawl.learner import Learner
from honeyguide.core.recrawl.history import site_of
from honeyguide.core.recrawl.policies import Learned
from honeyguide.core.recrawl.priors import Priors, refit_priors
from honeyguide.core.recrawl.ranking import RowTable
from honeyguide.core.recrawl.signals import state_of
from honeyguide.errors import HoneyguideError
from honeyguide.jobs.request import traversal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from honeyguide.adapters.store.common.browse import Branch, LiveRun, Standing, StoreBrowser
    from honeyguide.core.crawl.frontier import Counts, Run
    from honeyguide.core.records import Record
    from honeyguide.core.recrawl.history import Site
    from honeyguide.core.recrawl.plan import Plan
    from honeyguide.core.recrawl.signals import PageState
    from honeyguide.ports.store import Ledger

__all__ = ["DRAWN", "FILTERS", "SORTS", "PageQuery"]

MAX_SITES = 20  # whose lessons are told
MAX_SUMMARY = 2_000  # pages of a run whose records are read for its summary


def browse(path: str) -> AbstractContextManager[StoreBrowser]:
    """Open a store to look at some of its pages, its tree, or a run that is being worked on."""
    if is_database(path):
        from honeyguide.adapters.store.postgres.browse import browse_database

        return browse_database(path)
    from honeyguide.adapters.store.sqlite.browse import browse_file  # sqlite3 is for those who crawl

    return browse_file(path)


def list_pages(path: str, query: PageQuery) -> tuple[list[Record], bool]:
    """Give the records of some pages of a run; also says whether all pages were looked at."""
    with browse(path) as browser:
        return browser.pages(query)


def list_branches(path: str, run: int, prefix: str, *, is_exact: bool = False) -> tuple[list[Branch], bool]:
    """List the parts of a site below a prefix, or the sites of a run; also says whether all URLs were counted."""
    with browse(path) as browser:
        return browser.branches(run, prefix, is_exact=is_exact)


def read_live(path: str, run: int) -> LiveRun | None:
    """Tell how far a run is."""
    with browse(path) as browser:
        return browser.live(run)


def list_visits(path: str, run: int, after: int) -> list[tuple[int, bool]]:
    """List some pages after a claim: the claim, and whether each is relevant."""
    with browse(path) as browser:
        return browser.visits(run, after)


def read_standing(path: str, run: int) -> Standing:
    """Tell what a run has in its queue, what it rejected, and which hosts rest."""
    with browse(path) as browser:
        return browser.standing(run)


class RunSummary(NamedTuple):
    """What a summary of a run needs: its record, counts and first pages, rules that rejected, their words, and what was learnt.

    The counts of a large run are estimates from a part of its URLs, unless `is_exact`.
    """

    run: Record
    counts: Counts
    pages: list[Record]
    rejected: Mapping[str, Mapping[str, int]]
    words: Callable[[str], str]
    learnt: list[str]
    is_exact: bool


def read_summary(path: str, number: int, *, is_exact: bool = False) -> RunSummary:
    """Read what a summary of a run needs; `is_exact` counts all URLs, however many there are."""
    with opened_store(path, read_only=True) as store, browse(path) as browser:
        run = find_run(store, number)
        ledger, profile = store.ledger(run), profile_of_run(run, lambda _note: None)
        pages = list(islice(with_links(found_records("pages", ledger), links=False), MAX_SUMMARY))
        counts, is_whole = (ledger.counts(), True) if is_exact else browser.counts(run.id)
        return RunSummary(
            run_record(run),
            counts,
            pages,
            group_rules(counts),
            lambda rule: rule_words(rule, profile),
            _learnt(run, ledger),
            is_whole,
        )


def read_learnt(path: str, number: int) -> tuple[list[str], Callable[[str], str]]:
    """Say what a run has learnt on its first sites so far, and give what its rules mean."""
    with opened_store(path, read_only=True) as store:
        run = find_run(store, number)
        profile = profile_of_run(run, lambda _note: None)
        return _learnt(run, store.ledger(run)), lambda rule: rule_words(rule, profile)


def _learnt(run: Run, ledger: Ledger) -> list[str]:
    """Say what was learnt on the first sites of a run; nothing if its profile is gone (TOPIC-4c)."""
    try:
        request, profile = resume_request(run)
        rules = traversal_of(profile, request.traversal).learner
    except HoneyguideError:
        return []
    if rules is None:
        return []
    sites = sorted(ledger.sites())[:MAX_SITES]
    return [f"{site}: {said}" for site in sites for said in Learner(rules, ledger.learnt(site)).summary()]


# --- plans and freshness ---

MAX_RANKED = 500  # URLs of a large store that are ranked at a first look
_LISTED = 100  # of them
_FEW_RATES = 200  # pages that priors are fitted to then
_LARGE = 10_000  # URLs of a store that are not ranked all at once
MAX_RATES = 20_000  # pages whose rates are read; identities are at random, so the first are as good as any
_DRAWN = 400  # of them stand for all in the curve: its cost grows with pages times budgets
EVERY_DAYS = (365.0, 180.0, 90.0, 45.0, 30.0, 14.0, 7.0, 4.0, 2.0, 1.0, 0.5, 0.25)  # a page on average
_STEPS_H = (
    (6, "6 hours"),
    (24, "a day"),
    (168, "a week"),
    (720, "a month"),
    (2_190, "3 months"),
    (8_760, "a year"),
)
SLOWER = "more than a year"


class FreshPoint(NamedTuple):
    """A budget: a page is visited every so many days on average; how fresh copies are at best, and with equal visits."""

    every_days: float
    best: float
    equal: float


class Freshness(NamedTuple):
    """Pages whose rates were read, how many change how often, and the curve; empty without numpy or pages, None if not drawn."""

    pages: int
    intervals: dict[str, int]
    curve: list[FreshPoint] | None


class PlanView(NamedTuple):
    """A plan of a store, and how fresh visits keep it; `urls` is how many the store has if only a part of them was ranked."""

    plan: Plan
    fresh: Freshness
    urls: int | None


def read_plan(path: str, top: int, *, is_exact: bool = False) -> PlanView:
    """Rank the URLs of a store; of a large one some that are drawn, and without the curve, unless `is_exact`."""
    with browse(path) as browser:
        urls = browser.urls()
        if is_exact or urls <= _LARGE:
            return PlanView(plan_store(path, top=top), read_freshness(path), None)
        share = MAX_RANKED / urls
        # Identities are hashes, so those below a number are drawn at random.
        below = int(share * 2**64) - 2**63
        queued = browser.queued(below)
    with opened_store(path, read_only=True) as store:
        history = store.history
        drawn = [
            one for one in takewhile(lambda one: one.digest < below, history.known()) if not one.is_moved
        ]
        sites = history.sites({one.site for one in drawn} | {site_of(one.url) for one in queued})
        priors = refit_priors(history.rates(_FEW_RATES), Priors())

        def site(name: str) -> Site:
            return sites.get(name) or sites[""]

        policy = Learned(priors, site)
        rows = [known_row(place, one, priors, site) for place, one in enumerate(drawn, 1)]
        fresh = _freshness(policy, [row.state for row in rows if row.state is not None])
        rows += [queued_row(place, one) for place, one in enumerate(queued, len(rows) + 1)]
        table = RowTable(lambda: iter(rows), policy, load_profile("news"), store_name(path))
        found = table.plan(PlanQuery(datetime.now(UTC), min(top, _LISTED)))
    levels = {name: round(count / share) for name, count in found.levels.items()}
    return PlanView(replace(found, levels=levels), fresh, urls)


def read_freshness(path: str) -> Freshness:
    """Read how often the pages of a store change, and how fresh visits keep them."""
    with opened_store(path, read_only=True) as store:
        history = store.history
        policy = Learned(refit_priors(history.rates(MAX_RATES), Priors()), history.site)
        states = [state_of(known, policy.priors) for known in islice(history.known(), MAX_RATES)]
        pages = [(1.0 / policy.rate_of(state).mean_interval_h, state.weight) for state in states]
        return _freshness(policy, states)._replace(curve=_curve(pages))


def _freshness(policy: Learned, states: Sequence[PageState]) -> Freshness:
    """Count pages by how often they change."""
    hours = [policy.rate_of(state).mean_interval_h for state in states]
    counts = Counter(
        next((f"within {name}" for most, name in _STEPS_H if one <= most), SLOWER) for one in hours
    )
    names = [*(f"within {name}" for _, name in _STEPS_H), SLOWER]
    return Freshness(len(states), {name: counts[name] for name in names}, None)


def _curve(pages: Sequence[tuple[float, float]]) -> list[FreshPoint]:
    drawn = pages[:: max(1, len(pages) // _DRAWN)]
    weight = sum(one for _, one in drawn)
    try:
        import numpy as np

        from honeyguide.simulation.measures import optimal_freshness
        from honeyguide.simulation.run import Budget
        from honeyguide.simulation.worlds import World
    except ImportError:  # an extra
        return []
    if weight <= 0.0:
        return []
    size = len(drawn)
    none, never = np.zeros(size, np.int64), np.full(size, np.inf)
    rates, weights = (np.array(column) for column in zip(*drawn, strict=True))
    world = World(
        "store", 1.0, ("",) * size, ("",), none, none, weights, np.zeros(size), never, none - 1, np.zeros(size + 1, np.int64),
        np.zeros(0), rates, is_steady=True,
    )  # fmt: skip
    points = []
    for days in EVERY_DAYS:
        z = [rate * 24.0 * days for rate, _ in drawn]
        equal = sum(one * -expm1(-x) / x for x, (_, one) in zip(z, drawn, strict=True)) / weight
        points.append(FreshPoint(days, optimal_freshness(world, Budget("", size / days)), equal))
    return points
