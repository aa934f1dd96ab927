"""What commands print: records as JSON lines, CSV or a table, and lines for people.

Owns: `--format`, `--no-color`, `emit`. Must not know: any command's records; how a value is written (`app.formats`).
Start reading at `emit`. Tables are drawn in `tables.py`, which alone imports rich.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from honeyguide.app.formats import number, points, printable, reason_lines, rounded
from honeyguide.core.url.url import Url, display
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from honeyguide.core.records import Record

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

__all__ = ["number", "points", "reason_lines", "rounded"]  # commands import them from here

Format = Literal["table", "jsonl", "csv"]
_NO_COLOR = "honeyguide.no_color"
MAX_LINE_CHARS = 4_000  # of a line for people; a longer one is cut, and whole in JSON lines


# --- options ----------------------------------------------------------------------------------------------------


def _format(_ctx: click.Context, _option: click.Parameter, value: Format | None) -> Format:
    return value or ("table" if sys.stdout.isatty() else "jsonl")


def _no_color(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[_NO_COLOR] = True


no_color_option: Decorator = click.option(
    "--no-color",
    is_flag=True,
    expose_value=False,
    callback=_no_color,
    help="Print without colour, as NO_COLOR=1 does.",
)
_format_option: Decorator = click.option(
    "--format",
    "output",
    type=click.Choice(["table", "jsonl", "csv"]),
    callback=_format,
    help="How to print; a table in a terminal, JSON lines otherwise.",
)


def is_plain() -> bool:
    """Tell whether --no-color or NO_COLOR was given."""
    return _NO_COLOR in click.get_current_context().meta or bool(os.environ.get("NO_COLOR"))


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --format, which arrives as `output`, and --no-color."""
    return _format_option(no_color_option(command))


def given_format() -> Format | None:
    """Return the value of --format; None if the option was not given."""
    ctx = click.get_current_context()
    is_given = ctx.get_parameter_source("output") is not click.core.ParameterSource.DEFAULT
    return ctx.params["output"] if is_given else None


# --- values -----------------------------------------------------------------------------------------------------


def line_for_people(text: str) -> str:
    """Make a line printable, and no longer than anybody reads."""
    shown = printable(text[:MAX_LINE_CHARS])
    return shown if len(text) <= MAX_LINE_CHARS else f"{shown.rstrip()}… ({len(text):,} characters)"


def point_lines(record: Record) -> list[str]:
    """Write the points of a record for people, `+80 services hub`; its reasons if no rule paid anything."""
    paid = [point for point in record["points"] if point["points"]]
    return [f"{_paid(point)} {point['reason']}" for point in paid] or [
        f"+0 {text}" for text in record["reasons"]
    ]


def _paid(point: Record) -> str:
    return number(point["points"]) if point["rule"] == "base" else points(point["points"])


def short_url(url: str, page: str | None) -> str:
    """Write a URL as a reader of that page would: the path alone on the page's own site."""
    try:
        parsed, base = Url.parse(url), Url.parse(page or url)
    except UrlError:  # an href that is not a URL
        return url
    readable = display(parsed)
    return readable[readable.index("/", 8) :] if parsed.site == base.site else readable


# --- data -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class View:
    """How a command prints its records: the columns of CSV, where `rejected.rule` is rejected_rule, and a table for people."""

    columns: Sequence[str]
    show: Callable[[Iterable[Record]], None]


def emit(view: View, records: Iterable[Record]) -> None:
    """Print records as --format says."""
    output: Format = click.get_current_context().params["output"]
    if output == "table":
        view.show(records)
    else:
        write_records(output, records, view.columns)


def write_records(output: Format, records: Iterable[Record], columns: Sequence[str]) -> None:
    """Print records as JSON lines, or the named columns as CSV."""
    from honeyguide.core.records.text import csv_row  # `honeyguide --help` needs no records

    if output == "jsonl":
        for record in records:
            sys.stdout.write(printed_line(record) + "\n")
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([column.replace(".", "_") for column in columns])
    for record in records:
        writer.writerow(csv_row(record, columns))


def printed_line(record: Record) -> str:
    """Write one record as JSON for standard output, whose encoding may not have all letters."""
    from honeyguide.core.records.text import json_line  # as above

    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    return json_line(record) if is_unicode else json.dumps(record, allow_nan=False)


# --- people -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: `right` aligns numbers, `keep` never wraps."""

    name: str
    right: bool = False
    keep: bool = False


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; cells are plain text, never markup, and may have several lines."""
    from honeyguide.cli.tables import print_table as printed  # rich costs more than a pipe should pay

    printed(columns, rows, no_color=is_plain())


def say(line: str = "") -> None:
    """Print a line for a person who reads a table."""
    click.echo(line_for_people(line))


def note(line: str) -> None:
    """Print a note about the data on standard error."""
    click.echo(f"Note: {line_for_people(line)}", err=True)
