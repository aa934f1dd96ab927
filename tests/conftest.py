"""What all tests share: Ctrl-C, patience, ids that are the same in every process, and an order by lot on request."""

from __future__ import annotations

import logging
import math
import random
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from honeyguide.cli import progress
from honeyguide.cli.progress import LINE_EVERY_S

# A slow or busy machine is no failure.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background ignores SIGINT, and every process of a test would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no command write a line because it has taken long, or in colour because the surroundings ask for it."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(progress, "LINE_EVERY_S", math.inf)


@pytest.fixture(autouse=True)
def _no_log_is_left() -> Iterator[None]:
    """Undo -v, which is for one process: here many commands share one."""
    log = logging.getLogger("honeyguide")
    before = log.level, log.handlers[:], log.propagate
    yield
    log.setLevel(before[0])
    log.handlers[:], log.propagate = before[1:]


@pytest.fixture
def _progress_lines(_no_progress: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let lines of progress be due as for people, in tests that have a clock of their own."""
    monkeypatch.setattr(progress, "LINE_EVERY_S", LINE_EVERY_S)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --shuffle, for tests that must not depend on each other."""
    parser.addoption(
        "--shuffle", type=int, metavar="SEED", help="run the tests in the random order of this seed"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the tests; the workers of `-n` have the same order, because they have the same seed."""
    seed = config.getoption("--shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)  # noqa: S311 - no secret


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name bytes by their length, because compressed bytes contain the time and workers must agree on every id."""
    return f"{len(val)} bytes" if isinstance(val, bytes) and not _is_readable(val) else None


def _is_readable(val: bytes) -> bool:
    return len(val) <= 60 and val.isascii() and val.decode().isprintable()
