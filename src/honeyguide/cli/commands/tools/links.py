"""`honeyguide links`: the links of a page, with the verdict on each; `app.tools.pages` reads it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from honeyguide.app.tools.pages import LINK_COLUMNS, NOWHERE, link_records, load_page
from honeyguide.cli.command import Command
from honeyguide.cli.options import address
from honeyguide.cli.output import Column, emit, note, output_options, print_table, say, short_url

if TYPE_CHECKING:
    from collections.abc import Iterable

    from honeyguide.app.tools.pages import LoadedPage, Page
    from honeyguide.cli.command import Decorator
    from honeyguide.core.records import Record

base_option: Decorator = click.option("--base", metavar="URL", callback=address, help="The page's address.  [default: its canonical link]")  # fmt: skip


@click.command(
    cls=Command,
    examples=(
        "honeyguide links home.html --base https://acme.example/",
        "honeyguide links notes.md --base https://acme.example/ --format csv",
        "honeyguide links - --base https://acme.example/ --format jsonl < home.html",
    ),
)
@click.argument("file", metavar="PAGE")
@base_option
@click.option("--input-format", type=click.Choice(["html", "markdown"]), help="What PAGE is.  [default: by its name]")  # fmt: skip
@output_options
def links(file: str, base: str | None, input_format: str | None, **_output: str) -> None:
    """List the links of a page, with the verdict on each.

    PAGE is an HTML or Markdown file, or `-` for standard input. Each URL is listed once, in the order of the page; links
    that lead to no page come last.
    """
    page = loaded_page(file, base, input_format)
    emit(link_records(page), LINK_COLUMNS, partial(_show, page=page.url.text))


def loaded_page(file: str, base: str | None, input_format: str | None = None) -> Page:
    """Read a page, and note where it is if --base does not say so."""
    loaded = load_page(file, base, input_format)
    note_address(loaded)
    page = loaded.page
    if loaded.is_nowhere and any(link.url.site == page.url.site for link in page.links):
        note(f"no --base is given; relative links are shown under {NOWHERE}")
    return page


def note_address(loaded: LoadedPage) -> None:
    """Note that a page was given no address and has one itself."""
    if loaded.is_canonical:
        note(f"no --base is given; the page says it is {loaded.page.url}")


def _show(records: Iterable[Record], page: str) -> None:
    rows = [_row(record, page) for record in records]
    columns = (
        Column("Position", keep=True),
        Column("Times", right=True, keep=True),
        Column("Verdict", keep=True),
    )
    print_table((*columns, Column("Link and text")), rows)
    say()
    say(f"{len(rows):,} links on {page}")


def _row(record: Record, page: str) -> list[str]:
    verdict = record["verdict"] if record["verdict"] == "inside" else f"{record['verdict']}: {record['rule']}"
    times = "-" if record["occurrences"] is None else str(record["occurrences"])
    text = f'\n  "{record["anchor_text"]}"' if record["anchor_text"] else ""
    shown = record["url"] if record["occurrences"] is None else short_url(record["url"], page)
    return [record["position"] or "-", times, verdict, shown + text]
