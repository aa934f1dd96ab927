"""`honeyguide demo`: a first run on a made-up company site, explained step by step.

Owns: the command, and the words of the tour. Must not know: how pages are chosen. Start reading at `demo`.
The site is served on this machine and picked from like any other site.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from honeyguide.app.pick.pick import DEMO_POLICY, PickRequest, pick_sites
from honeyguide.cli.command import Command
from honeyguide.cli.output import Column, no_color_option, number, points, print_table, say
from honeyguide.demo.server import serve_demo
from honeyguide.errors import HoneyguideError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from honeyguide.core.records import Record


SHOWN = 2  # examples of links that a rule rejected
NEXT = (
    ("honeyguide pick acme.example", "the same for a site of yours"),
    ("honeyguide pick acme.example --report report.html", "and a report to look at"),
    ("honeyguide select --demo --all", "every link of a page, with its verdict"),
    ("honeyguide profile show company", "the rules that decided here"),
)
RANKED = (Column("Score", right=True, keep=True), Column("Bucket", keep=True), Column("Page and points"))
PICKED = (Column("#", right=True, keep=True), *RANKED[:2], Column("Page and title"))


@click.command(cls=Command, examples=("honeyguide demo",))
@no_color_option
def demo() -> None:
    """Show a first run, step by step, on a made-up company site that is served on this machine.

    Nothing leaves the machine. The tour ends with commands to try next.
    """
    record = _pick()
    home = record["homepage"].rstrip("/")
    say("Larkspur Fire is a company that does not exist. Its website was served on this machine,")
    say("and Honeyguide picked from it the pages that say what the company does.")
    _found(record, home)
    _rejected(record, home)
    _ranked(record, home)
    _replaced(record, home)
    _selected(record, home)
    _heading("Try next")
    print_table((Column("", keep=True), Column("")), [[command, words] for command, words in NEXT])


def _pick() -> Record:
    records: list[Record] = []
    with serve_demo() as address:
        asyncio.run(
            pick_sites([address], PickRequest(), DEMO_POLICY, lambda _, record: records.append(record))
        )
    (record,) = records
    if record["status"] != "ok":
        raise HoneyguideError(
            f"the demo site at {address} could not be read: {record['reason']}; is loopback blocked?"
        )
    return record


def _heading(words: str) -> None:
    say()
    say(words)
    say("-" * len(words))


def _found(record: Record, home: str) -> None:
    _heading("1. What was found")
    links = len(record["candidates"]) + len(record["skipped"])
    say(f"{record['title']}")
    say(f"The homepage {home}/ has {links} different links.")


def _rejected(record: Record, home: str) -> None:
    _heading("2. What was rejected at once")
    groups: dict[str, list[tuple[str, str]]] = {}
    for skipped in record["skipped"]:
        groups.setdefault(skipped["rule"], []).append((skipped["href"], "no web page"))
    for candidate in record["candidates"]:
        if candidate["score"] is None:
            groups.setdefault(candidate["rejected"]["rule"], []).append(
                (_path(candidate["url"], home), candidate["rejected"]["reason"])
            )
    rows = [
        [str(len(pages)), rule, f"{pages[0][1]}\n  {_examples(page for page, _ in pages)}"]
        for rule, pages in groups.items()
    ]
    print_table(
        (Column("Links", right=True, keep=True), Column("Rule", keep=True), Column("Why, and which")), rows
    )


def _examples(pages: Iterable[str]) -> str:
    named = list(pages)
    more = len(named) - SHOWN
    return ", ".join(named[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _ranked(record: Record, home: str) -> None:
    scored = [candidate for candidate in record["candidates"] if candidate["score"] is not None]
    _heading("3. How the rest was ranked")
    say(f"{len(scored)} pages have a score. It is the sum of the points, and each point has a reason.")
    say()
    ranked = sorted(scored, key=lambda page: (page["rank"] is None, page["rank"] or 0, -page["score"]))
    print_table(
        RANKED, [[number(page["score"]), page["bucket"] or "-", _explained(page, home)] for page in ranked]
    )


def _explained(page: Record, home: str) -> str:
    paid = [f"  {points(point['points'])} {point['reason']}" for point in page["points"] if point["points"]]
    rejected = (
        [f"  rejected: {page['rejected']['rule']}, {page['rejected']['reason']}"] if page["rejected"] else []
    )
    return "\n".join([_path(page["url"], home), *paid, *rejected])


def _replaced(record: Record, home: str) -> None:
    _heading("4. What was replaced")
    say("The chosen pages were fetched. These were dead or empty, so the next in order replaced them:")
    say()
    print_table(
        (Column(""), Column("")), [[_path(page["url"], home), page["reason"]] for page in record["replaced"]]
    )


def _selected(record: Record, home: str) -> None:
    _heading("5. The picks")
    rows = [
        [
            str(page["rank"]),
            number(page["score"]),
            page["bucket"] or "-",
            f"{_path(page['url'], home)}\n  {page['title']}",
        ]
        for page in record["selected"]
    ]
    print_table(PICKED, rows)
    say()
    say(f"{record['requests']} requests were made, robots.txt was obeyed, and nothing left this machine.")


def _path(url: str, home: str) -> str:
    return url.removeprefix(home) or "/"
