"""`honeyguide demo`, `studio` and `mcp`: what is served on this machine until it is stopped.

The tour of `demo` picks from a made-up company site that it serves, like from any other site. Must not know: how pages are
chosen. Start reading at `demo` and `run_studio`.
"""

from __future__ import annotations

import os
import webbrowser
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from honeyguide.app.pick import DEMO_POLICY, PickRequest, pick_sites
from honeyguide.app.runs import list_runs
from honeyguide.cli import stopping
from honeyguide.cli.command import Command, option, takes
from honeyguide.cli.options import STORE
from honeyguide.cli.output import Column, no_color_option, note, number, points, print_table, printable, say
from honeyguide.cli.stopping import until_stopped
from honeyguide.demo import serve_demo
from honeyguide.errors import HoneyguideError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.core.records import Record
    from honeyguide.studio.shell import Sources

SHOWN = 2  # examples of links that a rule rejected
NEXT = (
    ("honeyguide pick acme.example", "the same for a site of yours"),
    ("honeyguide pick acme.example --report report.html", "and a report to look at"),
    ("honeyguide demo --studio", "look at it in a browser, and try other rules"),
    ("honeyguide select --demo --all", "every link of a page, with its verdict"),
    ("honeyguide profile show company", "the rules that decided here"),
)
REJECTED = (Column.number("Links"), Column.whole("Rule"), Column("Why, and which"))
RANKED = (Column.number("Score"), Column.whole("Bucket"), Column("Page and points"))
PICKED = (Column.number("#"), *RANKED[:2], Column("Page and title"))


@click.command(cls=Command, examples=("honeyguide demo", "honeyguide demo --studio"))
@click.option("--studio", is_flag=True, help="Show a pick, a crawl and a plan of the site in a browser.")
@click.option("--no-open", is_flag=True, help="With --studio: print the address, and open no browser.")
@no_color_option
def demo(studio: bool, no_open: bool) -> None:
    """Show a first run, step by step, on a made-up company site that is served on this machine.

    Nothing leaves the machine.
    """
    if studio:
        _open_studio(opens=not no_open)
        return
    record = _pick()
    home = record["homepage"].rstrip("/")
    scored = [candidate for candidate in record["candidates"] if candidate["score"] is not None]
    say("Larkspur Fire is a company that does not exist. Its website was served on this machine,")
    say("and Honeyguide picked from it the pages that say what the company does.")
    _heading("1. What was found")
    say(f"{record['title']}")
    links = len(record["candidates"]) + len(record["skipped"])
    say(f"The homepage {home}/ has {links} different links.")
    _heading("2. What was rejected at once")
    print_table(REJECTED, _rejected(record, home))
    _heading("3. How the rest was ranked")
    say(f"{len(scored)} pages have a score. It is the sum of the points, and each point has a reason.")
    say()
    scored.sort(key=lambda page: (page["rank"] is None, page["rank"] or 0, -page["score"]))
    print_table(RANKED, [[number(page["score"]), page["bucket"] or "-", _why(page, home)] for page in scored])
    _heading("4. What was replaced")
    say("The chosen pages were fetched. These were dead or empty, so the next in order replaced them:")
    say()
    replaced = [[_path(page["url"], home), page["reason"]] for page in record["replaced"]]
    print_table((Column(""), Column("")), replaced)
    _heading("5. The picks")
    print_table(PICKED, [_picked(page, home) for page in record["selected"]])
    say()
    say(f"{record['requests']} requests were made, robots.txt was obeyed, and nothing left this machine.")
    _heading("Try next")
    print_table((Column.whole(""), Column("")), NEXT)


def _pick() -> Record:
    records: list[Record] = []
    with serve_demo() as address:
        picking = pick_sites([address], PickRequest(), DEMO_POLICY, lambda _, record: records.append(record))
        stopping.run(picking)
    (record,) = records
    if record["status"] != "ok":
        raise HoneyguideError(
            f"the demo site at {address} could not be read: {record['reason']}; is loopback blocked?"
        )
    return record


def _open_studio(*, opens: bool) -> None:
    """Pick and crawl the demo site into a folder that is gone afterwards, and look at both."""
    from honeyguide.app.library.calls import crawl
    from honeyguide.app.views.kept_pick import opened_kept_pick
    from honeyguide.studio.shell import Sources

    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="honeyguide-"))
        address, kept, store = stack.enter_context(serve_demo()), f"{folder}/kept.db", f"{folder}/crawl.db"
        with opened_kept_pick(kept, keeps=True, replays=False) as kept_pick:
            kept_pick.note([address], PickRequest(), None)
            stopping.run(pick_sites([address], PickRequest(), DEMO_POLICY, lambda *_: None, kept=kept_pick))
        for _ in crawl(address, topic="alarm|sprinkler|fire", store=store, policy=DEMO_POLICY):
            pass
        say("Larkspur Fire is a company that does not exist; its website is served on this machine.")
        run_studio(Sources(store), kept, stack, opens=opens)


def _heading(words: str) -> None:
    say()
    say(words)
    say("-" * len(words))


def _rejected(record: Record, home: str) -> Iterator[list[str]]:
    groups: dict[str, list[tuple[str, str]]] = {}
    for skipped in record["skipped"]:
        groups.setdefault(skipped["rule"], []).append((skipped["href"], "no web page"))
    for page in record["candidates"]:
        if page["score"] is None:
            found = (_path(page["url"], home), page["rejected"]["reason"])
            groups.setdefault(page["rejected"]["rule"], []).append(found)
    for rule, pages in groups.items():
        more = f" and {len(pages) - SHOWN} more" if len(pages) > SHOWN else ""
        yield [
            str(len(pages)),
            rule,
            f"{pages[0][1]}\n  {', '.join(path for path, _ in pages[:SHOWN])}{more}",
        ]


def _why(page: Record, home: str) -> str:
    paid = [f"  {points(point['points'])} {point['reason']}" for point in page["points"] if point["points"]]
    rejected = page["rejected"]
    why = [f"  rejected: {rejected['rule']}, {rejected['reason']}"] if rejected else []
    return "\n".join([_path(page["url"], home), *paid, *why])


def _picked(page: Record, home: str) -> list[str]:
    text = f"{_path(page['url'], home)}\n  {page['title']}"
    return [str(page["rank"]), number(page["score"]), page["bucket"] or "-", text]


def _path(url: str, home: str) -> str:
    return url.removeprefix(home) or "/"


# --- the studio ---


@dataclass(frozen=True, slots=True)
class _Options:
    store: str | None = option("--store FILE", f"A store of crawls.  [default: {STORE}, if it is there]")
    picks: str | None = option("--picks FILE", "Records of pick -o, JSON lines or Parquet.")
    keep: str | None = option("--keep FILE", "Pages of pick --keep, to try other rules on them.")
    port: int = option(
        "--port N", "The port on this machine; 0 takes a free one.", default=0, type=click.IntRange(0, 65_535)
    )
    no_open: bool = option("--no-open", "Print the address, and open no browser.")


@click.command(
    cls=Command,
    examples=(
        "honeyguide studio",
        "honeyguide studio --picks picks.jsonl --keep kept.db",
    ),
)
@takes(options=_Options)
def studio(options: _Options) -> None:
    """Look at picks, crawls and plans in a browser, ask why, and try other rules.

    The page is served on this machine only, and its address has a secret token. Stores are only read; profiles and labels are
    saved where you say. Ctrl-C ends it.
    """
    store = options.store or (STORE if Path(STORE).exists() else None)
    if store is None and options.picks is None and options.keep is None:
        raise click.UsageError(
            "Name what to look at: --store FILE, --picks FILE or --keep FILE; honeyguide demo --studio shows an example."
        )
    if store is not None:
        list_runs(store)  # says what is wrong with it
    if options.picks is not None and not os.path.exists(options.picks):  # noqa: PTH110 - the path may be hostile; this never raises
        raise InputError("no such file; pick -o makes one", file=options.picks)
    from honeyguide.studio.shell import Sources

    with ExitStack() as stack:
        run_studio(
            Sources(store, options.picks), options.keep, stack, port=options.port, opens=not options.no_open
        )


def run_studio(
    sources: Sources, keep: str | None, stack: ExitStack, *, port: int = 0, opens: bool = True
) -> None:
    """Serve until Ctrl-C; also for the demo."""
    from honeyguide.studio.saving import unsaved
    from honeyguide.studio.server import Studio, serve

    if keep is not None:
        from honeyguide.app.tools.results import read
        from honeyguide.app.views.kept_pick import opened_kept_pick
        from honeyguide.app.views.what_if import WhatIf

        sources.what_if = WhatIf(stack.enter_context(opened_kept_pick(keep, keeps=False, replays=True)))
        if sources.picks is not None and (other := sources.what_if.other_profile(read(sources.picks))):
            note(f"{sources.picks} {other}")

    def ready(address: str) -> None:
        click.echo(printable(f"The studio is at {address}"))
        note("Ctrl-C ends it; the address is for you alone, because it has a token")
        if opens:
            webbrowser.open(address)

    async def work() -> str:
        try:
            await serve(Studio(sources, port), ready)
        except OSError as error:
            raise InputError(f"port {port} cannot be used: {error.strerror}; choose another --port") from None
        return ""

    stopping.run(until_stopped(work()))
    if lost := unsaved(sources):
        note(f"not saved: {lost}")


@click.command(cls=Command, examples=("honeyguide mcp", "honeyguide mcp --store crawl.db"))
@click.option("--store", metavar="FILE", help="Let explain and plan read this store.")
@click.option(
    "--allow-private",
    is_flag=True,
    help="Let the agent reach private addresses; it cannot ask for that itself.",
)
def mcp(store: str | None, allow_private: bool) -> None:
    """Serve an agent: pick, crawl, explain and plan by the Model Context Protocol.

    It uses standard input and output. Pages and time of a crawl are bounded, results are short, and text from pages is marked
    as untrusted.
    """
    try:
        from honeyguide.contrib.mcp import make_server
    except ImportError:
        raise InputError("mcp needs the SDK of the protocol; pip install 'mcp>=2.3'") from None
    make_server(store, allow_private=allow_private).run()
