"""What other programs know of URLs, brought into a store: files of known URLs and of visits, and single visits.

Owns: `observe` and `import_known`. Must not know: terminals, how a store keeps things. Start reading at `import_known`.
All URLs belong to one run, so that a plan can schedule them and a watch can fetch them. Visits made elsewhere are no
visits of this store: no budget counts them. What the store knows is never older afterwards, so the same file may be
imported again, and an import that was killed is completed by the same command.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.adapters.clock import SystemClock
from honeyguide.adapters.files.rows import RawRow, no_rows, raw_rows, signals_of_row
from honeyguide.adapters.files.signals import read_flag
from honeyguide.adapters.files.sources import pays_by_columns, sources_of
from honeyguide.app.arguments import check_status, check_tables, fields_of, moment_of, profile_of
from honeyguide.app.known_urls.files import ZoneNote, misspelt_columns
from honeyguide.app.runs import opened_store
from honeyguide.core.crawl.frontier import Discovered, digest_of
from honeyguide.core.crawl.placement import Placement, rank_of
from honeyguide.core.recrawl.clocks import HOUR_S
from honeyguide.core.recrawl.history import HistoryEntry, Visit, site_of
from honeyguide.core.recrawl.plan import NAMES
from honeyguide.core.recrawl.priors import FIRST_PRIORS
from honeyguide.core.recrawl.rate import Rate
from honeyguide.core.recrawl.signals import class_of
from honeyguide.core.recrawl.visits import next_known
from honeyguide.core.rules.topic import SCALES
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError
from honeyguide.jobs.request import IMPORT, CrawlRequest, spec_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from honeyguide.adapters.files.rows import Rejected
    from honeyguide.adapters.files.sources import OnRows, Source
    from honeyguide.bulk.known_rows import SureRow
    from honeyguide.core.recrawl.plan import UrlSignals
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.url import Tracking
    from honeyguide.ports.store import Store

CHANGED = "changed"  # the column of a file of visits that says whether the page had changed
_UNKEPT = "importance"
_LATE = "late"
_UNUSED = {  # what may be in a row for nothing
    _LATE: "a time in the future, counted as just now",
    CHANGED: "changed without last_visited, so no visit is known: that needs both",
    _UNKEPT: "an importance, which is not imported: a store weighs pages by topic_relevance",
}
FIELDS = (*(name for name in NAMES if name != _UNKEPT), CHANGED)
_SEEN = "observed-0"  # a content that was read elsewhere: no digest of ours can be compared with it
_BATCH = 20_000  # rows that are committed together: a store of millions writes most of its pages for a few thousand
_OK = 200
_UNMODIFIED = 304
_ERRORS_FROM = 400


@dataclass(slots=True)
class Imported:
    """How many rows there were, and how many URLs are new; `learned` rows brought a visit, that of `ignored` rows was not later than a known one."""

    rows: int = 0
    new: int = 0
    learned: int = 0
    ignored: int = 0


class Known(NamedTuple):
    """What a row says: the signals of a URL, or one visit if `changed` is known."""

    signals: UrlSignals
    changed: bool | None
    url: Url
    digest: int

    @property
    def hub_depth(self) -> int:
        """How far it is from a hub; 0 if that is not known."""
        return self.signals.hub_depth or 0

    @property
    def score(self) -> float | None:
        """What stands for the score of a link that was never visited: a plan takes the relevance from it."""
        relevance = self.signals.topic_relevance
        is_visited = self.signals.last_visited is not None
        return None if is_visited or relevance is None else relevance * SCALES["link"]

    @property
    def unused(self) -> Iterator[str]:
        """Name what the row says for nothing."""
        if self.changed is not None and self.signals.last_visited is None:
            yield CHANGED
        if self.signals.importance is not None:
            yield _UNKEPT


def observe(  # noqa: PLR0913 - settings of a library call, all by keyword
    store: Store | str | Path,
    url: str,
    at: datetime | None = None,
    *,
    changed: bool | None = None,
    status: int = _OK,
    relevance: float | None = None,
    profile: Profile | str | Path = "news",
) -> bool:
    """Tell a store of a visit that another program made at `at`, so that plans learn how often a page changes.

    `changed`: whether the page differed from the visit before; None if not known. A `status` from 400 on is a
    visit without a page. `relevance` is 0 to 1. False: a later visit is known, so nothing changed. The future counts as now.
    """
    parsed = Url.parse(url)
    if relevance is not None and not 0.0 <= relevance <= 1.0:
        raise InputError(f"should lie between 0 and 1, not {relevance:g}", field="relevance")
    check_status(status)
    when, chosen = moment_of(at, "at"), profile_of(profile)  # a mistake leaves no new store behind
    with opened_store(store) as opened:
        seen = _Import(opened, chosen)
        kind = class_of(parsed.text, is_hub=False)
        when, digest = seen.past(when), seen.digest(parsed)
        visit = Visit(parsed.text, digest, when.timestamp(), status, relevance=relevance, kind=kind)
        with opened.transaction():
            seen.queue([(parsed, digest, 0, None)])
            entry = seen.after(visit, opened.history.get(digest), changed=changed)
            opened.history.adopt([] if entry is None else [entry])
        opened.flush()
    return entry is not None


def import_known(  # noqa: PLR0913 - settings of a library call, all by keyword
    paths: str | Path | Sequence[str | Path],
    store: Store | str | Path,
    *,
    profile: Profile | str | Path = "news",
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    reject: Rejected | None = None,
    on_rows: OnRows | None = None,
    on_note: Callable[[str], None] | None = None,
) -> Imported:
    """Bring known URLs of files into a store: each row says what is known of a URL, or with `changed` one visit to it.

    The columns are those of `plan_file` without `importance`. Without `last_visited`, which a visit needs, the store keeps the
    relevance and the hub depth.
    """
    chosen, found = profile_of(profile), Imported()
    check_tables(paths, kind)
    sources = sources_of(paths, kind, fields_of(columns, FIELDS), on_rows)
    if reject is not None:
        reject.expect([source.name for source in sources])
    if on_note is not None:
        for note in misspelt_columns(sources, FIELDS):
            on_note(note)
    zones = ZoneNote(on_note)
    zones.tell_columns(sources)
    rows, unused = _known(sources, reject, zones, chosen.scope.tracking), Counter[str]()
    batch = list(islice(rows, _BATCH))  # before the store: an import of nothing leaves nothing behind
    if not batch:
        raise no_rows([source.name for source in sources], reject)
    with opened_store(store) as opened:
        taken = _Import(opened, chosen)
        while batch:
            with opened.transaction():
                found.rows += len(batch)
                found.new += taken.queue((one.url, one.digest, one.hub_depth, one.score) for one in batch)
                learned = taken.take(batch)
                found.learned += learned
                found.ignored += sum(one.signals.last_visited is not None for one in batch) - learned
                unused.update(name for one in batch for name in (*one.unused, *taken.late(one.signals)))
            opened.flush()
            batch = list(islice(rows, _BATCH))
    if on_note is not None:
        for name, count in unused.items():
            on_note(f"{count:,} {'row has' if count == 1 else 'rows have'} {_UNUSED[name]}")
    return found


def _known(
    sources: Sequence[Source], reject: Rejected | None, zones: ZoneNote, tracking: Tracking
) -> Iterator[Known]:
    for source in sources:
        for row in _rows(source):
            if isinstance(row, RawRow):
                try:
                    zones(source.name, row)
                    signals, changed = signals_of_row(row), _changed(row)
                except InputError as error:
                    if reject is None:
                        raise
                    reject(source.name, row, error)
                    continue
            else:
                signals, changed = row
            url = Url.parse(signals.url)
            yield Known(signals, changed, url, digest_of(url, tracking))


def _rows(source: Source) -> Iterable[RawRow | SureRow]:
    if not pays_by_columns([source]):
        return raw_rows(source)
    from honeyguide.bulk.known_rows import known_rows  # an extra

    return known_rows(source, CHANGED)


def _changed(raw: RawRow) -> bool | None:
    value = raw.known_values().get(CHANGED)
    try:
        return read_flag(value)
    except ValueError as error:
        raise raw.error(CHANGED, str(error)) from None


class _Import:
    """The run that imported URLs belong to, and how they get into it."""

    def __init__(self, store: Store, profile: Profile) -> None:
        self._store = store
        self._scope = profile.scope
        request = CrawlRequest((), traversal="bfs", command=IMPORT, profile=profile.name)
        now = SystemClock().now()
        run = store.runs.begin(spec_of(request, profile), now)
        store.runs.end(run, "complete", now)  # nobody works on it
        self._now = datetime.fromtimestamp(now, UTC)
        self._run, self._queue = run.id, store.queue(run)
        self._sites = set(self._queue.sites())
        self._rank = rank_of(Placement("broad", 0.0, ()), 0, "breadth")

    def past(self, at: datetime) -> datetime:
        """Take the future as now: a visit there would make all later ones count for nothing."""
        return min(at, self._now)

    def late(self, signals: UrlSignals) -> Iterator[str]:
        """Tell of a visit in the future."""
        if signals.last_visited is not None and signals.last_visited > self._now:
            yield _LATE

    def digest(self, url: Url) -> int:
        """Give the identity of a URL."""
        return digest_of(url, self._scope.tracking)

    def queue(self, urls: Iterable[tuple[Url, int, int, float | None]]) -> int:
        """Queue URLs, each with its identity, hub depth and score; the first of a site is a seed. Returns how many are new."""
        found: dict[int, Discovered] = {}
        for url, digest, hub_depth, score in urls:
            site = self._scope.area(url.site)
            is_first = site not in self._sites
            if is_first:
                self._sites.add(site)
                self._queue.add_site(site)
            place = (self._rank, "broad", 0.0, score, 0)
            queued = Discovered(url, digest, url.site, *place, hub_depth=hub_depth, is_seed=is_first)
            found.setdefault(digest, queued)
        return self._queue.add(list(found.values()))

    def take(self, rows: Sequence[Known]) -> int:
        """Learn from rows; returns for how many something was new."""
        learned, history = 0, self._store.history
        known, entries = history.known_among([row.digest for row in rows]), dict[int, HistoryEntry]()
        for row in rows:
            entry = self._entry(row, entries.get(row.digest) or known.get(row.digest))
            if entry is not None:
                learned += 1
                entries[row.digest] = entry
        # A table in the order of identities is written faster in that order.
        history.adopt(entries[digest] for digest in sorted(entries))
        return learned

    def after(self, visit: Visit, old: HistoryEntry | None, *, changed: bool | None) -> HistoryEntry | None:
        """Give what is known of a URL after a visit that another program made; None if a later one is known.

        Instead of contents, such a visit says whether they differ.
        """
        if old is not None and visit.at <= old.visited_at:
            return None
        site = self._store.history.site(site_of(visit.url))
        if visit.status is None or visit.status >= _ERRORS_FROM:
            return next_known(old, visit, site, self._run)
        if changed is False and old is not None and old.seen_at is not None:
            return next_known(old, replace(visit, status=_UNMODIFIED), site, self._run)
        # A digest that can be compared with the old one and differs, or one that cannot be compared.
        before = old.content if old is not None and old.content is not None else _SEEN
        content = f"{before}+" if changed else f"unknown {visit.at}-0"
        known = next_known(old, replace(visit, content=content), site, self._run)
        return known._replace(content=_SEEN, status=visit.status)

    def _entry(self, row: Known, old: HistoryEntry | None) -> HistoryEntry | None:
        signals = row.signals
        if signals.last_visited is None:
            return None
        visited = self.past(signals.last_visited)
        if visited is not signals.last_visited:
            if old is not None:  # or each import of the same file would bring another visit
                return None
            signals = replace(signals, last_visited=visited)
        at, url, digest = visited.timestamp(), row.url.text, row.digest
        if old is None and row.changed is None:
            return entry_of(signals, url, digest, self._run)
        changed = row.changed
        if changed is None and old is not None and signals.last_changed is not None:
            changed = signals.last_changed.timestamp() > old.visited_at
        is_hub, kind = bool(signals.is_hub), signals.page_class
        visit = Visit(
            url, digest, at, _OK, relevance=signals.topic_relevance, hub_depth=row.hub_depth,
            kind=kind or class_of(url, is_hub=is_hub),
        )  # fmt: skip
        return self.after(visit, old, changed=changed)


def entry_of(signals: UrlSignals, url: str, digest: int, run: int) -> HistoryEntry | None:
    """Turn what is known of a URL into its history: without a rate of its own, the last change and the quiet since then."""
    if signals.last_visited is None:
        return None
    visited_at = signals.last_visited.timestamp()
    kind = signals.page_class or class_of(url, is_hub=bool(signals.is_hub))
    changed_at = None if signals.last_changed is None else min(signals.last_changed.timestamp(), visited_at)
    seen = None  # what visits saw, without a prior: of a belief, what it has more than the prior
    if signals.rate_a is not None and signals.rate_b is not None:
        seen, first = Rate(signals.rate_a, signals.rate_b), FIRST_PRIORS.classes[kind]
        if seen.a >= first.a and seen.b > first.b:  # a faster page did not begin with this prior
            seen = Rate(seen.a - first.a, seen.b - first.b)
    elif changed_at is not None:
        seen = Rate(1.0, (visited_at - changed_at) / HOUR_S)
    return HistoryEntry(
        url, digest, visits=max(1, signals.visits or 0), visited_at=visited_at, changed_at=changed_at,
        changes=int(changed_at is not None), status=_OK, content=_SEEN, relevance=signals.topic_relevance,
        hub_depth=0 if kind == "hub" else signals.hub_depth or 0, is_hub=kind == "hub",
        first_seen=visited_at if changed_at is None else changed_at, seen_at=visited_at, run=run, kind=kind,
        rate_a=None if seen is None else seen.a, rate_b=None if seen is None else seen.b,
    )  # fmt: skip
