"""The file of a pick: records in input order, whatever the order they finish in, and the journal that makes it resumable.

Owns: two files, and what an output of an earlier run says of that (`read_back`). The *output* holds the records in order; the *journal* beside it (`picks.jsonl.journal`) holds the settings
of the run, and the records that finished before their turn, each with its place. Must not know: what a record says.
Start reading at `PickFile.add`. Whatever part of the protocol was done can be resumed:

1. The journal exists, locked, with the settings, before the first record is written anywhere.
2. A record whose turn it is goes to the output, any other one to the journal. When its turn comes it is copied, and stays
   in the journal: the number of lines in the output says what was copied. For tables all records stay in the journal.
3. The journal is removed when the output is complete and on the disk.
4. Trying failed sites again replaces the journal in one step by one without them, and then empties the output.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from array import array
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.adapters.files.sources import need_parquet
from honeyguide.adapters.output.tables import PICK_COLUMNS, are_names, needed_columns, write_table
from honeyguide.adapters.output.write import MAX_LINE_BYTES, PART, RecordFile
from honeyguide.adapters.output.xlsx import read_xlsx
from honeyguide.core.records import csv_cell, json_line, text_of_cell
from honeyguide.core.records.fields import SCHEMA, PickOptions, PickRecord, fields, needed_fields
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from honeyguide.core.records import Record


ADVICE = "use --restart to start over, or another -o"
_GROWS = "a list may grow only at its end, after -o FILE.jsonl is complete"
_SITES = "list of sites"  # its number and hash
_MAGIC = b'{"honeyguide": "journal of a pick", "version": 2, '


@dataclass(frozen=True, slots=True)
class PickRun:
    """What a pick is: the settings that must be equal to resume it, its sites, and the format of its file."""

    settings: Mapping[str, Any]
    sites: tuple[str, ...]
    kind: str = "jsonl"
    columns: tuple[str, ...] = ()  # of the list of sites: they are kept

    @property
    def header(self) -> dict[str, Any]:
        """What the journal says of the run."""
        text = "\n".join(self.sites).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, digest_size=16).hexdigest()
        sites = f"{len(self.sites):,} sites, {digest}"
        own = {"columns": list(self.columns)} if self.columns else {}
        return {**self.settings, "format": self.kind, _SITES: sites, **own}

    @property
    def header_line(self) -> bytes:
        """The first line of the journal."""
        return _MAGIC + json.dumps(self.header).removeprefix("{").encode()

    def owns(self, index: int, line: bytes) -> bool:
        """Tell whether a line is the record of the site in that place."""
        if not 0 <= index < len(self.sites) or not line.endswith(b"}"):
            return False
        return line.startswith(_encoded({"schema": SCHEMA, "site": self.sites[index]})[:-1] + b",")


class PickFile:
    """The records of a pick, in input order; ended by `complete`, or by `close` to be resumed later.

    With `restart` what an earlier run left stays until the first record of this one.
    """

    def __init__(self, path: Path, run: PickRun, *, restart: bool = False) -> None:
        if run.kind == "parquet":
            need_parquet(str(path))
        self.name = str(path)
        self.is_complete = False  # an earlier run finished every site
        self._run, self._restart = run, restart
        refusal = f"{path}: another run is writing it; wait until that has ended"
        self._journal = RecordFile.held(path, refusal, ".journal")
        self._path = self._journal.path.with_name(self._journal.path.name.removesuffix(".journal"))
        self._output: RecordFile | None = None
        self._next = 0  # records in the output
        self._at = array("q", [-1]) * len(run.sites)  # where in the journal a record begins
        self._bare = 0  # a journal of this size has no record
        self._statuses: Counter[str] = Counter()
        try:
            self._begin()
        except BaseException:  # close the files after any exception, then re-raise it
            self.close()
            raise

    def _begin(self) -> None:
        header = _read_header(self._journal)
        if header is None:
            self._journal.cut(0)
        found = self._read_back()
        if self._restart:
            return
        if header is None and found is not None:
            self._compare(found.settings, {name: self._run.settings[name] for name in found.settings})
            count = len(found.sites)
            has_grown = 0 < count < len(self._run.sites) and found.sites == self._run.sites[:count]
            if has_grown and not self._in_order:
                raise InputError(
                    f"holds fewer sites than those asked for: {_GROWS}; {ADVICE}", file=self.name
                )
            if not has_grown:
                self._check_complete(found)
                return
        self._resume(header)

    @property
    def _in_order(self) -> bool:
        return self._run.kind == "jsonl"

    def _read_back(self) -> FinishedSites | None:
        """Read what the output says of its run; cells of CSV are compared as they are written."""
        if not self._path.exists() or self._path.stat().st_size == 0:
            return None
        found = read_back(self._path, self._run.kind)
        if found is None:
            raise InputError("exists and is no output of this command; choose another -o", file=self.name)
        if self._run.kind not in ("csv", "xlsx"):
            return found
        ours = self._run.settings
        same = {name for name, value in found.settings.items() if csv_cell(value) == csv_cell(ours[name])}
        is_same = tuple(map(csv_cell, found.sites)) == tuple(map(csv_cell, self._run.sites))
        settings = {name: ours[name] if name in same else value for name, value in found.settings.items()}
        return found._replace(sites=self._run.sites if is_same else found.sites, settings=settings)

    def _check_complete(self, found: FinishedSites) -> None:
        if found.sites != self._run.sites:
            raise InputError(f"holds other sites than those asked for; {ADVICE}", file=self.name)
        self.is_complete, self._next, self._statuses = True, len(self._run.sites), found.statuses
        self._output = RecordFile(self._path) if self._in_order else None

    def _start_over(self) -> None:
        """Remove what an earlier run left; the output first, because a journal without output can be resumed."""
        self._path.unlink(missing_ok=True)
        self._journal.cut(0)
        self._restart = False
        self._resume(None)

    def _resume(self, header: Record | None) -> None:
        if header is None:
            self._journal.append(self._run.header_line)
            self._journal.sync()
        else:
            self._compare(header, self._run.header)
        self._bare = len(self._run.header_line) + 1
        self._journal.cut_torn()
        if self._in_order:
            self._output = RecordFile(self._path)
            self._output.cut_torn()
            self._next = self._count(self._output)
        self._index()

    def _compare(self, theirs: Record, ours: Record) -> None:
        names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
        if names:
            both = [(name, *_shorter(theirs.get(name), ours.get(name), name)) for name in names]
            what = "; ".join(
                f"{name}: {_shown(there)} there, {_shown(here)} here" for name, there, here in both
            )
            advice = f"{_GROWS}; {ADVICE}" if _SITES in names else ADVICE
            raise InputError(f"belongs to another run ({what}); {advice}", file=self.name)

    def _count(self, output: RecordFile) -> int:
        """Count the records of the output, each of which must belong in its place."""
        count = 0
        for _, line in output.lines():
            if not self._run.owns(count, line):
                what = f"line {count + 1} is not the record that belongs there; {ADVICE}"
                raise InputError(what, file=self.name)
            count += 1
        return count

    def _index(self) -> None:
        """Find the records of the journal, and copy those whose turn has come."""
        for start, line in self._journal.lines():
            place, tab, record = line.partition(b"\t")
            index = int(place) if tab and place.isdigit() and len(place) < 10 else -1
            if self._run.owns(index, record):
                self._at[index] = start
        self._catch_up()

    @property
    def missing(self) -> list[int]:
        """The places whose records are still to come."""
        return [index for index in range(self._next, len(self._at)) if self._at[index] < 0]

    def add(self, index: int, record: Record) -> None:
        """Keep a finished record, at once."""
        if self._restart:
            self._start_over()
        line = _encoded(record)
        if self._output and index == self._next:
            self._output.append(line)
            self._next += 1
            self._catch_up()
        else:
            self._at[index] = self._journal.append(b"%d\t%b" % (index, line))

    def _catch_up(self) -> None:
        while self._output and self._next < len(self._at) and self._at[self._next] >= 0:
            self._output.append(self._waiting(self._next))
            self._next += 1

    def _waiting(self, index: int) -> bytes:
        return self._journal.line_at(self._at[index]).partition(b"\t")[2]

    def lines(self) -> Iterator[tuple[int, str]]:
        """Give what is finished, in input order."""
        copied = enumerate(line for _, line in self._output.lines()) if self._output else ()
        for index, line in copied:
            yield index, line.decode("utf-8", "surrogatepass")
        for index in range(self._next, len(self._at)):
            if self._at[index] >= 0:
                yield index, self._waiting(index).decode("utf-8", "surrogatepass")

    @property
    def has_records(self) -> bool:
        """Whether all that was found can be read again: a complete table has less."""
        return self._in_order or not self.is_complete

    def records(self) -> Iterator[Record]:
        """Read what is finished."""
        if not self.has_records:
            what = "is a complete table, without all that was found; use --restart, or -o FILE.jsonl, which keeps everything"
            raise InputError(what, file=self.name)
        return (json.loads(line) for _, line in self.lines())

    def statuses(self) -> Counter[str]:
        """Count the statuses of what is finished."""
        if self.is_complete:
            return self._statuses
        return Counter(str(first_fields(line).get("status")) for _, line in self.lines())

    def forget_failed(self) -> None:
        """Make the places of sites whose status is not ok free again."""
        if all(record["status"] == "ok" for record in self.records()):
            return

        def lines() -> Iterator[bytes]:
            yield self._run.header_line
            for index, line in self.lines():
                if first_fields(line)["status"] == "ok":
                    yield b"%d\t%b" % (index, line.encode("utf-8", "surrogatepass"))

        self._journal.rewrite(lines())
        self._at = array("q", [-1]) * len(self._at)
        self._next, self._bare, self.is_complete = 0, -1, False
        if self._output:
            self._output.cut(0)
        self._index()

    def write(self) -> None:
        """Write the finished sites as a table. A complete table is kept, and so is an old one while no site is finished."""
        is_kept = self.is_complete or (self._restart and self._run.sites)
        if not self._in_order and not is_kept:
            write_table(self._path, self._run.kind, self.records(), PickRecord, self._run.columns)

    def complete(self) -> None:
        """Remove the journal: the output has everything."""
        if self._restart:  # there is no site at all
            self._start_over()
        if self._output:
            self._output.sync()
        self._journal.path.with_name(f"{self._journal.path.name}{PART}").unlink(missing_ok=True)
        self._journal.remove()
        self.close()

    def close(self) -> None:
        """Close both files, to be resumed later; where nothing is finished, remove them."""
        is_bare = self._journal.end <= self._bare and (self._output is None or self._output.end == 0)
        try:
            if self._output:
                self._output.remove() if is_bare else self._output.close()
        finally:
            self._journal.remove() if is_bare or self._journal.end == 0 else self._journal.close()


def _read_header(journal: RecordFile) -> Record | None:
    """Read the settings of the run a journal belongs to; None if it is empty, or was torn in its first line."""
    first = journal.line_at(0)
    if len(first) == journal.end and _MAGIC.startswith(first[: len(_MAGIC)]):
        return None
    with suppress(ValueError):
        if first.startswith(_MAGIC):
            return dict(json.loads(b"{" + first.removeprefix(_MAGIC)))
    raise InputError(
        "is no journal of this command; move it away, or choose another -o", file=str(journal.path)
    )


def _encoded(record: Record) -> bytes:
    return json_line(record).encode("utf-8", "surrogatepass")


def _shorter(there: object, here: object, name: str) -> tuple[object, object]:
    """Leave out the hashes of two lists of sites, if their numbers tell them apart."""
    counts = [str(value).partition(", ")[0] for value in (there, here)]
    return (counts[0], counts[1]) if name == _SITES and counts[0] != counts[1] else (there, here)


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "none"
    return shown(value) if isinstance(value, str) else "none" if value is None else json.dumps(value)


# --- what an output says of the run that wrote it, read back before it is written again ---

_LINE_OPENING = b'{"schema": %d, "site": ' % SCHEMA  # how the line of a pick begins
_VALUES = {"": None, "true": True, "false": False}  # what cells stand for
_NUMBER = re.compile(r"[0-9]{1,9}\Z")
_SETTINGS = ("strategy", "profile_hash")
_NEEDED = needed_columns(PickRecord)


class FinishedSites(NamedTuple):
    """What the output of a pick says of its run: its sites, some of the settings, how often each status."""

    sites: tuple[str, ...]
    settings: Record
    statuses: Counter[str]


def read_back(path: Path, format_: str) -> FinishedSites | None:
    """Read what the output of a pick says of its run; None if it is no such output."""
    readers = {"jsonl": _json_back, "csv": _csv_back, "parquet": _parquet_back, "xlsx": _xlsx_back}
    try:
        rows = list(readers[format_](path))
    except (ValueError, KeyError, RecursionError, csv.Error):
        return None
    first = next((row for row in rows if row["profile_hash"]), None)
    settings = {name: first.get(name) for name in _SETTINGS} if first else {}
    options: Record = next((row["options"] for row in rows if isinstance(row.get("options"), dict)), {})
    return FinishedSites(
        tuple(row["site"] for row in rows),
        {**settings, **{name: options[name] for name in fields(PickOptions) if name in options}},
        Counter(str(row.get("status")) for row in rows),
    )


def _json_back(path: Path) -> Iterator[Record]:
    """Read the first fields of each line; a torn last one does not count."""
    with path.open("rb") as file:
        while line := file.readline(MAX_LINE_BYTES + 1):
            if not line.startswith(_LINE_OPENING[: len(line)]) or len(line) > MAX_LINE_BYTES:
                raise ValueError(path)
            if line.endswith(b"\n"):
                yield first_fields(line.decode("utf-8", "replace"))


def first_fields(line: str) -> Record:
    """Read the fields before `selected`: what follows may be megabytes.

    >>> first_fields('{"schema": 2, "site": "a.example", "profile_hash": "5a", "selected": [{"rank"')
    {'profile_hash': '5a', 'schema': 2, 'site': 'a.example'}
    """
    head, _, rest = line.partition(', "selected": ')
    return {"profile_hash": None, **json.loads(f"{head}}}" if rest else head)}


def _csv_back(path: Path) -> Iterator[Record]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        there = [name for name in PICK_COLUMNS if name in (reader.fieldnames or ())]
        if not set(there) >= _NEEDED:
            raise ValueError(path)
        yield from _first_rows({name: text_of_cell(row[name] or "") for name in there} for row in reader)


def _xlsx_back(path: Path) -> Iterator[Record]:
    return _first_rows({name: text_of_cell(cell) for name, cell in row.items()} for row in read_xlsx(path))


def _first_rows(rows: Iterable[dict[str, str]]) -> Iterator[Record]:
    """Give the first row of each site; the other pages of a site have higher ranks."""
    return (_csv_fields(row) for row in rows if row["selected_rank"] in ("", "1"))


def _csv_fields(row: dict[str, str]) -> Record:
    if not row.keys() >= _NEEDED:
        raise ValueError(row["site"])
    cells = {name: row[cell] for name in fields(PickOptions) if (cell := f"options_{name}") in row}
    options = {
        name: _VALUES.get(cell, int(cell) if _NUMBER.match(cell) else cell) for name, cell in cells.items()
    }
    return {**{name: row[name] for name in ("site", "status", *_SETTINGS)}, "options": options}


def _parquet_back(path: Path) -> Iterable[Record]:
    import polars as pl

    try:
        if not are_names(pl.read_parquet_schema(path), fields(PickRecord), needed_fields(PickRecord)):
            raise ValueError(path)
        return pl.read_parquet(path, columns=["site", "status", *_SETTINGS, "options"]).to_dicts()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise ValueError(path) from error
