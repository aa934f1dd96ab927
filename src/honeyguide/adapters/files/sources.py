"""Tables to read: which files a path stands for, of which kind they are, and whether they are read by columns.

Start reading at `sources_of`. Files, folders, patterns, standard input and object stores become `Source`s. Must not know: what is in
the rows.
"""

from __future__ import annotations

import atexit
import glob
import os
import re
import tempfile
import warnings
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from honeyguide.adapters.files.read import STDIN, name_of, opened, plain_name
from honeyguide.adapters.files.signals import field_name
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import polars as pl

    OnRows = Callable[[str, int], None]  # the name of a table, and how many of its rows are read

_Row = TypeVar("_Row")
_REPORT_ROWS = 5_000  # between two reports
MAX_STREAM_BYTES = 1 << 32  # copied to disk: about forty million rows
SMALL_BYTES = 100_000  # about a thousand rows; below it, rows are as fast as columns
_BLOCK_BYTES = 1 << 20
CUT_OFF = "; it may be cut off"  # what may be wrong with a Parquet file
_OPEN_FILES = Path("/proc/self/fd")  # Linux: reopens a file by its number
# With an object store: seconds for a request and for a connection, and how often a request is repeated.
_PATIENCE: dict[str, Any] = {"timeout": "30s", "connect_timeout": "10s", "max_retries": 1}
SHEET = "spreadsheet"
_KINDS = {
    "csv": "csv", "tsv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet", "pq": "parquet",
    "xlsx": SHEET, "xlsm": SHEET, "xls": SHEET, "ods": SHEET,
}  # fmt: skip
_ADDRESS = re.compile(r"\w\.\w")
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"  # how spreadsheets begin, newer and older ones


@dataclass(frozen=True, slots=True)
class Source:
    """A table to read: its path, its kind (csv, jsonl, parquet), and its name in messages.

    `fields` has the field that a column is, by the column's name, where the names differ. `on_rows` hears of the rows that are read.
    """

    path: str
    kind: str
    name: str
    fields: Mapping[str, str] = field(default_factory=dict, hash=False)
    on_rows: OnRows | None = field(default=None, compare=False)

    def counted(self, rows: Iterable[_Row]) -> Iterable[_Row]:
        """Give rows, and report how many there were from time to time."""
        return rows if self.on_rows is None else _reported(rows, self.name, self.on_rows)

    def renamed(self, names: Sequence[str]) -> dict[str, str]:
        """Give the fields that columns are, by name; a column in whose place another one is read is not used."""
        if not self.fields:
            return {}
        for column in self.fields:
            if column not in names:
                raise NoColumnError(names, self.name, column)
        taken = set(self.fields.values())
        unused = {name: f"{name} (not used)" for name in names if field_name(name) in taken}
        return {**unused, **self.fields}

    def scanned(self, row_index: str | None = None) -> pl.LazyFrame:
        """Open a Parquet file; its columns have the names of their fields."""
        import polars as pl  # a third of a second, and an extra

        remote = is_remote(self.path)
        if remote:  # polars looks the region of a bucket up, which is no news for people
            warnings.filterwarnings("ignore", ".*region' not set", UserWarning)
        scan = pl.scan_parquet(
            self.path, glob=remote, row_index_name=row_index, storage_options=_PATIENCE if remote else None
        )
        return scan.rename(self.renamed(scan.collect_schema().names())) if self.fields else scan


def _reported(rows: Iterable[_Row], name: str, on_rows: OnRows) -> Iterator[_Row]:
    for count, row in enumerate(rows):
        if count % _REPORT_ROWS == 0:
            on_rows(name, count)
        yield row


class NoColumnError(InputError):
    """A table without a column that is needed; `column` is the one that the user named, if any."""

    def __init__(
        self, names: Sequence[str], path: str, column: str | None, usual: Sequence[str] = ()
    ) -> None:
        from difflib import get_close_matches  # for mistakes only

        self.column = column
        known = [name.strip() for name in names[:20] if name.strip()]
        wanted = column or f"{', '.join(usual[:-1])} or {usual[-1]}"
        near = get_close_matches(column or "", known, 1)
        advice = f"; did you mean {near[0]}?" if near else ""
        if column is None and any(map(_ADDRESS.search, known)):
            advice = "; if its first row is data, put a row of names above it"
        has = (", ".join(known) or "none")[:500]
        super().__init__(f"has no column {wanted}; it has {has}{advice}", file=name_of(path))


def is_remote(path: str) -> bool:
    """Tell whether a table is in an object store, which polars reads: s3://bucket/known/*.parquet."""
    return path.startswith("s3://")


def kind_of(path: str) -> str | None:
    """Tell the kind of a table by its name; spreadsheets are known, but not read."""
    return _KINDS.get(plain_name(path).rpartition(".")[2].lower())


def refuse_sheet(path: str, start: bytes) -> None:
    """Raise an error if the content of a file begins as that of a spreadsheet."""
    if start.startswith(_ZIP) or (kind_of(path) == SHEET and start.startswith(_OLE)):
        raise _no_table(path)


def _no_table(path: str) -> InputError:
    what = "is a spreadsheet" if kind_of(path) == SHEET else "is a zip file, as spreadsheets are"
    return InputError(f"{what}; save it as CSV (UTF-8)", file=name_of(path))


def sources_of(
    paths: str | Path | Sequence[str | Path],
    kind: str | None,
    fields: Mapping[str, str] | None = None,
    on_rows: OnRows | None = None,
) -> list[Source]:
    """Resolve paths, folders and patterns to tables; raises `InputError` for a kind that cannot be read here."""
    sources = []
    given = [paths] if isinstance(paths, (str, Path)) else paths
    for path in (path for pattern in given for path in expanded(str(pattern))):
        name, found = name_of(path), kind or kind_of(path)
        if found == SHEET:
            raise _no_table(path)
        if found is None:
            raise InputError("is of no kind that its name tells; say csv, jsonl or parquet", file=name)
        if is_remote(path) and found != "parquet":
            raise InputError("is in an object store, of which only Parquet is read; copy it", file=name)
        if found == "parquet" and not _has_polars():
            raise no_parquet(name)
        is_stream = path == STDIN or plain_name(path) != path or _is_stream(path)
        sources.append(Source(_spooled(path) if is_stream else path, found, name, fields or {}, on_rows))
    return sources


def no_parquet(name: str) -> InputError:
    """Return the error for a Parquet file where polars is not installed."""
    return InputError("is Parquet, which needs Polars: pip install 'polars>=2.1'", file=name)


def need_parquet(name: str) -> None:
    """Raise an error that names the extra if polars is not installed."""
    if not _has_polars():
        raise InputError("Parquet needs Polars: pip install 'polars>=2.1'", file=name)


@contextmanager
def reading_parquet(name: str, advice: str = "") -> Iterator[None]:
    """Turn whatever polars raises while it reads a file into an `InputError`."""
    import polars as pl  # a third of a second, and an extra

    try:
        yield
    except InputError:
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        what = f"is not Parquet that can be read{advice}"
        if is_remote(name) and isinstance(error, OSError):
            what = f"cannot be read: {_cause_of(error)}; check the address and the credentials"
        raise InputError(what, file=name) from None


def _cause_of(error: OSError) -> str:
    """Return what matters of an error of an object store: the last cause, or what comes before the request."""
    lines = str(error).strip().splitlines() or ["no answer"]
    if len(lines) > 1:
        return lines[-1].strip(" 0123456789:")
    return lines[0].removeprefix("object-store error: ").partition(": Error performing")[0]


def pays_by_columns(sources: Sequence[Source]) -> bool:
    """Tell whether tables are read by columns: Parquet, and text that is large enough."""
    is_large = any(source.kind == "parquet" for source in sources) or _size(sources) > SMALL_BYTES
    return is_large and _has_polars()


def expanded(path: str) -> list[str]:
    """Find the tables of a folder and below, or the files that match a pattern; a file of that very name comes first."""
    if path == STDIN or "\0" in path or is_remote(path):
        return [path]
    if not path:  # pathlib takes it for this folder
        raise InputError("the name of a file is empty")
    if Path(path).is_dir():
        files = (file for file in _files_below(path) if kind_of(file.name) not in (None, SHEET))
        found = sorted(str(file) for file in files if file.is_file())
        if not found:
            raise InputError(
                "is a folder without tables, CSV, JSON lines or Parquet; check the path", file=path
            )
        return found
    if not set("*?[") & set(path) or Path(path).exists():
        return [path]
    if "**" in path:
        deque(_files_below(path.partition("**")[0] or "."), maxlen=0)  # glob skips what it may not read
    matches = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - patterns may be absolute
    if not (found := [file for file in matches if not Path(file).is_dir()]):
        raise InputError("is a pattern that no file matches; check the path", file=path)
    return found


def _files_below(folder: str) -> Iterator[Path]:
    """List the files of a folder and below; a folder that cannot be read is an error, because its rows would be missing."""

    def refuse(error: OSError) -> None:
        if isinstance(error, PermissionError):
            what = "is a folder that cannot be read; check its permissions"
            raise InputError(what, file=str(error.filename or folder)) from None

    for place, _, names in os.walk(folder, onerror=refuse):
        yield from (Path(place, name) for name in names)


def _is_stream(path: str) -> bool:
    """Tell whether a path is a pipe or a device, whose bytes come once; folders fail when they are opened."""
    is_known = os.path.isfile(path) or os.path.isdir(path)  # noqa: PTH112, PTH113 - these never raise
    return os.path.exists(path) and not is_known  # noqa: PTH110 - as above


def _spooled(stream: str) -> str:
    """Copy standard input or a pipe into a temporary file, because tables are read more than once."""
    copy = tempfile.NamedTemporaryFile(prefix="honeyguide-", delete=False)  # noqa: SIM115 - open to the end
    atexit.register(copy.close)
    path, by_number = Path(copy.name), _OPEN_FILES / str(copy.fileno())
    if by_number.exists():  # without a name, not even a killed process leaves it behind
        path.unlink()
        path = by_number
    else:
        atexit.register(path.unlink, missing_ok=True)
    with opened(stream) as file:
        while block := file.read(_BLOCK_BYTES):
            if copy.tell() + len(block) > MAX_STREAM_BYTES:
                what = f"has more than {MAX_STREAM_BYTES:,} bytes; write it to a file, which may be larger"
                raise InputError(what, file=name_of(stream))
            copy.write(block)
    copy.flush()
    return str(path)


def _size(sources: Sequence[Source]) -> int:
    """Add up the bytes; what is no file fails when it is opened."""
    return sum(os.path.getsize(source.path) for source in sources if os.path.isfile(source.path))  # noqa: PTH113, PTH202 - as above


def _has_polars() -> bool:
    return find_spec("polars") is not None
