"""`honeyguide plan`: rank known URLs by what a visit is worth now.

Owns: the command, its options and what it says besides. Must not know: how rows are read or scored, or how a plan
looks (`planned.py`).
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from honeyguide import app
from honeyguide.adapters.files.read import STDIN, expanded, name_of
from honeyguide.adapters.files.rows import rejected_name
from honeyguide.app.arguments import is_path, on_sites
from honeyguide.app.plan import LEARNED, open_known
from honeyguide.cli.command import MOST, Command, Number
from honeyguide.cli.commands.plan.diff import show_diff
from honeyguide.cli.commands.plan.view import (
    check_plan_file,
    show_explained,
    show_plan,
    write_plan,
    write_plan_reports,
)
from honeyguide.cli.files import (
    ALL_FORMATS,
    check_distinct,
    check_kinds,
    check_reports,
    format_of,
    input_format_option,
    none_left,
    on_error_option,
    quiet_option,
    rejecting,
    reports_option,
    tell_written,
)
from honeyguide.cli.options import moment
from honeyguide.cli.output import given_format, note, output_options
from honeyguide.config import load_profile
from honeyguide.core.recrawl.policies import POLICIES
from honeyguide.core.recrawl.ranking import PlanQuery
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from honeyguide.adapters.files.rows import Rejected
    from honeyguide.adapters.store.known import StoreTable
    from honeyguide.cli.output import Format
    from honeyguide.core.recrawl.ranking import KnownUrl, Plan
    from honeyguide.core.rules.profile import Profile
    from honeyguide.jobs.watch import Scheduled
    from honeyguide.ports.rank import Table


# What to say where there is nothing, and where a URL is not there.
_FILE_WORDS = ("has no rows; give at least one URL", "is not in the input; write it as it stands there")
_STORE_WORDS = (
    "knows no URL yet; honeyguide crawl fills it",
    "is not ranked: it has no visit and waits in no queue; honeyguide explain says what became of it",
)
MAX_ROWS = 1_000_000  # about a gigabyte of memory; with --top only the best are kept


def _now(ctx: click.Context, option: click.Parameter, value: str | None) -> datetime:
    """Read --now; this is the outermost call, so here the clock may be read (PLAN-4)."""
    return moment(ctx, option, value) or datetime.now(UTC)


class _PolicyName(click.Choice[str]):
    """Our own policies by name; one that another package brings is looked for only when it is asked for."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read a name."""
        if value not in POLICIES:
            from honeyguide.adapters.plugins import policy_names

            if value in policy_names():
                return str(value)
        return super().convert(value, param, ctx)


def policy_option(default: str | None, more: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --policy: what ranks pages (core/recrawl/policies.py)."""
    return click.option(
        "--policy",
        type=_PolicyName(list(POLICIES)),
        default=default,
        show_default=default is not None,
        help=f"How to tell what a visit is worth{more}.",
    )


@dataclass(frozen=True, slots=True)
class _Wish:
    """How the plan is to be shown."""

    output: Format
    file: str | None
    kind: str
    diff: str | None
    explain: str | None
    reports: tuple[str, ...]
    quiet: bool


@dataclass(frozen=True, slots=True)
class _Known:
    """Where known URLs are: in files, or in a store, which alone can take a plan."""

    table: Table
    name: str
    empty: str
    absent: str
    stored: StoreTable | None = None
    rejected: Rejected | None = None


@click.command(
    cls=Command,
    examples=(
        "honeyguide plan known.csv --top 10",
        "honeyguide plan known.jsonl --now 2024-06-15T08:00:00Z --level high --level 'very high'",
        "honeyguide plan - --input-format csv --min-score 60 --format csv < known.csv",
        "honeyguide plan known.csv --explain https://news.example/world",
        "honeyguide plan --store honeyguide.db --top 100 --enqueue",
        "honeyguide plan known.csv --top 10 --report plan.html",
    ),
)
@click.argument("files", metavar="[FILE]...", nargs=-1)
@click.option(
    "--store", metavar="FILE", help="Rank what a store knows: pages that were visited, and links that wait."
)
@click.option(
    "--enqueue", is_flag=True, help="Schedule the plan in the store; honeyguide crawl --due fetches it."
)
@input_format_option
@click.option(
    "--now",
    callback=_now,
    metavar="TIME",
    help="Score as of this time, ISO 8601 with a zone, or a date; default is now.",
)
@click.option("--top", type=click.IntRange(1, MOST), metavar="N", help="Print only the best N.")
@click.option(
    "--level", "levels", multiple=True, metavar="NAME", help="Print only URLs of this level; may be repeated."
)
@click.option("--min-score", type=Number(0, 100), metavar="N", help="Print only scores of N and more.")
@click.option(
    "--per-host", type=click.IntRange(1, MOST), metavar="N", help="Print at most N URLs of each host."
)
@on_error_option
@click.option(
    "--check-urls",
    is_flag=True,
    help="Check and compare all URLs of Parquet files, too, and not only those that are printed.",
)
@policy_option(None, "; learned for stores and for files with change rates, else heuristic")
@click.option(
    "--explain",
    metavar="URL",
    help="Say where this URL stands, and what every rule says to it; of a store, a path will do.",
)
@click.option(
    "--diff", metavar="PLAN", help="Print what changed since an earlier plan, a file that -o wrote."
)
@click.option(
    "-o", "--output", "file", metavar="FILE", help="Write to a .jsonl, .csv or .parquet file, in one step."
)
@reports_option
@click.option(
    "--profile", default="news", show_default=True, metavar="NAME", help="Name or path of the profile."
)
@quiet_option
@output_options
def plan(files: tuple[str, ...], kind: str | None, profile: str, **asked: Any) -> None:
    """Rank known URLs by what a visit is worth now, 0 to 100, with the reasons.

    FILE is CSV, JSON lines or Parquet with url, visits, last_visited, last_changed, topic_relevance (0 to 1),
    hub_depth and is_hub; camelCase names are fine too. Only last_visited and last_changed may be missing, but every
    field except url may be empty. Several files and patterns are read as one. `-` is standard
    input. Of rows with the same URL, the last one counts.

    Or --store ranks what crawls have found, and --enqueue has the plan fetched, in its order.
    """
    chosen = load_profile(profile)
    _check_levels(asked["levels"], chosen)
    _check_source(files, kind, asked)
    file, written = _destination(files, asked)
    wish = _Wish(
        asked["output"], file, written, asked["diff"], asked["explain"], asked["reports"], asked["quiet"]
    )
    with _opened(files, kind, chosen, asked) as known:
        urls = _answer(known, _asked(asked), wish, chosen)
        if asked["enqueue"] and known.stored is not None:
            _tell(app.enqueue(known.stored, urls, asked["now"].timestamp(), note), known.name)


@contextmanager
def _opened(
    files: tuple[str, ...], kind: str | None, profile: Profile, asked: dict[str, Any]
) -> Iterator[_Known]:
    """Open the store or the files; rows that were left out are told in the end."""
    if asked["store"] is not None:
        policy = asked["policy"] or LEARNED
        with app.stored_table(asked["store"], profile, policy, read_only=not asked["enqueue"]) as stored:
            yield _Known(stored, asked["store"], *_STORE_WORDS, stored)
        return
    with rejecting(asked["on_error"]) as rejected:
        table = open_known(
            files,
            profile,
            kind=kind,
            policy=asked["policy"],
            reject=rejected,
            check_urls=asked["check_urls"],
            tell=note,
        )
        yield _Known(table, ", ".join(map(name_of, files)), *_FILE_WORDS, rejected=rejected)


def _asked(options: dict[str, Any]) -> PlanQuery:
    return PlanQuery(
        options["now"], options["top"], options["min_score"], options["levels"], options["per_host"], MAX_ROWS
    )


def _answer(known: _Known, asked: PlanQuery, wish: _Wish, profile: Profile) -> list[str]:
    """Show what is wished for; gives the URLs of the plan."""
    if wish.explain is not None:
        row = _found(known, wish.explain)
        if row is None:
            raise InputError(f"{shown(wish.explain)} {known.absent}", file=known.name)
        show_explained(wish.output, known.table, row, asked.now, profile)
        return []
    found = known.table.plan(asked)
    if not found.rows:
        rejected = known.rejected
        raise InputError(none_left(rejected) if rejected and rejected.rows else known.empty, file=known.name)
    _warn(found)
    write_plan_reports(wish.reports, found, (known.name, known.table.policy), asked, profile)
    if wish.diff is not None:
        show_diff(wish.output, wish.diff, found, known.table, asked.now)
    elif wish.file is not None:
        write_plan(wish.file, wish.kind, found)
    else:
        show_plan(wish.output, found)
    if not wish.quiet:
        tell_written([file for file in (wish.file, *wish.reports) if file], len(found.entries), "URL")
    return [entry.scored.url for entry in found.entries]


def _found(known: _Known, text: str) -> KnownUrl | None:
    """Find a row; in a store a path will do, too: on the sites of the newest crawl first."""
    texts = [text]
    if known.stored is not None and is_path(text):
        store = known.stored.store
        runs = (store.frontier(run).sites() for run in reversed(store.runs()))
        texts = [address for sites in runs for address in on_sites(text, sites)]
    rows = known.table.find(texts)
    return next((rows[one] for one in texts if one in rows), None)


def _tell(scheduled: Scheduled, name: str) -> None:
    """Say what was scheduled where, and what was not: a run fetches only what it has met and its rules let in."""
    runs = ", ".join(f"{count:,} in run {run}" for run, count in scheduled.runs.items())
    urls = "1 URL is" if scheduled.total == 1 else f"{scheduled.total:,} URLs are"
    if scheduled.total:
        note(f"{urls} scheduled, {runs}; honeyguide crawl --due --store {name} fetches them, best first")
    else:
        note("no URL is scheduled")
    if scheduled.left:
        urls = "1 URL is" if len(scheduled.left) == 1 else f"{len(scheduled.left):,} URLs are"
        note(f"{urls} left out, because no run can fetch them now; the first is {scheduled.left[0]}")


def _warn(plan: Plan) -> None:
    """Say what was read in a way that somebody may not expect (PLAN-1: the future counts as just now)."""
    if plan.future.rows:
        rows = "1 row has a time" if plan.future.rows == 1 else f"{plan.future.rows:,} rows have times"
        note(f"{rows} in the future, counted as just now; the first is {plan.future.first}")
    if plan.repeated.rows:
        rows = (
            "1 row repeats a URL" if plan.repeated.rows == 1 else f"{plan.repeated.rows:,} rows repeat a URL"
        )
        note(f"{rows}, and the last of each counts; the first is {plan.repeated.first}")
    if plan.dead.rows:
        urls = "1 URL is" if plan.dead.rows == 1 else f"{plan.dead.rows:,} URLs are"
        note(f"{urls} left out as dead; the first is {plan.dead.first}")
    if plan.unremembered:
        note("so many URLs are not compared with each other; pip install 'honeyguide[bulk]' does")


def _check_source(files: tuple[str, ...], kind: str | None, asked: dict[str, Any]) -> None:
    """Refuse two sources, none, and what makes no sense for one."""
    if bool(files) == (asked["store"] is not None):
        raise click.UsageError(f"Give FILEs, or a store with --store{', not both' if files else ''}.")
    if asked["store"] is None:
        if asked["enqueue"]:
            raise click.UsageError("--enqueue needs a --store to schedule the plan in.")
        check_kinds(files, kind)
    elif kind is not None or asked["check_urls"] or asked["on_error"] != "stop":
        raise click.UsageError("--input-format, --check-urls and --on-error are for files.")
    elif asked["enqueue"] and (asked["explain"] is not None or asked["diff"] is not None):
        raise click.UsageError("--enqueue takes a whole plan; leave out --explain and --diff.")


def _destination(files: tuple[str, ...], asked: dict[str, Any]) -> tuple[str | None, str]:
    """Settle where the plan goes and how it is written there; refuses what could only fail after all rows were ranked."""
    ways = [name for name in ("explain", "diff", "file") if asked[name] is not None]
    if len(ways) > 1:
        raise click.UsageError("Give only one of --explain, --diff and -o.")
    reports = asked["reports"]
    if reports and (asked["explain"] is not None or asked["diff"] is not None):
        raise click.UsageError("--report tells of a whole plan; leave out --explain and --diff.")
    file = None if asked["file"] == STDIN else asked["file"]
    if file is None and not reports:
        return None, ""
    kind = format_of(file, given_format(), ALL_FORMATS) if file else ""
    inputs = [path for given in files for path in expanded(given)]
    others = [rejected_name(name_of(path)) for path in inputs if asked["on_error"] == "skip"]
    check_distinct((*inputs, *others, asked["store"]), (file, *reports))
    check_reports(reports, "plan")
    if file:
        check_plan_file(file, kind)
    return file, kind


def _check_levels(levels: Iterable[str], profile: Profile) -> None:
    known = [level.name for level in profile.levels]
    for level in levels:
        if level not in known:
            raise click.BadParameter(f"{level!r} is none of {', '.join(known)}.", param_hint="--level")
