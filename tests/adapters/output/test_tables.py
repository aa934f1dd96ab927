"""Pick records as CSV and Parquet: harmless, whole, the same types whatever is in them."""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import honeyguide
from honeyguide.adapters.output import tables as parquet
from honeyguide.adapters.output.pick_file import FinishedSites, read_back
from honeyguide.adapters.output.tables import PICK_COLUMNS, parquet_schema, write_table
from honeyguide.app.pick import picker
from honeyguide.core.records import candidate_record, json_line
from honeyguide.core.records.fields import PickRecord
from honeyguide.core.why import Why
from honeyguide.errors import InputError
from honeyguide.jobs.pick import PickRequest
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide.core.records import Record

PICKER = picker(PickRequest(), FakeFetcher({}), FrozenClock())
SETTINGS = {"strategy": "portfolio", "profile_hash": "5a"}
STATUSES = Counter(ok=2, unreachable=1)
HTML = '<a href="/services">Services</a> <a href="/about">About</a> <a href="/privacy">P</a>'


def candidates() -> list[Record]:
    selection = honeyguide.select_links(HTML, "https://a.example/", strategy="blend")
    return [candidate_record(candidate) for candidate in selection.candidates]


def record(site: str, **more: Any) -> Record:
    points = [{"rule": "hub", "points": 100, "reason": "overview of all services"}]
    page = {
        "rank": 1, "url": f"https://{site}/services", "category": None, "bucket": "hub", "score": 104,
        "reasons": ["overview of all services"], "points": points,
        "title": "=HYPERLINK(1)", "text_chars": 1234, "status": 200, "markdown": "# Hi", "is_cut": False, "headings": ["Hi"],
        "keywords": ["sprinkler"], "evidence": [{"keyword": "sprinkler", "text": "a sprinkler"}],
    }  # fmt: skip
    plain = {
        name: value
        for name, value in page.items()
        if name not in ("markdown", "is_cut", "headings", "keywords", "evidence")
    }
    return {
        **failed(site, "ok", ""), "homepage": f"https://{site}/", "reason": None,
        "selected": [page, {**plain, "rank": 2}], "candidates": candidates(),
        "skipped": [{"href": "mailto:x", "rule": "scheme"}], "counts": {"links": 3, "rejected_doorway": 1, "selected": 2},
        **more,
    }  # fmt: skip


def failed(site: str, status: str, reason: str) -> Record:
    return {**PICKER.fail(site, Why(status, reason)), "profile_hash": "5a"}


RECORDS = [
    record("a.example", title="Acme \ud800 \u202e \x1b[31m"),
    failed("=cmd", "unreachable", "sites.csv line 3: is not an address"),
    record("b.example", elapsed_s=3),
]


def test_csv_has_a_row_for_each_page_and_each_site_without(tmp_path: Path) -> None:
    path = tmp_path / "picks.csv"
    write_table(path, "csv", RECORDS, PickRecord)
    rows = list(csv.DictReader(path.read_text("utf-8").splitlines()))
    assert list(rows[0]) == list(PICK_COLUMNS)
    assert [(row["site"], row["status"], row["selected_rank"], row["selected_url"]) for row in rows] == [
        ("a.example", "ok", "1", "https://a.example/services"),
        ("a.example", "ok", "2", "https://a.example/services"),
        ("'=cmd", "unreachable", "", ""),
        ("b.example", "ok", "1", "https://b.example/services"),
        ("b.example", "ok", "2", "https://b.example/services"),
    ]
    assert rows[0]["selected_points"] == "overview of all services (+100)"
    assert rows[0]["selected_title"] == "'=HYPERLINK(1)"
    assert rows[0]["counts_links"] == "3"
    assert "\x1b" not in path.read_text("utf-8")
    lists = ("include", "exclude", "want", "never")
    options = {**PickRequest().options, **dict.fromkeys(lists)}  # an empty cell is null
    assert read_back(path, "csv") == FinishedSites(
        ("a.example", "=cmd", "b.example"), {**SETTINGS, **options}, STATUSES
    )


def test_parquet_has_a_row_for_each_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pl = pytest.importorskip("polars")  # an extra
    monkeypatch.setattr(parquet, "BATCH_ROWS", 2)
    path = tmp_path / "picks.parquet"
    write_table(path, "parquet", RECORDS, PickRecord)
    frame = pl.read_parquet(path)
    assert dict(frame.schema) == parquet_schema(PickRecord)
    assert frame["site"].to_list() == ["a.example", "=cmd", "b.example"]
    first = frame.row(0, named=True)
    assert first["selected"][0]["points"] == [
        {"rule": "hub", "points": 100.0, "reason": "overview of all services"}
    ]
    assert first["selected"][0]["evidence"] == [{"keyword": "sprinkler", "text": "a sprinkler"}]
    assert first["selected"][1]["markdown"] is None
    assert {"name": "rejected_doorway", "value": 1} in first["counts"]
    assert [candidate["url"] for candidate in first["candidates"]] == [one["url"] for one in candidates()]
    assert frame["elapsed_s"].to_list() == [0.0, 0.0, 3.0]
    assert read_back(path, "parquet") == FinishedSites(
        ("a.example", "=cmd", "b.example"), {**SETTINGS, **PickRequest().options}, STATUSES
    )


def test_parquet_of_failures_only_has_the_same_types(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")  # an extra
    write_table(tmp_path / "picks.parquet", "parquet", RECORDS[1:2], PickRecord)
    assert dict(pl.read_parquet(tmp_path / "picks.parquet").schema) == parquet_schema(PickRecord)


def test_parquet_has_everything_that_a_record_has() -> None:
    pytest.importorskip("polars")  # an extra
    schema: dict[str, Any] = dict(parquet_schema(PickRecord))
    assert set(schema) == {*RECORDS[0], "input"}
    assert {field.name for field in schema["candidates"].inner.fields} == set(candidates()[0])
    assert {field.name for field in schema["selected"].inner.fields} - {"text"} == set(
        RECORDS[0]["selected"][0]
    )


def test_json_lines_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "picks.jsonl"
    path.write_text("".join(json_line(one) + "\n" for one in RECORDS) + '{"schema": 2, "si', "utf-8")
    assert read_back(path, "jsonl") == FinishedSites(
        ("a.example", "=cmd", "b.example"), {**SETTINGS, **PickRequest().options}, STATUSES
    )


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize(
    "content", [b"site,url\na,b\n", b"\xff\xfe", b"{}\n", b"PAR1", b'{"schema": 2, "site": ]\n']
)
def test_what_is_not_ours_is_not_read_back(tmp_path: Path, kind: str, content: bytes) -> None:
    if kind == "parquet":
        pytest.importorskip("polars")  # an extra
    (tmp_path / "file").write_bytes(content)
    assert read_back(tmp_path / "file", kind) is None


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "picks.csv"
    path.write_text("old")

    def failing() -> Any:
        yield RECORDS[0]
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match=r"picks\.csv: cannot be written: No space left"):
        write_table(path, "csv", failing(), PickRecord)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("picks.csv", "old")]
