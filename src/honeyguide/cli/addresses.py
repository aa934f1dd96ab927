"""Addresses that users give: to an option, as an argument, in files that turn out to have none.

Owns: the sentences where there is none. Must not know: what URLs are made of, or any command in particular.
Start reading at `address`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from honeyguide.core.harmless import printable
from honeyguide.core.rewrite import scheme_of, trim
from honeyguide.core.url import Url
from honeyguide.errors import InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from honeyguide.adapters.rows.rejected import Rejected

_Item = TypeVar("_Item")


def address(_context: click.Context, _option: click.Parameter, text: Any) -> Any:
    """Check what an option or an argument gives, as its callback; the text stays as it is."""
    try:
        if text is not None:
            Url.parse(text)
    except UrlError as error:
        raise click.BadParameter(f"{refusal(error)}.") from None
    return text


def is_path(text: str) -> bool:
    """Tell whether only the path of an address is written, as crawl prints it.

    >>> is_path("/about.html"), is_path("//a.example/about.html"), is_path("a.example")
    (True, False, False)
    """
    trimmed = trim(text)
    return trimmed.startswith("/") and not trimmed.startswith("//")


def on_sites(path: str, sites: Iterable[str]) -> list[str]:
    """Complete a path by the sites it may be on.

    >>> on_sites("/about.html", {"b.example", "a.example"})
    ['https://a.example/about.html', 'https://b.example/about.html']
    """
    return [f"https://{site}{trim(path)}" for site in sorted(sites)]


def refusal(error: UrlError) -> str:
    """Say why a text that stands on no page is no address; where only its beginning is missing, that is what to say."""
    if scheme_of(trim(error.text)):
        return printable(str(error))
    return f"{shown(error.text)} has no http:// or https:// in front"


def some(found: Iterable[_Item], files: Iterable[str], rejected: Rejected | None) -> Iterator[_Item]:
    """Hand on what files gave; if that is nothing, and no row was wrong, other files were meant."""
    is_empty = True
    for item in found:
        is_empty = False
        yield item
    if is_empty and not (rejected is not None and rejected.rows):
        raise InputError("has no rows; give at least one URL", file=", ".join(files))
