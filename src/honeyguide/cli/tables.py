"""Tables for people. rich lives here and nowhere else.

Owns: how a table looks. Must not know: what is in it. Colour never carries meaning: only headers are dressed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

from rich import box
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from honeyguide.cli.output import line_for_people

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from honeyguide.cli.output import Column


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str]], *, no_color: bool) -> None:
    """Print a table as wide as it needs to be and the terminal allows."""
    headed = any(column.name for column in columns)
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, show_header=headed, header_style="bold"
    )
    for column in columns:
        table.add_column(
            Text(column.name),
            justify="right" if column.right else "left",
            no_wrap=column.keep,
            overflow="ellipsis" if column.keep else "fold",
        )
    for row in rows:
        table.add_row(*map(_cell, row))
    colors: Literal["auto"] | None = None if no_color else "auto"  # without, nothing is bold either
    console = Console(file=sys.stdout, color_system=colors, highlight=False, markup=False, emoji=False)
    console.print(table)


def _cell(text: str) -> Group:
    """Make a cell of lines; a line that is indented stays so where it is broken."""
    return Group(*map(_line, text.split("\n")))


def _line(line: str) -> Text | Padding:
    """Make text that is printable, and an object, so that nothing from a page is read as markup."""
    indent = len(line) - len(line.lstrip(" "))
    content = Text(line_for_people(line.lstrip(" ")))
    return Padding(content, (0, 0, 0, indent), expand=False) if indent else content
