"""What several commands are given in the same way: manners towards sites, lists of addresses, times.

Owns: the options of manners and the `FetchPolicy` they come to; reading addresses and times.
Must not know: any command in particular. Start reading at `policy_of`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from honeyguide.adapters.files.read import STDIN
from honeyguide.adapters.files.sites import check_sites, read_sites, unique
from honeyguide.cli.command import (
    Number,
)
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.recrawl.plan import read_time
from honeyguide.core.text.printable import printable
from honeyguide.core.url.steps import scheme_of, trim
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from honeyguide.adapters.files.rows import Rejected
    from honeyguide.adapters.files.sites import SiteRow

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def all_options(options: Sequence[Callable[..., Any]], command: Callable[..., Any]) -> Callable[..., Any]:
    """Add options to a command, in the order in which they are listed."""
    for option in reversed(options):
        command = option(command)
    return command


def how_options(at_once: str, default: int) -> Decorator:
    """Add how we behave towards the sites: these override the policy. `at_once` explains --concurrency."""
    options = (
        click.option("--concurrency", type=click.IntRange(1, 512), default=default, show_default=True, metavar="N", help=at_once),
        click.option("--delay", type=Number(0, 3600), metavar="S", help="Seconds between two requests to one host; 0.5 if not given."),
        click.option("--timeout", type=Number(0.1, 3600), metavar="S", help="Seconds for one request as a whole; 30 if not given."),
        click.option("--retries", type=click.IntRange(0, 20), metavar="N", help="Further tries after a failure that may pass; 2 if not given."),
        click.option("--user-agent", metavar="TEXT", help="The whole User-Agent header."),
        click.option("--contact", metavar="URL", help="Where the owner of a site reaches you; goes into the User-Agent."),
        click.option("--allow-private", is_flag=True, help="Visit addresses of this machine and of private networks, too."),
    )  # fmt: skip
    return lambda command: all_options(options, command)


def policy_of(asked: dict[str, Any]) -> FetchPolicy:
    """Turn the options into a policy."""
    plain = FetchPolicy()
    given: dict[str, Any] = {
        "delay_s": asked["delay"],
        "retries": asked["retries"],
        "user_agent": asked["user_agent"],
        "contact": asked["contact"],
        "allow_private": asked["allow_private"],
        "concurrency": max(plain.concurrency, asked["concurrency"]),
    }
    if (timeout := asked["timeout"]) is not None:
        given["total_timeout_s"] = timeout
        given["read_timeout_s"] = min(plain.read_timeout_s, timeout)
        given["connect_timeout_s"] = min(plain.connect_timeout_s, timeout)
    return replace(plain, **{name: value for name, value in given.items() if value is not None})


def moment(_ctx: click.Context, _option: click.Parameter, value: str | None) -> datetime | None:
    """Read an option that is a time."""
    try:
        return read_time(value)
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(f"{value!r} {error}.") from None


def named_rows(
    texts: Sequence[str], files: Sequence[str], column: str | None = None
) -> tuple[list[SiteRow], list[SiteRow]]:
    """Read all addresses that are named, each once, and give those that are named again; `-` is standard input."""
    rows = [_placed(row, "argument") for row in check_sites(text for text in texts if text != STDIN)]
    for file in [*files, *([STDIN] if STDIN in texts else [])]:
        name = "standard input" if file == STDIN else file
        rows += [_placed(row, f"{name} line") for row in read_sites(file, column)]
    return unique(rows)


def _placed(row: SiteRow, where: str) -> SiteRow:
    return replace(row, problem=f"{where} {row.line}: {row.problem}") if row.problem else row


_Item = TypeVar("_Item")


def address(_context: click.Context, _option: click.Parameter, text: Any) -> Any:
    """Check what an option or an argument gives, as its callback; the text stays as it is."""
    try:
        if text is not None:
            Url.parse(text)
    except UrlError as error:
        raise click.BadParameter(f"{refusal(error)}.") from None
    return text


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


@contextmanager
def rejected_options() -> Iterator[None]:
    """Turn an error about a value of `app` into wrong usage of the option of that name."""
    try:
        yield
    except InputError as error:
        if not error.field:
            raise
        raise click.BadParameter(f"{error.what}.", param_hint=f"--{error.field}") from None
