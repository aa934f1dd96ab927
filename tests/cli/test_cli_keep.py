"""`crawl` keeps pages in its store: with a limit, which it tells about, or not at all; and it stops when it has enough."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide.testing.contracts.contents import noise
from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]


TOPIC = ("--topic", "asyncio|coroutine")
QUICK = ("--allow-private", "--delay", "0")


def page(title: str, *links: str, language: str = "en", head: str = "", text: str = "") -> bytes:
    anchors = "".join(f'<li><a href="{link}">{link.strip("/")}</a></li>' for link in links)
    said = text or f"What this page says of {title} " * 12
    return response(
        f"<html lang={language}><title>{title}</title>{head}<main><h1>{title}</h1><p>{said}</p><ul>{anchors}</ul>"
        f"</main><!-- {noise(len(title), 2_000).hex()} -->".encode()
    )


def manual() -> LoopbackServer:
    return LoopbackServer(
        {
            "/": page("Manual", "/library", "/asyncio", "/socket", "/gone"),
            "/library": page("Library", "/asyncio", "/tasks"),
            "/asyncio": page("asyncio coroutines", "/tasks"),
            "/tasks": page("Tasks of asyncio: coroutine", "/socket"),
            "/socket": page("Sockets"),
        }
    )


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def bodies(path: str = "honeyguide.db") -> int:
    with closing(sqlite3.connect(path)) as database:
        return int(database.execute("SELECT count(*) FROM body").fetchone()[0])


@pytest.mark.usefixtures("folder")
def test_pages_are_kept_unless_no_keep_is_given(run: Run) -> None:
    with served(manual()) as (home,):
        assert run("crawl", home, *TOPIC, *QUICK, "--quiet").exit_code == 0
        assert (
            run("crawl", home, *TOPIC, *QUICK, "--quiet", "--no-keep", "--store", "other.db").exit_code == 0
        )
    assert bodies() == 5  # all but /gone
    assert bodies("other.db") == 0


@pytest.mark.usefixtures("folder")
def test_it_is_said_that_the_oldest_pages_were_dropped(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("honeyguide.cli.options.KeepOptions.keep_bytes", 7_000)
    with served(manual()) as (home,):
        result = run("crawl", home, *TOPIC, *QUICK)
    assert "older pages: see --keep-limit" in result.stderr
    assert 0 < bodies() < 5


@pytest.mark.usefixtures("folder")
def test_a_crawl_stops_when_it_has_enough_and_that_is_success(run: Run) -> None:
    with served(manual()) as (home,):
        command, file = ("crawl", home, *TOPIC, *QUICK), Path("p.jsonl")
        first = run(*command, "--max-relevant", "1", "-o", "p.jsonl")
        assert first.exit_code == 0, first.stderr
        assert "Stopped: --max-relevant pages were found" in first.stderr
        again = run(*command, "--max-relevant", "1", "-o", "p.jsonl")
        assert again.exit_code == 0
        pages = records(file)
        assert [page["relevance_score"] >= 5 for page in pages] == [False] * (len(pages) - 1) + [True]
        more = run(*command, "--max-relevant", "2", "-o", "p.jsonl")
        assert more.exit_code == 0
    assert sum((json.loads(line)["relevance_score"] or 0) >= 5 for line in file.read_text().splitlines()) == 2


@pytest.mark.usefixtures("folder")
def test_max_relevant_needs_a_topic(run: Run) -> None:
    result = run("crawl", "http://a.example/", "--traversal", "bfs", "--max-relevant", "1")
    assert result.exit_code == 2
    assert "--max-relevant counts pages about a topic" in result.stderr
