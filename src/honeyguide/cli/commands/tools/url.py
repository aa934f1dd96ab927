"""`honeyguide url`: normalised, classified and explained URLs, and the tables of these commands."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from honeyguide.app.files import STDIN, read_lines
from honeyguide.app.tools.pages import url_record, verdict_record
from honeyguide.cli.command import CommandGroup
from honeyguide.cli.options import address, refusal
from honeyguide.cli.output import (
    Column,
    emit,
    note,
    output_options,
    print_table,
    say,
)
from honeyguide.core.records.command_records import (
    UrlRecord,
    UrlVerdictRecord,
)
from honeyguide.core.records.fields import columns
from honeyguide.core.text.printable import printable
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, UrlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from honeyguide.core.records import Record


@click.group(cls=CommandGroup, examples=("honeyguide url normalize HTTP://Acme.example:80/about/",))
def url() -> None:
    """Normalise, classify and explain URLs."""


@url.command(
    examples=(
        "honeyguide url normalize HTTP://Acme.example:80/%7Eanna/ https://acme.example/a/../b",
        "honeyguide url normalize team/ --base https://acme.example/about/",
        "honeyguide url normalize - < urls.txt",
    )
)
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@click.option("--base", metavar="URL", callback=address, help="The page of relative URLs.")
def normalize(urls: tuple[str, ...], base: str | None) -> None:
    """Print the normalised form of each URL, one on each line; `-` reads URLs from standard input.

    A text that is not an http(s) URL is named on standard error, and the exit code is then 1.
    """
    page = None if base is None else Url.parse(base)
    failed = False
    for text in _texts(urls):
        try:
            sys.stdout.write(f"{Url.parse(text, page).text}\n")
        except UrlError as error:
            failed = True
            click.echo(printable(f"Error: {_why(error, base)}"), err=True)
    if failed:
        click.get_current_context().exit(1)


@url.command(
    examples=(
        "honeyguide url classify /about mailto:info@acme.example --base https://acme.example/",
        "honeyguide url classify - --base https://acme.example/ --format csv < urls.txt",
    )
)
@click.argument("hrefs", metavar="HREF...", nargs=-1, required=True)
@click.option("--base", metavar="URL", callback=address, required=True, help="The page of the links.")
@click.option(
    "--seed",
    metavar="URL",
    callback=address,
    help="The homepage that decides what is inside.  [default: the page of --base]",
)
@output_options
def classify(hrefs: tuple[str, ...], base: str, seed: str | None) -> None:
    """Print whether links lead inside the site, outside, or nowhere a crawler goes, and the rule that decided."""
    page = Url.parse(base)
    records = (verdict_record(href, page, seed) for href in _texts(hrefs))
    emit(records, columns(UrlVerdictRecord), _show_verdicts)


def _show_verdicts(records: Iterable[Record]) -> None:
    columns = (Column("Link"), Column.whole("Verdict"), Column.whole("Rule"), Column("Why"))
    rows = (
        [r["href"], r["verdict"], r["id"], " ".join(filter(None, (r["rule"], r["detail"])))] for r in records
    )
    print_table(columns, rows)


@url.command(
    "explain",
    examples=(
        "honeyguide url explain HTTP://Acme.example:80/a/../%7Eanna/?utm_source=x#top",
        "honeyguide url explain ../team/ --base https://acme.example/about/history/",
    ),
)
@click.argument("text", metavar="URL")
@click.option("--base", metavar="URL", callback=address, help="The page of a relative URL.")
@output_options
def explain_(text: str, base: str | None) -> None:
    """Print each step that changes a URL, with its rule, and the forms that result."""
    try:
        record = url_record(text, base)
    except UrlError as error:
        raise InputError(_why(error, base)) from None
    emit([record], columns(UrlRecord), _show_steps)


def _show_steps(records: Iterable[Record]) -> None:
    for record in records:
        if record["steps"]:
            rows = [["", "as given", record["steps"][0]["before"]]]
            rows += [[step["rule"], step["name"], step["after"]] for step in record["steps"]]
            print_table((Column.whole("Rule"), Column.whole("Step"), Column("URL")), rows)
            say()
        else:
            note("nothing changes: the URL is normalised already")
        for label, name in _FORMS:
            say(f"{label:<11} {record[name]}")


_FORMS = (("Normalised", "url"), ("As linked", "request_url"), ("Key", "key"), ("Display", "display"))


def _why(error: UrlError, base: str | None) -> str:
    """Say why a text is not a URL; without --base, its beginning may be missing."""
    return str(error) if base is not None else f"{refusal(error)}; a relative one needs --base"


def _texts(arguments: Iterable[str]) -> Iterator[str]:
    """Yield the arguments; `-` stands for the lines of standard input that are not blank."""
    for text in arguments:
        if text == STDIN:
            yield from (line.strip() for _, line in read_lines(STDIN) if line.strip())
        else:
            yield text
