"""A crawl in lines: its pages on standard output as they come, and at the end why it stopped, what is left and what failed.

Must not know: how a crawl works. Start reading at `PrintedPages`, then `STOPPED`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from honeyguide.app.crawl import LANES, UNCHANGED
from honeyguide.app.files import check_table, with_extras, write_table
from honeyguide.app.runs import NO_PAGES, rule_words
from honeyguide.cli.output import RecordPrinter, line_for_people, note, number, say
from honeyguide.cli.progress import count_of, most_first
from honeyguide.cli.stopping import INTERRUPTED, TERMINATED
from honeyguide.core.records import is_relevant, iso
from honeyguide.core.records.fields import PageRecord
from honeyguide.core.url.url import Url
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import TypeAlias

    from honeyguide.app.crawl import Profile, WaitingSeed
    from honeyguide.app.files import PageFile, PageTable, StoredPages
    from honeyguide.core.records import Record

    Output: TypeAlias = "PrintedPages | PageFile | PageTable | TopPages"

_PAGE = 15  # columns of the terminal that a line has for its page at the least


class PrintedPages:
    """Standard output: the pages of this process, as they come.

    With `show_hosts` pages are shown with their hosts, and with `show_changes` it is shown what changed.
    """

    def __init__(
        self, output: str, extras: tuple[str, ...], *, show_hosts: bool = False, show_changes: bool = False
    ) -> None:
        self.name = ""
        self._printer = None if output == "table" else RecordPrinter(output, PageRecord)
        self._show_hosts, self._show_changes = show_hosts, show_changes
        self._extras = extras
        self._has_header = False

    def follow(self, _store: StoredPages) -> int:
        """Leave the pages of earlier processes to the store."""
        return 0

    def append(self, record: Record, values: Record) -> None:
        """Print a page."""
        if self._printer is not None:
            self._printer.print(with_extras(record, values, self._extras))
            return
        if not self._has_header:
            say(_columns("Score", "Action", "Page and title", "Change" if self._show_changes else ""))
            self._has_header = True
        say(cut_line(page_line(record, show_hosts=self._show_hosts, show_changes=self._show_changes)))

    def end(self, _store: StoredPages) -> None:
        """Everything is printed."""

    def close(self) -> None:
        """Leave standard output open."""


class TopPages(PrintedPages):
    """The best pages of a crawl, which are known when it stops: written to a file in one step, or printed."""

    def __init__(
        self, file: str | None, output: str, extras: tuple[str, ...], *, show_hosts: bool, has_topic: bool
    ) -> None:
        super().__init__(output, extras, show_hosts=show_hosts)
        self.name = file or ""
        self._output, self._has_topic = output, has_topic
        if file is not None:
            check_table(Path(file), output, PageRecord)

    def append(self, record: Record, values: Record) -> None:
        """Wait for the end."""

    def end(self, store: StoredPages) -> None:
        """Write or print the pages, and say how many of them are relevant: the best may be few."""
        are_relevant: list[bool] = []

        def counted() -> Iterator[Record]:
            for record in store.pages():
                are_relevant.append(is_relevant(record))
                yield record

        if self.name:
            write_table(Path(self.name), self._output, counted(), PageRecord)
        else:
            self._print(counted())
        if self._has_topic and not all(are_relevant):
            count = f"{sum(are_relevant):,} of the {len(are_relevant):,}"
            note(f"{count} best pages are relevant to the topic")

    def _print(self, pages: Iterator[Record]) -> None:
        for record in pages:
            try:
                super().append(record, record)
            except BrokenPipeError:  # nobody reads on, but the Markdown files are written with the pages
                for _ in pages:
                    continue
                raise


def begin_output(out: Output, store: StoredPages) -> None:
    """Make an output follow the store, and say which pages lack their content."""
    lacking = out.follow(store)
    if lacking:
        note(f"{lacking:,} pages were fetched without their content being kept; it is null in {out.name}")


def page_line(record: Record, *, show_hosts: bool = False, show_changes: bool = False) -> str:
    """Write a page for a person: its score, what is done with it, its path or, if asked for, its URL, its title.

    Of a page that is visited again the first thing is whether it changed.
    """
    try:
        shown = record["url"] if show_hosts else Url.parse(record["url"]).target
    except UrlError:
        shown = record["url"]
    status = "" if record["status"] in (200, None) else f" {record['status']}"
    title = f"  {record['title']}" if record["title"] else ""
    done = f"{record['action']}{status}"
    change = (record["change"] or "-") if show_changes else ""
    if show_changes:  # what is unchanged is said once
        done = done.removeprefix("unchanged").strip()
    return _columns(number(record["relevance_score"]), done, f"{shown}{title}", change)


def _columns(score: str, action: str, page: str, change: str) -> str:
    between = f"{change:<9}  " if change else ""
    return f"{score:>5}  {between}{action:<13}  {page}"


def cut_line(text: str) -> str:
    """Cut a line at the edge of the terminal, because a wrapped one hides where the next begins; a pipe gets all of it."""
    if not sys.stdout.isatty():
        return text
    from rich.text import Text  # for a terminal, which shows the progress by it

    line = Text(line_for_people(text))
    line.truncate(max(_PAGE, shutil.get_terminal_size().columns), overflow="ellipsis")
    return line.plain


# --- the end ---

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
    "stopped": f"honeyguide workers stop asked for it, and what was being fetched is committed; {RESUME}",
    "resting": "what is left failed, or its site asks for a pause; run the same command later to try again",
    "shared": "another process is fetching what is left",
    "site_failing": "the site failed again and again; run the same command later to resume",
    "nothing_due": "nothing more is due",
    "due_later": "what is left is due later, or its site asks for a pause; run the same command later to resume",
}


def stop_words(stopped: str, held: int, next_at: float | None = None) -> str:
    """Say why a crawl stopped; nothing is left only if no link was `held` back by the traversal or a limit of depth.

    `next_at` is when the first of what has to wait may be fetched.
    """
    if stopped == "complete" and held:
        return f"nothing is left that this command follows; {count_of(held, 'link')} rejected by its traversal or --max-depth"
    if stopped == "due_later" and next_at is not None:
        what = "what is left rests, because it failed or its site asks for a pause"
        return f"{what}; run the same command from {iso(next_at)} on to resume"
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
        return visited + (f",{' all' if total > 1 else ''} read for the first time" if total else "")
    unchanged = sum(verdicts.get(verdict, 0) for verdict in UNCHANGED)
    by_304 = verdicts.get("not-modified", 0)
    counts = {
        "changed": verdicts.get("changed", 0),
        f"unchanged{f' ({by_304:,} of them by 304)' if by_304 else ''}": unchanged,
        "gone": verdicts.get("gone", 0),
        "failed": verdicts.get("failed", 0),
        "read for the first time": first,
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
