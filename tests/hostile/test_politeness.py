"""Politeness, proved by the log of the server: tools/check_polite.py over pick, crawl and watch."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner
from patience import HANG_S
from servers import Page, Site, kept

from honeyguide.cli.main import root
from honeyguide.testing.fakes import Script, response

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_polite.py"
ROBOTS = "User-agent: *\nDisallow: /private\nAllow: /private/open\n"
SLACK_S = 0.3  # a busy machine sees a request late; over a whole run that is little
DELAY_S = 0.08


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_polite", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


tool = load_tool()


def broken(lines: list[dict[str, Any]], **promise: Any) -> dict[str, list[str]]:
    """Judge a log; gives the promises that were broken, with what broke them."""
    requests = tool.read_log("\n".join(map(json.dumps, lines)))
    return {one.name: list(one.broken) for one in tool.check(requests, tool.Promise(**promise)) if one.broken}


# --- the checker itself ---


def line(start: float, path: str = "/x", **more: Any) -> dict[str, Any]:
    return {"start": start, "end": start + 0.01, "host": "a.example", "path": path, "status": 200, "agent": "honeyguide/1"} | more  # fmt: skip


GOOD = [line(0, "/robots.txt"), line(1), line(2, "/y"), line(3, "/z")]


@pytest.mark.parametrize(
    ("lines", "promise", "name", "what"),
    [
        (GOOD, {"delay_s": 1.0, "per_host": 1, "robots": {"": ROBOTS}, "max_pages": 3, "per_hour": 3}, "", ""),
        ([*GOOD, line(3.8)], {"delay_s": 1.0}, "delay", "came 0.200 s early"),
        ([*GOOD, *(line(4 + 0.96 * n) for n in range(9))], {"delay_s": 1.0}, "delay", "early"),
        ([*GOOD, line(3.8, host="b.example"), line(4.9, "/robots.txt", host="b.example")], {"delay_s": 1.0}, "robots.txt", "/x was asked for before"),
        (GOOD, {"delay_s": 1.0, "robots": {"": "User-agent: *\nCrawl-delay: 2"}}, "delay", "the delay is 2 s"),
        (GOOD, {"delay_s": 1.0, "robots": {"b.example": "User-agent: *\nCrawl-delay: 2"}}, "", ""),
        ([*GOOD, line(4, end=9.0), line(5, end=9.0)], {"per_host": 1}, "in flight", "2 at a time, 1 promised"),
        ([*GOOD, line(4, end=5.0), line(5, end=9.0)], {"per_host": 1}, "", ""),
        ([*GOOD, line(4, end=9.0), line(5, "/robots.txt", host="b", end=9.0)], {"per_host": 1, "concurrency": 1}, "in flight", "over all"),
        (GOOD[1:], {}, "robots.txt", "/x was asked for before robots.txt"),
        ([*GOOD, line(4, "/private/1")], {"robots": {"": ROBOTS}}, "robots.txt", "/private/1 is disallowed"),
        ([*GOOD, line(4, "/private/open")], {"robots": {"": ROBOTS}}, "", ""),
        ([line(0, "/robots.txt", status=503), line(1)], {}, "robots.txt", "although robots.txt answered 503"),
        ([line(0, "/robots.txt", status=503), line(1, "/robots.txt"), line(2)], {}, "", ""),
        ([line(0, "/robots.txt", status=404), line(1, "/private/1")], {"robots": {"": ROBOTS}}, "", ""),
        ([*GOOD, line(4, status=429, retry_after=9), line(8)], {}, "rest", "came 5.010 s before the end of a rest"),
        ([*GOOD, line(4, status=429, retry_after=9), line(13.1)], {}, "", ""),
        ([*GOOD, line(4, status=503, retry_after=9**9), line(3605)], {}, "", ""),
        (GOOD, {"max_pages": 2}, "budgets", "3 pages, 2 promised"),
        (GOOD, {"max_pages_per_host": 2}, "budgets", "a.example: 3 pages, 2 promised"),
        (GOOD, {"max_pages": 2, "files": ("/y",)}, "", ""),
        ([*GOOD, line(4, "/m", status=301), line(5, "/b", status=500), line(6, "/b")], {"max_pages": 4}, "", ""),
        ([*GOOD, line(3602)], {"per_hour": 3}, "", ""),
        ([*GOOD, line(3600)], {"per_hour": 3}, "budgets", "one page too many in an hour"),
        ([*GOOD, line(4, agent="curl/8")], {}, "agent", "'curl/8' does not name honeyguide"),
    ],
)  # fmt: skip
def test_the_checker(lines: list[dict[str, Any]], promise: dict[str, Any], name: str, what: str) -> None:
    found = broken(lines, **promise)
    assert list(found) == ([name] if name else [])
    assert not name or what in found[name][0]


def test_the_log_of_nginx() -> None:
    text = (
        '192.0.2.7 - - [01/Jan/2026:00:00:00 +0000] "GET /robots.txt HTTP/1.1" 200 31 "-" "honeyguide/1 (x)" a.example 1000.250 0.250\n'
        '192.0.2.7 - - [01/Jan/2026:00:00:01 +0000] "GET /a%20b?c=1 HTTP/1.1" 404 0 "-" "honeyguide/1 (x)" a.example 1001.000 0.100\n'
    )
    first, second = tool.read_log(text)
    assert (first.start, first.end, first.host, first.is_robots) == (1000.0, 1000.25, "a.example", True)
    assert (second.path, second.status, second.agent) == ("/a%20b?c=1", 404, "honeyguide/1 (x)")


@pytest.mark.parametrize(
    "text", ["", "{}", '{"start": "x"}', "garbage", '{"start": 1, "end": 1, "host": "a"']
)
def test_what_is_no_log(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log").write_text(text, "utf-8")
    assert tool.main([str(tmp_path / "log")]) == 2
    assert capsys.readouterr().err.startswith("Error: ")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log").write_text("\n".join(map(json.dumps, GOOD)), "utf-8")
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow: /y", "utf-8")
    assert tool.main([str(tmp_path / "log"), "--delay", "1", "--max-pages", "3"]) == 0
    assert "kept    budgets: 3 pages" in capsys.readouterr().out
    assert tool.main([str(tmp_path / "log"), "--robots", str(tmp_path / "robots.txt")]) == 1
    assert "/y is disallowed" in capsys.readouterr().out


# --- the promises, kept ---


def page(title: str, *links: str) -> bytes:
    text = f"All about {title}, told in words that are found on this page only. " * 8
    listed = " ".join(f'<a href="{link}">{link.strip("/")}</a>' for link in links)
    return kept(f"<title>{title}</title><h1>{title}</h1><main><p>{text}</p><p>{listed}</p></main>".encode())


def other(status: str, *headers: str) -> bytes:
    return kept(b"", *headers).replace(b"200 OK", status.encode())


def together(body: bytes, number: int) -> Script:
    """Answer nobody before so many have asked, and then after a while."""
    asked, enough = 0, asyncio.Event()

    async def script(writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        if asked >= number:
            enough.set()
        await asyncio.wait_for(enough.wait(), HANG_S)
        await asyncio.sleep(0.1)
        writer.write(response(body))
        await writer.drain()

    return script


def pages(robots: str = ROBOTS) -> dict[str, Page]:
    """A site with everything that tempts: forbidden pages, redirects, failures, and a page that asks for rest."""
    services = [
        f"/services/{name}" for name in ("repair", "testing", "design", "training", "rental", "advice")
    ]
    tempting = [
        "/private/about",
        "/private/open",
        "/about",
        "/moved",
        "/busy",
        "/broken",
        "/gone",
        "/contact",
    ]
    found = {path: page(path, "/", "/private/more", "/about") for path in [*services, "/about", "/contact"]}
    return {
        **found,
        "/": page("Home", *services, *tempting),
        "/robots.txt": kept(robots.encode()),
        "/private/open": page("Open", "/"),
        "/moved": other("301 Moved", "Location: /about"),
        "/busy": [other("429 Too Many", "Retry-After: 1"), page("Busy", "/")],
        "/broken": [other("500 Oops"), page("Broken", "/")],
    }


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run a command, at the pace of the tests; gives its exit code."""
    monkeypatch.chdir(tmp_path)
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)

    def runner(*args: str, delay_s: float = DELAY_S) -> int:
        manners = ("--allow-private", "--delay", str(delay_s), "--quiet")
        done = CliRunner().invoke(root, (*args, *manners), prog_name="honeyguide")
        assert done.exit_code in (0, 3), done.output
        return done.exit_code

    return runner


def test_pick_keeps_them(run: Callable[..., int]) -> None:
    first, second = Site(pages()), Site(pages())
    with first.served(), second.served():
        assert run("pick", f"{first.root}/", f"{second.root}/", "--cap", "8", "-o", "picks.jsonl") == 0
    lines = first.lines + second.lines
    kept_ones = {"per_host": 5, "concurrency": 32, "robots": {"": ROBOTS}, "slack_s": SLACK_S}
    assert broken(lines, delay_s=DELAY_S, max_pages_per_host=20, **kept_ones) == {}
    assert len(first.lines) >= 8
    assert "delay" in broken(lines, delay_s=3600.0, **kept_ones)  # or the log would prove nothing


def test_crawl_and_watch_keep_them(run: Callable[..., int]) -> None:
    first, second = Site(pages()), Site(pages())
    promise = {
        "delay_s": DELAY_S,
        "per_host": 5,
        "concurrency": 32,
        "robots": {"": ROBOTS},
        "slack_s": SLACK_S,
    }
    with first.served(), second.served():
        seeds = (f"{first.root}/", f"{second.root}/")
        assert run("crawl", *seeds, "--traversal", "bfs", "-o", "pages.jsonl") == 0
        crawled = first.lines + second.lines
        first.lines, second.lines = [], []
        assert (
            run("watch", "--per-hour", "40", "--rounds", "2", "--cycle", "1", "--rest", "0", "-o", "w.jsonl")
            == 0
        )
        watched = first.lines + second.lines
    assert broken(crawled, max_pages_per_host=14, **promise) == {}
    assert {"/moved", "/busy", "/broken", "/private/open"} <= {one["path"] for one in crawled}
    assert any("retry_after" in one for one in crawled)
    assert len(watched) >= 4
    assert broken(watched, **promise) == {}
    assert broken(crawled + watched, per_hour=40, slack_s=SLACK_S) == {}
    assert "budgets" in broken(crawled + watched, per_hour=20, slack_s=SLACK_S)
    assert "delay" in broken(crawled, **{**promise, "delay_s": 3600.0})


def test_a_crawl_delay_and_a_budget_are_kept_as_the_command_says(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    robots = f"{ROBOTS}Crawl-delay: 0.2\n"
    (tmp_path / "robots.txt").write_text(robots, "utf-8")
    site = Site(pages(robots), tmp_path / "access.log")
    with site.served() as home:
        budget = ("--max-pages", "6", "-o", "p.jsonl")
        assert run("crawl", f"{home}/", "--traversal", "bfs", *budget, delay_s=0.0) == 3
    asked = [
        str(tmp_path / "access.log"),
        "--robots",
        str(tmp_path / "robots.txt"),
        "--slack",
        str(SLACK_S),
        "--delay",
        "0",
    ]
    assert tool.main([*asked, "--max-pages", "6"]) == 0, capsys.readouterr().out
    assert tool.main([*asked, "--max-pages", "5"]) == 1
    assert "BROKEN  budgets: 6 pages" in capsys.readouterr().out


def test_no_more_than_five_at_a_time(run: Callable[..., int]) -> None:
    slow: dict[str, Page] = dict.fromkeys((f"/services/{n}" for n in range(20)), together(b"<p>late", 5))
    site = Site({**slow, "/": page("Home", *slow), "/robots.txt": kept(b"")})
    with site.served() as home:
        run("crawl", f"{home}/", "--traversal", "bfs", "-o", "p.jsonl", delay_s=0.0)
    assert len(site.lines) > 12
    assert broken(site.lines, per_host=5) == {}
    assert list(broken(site.lines, per_host=4)) == ["in flight"]  # all five were used


def test_a_site_whose_robots_txt_fails_is_left_alone(run: Callable[..., int]) -> None:
    site = Site({**pages(), "/robots.txt": other("503 Busy")})
    with site.served() as home:
        run("crawl", f"{home}/", "--traversal", "bfs", "--retries", "0", "-o", "p.jsonl")
        run("pick", f"{home}/", "--retries", "0", "-o", "picks.jsonl")
    assert set(site.paths) == {"/robots.txt"}
    assert broken(site.lines, slack_s=SLACK_S) == {}
