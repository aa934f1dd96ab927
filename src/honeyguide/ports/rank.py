"""Known URLs as a table that can be ranked.

Owns: `Table`. Must not know: rows, columns, files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from honeyguide.core.recrawl.ranking import KnownUrl, Plan, PlanEntry, PlanQuery


class Table(Protocol):
    """Known URLs that can be ranked and looked up; `policy` is the name of what ranks them."""

    policy: str

    def plan(self, asked: PlanQuery) -> Plan:
        """Rank the rows."""

    def find(self, urls: Collection[str]) -> dict[str, KnownUrl]:
        """Look rows up by their URL, as it is written."""

    def rank_of(self, row: KnownUrl, now: datetime) -> int:
        """Say where a row stands among all."""

    def judge(self, row: KnownUrl, now: datetime) -> PlanEntry:
        """Say what a row is worth; its rank is not counted."""
