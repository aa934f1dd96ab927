"""What can be read of a run in memory: counts, rows, sightings, page records.

Owns: `MemoryLedger`, and what a frontier in memory keeps; nothing here changes any of it. Must not know: leases.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from honeyguide.adapters.store.memory_entries import Entry, Site, is_due
from honeyguide.core.frontier import Counts, Row, Standing, State, Why
from honeyguide.core.scope import OTHER_SITE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from honeyguide.core.frontier import Sighting
    from honeyguide.core.records import Record
    from honeyguide.core.traps import Family
    from honeyguide.core.url import Url


class MemoryLedger:
    """The reading half of a frontier."""

    def __init__(self) -> None:
        self._entries: dict[int, Entry] = {}  # by digest
        self._by_id: list[Entry] = []
        self._sites: dict[str, Site] = {}
        self._records: dict[int, Record] = {}
        self._contents: dict[str, list[str]] = {}
        self._families: dict[str, Family] = {}
        self._skipped: Counter[str] = Counter()
        self._waiting: dict[int, Entry] = {}
        self.claims = 0
        self.fetched = 0

    def seeds(self) -> tuple[Url, ...]:
        """Give where the run began."""
        return tuple(entry.url for entry in self._by_id if entry.found.is_seed)

    def sites(self) -> frozenset[str]:
        """Give the sites that are part of the crawl."""
        return frozenset(site.name for site in self._sites.values() if site.is_inside)

    def external_pages(self) -> int:
        """Tell how many pages of other sites were had, or are being fetched."""
        return sum(site.fetched + site.leased for site in self._sites.values() if site.is_external)

    def crowd(self) -> dict[str, int]:
        """Tell how many URLs of each host are known."""
        return dict(Counter(entry.found.site or "" for entry in self._by_id))

    def said(self, content: str, limit: int) -> list[str]:
        """Give pages of this run that said so when they were read, the first first."""
        return self._contents.get(content, [])[:limit]

    def strays(self) -> list[int]:
        """Give what was put out as another site's that is part of the crawl by now."""
        out = {Why(OTHER_SITE, site) for site in self.sites()}
        return [entry.found.digest for entry in self._by_id if entry.why in out]

    def known(self, digests: Sequence[int]) -> Mapping[int, Standing]:
        """Tell what is known of URLs; those that are not known are left out."""
        return {
            digest: Standing(
                entry.state, entry.rank, entry.seen, entry.why.rule if entry.why else None,
                entry.url.text.startswith("https:"),
            )
            for digest in digests
            if (entry := self._entries.get(digest)) is not None
        }  # fmt: skip

    def counts(self) -> Counts:
        """Give the run in numbers."""
        states = Counter(entry.state for entry in self._by_id)
        out = Counter(e.why.rule for e in self._by_id if e.state == State.DROPPED and e.why is not None)
        return Counts(
            {state.name.lower(): states[state] for state in State},
            Counter(entry.found.lane for entry in self._by_id if entry.state == State.QUEUED),
            out,
            dict(self._skipped),
            self.fetched,
            out[OTHER_SITE],
            sum(is_due(entry) for entry in self._by_id),
        )

    def rows(self, after: int = 0, rule: str | None = None) -> Iterator[Row]:
        """Give all entries in the order of discovery, or those that a rule put out."""
        for entry in self._by_id[after:]:
            if rule is None or (entry.why is not None and entry.why.rule == rule):
                yield self._row(entry)

    def _row(self, entry: Entry) -> Row:
        parent = None if entry.parent is None else self._by_id[entry.parent - 1].url.as_linked
        found = entry.found
        place = (found.lane, found.priority, found.score, found.depth, parent)
        rest = (entry.seen, entry.attempts, entry.claim, entry.due_at, entry.why)
        return Row(entry.id, entry.url.as_linked, entry.state, *place, *rest)

    def find(self, digest: int) -> tuple[Row, tuple[tuple[str | None, Sighting], ...]] | None:
        """Give one entry, with the pages that link it."""
        entry = self._entries.get(digest)
        if entry is None:
            return None
        parents = [
            None if number is None else self._by_id[number - 1].url.as_linked for number, _ in entry.sightings
        ]
        return self._row(entry), tuple(zip(parents, (s for _, s in entry.sightings), strict=True))

    def pages(self, after: int = 0) -> Iterator[tuple[int, Record]]:
        """Give the records of pages in claim order, each with its claim number."""
        return ((claim, self._records[claim]) for claim in sorted(self._records) if claim > after)

    def families(self) -> list[Family]:
        """Give what traps have learnt, in their order."""
        return list(self._families.values())

    def _site(self, entry: Entry) -> Site:
        return self._sites[entry.found.site or entry.url.site]
