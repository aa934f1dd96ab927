"""Known URLs in files, opened as a table that can be ranked: row by row, or by columns where that pays.

Owns: which files are meant, what they are, and which of the two tables reads them.
Must not know: how rows are read or ranked. Start reading at `open_known`.
Both tables give the same answers. Columns cost a start that small files do not pay back, and need an extra.
"""

from __future__ import annotations

import glob
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from honeyguide.adapters.files import STDIN, name_of
from honeyguide.adapters.policies import load_policy
from honeyguide.adapters.rows.rowfiles import Raw, raw_rows, signals_of
from honeyguide.adapters.rows.spool import is_stream, spooled
from honeyguide.core.plan import NAMES, field_name
from honeyguide.core.policy_table import PolicyTable
from honeyguide.core.priors import Priors
from honeyguide.core.ranking import HEURISTIC, Row, RowTable
from honeyguide.core.recrawl import Learned
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from datetime import datetime

    from honeyguide.adapters.rows.rejected import Rejected
    from honeyguide.core.profile import Profile
    from honeyguide.core.ranking import Asked, Entry, Plan

LEARNED = "learned"
_MOST_LOOKED_AT = 100  # columns that might be slips
_NEAR = 0.8  # how like a signal the name of a column is that was probably meant as it
SMALL_BYTES = 100_000  # about a thousand rows; below it rows are as fast as columns
_KINDS = {"csv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet", "pq": "parquet"}


class Table(Protocol):
    """Known URLs that can be ranked and looked up; `policy` is the name of what ranks them."""

    policy: str

    def plan(self, asked: Asked) -> Plan:
        """Rank the rows."""

    def find(self, urls: Collection[str]) -> dict[str, Row]:
        """Look rows up by their URL, as it is written."""

    def rank_of(self, row: Row, now: datetime) -> int:
        """Say where a row stands among all."""

    def judge(self, row: Row, now: datetime) -> Entry:
        """Say what a row is worth; its rank is not counted."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read: where it lies, what it is, and what messages call it."""

    path: str
    kind: str
    name: str


def kind_of(path: str) -> str | None:
    """Tell what a file is by its name: csv, jsonl or parquet.

    >>> kind_of("known.ndjson"), kind_of("known.txt")
    ('jsonl', None)
    """
    return _KINDS.get(path.rpartition(".")[2].lower())


def open_known(  # noqa: PLR0913 - settings of a library call, all by keyword
    paths: Sequence[str],
    profile: Profile,
    *,
    kind: str | None = None,
    policy: str | None = None,
    reject: Rejected | None = None,
    check_urls: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Table:
    """Open files as one table; rows are numbered through. Wrong rows go to `reject`, or stop the run.

    `tell` hears of columns that nobody reads, although their names are nearly those of others that are missing, and of
    times that are taken as UTC.

    Without a `policy`, files that know change rates are ranked by `learned`, others by the rules of the profile.
    """
    sources = sources_of(paths, kind)
    if reject is not None:
        for source in sources:
            reject.expect([source.name], whole=check_urls or source.kind != "parquet")
    names = [_names(source) for source in sources]
    if tell is not None:
        for source, found in zip(sources, names, strict=True):
            for column, meant in _slips(found):
                tell(f"{source.name}: column {shown(column)} is not used; did you mean {meant}?")
        if sentence := _zoneless(sources):
            tell(sentence)
    chosen = policy or (LEARNED if any("rate_a" in found for found in names) else HEURISTIC)
    if chosen == LEARNED and all(source.kind == "parquet" for source in sources):
        return _learned(sources, profile, reject, check_urls=check_urls)
    if not pays_by_columns(sources) or chosen != HEURISTIC:
        name = sources[0].name if len(sources) == 1 else f"{len(sources)} files"
        rows = RowTable(_Rows(sources, reject), profile, name)
        if chosen == HEURISTIC:
            return rows
        return PolicyTable(rows.counted, load_policy(chosen, profile, Priors()), profile, name, rows)
    from honeyguide.adapters.rows.bulk import ParquetFile, TextFile  # an extra
    from honeyguide.adapters.rows.ranker import ColumnTable

    files = [
        ParquetFile(source.path, source.name)
        if source.kind == "parquet"
        else TextFile(source.path, source.kind, source.name)
        for source in sources
    ]
    return ColumnTable(files, profile, reject, check_urls=check_urls)


def sources_of(paths: Sequence[str], kind: str | None) -> list[Source]:
    """Say which files are meant and what they are; one that nobody here can read is refused."""
    sources = [_source(path, kind) for given in paths for path in expanded(given)]
    if not _has_polars():
        for source in sources:
            if source.kind == "parquet":
                what = "is Parquet, which needs the extra: pip install 'honeyguide[bulk]'"
                raise InputError(what, file=source.name)
    return sources


def pays_by_columns(sources: Sequence[Source]) -> bool:
    """Tell whether files are read by columns: Parquet, and text that is large enough for it."""
    return _has_polars() and (
        any(source.kind == "parquet" for source in sources) or _size(sources) > SMALL_BYTES
    )


def _learned(
    sources: Sequence[Source], profile: Profile, reject: Rejected | None, *, check_urls: bool
) -> Table:
    from honeyguide.adapters.rows.bulk import ParquetFile  # an extra
    from honeyguide.adapters.rows.rate_ranker import LearnedTable

    files = [ParquetFile(source.path, source.name) for source in sources]
    return LearnedTable(files, profile, Learned(Priors()), reject, check_urls=check_urls)


class _Rows:
    """The checked rows of text files, as often as they are asked for."""

    def __init__(self, sources: Sequence[Source], reject: Rejected | None) -> None:
        self._sources = sources
        self._reject = reject
        self._rejected: set[int] = set()

    def __call__(self) -> Iterator[Row]:
        place = 0
        for source in self._sources:
            for raw in _raws(source):
                place += 1
                number = raw.number
                where = f"row {number}" if len(self._sources) == 1 else f"{source.name} row {number}"
                try:
                    yield Row(place, where, signals_of(raw))
                except InputError as error:
                    self._put_out(place, source, raw, error)

    def _put_out(self, place: int, source: Source, raw: Raw, error: InputError) -> None:
        if self._reject is None:
            raise error
        if place not in self._rejected:
            self._rejected.add(place)
            self._reject(source.name, raw, error)


def _raws(source: Source) -> Iterator[Raw]:
    """Read a file row by row, whatever it is."""
    if source.kind == "parquet":
        from honeyguide.adapters.rows.bulk import ParquetFile  # an extra

        yield from ParquetFile(source.path, source.name).rows()
        return
    for number, (line, values) in enumerate(raw_rows(source.path, source.kind, source.name), 1):
        yield Raw(number, f"{source.name} line {line}", values)


def _names(source: Source) -> list[str]:
    """Say which signals a file tells of, by its columns or its first row."""
    if source.kind == "parquet":
        from honeyguide.adapters.rows.bulk import ParquetFile  # an extra

        return list(map(field_name, ParquetFile(source.path, source.name).schema))
    first = next(_raws(source), None)
    return list(map(field_name, first.values)) if first and isinstance(first.values, dict) else []


def _zoneless(sources: Sequence[Source]) -> str:
    """Say where timestamps of no zone are taken as UTC: in the first such file, for all."""
    for source in sources:
        if source.kind == "parquet":
            from honeyguide.adapters.rows.bulk import ParquetFile  # an extra

            if names := ParquetFile(source.path, source.name).zoneless:
                return f"{source.name}: times without a zone are taken as UTC, in {', '.join(names)}"
    return ""


def _slips(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Find names that are nearly those of signals that are missing.

    >>> list(_slips(["url", "title", "last_vistied"]))
    [('last_vistied', 'last_visited')]
    """
    unread = [name for name in names if name not in NAMES]
    if not unread:
        return
    from difflib import get_close_matches  # not for those whose columns are all read

    missing = [name for name in NAMES if name not in names]
    for name in unread[:_MOST_LOOKED_AT]:
        if near := get_close_matches(name.lower(), missing, 1, _NEAR):
            yield name, near[0]


def expanded(path: str) -> list[str]:
    """Find the files that a pattern means; a file of that very name comes first."""
    if path == STDIN or "\0" in path or not set("*?[") & set(path) or Path(path).exists():
        return [path]
    found = sorted(glob.glob(path))  # noqa: PTH207 - patterns may be absolute
    if not found:
        raise InputError("is a pattern that no file matches; check the path", file=path)
    return found


def _source(path: str, kind: str | None) -> Source:
    chosen = kind or kind_of(path)
    if chosen is None:
        raise InputError("is of no kind that its name tells; say csv, jsonl or parquet", file=name_of(path))
    return Source(spooled(path) if path == STDIN or is_stream(path) else path, chosen, name_of(path))


def _size(sources: Sequence[Source]) -> int:
    """Add up the bytes; what cannot be asked is complained about when it is opened."""
    total = 0
    for source in sources:
        try:
            total += Path(source.path).stat().st_size
        except (OSError, ValueError):
            continue
    return total


def _has_polars() -> bool:
    return find_spec("polars") is not None
