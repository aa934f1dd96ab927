"""`honeyguide plan`: rank known URLs by what a visit is worth now.

Owns: the command, its filters and its records. Must not know: how rows are read (`rows.py`) or scored.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from honeyguide import app
from honeyguide.cli.command import Command
from honeyguide.cli.files import name_of
from honeyguide.cli.output import (
    Column,
    note,
    number,
    output_options,
    print_table,
    reason_lines,
    say,
    write_records,
)
from honeyguide.cli.rows import read_rows
from honeyguide.config import load_profile
from honeyguide.core.plan import future_fields, read_time
from honeyguide.core.records import SCHEMA, reason_records, tidy
from honeyguide.core.url import display
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from honeyguide.cli.output import Format
    from honeyguide.core.plan import Scored, Signals
    from honeyguide.core.profile import Profile
    from honeyguide.core.records import Record

COLUMNS = ("schema", "rank", "url", "score", "level", "reasons", "points")
MAX_ROWS = 1_000_000  # about a gigabyte of memory; with --top only the best are kept


def _moment(_ctx: click.Context, _option: click.Parameter, value: str | None) -> datetime:
    """Read --now; this is the outermost call, so here the clock may be read (PLAN-4)."""
    try:
        return read_time(value) or datetime.now(UTC)
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(f"{value!r} {error}.") from None


@click.command(
    cls=Command,
    examples=(
        "honeyguide plan known.csv --top 10",
        "honeyguide plan known.jsonl --now 2024-06-15T08:00:00Z --level high --level 'very high'",
        "honeyguide plan - --input-format csv --min-score 60 --format csv < known.csv",
    ),
)
@click.argument("file", metavar="FILE")
@click.option(
    "--input-format", type=click.Choice(["csv", "jsonl"]), help="What FILE is; by its name if not given."
)
@click.option(
    "--now",
    callback=_moment,
    metavar="TIME",
    help="Score as of this time, ISO 8601 with a zone; default is now.",
)
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Print only the best N.")
@click.option(
    "--level", "levels", multiple=True, metavar="NAME", help="Print only URLs of this level; may be repeated."
)
@click.option(
    "--min-score", type=click.FloatRange(0, 100), metavar="N", help="Print only scores of N and more."
)
@click.option(
    "--profile", default="news", show_default=True, metavar="NAME", help="Name or path of the profile."
)
@output_options
def plan(file: str, input_format: str | None, output: Format, profile: str, **asked: Any) -> None:
    """Rank known URLs by what a visit is worth now, 0 to 100, with the reasons.

    FILE is CSV or JSON lines with url, visits, last_visited, last_changed, topic_relevance (0 to 1), hub_depth and
    is_hub; camelCase names are fine too. `-` is standard input.
    """
    chosen = load_profile(profile)
    _check_levels(asked["levels"], chosen)
    now: datetime = asked["now"]
    top: int | None = asked["top"]
    future = _Future(now)
    rows = future.watched(read_rows(file, input_format or _format_of(file)))
    early = None if asked["levels"] else top  # a level may begin below the best N
    ranked = app.rank_urls(_bounded(rows, file, early), now=now, top=early, profile=chosen)
    if not future.rows:
        raise InputError("has no rows; give at least one URL", file=name_of(file))
    future.warn()
    kept = [entry for entry in enumerate(ranked, 1) if _is_asked(entry[1], asked)][:top]
    _print(output, kept, future.rows)


def _format_of(file: str) -> str:
    suffix = file.rpartition(".")[2].lower()
    found = {"csv": "csv", "jsonl": "jsonl", "ndjson": "jsonl"}.get(suffix)
    if found is None:
        raise click.UsageError(
            f"{name_of(file)}: say what it is with --input-format csv or --input-format jsonl."
        )
    return found


def _check_levels(levels: Iterable[str], profile: Profile) -> None:
    known = [level.name for level in profile.levels]
    for level in levels:
        if level not in known:
            raise click.BadParameter(f"{level!r} is none of {', '.join(known)}.", param_hint="--level")


def _is_asked(item: Scored, asked: dict[str, Any]) -> bool:
    levels, least = asked["levels"], asked["min_score"]
    return (not levels or item.level.name in levels) and (least is None or item.score.value >= least)


def _bounded(rows: Iterator[Signals], file: str, top: int | None) -> Iterator[Signals]:
    for count, row in enumerate(rows):
        if top is None and count == MAX_ROWS:
            raise InputError(
                f"has more than {MAX_ROWS:,} rows; ask for the best of them with --top", file=name_of(file)
            )
        yield row


class _Future:
    """Counts the rows, and those with times that lie in the future, as they pass (PLAN-1: they count as just now)."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.rows = 0
        self.found = 0
        self.first = ""

    def watched(self, rows: Iterator[Signals]) -> Iterator[Signals]:
        for row in rows:
            self.rows += 1
            fields = tuple(future_fields(row, self.now))
            if fields:
                self.found += 1
                self.first = self.first or f"row {self.rows} ({', '.join(fields)})"
            yield row

    def warn(self) -> None:
        if self.found:
            rows = "1 row has a time" if self.found == 1 else f"{self.found:,} rows have times"
            note(f"{rows} in the future, counted as just now; the first is {self.first}")


def _print(output: Format, kept: list[tuple[int, Scored]], rows: int) -> None:
    if output != "table":
        write_records(output, (_record(rank, item) for rank, item in kept), COLUMNS)
        return
    columns = (
        Column("#", right=True, keep=True),
        Column("Score", right=True, keep=True),
        Column("Level", keep=True),
    )
    print_table((*columns, Column("URL and why")), (_row(rank, item) for rank, item in kept))
    say()
    say(f"{len(kept):,} of {rows:,} URLs")


def _row(rank: int, item: Scored) -> list[str]:
    lines = [display(item.url), *(f"  {line}" for line in reason_lines(item.score))]
    return [str(rank), number(item.score.value), item.level.name, "\n".join(lines)]


def _record(rank: int, item: Scored) -> Record:
    return {
        "schema": SCHEMA,
        "rank": rank,
        "url": item.url,
        "score": tidy(item.score.value),
        "level": item.level.name,
        "reasons": list(item.score.words),
        "points": reason_records(item.score.reasons),
    }
