"""Golden rows of TOPIC-1 to TOPIC-6."""

from __future__ import annotations

import pytest

from honeyguide import (
    InputError,
    calculate_priority,
    load_profile,
    relevance_level,
    score_link,
    score_page,
    should_skip,
)
from honeyguide.core.crawl.placement import Placement, branch_action, place, rank_of
from honeyguide.core.page.page import Link, Occurrence, Position
from honeyguide.core.rules.facts import Facts
from honeyguide.core.rules.topic import link_score
from honeyguide.core.url.url import Url

HYBRID = load_profile("docs").traversals["hybrid"]
FOCUSED = load_profile("docs").traversals["focused-fixed"]


@pytest.mark.parametrize(
    ("rule", "url", "anchor", "context", "position", "score"),
    [
        ("TOPIC-1", "https://a.example/asyncio", "", "", None, 3),
        ("TOPIC-1", "https://a.example/docs/x", "", "", None, 2),
        ("TOPIC-1", "https://a.example/x", "AsyncIO", "", None, 5),
        ("TOPIC-1", "https://a.example/x", "coroutines", "", None, 3),
        ("TOPIC-1", "https://a.example/x", "asyncio and coroutines", "", None, 5),
        ("TOPIC-1", "https://a.example/x", "", "about asyncio", None, 2),
        ("TOPIC-1", "https://a.example/x", "", "", "navigation", 2),
        ("TOPIC-1", "https://a.example/x", "", "", "main", 3),
        ("TOPIC-1", "https://a.example/x", "", "", "footer", 0),
        ("TOPIC-1", "https://a.example/docs/asyncio", "", "", None, 5),
        ("TOPIC-1", "https://a.example/asyncio", "coroutines", "", None, 6),
        ("TOPIC-1", "https://a.example/x", "asyncio", "asyncio", "navigation", 9),
        ("TOPIC-1", "https://a.example/docs/asyncio", "asyncio", "asyncio", "main", 10),
    ],
)
def test_link_points(
    rule: str, url: str, anchor: str, context: str, position: str | None, score: float
) -> None:
    result = score_link(
        url, topic="asyncio", related=["coroutine"], anchor=anchor, context=context, position=position
    )
    assert result.value == score, rule
    assert sum(reason.points for reason in result.reasons) == score


@pytest.mark.parametrize(
    ("rule", "html", "score"),
    [
        ("TOPIC-2", "<title>Fire</title>", 3),
        ("TOPIC-2", "<h1>fire</h1>", 2),
        ("TOPIC-2", "<h1>fire</h1><h2>fire</h2><h2>fire</h2>", 4 + 1),
        ("TOPIC-2", "<p>" + "fire " * 1, 0),
        ("TOPIC-2", "<p>" + "fire " * 2, 1),
        ("TOPIC-2", "<p>" + "fire " * 4, 1),
        ("TOPIC-2", "<p>" + "fire " * 5, 2),
        ("TOPIC-2", "<p>" + "fire " * 9, 2),
        ("TOPIC-2", "<p>" + "fire " * 10, 3),
        ("TOPIC-2", "<title>fire</title><h1>fire</h1><h2>fire</h2><p>" + "fire " * 10, 10),
    ],
)
def test_page_points(rule: str, html: str, score: float) -> None:
    assert score_page(html, topic="FIRE").value == score, rule


@pytest.mark.parametrize("headings", [["Fire", "Water", "fire alarms"], "Fire\nWater\nfire alarms"])
def test_a_page_of_three_texts(headings: str | list[str]) -> None:
    # TOPIC-2: as the document's function takes them, headings one a line.
    score = score_page(title="Fire", headings=headings, content="fire " * 5, topic="fire")
    assert [(r.rule, r.points) for r in score.reasons] == [
        ("title-topic", 3), ("heading-topic", 4), ("mentions-5", 2)
    ]  # fmt: skip
    with pytest.raises(InputError, match="give the page, or title"):
        score_page("<title>Fire</title>", title="Fire", topic="fire")


@pytest.mark.parametrize(
    ("rule", "path", "base", "docs"),
    [
        ("TOPIC-1", "/docs/x", 2, 2), ("TOPIC-1", "/api/x", 2, 2), ("TOPIC-1", "/reference", 2, 2),
        ("TOPIC-1", "/rest-api", 2, 2), ("TOPIC-1", "/my-api", 2, 2), ("TOPIC-1", "/index.html", 0, 2),
        ("TOPIC-1", "/rapid", 0, 0),
    ],
)  # fmt: skip
def test_paths_that_suggest_documentation(rule: str, path: str, base: float, docs: float) -> None:
    url = f"https://a.example{path}"
    assert score_link(url, topic="zzz", profile="base") == base, rule
    assert score_link(url, topic="zzz") == docs, rule


@pytest.mark.parametrize(
    ("rule", "score", "level"),
    [("TOPIC-3", n, "High" if n >= 8 else "Medium" if n >= 5 else "Low" if n >= 3 else "Irrelevant") for n in range(11)],
)  # fmt: skip
def test_levels(rule: str, score: float, level: str) -> None:
    assert relevance_level(score) == level, rule


@pytest.mark.parametrize(
    ("rule", "score", "parent", "priority"),
    [
        ("TOPIC-5", 6, 8, 9), ("TOPIC-5", 6, 10, 9), ("TOPIC-5", 6, 7, 7), ("TOPIC-5", 6, 5, 7),
        ("TOPIC-5", 6, 4, 6), ("TOPIC-5", 6, 0, 6), ("TOPIC-5", 0, 8, 3), ("TOPIC-5", 10, 10, 13), ("TOPIC-5", 6, None, 6),
    ],
)  # fmt: skip
def test_priority_as_the_function_of_the_document(
    rule: str, score: float, parent: float | None, priority: float
) -> None:
    result = calculate_priority(score, parent)
    assert result == priority == sum(reason.points for reason in result.reasons), rule


@pytest.mark.parametrize("path", ["x.pdf", "x.zip", "x.exe", "x.mp4", "x.png", "x.jpg", "x.css", "x.js"])
def test_files_are_skipped(path: str) -> None:
    assert should_skip(f"https://a.example/{path}") is not None  # URL-9
    assert should_skip(f"https://a.example/{path}/guide") is None


@pytest.mark.parametrize(
    ("rule", "path", "is_word"),
    [
        ("TOPIC-6", "login", True), ("TOPIC-6", "logout", True), ("TOPIC-6", "signup", True), ("TOPIC-6", "cart", True),
        ("TOPIC-6", "Checkout", True), ("TOPIC-6", "download", True), ("TOPIC-6", "static/x", True),
        ("TOPIC-6", "assets/x", True), ("TOPIC-6", "carthage", False), ("TOPIC-6", "mycart.html", False),
        ("TOPIC-6", "downloading", False), ("TOPIC-6", "x?next=/login", False),
    ],
)  # fmt: skip
def test_should_skip(rule: str, path: str, is_word: bool) -> None:
    url = f"https://a.example/{path}"
    why = should_skip(url)
    assert why is not None, rule
    assert why.rule == rule
    assert (should_skip(url, traversal="focused") is not None) is is_word


@pytest.mark.parametrize(
    ("rule", "link", "lane"),
    [
        ("TOPIC-3", 10, "deep"), ("TOPIC-3", 8, "deep"), ("TOPIC-3", 7, "broad"), ("TOPIC-3", 5, "broad"),
        ("TOPIC-3", 4, "tail"), ("TOPIC-3", 3, "tail"), ("TOPIC-3", 2, "skip"), ("TOPIC-3", 0, "skip"),
    ],
)  # fmt: skip
def test_hybrid_lanes(rule: str, link: float, lane: str) -> None:
    assert place(link, None, HYBRID).lane == lane, rule


@pytest.mark.parametrize(
    ("rule", "page", "priority", "followed"),
    [
        ("TOPIC-4", None, 6, True),  # seed pages always expand
        ("TOPIC-4", 8, 9, True),
        ("TOPIC-4", 10, 9, True),
        ("TOPIC-4", 7, 7, True),
        ("TOPIC-4", 5, 7, True),
        ("TOPIC-4", 4, 0, False),
    ],
)
def test_hybrid_pages(rule: str, page: float | None, priority: float, followed: bool) -> None:
    placement = place(6, page, HYBRID)
    assert (placement.priority, placement.is_followed) == (priority, followed), rule


@pytest.mark.parametrize(
    ("rule", "link", "page", "weak", "lane", "priority"),
    [
        ("TOPIC-4b", 6, 4, 0, "broad", 6),  # queued without bonus
        ("TOPIC-4b", 6, 4, 1, "broad", 6),
        ("TOPIC-4b", 6, 4, 2, "skip", 0),  # the third weak page in a row
        ("TOPIC-4b", 6, 5, 2, "broad", 7),  # a good page ends the tunnel
        ("TOPIC-4b", 1, 8, 0, "far", 4),  # 0-2 links go to the far tail
    ],
)
def test_focused_tunnels(rule: str, link: float, page: float, weak: int, lane: str, priority: float) -> None:
    placement = place(link, page, FOCUSED, weak)
    assert (placement.lane, placement.priority) == (lane, priority), rule


@pytest.mark.parametrize(
    ("rule", "page", "weak", "focused", "hybrid"),
    [
        ("TOPIC-4", 8, 0, "exhaust", "exhaust"),
        ("TOPIC-4", 7, 0, "expand", "expand"),
        ("TOPIC-4", 5, 2, "expand", "expand"),
        ("TOPIC-4b", 4, 0, "tunnel", "keep"),
        ("TOPIC-4b", 4, 1, "tunnel", "keep"),
        ("TOPIC-4b", 4, 2, "tunnel-end", "keep"),
    ],
)
def test_what_becomes_of_a_branch(rule: str, page: float, weak: int, focused: str, hybrid: str) -> None:
    found = branch_action(page, FOCUSED, weak), branch_action(page, HYBRID, weak)
    assert found == (focused, hybrid), rule


def test_priority_is_link_plus_bonus_with_reasons() -> None:
    # TOPIC-5
    placement = place(8, 9, FOCUSED)
    assert placement.priority == 11
    assert [(r.rule, r.points) for r in placement.reasons] == [("link-score", 8), ("parent-bonus", 3)]


def test_priorities_are_told_apart_to_the_hundredth_of_a_point() -> None:
    # TOPIC-5
    ranks = [rank_of(Placement("broad", priority, ()), 1) for priority in (5.02, 5.01, 5.0, 4.99)]
    assert ranks == sorted(set(ranks))
    assert rank_of(Placement("broad", 5.001, ()), 1) == ranks[2]


@pytest.mark.parametrize(
    ("rule", "url", "skipped"),
    [
        ("TOPIC-6", "https://a.example/Login", True),
        ("TOPIC-6", "https://a.example/cart?x=1", True),
        ("TOPIC-6", "https://a.example/static/x", True),
        ("TOPIC-6", "https://download.example/x", False),  # a host is no path
        ("TOPIC-6", "https://a.example/guide", False),
        ("TOPIC-6", "https://a.example/shopping-cart/2", True),
        ("TOPIC-6", "https://a.example/downloads.html", True),
        ("TOPIC-6", "https://a.example/user_login.php", True),
        ("TOPIC-6", "https://a.example/x?action=logout&y=1", True),
        ("TOPIC-6", "https://a.example/city/carthage", False),  # a word, not any letters
        ("TOPIC-6", "https://a.example/cartridge-filters", False),
    ],
)
def test_skips(rule: str, url: str, skipped: bool) -> None:
    found = load_profile("docs").skips.first(Facts(Link(Url.parse(url))))
    assert (found is not None) == skipped, rule


def test_any_occurrence_matches_and_the_best_position_counts() -> None:
    profile = load_profile("docs", topic="fire.alarm")
    link = Link(
        Url.parse("https://a.example/x"),
        (Occurrence("fire", position=Position.FOOTER), Occurrence("alarm", position=Position.MAIN)),
    )
    assert [r.rule for r in link_score(link, profile).reasons] == ["in-main"]  # no match across two anchors
    both = Link(link.url, (Occurrence("x"), Occurrence("Fire alarm")))
    assert link_score(both, profile).value == 8
