"""Parquet files: the same rows in whatever batches they are written, the same types, and a disk that fails is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import pytest

from honeyguide.adapters.output import tables as parquet
from honeyguide.adapters.output.tables import first_rows, has_schema, parquet_schema, write_parquet
from honeyguide.core.records.fields import LinkRecord, Point

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from honeyguide.core.records import Record

pl = pytest.importorskip("polars")  # an extra


class Row(TypedDict):
    schema: int
    url: str
    status: int
    relevance_score: float | None
    points: list[Point]
    links: list[LinkRecord] | None


SCHEMA = parquet_schema(Row)


def row(number: int, **more: Any) -> dict[str, Any]:
    points = [{"rule": "r", "points": number, "reason": "because"}] * (number % 3)
    return {"schema": 2, "url": f"https://a.example/{number}", "status": 200, "points": points, **more}


@pytest.mark.parametrize(("rows", "entries"), [(1, 99), (3, 99), (99, 1), (99, 4), (1000, 1000)])
def test_batches_leave_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, entries: int
) -> None:
    monkeypatch.setattr(parquet, "BATCH_ROWS", rows)
    monkeypatch.setattr(parquet, "BATCH_ENTRIES", entries)
    path, given = tmp_path / "x.parquet", [row(n) for n in range(10)]
    assert write_parquet(path, iter(given), SCHEMA) == 10
    assert pl.read_parquet(path).to_dicts() == [
        {**one, "relevance_score": None, "links": None} for one in given
    ]
    assert has_schema(str(path), Row)


def test_batches_are_bounded_by_what_their_lists_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "BATCH_ENTRIES", 100)
    held: list[int] = []
    made = parquet._frame  # noqa: SLF001 - how much is in memory at once is not seen from outside

    def frame(batch: Sequence[Record], schema: Any) -> Any:
        held.append(sum(len(one["points"]) for one in batch))
        return made(batch, schema)

    monkeypatch.setattr(parquet, "_frame", frame)
    many = [{"rule": "r", "points": 1, "reason": "x"}] * 40
    write_parquet(tmp_path / "x.parquet", (row(n, points=many) for n in range(20)), SCHEMA)
    assert sum(held) == 800
    assert max(held) < 140


def test_no_rows_have_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    assert write_parquet(path, (), SCHEMA) == 0
    assert has_schema(str(path), Row)
    assert not has_schema(str(path), Point)
    assert first_rows(str(path), ("url", "status"), 5) == []


def test_what_is_no_parquet_has_no_schema_and_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    for content in (b"", b"PAR1", b"PAR1 and more PAR1", b"schema,url\n1,2\n"):
        path.write_bytes(content)
        assert not has_schema(str(path), Row)
        assert first_rows(str(path), ("url",), 5) == []
    assert not has_schema(str(tmp_path / "no.parquet"), Row)


def test_the_first_rows_are_read_by_their_names(tmp_path: Path) -> None:
    path = tmp_path / "a[1]*.parquet"  # no pattern
    write_parquet(path, map(row, range(9)), SCHEMA)
    assert first_rows(str(path), ("status", "url"), 2) == [
        (200, "https://a.example/0"),
        (200, "https://a.example/1"),
    ]
    assert first_rows(str(path), ("nothing",), 2) == []


def test_a_disk_that_fails_is_an_error_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "BATCH_ROWS", 1)  # so that batches are joined
    with pytest.raises(OSError, match=r"."):
        write_parquet(tmp_path / "no" / "x.parquet", map(row, range(3)), SCHEMA)
