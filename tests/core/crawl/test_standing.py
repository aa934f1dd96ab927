"""What a crawl knows of a URL already, and whether new evidence could matter."""

from __future__ import annotations

import pytest

from honeyguide.core.crawl.frontier import PASSING_RULES, KnownState, State


@pytest.mark.parametrize(
    ("state", "rule", "is_settled"),
    [
        (State.QUEUED, None, False),
        (State.QUEUED, "http-503", True),  # it waits to be tried again, behind all others
        (State.LEASED, None, True),
        (State.DONE, None, True),
        (State.REJECTED, "other-site", True),
        (
            State.REJECTED,
            min(PASSING_RULES),
            False,
        ),  # held back for its score or depth, which others may better
    ],
)
def test_what_is_settled(state: State, rule: str | None, is_settled: bool) -> None:
    assert KnownState(state, 1, 1, rule, is_https=True, depth=1).is_settled == is_settled
