"""Pages from files: HTML or Markdown, with the address they stand at.

Owns: finding out what a file is and which address it has. Must not know: how links are found in it.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import click

from honeyguide import app
from honeyguide.adapters.files import name_of, read_bytes, read_text
from honeyguide.cli.output import note
from honeyguide.core.url import Url
from honeyguide.errors import InputError, UrlError

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.core.page import Page

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
