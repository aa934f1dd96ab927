"""What commands that read files of rows share: which format, and what becomes of wrong rows.

Owns: the options --input-format and --on-error, and what is said of rows that were left out. Must not know: what rows say.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honeyguide.adapters.files import name_of, opened
from honeyguide.adapters.rows.known import kind_of
from honeyguide.adapters.rows.rejected import Rejected
from honeyguide.cli.command import PARTIAL
from honeyguide.cli.output import note
from honeyguide.core.harmless import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


input_format_option: Decorator = click.option(
    "--input-format",
    "kind",
    type=click.Choice(["csv", "jsonl", "parquet"]),
    help="What FILE is; by its name if not given.",
)
on_error_option: Decorator = click.option(
    "--on-error",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="What to do with a wrong row; `skip` writes it to FILE.rejected, with the reason.",
)


def check_kinds(files: Iterable[str], kind: str | None) -> None:
    """Refuse files of which nobody can tell what they are."""
    for file in files:
        if kind is None and kind_of(file) is None:
            if Path(file).is_dir():
                with opened(file):  # says what is wrong with it
                    pass
            raise click.UsageError(
                f"{printable(name_of(file))}: say what it is with --input-format csv, jsonl or parquet."
            )


def none_left(rejected: Rejected) -> str:
    """Say that every row is wrong, and where they are."""
    rows = "its only row is" if rejected.rows == 1 else f"all of its {rejected.rows:,} rows are"
    return f"{rows} wrong; see {', '.join(rejected.files)}"


@contextmanager
def rejecting(on_error: str) -> Iterator[Rejected | None]:
    """Give a place for wrong rows, if they are to be skipped; afterwards say how many there were, and exit with 3."""
    rejected = Rejected() if on_error == "skip" else None
    try:
        yield rejected
    finally:
        if rejected is not None:
            rejected.close()
    if rejected is None:
        return
    rejected.clear()
    if rejected.rows:
        rows = "1 row is" if rejected.rows == 1 else f"{rejected.rows:,} rows are"
        note(f"{rows} left out; see {', '.join(rejected.files)}")
        click.get_current_context().exit(PARTIAL)
