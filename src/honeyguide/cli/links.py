"""`honeyguide links`: the links of a page, with what becomes of each.

Owns: the command and its records. Must not know: HTML, Markdown, the rules of scope.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from honeyguide import app
from honeyguide.cli.addresses import address
from honeyguide.cli.command import Command
from honeyguide.cli.output import Column, output_options, print_table, say, short_url, write_records
from honeyguide.cli.pages import load_page
from honeyguide.core.records import SCHEMA, position_names

if TYPE_CHECKING:
    from honeyguide.cli.output import Format
    from honeyguide.core.page import Link, Page
    from honeyguide.core.records import Record

COLUMNS = (
    "schema", "url", "as_linked", "anchor_text", "title", "rel", "position", "context", "occurrences",
    "verdict", "rule", "detail", "positions",
)  # fmt: skip


@click.command(
    cls=Command,
    examples=(
        "honeyguide links home.html --base https://acme.example/",
        "honeyguide links notes.md --base https://acme.example/ --format csv",
        "honeyguide links - --base https://acme.example/ --format jsonl < home.html",
    ),
)
@click.argument("file", metavar="PAGE")
@click.option(
    "--base", metavar="URL", callback=address, help="The page's address; its canonical link if not given."
)
@click.option("--markdown", is_flag=True, help="Read PAGE as Markdown, whatever its name.")
@output_options
def links(file: str, base: str | None, markdown: bool, output: Format) -> None:
    """List the links of a page, with what becomes of each.

    PAGE is an HTML or Markdown file, or `-` for standard input. Each URL is listed once, in the order of the page; what
    leads to no page at all comes last.
    """
    page = load_page(file, base, markdown=markdown)
    found = [(link, _record(link, page)) for link in page.links]
    skipped = [_skipped(href, rule) for href, rule in page.skipped]
    if output != "table":
        write_records(output, [*(record for _, record in found), *skipped], COLUMNS)
        return
    rows = [_row(short_url(link.url, page.url), record) for link, record in found]
    rows += [_row(record["url"], record) for record in skipped]
    columns = (
        Column("Position", keep=True),
        Column("Times", right=True, keep=True),
        Column("Verdict", keep=True),
    )
    print_table((*columns, Column("Link and text")), rows)
    say()
    say(f"{len(rows):,} links on {page.url}")


def _row(address: str, record: Record) -> list[str]:
    verdict = record["verdict"] if record["verdict"] == "inside" else f"{record['verdict']}: {record['rule']}"
    times = "-" if record["occurrences"] is None else str(record["occurrences"])
    text = f'\n  "{record["anchor_text"]}"' if record["anchor_text"] else ""
    return [record["position"] or "-", times, verdict, address + text]


def _record(link: Link, page: Page) -> Record:
    verdict = app.classify(link.url.as_linked, page.url)
    return {
        "schema": SCHEMA,
        "url": link.url.text,
        "as_linked": link.url.as_linked,
        "anchor_text": link.anchor,
        "title": link.title,
        "rel": link.rel,
        "position": link.position.value,
        "context": link.context,
        "occurrences": len(link.occurrences),
        "verdict": verdict.kind.value,
        "rule": verdict.rule,
        "detail": verdict.detail or None,
        "positions": position_names(link),
    }


def _skipped(href: str, rule: str) -> Record:
    """Give an href that is no URL the same names; only its text and the deciding rule are known."""
    known = {"schema": SCHEMA, "url": href, "verdict": "skip", "rule": rule, "positions": []}
    return {**dict.fromkeys(COLUMNS), **known}
