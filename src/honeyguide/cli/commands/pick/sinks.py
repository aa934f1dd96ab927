"""Where pick records go: to standard output as their turn comes, or to a file that can be resumed (`PickFile`).

Owns: printing records in input order, and writing reports from either. Must not know: where the records come from.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from honeyguide.app.files import PICK_COLUMNS, csv_rows
from honeyguide.cli.commands.pick.select import show_record
from honeyguide.cli.output import printed_line
from honeyguide.core.records.fields import PickRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from honeyguide.app.files import PickFile
    from honeyguide.core.records import Record

    Sink: TypeAlias = "PrintedRecords | PickFile"


class PrintedRecords:
    """Standard output: a record is printed when all before it are; with `keep` they are kept for a report."""

    name = ""
    is_complete = False

    def __init__(self, output: str, total: int, *, keep: bool) -> None:
        self.missing = list(range(total))
        self.is_table = output == "table"
        self._output = output
        self._waiting: dict[int, Record] = {}
        self._next = 0
        self._keep = keep
        self._kept: list[Record] = []
        self._csv = csv.writer(sys.stdout, lineterminator="\n")
        self._has_header = False

    def statuses(self) -> Counter[str]:
        """No earlier run finished anything."""
        return Counter()

    def add(self, index: int, record: Record) -> None:
        """Print what can be printed now."""
        self._waiting[index] = record
        while self._next in self._waiting:
            self._print(self._waiting.pop(self._next))
            self._next += 1

    def _print(self, record: Record) -> None:
        if self._keep:
            self._kept.append(record)
        if self.is_table:
            show_record(record)
        elif self._output == "csv":
            if not self._has_header:
                self._csv.writerow(PICK_COLUMNS)
                self._has_header = True
            self._csv.writerows(csv_rows(record, PickRecord))
        else:
            sys.stdout.write(printed_line(record) + "\n")
        sys.stdout.flush()  # a reader at the other end of a pipe gets it now

    def records(self) -> Iterator[Record]:
        """Give what was printed."""
        return iter(self._kept)

    def forget_failed(self) -> None:
        """No earlier run finished anything."""

    def write(self) -> None:
        """Print what waited for records that will not come."""
        for index in sorted(self._waiting):
            self._print(self._waiting.pop(index))

    def complete(self) -> None:
        """Everything is printed."""

    def close(self) -> None:
        """Leave standard output open."""


def write_reports(files: Sequence[str], sink: Sink) -> None:
    """Write a report for people into each file."""
    if not files:
        return
    from honeyguide.report import write_report  # only for those who want one

    for file in files:
        write_report(sink.records(), Path(file))
