"""How a fetch ended: every failure as a `FetchError`, and as an event of the crawl machine.

Owns: whose doing a failure was, and what may pass. Must not know: what is done with a page (intake.py). Start reading at
`event_of`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from honeyguide.core.crawl import machine
from honeyguide.core.fetching import retry_after_s
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.errors import AskedToWaitError, FetchError, ForbiddenError, StoreError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from honeyguide.core.crawl.frontier import Lease
    from honeyguide.ports.fetch import Fetched


def event_of(lease: Lease, result: Fetched | FetchError, at: float, tries: int) -> machine.Ended:
    """Tell the machine how a fetch ended after so many requests in all, and whose doing that was."""
    claim = lease.claim
    if not isinstance(result, FetchError):
        rest_s = retry_after_s(result.headers.retry_after, at)
        return machine.Answered(claim, result.status, at, rest_s, result.url.site, tries)
    rest_s, is_refused, there = (
        result.retry_after_s,
        isinstance(result, ForbiddenError),
        _led_to(lease, result),
    )
    # Refused for good by robots.txt, or only until robots.txt can be fetched again: then its origin says when.
    may_pass = rest_s is not None if is_refused else result.retryable
    if there is None:
        is_fetch = not isinstance(result, ForbiddenError | AskedToWaitError)
        why = Why(result.rule, result.why)
        return machine.Failed(claim, why, at, may_pass, is_fetch, rest_s, tries=tries)
    why = Why(result.rule, f"redirects to {there.text}: {result.why}")  # and that redirect was fetched
    return machine.Failed(claim, why, at, may_pass, rest_s=rest_s, site=there.site, tries=tries)


def _led_to(lease: Lease, error: FetchError) -> Url | None:
    """Give where redirects had led when a fetch failed; None where there were none."""
    if error.url == lease.url.as_linked:
        return None
    try:
        return Url.parse(error.url)
    except UrlError:  # a fetcher that is not ours may say anything
        return None


_Result = TypeVar("_Result")


async def fetch_or_fail(url: Url, work: Awaitable[_Result]) -> _Result:
    """Await a fetch; an exception that is no `FetchError` becomes one, so a fetcher bug fails one page, not the run.

    The error has no traceback of the fetch, because whoever keeps it would keep the buffers of its connection: megabytes.
    """
    try:
        return await work
    except FetchError as error:
        failure = error.with_traceback(None)
    except StoreError:  # of kept answers: the file is wrong, not the page
        raise
    except Exception as error:  # noqa: BLE001 - a fetcher may be anybody's code
        failure = FetchError(url.as_linked, f"unexpected {type(error).__name__}: {shown(str(error))}")
    failure.__cause__ = failure.__context__ = None
    raise failure
