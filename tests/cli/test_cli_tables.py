"""Tables for people: own columns are kept, what a reader looks for comes first, spreadsheets."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from honeyguide.adapters.output import xlsx
from honeyguide.adapters.output.tables import column_names
from honeyguide.adapters.output.xlsx import read_xlsx, write_xlsx
from honeyguide.cli.output import Column, print_table
from honeyguide.core.records.fields import PageRecord, PickRecord, PlanRecord
from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

QUICK = ("--allow-private", "--delay", "0", "--retries", "0", "--no-timings")
HOME = b'<title>Acme</title><nav><a href="/services">Services</a> <a href="/about">About us</a></nav><p>We repair.</p>'
PAGES = {
    "services": b"<title>Services</title><p>"
    + b"We install and repair sprinklers in your town. " * 20
    + b"</p>",
    "about": b"<title>About</title><p>"
    + b"Our family has run this company for three generations. " * 20
    + b"</p>",
}
LISTS = {
    "sites.csv": 'name,website,status,name,,notes\nAcme,{},client,2,x,"=1+1, a"\nNone,n/a,,,,\n',
    "sites.tsv": "name\twebsite\tstatus\tname\t\tnotes\nAcme\t{}\tclient\t2\tx\t=1+1, a\nNone\tn/a\t\t\t\t\n",
}


def site() -> LoopbackServer:
    pages = {f"/{name}": response(body) for name, body in PAGES.items()}
    return LoopbackServer({"/": response(HOME), **pages})


def rows_of(file: str) -> list[dict[str, str]]:
    if file.endswith("xlsx"):
        return list(read_xlsx(Path(file)))
    return list(csv.DictReader(io.StringIO(Path(file).read_text("utf-8"))))


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("output", ["picks.csv", "picks.xlsx"])
def test_columns_of_the_list_are_kept(run: Run, name: str, output: str) -> None:
    with served(site()) as (home,):
        Path(name).write_text(LISTS[name].replace("{}", home))
        command = ("pick", "-i", name, *QUICK, "-o", output)
        assert run(*command).exit_code == 0
        rows = rows_of(output)
        again = run(*command)
        assert again.stderr.startswith(f"Note: {output} is complete already")
        lines = run("pick", "-i", name, *QUICK).stdout.splitlines()
    assert list(rows[0])[:7] == ["site", "name", "input_status", "name_4", "column_5", "notes", "status"]
    *picked, failed = rows
    assert {row["selected_url"] for row in picked} == {f"{home}services", f"{home}about"}
    for row in picked:
        assert [row[key] for key in list(row)[1:7]] == ["Acme", "client", "2", "x", "'=1+1, a", "ok"]
    assert (failed["site"], failed["name"], failed["status"]) == ("n/a", "None", "unreachable")
    given = json.loads(lines[0])["input"]
    assert given == {"name": "Acme", "status": "client", "name_4": "2", "column_5": "x", "notes": "=1+1, a"}


def test_columns_of_json_lines_and_parquet_are_kept(run: Run, folder: Path) -> None:
    row = {"domain": "127.0.0.1:9", "owner": "Ann", "size": 7, "tags": ["a"], "gone": None, "selected": "x"}
    (folder / "sites.jsonl").write_text(json.dumps(row) + "\n")
    texts = {"owner": "Ann", "size": "7", "tags": '["a"]', "gone": "", "selected": "x"}
    run("pick", "-i", "sites.jsonl", *QUICK, "-o", "picks.jsonl")
    assert json.loads(Path("picks.jsonl").read_text())["input"] == texts
    assert run("pick", "-i", "sites.jsonl", *QUICK, "-o", "picks.jsonl").stderr.startswith(
        "Note: picks.jsonl is"
    )
    pl = pytest.importorskip("polars")  # an extra
    pl.DataFrame([row]).write_parquet("sites.parquet")
    run("pick", "-i", "sites.parquet", *QUICK, "-o", "picks.parquet")
    (given,) = pl.read_parquet("picks.parquet")["input"].to_list()
    assert {one["name"]: one["value"] for one in given} == {k: v for k, v in texts.items() if k != "tags"}


@pytest.mark.parametrize("kind", [PickRecord, PageRecord, PlanRecord])
def test_what_a_reader_looks_for_comes_first_and_settings_last(kind: type) -> None:
    names = column_names(kind)
    first = {"PickRecord": ("site", "status", "reason"), "PageRecord": ("url", "title", "relevance_score")}
    assert names[:3] == first.get(kind.__name__, ("rank", "url", "score"))
    assert names[-1] == "schema"
    assert len(set(names)) == len(names)
    if kind is PickRecord:
        settings = [name for name in names if name.startswith(("strategy", "profile", "options"))]
        assert tuple(settings) == names[-1 - len(settings) : -1]


# --- spreadsheets ---


def test_crawl_plan_and_export_write_spreadsheets(run: Run, crawled: Path) -> None:
    with served(site()) as (home,):
        crawl = ("crawl", home, "--topic", "repair|services", "--store", "h.db", *QUICK[:-1])
        for _ in range(2):  # written again by the run that wrote it
            assert run(*crawl, "-o", "pages.xlsx").exit_code == 0
        other = run(*crawl, "--include", "about", "-o", "pages.xlsx")
        assert "pages.xlsx: holds pages of another crawl" in other.stderr
        assert run(*crawl, "-o", "pages.csv").exit_code == 0
    assert rows_of("pages.xlsx") == rows_of("pages.csv")
    for command in (("plan", "known.csv", "--now", "2024-06-15T08:00:00Z"), ("export", "links")):
        for _ in range(2):
            for name in ("t.xlsx", "t.csv"):
                result = run(*command, "-o", name)
                assert result.exit_code == 0, result.stderr
        assert rows_of("t.xlsx") == rows_of("t.csv")
        (crawled / "t.xlsx").unlink()
        (crawled / "t.csv").unlink()
    assert "Xlsx needs a file" in run("export", "pages", "--format", "xlsx").stderr


@pytest.mark.parametrize("content", [b"my notes", b"PK\x03\x04", b"zip"])
def test_a_file_of_somebody_else_is_left_alone(run: Run, folder: Path, content: bytes) -> None:
    if content == b"zip":
        with zipfile.ZipFile(folder / "x.xlsx", "w") as file:
            file.writestr("xl/worksheets/sheet1.xml", "<worksheet><row><c>mine</c></row></worksheet>")
        content = (folder / "x.xlsx").read_bytes()
    (folder / "x.xlsx").write_bytes(content)
    for command in (("plan", "known.csv"), ("pick", "127.0.0.1:9", *QUICK)):
        result = run(*command, "-o", "x.xlsx")
        assert result.exit_code == 1
        assert "is no output of this command" in result.stderr
    assert (folder / "x.xlsx").read_bytes() == content


def test_cells_are_texts_and_numbers_and_never_formulas(tmp_path: Path) -> None:
    hostile = [
        '=HYPERLINK("http://x")',
        "+1",
        "@a",
        "<b>&amp;",
        "_x0041_",
        " a ",
        "\ufffe\ud800",
        "a\x00b\x1b[31m",
    ]
    file = tmp_path / "a.xlsx"
    assert write_xlsx(file, ["n", "text"], [(n, text) for n, text in enumerate(hostile)]) == len(hostile)
    sheet = zipfile.ZipFile(file).read("xl/worksheets/sheet1.xml").decode()
    assert "<f" not in sheet
    assert sheet.count("<v>") == len(hostile)
    assert re.search("[\x00-\x08\x0b-\x1f\ufffe]", sheet) is None
    texts = [row["text"] for row in read_xlsx(file)]
    assert texts[:6] == ["'" + hostile[0], "'+1", "'@a", "<b>&amp;", "_x0041_", " a "]


def test_equal_rows_give_equal_bytes_and_sizes_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "1.xlsx", tmp_path / "2.xlsx"
    for file in (one, two):
        write_xlsx(file, ["a"], [["x" * 40_000], ["😀" * 20_000], ["y" * 32_767]])
    assert one.read_bytes() == two.read_bytes()
    long, wide, exact = (row["a"] for row in read_xlsx(one))
    assert long.endswith("… (40,000 characters)")
    assert wide.endswith("… (20,000 characters)")
    assert len(exact) == 32_767
    monkeypatch.setattr(xlsx, "MAX_ROWS", 3)
    with pytest.raises(xlsx.TooManyRowsError, match="at most 3 rows"):
        write_xlsx(two, ["a"], [[1], [2], [3]])


@pytest.mark.parametrize("what", ["entities", "endless"])
def test_a_file_that_was_made_to_harm_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(xlsx, "_MAX_ROW_BYTES", 1 << 20)
    text = '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>' if what == "entities" else f"<a>{'b' * (3 << 20)}</a>"
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/worksheets/sheet1.xml", text)
    with pytest.raises(ValueError, match="entities" if what == "entities" else "larger"):
        list(read_xlsx(tmp_path / "a.xlsx"))


def test_a_compressed_list_keeps_its_columns(run: Run, folder: Path) -> None:
    (folder / "sites.csv.gz").write_bytes(gzip.compress(b"name,domain\nAcme,127.0.0.1:9\n"))
    assert json.loads(run("pick", "-i", "sites.csv.gz", *QUICK).stdout)["input"] == {"name": "Acme"}


def test_no_line_of_a_table_ends_with_a_space(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(
        (Column("Name"), Column("Reason")), [["a", "short"], ["b", "one\n  and\nthree, which is longer"]]
    )
    lines = capsys.readouterr().out.split("\n")
    assert lines.pop() == ""
    assert lines[-2:] == ["         and", "       three, which is longer"]
    assert [line for line in lines if line != line.rstrip()] == []
