"""Running documents against a target: within a budget of time, with memory watched, and failures told apart.

Owns: `Target`, `Outcome`, `fuzz`. Must not know: formats. A failure is an exception that is not one of ours, a broken
promise (`AssertionError`), or a case that takes longer than `SLOW_S`, twice. Start reading at `fuzz`.
"""

from __future__ import annotations

import faulthandler
import resource
import signal
import sys
import time
import traceback
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import FrameType

SLOW_S = 1.0  # of processor time: no case may take longer
HANG_S = 60.0  # by the clock: where a case is given up, whatever it waits for
_DEAD_S = 120.0  # where the process is given up, as something outside of Python hangs
_KEPT = 30  # failures that are reported
_SHOWN = 300  # bytes of a case in a report


class Target(Protocol):
    """Something that reads what strangers write."""

    name: str

    def begin(self, chance: Random, corpus: Sequence[bytes]) -> None:
        """Get ready, once in a process."""

    def make(self) -> Any:
        """Make the next case."""

    def given(self, document: bytes) -> Iterable[Any]:
        """Make cases of a document as it is."""

    def check(self, case: Any) -> None:
        """Read a case; raises `AssertionError` where a promise is broken, and nothing else but a bug."""

    def end(self) -> None:
        """Clean up."""


class Failure(NamedTuple):
    """What went wrong, and with what."""

    kind: str
    case: str
    story: str


class HangError(BaseException):
    """A case that does not end."""


@dataclass(slots=True)
class Outcome:
    """What came of a run."""

    cases: int = 0
    slowest_s: float = 0.0
    slowest: str = ""
    peak_mb: float = 0.0
    grown_mb: float = 0.0
    failed: int = 0
    failures: dict[str, Failure] = field(default_factory=dict)

    def add(self, other: Outcome) -> None:
        """Take in what another process found."""
        self.cases += other.cases
        if other.slowest_s > self.slowest_s:
            self.slowest_s, self.slowest = other.slowest_s, other.slowest
        self.peak_mb, self.grown_mb = max(self.peak_mb, other.peak_mb), max(self.grown_mb, other.grown_mb)
        self.failed += other.failed
        self.failures = {**other.failures, **self.failures}

    def fail(self, failure: Failure) -> None:
        """Note a failure; of one kind the shortest case is kept."""
        self.failed += 1
        known = self.failures.get(failure.kind)
        if known is None and len(self.failures) >= _KEPT:
            return
        if known is None or len(failure.case) < len(known.case):
            self.failures[failure.kind] = failure


class Amount(NamedTuple):
    """How much to run: cases, and seconds at most."""

    cases: int
    seconds: float = float("inf")
    seed: int = 1


def fuzz(target: Target, amount: Amount, corpus: Sequence[bytes] = ()) -> Outcome:
    """Run a target on every document of the corpus as it is, then on cases that are made up."""
    outcome = Outcome()
    target.begin(Random(f"{target.name} {amount.seed}"), corpus)  # noqa: S311 - test data, not secrets
    started_mb, until = _rss_mb(), time.monotonic() + amount.seconds
    old = signal.signal(signal.SIGALRM, _on_alarm)
    faulthandler.enable()
    try:
        for document in corpus:
            for case in target.given(document):
                _run(target, case, outcome)
        for _ in range(amount.cases):
            _run(target, target.make(), outcome)
            if not outcome.cases & 127:
                faulthandler.dump_traceback_later(_DEAD_S, exit=True)
                if time.monotonic() > until:
                    break
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, old)
        target.end()
    outcome.peak_mb = _rss_mb()
    outcome.grown_mb = outcome.peak_mb - started_mb
    return outcome


def _run(target: Target, case: Any, outcome: Outcome) -> None:
    """Run one case; a slow one has a second chance, as the machine may have been busy."""
    outcome.cases += 1
    took = _timed(target, case, outcome)
    if took > SLOW_S:
        took = min(took, _timed(target, case, outcome))
    if took > outcome.slowest_s:
        outcome.slowest_s, outcome.slowest = took, _shown(case)
    if took > SLOW_S:
        outcome.fail(Failure("slow", _shown(case), f"took {took:.2f} s"))


def _timed(target: Target, case: Any, outcome: Outcome) -> float:
    """Check a case; gives the seconds of processor time it took, as others may be using the machine, too."""
    signal.setitimer(signal.ITIMER_REAL, HANG_S)
    started = time.process_time()
    try:
        target.check(case)
    except HangError:
        return HANG_S
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - that nothing else escapes is what is tested
        outcome.fail(_failure(error, case))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return time.process_time() - started


def _failure(error: BaseException, case: Any) -> Failure:
    """Tell failures apart by their type and the last two places of ours that they came through."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [
        f"{frame.name}:{frame.lineno}"
        for frame in frames
        if "honeyguide" in frame.filename or "fuzzing" in frame.filename
    ]
    story = "".join(traceback.format_exception(error, limit=-6))
    return Failure(
        f"{type(error).__name__} at {' < '.join(reversed(places[-2:]))}", _shown(case), story[-2_000:]
    )


def _shown(case: Any) -> str:
    text = ascii(case)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters in all) …{text[-80:]}"


def _rss_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def _on_alarm(_signal: int, _frame: FrameType | None) -> None:
    raise HangError
