"""`honeyguide url`: normalise, classify and explain URLs.

Owns: these three commands and their records. Must not know: how URLs are rewritten or what the rules of scope are.
"""

from __future__ import annotations

import sys
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from honeyguide import app
from honeyguide.adapters.files.read import STDIN, read_lines
from honeyguide.cli.command import CommandGroup
from honeyguide.cli.options import address, refusal
from honeyguide.cli.output import Column, note, output_options, print_table, say, write_records
from honeyguide.config import load_profile
from honeyguide.core.records import SCHEMA
from honeyguide.core.text.printable import printable
from honeyguide.core.url.url import Url, display, explain
from honeyguide.errors import InputError, UrlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from honeyguide.cli.output import Format
    from honeyguide.core.records import Record
    from honeyguide.core.url.scope import Verdict


CLASSIFY_COLUMNS = ("schema", "href", "url", "verdict", "rule", "id", "detail")
EXPLAIN_COLUMNS = ("schema", "text", "base", "url", "request_url", "key", "display", "steps")


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
@click.option("--base", metavar="URL", callback=address, help="The page that relative URLs stand on.")
def normalize(urls: tuple[str, ...], base: str | None) -> None:
    """Print the one spelling that stands for each URL, a line each; `-` reads URLs from standard input.

    What is no http(s) URL is named on standard error, and the exit code is then 1.
    """
    page = None if base is None else Url.parse(base)
    failed = False
    for text in _texts(urls):
        try:
            sys.stdout.write(f"{Url.parse(text, page).text}\n")
        except UrlError as error:
            failed = True
            click.echo(printable(f"Error: {_why(error, page)}"), err=True)
    if failed:
        click.get_current_context().exit(1)


@url.command(
    examples=(
        "honeyguide url classify /about mailto:info@acme.example --page https://acme.example/",
        "honeyguide url classify - --page https://acme.example/ --format csv < urls.txt",
    )
)
@click.argument("hrefs", metavar="HREF...", nargs=-1, required=True)
@click.option(
    "--page", metavar="URL", callback=address, required=True, help="The page that the links stand on."
)
@click.option(
    "--seed",
    metavar="URL",
    callback=address,
    help="The homepage that decides what is inside; the page itself if not given.",
)
@output_options
def classify(hrefs: tuple[str, ...], page: str, seed: str | None, output: Format) -> None:
    """Say whether links lead inside the site, outside, or nowhere a crawler goes, and by which rule."""
    stands_on = Url.parse(page)
    start = None if seed is None else Url.parse(seed)
    records = (_classified(href, app.classify(href, stands_on, seed=start)) for href in _texts(hrefs))
    if output == "table":
        columns = (Column("Link"), Column("Verdict", keep=True), Column("Rule", keep=True), Column("Why"))
        rows = (
            [r["href"], r["verdict"], r["id"], " ".join(filter(None, (r["rule"], r["detail"])))]
            for r in records
        )
        print_table(columns, rows)
    else:
        write_records(output, records, CLASSIFY_COLUMNS)


@url.command(
    "explain",
    examples=(
        "honeyguide url explain HTTP://Acme.example:80/a/../%7Eanna/?utm_source=x#top",
        "honeyguide url explain ../team/ --base https://acme.example/about/history/",
    ),
)
@click.argument("text", metavar="URL")
@click.option("--base", metavar="URL", callback=address, help="The page that a relative URL stands on.")
@output_options
def explain_(text: str, base: str | None, output: Format) -> None:
    """Show each step that changes a URL, with its rule, and the forms that result."""
    try:
        record = _explained(text, None if base is None else Url.parse(base))
    except UrlError as error:
        raise InputError(_why(error, base)) from None
    if output == "table":
        _show(record)
    else:
        write_records(output, [record], EXPLAIN_COLUMNS)


def _why(error: UrlError, base: object) -> str:
    """Say why a text is no URL; without a page that it could stand on, what is missing is its beginning."""
    return str(error) if base is not None else f"{refusal(error)}; a relative one needs --base"


def _texts(given: Iterable[str]) -> Iterator[str]:
    """Give the arguments; `-` stands for the lines of standard input that are not blank."""
    return chain.from_iterable(_stdin() if text == STDIN else (text,) for text in given)


def _stdin() -> Iterator[str]:
    return (line.strip() for _, line in read_lines(STDIN) if line.strip())


def _classified(href: str, verdict: Verdict) -> Record:
    return {
        "schema": SCHEMA,
        "href": href,
        "url": None if verdict.url is None else verdict.url.text,
        "verdict": verdict.kind.value,
        "rule": verdict.rule,
        "id": verdict.id,
        "detail": verdict.detail or None,
    }


def _explained(text: str, base: Url | None) -> Record:
    parsed = Url.parse(text, base)
    tracking = load_profile("base").scope.tracking
    steps: list[dict[str, Any]] = [
        {"rule": step.rule, "name": step.name, "before": step.before, "after": step.after}
        for step in explain(text, base)
        if step.changed
    ]
    return {
        "schema": SCHEMA,
        "text": text,
        "base": None if base is None else base.as_linked,
        "url": parsed.text,
        "request_url": parsed.as_linked,
        "key": parsed.key(tracking),
        "display": display(parsed),
        "steps": steps,
    }


def _show(record: Record) -> None:
    """Print the URL after each step; what it was before stands in the line above."""
    if record["steps"]:
        columns = (Column("Rule", keep=True), Column("Step", keep=True), Column("URL"))
        rows = [["", "as given", record["steps"][0]["before"]]]
        print_table(
            columns, [*rows, *([step["rule"], step["name"], step["after"]] for step in record["steps"])]
        )
        say()
    else:
        note("nothing changes: the URL is normalised already")
    for label, name in (
        ("Normalised", "url"),
        ("As linked", "request_url"),
        ("Key", "key"),
        ("Display", "display"),
    ):
        say(f"{label:<11} {record[name]}")
