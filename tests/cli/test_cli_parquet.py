"""`crawl -o pages.parquet` and `export … -o x.parquet`: the records of JSON lines, always with the same types."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide.cli.commands.runs import RECORDS
from honeyguide.core.records.fields import fields
from honeyguide.testing.fakes import LoopbackServer, served

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Manual = Callable[[], LoopbackServer]

pl = pytest.importorskip("polars")  # an extra
TOPIC = ("--topic", "asyncio|coroutine")
QUICK = ("--allow-private", "--delay", "0", "--retries", "0")


def rows(path: Path) -> list[dict[str, Any]]:
    return list(pl.read_parquet(path).to_dicts())


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("what", list(RECORDS))
def test_parquet_has_the_names_and_values_of_json_lines(run: Run, crawled: Path, what: str) -> None:
    result = run("export", what, "-o", "x.parquet")
    found = rows(crawled / "x.parquet")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith(f"x.parquet: {len(found):,} ")
    expected = lines(run("export", what).stdout)
    columns = [name for name in fields(RECORDS[what]) if name not in ("markdown", "text", "is_cut")]
    assert found
    assert found == [{name: record.get(name) for name in columns} for record in expected]
    before = (crawled / "x.parquet").read_bytes()
    assert run("export", what, "-o", "x.parquet", "--quiet").stderr == ""
    assert (crawled / "x.parquet").read_bytes() == before


def test_types_do_not_depend_on_what_was_found(run: Run, crawled: Path) -> None:
    """A crawl without a single page has the columns of a large one."""
    run("crawl", "127.0.0.1:9", *TOPIC, *QUICK, "--store", "other.db", "-o", "few.parquet", "--quiet")
    assert rows(crawled / "few.parquet") == []
    run("export", "pages", "-o", "many.pq")
    assert pl.read_parquet_schema(crawled / "few.parquet") == pl.read_parquet_schema(crawled / "many.pq")
    schema = pl.read_parquet_schema(crawled / "many.pq")
    assert (schema["status"], schema["relevance_score"], schema["fetched_at"]) == (
        pl.Int64,
        pl.Float64,
        pl.String,
    )
    assert schema["links"].inner.fields[-1].name == "points"


def test_a_crawl_in_parquet_has_all_pages_of_the_run(run: Run, folder: Path, manual: Manual) -> None:
    file = folder / "p.parquet"
    with served(manual()) as (home,):
        command = ("crawl", home, *TOPIC, *QUICK, "-o", "p.parquet")
        first = run(*command, "--max-pages", "3")
        assert (first.exit_code, first.stdout) == (3, "")
        assert "p.parquet: 3 pages" in first.stderr
        assert len(rows(file)) == 3
        assert run(*command, "--links").exit_code == 0
        found = rows(file)
        assert len({row["url"] for row in found}) == len(found) == 6
        assert [row["links"] is None for row in found] == [True, True, True, False, True, False]
        assert found[3]["links"][0]["points"][0]["points"] > 0
        assert run("export", "pages", "-o", "e.parquet").exit_code == 0
        assert rows(folder / "e.parquet") == found
        assert run(*command).exit_code == 0
        assert [row["links"] for row in rows(file)] == [None] * 6  # as was asked for
    assert not list(folder.glob("*.part"))


def test_letters_that_are_none_do_not_stop_it(run: Run, crawled: Path) -> None:
    import sqlite3

    with sqlite3.connect(crawled / "honeyguide.db") as db:
        db.execute("UPDATE visit SET record = replace(record, 'Sockets', 'S\\ud800')")
    db.close()
    assert run("export", "pages", "-o", "x.parquet").exit_code == 0
    assert "S?" in [row["title"] for row in rows(crawled / "x.parquet")]


def test_files_of_others_and_of_other_crawls_are_left_alone(run: Run, folder: Path, manual: Manual) -> None:
    file = folder / "p.parquet"
    pl.DataFrame({"url": ["https://a.example/"]}).write_parquet(file)
    mine = file.read_bytes()
    with served(manual(), manual()) as (one, other):
        for command in (("crawl", one, *TOPIC, *QUICK), ("crawl", one, *TOPIC, *QUICK, "--restart")):
            result = run(*command, "-o", "p.parquet")
            assert (result.exit_code, file.read_bytes()) == (1, mine)
            assert "p.parquet: exists and is no output of this command; choose another -o" in result.stderr
        file.unlink()
        assert run("crawl", one, *TOPIC, *QUICK, "-o", "p.parquet").exit_code == 0
        before = file.read_bytes()
        result = run("crawl", other, *TOPIC, *QUICK, "-o", "p.parquet")
        assert (result.exit_code, file.read_bytes()) == (1, before)
        assert "holds pages of another crawl" in result.stderr
        for what in ("links", "external", "out"):
            assert run("export", what, "-o", "p.parquet").exit_code == 1
        assert file.read_bytes() == before
        assert run("export", "pages", "--run", "1", "-o", "p.parquet").exit_code == 0
        assert run("crawl", other, *TOPIC, *QUICK, "-o", "p.parquet", "--restart").exit_code == 0
    assert {row["url"].startswith(other) for row in rows(file)} == {True}


@pytest.mark.parametrize("command", [("crawl", "127.0.0.1:9", *TOPIC, *QUICK), ("export", "pages")])
def test_what_parquet_cannot_be(run: Run, crawled: Path, command: tuple[str, ...]) -> None:
    for more in ((), ("-o", "-")):
        result = run(*command, "--format", "parquet", *more)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "Parquet needs a file: name it with -o." in result.stderr
    result = run(*command, "--format", "parquet", "-o", "x.csv")
    assert "'x.csv' is csv by its name; leave out --format parquet" in result.stderr
    if command[0] == "crawl":
        result = run(*command, "-o", "x.parquet", "--content", "--no-keep")
        assert result.exit_code == 2
        assert "--top and Parquet take the content from the store; leave out --no-keep." in result.stderr
    assert not list(crawled.glob("x.*"))


def test_without_the_extra_one_sentence_says_so_before_anything_is_fetched(
    run: Run, crawled: Path, manual: Manual, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    server = manual()
    with served(server) as (home,):
        for command in (("crawl", home, *TOPIC, *QUICK, "--store", "new.db"), ("export", "pages")):
            result = run(*command, "-o", "x.parquet")
            assert (result.exit_code, result.stdout) == (1, "")
            assert result.stderr == "Error: x.parquet: Parquet needs Polars: pip install 'polars>=2.1'\n"
    assert server.paths == []
    assert not (crawled / "new.db").exists()
    assert not (crawled / "x.parquet").exists()
