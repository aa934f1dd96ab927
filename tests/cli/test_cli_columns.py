"""Tables of strangers: columns of other names, only URLs, times without a zone, folders, and progress while they are read."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import InputError, plan_file, score_links, select_files
from honeyguide.adapters.files import sources
from honeyguide.cli import progress
from honeyguide.cli.main import main
from honeyguide.cli.progress import RowProgress

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

NOW = ("--now", "2024-06-15T08:00:00Z")
KNOWN = [
    {"address": "https://a.example/", "n": "3", "crawled": "2024-06-10T08:00:00Z", "visits": "x"},
    {"address": "https://a.example/b", "n": "0", "crawled": "", "visits": "y"},
]
MAPPED = ("--column", "address", "--column", "visits=n", "--column", "lastVisited=crawled")


@pytest.fixture(params=["rows", "columns"])
def evaluator(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of reading a table, which give the same."""
    if request.param == "columns":
        pytest.importorskip("polars")  # an extra
    monkeypatch.setattr(sources, "SMALL_BYTES", 0 if request.param == "columns" else 10**9)
    return str(request.param)


def write(name: str, rows: list[dict[str, Any]]) -> str:
    """Write a table in the format of its name."""
    Path(name).parent.mkdir(exist_ok=True, parents=True)
    if name.endswith("parquet"):
        pytest.importorskip("polars").DataFrame(rows).write_parquet(name)
    elif name.endswith("jsonl"):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    else:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        Path(name).write_text(text.getvalue(), "utf-8")
    return name


def ranked(result: Result) -> list[tuple[str, float]]:
    assert result.exit_code == 0, result.stderr
    return [(record["url"], record["score"]) for record in map(json.loads, result.stdout.splitlines())]


# --- names of columns ---


@pytest.mark.usefixtures("evaluator")
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("policy", ["heuristic", "learned"])
def test_plan_reads_columns_of_other_names(run: Run, ending: str, policy: str) -> None:
    usual = [{"url": row["address"], "visits": row["n"], "last_visited": row["crawled"]} for row in KNOWN]
    expected = run("plan", write(f"usual.{ending}", usual), *NOW, "--policy", policy)
    asked = ("plan", write(f"known.{ending}", KNOWN), *NOW, *MAPPED, "--policy", policy)
    assert ranked(run(*asked)) == ranked(expected)
    (explained,) = map(json.loads, run(*asked, "--explain", "https://a.example/").stdout.splitlines())
    assert explained["signals"]["visits"] == 3  # not the column that is called visits, which is not read


@pytest.mark.usefixtures("evaluator")
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_score_links_and_select_read_columns_of_other_names(run: Run, ending: str) -> None:
    rows = [
        {"home": "https://acme.example/", "href": "https://acme.example/services", "label": "Our services"},
        {"home": "https://acme.example/", "href": "https://acme.example/x", "label": "About us"},
    ]
    usual = [{"page": row["home"], "url": row["href"], "anchor": row["label"]} for row in rows]
    other, same = write(f"other.{ending}", rows), write(f"same.{ending}", usual)
    mapped = ("--column", "href", "--column", "anchor=label")
    score = ("score", "links", "--topic", "services", "--top", "2")
    assert run(*score, other, *mapped).stdout == run(*score, same).stdout != ""
    assert run("select", other, *mapped, "--column", "page=home").stdout == run("select", same).stdout != ""
    assert [
        link.row.anchor for link in score_links(other, topic="x", columns={"url": "href", "anchor": "label"})
    ]
    columns = {"url": "href", "anchor": "label", "page": "home"}
    assert [one.total for one in select_files(other, columns=columns)] == [2]


@pytest.mark.parametrize(
    ("command", "fields"),
    [
        (
            ("plan", "known.csv"),
            "url, visits, last_visited, last_changed, topic_relevance, hub_depth, is_hub, ",
        ),
        (("score", "links", "known.csv", "--topic", "x"), "url, anchor, context, position."),
        (("select", "known.csv"), "url, anchor, context, position, page, title, rel, head_title, "),
        (("pick", "-i", "companies.csv"), "site."),
        (("crawl", "-i", "companies.csv", "--topic", "x"), "url."),
    ],
)
def test_a_wrong_field_is_one_sentence_with_the_fields_that_exist(
    run: Run, command: tuple[str, ...], fields: str
) -> None:
    result = run(*command, "--column", "colour=website")
    assert (result.exit_code, result.stdout) == (2, "")
    assert (
        f"Error: Invalid value for '--column': 'colour' is no field that a column may be; there are {fields}"
        in result.stderr
    )
    first = fields.partition(",")[0].rstrip(".")
    twice = run(*command, "--column", "a", "--column", f"{first}=b")
    assert f"{first} has a column already: a." in twice.stderr


@pytest.mark.parametrize("command", ["plan", "import"])
@pytest.mark.parametrize(("given", "field"), [("visits=", "visits"), ("url=", "url"), ("visits= ", "visits")])
def test_an_empty_name_such_as_that_of_an_unset_variable_is_one_sentence(
    run: Run, command: str, given: str, field: str
) -> None:
    result = run(command, write("known.csv", KNOWN), "--column", given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"'--column': {field} is given no column; name one, or leave it out." in result.stderr


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_column_that_is_not_there_is_one_sentence_with_those_that_are(run: Run, ending: str) -> None:
    result = run("plan", write(f"known.{ending}", KNOWN), "--column", "adress")
    assert (result.exit_code, result.stdout) == (1, "")
    has = "it has address, n, crawled, visits; did you mean address?"
    assert result.stderr == f"Error: known.{ending}: has no column adress; {has}\n"


def test_what_the_library_is_given_is_checked_too(run: Run) -> None:
    del run
    path = write("known.csv", KNOWN)
    with pytest.raises(InputError, match="'colour' is no field that a column may be; there are url, visits"):
        plan_file(path, columns={"colour": "n"})
    with pytest.raises(InputError, match="'n' is given to visits and hub_depth"):
        plan_file(path, columns={"url": "address", "visits": "n", "hub_depth": "n"})
    assert plan_file(path, columns={"url": "address", "visits": "n"}).rows == 2


def test_pick_and_crawl_take_the_field_by_its_name(run: Run) -> None:
    write("list.csv", [{"homepage": "http://127.0.0.1:9/", "website": "nonsense"}])
    asked = ("-i", "list.csv", "--allow-private", "--delay", "0", "--retries", "0")
    for column in ("homepage", "site=homepage"):
        assert json.loads(run("pick", *asked, "--column", column).stdout)["site"] == "http://127.0.0.1:9/"
    crawled = run("crawl", *asked, "--column", "url=homepage", "--topic", "x")
    assert "no page could be fetched" in crawled.stderr
    assert "--column homepage" in run("runs", "--format", "csv").stdout
    assert "a PAGE has no columns" in run("select", "home.html", "--column", "x").stderr


# --- only URLs, and times without a zone ---


@pytest.mark.usefixtures("evaluator")
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_only_the_url_is_needed_and_that_scores_are_equal_is_said(run: Run, ending: str) -> None:
    result = run(
        "plan", write(f"known.{ending}", [{"url": "https://a.example/"}, {"url": "https://b.example/"}]), *NOW
    )
    assert ranked(result) == [("https://a.example/", 50), ("https://b.example/", 50)]
    assert result.stderr == (
        f"Note: known.{ending}: all scores are equal, because it has no column but url that is known; "
        "--column FIELD=NAME names others\n"
    )


@pytest.mark.usefixtures("evaluator")
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_columns_that_change_no_score_are_named(run: Run, ending: str) -> None:
    rows = [{"url": "https://a.example/", "visits": 3, "weight": 2.0}]
    result = run("plan", write(f"a.{ending}", rows), *NOW)
    assert "all scores are equal, because the policy heuristic does not read visits;" in result.stderr
    rows = [{"url": "https://a.example/", "topic_relevance": 0.9, "weight": 2.0}]
    result = run("plan", write(f"b.{ending}", rows), "--column", "importance=weight", *NOW)
    assert (
        result.stderr
        == f"Note: b.{ending}: the policy heuristic does not read importance; --policy learned does\n"
    )
    assert (
        run("plan", f"b.{ending}", "--column", "importance=weight", "--policy", "learned", *NOW).stderr == ""
    )


@pytest.mark.usefixtures("evaluator")
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    "time",
    [
        "2024-06-14T22:30:15",
        "2024-06-14 22:30:15",
        "2024-06-14T22:30:15.250",
        "2024-06-14T22:30",
        "20240614T223015",
    ],
)
def test_times_without_a_zone_are_utc_and_that_is_said_once(run: Run, ending: str, time: str) -> None:
    def rows(times: tuple[str, str]) -> list[dict[str, Any]]:
        return [
            {"url": "https://a.example/none", "visits": 1, "last_changed": ""},
            *(
                {"url": f"https://a.example/{at}", "visits": 1, "last_changed": one}
                for at, one in enumerate(times)
            ),
        ]

    bare = run("plan", write(f"bare.{ending}", rows((time, "2024-06-01T00:00:00"))), *NOW)
    zoned = run("plan", write(f"zoned.{ending}", rows((f"{time}Z", "2024-06-01T00:00:00Z"))), *NOW)
    assert ranked(bare) == ranked(zoned)
    assert (
        bare.stderr == f"Note: bare.{ending} row 2: times without a zone are taken as UTC, in last_changed\n"
    )
    assert zoned.stderr == ""


def test_offsets_are_still_offsets(run: Run, evaluator: str) -> None:
    del evaluator
    rows = [{"url": "https://a.example/", "last_visited": "2024-06-15T09:59:30+02:00"}]
    assert ranked(run("plan", write("known.csv", rows), *NOW)) == [
        ("https://a.example/", 20)
    ]  # half a minute ago


# --- folders, patterns, compressed files ---


def test_a_folder_and_a_pattern_stand_for_all_their_tables(run: Run) -> None:
    for number, name in enumerate(("f/a.csv", "f/deep/er/b.csv", "f/deep/c.jsonl")):
        write(name, [{"url": f"https://a.example/{number}"}])
    Path("f/d.csv.gz").write_bytes(gzip.compress(b"url\nhttps://a.example/3\n"))
    Path("f/_SUCCESS").touch()
    Path("f/notes.txt").write_text("no table")
    everything = {f"https://a.example/{number}" for number in range(4)}
    assert {url for url, _ in ranked(run("plan", "f", *NOW))} == everything
    assert {url for url, _ in ranked(run("plan", "f/**/*.csv", *NOW))} == {
        f"https://a.example/{n}" for n in (0, 1)
    }
    assert {url for url, _ in ranked(run("plan", "f/**/*.csv", "f/**/*.gz", *NOW))} == {
        f"https://a.example/{number}" for number in (0, 1, 3)
    }
    scored = run("score", "links", "f", "--topic", "x").stdout.splitlines()
    assert {json.loads(line)["url"] for line in scored} == everything
    Path("empty").mkdir()
    sentence = "empty: is a folder without tables, CSV, JSON lines or Parquet; check the path"
    assert sentence in run("plan", "empty").stderr
    assert "is a pattern that no file matches" in run("plan", "empty/**/*.csv").stderr


@pytest.mark.parametrize("path", ["f", "f/**/*.csv"])
def test_a_folder_below_that_may_not_be_read_is_an_error(
    run: Run, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    for name in ("f/a.csv", "f/deep/b.csv"):
        write(name, [{"url": "https://a.example/"}])
    listed = os.scandir

    def scandir(folder: str) -> Any:
        if str(folder).endswith("deep"):
            raise PermissionError(13, "Permission denied", folder)
        return listed(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    said = "Error: f/deep: is a folder that cannot be read; check its permissions\n"
    assert run("plan", path, *NOW).stderr == said


def test_select_takes_a_folder_of_links(run: Run) -> None:
    write("f/a.csv", [{"page": "https://a.example/", "url": "/services", "anchor": "Services"}])
    write("f/b.csv", [{"page": "https://b.example/", "url": "/services", "anchor": "Services"}])
    pages = [json.loads(line)["page"] for line in run("select", "f").stdout.splitlines()]
    assert pages == ["https://a.example/", "https://b.example/"]


# --- progress ---


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    "command",
    [
        ("plan", "many.csv", "--top", "1"),
        ("plan", "many.parquet", "--top", "1"),
        ("score", "links", "many.csv", "--topic", "x", "--top", "1"),
        ("score", "links", "many.parquet", "--topic", "x"),
        ("select", "many.csv", "--base", "https://a.example/"),
    ],
)
@pytest.mark.usefixtures("run")
def test_a_terminal_sees_which_file_is_read(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    write(
        next(word for word in command if "many" in word),
        [{"url": f"https://a.example/{n}"} for n in range(20)],
    )
    monkeypatch.setattr(progress, "ROWS_AFTER_S", 1e-9)
    monkeypatch.setenv("TERM", "xterm")
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 0
    assert re.search(r"reading many\.(csv|parquet), [0-9]+ rows?", terminal.getvalue())
    assert capfd.readouterr().out


def test_the_line_begins_after_a_second_and_a_log_gets_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for is_terminal, started, is_shown in ((True, 8.1, False), (True, 8.0, True), (False, 0.0, False)):
        stream = _Terminal() if is_terminal else io.StringIO()
        monkeypatch.setattr(sys, "stderr", stream)
        rows = RowProgress()
        rows.started, rows.clock = started, lambda: 9.0
        with rows.shown(quiet=False):
            rows.read("known.csv", 1_234_567)
            assert list(rows.until_read("ab")) == ["a", "b"]
            rows.read("known.csv", 2)  # the line is gone for good
        assert ("reading known.csv, 1,234,567 rows" in stream.getvalue()) is is_shown
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("evaluator")
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("command", [("plan", *NOW), ("plan", "--policy", "learned"), ("import",)])
@pytest.mark.parametrize("day", [45962, 45962.33, "45962.33"])
def test_a_day_of_a_spreadsheet_is_no_time(
    run: Run, ending: str, command: tuple[str, ...], day: str | float
) -> None:
    result = run(*command, write(f"known.{ending}", [{"url": "https://a.example/", "last_visited": day}]))
    assert (result.exit_code, result.stdout) == (1, "")
    advice = "is a day as spreadsheets count them; write it like 2024-06-10 08:00:00"
    assert "row 1, field last_visited: " in result.stderr
    assert advice in result.stderr


@pytest.mark.usefixtures("evaluator")
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_time_in_the_first_hours_of_1970_is_one(run: Run, ending: str) -> None:
    for time in ("1970-01-01T12:46:02Z", 0, 9_999, 100_000, 1_718_436_600):
        row = {"url": "https://a.example/", "last_visited": time}
        assert len(ranked(run("plan", write(f"known.{ending}", [row]), *NOW))) == 1
