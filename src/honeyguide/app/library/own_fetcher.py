"""The fetcher of a program: what it gives is checked before a job believes it, so that a mistake of it is one failed page.

Owns: `OwnFetcher`. Must not know: robots.txt, pauses, redirects, retries, which are those of any fetcher.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from inspect import iscoroutinefunction, signature
from math import inf
from typing import TYPE_CHECKING

from honeyguide.app.arguments import check_status, without_halves
from honeyguide.app.tools.checked import check_fields
from honeyguide.core.page.media import why_no_page
from honeyguide.errors import FetchError, InputError, NotTextError, check_least
from honeyguide.ports.fetch import TEXT_PARTS, Fetched, Part, plain_headers

if TYPE_CHECKING:
    from honeyguide.core.url.url import Url
    from honeyguide.ports.fetch import Fetcher, Headers, Validators


class OwnFetcher:
    """A `Fetcher` around one that anybody wrote: it gives a well-formed `Fetched` of a page, or raises a `FetchError`."""

    def __init__(self, fetcher: Fetcher) -> None:
        """Reject what cannot be called and awaited: each page would fail as if its server were wrong."""
        try:
            signature(fetcher.fetch).bind(None, validators=None, part=None)
            is_right = iscoroutinefunction(fetcher.fetch)
        except (TypeError, ValueError):
            is_right = False
        if not is_right:
            raise InputError("should have `async def fetch(self, url, *, validators, part)`", field="fetcher")
        self._fetcher = fetcher

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        """Make one request; what is neither an answer nor a failure fails the page."""
        try:
            got = await self._fetcher.fetch(url, validators=validators, part=part)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Nobody has cancelled this fetch, so somebody waits for its result.
            raise FetchError(url.as_linked, "the fetcher has cancelled its own request") from None
        except FetchError as error:
            error.why = without_halves(str(error.why))
            _check_failure(url, error)
            raise
        _check_answer(url, got)
        got = replace(got, headers=plain_headers(got.headers))
        if part in TEXT_PARTS and 200 <= got.status < 300:
            why = why_no_page(got.headers.content_type, got.body)
            if why is not None:
                raise NotTextError(url.as_linked, why)
        return got


def _check_answer(url: Url, got: object) -> None:
    if not isinstance(got, Fetched):
        raise FetchError(url.as_linked, f"the fetcher should return a Fetched, not {type(got).__name__}")
    try:
        check_fields(got)
        check_status(got.status)
        _check_headers(got.headers)
        check_least("elapsed_s", got.elapsed_s, 0)
    except InputError as error:
        why = f"the fetcher should return a well-formed Fetched: its {error.field} {error.what}"
        raise FetchError(url.as_linked, why) from None


def _check_headers(headers: Headers) -> None:
    for name, value in zip(headers._fields, headers, strict=True):
        if not isinstance(value, str | None):
            raise InputError(f"must be str or None, not {type(value).__name__}", field=f"headers.{name}")


def _check_failure(url: Url, error: FetchError) -> None:
    rest_s = error.retry_after_s
    if rest_s is not None and not (isinstance(rest_s, int | float) and 0 <= rest_s < inf):
        why = f"{error.why}; the fetcher should give retry_after_s in seconds, not {rest_s!r}"
        raise FetchError(url.as_linked, why) from None
