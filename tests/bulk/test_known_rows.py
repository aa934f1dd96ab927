"""Rows read by columns are those that are read one by one, whatever is in them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import polars as pl
import pytest

from honeyguide import import_known
from honeyguide.adapters.files.rows import RawRow, raw_rows, signals_of_row
from honeyguide.adapters.files.signals import read_flag
from honeyguide.adapters.files.sources import sources_of
from honeyguide.app.library import observe
from honeyguide.bulk.known_rows import known_rows
from honeyguide.errors import InputError
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide.core.recrawl.plan import UrlSignals

_CELLS = {
    "url": ["https://a.example/{}", "http://b.example/2024/05/01/x-{}", "HTTPS://C.example/{}/", "https://ü.example/{}"],
    "visits": ["", "0", "7", "12.0", "123456789012"],
    "last_visited": ["", "2024-05-01T10:00:00Z", "2024-05-01 10:00:00.123456+02:00", "1714557600", "1714557600123", "2024-05-01T10:00:00"],
    "last_changed": ["", "2024-04-01", "2024-04-30T10:00:00.1Z", "1714557600.25"],
    "topic_relevance": ["", "0", "0.1", "0.42960000000000004", "1", "1e-3"],
    "hub_depth": ["", "0", "3"],
    "is_hub": ["", "true", "no", "YES", "1"],
    "rate_a": ["1.5"],
    "rate_b": ["0.1", "720"],
    "page_class": ["", "article", "hub"],
    "changed": ["", "true", "0", "No"],
}  # fmt: skip


def checked(raw: RawRow) -> tuple[UrlSignals, bool | None]:
    return signals_of_row(raw), read_flag(raw.known_values().get("changed"))


def cells(count: int) -> dict[str, list[str]]:
    chance = random.Random(3)  # noqa: S311 - made-up rows
    made = {name: [chance.choice(some) for _ in range(count)] for name, some in _CELLS.items()}
    made["url"] = [text.format(number % (count // 2)) for number, text in enumerate(made["url"])]
    return made


def write_csv(path: Path, made: dict[str, list[str]]) -> str:
    rows = zip(*made.values(), strict=True)
    path.write_text("\n".join([",".join(made), *map(",".join, rows)]) + "\n", "utf-8")
    return str(path)


def test_csv_by_columns_is_csv_by_rows(tmp_path: Path) -> None:
    (source,) = sources_of([write_csv(tmp_path / "k.csv", cells(3000))], None)
    by_rows = [checked(raw) for raw in raw_rows(source)]
    found = list(known_rows(source, "changed"))
    sure = sum(not isinstance(row, RawRow) for row in found)
    assert 300 < sure < 3000
    assert by_rows == [checked(row) if isinstance(row, RawRow) else tuple(row) for row in found]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_import_by_columns_leaves_the_same_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    made = cells(2000)
    csv = write_csv(tmp_path / "k.csv", made)
    path = csv if kind == "csv" else str(tmp_path / "k.parquet")
    if kind == "parquet":
        typed = pl.DataFrame(made).with_columns(
            pl.col("visits").cast(pl.Int64, strict=False),
            pl.col("topic_relevance").cast(pl.Float64, strict=False),
        )
        typed.write_parquet(path)
        typed.with_columns(pl.col("visits").cast(pl.String).fill_null("")).write_csv(csv)
    by_columns, by_rows = MemoryStore(), MemoryStore()
    monkeypatch.setattr(observe, "pays_by_columns", lambda _: True)
    notes: list[str] = []
    first = import_known(path, by_columns, on_note=notes.append)
    monkeypatch.setattr(observe, "pays_by_columns", lambda _: False)
    again: list[str] = []
    assert import_known(csv, by_rows, on_note=again.append) == first
    assert list(by_columns.history.known()) == list(by_rows.history.known())
    assert len(notes) == len(again) == 2
    assert notes[1:] == again[1:]
    assert notes[0].rpartition("/")[2].replace(kind, "csv") == again[0].rpartition("/")[2]


def test_a_wrong_row_is_named_by_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "k.csv"
    file.write_text("url,visits\nhttps://a.example/,3\nhttps://a.example/b,-3\n", "utf-8")
    monkeypatch.setattr(observe, "pays_by_columns", lambda _: True)
    with pytest.raises(InputError, match="line 3, row 2, field visits"):
        import_known(str(file), MemoryStore())
