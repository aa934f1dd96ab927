"""How much of the web one crawl keeps: so many URLs of a host, so many hosts.

Owns: `UrlBudget`, the counts of one crawl, and its two verdicts. Must not know: the queue, the store, why links are placed.

A page may have twenty thousand links, and nothing keeps a site from making up as many for every page. What is over is
counted, and not kept: it costs neither memory nor disk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from honeyguide.core.why import Why

if TYPE_CHECKING:
    from collections.abc import Mapping


MAX_URLS_PER_HOST = (
    5_000_000  # a store of about two gigabytes; links to all sites outside count as those of one host
)
MAX_HOSTS = 100_000
OUTSIDE = ""  # stands for all hosts that are only counted
FULL, MANY = "host-full", "too-many-hosts"


@dataclass(slots=True)
class UrlBudget:
    """How many URLs of each host are known."""

    known: dict[str, int] = field(default_factory=dict)

    def restore(self, known: Mapping[str, int]) -> None:
        """Take over what an earlier process of this run had met."""
        self.known = dict(known)

    def admit(self, site: str | None) -> Why | None:
        """Say why a new URL of a site is not kept; None keeps it, and counts it.

        >>> crowd = UrlBudget({"a.example": MAX_URLS_PER_HOST})
        >>> crowd.admit("b.example"), crowd.admit("a.example").rule
        (None, 'host-full')
        """
        name = site or OUTSIDE
        known = self.known.get(name, 0)
        if known >= MAX_URLS_PER_HOST:
            return Why(FULL, f"{known:,} URLs of {name or 'other sites'} are known already")
        if not known and name and len(self.known) >= MAX_HOSTS:
            return Why(MANY, f"{len(self.known):,} hosts are known already")
        self.known[name] = known + 1
        return None
