"""Recrawl policies: what they rank by, what they say, and what becomes of dead pages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from honeyguide import load_profile
from honeyguide.adapters.policies import POLICIES, AdaptiveInterval, Proportional, Uniform
from honeyguide.core.recrawl.clocks import ArticleClock, DayProfile, SiteClock, WallClock
from honeyguide.core.recrawl.history import Site, Trust
from honeyguide.core.recrawl.plan import UrlSignals, score_url
from honeyguide.core.recrawl.policies import (
    Heuristic,
    Learned,
    RecrawlPolicy,
)
from honeyguide.core.recrawl.priors import Priors, Watched, log_of, refit, refit_priors, shrunk
from honeyguide.core.recrawl.rate import Rate, hours_until, index, prior
from honeyguide.core.recrawl.signals import SITEMAP, PageState, class_of, drop_reason, importance_of, page_of
from honeyguide.core.recrawl.visits import ChangeObservation, after_finds, after_visit

HOUR, DAY = 3600.0, 86400.0
NOW = 1_750_000_000.0
PAGE = PageState(
    "https://a.example/x",
    "a.example",
    visits=5,
    visited_at=NOW - 3 * DAY,
    rate=Rate(2.5, 102.0),
    relevance=0.8,
)


# --- learned ---


def test_learned_ranks_by_the_index() -> None:
    assert Learned().value(PAGE, NOW) == pytest.approx(index(Rate(2.5, 102.0), 72.0, 0.8), rel=1e-7)


def test_learned_says_what_it_knows() -> None:
    judged = Learned().judge(PAGE, NOW, price=Learned().value(PAGE, NOW))
    assert judged.score.value == 60.0
    assert judged.score.words == (
        "changed with 74 % probability since the last visit 3 days ago; changes about every 1.7 days",
        "importance 0.8",
    )
    assert judged.next_due == pytest.approx(NOW, abs=1.0)


def test_the_points_of_the_reasons_add_up() -> None:
    hub = replace(PAGE, page_class="hub", found=Rate(12.0, 24.0))
    judged = Learned().judge(hub, NOW, price=100.0)
    assert sum(reason.points for reason in judged.score.reasons) == pytest.approx(judged.score.value)
    assert judged.score.words[1] == "hub that finds 12 new pages a day"
    assert judged.score.reasons[1].points > judged.score.reasons[0].points > 0


def test_first_visits_come_first_by_importance() -> None:
    new, better = PageState("https://a.example/n"), PageState("https://a.example/m", relevance=0.9)
    policy = Learned()
    assert policy.value(better, NOW) > policy.value(new, NOW) > policy.value(PAGE, NOW)
    judged = policy.judge(new, NOW, price=1.0)
    assert judged.score.words[0] == "first visit"
    assert judged.next_due == NOW


def test_a_new_page_starts_where_its_siblings_are() -> None:
    priors = Priors(hosts={("fast.example", "page"): Rate(2.0, 4.0)})
    slow = replace(PAGE, rate=None)
    fast = replace(slow, host="fast.example")
    assert Learned(priors).rate_of(fast) == (2.0, 4.0)
    assert Learned(priors).rate_of(slow) == prior(720.0)


def test_dead_pages_count_half_for_each_failure_and_are_dropped() -> None:
    policy = Learned()
    values = [policy.value(replace(PAGE, failures=number, status=404), NOW) for number in range(1, 6)]
    assert values == pytest.approx([values[0] / 2**number for number in range(5)])
    dead = replace(PAGE, failures=2, status=404)
    assert drop_reason(dead) is None
    text = policy.judge(dead, NOW, 1.0).score.words[0]
    assert text == "no page at the last 2 visits, the latest 3 days ago; retried at growing intervals"
    due = policy.judge(dead, NOW, price=50.0).next_due
    assert due is not None  # whatever the price, the day comes
    later = policy.judge(replace(dead, failures=3), NOW, price=50.0).next_due
    assert later is not None
    assert later > due
    assert drop_reason(replace(dead, failures=5)) == "dropped: no page at 5 visits in a row (last status 404)"
    assert drop_reason(replace(dead, failures=2, status=410)) is not None
    assert "no answer" in (drop_reason(replace(dead, failures=5, status=None)) or "")


def test_a_page_that_is_not_worth_the_price_is_never_due() -> None:
    sure = replace(PAGE, rate=Rate(50.0, 10.0))  # changes five times an hour: no visit keeps it fresh
    assert Learned().judge(sure, NOW, price=5.0).next_due is None


def test_the_due_time_is_that_of_the_index() -> None:
    due = Learned().judge(PAGE, NOW, price=9.0).next_due
    assert due is not None
    assert PAGE.visited_at is not None
    hours = hours_until(lambda tau: index(Rate(2.5, 102.0), tau, 0.8), 9.0)
    assert (due - PAGE.visited_at) / HOUR == pytest.approx(hours, rel=1e-5)


# --- what hosts announce ---

HONEST, UNPROVED, LIAR = Trust(hits=18, alarms=0, misses=0), Trust(hits=2), Trust(hits=20, alarms=60)


@pytest.mark.parametrize("trust", [UNPROVED, LIAR])
def test_announcements_count_only_from_honest_hosts(trust: Trust) -> None:
    for announced_at in (NOW - 4 * DAY, NOW - DAY):
        page = replace(PAGE, announced_at=announced_at)
        assert Learned(site={"a.example": Site(trust={SITEMAP: trust})}.get).value(
            page, NOW
        ) == Learned().value(page, NOW)


def test_what_an_honest_host_announces_is_visited_and_what_it_does_not_can_wait() -> None:
    policy = Learned(site={"a.example": Site(trust={SITEMAP: HONEST})}.get)
    announced, silent = replace(PAGE, announced_at=NOW - DAY), replace(PAGE, announced_at=NOW - 4 * DAY)
    assert policy.value(announced, NOW) > policy.value(PAGE, NOW) > 2 * policy.value(silent, NOW)
    assert policy.value(PAGE, NOW) == Learned().value(PAGE, NOW)  # a page that it never speaks of
    words = policy.judge(announced, NOW, 1.0).score.words
    assert words[0] == "announced as changed since the last visit 3 days ago"


# --- clocks ---


def test_articles_are_corrected_early_or_hardly() -> None:
    def article(visited_h: float, now_h: float) -> float:
        page = PageState("u", page_class="article", visits=1, visited_at=visited_h * HOUR, rate=Rate(1.0, 4.0), published_at=0.0)  # fmt: skip
        return Learned().value(page, now_h * HOUR)

    assert article(1.0, 5.0) > 50 * article(1000.0, 1004.0)
    assert article(1.0, 100.0) > article(50.0, 149.0)  # its early changes were not seen yet


def test_an_article_has_seen_half_of_its_changes_after_four_hours() -> None:
    assert ArticleClock(0.0).exposure_h(0.0, 4 * HOUR) == pytest.approx(2.0 + 0.004)
    assert ArticleClock(9 * HOUR).exposure_h(0.0, 9 * HOUR) == 0.0  # before it was published


def test_the_clock_of_a_site_sees_edits_of_all_its_pages() -> None:
    clock = SiteClock()
    for number in range(50):  # half of the pages are found changed, all between day 100 and day 101
        clock = clock.with_visit(100 * DAY, 101 * DAY, expected=0.05, is_changed=number % 2 == 0)
        clock = clock.with_visit(101 * DAY, 103 * DAY, expected=0.1, is_changed=False)
    assert clock.weight(100) > 5.0
    assert clock.weight(101) < 1.0
    page = replace(PAGE, visited_at=100 * DAY)
    seen = replace(PAGE, visited_at=101 * DAY)
    policy = Learned(site={"a.example": Site(clock=clock)}.get)
    assert policy.value(page, 103 * DAY) > 3 * policy.value(seen, 103 * DAY)
    assert clock.exposure_h(200 * DAY, 201 * DAY) == 24.0


def test_the_clock_of_a_site_forgets_after_120_days() -> None:
    clock = SiteClock().with_visit(100 * DAY, 101 * DAY, expected=0.0, is_changed=True)
    later = clock.with_visit(399 * DAY, 400 * DAY, expected=0.5, is_changed=False)
    assert later.weight(100) == 1.0
    assert len(later.found) == 120
    assert later.weight(399) == pytest.approx(1 / 1.5)


def test_hubs_have_busy_hours() -> None:
    day = DayProfile.of_counts([0.0] * 8 + [10.0] * 8 + [0.0] * 8)
    assert day.exposure_h(0.0, DAY) == pytest.approx(24.0)
    assert day.exposure_h(8 * HOUR, 16 * HOUR) > 15.0
    hub = PageState("https://a.example/", "a.example", "hub", visits=1, rate=Rate(5.0, 20.0), day=day)
    policy = Learned()
    assert policy.value(replace(hub, visited_at=8 * HOUR), 12 * HOUR) > policy.value(
        replace(hub, visited_at=0.0), 4 * HOUR
    )


def test_an_hour_of_a_slow_clock_buys_many_hours() -> None:
    assert WallClock().exposure_h(NOW, NOW + HOUR) == pytest.approx(1.0)
    assert 50 * ArticleClock(NOW - 100 * HOUR).exposure_h(NOW, NOW + HOUR) < 1.0


# --- learning ---


def test_which_update_belongs_to_which_visit() -> None:
    start = Rate(0.5, 100.0)
    assert after_visit(start, ChangeObservation(50.0, is_changed=False, was_announced=True)) == (0.5, 150.0)
    assert after_visit(start, ChangeObservation(50.0, is_changed=True)) == pytest.approx(
        (1.450944, 116.862536)
    )
    assert after_visit(start, ChangeObservation(50.0, is_changed=True, was_announced=True)) == (1.5, 150.0)
    assert after_visit(start, ChangeObservation(50.0, is_changed=True, quiet_h=90.0)) == (1.5, 150.0)
    assert after_finds(None, 12, 24.0) == (12.0, 48.0)


def test_priors_shrink_from_host_to_class() -> None:
    fast, slow = Rate(20.0, 40.0), Rate(2.0, 4000.0)
    pages = [Watched("fast.example", "page", fast)] * 100 + [Watched("slow.example", "page", slow)] * 100
    found = refit_priors([*pages, Watched("tiny.example", "page", fast)], Priors())
    class_h = found.of("new.example", "page").mean_interval_h
    assert 2 < found.of("fast.example", "page").mean_interval_h < 10
    assert found.of("slow.example", "page").mean_interval_h > 400
    tiny = found.of("tiny.example", "page").mean_interval_h
    assert class_h * 0.5 < tiny < class_h
    assert found.of("new.example", "hub") == prior(24.0)
    assert shrunk([], Rate(0.5, 3.0)) == (0.5, 3.0)


def test_pages_that_are_all_the_same_are_their_prior() -> None:
    assert refit([log_of(Rate(1.3, 70.0))] * 5) == pytest.approx((1.3, 70.0), rel=1e-9)


# --- the other policies ---


def test_the_heuristic_is_the_card() -> None:
    profile = load_profile("news")
    signals = UrlSignals(
        "https://a.example/", 3, datetime(2026, 5, 1, 7, 0, 0, 1, tzinfo=UTC), datetime(2026, 4, 30, 9, tzinfo=UTC), 0.9, 4, True
    )  # fmt: skip
    now = datetime(2026, 5, 1, 8, tzinfo=UTC)
    expected = score_url(signals, now, profile).score
    judged = Heuristic(profile).judge(page_of(signals), now.timestamp(), 60.0)
    assert repr((judged.value, judged.score, judged.next_due)) == repr((expected.value, expected, None))
    assert "Recently visited (<1h)" in expected.words  # by a microsecond


def test_uniform_takes_the_oldest() -> None:
    old = replace(PAGE, visited_at=NOW - 9 * DAY, rate=Rate(0.5, 1e6), relevance=0.1)
    assert Uniform().value(old, NOW) > Uniform().value(PAGE, NOW)
    judged = Uniform().judge(PAGE, NOW, price=24.0)
    assert judged.score.words[0] == "last visit 3 days ago"
    assert judged.next_due == pytest.approx(NOW - 2 * DAY)


def test_proportional_takes_what_changes_most() -> None:
    fast = replace(PAGE, rate=Rate(5.0, 10.0), visited_at=NOW - DAY)
    assert Proportional().value(fast, NOW) == pytest.approx(12.0)
    assert Proportional().value(fast, NOW) > Proportional().value(PAGE, NOW)


def test_adaptive_intervals() -> None:
    policy = AdaptiveInterval()
    assert policy.interval_of(replace(PAGE, visits=1)) == 720.0
    assert policy.interval_of(replace(PAGE, visits=3, changes=1)) == pytest.approx(720 * 1.4 * 0.8)
    assert policy.interval_of(replace(PAGE, visits=10**6)) == 8760.0
    assert policy.interval_of(replace(PAGE, visits=101, changes=100)) == 1 / 60
    assert policy.value(replace(PAGE, visits=1), NOW) == pytest.approx(72 / 720)


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_judges_every_page(name: str) -> None:
    policy: RecrawlPolicy = POLICIES[name](load_profile("news"), Priors())
    assert policy.name == name
    pages = [
        PAGE,
        PageState("https://a.example/n"),
        replace(PAGE, visited_at=NOW + DAY),
        replace(PAGE, failures=3),
    ]
    for page in pages:
        judged = policy.judge(page, NOW, 10.0)
        assert judged.value == policy.value(page, NOW)
        assert 0.0 <= judged.score.value <= 100.0
        assert judged.score.words or name == "heuristic"
        assert repr(policy.judge(page, NOW, 10.0)) == repr(judged)


# --- pages ---


def test_importance_and_class() -> None:
    assert importance_of(0.8, "hub") == 1.6
    assert class_of("https://a.example/", is_hub=True) == "hub"
    assert class_of("https://a.example/2026-05-story", is_hub=False) == "article"
    assert class_of("https://a.example/2026/13/x", is_hub=False) == "page"
    assert page_of(UrlSignals("u", is_hub=True, page_class="page")).page_class == "page"
