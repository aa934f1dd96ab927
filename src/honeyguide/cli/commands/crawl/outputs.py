"""Where the pages of a crawl go: to standard output, or to a file that follows the store; and what else is kept of them.

Owns: the outputs of `honeyguide crawl`, and how a page looks in a terminal. Must not know: how pages are found.
Start reading at `PrintedPages`.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from honeyguide.app.files import MARKDOWN, column_names, csv_rows, with_extras
from honeyguide.cli.output import note, number, printed_line, say
from honeyguide.core.records.fields import PageRecord
from honeyguide.core.url.url import Url
from honeyguide.errors import HoneyguideError, UrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from honeyguide.adapters.output.markdown_folder import Folder
    from honeyguide.adapters.output.warc import WarcFile
    from honeyguide.app.files import PageFile, PageTable, StoredPages
    from honeyguide.core.records import Record
    from honeyguide.jobs.crawl import PageAttachments
    from honeyguide.ports.fetch import Fetched

    Output: TypeAlias = "PrintedPages | PageFile | PageTable"


# What is done with a page that says nothing of its own, or was not had.
WITHOUT_CONTENT = frozenset({"dropped", "duplicate", "retry", "soft-404", "unchanged"})


class PrintedPages:
    """Standard output: the pages of this process, as they come.

    `whole` shows their hosts, too, where they have several, and `again` what changed, where they are visited again.
    """

    def __init__(
        self, output: str, extras: tuple[str, ...], *, whole: bool = False, again: bool = False
    ) -> None:
        self.name = ""
        self._output = output
        self._is_whole, self._is_again = whole, again
        self._extras = extras
        self._csv = csv.writer(sys.stdout, lineterminator="\n")
        self._has_header = False

    def follow(self, _store: StoredPages) -> int:
        """Leave the pages of earlier processes to the store."""
        return 0

    def append(self, record: Record, values: Record) -> None:
        """Print a page."""
        if self._output == "table":
            say(page_line(record, whole=self._is_whole, again=self._is_again))
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


def page_line(record: Record, *, whole: bool = False, again: bool = False) -> str:
    """Write a page for a person: its score, what is done with it, its path or, if asked for, its URL, its title.

    Of a page that is visited again the first thing is whether it changed.
    """
    try:
        shown = record["url"] if whole else Url.parse(record["url"]).target
    except UrlError:
        shown = record["url"]
    status = "" if record["status"] in (200, None) else f" {record['status']}"
    title = f"  {record['title']}" if record["title"] else ""
    done = f"{record['action']}{status}"
    if again:  # what is unchanged is said once
        done = f"{record['change'] or '-':<9}  {done.removeprefix('unchanged').strip():<13}"
    return f"{number(record['relevance_score']):>4}  {done:<13}  {shown}{title}"


# --- what else is kept of a page ---


@dataclass(frozen=True, slots=True)
class Keeper:
    """Makes the content of a page, and hands it to whoever keeps it."""

    content: Callable[[Fetched], str] | None = None
    folder: Folder | None = None
    warc: WarcFile | None = None

    def keep(self, record: Record, arrival: PageAttachments) -> Record:
        """Keep a page; gives the fields that belong to its record and not to the store."""
        fetched = arrival.fetched
        if self.warc is not None and fetched is not None:
            self.warc.write(record, fetched)
        if self.content is None or fetched is None or record["action"] in WITHOUT_CONTENT:
            return {}
        markdown = self.content(fetched)
        if self.folder is not None:
            self.folder.write(record, markdown)
        return {MARKDOWN: markdown}

    def close(self) -> None:
        """Let go of the WARC file."""
        if self.warc is not None:
            self.warc.close()


def keeper_of(asked: dict[str, Any], agent: str) -> Keeper:
    """Open what is asked for; what is missing for it is said before the crawl."""
    content = folder = warc = None
    if asked["content"] or asked["markdown"]:
        from honeyguide.adapters.html.content import load_extractor, main_content  # an extra

        load_extractor()

        def content(fetched: Fetched) -> str:
            try:
                return main_content(fetched.body, fetched.url, fetched.headers.content_type).markdown
            except HoneyguideError:  # a page that cannot be read has no content
                return ""

    if asked["markdown"]:
        from honeyguide.adapters.output.markdown_folder import Folder

        folder = Folder(Path(asked["markdown"]))
    if asked["warc"]:
        from honeyguide.adapters.output.warc import WarcFile  # an extra

        warc = WarcFile(Path(asked["warc"]), agent)
    return Keeper(content, folder, warc)


def shaped(records: Iterable[Record], *, links: bool) -> Iterator[Record]:
    """Give records with links if they are asked for, and without if not, whatever the run that made them asked for."""
    for record in records:
        bare = {name: value for name, value in record.items() if name != "links"}
        yield {**bare, "links": record.get("links")} if links else bare
