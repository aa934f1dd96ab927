"""Files from before stay readable, and are resumed: `old_records.jsonl` has a pick, a page and a plan entry of version 0.1.0.

A new field of a record is `NotRequired`, or the schema gets a new number and a reader for the old one. Do not rewrite the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NotRequired

import pytest

import honeyguide
from honeyguide.adapters.output import page_file, pick_file, tables
from honeyguide.adapters.output.page_file import PageTable, StoredPages
from honeyguide.adapters.output.tables import check_table, write_table
from honeyguide.core.records.fields import (
    CandidateRecord,
    PageRecord,
    PickRecord,
    PlanRecord,
    SelectedRecord,
    is_record,
)
from honeyguide.errors import InputError

OLD = Path(__file__).with_name("old_records.jsonl")


def test_records_from_before_are_read_as_they_are() -> None:
    pick, page, entry = honeyguide.read(OLD)
    assert is_record(pick, PickRecord)
    assert (len(pick["selected"]), len(pick["candidates"])) == (1, 2)
    assert all(is_record(one, SelectedRecord) for one in pick["selected"])
    assert all(is_record(one, CandidateRecord) for one in pick["candidates"])
    assert is_record(page, PageRecord)
    assert is_record(entry, PlanRecord)


class NewPage(PageRecord):
    """A page whose record has one more field than the file from before."""

    mood: NotRequired[str | None]


class OtherPage(PageRecord):
    """A page whose new field is not `NotRequired`."""

    mood: str


@pytest.mark.parametrize("format_", ["csv", "jsonl", "parquet", "xlsx"])
def test_a_table_from_before_a_new_field_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str
) -> None:
    if format_ == "parquet":
        pytest.importorskip("polars")  # an extra
    for kind in (NewPage, OtherPage):
        monkeypatch.setitem(tables._FIRST, kind, tables._FIRST[PageRecord])  # noqa: SLF001 - the order of columns
    _, page, _ = honeyguide.read(OLD)
    path = tmp_path / f"pages.{format_}"
    write_table(path, format_, [page], PageRecord)
    with pytest.raises(InputError, match="exists and is no output of this command"):
        check_table(path, format_, OtherPage)
    check_table(path, format_, NewPage)
    if format_ != "jsonl":
        monkeypatch.setattr(page_file, "PageRecord", NewPage)
        table = PageTable(path, format_)
        table.follow(StoredPages(lambda: iter([page]), lambda _: False))
        table.end(StoredPages(lambda: iter([page, {**page, "mood": "fine"}]), lambda _: False))
        check_table(path, format_, NewPage)


@pytest.mark.parametrize("format_", ["csv", "parquet", "xlsx"])
@pytest.mark.parametrize(("missing", "is_ours"), [("elapsed_s", True), ("requests", False)])
def test_a_complete_pick_from_before_a_new_field_is_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str, missing: str, *, is_ours: bool
) -> None:
    """No field of a pick was added since: one that is `NotRequired` stands for it."""
    if format_ == "parquet":
        pytest.importorskip("polars")  # an extra
    pick: dict[str, Any] = {**next(iter(honeyguide.read(OLD)))}
    path = tmp_path / f"picks.{format_}"
    with monkeypatch.context() as before:
        kept = [cell for cell in tables._PICK_CELLS if cell[0] != missing]  # noqa: SLF001 - the columns of then
        before.setattr(tables, "_PICK_CELLS", kept)
        before.setattr(
            tables, "PICK_COLUMNS", tuple(f"{name}_{part}" if part else name for name, part in kept)
        )
        schema = tables.parquet_schema
        before.setattr(tables, "parquet_schema", lambda kind: schema(kind, missing))
        pick.pop(missing)
        write_table(path, format_, [pick], PickRecord)
    found = pick_file.read_back(path, format_)
    assert (found is not None) == is_ours
    if found is not None:
        assert found.sites == (pick["site"],)
