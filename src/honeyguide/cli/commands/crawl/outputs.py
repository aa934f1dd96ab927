"""Where the pages of a crawl go: to standard output, or to a file that follows the store; and what else is kept of them.

Owns: the outputs of `honeyguide crawl`, and how a page looks in a terminal. Must not know: how pages are found.
Start reading at `Output`.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from honeyguide.adapters.files.parquet import has_schema, need_parquet, parquet_schema, write_parquet
from honeyguide.adapters.output.page_lines import Form, PageLines, Truth, check_table
from honeyguide.adapters.output.write import check_replaceable, replacing
from honeyguide.cli.files import check_output, write_file
from honeyguide.cli.output import csv_cell, json_line, note, number, printed_line, say
from honeyguide.core.records.fields import PageRecord, columns
from honeyguide.core.url.url import Url
from honeyguide.errors import HoneyguideError, UrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from honeyguide.adapters.output.folder import Folder
    from honeyguide.adapters.output.warc import WarcFile
    from honeyguide.core.records import Record
    from honeyguide.jobs.crawl import PageAttachments
    from honeyguide.ports.fetch import Fetched


COLUMNS = columns(PageRecord, "markdown")
# What is done with a page that says nothing of its own, or was not had.
WITHOUT_CONTENT = frozenset({"dropped", "duplicate", "retry", "soft-404", "unchanged"})
MARKDOWN = "markdown"


class Output(Protocol):
    """Takes the records of pages, in the order in which the store takes them."""

    name: str

    def begin(self, truth: Truth) -> None:
        """Hear what the store has already."""

    def add(self, record: Record, values: Record) -> None:
        """Take a page; `values` are fields that the store does not keep."""

    def end(self, truth: Truth) -> None:
        """Bring the output in step with the store: no more pages come."""

    def close(self) -> None:
        """Let go."""


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
        self._form = Form(printed_line, extras)
        self._has_header = False

    def begin(self, truth: Truth) -> None:
        """Leave the pages of earlier processes to the store."""

    def add(self, record: Record, values: Record) -> None:
        """Print a page."""
        if self._output == "table":
            say(page_line(record, whole=self._is_whole, again=self._is_again))
            return
        if self._output == "jsonl":
            sys.stdout.write(self._form.line(record, values).decode() + "\n")
        else:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            if not self._has_header:
                writer.writerow(COLUMNS)
                self._has_header = True
            writer.writerow(csv_row(record))
        sys.stdout.flush()

    def end(self, truth: Truth) -> None:
        """Everything is printed."""

    def close(self) -> None:
        """Leave standard output open."""


class Lines:
    """A file of JSON lines, which grows as pages come and says what the store says."""

    def __init__(self, path: Path, extras: tuple[str, ...], *, fresh: bool) -> None:
        self.name = str(path)
        self._lines = PageLines.open(path, Form(json_line, extras), fresh=fresh)

    def begin(self, truth: Truth) -> None:
        """Mend what an earlier process left."""
        lacking = self._lines.follow(truth)
        if lacking:
            note(
                f"{lacking:,} pages were fetched without their content being kept; it is null in {self.name}"
            )

    def add(self, record: Record, values: Record) -> None:
        """Write a page, at once."""
        self._lines.append(record, values)

    def end(self, truth: Truth) -> None:
        """Add what other processes of the run have fetched in the meantime."""
        self._lines.follow(truth)

    def close(self) -> None:
        """Leave the file as it is."""
        self._lines.close()


class TableOutput:
    """A CSV or Parquet file, which is written from the store in one step, when the crawl stops."""

    def __init__(self, path: Path, kind: str = "csv", *, fresh: bool) -> None:
        self.name = str(path)
        self._path = path
        self._kind = kind
        self._is_fresh = fresh
        check_crawl_file(self.name, kind, PageRecord)

    def begin(self, truth: Truth) -> None:
        """Refuse a file whose pages are not those of the run; unless it is to be written anew."""
        if not self._is_fresh:
            check_table(self._path, truth, self._kind)

    def add(self, record: Record, values: Record) -> None:
        """Leave it to the store."""

    def end(self, truth: Truth) -> None:
        """Write all pages of the run."""
        write_crawl_file(self.name, self._kind, truth.pages(), PageRecord)

    def close(self) -> None:
        """Everything is written."""


def check_crawl_file(file: str, kind: str, record_type: Any) -> None:
    """Refuse a file that cannot be written, or that holds other records."""
    if kind != "parquet":
        check_output(file, columns(record_type, MARKDOWN))
        return
    need_parquet(file)
    check_replaceable(Path(file), lambda _: has_schema(file, parquet_schema(record_type, MARKDOWN)))


def write_crawl_file(file: str, kind: str, records: Iterable[Record], record_type: Any) -> int:
    """Write records to a file, in one step; gives how many."""
    if kind != "parquet":
        return write_file(file, kind, records, columns(record_type, MARKDOWN))
    with replacing(Path(file)) as part:
        return write_parquet(part, records, parquet_schema(record_type, MARKDOWN))


def csv_row(record: Record) -> list[str]:
    """Write a record as cells."""
    return [csv_cell(record.get(name)) for name in COLUMNS]


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
        from honeyguide.adapters.output.folder import Folder

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
