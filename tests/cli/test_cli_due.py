"""`honeyguide crawl --due`: what was scheduled, and nothing else, with what the store remembers of the crawl."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from recrawling import QUICK, make_due, page

from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]


@pytest.fixture
def server() -> LoopbackServer:
    names = ("/a", "/b", "/c", "/private/d")
    return LoopbackServer({"/": page("fire", *names)} | {name: page(f"fire {name}") for name in names})


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def paths(text: str) -> list[str]:
    return ["/" + record["url"].split("/", 3)[3] for record in records(text)]


def crawled(run: Run, home: str, *more: str) -> None:
    result = run("crawl", home, "--topic", "fire", "--exclude", "/private", *QUICK, *more)
    assert result.exit_code == 0, result.stderr


def test_the_due_pages_of_a_store_without_a_word_about_the_crawl(run: Run, server: LoopbackServer) -> None:
    with served(server) as (home,):
        crawled(run, home)
        server.answers["/b"] = page("water", "/new", "/private/e")
        server.answers["/c"] = response(b"", status="404 Not Found")
        make_due(home, "/c", "/b", "/a")
        server.requests.clear()
        result = run("crawl", "--due", *QUICK)
        assert result.exit_code == 0, result.stderr
        assert paths(result.stdout) == ["/c", "/b", "/a"]
        assert server.paths == ["/robots.txt", "/c", "/b", "/a"]
        assert "3 pages visited: 1 changed, 1 unchanged, 1 gone; " in result.stderr
        assert "Stopped: nothing more is due." in result.stderr
        told = run("explain", f"{home}private/e", "--format", "jsonl").stdout
        assert records(told)[0]["rejected"]["rule"] == "exclude"  # as the crawl was asked for
        again = run("crawl", "--due", *QUICK)
        assert (again.exit_code, again.stdout) == (0, "")
        assert "nothing is due" in again.stderr
    assert len(server.paths) == 4


def test_with_its_seeds_a_budget_and_a_file(run: Run, server: LoopbackServer) -> None:
    with served(server) as (home,):
        crawled(run, home, "-o", "pages.jsonl")
        make_due(home, "/a", "/b")
        same = ("--topic", "fire", "--exclude", "/private", *QUICK)
        result = run("crawl", home, "--due", "--max-pages", "1", "-o", "pages.jsonl", *same)
        assert result.exit_code == 3
        assert "--max-pages is reached" in result.stderr
        lines = Path("pages.jsonl").read_text("utf-8")
        assert paths(lines) == ["/", "/a", "/b", "/c", "/a"]
        assert records(lines)[-1]["action"] == "unchanged"
        result = run("crawl", home, "--due", "--topic", "water", *QUICK)
        assert (result.exit_code, "no such crawl" in result.stderr) == (1, True)


def test_several_crawls_in_one_store(run: Run, server: LoopbackServer) -> None:
    with served(server) as (home,):
        crawled(run, home)
        result = run("crawl", home, "--traversal", "bfs", "--max-pages", "2", *QUICK)
        assert result.exit_code == 3
        make_due(home, "/a")
        make_due(home, "/", run=2)
        refused = run("crawl", "--due", "-o", "pages.jsonl", *QUICK)
        assert (refused.exit_code, "--run: 1, 2" in refused.stderr) == (1, True)
        one = run("crawl", "--due", "--run", "2", "-o", "pages.jsonl", *QUICK)
        assert one.exit_code == 0, one.stderr
        assert paths(Path("pages.jsonl").read_text("utf-8")) == ["/", "/a", "/"]
        make_due(home, "/", run=2)
        both = run("crawl", "--due", *QUICK)
        assert (both.exit_code, paths(both.stdout)) == (0, ["/a", "/"])
        make_due(home, "/", run=2)
        make_due(home, "/a")
        part = run("crawl", "--due", "--max-pages", "1", *QUICK)
        assert (part.exit_code, paths(part.stdout)) == (3, ["/a"])


def test_a_crawl_of_an_older_version_asks_for_its_command(run: Run, server: LoopbackServer) -> None:
    with served(server) as (home,):
        crawled(run, home)
        make_due(home, "/a")
        with closing(sqlite3.connect("honeyguide.db")) as db:
            db.execute("UPDATE run SET request = NULL")
            db.commit()
        refused = run("crawl", "--due", *QUICK)
        assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
        assert "add --due to the command that made it" in refused.stderr
        result = run("crawl", home, "--due", "--topic", "fire", "--exclude", "/private", *QUICK)
        assert (result.exit_code, paths(result.stdout)) == (0, ["/a"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--due", "--restart"), "--restart does not go with --due"),
        (("--due", "--max-pages-per-host", "3"), "--max-pages-per-host does not go with --due"),
        (
            ("--due", "--topic", "fire"),
            "--topic: crawls of the store remember theirs; leave it out, or name a SEED",
        ),
        (
            ("--due", "http://a.example/"),
            "--due with a SEED visits what is due of one crawl: repeat its --topic",
        ),
        (("--due", "--follow-external", "0"), "--follow-external: crawls of the store remember theirs"),
        (("--run", "1"), "--run goes with --due"),
        (("--due",), "honeyguide.db: no such store"),
    ],
)
def test_what_makes_no_sense_is_refused(run: Run, arguments: tuple[str, ...], said: str) -> None:
    result = run("crawl", *arguments)
    assert result.exit_code in (1, 2)
    assert said in result.stderr
    assert not Path("honeyguide.db").exists()


def test_a_profile_that_is_gone_is_named(run: Run, server: LoopbackServer) -> None:
    mine = Path("mine.toml")
    mine.write_text('schema = 1\nextends = "docs"\nname = "mine"\ndescription = "Mine."\n', "utf-8")
    with served(server) as (home,):
        crawled(run, home, "--profile", "mine.toml")
        make_due(home, "/a")
        mine.rename("moved.toml")
        refused = run("crawl", "--due", *QUICK)
        assert refused.exit_code == 1
        assert "mine.toml, which cannot be loaded" in refused.stderr


def test_explain_tells_the_history(run: Run, server: LoopbackServer) -> None:
    with served(server) as (home,):
        crawled(run, home)
        for text in ("water", "earth", "earth"):
            server.answers["/a"] = page(text)
            make_due(home, "/a")
            assert run("crawl", "--due", *QUICK).exit_code == 0
        told = run("explain", f"{home}a", "--format", "table").stdout
        assert "Visited 4 times, first a moment ago, last a moment ago: 2 changed, 1 unchanged." in told
        assert "It last changed a moment ago, as far as visits tell." in told
        assert "It changes about every " in told
        assert " % probability since the last visit a moment ago." in told
        (record,) = records(run("explain", f"{home}a", "--format", "jsonl").stdout)
        history = record["history"]
        assert (history["changes"], history["unchanged"], history["kind"]) == (2, 1, "page")
        assert len(history["rate"]) == 2
        unseen = records(run("explain", f"{home}nowhere", "--format", "jsonl").stdout)
        assert unseen[0]["history"] is None


def test_explain_remembers_what_was_read(run: Run, server: LoopbackServer) -> None:
    with served(server) as (home,):
        crawled(run, home)
        server.answers["/b"] = response(b"", status="404 Not Found")
        make_due(home, "/a", "/b")
        assert "2 pages visited: 1 unchanged, 1 gone; " in run("crawl", "--due", *QUICK).stderr
        for name, action, found in (
            ("a", "unchanged", "the same, byte for byte, since "),
            ("b", "dropped", ""),
        ):
            (record,) = records(run("explain", f"{home}{name}", "--format", "jsonl").stdout)
            page, read, told = record["page"], record["read"], record["sentences"]
            assert (page["action"], page["title"], read["title"]) == (action, None, f"fire /{name}")
            start = told.index(f"It was last read {read['fetched_at']}.")
            assert told[start + 1] == f'Its title is "fire /{name}".'
            assert told[start + 2].startswith(f"The page scores {read['relevance_score']}; ")
            (visit,) = [line for line in told if line.startswith(f"The last visit, {page['fetched_at']}: ")]
            assert (found or "answered 404.") in visit
        (once,) = records(run("explain", f"{home}c", "--format", "jsonl").stdout)
        assert (once["read"], once["page"]["title"]) == (None, "fire /c")


def test_explain_counts_the_links_that_are_remembered(run: Run, server: LoopbackServer) -> None:
    text = 'schema = 1\nextends = "docs"\nname = "mine"\ndescription = "Mine."\n[crawl]\nsightings = 1\n'
    Path("mine.toml").write_text(text, "utf-8")
    server.answers["/b"] = page("fire /b", "/a")
    with served(server) as (home,):
        crawled(run, home, "--profile", "mine.toml")
        told = run("explain", f"{home}a", "--format", "table").stdout
        assert "Seen twice; the first is remembered:\n" in told


def test_explain_tells_a_change_as_what_the_last_visit_found(run: Run, server: LoopbackServer) -> None:
    with served(server) as (home,):
        crawled(run, home)
        server.answers["/a"] = page("fire and water")
        make_due(home, "/a")
        assert run("crawl", "--due", *QUICK).exit_code == 0
        told = run("explain", f"{home}a", "--format", "table").stdout
        assert 'Its title is "fire and water".' in told
        assert ": its main content changed since " in told
        assert "+0 " not in told


def test_what_a_sitemap_says_is_remembered(run: Run, server: LoopbackServer) -> None:
    urls = "<url><loc>{0}a</loc><lastmod>2026-05-01</lastmod></url><url><loc>{0}b</loc></url>"
    with served(server) as (home,):
        sitemap = f"<urlset>{urls.format(home)}</urlset>"
        server.answers["/sitemap.xml"] = response(sitemap.encode(), kind="application/xml")
        crawled(run, home, "--sitemap", f"{home}sitemap.xml")
        (listed,) = records(run("explain", f"{home}a", "--format", "jsonl").stdout)
        assert listed["history"]["lastmod"] == "2026-05-01"
        (other,) = records(run("explain", f"{home}b", "--format", "jsonl").stdout)
        assert other["history"]["lastmod"] is None


def test_a_missing_allow_private_puts_nothing_out_for_good(run: Run, server: LoopbackServer) -> None:
    manners = ("--delay", "0", "--retries", "0")
    same = ("--topic", "fire", "--exclude", "/private")
    with served(server) as (home,):
        assert run("crawl", home, *same, *QUICK, "--max-pages", "2").exit_code == 3
        make_due(home, "/b", "/a")
        server.requests.clear()
        for _ in range(2):
            refused = run("crawl", "--due", *manners)
            words = (
                "2 pages were refused for their addresses, which are not on the public web; --allow-private"
            )
            assert (refused.exit_code, words in refused.stderr) == (3, True), refused.stderr
        allowed = run("crawl", "--due", *QUICK)
        assert (allowed.exit_code, paths(allowed.stdout)) == (0, ["/b", "/a"])
        refused = run("crawl", home, *same, *manners)
        assert (refused.exit_code, "--allow-private visits" in refused.stderr) == (3, True)
        watched = run("watch", "--per-hour", "10", "--rest", "0", "--rounds", "1", *manners)
        assert (watched.exit_code, "--allow-private visits" in watched.stderr) == (3, True)
        rest = run("crawl", home, *same, *QUICK)
        assert rest.exit_code == 0, rest.stderr
        assert "/c" in paths(rest.stdout)
        assert "address-refused" not in rest.stderr


def test_imported_urls_that_were_refused_are_still_known(run: Run, server: LoopbackServer) -> None:
    with served(server) as (home,):
        visited, due = f"{home}a,150,2026-01-01", ("crawl", "--due", "--delay", "0", "--retries", "0")
        Path("list.csv").write_text(f"url\n{home}b\n{home}c\n", "utf-8")
        Path("visited.csv").write_text(f"url,visits,last_visited\n{visited}\n", "utf-8")
        assert run("import", "list.csv").exit_code == 0
        assert run("plan", "--store", "honeyguide.db", "--enqueue").exit_code == 0
        assert run(*due).exit_code == 3
        nothing = run("plan", "--store", "honeyguide.db")
        assert "knows no URL that may be visited: 2 pages were refused for" in nothing.stderr
        assert "; --allow-private visits them" in nothing.stderr
        assert run("import", "visited.csv").exit_code == 0
        assert run("plan", "--store", "honeyguide.db", "--enqueue").exit_code == 0
        assert run(*due).exit_code == 3
        explained = run("plan", "--store", "honeyguide.db", "--explain", f"{home}a", "--format", "jsonl")
        assert records(explained.stdout)[0]["signals"]["visits"] == 150
        assert len(paths(run("crawl", "--due", *QUICK).stdout)) == 3
        assert len(paths(run("plan", "--store", "honeyguide.db", "--visited").stdout)) == 3


def test_what_rests_after_a_night_without_a_server_says_until_when(run: Run, server: LoopbackServer) -> None:
    with served(server) as (home,):
        crawled(run, home)
    make_due(home, "/a")
    night = run("crawl", "--due", *QUICK)
    assert night.exit_code == 3
    told = re.search(
        r"Stopped: (what is left rests, .* run the same command from (\S+) on to resume)\.\n", night.stderr
    )
    assert told is not None, night.stderr
    assert told[2] > records(night.stdout)[0]["fetched_at"]
    make_due(home, "/a")
    again = run("crawl", "--due", *QUICK, "--quiet")
    assert (again.exit_code, again.stdout) == (3, "")
    assert re.sub(r"from \S+ on", "", again.stderr) == re.sub(
        r"from \S+ on", "", f"Note: no page was visited: {told[1]}\n"
    )
    said = run("explain", f"{home}a", "--format", "table").stdout
    assert "It is queued for its next visit: lane " in said
    assert "was not fetched yet" not in said
