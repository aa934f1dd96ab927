"""Families of pages that differ only in a name."""

from __future__ import annotations

import pytest

from honeyguide import load_profile, select_links
from honeyguide.core.family import find_families, lower_case_words, similar
from honeyguide.core.page import Link, Occurrence
from honeyguide.core.url import Url

HOME = "https://acme.example/"
WORDS = load_profile("company").families
PROSE = "We offer commercial and residential roofing, gutters and repair in the whole region."


def links(*pairs: tuple[str, str]) -> list[Link]:
    return [Link(Url.parse(href, HOME), (Occurrence(anchor),), i) for i, (href, anchor) in enumerate(pairs)]


def family_paths(text: str | None, *pairs: tuple[str, str]) -> set[str]:
    return {url.path for url in find_families(links(*pairs), WORDS, text)}


@pytest.mark.parametrize(
    "pairs",
    [
        [("/roofing-akron", "Akron"), ("/roofing-parma", "Parma"), ("/roofing-solon", "Solon")],
        [
            ("/akron-backflow-checks/", "Akron"),
            ("/parma-backflow-checks/", "Parma"),
            ("/solon-backflow-checks/", "Solon"),
        ],
        [("/oh/akron", "Akron"), ("/oh/parma", "Parma"), ("/oh/bay-village", "Bay Village")],
        [("/x/akron-oh.html", "Akron"), ("/x/parma-oh.html", "Parma"), ("/x/solon-oh.html", "Solon")],
        [("/a1", "Pumps in Akron"), ("/b1", "Valves in Parma"), ("/c1", "Tanks in Bay Village")],
    ],
)
def test_towns_are_a_family(pairs: list[tuple[str, str]]) -> None:
    found = family_paths(PROSE, *pairs, ("/about", "About"), ("/gutters", "Gutters"))
    assert found == {Url.parse(href, HOME).path for href, _ in pairs}


@pytest.mark.parametrize(
    "pairs",
    [
        [
            ("/commercial-roofing", "Commercial"),
            ("/residential-roofing", "Residential"),
            ("/industrial-roofing", "Industrial"),
        ],
        [("/about-us", "About"), ("/contact-us", "Contact"), ("/join-us", "Join")],
        [
            ("/electrical-services", "Electrical"),
            ("/piping-services", "Piping"),
            ("/joinery-services", "Joinery"),
        ],
        [("/roofing-akron", "Akron"), ("/roofing-parma", "Parma")],  # two are no family
        [("/services/alarms", "Alarms"), ("/services/cctv", "CCTV"), ("/services/doors", "Doors")],
        [("/tiles-blue", "blue"), ("/tiles-grey", "grey"), ("/tiles-white", "white")],
    ],
)
def test_trades_are_no_family(pairs: list[tuple[str, str]]) -> None:
    assert family_paths(PROSE + " blue, grey and white; joinery, piping", *pairs) == set()


def test_without_the_text_a_name_needs_other_evidence() -> None:
    plain = [("/roofing-akron", "Akron"), ("/roofing-parma", "Parma"), ("/roofing-solon", "Solon")]
    with_state = [(f"{href}-oh", anchor) for href, anchor in plain]
    assert family_paths(None, *plain) == set()
    assert len(family_paths(None, *with_state)) == 3


def test_one_town_and_state() -> None:
    assert family_paths(None, ("/springfield--il", "Springfield, IL"), ("/sign-in", "Sign in")) == {
        "/springfield--il"
    }


def test_doorways_go_out_with_their_story() -> None:
    towns = [
        ("/roofing-akron", "Akron"),
        ("/roofing-parma", "Parma"),
        ("/roofing-solon", "Solon"),
        ("/city/x", "X"),
    ]
    html = PROSE + "".join(
        f'<a href="{href}">{anchor}</a>' for href, anchor in [*towns, ("/gutters", "Gutters")]
    )
    selection = select_links(html, HOME, strategy="portfolio")
    assert [c.url.path for c in selection.selected] == ["/gutters"]
    outs = {c.url.path: c.out.why for c in selection.candidates if c.out}
    assert outs["/roofing-akron"].endswith("pages that share 'roofing' and differ in a name (3 pages)")
    assert outs["/city/x"].endswith("in a folder of places, /city")


def test_lower_case_words_and_likeness() -> None:
    assert lower_case_words("The Roof, a roof") == {"roof", "a"}
    assert similar(["fire", "alarms"], ["fire", "alarm", "systems"]) == pytest.approx(2 / 3)
    assert similar([], []) == 0
