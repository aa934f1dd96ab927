"""Files that claim to be ours, read back by `read`, `diff` and `explain --picks`: one sentence each, in bounds."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from honeyguide import read
from honeyguide.adapters.output.tables import column_names
from honeyguide.core.records.fields import PlanRecord
from honeyguide.errors import InputError

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
NAMES = column_names(PlanRecord)


def sheet(path: Path, text: bytes, packing: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", packing) as file:
        file.writestr("xl/worksheets/sheet1.xml", text)
    return path


def table(rows: bytes, start: bytes = b"") -> bytes:
    cells = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in NAMES)
    head = start + f'<worksheet xmlns="{MAIN}"><sheetData><row>{cells}</row>'.encode()
    return head + rows + b"</sheetData></worksheet>"


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        list(read(path))
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- spreadsheets ---


@pytest.mark.parametrize(
    "text",
    [
        table(b"<x/>" * 3_000_000),
        table(b"<row>" + b"<c/>" * 3_000_000 + b"</row>"),
        table(b"<row><c>" + b"a" * 40_000_000 + b"</c></row>"),
    ],
    ids=["between rows", "cells", "a long cell"],
)
def test_a_small_spreadsheet_does_not_fill_the_memory(text: bytes, tmp_path: Path) -> None:
    path = sheet(tmp_path / "a.xlsx", text)
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    try:
        assert "is no record of Honeyguide" in refused(path)
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_only_what_we_write_is_unpacked(packing: int, tmp_path: Path) -> None:
    assert "is no record" in refused(sheet(tmp_path / "a.xlsx", table(b""), packing))


ENTITIES = b'<!DOCTYPE a [<!ENTITY b "c">]>'


@pytest.mark.parametrize(
    "text",
    [
        table(b"", ENTITIES),
        table(b"", b" " * (65_536 - 5) + ENTITIES),
        table(b"", ENTITIES).decode().encode("utf-16"),
        b"<?xml version='1.0' encoding='none'?>" + table(b""),
        b"<?xml version='1.0' encoding='UTF-7'?>" + table(b""),
    ],
    ids=["at once", "between two blocks", "utf-16", "unknown encoding", "utf-7"],
)
def test_a_spreadsheet_declares_nothing(text: bytes, tmp_path: Path) -> None:
    assert "is no record" in refused(sheet(tmp_path / "a.xlsx", text))


# --- cells and numbers ---


def csv_of(**cells: str) -> str:
    return ",".join(NAMES) + "\n" + ",".join(cells.get(name, "") for name in NAMES) + "\n"


def test_points_of_a_long_cell_are_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(csv_of(points="a " * 60_000), "utf-8")
    assert "points" in refused(tmp_path / "a.csv")  # it took hours
    (tmp_path / "a.csv").write_text(csv_of(points="base (+50); hub (1) (+10); note (-)"), "utf-8")
    (record,) = read(tmp_path / "a.csv")
    assert [(one["reason"], one["points"]) for one in record["points"]] == [
        ("base", 50.0),
        ("hub (1)", 10.0),
        ("note", None),
    ]


@pytest.mark.parametrize("text", [csv_of(url="a" * 200_000), csv_of(score="inf"), csv_of(rank="9" * 5_000)])
def test_cells_that_are_none_are_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text, "utf-8")
    refused(tmp_path / "a.csv")


PLAN = {
    "schema": 2,
    "rank": 1,
    "url": "https://a.example/",
    "score": 12345,
    "level": "low",
    "reasons": [],
    "points": [],
    "next_due": None,
}


@pytest.mark.parametrize(
    "points", [[{"points": 1, "reason": "a"}], [{"rule": 7, "points": 1, "reason": "a"}]]
)
def test_points_without_a_rule_are_no_plan(
    points: object, run: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(PLAN) + "\n", "utf-8")
    (tmp_path / "b.jsonl").write_text(json.dumps({**PLAN, "points": points}) + "\n", "utf-8")
    result = run("diff", "a.jsonl", "b.jsonl")
    assert (result.exit_code, "is no entry of a plan" in result.output) == (1, True)


@pytest.mark.parametrize("value", ["1e999", "NaN", "-Infinity", "9" * 400])
def test_a_record_has_numbers_that_can_be_computed_with(value: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(PLAN), "utf-8")
    assert len(list(read(tmp_path / "a.jsonl"))) == 1
    (tmp_path / "a.jsonl").write_text(json.dumps(PLAN).replace("12345", value), "utf-8")
    assert "is no record" in refused(tmp_path / "a.jsonl")
