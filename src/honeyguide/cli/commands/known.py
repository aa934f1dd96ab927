"""`honeyguide import`: bring known URLs and their visits from files into a store; `app` reads and keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from honeyguide.app.library.observe import FIELDS, import_known
from honeyguide.cli.command import Command, option, takes
from honeyguide.cli.options import (
    check_kinds,
    column_option,
    input_format_option,
    on_error_option,
    quiet_option,
    rejecting,
    store_option,
)
from honeyguide.cli.output import is_plain, is_verbose, note, verbose_option
from honeyguide.cli.progress import RowProgress, count_of

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Which columns are read, and where they go."""

    store: str = store_option()
    kind: str | None = input_format_option()
    columns: Mapping[str, str] = column_option(*FIELDS)
    on_error: str = on_error_option()
    profile: str = option("--profile NAME", "The profile whose scope the URLs are in.", default="news")
    quiet: bool = quiet_option()


@click.command(
    "import",
    cls=Command,
    examples=(
        "honeyguide import known.csv --store known.db",
        "honeyguide import visits.csv --store known.db --column address --column last_visited=crawled",
    ),
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@takes(options=ImportOptions)
@verbose_option
def import_(files: tuple[str, ...], options: ImportOptions) -> None:
    """Bring known URLs and their visits from files into a store, for honeyguide plan --store and honeyguide watch.

    FILE is CSV, JSON lines or Parquet with the columns of honeyguide plan: a row says what is known of a URL. With a column
    changed, true or false, a row is one visit at last_visited, and rows must be in the order of time.

    The store is made if there is none. What it knows is never older afterwards, so the same file may be imported again.
    Visits that were made elsewhere count in no budget of honeyguide watch.
    """
    check_kinds(files, options.kind)
    progress = RowProgress()
    with (
        rejecting(options.on_error) as rejected,
        progress.shown(quiet=options.quiet or is_verbose(), no_color=is_plain()),
    ):
        found = import_known(
            files,
            options.store,
            profile=options.profile,
            kind=options.kind,
            columns=options.columns,
            reject=rejected,
            on_rows=progress.read,
            on_note=progress.note,
        )
        progress.stop()
        if not options.quiet:
            new = f"{count_of(found.new, 'new URL')}, {found.learned:,} with visits"
            note(f"{options.store}: {count_of(found.rows, 'row')} imported; {new}")
