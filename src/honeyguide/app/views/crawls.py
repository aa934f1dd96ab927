"""A store as a person looks at it: pages, tree, a run that is being worked on, and the summary of a run.

Owns: the names under which front ends reach these views. Must not know: web pages, SQL (`adapters.files.browse`).
"""

from __future__ import annotations

from itertools import islice
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
from honeyguide.errors import HoneyguideError
from honeyguide.jobs.request import traversal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from honeyguide.core.crawl.frontier import Counts, Run
    from honeyguide.core.records import Record
    from honeyguide.ports.store import Ledger

__all__ = [
    "DRAWN",
    "FILTERS",
    "SORTS",
    "Branch",
    "LiveRun",
    "PageQuery",
    "RunSummary",
    "Standing",
    "StoreBrowser",
    "read_learnt",
    "read_summary",
]

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
