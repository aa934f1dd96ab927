"""The URLs of a store as a ranker.

Owns: how a store is ranked, and what its rows say. Must not know: files, plans, arguments, terminals.
Start reading at `StoreTable`. numpy is imported only where a store has many rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from importlib.util import find_spec
from math import inf
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.policies import load_policy
from honeyguide.core.crawl.frontier import digest_of
from honeyguide.core.recrawl.history import UNKNOWN_SITE, site_of
from honeyguide.core.recrawl.plan import KnownUrl, UrlSignals
from honeyguide.core.recrawl.policies import HEURISTIC, LEARNED, Learned
from honeyguide.core.recrawl.priors import CLASSES, Priors, refit_priors
from honeyguide.core.recrawl.ranking import RowTable, Survey
from honeyguide.core.recrawl.signals import SITEMAP, PageState, born_at, class_of, lastmod_span, state_of
from honeyguide.core.rules.topic import SCALES
from honeyguide.core.url.url import Url
from honeyguide.errors import StoreError, UrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from honeyguide.adapters.files.sources import OnRows
    from honeyguide.bulk.store.columns import Ints
    from honeyguide.bulk.store.table import StoredTable
    from honeyguide.core.crawl.frontier import QueuedUrl
    from honeyguide.core.recrawl.history import HistoryEntry, Site
    from honeyguide.core.recrawl.plan import PlanQuery
    from honeyguide.core.recrawl.priors import PageClass
    from honeyguide.core.recrawl.rate import Rate
    from honeyguide.core.rules.profile import Profile
    from honeyguide.ports.store import Store

    Columns = Sequence[Sequence[Any]]  # the columns of some rows

ARRAYS_FROM = 20_000  # rows of a store that are ranked as arrays
_RATES = 10_000  # pages that priors are fitted to; identities are at random, so the first are as good as any


@dataclass(frozen=True, slots=True)
class Excluded:
    """URLs that a plan leaves out: by identity, by text, those visited after a moment, and links that were never visited."""

    digests: Collection[int] = ()
    urls: Collection[str] = ()
    visited_since: float = inf
    of_class: Mapping[PageClass, float] = field(default_factory=dict)  # instead of `visited_since`
    unvisited: bool = False

    def leaves_out(self, digest: int, url: str, visit: tuple[float, PageClass] | None = None) -> bool:
        """Tell whether a URL is named, or it is too early for another visit to such a page."""
        is_early = visit is not None and visit[0] > self.of_class.get(visit[1], self.visited_since)
        return is_early or self.names(digest, url)

    def names(self, digest: int, url: str) -> bool:
        """Tell whether a URL is named."""
        return digest in self.digests or url in self.urls


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

    @property
    def is_visited(self) -> bool:
        """Whether links that were never visited are left out."""
        return self._excluded.unvisited

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
        for queued in () if self._excluded.unvisited else self.store.history.unvisited():
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
        if not isinstance(policy, Learned):
            return super()._best(query, survey, wants)
        table = self._arrays if query.per_host is None else self._arrays_by_host
        if table is None:
            return super()._best(query, survey, wants)
        row = partial(self._row, table.columns.digest)
        survey.values, survey.numbers = table.survey(survey.now, policy, row, survey)
        best = table.best(query, wants if query.levels or query.max_score is not None else None)
        if query.top is None and query.per_host is None and len(best) > query.limit:
            raise query.too_many(self._name)
        return [(value, number, row(number)) for value, number in best]

    @cached_property
    def _arrays(self) -> StoredTable | None:
        """All rows as arrays, if there are so many that it pays."""
        return self._read_arrays({*self._sites, *(host for host, _ in self._priors.hosts)})

    @cached_property
    def _arrays_by_host(self) -> StoredTable | None:
        """The same, with the host of each row, which takes longer: otherwise only hosts of which something is known have numbers."""
        return self._read_arrays(None)

    def _read_arrays(self, hosts: Collection[str] | None) -> StoredTable | None:
        """Read the arrays; a store that cannot be read so is read by rows."""
        if find_spec("numpy") is None:
            return None
        try:
            table = self._arrays_of(hosts)
        except (KeyError, ValueError, TypeError, IndexError):
            return None
        return table if len(table.columns.digest) >= ARRAYS_FROM else None

    def _arrays_of(self, hosts: Collection[str] | None) -> StoredTable:
        from honeyguide.bulk.store.columns import UNUSUAL, USUAL, Excluding, Hosts, StoredColumns
        from honeyguide.bulk.store.table import StoredTable

        history, excluded = self.store.history, self._excluded
        names = excluded.names if excluded.digests or excluded.urls else None
        since = {kind: excluded.of_class.get(kind, excluded.visited_since) for kind in CLASSES}
        left_out = Excluding(names, since)
        unusual = history.known_columns(UNUSUAL, only_unusual=True)
        reported = self._reporter()
        usual = reported(history.known_columns(USUAL))
        unvisited = reported(() if excluded.unvisited else history.unvisited_columns())
        return StoredTable(StoredColumns.of(usual, unusual, unvisited, left_out, Hosts(hosts)))

    def _reporter(self) -> Callable[[Iterable[Columns]], Iterator[Columns]]:
        """Return a function that passes columns on, and reports how many rows all of them had."""
        rows = 0

        def reported(blocks: Iterable[Columns]) -> Iterator[Columns]:
            nonlocal rows
            for columns in blocks:
                yield columns
                rows += len(columns[0])
                if self.on_rows is not None:
                    self.on_rows(self._name, rows)

        return reported

    def _row(self, digests: Ints, number: int) -> KnownUrl:
        """Make one row, by its number from 1."""
        digest = int(digests[number - 1])
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
