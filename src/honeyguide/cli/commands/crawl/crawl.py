"""`honeyguide crawl`: follow a topic through a site.

Owns: the command, its options, and what they come to. Must not know: how a crawl goes (`app` does), how pages are kept
(`crawled.py`), what is said of it (`ending.py`). Start reading at `crawl`, then `Work.run` in work.py.
"""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honeyguide import app
from honeyguide.adapters.files.read import STDIN
from honeyguide.cli.command import MOST, MOST_DEPTH, PARTIAL, YEAR_S, Command, Number
from honeyguide.cli.commands.crawl.runs import STORE
from honeyguide.cli.commands.crawl.work import Work
from honeyguide.cli.files import (
    ALL_FORMATS,
    any_format_option,
    check_distinct,
    check_printable,
    check_reports,
    format_of,
    reports_option,
)
from honeyguide.cli.options import all_options, fetch_options, named_rows, policy_of
from honeyguide.cli.output import no_color_option, note
from honeyguide.config import bundled_profiles, load_profile
from honeyguide.core.crawl.frontier import Budgets
from honeyguide.core.fetching import addresses_of
from honeyguide.errors import InputError
from honeyguide.jobs.crawl import CrawlRequest
from honeyguide.jobs.request import traversal_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.core.fetching import FetchPolicy
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.url import Url


PROFILE, TRAVERSAL = "docs", "focused"
# Options that make a crawl what it is, besides where it starts.
_OF_THE_CRAWL = (
    "topic",
    "related",
    "include",
    "exclude",
    "profile",
    "traversal",
    "max_depth",
    "follow_external",
)
_MOST_COMMAND = 500  # characters of the command that the store remembers


def _what_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what is looked for, and how far to go."""
    options = (
        click.option("--topic", metavar="PATTERN", help="What the crawl is about, such as 'asyncio|coroutine'; bfs and dfs go without."),
        click.option("--related", multiple=True, metavar="TERM", help="A term near to the topic; may be repeated."),
        click.option("--profile", default=PROFILE, show_default=True, metavar="NAME", help="Name or path of the profile."),
        click.option("--traversal", default=TRAVERSAL, show_default=True, metavar="NAME", help="How to move: focused, hybrid, bfs, dfs, or another of the profile."),
        click.option("--max-pages", type=click.IntRange(1, MOST), metavar="N", help="Fetch at most N pages in all."),
        click.option("--max-pages-per-host", type=click.IntRange(1, MOST), metavar="N", help="Fetch at most N pages of one host."),
        click.option("--max-depth", type=click.IntRange(0, MOST_DEPTH), metavar="N", help="Go at most N links away from a seed."),
        click.option("--max-time", type=Number(0, YEAR_S, min_open=True), metavar="S", help="Stop after so many seconds."),
        click.option("--include", multiple=True, metavar="PATTERN", help="Follow only URLs that match; may be repeated, then one match is enough."),
        click.option("--exclude", multiple=True, metavar="PATTERN", help="Reject URLs that match; may be repeated."),
        click.option("--follow-external", type=click.IntRange(0, MOST), default=0, metavar="N", help="Leave the site, too: fetch at most N pages of others."),
    )  # fmt: skip
    return all_options(options, command)


def _where_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add where seeds come from and pages go to."""
    options = (
        click.option("-i", "--input", "inputs", multiple=True, metavar="FILE", help="A list of seeds; may be repeated."),
        click.option("--sitemap", "sitemaps", multiple=True, metavar="URL|FILE", help="Queue what a sitemap lists; auto takes those that robots.txt names. May be repeated."),
        click.option("--store", default=STORE, show_default=True, metavar="FILE", help="Where the crawl is kept; the same command goes on with it."),
        click.option("-o", "--output", "file", metavar="FILE", help="Write the records of all pages of the crawl to a file."),
        any_format_option,
        click.option("--links", is_flag=True, help="Add the links of each page, with their scores."),
        click.option("--content", is_flag=True, help="Add the main content of each page as Markdown."),
        click.option("--markdown", metavar="DIR", help="Write each page as a Markdown file with front matter."),
        click.option("--warc", metavar="FILE", help="Append what was fetched to a WARC file."),
        reports_option,
        click.option("--restart", is_flag=True, help="Start a new run, even if the store has this crawl."),
        click.option("--due", is_flag=True, help="Visit again what plan --enqueue made due, and nothing else; without a SEED, of all crawls of the store."),
        click.option("--run", type=click.IntRange(1, MOST), metavar="N", help="With --due: of this crawl, by the number that runs shows."),
        click.option("-q", "--quiet", is_flag=True, help="Say nothing about progress."),
    )  # fmt: skip
    return all_options(options, command)


@click.command(
    cls=Command,
    examples=(
        "honeyguide crawl https://docs.example.org/ --topic 'asyncio|coroutine' --max-pages 500 -o pages.jsonl",
        "honeyguide crawl https://docs.example.org/ --topic 'asyncio|coroutine' -o pages.csv --report crawl.html --quiet",
        "honeyguide crawl --due --max-pages 100 -o pages.jsonl",
    ),
)
@click.argument("seeds", metavar="[SEED]...", nargs=-1)
@_where_options
@_what_options
@fetch_options("Requests at once; the order of pages does not depend on it.", 32)
@no_color_option
def crawl(seeds: tuple[str, ...], **asked: Any) -> None:
    """Follow a topic through a site, best links first, and say why.

    SEED is an address to start from; `-` reads a list from standard input. A crawl stays on the sites of its seeds.

    Everything is kept in the store as it happens. Ctrl-C, or worse, loses nothing that is finished: the same command
    goes on. Larger budgets and other outputs are the same crawl; another topic, profile or seed is another one.

    With --due, pages of before are visited again when a plan wants it. Pages that are the same cost next to nothing,
    new links are queued, and budgets are of this command alone.
    """
    destination, output = _destination(asked)
    if output == "csv" and (asked["links"] or asked["content"]):
        raise click.UsageError("CSV has no room for --links and --content; write JSON lines, -o FILE.jsonl.")
    if output == "parquet" and asked["content"]:
        raise click.UsageError(
            "Parquet is written from the store, which keeps no --content; write JSON lines, -o FILE.jsonl."
        )
    is_of_all = asked["due"] and not (seeds or asked["inputs"] or asked["sitemaps"])
    _check_due(asked, _OF_THE_CRAWL if is_of_all else ())
    if is_of_all:
        if not crawl_due(asked, policy_of(asked), destination, output):
            click.get_current_context().exit(PARTIAL)
        return
    urls = _seeds(seeds, asked)
    profile = load_profile(asked["profile"], topic=asked["topic"], related=asked["related"] or None)
    _check_topic(profile, asked["traversal"])
    policy = policy_of(asked)
    request = CrawlRequest(
        urls,
        asked["traversal"],
        Budgets(asked["max_pages"], asked["max_pages_per_host"], asked["follow_external"]),
        asked["max_depth"],
        asked["max_time"],
        asked["include"],
        asked["exclude"],
        asked["links"],
        asked["concurrency"],
        asked["restart"],
        _command(seeds, asked),
        asked["due"],
        profile=_profile_name(asked["profile"]),
        related=asked["related"] or None,
    )
    is_whole = len({url.site for url in urls}) > 1 or asked["follow_external"] > 0
    if not Work(request, policy, profile, asked, is_whole).run(destination, output):
        click.get_current_context().exit(PARTIAL)


# --- what is asked for ---


def _check_due(asked: dict[str, Any], remembered: tuple[str, ...]) -> None:
    """Refuse what makes no sense together with --due, or without it, and to say again what is `remembered`."""
    if not asked["due"]:
        if asked["run"] is not None:
            raise click.UsageError("--run goes with --due.")
        return
    for name in ("restart", "max_pages_per_host"):
        if asked[name]:
            raise click.UsageError(f"{_option(name)} does not go with --due, which visits what a plan chose.")
    ctx = click.get_current_context()
    for name in remembered:
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError(
                f"{_option(name)}: crawls of the store remember theirs; leave it out, or name a SEED, too."
            )
    app.open_store(asked["store"], create=False).close()


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _check_topic(profile: Profile, traversal: str) -> None:
    """Ask for a topic where the order of pages depends on it, and neither the command nor the profile names one."""
    if traversal_of(profile, traversal).order == "score" and profile.topic.pattern is None:
        raise click.UsageError(
            f"{traversal} follows a topic: give one, such as --topic 'fire|alarm'; "
            "--traversal bfs and --traversal dfs go without."
        )


def _profile_name(source: str) -> str:
    """Name a profile so that it is found again from any folder."""
    return source if source in bundled_profiles() else str(Path(source).resolve())


def _destination(asked: dict[str, Any]) -> tuple[Path | None, str]:
    """Settle where records go, and how they are written there."""
    file, output = asked["file"], asked["output"]
    read = [*asked["inputs"], *(text for text in asked["sitemaps"] if "://" not in text)]
    check_distinct(read, (file, asked["store"], asked["warc"], *asked["reports"]))
    check_reports(asked["reports"], "crawl")
    if file in (None, STDIN):
        check_printable(output)
        return None, output or ("table" if sys.stdout.isatty() else "jsonl")
    return Path(file), format_of(file, output, ALL_FORMATS)


def _seeds(seeds: tuple[str, ...], asked: dict[str, Any]) -> tuple[Url, ...]:
    """Read all seeds, each once; rows of a list that are none are named and left out."""
    named = [text for text in asked["sitemaps"] if text != "auto"]
    if not seeds and not asked["inputs"]:
        if named:
            return ()
        raise click.UsageError("Give a SEED, a list of seeds with -i FILE, or a --sitemap.")
    rows, _ = named_rows(seeds, asked["inputs"])
    bad = [row for row in rows if row.problem]
    for row in bad:
        if row.problem.startswith("argument "):
            raise InputError(f"{row.text}: {row.problem.partition(': ')[2]}")
    if len(bad) == len(rows):
        raise InputError(f"no seed can be used; the first: {bad[0].problem}")
    if bad:
        note(f"{len(bad):,} seeds are left out; the first: {bad[0].problem}")
    meant = [addresses_of(row.text) for row in rows if not row.problem]
    asked["otherwise"] = {first: others for first, *others in meant if others}
    return tuple(first for first, *_ in meant)


def _command(seeds: tuple[str, ...], asked: dict[str, Any]) -> str:
    """Write the command as `honeyguide runs` shows it: what makes it this crawl, without budgets, outputs and manners."""
    words = ["crawl", *seeds[:3], *(["…"] if len(seeds) > 3 else [])]
    usual = {"profile": PROFILE, "traversal": TRAVERSAL, "follow_external": 0}
    for name in ("inputs", "sitemaps", *_OF_THE_CRAWL):
        value = asked[name]
        values = value if isinstance(value, tuple) else () if value in (None, usual.get(name)) else (value,)
        option = {"inputs": "-i", "sitemaps": "--sitemap"}.get(name, _option(name))
        words += [word for value in values for word in (option, str(value))]
    return shlex.join(words)[:_MOST_COMMAND]


# --- the crawl ---


def crawl_due(asked: dict[str, Any], policy: FetchPolicy, destination: Path | None, output: str) -> bool:
    """Visit what is due, run by run; True if nothing is left to do."""
    store = app.open_store(asked["store"], create=False)
    try:
        runs = app.due_runs(store) if asked["run"] is None else [app.find_run(store, asked["run"])]
        sites = {site for run in runs for site in store.ledger(run).sites()}
    finally:
        store.close()
    if not runs:
        note("nothing is due; honeyguide plan --store FILE --enqueue makes a plan's pages due")
    if len(runs) > 1 and (destination is not None or asked["reports"]):
        numbers, option = ", ".join(str(run.id) for run in runs), "-o" if destination else "--report"
        raise InputError(
            f"{option} follows one crawl, and pages of several are due; choose one with --run: {numbers}"
        )
    is_done, room = True, asked["max_pages"]
    for run in runs:
        if room == 0:
            note("--max-pages is used up; the same command goes on")
            return False
        request, profile = app.resume_request(run)
        request = replace(
            request,
            budgets=replace(request.budgets, max_pages=room),
            max_time_s=asked["max_time"],
            links=asked["links"],
            concurrency=asked["concurrency"],
        )
        work = Work(request, policy, profile, asked, is_whole=len(sites) > 1)
        is_done &= work.run(destination, output)
        room = None if room is None else room - work.harvest.pages
    return is_done
