"""`honeyguide plan`: rank known URLs by what a visit is worth now.

Owns: the command, its options and its messages. Must not know: how rows are read or scored, or how a plan looks
(`view.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from honeyguide.app import plan as app_plan
from honeyguide.app.arguments import profile_of
from honeyguide.app.plan import OWN_POLICIES, PlanQuery, PlanRequest, policy_names
from honeyguide.cli.command import MOST, Command, Number
from honeyguide.cli.commands.plan.view import show_diff, show_explained, show_plan, write_plan_reports
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
from honeyguide.cli.options import all_options, moment
from honeyguide.cli.output import given_format, note, output_options
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from honeyguide.app.plan import Plan
    from honeyguide.cli.output import Format

_EMPTY_FILES = "has no rows; give at least one URL"
_EMPTY_STORE = "knows no URL yet; honeyguide crawl fills it"
_NOT_IN_FILES = "is not in the input; write it as it stands there"
_NOT_IN_STORE = (
    "is not ranked: it has no visit and waits in no queue; honeyguide explain says what became of it"
)
MAX_ROWS = 1_000_000  # about a gigabyte of memory; with --top only the best are kept


def _now(ctx: click.Context, option: click.Parameter, value: str | None) -> datetime:
    """Read --now; the outermost call may read the clock (PLAN-4)."""
    return moment(ctx, option, value) or datetime.now(UTC)


class _PolicyName(click.Choice[str]):
    """A policy by name; entry points of other packages are searched only if the name is none of our own."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in OWN_POLICIES and value in policy_names():
            return str(value)
        return super().convert(value, param, ctx)


def policy_option(default: str | None, more: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --policy: what ranks pages (core/recrawl/policies.py)."""
    return click.option(
        "--policy",
        type=_PolicyName(OWN_POLICIES),
        default=default,
        show_default=default is not None,
        help=f"How to tell what a visit is worth{more}.",
    )


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        click.argument("files", metavar="[FILE]...", nargs=-1),
        click.option("--store", metavar="FILE", help="Rank the URLs of a store: visited pages and queued links."),
        click.option("--enqueue", is_flag=True, help="Schedule the plan in the store; honeyguide crawl --due fetches it."),
        input_format_option,
        click.option("--now", callback=_now, metavar="TIME", help="Score as of this time, ISO 8601 with a zone, or a date; default is now."),
        click.option("--top", type=click.IntRange(1, MOST), metavar="N", help="Print only the best N."),
        click.option("--level", "levels", multiple=True, metavar="NAME", help="Print only URLs of this level; may be repeated."),
        click.option("--min-score", type=Number(0, 100), metavar="N", help="Print only scores of N and more."),
        click.option("--per-host", type=click.IntRange(1, MOST), metavar="N", help="Print at most N URLs of each host."),
        on_error_option,
        click.option("--check-urls", is_flag=True, help="Check and compare all URLs of Parquet files, not only those that are printed."),
        policy_option(None, "; learned for stores and for files with change rates, else heuristic"),
        click.option("--explain", metavar="URL", help="Print the rank of this URL and what every rule pays it; for a store, a path is enough."),
        click.option("--diff", metavar="PLAN", help="Print what changed since an earlier plan, a file that -o wrote."),
        click.option("-o", "--output", "file", metavar="FILE", help="Write to a .jsonl, .csv or .parquet file, in one step."),
        reports_option,
        click.option("--profile", default="news", show_default=True, metavar="NAME", help="Name or path of the profile."),
        quiet_option,
        output_options,
    )  # fmt: skip
    return all_options(options, command)


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of the command, besides what it reads."""

    store: str | None
    enqueue: bool
    now: datetime
    top: int | None
    levels: tuple[str, ...]
    min_score: float | None
    per_host: int | None
    on_error: str
    check_urls: bool
    policy: str | None
    explain: str | None
    diff: str | None
    file: str | None
    reports: tuple[str, ...]
    quiet: bool
    output: Format


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
@_options
def plan(files: tuple[str, ...], kind: str | None, profile: str, **values: Any) -> None:
    """Rank known URLs by what a visit is worth now, 0 to 100, with the reasons.

    FILE is CSV, JSON lines or Parquet with url, visits, last_visited, last_changed, topic_relevance (0 to 1),
    hub_depth and is_hub; camelCase names are fine too. Only last_visited and last_changed may be missing, but every
    field except url may be empty. Several files and patterns are read as one. `-` is standard
    input. If several rows have the same URL, the last one counts.

    Or use --store to rank the URLs that crawls have found, and --enqueue to have the plan fetched, in its order.
    """
    options = _Options(**values)
    chosen = profile_of(profile)
    known = [level.name for level in chosen.levels]
    for level in options.levels:
        if level not in known:
            raise click.BadParameter(f"{level!r} is none of {', '.join(known)}.", param_hint="--level")
    _check_source(files, kind, options)
    file, written = _destination(files, options)
    request = PlanRequest(
        profile=chosen,
        files=files,
        store=options.store,
        input_format=kind,
        policy=options.policy,
        check_urls=options.check_urls,
        can_enqueue=options.enqueue,
    )
    with (
        rejecting(options.on_error) as rejected,
        app_plan.open_plan(request, reject=rejected, on_note=note) as session,
    ):
        if options.explain is not None:
            row = session.find(options.explain)
            if row is None:
                absent = _NOT_IN_FILES if options.store is None else _NOT_IN_STORE
                raise InputError(f"{shown(options.explain)} {absent}", file=session.name)
            show_explained(session.explain(row, options.now))
            return
        query = PlanQuery(
            now=options.now,
            top=options.top,
            min_score=options.min_score,
            levels=options.levels,
            per_host=options.per_host,
            limit=MAX_ROWS,
        )
        found = session.ranker.plan(query)
        if not found.rows:
            empty = _EMPTY_FILES if options.store is None else _EMPTY_STORE
            raise InputError(none_left(rejected) if rejected and rejected.rows else empty, file=session.name)
        _warn(found)
        write_plan_reports(options.reports, found, session, query)
        if options.diff is not None:
            show_diff(app_plan.diff_plan(options.diff, found, session, options.now), len(found.entries))
        elif file is not None:
            app_plan.write_plan(file, written, found)
        else:
            show_plan(found)
        if not options.quiet:
            tell_written([name for name in (file, *options.reports) if name], len(found.entries), "URL")
        if options.enqueue:
            urls = [entry.scored.url for entry in found.entries]
            scheduled = session.enqueue(urls, options.now, note)
            _tell_scheduled(scheduled.runs, scheduled.unfetchable, session.name)


def _tell_scheduled(runs: Mapping[int, int], left: Sequence[str], name: str) -> None:
    """Name the runs that will fetch the plan, and what no run will: one that it never met or that its rules reject."""
    if total := sum(runs.values()):
        where = ", ".join(f"{count:,} in run {run}" for run, count in runs.items())
        fetched_by = f"honeyguide crawl --due --store {name}"
        note(f"{_urls_are(total)} scheduled, {where}; {fetched_by} fetches them, best first")
    else:
        note("no URL is scheduled")
    if left:
        why = "because no run can fetch them now"
        note(f"{_urls_are(len(left))} not scheduled, {why}; the first is {left[0]}")


def _urls_are(count: int) -> str:
    return "1 URL is" if count == 1 else f"{count:,} URLs are"


def _warn(plan: Plan) -> None:
    """Note rows that were read in an unexpected way (PLAN-1: the future counts as just now)."""
    if plan.future.rows:
        rows = "1 row has a time" if plan.future.rows == 1 else f"{plan.future.rows:,} rows have times"
        note(f"{rows} in the future, counted as just now; the first is {plan.future.first}")
    if count := plan.repeated.rows:
        rows = "1 row repeats" if count == 1 else f"{count:,} rows repeat"
        note(f"{rows} a URL, and the last of each counts; the first is {plan.repeated.first}")
    if plan.dead.rows:
        note(f"{_urls_are(plan.dead.rows)} dropped as dead; the first is {plan.dead.first}")
    if plan.unremembered:
        note("so many URLs are not compared with each other; pip install 'honeyguide[bulk]' does")


def _check_source(files: tuple[str, ...], kind: str | None, options: _Options) -> None:
    if bool(files) == (options.store is not None):
        raise click.UsageError(f"Give FILEs, or a store with --store{', not both' if files else ''}.")
    if options.store is None:
        if options.enqueue:
            raise click.UsageError("--enqueue needs a --store to schedule the plan in.")
        check_kinds(files, kind)
    elif kind is not None or options.check_urls or options.on_error != "stop":
        raise click.UsageError("--input-format, --check-urls and --on-error are for files.")
    elif options.enqueue and (options.explain is not None or options.diff is not None):
        raise click.UsageError("--enqueue takes a whole plan; leave out --explain and --diff.")


def _destination(files: tuple[str, ...], options: _Options) -> tuple[str | None, str]:
    """Settle the file and its format; what could only fail after all rows were ranked is rejected now."""
    if sum(value is not None for value in (options.explain, options.diff, options.file)) > 1:
        raise click.UsageError("Give only one of --explain, --diff and -o.")
    if options.reports and (options.explain is not None or options.diff is not None):
        raise click.UsageError("--report tells of a whole plan; leave out --explain and --diff.")
    file = None if options.file == "-" else options.file
    if file is None and not options.reports:
        return None, ""
    kind = format_of(file, given_format(), ALL_FORMATS) if file else ""
    inputs = app_plan.input_files(files, is_skipping=options.on_error == "skip")
    check_distinct((*inputs, options.store), (file, *options.reports))
    check_reports(options.reports, "plan")
    if file:
        app_plan.check_plan_file(file, kind)
    return file, kind
