from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.cli.progress import LINE_EVERY_S, LINE_EVERY_SHARE, Progress, not_ok_words, sites_summary


class Sites:
    """A run of sites, as `honeyguide pick` counts them."""

    def __init__(self, *statuses: str, total: int = 10, **earlier: int) -> None:
        self.statuses = Counter(earlier)
        before, step = self.statuses.total(), total * LINE_EVERY_SHARE
        words = self.statuses
        self.progress = Progress(
            "site",
            total=total,
            before=before,
            step=step,
            started=0.0,
            details=lambda _now: not_ok_words(words),
        )
        for status in statuses:
            self.finish(status)

    def finish(self, status: str) -> None:
        self.statuses[status] += 1
        self.progress.done += 1


@pytest.mark.parametrize(
    ("run", "now", "line"),
    [
        (Sites(), 0.0, "0 of 10 sites"),
        (Sites(), 3.0, "0 of 10 sites"),
        (Sites("ok"), 0.0, "1 of 10 sites"),
        (Sites("ok"), 2.0, "1 of 10 sites, 0.5 a second, about 18 s left"),
        (Sites("ok"), 60.0, "1 of 10 sites, 1.0 a minute, about 9 min left"),
        (Sites("ok", ok=8), 2.0, "9 of 10 sites, 0.5 a second, about 2 s left"),
        (Sites("ok", total=1), 2.0, "1 of 1 site, 0.5 a second"),
        (
            Sites("timeout", "ok", "timeout", "empty"),
            4.0,
            "4 of 10 sites, 1.0 a second, 3 not ok (2 timeout, 1 empty), about 6 s left",
        ),
    ],
)
def test_lines(run: Sites, now: float, line: str) -> None:
    assert run.progress.line(now) == line


@pytest.mark.parametrize(
    ("run", "summary"),
    [
        (Sites("ok", total=1), "1 site, 1 ok; 2 s"),
        (Sites("ok", "empty"), "2 of 10 sites, 1 ok, 1 not ok (1 empty); 2 s"),
        (Sites("ok", "ok", total=12, ok=10), "12 sites, 10 of them done before, 12 ok; 2 s"),
        (
            Sites("timeout", total=4, ok=2, empty=1),
            "4 sites, 3 of them done before, 2 ok, 2 not ok (1 empty, 1 timeout); 2 s",
        ),
        (Sites(total=3, ok=3), "3 sites, 3 of them done before, 3 ok; 2 s"),
    ],
)
def test_summaries(run: Sites, summary: str) -> None:
    assert sites_summary(run.progress, run.statuses, 2.0) == summary


@given(st.lists(st.floats(0, 30), max_size=200))
@pytest.mark.usefixtures("_progress_lines")
def test_a_log_gets_a_line_every_five_seconds_and_five_percent_at_most(pauses: list[float]) -> None:
    run = Sites(total=len(pauses))
    now, said = 0.0, [(0.0, 0)]
    for pause in pauses:
        now += pause
        run.finish("ok")
        if run.progress.is_line_due(now):
            said.append((now, run.progress.done))
    for (before, had), (after, has) in itertools.pairwise(said):
        assert after - before >= LINE_EVERY_S
        assert has - had >= len(pauses) * 0.05 or after - before >= 60
    assert run.progress.is_line_due(now + 61.0)  # whatever was said before: it lives


@pytest.mark.usefixtures("_progress_lines")
def test_a_line_is_due_after_five_seconds_and_five_percent() -> None:
    assert Sites("ok", total=20).progress.is_line_due(5.0)
    assert not Sites("ok", total=20).progress.is_line_due(4.9)
    assert not Sites("ok", total=21).progress.is_line_due(59.9)


@pytest.mark.usefixtures("_progress_lines")
def test_a_slow_run_says_that_it_lives() -> None:
    run = Sites(total=1_000)
    run.finish("ok")
    assert [run.progress.is_line_due(now) for now in (1.0, 59.0, 60.0, 61.0, 119.0, 120.0)] == [
        False,
        False,
        True,
        False,
        False,
        True,
    ]
