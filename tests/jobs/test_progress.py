from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.cli.progress import LINE_EVERY_S, SitesProgress


def progress(*statuses: str, total: int = 10, **earlier: int) -> SitesProgress:
    run = SitesProgress(total, 0.0, Counter(earlier))
    for status in statuses:
        run.finish(status)
    return run


@pytest.mark.parametrize(
    ("run", "now", "line"),
    [
        (progress(), 0.0, "0 of 10 sites"),
        (progress(), 3.0, "0 of 10 sites"),
        (progress("ok"), 0.0, "1 of 10 sites"),
        (progress("ok"), 2.0, "1 of 10 sites, 0.5 a second, about 18 s left"),
        (progress("ok"), 60.0, "1 of 10 sites, 1.0 a minute, about 9 min left"),
        (progress("ok", ok=8), 2.0, "9 of 10 sites, 0.5 a second, about 2 s left"),
        (progress("ok", total=1), 2.0, "1 of 1 site, 0.5 a second"),
        (
            progress("timeout", "ok", "timeout", "empty"),
            4.0,
            "4 of 10 sites, 1.0 a second, 3 not ok (2 timeout, 1 empty), about 6 s left",
        ),
    ],
)
def test_lines(run: SitesProgress, now: float, line: str) -> None:
    assert run.line(now) == line


@pytest.mark.parametrize(
    ("run", "summary"),
    [
        (progress("ok", total=1), "1 site, 1 ok; 2 s"),
        (progress("ok", "empty"), "2 of 10 sites, 1 ok, 1 not ok (1 empty); 2 s"),
        (progress("ok", "ok", total=12, ok=10), "12 sites, 10 of them done before, 12 ok; 2 s"),
        (
            progress("timeout", total=4, ok=2, empty=1),
            "4 sites, 3 of them done before, 2 ok, 2 not ok (1 empty, 1 timeout); 2 s",
        ),
        (progress(total=3, ok=3), "3 sites, 3 of them done before, 3 ok; 2 s"),
    ],
)
def test_summaries(run: SitesProgress, summary: str) -> None:
    assert run.summary(2.0) == summary


@given(st.lists(st.floats(0, 30), max_size=200))
def test_a_log_gets_a_line_every_five_seconds_and_five_percent_at_most(pauses: list[float]) -> None:
    run = SitesProgress(len(pauses), 0.0)
    now, said = 0.0, [(0.0, 0)]
    for pause in pauses:
        now += pause
        run.finish("ok")
        if run.is_line_due(now):
            said.append((now, run.done))
    for (before, had), (after, has) in itertools.pairwise(said):
        assert after - before >= LINE_EVERY_S
        assert has - had >= len(pauses) * 0.05 or after - before >= 60
    assert run.is_line_due(now + 61.0)  # whatever was said before: it lives


def test_a_line_is_due_after_five_seconds_and_five_percent() -> None:
    assert progress("ok", total=20).is_line_due(5.0)
    assert not progress("ok", total=20).is_line_due(4.9)
    assert not progress("ok", total=21).is_line_due(59.9)


def test_a_slow_run_says_that_it_lives() -> None:
    run = SitesProgress(1_000, 0.0)
    run.finish("ok")
    assert [run.is_line_due(now) for now in (1.0, 59.0, 60.0, 61.0, 119.0, 120.0)] == [
        False,
        False,
        True,
        False,
        False,
        True,
    ]
