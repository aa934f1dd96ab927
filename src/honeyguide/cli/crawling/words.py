"""The words about a crawl at its end: why it stopped, what is left, what failed, and what was rejected.

Must not know: how a crawl works. Start reading at `STOPPED`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.app.crawl import LANES, UNCHANGED
from honeyguide.app.runs import NO_PAGES, rule_words
from honeyguide.cli.progress import count_of, most_first
from honeyguide.cli.stopping import INTERRUPTED, TERMINATED
from honeyguide.core.records import iso

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from honeyguide.app.crawl import Profile, WaitingSeed

RESUME = "run the same command again to resume"
STOPPED = {
    "complete": "nothing is left to fetch",
    "max_pages": "--max-pages is reached; run the same command with a larger one to resume",
    "max_pages_per_host": "--max-pages-per-host is reached; run the same command with a larger one to resume",
    "external_pages": "--follow-external is used up, and the rest is complete",
    "max_relevant": "--max-relevant pages were found; run the same command with a larger one to resume",
    "max_time": f"--max-time is over; {RESUME}",
    INTERRUPTED: f"interrupted; {RESUME}",
    TERMINATED: f"stopped by SIGTERM; {RESUME}",
    "resting": "what is left failed, or its site asks for a pause; run the same command later to try again",
    "shared": "another process is fetching what is left",
    "site_failing": "the site failed again and again; run the same command later to resume",
    "nothing_due": "nothing more is due",
    "due_later": "what is left is due later, or its site asks for a pause; run the same command later to resume",
}


def stop_words(stopped: str, held: int) -> str:
    """Say why a crawl stopped; nothing is left only if no link was `held` back by the traversal or a limit of depth."""
    if stopped == "complete" and held:
        return f"nothing is left that this command follows; {count_of(held, 'link')} rejected by its traversal or --max-depth"
    return STOPPED.get(stopped, stopped)


def rule_lines(title: str, counts: Mapping[str, int], profile: Profile) -> list[str]:
    """Count what each rule rejected, most first, with the rule in words."""
    if not counts:
        return []
    if title == NO_PAGES:
        return [f"{title}: {', '.join(f'{count:,} {rule}' for rule, count in most_first(counts))}."]
    width = max(map(len, counts))
    return [f"{title}:"] + [
        f"{count:>9,}  {rule:<{width}}  {rule_words(rule, profile)}".rstrip()
        for rule, count in most_first(counts)
    ]


def queue_words(lanes: Mapping[str, int]) -> str:
    """List what is queued, the first lane first."""
    order: Sequence[str] = LANES
    known = sorted(lanes, key=lambda lane: order.index(lane) if lane in order else len(order))
    return ", ".join(f"{lanes[lane]:,} {lane}" for lane in known if lanes[lane]) or "nothing"


def waiting_words(seed: WaitingSeed) -> str:
    """Say why a seed waits, and how it is tried again."""
    if seed.why is None:
        return f"{seed.url}: not tried, because its host asked for a pause, which is not over"
    when = "" if seed.retry_at is None else f" from {iso(seed.retry_at)} on"
    why = seed.why.text or rule_words(seed.why.rule)
    return f"{seed.url}: {why}; the same command tries it again{when}"


def revisit_words(verdicts: Mapping[str, int]) -> str:
    """Say what visits came to.

    >>> revisit_words({"changed": 2, "not-modified": 3, "same-bytes": 1})
    '6 pages visited again: 2 changed, 4 unchanged (3 of them by 304)'
    """
    total, first = sum(verdicts.values()), verdicts.get("first", 0)
    visited = f"{count_of(total, 'page')} visited"
    if first == total:
        return visited + (f",{' all' if total > 1 else ''} for the first time" if total else "")
    unchanged = sum(verdicts.get(verdict, 0) for verdict in UNCHANGED)
    by_304 = verdicts.get("not-modified", 0)
    counts = {
        "changed": verdicts.get("changed", 0),
        f"unchanged{f' ({by_304:,} of them by 304)' if by_304 else ''}": unchanged,
        "gone": verdicts.get("gone", 0),
        "failed": verdicts.get("failed", 0),
        "for the first time": first,
    }
    parts = [f"{count:,} {word}" for word, count in counts.items() if count]
    is_revisit = unchanged + counts["changed"] == total
    return f"{visited}{' again' if is_revisit else ''}: {', '.join(parts)}"


def failed_words(failures: Mapping[str, int]) -> str:
    """Say how many visits failed, and why."""
    visits = f"{count_of(sum(failures.values()), 'visit')} failed"
    if len(failures) == 1:
        return f"{visits}: {next(iter(failures))}"
    return f"{visits}: {', '.join(f'{why} ({count:,})' for why, count in most_first(failures))}"


def refused_words(count: int) -> str:
    """Say that pages were refused for their address, and what to do."""
    if count == 1:
        return "1 page was refused for its address, which is not on the public web; --allow-private visits it"
    return f"{count:,} pages were refused for their addresses, which are not on the public web; --allow-private visits them"
