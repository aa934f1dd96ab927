"""`honeyguide crawl`: follow a topic through a site. The command, its options, and the request made from them.

Start reading at `crawl`, then `Work.run` in `cli/crawl_work.py`.
"""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from honeyguide.app.arguments import lasting_name, needs_topic, read_seeds
from honeyguide.app.crawl import (
    Budgets,
    CrawlJob,
    CrawlRequest,
    load_profile,
)
from honeyguide.app.files import STDIN, NoColumnError, named_rows
from honeyguide.app.library.rendering import check_mode
from honeyguide.app.runs import due_runs, find_run, opened_store, resume_request, sites_of
from honeyguide.cli.command import (
    COUNT,
    MOST,
    MOST_DEPTH,
    PARTIAL,
    YEAR_S,
    Command,
    Number,
    option,
    option_words,
    shared_fields,
    takes,
)
from honeyguide.cli.crawl_work import Work
from honeyguide.cli.options import (
    ALL_FORMATS,
    INSIDE_WORDS,
    FetchOptions,
    KeepOptions,
    check_distinct,
    check_reports,
    column_option,
    content_option,
    destination,
    format_option,
    rejected_options,
    render_option,
    reports_option,
    scope_option,
    store_option,
)
from honeyguide.cli.output import no_color_option, note, usual_format, verbose_option
from honeyguide.cli.progress import count_of
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from honeyguide.app.files import SiteRow

USUAL_COLUMNS = "  [default: domain, website or url]"
PROFILE, TRAVERSAL = "docs", "focused"
_MAX_COMMAND = 500  # characters of the command that the store remembers


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """Where seeds come from, where pages go: to the `file` in the format `output`, or to standard output, and besides."""

    inputs: tuple[str, ...] = option("-i --input FILE", "A list of seeds; may be repeated.")
    columns: Mapping[str, str] = column_option("url", usual=USUAL_COLUMNS)
    sitemaps: tuple[str, ...] = option(
        "--sitemap URL|FILE",
        "Queue the pages of a sitemap; auto: of those that robots.txt names; may be repeated.",
    )
    store: str = store_option()
    file: str | None = option("-o --output FILE", "Write the pages of the crawl to a file.")
    output: str | None = format_option("parquet", "xlsx")
    links: bool = option("--links", "Add the links of each page, with their scores.")
    content: str | None = content_option()
    markdown: str | None = option("--markdown DIR", "Write each page as a Markdown file with front matter.")
    min_score: float | None = option(
        "--min-score N", "Only pages with a relevance_score of at least N.", type=Number(0, 10)
    )
    min_relevance: float | None = option(
        "--min-relevance N", "Only pages with a topic_relevance of at least N.", type=Number(0, 1)
    )
    lang: str | None = option("--lang CODE", "Only pages that declare this language, such as en.")
    top: int | None = option(
        "--top N",
        "Only the N best pages, without lists of pages and copies.",
        type=COUNT,
    )
    lists: bool = option("--lists", "With --top: lists of pages, too.")
    warc: str | None = option("--warc FILE", "Append what was fetched to a WARC file.")
    reports: tuple[str, ...] = reports_option()
    restart: bool = option("--restart", "Start a new run.")
    due: bool = option(
        "--due", "Visit only what plan --enqueue scheduled; without a SEED, in all crawls of the store."
    )
    run: int | None = option(
        "--run N", "With --due: only this crawl, by the number that runs shows.", type=COUNT
    )
    workers: int = option(
        "--workers N",
        "Work with N processes; the order of pages may then differ.",
        type=click.IntRange(1, 64),
        default=1,
    )
    quiet: bool = option("-q --quiet", "Print no progress and no summary.")


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """What is looked for, and how far to go."""

    topic: str | None = option(
        "--topic PATTERN",
        f"What the crawl is about, such as 'asyncio|coroutine'{INSIDE_WORDS}; bfs and dfs need none.",
    )
    related: tuple[str, ...] = option("--related TERM", "A term near to the topic; may be repeated.")
    profile: str = option("--profile NAME", "Name or path of the profile.", default=PROFILE)
    traversal: str = option(
        "--traversal NAME",
        "The order of pages: focused, hybrid, bfs, dfs, or one of the profile.",
        default=TRAVERSAL,
    )
    max_pages: int | None = option("--max-pages N", "Fetch at most N pages in all.", type=COUNT)
    max_relevant: int | None = option("--max-relevant N", "Stop after N pages about the topic.", type=COUNT)
    max_pages_per_host: int | None = option(
        "--max-pages-per-host N", "Fetch at most N pages of one host.", type=COUNT
    )
    max_depth: int | None = option(
        "--max-depth N", "Go at most N links from a seed.", type=click.IntRange(0, MOST_DEPTH)
    )
    max_time_s: float | None = option(
        "--max-time S", "Stop after so many seconds.", type=Number(0, YEAR_S, min_open=True)
    )
    include: tuple[str, ...] = option(
        "--include PATTERN", "Only URLs that match one of these patterns; may be repeated."
    )
    exclude: tuple[str, ...] = option("--exclude PATTERN", "Reject URLs that match; may be repeated.")
    scope: str = scope_option("", "host")
    follow_external: int = option(
        "--follow-external N",
        "Also fetch at most N pages of other sites.",
        type=click.IntRange(0, MOST),
        default=0,
    )
    respect_meta_robots: bool = option(
        "--respect-meta-robots",
        "Write no noindex page and follow no nofollow link, by meta robots, X-Robots-Tag or rel.",
    )
    render: str = render_option()


# Options that identify a crawl, besides its seeds.
_IDENTITY = (
    "topic", "related", "include", "exclude", "profile", "traversal", "scope", "max_depth",
    "follow_external", "respect_meta_robots", "render",
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
@takes(outputs=OutputOptions, options=CrawlOptions, keeping=KeepOptions, fetching=FetchOptions)
@verbose_option
@no_color_option
def crawl(
    seeds: tuple[str, ...],
    outputs: OutputOptions,
    options: CrawlOptions,
    keeping: KeepOptions,
    fetching: FetchOptions,
) -> None:
    """Follow a topic through a site, best links first, and say why.

    SEED is an address to start from; `-` reads a list from standard input. A crawl stays on the sites of its seeds.

    If interrupted, run the same command again to resume, also with other budgets or outputs. Another topic, profile or
    seed starts a new crawl. With --due, budgets count this command alone.
    """
    outputs = _checked(outputs)
    _check_top(outputs, keeping)
    is_seeded = bool(seeds or outputs.inputs or outputs.sitemaps)
    _check_due(outputs, options, is_seeded=is_seeded)
    if outputs.due and not is_seeded:
        is_done = _crawl_due(outputs, options, keeping, fetching)
    else:
        is_done = _crawl(seeds, outputs, options, keeping, fetching)
    if not is_done:
        click.get_current_context().exit(PARTIAL)


# --- checks ---


def _checked(outputs: OutputOptions) -> OutputOptions:
    """Choose how pages are written; what cannot be written is rejected before the crawl."""
    read = [*outputs.inputs, *(text for text in outputs.sitemaps if "://" not in text)]
    check_distinct(read, (outputs.file, outputs.store, outputs.warc, *outputs.reports))
    check_reports(outputs.reports, "crawl")
    file, output = destination(outputs.file, outputs.output, ALL_FORMATS, usual_format())
    if output in ("csv", "xlsx") and (outputs.links or outputs.content):
        raise click.UsageError(
            "A table has no room for --links and --content; write JSON lines or Parquet, -o FILE.jsonl or -o FILE.parquet."
        )
    return replace(outputs, file=file, output=output)


def _check_top(outputs: OutputOptions, keeping: KeepOptions) -> None:
    """Reject options that --top needs, or that contradict it."""
    has_top = outputs.top is not None
    if outputs.lists and not has_top:
        raise click.UsageError("--lists goes with --top; without it, lists are among the pages.")
    if has_top and outputs.due:
        raise click.UsageError("--top chooses among all pages of a crawl; leave out --due.")
    of_parquet = outputs.output == "parquet" and outputs.content
    stored = of_parquet or (has_top and (outputs.content or outputs.markdown))
    if keeping.no_keep and stored:
        raise click.UsageError("--top and Parquet take the content from the store; leave out --no-keep.")


def _check_due(outputs: OutputOptions, options: CrawlOptions, *, is_seeded: bool) -> None:
    """Reject options that contradict --due or need it; without a seed, also those that the store remembers."""
    if not outputs.due:
        if outputs.run is not None:
            raise click.UsageError("--run goes with --due.")
        return
    contrary = {
        "restart": outputs.restart,
        "max_pages_per_host": options.max_pages_per_host,
        "max_relevant": options.max_relevant,
    }
    for name, value in contrary.items():
        if value:
            flag = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{flag} does not go with --due, which visits what a plan chose.")
    ctx = click.get_current_context()
    for name in () if is_seeded else _IDENTITY:
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            flag = f"--{name.replace('_', '-')}"
            raise click.UsageError(
                f"{flag}: crawls of the store remember theirs; leave it out, or name a SEED, too."
            )


# --- the crawl ---


def _crawl(
    texts: tuple[str, ...],
    outputs: OutputOptions,
    options: CrawlOptions,
    keeping: KeepOptions,
    fetching: FetchOptions,
) -> bool:
    """Crawl from seeds, or resume that; True if nothing is left to do."""
    seeds, alternatives = read_seeds(_seed_texts(texts, outputs))
    related = options.related or None
    profile = load_profile(options.profile, topic=options.topic, related=related)
    if needs_topic(profile, options.traversal):
        if outputs.due:
            raise click.UsageError(
                "--due with a SEED visits what is due of one crawl: repeat its --topic; without a SEED, of all crawls."
            )
        raise click.UsageError(
            f"{options.traversal} follows a topic: give one, such as --topic 'fire|alarm'; "
            "--traversal bfs and --traversal dfs need none."
        )
    if options.max_relevant is not None and profile.topic.pattern is None:
        raise click.UsageError("--max-relevant counts pages about a topic: give one with --topic.")
    named = {
        **shared_fields(options, CrawlRequest),
        "profile": lasting_name(options.profile),
        "related": related,
    }
    request = CrawlRequest(
        **named,
        seeds=seeds,
        budgets=Budgets(options.max_pages, options.max_pages_per_host, options.follow_external),
        links=outputs.links,
        concurrency=fetching.concurrency,
        restart=outputs.restart,
        command=_command(texts, outputs, options),
        only_due=outputs.due,
        keep_bytes=keeping.keep_bytes,
    )
    is_wide = options.scope != "host" or options.follow_external > 0
    show_hosts = len({seed.site for seed in seeds}) > 1 or is_wide
    check_mode(options.render, profile)
    job = CrawlJob(request, fetching.policy, profile, outputs.sitemaps, alternatives)
    work = Work(job, outputs, show_hosts)
    if not outputs.due:
        return work.run(opened_store(outputs.store))
    with opened_store(outputs.store, create=False) as store:
        return work.run(nullcontext(store))


def _crawl_due(
    outputs: OutputOptions, options: CrawlOptions, keeping: KeepOptions, fetching: FetchOptions
) -> bool:
    """Visit what is due, run by run; True if nothing is left to do."""
    limits = CrawlRequest(
        (),
        max_time_s=options.max_time_s,
        links=outputs.links,
        concurrency=fetching.concurrency,
        keep_bytes=keeping.keep_bytes,
    )
    with opened_store(outputs.store, create=False) as store:
        with rejected_options():
            runs = due_runs(store) if outputs.run is None else [find_run(store, outputs.run)]
        if not runs:
            note("nothing is due; honeyguide plan --store FILE --enqueue schedules the pages of a plan")
        if len(runs) > 1 and (outputs.file is not None or outputs.reports):
            numbers, named = ", ".join(str(run.id) for run in runs), "-o" if outputs.file else "--report"
            raise InputError(
                f"{named} follows one crawl, and pages of several are due; choose one with --run: {numbers}"
            )
        show_hosts = len(sites_of(store, runs)) > 1
        is_done, left = True, options.max_pages
        for run in runs:
            if left is not None and left <= 0:  # below: another process fetches, too
                note("--max-pages is used up; run the same command again for the rest")
                return False
            request, profile = resume_request(run, replace(limits, budgets=Budgets(left)))
            work = Work(CrawlJob(request, fetching.policy, profile), outputs, show_hosts)
            is_done &= work.run(nullcontext(store))
            left = None if left is None else left - work.progress.done
        return is_done


def _seed_texts(texts: tuple[str, ...], outputs: OutputOptions) -> list[str]:
    """Read all seeds, each once; rows of a list that are no seeds are named and skipped."""
    if not texts and not outputs.inputs:
        if any(text != "auto" for text in outputs.sitemaps):
            return []
        raise click.UsageError("Give a SEED, a list of seeds with -i FILE, or a --sitemap.")
    rows, _ = listed_rows(texts, outputs.inputs, outputs.columns)
    bad = [row for row in rows if row.problem]
    for row in bad:
        if row.problem.startswith("argument "):
            raise InputError(f"{row.text}: {row.problem.partition(': ')[2]}")
    if len(bad) == len(rows):
        raise InputError(f"no seed can be used; the first: {bad[0].problem}")
    if bad:
        note(f"{count_of(len(bad), 'seed')} skipped; the first: {bad[0].problem}")
    return [row.text for row in rows if not row.problem]


def listed_rows(
    texts: Sequence[str], files: Sequence[str], columns: Mapping[str, str]
) -> tuple[list[SiteRow], list[SiteRow]]:
    """Read the sites of arguments and lists, each once, and those that are repeated."""
    column = next(iter(columns.values()), None)
    if column is not None and not files and STDIN not in texts:
        raise click.UsageError("--column is about a table: name it with -i FILE.")
    try:
        return named_rows(texts, files, column)
    except NoColumnError as error:
        if error.column is not None:
            raise
        raise InputError(f"{error.what}; name one of these with --column", file=error.file) from None


def _command(seeds: tuple[str, ...], outputs: OutputOptions, options: CrawlOptions) -> str:
    """Write the command as `honeyguide runs` shows it: what identifies the crawl, without budgets and outputs."""
    words = ["crawl", *seeds[:3], *(["…"] if len(seeds) > 3 else [])]
    words += [word for file in outputs.inputs for word in ("-i", file)]
    words += [word for column in outputs.columns.values() for word in ("--column", column)]
    words += [word for sitemap in outputs.sitemaps for word in ("--sitemap", sitemap)]
    return shlex.join([*words, *option_words(options, _IDENTITY)])[:_MAX_COMMAND]
