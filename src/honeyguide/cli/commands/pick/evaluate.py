"""`honeyguide eval`: how good picks are, by labels of one's own, and what changed between two runs.

Owns: the command, its table and its records. Must not know: files, how the figures are made. Start reading at `eval`.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from honeyguide import app
from honeyguide.cli.command import PARTIAL, Command
from honeyguide.cli.output import Column, note, output_options, print_table, rounded, say, write_records
from honeyguide.core.pick.evaluate import share
from honeyguide.core.records import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from honeyguide.cli.output import Format
    from honeyguide.core.pick.evaluate import Change, Evaluation, PickCounts, SiteFigures, Totals
    from honeyguide.core.records import Record

    Changes = Mapping[str, Sequence[Change]]


COLUMNS = (
    "schema", "kind", "site", "verdict", "picks", "core", "good", "junk", "core_pages", "labels", "has_record",
    "entered", "left", "moved",
)  # fmt: skip


@click.command(
    "eval",
    cls=Command,
    examples=(
        "honeyguide eval now.jsonl --gold gold.jsonl",
        "honeyguide eval now.jsonl --gold gold.jsonl --compare before.jsonl --format csv",
    ),
)
@click.argument("picks", metavar="PICKS")
@click.option(
    "--gold",
    required=True,
    metavar="PATH",
    help="Labels: JSON lines, or a folder with one JSON file for each site.",
)
@click.option(
    "--compare", metavar="PICKS", help="Another run: say which picks entered, left or moved, and why."
)
@click.option(
    "--cap",
    type=click.IntRange(1, 1000),
    default=4,
    show_default=True,
    metavar="N",
    help="Judge the first N picks.",
)
@output_options
def eval(picks: str, gold: str, compare: str | None, cap: int, output: Format) -> None:  # noqa: A001 - a command's name
    """Judge the picks of a run by labels of your own.

    PICKS are records of `honeyguide pick` as JSON lines, or `-` for standard input. A label is an object with `site`,
    and the lists `core`, `acceptable` and `junk` of paths or URLs. A site is good if three quarters of --cap are core or
    acceptable pages, or all of them where it has fewer. The exit code is 3 if a labelled site has no record.
    """
    judged = app.judge_picks(picks, gold, compare=compare, cap=cap, on_note=note)
    if output == "table":
        _show(judged)
    else:
        _write(output, judged)
    if not all(site.has_record for site in judged.sites):
        click.get_current_context().exit(PARTIAL)


# --- data -------------------------------------------------------------------------------------------------------


def _write(output: Format, judged: Evaluation) -> None:
    """Write a record for each site; JSON lines end with one for the whole run."""
    changes = judged.changes
    records = [_record(site.site, site, changes) for site in judged.sites]
    known = {site.site for site in judged.sites}
    records += [_record(site, None, changes) for site in changes or {} if site not in known]
    if output == "jsonl":
        records.append(_total_record(judged.totals))
    write_records(output, records, COLUMNS)


def _record(site: str, judged: SiteFigures | None, changes: Changes | None) -> Record:
    """Write a site; without labels its figures are not known, without another run its changes are not."""
    figures = dict.fromkeys(COLUMNS[3:-3])
    if judged is not None:
        figures |= {
            "verdict": _verdict(judged), "picks": len(judged.labels), "core": judged.core, "good": judged.good,
            "junk": judged.junk, "core_pages": judged.core_pages, "labels": [label or "unlabelled" for label in judged.labels],
            "has_record": judged.has_record,
        }  # fmt: skip
    found = None if changes is None else changes.get(site, [])
    kinds = {
        kind: None if found is None else [_change(c) for c in found if c.kind == kind]
        for kind in COLUMNS[-3:]
    }
    return {"schema": SCHEMA, "kind": "site", "site": site, **figures, **kinds}


def _change(change: Change) -> Record:
    return {"url": change.url, "reason": change.why}


def _total_record(totals: Totals) -> Record:
    buckets = [{"bucket": name, **_tally(tally)} for name, tally in totals.buckets.items()]
    figures = {
        "sites": totals.sites,
        "good_sites": totals.good,
        "core_sites": totals.core,
        **_tally(totals.picks),
    }
    return {
        "schema": SCHEMA,
        "kind": "total",
        **figures,
        "coverage": rounded(totals.coverage),
        "buckets": buckets,
    }


def _tally(tally: PickCounts) -> Record:
    return {**asdict(tally), "precision": rounded(tally.precision)}


def _verdict(judged: SiteFigures) -> str:
    """Say it in a word; capitals, so that it is seen without colour."""
    return ("ok" if judged.ok else "BAD") if judged.has_record else "BAD, no record"


# --- people -----------------------------------------------------------------------------------------------------


def _show(judged: Evaluation) -> None:
    """Print sites, buckets and totals, then what changed."""
    counts = tuple(Column(name, right=True, keep=True) for name in ("Picks", "Core", "Good", "Junk"))
    rows = [[s.site, *map(str, (len(s.labels), s.core, s.good, s.junk)), _verdict(s)] for s in judged.sites]
    print_table((Column("Site"), *counts, Column("Verdict", keep=True)), rows)
    say()
    totals = judged.totals
    rows = [[name, *_cells(tally)] for name, tally in (*totals.buckets.items(), ("all", totals.picks))]
    print_table((Column("Bucket"), *counts, Column("Precision", right=True, keep=True)), rows)
    say()
    say(
        f"{totals.good} of {totals.sites} sites good ({_percent(share(totals.good, totals.sites))}), {totals.core} by core pages alone"
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
