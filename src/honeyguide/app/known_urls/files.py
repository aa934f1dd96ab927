"""Known URLs of files as rankers.

Owns: which ranker serves which files, and the warnings about their columns. Must not know: plans, arguments, terminals.
Start reading at `open_known`. polars is imported only where files need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.adapters.files.rows import raw_rows, signals_of_row
from honeyguide.adapters.files.signals import field_name, zoneless_fields
from honeyguide.adapters.files.sources import Source, pays_by_columns, sources_of
from honeyguide.adapters.policies import FormulaPolicy, IntervalPolicy, load_policy
from honeyguide.app.arguments import fields_of
from honeyguide.core.recrawl.plan import NAMES, KnownUrl
from honeyguide.core.recrawl.policies import HEURISTIC, LEARNED, Learned
from honeyguide.core.recrawl.priors import Priors
from honeyguide.core.recrawl.ranking import RowTable
from honeyguide.core.rules.language import fields_read
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from honeyguide.adapters.files.rows import RawRow, Rejected
    from honeyguide.adapters.files.sources import OnRows
    from honeyguide.bulk.batches import ParquetFile
    from honeyguide.bulk.file_table import ColumnTable
    from honeyguide.core.recrawl.policies import RecrawlPolicy
    from honeyguide.core.rules.profile import Profile
    from honeyguide.ports.store import Ranker

_COMPARED_COLUMNS = 100  # columns that may be misspelt
_SIMILAR = 0.8  # how like a signal's name a misspelt column is
_FACTS = {"last_visited": "since_visit_s", "last_changed": "since_change_s", "topic_relevance": "relevance"}


def open_known(  # noqa: PLR0913 - settings of a library call, all by keyword
    sources: Sequence[Source],
    profile: Profile,
    *,
    policy: str | None = None,
    reject: Rejected | None = None,
    check_urls: bool = False,
    on_note: Callable[[str], None] | None = None,
) -> Ranker:
    """Open tables as one ranker; wrong rows go to `reject`, or stop the run, and warnings about columns to `on_note`.

    Without a `policy`, tables with change rates are ranked by `learned`, others by the rules of the profile.
    """
    if reject is not None:
        for source in sources:
            reject.expect([source.name], whole=check_urls or source.kind != "parquet")
    columns = [_columns(source) for source in sources]
    chosen = policy or (LEARNED if any("rate_a" in names for names in columns) else HEURISTIC)
    zones = ZoneNote(on_note)
    if on_note is not None:
        scored = _scored_fields(profile) if chosen == HEURISTIC else set(NAMES)
        for note in _warnings(sources, columns, scored):
            on_note(note)
        zones.tell_columns(sources)
    is_parquet = all(source.kind == "parquet" for source in sources)
    ranked_by = load_policy(chosen, profile, Priors())
    has_columns = chosen == HEURISTIC or isinstance(ranked_by, Learned | FormulaPolicy | IntervalPolicy)
    if has_columns and ((is_parquet and chosen != HEURISTIC) or pays_by_columns(sources)):
        table = _column_table(sources, ranked_by, profile, reject, check_urls=check_urls)
        table.on_zoneless = zones
        return table
    name = sources[0].name if len(sources) == 1 else f"{len(sources)} files"
    return RowTable(_FileRows(sources, reject, zones), ranked_by, profile, name, may_repeat=True)


def known_sources(
    paths: str | Path | Sequence[str | Path],
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    on_rows: OnRows | None = None,
) -> list[Source]:
    """Resolve paths, folders and patterns to tables of known URLs; `columns` has the names of columns, by field."""
    return sources_of(paths, kind, fields_of(columns, NAMES), on_rows)


class ZoneNote:
    """Notes once that times without a zone are taken as UTC."""

    def __init__(self, on_note: Callable[[str], None] | None) -> None:
        self._on_note = on_note

    def __call__(self, file: str, raw: RawRow) -> None:
        """Look at the times of a row."""
        if self._on_note is None or isinstance(raw.values, InputError):
            return
        if fields := list(zoneless_fields(raw.values)):
            self._tell(f"{file} row {raw.number}", fields)

    def tell_columns(self, sources: Sequence[Source]) -> None:
        """Look at the types of columns."""
        for source in sources:
            if source.kind == "parquet" and (fields := parquet_file(source).zoneless):
                self._tell(source.name, fields)

    def _tell(self, where: str, fields: Sequence[str]) -> None:
        if self._on_note is not None:
            self._on_note(f"{where}: times without a zone are taken as UTC, in {', '.join(fields)}")
            self._on_note = None


def _column_table(
    sources: Sequence[Source],
    policy: RecrawlPolicy,
    profile: Profile,
    reject: Rejected | None,
    *,
    check_urls: bool,
) -> ColumnTable:
    from honeyguide.bulk.batches import TextFile  # an extra
    from honeyguide.bulk.file_table import ColumnTable
    from honeyguide.bulk.learned_table import LearnedTable

    files = [
        parquet_file(one)
        if one.kind == "parquet"
        else TextFile(one.path, one.kind, one.name, one.fields, one.on_rows)
        for one in sources
    ]
    if isinstance(policy, Learned | FormulaPolicy | IntervalPolicy):
        return LearnedTable(files, profile, policy, reject, check_urls=check_urls)
    return ColumnTable(files, profile, reject, check_urls=check_urls)


def parquet_file(source: Source, also: Sequence[str] = ()) -> ParquetFile:
    """Open a Parquet file, of which these columns are read beside the signals."""
    from honeyguide.bulk.batches import ParquetFile  # an extra

    return ParquetFile(source, also)


class _FileRows:
    """The checked rows of files, read anew at each call; a wrong row is rejected once."""

    def __init__(self, sources: Sequence[Source], reject: Rejected | None, zones: ZoneNote) -> None:
        self._sources = sources
        self._zones = zones
        self._reject = reject
        self._rejected: set[int] = set()

    def __call__(self) -> Iterator[KnownUrl]:
        place = 0
        for source in self._sources:
            for raw in parquet_file(source).rows() if source.kind == "parquet" else raw_rows(source):
                place += 1
                where = f"row {raw.number}" if len(self._sources) == 1 else f"{source.name} row {raw.number}"
                try:
                    self._zones(source.name, raw)
                    yield KnownUrl(place, where, signals_of_row(raw))
                except InputError as error:
                    if self._reject is None:
                        raise
                    if place not in self._rejected:
                        self._rejected.add(place)
                        self._reject(source.name, raw, error)


def misspelt_columns(sources: Sequence[Source], fields: Sequence[str]) -> Iterator[str]:
    """Name columns that are probably misspelt, of all that are read."""
    for source in sources:
        yield from _misspelt(source, _columns(source), fields)


def _columns(source: Source) -> list[str]:
    """List the columns of a file, or the fields of its first row, by the names of signals."""
    if source.kind == "parquet":
        return list(map(field_name, parquet_file(source).schema))
    first = next(raw_rows(source), None)
    return list(map(field_name, first.values)) if first and isinstance(first.values, dict) else []


def _scored_fields(profile: Profile) -> set[str]:
    """List the fields that the rules of a profile read."""
    read = {fact for name in profile.chains["plan"] for fact in fields_read(profile.cards[name].card)}
    return {name for name in NAMES if _FACTS.get(name, name) in read}


def _warnings(
    sources: Sequence[Source], columns: Sequence[Sequence[str]], scored: Collection[str]
) -> Iterator[str]:
    """Name columns that are probably misspelt or that no score reads, and tables whose scores are all equal."""
    for source, names in zip(sources, columns, strict=True):
        yield from _misspelt(source, names, NAMES)
    named = [set(names) for names in columns if "url" in names]
    name, known = sources[0].name, {one for names in named for one in names if one in NAMES}
    others = ", ".join([one for one in NAMES[1:] if one in known])
    if named and not known & set(scored) - {"url"}:
        why = (
            f"the policy heuristic does not read {others}"
            if others
            else "it has no column but url that is known"
        )
        yield f"{name}: all scores are equal, because {why}; --column FIELD=NAME names others"
    elif "importance" in known and "importance" not in scored:
        yield f"{name}: the policy heuristic does not read importance; --policy learned does"


def _misspelt(source: Source, names: Sequence[str], fields: Sequence[str]) -> Iterator[str]:
    """Name columns whose names are nearly those of fields that are missing."""
    unread = [name for name in names if name not in fields]
    if not unread:
        return
    from difflib import get_close_matches  # only where a column is not read

    missing = [name for name in fields if name not in names]
    for name in unread[:_COMPARED_COLUMNS]:
        if near := get_close_matches(name.lower(), missing, 1, _SIMILAR):
            yield f"{source.name}: column {shown(name)} is not used; did you mean {near[0]}?"
