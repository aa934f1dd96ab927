"""Where the pages of a crawl go: to standard output, or to a file that follows the store (`PageFile`, `PageTable`).

Owns: how a page is printed, and keeping its content. Must not know: how pages are found.
Start reading at `PrintedPages`.
"""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, TypeAlias

from honeyguide.app.files import column_names, csv_rows, with_extras
from honeyguide.cli.output import note, number, printed_line, say
from honeyguide.core.records.fields import PageRecord
from honeyguide.core.url.url import Url
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from honeyguide.app.files import PageFile, PageTable, StoredPages
    from honeyguide.core.records import Record

    Output: TypeAlias = "PrintedPages | PageFile | PageTable"


class PrintedPages:
    """Standard output: the pages of this process, as they come.

    With `show_hosts` pages are shown with their hosts, and with `show_changes` it is shown what changed.
    """

    def __init__(
        self, output: str, extras: tuple[str, ...], *, show_hosts: bool = False, show_changes: bool = False
    ) -> None:
        self.name = ""
        self._output = output
        self._show_hosts, self._show_changes = show_hosts, show_changes
        self._extras = extras
        self._csv = csv.writer(sys.stdout, lineterminator="\n")
        self._has_header = False

    def follow(self, _store: StoredPages) -> int:
        """Leave the pages of earlier processes to the store."""
        return 0

    def append(self, record: Record, values: Record) -> None:
        """Print a page."""
        if self._output == "table":
            say(page_line(record, show_hosts=self._show_hosts, show_changes=self._show_changes))
            return
        if self._output == "jsonl":
            sys.stdout.write(printed_line(with_extras(record, values, self._extras)) + "\n")
        else:
            if not self._has_header:
                self._csv.writerow(column_names(PageRecord))
                self._has_header = True
            self._csv.writerows(csv_rows(record, PageRecord))
        sys.stdout.flush()

    def end(self, _store: StoredPages) -> None:
        """Everything is printed."""

    def close(self) -> None:
        """Leave standard output open."""


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
    if show_changes:  # what is unchanged is said once
        done = f"{record['change'] or '-':<9}  {done.removeprefix('unchanged').strip():<13}"
    return f"{number(record['relevance_score']):>4}  {done:<13}  {shown}{title}"
