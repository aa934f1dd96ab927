"""Golden rows of PICK-10 to PICK-20: the strategy `blend`."""

from __future__ import annotations

import pytest

from honeyguide import load_profile, select_links
from honeyguide.core.page.page import Head, Link, Occurrence, Position
from honeyguide.core.pick.select import Candidate, Selection
from honeyguide.core.rules.bm25 import contextual
from honeyguide.core.url.url import Url

HOME = "https://acme.example/"
NAV = Position.NAVIGATION


def link(href: str, anchor: str = "", order: int = 0, position: Position = NAV) -> Link:
    return Link(Url.parse(href, HOME), (Occurrence(anchor, position=position),), order)


def blend(*links: Link, heads: dict[str, Head] | None = None, cap: int | None = None) -> Selection:
    return select_links(links, HOME, strategy="blend", heads=heads, cap=cap)


def by_path(selection: Selection) -> dict[str, Candidate]:
    return {candidate.url.path: candidate for candidate in selection.candidates}


@pytest.mark.parametrize(
    ("rule", "href", "out"),
    [
        ("PICK-10", "/login", "low-value"),
        ("PICK-10", "/wp-admin", "low-value"),
        ("PICK-10", "/safety-policy", "low-value"),
        ("PICK-10", "/members/log-in", "low-value"),
        ("PICK-10", "/members/sign-in", "low-value"),
        ("PICK-10", "/signin", "low-value"),
        ("PICK-10", "/admin", "low-value"),
        ("PICK-10", "/account", "low-value"),
        ("PICK-10", "/reset-passwords", "low-value"),
        ("PICK-10", "/company/policies", "low-value"),
        ("PICK-10", "/company/legal", "low-value"),
        ("PICK-10", "/legal", "disallowed-path"),
        ("PICK-10", "/blog-industry-news", "threshold"),  # "log in" is in it, but not as words
        ("PICK-10", "/privacy", "disallowed-path"),
        ("PICK-16", "/gutters", "top-level"),
        ("PICK-19", "/a/b/c/d?x=1", "threshold"),
        ("PICK-19", "/blog/our-picnic", "threshold"),
    ],
)
def test_out(rule: str, href: str, out: str) -> None:
    (candidate,) = blend(link(href, "x", position=Position.FOOTER)).candidates
    assert candidate.rejected is not None
    assert candidate.rejected.rule == out, rule


def test_total_is_the_blend() -> None:
    # PICK-14: 0.6 x contextual + 0.4 x intrinsic / 10.
    heads = {
        "https://acme.example/services/inspection": Head(
            "Fire inspection", "Sprinkler testing and inspection"
        )
    }
    (candidate,) = blend(link("/services/inspection", "Inspections"), heads=heads).candidates
    assert candidate.parts is not None
    intrinsic, context = candidate.parts["intrinsic"].value, candidate.parts["contextual"].value
    assert candidate.score is not None
    assert candidate.score.value == pytest.approx(0.6 * context + 0.04 * intrinsic, abs=2e-6)
    assert set(candidate.matched) == {"fire", "inspection", "sprinkler", "testing"}
    assert candidate.selection_reason == "services-hub+slug+high-bm25"


def test_unknown_head_is_said_and_no_advantage() -> None:
    # PICK-14: scored on anchor and URL, and says so.
    known = {"https://acme.example/services/alarm": Head("Fire alarm", "alarm")}
    (without,) = blend(link("/services/alarm", "Fire alarm")).candidates
    (having,) = blend(link("/services/alarm", "Fire alarm"), heads=known).candidates
    assert without.parts is not None
    assert having.parts is not None
    assert without.parts["contextual"].unknown == ("head_title", "head_description")
    assert without.score is not None
    assert having.score is not None
    assert 0 < without.score.value < having.score.value


def test_a_head_that_says_nothing_is_not_known() -> None:
    # PICK-11: what a head does not say is not known, and pays nothing.
    heads = {"https://acme.example/services": Head(None, None)}
    (candidate,) = blend(link("/services", "Services"), heads=heads).candidates
    assert candidate.parts is not None
    assert candidate.parts["contextual"].unknown == ("head_title", "head_description")


FIVE = "Click here for more"
MANY = "How we keep your whole building safe"


@pytest.mark.parametrize(
    ("rule", "href", "anchor", "position", "points"),
    [
        ("PICK-12", "/team", "Team", NAV, {"depth-1": 2, "clean-url": 0.5, "short-anchor": 1.5, "navigation": 2}),
        ("PICK-12", "/a/team", "read more", Position.MAIN, {"depth-2": 1.5, "clean-url": 0.5, "generic-anchor": 0.25, "main": 1.5}),
        ("PICK-12", "/a/b/team", MANY, Position.FOOTER, {"depth-3": 0.5, "clean-url": 0.5, "long-anchor": 0.5, "footer": 0.5}),
        ("PICK-12", "/a/b/c/team?x=1", "", Position.FOOTER, {"footer": 0.5}),
        ("PICK-12", "/a/b/c/team?x=1", FIVE, Position.FOOTER, {"short-anchor": 1.5, "footer": 0.5}),
        ("PICK-12", "/a/b/c/team?x=1", MANY[:-5], Position.FOOTER, {"short-anchor": 1.5, "footer": 0.5}),
        ("PICK-12", "/about?x=1", "", Position.FOOTER, {"depth-1": 2, "footer": 0.5, "about-path": 2}),
        ("PICK-12", "/services?x=1", "", Position.FOOTER, {"depth-1": 2, "footer": 0.5, "services-path": 3}),
    ],
)  # fmt: skip
def test_intrinsic_points(
    rule: str, href: str, anchor: str, position: Position, points: dict[str, float]
) -> None:
    (candidate,) = blend(link(href, anchor, position=position)).candidates
    assert candidate.parts is not None
    intrinsic = candidate.parts["intrinsic"]
    assert {reason.rule: reason.points for reason in intrinsic.reasons} == points, rule
    assert intrinsic == sum(points.values())


def test_intrinsic_has_the_best_position_and_at_most_10() -> None:
    # PICK-12
    places = (
        Occurrence("Fire inspection", position=NAV),
        Occurrence("Fire inspection", position=Position.MAIN),
    )
    (candidate,) = blend(Link(Url.parse("/services-fire-inspection", HOME), places, 0)).candidates
    assert candidate.parts is not None
    intrinsic = candidate.parts["intrinsic"]
    paid = {reason.rule: reason.points for reason in intrinsic.reasons}
    assert (paid["navigation"], "main" in paid, paid["linked-often"], paid["range"]) == (2, False, 0.5, -0.5)
    assert intrinsic == 10.0


def test_boosts_are_capped() -> None:
    # PICK-12: all slug boosts together pay at most 4 of 10, so alone they stay under the threshold.
    (candidate,) = blend(link("/a/b/services-maintenance-fire?x=1", "", position=Position.FOOTER)).candidates
    assert candidate.parts is not None
    boosts = {r.rule: r.points for r in candidate.parts["intrinsic"].reasons}
    assert boosts["tier-1"] == 3
    assert boosts["tier-2"] == 2
    assert boosts["boosts-cap"] == -1
    profile = load_profile("fire-protection")
    group = next(g for g in profile.cards["intrinsic"].card.groups if g.name == "boosts")
    assert group.at_most == 4
    assert 0.04 * group.at_most < 0.30


@pytest.mark.parametrize("stronger", [0, 1, 30])
def test_contextual_scale_is_absolute(stronger: int) -> None:
    # PICK-13: a score does not change because a stronger link joined the page.
    extra = [
        link(f"/services/fire-protection-{i}", "Fire protection sprinkler inspection", i + 1)
        for i in range(stronger)
    ]
    weak = by_path(blend(link("/services/doors", "Fire doors"), *extra))["/services/doors"]
    assert weak.parts is not None
    assert weak.parts["contextual"].value == 0.051128


@pytest.mark.parametrize("href", ["/fire-alarm-design-installation", "/design-inspection"])
def test_words_are_not_found_inside_words(href: str) -> None:
    # PICK-10: "sign in" is in both.
    (candidate,) = blend(link(href, "Fire alarm inspection")).candidates
    assert candidate.rank == 1


def test_contextual_reaches_one() -> None:
    # PICK-13: 1 is the best the query can reach.
    query = load_profile("fire-protection").query
    assert query.text == "fire protection sprinkler inspection testing alarm suppression"
    assert {f.name: f.weight for f in query.fields} == {
        "head_title": 0.50, "head_description": 0.25, "anchor": 0.20, "plain_path": 0.05,
    }  # fmt: skip
    assert contextual(query, lambda _: query.text).score.value == 1.0


@pytest.mark.parametrize(
    ("rule", "word", "points"),
    [("PICK-15", word, 3) for word in ("inspection", "maintenance", "protection", "install", "commission")]
    + [
        ("PICK-15", word, 2)
        for word in ("fire", "alarm", "testing", "extinguishers", "repair", "system", "backflow")
    ],
)
def test_tiers(rule: str, word: str, points: float) -> None:
    (candidate,) = blend(link(f"/{word}")).candidates
    assert candidate.parts is not None
    paid = [(r.points, r.text) for r in candidate.parts["intrinsic"].reasons if r.rule.startswith("tier")]
    kind = "strong service word" if points == 3 else "service word"
    assert paid == [(points, f"{kind} in slug: {word}")], rule  # PICK-20: the word is named


@pytest.mark.parametrize(
    ("rule", "href", "bucket"),
    [
        ("PICK-17", "/services/x", "services"),
        ("PICK-17", "/fire-sprinklers", "services"),
        ("PICK-17", "/industries/retail", "industries"),
        ("PICK-17", "/about-us", "about"),
        ("PICK-17", "/certifications", "certifications"),
        ("PICK-17", "/projects/tower", "projects"),
        ("PICK-17", "/careers", "careers"),
        ("PICK-17", "/our-team", "careers"),
        ("PICK-17", "/team/jane-doe", "careers"),
        ("PICK-17", "/acme-in-numbers", "careers"),
        ("PICK-17", "/steam", "other"),
        ("PICK-17", "/our-locations", "contact"),
        ("PICK-17", "/offices/boston", "contact"),
        ("PICK-17", "/logbook", "other"),
        ("PICK-17", "/contact-us", "contact"),
        ("PICK-17", "/products/x", "products"),
        ("PICK-17", "/blog/fire-maintenance", "blog"),
        ("PICK-17", "/x/y", "other"),
    ],
)
def test_buckets(rule: str, href: str, bucket: str) -> None:
    (candidate,) = blend(link(href)).candidates
    assert candidate.bucket == bucket, rule


def test_bucket_priority_order() -> None:
    # PICK-17
    buckets = load_profile("fire-protection").kinds.buckets
    order = sorted(buckets, key=lambda name: buckets[name].priority)
    assert order == [
        "services", "industries", "about", "certifications", "projects", "careers", "contact", "products", "blog", "other",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "title", "description", "ahead", "order"),
    [
        ("PICK-17", "Fire", "x", -0.12, ["services", "products"]),
        (
            "PICK-17",
            "Fire protection sprinkler inspection",
            "Fire protection sprinkler",
            0.0928,
            ["services", "products"],
        ),
        (
            "PICK-17",
            "Fire protection sprinkler inspection testing",
            "Fire protection",
            0.106,
            ["products", "services"],
        ),
    ],
)
def test_products_stand_behind_services_unless_clearly_ahead(
    rule: str, title: str, description: str, ahead: float, order: list[str]
) -> None:
    # Clearly is by 0.10.
    heads = {
        "https://acme.example/products/a": Head(title, description),
        "https://acme.example/services/a": Head("Alarm", "x"),
    }
    chosen = blend(link("/products/a", "Alarm", 0), link("/services/a", "Alarm", 1), heads=heads)
    totals = {path: candidate.score or 0.0 for path, candidate in by_path(chosen).items()}
    assert totals["/products/a"] - totals["/services/a"] == pytest.approx(ahead, abs=1e-4)
    assert [candidate.bucket for candidate in chosen.selected] == order, rule


def test_equal_within_epsilon_goes_by_bucket() -> None:
    # PICK-18: totals on one step of 0.005 are equal; then bucket, path length, URL.
    chosen = blend(link("/services/b", "b"), link("/services/a", "a", 1), link("/about", "about", 2))
    assert [c.url.path for c in chosen.selected][:2] == ["/services/a", "/services/b"]


def test_at_most_one_blog_page() -> None:
    # PICK-19: only with a strong signal, and only one.
    selection = blend(
        link("/blog/fire-inspection-guide", "Fire inspection", 0),
        link("/blog/sprinkler-maintenance", "Sprinkler maintenance", 1),
        link("/blog/fire-sprinkler-party", "Fire sprinkler alarm", 2),
    )
    outs = {c.url.path: c.rejected.rule if c.rejected else None for c in selection.candidates}
    assert outs == {
        "/blog/fire-inspection-guide": None,
        "/blog/sprinkler-maintenance": "blog-quota",
        "/blog/fire-sprinkler-party": "blog",
    }
    assert selection.counts["rejected_blog"] == 1


ALARMS = ("Fire alarm inspection", "Sprinkler testing", "Alarm maintenance", "Fire protection")


def test_the_best_about_page_has_a_place() -> None:
    # PICK-19: About is a strong second, if its total reaches the threshold.
    services = [link(f"/services/alarm-{place}", text, place) for place, text in enumerate(ALARMS)]
    about, company = link("/about", "About", 8), link("/company", "Fire company", 9)
    selection = blend(*services, about, company)
    assert [c.bucket for c in selection.selected] == ["services", "services", "services", "about"]
    seen = by_path(selection)
    assert seen["/company"].rank == 4
    assert seen["/company"].selection_reason == "about-about+bm25+reserved"
    rejected = [c.rejected for c in selection.candidates if c.rejected is not None]
    assert {(why.rule, why.text) for why in rejected} == {
        ("reserved", "a place is kept for about"),
        ("cap", "4 pages before it were taken"),
    }
    assert selection.counts["rejected_reserved"] == 1


def test_no_place_is_kept_for_an_about_page_that_is_not_good_or_the_only_one() -> None:
    # PICK-19
    services = [link(f"/services/alarm-{place}", text, place) for place, text in enumerate(ALARMS)]
    weak = link("/x/y/z/about", "About", 9, Position.FOOTER)
    assert [c.bucket for c in blend(*services, weak).selected] == ["services"] * 4
    assert [c.bucket for c in blend(*services, link("/about", "About", 9), cap=1).selected] == ["services"]


def test_the_site_itself_points_to_what_matters() -> None:
    # PICK-12: authority is a place in the navigation, and more than one link.
    once = Link(Url.parse("/about", HOME), (Occurrence("About"),))
    twice = Link(Url.parse("/about", HOME), (Occurrence("About"), Occurrence("About us")))
    in_menu = link("/about", "About")
    scores = []
    for one in (once, twice, in_menu):
        (candidate,) = blend(one).candidates
        assert candidate.parts is not None
        scores.append(candidate.parts["intrinsic"].value)
    assert scores == [7.5, 8.0, 8.0]


def test_diagnostics_for_every_link() -> None:
    # PICK-20
    selection = blend(
        link("/services/a", "Fire alarm"), link("/privacy", "Privacy", 1), link("/gutters", "Gutters", 2)
    )
    seen = by_path(selection)
    assert seen["/services/a"].rank == 1
    assert seen["/privacy"].rejected is not None
    assert seen["/gutters"].parts is not None
    assert set(seen["/gutters"].parts) == {"contextual", "intrinsic", "total", "strong"}
    assert selection.counts["candidates"] == 2
    assert selection.counts["selected"] == 1
