"""Golden rows of PICK-1 to PICK-4: the strategy `rules`."""

from __future__ import annotations

import pytest

from honeyguide import select_links
from honeyguide.core.page.page import Head, Link, Occurrence
from honeyguide.core.pick.select import Candidate, Selection
from honeyguide.core.url.url import Url

HOME = "https://acmefireprotection.com/"


def pick(
    *hrefs: str | tuple[str, str], home: str = HOME, strategy: str = "rules", cap: int | None = None
) -> Selection:
    pairs = [(href, "") if isinstance(href, str) else href for href in hrefs]
    links = [
        Link(Url.parse(href, home), (Occurrence(anchor),), order)
        for order, (href, anchor) in enumerate(pairs)
    ]
    return select_links(links, home, strategy=strategy, cap=cap)


def only(selection: Selection) -> Candidate:
    (candidate,) = selection.candidates
    return candidate


@pytest.mark.parametrize(
    ("rule", "href", "category", "score"),
    [
        ("PICK-3", "/services/fire-alarm-installation", "A", 100),
        ("PICK-3", "/services", "A", 80),
        ("PICK-3", "/servicesxyz", "A", 80),
        ("PICK-3", "/inspection", "B", 85),
        ("PICK-3", "/x?page=INSTALL", "B", 85),
        ("PICK-3", "/our/services/maintenance", "B", 85),
        ("PICK-3", "/about/team", "C", 75),
        ("PICK-3", "/About-Us", "C", 75),
        ("PICK-3", "/fire-doors", "U", 60),
        ("PICK-3", "/commissioning", "U", 60),
        (
            "PICK-3",
            "/contact",
            "D",
            0,
        ),  # the host never counts: acmefireprotection.com has "fire" and "protection"
    ],
)
def test_category(rule: str, href: str, category: str, score: float) -> None:
    candidate = only(pick(href))
    assert (candidate.category, candidate.score and candidate.score.value) == (category, score), rule


@pytest.mark.parametrize(
    ("rule", "anchor", "title", "head"),
    [
        ("PICK-3", "Our Services", "", None),
        ("PICK-3", "x", "Maintenance plans", None),
        ("PICK-3", "x", "", "Installation | Acme"),
    ],
)
def test_text_category(rule: str, anchor: str, title: str, head: str | None) -> None:
    link = Link(Url.parse("/x", HOME), (Occurrence(anchor, title),))
    heads = {"https://acmefireprotection.com/x": Head(head)} if head else None
    candidate = only(select_links([link], HOME, strategy="rules", heads=heads))
    assert (candidate.category, candidate.score and candidate.score.value) == ("T", 50), rule


@pytest.mark.parametrize(
    ("rule", "href", "out"),
    [
        ("PICK-1", "https://other.com/services", "other-site"),
        ("PICK-1", "/brochure.PDF", "extension"),
        ("PICK-1", "/privacy", "disallowed-path"),
        ("PICK-1", "/terms-of-use", "disallowed-path"),
        ("PICK-1", "/cookie-policy", "disallowed-path"),
        ("PICK-1", "/legal/imprint", "disallowed-path"),
        ("PICK-1", "/sso/start", "disallowed-path"),
        ("PICK-1", "/index.html", "homepage"),
        ("PICK-1", "/default.aspx", "homepage"),
        ("PICK-1", "/", "same-page"),
        ("PICK-2", "/service-areas", "service-area"),
        ("PICK-2", "/serviceareas/ohio", "service-area"),
        ("PICK-2", "/locations/fire-alarm-installation", "service-area"),
        ("PICK-2", "/LOCATION", "service-area"),
        ("PICK-2", "/Locations;x=1/inspection", "service-area"),
        ("PICK-2", "/regions", "service-area"),
        ("PICK-2", "/areas-we-serve", "service-area"),
        ("PICK-2", "/territories", "service-area"),
        ("PICK-2", "/coverage", "service-area"),
        ("PICK-2", "/where-we-work", "service-area"),
        ("PICK-2", "/services/our-service-area", "service-area"),
        ("PICK-2", "/services/our_service_area.html", "service-area"),
        ("PICK-2", "/services/Service%20Area", "service-area"),
        ("PICK-2", "/services/%73ervice%2Darea", "service-area"),
        ("PICK-2", "/services/service%252Darea", "service-area"),
        ("PICK-2", "/services/service%E2%80%91area", "service-area"),
        ("PICK-2", "/services/ser%C2%ADvice-area", "service-area"),
        ("PICK-2", "/%EF%BC%B3%EF%BC%A5%EF%BC%B2%EF%BC%B6%EF%BC%A9%EF%BC%A3%EF%BC%A5-area", "service-area"),
    ],
)
def test_filters(rule: str, href: str, out: str) -> None:
    candidate = only(pick(href))
    assert candidate.rejected is not None
    assert candidate.rejected.rule == out, rule
    assert candidate.score is None


@pytest.mark.parametrize(
    ("rule", "anchor"),
    [
        ("PICK-2", "Service Area"),
        ("PICK-2", "our SERVICE-AREAS"),
        ("PICK-2", "Service_Area map"),
        ("PICK-2", "Areas We Serve"),
        ("PICK-2", "Service\u00a0\n Area"),
        ("PICK-2", "Ser\u200bvice Area"),
        ("PICK-2", "ＳＥＲＶＩＣＥ ＡＲＥＡ"),
    ],
)
def test_service_area_anchors(rule: str, anchor: str) -> None:
    for strategy in ("rules", "blend", "portfolio"):
        selection = pick(("/services/inspection", anchor), strategy=strategy)
        assert selection.selected == (), rule
        assert selection.counts["rejected_service_area"] == 1


def test_any_occurrence_of_a_service_area_anchor_counts() -> None:
    # PICK-2: also where the second occurrence hides behind a tracking parameter.
    selection = pick(("/services", "Services"), ("/services?utm_source=x", "Service area"))
    assert selection.selected == ()
    assert selection.counts["rejected_service_area"] == 1
    assert selection.counts["rejected_duplicate"] == 1


def test_duplicates_by_key() -> None:
    # PICK-1: fragments, tracking, scheme. URL-7: the https form stands for both.
    home = "http://acme.example/"
    selection = pick("/about#team", "https://acme.example/about", "/about?fbclid=1", home=home)
    assert [c.url.text for c in selection.selected] == ["https://acme.example/about"]
    assert selection.counts["rejected_duplicate"] == 2


def test_the_spelling_without_tracking_is_selected() -> None:
    # PICK-1: whichever comes first; the other one is the duplicate.
    tracked, plain = "/about?utm_source=x", "/about"
    for hrefs in ((tracked, plain), (plain, tracked)):
        selection = pick(*hrefs)
        assert {c.url.target: c.rejected.rule if c.rejected else None for c in selection.candidates} == {
            plain: None,
            tracked: "duplicate",
        }
    assert [c.url.target for c in pick(tracked).selected] == [tracked]


def test_filters_are_counted_in_order() -> None:
    selection = pick("/privacy", "/privacy?utm_source=a", "/locations", "https://x.example/", "/inspection")
    assert dict(selection.counts) == {
        "links": 5,
        "filtered": 4,
        "candidates": 1,
        "above_threshold": 1,
        "selected": 1,
        "rejected_cap": 0,
        "rejected_disallowed_path": 2,
        "rejected_duplicate": 0,
        "rejected_homepage": 0,
        "rejected_other_site": 1,
        "rejected_replaced": 0,
        "rejected_service_area": 1,
    }


def test_what_only_found_no_place_is_above_the_threshold() -> None:
    # PICK-20: cap, quotas of any bucket, near-duplicates.
    names = ("roofing", "siding", "gutters", "windows", "painting", "plumbing", "masonry", "flooring")
    selection = pick(*(f"/services/{name}" for name in names), strategy="portfolio")
    outs = {c.rejected.rule for c in selection.candidates if c.rejected is not None}
    assert selection.counts["above_threshold"] == len(names) > selection.counts["selected"]
    assert outs
    assert all(c.is_surplus for c in selection.candidates if c.rejected is not None)


def test_order_and_cap() -> None:
    # PICK-4: score, then path length, then URL by code point; four are taken.
    selection = pick("/fire/b", "/fire-z", "/fire-a", "/about", "/inspection", "/services/install")
    assert [c.url.path for c in selection.selected] == [
        "/services/install",
        "/inspection",
        "/about",
        "/fire-a",
    ]
    assert [c.rank for c in selection.selected] == [1, 2, 3, 4]
    left = {c.url.path: c.rejected.rule for c in selection.candidates if c.rejected}
    assert left == {"/fire-z": "cap", "/fire/b": "cap"}


def test_cap_of_the_caller() -> None:
    assert [c.url.path for c in pick("/about", "/services", cap=1).selected] == ["/services"]


def test_reasons_add_up() -> None:
    candidates = pick("/services/install", "/fire", "/x", ("/y", "Services")).candidates
    assert [candidate.score and candidate.score.value for candidate in candidates] == [100, 60, 0, 50]
    for candidate in candidates:
        assert candidate.score is not None
        assert sum(reason.points for reason in candidate.score.reasons) == candidate.score.value


@pytest.mark.parametrize(
    ("home", "href", "out"),
    [
        # PICK-1: the homepage and its index files; a query is part of an address, tracking apart.
        (HOME, "/index.php", "homepage"),
        (HOME, "/Default.aspx?utm_source=nav", "homepage"),
        (HOME, "/index.php?lang=de", "homepage"),
        (HOME, "/?page_id=2", None),
        (HOME, "/index.php?page=services", None),
        (HOME, "/en/index.html", None),
        (f"{HOME}en/", "/en/index.html", "homepage"),
        (f"{HOME}en/home.html", "/en/", "homepage"),
        (f"{HOME}en/", "/", "homepage"),
        (f"{HOME}en/", "/english", None),
    ],
)
def test_what_the_homepage_is(home: str, href: str, out: str | None) -> None:
    for strategy in ("rules", "portfolio"):
        candidate = only(pick((href, "Services"), home=home, strategy=strategy))
        assert (candidate.rejected and candidate.rejected.rule) == out


def test_pages_behind_a_query_are_told_apart_by_what_their_links_say() -> None:
    hrefs = ("/?page_id=2", "/?page_id=7", "/index.php?option=article&id=5", "/index.php?option=article&id=6")
    anchors = ("About us", "Our services", "Roof repair", "Drain cleaning")
    selection = pick(
        *zip(hrefs, anchors, strict=True), ("/?p=33", "We won"), ("/?s=x", "Search"), strategy="portfolio"
    )
    assert [(c.link.anchor, c.bucket) for c in selection.selected] == [
        ("Our services", "hub"),
        ("About us", "about"),
        ("Roof repair", "services"),
        ("Drain cleaning", "services"),
    ]
    assert {c.link.anchor: c.rejected.rule for c in selection.candidates if c.rejected} == {
        "We won": "not-worth-it",
        "Search": "no-content",
    }


@pytest.mark.parametrize(
    ("href", "anchor", "bucket"),
    [
        ("/servicios/mantenimiento-preventivo", "Mantenimiento preventivo", "services"),
        ("/services/ir-inspection", "IR inspection", "services"),
        ("/executive-recruiting", "Executive recruiting", "other"),
        ("/recruit", "採用情報", "careers"),
        ("/preventivo", "Richiedi un preventivo", "contact"),
        ("/past-jobs", "Past jobs", "projects"),
        ("/equipo-de-seguridad", "Equipo de seguridad", "other"),
        ("/index.php?p=about", "About us", "about"),
        ("/product", "Product", "products"),
    ],
)
def test_words_that_mean_something_else_elsewhere(href: str, anchor: str, bucket: str) -> None:
    assert only(pick((href, anchor), strategy="portfolio")).bucket == bucket
