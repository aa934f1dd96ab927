"""`honeyguide plan`: rank known URLs by what a visit is worth now.

Owns: the command, its options, its messages and its tables. Must not know: how rows are read or scored (`app.plan`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from honeyguide.app import plan as app_plan
from honeyguide.app.arguments import profile_of
from honeyguide.app.files import check_table, column_names, no_rows, write_table
from honeyguide.app.plan import OWN_POLICIES, SIGNALS, PlanQuery, PlanRequest, plan_record, policy_names
from honeyguide.cli.command import COUNT, Command, Number, option, shared_fields, takes
from honeyguide.cli.options import (
    ALL_FORMATS,
    check_distinct,
    check_kinds,
    check_reports,
    column_option,
    destination,
    input_format_option,
    moment,
    on_error_option,
    quiet_option,
    reading_rows,
    rejected_options,
    reports_option,
    tell_written,
)
from honeyguide.cli.output import (
    Column,
    emit,
    given_format,
    note,
    number,
    output_options,
    point_lines,
    points,
    print_table,
    say,
    verbose_option,
)
from honeyguide.cli.progress import count_of
from honeyguide.core.records import iso
from honeyguide.core.records.fields import PlanRecord
from honeyguide.core.url.url import display
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from honeyguide.app.plan import Plan, PlanSession
    from honeyguide.core.records import Record

_EMPTY_STORE = "knows no URL yet; honeyguide crawl or honeyguide import fills it"
_UNVISITED_STORE = "has no visited page yet; without --visited, the plan has the queued links"
_NOT_IN_FILES = "is not in the input; write it as it stands there"
_NOT_VISITED = "is not ranked: it was never visited, and --visited is set"
_NOT_IN_STORE = (
    "is not ranked: it has no visit and waits in no queue; honeyguide explain says what became of it"
)
_OF_SQL = {"sql", "profile", "now", "quiet", "verbose", "no_color"}  # the options that go with --sql
_MANY_TIED = 10  # others; fewer are seen by a larger --top
MAX_ROWS = 1_000_000  # about a gigabyte of memory; with --top only the best are kept


def _now(ctx: click.Context, option: click.Parameter, value: str | None) -> datetime:
    """Read --now; the outermost call may read the clock (PLAN-4)."""
    return moment(ctx, option, value) or datetime.now(UTC)


class _PolicyName(click.Choice[str]):
    """A policy by name; entry points of other packages are searched for the help, and if the name is none of our own."""

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return click.Choice(policy_names()).get_metavar(param, ctx)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return click.Choice(OWN_POLICIES if value in OWN_POLICIES else policy_names()).convert(
            value, param, ctx
        )


def policy_option(default: str | None, usual: str = "") -> Any:
    """Declare --policy: what ranks pages (core/recrawl/policies.py)."""
    about = f"How to tell what a visit is worth.{f'  [default: {usual}]' if usual else ''}"
    return option("--policy", about, default=default, type=_PolicyName(OWN_POLICIES))


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What is ranked, as of when, and what is printed or written of it."""

    store: str | None = option(
        "--store FILE", "Rank the URLs of a store instead: visited pages and queued links."
    )
    visited: bool = option("--visited", "With --store: only pages that were visited, no queued links.")
    enqueue: bool = option("--enqueue", "Schedule the plan in the store, for crawl --due.")
    input_format: str | None = input_format_option()
    columns: Mapping[str, str] = column_option(*SIGNALS)
    now: datetime = option(
        "--now TIME", "Score as of this time: ISO 8601 with a zone, or a date.  [default: now]", callback=_now
    )
    top: int | None = option("--top N", "Print only the best N.", type=COUNT)
    budget: int | None = option(
        "--budget N",
        "Visits that can be made: pages within it are high or better; not for heuristic.",
        type=COUNT,
    )
    levels: tuple[str, ...] = option("--level NAME", "Print only URLs of this level; may be repeated.")
    min_score: float | None = option("--min-score N", "Print only scores of N and more.", type=Number(0, 100))
    max_score: float | None = option("--max-score N", "Print only scores below N.", type=Number(0, 100))
    per_host: int | None = option("--per-host N", "Print at most N URLs of each host.", type=COUNT)
    on_error: str = on_error_option()
    check_urls: bool = option("--check-urls", "Check all URLs of Parquet files, not only printed ones.")
    policy: str | None = policy_option(None, "learned for stores and files with change rates, else heuristic")
    explain: str | None = option(
        "--explain URL",
        "Print the rank of this URL and the points of every rule; for a store, a path is enough.",
    )
    sql: str | None = option(
        "--sql DIALECT",
        "Print SQL that scores a table named known: duckdb, postgres or spark.",
        type=click.Choice(("duckdb", "postgres", "spark")),
    )
    file: str | None = option("-o --output FILE", "Write to a .jsonl, .csv, .parquet or .xlsx file.")
    reports: tuple[str, ...] = reports_option()
    profile: str = option("--profile NAME", "Name or path of the profile.", default="news")
    quiet: bool = quiet_option()


@click.command(
    cls=Command,
    examples=(
        "honeyguide plan known.csv --top 10",
        "honeyguide plan known.jsonl --now 2024-06-15T08:00:00Z --level high --level 'very high'",
        "honeyguide plan - --input-format csv --min-score 60 --format csv < known.csv",
        "honeyguide plan visits.csv --column address --column last_visited=crawled --top 10",
        "honeyguide plan known.csv --explain https://news.example/world",
        "honeyguide plan --store honeyguide.db --top 100 --enqueue",
        "honeyguide plan known.csv --top 10 --report plan.html",
        "honeyguide plan --sql duckdb --profile news",
    ),
)
@click.argument("files", metavar="[FILE]...", nargs=-1)
@takes(options=PlanOptions)
@verbose_option
@output_options
def plan(files: tuple[str, ...], options: PlanOptions) -> None:
    """Rank known URLs by what a visit is worth now, 0 to 100, with the reasons.

    FILE is CSV, JSON lines or Parquet, also as .gz or .zst, with the columns url, visits, last_visited, last_changed,
    topic_relevance (0 to 1), hub_depth and is_hub. Only url is required. Files, folders and
    patterns such as 'known/**/*.csv' are read as one; `-` is standard input. Times without a zone are UTC. If rows have the
    same URL, the last one counts.
    """
    if options.sql is not None:
        _check_sql(files)
        click.echo(app_plan.plan_sql(options.sql, now=options.now, profile=options.profile), nl=False)
        return
    chosen = profile_of(options.profile)
    _check_wanted(options, [level.name for level in chosen.levels])
    _check_source(files, options)
    place = _destination(files, options)
    named = {**shared_fields(options, PlanRequest), "profile": chosen, "files": files}
    request = PlanRequest(**named, can_enqueue=options.enqueue)
    with (
        reading_rows(options.on_error, quiet=options.quiet) as (rejected, progress),
        app_plan.open_plan(request, reject=rejected, on_note=progress.note, on_rows=progress.read) as session,
    ):
        if options.explain is not None:
            record = _explained(options.explain, session, options)
            progress.stop()
            emit([record], tuple(record), _show_explained)
            return
        query = PlanQuery(**shared_fields(options, PlanQuery), limit=MAX_ROWS)
        with rejected_options():
            app_plan.check_budget(session.ranker, query)
        found = session.ranker.plan(query)
        progress.stop()
        if not found.rows:
            if options.store is None:
                raise no_rows([session.name], rejected)
            raise InputError(_no_urls(session.refused, is_visited=options.visited), file=session.name)
        _warn(found, session)
        _write_reports(options.reports, found, session, query)
        _write(found, place, options)
        if options.enqueue:
            urls = [entry.scored.url for entry in found.entries]
            scheduled = session.enqueue(urls, options.now, note)
            _tell_scheduled(scheduled.runs, scheduled.unfetchable, session.name)


def _explained(url: str, session: PlanSession, options: PlanOptions) -> Record:
    row = session.find(url)
    if row is None:
        absent = _NOT_IN_FILES if options.store is None else _NOT_IN_STORE
        absent = _NOT_VISITED if options.visited else absent
        raise InputError(f"{shown(url)} {absent}", file=session.name)
    return session.explain(row, options.now)


def _write(found: Plan, place: tuple[str | None, str], options: PlanOptions) -> None:
    """Write the plan to the file of -o, or print it."""
    file, kind = place
    if file is not None:
        write_table(Path(file), kind, map(plan_record, found.entries), PlanRecord)
    else:
        records: Iterator[Record] = ({**plan_record(entry)} for entry in found.entries)
        emit(records, column_names(PlanRecord), lambda entries: _show_plan(entries, found))
    if not options.quiet:
        tell_written((file, *options.reports), len(found.entries), "URL")


def _no_urls(refused: int, *, is_visited: bool) -> str:
    """Say why a store has nothing to rank, and what to do."""
    if refused:
        from honeyguide.cli.crawl_lines import refused_words  # of crawls, and rarely wanted here

        return f"knows no URL that may be visited: {refused_words(refused)}"
    return _UNVISITED_STORE if is_visited else _EMPTY_STORE


def _tell_scheduled(runs: Mapping[int, int], left: Sequence[str], name: str) -> None:
    """Name the runs that will fetch the plan, and what no run will: one that it never met or that its rules reject."""
    if total := sum(runs.values()):
        where = ", ".join(f"{count:,} in run {run}" for run, count in runs.items())
        fetched_by = f"honeyguide crawl --due --store {name}"
        note(
            f"{count_of(total, 'URL is', 'URLs are')} scheduled, {where}; {fetched_by} fetches them, best first"
        )
    else:
        note("no URL is scheduled")
    if left:
        why = "because no run can fetch them now"
        note(f"{count_of(len(left), 'URL is', 'URLs are')} not scheduled, {why}; the first is {left[0]}")


def _warn(plan: Plan, session: PlanSession) -> None:
    """Note rows that were read in an unexpected way (PLAN-1: the future counts as just now)."""
    if plan.future.rows:
        rows = count_of(plan.future.rows, "row has a time", "rows have times")
        note(f"{rows} in the future, counted as just now; the first is {plan.future.first}")
    if plan.repeated.rows:
        rows = count_of(plan.repeated.rows, "row repeats", "rows repeat")
        note(f"{rows} a URL, and the last of each counts; the first is {plan.repeated.first}")
    if plan.dead.rows:
        note(
            f"{count_of(plan.dead.rows, 'URL is', 'URLs are')} dropped as dead; the first is {plan.dead.first}"
        )
    if plan.tied >= _MANY_TIED:
        last = plan.entries[-1].scored.score.value
        same = sum(entry.scored.score.value == last for entry in plan.entries)
        what = "the last one ties" if same == 1 else f"the last {same:,} tie"
        order = "order of the input" if session.stored is None else "order of the store"
        note(f"{what} with {plan.tied:,} others at {number(last)}; the same score keeps the {order}")
    if plan.unremembered:
        note("so many URLs are not compared with each other: one that repeats may be ranked more than once")


def _check_sql(files: tuple[str, ...]) -> None:
    """Reject what a query cannot do: its text is all that is made."""
    ctx = click.get_current_context()
    given = [
        param.opts[-1]
        for param in ctx.command.params
        if isinstance(param, click.Option)
        and param.name not in _OF_SQL
        and ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
    ]
    if files or given:
        what = ", ".join([*(["FILE"] if files else []), *given])
        raise click.UsageError(f"--sql ranks nothing and prints a query; leave out {what}.")


def _check_wanted(options: PlanOptions, known: Sequence[str]) -> None:
    for level in options.levels:
        if level not in known:
            raise click.BadParameter(f"{level!r} is none of {', '.join(known)}.", param_hint="--level")
    least = options.min_score or 0.0
    if options.max_score is not None and options.max_score <= least:
        raise click.BadParameter(f"no score is below it and at least {least:g}.", param_hint="--max-score")


def _check_source(files: tuple[str, ...], options: PlanOptions) -> None:
    if bool(files) == (options.store is not None):
        raise click.UsageError(f"Give FILEs, or a store with --store{', not both' if files else ''}.")
    if options.store is None:
        if options.enqueue:
            raise click.UsageError("--enqueue needs a --store to schedule the plan in.")
        if options.visited:
            raise click.UsageError("--visited is for a --store; a file has the rows that you want ranked.")
        check_kinds(files, options.input_format)
    elif options.input_format is not None or options.check_urls or options.on_error != "stop":
        raise click.UsageError("--input-format, --check-urls and --on-error are for files.")
    of_plans = {
        "--budget takes": options.budget,
        "--enqueue takes": options.enqueue,
        "-o and --report take": options.file or options.reports,
    }
    for what, value in of_plans.items():
        if value and options.explain is not None:
            raise click.UsageError(f"{what} a whole plan; leave out --explain.")


def _destination(files: tuple[str, ...], options: PlanOptions) -> tuple[str | None, str]:
    """Settle the file and its format; what could only fail after all rows were ranked is rejected now."""
    file, kind = destination(options.file, given_format(), ALL_FORMATS)
    if file is None and not options.reports:
        return None, ""
    inputs = app_plan.input_files(files, is_skipping=options.on_error == "skip")
    check_distinct((*inputs, options.store), (file, *options.reports))
    check_reports(options.reports, "plan")
    if file:
        check_table(Path(file), kind, PlanRecord)
    return file, kind


# What the rules of profiles read (PLAN-1).
CARD_NAMES = frozenset({"visits", "last_visited", "last_changed", "topic_relevance", "hub_depth", "is_hub"})
_WHOLE_FROM = 1_000.0  # numbers that people read without a fraction
_FRACTION = re.compile(r"(T[0-9]{2}:[0-9]{2}:[0-9]{2})\.[0-9]+")
_BAR = 40  # characters of the longest bar


def _show_plan(records: Iterable[Record], plan: Plan) -> None:
    numbers = Column.number("#"), Column.number("Score")
    print_table((*numbers, Column.whole("Level"), Column("URL and why")), map(_row, records))
    say()
    say(f"{len(plan.entries):,} of {plan.rows:,} URLs")
    say()
    most, wide = max(plan.levels.values()), max(map(len, plan.levels))
    for name, count in plan.levels.items():
        bar = "#" * -(-count * _BAR // most)  # rounded up, so that one URL is seen, too
        say(f"{name:<{wide}}  {count:>{len(f'{most:,}')},}  {bar}".rstrip())
    if plan.ranges:
        ranks = (f"{one.level.name} to rank {one.last:,}" for one in plan.ranges[:-1])
        say()
        say(f"Levels are relative to the budget: {', '.join(ranks)}")


def _row(record: Record) -> list[str]:
    lines = [display(record["url"]), *(f"  {line}" for line in point_lines(record))]
    return [str(record["rank"]), number(record["score"]), record["level"], "\n".join(lines)]


def _show_explained(records: Iterable[Record]) -> None:
    """Print the rank of one URL, its signals, and what every rule of the card pays it."""
    (record,) = records
    say(display(record["url"]))
    say(f"Rank {record['rank']:,}, score {record['score']}, {record['level']}: {record['advice']}.")
    if record["next_due"] is not None:
        due = _shown(record["next_due"])
        say(
            f"Relative to all pages, the next visit is due {due}: then its value reaches that of the best tenth."
        )
    say()
    known = {
        name: value for name, value in record["signals"].items() if value is not None or name in CARD_NAMES
    }
    signals = [[name, _shown(value)] for name, value in known.items()]
    print_table((Column("Signal"), Column("Value")), signals)
    say()
    paid = ("-" if rule["points"] is None else points(rule["points"]) for rule in record["rules"])
    rules = [[one, rule["rule"], rule["reason"]] for one, rule in zip(paid, record["rules"], strict=True)]
    print_table((Column("Points", right=True), Column.whole("Rule"), Column("Reason")), rules)
    if record["unknown"]:
        say()
        say(f"Not known: {', '.join(record['unknown'])}")


def _shown(value: Any) -> str:
    """Write a value for people: numbers to four digits, times to the second."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= _WHOLE_FROM else f"{value:.4g}"
    return _FRACTION.sub(r"\1", str(value))


# --- reports ---


def _write_reports(files: Sequence[str], plan: Plan, session: PlanSession, query: PlanQuery) -> None:
    if not files:
        return
    from honeyguide.report import write_sheet  # only for those who want one
    from honeyguide.report.plan import PlanReportData, plan_sheet
    from honeyguide.report.sheet import MAX_PAGES

    advice = {level.name: level.advice for level in session.profile.levels}
    data = PlanReportData(
        [plan_record(entry) for entry in islice(plan.entries, MAX_PAGES)],
        [entry.scored.url for entry in plan.entries],
        {name: (count, advice[name]) for name, count in plan.levels.items()},
        list(_facts(plan, session, query)),
    )
    for file in files:
        write_sheet(plan_sheet(data), Path(file))


def _facts(plan: Plan, session: PlanSession, query: PlanQuery) -> Iterator[tuple[str, str | None]]:
    yield "Command", f"honeyguide plan {_source_of(session)}"
    yield "As of", iso(query.now.timestamp())
    yield "Policy", session.ranker.policy
    yield "Profile", f"{session.profile.name}, {session.profile.hash}"
    yield "Asked for", "; ".join(_limits(query))
    counts = {"Times in the future": plan.future, "Repeated": plan.repeated, "Dropped as dead": plan.dead}
    for what, count in counts.items():
        yield what, f"{count.rows:,}; the first is {count.first}" if count.rows else None


def _source_of(session: PlanSession) -> str:
    if session.stored is None:
        return session.name
    return f"--store {session.name}{' --visited' if session.stored.is_visited else ''}"


def _limits(query: PlanQuery) -> Iterator[str]:
    if query.top is not None:
        yield f"the best {query.top:,}"
    if query.levels:
        yield f"level {', '.join(query.levels)}"
    if query.min_score is not None:
        yield f"scores of {number(query.min_score)} and more"
    if query.max_score is not None:
        yield f"scores below {number(query.max_score)}"
    if query.per_host is not None:
        yield f"at most {query.per_host:,} of each host"
    if query.budget is not None:
        yield f"levels relative to a budget of {query.budget:,} visits"
