"""The tables of `honeyguide eval`: figures of sites and their sum.

Must not know: how figures are made. Start reading at `show_evaluation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.app.tools.evaluate import interval, name_sites, verdict
from honeyguide.cli.output import Column, print_table, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.app.tools.evaluate import Evaluation, PickCounts, Totals


def unjudged(judged: Evaluation, picks: str, gold: str) -> Iterator[str]:
    """Say which sites could not be judged."""
    if judged.missing:
        yield f"{picks} has no record of {name_sites(judged.missing)}: judged as no picks"
    if judged.unlabelled:
        yield f"{gold} has no labels of {name_sites(judged.unlabelled)}: not judged"


def show_evaluation(judged: Evaluation) -> None:
    """Print a row per site, and the sum with its intervals."""
    counts = tuple(Column.number(name) for name in ("Picks", "Core", "Good", "Junk"))
    rows = [[s.site, *map(str, (len(s.labels), s.core, s.good, s.junk)), verdict(s)] for s in judged.sites]
    print_table((Column("Site"), *counts, Column.whole("Verdict")), rows)
    say()
    totals = judged.totals
    rows = [[name, *_cells(tally)] for name, tally in (*totals.buckets.items(), ("all", totals.picks))]
    print_table((Column("Bucket"), *counts, Column.number("Precision")), rows)
    say()
    for line in _total_lines(totals):
        say(line)
    if (first := judged.first_links) is not None:
        say()
        say("For comparison, the first links of each homepage:")
        for line in _total_lines(first):
            say(f"  {line}")


def _total_lines(totals: Totals) -> Iterator[str]:
    counts = totals.picks
    good = _with_interval(totals.good, totals.sites)
    yield f"{totals.good} of {totals.sites} sites good ({good}), {totals.core} by core pages alone"
    yield f"{counts.junk} junk in {counts.picks} picks ({_with_interval(counts.junk, counts.picks)})"
    picked = _with_interval(counts.core, totals.could)
    yield f"{counts.core} of {totals.could} core pages that fit ({picked}); {_percent(totals.coverage)} of all core pages"


def _with_interval(part: int, whole: int) -> str:
    """Write a share with the interval in which it lies with 95 % probability."""
    ends = interval(part, whole)
    return "-" if ends is None else f"{part / whole:.0%}, interval {ends[0]:.0%} to {ends[1]:.0%}"


def _cells(tally: PickCounts) -> list[str]:
    return [*map(str, (tally.picks, tally.core, tally.good, tally.junk)), _percent(tally.precision)]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
