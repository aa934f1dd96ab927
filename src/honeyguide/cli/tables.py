"""Tables for people; the only module that imports rich.

Owns: how a table looks. Must not know: what is in it. Colour never carries meaning: only headers are bold.
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


_BETWEEN = 3  # columns of the terminal from one of ours to the next
_TEXT_CHARS = 12  # of text in a terminal that is too narrow


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str]], *, no_color: bool) -> None:
    """Print a table as wide as the terminal allows; numbers are aligned right and never cut."""
    listed = list(rows)
    headed = any(column.name for column in columns)
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, show_header=headed, header_style="bold"
    )
    least = [_least(column, [row[place] for row in listed]) for place, column in enumerate(columns)]
    for column, width in zip(columns, least, strict=True):
        table.add_column(
            Text(column.name),
            justify="right" if column.right else "left",
            no_wrap=column.keep,
            overflow="ellipsis" if column.keep else "fold",
            min_width=width,
        )
    for row in listed:
        table.add_row(*map(_cell, row))
    colors: Literal["auto"] | None = None if no_color else "auto"  # without, nothing is bold either
    console = Console(file=sys.stdout, color_system=colors, highlight=False, markup=False, emoji=False)
    console.width = max(console.width, sum(least) + _BETWEEN * (len(least) - 1))
    console.print(table)


def _least(column: Column, cells: Sequence[str]) -> int:
    """Return how narrow a column may become: a number keeps all its digits, text a few letters."""
    widest = max(len(line) for cell in (column.name, *cells) for line in cell.split("\n"))
    return widest if column.right else min(widest, _TEXT_CHARS)


def _cell(text: str) -> Group:
    """Make a cell of lines; an indented line keeps its indent where it wraps."""
    return Group(*map(_line, text.split("\n")))


def _line(line: str) -> Text | Padding:
    """Make printable text, as an object, so that nothing from a page is read as markup."""
    indent = len(line) - len(line.lstrip(" "))
    content = Text(line_for_people(line.lstrip(" ")))
    return Padding(content, (0, 0, 0, indent), expand=False) if indent else content
