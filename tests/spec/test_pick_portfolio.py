"""What the strategy `portfolio` promises: a set, not a sorted list."""

from __future__ import annotations

import pytest

from honeyguide import select_links
from honeyguide.core.pick.select import Selection

HOME = "https://acme.example/"


def portfolio(*pairs: tuple[str, str], nav: bool = True) -> Selection:
    html = "".join(f'<li><a href="{href}">{anchor}</a></li>' for href, anchor in pairs)
    return select_links(f"<nav>{html}</nav>" if nav else html, HOME, strategy="portfolio")


def paths(selection: Selection) -> list[str]:
    return [candidate.url.path for candidate in selection.selected]


def test_hub_about_and_the_services_named_first() -> None:
    chosen = portfolio(
        ("/contact", "Contact"), ("/gutters", "Gutters"), ("/siding", "Siding"), ("/windows", "Windows"),
        ("/about-us", "About us"), ("/services", "Services"), ("/blog", "Blog"),
    )  # fmt: skip
    assert paths(chosen) == ["/services", "/about-us", "/gutters", "/siding"]


def test_fewer_where_there_are_no_more() -> None:
    chosen = portfolio(
        ("/contact", "Contact"),
        ("/blog", "Blog"),
        ("/careers", "Jobs"),
        ("/faq", "FAQ"),
        ("/privacy-policy", "Privacy"),
    )
    assert paths(chosen) == ["/faq"]


def test_no_two_that_say_the_same() -> None:
    chosen = portfolio(
        ("/fire-alarm-systems", "Fire alarms"), ("/fire-alarms-system", "Alarm systems"), ("/cctv", "CCTV")
    )
    assert paths(chosen) == ["/fire-alarm-systems", "/cctv"]
    assert chosen.counts["rejected_near_duplicate"] == 1


@pytest.mark.parametrize(
    ("hub", "about", "service"),
    [
        ("/servicios", "/nosotros", "/extintores"),
        ("/leistungen", "/ueber-uns", "/dachsanierung"),
        ("/nos-prestations", "/qui-sommes-nous", "/plomberie"),
        ("/layanan", "/tentang-kami", "/hydrant"),
        ("/uslugi", "/o-kompanii", "/montazh"),
        ("/%D1%83%D1%81%D0%BB%D1%83%D0%B3%D0%B8", "/o-nas", "/%D1%80%D0%B5%D0%BC%D0%BE%D0%BD%D1%82"),
        ("/what-we-do", "/our-story", "/granite-worktops"),
    ],
)
def test_other_languages(hub: str, about: str, service: str) -> None:
    from honeyguide import normalize  # one use

    chosen = portfolio(
        (service, "x"), ("/kontakt", "Kontakt"), (about, "x"), (hub, "x"), ("/impressum", "Impressum")
    )
    assert [normalize(HOME[:-1] + path) for path in paths(chosen)] == [
        normalize(HOME[:-1] + p) for p in (hub, about, service)
    ]


@pytest.mark.parametrize(
    "href",
    [
        "/thank-you",
        "/wp-login.php",
        "/cart",
        "/datenschutz",
        "/blog-single.html",
        "/team-detail.html",
        "/404.html",
        "/sitemap",
        "/google1234567890ab.html",
        "/test",
    ],
)
def test_never_chosen(href: str) -> None:
    assert paths(portfolio((href, "x"), ("/gutters", "Gutters"))) == ["/gutters"]


def test_every_candidate_has_verdict_or_reasons() -> None:
    candidates = portfolio(("/services", "Services"), ("/cart", "Cart"), ("/blog", "Blog")).candidates
    assert len(candidates) == 3
    for candidate in candidates:
        assert candidate.rejected is not None or (candidate.score is not None and candidate.score.reasons)
