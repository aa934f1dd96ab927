"""What a crawl learns on a site (TOPIC-4c)."""

from __future__ import annotations

from math import exp, log

import pytest

from honeyguide.core.crawl.learner import (
    UNIT,
    Learner,
    Lesson,
    LinkGroup,
    Tally,
    base_of,
    group_of,
    points_of,
    prior_chance,
    shape_of,
)
from honeyguide.core.page.page import Link, Occurrence
from honeyguide.core.rules.language import Reason, Score
from honeyguide.core.rules.profile import LearnerRules
from honeyguide.core.url.url import Url

RULES = LearnerRules()
PAGE = Url.parse("https://a.example/list/2")
NOTHING = LinkGroup("nothing", "plain", "/docs/")
NAMED = LinkGroup("anchor+url", "plain", "/docs/")
PAGER = LinkGroup("nothing", "pager", "/posts/page/#")


def score(*rules: str) -> Score:
    points = {
        "anchor-topic": 5,
        "url-topic": 3,
        "context-topic": 2,
        "in-main": 3,
        "path-hint": 2,
        "range": -2,
    }
    return Score(0.0, tuple(Reason(rule, points[rule], rule) for rule in rules))


def link(url: str, anchor: str = "x") -> Link:
    return Link(Url.parse(url, PAGE), (Occurrence(anchor),))


def taught(group: LinkGroup, base: int, *pages: tuple[bool, list[int] | None]) -> Learner:
    """Teach a learner by pages, one after the other: relevant or not, and the chances of their new links."""
    learnt: dict[str, Tally] = {}
    for is_relevant, chances in pages:
        for lesson in Learner(RULES, learnt).lessons(base, group, chances, is_relevant=is_relevant):
            learnt[lesson.name] = learnt.get(lesson.name, Tally()).plus(lesson)
    return Learner(RULES, learnt)


@pytest.mark.parametrize(
    ("url", "anchor", "kind"),
    [
        ("/posts/page/3", "x", "pager"),
        ("/posts?page=3", "x", "pager"),
        ("/posts?start=40&sort=new", "x", "pager"),
        ("/x", "17", "pager"),
        ("/list/3", "Next", "pager"),
        ("/list/3", "Older posts", "pager"),
        ("/intro.html", "Next", "plain"),  # of a manual: its URLs differ in words
        ("/list/2", "Next", "plain"),
        ("/x", "20261116", "plain"),
        ("/homepage/3", "x", "plain"),
        ("/?p=3", "x", "plain"),  # a post of many a blog
    ],
)
def test_what_turns_the_pages_of_a_list(url: str, anchor: str, kind: str) -> None:
    assert group_of(link(url, anchor), score(), PAGE).kind == kind


def test_links_are_grouped_by_where_the_topic_is_named_and_by_the_shape_of_their_urls() -> None:
    named = group_of(link("/docs/v2/x.html"), score("url-topic", "anchor-topic", "path-hint"), PAGE)
    assert named == ("anchor+url", "hint", "/docs/v#/*.html")
    assert str(group_of(link("/2024/a-story"), score(), PAGE)) == "nothing plain /#/*"
    assert group_of(link("/posts?page=3&sort=a"), score(), PAGE).shape == "/*?page&sort"


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/", "/"),
        ("/a", "/*"),
        ("/blog/", "/*"),
        ("/page/3/", "/page/#"),
        ("/Documentation/learning/index.html", "/Documentation/learning/*.html"),
        ("/t/how-to-build-a-shed/4711", "/t/*/#"),  # titles as folders would be a group for each page
        ("/t/averyveryverylongtitleofapage/1", "/t/*/#"),
        ("/a/b/c/d/e/f.html", "/a/b/c/*/*/*.html"),
        ("/a.longsuffix", "/*"),
        ("/x?" + "a" * 200, "/*?" + "a" * 97),
    ],
)
def test_the_shape_of_a_url_names_its_folders_but_no_titles(path: str, shape: str) -> None:
    assert shape_of(Url.parse(path, PAGE)) == shape


def test_chances_begin_with_the_points_without_hints_and_without_an_end() -> None:
    assert points_of(score("anchor-topic", "url-topic", "in-main", "path-hint", "range")) == 11
    assert base_of(11, RULES) == 7_000
    assert Learner(RULES, {}).chance(7_000, NAMED) == prior_chance(7_000) == 6_682


def test_links_that_disappoint_lose_and_others_of_another_kind_do_not() -> None:
    base = base_of(11, RULES)
    learner = taught(NAMED, base, *[(False, [])] * 5)
    assert learner.chance(base, NAMED) < prior_chance(base) - 2_000
    assert learner.chance(base, NOTHING) == prior_chance(base)
    assert taught(NAMED, base, *[(True, [])] * 5).chance(base, NAMED) > prior_chance(base)


def test_what_was_expected_is_no_surprise() -> None:
    learner = Learner(RULES, {"links anchor+url": Tally(10 * UNIT, 6 * UNIT, 6 * UNIT)})
    assert learner.chance(0, NAMED) == prior_chance(0)


def test_a_list_is_worth_what_lists_like_it_have_shown() -> None:
    base = base_of(3, RULES)
    poor = taught(PAGER, base, *[(False, [])] * 6)
    rich = taught(PAGER, base, *[(False, [9_000, 9_000, 100])] * 6)
    assert poor.worth(base, PAGER) < Learner(RULES, {}).worth(base, PAGER) < rich.worth(base, PAGER)
    other = PAGER._replace(shape="/users/page/#")
    assert rich.worth(base, other) > Learner(RULES, {}).worth(base, other)  # lists lean on each other
    assert rich.worth(base, other) < rich.worth(base, PAGER)


def test_relevant_pages_say_nothing_of_lists_unless_they_are_pages_of_one() -> None:
    lessons = Learner(RULES, {}).lessons(0, NOTHING, [9_000], is_relevant=True)
    assert [lesson.name.split()[0] for lesson in lessons] == ["links", "copies"]
    assert len(Learner(RULES, {}).lessons(0, NAMED, [9_000], is_relevant=False)) == 4
    assert len(Learner(RULES, {}).lessons(0, PAGER, [9_000], is_relevant=True)) == 4


def test_a_shape_of_copies_loses() -> None:
    learner = taught(NAMED, 0, *[(False, None)] * 3)
    assert learner.chance(0, NAMED) < learner.chance(0, NAMED._replace(shape="/en/"))
    assert "pages like /docs/: 3 of 3 said nothing new" in learner.summary()


def test_the_worth_grows_with_the_base_and_is_an_integer() -> None:
    learner = taught(NOTHING, -4_000, (False, [5_000]), (False, None), (False, [3_000, 8_000]))
    for group in (NOTHING, NAMED, PAGER):
        worths = [learner.worth(base, group) for base in range(-90_000, 90_000, 500)]
        assert worths == sorted(worths)
        assert all(isinstance(worth, int) and 0 <= worth <= UNIT for worth in worths)


def test_what_was_learnt_is_said_with_its_counts() -> None:
    base = base_of(11, RULES)
    learner = taught(NAMED, base, (True, []), (False, []), (True, []))
    said = learner.sentences(base, NAMED)
    assert said[0].startswith("worth 0.")
    assert said[1].endswith("by its points alone 0.6682")
    assert said[2] == "links with the topic in anchor+url: 2 of 3 relevant, 2.0 were expected"
    worse = taught(NAMED, base, *[(False, [])] * 4).sentences(base, NAMED)
    assert worse[2].startswith(
        "links with the topic in anchor+url: 0 of 4 relevant, 2.3 were expected; such links now count less (-"
    )
    rich = taught(PAGER, 0, (False, [9_000] * 30))
    assert "pages of a list like /posts/page/#: 20.0 promising links each, by the last 1" in rich.sentences(
        0, PAGER
    )
    assert Learner(RULES, {}).summary() == ()


def test_counts_are_kept_by_a_percentage() -> None:
    assert Tally(10_001, 5_000, 7).plus(Lesson("x", 3, 4, 93)) == Tally(19_300, 4_653, 10)


def test_the_formulas_give_the_numbers_of_their_definition() -> None:
    """TOPIC-4c: lift = logit((h + 4m) / (n + 4)) - logit(m), of which 0.7 counts; worth = (p + f*S) / (1 + f*M)."""
    learner = Learner(RULES, {"links anchor": Tally(6 * UNIT, 5 * UNIT, 11_000)})
    mean = 1.1 / 6
    got = (5 + 4 * mean) / 10
    lift = 0.7 * (log(got / (1 - got)) - log(mean / (1 - mean)))
    named = LinkGroup("anchor", "plain", "/x/*")
    p = 1 / (1 + exp(-(-1.0 + lift)))
    assert learner.chance(-10_000, named) == pytest.approx(p * UNIT, abs=1.0)
    assert learner.worth(-10_000, named) == pytest.approx(p * UNIT, abs=1.0)  # more than as a list
    low = 1 / (1 + exp(7.0))
    for group, chances, links in ((PAGER, 0.3, 0.6), (NOTHING, 0.05, 0.3)):
        f = 1.0 if group is PAGER else 1.0 - low
        expected = (low + f * chances) / (1 + f * links)
        assert Learner(RULES, {}).worth(-70_000, group) == pytest.approx(expected * UNIT, abs=1.0)


def test_the_surprise_of_a_group_is_bounded() -> None:
    for relevant, expected in ((1000, 0), (0, 1000)):
        learner = Learner(RULES, {"links anchor": Tally(1000 * UNIT, relevant * UNIT, expected * UNIT)})
        lift = learner.chance(0, LinkGroup("anchor", "plain", "/"))
        assert lift == pytest.approx(UNIT / (1 + exp(-0.7 * 3 if relevant else 0.7 * 3)), abs=1.0)
