"""`honeyguide crawl`: follow a topic through a site.

Owns: the command, its options, and what they come to. Must not know: how a crawl goes (`app` does), how pages are kept
(`crawled.py`), what is said of it (`ending.py`). Start reading at `crawl`, then `_Work.run`.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honeyguide import app
from honeyguide.adapters.inputs import STDIN
from honeyguide.adapters.page_lines import Truth
from honeyguide.cli.command import Command
from honeyguide.cli.crawled import MARKDOWN, Lines, Printed, Table, keeper_of, shaped
from honeyguide.cli.ending import tell_end
from honeyguide.cli.given import all_options, check_distinct, how_options, named_rows, policy_of
from honeyguide.cli.live import watch
from honeyguide.cli.output import no_color_option, note
from honeyguide.config import load_profile
from honeyguide.core.frontier import Budgets, State, digest_of
from honeyguide.core.sites import addresses_of
from honeyguide.core.url import Url
from honeyguide.errors import InputError, UrlError
from honeyguide.jobs.crawl import CrawlRequest
from honeyguide.jobs.harvest import Harvest, is_relevant

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.cli.crawled import Keeper, Output
    from honeyguide.core.frontier import Run
    from honeyguide.core.policy import Policy
    from honeyguide.core.profile import Profile
    from honeyguide.core.records import Record
    from honeyguide.jobs.crawl import Arrival
    from honeyguide.ports import Frontier, Store

PARTIAL = 3
STORE = "honeyguide.db"
_MOST_NOTES = 5  # of seeds that could not be had
_MOST_COMMAND = 500  # characters of the command that the store remembers


def _what_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what is looked for, and how far to go."""
    options = (
        click.option("--topic", metavar="PATTERN", help="What the crawl is about, such as 'asyncio|coroutine'; bfs and dfs go without."),
        click.option("--related", multiple=True, metavar="TERM", help="A term near to the topic; may be repeated."),
        click.option("--profile", default="docs", show_default=True, metavar="NAME", help="Name or path of the profile."),
        click.option("--traversal", type=click.Choice(["focused", "hybrid", "bfs", "dfs"]), default="focused", show_default=True, help="How to move."),
        click.option("--max-pages", type=click.IntRange(1), metavar="N", help="Fetch at most N pages in all."),
        click.option("--max-pages-per-host", type=click.IntRange(1), metavar="N", help="Fetch at most N pages of one host."),
        click.option("--max-depth", type=click.IntRange(0), metavar="N", help="Go at most N links away from a seed."),
        click.option("--max-time", type=click.FloatRange(0, min_open=True), metavar="S", help="Stop after so many seconds."),
        click.option("--include", metavar="PATTERN", help="Follow only URLs that match."),
        click.option("--exclude", metavar="PATTERN", help="Leave out URLs that match."),
        click.option("--follow-external", type=click.IntRange(0), default=0, metavar="N", help="Leave the site, too: fetch at most N pages of others."),
    )  # fmt: skip
    return all_options(options, command)


def _where_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add where seeds come from and pages go to."""
    options = (
        click.option("-i", "--input", "inputs", multiple=True, metavar="FILE", help="A list of seeds; may be repeated."),
        click.option("--sitemap", "sitemaps", multiple=True, metavar="URL|FILE", help="Queue what a sitemap lists; auto takes those that robots.txt names. May be repeated."),
        click.option("--store", default=STORE, show_default=True, metavar="FILE", help="Where the crawl is kept; the same command goes on with it."),
        click.option("-o", "--output", "file", metavar="FILE", help="Write the records of all pages of the crawl to a file."),
        click.option("--format", "output", type=click.Choice(["table", "jsonl", "csv"]), help="How to write; by the name of -o, else a table in a terminal and JSON lines in a pipe."),
        click.option("--links", is_flag=True, help="Add the links of each page, with their scores."),
        click.option("--content", is_flag=True, help="Add the main content of each page as Markdown."),
        click.option("--to", metavar="DIR", help="Write each page as a Markdown file with front matter."),
        click.option("--warc", metavar="FILE", help="Append what was fetched to a WARC file."),
        click.option("--fresh", is_flag=True, help="Start over, whatever the store has of this crawl."),
        click.option("-q", "--quiet", is_flag=True, help="Say nothing about progress."),
    )  # fmt: skip
    return all_options(options, command)


@click.command(
    cls=Command,
    examples=(
        "honeyguide crawl https://docs.example.org/ --topic 'asyncio|coroutine' --max-pages 500 -o pages.jsonl",
        "honeyguide crawl https://docs.example.org/ --topic 'asyncio|coroutine' -o pages.csv --quiet",
    ),
)
@click.argument("seeds", metavar="[SEED]...", nargs=-1)
@_where_options
@_what_options
@how_options("Requests at once; the order of pages does not depend on it.", 32)
@no_color_option
def crawl(seeds: tuple[str, ...], **asked: Any) -> None:
    """Follow a topic through a site, best links first, and say why.

    SEED is an address to start from; `-` reads a list from standard input. A crawl stays on the sites of its seeds.

    Everything is kept in the store as it happens. Ctrl-C, or worse, loses nothing that is finished: the same command
    goes on. Larger budgets and other outputs are the same crawl; another topic, profile or seed is another one.
    """
    destination, output = _destination(asked)
    urls = _seeds(seeds, asked)
    profile = load_profile(asked["profile"], topic=asked["topic"], related=asked["related"] or None)
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
        asked["fresh"],
        _command(seeds, asked),
    )
    work = _Work(request, policy, profile, asked)
    if not work.run(destination, output):
        click.get_current_context().exit(PARTIAL)


# --- what is asked for ---


def _destination(asked: dict[str, Any]) -> tuple[Path | None, str]:
    """Settle where records go, and how they are written there."""
    file, output = asked["file"], asked["output"]
    read = [*asked["inputs"], *(text for text in asked["sitemaps"] if "://" not in text)]
    check_distinct(read, (file, asked["store"], asked["warc"]))
    if file in (None, STDIN):
        return None, output or ("table" if sys.stdout.isatty() else "jsonl")
    if output == "table":
        raise click.UsageError("A table is for the terminal; leave out --format or -o.")
    return Path(file), output or ("csv" if file.lower().endswith(".csv") else "jsonl")


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
    return tuple(addresses_of(row.text)[0] for row in rows if not row.problem)


def _command(seeds: tuple[str, ...], asked: dict[str, Any]) -> str:
    """Write the command as `honeyguide runs` shows it: what makes it this crawl, and no more."""
    words = ["crawl", *seeds[:3], *(["…"] if len(seeds) > 3 else [])]
    for name in ("inputs", "sitemaps", "topic", "include", "exclude"):
        values = asked[name] if isinstance(asked[name], tuple) else (asked[name],) if asked[name] else ()
        option = {"inputs": "-i", "sitemaps": "--sitemap"}.get(name, f"--{name}")
        words += [word for value in values for word in (option, value)]
    if asked["traversal"] != "focused":
        words += ["--traversal", asked["traversal"]]
    return shlex.join(words)[:_MOST_COMMAND]


# --- the crawl ---


@dataclass(slots=True)
class _Work:
    """One process working on a crawl."""

    request: CrawlRequest
    policy: Policy
    profile: Profile
    asked: dict[str, Any]
    harvest: Harvest = field(init=False)
    run_id: int | None = None
    failed: list[str] = field(default_factory=list)
    _frontier: Frontier | None = None
    _counted_until: float = 0.0

    def __post_init__(self) -> None:
        self.harvest = Harvest(time.monotonic(), self.request.budgets.max_pages)

    def run(self, destination: Path | None, output: str) -> bool:
        """Crawl, and tell how it went; True if nothing is left to do. Ctrl-C ends it, and what is finished stays."""
        keeper = keeper_of(self.asked, self.policy.agent)
        try:
            out = self._output(destination, output)
            try:
                return self._run(out, keeper)
            finally:
                out.close()
        finally:
            keeper.close()

    def _output(self, destination: Path | None, output: str) -> Output:
        extras = (MARKDOWN,) if self.asked["content"] else ()
        if destination is None:
            return Printed(output, extras)
        if output == "csv":
            return Table(destination)
        return Lines(destination, extras, fresh=self.asked["fresh"])

    def _run(self, out: Output, keeper: Keeper) -> bool:
        quiet, no_color = self.asked["quiet"], "honeyguide.no_color" in click.get_current_context().meta
        with watch(self.harvest, quiet=quiet, no_color=no_color) as watcher:

            def on_page(record: Record, arrival: Arrival) -> None:
                values = keeper.keep(record, arrival)
                (row,) = shaped((record,), links=self.asked["links"])
                with nullcontext() if out.name else watcher.paused():
                    out.add(row, values)
                self._count(record)
                watcher.update()

            stopped = self._crawl(out, on_page)
        if self.run_id is None:  # Ctrl-C before there was a run
            return False
        store = app.open_store(self.asked["store"])
        try:
            run = next(run for run in store.runs() if run.id == self.run_id)
            frontier = store.frontier(run)
            out.end(self._truth(frontier))
            counts = frontier.counts()
        finally:
            store.close()
        for failed in self.failed[:_MOST_NOTES]:
            note(failed)
        if not quiet:
            summary = self.harvest.summary(time.monotonic())
            where = f"run {self.run_id} of {self.asked['store']}"
            tell_end(f"{out.name}: {summary}" if out.name else summary, stopped, counts, self.profile, where)
        return stopped == "complete" and counts.states["done"] > 0

    def _crawl(self, out: Output, on_page: Callable[[Record, Arrival], None]) -> str:
        """Crawl; gives why it stopped."""
        crawling = app.crawl_site(
            self.request,
            self.policy,
            self.profile,
            self.asked["store"],
            on_page,
            sitemaps=self.asked["sitemaps"],
            on_run=partial(self._begin, out),
            on_note=note,
        )
        try:
            return asyncio.run(crawling).stopped
        except KeyboardInterrupt:
            return "interrupted"

    def _begin(self, out: Output, store: Store, run: Run) -> None:
        """Learn which run it is, and bring the output in step with it."""
        self.run_id, self._frontier = run.id, store.frontier(run)
        truth = self._truth(self._frontier)
        out.begin(truth)
        pages = relevant = 0
        for record in truth.pages():
            pages += 1
            relevant += is_relevant(record)
        self.harvest.before = (pages, relevant)

    def _truth(self, frontier: Frontier) -> Truth:
        """Say what the store says, in the form of the output."""

        def are_pending(urls: list[str]) -> bool:
            try:
                digests = [self._digest(url) for url in urls]
            except UrlError:
                return False
            known = frontier.known(digests)
            open_states = (State.QUEUED, State.LEASED)
            return all(digest in known and known[digest].state in open_states for digest in digests)

        links = self.asked["links"]
        return Truth(lambda: shaped((record for _, record in frontier.pages()), links=links), are_pending)

    def _digest(self, url: str) -> int:
        return digest_of(Url.parse(url), self.profile.scope.tracking)

    def _count(self, record: Record) -> None:
        """Count a page; and now and then, what is queued: the longer that takes, the more seldom."""
        self.harvest.add(record)
        if record["action"] == "dropped" and record["lane"] == "seed":
            self.failed.append(f"{record['url']}: {record['reasons'][-1]['reason']}")
        now = time.monotonic()
        if self._frontier is not None and not self.asked["quiet"] and now >= self._counted_until:
            self.harvest.lanes = self._frontier.counts().lanes
            spent = time.monotonic() - now
            self._counted_until = now + max(2.0, 50 * spent)
