"""Known URLs as rankers: the rows of files, and the URLs of a store.

Owns: which ranker serves which files, and how a store is ranked. Must not know: plans, arguments, terminals.
Start reading at `open_known` and `StoreTable`. polars and sqlite3 are imported only where files or stores need them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib.util import find_spec
from itertools import chain, compress, islice
from math import inf
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.files.read import Source, pays_by_columns, sources_of
from honeyguide.adapters.files.rows import raw_rows, signals_of_row
from honeyguide.adapters.files.signals import field_name, zoneless_fields
from honeyguide.adapters.policies import FormulaPolicy, IntervalPolicy, load_policy
from honeyguide.app.arguments import fields_of
from honeyguide.core.crawl.frontier import digest_of
from honeyguide.core.recrawl.history import UNKNOWN_SITE, site_of
from honeyguide.core.recrawl.plan import NAMES, KnownUrl, UrlSignals
from honeyguide.core.recrawl.policies import HEURISTIC, LEARNED, Learned
from honeyguide.core.recrawl.priors import Priors, refit_priors
from honeyguide.core.recrawl.ranking import RowTable, Survey
from honeyguide.core.recrawl.signals import SITEMAP, PageState, born_at, class_of, lastmod_span, state_of
from honeyguide.core.rules.topic import SCALES
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, StoreError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence

    from honeyguide.adapters.files.read import OnRows
    from honeyguide.adapters.files.rows import RawRow, Rejected
    from honeyguide.bulk.batches import ParquetFile
    from honeyguide.bulk.file_table import ColumnTable
    from honeyguide.bulk.store_values import StoredTable
    from honeyguide.core.crawl.frontier import QueuedUrl
    from honeyguide.core.recrawl.history import HistoryEntry, Site
    from honeyguide.core.recrawl.plan import PlanQuery
    from honeyguide.core.recrawl.policies import RecrawlPolicy
    from honeyguide.core.recrawl.priors import PageClass
    from honeyguide.core.recrawl.rate import Rate
    from honeyguide.core.rules.profile import Profile
    from honeyguide.ports.store import Ranker, Store

_COMPARED_COLUMNS = 100  # columns that may be misspelt
_SIMILAR = 0.8  # how like a signal's name a misspelt column is
ARRAYS_FROM = 20_000  # rows of a store that are ranked as arrays
_BLOCK_ROWS = 20_000  # rows that become columns at once
_RATES = 10_000  # pages that priors are fitted to; identities are at random, so the first are as good as any


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
    zones = ZoneNote(on_note)
    if on_note is not None:
        for note in _warnings(sources, columns):
            on_note(note)
        zones.tell_columns(sources)
    chosen = policy or (LEARNED if any("rate_a" in names for names in columns) else HEURISTIC)
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
    paths: str | Sequence[str],
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    on_rows: OnRows | None = None,
) -> list[Source]:
    """Resolve paths, folders and patterns to tables of known URLs; `columns` has the names of columns, by field."""
    return sources_of([paths] if isinstance(paths, str) else paths, kind, fields_of(columns, NAMES), on_rows)


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


def _columns(source: Source) -> list[str]:
    """List the columns of a file, or the fields of its first row, by the names of signals."""
    if source.kind == "parquet":
        return list(map(field_name, parquet_file(source).schema))
    first = next(raw_rows(source), None)
    return list(map(field_name, first.values)) if first and isinstance(first.values, dict) else []


def _warnings(sources: Sequence[Source], columns: Sequence[Sequence[str]]) -> Iterator[str]:
    """Name columns that are probably misspelt, and tables of which nothing but the URL is known."""
    for source, names in zip(sources, columns, strict=True):
        for column, meant in _misspelt(names):
            yield f"{source.name}: column {shown(column)} is not used; did you mean {meant}?"
    named = [set(names) for names in columns if "url" in names]
    if named and not any(names & set(NAMES[1:]) for names in named):
        name = sources[0].name
        yield f"{name} has no column but url that is known, so all scores are equal: --column FIELD=NAME names others"


def _misspelt(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Find columns whose names are nearly those of signals that are missing."""
    unread = [name for name in names if name not in NAMES]
    if not unread:
        return
    from difflib import get_close_matches  # only where a column is not read

    missing = [name for name in NAMES if name not in names]
    for name in unread[:_COMPARED_COLUMNS]:
        if near := get_close_matches(name.lower(), missing, 1, _SIMILAR):
            yield name, near[0]


@dataclass(frozen=True, slots=True)
class Excluded:
    """URLs that a plan leaves out: by identity, by text, and those visited after a moment."""

    digests: Container[int] = ()
    urls: Container[str] = ()
    visited_since: float = inf
    of_class: Mapping[PageClass, float] = field(default_factory=dict)  # instead of `visited_since`

    def leaves_out(self, digest: int, url: str, visit: tuple[float, PageClass] | None = None) -> bool:
        """Tell whether a URL is named, or it is too early for another visit to such a page."""
        is_early = visit is not None and visit[0] > self.of_class.get(visit[1], self.visited_since)
        return is_early or digest in self.digests or url in self.urls


NOTHING_EXCLUDED = Excluded()


class StoreTable(RowTable):
    """The URLs of a store, visited or queued, always in the same order; one that has moved is at its new place."""

    def __init__(
        self,
        store: Store,
        profile: Profile,
        policy: str = LEARNED,
        name: str = "",
        excluded: Excluded = NOTHING_EXCLUDED,
    ) -> None:
        self.store = store
        self.on_rows: OnRows | None = None  # hears of the rows that are read, if there are many
        self._sites = store.history.sites()
        self._excluded = excluded
        self._tracking = profile.scope.tracking
        learns = policy not in (HEURISTIC, "uniform", "adaptive-interval")
        self._priors = refit_priors(store.history.rates(_RATES), Priors()) if learns else Priors()
        is_learned = policy == LEARNED
        made = Learned(self._priors, self._site) if is_learned else load_policy(policy, profile, self._priors)
        super().__init__(self._stored_rows, made, profile, name)

    def find(self, urls: Collection[str]) -> dict[str, KnownUrl]:
        """Look rows up by their URL, however it is written."""
        texts = {url: text for url in urls if (text := self._stored_url(url)) is not None}
        found = super().find(set(texts.values()))
        return {url: found[text] for url, text in texts.items() if text in found}

    def save_priors(self) -> None:
        """Save the fitted priors, so that a crawl starts new pages where their siblings are."""
        if self.policy != LEARNED:
            return
        by_site: dict[str, dict[PageClass, Rate]] = {}
        for (site, kind), rate in self._priors.hosts.items():
            by_site.setdefault(site, {})[kind] = rate
        with self.store.transaction():
            for site, rates in by_site.items():
                self.store.history.save_priors(site, rates)
        self.store.flush()

    def _site(self, name: str) -> Site:
        return self._sites.get(name) or self._sites[""]

    def _stored_rows(self) -> Iterator[KnownUrl]:
        place = 0
        for known in self.store.history.known():
            visit = known.visited_at, known.kind
            if not (known.is_moved or self._excluded.leaves_out(known.digest, known.url, visit)):
                place += 1
                yield self._known_row(place, known)
        for queued in self.store.history.unvisited():
            if not self._excluded.leaves_out(queued.digest, queued.url):
                place += 1
                yield queued_row(place, queued)

    def _known_row(self, place: int, known: HistoryEntry) -> KnownUrl:
        return known_row(place, known, self._priors, self._site)

    # --- many rows, as arrays ---

    def _best(
        self, query: PlanQuery, survey: Survey, wants: Callable[[float], bool]
    ) -> list[tuple[float, int, KnownUrl]]:
        policy = self._policy
        table = self._arrays if isinstance(policy, Learned) else None
        if table is None or not isinstance(policy, Learned):
            return super()._best(query, survey, wants)
        survey.values, survey.numbers = table.survey(survey.now, policy, self._row, survey)
        best = table.best(query, wants if query.levels or query.max_score is not None else None)
        if query.top is None and query.per_host is None and len(best) > query.limit:
            raise query.too_many(self._name)
        return [(value, number, self._row(number)) for value, number in best]

    @cached_property
    def _arrays(self) -> StoredTable | None:
        """All rows as arrays, if there are so many that it pays; a store that cannot be read so is read by rows."""
        if find_spec("numpy") is None:
            return None
        from honeyguide.bulk.store_values import FIELDS, StoredTable  # an extra

        history, excluded = self.store.history, self._excluded
        known = (
            _kept_columns(FIELDS, block, excluded) for block in history.known_columns((*FIELDS, "is_moved"))
        )
        queued = (one for one in history.unvisited() if not excluded.leaves_out(one.digest, one.url))
        try:
            table = StoredTable(self._reported(chain(known, _columns_of(map(_queued_fields, queued)))))
            return table if len(table.columns.urls) >= ARRAYS_FROM else None
        except (KeyError, ValueError, TypeError, IndexError):
            return None

    def _reported(self, blocks: Iterable[Sequence[Sequence[Any]]]) -> Iterator[Sequence[Sequence[Any]]]:
        rows = 0
        for columns in blocks:
            yield columns
            rows += len(columns[0])
            if self.on_rows is not None:
                self.on_rows(self._name, rows)

    def _row(self, number: int) -> KnownUrl:
        """Make one row, by its number from 1."""
        digest = 0 if self._arrays is None else int(self._arrays.columns.digest[number - 1])
        if (known := self.store.history.get(digest)) is not None:
            return self._known_row(number, known)
        if (queued := self.store.history.find_unvisited(digest)) is not None:
            return queued_row(number, queued)
        raise StoreError(self._name, "was changed while it was ranked; run the command again")

    def _stored_url(self, url: str) -> str | None:
        """Write a URL as the store does; None if the store does not have it."""
        try:
            parsed = Url.parse(url if "://" in url else f"https://{url}")
            digest = digest_of(parsed, self._tracking)
        except UrlError:
            return None
        known = self.store.history.get(digest)
        if known is not None and known.is_moved and known.arrived is not None:
            return Url.parse(known.arrived).text
        if known is not None:
            return known.url
        queued = self.store.history.find_unvisited(digest)
        return None if queued is None else queued.url


def _kept_columns(
    names: Sequence[str], columns: Sequence[Sequence[Any]], excluded: Excluded
) -> Sequence[Sequence[Any]]:
    """Leave out rows that have moved, which is the last column, or are excluded."""
    *fields, moved = columns
    if excluded == NOTHING_EXCLUDED and not any(moved):
        return fields
    digests, urls, visited, kinds = (
        fields[names.index(name)] for name in ("digest", "url", "visited_at", "kind")
    )
    kept = [
        not (is_moved or excluded.leaves_out(digest, url, visit))
        for is_moved, digest, url, visit in zip(
            moved, digests, urls, zip(visited, kinds, strict=True), strict=True
        )
    ]
    return [list(compress(column, kept)) for column in fields]


def _columns_of(rows: Iterator[Sequence[Any]]) -> Iterator[Sequence[Sequence[Any]]]:
    while some := list(islice(rows, _BLOCK_ROWS)):
        yield list(zip(*some, strict=True))


def _queued_fields(queued: QueuedUrl) -> list[Any]:
    """Write a link that was never visited as a row of fields."""
    relevance = None if queued.score is None else queued.score / SCALES["link"]
    kind = class_of(queued.url, is_hub=False)
    unvisited = [queued.digest, queued.url, None, None, 0, None, relevance, kind, None, None, None, None]
    return [*unvisited, inf, None, queued.born_at, None]


def known_row(place: int, known: HistoryEntry, priors: Priors, site: Callable[[str], Site]) -> KnownUrl:
    """Make a row of a page that was visited."""
    state = state_of(known, priors)
    return KnownUrl(place, known.url, signals_of(known, state.rate, site(known.site)), state)


def queued_row(place: int, queued: QueuedUrl) -> KnownUrl:
    """Make a row of a link that was never visited: its link score stands for the relevance of its page."""
    url = queued.url
    relevance = None if queued.score is None else queued.score / SCALES["link"]
    kind, met_at = class_of(url, is_hub=False), queued.born_at
    state = PageState(
        url=url,
        host=site_of(url),
        page_class=kind,
        relevance=relevance,
        hub_depth=queued.hub_depth,
        # Of links that were there from the start, an old date would mean that a first copy lasts for ever.
        published_at=None if met_at is None else born_at(url, kind, met_at),
    )
    signals = UrlSignals(url, visits=0, topic_relevance=relevance, hub_depth=queued.hub_depth)
    return KnownUrl(place, url, signals, state)


def announced_at(known: HistoryEntry, site: Site = UNKNOWN_SITE) -> float | None:
    """Return the change after our last copy that the sitemap claims, if the site's sitemaps have proved honest."""
    span = lastmod_span(known.lastmod)
    if (
        span is None
        or known.seen_at is None
        or span[0] <= known.seen_at
        or not site.is_trusted(SITEMAP, known.kind)
    ):
        return None
    return span[0]


def signals_of(known: HistoryEntry, rate: Rate | None, site: Site = UNKNOWN_SITE) -> UrlSignals:
    """Turn the history of a URL, and the change rate that is believed, into the signals of a plan (PLAN-1)."""
    # The last change is one that a visit saw, or one that an honest sitemap claims.
    changed_at = announced_at(known, site) or known.changed_at
    return UrlSignals(
        url=known.url,
        visits=known.visits,
        last_visited=datetime.fromtimestamp(known.visited_at, UTC),
        last_changed=None if changed_at is None else datetime.fromtimestamp(changed_at, UTC),
        topic_relevance=known.relevance,
        hub_depth=known.hub_depth,
        is_hub=known.is_hub,
        rate_a=None if rate is None else rate.a,
        rate_b=None if rate is None else rate.b,
        page_class=known.kind,
    )
