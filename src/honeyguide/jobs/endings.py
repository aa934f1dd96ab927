"""How a fetch ended, as the crawl's machine hears of it.

Owns: whose doing a failure is, and whether a page was asked for. Must not know: what follows from it (core/crawl.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.core import crawl as machine
from honeyguide.core.frontier import Why
from honeyguide.core.pace import retry_after_s
from honeyguide.core.url import Url
from honeyguide.errors import AskedToWait, FetchError, Forbidden, UrlError

if TYPE_CHECKING:
    from honeyguide.core.frontier import Lease
    from honeyguide.ports import Fetched


def event_of(lease: Lease, result: Fetched | FetchError, at: float) -> machine.Event:
    """Tell the machine how a fetch ended, and whose doing that was."""
    claim = lease.claim
    if not isinstance(result, FetchError):
        rest_s = retry_after_s(result.headers.retry_after, at)
        return machine.Fetched(claim, result.status, at, rest_s, result.url.site)
    rest_s, is_refused, there = result.retry_after_s, isinstance(result, Forbidden), _led_to(lease, result)
    # Refused for good by robots.txt, or only until that can be had again: then its origin says when.
    may_pass = rest_s is not None if is_refused else result.retryable
    if there is None:
        is_fetch = not isinstance(result, Forbidden | AskedToWait)
        return machine.Failed(claim, Why(result.rule, result.why), at, may_pass, is_fetch, rest_s)
    why = Why(result.rule, f"redirects to {there.text}: {result.why}")  # and that redirect was fetched
    return machine.Failed(claim, why, at, may_pass, rest_s=rest_s, site=there.site)


def _led_to(lease: Lease, error: FetchError) -> Url | None:
    """Give where redirects had led when a fetch failed; None where there were none."""
    if error.url == lease.url.as_linked:
        return None
    try:
        return Url.parse(error.url)
    except UrlError:  # a fetcher that is not ours may say anything
        return None
