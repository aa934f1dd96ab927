"""What visits teach: plain function calls, no store, no network."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide.core.recrawl.clocks import HOUR_S, AgeClock, DayProfile, SiteAges, SiteClock, WallClock
from honeyguide.core.recrawl.history import HistoryEntry, Site, Trust, Visit, trust_key
from honeyguide.core.recrawl.policies import Learned
from honeyguide.core.recrawl.rate import Rate, chance, changes
from honeyguide.core.recrawl.signals import HEADER, SITEMAP, state_of
from honeyguide.core.recrawl.visits import (
    births_of,
    clock_in,
    compare_visit,
    current_rate,
    heir_of,
    next_known,
    next_site,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from honeyguide.core.recrawl.priors import PageClass

DAY_S = 86400.0
HONEST = Trust(hits=9)
URL = "https://a.example/page"


def visit(at: float, content: str | None = "x", body: int | None = 1, **more: object) -> Visit:
    status = 200 if content is not None or body is not None else 500
    given = {"status": status, "content": content, "body": body, **more}
    return Visit(URL, 7, at, **given)  # type: ignore[arg-type]  # a test may set any field


def known_after(*visits: Visit, site: Site | None = None) -> HistoryEntry:
    known: HistoryEntry | None = None
    for one in visits:
        known = next_known(known, one, site or Site(), run=1)
    assert known is not None
    return known


# --- what a visit says ---


@pytest.mark.parametrize(
    ("second", "verdict"),
    [
        (visit(5.0, None, None, status=304), "not-modified"),
        (visit(5.0, None, 1), "same-bytes"),
        (visit(5.0, "x", 1), "same-bytes"),
        (visit(5.0, "x", 2), "same-content"),
        (visit(5.0, "y", 2), "changed"),
        (visit(5.0, None, 2), "changed"),  # what is left of it says nothing
        (visit(5.0, None, None, status=404), None),
        (visit(5.0, None, None, status=None), None),
        (visit(5.0, None, None, is_redirect_source=True), None),
    ],
)
def test_what_a_second_visit_says(second: Visit, verdict: str | None) -> None:
    first = known_after(visit(1.0))
    assert compare_visit(first, second) == verdict
    known = next_known(first, second)
    assert known.changes == (verdict == "changed")
    assert known.unchanged == (verdict in ("not-modified", "same-bytes", "same-content"))
    assert known.visits == 2


def test_a_first_visit_and_one_after_failures_have_nothing_to_compare() -> None:
    assert compare_visit(None, visit(1.0)) is None
    failed = known_after(visit(1.0, None, None), visit(2.0, None, None))
    assert (failed.failures, failed.seen_at) == (2, None)
    assert compare_visit(failed, visit(3.0)) is None
    known = next_known(failed, visit(3.0))
    assert (known.failures, known.seen_at, known.first_seen, known.seen) == (0, 3.0, 1.0, None)


def test_what_was_read_stays_where_nothing_new_was_read() -> None:
    first = known_after(
        visit(1.0, relevance=0.7, kind="hub", links=40, link_share=0.8, etag="e1", last_modified="m")
    )
    for second in (
        visit(5.0, None, None, status=304, etag="e2"),
        visit(5.0, None, 1, etag="e2", last_modified="m"),
        visit(5.0, None, None, status=500),
    ):
        known = next_known(first, second, run=2)
        kept = (
            known.relevance,
            known.is_hub,
            known.kind,
            known.links,
            known.link_share,
            known.content,
            known.run,
        )
        assert kept == (0.7, True, "hub", 40, 0.8, "x", 1)
        assert known.last_modified == "m"
    assert next_known(first, visit(5.0, None, None, status=304)).etag == "e1"
    assert next_known(first, visit(5.0, None, None, status=304, etag="e2")).etag == "e2"
    assert next_known(first, visit(5.0, "y", 2)).etag is None  # the new version has none


def test_reading_it_anew_replaces_what_was_read() -> None:
    first = known_after(visit(1.0, relevance=0.7, kind="hub", links=40))
    known = next_known(first, visit(5.0, "x", 1, relevance=0.2, links=3, hub_depth=2), run=4)
    assert (known.relevance, known.is_hub, known.links, known.hub_depth, known.run) == (0.2, False, 3, 2, 4)


def test_a_visit_that_measures_no_relevance_keeps_the_known_one() -> None:
    known = known_after(visit(0.0, relevance=0.9), visit(DAY_S, "y", 2))
    assert (known.content, known.relevance) == ("y", 0.9)
    assert next_known(known, visit(2 * DAY_S, "z", 3, relevance=0.0)).relevance == 0.0


def test_a_failure_without_a_request_is_no_visit_but_postpones_the_next() -> None:
    known = known_after(visit(0.0), visit(DAY_S, None, None, status=None, is_refused=True))
    assert (known.visits, known.failures, known.visited_at) == (1, 1, DAY_S)


def test_a_hub_stays_at_depth_0_through_visits_that_do_not_read_it() -> None:
    first = known_after(visit(1.0, kind="hub", hub_depth=3))
    assert first.hub_depth == 0
    assert next_known(first, visit(2.0, None, None, status=304, hub_depth=3)).hub_depth == 0


def test_a_clock_that_runs_backwards_is_harmless() -> None:
    known = known_after(visit(100.0), visit(50.0, "y", 2))
    assert (known.visited_at, known.changed_at, known.changes, known.exposure_h) == (100.0, 100.0, 1, 0.0)
    assert known.seen is not None


# --- the change rate ---


def days_after(changes: Sequence[bool], known: HistoryEntry | None = None) -> HistoryEntry:
    """Visit a page daily; each visit after the first finds it changed, or not."""
    known = known or known_after(visit(0.0))
    for is_changed in changes:
        body = (known.body or 0) + is_changed
        known = next_known(known, visit(known.visited_at + DAY_S, f"{body}", body), run=1)
    return known


def test_a_page_that_falls_asleep_is_believed_to_after_some_visits() -> None:
    fast = days_after([True] * 200)
    assert (fast.doubt, fast.forgot_at) == (0.0, None)
    asleep = days_after([False] * 6, fast)
    assert asleep.forgot_at is not None
    assert current_rate(asleep).mean_interval_h > 30 * 24
    assert asleep.changes == 200  # counts are of all visits


def test_a_page_that_wakes_up_is_believed_to_after_some_visits() -> None:
    awake = days_after([True] * 10, days_after([False] * 200))
    assert awake.forgot_at is not None
    assert current_rate(awake).mean_interval_h < 4 * 24


def test_a_page_that_rests_at_weekends_forgets_nothing() -> None:
    assert days_after([day % 7 < 5 for day in range(365)]).forgot_at is None


def test_one_visit_alone_never_forgets() -> None:
    for before in ([True] * 500, [False] * 500):
        surprised = days_after([not before[0]], days_after(before))
        assert 0.0 < surprised.doubt <= 3.0
        assert (surprised.forgot_at, surprised.latest != Rate(0.0, 0.0)) == (None, True)
        settled = days_after(before[:150], surprised)
        assert (settled.doubt, settled.latest, settled.forgot_at) == (0.0, Rate(0.0, 0.0), None)


def test_pages_that_keep_their_rate_hardly_ever_forget() -> None:
    chance = Random(3)  # noqa: S311 - no secret
    pages = [days_after([chance.random() < 0.3 for _ in range(60)]) for _ in range(200)]
    assert sum(page.forgot_at is not None for page in pages) <= 8


def test_an_announced_change_raises_no_doubt() -> None:
    quiet = days_after([False] * 100)._replace(lastmod="1970-04-11T12:00:00Z")
    honest = Site({SITEMAP: Trust(hits=9)})
    found = next_known(quiet, visit(quiet.visited_at + DAY_S, "new", 99), honest)
    assert (found.changes, found.doubt) == (1, 0.0)
    assert next_known(quiet, visit(quiet.visited_at + DAY_S, "new", 99)).doubt > 0.0


def test_rates_are_learnt_from_comparisons_alone() -> None:
    first = known_after(visit(0.0))
    assert first.seen is None
    prior = current_rate(first)
    same = next_known(first, visit(DAY_S, None, None, status=304))
    assert same.seen == Rate(0.0, 24.0)
    assert current_rate(same) == Rate(prior.a, prior.b + 24.0)
    failed = next_known(same, visit(2 * DAY_S, None, None))
    assert failed.seen == same.seen
    later = next_known(failed, visit(3 * DAY_S))
    assert later.seen == Rate(0.0, 72.0)  # all the time since it was last seen
    assert (later.exposure_h, later.unchanged) == (72.0, 2)


def test_pages_that_change_are_believed_to_change_more_often() -> None:
    often = known_after(*(visit(n * DAY_S, str(n), n) for n in range(20)))
    never = known_after(*(visit(n * DAY_S) for n in range(20)))
    assert current_rate(often).mean_interval_h < 48.0 < current_rate(never).mean_interval_h


def test_a_page_starts_where_its_siblings_are() -> None:
    site = Site(priors={"page": Rate(2.0, 10.0)})
    first = known_after(visit(0.0))
    assert current_rate(first, site) == Rate(2.0, 10.0)
    assert current_rate(next_known(first, visit(3600.0), site), site) == Rate(2.0, 11.0)
    assert current_rate(first._replace(kind="hub"), site) != Rate(2.0, 10.0)


@pytest.mark.parametrize("gap_h", [24.0, 6.0, 1.0, 1 / 6])
def test_a_page_that_changes_at_every_visit_is_soon_believed_to_be_fast(gap_h: float) -> None:
    """At most six visits after the first until the believed interval is within twice the gap; once 10, 39, 235, 1,412."""
    fast = known_after(*(visit(n * gap_h * HOUR_S, str(n), n) for n in range(7)))
    assert gap_h / 4 < current_rate(fast).mean_interval_h < 2 * gap_h
    few = known_after(*(visit(n * gap_h * HOUR_S, str(n), n) for n in range(4)))
    assert current_rate(few).mean_interval_h > 4 * gap_h  # three changes may be one edit and its corrections


@pytest.mark.parametrize("gap_h", [1 / 6, 24.0, 720.0])
def test_one_change_by_chance_is_outweighed_by_four_quiet_months(gap_h: float) -> None:
    months = [visit((gap_h + 720.0 * n) * HOUR_S, "y", 2) for n in range(5)]
    assert current_rate(known_after(visit(0.0), *months)).mean_interval_h > 720.0


def test_what_visits_saw_is_kept_apart_from_the_prior() -> None:
    known = known_after(visit(0.0), visit(DAY_S), visit(2 * DAY_S))
    for prior in (Rate(0.5, 360.0), Rate(2.0, 10.0)):
        assert current_rate(known, Site(priors={"page": prior})) == Rate(prior.a, prior.b + 48.0)


MODIFIED = "Thu, 01 Jan 1970 12:00:00 GMT"


def test_an_exact_time_counts_once_its_source_has_proved_honest() -> None:
    first = known_after(visit(0.0))
    second = visit(DAY_S, "y", 2, last_modified=MODIFIED)
    assert next_known(first, second).changed_at == DAY_S
    known = next_known(first, second, Site({HEADER: HONEST}))
    assert known.changed_at == DAY_S / 2
    assert known.seen == Rate(1.0, 12.0)  # since then it was quiet
    announced = next_known(
        first._replace(lastmod="1970-01-01T06:00:00Z"), visit(DAY_S, "y", 2), Site({SITEMAP: HONEST})
    )
    assert announced.changed_at == DAY_S / 4
    assert announced.seen == Rate(1.0, 24.0)  # a signal led to the visit


def test_a_time_in_the_future_or_before_the_last_visit_is_no_time_of_change() -> None:
    first, site = known_after(visit(DAY_S)), Site({HEADER: HONEST})
    early = next_known(first, visit(2 * DAY_S, "y", 2, last_modified=MODIFIED), site)
    assert early.changed_at == 2 * DAY_S
    future = "Thu, 01 Jan 2099 12:00:00 GMT"
    assert next_known(first, visit(2 * DAY_S, "y", 2, last_modified=future), site).changed_at == 2 * DAY_S


def test_new_links_count_from_the_second_visit_on() -> None:
    known = known_after(visit(0.0, new_links=50))
    assert known.found is None
    known = next_known(known, visit(DAY_S, "y", 2, new_links=6))
    assert known.found == Rate(6.0, 48.0)
    known = next_known(known, visit(2 * DAY_S, None, None, status=304))
    assert known.found == Rate(6.0, 72.0)


def test_a_source_is_trusted_by_kind_of_page_where_it_said_enough_of_it() -> None:
    site = Site({SITEMAP: Trust(hits=20, alarms=3), trust_key(SITEMAP, "hub"): Trust(hits=2, alarms=3)})
    assert site.is_trusted(SITEMAP, "page")  # nothing was said of pages: the host's record counts
    assert not site.is_trusted(SITEMAP, "hub")
    assert site.trust_in(SITEMAP, "hub") == Trust(hits=2, alarms=3)
    few = Site({SITEMAP: Trust(hits=20), trust_key(SITEMAP, "article"): Trust(alarms=4)})
    assert few.is_trusted(SITEMAP, "article")


# --- clocks ---


DAYS = SiteClock(1, (2.0,), (1.0,))
STORY = "https://a.example/2026/05/01/x"
OF_PAGE, OF_ARTICLE = Site().aged("page").own, Site().aged("article").own


@pytest.mark.parametrize(
    ("kind", "more", "clock"),
    [
        ("page", {}, DAYS),
        ("page", {"born_at": 40.0}, AgeClock(40.0, OF_PAGE, DAYS)),
        ("page", {"born_at": 101.0}, DAYS),  # it was visited before somebody met it
        ("page", {"url": STORY}, DAYS),
        ("hub", {"born_at": 40.0}, WallClock()),
        ("hub", {"hours": (1.0,) * 24}, DayProfile.of_counts((1.0,) * 24)),
        ("article", {"url": STORY}, AgeClock(100.0, OF_ARTICLE)),  # a date in the future is no date
        ("article", {"url": "https://a.example/1970/01/x", "born_at": 40.0}, AgeClock(40.0, OF_ARTICLE)),
        (
            "article",
            {"url": "https://a.example/1969/12/x", "born_at": 40.0},
            AgeClock(-31 * DAY_S, OF_ARTICLE),
        ),
        ("article", {"born_at": 40.0}, AgeClock(40.0, OF_ARTICLE)),
        ("article", {}, DAYS),
    ],
)
def test_each_kind_has_its_clock_and_plans_go_by_the_same(
    kind: PageClass, more: dict[str, Any], clock: object
) -> None:
    known, site = known_after(visit(100.0))._replace(kind=kind, **more), Site(clock=DAYS)
    assert clock_in(site, known) == clock
    policy = Learned(site={"a.example": site}.get)
    assert policy.clock_of(state_of(known)) == clock


def test_hubs_remember_at_which_hours_they_change() -> None:
    hub = known_after(visit(8.5 * 3600, kind="hub"))
    known = next_known(hub, visit(10.5 * 3600, "y", 2, kind="hub"))
    assert known.hours is not None
    assert {hour: count for hour, count in enumerate(known.hours) if count} == {8: 0.25, 9: 0.5, 10: 0.25}
    assert next_known(hub, visit(3 * DAY_S, "y", 2, kind="hub")).hours is None  # that tells no hour
    assert next_known(hub, visit(10.5 * 3600, kind="hub")).hours is None


# --- sites ---


def test_what_a_site_says_is_held_against_what_is_found() -> None:
    site, old = Site(), known_after(visit(DAY_S))
    for lastmod, second in (
        ("1970-01-03", visit(3 * DAY_S, "y", 2)),  # said and true
        ("1970-01-03", visit(3 * DAY_S)),  # said and not
        ("1970-01-01", visit(3 * DAY_S, "y", 2)),  # not said
        ("1970-01-01", visit(3 * DAY_S)),
        ("1970-01-02", visit(3 * DAY_S, "y", 2)),  # on the day of the visit before: says nothing
        (None, visit(3 * DAY_S, "y", 2)),
        ("soon", visit(3 * DAY_S, "y", 2)),
        ("1970-01-03", visit(3 * DAY_S, None, None)),  # nothing was found
    ):
        site = next_site(site, old._replace(lastmod=lastmod), second)
    assert site.trust == dict.fromkeys((SITEMAP, trust_key(SITEMAP, "page")), Trust(1, 1, 1, 1))


def test_a_header_is_no_witness_of_its_own_304() -> None:
    old = known_after(visit(0.0))
    assert next_site(Site(), old, visit(DAY_S, None, None, status=304, last_modified=MODIFIED)).trust == {}
    assert next_site(Site(), old, visit(DAY_S, last_modified=MODIFIED)).trust[HEADER] == Trust(alarms=1)


def test_a_day_on_which_much_changes_counts_more() -> None:
    site = Site()
    for _ in range(20):
        site = next_site(site, known_after(visit(0.0)), visit(DAY_S - 1, "y", 2))
    assert site.clock.weight(0) > 2.0
    hub = next_site(Site(), known_after(visit(0.0, kind="hub")), visit(DAY_S, "y", 2))
    assert hub.clock == SiteClock()


# --- ages ---


NEW: dict[str, Any] = {"born_at": 0.0, "first_seen": 0.0}


def test_ages_learn_what_a_visit_found_and_what_was_expected_of_it() -> None:
    old = known_after(visit(HOUR_S))._replace(rate_a=0.0, rate_b=0.0, **NEW)
    start = Site(priors={"page": Rate(2.0, 10.0)})
    site = next_site(start, old, visit(4 * HOUR_S, "y", 2))
    ages, after = site.ages["page"], current_rate(next_known(old, visit(4 * HOUR_S, "y", 2), start), start)
    assert list(site.ages) == ["page"]
    due = after.a / after.b
    assert ages.own.expected[:4] == pytest.approx((0.0, due, 2 * due, 0.0))
    found = changes(Rate(2.0, 10.0), 3.0)
    assert ages.own.found[:4] == pytest.approx((0.0, found / 3, 2 * found / 3, 0.0))
    assert (ages.every.found, ages.every.expected) == (ages.own.found, ages.own.expected)
    assert ages.own.parent == ages.every.weights
    calm = next_site(site, old, visit(4 * HOUR_S)).ages["page"]
    assert calm.own.found == ages.own.found
    assert calm.own.expected[1] > ages.own.expected[1]


def test_ages_learn_one_change_of_an_announced_one() -> None:
    old = known_after(visit(0.0))._replace(lastmod="1970-01-01T06:00:00Z", **NEW)
    plain, told = (
        next_site(Site(trust, {"page": Rate(2.0, 1.0)}), old, visit(DAY_S, "y", 2)).ages["page"].own
        for trust in ({}, {SITEMAP: HONEST})
    )
    assert sum(plain.found) > 40.0
    assert sum(told.found) == pytest.approx(1.0)


def test_days_and_ages_do_not_learn_the_same_changes() -> None:
    calm = SiteAges.of("page").with_visit(0.0, 24.0, found=0.0, rate=100.0)
    old = known_after(visit(0.0))._replace(**NEW)
    priors: dict[PageClass, Rate] = {"page": Rate(2.0, 24.0)}
    aged_h = calm.own.hours(0.0, 24.0)
    assert aged_h < 1.0
    for site, hours in ((Site(priors=priors), 24.0), (Site(priors=priors, ages={"page": calm}), aged_h)):
        expected = sum(next_site(site, old, visit(DAY_S - 1)).clock.expected)
        assert expected == pytest.approx(chance(Rate(2.0, 24.0), hours), abs=1e-3)
    busy = Site(priors=priors, clock=SiteClock(0, (9.0,), (1.0,)))
    own = next_site(busy, old, visit(DAY_S - 1)).ages["page"].own
    after = current_rate(next_known(old, visit(DAY_S - 1), busy), busy)
    assert own.expected[0] == pytest.approx(5.0 * after.a / after.b)  # such a day counts five times


@pytest.mark.parametrize(
    ("more", "at"),
    [({"born_at": None}, DAY_S), ({"kind": "hub"}, DAY_S), ({"first_seen": -1.0}, DAY_S), ({}, 0.0)],
)
def test_ages_learn_nothing_where_there_is_none(more: dict[str, Any], at: float) -> None:
    old = known_after(visit(0.0))._replace(**{**NEW, **more})
    assert next_site(Site(), old, visit(at, "y", 2)).ages == {}
    assert next_site(Site(), known_after(visit(0.0))._replace(**NEW), visit(DAY_S, "y", 2)).ages


def test_a_page_ages_as_its_siblings_did() -> None:
    """Pages that change in their first hours: later a quiet day says little, and an hour at first says much."""
    site = Site()
    for digest in range(60):
        known = known_after(visit(0.0))._replace(digest=digest, **NEW)
        for number, at_h in enumerate((1, 2, 4, 30, 100)):
            one = visit(at_h * HOUR_S, str(min(number, 3)), min(number, 3))
            site, known = next_site(site, known, one), next_known(known, one, site)
    weights = site.aged("page").own.weights
    assert weights[0] > 1.5
    assert weights[6] < 0.7
    first = known_after(visit(0.0))._replace(**NEW)
    early, late = (clock_in(site, first).exposure_h(h * HOUR_S, (h + 1) * HOUR_S) for h in (0, 70))
    assert early > 3 * late


def test_pages_that_are_met_on_a_hub_are_new_and_keep_their_age_when_they_move() -> None:
    assert births_of(None, visit(5.0)) == []
    assert births_of(None, visit(5.0, newborn=(1, 2))) == [(1, 5.0), (2, 5.0)]
    there = Visit("https://a.example/new", 8, 9.0, 200, "x", moved_from=7)
    heir = heir_of(known_after(visit(2.0))._replace(born_at=1.0), there)
    assert births_of(heir, there) == [(8, 1.0)]
    assert births_of(None, there) == []


# --- moving ---


def test_a_page_that_moves_brings_its_history_along_once() -> None:
    old = known_after(visit(0.0, relevance=0.5), visit(DAY_S, "y", 2))
    there = Visit("https://a.example/new", 8, 2 * DAY_S, 200, "y", body=2, moved_from=7)
    heir = heir_of(old, there)
    assert heir is not None
    known = next_known(heir, there)
    assert (known.url, known.digest, known.visits, known.changes, known.unchanged) == (there.url, 8, 3, 1, 1)
    moved = next_known(
        old,
        visit(2 * DAY_S, None, None, status=301, is_redirect_source=True, is_moved=True, arrived=there.url),
    )
    assert (moved.is_moved, moved.arrived, moved.failures) == (True, there.url, 0)
    assert heir_of(moved, there) is None
    assert heir_of(None, there) is None
    back = next_known(moved, visit(3 * DAY_S, "z", 3))
    assert (back.is_moved, back.arrived, back.changes) == (False, None, 2)


def test_a_redirect_for_now_is_a_visit_without_a_page_and_no_failure() -> None:
    away = known_after(visit(0.0))
    for _ in range(6):  # as often as a page may fail
        away = next_known(
            away,
            visit(DAY_S, None, None, status=302, is_redirect_source=True, arrived="https://a.example/wait"),
        )
    assert (away.is_moved, away.failures, away.content, away.seen_at) == (False, 0, "x", 0.0)
    back = next_known(away, visit(2 * DAY_S))
    assert (back.failures, back.unchanged, back.exposure_h) == (0, 1, 48.0)
