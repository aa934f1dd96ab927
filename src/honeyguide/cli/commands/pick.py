"""`honeyguide pick`: the pages worth a visit of many sites.

Owns: the options, and what is printed during a run. Must not know: how sites are picked (`app.pick`), how
files survive a kill (`app.files`).
"""

from __future__ import annotations

import shlex
import sys
import time
from collections import Counter
from contextlib import closing, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from honeyguide.app.files import PickFile, PickRun
from honeyguide.app.pick import PickRequest, pick_sites
from honeyguide.cli import stopping
from honeyguide.cli.command import PARTIAL, Command, Number, option, option_words, takes
from honeyguide.cli.commands.crawl import USUAL_COLUMNS, listed_rows
from honeyguide.cli.commands.select import ChoiceOptions, show_record
from honeyguide.cli.options import (
    ALL_FORMATS,
    FetchOptions,
    check_distinct,
    check_reports,
    column_option,
    concurrency_option,
    content_option,
    destination,
    format_option,
    render_option,
    reports_option,
)
from honeyguide.cli.output import (
    RecordPrinter,
    no_color_option,
    note,
    say,
    usual_format,
    verbose_option,
)
from honeyguide.cli.progress import LINE_EVERY_SHARE, Progress, count_of, not_ok_words, sites_summary
from honeyguide.cli.stopping import INTERRUPTED_CODE
from honeyguide.core.records import iso
from honeyguide.core.records.fields import PickRecord
from honeyguide.core.text.printable import printable
from honeyguide.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from honeyguide.app.files import SiteRow
    from honeyguide.app.views.kept_pick import KeptPick
    from honeyguide.core.records import Record

    Sink: TypeAlias = "PrintedRecords | PickFile"


_REACHED = ("ok", "partial")  # statuses of sites whose homepage was read
_NOTES = 5  # about sites that were not reached


@dataclass(frozen=True, slots=True)
class _Options:
    inputs: tuple[str, ...] = option("-i --input FILE", "A list of sites; may be repeated.")
    columns: Mapping[str, str] = column_option("site", usual=USUAL_COLUMNS)
    file: str | None = option("-o --output FILE", "Write to a file; the same command resumes.")
    output: str | None = format_option("parquet", "xlsx")
    restart: bool = option("--restart", "Pick from all sites again.")
    retry_failed: bool = option("--retry-failed", "Pick again from sites whose status is not ok.")
    reports: tuple[str, ...] = reports_option()
    keep: str | None = option("--keep FILE", "Keep fetched pages in a file, to pick again without a request.")
    replay: str | None = option(
        "--replay FILE", "Pick from what --keep kept; with both, fetch only what is missing."
    )
    quiet: bool = option("-q --quiet", "Print no progress.")


@dataclass(frozen=True, slots=True)
class _PickChoice(ChoiceOptions):
    content: str | None = content_option("headings, keywords and main content of each chosen page")
    timings: bool = option(
        "--no-timings", "Omit elapsed_s: equal runs give equal bytes.", default=True, flag_value=False
    )
    render: str = render_option()


@dataclass(frozen=True, slots=True)
class _Fetching(FetchOptions):
    concurrency: int = concurrency_option("Sites in parallel.", default=16)
    site_timeout: float | None = option(
        "--site-timeout S",
        "Seconds for one site; what was found is kept.  [default: 300]",
        type=Number(1, 86_400),
    )


@click.command(
    cls=Command,
    examples=(
        "honeyguide pick acme.example",
        "honeyguide pick -i companies.csv -o picks.jsonl --report picks.html",
        "honeyguide pick acme.example www.acme.example --strategy rules --cap 6 --format csv",
    ),
)
@click.argument("sites", metavar="[SITE]...", nargs=-1)
@takes(options=_Options, choice=_PickChoice, fetching=_Fetching)
@verbose_option
@no_color_option
def pick(sites: tuple[str, ...], options: _Options, choice: _PickChoice, fetching: FetchOptions) -> None:
    """Pick the pages worth a visit of each site, and say why.

    SITE is a name, such as acme.com, or an address; `-` reads a list from standard input. A list is text with one
    site a line, CSV, JSON lines, Parquet, Markdown or a sitemap.

    If interrupted, run the same command again: finished sites are kept.
    """
    file, output = _destination(options)
    if choice.content and output in ("csv", "xlsx"):
        raise click.UsageError(
            "A table has no room for --content; write JSON lines or Parquet, -o FILE.jsonl or -o FILE.parquet."
        )
    loaded = choice.load()
    request = PickRequest(**{**choice.settings(loaded), "content": choice.content or False})
    rows = _rows(sites, options)
    columns = tuple(dict.fromkeys(name for row in rows for name in row.columns))
    sink: Sink
    if file is None:
        sink = PrintedRecords(output, len(rows), keep=bool(options.reports), columns=columns)
    else:
        settings = {
            **request.options,
            "strategy": request.strategy,
            "timings": request.timings,
            "profile_hash": loaded.hash,
        }
        run = PickRun(settings, tuple(row.text for row in rows), output, columns)
        sink = PickFile(Path(file), run, restart=options.restart)
    with closing(sink), _kept_pick(options) as kept:
        if kept is not None and kept.keeps:
            kept.note([row.text for row in rows], request, choice.profile)
        _Work(rows, request, fetching, sink, options, kept, _command(sites, options, choice)).run()


def _command(sites: tuple[str, ...], options: _Options, choice: _PickChoice) -> str:
    """Write the command for a report: what decides about pages, without anything that may be secret."""
    words = ["honeyguide", "pick", *sites[:3], *(["…"] if len(sites) > 3 else [])]
    words += [word for file in options.inputs for word in ("-i", file)]
    words += [word for column in options.columns.values() for word in ("--column", column)]
    deciding = [one.name for one in fields(choice) if one.name != "timings"]
    return shlex.join([*words, *option_words(choice, deciding)])


def _kept_pick(options: _Options) -> AbstractContextManager[KeptPick | None]:
    keep, replay = options.keep, options.replay
    if keep is not None and replay is not None and Path(keep).absolute() != Path(replay).absolute():
        raise click.UsageError(
            "--keep and --replay name one file: what is missing in it is fetched and kept."
        )
    file = keep or replay
    if file is None:
        return nullcontext()
    from honeyguide.app.views.kept_pick import opened_kept_pick  # only for those who want it

    return opened_kept_pick(file, keeps=keep is not None, replays=replay is not None)


def _destination(options: _Options) -> tuple[str | None, str]:
    check_distinct(options.inputs, (options.file, options.keep or options.replay, *options.reports))
    check_reports(options.reports, "pick")
    file, output = destination(options.file, options.output, ALL_FORMATS, usual_format())
    if file is None and (options.restart or options.retry_failed):
        raise click.UsageError("--restart and --retry-failed are about the file of -o: name it.")
    if options.restart and options.retry_failed:
        raise click.UsageError("--restart picks from every site again; leave out --retry-failed.")
    return file, output


def _rows(sites: tuple[str, ...], options: _Options) -> list[SiteRow]:
    if not sites and not options.inputs:
        raise click.UsageError("Give a SITE, or a list of sites with -i FILE.")
    rows, repeated = listed_rows(sites, options.inputs, options.columns)
    if repeated:
        sites_are = count_of(len(repeated), "site is", "sites are")
        note(f"{sites_are} repeated and picked once; the first repeated one is {shown(repeated[0].text)}")
    return rows


@dataclass(frozen=True, slots=True)
class _Work:
    rows: list[SiteRow]
    request: PickRequest
    fetching: FetchOptions
    sink: Sink
    options: _Options
    kept: KeptPick | None = None
    command: str = ""

    def run(self) -> None:
        """Pick and report; after Ctrl-C the report comes before the exception."""
        if self.options.retry_failed:
            self.sink.forget_failed()
        if self.sink.is_complete:
            failed = not_ok_words(self.sink.statuses())
            told = "".join(f", {words}" for words in failed)
            retry = ", --retry-failed where the status is not ok" if failed and self.sink.has_records else ""
            note(f"{self.sink.name} is complete already{told}; --restart picks again{retry}")
        missing = self.sink.missing
        total, statuses = len(self.rows), self.sink.statuses()
        progress = Progress(
            "site",
            total=total,
            before=statuses.total(),
            step=total * LINE_EVERY_SHARE,
            details=lambda _now: not_ok_words(statuses),
        )
        failures: list[str] = []
        with progress.shown(quiet=self.options.quiet or not missing):

            def finish(index: int, record: Record) -> None:
                with nullcontext() if self.sink.name else progress.paused():
                    self.sink.add(index, record)
                statuses[record["status"]] += 1
                progress.done += 1
                progress.update()

                if record["status"] not in _REACHED and len(failures) < _NOTES:
                    site, why = record["site"], record["reason"]
                    failures.append(why if site in why else f"{site}: {why}")

            is_stopped = not self._pick(missing, finish)
        self.sink.write()
        self._write_reports()
        is_done = progress.all_done == total
        self._report(progress, sites_summary(progress, statuses, time.monotonic()), is_done=is_done)
        if is_done:
            self.sink.complete()
        if is_stopped and not is_done:
            raise click.exceptions.Exit(INTERRUPTED_CODE)
        if is_done and total and not any(statuses[status] for status in _REACHED):
            is_table = isinstance(self.sink, PrintedRecords) and self.sink.is_table  # it shows all reasons
            for line in () if is_table else failures:
                note(line)
            if not is_table and failures and total > len(failures):
                note(f"{count_of(total - len(failures), 'more site')}: their records say why")
            click.get_current_context().exit(PARTIAL)

    def _pick(self, missing: list[int], finish: Callable[[int, Record], None]) -> bool:
        if not missing:
            return True
        picking = pick_sites(
            [self.rows[index] for index in missing],
            self.request,
            self.fetching.policy,
            lambda place, record: finish(missing[place], record),
            at_once=self.fetching.concurrency,
            kept=self.kept,
        )
        try:
            stopping.run(picking)
        except KeyboardInterrupt:
            return False
        finally:
            stopping.release()
        return True

    def _write_reports(self) -> None:
        if not self.options.reports:
            return
        from honeyguide.report import write_report  # only for those who want one

        facts = (("Command", self.command), ("Written", iso(time.time())))
        for file in self.options.reports:
            write_report(self.sink.records(), Path(file), facts)

    def _report(self, progress: Progress, summary: str, *, is_done: bool) -> None:
        if isinstance(self.sink, PrintedRecords) and self.sink.is_table:
            say(summary)
        elif not self.options.quiet:
            click.echo(printable(f"{self.sink.name}: {summary}" if self.sink.name else summary), err=True)
        if not is_done:
            advice = "the same command resumes" if self.sink.name else "-o FILE would keep them, to resume"
            note(f"stopped; {progress.count()} are finished: {advice}")


class PrintedRecords:
    """Standard output: a record is printed when all before it are; with `keep` they are kept for a report."""

    name = ""
    is_complete = False
    has_records = True

    def __init__(self, output: str, total: int, *, keep: bool, columns: tuple[str, ...] = ()) -> None:
        self.missing = list(range(total))
        self.is_table = output == "table"
        self._printer = RecordPrinter(output, PickRecord, columns)
        self._waiting: dict[int, Record] = {}
        self._next = 0
        self._keep = keep
        self._kept: list[Record] = []

    def statuses(self) -> Counter[str]:
        """No earlier run finished anything."""
        return Counter()

    def add(self, index: int, record: Record) -> None:
        """Print what can be printed now."""
        self._waiting[index] = record
        while self._next in self._waiting:
            self._print(self._waiting.pop(self._next))
            self._next += 1

    def _print(self, record: Record) -> None:
        if self._keep:
            self._kept.append(record)
        if self.is_table:
            show_record(record)
            sys.stdout.flush()
        else:
            self._printer.print(record)

    def records(self) -> Iterator[Record]:
        """Give what was printed."""
        return iter(self._kept)

    def forget_failed(self) -> None:
        """No earlier run finished anything."""

    def write(self) -> None:
        """Print what waited for records that will not come."""
        for index in sorted(self._waiting):
            self._print(self._waiting.pop(index))

    def complete(self) -> None:
        """Everything is printed."""

    def close(self) -> None:
        """Leave standard output open."""
