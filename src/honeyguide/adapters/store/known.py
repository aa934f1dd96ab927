"""Known URLs in a store, opened as a table that can be ranked: what was visited, and what only waits in a queue.

Owns: the reading queries of plans, and what a policy may know of a store. Must not know: how pages are ranked, how a
crawl goes. Start reading at `StoreTable`.

It reads by a connection of its own, a thousand rows at a time, so a crawl may go on meanwhile. Rows are in the order of
identities, and then in the order of discovery: the same store gives the same plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from honeyguide.adapters.plugins import load_policy
from honeyguide.adapters.store.sqlite.database import Database, checked, moment, queries, reads
from honeyguide.adapters.store.sqlite.history import sane
from honeyguide.core.crawl.frontier import digest_of
from honeyguide.core.recrawl.clocks import DayProfile
from honeyguide.core.recrawl.history import site_of
from honeyguide.core.recrawl.plan import UrlSignals
from honeyguide.core.recrawl.policies import Learned
from honeyguide.core.recrawl.priors import Priors, Watched, refit_priors
from honeyguide.core.recrawl.ranking import KnownUrl, PolicyTable
from honeyguide.core.recrawl.rate import Rate
from honeyguide.core.recrawl.signals import SITEMAP, PageState, born_at, class_of, signals_of, state_of
from honeyguide.core.rules.topic import SCALE
from honeyguide.core.url.url import Url
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterator, Sequence
    from datetime import datetime

    from honeyguide.core.recrawl.ages import AgeProfile
    from honeyguide.core.recrawl.clocks import SiteClock
    from honeyguide.core.recrawl.history import HistoryEntry, Site, Trust
    from honeyguide.core.recrawl.policies import RecrawlPolicy
    from honeyguide.core.recrawl.priors import PageClass
    from honeyguide.core.recrawl.ranking import Plan, PlanEntry, PlanQuery
    from honeyguide.core.rules.profile import Profile
    from honeyguide.ports.store import Store


_OUT_OF_ORDER_S = 3600.0  # visits are numbered as they are applied, and that is not quite as they were made
_SITES_KEPT = 4096
_SAMPLE = (
    100_000  # pages that priors are fitted to; identities are at random, so the first are as good as any
)


class QueuedUrl(NamedTuple):
    """A queued URL that was never visited, in its normal form."""

    entry: int
    run: int
    digest: int
    url: str
    score: float | None
    depth: int
    hub_depth: int
    born_at: float | None


class StoreReader:
    """Reads what plans need of a store, besides its history."""

    def __init__(self, path: str) -> None:
        self._db = Database(path, read_only=True)
        self._sql = queries("plan")

    @reads
    def waiting(self) -> Iterator[QueuedUrl]:
        """Give the queued URLs that were never visited, in the order of discovery."""
        last = 0
        while rows := self._db.all(self._sql["waiting"], (last,)):
            yield from map(_waiting, rows)
            last = rows[-1][0]

    @reads
    def waiting_one(self, digest: int) -> QueuedUrl | None:
        """Give one of them."""
        row = self._db.one(self._sql["waiting_one"], (digest,))
        return None if row is None else _waiting(row)

    @reads
    def read(
        self, make: Callable[[int, HistoryEntry], KnownUrl], place: int, known: HistoryEntry
    ) -> KnownUrl:
        """Make a row of what is known; what cannot be one is nothing that we have written."""
        return make(place, known)

    def scheduled(self) -> set[int]:
        """Give the identities of what a plan has scheduled and nobody has fetched yet."""
        return {digest for (digest,) in self._db.walk(self._sql["scheduled"])}

    def due_runs(self, now: float) -> list[int]:
        """Give the runs that have something scheduled for now, the newest first."""
        return [run for (run,) in self._db.all(self._sql["due_runs"], (now,))]

    @reads
    def latest_visits(self, limit: int, since: float) -> list[float]:
        """Give the times of the latest visits, the last one first, as far as any can be `since` then."""
        found: list[float] = []
        for row in self._db.walk(self._sql["latest_visits"], (limit,)):
            (at,) = checked(row, "f")
            if at < since - _OUT_OF_ORDER_S:
                break
            found.append(at)
        return found

    @reads
    def watched(self, limit: int = _SAMPLE) -> Iterator[Watched]:
        """Give what is believed of the change rates of some pages."""
        for row in self._db.walk(self._sql["rates"], (limit,)):
            url, kind, a, b = checked(row, "ssff")
            yield Watched(site_of(url), kind, sane(Rate(a, b)))

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


def _waiting(row: Sequence[Any]) -> QueuedUrl:
    entry, run, digest, url, score, depth, hub_depth, met_at = checked(row, "iiisFiiF")
    return QueuedUrl(entry, run, digest, Url.parse(url).text, score, depth, hub_depth, moment(met_at))


@dataclass(frozen=True, slots=True)
class Without:
    """What is left out of a table: identities, URLs, and what was visited since then."""

    digests: Container[int] = ()
    urls: Container[str] = ()
    visited_since: float = inf


NOTHING = Without()


class StoreTable:
    """The URLs of a store, ranked by a policy; they are found however they are written, as a crawl would.

    What has moved is ranked where it is now.
    """

    def __init__(
        self, source: tuple[Store, StoreReader], judging: Judging, name: str = "", without: Without = NOTHING
    ) -> None:
        self.store, self._reader = source
        self._judging = judging
        self._without = without
        self._table = PolicyTable(self._rows, judging.policy, judging.profile, name)
        self.policy = judging.policy.name

    def plan(self, asked: PlanQuery) -> Plan:
        """Rank the rows."""
        return self._table.plan(asked)

    def find(self, urls: Collection[str]) -> dict[str, KnownUrl]:
        """Look rows up by their URL."""
        texts = {url: text for url in urls if (text := self._text(url)) is not None}
        found = self._table.find(set(texts.values()))
        return {url: found[text] for url, text in texts.items() if text in found}

    def rank_of(self, row: KnownUrl, now: datetime) -> int:
        """Say where a row stands among all."""
        return self._table.rank_of(row, now)

    def judge(self, row: KnownUrl, now: datetime) -> PlanEntry:
        """Say what a row is worth."""
        return self._table.judge(row, now)

    def remember(self) -> None:
        """Let new pages start where their siblings are, from now on, if that is what the policy has learnt."""
        policy = self._judging.policy
        if not isinstance(policy, Learned):
            return
        by_site: dict[str, dict[PageClass, Rate]] = {}
        for (site, kind), rate in policy.priors.hosts.items():
            by_site.setdefault(site, {})[kind] = rate
        with self.store.transaction():
            for site, rates in by_site.items():
                self.store.history.set_priors(site, rates)
        self.store.flush()

    def _rows(self) -> Iterator[KnownUrl]:
        place = 0
        for known in self.store.history.known():
            is_late = known.visited_at > self._without.visited_since
            if not (known.is_moved or is_late or self._is_out(known.digest, known.url)):
                place += 1
                yield self._reader.read(self._judging.row, place, known)
        for one in self._reader.waiting():
            if not self._is_out(one.digest, one.url):
                place += 1
                yield _new(place, one)

    def _is_out(self, digest: int, url: str) -> bool:
        return digest in self._without.digests or url in self._without.urls

    def _text(self, url: str) -> str | None:
        """Write a URL as the store does, if it has it."""
        try:
            parsed = Url.parse(url if "://" in url else f"https://{url}")
            digest = digest_of(parsed, self._judging.profile.scope.tracking)
        except UrlError:
            return None
        known = self.store.history.get(digest)
        if known is not None and known.is_moved and known.arrived is not None:
            return Url.parse(known.arrived).text
        if known is not None:
            return known.url
        waiting = self._reader.waiting_one(digest)
        return None if waiting is None else waiting.url


def _new(place: int, waiting: QueuedUrl) -> KnownUrl:
    """Write a link that waits: how relevant its page is, its own score has to tell."""
    url = waiting.url
    relevance = None if waiting.score is None else waiting.score / SCALE
    kind, met_at = class_of(url, is_hub=False), waiting.born_at
    state = PageState(
        url,
        site_of(url),
        kind,
        relevance=relevance,
        hub_depth=waiting.hub_depth,
        # Of links that were there from the start, an old date would say that a first copy lasts for ever.
        published_at=None if met_at is None else born_at(url, kind, met_at),
    )
    return KnownUrl(place, url, UrlSignals(url, 0, None, None, relevance, waiting.hub_depth), state)


# --- what policies know ---


@dataclass(frozen=True, slots=True)
class Judging:
    """A policy, the profile that names the levels, and what is remembered of sites."""

    policy: RecrawlPolicy
    profile: Profile
    site: Callable[[str], Site]
    days: dict[str, DayProfile] = field(default_factory=dict)

    def row(self, place: int, known: HistoryEntry) -> KnownUrl:
        """Write what is known of a URL as a row; a hub brings the hours of its day along."""
        if known.rate is not None:
            sane(known.rate)
        if known.found is not None:
            sane(known.found, may_be_zero=True)
        if known.hours is not None:
            self.days[known.url] = DayProfile.of_counts(known.hours)
        return KnownUrl(place, known.url, signals_of(known, self.site(known.site)), state_of(known))


def judging(name: str, profile: Profile, store: Store, reader: StoreReader) -> Judging:
    """Make a policy, with what the store has learnt of its sites."""
    site = lru_cache(_SITES_KEPT)(store.history.site)
    if name not in ("learned", "proportional"):
        return Judging(load_policy(name, profile, Priors()), profile, site)
    priors = refit_priors(reader.watched(), Priors())
    if name == "proportional":
        return Judging(load_policy(name, profile, priors), profile, site)
    days: dict[str, DayProfile] = {}
    trusts: _BySite[str, Trust] = _BySite(lambda name: site(name).trust.get(SITEMAP))
    clocks: _BySite[str, SiteClock] = _BySite(lambda name: site(name).clock)
    ages: _BySite[tuple[str, PageClass], AgeProfile] = _BySite(lambda key: site(key[0]).aged(key[1]).own)
    return Judging(Learned(priors, trusts, clocks, days, ages), profile, site, days)


_K = TypeVar("_K")
_V = TypeVar("_V")


class _BySite(Mapping[_K, _V]):
    """What is remembered of sites, looked up when it is asked for: there may be a hundred thousand."""

    def __init__(self, pick: Callable[[_K], _V | None]) -> None:
        self._pick = pick

    def __getitem__(self, key: _K) -> _V:
        found = self._pick(key)
        if found is None:
            raise KeyError(key)
        return found

    def get(self, key: _K, default: Any = None, /) -> Any:
        """Look up without an exception: most sites have said nothing, and every page asks."""
        found = self._pick(key)
        return default if found is None else found

    def __iter__(self) -> Iterator[_K]:
        return iter(())  # nobody asks for all of them

    def __len__(self) -> int:
        return 0
