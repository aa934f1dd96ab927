"""Results of fetches: what a failure means to the crawl machine, where results wait until it is their turn, and how a crawl went.

Owns: whose doing a failure was, and what may pass; how many bytes of bodies wait in memory. Must not know: whose turn it is
(core/crawl/machine.py), what is done with a page (intake.py). Start reading at `event_of`. A window of the
largest bodies that are allowed would take 640 MB, so those that find too many before them wait on disk, in files without
a name. Nothing else depends on where a body waits, so the order of a crawl does not.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, TypeVar

from honeyguide.core.crawl import machine
from honeyguide.core.fetching import retry_after_s
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.errors import AskedToWaitError, FetchError, ForbiddenError, StoreError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from io import FileIO

    from honeyguide.core.crawl.frontier import Counts, Lease
    from honeyguide.ports.fetch import Fetched

MAX_HELD_BYTES = 16 * 2**20  # a window of honest pages, 64 of a quarter of a megabyte, stays in memory


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


class Results:
    """What was fetched and when, by the claim of its lease."""

    def __init__(self) -> None:
        self._results: dict[int, tuple[Fetched | FetchError, float]] = {}
        self._files: dict[int, FileIO] = {}
        self.held_bytes = 0

    def put(self, claim: int, result: Fetched | FetchError, at: float) -> None:
        """Keep a result until it is taken."""
        if not isinstance(result, FetchError):
            if self.held_bytes + len(result.body) > MAX_HELD_BYTES and self._write(claim, result.body):
                result = replace(result, body=b"")
            self.held_bytes += len(result.body)
        self._results[claim] = result, at

    def pop(self, claim: int) -> tuple[Fetched | FetchError, float]:
        """Take a result, as it was put."""
        result, at = self._results.pop(claim)
        if isinstance(result, FetchError):
            return result, at
        self.held_bytes -= len(result.body)
        if file := self._files.pop(claim, None):
            with file:
                file.seek(0)
                result = replace(result, body=file.read())
        return result, at

    def close(self) -> None:
        """Delete the files of results that nobody took."""
        for file in self._files.values():
            file.close()

    def _write(self, claim: int, body: bytes) -> bool:
        """Put a body on disk; False if that fails, because a body in memory is better than none."""
        with suppress(OSError), ExitStack() as stack:
            file = stack.enter_context(TemporaryFile(buffering=0))
            if file.write(body) == len(body):
                self._files[claim] = file
                stack.pop_all()
                return True
        return False


@dataclass(frozen=True, slots=True)
class CrawlSummary:
    """How a crawl went. `pages`, `relevant` and `dropped` bodies are of this process, `counts` of the run.

    `failure` is that of the last failed page, `next_at` the end of a long pause.
    """

    run: int
    stopped: str
    pages: int
    relevant: int
    elapsed_s: float
    counts: Counts
    dropped: int = 0
    failure: Why | None = None
    next_at: float | None = None
