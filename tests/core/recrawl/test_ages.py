"""Ages: what an hour counts at each age is learned from visits; a copy is worth less where pages end."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.core.recrawl.clocks import EDGES_H, AgeClock, AgeProfile, SiteAges, SiteClock, first_weights
from honeyguide.core.recrawl.history import Site
from honeyguide.core.recrawl.policies import Learned
from honeyguide.core.recrawl.rate import Rate
from honeyguide.core.recrawl.signals import PageState

HOUR = 3600.0
FLAT = AgeProfile(first_weights("page"))
AGES = st.floats(0, 50_000)


def calmed() -> AgeProfile:
    """Visits to 200 pages that change in each of their first four hours, and then no more."""
    profile = FLAT
    for _ in range(200):
        profile = profile.with_counts(profile.counts(0.0, 4.0, found=4.0, rate=0.05))
        profile = profile.with_counts(profile.counts(4.0, 100.0, found=0.0, rate=0.05))
    return profile


@given(AGES, AGES, AGES)
def test_hours_that_count_add_up_and_never_fall(one: float, other: float, third: float) -> None:
    begin, middle, end = sorted((one, other, third))
    profile = AgeProfile(first_weights("article"))
    whole = profile.hours(begin, end)
    assert whole == pytest.approx(profile.hours(begin, middle) + profile.hours(middle, end), abs=1e-9)
    assert whole >= 0.0


def test_what_calms_down_is_learned_without_a_class() -> None:
    weights = calmed().weights
    assert weights[0] > 5.0
    assert weights[4] < 0.1
    assert weights[-1] == 1.0  # nobody has seen a page of that age


def test_a_new_page_that_still_changes_waits_for_its_first_visit() -> None:
    policy = Learned(site=lambda _: Site(ages={"page": SiteAges(calmed(), FLAT)}))
    page = PageState("https://a.example/x", "a.example", published_at=0.0, rate=Rate(2.0, 40.0))
    assert policy.value(page, 40 * HOUR) > 20 * policy.value(page, 1 * HOUR)
    unknown = replace(page, published_at=None)
    assert policy.value(unknown, 40 * HOUR) == policy.value(unknown, 1 * HOUR)


def test_what_ends_soon_is_worth_little() -> None:
    ends = tuple(0.1 if edge == 128.0 else 0.0 for edge in EDGES_H)
    page = PageState("u", "", "article", visited_at=30 * HOUR, published_at=0.0, rate=Rate(2.0, 4.0))
    profile = AgeProfile(first_weights("article"))
    sites = [Site(ages={"article": SiteAges(own, profile)}) for own in (replace(profile, ends=ends), profile)]
    mortal, eternal = (Learned(site={"": site}.get) for site in sites)
    assert mortal.value(page, 100 * HOUR) == eternal.value(page, 100 * HOUR)
    assert mortal.value(page, 200 * HOUR) < 0.1 * eternal.value(page, 200 * HOUR)


def test_the_days_of_the_site_count_besides() -> None:
    site = SiteClock(0, (9.0,), (1.0,))
    assert AgeClock(0.0, FLAT, site).exposure_h(0.0, 24 * HOUR) == pytest.approx(120.0)
    assert AgeClock(0.0, FLAT, site).exposure_h(HOUR, HOUR) == 0.0
