"""A store as a person looks at it: pages, tree, a run that is being worked on, and the summary of a run.

Owns: the names under which front ends reach these views. Must not know: web pages, SQL (`adapters.files.browse`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.adapters.files.browse import FILTERS, SORTS, Branch, LiveRun, PageQuery, StoreBrowser
from honeyguide.app.files import with_links
from honeyguide.app.runs import (
    find_run,
    found_records,
    group_rules,
    opened_store,
    profile_of_run,
    rule_words,
    run_record,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from honeyguide.core.crawl.frontier import Counts
    from honeyguide.core.records import Record

__all__ = ["FILTERS", "SORTS", "Branch", "LiveRun", "PageQuery", "StoreBrowser", "read_summary"]

MAX_SUMMARY = 20_000  # pages of a run whose records are read for its summary


def read_summary(
    path: str, number: int
) -> tuple[Record, Counts, list[Record], Mapping[str, Mapping[str, int]], Callable[[str], str]]:
    """Read what a summary of a run needs: the run, its counts, its first pages, rules that rejected, and their words."""
    with opened_store(path, read_only=True) as store:
        run = find_run(store, number)
        ledger, profile = store.ledger(run), profile_of_run(run, lambda _note: None)
        counts, pages = ledger.counts(), []
        for record in with_links(found_records("pages", ledger), links=False):
            pages.append(record)
            if len(pages) == MAX_SUMMARY:
                break
        return run_record(run), counts, pages, group_rules(counts), lambda rule: rule_words(rule, profile)
