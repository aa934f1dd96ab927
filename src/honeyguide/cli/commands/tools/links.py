"""`honeyguide links`: the links of a page, with what becomes of each.

Owns: the command and its records. Must not know: HTML, Markdown, the rules of scope.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import click

from honeyguide import app
from honeyguide.adapters.files.read import name_of, read_bytes, read_text
from honeyguide.cli.command import Command
from honeyguide.cli.options import address
from honeyguide.cli.output import Column, note, output_options, print_table, say, short_url, write_records
from honeyguide.core.records import SCHEMA, position_names
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, UrlError

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.cli.output import Format
    from honeyguide.core.page.page import Link, Page
    from honeyguide.core.records import Record

COLUMNS = (
    "schema", "url", "request_url", "anchor_text", "title", "rel", "position", "context", "occurrences",
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
    rows = [_row(short_url(link.url.text, page.url.text), record) for link, record in found]
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
        "request_url": link.url.as_linked,
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


NOWHERE = "https://page.invalid/"  # RFC 6761: a name that never exists
_NO_HTML = (
    b"%PDF",
    b"PK\x03\x04",
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"\x1f\x8b",
)  # documents, images, archives
DEMO_BASE = "https://acme-fire.example/"


def load_page(file: str, base: str | None, *, markdown: bool = False) -> Page:
    """Read a page; without a base it stands at its canonical address, or nowhere."""
    page = _loaded(file, base, markdown=markdown)
    if page.url.text == NOWHERE and any(link.url.site == page.url.site for link in page.links):
        note(f"no --base is given; relative links are shown under {NOWHERE}")
    return page


def _loaded(file: str, base: str | None, *, markdown: bool) -> Page:
    is_markdown = markdown or file.lower().endswith((".md", ".markdown"))
    parse = _markdown(file) if is_markdown else _html(file)
    if base is not None:
        return parse(Url.parse(base))
    page = parse(Url.parse(NOWHERE))
    address = _canonical(page)
    if address is not None:
        note(f"no --base is given; the page says it is {address}")
        return parse(address)
    return page


def placed_page(file: str, base: str | None, *, markdown: bool = False) -> Page:
    """Read a page whose address matters: what is inside its site depends on it."""
    page = _loaded(file, base, markdown=markdown)
    if page.url.text == NOWHERE:
        raise click.UsageError(
            f"{name_of(file)}: give its address with --base, such as --base https://acme.example/."
        )
    return page


def demo_page() -> Page:
    """Read the homepage that comes with Honeyguide."""
    data = (files("honeyguide") / "demo" / "page.html").read_bytes()
    return app.parse_page(data, DEMO_BASE)


def _html(file: str) -> Callable[[Url], Page]:
    data = read_bytes(file)
    if not data.strip():
        raise InputError("is empty; give the HTML of a page", file=name_of(file))
    if data.startswith(_NO_HTML):
        raise InputError("is no HTML; give the HTML of a page", file=name_of(file))
    return lambda address: app.parse_page(data, address)


def _markdown(file: str) -> Callable[[Url], Page]:
    text = read_text(file)
    if not text.strip():
        raise InputError("is empty; give the Markdown of a page", file=name_of(file))
    return lambda address: app.parse_markdown(text, address)


def _canonical(page: Page) -> Url | None:
    try:
        found = None if page.canonical is None else Url.parse(page.canonical)
    except UrlError:
        return None
    return None if found is None or found.site == page.url.site else found
