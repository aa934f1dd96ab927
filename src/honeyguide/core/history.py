"""What is remembered of a URL across runs: visits, changes, relevance, where it stands in its site.

Owns: `Visit` (one fetch) and `Known` (all of them). Must not know: how they are kept, what plan makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Visit:
    """One fetch of a URL. `content` is the digest of its main content; None where there was none to read."""

    url: str
    digest: int
    at: float
    status: int | None
    content: str | None = None
    relevance: float | None = None
    depth: int = 0
    hub_depth: int = 0
    is_hub: bool = False
    links: int = 0
    new_links: int = 0
    etag: str | None = None
    last_modified: str | None = None
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Known:
    """A URL as history remembers it. `changed_at` is when a visit first saw the content of now; None if it never changed.

    `failures` counts visits in a row without a page. `links` and `new_links` are of the last visit that had one.
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


def next_known(old: Known | None, visit: Visit) -> Known:
    """Take one more visit into account; the clock may have run backwards, so times only ever grow.

    >>> first = next_known(None, Visit("https://a.example/", 1, 100.0, 200, "x"))
    >>> again = next_known(first, Visit("https://a.example/", 1, 200.0, 200, "y"))
    >>> (again.visits, again.changed_at, again.changes)
    (2, 200.0, 1)
    """
    has_page = visit.content is not None
    is_changed = old is not None and has_page and old.content is not None and old.content != visit.content
    at = max(visit.at, old.visited_at) if old else visit.at
    source: Visit | Known = visit if has_page or old is None else old
    return Known(
        visit.url,
        visit.digest,
        (old.visits if old else 0) + 1,
        at,
        at if is_changed else (old.changed_at if old else None),
        (old.changes if old else 0) + is_changed,
        0 if has_page or visit.status == 304 else (old.failures if old else 0) + 1,
        visit.status,
        source.content,
        source.relevance,
        visit.depth,
        visit.hub_depth,
        source.is_hub,
        source.links,
        source.new_links,
        source.etag,
        source.last_modified,
    )
