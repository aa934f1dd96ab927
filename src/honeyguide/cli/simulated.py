"""How the outcomes of a simulation look: as a table, as records, as a report; and how far a simulation says it is.

Owns: names and order of columns, words for people. Must not know: how outcomes come about. Start reading at
`show_outcomes`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from honeyguide.adapters.whole import replacing
from honeyguide.cli.output import Column, print_table, rounded, say, write_records
from honeyguide.core.records import SCHEMA
from honeyguide.jobs.progress import LINE_EVERY_S, duration
from honeyguide.report.curves import LEGEND, curves_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from honeyguide.cli.output import Format
    from honeyguide.core.outcome import Outcome
    from honeyguide.core.records import Record

COLUMNS = (
    "schema", "world", "budget", "policy", "is_reference", "freshness", "freshness_late", "of_best",
    "of_all_knowing", "mean_age_h", "nothing_share", "discovery_h", "fetches", "days",
)  # fmt: skip
_SHOWN = ("Policy", "Fresh", "Late", "Best", "Age", "Idle", "New", "Day 1", "Day 3")


@dataclass(slots=True)
class Progress:
    """How far a simulation is: what runs now, and how much of all there is has been begun.

    >>> progress = Progress(total=6, started=100.0)
    >>> progress.begin("learned, budget 10d, poisson")
    >>> progress.line(112.0)
    '1 of 6, 12 s: learned, budget 10d, poisson'
    """

    total: int | None
    started: float
    done: int = 0
    _begun: int = 0
    _what: str = "reading"
    _said_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._said_at = self.started

    def begin(self, what: str) -> None:
        """Hear what runs from now on; what ran before is done."""
        self.done, self._begun, self._what = self._begun, self._begun + 1, what

    def is_line_due(self, now: float) -> bool:
        """Say whether a log should get a line now; a yes counts as said."""
        is_due = now - self._said_at >= LINE_EVERY_S
        if is_due:
            self._said_at = now
        return is_due

    def line(self, now: float) -> str:
        """Say how far it is."""
        return f"{self._begun:,} of {self.total:,}, {duration(now - self.started)}: {self._what}"


def outcome_record(outcome: Outcome) -> Record:
    """Write an outcome as data."""
    return {
        "schema": SCHEMA,
        "world": outcome.world,
        "budget": outcome.budget,
        "policy": outcome.policy,
        "is_reference": outcome.is_reference,
        "freshness": rounded(outcome.freshness),
        "freshness_late": rounded(outcome.late),
        "of_best": rounded(outcome.of_best),
        "of_all_knowing": rounded(outcome.of_all_knowing),
        "mean_age_h": rounded(outcome.mean_age_h),
        "nothing_share": rounded(outcome.nothing_share),
        "discovery_h": rounded(outcome.discovery_h),
        "fetches": outcome.fetches,
        "days": [rounded(value) for value in outcome.days],
        "curve": [rounded(value) for value in outcome.curve],
        "hosts": dict(outcome.hosts),
    }


def show_outcomes(output: Format, outcomes: Sequence[Outcome]) -> None:
    """Print the outcomes; for people one table for each world and budget."""
    if output != "table":
        write_records(output, map(outcome_record, outcomes), COLUMNS)
        return
    for (world, budget), group in groupby(outcomes, lambda item: (item.world, item.budget)):
        say(f"{world}, budget {budget}")
        say()
        columns = [Column(name, right=place > 0, keep=place > 0) for place, name in enumerate(_SHOWN)]
        print_table(columns, map(_row, group))
        say()
    for line in LEGEND:
        say(line)


def _row(outcome: Outcome) -> list[str]:
    days = outcome.days
    return [
        outcome.policy,
        _share(outcome.freshness),
        _share(outcome.late),
        _percent(outcome.of_best, 1),
        _duration(outcome.mean_age_h),
        _percent(outcome.nothing_share, 0),
        _duration(outcome.discovery_h),
        _share(days[0] if days else None),
        _share(days[2] if len(days) > 2 else None),
    ]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _percent(value: float | None, decimals: int) -> str:
    return "-" if value is None else f"{100 * value:.{decimals}f}"


def _duration(hours: float | None) -> str:
    """Write hours, or days from two of them on."""
    if hours is None:
        return "-"
    return f"{hours:.0f} h" if hours < 48 else f"{hours / 24:.0f} d"


def write_report(file: str, outcomes: Sequence[Outcome]) -> None:
    """Write the report for people."""
    with replacing(Path(file)) as part:
        part.write_text(curves_report(outcomes), "utf-8")
