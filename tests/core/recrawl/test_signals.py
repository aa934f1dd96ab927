"""From history to signals: what plan and the policies read, and what makes a page a hub."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from honeyguide.adapters.html.page import parse_page
from honeyguide.app.explain import describe_history, kind_words
from honeyguide.app.known_urls.store import announced_at, signals_of
from honeyguide.app.library.observe import entry_of
from honeyguide.config import load_profile
from honeyguide.core.page.likeness import page_text
from honeyguide.core.recrawl.clocks import SiteAges
from honeyguide.core.recrawl.history import HistoryEntry, Site, Trust, Visit
from honeyguide.core.recrawl.plan import UrlSignals
from honeyguide.core.recrawl.rate import Rate
from honeyguide.core.recrawl.signals import (
    SITEMAP,
    LinkDensity,
    hub_score,
    kind_of,
    link_density,
    state_of,
)
from honeyguide.core.recrawl.visits import current_rate, next_known
from honeyguide.core.url.url import Url

BASE = load_profile("base")
HOME = Url.parse("https://a.example/")
PAGE = Url.parse("https://a.example/docs/page")
DAY_S = 86400.0
HONEST = Site({SITEMAP: Trust(hits=7, alarms=1)})
SIBLINGS = replace(HONEST, priors={"page": Rate(0.5, 2.0)})


def html(body: str, menu: int = 40) -> str:
    links = "".join(f'<a href="/menu-{n}">Menu {n}</a>' for n in range(menu))
    return f"<title>T</title><nav>{links}</nav><main>{body}</main>"


def made(body: str) -> LinkDensity:
    page = parse_page(html(body), PAGE)
    return link_density(page, page_text(page).lines, {"a.example"})


LIST = "".join(f'<p><a href="/entry-{n}">Entry number {n} of the list</a></p>' for n in range(12))
PROSE = "".join(
    f"<p>Sentence number {n} says something that nobody said before, and says it well.</p>" for n in range(30)
)


@pytest.mark.parametrize(
    ("body", "links", "kind"),
    [
        (LIST, 12, "hub"),
        (PROSE, 0, "page"),  # its menu has forty links, which every page has
        (PROSE + LIST, 12, "page"),
        ('<p><a href="/docs/page">This page</a></p><p><a href="https://b.example/">Other</a></p>', 0, "page"),
        (LIST.replace("/entry-", "https://b.example/"), 0, "page"),
    ],
)
def test_a_hub_is_a_page_whose_main_part_is_links(body: str, links: int, kind: str) -> None:
    measured = made(body)
    assert measured.links == links
    assert kind_of(PAGE, measured, None, BASE) == kind


def test_what_visits_find_makes_a_hub_of_a_page_between() -> None:
    between = LinkDensity(12, 0.15)
    assert kind_of(PAGE, between, None, BASE) == "page"
    assert kind_of(PAGE, between, Rate(48.0, 24.0), BASE) == "hub"
    score = hub_score(PAGE, between, Rate(48.0, 24.0), BASE)
    assert score is not None
    assert [reason.rule for reason in score.reasons] == ["links-10", "finds-1"]


def test_homepages_need_fewer_links() -> None:
    few = LinkDensity(6, 0.4)
    assert (kind_of(HOME, few, None, BASE), kind_of(PAGE, few, None, BASE)) == ("hub", "page")


def test_an_empty_page_is_no_hub_and_a_dated_one_an_article() -> None:
    assert made("").link_share == 0
    assert kind_of(PAGE, LinkDensity(0, None), None, BASE) == "page"
    assert (
        kind_of(Url.parse("https://a.example/2026/05/01/story"), LinkDensity(2, 0.02), None, BASE)
        == "article"
    )


def known(**more: object) -> HistoryEntry:
    first = next_known(None, Visit(PAGE.text, 7, DAY_S, 200, "x", relevance=0.9, hub_depth=2, body=1), run=1)
    return first._replace(**more)  # type: ignore[arg-type]  # a test may set any field


def test_signals_are_those_of_history() -> None:
    signals = signals_of(known(visits=3, changed_at=5.0), Rate(1.0, 2.0))
    assert (signals.url, signals.visits, signals.topic_relevance, signals.hub_depth) == (PAGE.text, 3, 0.9, 2)
    assert signals.last_visited == datetime(1970, 1, 2, tzinfo=UTC)
    assert (signals.rate_a, signals.rate_b) == (1.0, 2.0)
    assert signals.last_changed == datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)
    assert signals_of(known(), None).last_changed is None


@pytest.mark.parametrize(
    ("lastmod", "site", "announced"),
    [
        ("1970-01-03", HONEST, 2 * DAY_S),
        ("1970-01-03", Site(), None),
        ("1970-01-03", Site({SITEMAP: Trust(hits=7, alarms=2)}), None),
        ("1970-01-02", HONEST, None),  # the day of the visit
        ("1969-12-31", HONEST, None),
        (None, HONEST, None),
    ],
)
def test_a_newer_lastmod_is_a_change_once_the_site_has_proved_honest(
    lastmod: str | None, site: Site, announced: float | None
) -> None:
    one = known(lastmod=lastmod)
    assert announced_at(one, site) == announced
    changed = signals_of(one, None, site).last_changed
    assert (None if changed is None else changed.timestamp()) == announced


def test_the_state_for_policies() -> None:
    state = state_of(
        known(
            kind="article",
            url="https://a.example/1970/01/02/x",
            lastmod="1970-01-03",
            failures=1,
            status=404,
            rate_a=1.0,
            rate_b=2.0,
        )
    )
    assert (state.host, state.page_class, state.failures, state.status) == ("a.example", "article", 1, 404)
    assert (state.published_at, state.announced_at, state.rate) == (DAY_S, 2 * DAY_S, Rate(1.5, 38.0))


def test_a_hub_says_why_it_is_one() -> None:
    told = kind_words(known(kind="hub", links=12, link_share=0.9), BASE)
    assert told is not None
    assert "10 or more pages of the site (+35), most of its text is links (+40); 60 points make one" in told
    assert kind_words(known(), BASE) is None


# --- in sentences ---


def test_the_story_of_a_page_that_changes() -> None:
    one = known(first_seen=0.0, visits=5, changes=2, unchanged=2, changed_at=DAY_S, rate_a=2.0, rate_b=100.0)
    told = describe_history(one, BASE, 4 * DAY_S, SIBLINGS, not_modified=1)
    assert told == [
        "Visited 5 times, first 4 days ago, last 3 days ago: 2 changed, 2 unchanged (1 by 304).",
        "It last changed 3 days ago, as far as visits tell.",
        "It changes about every 1.7 days; changed with 74 % probability since the last visit 3 days ago.",
    ]


def test_the_story_of_a_page_that_has_calmed_down() -> None:
    ages = (
        SiteAges.of("page")
        .with_visit(0.0, 24.0, found=24.0, rate=0.1)
        .with_visit(24.0, 500.0, found=0.0, rate=0.1)
    )
    one = known(first_seen=0.0, visits=5, changes=2, unchanged=2, rate_a=2.0, rate_b=100.0)
    site = replace(SIBLINGS, ages={"page": ages})
    young, old = (
        describe_history(one._replace(born_at=born_at), BASE, 4 * DAY_S, site)[1]
        for born_at in (None, -5 * DAY_S)
    )
    assert young.startswith("It changes about every 1.7 days; changed with 74 % probability")
    assert old.startswith(
        "It changes about every 14 days at its age of 9 days; changed with 22 % probability"
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"unchanged": 1}, "No visit has seen it change."),
        ({"unchanged": 1, "rate_a": 0.5, "rate_b": 22.0}, "No visit has seen it change; going by pages like it, it may change about every day; changed with less than 1 % probability since the last visit a moment ago."),
        ({"changes": 1, "changed_at": DAY_S, "rate_a": 0.5, "rate_b": 22.0}, "It changes about every day; changed with less than 1 % probability since the last visit a moment ago."),
        ({"changes": 9, "rate_a": 0.0, "rate_b": 22.0, "forgot_at": 0.0}, "Its latest visits contradicted the earlier ones: those were forgotten 1 day ago."),
        ({"is_moved": True, "arrived": "https://a.example/b"}, "It has moved to https://a.example/b; its history continues there."),
        ({"failures": 1, "status": 404}, "The last visit was answered with 404."),
        ({"failures": 2, "status": None}, "The last 2 visits were without a page."),
        ({"failures": 5, "status": 404}, "It is visited no more: no page at 5 visits in a row (last status 404)."),
        ({"lastmod": "2026-05-01"}, "Its sitemap says that it last changed 2026-05-01."),
        ({"lastmod": "2026-05-01"}, "Sitemaps of a.example told of changes and were right 7 of 8 times that they said so: they are believed."),
        ({"found_a": 2.0, "found_b": 48.0}, "Visits find 1 new page a day there."),
        ({"found_a": 6.0, "found_b": 48.0}, "Visits find 3 new pages a day there."),
        ({}, "Visited once, a moment ago."),
        ({"seen_at": None}, "Requested once, a moment ago; no page came."),
    ],
)  # fmt: skip
def test_the_story_of_others(more: dict[str, object], said: str) -> None:
    assert said in describe_history(known(**more), BASE, DAY_S + 5.0, SIBLINGS)


def test_an_imported_fast_rate_is_believed_as_it_is() -> None:
    signals = UrlSignals(PAGE.text, last_visited=datetime(2024, 1, 1, tzinfo=UTC), rate_a=10.0, rate_b=20.0)
    entry = entry_of(signals, signals.url, 7, 1)
    assert entry is not None
    assert 1.0 < current_rate(entry).mean_interval_h < 4.0
