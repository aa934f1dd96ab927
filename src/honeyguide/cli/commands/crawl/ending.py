"""How a crawl ended, for a person: pages, why it stopped, what is queued, what was put out by which rule.

Owns: the words. Must not know: how any of it was decided. Everything goes to standard error.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from honeyguide import app
from honeyguide.app import rule_words
from honeyguide.cli.commands.crawl.outputs import shaped
from honeyguide.cli.files import INTERRUPTED, TOLD
from honeyguide.cli.progress import queue_words
from honeyguide.core.records import verdict_of
from honeyguide.core.recrawl.history import NOT_MODIFIED, UNCHANGED
from honeyguide.core.text.printable import printable
from honeyguide.core.why import Why
from honeyguide.errors import AddressRefusedError, ForbiddenError, rule_now

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from honeyguide.core.crawl.frontier import Counts, Run
    from honeyguide.core.records import Record
    from honeyguide.core.rules.profile import Profile
    from honeyguide.ports.store import Ledger

STOPPED = {
    "complete": "nothing is left to fetch",
    "max_pages": "--max-pages is reached; with more, the same command goes on",
    "max_pages_per_host": "--max-pages-per-host is reached; with more, the same command goes on",
    "external_pages": "--follow-external is used up, and the rest is complete",
    "max_time": "--max-time is over; the same command goes on",
    INTERRUPTED: "interrupted; the same command goes on",
    TOLD: "told to stop; the same command goes on",
    "resting": "what is left failed, or its site asks for a pause; the same command tries it again, later",
    "shared": "another process is fetching what is left",
    "site_failing": "the site failed again and again; the same command goes on, later",
    "nothing_due": "nothing more is due",
    "due_later": "what is left is due later, or its site asks for a pause; the same command goes on then",
}
NO_PAGES = "Links that are no pages"
_TITLES = {
    "rejected": "Rejected",
    "unread": "Fetched, and their links not followed",
    "lost": "Met, and not kept",
    "skipped": NO_PAGES,
}


def tell_end(summary: str, stopped: str, counts: Counts, profile: Profile, last: str) -> None:
    """Say on standard error how a crawl ended; `last` is the last line."""
    lines = [summary, f"Stopped: {STOPPED.get(stopped, stopped)}."]
    if counts.lanes:
        lines.append(f"Queued: {queue_words(counts.lanes)}.")
    for title, rules in _titled(counts).items():
        if title != NO_PAGES:
            lines += _listed(title, rules, profile)
        elif rules:
            lines.append(f"{title}: {', '.join(f'{n:,} {rule}' for rule, n in _most_first(rules))}.")
    click.echo("\n".join(map(printable, [*lines, last])), err=True)


def _titled(counts: Counts) -> dict[str, Mapping[str, int]]:
    return {_TITLES[group]: rules for group, rules in app.group_rules(counts).items()}


def _listed(title: str, counts: Mapping[str, int], profile: Profile) -> list[str]:
    """List rules, with their words."""
    wide = max(map(len, counts), default=0)
    told = [
        f"{n:>9,}  {rule:<{wide}}  {rule_words(rule, profile)}".rstrip() for rule, n in _most_first(counts)
    ]
    return [f"{title}:", *told] if told else []


def revisit_words(verdicts: Mapping[str, int]) -> str:
    """Say what visits came to; what came to nothing is left out. What is gone or failed may never have been had before.

    >>> revisit_words({"changed": 2, "not-modified": 3, "same-bytes": 1})
    '6 pages visited again: 2 changed, 4 unchanged (3 of them by 304)'
    >>> revisit_words({"failed": 2})
    '2 pages visited: 2 failed'
    >>> revisit_words({"first": 5}), revisit_words({"changed": 1, "first": 5})
    ('5 pages visited, all for the first time', '6 pages visited: 1 changed, 5 for the first time')
    """
    total, first = sum(verdicts.values()), verdicts.get("first", 0)
    visited = f"{'1 page' if total == 1 else f'{total:,} pages'} visited"
    if first == total:
        return visited + (f",{' all' if total > 1 else ''} for the first time" if total else "")
    same = sum(verdicts.get(verdict, 0) for verdict in UNCHANGED)
    told = verdicts.get(NOT_MODIFIED, 0)
    counts = {
        "changed": verdicts.get("changed", 0),
        f"unchanged{f' ({told:,} of them by 304)' if told else ''}": same,
        "gone": verdicts.get("gone", 0),
        "failed": verdicts.get("failed", 0),
        "for the first time": first,
    }
    parts = [f"{count:,} {word}" for word, count in counts.items() if count]
    is_again = same + counts["changed"] == total
    return f"{visited}{' again' if is_again else ''}: {', '.join(parts)}"


def _most_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def is_refused(record: Record) -> bool:
    """Tell whether a page was not visited because of its address."""
    return bool(record["points"]) and rule_now(record["points"][-1]["rule"]) == AddressRefusedError.rule


def failure_of(record: Record) -> Counter[str]:
    """Count why a visit failed, in words; what is gone, and what was refused for its address, is told by itself."""
    if verdict_of(record) != "failed" or is_refused(record):
        return Counter()
    return Counter([cause_of(Why(record["points"][-1]["rule"], record["points"][-1]["reason"]))])


def cause_of(why: Why) -> str:
    """Say in a few words why a page could not be had; what robots.txt has to do with it is for itself to say.

    >>> cause_of(Why("unreachable", "no connection to 192.0.2.1 on port 80"))
    'no connection'
    """
    return why.text if rule_now(why.rule) == ForbiddenError.rule else rule_words(why.rule) or why.rule


def failed_words(failures: Mapping[str, int]) -> str:
    """Say how many visits failed, and why.

    >>> failed_words({"answered 500": 1}), failed_words({"answered 500": 1, "robots.txt disallows it": 2})
    ('1 visit failed: answered 500', '3 visits failed: robots.txt disallows it (2), answered 500 (1)')
    """
    total = sum(failures.values())
    visits = "1 visit" if total == 1 else f"{total:,} visits"
    if len(failures) == 1:
        return f"{visits} failed: {next(iter(failures))}"
    return f"{visits} failed: {', '.join(f'{why} ({n:,})' for why, n in _most_first(failures))}"


def refused_words(count: int) -> str:
    """Say that pages were refused for their address, and what to do.

    >>> refused_words(1)
    '1 page was refused for its address, which is not on the public web; --allow-private visits it'
    """
    if count == 1:
        return "1 page was refused for its address, which is not on the public web; --allow-private visits it"
    return f"{count:,} pages were refused for their addresses, which are not on the public web; --allow-private visits them"


def write_crawl_reports(
    files: Sequence[str], frontier: Ledger, run: Run, stopped: str, profile: Profile
) -> None:
    """Write a report for people into each file."""
    if not files:
        return
    from honeyguide.report import write_sheet  # only for those who want one
    from honeyguide.report.crawl import CrawlReportData, crawl_sheet

    counts = frontier.counts()
    told = CrawlReportData(
        app.run_record(run),
        STOPPED.get(stopped, stopped),
        counts,
        shaped((record for _, record in frontier.pages()), links=False),
        app.found_records("external", frontier),
        _titled(counts),
        lambda rule: rule_words(rule, profile),
    )
    sheet = crawl_sheet(told)
    for file in files:
        write_sheet(sheet, Path(file))
