"""Golden rows of TOPIC-1 to TOPIC-6."""

from __future__ import annotations

import pytest

from honeyguide import load_profile, score_link, score_page
from honeyguide.core.crawl.placement import place
from honeyguide.core.page.page import Link, Occurrence, Position
from honeyguide.core.rules.facts import Facts
from honeyguide.core.rules.topic import link_score
from honeyguide.core.url.url import Url

HYBRID = load_profile("docs").traversals["hybrid"]
FOCUSED = load_profile("docs").traversals["focused"]


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


def test_priority_is_link_plus_bonus_with_reasons() -> None:
    # TOPIC-5
    placement = place(8, 9, FOCUSED)
    assert placement.priority == 11
    assert [(r.rule, r.points) for r in placement.reasons] == [("link-score", 8), ("parent-bonus", 3)]


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
