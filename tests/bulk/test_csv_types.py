"""Cells of CSV that polars reads as numbers and times: whatever their form, the plan or the mistake is that of the row reader."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from honeyguide import load_profile
from honeyguide.adapters.files import sources
from honeyguide.app.known_urls.files import known_sources, open_known
from honeyguide.core.recrawl.plan import PlanQuery
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

pl = pytest.importorskip("polars")  # an extra

from honeyguide.bulk.signal_columns import with_utc_times  # noqa: E402 - needs polars

NOW = datetime(2024, 6, 15, 8, tzinfo=UTC)
PROFILE = load_profile("news")
WHOLE = [
    "5",
    "007",
    "+5",
    "5.0",
    "1_000",
    " 5",
    "1e3",
    "-0",
    "-1",
    "9007199254740993",
    "9" * 20,
    "0x10",
    '"5"',
    '""',
    "٣",
]
SHARE = [
    "0.5",
    ".5",
    "1.",
    "1e-3",
    "+0.5",
    "0.5 ",
    "nan",
    "inf",
    "1e400",
    "-0.0",
    "1.0000001",
    "0,5",
    '"0.5"',
    "0." + "1" * 40,
]
TIME = [
    "2024-06-10T08:00:00Z", "2024-06-10T08:00:00.123456Z", "2024-06-10 08:00:00.123456+0000", "2024-06-10T08:00:00+00:00",
    "2024-06-10T08:00:00.123Z", "2024-02-30T08:00:00Z", "2024-06-10T24:00:00Z", "2024-06-10T08:00:60Z", "1969-06-10T08:00:00Z",
    "2024-06-10T08:00:00-00:00", "2024-06-10t08:00:00z", '"2024-06-10T08:00:00Z"', "9999-12-31T23:59:59.999999Z",
]  # fmt: skip
CELLS = [("visits", cell) for cell in WHOLE] + [("topic_relevance", cell) for cell in SHARE]
CELLS += [("last_visited", cell) for cell in TIME] + [("last_changed", cell) for cell in TIME]


def planned(path: Path, top: int | None = None) -> str:
    try:
        return repr(open_known(known_sources([str(path)]), PROFILE).plan(PlanQuery(NOW, top)))
    except InputError as error:
        return str(error)


@pytest.mark.parametrize(("column", "cell"), CELLS)
def test_a_cell_of_any_form_is_read_as_by_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str, cell: str
) -> None:
    usual = {
        "visits": "3",
        "topic_relevance": "0.25",
        "last_visited": "2024-06-09T08:00:00.000001Z",
        "last_changed": "",
    }
    lines = [",".join(["url", *usual])]
    for number, given in enumerate((usual, {**usual, column: cell}, usual)):
        lines.append(",".join([f"https://a.example/{number}", *given.values()]))
    path = tmp_path / "known.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    by_rows = planned(path)
    monkeypatch.setattr(sources, "SMALL_BYTES", 0)
    assert planned(path) == by_rows


@pytest.mark.parametrize("last", ["0.5", ""])
@pytest.mark.parametrize("odd", [[",7"], [",7,0.5,"], [",7,0.5,9"], [",7", ",7,0.5,9"], [""]])
def test_a_line_with_other_cells_is_read_as_by_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: list[str], last: str
) -> None:
    cells = [f",3,{last}", *odd, f",3,{last}"]
    lines = [f"https://a.example/{number}{rest}" for number, rest in enumerate(cells)]
    path = tmp_path / "known.csv"
    path.write_text("\n".join(["url,visits,topic_relevance", *lines]) + "\n", "utf-8")
    by_rows = planned(path, top=1)
    monkeypatch.setattr(sources, "SMALL_BYTES", 0)
    assert planned(path, top=1) == by_rows


def test_columns_of_one_form_become_times_and_others_stay_texts() -> None:
    one = ["2024-06-10T08:00:00.123456+0000", None, "2024-06-11T08:00:00.000001+0000"]
    frame = pl.DataFrame(
        {"url": ["u"] * 3, "last_visited": one, "last_changed": ["2024-06-10T08:00:00Z", "2024-06-10", None]}
    )
    found = with_utc_times(frame)
    assert found["last_visited"].to_list() == [
        datetime(2024, 6, 10, 8, 0, 0, 123456, tzinfo=UTC), None, datetime(2024, 6, 11, 8, 0, 0, 1, tzinfo=UTC)
    ]  # fmt: skip
    assert found["last_changed"].to_list() == frame["last_changed"].to_list()
