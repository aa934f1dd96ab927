"""Sitemaps and feeds in simulations: what they are worth, and that bad ones do no harm."""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy")  # an extra

from honeyguide import SimulateRequest, simulate_policies  # noqa: E402 - after the check for numpy
from honeyguide.core.recrawl.history import Trust, precision_of, recall_of  # noqa: E402 - after the extra is known to be there
from honeyguide.errors import InputError  # noqa: E402 - after the extra is known to be there
from honeyguide.simulation.announcements import (  # noqa: E402 - after the extra is known to be there
    Announcements,
    SignalSettings,
    SignalTrust,
    believe_all,
    no_claims,
)
from honeyguide.simulation.generated import generate_world  # noqa: E402 - after the extra is known to be there

WORLD = "poisson:pages=120,days=40"


def learned(**more: object) -> float:
    request = SimulateRequest((WORLD,), policies=("learned",), budgets=("10d",), **more)  # type: ignore[arg-type]  # settings
    return simulate_policies(request)[0].freshness


def test_announcements_have_the_recall_the_precision_and_the_delay_that_were_set() -> None:
    world = generate_world("poisson:pages=400,days=90,spread=0.5", 2)
    source, latest = Announcements(world, SignalSettings(0.8, 0.5, 10.0), 1), no_claims(world.size)
    source.read(world.hours / 2, latest)
    pages, times, seen = source._pages, source._times, source._seen  # noqa: SLF001 - what is announced
    assert latest.max() < world.hours / 2
    is_true = np.isin(times, world.times)
    assert np.count_nonzero(is_true) / len(world.times) == pytest.approx(0.8, abs=0.02)
    assert is_true.mean() == pytest.approx(0.5, abs=0.02)
    assert (seen - times).mean() == pytest.approx(10.0, rel=0.05)
    assert latest[pages[0]] > -np.inf


def test_good_sitemaps_are_worth_a_lot_and_bad_ones_nothing() -> None:
    alone = learned()
    good = learned(sitemap="recall=0.95,precision=0.95,delay=2")
    late = learned(sitemap="recall=0.95,precision=0.95,delay=200")
    feed = learned(sitemap="recall=0.3,precision=0.95,delay=2", feed="recall=0.95,precision=0.95,delay=2")
    assert good > alone + 0.05
    assert alone - 0.01 < late < good
    assert feed == pytest.approx(good, abs=0.03)
    for bad in ("recall=0.95,precision=0.05,delay=2", "recall=0,precision=0.5,delay=2"):
        assert learned(sitemap=bad) == pytest.approx(alone, abs=0.01)


def test_trust_is_by_host_and_by_class_as_in_the_core() -> None:
    group = np.array([0, 1, 3])  # a page and a hub of the first host, a page of the second
    trust, pages = SignalTrust(group, 2), np.arange(3)
    yes, no = np.ones(3, np.bool_), np.zeros(3, np.bool_)
    for _ in range(6):
        trust.learn(pages, yes, np.array([True, False, True]))
    trust.learn(pages, no, yes)
    found = trust.of(pages, yes)
    assert found.is_claimed.tolist() == [True, False, True]
    known = Trust(hits=6, misses=1)
    assert found.precision[0] == precision_of(known.hits, known.alarms)
    assert found.recall.tolist() == [recall_of(6, 1), 0.0, recall_of(6, 1)]
    both = believe_all([found, found])
    assert both.recall[0] == pytest.approx(1 - (1 - recall_of(6, 1)) ** 2)


def test_visits_that_find_nothing_may_cost_less() -> None:
    """With cheap 304 answers the same budget reaches further, and the index prefers them where that pays."""
    assert learned(unchanged_cost=0.1) > learned() + 0.02


@pytest.mark.parametrize(
    "more",
    [{"sitemap": "recall=2"}, {"feed": "speed=1"}, {"sitemap": "recall=x"}, {"feed": "precision=0"}, {"unchanged_cost": 0.0}],
)  # fmt: skip
def test_signals_are_checked(more: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        learned(**more)
    assert caught.value.field == next(iter(more))


def test_a_signal_that_is_never_right_is_told_the_least_precision() -> None:
    with pytest.raises(InputError, match=r"precision of 0\.01 to 1"):
        learned(sitemap="precision=0")
