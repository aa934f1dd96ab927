"""`honeyguide eval`: how good picks are, by labels of one's own, and what changed between two runs.

Owns: the command and its tables. Must not know: files, how the figures are made (`app.pick.evaluate`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from honeyguide.app.pick.evaluate import COLUMNS, judge_picks, site_records, total_record, verdict
from honeyguide.cli.command import PARTIAL, Command
from honeyguide.cli.output import Column, emit, note, output_options, print_table, say

if TYPE_CHECKING:
    from honeyguide.app.pick.evaluate import Changes, Evaluation, PickCounts
    from honeyguide.cli.output import Format


@click.command(
    "eval",
    cls=Command,
    examples=(
        "honeyguide eval now.jsonl --gold gold.jsonl",
        "honeyguide eval now.jsonl --gold gold.jsonl --compare before.jsonl --format csv",
    ),
)
@click.argument("picks", metavar="PICKS")
@click.option("--gold", required=True, metavar="PATH", help="Labels: JSON lines, or a folder with a JSON file for each site.")  # fmt: skip
@click.option("--compare", metavar="PICKS", help="Another run: print which picks entered, left or moved, and why.")  # fmt: skip
@click.option("--cap", type=click.IntRange(1, 1000), default=4, show_default=True, metavar="N", help="Judge the first N picks.")  # fmt: skip
@output_options
def eval(picks: str, gold: str, compare: str | None, cap: int, output: Format) -> None:  # noqa: A001 - a command's name
    """Judge the picks of a run by labels of your own.

    PICKS are records of `honeyguide pick` as JSON lines, or `-` for standard input. A label is an object with `site`,
    and the lists `core`, `acceptable` and `junk` of paths or URLs. A site is good if three quarters of --cap are core or
    acceptable pages, or all of them where it has fewer. The exit code is 3 if a labelled site has no record.
    """
    judged = judge_picks(picks, gold, compare=compare, cap=cap, on_note=note)
    records = site_records(judged) + ([total_record(judged)] if output == "jsonl" else [])
    emit(records, COLUMNS, lambda _: _show(judged))
    if not all(site.has_record for site in judged.sites):
        click.get_current_context().exit(PARTIAL)


def _show(judged: Evaluation) -> None:
    counts = tuple(Column(name, right=True, keep=True) for name in ("Picks", "Core", "Good", "Junk"))
    rows = [[s.site, *map(str, (len(s.labels), s.core, s.good, s.junk)), verdict(s)] for s in judged.sites]
    print_table((Column("Site"), *counts, Column("Verdict", keep=True)), rows)
    say()
    totals = judged.totals
    rows = [[name, *_cells(tally)] for name, tally in (*totals.buckets.items(), ("all", totals.picks))]
    print_table((Column("Bucket"), *counts, Column("Precision", right=True, keep=True)), rows)
    say()
    say(
        f"{totals.good} of {totals.sites} sites good ({_percent(totals.good_share)}), {totals.core} by core pages alone"
    )
    say(
        f"{totals.picks.junk} junk in {totals.picks.picks} picks; {_percent(totals.coverage)} of the core pages were picked"
    )
    if judged.changes is not None:
        _show_changes(judged.changes)


def _cells(tally: PickCounts) -> list[str]:
    return [*map(str, (tally.picks, tally.core, tally.good, tally.junk)), _percent(tally.precision)]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def _show_changes(changes: Changes) -> None:
    say()
    if not changes:
        say("No picks changed.")
        return
    say(f"Picks changed on {len(changes)} {'site' if len(changes) == 1 else 'sites'}:")
    say()
    rows = [[site, c.kind, f"{c.url}\n  {c.why}"] for site, found in changes.items() for c in found]
    print_table((Column("Site"), Column("Page", keep=True), Column("and why")), rows)
