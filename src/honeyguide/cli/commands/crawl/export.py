"""`honeyguide export`: what a crawl found, out of its store.

Owns: the command and its records. Must not know: how any of it was decided. Start reading at `export`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from honeyguide import app
from honeyguide.adapters.files.read import STDIN
from honeyguide.cli.command import Command
from honeyguide.cli.commands.crawl.outputs import COLUMNS as PAGE_COLUMNS
from honeyguide.cli.commands.crawl.outputs import PARQUET_COLUMNS, check_crawl_file, write_crawl_file
from honeyguide.cli.commands.crawl.runs import find_run, run_option, store_option
from honeyguide.cli.files import (
    ALL_FORMATS,
    check_distinct,
    check_printable,
    format_of,
    quiet_option,
    tell_written,
)
from honeyguide.cli.output import no_color_option, normalised, write_records
from honeyguide.core.records import SCHEMA, complete
from honeyguide.core.text.printable import tidy
from honeyguide.core.url.scope import OTHER_SITE
from honeyguide.core.url.url import Url
from honeyguide.errors import UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from honeyguide.core.crawl.frontier import FrontierRow
    from honeyguide.core.records import Record
    from honeyguide.ports.store import Frontier


_LINK = (
    "schema",
    "url",
    "state",
    "lane",
    "priority",
    "relevance_score",
    "depth",
    "parent",
    "seen",
    "rule",
    "why",
    "as_linked",
)
COLUMNS = {
    "pages": PAGE_COLUMNS,
    "links": _LINK,
    "external": ("schema", "url", "site", "seen", "parent", "as_linked"),
    "out": ("schema", "url", "rule", "why", "depth", "parent", "seen", "as_linked"),
}
_WORDS = {"pages": "page", "links": "link", "external": "link", "out": "URL"}


@click.command(
    cls=Command,
    examples=(
        "honeyguide export pages",
        "honeyguide export external --format csv",
        "honeyguide export out --rule other-site",
        "honeyguide export links --run 1 -o links.jsonl",
    ),
)
@click.argument("what", metavar="pages|links|external|out", type=click.Choice(list(COLUMNS)))
@store_option
@run_option
@click.option("--rule", metavar="ID", help="Of what was put out, only what this rule put out.")
@click.option("--changed", is_flag=True, help="Of pages, only visits that found them new or changed.")
@click.option("-o", "--output", "file", metavar="FILE", help="Write to a file, in one step.")
@click.option(
    "--format",
    "output",
    type=click.Choice(["jsonl", "csv", "parquet"]),
    help="How to write; by the name of -o, else JSON lines.",
)
@quiet_option
@no_color_option
def export(what: str, store: str, run: int | None, rule: str | None, **asked: Any) -> None:
    """Write what a crawl found: pages, links, external links, what was put out by which rule.

    Pages are the records that crawl writes. Links are all URLs that were met, in the order of discovery, whatever became
    of them; external are those that leave the sites of the crawl, each with the number of pages that link it.
    """
    if rule is not None and what != "out":
        raise click.UsageError("--rule is about what was put out: export out.")
    if asked["changed"] and what != "pages":
        raise click.UsageError("--changed is about visits of pages: export pages.")
    file = None if asked["file"] == STDIN else asked["file"]
    output = format_of(file, asked["output"], ALL_FORMATS) if file else check_printable(asked["output"])
    columns = PARQUET_COLUMNS if (what, output) == ("pages", "parquet") else COLUMNS[what]
    check_distinct((store,), (file,))
    if file is not None:
        check_crawl_file(file, output, columns)
    opened = app.open_store(store, read_only=True)
    try:
        frontier = opened.frontier(find_run(opened, run))
        _check_rule(rule, frontier)
        records = export_records(what, frontier, rule)
        if asked["changed"]:
            records = (record for record in records if record["change"] in ("new", "changed"))
        if file is None:
            _print(records, columns, output)
            return
        count = write_crawl_file(file, output, records, columns)
    finally:
        opened.close()
    if not asked["quiet"]:
        tell_written((file,), count, _WORDS[what])


def _check_rule(rule: str | None, frontier: Frontier) -> None:
    """Refuse a rule that put nothing out: it is none, or misspelt."""
    rules = frontier.counts().out
    if rule is not None and rule not in rules:
        known = ", ".join(sorted(rules)) or "none"
        raise click.BadParameter(
            f"no URL was put out by {shown(rule)}; rules that did: {known}.", param_hint="--rule"
        )


def export_records(what: str, frontier: Frontier, rule: str | None = None) -> Iterator[Record]:
    """Give the records of one kind; of what was put out, perhaps only what one rule put out."""
    match what:
        case "pages":
            return (complete(record) for _, record in frontier.pages())
        case "links":
            return map(_link, frontier.rows())
        case "external":
            return map(_external, frontier.rows(rule=OTHER_SITE))
        case _:
            rows = frontier.rows() if rule is None else frontier.rows(rule=rule)
            return (_out(row) for row in rows if row.why is not None and row.state.name == "DROPPED")


def _link(row: FrontierRow) -> Record:
    return {
        "schema": SCHEMA,
        "url": normalised(row.url),
        "state": row.state.name.lower(),
        "lane": row.lane or None,
        "priority": tidy(row.priority),
        "relevance_score": tidy(row.score),
        "depth": row.depth,
        "parent": normalised(row.parent),
        "seen": row.seen,
        "rule": row.why.rule if row.why else None,
        "why": row.why.text if row.why else None,
        "as_linked": row.url,
    }


def _external(row: FrontierRow) -> Record:
    try:
        site = Url.parse(row.url).site
    except UrlError:
        site = None
    link = {**_link(row), "site": site}
    return {name: link[name] for name in COLUMNS["external"]}


def _out(row: FrontierRow) -> Record:
    link = _link(row)
    return {name: link[name] for name in COLUMNS["out"]}


def _print(records: Iterable[Record], columns: tuple[str, ...], output: str) -> None:
    if output == "csv":
        write_records("csv", ({name: record.get(name) for name in columns} for record in records), columns)
    else:
        write_records("jsonl", records, columns)
    sys.stdout.flush()
