"""Files that commands write: where they may go, in which format, in one step, and what is said of them afterwards.

Owns: the rules that all commands with -o share. Must not know: any command's records.
Start reading at `format_of`, then `write_file`. How one file takes the place of another is in `adapters.whole`.
"""

from __future__ import annotations

import asyncio
import csv
import json
import signal
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honeyguide.adapters.files.read import STDIN, kind_of, name_of, opened
from honeyguide.adapters.files.rows import Rejected
from honeyguide.adapters.output.write import check_replaceable, replacing
from honeyguide.cli.command import PARTIAL
from honeyguide.cli.output import csv_cell, json_line, note
from honeyguide.core.text.printable import printable
from honeyguide.errors import shown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence

    from honeyguide.core.records import Record

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

FORMATS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}
ALL_FORMATS = {**FORMATS, ".parquet": "parquet", ".pq": "parquet"}
_REPORTS = (".html", ".htm", ".md", ".markdown")
_GENERATOR = b'<meta name="generator" content="honeyguide">'  # in the head of every HTML report


quiet_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "-q", "--quiet", is_flag=True, help="Do not say what was written to the file of -o."
)


any_format_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--format",
    "output",
    type=click.Choice(["table", "jsonl", "csv", "parquet"]),
    help="How to write; by the name of -o, else a table in a terminal and JSON lines in a pipe.",
)


reports_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="FILE",
    help="Write a report for people, .html or .md; may be repeated.",
)


def check_distinct(inputs: Iterable[str | None], outputs: Iterable[str | None]) -> None:
    """Refuse to write over what is read, or to write two things into one file."""
    seen = {_place(file) for file in inputs if file is not None}
    for file in outputs:
        if file not in (None, STDIN):
            if _place(file) in seen:
                raise click.UsageError(
                    f"{shown(file)} is named twice; what is written needs a file of its own."
                )
            seen.add(_place(file))


def _place(file: str) -> Path:
    try:
        return Path(file).resolve()
    except (OSError, RuntimeError, ValueError):  # no such place, which whoever opens it will say
        return Path(file)


def format_of(file: str, output: str | None, known: Mapping[str, str] = FORMATS) -> str:
    """Settle how a file is written: as its name says, or as asked for where that says nothing; else JSON lines.

    >>> format_of("a.CSV", None), format_of("a.docx", "jsonl"), format_of("a", None)
    ('csv', 'jsonl', 'jsonl')
    """
    if output == "table":
        raise click.UsageError("A table is for the terminal; leave out --format or -o.")
    suffix = Path(file).suffix.lower()
    named = known.get(suffix)
    if named and output and named != output:
        raise click.UsageError(
            f"{shown(file)} is {named} by its name; leave out --format {output}, or choose another name."
        )
    found = named or output or (None if suffix else "jsonl")
    if found is None:
        raise click.BadParameter(
            f"{shown(file)} should end in {', '.join(known)}; or choose a --format.", param_hint="-o"
        )
    return found


def check_printable(output: str | None) -> str:
    """Refuse a format that standard output cannot take; JSON lines if none was asked for."""
    if output == "parquet":
        raise click.UsageError("Parquet needs a file: name it with -o.")
    return output or "jsonl"


# --- whose a file is ----------------------------------------------------------------------------------------------


def check_output(file: str, columns: Sequence[str]) -> None:
    """Refuse a file that cannot be written, or that is no earlier output with these columns."""
    check_replaceable(Path(file), lambda head: has_columns(head, columns))


def has_columns(head: bytes, columns: Sequence[str]) -> bool:
    """Tell whether a file begins as records with these columns do, as CSV or as JSON lines; more may follow.

    >>> has_columns(b'{"schema": 2, "rank": 1, "url": "https://a.example/"}', ("schema", "rank")), has_columns(b"rank", ("schema",))
    (True, False)
    """
    line = head.split(b"\n", 1)[0]
    if line.strip() == ",".join(columns).encode():
        return True
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and tuple(record)[: len(columns)] == tuple(columns)


def check_reports(files: Iterable[str], command: str) -> None:
    """Refuse reports whose names do not say how to write them, and what `check_report` refuses."""
    for file in files:
        if not file.lower().endswith(_REPORTS):
            raise click.BadParameter(f"{shown(file)} is neither .html nor .md.", param_hint="--report")
        check_report(file, command)


def check_report(file: str, command: str) -> None:
    """Refuse a report that cannot be written, or whose place has something else, before the work that it tells of."""
    from honeyguide.report.html import HEADINGS  # only for those who want one

    heading = HEADINGS[command]
    first, titled = f"# {heading}\n".encode(), f"<h1>{heading}</h1>".encode()

    def is_ours(head: bytes) -> bool:
        return head.startswith(first) or (_GENERATOR in head and titled in head)

    check_replaceable(Path(file), is_ours, option="--report")


# --- writing ------------------------------------------------------------------------------------------------------


def write_file(file: str | Path, kind: str, records: Iterable[Record], columns: Sequence[str]) -> int:
    """Write records to a file, `jsonl` or `csv`, in one step; gives how many."""
    count = 0
    with (
        replacing(Path(file)) as part,
        part.open("w", encoding="utf-8", errors="backslashreplace", newline="") as target,
    ):
        writer = csv.writer(target, lineterminator="\n")
        if kind == "csv":
            writer.writerow(columns)
        for count, record in enumerate(records, 1):  # noqa: B007 - the last one is how many there are
            if kind == "csv":
                writer.writerow([csv_cell(record.get(name)) for name in columns])
            else:
                target.write(json_line(record) + "\n")
    return count


def tell_written(files: Sequence[str], count: int, what: str) -> None:
    """Name the files that were written, and how much is in them."""
    if files:
        told = f"{count:,} {what}{'' if count == 1 else 's'}"
        click.echo(printable(f"{', '.join(files)}: {told}"), err=True)


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


INTERRUPTED, TOLD = "interrupted", "told"
TOLD_CODE = 128 + 15  # exit code of what SIGTERM has ended, as shells give it


async def until_told(work: Awaitable[str]) -> str:
    """Wait for work, which says why it ended; or give `interrupted` after Ctrl-C, and `told` after SIGTERM."""
    task = asyncio.current_task()
    reasons = [INTERRUPTED]

    def told() -> None:
        reasons.append(TOLD)
        if task is not None:
            task.cancel()

    # Not on Windows, nor outside the main thread.
    with suppress(NotImplementedError, RuntimeError, ValueError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told)
    try:
        return await work
    except asyncio.CancelledError:
        return reasons[-1]
