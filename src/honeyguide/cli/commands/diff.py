"""`honeyguide diff`: what changed between two files of picks or plans; `app` makes the records."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from honeyguide.cli.command import Command
from honeyguide.cli.output import (
    Column,
    emit,
    note,
    number,
    output_options,
    points,
    print_table,
    say,
)
from honeyguide.core.records.answers import (
    PickChangeRecord,
    PlanChangeRecord,
)
from honeyguide.core.records.fields import (
    columns,
)
from honeyguide.core.url.url import display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from honeyguide.core.records import Record


@click.command(
    cls=Command,
    examples=(
        "honeyguide diff before.jsonl now.jsonl",
        "honeyguide diff before.jsonl now.jsonl --format csv",
    ),
)
@click.argument("earlier", metavar="A")
@click.argument("later", metavar="B")
@output_options
def diff(earlier: str, later: str) -> None:
    """Say what changed from one file of picks or plans to another, and why.

    A is the earlier file and B the later one: JSON lines of honeyguide pick, or of honeyguide plan, which may also be CSV or
    Parquet. No labels are needed.
    """
    from honeyguide.app.tools.diff import compare_picks, compare_plans, is_pick_file
    from honeyguide.app.tools.evaluate import name_sites

    kinds = {is_pick_file(earlier), is_pick_file(later)} - {None}
    if len(kinds) > 1:
        raise click.UsageError("One file has picks and the other a plan; give two of one kind.")
    if True not in kinds:
        changes = compare_plans(earlier, later)
        emit(changes, columns(PlanChangeRecord), lambda _: _show_changes(changes))
        return
    changes, alone = compare_picks(earlier, later)
    if alone:
        note(f"only one of the files has {name_sites(alone)}: not compared")
    emit(changes, columns(PickChangeRecord), lambda _: _show_changes(changes))


def _show_changes(changes: Sequence[Record]) -> None:
    is_plan = any("points" in change for change in changes)
    if not changes:
        say("Nothing changed.")
        return
    rows = []
    for change in changes:
        scores = [f"{number(change['score_before'])} to {number(change['score'])}"] if is_plan else []
        rows.append([change["change"], *scores, "\n  ".join([display(change["url"]), *_causes(change)])])
    scored = (Column.whole("Score"),) if is_plan else ()
    print_table((Column.whole("Change"), *scored, Column("URL and why")), rows)
    say()
    say(", ".join(f"{count:,} {kind}" for kind, count in Counter(c["change"] for c in changes).items()))


def _causes(change: Record) -> list[str]:
    """Write the sentences of a change, then the points that differ."""
    if "points" not in change:
        return [change["reason"]]
    paid = [f"{points(entry['points'])} {entry['reason']}" for entry in change["points"]]
    return [*change["reasons"][: len(change["reasons"]) - len(paid)], *paid]
