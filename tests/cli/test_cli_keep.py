"""`crawl` keeps pages in its store: with a limit, which it tells about, or not at all; and it stops when it has enough."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import honeyguide
from honeyguide.testing.contracts.history import noise
from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]
    Start = Callable[..., subprocess.Popen[bytes]]


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


# --- after the fact -------------------------------------------------------------------------------------------------


def shelf() -> LoopbackServer:
    """A site about asyncio with a list, a copy, a page in another language and one on something else."""
    listed = [f"/part{number}" for number in range(12)]
    code = "<pre>await one()\n\nawait two()</pre><table><tr><th>a<th>b<tr><td>1<td>2</table>"
    long = f"{'A coroutine of asyncio waits. ' * 8}</p>{code}<h2>Later</h2><p>asyncio runs a coroutine. "
    pages = {
        "/": page("Manual", "/best", "/copy", "/index", "/deutsch", "/socket"),
        "/index": page("asyncio coroutine index", *listed, text="asyncio"),
        "/best": page("asyncio coroutine", text=long),
        "/copy": page("asyncio coroutine!", text=long, head="<link rel=canonical href=/best>"),
        "/deutsch": page(
            "asyncio coroutine auf Deutsch", language="de-AT", text="Eine coroutine wartet. " * 9
        ),
        "/socket": page("Sockets and selectors", text="A socket, a selector, a socket. " * 9),
    }
    parts = {path: page(f"Part {path}", text=f"Nothing on {path}. " * 9) for path in listed}
    return LoopbackServer({**pages, **parts})


@pytest.fixture
def crawled(run: Run) -> str:
    """The address of a site that was crawled; it answers no more."""
    with served(shelf()) as (home,):
        result = run("crawl", home, *TOPIC, *QUICK, "--quiet", "--traversal", "bfs")
        assert result.exit_code == 0, result.stderr
    return home.rstrip("/")


def exported(run: Run, *options: str) -> list[dict[str, Any]]:
    result = run("export", "pages", *options)
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def paths(pages: list[dict[str, Any]]) -> list[str]:
    return ["/" + page["url"].split("/", 3)[3] for page in pages]


@pytest.mark.usefixtures("crawled")
def test_the_best_pages_are_no_lists_and_no_copies(run: Run) -> None:
    assert paths(exported(run, "--top", "3")) == ["/best", "/deutsch"]
    assert paths(exported(run, "--top", "1")) == ["/best"]
    assert set(paths(exported(run, "--top", "9", "--lists"))) == {"/best", "/deutsch", "/index"}
    (index,) = (page for page in exported(run, "--path", "/index$"))
    assert index["points"][-1]["rule"] == "list"
    assert index["reasons"][-1].startswith("a list: its main part links 10 or more pages")
    (copy,) = exported(run, "--path", "^/copy$")
    assert copy["duplicate_of"] == exported(run, "--path", "^/best$")[0]["url"]


def test_a_crawl_writes_its_best_pages_when_it_stops(run: Run, folder: Path) -> None:
    with served(shelf()) as (home,):
        command = ("crawl", home, *TOPIC, *QUICK, "--traversal", "bfs")
        best = run(*command, "--top", "3", "--content", "--markdown", "notes", "-o", "best.jsonl")
        assert best.exit_code == 0, best.stderr
        files = sum(file.is_file() for file in Path("notes").rglob("*"))
        assert f"notes: {files} pages as Markdown." in best.stderr
        assert run(*command, "--top", "3", "--content", "-o", "best.jsonl").exit_code == 0  # and again
        printed = run(*command, "--top", "1", "--store", "other.db", "--quiet")
        assert "relevant to the topic" not in best.stderr  # all of them are
        wide = run(*command, "--top", "9", "--lists", "--store", "wide.db")
        assert "Note: 2 of the 3 best pages are relevant to the topic\n" in wide.stderr
        some = run(*command, "--min-score", "5", "--lang", "de", "--store", "third.db", "-o", "some.jsonl")
        assert (
            some.exit_code
            == run(
                *command, "--lang", "de", "--min-score", "5", "--store", "third.db", "-o", "some.jsonl"
            ).exit_code
        )
    assert paths(records(folder / "best.jsonl")) == ["/best", "/deutsch"]
    assert "await one()" in records(folder / "best.jsonl")[0]["markdown"]
    assert sorted(file.name for file in (folder / "notes").rglob("*.md")) == ["best.md", "deutsch.md"]
    assert paths([json.loads(line) for line in printed.stdout.splitlines()]) == ["/best"]
    assert paths(records(folder / "some.jsonl")) == ["/deutsch"]


@pytest.mark.usefixtures("folder")
def test_markdown_files_are_written_although_nobody_reads_the_records(start: Start, folder: Path) -> None:
    with served(shelf()) as (home,):
        best = ("--top", "3", "--lists", "--markdown", "notes", "--format", "jsonl")
        process = start("crawl", home, *TOPIC, *QUICK, "--traversal", "bfs", *best)
        with process:
            assert process.stdout is not None
            process.stdout.close()
    assert process.returncode == 0
    assert len([file for file in (folder / "notes").rglob("*") if file.is_file()]) == 3


def test_content_in_parquet_is_that_of_json_lines(run: Run) -> None:
    pytest.importorskip("polars", reason="polars is an extra")
    with served(shelf()) as (home,):
        command = ("crawl", home, *TOPIC, *QUICK, "--quiet", "--traversal", "bfs", "--content", "text")
        assert run(*command, "-o", "c.parquet").exit_code == 0
        assert run(*command, "-o", "c.parquet").exit_code == 0  # and again
    for name, more in {"p": ("--content",), "t": ("--content", "text"), "k": ("--chunks", "500")}.items():
        for kind in ("jsonl", "parquet"):
            assert run("export", "pages", *more, "-o", f"{name}.{kind}", "--quiet").exit_code == 0
        assert list(honeyguide.read(f"{name}.parquet")) == list(honeyguide.read(f"{name}.jsonl"))
    assert list(honeyguide.read("c.parquet")) == list(honeyguide.read("t.jsonl"))
    assert any("await one()" in (page["text"] or "") for page in honeyguide.read("c.parquet"))


@pytest.mark.usefixtures("crawled")
def test_pages_are_chosen_by_what_they_are_about(run: Run, folder: Path) -> None:
    """TOPIC-7: a list that scores as much as the best page is not about the topic."""
    (index,), (best,) = exported(run, "--path", "^/index$"), exported(run, "--path", "^/best$")
    assert index["relevance_score"] >= 5
    assert index["topic_relevance"] < 0.5 <= best["topic_relevance"]
    assert set(paths(exported(run, "--min-relevance", "0.5"))) == {"/best", "/copy", "/deutsch"}
    with served(shelf()) as (home,):
        command = ("crawl", home, *TOPIC, *QUICK, "--traversal", "bfs", "--store", "o.db", "-o", "o.jsonl")
        assert run(*command, "--min-relevance", "0.5").exit_code == 0
    assert set(paths(records(folder / "o.jsonl"))) == {"/best", "/copy", "/deutsch"}
    assert run("export", "pages", "--min-relevance", "2").exit_code == 2


def test_the_best_pages_are_those_about_the_topic_not_those_with_most_mentions(run: Run) -> None:
    aside = "<h2>asyncio</h2><h2>coroutine</h2>" + "asyncio " * 12 + "plain words of a long page " * 900
    about = "An asyncio page. " + "A coroutine waits for another one. " * 30
    pages = {
        "/": page("Manual", "/long", "/about"),
        "/long": page("Novelties", text=aside),
        "/about": page("Waiting", text=about),
    }
    with served(LoopbackServer(pages)) as (home,):
        assert run("crawl", home, *TOPIC, *QUICK, "--quiet", "--traversal", "bfs").exit_code == 0
    first, second = exported(run, "--top", "2")
    assert paths([first, second]) == ["/about", "/long"]
    assert first["relevance_score"] < second["relevance_score"]


def test_of_a_page_in_several_languages_one_is_among_the_best(run: Run) -> None:
    """Versions name each other with hreflang; pages that name only homepages are no versions of each other."""
    named = "".join(
        f"<link rel=alternate hreflang={one} href=/{one}/wait>" for one in ("en", "de", "x-default")
    )
    homes = "<link rel=alternate hreflang=en href=/en/><link rel=alternate hreflang=de href=/de/>"
    texts = {"en": "A coroutine of asyncio waits here. ", "de": "Hier wartet eine coroutine von asyncio. "}
    pages = {
        "/": page("Manual", "/en/wait", "/de/wait", "/x-default/wait", "/one", "/two"),
        **{
            f"/{one}/wait": page(f"asyncio {one}", language=one, head=named, text=text * 9)
            for one, text in texts.items()
        },
        "/one": page("asyncio one", head=homes, text="The asyncio of one thing. " * 9),
        "/two": page("asyncio two", head=homes, text="Another asyncio, with a coroutine. " * 9),
    }
    with served(LoopbackServer(pages)) as (home,):
        assert run("crawl", home, *TOPIC, *QUICK, "--quiet", "--traversal", "bfs").exit_code == 0
    best = paths(exported(run, "--top", "9"))
    assert len([path for path in best if path.endswith("/wait")]) == 1
    assert {"/one", "/two"} <= set(best)
    groups = {paths([one])[0]: one["language_group"] for one in exported(run)}
    assert groups["/en/wait"] == groups["/de/wait"] is not None
    assert groups["/one"] != groups["/two"]
    assert groups["/"] is None
    assert paths(exported(run, "--top", "9", "--lang", "de")) == ["/de/wait"]


@pytest.mark.usefixtures("crawled")
def test_pages_are_chosen_by_score_rule_path_and_language(run: Run) -> None:
    assert {page["relevance_score"] >= 5 for page in exported(run, "--min-score", "5")} == {True}
    assert paths(exported(run, "--lang", "de")) == ["/deutsch"]
    assert paths(exported(run, "--rule", "list")) == ["/index"]
    assert len(exported(run, "--path", "^/part[0-9]$")) == 10
    assert exported(run, "--lang", "fr") == []
    assert len(exported(run, "--changed")) == 18
    wrong = run("export", "pages", "--path", "(")
    assert wrong.exit_code == 2 or "missing" in wrong.stderr
    assert wrong.exit_code != 0


@pytest.mark.usefixtures("crawled")
def test_content_comes_from_the_store(run: Run, folder: Path) -> None:
    (best,) = exported(run, "--path", "^/best$", "--content")
    assert "```\nawait one()\n\nawait two()\n```" in best["markdown"]
    assert best["is_cut"] is False
    (plain,) = exported(run, "--path", "^/best$", "--content", "text")
    assert "await two()" in plain["text"]
    assert "```" not in plain["text"]
    result = run("export", "pages", "--top", "2", "--markdown", "notes")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "notes: 2 pages" in result.stderr
    (text,) = (file.read_text() for file in (folder / "notes").rglob("best.md"))
    assert '\ntopic: "asyncio|coroutine"\n' in text
    assert '\nlanguage: "en"\n' in text


def test_what_a_crawl_did_not_keep_is_said(run: Run) -> None:
    with served(shelf()) as (home,):
        run("crawl", home, *TOPIC, *QUICK, "--quiet", "--no-keep", "--max-pages", "3")
    result = run("export", "pages", "--content")
    assert result.exit_code == 0
    assert [json.loads(line)["markdown"] for line in result.stdout.splitlines()] == [None] * 3
    assert "3 pages not kept" in result.stderr


@pytest.mark.usefixtures("crawled")
def test_chunks_follow_headings_keep_code_and_tables_whole_and_have_lasting_ids(run: Run) -> None:
    chunks = exported(run, "--path", "^/best$", "--chunks", "100")
    assert [chunk["place"] for chunk in chunks] == list(range(1, len(chunks) + 1))
    assert len({chunk["id"] for chunk in chunks}) == len(chunks) > 4
    assert chunks[-1]["headings"] == ["asyncio coroutine", "Later"]
    assert any("```\nawait one()\n\nawait two()\n```" in chunk["text"] for chunk in chunks)
    assert sum("| 1 | 2 |" in chunk["text"] and "| a | b |" in chunk["text"] for chunk in chunks) == 1
    assert all(len(chunk["text"]) <= 100 or "`" in chunk["text"] for chunk in chunks)
    assert chunks == exported(run, "--path", "^/best$", "--chunks", "100")


def test_rescoring_gives_the_scores_of_a_fresh_crawl(run: Run, folder: Path) -> None:
    other = ("--topic", "socket|selector", "--related", "waits")
    with served(shelf()) as (home,):
        run("crawl", home, *TOPIC, *QUICK, "--quiet", "--traversal", "bfs")
        run(
            "crawl",
            home,
            *other,
            *QUICK,
            "--quiet",
            "--traversal",
            "bfs",
            "--store",
            "fresh.db",
            "-o",
            "f.jsonl",
        )
    result = run("rescore", *other)
    assert result.exit_code == 0, result.stderr
    found = [json.loads(line) for line in result.stdout.splitlines()]
    names = (
        "url",
        "relevance_score",
        "relevance_level",
        "reasons",
        "points",
        "topic_relevance",
        "topic_points",
    )
    assert sorted([page[name] for name in names] for page in found) == sorted(
        [page[name] for name in names] for page in records(folder / "f.jsonl")
    )
    assert max(page["relevance_score"] for page in found) >= 5
    assert max(page["topic_relevance"] for page in found) >= 0.5
    best = run("rescore", *other, "--top", "1")
    assert paths([json.loads(best.stdout)]) == ["/socket"]


def test_a_store_without_pages_has_nothing_to_score(run: Run) -> None:
    assert run("import", "known.csv", "--store", "known.db").exit_code == 0
    result = run("rescore", "--store", "known.db", "--topic", "alarm")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: known.db: has no page of run 1, so that there is nothing to score\n"


@pytest.mark.usefixtures("crawled")
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("export", "links", "--top", "3"), "--top selects pages: export pages."),
        (("export", "pages", "--lists"), "--lists goes with --top"),
        (("export", "pages", "--chunks", "500", "--content"), "leave out --content"),
        (("export", "pages", "--content", "--format", "csv"), "--content needs JSON lines"),
        (("export", "pages", "--chunks", "1000", "-o", "x.csv"), "--chunks needs JSON lines"),
        (("rescore",), "Missing option"),
        (("crawl", "a.example", *TOPIC, "--lists"), "--lists goes with --top"),
        (("crawl", "--due", "--top", "3"), "leave out --due"),
        (("crawl", "a.example", *TOPIC, "--top", "3", "--content", "--no-keep"), "leave out --no-keep"),
    ],
)
def test_options_that_do_not_go_together(run: Run, options: tuple[str, ...], sentence: str) -> None:
    result = run(*options)
    assert result.exit_code == 2
    assert sentence in result.stderr


@pytest.mark.usefixtures("crawled")
def test_deleting_a_run_deletes_its_pages(run: Run) -> None:
    assert bodies() == 18
    assert run("runs", "delete", "1").exit_code == 0
    assert bodies() == 0
