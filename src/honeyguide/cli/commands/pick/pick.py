"""`honeyguide pick`: the pages worth a visit of many sites.

Owns: the command, its options, and what they come to. Must not know: how a site is picked (`app` does), how a list is
read (`adapters/files/sites.py`), how records are kept (`sinks.py`). Start reading at `pick`, then `_Work.run`.
"""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honeyguide import app
from honeyguide.adapters.files.read import STDIN
from honeyguide.adapters.files.sites import NoColumnError
from honeyguide.app.files import PickFile, PickRun
from honeyguide.cli.command import Command
from honeyguide.cli.commands.pick.select import strategy_profile
from honeyguide.cli.commands.pick.sinks import PrintedRecords, write_reports
from honeyguide.cli.files import (
    ALL_FORMATS,
    any_format_option,
    check_distinct,
    check_reports,
    format_of,
    reports_option,
)
from honeyguide.cli.options import all_options, fetch_options, named_rows, policy_of
from honeyguide.cli.output import is_plain, no_color_option, note, say
from honeyguide.cli.progress import LINE_EVERY_SHARE, Progress, not_ok_words, sites_summary
from honeyguide.core.text.printable import printable
from honeyguide.errors import InputError, shown
from honeyguide.jobs.pick import PickRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.adapters.files.sites import SiteRow
    from honeyguide.cli.commands.pick.sinks import Sink
    from honeyguide.core.fetching import FetchPolicy
    from honeyguide.core.records import Record


_REQUEST = ("strategy", "profile", "cap", "query", "content", "include", "exclude", "timings")


def _what_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what is looked for on each site."""
    options = (
        click.option("--strategy", default="portfolio", show_default=True, metavar="NAME", help="How to choose: portfolio, rules, blend, or one of the profile's own."),
        click.option("--profile", metavar="NAME", help="Name or path of the profile; the strategy's own if not given."),
        click.option("--cap", type=click.IntRange(1, 1000), metavar="N", help="Choose at most N pages of a site; the profile says 4."),
        click.option("--query", metavar="WORDS", help="What blend looks for, instead of the profile's words."),
        click.option("--include", metavar="PATTERN", help="Consider only URLs that match."),
        click.option("--exclude", metavar="PATTERN", help="Leave out URLs that match."),
        click.option("--content", is_flag=True, help="Add Markdown, headings, keywords and evidence of each chosen page."),
        click.option("--no-timings", "timings", flag_value=False, default=True, help="Leave out elapsed_s, so that equal runs give equal bytes."),
    )  # fmt: skip
    return all_options(options, command)


def _where_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add where sites come from and records go to."""
    options = (
        click.option("-i", "--input", "inputs", multiple=True, metavar="FILE", help="A list of sites; may be repeated."),
        click.option("--column", metavar="NAME", help="The column of a table that names the site; domain, website or url if not given."),
        click.option("-o", "--output", "file", metavar="FILE", help="Keep the records in a file; the same command goes on where it was stopped."),
        any_format_option,
        click.option("--fresh", is_flag=True, help="Start over, whatever -o holds."),
        click.option("--retry-failed", is_flag=True, help="Try sites of -o again whose status is not ok."),
        reports_option,
        click.option("-q", "--quiet", is_flag=True, help="Say nothing about progress."),
    )  # fmt: skip
    return all_options(options, command)


@click.command(
    cls=Command,
    examples=(
        "honeyguide pick acme.example",
        "honeyguide pick -i companies.csv -o picks.jsonl --report picks.html",
        "honeyguide pick acme.example www.acme.example --strategy rules --cap 6 --format csv",
    ),
)
@click.argument("sites", metavar="[SITE]...", nargs=-1)
@_where_options
@_what_options
@fetch_options("Sites at once.", 16)
@no_color_option
def pick(sites: tuple[str, ...], **asked: Any) -> None:
    """Pick the pages worth a visit of each site, and say why.

    SITE is a name, such as acme.com, or an address; `-` reads a list from standard input. A list is text with one
    site a line, CSV, JSON lines, Parquet, Markdown or a sitemap:

      honeyguide pick -i sites.csv -o picks.jsonl --report picks.html

    Ctrl-C, or worse, loses nothing that is finished: the same command goes on with the rest.
    """
    destination, output = _destination(asked)
    profile = strategy_profile(asked)
    asked["profile"] = asked["profile"] or profile.name
    request = PickRequest(**{name: asked[name] for name in _REQUEST})
    policy = policy_of(asked)
    rows = _rows(sites, asked)
    sink: Sink
    if destination is None:
        sink = PrintedRecords(output, len(rows), keep=bool(asked["reports"]))
    else:
        settings = {name: asked[name] for name in _REQUEST if name != "profile"}
        settings["profile_hash"] = profile.hash
        run = PickRun(settings, tuple(row.text for row in rows), output)
        sink = PickFile(destination, run, restart=asked["fresh"])
    _Work(rows, request, policy, sink, asked).run()


# --- what is asked for --------------------------------------------------------------------------------------------


def _destination(asked: dict[str, Any]) -> tuple[Path | None, str]:
    """Settle where records go, and how they are written there."""
    file, output = asked["file"], asked["output"]
    check_distinct(asked["inputs"], (file, *asked["reports"]))
    check_reports(asked["reports"], "pick")
    if file in (None, STDIN):
        if output == "parquet":
            raise click.UsageError("Parquet needs a file: name it with -o.")
        if asked["fresh"] or asked["retry_failed"]:
            raise click.UsageError("--fresh and --retry-failed are about the file of -o: name it.")
        return None, output or ("table" if sys.stdout.isatty() else "jsonl")
    if asked["fresh"] and asked["retry_failed"]:
        raise click.UsageError("--fresh tries every site again; leave out --retry-failed.")
    return Path(file), format_of(file, output, ALL_FORMATS)


def _rows(sites: tuple[str, ...], asked: dict[str, Any]) -> list[SiteRow]:
    """Read all sites that are named, each once."""
    if not sites and not asked["inputs"]:
        raise click.UsageError("Give a SITE, or a list of sites with -i FILE.")
    if asked["column"] is not None and not asked["inputs"] and STDIN not in sites:
        raise click.UsageError("--column is about a table: name it with -i FILE.")
    try:
        kept, repeated = named_rows(sites, asked["inputs"], asked["column"])
    except NoColumnError as error:
        if error.column is not None:
            raise
        raise InputError(f"{error.what}: name one with --column", file=error.file) from None
    if repeated:
        count = "1 site is" if len(repeated) == 1 else f"{len(repeated):,} sites are"
        note(f"{count} named again and picked once; the first is {shown(repeated[0].text)}")
    return kept


# --- the run ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Work:
    """One run over the sites whose records are missing."""

    rows: list[SiteRow]
    request: PickRequest
    policy: FetchPolicy
    sink: Sink
    asked: dict[str, Any]

    def run(self) -> None:
        """Pick, and tell how it went. After Ctrl-C everything is told before it is raised."""
        try:
            self._run()
        finally:
            self.sink.close()

    def _run(self) -> None:
        if self.asked["retry_failed"]:
            self.sink.forget_failed()
        if self.sink.is_complete:
            note(f"{self.sink.name} is complete already; --fresh starts over")
        missing = self.sink.missing
        total, statuses = len(self.rows), self.sink.statuses()
        progress = Progress(
            "site",
            total=total,
            before=statuses.total(),
            step=total * LINE_EVERY_SHARE,
            details=lambda _now: not_ok_words(statuses),
        )
        quiet = self.asked["quiet"]
        with progress.shown(quiet=quiet or not missing, no_color=is_plain()):

            def finish(index: int, record: Record) -> None:
                with nullcontext() if self.sink.name else progress.paused():
                    self.sink.add(index, record)
                statuses[record["status"]] += 1
                progress.done += 1
                progress.update()

            is_stopped = not self._pick(missing, finish)
        self.sink.write()
        write_reports(self.asked["reports"], self.sink)
        is_done = progress.all_done == total
        self._tell(progress, sites_summary(progress, statuses, time.monotonic()), is_done=is_done)
        if is_done:
            self.sink.complete()
        if is_stopped and not is_done:
            raise KeyboardInterrupt  # everything is told; what is left is the exit code

    def _pick(self, missing: list[int], finish: Callable[[int, Record], None]) -> bool:
        """Make the missing records; False if Ctrl-C came in between."""
        if not missing:
            return True
        picking = app.pick_sites(
            [self.rows[index] for index in missing],
            self.request,
            self.policy,
            lambda place, record: finish(missing[place], record),
            at_once=self.asked["concurrency"],
        )
        try:
            asyncio.run(picking)
        except KeyboardInterrupt:
            return False
        except BaseExceptionGroup as group:  # of tasks that failed together: one sentence is for one of them
            raise _first(group) from None
        return True

    def _tell(self, progress: Progress, summary: str, *, is_done: bool) -> None:
        if isinstance(self.sink, PrintedRecords) and self.sink.is_table:
            say(summary)
        elif not self.asked["quiet"]:
            click.echo(printable(f"{self.sink.name}: {summary}" if self.sink.name else summary), err=True)
        if not is_done:
            go_on = (
                "the same command goes on with the others"
                if self.sink.name
                else "-o FILE would keep them, to go on"
            )
            note(f"stopped; {progress.count()} are finished: {go_on}")


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Find what went wrong first; the other tasks were only told to stop."""
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
