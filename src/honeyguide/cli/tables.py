"""Tables for people. rich lives here and nowhere else.

Owns: how a table looks. Must not know: what is in it. Colour never carries meaning: only headers are dressed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from honeyguide.cli.output import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from honeyguide.cli.output import Column


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str]], *, no_color: bool) -> None:
    """Print a table as wide as it needs to be and the terminal allows."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_header=any(c.name for c in columns))
    for column in columns:
        table.add_column(
            Text(column.name),
            justify="right" if column.right else "left",
            no_wrap=column.keep,
            overflow="ellipsis" if column.keep else "fold",
            ratio=None if column.keep else column.weight,
        )
    for row in rows:
        table.add_row(*map(_cell, row))
    console = Console(file=sys.stdout, no_color=no_color or None, highlight=False, markup=False, emoji=False)
    console.print(table)


def _cell(text: str) -> Text:
    """Text objects, so that nothing from a page is read as markup; each line is made printable by itself."""
    return Text("\n".join(printable(line) for line in text.split("\n")))
