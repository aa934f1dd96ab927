"""Pages of a crawl on standard output: a line for a person, or records, as they come.

Must not know: how a crawl works. Start reading at `PrintedPages`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from honeyguide.app.files import check_table, with_extras, write_table
from honeyguide.cli.output import RecordPrinter, line_for_people, note, number, say
from honeyguide.core.records import is_relevant
from honeyguide.core.records.fields import PageRecord
from honeyguide.core.url.url import Url
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

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


class TopPages:
    """The best pages of a crawl, which are known when it stops: written to a file in one step, or printed."""

    def __init__(self, file: str | None, output: str, printed: PrintedPages, *, has_topic: bool) -> None:
        self.name = file or ""
        self._output, self._printed, self._has_topic = output, printed, has_topic
        self._count = self._relevant = 0
        if file is not None:
            check_table(Path(file), output, PageRecord)

    def follow(self, _store: StoredPages) -> int:
        """Wait for the end."""
        return 0

    def append(self, record: Record, values: Record) -> None:
        """Wait for the end."""

    def end(self, store: StoredPages) -> None:
        """Write or print the pages, and say how many of them are relevant: the best may be few."""
        pages = self._counted(store.pages())
        if self.name:
            write_table(Path(self.name), self._output, pages, PageRecord)
        else:
            self._print(pages)
        if self._has_topic and self._relevant < self._count:
            note(f"{self._relevant:,} of the {self._count:,} best pages are relevant to the topic")

    def _counted(self, pages: Iterator[Record]) -> Iterator[Record]:
        for record in pages:
            self._count += 1
            self._relevant += is_relevant(record)
            yield record

    def _print(self, pages: Iterator[Record]) -> None:
        for record in pages:
            try:
                self._printed.append(record, record)
            except BrokenPipeError:  # nobody reads on, but the Markdown files are written with the pages
                for _ in pages:
                    continue
                raise

    def close(self) -> None:
        """Everything is written."""


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
