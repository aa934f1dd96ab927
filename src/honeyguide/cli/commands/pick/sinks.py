"""Where pick records go: to standard output as their turn comes, or to a file that survives a kill.

Owns: the two, and writing reports from either. Must not know: where the records come from.
Start reading at `Sink`.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from honeyguide.adapters.files.parquet import need_parquet
from honeyguide.adapters.output.journal import Finished, Journal, JournalSettings
from honeyguide.adapters.output.tables import COLUMNS, first_fields, page_rows, read_back, write_table
from honeyguide.cli.commands.pick.select import show_record
from honeyguide.cli.output import csv_cell, json_line, printed_line
from honeyguide.core.records import SCHEMA
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from honeyguide.adapters.files.sites import SiteRow
    from honeyguide.core.records import Record


class Sink(Protocol):
    """Takes records in any order and gives them out in that of the input."""

    name: str
    is_table: bool

    @property
    def missing(self) -> list[int]:
        """The places of the records that are still to come."""

    @property
    def is_complete(self) -> bool:
        """Whether an earlier run left nothing to do."""

    def earlier(self) -> Counter[str]:
        """Count the statuses of what earlier runs finished."""

    def add(self, index: int, record: Record) -> None:
        """Take a finished record."""

    def records(self) -> Iterator[Record]:
        """Give what is finished, in input order."""

    def forget_failed(self) -> None:
        """Make the places of failed records free again."""

    def end(self) -> None:
        """Write what could not be written before: no more records come."""

    def complete(self) -> None:
        """Tidy up: every record is there."""

    def close(self) -> None:
        """Let go."""


class PrintedRecords:
    """Standard output: a record is printed when all before it are."""

    def __init__(self, output: str, total: int, *, keep: bool) -> None:
        self.name = ""
        self.is_table = output == "table"
        self._output = output
        self._waiting: dict[int, Record] = {}
        self._next = 0
        self._total = total
        self._kept: list[Record] | None = [] if keep else None
        self._csv = csv.writer(sys.stdout, lineterminator="\n")
        self._has_header = False

    @property
    def missing(self) -> list[int]:
        """Nothing was finished before."""
        return list(range(self._total))

    @property
    def is_complete(self) -> bool:
        """Nothing was finished before."""
        return False

    def earlier(self) -> Counter[str]:
        """Nothing was finished before."""
        return Counter()

    def add(self, index: int, record: Record) -> None:
        """Print what can be printed now."""
        self._waiting[index] = record
        while self._next in self._waiting:
            self._print(self._waiting.pop(self._next))
            self._next += 1

    def _print(self, record: Record) -> None:
        if self._kept is not None:
            self._kept.append(record)
        if self._output == "csv" and not self._has_header:
            self._csv.writerow(COLUMNS)
            self._has_header = True
        if self._output == "table":
            show_record(record)
        elif self._output == "csv":
            self._csv.writerows([csv_cell(value) for value in row] for row in page_rows(record))
        else:
            sys.stdout.write(printed_line(record) + "\n")
        sys.stdout.flush()  # who waits at the other end of a pipe gets it now

    def records(self) -> Iterator[Record]:
        """Give what was printed."""
        return iter(self._kept or [])

    def forget_failed(self) -> None:
        """Nothing was finished before."""

    def end(self) -> None:
        """Print what waited for others that will not come."""
        for index in sorted(self._waiting):
            self._print(self._waiting.pop(index))

    def complete(self) -> None:
        """Everything is printed."""

    def close(self) -> None:
        """Leave standard output open."""


class RecordFile:
    """A file: JSON lines grow as records come, tables are written at the end; the journal has what is not there yet."""

    def __init__(
        self, path: Path, output: str, rows: Sequence[SiteRow], settings: Mapping[str, Any], *, fresh: bool
    ) -> None:
        if output == "parquet":
            need_parquet(str(path))
        self.name = str(path)
        self.is_table = False
        self._path = path
        self._output = output
        self._settings = {**settings, "format": output}
        self._sites = tuple(row.text for row in rows)
        self._found: Finished | None = None
        run = JournalSettings(self._settings, self._sites, _opening, self._read_back)
        self._journal = Journal.open(path, run, in_order=output == "jsonl", fresh=fresh)

    def _read_back(self, path: Path) -> Finished | None:
        """Read what an output tells of itself; a CSV file may write it with more care than it was given."""
        found = read_back(path, self._output)
        if self._output == "csv" and found is not None:
            found = _as_given(found, self._sites, self._settings)
        self._found = found
        return found

    @property
    def missing(self) -> list[int]:
        """What no earlier run finished."""
        return self._journal.missing

    @property
    def is_complete(self) -> bool:
        """Whether every record is there."""
        return self._journal.was_complete

    def earlier(self) -> Counter[str]:
        """Count how the records ended that are there; a complete table has told."""
        if self._journal.was_complete and self._found is not None:
            return self._found.statuses
        return Counter(str(first_fields(line).get("status")) for _, line in self._journal.lines())

    def add(self, index: int, record: Record) -> None:
        """Keep a record, at once."""
        self._journal.add(index, json_line(record))

    def records(self) -> Iterator[Record]:
        """Read back what is finished."""
        self._need_records()
        return (json.loads(line) for _, line in self._journal.lines())

    def forget_failed(self) -> None:
        """Try again what did not end well."""
        self._need_records()
        self._journal.forget(lambda line: json.loads(line)["status"] != "ok")

    def _need_records(self) -> None:
        if self._journal.was_complete and self._output != "jsonl":
            raise InputError(
                "is complete, and holds less than whole records; --fresh picks them again", file=self.name
            )

    def end(self) -> None:
        """Write a table of what is finished; one that was complete before stays, also until there is a record for another."""
        is_kept = self._journal.was_complete or (self._journal.is_unbegun and self._sites)
        if self._output != "jsonl" and not is_kept:
            write_table(self._path, self._output, self.records(), csv_cell)

    def complete(self) -> None:
        """Remove the journal."""
        self._journal.complete()

    def close(self) -> None:
        """Leave the files as they are."""
        self._journal.close()


def _opening(site: str) -> str:
    """Give how the line of a site's record begins."""
    return json_line({"schema": SCHEMA, "site": site})[:-1] + ","


def _as_given(found: Finished, sites: tuple[str, ...], settings: Mapping[str, Any]) -> Finished:
    """Take what cells say for what they were written from, if it was that."""
    is_same = found.sites == tuple(map(csv_cell, sites))
    said = {
        name: settings[name] if csv_cell(value) == csv_cell(settings[name]) else value
        for name, value in found.settings.items()
    }
    return Finished(sites if is_same else found.sites, said, found.statuses)


def write_reports(files: Sequence[str], sink: Sink) -> None:
    """Write a report for people into each file."""
    if not files:
        return
    from honeyguide.report import write_report  # only for those who want one

    for file in files:
        write_report(sink.records(), Path(file))
