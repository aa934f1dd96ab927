"""Spreadsheets as another program opens them: cells, types, no formulas, and the limits of a sheet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from honeyguide.adapters.output import xlsx
from honeyguide.adapters.output.xlsx import MAX_CELL, TooManyRowsError, write_xlsx
from honeyguide.cli.main import root
from honeyguide.testing.fakes import LoopbackServer, response, served

openpyxl = pytest.importorskip("openpyxl")  # of the development environment
FORMULAS = ("=1+1", '=HYPERLINK("http://x")', "+1", "-2+3", "@SUM(A1)", "\t=1", " =1+1", "=cmd|' /C calc'!A0")


def opened(path: str | Path) -> Any:
    """Open a file by a program that is not ours; formulas would stay formulas."""
    (sheet,) = openpyxl.load_workbook(path, data_only=False).worksheets
    return sheet


def written(tmp_path: Path, *rows: tuple[Any, ...], header: tuple[str, ...] = ("a", "b")) -> Any:
    write_xlsx(tmp_path / "t.xlsx", header, rows)
    return opened(tmp_path / "t.xlsx")


def test_numbers_are_numbers_and_texts_are_texts(tmp_path: Path) -> None:
    sheet = written(
        tmp_path, (1, "1"), (-2.5, "2024-06-10"), (10**15, "007"), (None, ""), (True, "ümlaut ✓ 漢字 😀")
    )
    assert [cell.value for cell in sheet[1]] == ["a", "b"]
    assert [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)] == [
        [1, "1"],
        [-2.5, "2024-06-10"],
        [10**15, "007"],
        [None, None],
        ["true", "ümlaut ✓ 漢字 😀"],
    ]
    assert [cell.data_type for cell in sheet["B"]][:4] == ["s", "s", "s", "s"]
    assert (sheet.title, sheet.freeze_panes, sheet.max_row) == ("honeyguide", "A2", 6)


@pytest.mark.parametrize("text", FORMULAS)
def test_nothing_is_a_formula(tmp_path: Path, text: str) -> None:
    sheet = written(tmp_path, (text, [text]), header=(text, "b"))
    cells = [cell for row in sheet.iter_rows() for cell in row]
    assert {cell.data_type for cell in cells} == {"s"}
    assert not any(str(cell.value).lstrip().startswith(("=", "+", "-", "@")) for cell in cells)


def test_control_characters_and_markup_are_only_text(tmp_path: Path) -> None:
    hostile = "a\x00b\x1bc\x07</t></is></c><c><f>1+1</f></c>&amp;<![CDATA[x]]>\ufffe\ud800_x0041_"
    sheet = written(tmp_path, (hostile, "next"))
    value = sheet["A2"].value
    assert "</t></is></c><c><f>1+1</f></c>&amp;<![CDATA[x]]>" in value
    assert not any(ord(char) < 32 for char in value)
    assert sheet["B2"].value == "next"


@pytest.mark.parametrize("letter", ["x", "ü", "😀"])
def test_a_cell_is_never_longer_than_programs_accept(tmp_path: Path, letter: str) -> None:
    sheet = written(tmp_path, (letter * 40_000, letter * 16_000))
    cut, whole = sheet["A2"].value, sheet["B2"].value
    assert len(cut.encode("utf-16-le")) // 2 <= MAX_CELL
    assert cut.endswith("… (40,000 characters)")
    assert whole == letter * 16_000


def test_too_many_rows_are_one_sentence_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert xlsx.MAX_ROWS == 1_048_576  # that of Excel, with the header
    monkeypatch.setattr(xlsx, "MAX_ROWS", 3)
    assert written(tmp_path, (1, 2), (3, 4)).max_row == 3
    with pytest.raises(TooManyRowsError, match="at most 3 rows; write"):
        written(tmp_path, (1, 2), (3, 4), (5, 6))
    monkeypatch.chdir(tmp_path)
    Path("known.csv").write_text("url\n" + "".join(f"https://a.example/{n}\n" for n in range(3)), "utf-8")
    result = CliRunner().invoke(root, ["plan", "known.csv", "-o", "plan.xlsx"])
    assert (result.exit_code, Path("plan.xlsx").exists()) == (1, False)
    assert "Error: plan.xlsx: a spreadsheet has at most 3 rows" in result.stderr


def test_a_pick_opens_with_the_columns_of_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    home = b"<title>=Acme</title><nav><a href='/services'>Services</a> <a href='/about'>About us</a></nav>"
    pages = {
        name: response(f"<title>+{name}</title><p>{name} words. {'More. ' * 99}</p>".encode())
        for name in ("/services", "/about")
    }
    with served(LoopbackServer({"/": response(home), **pages})) as (site,):
        Path("list.csv").write_text(f"website,employees\n{site},=12\n", "utf-8")
        asked = ["pick", "-i", "list.csv", "--allow-private", "--delay", "0", "--no-timings", "-o"]
        assert CliRunner().invoke(root, [*asked, "picks.xlsx"]).exit_code == 0
        assert CliRunner().invoke(root, [*asked, "picks.jsonl"]).exit_code == 0
    header, *rows = opened("picks.xlsx").iter_rows(values_only=True)
    assert header[:3] == ("site", "employees", "status")
    selected = json.loads(Path("picks.jsonl").read_text("utf-8"))["selected"]
    found = [dict(zip(header, row, strict=True)) for row in rows]
    assert [(row["selected_rank"], row["selected_url"], row["selected_score"]) for row in found] == [
        (page["rank"], page["url"], page["score"]) for page in selected
    ]
    assert {row["employees"] for row in found} == {"'=12"}
    assert all(isinstance(row["selected_score"], int | float) for row in found)
