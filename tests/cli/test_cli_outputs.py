"""The rules that all commands with -o share: what is not written over, which format, and what is said afterwards."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

WORLD = "poisson:pages=9,days=2"
QUICK = ("--topic", "fire", "--allow-private", "--delay", "0", "--retries", "0")
# Each writes a file of records in one step; {} is its name.
WRITERS = {
    "export": ("export", "pages", "-o", "{}"),
    "plan": ("plan", "known.csv", "-o", "{}"),
    "plan of a store": ("plan", "--store", "honeyguide.db", "-o", "{}"),
    "simulate": ("simulate", "recrawl", WORLD, "--policies", "uniform", "-o", "{}"),
}
writing = pytest.mark.parametrize("command", WRITERS.values(), ids=list(WRITERS))


def named(command: tuple[str, ...], file: str) -> list[str]:
    return [word.replace("{}", file) for word in command]


# --- what is not written over ---


@pytest.mark.parametrize(
    "words",
    [
        ("export", "pages", "-o", "honeyguide.db", "--format", "csv"),
        ("export", "pages", "-o", "./honeyguide.db", "--format", "jsonl"),
        ("plan", "known.csv", "-o", "known.csv"),
        ("plan", "kno*.csv", "-o", "known.csv"),
        ("plan", "--store", "honeyguide.db", "-o", "honeyguide.db", "--format", "csv"),
        ("simulate", "recrawl", "changes.csv", "-o", "changes.csv"),
        ("simulate", "recrawl", WORLD, "--report", "r.html", "-o", "r.html", "--format", "csv"),
        ("simulate", "recrawl", "--store", "honeyguide.db", "-o", "honeyguide.db", "--format", "csv"),
    ],
)
def test_what_is_read_is_not_written_over(run: Run, crawled: Path, words: tuple[str, ...]) -> None:
    before = {file.name: file.read_bytes() for file in crawled.iterdir()}
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "named twice; an output needs a file that is neither an input nor another output" in result.stderr
    assert {file.name: file.read_bytes() for file in crawled.iterdir()} == before


@writing
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mine.csv", "my,precious\n1,2\n"),
        ("mine.csv", "schema,url\n"),
        ("mine.jsonl", '{"schema": 2, "site": "a.example"}\n'),
        ("mine.jsonl", "[1]\n"),
        ("mine", "notes"),
    ],
)
def test_a_file_of_somebody_else_is_left_alone(
    run: Run, crawled: Path, command: tuple[str, ...], name: str, content: str
) -> None:
    (crawled / name).write_text(content)
    result = run(*named(command, name))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: {name}: exists and is no output of this command; choose another -o\n"
    assert (crawled / name).read_text() == content


@writing
@pytest.mark.parametrize("name", ["out.csv", "out.jsonl", "out"])
def test_an_earlier_output_is_replaced_and_so_is_an_empty_file(
    run: Run, crawled: Path, command: tuple[str, ...], name: str
) -> None:
    (crawled / name).touch()
    sizes = []
    for _ in range(2):
        assert run(*named(command, name)).exit_code == 0
        sizes.append((crawled / name).stat().st_size)
    assert sizes[0] == sizes[1] > 0
    assert not list(crawled.glob("*.part"))


def test_links_do_not_take_the_place_of_pages(run: Run, crawled: Path) -> None:
    run("export", "pages", "-o", "p.jsonl")
    pages = (crawled / "p.jsonl").read_bytes()
    assert run("export", "links", "-o", "p.jsonl").exit_code == 1
    assert (crawled / "p.jsonl").read_bytes() == pages


def test_a_table_of_columns_that_is_no_plan_is_left_alone(run: Run, folder: Path) -> None:
    pl = pytest.importorskip("polars")  # an extra
    file = folder / "mine.parquet"
    pl.DataFrame({"url": ["https://a.example/"]}).write_parquet(file)
    before = file.read_bytes()
    result = run("plan", "known.csv", "-o", "mine.parquet")
    assert (result.exit_code, file.read_bytes()) == (1, before)
    assert "is no output of this command" in result.stderr
    file.unlink()
    assert [run("plan", "known.csv", "-o", "mine.parquet").exit_code for _ in range(2)] == [0, 0]


@pytest.mark.parametrize(
    ("name", "content"),
    [("r.html", "<!doctype html><title>Mine</title>"), ("s.md", "- https://a.example/\n")],
)
def test_a_report_does_not_take_the_place_of_something_else(
    run: Run, folder: Path, name: str, content: str
) -> None:
    (folder / name).write_text(content)
    commands: list[tuple[str, ...]] = [("pick", "127.0.0.1:9", "--allow-private", "--retries", "0")]
    commands += [("simulate", "recrawl", WORLD, "--policies", "uniform")] if name == "r.html" else []
    for command in commands:
        result = run(*command, "--report", name)
        assert (result.exit_code, result.stdout) == (1, "")  # before anything is asked for
        assert (
            result.stderr
            == f"Error: {name}: exists and is no output of this command; choose another --report\n"
        )
        assert (folder / name).read_text() == content
        (folder / name).unlink()
        code = 3 if command[0] == "pick" else 0  # the site does not answer
        assert [run(*command, "--report", name).exit_code for _ in range(2)] == [code, code]
        (folder / name).write_text(content)


def test_a_table_of_another_crawl_is_refused(run: Run, folder: Path) -> None:
    site = {"/": response(b"<title>fire</title><p>fire alarms, and more of them</p>", kind="text/html")}
    with served(LoopbackServer(site), LoopbackServer(site)) as (one, other):
        assert run("crawl", one, *QUICK, "-o", "p.csv").exit_code == 0
        before = (folder / "p.csv").read_bytes()
        for store in ("honeyguide.db", "other.db"):
            result = run("crawl", other, *QUICK, "-o", "p.csv", "--store", store)
            assert (result.exit_code, (folder / "p.csv").read_bytes()) == (1, before)
            assert "p.csv: holds pages of another crawl; choose another -o, or remove it" in result.stderr
        assert run("crawl", one, *QUICK, "-o", "p.csv").exit_code == 0
        assert (folder / "p.csv").read_bytes() == before
        assert run("crawl", other, *QUICK, "-o", "p.csv", "--store", "third.db", "--restart").exit_code == 0
    with (folder / "p.csv").open(newline="") as file:
        assert [row["url"] for row in csv.DictReader(file)] == [other]


# --- what cannot be written ---


@writing
def test_what_cannot_be_written_is_one_sentence_and_names_what_was_given(
    run: Run, crawled: Path, command: tuple[str, ...]
) -> None:
    (crawled / "folder.csv").mkdir()
    (crawled / "file").write_text("")
    for name, why in (
        ("no/such.csv", "cannot be written: No such file or directory; check that its folder exists"),
        ("file/x.csv", "cannot be written: Not a directory; check that its folder exists"),
        ("folder.csv", "is not a regular file; choose another -o"),
    ):
        result = run(*named(command, name))
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == f"Error: {name}: {why}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="another sentence there")
@pytest.mark.parametrize(
    "words", [("pick", "127.0.0.1:9", "-o", "no/x.jsonl"), ("crawl", "127.0.0.1:9", *QUICK, "-o", "no/x.jsonl"),
              ("crawl", "127.0.0.1:9", *QUICK, "-o", "no/x.csv")],
)  # fmt: skip
def test_crawls_and_picks_say_the_same(run: Run, words: tuple[str, ...]) -> None:
    sentence = "no/x.{}: cannot be written: No such file or directory; check that its folder exists\n"
    assert run(*words).stderr == f"Error: {sentence.format(words[-1][5:])}"


def test_a_report_that_cannot_be_written_is_told_before_the_work(run: Run) -> None:
    for command in (("pick", "127.0.0.1:9"), ("simulate", "recrawl", WORLD)):
        result = run(*command, "--report", "no/r.html")
        assert (result.exit_code, result.stdout) == (1, "")
        assert (
            result.stderr
            == "Error: no/r.html: cannot be written: No such file or directory; check that its folder exists\n"
        )


def test_an_empty_folder_is_one_sentence_whoever_is_given_one(run: Run, folder: Path) -> None:
    (folder / "sub").mkdir()
    empty = "is a folder without tables, CSV, JSON lines or Parquet"
    for words, why in ((("plan", "sub"), empty), (("pick", "-i", "sub"), "cannot be read: Is a directory")):
        result = run(*words)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == f"Error: sub: {why}; check the path\n"


# --- formats ---


@pytest.mark.parametrize(
    "command",
    [
        *WRITERS.values(),
        ("pick", "127.0.0.1:9", "-o", "{}"),
        ("crawl", "127.0.0.1:9", *QUICK, "-o", "{}"),
        ("watch", "--per-hour", "1", "--until", "2020-01-01T00:00:00Z", "-o", "{}"),
    ],
)
def test_a_format_that_the_name_denies_is_refused(run: Run, crawled: Path, command: tuple[str, ...]) -> None:
    result = run(*named(command, "a.jsonl"), "--format", "csv")
    assert (result.exit_code, result.stdout) == (2, "")
    words = "'a.jsonl' is jsonl by its name; leave out --format csv, or choose another name."
    assert result.stderr.endswith(f"Error: {words}\n")
    result = run(*named(command, "a.csv"), "--format", "table")
    assert result.exit_code == 2
    words = (
        "'table' is not one of 'jsonl', 'csv', 'parquet', 'xlsx'."
        if command[0] == "export"
        else "A table is for the terminal"
    )
    assert words in result.stderr
    assert not list(crawled.glob("a.*"))


@writing
def test_a_format_decides_where_the_name_says_nothing(
    run: Run, crawled: Path, command: tuple[str, ...]
) -> None:
    for name, more in (("x", ("--format", "csv")), ("x.table", ("--format", "csv")), ("x.csv", ())):
        assert run(*named(command, name), *more).exit_code == 0
        assert (crawled / name).read_text().split("\n")[0].endswith(",schema")
    assert run(*named(command, "-"), "--format", "jsonl").stdout.startswith('{"schema": 2, ')
    assert not (crawled / "-").exists()


# --- what is said ---


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("export", "pages", "-o", "p.csv"), "p.csv: 6 pages\n"),
        (("export", "external", "-o", "e.jsonl"), "e.jsonl: 1 link\n"),
        (("plan", "known.csv", "--top", "1", "-o", "plan.jsonl"), "plan.jsonl: 1 URL\n"),
        (("plan", "--store", "honeyguide.db", "-o", "plan.csv"), "plan.csv: 6 URLs\n"),
    ],
)
def test_what_was_written_is_said_in_one_line(
    run: Run, crawled: Path, words: tuple[str, ...], told: str
) -> None:
    assert crawled.exists()
    result = run(*words)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", told)
    assert run(*words, "--quiet").stderr == ""
    assert run(*words[:-2]).stderr == ""  # what is printed is seen
