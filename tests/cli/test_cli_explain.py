"""`honeyguide explain`: every kind of end that a URL can come to, in sentences and as a record."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]

DOCS = "https://docs.example.org"


@pytest.mark.parametrize(
    ("url", "sentences"),
    [
        (
            f"{DOCS}/library/asyncio.html",
            (
                "By its address it is inside the crawl: same-site (URL-10, docs.example.org).",
                '  "asyncio.html" in main of https://docs.example.org/library/, score 10\n',
                "    +5 topic in anchor text",
                "    +3 topic in URL",
                "    -3 a score ends at 10\n    lane deep, priority 10\n",
                ", priority 10, 2 links from a seed.",
                'Its title is "asyncio".',
                "The page scores 8; its branch is exhausted before others.",
                "Fetched 1970-01-12T13:46:40.000Z in run 1: 200.",
            ),
        ),
        (f"{DOCS}/", ("It is a seed.", "The page scores 0; it is a seed, so its links are followed.")),
        (
            f"{DOCS}/gone",
            (
                ", and dropped by http-404: answered 404.",
                "Fetched 1970-01-12T13:46:40.000Z in run 1: 404.",
            ),
        ),
        (
            f"{DOCS}/logo.png",
            (
                "By its address it is no page: extension (URL-9, .png).",
                "It was not fetched: put out by extension: .png.",
            ),
        ),
        (
            "other.example/x",
            (
                "By its address it is outside the crawl: other-site (URL-11, other.example).",
                "It was not fetched: put out by other-site: other.example.",
            ),
        ),
        (
            f"{DOCS}/nowhere",
            ("No page of this run links it, and it is no seed: so it was never queued.",),
        ),
        (
            "HTTPS://Docs.example.org/about/?utm_source=x",
            ("Seen once:", ": lane tail, priority 3, 1 link from a seed."),
        ),
    ],
)
def test_what_became_of_a_url(run: Run, crawled: Path, url: str, sentences: tuple[str, ...]) -> None:
    assert crawled.exists()
    result = run("explain", url, "--format", "table")
    assert result.exit_code == 0, result.stderr
    told = result.stdout
    assert [sentence for sentence in sentences if sentence not in told] == []
    assert "Run 1: crawl https://docs.example.org/ --topic 'asyncio|coroutine'" in told


def record(run: Run, *arguments: str) -> dict[str, Any]:
    result = run("explain", *arguments)
    assert result.exit_code == 0, result.stderr
    value: dict[str, Any] = json.loads(result.stdout)
    return value


def test_the_record(run: Run, crawled: Path) -> None:
    assert crawled.exists()
    found = record(run, "https://docs.example.org/library/")
    assert (found["url"], found["state"], found["depth"]) == (f"{DOCS}/library", "done", 1)
    assert [step["rule"] for step in found["steps"]] == ["URL-3"]
    assert found["page"]["title"] == "Library"
    assert found["seen"] == 3
    assert found["sightings"][0]["parent"] == f"{DOCS}/"
    first = found["sightings"][0]
    assert sum(point["points"] for point in first["points"]) == first["relevance_score"]
    assert found["visits"] == [{"run": 1, "at": "1970-01-12T13:46:40.000Z", "status": 200}]
    unknown = record(run, f"{DOCS}/nowhere", "--run", "1")
    assert found.keys() == unknown.keys()
    assert (unknown["state"], unknown["page"], unknown["seen"], unknown["visits"]) == (None, None, 0, [])


def test_a_bonus_is_paid_to_the_priority_not_to_the_score(run: Run, crawled: Path) -> None:
    assert crawled.exists()
    found = record(run, f"{DOCS}/library/")
    (seen,) = [one for one in found["sightings"] if one["parent"] == f"{DOCS}/library/asyncio.html"]
    assert [point["rule"] for point in seen["bonus"]] == ["parent-bonus"]
    paid = seen["bonus"][0]["points"]
    assert sum(point["points"] for point in seen["points"]) == seen["relevance_score"]
    place = f"lane {seen['lane']}, priority {seen['relevance_score'] + paid}"
    assert f"    {place}: +{paid} found on a good page" in found["sentences"]


def test_as_csv(run: Run, crawled: Path) -> None:
    assert crawled.exists()
    result = run("explain", f"{DOCS}/about", "--format", "csv")
    assert result.exit_code == 0
    assert result.stdout.startswith("url,run,state,verdict_kind,")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("https://",), "not an http(s) URL"),
        (("ftp://a.example/",), "not an http(s) URL"),
        (("mailto:a@b.example",), "not an http(s) URL: 'mailto:a@b.example': its scheme is mailto"),
        (("https://a.example/", "--store", "home.html"), "is no Honeyguide store"),
    ],
)
def test_bad_arguments(run: Run, crawled: Path, arguments: tuple[str, ...], words: str) -> None:
    assert crawled.exists()
    result = run("explain", *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert words in result.stderr


def test_a_run_that_is_not_there_is_a_wrong_option(run: Run, crawled: Path) -> None:
    assert crawled.exists()
    result = run("explain", "https://a.example/", "--run", "7")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith("Error: Invalid value for --run: there is no run 7; there are 1 to 1.\n")
