from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.core.fetching import FetchPolicy, backoff_s, gap_s, retry_after_s
from honeyguide.errors import ConfigError

TIMES = st.floats(0, 4e9, allow_nan=False)


@given(st.text(), st.integers(0, 10**9), st.floats(0, 60), st.floats(0, 1))
def test_jitter_only_lengthens_and_is_the_same_in_every_run(
    host: str, nth: int, delay_s: float, jitter: float
) -> None:
    gap = gap_s(host, nth, delay_s, jitter)
    assert delay_s <= gap <= delay_s * (1 + jitter)
    assert gap == gap_s(host, nth, delay_s, jitter)


def test_the_spread_is_pinned_so_that_no_release_changes_it_unseen() -> None:
    assert [round(gap_s("example.com", n, 1.0, 1.0), 6) for n in range(3)] == [1.479447, 1.105967, 1.354678]


def test_hosts_do_not_beat_in_step() -> None:
    gaps = {gap_s(f"host{n}.example", 0, 0.5, 0.2) for n in range(100)}
    assert len(gaps) == 100
    assert max(gaps) - min(gaps) > 0.08


@pytest.mark.parametrize(
    ("attempt", "pause_s"), [(0, 1), (1, 1), (2, 2), (3, 4), (5, 16), (6, 30), (10**9, 30)]
)
def test_backoff_doubles_up_to_its_cap(attempt: int, pause_s: float) -> None:
    assert backoff_s(attempt, 1.0, 30.0) == pause_s


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Thu, 01 Jan 1970 00:02:00 GMT", 20.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Tue, 31 Feb 1970 00:00:00 GMT", None),
        ("Thu, 01 Foo 1970 00:00:00 GMT", None),
        ("Thu, 01 Jan 0000 00:00:00 GMT", None),
        ("-1", None),
        ("1.5", None),
        ("٣", None),
        ("9" * 5000, 86_400.0),
        ("999999999", 86_400.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400.0),
        ("0" * 5000 + "7", 7.0),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after(text: str | None, seconds: float | None) -> None:
    assert retry_after_s(text, 100.0) == seconds


@given(st.text(), TIMES)
def test_retry_after_never_raises(text: str, now: float) -> None:
    read = retry_after_s(text, now)
    assert read is None or (read >= 0 and math.isfinite(read))


def test_the_user_agent_is_honest() -> None:
    assert FetchPolicy().agent.startswith("honeyguide/")
    assert FetchPolicy().agent.endswith("(no contact given)")
    assert "+https://example.org/bot" in FetchPolicy(contact="https://example.org/bot").agent
    tokens = [FetchPolicy(user_agent=agent).robots_token for agent in ("Finder/2 (x)", "42")]
    assert tokens == ["finder", "honeyguide"]


def test_a_policy_names_all_its_mistakes_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        FetchPolicy(delay_s=-1, per_host=0, read_timeout_s=math.nan, user_agent="a\r\nCookie: b", contact="")
    assert [p.where for p in caught.value.problems] == [
        "delay_s",
        "read_timeout_s",
        "user_agent",
        "contact",
        "per_host",
    ]
