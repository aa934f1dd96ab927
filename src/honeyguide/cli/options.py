"""Options that several commands share: how to fetch, addresses, times; and the sentence where a value is wrong."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from honeyguide.app.arguments import FETCH_OPTIONS, fetch_policy, read_time
from honeyguide.cli.command import Number
from honeyguide.core.text.printable import printable
from honeyguide.core.url.steps import scheme_of, trim
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from honeyguide.app.arguments import FetchPolicy
    from honeyguide.app.files import Rejected
    from honeyguide.cli.command import Decorator


def all_options(options: Sequence[Callable[..., Any]], command: Callable[..., Any]) -> Callable[..., Any]:
    """Add options to a command, in the order in which they are listed."""
    for option in reversed(options):
        command = option(command)
    return command


def fetch_options(at_once: str, default: int) -> Decorator:
    """Add the options of fetching, which override the fetch policy. `at_once` explains --concurrency."""
    options = (
        click.option("--concurrency", type=click.IntRange(1, 512), default=default, show_default=True, metavar="N", help=at_once),
        click.option("--delay", type=Number(0, 3600), metavar="S", help="Seconds between two requests to one host.  [default: 0.5]"),
        click.option("--timeout", type=Number(0.1, 3600), metavar="S", help="Seconds for one request as a whole.  [default: 30]"),
        click.option("--retries", type=click.IntRange(0, 20), metavar="N", help="Further tries after a failure that may pass.  [default: 2]"),
        click.option("--user-agent", metavar="TEXT", help="The whole User-Agent header."),
        click.option("--contact", metavar="URL", help="Where the owner of a site reaches you; part of the User-Agent."),
        click.option("--allow-private", is_flag=True, help="Fetch from this machine and from private networks, too."),
    )  # fmt: skip
    return lambda command: all_options(options, command)


def policy_of(options: Mapping[str, Any]) -> FetchPolicy:
    """Make the fetch policy of a command with `fetch_options`."""
    return fetch_policy(**{name: options[name] for name in FETCH_OPTIONS})


def moment(_ctx: click.Context, _option: click.Parameter, value: str | None) -> datetime | None:
    """Read an option that is a time."""
    try:
        return read_time(value)
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(f"{value!r} {error}.") from None


_Item = TypeVar("_Item")


def address(_context: click.Context, _option: click.Parameter, text: Any) -> Any:
    """Check the address of an option or an argument, as its callback."""
    try:
        if text is not None:
            Url.parse(text)
    except UrlError as error:
        raise click.BadParameter(f"{refusal(error)}.") from None
    return text


def refusal(error: UrlError) -> str:
    """Say why a text is not an address: its beginning is missing, or what `UrlError` says."""
    if scheme_of(trim(error.text)):
        return printable(str(error))
    return f"{shown(error.text)} has no http:// or https:// in front"


def require_any(found: Iterable[_Item], files: Iterable[str], rejected: Rejected | None) -> Iterator[_Item]:
    """Yield all items; an error if files have no rows, neither good nor wrong ones."""
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
