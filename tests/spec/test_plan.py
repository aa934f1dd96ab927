"""Golden rows of PLAN-1 to PLAN-4."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from honeyguide import plan_file, rank_urls, score_url

NOW = datetime(2024, 6, 15, 8, 0, tzinfo=UTC)
ROW = {
    "url": "https://news.example/world",
    "visits": 1,
    "topic_relevance": 0,
    "hub_depth": 1,
    "is_hub": False,
}


def scored(now: datetime = NOW, **signals: object) -> tuple[float, tuple[str, ...]]:
    result = score_url({**ROW, **signals}, now=now)
    assert sum(reason.points for reason in result.score.reasons) == result.score.value
    return result.score.value, result.score.words


def test_seed_example() -> None:
    # PLAN-1: 50 + 20 + round-half-up(13.5) + 10
    result = score_url(
        {
            "url": "https://reuters.example/world/europe", "visits": 150, "lastVisited": "2024-06-10T08:00:00Z",
            "lastChanged": "2024-06-14T22:00:00Z", "topicRelevance": 0.9, "hubDepth": 1, "isHub": True,
        },
        now=NOW,
    )  # fmt: skip
    assert result.score.value == 94
    assert result.score.words == ("Changed in last 24h", "High topic relevance", "Is a hub page")
    assert result.level.name == "very high"


@pytest.mark.parametrize(
    ("rule", "ago", "score", "reasons"),
    [
        ("PLAN-1", timedelta(minutes=59, seconds=59), 20, ("Recently visited (<1h)",)),
        ("PLAN-1", timedelta(hours=1), 40, ("Visited today",)),
        ("PLAN-1", timedelta(hours=23, minutes=59, seconds=59), 40, ("Visited today",)),
        ("PLAN-1", timedelta(hours=24), 50, ()),
        ("PLAN-1", timedelta(days=7), 50, ()),
        ("PLAN-1", timedelta(days=7, seconds=1), 65, ("Not visited in 7+ days",)),
        ("PLAN-1", timedelta(hours=-5), 20, ("Recently visited (<1h)",)),
    ],
)
def test_visits(rule: str, ago: timedelta, score: float, reasons: tuple[str, ...]) -> None:
    assert scored(last_visited=NOW - ago) == (score, reasons), rule


@pytest.mark.parametrize(
    ("rule", "ago", "score", "reasons"),
    [
        ("PLAN-1", timedelta(hours=23, minutes=59, seconds=59), 70, ("Changed in last 24h",)),
        ("PLAN-1", timedelta(hours=24), 50, ()),
        ("PLAN-1", timedelta(hours=-1), 70, ("Changed in last 24h",)),
    ],
)
def test_changes(rule: str, ago: timedelta, score: float, reasons: tuple[str, ...]) -> None:
    assert scored(last_changed=NOW - ago) == (score, reasons), rule


@pytest.mark.parametrize(
    ("rule", "relevance", "score", "reasons"),
    [
        ("PLAN-1", 0.1, 52, ()),
        ("PLAN-1", 0.3, 55, ()),
        ("PLAN-1", 0.5, 58, ()),
        ("PLAN-1", 0.7, 61, ()),
        ("PLAN-1", 0.8, 62, ()),
        ("PLAN-1", 0.9, 64, ("High topic relevance",)),
        ("PLAN-1", 1.0, 65, ("High topic relevance",)),
    ],
)
def test_relevance_rounds_half_up(
    rule: str, relevance: float, score: float, reasons: tuple[str, ...]
) -> None:
    assert scored(topic_relevance=relevance) == (score, reasons), rule


def test_extremes() -> None:
    # PLAN-1: 15 at least; 110 before the clamp.
    assert scored(last_visited=NOW, hub_depth=4) == (15, ("Recently visited (<1h)", "Deep URL"))
    best = score_url(
        {
            **ROW,
            "last_visited": NOW - timedelta(days=8),
            "last_changed": NOW,
            "topic_relevance": 1,
            "is_hub": True,
        },
        now=NOW,
    )
    assert best.score.value == 100
    assert [r.points for r in best.score.reasons] == [50, 15, 20, 15, 10, -10]
    assert scored(hub_depth=3) == (50, ())


@pytest.mark.parametrize(
    ("rule", "relevance", "hub", "visited_h", "level"),
    [
        ("PLAN-2", 1.0, True, 200, "very high"),
        ("PLAN-2", 0.0, True, 30, "high"),
        ("PLAN-2", 0.0, False, 30, "medium"),
        ("PLAN-2", 0.0, False, 0, "low"),
    ],
)
def test_levels(rule: str, relevance: float, hub: bool, visited_h: float, level: str) -> None:
    row = {
        **ROW,
        "topic_relevance": relevance,
        "is_hub": hub,
        "last_visited": NOW - timedelta(hours=visited_h),
    }
    assert score_url(row, now=NOW).level.name == level, rule


@pytest.mark.parametrize(
    ("rule", "signals", "score", "level"),
    [
        ("PLAN-2", {"last_changed": NOW, "is_hub": True}, 80, "very high: crawl immediately"),
        ("PLAN-2", {"last_changed": NOW, "topic_relevance": 0.6}, 79, "high: crawl soon"),
        ("PLAN-2", {"is_hub": True}, 60, "high: crawl soon"),
        ("PLAN-2", {"topic_relevance": 0.6}, 59, "medium: normal schedule"),
        ("PLAN-2", {"last_visited": NOW - timedelta(hours=2)}, 40, "medium: normal schedule"),
        (
            "PLAN-2",
            {"last_visited": NOW - timedelta(hours=2), "hub_depth": 4, "topic_relevance": 0.27},
            39,
            "low: defer",
        ),
        ("PLAN-2", {"last_visited": NOW}, 20, "low: defer"),
        (
            "PLAN-2",
            {"last_visited": NOW, "hub_depth": 4, "topic_relevance": 0.27},
            19,
            "very low: skip or deprioritize",
        ),
    ],
)
def test_bounds_of_levels(rule: str, signals: dict[str, object], score: float, level: str) -> None:
    result = score_url({**ROW, **signals}, now=NOW)
    assert (result.score.value, f"{result.level.name}: {result.level.advice}") == (score, level), rule


@pytest.mark.parametrize("top", [None, 2, 4, 9])
def test_rank_keeps_input_order_on_ties(top: int | None) -> None:
    # PLAN-3
    rows = [{**ROW, "url": f"https://a.example/{i}", "is_hub": i == 2} for i in range(4)]
    ranked = [item.url[-1] for item in rank_urls(rows, now=NOW, top=top)]
    assert ranked == ["2", "0", "1", "3"][: top or 4]


def test_seed_order() -> None:
    # PLAN-3: the seed's two rows.
    first = {
        **ROW,
        "last_visited": NOW - timedelta(days=8),
        "topic_relevance": 0.9,
        "hub_depth": 0,
        "is_hub": True,
    }
    second = {**ROW, "last_visited": NOW - timedelta(minutes=30), "topic_relevance": 0.3, "hub_depth": 4}
    ranked = rank_urls([second, first], now=NOW)
    assert [item.score.value for item in ranked] == [89, 20]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_files_have_the_same_boundaries(suffix: str, tmp_path: Path) -> None:
    # PLAN-1, by rows and by columns: 59:59, 1:00:00, 23:59:59, 24:00:00, 7 days, and a second more.
    pl = pytest.importorskip("polars")  # an extra
    agos = [3599, 3600, 86399, 86400, 604800, 604801]
    rows = [
        {**ROW, "url": f"https://a.example/{ago}", "last_visited": (NOW - timedelta(seconds=ago)).isoformat()}
        for ago in agos
    ]
    frame, path = pl.DataFrame(rows), tmp_path / f"known.{suffix}"
    frame.write_parquet(path) if suffix == "parquet" else frame.write_ndjson(path)
    found = {int(e.scored.url[18:]): e.scored.score.value for e in plan_file(str(path), now=NOW).entries}
    assert [found[ago] for ago in agos] == [20, 40, 40, 50, 50, 65]


def test_now_is_a_parameter() -> None:
    # PLAN-4: the same row at two times; without it the outermost call reads the clock.
    seen = NOW - timedelta(minutes=30)
    assert scored(now=NOW, last_visited=seen)[0] == 20
    assert scored(now=NOW + timedelta(days=8), last_visited=seen)[0] == 65
    assert score_url({**ROW, "last_visited": seen}).score.value == 65
    assert score_url({**ROW, "last_visited": datetime.now(UTC)}).score.value == 20


def test_scoring_changes_nothing_but_its_result() -> None:
    # PLAN-4: the rows are left as they are, and the same call gives the same answer.
    rows = [{**ROW, "lastChanged": NOW.isoformat()}, {**ROW, "url": "https://news.example/b", "is_hub": True}]
    before = [dict(row) for row in rows]
    assert repr(rank_urls(rows, now=NOW)) == repr(rank_urls(rows, now=NOW))
    assert rows == before
