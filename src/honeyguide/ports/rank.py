"""Port: known URLs that can be ranked.

Owns: `Ranker`. Must not know: rows, columns, files, stores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from honeyguide.core.recrawl.plan import KnownUrl, Plan, PlanEntry, PlanQuery


class Ranker(Protocol):
    """Known URLs and the policy that ranks them; `policy` is its name."""

    policy: str

    def plan(self, query: PlanQuery) -> Plan:
        """Rank the rows."""

    def find(self, urls: Collection[str]) -> dict[str, KnownUrl]:
        """Look rows up by their URL, as it is written."""

    def rank_of(self, row: KnownUrl, now: datetime) -> int:
        """Count where a row stands among all."""

    def judge(self, row: KnownUrl, now: datetime) -> PlanEntry:
        """Score one row; its rank is not counted."""
