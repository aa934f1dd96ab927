"""Files of rows: pipes in the place of files, rows that are left out, and where they go."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from patience import HANG_S

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from click.testing import Result

    Run = Callable[..., Result]
    Start = Callable[..., subprocess.Popen[bytes]]

NOW = ("--now", "2024-06-15T08:00:00Z")
HEADER = "url,visits,last_visited,last_changed,topic_relevance,hub_depth,is_hub\n"
GOOD = "https://a.example/,1,,,0.5,1,false\n"
WRONG = "https://b.example/,-1,,,0.5,1,false\n"
OURS = '{"row": 1, "field": "visits", "reason": "x", "given": null}\n'
SKIP = ("--on-error", "skip")

unix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")


def many(count: int) -> str:
    return HEADER + "".join(f"https://a.example/{number},{number},,,0.5,1,no\n" for number in range(count))


# --- pipes ----------------------------------------------------------------------------------------------------------


@contextmanager
def pipe(name: str, content: bytes) -> Iterator[str]:
    """A named pipe into which somebody writes, until nobody reads any more."""

    def write() -> None:
        with suppress(BrokenPipeError):
            Path(name).write_bytes(content)

    os.mkfifo(name)
    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield name
    finally:
        os.close(os.open(name, os.O_RDONLY | os.O_NONBLOCK))
        writer.join()


@unix
@pytest.mark.parametrize("count", [3, 3000], ids=["by row", "by column"])
def test_a_pipe_is_read_as_a_file_is(run: Run, count: int) -> None:
    Path("all.csv").write_text(many(count), "utf-8")
    with pipe("pipe.csv", many(count).encode()) as name:
        piped = run("plan", name, *NOW)
    assert piped.exit_code == 0, piped.stderr
    assert piped.stdout == run("plan", "all.csv", *NOW).stdout


@unix
def test_parquet_may_come_through_a_pipe(run: Run) -> None:
    pl = pytest.importorskip("polars")  # an extra
    pl.read_csv("known.csv").write_parquet("known.parquet")
    with pipe("pipe.parquet", Path("known.parquet").read_bytes()) as name:
        assert run("plan", name, *NOW).stdout == run("plan", "known.parquet", *NOW).stdout
    with pipe("not.parquet", b"x") as name:
        assert run("plan", name).stderr.startswith("Error: not.parquet: is not Parquet that can be read")


@unix
@pytest.mark.parametrize(
    "command", [("select", "pipe.csv"), ("score", "links", "pipe.csv", "--topic", "inspection")]
)
def test_links_may_come_through_a_pipe(run: Run, command: tuple[str, ...]) -> None:
    content = b"page,url,anchor\nhttps://acme.example/,https://acme.example/inspection,Inspection\n"
    with pipe("pipe.csv", content):
        result = run(*command)
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 1), result.stderr


@unix
def test_standard_input_by_the_name_of_its_device(start: Start) -> None:
    process = start("plan", "/dev/stdin", "--input-format", "csv", *SKIP, *NOW)
    out, err = process.communicate((HEADER + GOOD + WRONG).encode(), timeout=HANG_S)
    assert (process.returncode, len(out.splitlines())) == (3, 1), err
    assert err == b"Note: 1 row is rejected; see stdin.rejected\n"


@unix
@pytest.mark.skipif(sys.platform != "linux", reason="asks a pipe for its reader")
def test_a_pipe_that_nobody_writes_into_is_left_by_an_interrupt(start: Start, folder: Path) -> None:
    os.mkfifo(folder / "pipe.csv")
    process = start("plan", "pipe.csv")
    writer = None
    while writer is None:  # until it waits
        assert process.poll() is None
        with suppress(OSError):  # nobody reads yet
            writer = os.open(folder / "pipe.csv", os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANG_S)
    os.close(writer)
    assert process.returncode == 130


# --- rows that are left out -----------------------------------------------------------------------------------------


def test_where_every_row_is_wrong_that_is_said(run: Run) -> None:
    Path("bad.csv").write_text(HEADER + WRONG + "x,1,,,0.5,1,no\n", "utf-8")
    result = run("plan", "bad.csv", *SKIP)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: bad.csv: all of its 2 rows are wrong; see bad.csv.rejected\n"
    assert len(Path("bad.csv.rejected").read_text("utf-8").splitlines()) == 2


def test_what_is_left_out_is_json_whatever_was_given(run: Run) -> None:
    row = {"url": "https://a.example/", "visits": 1, "hub_depth": 1, "is_hub": True}
    lines = [json.dumps({**row, "topic_relevance": value}) for value in (float("nan"), float("-inf"), 0.5)]
    Path("some.jsonl").write_text("\n".join(lines), "utf-8")
    assert run("plan", "some.jsonl", *SKIP).exit_code == 3

    def refused(name: str) -> None:
        raise AssertionError(name)

    text = Path("some.jsonl.rejected").read_text("utf-8")
    left = [json.loads(line, parse_constant=refused) for line in text.splitlines()]
    assert [line["given"]["topic_relevance"] for line in left] == ["nan", "-inf"]


@pytest.mark.parametrize("rows", [GOOD, GOOD + WRONG], ids=["nothing wrong", "something wrong"])
def test_a_file_of_somebody_else_is_never_overwritten(run: Run, rows: str) -> None:
    Path("some.csv").write_text(HEADER + rows, "utf-8")
    Path("some.csv.rejected").write_text("my notes\n", "utf-8")
    result = run("plan", "some.csv", *SKIP)
    assert (result.exit_code, result.stdout) == (1, "")
    words = "exists, and holds no rows that were left out; move it away"
    assert result.stderr == f"Error: some.csv.rejected: {words}\n"
    assert Path("some.csv.rejected").read_text("utf-8") == "my notes\n"
    assert run("plan", "some.csv").stderr.find("rejected") < 0


@pytest.mark.parametrize("command", [("select",), ("score", "links", "--topic", "inspection")])
def test_links_spare_a_file_of_somebody_else_too(run: Run, command: tuple[str, ...]) -> None:
    Path("links.csv.rejected").write_text("my notes\n", "utf-8")
    result = run(*command, "links.csv", *SKIP)
    assert (result.exit_code, result.stdout) == (1, "")
    assert Path("links.csv.rejected").read_text("utf-8") == "my notes\n"


def test_what_an_earlier_run_left_out_goes_when_nothing_is_wrong_any_more(run: Run) -> None:
    Path("some.csv").write_text(HEADER + GOOD + WRONG, "utf-8")
    assert run("plan", "some.csv", *SKIP).exit_code == 3
    assert run("plan", "some.csv", *SKIP).exit_code == 3
    assert len(Path("some.csv.rejected").read_text("utf-8").splitlines()) == 1
    Path("some.csv").write_text(HEADER + GOOD, "utf-8")
    assert run("plan", "some.csv").exit_code == 0
    assert Path("some.csv.rejected").exists()  # nobody asked
    assert run("plan", "some.csv", *SKIP).exit_code == 0
    assert not Path("some.csv.rejected").exists()


def test_a_run_that_fails_removes_nothing(run: Run) -> None:
    Path("some.csv").write_text("url\n", "utf-8")
    Path("some.csv.rejected").write_text(OURS, "utf-8")
    assert run("plan", "some.csv", *SKIP).exit_code == 1
    assert Path("some.csv.rejected").read_text("utf-8") == OURS


@pytest.mark.parametrize("target", ["known.csv.rejected", "./known.csv.rejected"])
def test_the_file_of_wrong_rows_is_no_output(run: Run, target: str) -> None:
    result = run("plan", "known.csv", *SKIP, "-o", target, "--format", "jsonl")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is named twice" in result.stderr
    assert not Path("known.csv.rejected").exists()


# --- semicolons and tabs, which spreadsheets write where numbers have decimal commas ---------------------------------


@pytest.mark.parametrize("more", [0, 3000], ids=["by row", "by column"])
@pytest.mark.parametrize(("sign", "name"), [(";", "some.csv"), ("\t", "some.csv"), ("\t", "some.tsv")])
def test_a_table_with_other_signs_is_that_with_commas(run: Run, sign: str, name: str, more: int) -> None:
    text = many(more + 2) + '"https://a.example/x;y",1,,,0.25,1,no\n'
    Path("commas.csv").write_text(text, "utf-8")
    Path(name).write_text(text.replace(",", sign), "utf-8")
    expected, result = run("plan", "commas.csv", *NOW), run("plan", name, *NOW)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == expected.stdout
    assert len(result.stdout.splitlines()) == more + 3


@pytest.mark.parametrize("more", [0, 3000], ids=["by row", "by column"])
def test_a_decimal_comma_is_a_wrong_value(run: Run, more: int) -> None:
    row = "https://c.example/;1;;;0,9;1;no\n"
    Path("some.csv").write_text(many(more + 1).replace(",", ";") + row, "utf-8")
    result = run("plan", "some.csv", *NOW)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: some.csv line {more + 3}, row {more + 2}, field topic_relevance: "
        "'0,9' should be a number without a comma; decimals have a point, as in 0.9\n"
    )


def test_an_import_reads_semicolons(run: Run) -> None:
    Path("some.csv").write_text("Besuche;Adresse\n3;https://a.example/\n", "utf-8")
    columns = ("--column", "Adresse", "--column", "visits=Besuche")
    result = run("import", "some.csv", "--store", "known.db", *columns)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("Note: known.db: 1 row imported: 1 new URL")


# --- spreadsheets ---------------------------------------------------------------------------------------------------

SHEET = b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0\n\xff"
ADVICE = "; save it as CSV (UTF-8)\n"


@pytest.mark.parametrize("name", ["picks.xlsx", "picks.XLS", "picks.ods"])
@pytest.mark.parametrize(
    "command",
    [("plan",), ("plan", *SKIP), ("import", "--store", "known.db"), ("score", "links", "--topic", "a")],
)
def test_a_spreadsheet_is_named_as_such(run: Run, command: tuple[str, ...], name: str) -> None:
    Path(name).write_bytes(SHEET)
    result = run(*command, name)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: {name}: is a spreadsheet{ADVICE}"
    assert not Path("known.db").exists()


@pytest.mark.parametrize("more", [0, 200_000], ids=["by row", "by column"])
def test_a_spreadsheet_is_known_by_its_beginning(run: Run, more: int) -> None:
    Path("picks.csv").write_bytes(SHEET + b"x" * more)
    result = run("plan", "picks.csv")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: picks.csv: is a zip file, as spreadsheets are{ADVICE}"


def test_a_text_with_the_name_of_a_spreadsheet_is_read_on_request(run: Run) -> None:
    Path("export.xls").write_text(many(2).replace(",", "\t"), "utf-8")
    assert run("plan", "export.xls").exit_code == 1
    assert len(run("plan", "export.xls", "--input-format", "csv").stdout.splitlines()) == 2


def test_a_spreadsheet_in_a_folder_is_no_table_of_it(run: Run) -> None:
    Path("tables").mkdir()
    Path("tables/known.csv").write_text(many(2), "utf-8")
    Path("tables/known.xlsx").write_bytes(SHEET)
    assert len(run("plan", "tables").stdout.splitlines()) == 2


# --- rows that are not UTF-8 ----------------------------------------------------------------------------------------

LATIN = "https://c.example/é,1,,,0.5,1,no\n".encode("latin-1")


@pytest.mark.parametrize("more", [0, 3000], ids=["by row", "by column"])
def test_a_line_in_another_encoding_is_a_row_that_can_be_left_out(run: Run, more: int) -> None:
    Path("some.csv").write_bytes(many(more + 2).encode() + LATIN + GOOD.encode())
    line = more + 4
    result = run("plan", "some.csv", *NOW)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: some.csv line {line}: is not UTF-8; save the file as UTF-8\n"
    result = run("plan", "some.csv", *NOW, *SKIP)
    assert (result.exit_code, len(result.stdout.splitlines())) == (3, more + 3), result.stderr
    (left,) = map(json.loads, Path("some.csv.rejected").read_text("utf-8").splitlines())
    assert (left["row"], left["given"]) == (more + 3, None)
    assert left["reason"] == f"some.csv line {line}: is not UTF-8; save the file as UTF-8"


def test_a_row_of_several_lines_is_left_out_as_a_whole(run: Run) -> None:
    header = HEADER.replace("url", "note,url")
    rows = ["x," + GOOD, '"two\nlines \xe9\nthree",https://c.example/,1,,,0.5,1,no\n', "y," + GOOD]
    Path("some.csv").write_bytes((header + "".join(rows)).encode("latin-1"))
    result = run("plan", "some.csv", *NOW, *SKIP)
    assert result.exit_code == 3
    (left,) = map(json.loads, Path("some.csv.rejected").read_text("utf-8").splitlines())
    assert (left["row"], left["reason"]) == (2, "some.csv line 4: is not UTF-8; save the file as UTF-8")


def test_json_lines_in_another_encoding_are_left_out_too(run: Run) -> None:
    row = (
        '{"url": "https://a.example/%s", "visits": 1, "topic_relevance": 0, "hub_depth": 1, "is_hub": true}\n'
    )
    Path("some.jsonl").write_bytes((row % "a" + row % "é" + row % "b").encode("latin-1"))
    assert "some.jsonl line 2: is not UTF-8" in run("plan", "some.jsonl").stderr
    result = run("plan", "some.jsonl", *SKIP)
    assert (result.exit_code, len(result.stdout.splitlines())) == (3, 2)


def test_a_file_whose_first_line_cannot_be_read_has_no_columns(run: Run) -> None:
    Path("some.csv").write_bytes((HEADER + GOOD).encode("utf-16"))
    result = run("plan", "some.csv", *SKIP)
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: some.csv line 1: is not UTF-8; save the file as UTF-8\n",
    )


def test_rows_of_parquet_that_were_not_looked_at_stay_left_out(run: Run, folder: Path) -> None:
    pl = pytest.importorskip("polars")  # an extra
    row = {"visits": 1, "topic_relevance": 0.5, "hub_depth": 1, "is_hub": False}
    rows = [{"url": "https://a.example/", **row, "is_hub": True}, {"url": "nope", **row}]
    pl.DataFrame(rows).write_parquet(folder / "b.parquet")
    asked = ("plan", "b.parquet", *NOW, *SKIP, "--top", "1")
    assert run(*asked, "--check-urls").exit_code == 3
    assert run(*asked).exit_code == 0  # its URL was not read
    assert Path("b.parquet.rejected").exists()
