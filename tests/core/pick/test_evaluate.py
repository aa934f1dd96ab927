"""The figures of picks by labels, and the reasons why picks of two runs differ."""

from __future__ import annotations

import pytest

from honeyguide.core.pick.evaluate import (
    CORE,
    JUNK,
    Change,
    Gold,
    PageDecision,
    Picked,
    SiteFigures,
    compare_sites,
    interval,
    judge_first_links,
    judge_site,
    match_sites,
    page_name,
    site_key,
    total,
)
from honeyguide.errors import UrlError

GOLD = Gold(
    "acme.example",
    {
        "/services": "core", "/inspection": "core", "/about": "core", "/alarms": "core",
        "/team": "acceptable", "/town": "junk", "/p?id=7": "acceptable",
    },
)  # fmt: skip


def _judged(*paths: str, cap: int = 4, gold: Gold = GOLD) -> SiteFigures:
    seen = tuple(PageDecision(f"https://acme.example{path}", rank) for rank, path in enumerate(paths, 1))
    return judge_site(gold, Picked("acme.example", seen), cap)


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("/", ""),
        ("", ""),
        ("https://acme.example", ""),
        ("https://acme.example/", ""),
        ("/index.html", ""),
        ("index.htm", ""),
        ("/About-Us/", "/about-us"),
        ("about.html", "/about"),
        ("/about/index.html#team", "/about"),
        ("/my-index.html", "/my-index"),
        ("/caf%C3%A9.htm", "/café"),
        ("/p?id=7", "/p?id=7"),
        ("/p?", "/p"),
        ("http://user@acme.example:81/a/b//", "/a/b"),
    ],
)
def test_one_name_for_each_page(target: str, name: str) -> None:
    assert page_name(target) == name


def test_sites_are_told_apart_by_host_and_port() -> None:
    assert site_key("acme.example") == site_key("https://ACME.example:443/x") == "acme.example"
    assert len({site_key(site) for site in ("acme.example", "www.acme.example", "acme.example:8080")}) == 3
    with pytest.raises(UrlError):
        site_key("not a site")


@pytest.mark.parametrize(
    ("paths", "core", "good", "junk", "is_good"),
    [
        (("/services", "/about", "/team", "/x"), 2, 3, 0, True),
        (("/services", "/about", "/x", "/y"), 2, 2, 0, False),
        (("/services", "/about", "/alarms", "/town"), 3, 3, 1, True),
        (("/x", "/y", "/z", "/v", "/services"), 0, 0, 0, False),
        (("/services", "/services.html", "/services/", "/x"), 1, 1, 0, False),
        (("/p?id=7", "/about?utm_source=x", "/team"), 1, 3, 0, True),
        ((), 0, 0, 0, False),
    ],
    ids=["good", "few", "junk", "after-the-cap", "one-page-thrice", "queries", "none"],
)
def test_the_figures_of_a_site(
    paths: tuple[str, ...], core: int, good: int, junk: int, is_good: bool
) -> None:
    judged = _judged(*paths)
    assert (judged.core, judged.good, judged.junk, judged.is_good) == (core, good, junk, is_good)


def test_fewer_are_enough_where_the_site_has_fewer() -> None:
    small = Gold("acme.example", {"/services": "core", "/town": "junk"})
    assert _judged("/services", gold=small).is_good
    assert not _judged("/x", gold=small).is_good
    assert _judged(gold=Gold("acme.example", {"/town": "junk"})).is_good


def test_no_record_is_no_picks() -> None:
    judged = judge_site(GOLD, None, 4)
    assert (judged.labels, judged.is_good, judged.has_record) == ((), False, False)


def test_a_record_is_found_by_what_was_asked_then_by_where_it_led() -> None:
    asked = Picked("acme.example", homepage="www.acme.example")
    run = {"acme.example": asked, "b.example": Picked("b.example", homepage="www.acme.example")}
    assert match_sites(["acme.example"], run) == {"acme.example": asked}
    assert match_sites(["www.acme.example"], run) == {"www.acme.example": asked}
    both = match_sites(["www.acme.example", "acme.example"], run)
    assert [picked.site for picked in both.values()] == ["b.example", "acme.example"]
    assert match_sites(["acme.example:81"], run) == {}


def test_totals_add_up() -> None:
    first = judge_site(
        GOLD,
        Picked(
            "a",
            (
                PageDecision("/services", 1, bucket="hub"),
                PageDecision("/team", 2, bucket="about"),
                PageDecision("/town", 3),
            ),
        ),
        4,
    )
    totals = total([first, _judged("/services", "/about", "/alarms", "/x")])
    assert (totals.sites, totals.good, totals.core) == (2, 1, 1)
    assert (totals.picks.picks, totals.picks.core, totals.picks.good, totals.picks.junk) == (7, 4, 5, 1)
    assert totals.picks.precision == pytest.approx(5 / 7)
    assert totals.coverage == pytest.approx(4 / 8)
    assert {name: tally.precision for name, tally in totals.buckets.items()} == {
        "other": 0.6,
        "about": 1,
        "hub": 1,
    }
    assert next(iter(totals.buckets)) == "other"
    assert total([]).coverage is None


NOW = Picked(
    "acme.example",
    (PageDecision("/new", 1, 90), PageDecision("/kept", 2, 80), PageDecision("/moved", 3, 70)),
    (
        PageDecision("/lost", None, 40, None, "cap, 4 better pages were taken"),
        PageDecision("/town-a", None, None, None, "doorway, town"),
    ),
)
BEFORE = Picked(
    "acme.example",
    (
        PageDecision("/moved", 1, 75),
        PageDecision("/kept", 2, 80),
        PageDecision("/lost", 3, 60),
        PageDecision("/gone.html", 4, 50),
        PageDecision("/town-a", 5, 9),
    ),
    (PageDecision("/new", None, 30, None, "threshold, under 40"),),
)


def test_changes_name_rank_score_and_the_deciding_rule() -> None:
    assert compare_sites(NOW, BEFORE) == [
        Change("entered", "/new", "rank 1; score 30 to 90; was rejected by threshold, under 40"),
        Change("left", "/lost", "rank was 3; score 60 to 40; is rejected by cap, 4 better pages were taken"),
        Change("left", "/gone.html", "rank was 4; score 50; is not linked"),
        Change("left", "/town-a", "rank was 5; score 9; is rejected by doorway, town"),
        Change("moved", "/moved", "rank 1 to 3; score 75 to 70"),
    ]


def test_the_same_picks_are_no_change() -> None:
    assert compare_sites(NOW, NOW) == []
    spelled = Picked(
        "acme.example",
        (PageDecision("/new.html", 1, 90), PageDecision("/kept/", 2, 80), PageDecision("/Moved", 3, 70)),
    )
    assert compare_sites(spelled, NOW) == []


def test_a_site_that_failed_says_so() -> None:
    (change, *_) = compare_sites(Picked("acme.example", status="timeout"), BEFORE)
    assert change == Change("left", "/moved", "rank was 1; score 75; is not seen, the site was timeout")


def test_intervals_tell_how_little_a_few_sites_say() -> None:
    assert interval(0, 0) is None
    low, high = interval(58, 64) or (0.0, 0.0)
    assert (round(low, 2), round(high, 2)) == (0.81, 0.96)
    low, high = interval(1, 1) or (0.0, 0.0)
    assert (round(low, 2), high) == (0.21, 1.0)


def test_the_first_links_are_judged_beside_the_picks() -> None:
    gold = Gold("a.example", {"/a": CORE, "/b": CORE, "/j": JUNK})
    first = tuple(PageDecision(f"https://a.example/{name}") for name in "jxyab")
    picked = Picked("a.example", (PageDecision("https://a.example/a"),), first=first)
    chance = judge_first_links(gold, picked, 4)
    assert (chance.core, chance.junk, chance.could) == (1, 1, 2)
    totals = total([judge_site(gold, picked, 4)])
    assert (totals.share, totals.could) == (0.5, 2)
