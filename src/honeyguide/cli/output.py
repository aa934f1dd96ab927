"""What leaves the program: formats, numbers, and text that cannot do harm where it is read.

Owns: `--format`, `--no-color`, JSON lines, CSV, and how values look. Must not know: any command's records.
Start reading at `write_records`. Tables for people are in `tables.py`, which alone imports rich.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from honeyguide.core.text.printable import escaped, printable
from honeyguide.core.text.printable import number as number  # noqa: PLC0414 - commands import it from here
from honeyguide.core.text.printable import points as points  # noqa: PLC0414 - as above
from honeyguide.core.url.url import Url, display

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from honeyguide.core.records import Record
    from honeyguide.core.rules.language import Reason, Score

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


Format = Literal["table", "jsonl", "csv"]
_NO_COLOR = "honeyguide.no_color"
MAX_LINE_CHARS = 4_000  # of a line for people; what is longer is cut there, and whole in JSON lines
# How a spreadsheet recognises something to execute; it passes over leading space, and knows wide forms of the signs.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


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
    """Tell whether --no-color was given, or its variable."""
    return _NO_COLOR in click.get_current_context().meta or bool(os.environ.get("NO_COLOR"))


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --format, which arrives as `output`, and --no-color."""
    return _format_option(no_color_option(command))


def given_format() -> Format | None:
    """Give the --format that was asked for in words; None if it was left to us."""
    ctx = click.get_current_context()
    is_given = ctx.get_parameter_source("output") is not click.core.ParameterSource.DEFAULT
    return ctx.params["output"] if is_given else None


# --- values -----------------------------------------------------------------------------------------------------


def line_for_people(text: str) -> str:
    """Make a line harmless, and no longer than anybody reads."""
    shown = printable(text[:MAX_LINE_CHARS])
    return shown if len(text) <= MAX_LINE_CHARS else f"{shown.rstrip()}… ({len(text):,} characters)"


def rounded(value: float | None) -> float | None:
    """Keep four decimals of a share in a record: what follows them is the processor's.

    >>> rounded(2 / 3), rounded(None)
    (0.6667, None)
    """
    return None if value is None else round(value, 4)


def reason_lines(score: Score | None) -> list[str]:
    """Write a score's reasons for people, `+80 services hub`; those that paid nothing only if none did."""
    reasons = () if score is None else score.reasons
    paid = [reason for reason in reasons if reason.points] or [
        reason for reason in reasons if not reason.quiet
    ]
    return [f"{_paid(reason)} {reason.text}" for reason in paid]


def _paid(reason: Reason) -> str:
    return number(reason.points) if reason.rule == "base" else points(reason.points)


def short_url(url: Url, page: Url) -> str:
    """Write a URL as a reader of that page would: the path alone on the page's own site."""
    readable = display(url)
    return readable[readable.index("/", 8) :] if url.site == page.site else readable


# --- data -------------------------------------------------------------------------------------------------------


def write_records(output: Format, records: Iterable[Record], columns: Sequence[str]) -> None:
    """Write records as JSON lines, or the named columns as CSV; `rejected.rule` is column rejected_rule."""
    if output == "jsonl":
        for record in records:
            sys.stdout.write(printed_line(record) + "\n")
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([column.replace(".", "_") for column in columns])
    for record in records:
        writer.writerow([csv_cell(_at(record, column)) for column in columns])


def json_line(record: Record) -> str:
    """Write one record as JSON that is safe to look at, too; files are UTF-8, whatever the terminal is."""
    return escaped(json.dumps(record, ensure_ascii=False, allow_nan=False))


def printed_line(record: Record) -> str:
    """Write one record as JSON for standard output, which may know no letters."""
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    return json_line(record) if is_unicode else json.dumps(record, allow_nan=False)


def csv_cell(value: Any) -> str:
    """Write a cell: what is not known is empty, numbers are numbers, and text is never a formula.

    What a spreadsheet would execute gets an apostrophe, after everything invisible is gone; JSON lines have the text
    as it is.

    >>> csv_cell("=1+1"), csv_cell(-5), csv_cell(None), csv_cell([{"points": 80, "reason": "services hub"}])
    ("'=1+1", '-5', '', 'services hub (+80)')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, dict):
        value = [f"{name}: {_part(part)}" for name, part in value.items() if part is not None]
    text = printable(_join(value) if isinstance(value, list) else str(value))
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def _join(values: list[Any]) -> str:
    return "; ".join(map(_item, values))


def _part(value: Any) -> str:
    """Write what a name stands for: a list, or one value, which looks as in a cell of its own."""
    if isinstance(value, list):
        return _join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _item(value: Any) -> str:
    """Write an entry of a list; the rule's id of a reason is left to JSON, and a dash is a rule that paid nothing."""
    if not isinstance(value, dict):
        return str(value)
    if "points" in value:
        paid = value["points"]
        return f"{value['reason']} ({'-' if paid is None else points(paid)})"
    return " ".join(map(str, value.values()))


def _at(record: Record, column: str) -> Any:
    value: Any = record
    for name in column.split("."):
        value = None if value is None else value[name]
    return value


# --- people -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: numbers stand right; what is to `keep` is never broken into lines."""

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
    """Tell something about the data on standard error."""
    click.echo(f"Note: {line_for_people(line)}", err=True)
