"""How much of the web one crawl keeps: so many URLs of a host, so many hosts, so many URLs of some shapes.

Owns: the numbers, and which links of a page go where a limit is reached. Must not know: who counts. The store does,
because several workers share a limit: it adds what a page brings, and what is over is taken back here.

A page may have twenty thousand links, and nothing keeps a site from making up as many for every page. URLs over a limit
are counted and not kept: they cost neither memory nor disk.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.core.crawl.frontier import Discovered
    from honeyguide.core.why import Why


# A store of about two gigabytes; links to all sites outside count as those of one host.
MAX_URLS_PER_HOST = 5_000_000
MAX_HOSTS = 100_000
OUTSIDE = ""  # stands for all hosts that are only counted
FULL, MANY = "host-full", "too-many-hosts"


def urls_by_site(found: Iterable[Discovered]) -> Counter[str]:
    """Count links by the site that they count for."""
    return Counter(one.site or OUTSIDE for one in found)


def without_last(found: Sequence[Discovered], over: Mapping[str, int]) -> list[Discovered]:
    """Leave out, of each site, as many of the last links as are over its limit."""
    left, kept = dict(over), []
    for one in reversed(found):
        site = one.site or OUTSIDE
        if left.get(site, 0) > 0:
            left[site] -= 1
        else:
            kept.append(one)
    return kept[::-1]


def urls_by_shape(found: Iterable[Discovered]) -> Counter[str]:
    """Count links by the shapes with a limit that they count in."""
    return Counter(limit.name for one in found for limit in one.limited)


def reject_over(found: Sequence[Discovered], admitted: Mapping[str, int]) -> list[Discovered]:
    """Reject, of each shape, the last links that are over its limit, if with them `admitted` were let in."""
    over: dict[str, int] = {}
    kept = []
    for one in reversed(found):
        why: Why | None = None
        for limit in one.limited:
            left = over.setdefault(limit.name, max(0, admitted.get(limit.name, 0) - limit.limit))
            if left > 0:
                over[limit.name] -= 1
                why = limit.why
        kept.append(one if why is None else one.rejected(why))
    return kept[::-1]
