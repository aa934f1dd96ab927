"""`honeyguide explain`: every kind of end that a URL can come to, in sentences and as a record."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.config import load_profile
from honeyguide.core.url.url import Url
from honeyguide.errors import ForbiddenError
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    from honeyguide.testing.fakes import Answer

    Run = Callable[..., Result]

DOCS = "https://docs.example.org"


@pytest.mark.parametrize(
    ("url", "sentences"),
    [
        (
            f"{DOCS}/library/asyncio.html",
            (
                "By its address it is inside the crawl: same-site (docs.example.org).",
                '  "asyncio.html" in main of https://docs.example.org/library, score 10\n',
                "    +5 topic in anchor text",
                "    +3 topic in URL",
                "    -3 limited to 10\n    lane worth\n",
                ", 2 links from a seed.\n  worth 0.8",
                'Its title is "asyncio".',
                "The page scores 8; its links are followed.",
                "Fetched 1970-01-12T13:46:40.000Z in run 1: 200.",
            ),
        ),
        (f"{DOCS}/", ("It is a seed.", "The page scores 0; it is a seed, so its links are followed.")),
        (
            f"{DOCS}/gone",
            (
                ", and rejected by http-404: answered 404.",
                "Fetched 1970-01-12T13:46:40.000Z in run 1: 404.",
            ),
        ),
        (
            f"{DOCS}/logo.png",
            (
                "By its address it is no page: extension (.png).",
                "It was not fetched: rejected by extension: .png.",
            ),
        ),
        (
            "other.example/x",
            (
                "By its address it is outside the crawl: other-site (other.example).",
                "It was not fetched: rejected by other-site: other.example.",
            ),
        ),
        (
            f"{DOCS}/nowhere",
            ("No page of this run links it, and it is no seed: so it was never queued.",),
        ),
        (
            "HTTPS://Docs.example.org/about/?utm_source=x",
            ("Seen once:", ": lane worth, worth 0."),
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
    assert f"    lane worth, +{paid} found on a good page" in found["sentences"]


def test_as_csv(run: Run, crawled: Path) -> None:
    assert crawled.exists()
    result = run("explain", f"{DOCS}/about", "--format", "csv")
    assert result.exit_code == 0
    assert result.stdout.startswith("schema,text,url,request_url,key,")
    assert "Seen once" not in result.stdout  # sentences are for people, and for JSON lines


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("https://",), "not an http(s) URL"),
        (("ftp://a.example/",), "not an http(s) URL"),
        (("mailto:a@b.example",), "not an http(s) URL: 'mailto:a@b.example': its scheme is mailto"),
        (("asyncio",), "'asyncio' is neither a path nor a URL; write '/asyncio' or a whole URL\n"),
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


# --- which run is asked, and how the URL is written ---


@pytest.fixture
def two_crawls(folder: Path) -> Path:
    """A store with a crawl of one site over http, and a newer one of another."""
    store = SqliteStore(folder / "honeyguide.db")
    for home, link in (("http://a.example:8080/", "/gutters/"), ("https://b.example/", "/siding")):
        pages = {home: f'<title>fire</title><p>fire <a href="{link}">fire</a></p>'.encode()}
        pages[home.rstrip("/") + link] = b"<title>fire</title><p>all of fire</p>"
        crawler = Crawler(
            FakeFetcher(pages), HtmlReader(), FrozenClock(), store, load_profile("docs", topic="fire")
        )
        asyncio.run(crawler.crawl(CrawlRequest((Url.parse(home),)), lambda _record, _arrival: None))
    store.close()
    return folder


@pytest.mark.parametrize(
    ("text", "url", "asked"),
    [
        (
            "http://a.example:8080/nowhere",
            "http://a.example:8080/nowhere",
            1,
        ),  # no run has met it: whose site it is
        ("https://b.example/nowhere", "https://b.example/nowhere", 2),
        ("https://c.example/", "https://c.example/", 2),  # nobody's
        ("a.example:8080/gutters", "http://a.example:8080/gutters", 1),  # as the crawl has met it
        ("https://a.example:8080/gutters/?utm_source=x", "http://a.example:8080/gutters", 1),
        ("/gutters/", "http://a.example:8080/gutters", 1),  # a path, as crawl prints it
        ("/siding", "https://b.example/siding", 2),
    ],
)
def test_the_run_that_knows_most_tells(run: Run, two_crawls: Path, text: str, url: str, asked: int) -> None:
    assert two_crawls.exists()
    found = record(run, text)
    assert (found["url"], found["run"], found["sentences"][0]) == (url, asked, found["read_as"])


def test_another_spelling_of_a_page_is_said_to_be_one(run: Run, two_crawls: Path) -> None:
    assert two_crawls.exists()
    read = "https://a.example:8080/gutters?utm_source=x"
    told = record(run, "https://a.example:8080/gutters/?utm_source=x")["sentences"]
    assert told[0] == read
    assert told[1].startswith(
        "It is written https://a.example:8080/gutters/?utm_source=x; it is read as above "
    )
    same = "The crawl knows it as http://a.example:8080/gutters; that is the same page."
    assert told[2] == same
    assert record(run, read)["sentences"][:2] == [read, same]
    assert record(run, "a.example:8080/gutters")["sentences"][1].startswith("By its address")


def test_a_path_that_nobody_has_met_is_no_host(run: Run, two_crawls: Path) -> None:
    assert two_crawls.exists()
    for more in ((), ("--run", "2")):
        result = run("explain", "/nowhere", *more)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "'/nowhere' is a path that no crawl has met; give the whole address" in result.stderr


def test_a_page_that_robots_txt_forbids_was_not_requested(run: Run, folder: Path) -> None:
    home, page = "https://a.example/", "https://a.example/calendar"
    pages: dict[str, Answer] = {
        home: f'<title>fire</title><p>fire <a href="{page}">fire</a>'.encode(),
        page: ForbiddenError,
    }
    store = SqliteStore(folder / "honeyguide.db")
    crawler = Crawler(
        FakeFetcher(pages), HtmlReader(), FrozenClock(), store, load_profile("docs", topic="fire")
    )
    asyncio.run(crawler.crawl(CrawlRequest((Url.parse(home),)), lambda _record, _arrival: None))
    store.close()
    assert "It was not fetched: rejected by forbidden: as told." in record(run, page)["sentences"]


def test_exports_spell_a_page_in_one_way(run: Run, two_crawls: Path) -> None:
    assert two_crawls.exists()

    def exported(what: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in run("export", what, "--run", "1").stdout.splitlines()]

    pages = {page["url"] for page in exported("pages")}
    links = exported("links")
    assert {link["url"] for link in links} == pages
    assert [link["request_url"] for link in links] == [
        "http://a.example:8080/",
        "http://a.example:8080/gutters/",
    ]
    assert {link["parent"] for link in links} - {None} <= pages


# --- with the profile of the run ---


def test_a_profile_of_ones_own_is_the_one_of_the_run(run: Run, folder: Path) -> None:
    mine = folder / "mine.toml"
    text = 'schema = 1\nextends = "docs"\nname = "mine"\ndescription = "Mine."\n[scope]\ntracking = ["ref"]\n'
    mine.write_text(text, "utf-8")
    home, page = (
        "https://a.example/",
        "https://a.example/x?utm_source=1",
    )  # tracking of ours, not of this profile
    pages = {home: f'<title>fire</title><p>fire <a href="{page}">fire</a>'.encode(), page: b"<p>fire"}
    store = SqliteStore("honeyguide.db")
    profile = load_profile(mine, topic="fire")
    crawler = Crawler(FakeFetcher(pages), HtmlReader(), FrozenClock(), store, profile)
    request = CrawlRequest((Url.parse(home),), profile=str(mine))
    asyncio.run(crawler.crawl(request, lambda _record, _arrival: None))
    store.close()
    found = record(run, page)
    assert (found["state"], found["url"]) == ("done", page)
    enqueued = run("plan", "--store", "honeyguide.db", "--enqueue", "-o", "plan.csv")
    assert "Note: 2 URLs are scheduled, 2 in run 1" in enqueued.stderr
    mine.rename("moved.toml")
    for command in (("explain", page), ("plan", "--store", "honeyguide.db", "--enqueue", "-o", "plan.csv")):
        result = run(*command)
        assert result.exit_code == 0, result.stderr
        words = f"Note: run 1 was made with the profile {mine}, which cannot be loaded: "
        assert words in result.stderr
        assert "; the profile base stands in for it\n" in result.stderr
