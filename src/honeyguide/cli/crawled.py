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

import click

from honeyguide.adapters.page_lines import Form, PageLines, Truth
from honeyguide.adapters.whole import replacing
from honeyguide.cli.output import csv_cell, json_line, note, number, printed_line, say
from honeyguide.core.url import Url
from honeyguide.errors import HoneyguideError, InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from honeyguide.adapters.folder import Folder
    from honeyguide.adapters.warc import WarcFile
    from honeyguide.core.records import Record
    from honeyguide.jobs.crawl import Arrival

COLUMNS = (
    "schema", "url", "final_url", "status", "depth", "parent", "relevance_score", "reasons", "action", "lane",
    "priority", "title", "fetched_at", "elapsed_s", "digest",
)  # fmt: skip
FORMATS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}
# What is done with a page that says nothing of its own, or was not had.
WITHOUT_CONTENT = frozenset({"dropped", "duplicate", "soft-404", "unchanged"})
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


class Printed:
    """Standard output: the pages of this process, as they come."""

    def __init__(self, output: str, extras: tuple[str, ...]) -> None:
        self.name = ""
        self._output = output
        self._form = Form(printed_line, extras)
        self._has_header = False

    def begin(self, truth: Truth) -> None:
        """Say where the pages of earlier processes are."""
        if next(truth.pages(), None) is not None:
            note("going on: pages of before are in the store, honeyguide export prints them")

    def add(self, record: Record, values: Record) -> None:
        """Print a page."""
        if self._output == "table":
            say(page_line(record))
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


class Table:
    """A CSV file, which is written from the store in one step, when the crawl stops."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path
        self._check()

    def _check(self) -> None:
        try:
            start = b""
            if self._path.exists():
                with self._path.open("rb") as file:
                    start = file.readline(10_000)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", file=self.name) from None
        if start and start.strip() != ",".join(COLUMNS).encode():
            raise InputError("exists and is no output of this command; choose another -o", file=self.name)

    def begin(self, truth: Truth) -> None:
        """Write nothing yet."""

    def add(self, record: Record, values: Record) -> None:
        """Leave it to the store."""

    def end(self, truth: Truth) -> None:
        """Write all pages of the run."""
        write_csv(self._path, COLUMNS, (csv_row(record) for record in truth.pages()))

    def close(self) -> None:
        """Everything is written."""


def format_of(file: str, output: str | None, known: Mapping[str, str] = FORMATS) -> str:
    """Settle how a file is written: as asked for, else by its name; JSON lines if that says nothing.

    >>> format_of("a.CSV", None), format_of("a.docx", "jsonl"), format_of("a", None)
    ('csv', 'jsonl', 'jsonl')
    """
    suffix = Path(file).suffix.lower()
    found = output or known.get(suffix, None if suffix else "jsonl")
    if found is None:
        raise click.BadParameter(
            f"{shown(file)} should end in {', '.join(known)}; or choose a --format.", param_hint="-o"
        )
    return found


def write_csv(path: Path, columns: Iterable[str], rows: Iterable[list[str]]) -> None:
    """Write a CSV file in one step: a kill leaves the old one or the new one."""
    with (
        replacing(path) as part,
        part.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def csv_row(record: Record, columns: tuple[str, ...] = COLUMNS) -> list[str]:
    """Write a record as cells."""
    return [csv_cell(record.get(name)) for name in columns]


def page_line(record: Record) -> str:
    """Write a page for a person: its score, what is done with it, where it is, its title."""
    try:
        shown = Url.parse(record["url"]).target
    except UrlError:
        shown = record["url"]
    status = "" if record["status"] in (200, None) else f" {record['status']}"
    title = f"  {record['title']}" if record["title"] else ""
    return f"{number(record['relevance_score']):>4}  {record['action'] + status:<10}  {shown}{title}"


# --- what else is kept of a page ---


@dataclass(frozen=True, slots=True)
class Keeper:
    """Makes the content of a page, and hands it to whoever keeps it."""

    content: Callable[[bytes, Url], str] | None = None
    folder: Folder | None = None
    warc: WarcFile | None = None

    def keep(self, record: Record, arrival: Arrival) -> Record:
        """Keep a page; gives the fields that belong to its record and not to the store."""
        fetched = arrival.fetched
        if self.warc is not None and fetched is not None:
            self.warc.write(record, fetched)
        if self.content is None or fetched is None or record["action"] in WITHOUT_CONTENT:
            return {}
        markdown = self.content(fetched.body, fetched.url)
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
    if asked["content"] or asked["to"]:
        from honeyguide.adapters.content import load_extractor, main_content  # an extra

        load_extractor()

        def content(body: bytes, url: Url) -> str:
            try:
                return main_content(body, url.text).markdown
            except HoneyguideError:  # a page that cannot be read has no content
                return ""

    if asked["to"]:
        from honeyguide.adapters.folder import Folder

        folder = Folder(Path(asked["to"]))
    if asked["warc"]:
        from honeyguide.adapters.warc import WarcFile  # an extra

        warc = WarcFile(Path(asked["warc"]), agent)
    return Keeper(content, folder, warc)


def shaped(records: Iterable[Record], *, links: bool) -> Iterator[Record]:
    """Give records with links if they are asked for, and without if not, whatever the run that made them asked for."""
    for record in records:
        bare = {name: value for name, value in record.items() if name != "links"}
        yield {**bare, "links": record.get("links")} if links else bare
