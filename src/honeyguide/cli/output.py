"""What commands print: records as JSON lines, CSV or a table, and lines for people.

Owns: `--format`, `--no-color`, `emit`, how a table looks. Must not know: any command's records. Start reading at `emit`.
Colour never carries meaning: only headers are bold.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from honeyguide.core.text.printable import number, points, printable
from honeyguide.core.url.url import Url, display
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.console import Group

    from honeyguide.cli.command import Decorator
    from honeyguide.core.records import Record

__all__ = ["number", "points", "printable"]  # commands import them from here

MAX_LINE_CHARS = 4_000  # of a line for people; a longer one is cut, and whole in JSON lines
_BETWEEN = 3  # columns of the terminal from one of ours to the next
_TEXT_CHARS = 12  # of text in a terminal that is too narrow


def _remember(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    ctx.meta[f"honeyguide.{option.name}"] = value or ctx.meta.get(f"honeyguide.{option.name}")


no_color_option: Decorator = click.option(
    "--no-color",
    is_flag=True,
    expose_value=False,
    callback=_remember,
    help="Print without colour, as NO_COLOR=1 does.",
)
_format_option: Decorator = click.option(
    "--format",
    type=click.Choice(["table", "jsonl", "csv"]),
    expose_value=False,
    callback=_remember,
    help="How to write.  [default: a table in a terminal, JSON lines in a pipe]",
)


def _log(ctx: click.Context, option: click.Parameter, value: int) -> None:
    """Print what the packages log on standard error: `-v` what they did, `-vv` with details."""
    import logging  # `honeyguide --help` needs none

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            click.echo(line_for_people(self.format(record)), err=True)

    _remember(ctx, option, value)
    log = logging.getLogger("honeyguide")
    log.setLevel((logging.WARNING, logging.INFO, logging.DEBUG)[min(value, 2)])
    log.handlers = [Lines()]


verbose_option: Decorator = click.option(
    "-v",
    "--verbose",
    count=True,
    type=click.IntRange(0, 100),
    expose_value=False,
    callback=_log,
    help="Log to standard error what is done; -vv logs every request and every rule, too.",
)


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --format, which `emit` obeys, and --no-color."""
    return _format_option(no_color_option(command))


def _remembered(name: str) -> Any:
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(f"honeyguide.{name}")


def is_plain() -> bool:
    """Tell whether --no-color or NO_COLOR was given."""
    return bool(os.environ.get("NO_COLOR") or _remembered("no_color"))


def is_verbose() -> bool:
    """Tell whether -v was given: log lines and a progress line would disturb each other."""
    return bool(_remembered("verbose"))


def given_format() -> str | None:
    """Return the value of --format; None if the option was not given."""
    output: str | None = _remembered("format")
    return output


def usual_format() -> str:
    """Return the format of standard output if --format was not given: a table for people, JSON lines for a pipe."""
    return "table" if sys.stdout.isatty() else "jsonl"


def chosen_format() -> str:
    """Return the format of standard output."""
    return given_format() or usual_format()


def line_for_people(text: str) -> str:
    """Make a line printable, and no longer than anybody reads."""
    shown = printable(text[:MAX_LINE_CHARS])
    return shown if len(text) <= MAX_LINE_CHARS else f"{shown.rstrip()}… ({len(text):,} characters)"


def point_lines(record: Record) -> list[str]:
    """Write the points of a record for people, `+80 services hub`; of a link also what paid nothing, such as a page not kept."""
    is_link = "bucket" in record
    told = [
        point
        for point in record["points"]
        if point["points"] or (is_link and point["reason"] in record["reasons"])
    ]
    return [
        f"{(number if point['rule'] == 'base' else points)(point['points'])} {point['reason']}"
        for point in told
    ] or [f"+0 {text}" for text in record["reasons"]]


def short_url(url: str, page: str | None) -> str:
    """Write a URL as a reader of that page would: the path alone on the page's own site."""
    try:
        parsed, base = Url.parse(url), Url.parse(page or url)
    except UrlError:  # an href that is not a URL
        return url
    readable = display(parsed)
    return readable[readable.index("/", 8) :] if parsed.site == base.site else readable


def emit(records: Iterable[Record], columns: Sequence[str], show: Callable[[Iterable[Record]], None]) -> None:
    """Print records as --format says: `columns` are those of CSV, `show` prints a table for people."""
    output = chosen_format()
    if output == "table":
        show(records)
    else:
        write_records(output, records, columns)


def write_records(output: str, records: Iterable[Record], columns: Sequence[str]) -> None:
    """Print records as JSON lines, or the named columns as CSV, where `rejected.rule` is rejected_rule."""
    from honeyguide.core.records import csv_row  # `honeyguide --help` needs no records

    if output == "jsonl":
        for record in records:
            sys.stdout.write(printed_line(record) + "\n")
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([column.replace(".", "_") for column in columns])
    for record in records:
        writer.writerow(csv_row(record, columns))


class RecordPrinter:
    """Standard output for records of a type as they come: JSON lines, or CSV whose header comes with the first."""

    def __init__(self, output: str, kind: Any, own: Sequence[str] = ()) -> None:
        self._kind, self._own = kind, own
        self._csv = csv.writer(sys.stdout, lineterminator="\n") if output == "csv" else None
        self._has_header = False

    def print(self, record: Record) -> None:
        """Print a record; a reader at the other end of a pipe gets it now."""
        from honeyguide.app.files import column_names, csv_rows  # as above

        if self._csv is None:
            sys.stdout.write(printed_line(record) + "\n")
        else:
            if not self._has_header:
                self._csv.writerow(column_names(self._kind, self._own))
                self._has_header = True
            self._csv.writerows(csv_rows(record, self._kind, self._own))
        sys.stdout.flush()


def printed_line(record: Record) -> str:
    """Write one record as JSON for standard output, whose encoding may not have all letters."""
    from honeyguide.core.records import json_line  # as above

    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    return json_line(record) if is_unicode else json.dumps(record, allow_nan=False)


def say(line: str = "") -> None:
    """Print a line for a person who reads a table."""
    click.echo(line_for_people(line))


def note(line: str) -> None:
    """Print a note about the data on standard error."""
    click.echo(f"Note: {line_for_people(line)}", err=True)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: `right` aligns numbers, `keep` never wraps."""

    name: str
    right: bool = False
    keep: bool = False

    @classmethod
    def number(cls, name: str) -> Column:
        """Make a column of numbers."""
        return cls(name, right=True, keep=True)

    @classmethod
    def whole(cls, name: str) -> Column:
        """Make a column of text that never wraps."""
        return cls(name, keep=True)

    def least_width(self, cells: Iterable[str]) -> int:
        """Return how narrow the column may become: a number keeps all its digits, text a few letters."""
        widest = max(len(line) for cell in (self.name, *cells) for line in cell.split("\n"))
        return widest if self.right else min(widest, _TEXT_CHARS)


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """Print a table as wide as the terminal allows; cells are plain text, never markup, and may have several lines."""
    from rich import box  # costs more than a pipe should pay
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    listed = list(rows)
    headed = any(column.name for column in columns)
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, show_header=headed, header_style="bold"
    )
    least = [column.least_width(row[place] for row in listed) for place, column in enumerate(columns)]
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
    colors: Literal["auto"] | None = None if is_plain() else "auto"  # without, nothing is bold either
    console = Console(file=sys.stdout, color_system=colors, highlight=False, markup=False, emoji=False)
    console.width = max(console.width, sum(least) + _BETWEEN * (len(least) - 1))
    with console.capture() as shown:
        console.print(table)
    lines = shown.get().removesuffix("\n").split("\n")
    text = "".join(f"{line.rstrip(' ')}\n" for line in lines)  # each cell went through `line_for_people`
    sys.stdout.write(text)


def _cell(text: str) -> Group:
    """Make a cell of lines, as objects, so that nothing from a page is read as markup; a wrapped line keeps its indent."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    def content(line: str) -> Text | Padding:
        indent = len(line) - len(line.lstrip(" "))
        shown = Text(line_for_people(line.lstrip(" ")))
        return Padding(shown, (0, 0, 0, indent), expand=False) if indent else shown

    return Group(*map(content, text.split("\n")))
