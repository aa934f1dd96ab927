"""A store as a person looks at it: pages, tree and summary of a run, how often pages change, and how fresh visits keep copies.

Owns: the names under which front ends reach these views, and the curve of `simulate`'s optimum over budgets. Must not know: web
pages, SQL (`adapters.files.browse`), how rates are learned. Start reading at `read_summary` and `read_freshness`.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from math import expm1
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.adapters.files.browse import (
    DRAWN,
    FILTERS,
    SORTS,
    Branch,
    LiveRun,
    PageQuery,
    Standing,
    StoreBrowser,
)
from honeyguide.app.files import with_links
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
from honeyguide.core.crawl.learner import Learner
from honeyguide.core.recrawl.policies import Learned
from honeyguide.core.recrawl.priors import Priors, refit_priors
from honeyguide.core.recrawl.signals import state_of
from honeyguide.errors import HoneyguideError
from honeyguide.jobs.request import traversal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from honeyguide.core.crawl.frontier import Counts, Run
    from honeyguide.core.records import Record
    from honeyguide.ports.store import Ledger

__all__ = ["DRAWN", "FILTERS", "SORTS", "Branch", "LiveRun", "PageQuery", "Standing", "StoreBrowser"]

MAX_SITES = 20  # whose lessons are told
MAX_SUMMARY = 5_000  # pages of a run whose records are read for its summary


class RunSummary(NamedTuple):
    """What a summary of a run needs: its record, counts and first pages, rules that rejected, their words, and what was learnt."""

    run: Record
    counts: Counts
    pages: list[Record]
    rejected: Mapping[str, Mapping[str, int]]
    words: Callable[[str], str]
    learnt: list[str]


def read_summary(path: str, number: int) -> RunSummary:
    """Read what a summary of a run needs."""
    with opened_store(path, read_only=True) as store:
        run = find_run(store, number)
        ledger, profile = store.ledger(run), profile_of_run(run, lambda _note: None)
        pages = list(islice(with_links(found_records("pages", ledger), links=False), MAX_SUMMARY))
        counts = ledger.counts()
        return RunSummary(
            run_record(run),
            counts,
            pages,
            group_rules(counts),
            lambda rule: rule_words(rule, profile),
            _learnt(run, ledger),
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
    sites = sorted(ledger.sites())[: MAX_SITES if rules is not None else 0]
    return (
        [f"{site}: {said}" for site in sites for said in Learner(rules, ledger.learnt(site)).summary()]
        if rules
        else []
    )


# --- freshness ---

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
    """Pages whose rates were read, how many change how often, and the curve; empty without numpy or pages."""

    pages: int
    intervals: dict[str, int]
    curve: list[FreshPoint]


def read_freshness(path: str) -> Freshness:
    """Read how often the pages of a store change, and how fresh visits keep them."""
    with opened_store(path, read_only=True) as store:
        history = store.history
        policy = Learned(refit_priors(history.rates(MAX_RATES), Priors()), history.site)
        states = (state_of(known, policy.priors) for known in islice(history.known(), MAX_RATES))
        pages = [(1.0 / policy.rate_of(state).mean_interval_h, state.weight) for state in states]
    counts = Counter(
        next((f"within {name}" for most, name in _STEPS_H if 1.0 / rate <= most), SLOWER) for rate, _ in pages
    )
    names = [*(f"within {name}" for _, name in _STEPS_H), SLOWER]
    return Freshness(len(pages), {name: counts[name] for name in names}, _curve(pages))


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
