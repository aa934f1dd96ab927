"""`honeyguide crawl`: follow a topic through a site. The command, its options, and the request made from them.

Start reading at `crawl`, then `Work.run` in `cli/crawl_work.py`.
"""

from __future__ import annotations

import shlex
import sys
from contextlib import nullcontext
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from honeyguide.app.crawl import (
    Budgets,
    CrawlJob,
    CrawlRequest,
    due_runs,
    lasting_name,
    load_profile,
    needs_topic,
    read_seeds,
)
from honeyguide.app.files import named_rows
from honeyguide.app.runs import find_run, opened_store, resume_request, sites_of
from honeyguide.cli.command import MOST, MOST_DEPTH, PARTIAL, YEAR_S, Command, Number
from honeyguide.cli.commands.runs import STORE
from honeyguide.cli.crawl_work import OutputOptions, Work
from honeyguide.cli.options import (
    ALL_FORMATS,
    all_options,
    any_format_option,
    check_distinct,
    check_printable,
    check_reports,
    fetch_options,
    format_of,
    policy_of,
    rejected_options,
    reports_option,
)
from honeyguide.cli.output import no_color_option, note
from honeyguide.cli.progress import count_of
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from honeyguide.app.crawl import FetchPolicy

    Values = Mapping[str, Any]  # of the options, as click reads them

PROFILE, TRAVERSAL = "docs", "focused"
_MOST_COMMAND = 500  # characters of the command that the store remembers
_OPTIONS = (
    # where seeds come from, and where pages go
    click.option("-i", "--input", "inputs", multiple=True, metavar="FILE", help="A list of seeds; may be repeated."),
    click.option("--sitemap", "sitemaps", multiple=True, metavar="URL|FILE", help="Queue what a sitemap lists; auto takes those that robots.txt names. May be repeated."),
    click.option("--store", default=STORE, show_default=True, metavar="FILE", help="Where the crawl is kept; the same command resumes it."),
    click.option("-o", "--output", "file", metavar="FILE", help="Write the records of all pages of the crawl to a file."),
    any_format_option,
    click.option("--links", is_flag=True, help="Add the links of each page, with their scores."),
    click.option("--content", is_flag=True, help="Add the main content of each page as Markdown."),
    click.option("--markdown", metavar="DIR", help="Write each page as a Markdown file with front matter."),
    click.option("--warc", metavar="FILE", help="Append what was fetched to a WARC file."),
    reports_option,
    click.option("--restart", is_flag=True, help="Start a new run, even if the store has this crawl."),
    click.option("--due", is_flag=True, help="Visit only what plan --enqueue has scheduled; without a SEED, in all crawls of the store."),
    click.option("--run", type=click.IntRange(1, MOST), metavar="N", help="With --due: only in this crawl, by the number that runs shows."),
    click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary."),
    # what is looked for, and how far to go
    click.option("--topic", metavar="PATTERN", help="What the crawl is about, such as 'asyncio|coroutine'; bfs and dfs need none."),
    click.option("--related", multiple=True, metavar="TERM", help="A term near to the topic; may be repeated."),
    click.option("--profile", default=PROFILE, show_default=True, metavar="NAME", help="Name or path of the profile."),
    click.option("--traversal", default=TRAVERSAL, show_default=True, metavar="NAME", help="The order of pages: focused, hybrid, bfs, dfs, or another of the profile."),
    click.option("--max-pages", type=click.IntRange(1, MOST), metavar="N", help="Fetch at most N pages in all."),
    click.option("--max-pages-per-host", type=click.IntRange(1, MOST), metavar="N", help="Fetch at most N pages of one host."),
    click.option("--max-depth", type=click.IntRange(0, MOST_DEPTH), metavar="N", help="Go at most N links away from a seed."),
    click.option("--max-time", "max_time_s", type=Number(0, YEAR_S, min_open=True), metavar="S", help="Stop after so many seconds."),
    click.option("--include", multiple=True, metavar="PATTERN", help="Follow only URLs that match; may be repeated, then one match is enough."),
    click.option("--exclude", multiple=True, metavar="PATTERN", help="Reject URLs that match; may be repeated."),
    click.option("--follow-external", type=click.IntRange(0, MOST), default=0, metavar="N", help="Also fetch at most N pages of other sites."),
)  # fmt: skip

_SOURCES = ("seeds", "inputs", "sitemaps")  # where a crawl may start
# Options that are part of the request as they are.
_REQUESTED = (
    "traversal", "max_depth", "max_time_s", "include", "exclude", "links", "concurrency", "restart",
)  # fmt: skip
# Options that identify a crawl, besides its seeds.
_IDENTITY = (
    "topic", "related", "include", "exclude", "profile", "traversal", "max_depth", "follow_external",
)  # fmt: skip


@click.command(
    cls=Command,
    examples=(
        "honeyguide crawl https://docs.example.org/ --topic 'asyncio|coroutine' --max-pages 500 -o pages.jsonl",
        "honeyguide crawl https://docs.example.org/ --topic 'asyncio|coroutine' -o pages.csv --report crawl.html --quiet",
        "honeyguide crawl --due --max-pages 100 -o pages.jsonl",
    ),
)
@click.argument("seeds", metavar="[SEED]...", nargs=-1)
@partial(all_options, _OPTIONS)
@fetch_options("Requests at once; the order of pages does not depend on it.", 32)
@no_color_option
def crawl(**values: Any) -> None:
    """Follow a topic through a site, best links first, and say why.

    SEED is an address to start from; `-` reads a list from standard input. A crawl stays on the sites of its seeds.

    The store keeps every finished page. If interrupted, run the same command again to resume. Changing budgets or
    outputs resumes the crawl; changing topic, profile or seeds starts a new one.

    With --due, known pages are visited again when a plan has scheduled them. Unchanged pages cost little, new links are
    queued, and the budgets count this command alone.
    """
    outputs, is_seeded = _outputs(values), any(values[name] for name in _SOURCES)
    _check_due(values, is_seeded=is_seeded)
    work = _crawl_due if values["due"] and not is_seeded else _crawl
    if not work(values, outputs, policy_of(values)):
        click.get_current_context().exit(PARTIAL)


# --- checks ---


def _outputs(values: Values) -> OutputOptions:
    """Choose how pages are written; what cannot be written is rejected before the crawl."""
    file = None if values["file"] == "-" else values["file"]
    read = [*values["inputs"], *(text for text in values["sitemaps"] if "://" not in text)]
    check_distinct(read, (file, values["store"], values["warc"], *values["reports"]))
    check_reports(values["reports"], "crawl")
    if file is not None:
        output = format_of(file, values["output"], ALL_FORMATS)
    else:
        output = check_printable(values["output"] or ("table" if sys.stdout.isatty() else None))
    if output == "csv" and (values["links"] or values["content"]):
        raise click.UsageError("CSV has no room for --links and --content; write JSON lines, -o FILE.jsonl.")
    if output == "parquet" and values["content"]:
        raise click.UsageError(
            "Parquet is written from the store, which keeps no --content; write JSON lines, -o FILE.jsonl."
        )
    chosen = {field.name: values[field.name] for field in fields(OutputOptions)}
    return OutputOptions(**{**chosen, "file": file, "output": output})


def _check_due(values: Values, *, is_seeded: bool) -> None:
    """Reject options that contradict --due or need it; without a seed, also those that the store remembers."""
    if not values["due"]:
        if values["run"] is not None:
            raise click.UsageError("--run goes with --due.")
        return
    for name in ("restart", "max_pages_per_host"):
        if values[name]:
            raise click.UsageError(f"{_option(name)} does not go with --due, which visits what a plan chose.")
    ctx = click.get_current_context()
    for name in () if is_seeded else _IDENTITY:
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError(
                f"{_option(name)}: crawls of the store remember theirs; leave it out, or name a SEED, too."
            )


def _option(name: str) -> str:
    return {"inputs": "-i", "sitemaps": "--sitemap"}.get(name, f"--{name.replace('_', '-')}")


# --- the crawl ---


def _crawl(values: Values, outputs: OutputOptions, policy: FetchPolicy) -> bool:
    """Crawl from seeds, or resume that; True if nothing is left to do."""
    seeds, alternatives = read_seeds(_seed_texts(values))
    related = values["related"] or None
    profile = load_profile(values["profile"], topic=values["topic"], related=related)
    if needs_topic(profile, values["traversal"]):
        raise click.UsageError(
            f"{values['traversal']} follows a topic: give one, such as --topic 'fire|alarm'; "
            "--traversal bfs and --traversal dfs need none."
        )
    request = CrawlRequest(
        seeds=seeds,
        budgets=Budgets(values["max_pages"], values["max_pages_per_host"], values["follow_external"]),
        command=_command(values),
        only_due=values["due"],
        profile=lasting_name(values["profile"]),
        related=related,
        **{name: values[name] for name in _REQUESTED},
    )
    show_hosts = len({seed.site for seed in seeds}) > 1 or values["follow_external"] > 0
    work = Work(CrawlJob(request, policy, profile, values["sitemaps"], alternatives), outputs, show_hosts)
    if not values["due"]:
        return work.run(opened_store(values["store"]))
    with opened_store(values["store"], create=False) as store:
        return work.run(nullcontext(store))


def _crawl_due(values: Values, outputs: OutputOptions, policy: FetchPolicy) -> bool:
    """Visit what is due, run by run; True if nothing is left to do."""
    limits = CrawlRequest((), **{name: values[name] for name in ("max_time_s", "links", "concurrency")})
    with opened_store(values["store"], create=False) as store:
        with rejected_options():
            runs = due_runs(store) if values["run"] is None else [find_run(store, values["run"])]
        if not runs:
            note("nothing is due; honeyguide plan --store FILE --enqueue schedules the pages of a plan")
        if len(runs) > 1 and (outputs.file is not None or outputs.reports):
            numbers, option = ", ".join(str(run.id) for run in runs), "-o" if outputs.file else "--report"
            raise InputError(
                f"{option} follows one crawl, and pages of several are due; choose one with --run: {numbers}"
            )
        show_hosts = len(sites_of(store, runs)) > 1
        is_done, left = True, values["max_pages"]
        for run in runs:
            if left == 0:
                note("--max-pages is used up; run the same command again for the rest")
                return False
            request, profile = resume_request(run, replace(limits, budgets=Budgets(left)))
            work = Work(CrawlJob(request, policy, profile), outputs, show_hosts)
            is_done &= work.run(nullcontext(store))
            left = None if left is None else left - work.progress.done
        return is_done


def _seed_texts(values: Values) -> list[str]:
    """Read all seeds, each once; rows of a list that are no seeds are named and skipped."""
    if not values["seeds"] and not values["inputs"]:
        if any(text != "auto" for text in values["sitemaps"]):
            return []
        raise click.UsageError("Give a SEED, a list of seeds with -i FILE, or a --sitemap.")
    rows, _ = named_rows(values["seeds"], values["inputs"])
    bad = [row for row in rows if row.problem]
    for row in bad:
        if row.problem.startswith("argument "):
            raise InputError(f"{row.text}: {row.problem.partition(': ')[2]}")
    if len(bad) == len(rows):
        raise InputError(f"no seed can be used; the first: {bad[0].problem}")
    if bad:
        note(f"{count_of(len(bad), 'seed')} skipped; the first: {bad[0].problem}")
    return [row.text for row in rows if not row.problem]


def _command(values: Values) -> str:
    """Write the command as `honeyguide runs` shows it: what identifies the crawl, without budgets and outputs."""
    seeds = values["seeds"]
    words = ["crawl", *seeds[:3], *(["…"] if len(seeds) > 3 else [])]
    usual = {"profile": PROFILE, "traversal": TRAVERSAL, "follow_external": 0}
    for name in ("inputs", "sitemaps", *_IDENTITY):
        value = values[name]
        found = value if isinstance(value, tuple) else () if value in (None, usual.get(name)) else (value,)
        words += [word for text in found for word in (_option(name), str(text))]
    return shlex.join(words)[:_MOST_COMMAND]
