"""Results of fetches that wait until it is their turn, and how a crawl went.

Owns: how many bytes of bodies wait in memory. Must not know: whose turn it is (core/crawl/machine.py). A window of the
largest bodies that are allowed would take 640 MB, so those that find too many before them wait on disk, in files without
a name. Nothing else depends on where a body waits, so the order of a crawl does not.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from honeyguide.errors import FetchError

if TYPE_CHECKING:
    from io import FileIO

    from honeyguide.core.crawl.frontier import Counts
    from honeyguide.ports.fetch import Fetched

MAX_HELD_BYTES = 16 * 2**20  # a window of honest pages, 64 of a quarter of a megabyte, stays in memory


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
    """How a crawl went. `pages`, `relevant` and `dropped` (bodies, for room) are of this process, `counts` of the run."""

    run: int
    stopped: str
    pages: int
    relevant: int
    elapsed_s: float
    counts: Counts
    dropped: int = 0
