"""What is remembered of a URL across runs: visits, changes, how often it changes, its place in the site.

Owns: `Visit` (one fetch), `HistoryEntry` (all of them), `Site` (what its pages have in common) and `Trust`. Must not know:
how it is stored, how visits change it (visits.py), how plans use it (signals.py). Start reading at `HistoryEntry`.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.core.recrawl.clocks import SiteAges, SiteClock
from honeyguide.core.recrawl.rate import Rate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from honeyguide.core.recrawl.priors import PageClass

# The result of comparing a page with the stored copy.
NOT_MODIFIED = "not-modified"  # status 304
SAME_BYTES = "same-bytes"
SAME_CONTENT = "same-content"  # only menus, dates or counters differ
CHANGED = "changed"
UNCHANGED = (NOT_MODIFIED, SAME_BYTES, SAME_CONTENT)

GONE = frozenset({404, 410})  # the server says that there is no such page
_PROVED_HITS = 5  # so many true claims make a source trusted,
_HITS_PER_ALARM = 4  # and so many for each false one


@dataclass(frozen=True, slots=True)
class Visit:
    """One fetch of a URL. `content` is the digest of its main content, `body` that of its bytes.

    Both are None if no page came. A page with the same bytes as before is not read again: then `content` is None, and the
    earlier content stays valid. `arrived` is the URL that redirects led to, as it was requested. If that is another page,
    its visit is recorded separately; this visit `is_redirect_source`, and `is_moved` if the redirect is permanent: then the other
    visit has `moved_from`. `newborn` are the identities of new links on a hub that was read before: pages that were seen
    to be new. If the visit `is_refused`, no request was made, so it is a failure that does not count as a visit.
    """

    url: str
    digest: int
    at: float
    status: int | None
    content: str | None = None
    _: KW_ONLY
    relevance: float | None = None
    depth: int = 0
    hub_depth: int = 0
    kind: PageClass = "page"
    links: int = 0
    new_links: int = 0
    etag: str | None = None
    last_modified: str | None = None
    body: int | None = None
    link_share: float | None = None
    arrived: str | None = None
    is_moved: bool = False
    is_redirect_source: bool = False
    is_refused: bool = False
    moved_from: int | None = None
    newborn: tuple[int, ...] = ()


class SeenContent(NamedTuple):
    """What a visit read: the page, its relevance and kind as they are known now, and the digest of its content then."""

    url: str
    relevance: float | None
    kind: PageClass
    at: float
    content: str


class HistoryEntry(NamedTuple):
    """The history of a URL.

    `changed_at` is the time of the last change: exact if a trusted source claims it, else that of the visit that saw it;
    None if it never changed. `seen_at` is the last visit that brought the page, or a 304. `failures` counts visits in a row
    without a page. `links` (into the site, from the main part), `new_links` and `link_share` are of the last visit that
    read the page, in the run `run`.

    `rate_a` and `rate_b` are what visits saw of the change rate (rate.py): so many changes in so many hours, without a
    prior, so that this can be fitted anew; None before two visits could be compared. `changes`, `unchanged` and
    `exposure_h`, by the page's clock, are the plain counts. `found_a` and `found_b` are the rate of new links, not
    counting the first visit; `hours` of a hub are its changes by hour of the day. `latest_a` and `latest_b` are what the
    visits saw since the `doubt` began that the earlier ones still hold; when it was sure, at `forgot_at`, those were
    forgotten. `lastmod` is the sitemap's, as written; `born_at` is when a visit to a hub met the URL as a new link.
    """

    url: str
    digest: int
    visits: int = 0
    visited_at: float = 0.0
    changed_at: float | None = None
    changes: int = 0
    failures: int = 0
    status: int | None = None
    content: str | None = None
    relevance: float | None = None
    depth: int = 0
    hub_depth: int = 0
    is_hub: bool = False
    links: int = 0
    new_links: int = 0
    etag: str | None = None
    last_modified: str | None = None
    first_seen: float = 0.0
    seen_at: float | None = None
    run: int | None = None
    body: int | None = None
    kind: PageClass = "page"
    link_share: float | None = None
    arrived: str | None = None
    is_moved: bool = False
    unchanged: int = 0
    exposure_h: float = 0.0
    rate_a: float | None = None
    rate_b: float | None = None
    found_a: float | None = None
    found_b: float | None = None
    hours: tuple[float, ...] | None = None
    latest_a: float = 0.0
    latest_b: float = 0.0
    doubt: float = 0.0
    forgot_at: float | None = None
    lastmod: str | None = None
    born_at: float | None = None

    @property
    def site(self) -> str:
        """Host and port."""
        return site_of(self.url)

    @property
    def is_gone(self) -> bool:
        """Whether the server said at the last visit that there is no such page."""
        return self.status in GONE

    @property
    def seen(self) -> Rate | None:
        """What visits saw of the change rate, once two of them could be compared."""
        return None if self.rate_a is None or self.rate_b is None else Rate(self.rate_a, self.rate_b)

    @property
    def latest(self) -> Rate:
        """What the visits saw since a doubt began."""
        return Rate(self.latest_a, self.latest_b)

    @property
    def found(self) -> Rate | None:
        """The rate of new links that the page leads to, per hour."""
        return None if self.found_a is None or self.found_b is None else Rate(self.found_a, self.found_b)


class Trust(NamedTuple):
    """How often a source's claims were right: claimed and changed, claimed only, changed only, neither."""

    hits: int = 0
    alarms: int = 0
    misses: int = 0
    silences: int = 0

    @property
    def is_proved(self) -> bool:
        """Whether its claim that a page has changed can be relied on.

        >>> Trust(hits=5, alarms=1).is_proved, Trust(hits=4).is_proved, Trust(hits=9, alarms=3).is_proved
        (True, False, False)
        """
        return bool(is_proved(self.hits, self.alarms))

    def with_claim(self, *, is_claimed: bool, is_changed: bool) -> Trust:
        """Count one more case."""
        return Trust(
            self.hits + (is_claimed and is_changed),
            self.alarms + (is_claimed and not is_changed),
            self.misses + (not is_claimed and is_changed),
            self.silences + (not is_claimed and not is_changed),
        )


# For numbers and arrays: what the cases of a source say.


def is_proved(hits: Any, alarms: Any) -> Any:
    """Tell whether enough claims were true."""
    return (hits >= _PROVED_HITS) & (hits >= _HITS_PER_ALARM * alarms)


def recall_of(hits: Any, misses: Any) -> Any:
    """Return the share of changes that are announced; without evidence, none."""
    return hits / (hits + misses + 2.0)


def precision_of(hits: Any, alarms: Any) -> Any:
    """Return the share of announcements that are true."""
    return (hits + 1.0) / (hits + alarms + 2.0)


def trust_key(source: str, kind: PageClass) -> str:
    """Name the trust in a source for a kind of page; that for all pages has the name of the source."""
    return f"{source}/{kind}"


@dataclass(frozen=True, slots=True)
class Site:
    """What was learned of a site: which sources to trust, the change rates and ages by kind of page, its clock."""

    trust: Mapping[str, Trust] = field(default_factory=lambda: MappingProxyType({}))
    priors: Mapping[PageClass, Rate] = field(default_factory=lambda: MappingProxyType({}))
    clock: SiteClock = field(default_factory=SiteClock)
    ages: Mapping[PageClass, SiteAges] = field(default_factory=lambda: MappingProxyType({}))

    def trust_in(self, source: str, kind: PageClass) -> Trust:
        """Return what a source is worth for a kind of page; where it said too little of that kind, for all pages."""
        own = self.trust.get(trust_key(source, kind), Trust())
        return own if own.hits + own.alarms >= _PROVED_HITS else self.trust.get(source, Trust())

    def is_trusted(self, source: str, kind: PageClass = "page") -> bool:
        """Tell whether a source of this site has proved honest about a kind of page."""
        return self.trust_in(source, kind).is_proved

    def aged(self, kind: PageClass) -> SiteAges:
        """Return the ages of pages of a kind; before anything was learned, the usual ones of the kind."""
        return self.ages.get(kind) or _first_ages(kind)


_first_ages = cache(SiteAges.of)
UNKNOWN_SITE = Site()


def body_digest(body: bytes) -> int:
    """Return a digest of the bytes of a page, as a signed 64-bit number."""
    # Not blake2b as elsewhere: processors have instructions for this one, and bodies are long.
    return int.from_bytes(sha256(body).digest()[:8], "big", signed=True)


def site_of(url: str) -> str:
    """Return host and port of a normalised URL."""
    return url.split("/", 3)[2].rpartition("@")[2]
