"""`honeyguide explain`: what became of a URL in a crawl, and why; `app.explain` knows it all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from honeyguide.app.explain import explain_url
from honeyguide.cli.command import Command
from honeyguide.cli.commands.crawl.runs import run_option, store_option
from honeyguide.cli.options import rejected_options
from honeyguide.cli.output import note, output_options, say, write_records
from honeyguide.core.records.answers import ExplainRecord
from honeyguide.core.records.fields import columns

if TYPE_CHECKING:
    from honeyguide.cli.output import Format

COLUMNS = columns(ExplainRecord, "steps", "visits", "sentences")


@click.command(
    cls=Command,
    examples=(
        "honeyguide explain https://docs.example.org/library/asyncio.html",
        "honeyguide explain https://docs.example.org/about --run 1 --format jsonl",
    ),
)
@click.argument("text", metavar="URL")
@store_option
@run_option
@output_options
def explain(text: str, store: str, run: int | None, output: Format) -> None:
    """Say what became of a URL in a crawl, and why: how it reads, who links it, what it scored, when it was fetched.

    URL may be a path alone, as crawl prints it. Without --run, the newest crawl that has met the URL is asked; if none
    has, the newest crawl of its site.
    """
    with rejected_options():
        record = explain_url(store, text, run, note)
    if output == "table":
        for line in record["sentences"]:
            say(line)
    else:
        write_records(output, [record], COLUMNS)
