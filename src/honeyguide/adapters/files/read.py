"""Files and standard input, opened, decoded and bounded; the error sentence names the file.

Start reading at `read_bytes` for whole files, at `lines_or_errors` for one record on each line, at `sources_of` for
tables. Must not know: what is in the files.
"""

from __future__ import annotations

import atexit
import glob
import gzip
import logging
import os
import re
import sys
import tempfile
import warnings
import zlib
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

from honeyguide.adapters.files.signals import field_name
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import polars as pl

    OnRows = Callable[[str, int], None]  # the name of a table, and how many of its rows are read

    Line = tuple[int, str, InputError | None]  # its number from 1, its text, and why that is not UTF-8

_Row = TypeVar("_Row")
_REPORT_ROWS = 5_000  # between two reports
_LOG = logging.getLogger("honeyguide.files")
STDIN = "-"
MAX_PAGE_BYTES = 20_000_000  # the largest homepages have a tenth of it
MAX_LINE_BYTES = 1_000_000
MAX_STREAM_BYTES = 1 << 32  # copied to disk: about forty million rows
SMALL_BYTES = 100_000  # about a thousand rows; below it, rows are as fast as columns
_BLOCK_BYTES = 1 << 20
CUT_OFF = "; it may be cut off"  # what may be wrong with a Parquet file
_OPEN_FILES = Path("/proc/self/fd")  # Linux: reopens a file by its number
_PACKED = ("gz", "zst")
_PATIENCE: dict[str, Any] = {
    "timeout": "30s",
    "connect_timeout": "10s",
    "max_retries": 1,
}  # with an object store
SHEET = "spreadsheet"
_KINDS = {
    "csv": "csv", "tsv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet", "pq": "parquet",
    "xlsx": SHEET, "xlsm": SHEET, "xls": SHEET, "ods": SHEET,
}  # fmt: skip
_ADDRESS = re.compile(r"\w\.\w")
_DATABASE = b"SQLite format 3\x00"
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"  # how spreadsheets begin, newer and older ones


def name_of(path: str) -> str:
    """Name a file in messages."""
    return "standard input" if path == STDIN else path


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file or standard input; an `OSError` becomes an `InputError`."""
    try:
        if path == STDIN:
            if sys.stdin is None:
                raise InputError("is closed", file=name_of(path))
            yield sys.stdin.buffer
        elif "\0" in path:
            raise InputError("is not a usable path", file=path)
        else:
            _LOG.info("reading %s", path)
            with Path(path).open("rb") as file, _decompressed(file, path) as plain:
                yield plain
    except gzip.BadGzipFile:
        raise _damaged(path) from None
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}; check the path"
        if isinstance(error, FileNotFoundError) and path.startswith(("http://", "https://")):
            what = "is an address, not a file; honeyguide pick and crawl read addresses"
        elif isinstance(error, FileNotFoundError) and "://" in path:
            what = "is no file here; of object stores, only s3:// is read, and only Parquet"
        raise InputError(what, file=name_of(path)) from None


@contextmanager
def _decompressed(file: IO[bytes], path: str) -> Iterator[IO[bytes]]:
    """Read through the compression that the name tells; what comes out is bounded by whoever reads it."""
    packed = _packing(path)
    if not packed:
        yield file
        return
    try:
        with gzip.GzipFile(fileobj=file) if packed == "gz" else _zstd(file, path) as plain:
            yield cast("IO[bytes]", plain)
    except (EOFError, zlib.error):
        raise _damaged(path) from None
    except Exception as error:  # ZstdError belongs to an extra: its class may not exist here
        if type(error).__name__ != "ZstdError":
            raise
        raise _damaged(path) from None


def _zstd(file: IO[bytes], path: str) -> IO[bytes]:
    try:
        zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ImportError:
        what = "is compressed by zstd, which needs a library: pip install 'backports.zstd>=1.0'"
        raise InputError(what, file=path) from None
    return cast("IO[bytes]", zstd.ZstdFile(file))


def _damaged(path: str) -> InputError:
    return InputError("is not compressed as its name tells, or is cut off", file=path)


def _packing(path: str) -> str:
    end = path.rpartition(".")[2].lower()
    return end if end in _PACKED else ""


def plain_name(path: str) -> str:
    """Give the name of a file without the ending of its compression.

    >>> plain_name("known.csv.GZ"), plain_name("known.csv")
    ('known.csv', 'known.csv')
    """
    return path[: -1 - len(end)] if (end := _packing(path)) else path


def read_bytes(path: str, limit: int = MAX_PAGE_BYTES, advice: str = "give a smaller file") -> bytes:
    """Read a whole file of at most `limit` bytes."""
    with opened(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"is larger than {limit / 1e6:g} MB; {advice}", file=name_of(path))
    return data


def read_text(path: str) -> str:
    """Read a whole UTF-8 file."""
    return _decoded(read_bytes(path), name_of(path), 1)


def read_lines(path: str, limit: int | None = None) -> Iterator[tuple[int, str]]:
    """Read a UTF-8 file line by line, with line numbers from 1; line ends stay."""
    for number, text, error in lines_or_errors(path, limit=limit):
        if error is not None:
            raise error
        yield number, text


def lines_or_errors(path: str, name: str = "", limit: int | None = None) -> Iterator[Line]:
    """Read a file line by line; a line that is not UTF-8 comes with its error and replacement characters."""
    with opened(path) as file:
        yield from numbered_lines(file, name or name_of(path), limit or MAX_LINE_BYTES)


def numbered_lines(
    file: IO[bytes], name: str, limit: int = MAX_LINE_BYTES, before: int = 0
) -> Iterator[Line]:
    """Read the lines of an open file from where it is, `before` which there were so many."""
    number = before
    while data := file.readline(limit + 1):
        number += 1
        if len(data) > limit:
            what = f"is longer than {limit / 1e6:g} MB; write one record on each line"
            raise InputError(what, file=f"{name} line {number}")
        try:
            yield number, _decoded(data, name, number), None
        except InputError as error:
            yield number, data.decode("utf-8", "replace"), error


def _decoded(data: bytes, name: str, number: int) -> str:
    try:
        return data.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        if data.startswith(_DATABASE):
            raise InputError(
                "is a database, such as a store, not a text file; check the path", file=name
            ) from None
        line = number + error.object.count(b"\n", 0, error.start)  # which is without the byte-order mark
        raise InputError("is not UTF-8; save the file as UTF-8", file=f"{name} line {line}") from None


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
        is_stream = path == STDIN or _packing(path) or _is_stream(path)
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
