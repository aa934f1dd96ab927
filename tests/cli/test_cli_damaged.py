"""Stores that hold what Honeyguide never writes: every command that meets it says so in one sentence."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from struct import pack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]

DOCS = "https://docs.example.org"
SITE = "docs.example.org"
NOW = "1970-02-01T00:00:00Z"
TODAY = 12  # days after 1970 of the crawl
COMMANDS = {
    "plan": ("plan", "--store", "honeyguide.db", "--now", NOW),
    "uniform": ("plan", "--store", "honeyguide.db", "--now", NOW, "--policy", "uniform"),
    "explain": ("explain", f"{DOCS}/library/asyncio.html"),
    "runs": ("runs",),
    "export": ("export", "pages", "--format", "csv"),
    "crawl": ("crawl", f"{DOCS}/", "--topic", "asyncio|coroutine", "-o", "o.jsonl", "--quiet"),
}


def numbers(*values: float) -> bytes:
    return pack(f"<{len(values)}d", *values)


def clock(first_day: Any, found: Any, expected: Any) -> tuple[str, tuple[Any, ...]]:
    sql = "INSERT OR REPLACE INTO site_clock (site, first_day, found, expected) VALUES (?, ?, ?, ?)"
    return sql, (SITE, first_day, found, expected)


def record(text: str) -> tuple[str, tuple[str]]:
    return "UPDATE visit SET record = ?", (text,)


def changed(name: str, value: str) -> tuple[str, tuple[str, str]]:
    return "UPDATE visit SET record = json_set(record, ?, json(?))", (f"$.{name}", value)


TRUST = "INSERT INTO trust (site, source, hits, alarms, misses, silences) VALUES (?, 'sitemap', ?, 0, 0, 0)"
DAMAGES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "a clock that begins at a text": clock("x", numbers(1), numbers(1)),
    "a clock that begins in no year": clock(2**60, numbers(1), numbers(1)),
    "a clock of two lengths": clock(TODAY, numbers(*[1] * 10), numbers(1)),
    "a clock that expects less than nothing": clock(TODAY - 3, numbers(*[1] * 10), numbers(*[-1] * 10)),
    "a clock of no numbers": clock(TODAY, numbers(float("nan")), numbers(1)),
    "a clock without end": clock(0, numbers(*[1] * 5_000), numbers(*[1] * 5_000)),
    "a clock of text": clock(TODAY, "12345678", "12345678"),
    "trust that is a text": (TRUST, (SITE, "x")),
    "trust that is a fraction": (TRUST, (SITE, 1.5)),
    "a prior that is a text": ("INSERT INTO prior (site, kind, a, b) VALUES (?, 'page', 'x', 'y')", (SITE,)),
    "a prior of nothing": ("INSERT INTO prior (site, kind, a, b) VALUES (?, 'page', 0, 0)", (SITE,)),
    "hours that are few": ("UPDATE known SET hours = zeroblob(8), kind = 'hub', is_hub = 1", ()),
    "hours of no numbers": ("UPDATE known SET hours = ?", (numbers(*[float("nan")] * 24),)),
    "a known URL that is none": ("UPDATE known SET url = '{}'", ()),
    "a visit after all time": ("UPDATE known SET visited_at = 1e300, seen_at = 1e300", ()),
    "a visit before all time": ("UPDATE known SET visited_at = -1e300", ()),
    "a change after all time": ("UPDATE known SET changed_at = 1e12", ()),
    "seen first after all time": ("UPDATE known SET first_seen = 9e999", ()),
    "a rate beyond measure": ("UPDATE known SET rate_a = 1e308, rate_b = 1e-308", ()),
    "less than no changes": ("UPDATE known SET rate_a = -1.0, rate_b = 9e11", ()),
    "latest visits beyond measure": ("UPDATE known SET latest_a = 1e308", ()),
    "a doubt without end": ("UPDATE known SET doubt = 9e999", ()),
    "forgotten after all time": ("UPDATE known SET forgot_at = 1e300", ()),
    "relevance without end": ("UPDATE known SET relevance = 9e999", ()),
    "a score of a link without end": ("UPDATE entry SET score = 9e999", ()),
    "due after all time": ("UPDATE entry SET due_at = 1e300", ()),
    "a visit at a text": ("UPDATE visit SET at = 'x'", ()),
    "a visit at no time": ("UPDATE visit SET at = 1e300", ()),
    "a status that is a text": ("UPDATE visit SET status = 'x'", ()),
    "a run after all time": ("UPDATE run SET started_at = 1e300", ()),
    "a run that ended before all time": ("UPDATE run SET updated_at = -1e300", ()),
    "a list for a record": record("[]"),
    "a record of nothing": record("{}"),
    "a record of a URL": record('{"url": "https://a.example/"}'),
    "a record in a record": record("[" * 50_000),
    "a score that is no number": changed("relevance_score", '"x"'),
    "a score without end": record('{"relevance_score": 1e999}'),
    "an action that is a number": changed("action", "5"),
    "reasons that are none": changed("points", "[1]"),
    "a reason without words": changed("points", '[{"rule": "a", "points": 1}]'),
    "links that are none": changed("links", "[1]"),
    "a time that is a number": changed("fetched_at", "5"),
    "points that are none": ("UPDATE sighting SET points = 'a:b'", ()),
    "points without end": ("UPDATE sighting SET points = 'a:1e999'", ()),
    "an anchor that is a number": ("UPDATE sighting SET anchor = 5, points = x'00'", ()),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_what_we_never_write_is_one_sentence(run: Run, crawled: Path, name: str) -> None:
    store = crawled / "honeyguide.db"
    try:
        with closing(sqlite3.connect(store)) as db, db:
            db.execute("PRAGMA ignore_check_constraints = ON")  # as somebody may who means harm
            assert db.execute(*DAMAGES[name]).rowcount > 0
    except sqlite3.IntegrityError:
        return  # types are checked always
    refused = []
    for command, words in COMMANDS.items():
        before = store.read_bytes()
        result = run(*words)
        assert "internal error" not in result.stderr, (command, result.stderr)
        if "holds what Honeyguide never writes; restore it from a copy" in result.stderr:
            assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
            refused.append(command)
        if command != "crawl":
            assert store.read_bytes() == before
    assert refused


@pytest.mark.parametrize(
    "request_", ['{"traversal": 5, "max_depth": "x", "profile": [1]}', "[]", '{"include": 5}']
)
def test_a_request_that_nobody_wrote_is_told(run: Run, crawled: Path, request_: str) -> None:
    with closing(sqlite3.connect(crawled / "honeyguide.db")) as db, db:
        db.execute("UPDATE run SET request = ?", (request_,))
    for words in (*COMMANDS.values(), ("crawl", "--due", "--run", "1")):
        result = run(*words)
        assert "internal error" not in result.stderr, (words, result.stderr)


@pytest.mark.parametrize("a", [1e-2, 1e9])
@pytest.mark.parametrize("b", [1e-9, 1e12])
@pytest.mark.parametrize("policy", ["learned", "proportional"])
def test_the_most_extreme_rates_can_be_planned_with(
    run: Run, crawled: Path, a: float, b: float, policy: str
) -> None:
    with closing(sqlite3.connect(crawled / "honeyguide.db")) as db, db:
        db.execute("UPDATE known SET rate_a = ?, rate_b = ?, found_a = ?, found_b = ?", (a, b, a, b))
    result = run(*COMMANDS["plan"], "--policy", policy)
    assert result.exit_code == 0, result.stderr


def test_a_whole_store_is_no_damage(run: Run, crawled: Path) -> None:
    assert crawled.exists()
    for words in COMMANDS.values():
        result = run(*words)
        assert result.exit_code == 0, result.stderr
