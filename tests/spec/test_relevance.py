"""TOPIC-7: whether a page is about the topic, rule by rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from honeyguide import load_profile, parse_page
from honeyguide.app.tools.scores import page_score_record
from honeyguide.core.page.page import Page
from honeyguide.core.page.relevance import measure_topic
from honeyguide.core.records import is_relevant
from honeyguide.core.rules.topic import RELEVANT, page_relevance
from honeyguide.core.text.pattern import compile_pattern
from honeyguide.core.url.url import Url

DOCS = load_profile("docs", topic="asyncio|event loop")
WORDS = "plain words without any of it " * 100  # 3,000 characters


def about(main: str = WORDS, *, path: str = "/x", is_list: bool = False, **page: object) -> dict[str, float]:
    """Give what each rule pays for a page."""
    score = page_relevance(Page(Url.parse(f"https://a.example{path}"), **page), main, DOCS, is_list=is_list)  # type: ignore[arg-type]  # fields of a page
    assert score is not None
    assert score.value == round(sum(reason.points for reason in score.reasons), 2)
    return {reason.rule: reason.points for reason in score.reasons}


def mentioned(every: int, times: int) -> str:
    """Make a text of `every` times `times` characters that has the topic at the end of each part."""
    return ("x" * (every - 8) + " asyncio") * times


@pytest.mark.parametrize(
    ("rule", "points", "page"),
    [
        ("title-about", 0.4, {"title": "The AsyncIO module"}),
        ("url-about", 0.25, {"path": "/library/asyncio-task.html"}),
        ("url-about", 0.25, {"path": "/the_event%20loop"}),
        ("headings-about", 0.1, {"h1": ("Event loop",), "h2": ("a", "b", "c")}),
        ("dense-4", 0.4, {"main": mentioned(250, 20)}),
        ("dense-2", 0.3, {"main": mentioned(600, 20)}),
        ("dense-1", 0.2, {"main": mentioned(1_300, 20)}),
        ("throughout", 0.2, {"main": mentioned(2_000, 6) + "x" * 8_000}),
        ("in-parts", 0.1, {"main": mentioned(2_000, 3) + "x" * 14_000}),
        ("opening", 0.05, {"main": f"asyncio {WORDS}"}),
        ("list-about", -0.6, {"title": "asyncio", "main": mentioned(200, 20), "is_list": True}),
    ],
)
def test_a_rule_pays(rule: str, points: float, page: dict[str, object]) -> None:
    """TOPIC-7: what each rule pays."""
    assert about(**page)[rule] == points  # type: ignore[arg-type]  # fields of a page


@pytest.mark.parametrize(
    "page",
    [
        {},
        {"h1": ("Event loop",), "h2": ("a", "b", "c", "d")},
        {"main": mentioned(1_400, 20)},
        {"main": WORDS + "asyncio"},
    ],
)
def test_names_and_density_pay_nothing_below_their_bounds(page: dict[str, object]) -> None:
    rules = about(**page)  # type: ignore[arg-type]  # fields of a page
    assert not rules.keys() & {"title-about", "url-about", "headings-about", "dense-1", "dense-2", "dense-4"}


def test_one_mention_does_not_make_a_short_text_relevant() -> None:
    assert about("asyncio is here") == {"dense-1": 0.2, "throughout": 0.2, "opening": 0.05}
    assert sum(about("asyncio is here").values()) < RELEVANT


def test_a_page_of_a_manual_is_relevant_and_its_contents_are_not() -> None:
    """TOPIC-7: a page named after its topic is about it; a table of contents that scores as much is not."""
    text = (
        "Policies of the event loop. " + ("An event loop policy sets the loop of asyncio. " + "x" * 150) * 20
    )
    page = parse_page(
        f"<title>Policies</title><h1>Policies</h1><p>{text}", "https://a.example/asyncio-policy.html"
    )
    entries = "".join(f"<li><a href=/{n}>asyncio number {n}</a>" for n in range(80))
    index = parse_page(
        f"<title>Contents</title><h1>Contents</h1><ul>{entries}</ul>", "https://a.example/contents"
    )
    leaf, contents = (page_score_record(one, DOCS) for one in (page, index))
    assert leaf["relevance_score"] == contents["relevance_score"] == 3
    assert is_relevant(leaf)
    assert not is_relevant(contents)
    assert [point["rule"] for point in contents["topic_points"]][-1] == "list-about"


def test_menus_and_footers_do_not_count() -> None:
    menu = "<nav>" + "<a href=/a>asyncio</a> " * 50 + "</nav>"
    page = parse_page(
        f"<title>Cooking</title>{menu}<main><p>{WORDS}</main><footer>asyncio</footer>", "https://a.example/"
    )
    record = page_score_record(page, DOCS)
    assert record["relevance_score"] == 3
    assert record["topic_relevance"] == 0
    assert record["topic_points"] == []


def test_half_is_relevant() -> None:
    """TOPIC-7."""
    assert RELEVANT == 0.5
    assert is_relevant({"topic_relevance": 0.5})
    assert not is_relevant({"topic_relevance": 0.49})


def test_spread_is_over_parts_of_equal_length() -> None:
    topic = compile_pattern("asyncio")
    measures = measure_topic(Page(Url.parse("https://a.example/")), "asyncio " + "x" * 9_992, topic)
    assert (measures.topic_spread, measures.in_opening, measures.topic_density) == (0.1, True, 0.1)


def test_a_profile_without_the_card_has_no_relevance() -> None:
    profile = load_profile("docs", topic="asyncio")
    cards = {name: card for name, card in profile.cards.items() if name != "relevance"}
    page = Page(Url.parse("https://a.example/"))
    assert page_relevance(page, "asyncio", replace(profile, cards=cards), is_list=False) is None
