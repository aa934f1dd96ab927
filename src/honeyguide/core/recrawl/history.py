"""What is remembered of a URL across runs: visits, changes, how often it changes, where it stands in its site.

Owns: `Visit` (one fetch), `HistoryEntry` (all of them), `Site` (what is common to its pages) and `Trust`. Must not know: how any
of it is kept, how visits change it (visits.py), what plan makes of it (signals.py). Start reading at `HistoryEntry`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.recrawl.ages import SiteAges
from honeyguide.core.recrawl.clocks import SiteClock
from honeyguide.core.recrawl.rate import Rate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from honeyguide.core.recrawl.priors import PageClass


# What a visit says of change, where there was a page to compare with.
NOT_MODIFIED = "not-modified"  # the server says so: 304
SAME_BYTES = "same-bytes"
SAME_CONTENT = "same-content"  # only menus, dates or counters differ
CHANGED = "changed"
UNCHANGED = (NOT_MODIFIED, SAME_BYTES, SAME_CONTENT)


GONE = frozenset({404, 410})  # there is no such page, the server says
_PROVED_HITS = 5  # so many changes must have been announced rightly,
_HITS_PER_ALARM = 4  # and so many for each false alarm


@dataclass(frozen=True, slots=True)
class Visit:
    """One fetch of a URL. `content` is the digest of its main content, `body` that of its bytes.

    Both are None where no page came. A page whose bytes are those of before need not be read again: then `content` is
    None, and what was read before stays true. `arrived` is where redirects led, as it was requested there. Where that is
    another page, its visit is recorded by itself; this one `is_led_on`, and for good if it `is_moved`, too: then the
    other one says where it was `moved_from`. `newborn` are the identities of links that are new on a hub which was read
    before: pages that were seen to be new.
    """

    url: str
    digest: int
    at: float
    status: int | None
    content: str | None = None
    relevance: float | None = None
    depth: int = 0
    hub_depth: int = 0
    kind: PageClass = "page"
    links: int = 0
    new_links: int = 0
    etag: str | None = None
    last_modified: str | None = None
    elapsed_s: float = 0.0
    body: int | None = None
    link_share: float | None = None
    arrived: str | None = None
    is_moved: bool = False
    is_led_on: bool = False
    moved_from: int | None = None
    newborn: tuple[int, ...] = ()


class HistoryEntry(NamedTuple):
    """A URL as history remembers it.

    `changed_at` is when its content became what it is: exactly, where the site tells and is known to be honest; else
    when a visit first saw it; None if it never changed. `seen_at` is the last visit that had the page, or heard that it
    is the same. `failures` counts visits in a row that led to no page at all. `links` (into the site, from the main part), `new_links`
    and `link_share` are of the last visit that read the page, in the run `run`.

    `rate_a` and `rate_b` are what is believed of its change rate (core/recrawl/rate.py), None before two visits could be
    compared; `changes`, `unchanged` and `exposure_h`, by its clock, are what that belief rests on. `found_a` and
    `found_b` say the same of the new links that visits find, the first one aside; `hours` of a hub are its changes by
    hour of the day. `lastmod` is what a sitemap says, as written; `born_at` is when a visit to a hub met it as a new link.
    """

    url: str
    digest: int
    visits: int
    visited_at: float
    changed_at: float | None
    changes: int
    failures: int
    status: int | None
    content: str | None
    relevance: float | None
    depth: int
    hub_depth: int
    is_hub: bool
    links: int
    new_links: int
    etag: str | None
    last_modified: str | None
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
    lastmod: str | None = None
    born_at: float | None = None

    @property
    def site(self) -> str:
        """Host and port."""
        return site_of(self.url)

    @property
    def is_gone(self) -> bool:
        """Whether the last visit was told that there is no such page."""
        return self.status in GONE

    @property
    def rate(self) -> Rate | None:
        """What is believed of its change rate."""
        return None if self.rate_a is None or self.rate_b is None else Rate(self.rate_a, self.rate_b)

    @property
    def found(self) -> Rate | None:
        """What is believed of the new links that it leads to, per hour."""
        return None if self.found_a is None or self.found_b is None else Rate(self.found_a, self.found_b)


class Trust(NamedTuple):
    """What became of a site's word about changes: said and true, said and not, not said though it was so, rightly silent."""

    hits: int = 0
    alarms: int = 0
    misses: int = 0
    silences: int = 0

    @property
    def is_proved(self) -> bool:
        """Whether "it has changed" can be taken for it.

        >>> Trust(hits=5, alarms=1).is_proved, Trust(hits=4).is_proved, Trust(hits=9, alarms=3).is_proved
        (True, False, False)
        """
        return self.hits >= _PROVED_HITS and self.hits >= _HITS_PER_ALARM * self.alarms

    def judged(self, *, said: bool, is_changed: bool) -> Trust:
        """Take one more case into account."""
        return Trust(
            self.hits + (said and is_changed),
            self.alarms + (said and not is_changed),
            self.misses + (not said and is_changed),
            self.silences + (not said and not is_changed),
        )


@dataclass(frozen=True, slots=True)
class Site:
    """What history holds of a site as a whole: whom to trust there, the usual change rate by kind of page, its clock.

    `ages` are what the ages of its pages count, by kind, where anything was learnt of them, here or elsewhere.
    """

    trust: Mapping[str, Trust] = field(default_factory=lambda: MappingProxyType({}))
    priors: Mapping[PageClass, Rate] = field(default_factory=lambda: MappingProxyType({}))
    clock: SiteClock = field(default_factory=SiteClock)
    ages: Mapping[PageClass, SiteAges] = field(default_factory=lambda: MappingProxyType({}))

    def is_trusted(self, source: str) -> bool:
        """Whether a source of this site has proved honest."""
        return self.trust.get(source, Trust()).is_proved

    def aged(self, kind: PageClass) -> SiteAges:
        """Give what ages count for pages of a kind; before anything was learnt, what is believed of the kind."""
        return self.ages.get(kind) or _first_ages(kind)


_first_ages = cache(SiteAges.of)
UNKNOWN_SITE = Site()


def body_digest(body: bytes) -> int:
    """Give a digest of the bytes of a page, as a signed 64-bit number.

    >>> body_digest(b"a") == body_digest(b"a") != body_digest(b"b")
    True
    """
    # Not blake2b as elsewhere: processors have instructions for this one, and bodies are long.
    return int.from_bytes(sha256(body).digest()[:8], "big", signed=True)


def site_of(url: str) -> str:
    """Give host and port of a normalised URL.

    >>> site_of("https://user@a.example:8080/b")
    'a.example:8080'
    """
    return url.split("/", 3)[2].rpartition("@")[2]
