"""`honeyguide demo`: a first run on a made-up company site, explained step by step.

The site is served on this machine and picked from like any other site. Must not know: how pages are chosen.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from honeyguide.app.pick import DEMO_POLICY, PickRequest, pick_sites
from honeyguide.cli.command import Command
from honeyguide.cli.output import Column, no_color_option, number, points, print_table, say
from honeyguide.demo import serve_demo
from honeyguide.errors import HoneyguideError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.core.records import Record


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
@click.option(
    "--studio", is_flag=True, help="Look at it in a browser: a pick, a crawl and a plan of the site."
)
@click.option("--no-open", is_flag=True, help="With --studio: print the address, and open no browser.")
@no_color_option
def demo(studio: bool, no_open: bool) -> None:
    """Show a first run, step by step, on a made-up company site that is served on this machine.

    Nothing leaves the machine. The tour ends with commands to try next.
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
        asyncio.run(picking)
    (record,) = records
    if record["status"] != "ok":
        raise HoneyguideError(
            f"the demo site at {address} could not be read: {record['reason']}; is loopback blocked?"
        )
    return record


def _open_studio(*, opens: bool) -> None:
    """Pick and crawl the demo site into a folder that is gone afterwards, and look at both."""
    from honeyguide.app.library.calls import crawl
    from honeyguide.app.views.answers import opened_answers
    from honeyguide.cli.commands.servers.studio import run_studio
    from honeyguide.studio.shell import Sources

    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="honeyguide-"))
        address, kept, store = stack.enter_context(serve_demo()), f"{folder}/kept.db", f"{folder}/crawl.db"
        with opened_answers(kept, keeps=True, replays=False) as answers:
            answers.note([address], PickRequest(), None)
            asyncio.run(pick_sites([address], PickRequest(), DEMO_POLICY, lambda *_: None, answers=answers))
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
