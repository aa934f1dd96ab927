"""Nothing is lost without a word: options that repeat, content, outputs of other crawls, stores, sites that do not answer."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.testing.contracts import found, spec
from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]

QUICK = ("--allow-private", "--delay", "0", "--retries", "0")
CRAWL = ("--topic", "fire", *QUICK)
HOME = b'<title>Fire</title><p>All about fire.</p><a href="/a">A fire</a> <a href="/b">Fire</a> <a href="/c">Fire</a>'
PAGE = b"<title>Fire</title><p>%b: words about fire that are its own.</p>"


def site() -> LoopbackServer:
    pages = {f"/{name}": response(PAGE % name.encode()) for name in "abc"}
    return LoopbackServer({"/": response(HOME), **pages})


def test_every_include_and_every_exclude_counts(run: Run) -> None:
    """CLI: options that may be repeated are all heard; the last one alone once was."""
    with served(site()) as (url,):
        included = run("crawl", url, *CRAWL, "--include", "/a", "--include", "/b", "--format", "jsonl")
        excluded = run("crawl", url, *CRAWL, "--exclude", "/a", "--exclude", "/b", "--format", "jsonl")
    for result, ends in ((included, "/ab"), (excluded, "/c")):
        assert {json.loads(line)["url"][-1] for line in result.stdout.splitlines()} == {"/", *ends}


@pytest.mark.parametrize("given", [("-o", "x.csv"), ("--format", "csv"), ("-o", "x", "--format", "csv")])
def test_pick_refuses_a_table_that_would_lose_the_content(
    run: Run, folder: Path, given: tuple[str, ...]
) -> None:
    result = run("pick", "127.0.0.1:9", *QUICK, "--content", *given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "A table has no room for --content" in result.stderr
    assert not (folder / "x.csv").exists()


@pytest.mark.parametrize("name", ["pages.jsonl", "pages.csv"])
def test_a_crawl_that_is_refused_for_its_output_leaves_no_run_behind(
    run: Run, folder: Path, name: str
) -> None:
    with served(site()) as (url,):
        assert run("crawl", url, *CRAWL, "-o", name).exit_code == 0
        before = (folder / name).read_bytes()
        refused = run("crawl", f"{url}a", *CRAWL, "-o", name)
        assert refused.exit_code == 1
        assert "holds pages of another crawl" in refused.stderr
        assert [json.loads(line)["run"] for line in run("runs").stdout.splitlines()] == [1]
        assert (folder / name).read_bytes() == before
        assert run("crawl", f"{url}a", *CRAWL, "-o", name, "--restart").exit_code == 0
    assert len(run("runs").stdout.splitlines()) == 2


def test_a_store_that_is_deleted_under_a_crawl_ends_it_with_a_sentence(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush = SqliteStore.flush

    def delete_first(self: SqliteStore) -> None:
        (folder / "honeyguide.db").unlink(missing_ok=True)
        flush(self)

    monkeypatch.setattr(SqliteStore, "flush", delete_first)
    with served(site()) as (url,):
        result = run("crawl", url, *CRAWL)
    assert result.exit_code == 1
    assert "honeyguide.db: was deleted or replaced while it was in use" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("runs",),
        ("export", "pages"),
        ("explain", "https://a.example/"),
        ("plan", "--store", "honeyguide.db"),
        ("watch", "--per-hour", "10"),
        ("simulate", "recrawl", "--store", "honeyguide.db"),
        ("crawl", "https://a.example/", "--topic", "fire"),
        ("crawl", "--due"),
    ],
)
def test_a_store_that_was_copied_without_its_log_is_refused_by_every_command(
    run: Run, folder: Path, command: tuple[str, ...]
) -> None:
    store = SqliteStore(folder / "open.db")
    store.queue(store.runs.begin(spec(), 0.0)).add([found("/a")])
    store.flush()
    shutil.copyfile(folder / "open.db", folder / "honeyguide.db")
    result = run(*command)
    store.close()
    assert result.exit_code == 1
    assert "honeyguide.db: was copied without its log" in result.stderr


def test_pick_says_why_no_site_was_reached(run: Run, folder: Path) -> None:
    sites = [f"http://127.0.0.1:9/{n}" for n in range(7)]
    result = run("pick", *sites, *QUICK, "-o", "picks.jsonl")
    assert result.exit_code == 3
    lines = result.stderr.splitlines()
    assert lines[0].startswith("picks.jsonl: 7 sites, 0 ok, 7 not ok (7 unreachable)")
    assert len(lines) == 1 + 5 + 1
    assert all("no connection" in line for line in lines[1:-1])
    assert lines[-1] == "Note: 2 more sites: their records say why"
    assert not list(folder.glob("*.journal"))
    assert run("pick", *sites, *QUICK, "-o", "picks.jsonl").exit_code == 3  # also when it is complete already


def test_one_site_that_is_reached_makes_a_pick_a_success(run: Run) -> None:
    with served(site()) as (url,):
        assert run("pick", "http://127.0.0.1:9/", url, *QUICK).exit_code == 0


@pytest.mark.parametrize("quiet", [(), ("-q",)])
def test_crawl_says_why_no_seed_was_reached(run: Run, quiet: tuple[str, ...]) -> None:
    result = run("crawl", "http://127.0.0.1:9/", *CRAWL, *quiet, "-o", "pages.jsonl")
    assert result.exit_code == 3
    assert "no connection" in result.stderr
