"""Families of pages that differ only in a name."""

from __future__ import annotations

import pytest

from honeyguide import load_profile, select_links
from honeyguide.core.page.page import Link, Occurrence, Page
from honeyguide.core.pick.location_pages import PROSE_WORDS, find_families, ordinary_words, similar, singulars
from honeyguide.core.url.url import Url

HOME = "https://acme.example/"
WORDS = load_profile("company").families
PROSE = (
    "We offer commercial and residential roofing, gutters and repair in the whole region. Our people have worked on homes, "
    "schools and shops for thirty years; they know what wind, hail and snow do to shingles, and they tell you what can wait. "
    "Ask for a visit, and somebody comes within two days, looks at every corner and writes down what it would cost."
)


def links(*pairs: tuple[str, str]) -> list[Link]:
    return [Link(Url.parse(href, HOME), (Occurrence(anchor),), i) for i, (href, anchor) in enumerate(pairs)]


def family_paths(text: str | None, *pairs: tuple[str, str], language: str = "en") -> set[str]:
    page = None if text is None else Page(Url.parse(HOME), text=text, language=language)
    return {url.path for url in find_families(links(*pairs), WORDS, page)}


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
        [("/koeln-dach", "Köln"), ("/muenchen-dach", "München"), ("/fuerth-dach", "Fürth")],
        [("/roofing-akron", "Akron, OH"), ("/roofing-parma", "Parma, OH"), ("/roofing-solon", "Solon, OH")],
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


def test_the_trade_itself_does_not_go_out_with_the_towns() -> None:
    towns = [
        (f"/roofing-{town.lower()}", town)
        for town in ("Akron", "Parma", "Solon", "Mentor", "Euclid", "Lorain")
    ]
    assert len(family_paths(PROSE, *towns, ("/commercial-roofing", "Commercial"))) == 6


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
    outs = {c.url.path: c.rejected.text for c in selection.candidates if c.rejected}
    assert outs["/roofing-akron"].endswith("pages that share 'roofing' and differ in a name (3 pages)")
    assert outs["/city/x"].endswith("in a folder of places, /city")


def test_what_a_page_writes_in_lower_case() -> None:
    page = Page(Url.parse(HOME), text=PROSE + " Akron is where we are.")
    words = ordinary_words(page)
    assert words is not None
    assert len(words) >= PROSE_WORDS
    assert "roofing" in words
    assert "akron" not in words
    assert ordinary_words(Page(page.url, text="Home About us")) is None
    assert ordinary_words(Page(page.url, text=PROSE, language="de-at")) is None


def test_nouns_of_german_are_no_names() -> None:
    pairs = [("/reinigung-buero", "Büro"), ("/reinigung-praxis", "Praxis"), ("/reinigung-hof", "Hof")]
    assert family_paths(PROSE, *pairs, language="de") == set()


def test_anchors_that_repeat_the_slug_take_twice_as_many() -> None:
    towns = ["Akron", "Parma", "Solon", "Mentor", "Euclid", "Lorain"]
    pairs = [(f"/{town.lower()}-roofing", f"{town} Roofing") for town in towns]
    assert family_paths(PROSE, *pairs[:5]) == set()
    assert len(family_paths(PROSE, *pairs)) == 6


def test_anchors_that_repeat_the_slug_without_its_state() -> None:
    towns = ["Akron", "Parma", "Solon", "Mentor", "Euclid", "Lorain"]
    pairs = [(f"/roofing-{town.lower()}-oh", f"Roofing {town}") for town in towns]
    assert family_paths(PROSE, *pairs[:5]) == set()
    assert len(family_paths(PROSE, *pairs)) == 6


def test_services_with_a_state_in_their_slugs_are_no_towns() -> None:
    rooms = ["Kitchen", "Bathroom", "Basement", "Attic", "Garage", "Porch"]
    prose = f"{PROSE} We rebuild each {', '.join(rooms).lower()} with care."
    pairs = [(f"/{room.lower()}-remodeling-oh", f"{room} Remodeling") for room in rooms]
    assert family_paths(prose, *pairs) == set()


def test_capitals_tell_the_name_from_the_trade() -> None:
    pairs = [
        (f"/tree-surgeon-{town.lower()}", f"Tree surgeon {town}") for town in ("Stamford", "Oakham", "Corby")
    ]
    assert len(family_paths(PROSE, *pairs)) == 3


def test_likeness() -> None:
    assert similar(singulars("/fire-alarms"), singulars("/fire/alarm-systems")) == pytest.approx(2 / 3)
    assert similar(frozenset(), frozenset()) == 0


def test_a_folder_of_products_holds_no_places() -> None:
    names = ("Akron", "Parma", "Solon")
    assert family_paths(PROSE, *((f"/products/{name.lower()}", name) for name in names)) == set()
    assert len(family_paths(PROSE, *((f"/zorbs/{name.lower()}", name) for name in names))) == len(names)


@pytest.mark.parametrize("test", [{"matches": "^pages.*name"}, {"has": "pages"}])
def test_a_filter_may_read_the_family(test: dict[str, str]) -> None:
    rule = {"id": "fam", "reason": "one of a family", "when": {"family": test}}
    towns = ("akron", "parma", "solon")
    anchors = " ".join(f"<a href=/plumber-{town}-oh>{town.title()}</a>" for town in towns)
    profile = load_profile({"extends": "company", "filter": [rule]})
    chosen = select_links(f"{anchors}<a href=/about>About</a>", HOME, profile=profile)
    rules = {one.url.path: one.rejected and one.rejected.rule for one in chosen.candidates}
    assert rules == {**{f"/plumber-{town}-oh": "fam" for town in towns}, "/about": None}
