"""What `honeyguide crawl` says in the end: one count of pages, what was put out and what was not followed, which command tells more."""

from __future__ import annotations

import json
import re
import socket
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from recrawling import make_due

from honeyguide.app.crawl import CrawlTally
from honeyguide.app.runs import held_back
from honeyguide.cli.crawl_lines import stop_words
from honeyguide.config import load_profile
from honeyguide.core.crawl.frontier import Counts
from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

TOPIC = ("--topic", "fire")
QUICK = ("--allow-private", "--delay", "0", "--retries", "0")
MINE = 'schema = 1\nextends = "docs"\nname = "mine"\ndescription = "Mine."\n'


def page(title: str, *links: str) -> bytes:
    words = "".join(f"<p>All about {title}, sentence {n}, in words of its own.</p>" for n in "abcdefghij")
    listed = " ".join(f'<p><a href="{href}">fire {href}</a></p>' for href in links)
    return response(f"<title>{title}</title><main><h1>{title}</h1>{words}{listed}</main>".encode())


def site() -> LoopbackServer:
    return LoopbackServer(
        {"/": page("fire", "/a/", "/b"), "/a/": page("fire a"), "/b": page("fire b", "/a/")}
    )


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def nobody() -> str:
    """Give an address where nobody answers."""
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{found.getsockname()[1]}/"


# --- pages are counted in one way ---


def test_pages_are_those_that_were_asked_for(run: Run) -> None:
    server = site()
    server.answers["/robots.txt"] = response(b"User-agent: *\nDisallow: /b", kind="text/plain")
    with served(server) as (home,):
        first = run("crawl", home, *TOPIC, *QUICK)
        again = run("crawl", home, *TOPIC, *QUICK)
    assert len(records(first.stdout)) == 3  # the one that is disallowed has a record, too
    assert first.stderr.startswith("2 pages, 2 relevant (100%); ")
    assert "        1  forbidden  robots.txt disallows it\n" in first.stderr
    assert "\n2 pages, 2 of them before, 2 relevant (100%); " in again.stderr
    assert records(run("runs").stdout)[0]["fetched"] == 2


def test_a_page_that_is_tried_again_counts_as_the_budget_counts_it(run: Run) -> None:
    result = run("crawl", nobody(), *TOPIC, *QUICK)
    assert "\nno page could be fetched: no connection; " in result.stderr
    told = run("explain", records(run("export", "links").stdout)[0]["url"], "--format", "table").stdout
    assert "Requested once, a moment ago; no page came.\n" in told
    assert "Visited" not in told
    assert "Fetched" not in told
    assert records(run("runs").stdout)[0]["fetched"] == 1


def test_an_address_that_is_refused_is_no_page(run: Run) -> None:
    with served(site()) as (home,):
        result = run("crawl", home, *TOPIC, "--delay", "0")
        assert result.exit_code == 3
        assert (
            "\nno page could be fetched: a private address, or a port that is not the web's; "
            in result.stderr
        )
        again = run("crawl", home, *TOPIC, *QUICK, "--max-pages", "2")
    assert again.stderr.startswith("2 pages, 2 relevant (100%); ")


def test_the_budget_of_what_is_due_counts_fetches(run: Run) -> None:
    server = site()
    with served(server) as (home,):
        run("crawl", home, *TOPIC, *QUICK)
        run("crawl", f"{home}b", *TOPIC, *QUICK, "--exclude", "/$")
        make_due(home, "/", "/b")
        server.requests.clear()
        result = run("crawl", "--due", "--max-pages", "1", *QUICK)
    assert (result.exit_code, server.paths) == (3, ["/robots.txt", "/"])


def test_without_a_topic_nothing_is_said_of_relevance(run: Run) -> None:
    with served(site()) as (home,):
        result = run("crawl", home, "--traversal", "bfs", *QUICK)
    assert result.stderr.startswith("3 pages; ")


# --- what was put out, and what was not followed ---


def test_what_was_fetched_is_not_listed_as_put_out(run: Run) -> None:
    server = site()
    server.answers["/b"] = page("fire a")
    with served(server) as (home,):
        told = run("crawl", home, *TOPIC, *QUICK).stderr
    line = "        1  TRAP-9  a page with the same content as another\n"
    assert f"\nFetched, and their links not followed:\n{line}" in told
    assert "Rejected:" not in told


# --- what could not be had ---


@pytest.mark.parametrize("more", [(), ("--quiet",)])
def test_a_seed_that_does_not_answer_is_named_and_tried_again_by_the_same_command(
    run: Run, more: tuple[str, ...]
) -> None:
    home = nobody()
    for tries in (1, 2):
        result = run("crawl", home, *TOPIC, *QUICK, *more)
        assert result.exit_code == 3
        assert re.search(rf"Note: {home}: .*; the same command tries it again\n", result.stderr)
        assert records(run("runs").stdout)[0]["fetched"] == tries


def test_a_seed_that_answers_by_now_is_had_at_once(run: Run) -> None:
    server = site()
    with served(server) as (home,):
        for answer in (
            response(b"", status="404 Not Found"),
            response(b"", status="500 Internal Server Error"),
        ):
            server.answers["/"] = answer
            assert run("crawl", home, *TOPIC, *QUICK, "--max-time", "1").exit_code == 3
        server.answers["/"] = page("fire")
        result = run("crawl", home, *TOPIC, *QUICK)
    assert (result.exit_code, [record["url"] for record in records(result.stdout)]) == (0, [home])


def test_a_host_that_asks_for_a_pause_has_it(run: Run) -> None:
    server = site()
    server.answers["/"] = response(b"", "Retry-After: 3600", status="503 Service Unavailable")
    with served(server) as (home,):
        first = run("crawl", home, *TOPIC, *QUICK)
        server.requests.clear()
        again = run("crawl", home, *TOPIC, *QUICK)
    said = rf"Note: {home}: answered 503; the same command tries it again from 20..-..-..T..:..:..\....Z on\n"
    assert re.search(said, first.stderr)
    assert server.requests == []
    assert f"Note: {home}: not tried, because its host asked for a pause, which is not over\n" in again.stderr


def test_seeds_that_failed_for_good_are_left_where_others_were_had(run: Run) -> None:
    server = site()
    with served(server) as (home,):
        for _ in range(2):
            assert run("crawl", home, f"{home}nowhere", *TOPIC, *QUICK).exit_code == 0
    assert server.paths.count("/nowhere") == 1


def test_when_all_visits_fail_the_command_has_failed(run: Run) -> None:
    server = site()
    with served(server) as (home,):
        run("crawl", home, *TOPIC, *QUICK)
        make_due(home, "/a/", "/b")
        server.answers["/a/"] = response(b"", status="403 Forbidden")
        mixed = run("crawl", "--due", *QUICK)
        server.answers["/b"] = response(b"", status="403 Forbidden")
        make_due(home, "/b")
        failed = run("crawl", "--due", *QUICK)
        make_due(home, "/b")
        refused = run("crawl", "--due", "--delay", "0")  # without --allow-private
    assert (mixed.exit_code, "2 pages visited: 1 unchanged, 1 failed; " in mixed.stderr) == (0, True)
    assert (failed.exit_code, "1 page visited: 1 failed; " in failed.stderr) == (3, True)
    assert (refused.exit_code, "1 page visited: 1 failed; " in refused.stderr) == (3, True)


# --- which command tells more ---


def test_the_commands_that_are_named_work_as_they_stand(run: Run) -> None:
    with served(site()) as (home,):
        first = run("crawl", home, *TOPIC, *QUICK, "--store", "my c.db")
        last = (
            "This is run 1 of my c.db; honeyguide explain URL --store 'my c.db' says what became of a page.\n"
        )
        assert first.stderr.endswith(last)
        run("crawl", home, "--topic", "water", *QUICK, "--store", "my c.db")
        again = run("crawl", home, *TOPIC, *QUICK, "--store", "my c.db")
    assert again.stderr.endswith("explain URL --store 'my c.db' --run 1 says what became of a page.\n")
    words = "resumed: earlier pages are in the store, honeyguide export pages --store 'my c.db' --run 1 prints them"
    assert again.stderr.startswith(f"Note: {words}\n")


def test_runs_show_all_that_makes_a_crawl_this_crawl(run: Run) -> None:
    Path("mine.toml").write_text(MINE, "utf-8")
    with served(site()) as (home,):
        same = (home, *TOPIC, "--related", "smoke", "--profile", "mine.toml", "--follow-external", "2")
        run("crawl", *same, *QUICK)
        (record,) = records(run("runs").stdout)
        assert (
            record["command"]
            == f"crawl {home} --topic fire --related smoke --profile mine.toml --follow-external 2"
        )
        run(*record["command"].split(), *QUICK)
        assert len(records(run("runs").stdout)) == 1


def test_the_hash_of_a_run_is_the_hash_of_its_profile(run: Run) -> None:
    with served(site()) as (home,):
        for topic in ("fire", "water"):
            run("crawl", home, "--topic", topic, *QUICK, "--max-pages", "1")
        run("crawl", home, "--traversal", "bfs", *QUICK, "--max-pages", "1")
        hashes = {record["profile_hash"] for record in records(run("runs").stdout)}
        assert hashes == {load_profile("docs").hash}


# --- how pages are shown ---


def test_pages_of_several_sites_are_told_apart(run: Run) -> None:
    with served(site(), site()) as (home, other):
        one = run("crawl", home, *TOPIC, *QUICK, "--format", "table").stdout
        two = run("crawl", home, other, *TOPIC, *QUICK, "--format", "table").stdout
    assert {line.split()[2] for line in one.splitlines()[1:]} == {"/", "/a", "/b"}
    shown = [line.split()[2] for line in two.splitlines()[1:]]
    assert set(shown) == {f"{start}{path}" for start in (home, other) for path in ("", "a", "b")}


def test_columns_hold_what_they_are_for(run: Run) -> None:
    server = site()
    server.answers["/b"] = response(b"", status="404 Not Found")
    with served(server) as (home,):
        shown = run("crawl", home, *TOPIC, *QUICK, "--format", "table").stdout
    header, *lines = shown.splitlines()
    assert header == "Score  Action         Page and title"
    assert {line.index("/") for line in lines} == {header.index("Page")}


# --- traversals of a profile ---


def test_a_profile_may_bring_a_traversal(run: Run) -> None:
    table = '[traversal.near]\norder = "breadth"\nlinks = [{ at_least = 0, lane = "broad" }]\npages = [{ at_least = -1, lane = "broad" }]\n'
    Path("mine.toml").write_text(MINE + table, "utf-8")
    with served(site()) as (home,):
        result = run("crawl", home, "--profile", "mine.toml", "--traversal", "near", *QUICK)
        assert result.exit_code == 0, result.stderr
        assert len(records(result.stdout)) == 3
    refused = run("crawl", "a.example", *TOPIC, "--traversal", "near", "--store", "new.db")
    assert (refused.exit_code, Path("new.db").exists()) == (1, False)


def test_nothing_is_left_only_where_no_link_was_held_back() -> None:
    assert stop_words("complete", 0) == "nothing is left to fetch"
    assert stop_words("complete", 212).endswith("212 links rejected by its traversal or --max-depth")
    assert stop_words("max_pages", 212).startswith("--max-pages is reached")
    counts = Counts({}, {}, {"tunnel-end": 2, "max-depth": 1, "TOPIC-6": 9}, {}, 0, 0)
    assert held_back(counts) == 3  # a login page is no business of any traversal


def test_progress_has_the_share_of_the_last_pages() -> None:
    tally = CrawlTally()
    record = {
        "points": [],
        "action": "expand",
        "status": 200,
        "change": None,
        "topic_relevance": 1.0,
        "lane": "",
    }
    for number in range(80):
        tally.add({**record, "topic_relevance": float(number < 40)})
    assert (tally.fetched, tally.relevant, sum(tally.latest), len(tally.latest)) == (80, 40, 10, 50)
